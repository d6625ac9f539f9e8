#include "output_paths.h"

#include "terminal.h"

#include <filesystem>

bool is_same_file(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return false;
  std::error_code code;
  const auto place = [&](const std::string& path) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path, code), code);
  };
  return a == b || std::filesystem::equivalent(a, b, code) || place(a) == place(b);  // equivalent: links, if both exist
}

bool check_outputs(const char* command, const std::vector<OutputPath>& outputs, const char* input_kind,
                   const std::vector<std::string>& inputs, bool no_clobber) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto& [option, path] = outputs[i];
    if (path.empty()) continue;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      if (!is_same_file(path, inputs[k])) continue;
      say(command, path + (k == 0 ? ": is the " : ": is a file of the ") + input_kind + (k == 0 ? " itself" : "") +
                       "; choose another name for " + option);
      return false;
    }
    for (std::size_t k = 0; k < i; ++k) {
      if (!is_same_file(path, outputs[k].path)) continue;
      say(command, std::string(outputs[k].option) + " and " + option + " name the same file");
      return false;
    }
    std::error_code code;
    if (no_clobber && std::filesystem::exists(path, code)) {
      say(command, path + ": is there already (--no-clobber); choose another name for " + option);
      return false;
    }
  }
  return true;
}
