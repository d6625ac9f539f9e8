#include "python_command.h"

#include <cstdlib>
#include <filesystem>
#include <vector>

#include <unistd.h>

#include "commands.h"
#include "terminal.h"

bool is_python_command(const std::string& name) { return name == "sweep" || name == "fit" || name == "validate"; }

int run_python_command(int count, char** words) {
  namespace fs = std::filesystem;
  std::error_code code;
  const fs::path package = fs::read_symlink("/proc/self/exe", code).parent_path() / "python";
  if (fs::exists(package / "slipstick", code)) {  // a build tree; elsewhere Python knows where its packages are
    const char* before = std::getenv("PYTHONPATH");
    const std::string path = package.string() + (before != nullptr ? ":" + std::string(before) : "");
    setenv("PYTHONPATH", path.c_str(), 1);
  }
  std::string python = "/usr/bin/python3", flag = "-m", module = "slipstick";
  std::vector<char*> arguments = {python.data(), flag.data(), module.data()};
  arguments.insert(arguments.end(), words + 1, words + count);
  arguments.push_back(nullptr);
  execv(python.c_str(), arguments.data());
  say("slipstick " + std::string(words[1]) + ": needs Debian's Python: apt-get install python3");
  return kFailed;
}
