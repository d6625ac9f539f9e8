#include "python_command.h"

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <vector>

#include <unistd.h>

#include "commands.h"
#include "terminal.h"

namespace {

/// `first` and the folders of PYTHONPATH, without empty ones: for Python these are the working folder.
std::string join_search_path(const std::string& first, const char* before) {
  std::string path = first;
  std::istringstream rest(before != nullptr ? before : "");
  for (std::string folder; std::getline(rest, folder, ':');) {
    if (!folder.empty()) path += (path.empty() ? "" : ":") + folder;
  }
  return path;
}

}  // namespace

bool is_python_command(const std::string& name) { return name == "sweep" || name == "fit" || name == "validate"; }

int run_recheck(int count, char** words) {
  namespace fs = std::filesystem;
  std::error_code code;
  const fs::path folder = fs::read_symlink("/proc/self/exe", code).parent_path();
  fs::path script = folder / "recheck.py";  // beside the program, or where one is installed
  if (!fs::exists(script, code)) script = folder.parent_path() / "share/slipstick/recheck.py";
  // Isolated: nothing of the working folder, of PYTHONPATH or of the user's own packages has a word in the verdict.
  std::string python = "/usr/bin/python3", flag = "-I", file = script.string();
  std::vector<char*> arguments = {python.data(), flag.data(), file.data()};
  arguments.insert(arguments.end(), words + 2, words + count);
  arguments.push_back(nullptr);
  execv(python.c_str(), arguments.data());
  say("slipstick recheck: needs Debian's Python: apt-get install python3 python3-numpy python3-h5py");
  return kBadInput;
}

int run_python_command(int count, char** words) {
  namespace fs = std::filesystem;
  std::error_code code;
  const fs::path package = fs::read_symlink("/proc/self/exe", code).parent_path() / "python";
  const bool in_tree = fs::exists(package / "slipstick", code);  // elsewhere Python knows where its packages are
  const std::string path = join_search_path(in_tree ? package.string() : "", std::getenv("PYTHONPATH"));
  setenv("PYTHONPATH", path.c_str(), 1);
  // -P: no code of the folder that one happens to be in, which may be somebody else's study.
  std::string python = "/usr/bin/python3", safe = "-P", flag = "-m", module = "slipstick";
  std::vector<char*> arguments = {python.data(), safe.data(), flag.data(), module.data()};
  arguments.insert(arguments.end(), words + 1, words + count);
  arguments.push_back(nullptr);
  execv(python.c_str(), arguments.data());
  say("slipstick " + std::string(words[1]) + ": needs Debian's Python: apt-get install python3");
  return kFailed;
}
