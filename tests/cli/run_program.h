// Runs the built program and keeps what it says.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace slipstick {

struct Outcome {
  int code = -1;
  std::string out, err;
};

/// A folder of its own for each test, which is also where the program runs.
class Workplace {
 public:
  Workplace() {
    std::string pattern = (std::filesystem::temp_directory_path() / "slipstick-cli-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~Workplace() {
    std::error_code code;
    std::filesystem::remove_all(folder_, code);
  }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  bool has(const std::string& name) const { return std::filesystem::exists(path(name)); }
  std::string read(const std::string& name) const {
    std::ifstream file(path(name));
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  void write(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }
  /// `arguments` as typed into a shell; `before` goes in front of the program.
  Outcome run(const std::string& arguments, const std::string& before = "") const {
    const std::string command =
        "cd '" + folder_ + "' && " + before + " '" SLIPSTICK_PROGRAM "' " + arguments + " > .out 2> .err < /dev/null";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(".out"), read(".err")};
  }

 private:
  std::string folder_;
};

/// A ball that falls onto the ground; `extra` is appended to the scene.
inline std::string make_scene_text(const std::string& extra = "") {
  return "# A ball falls.\n"
         "slipstick: 1\n"
         "name: falling ball\n"
         "let: {height: 2}\n"
         "bodies:\n"
         "  - {name: ground, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
         "  - {name: ball, mass: 1, position: [0, 0, height], shapes: [{sphere: {radius: 0.5}}]}\n"
         "simulation: {duration: 0.5, step: 1/100}\n" +
         extra;
}

}  // namespace slipstick
