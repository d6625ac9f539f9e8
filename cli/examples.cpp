#include "closest.h"
#include "commands.h"
#include "terminal.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#ifndef SLIPSTICK_SCENES_DIR
#define SLIPSTICK_SCENES_DIR "scenes"
#endif

namespace {

namespace fs = std::filesystem;

fs::path find_folder() {
  std::error_code code;
  if (const char* folder = std::getenv("SLIPSTICK_SCENES"); folder && *folder) return folder;
  if (fs::is_directory(SLIPSTICK_SCENES_DIR, code)) return SLIPSTICK_SCENES_DIR;
  return "scenes";
}

/// The first comment of a scene, without its sign.
std::string find_first_comment(const fs::path& path) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t sign = line.find_first_not_of(" \t");
    if (sign == std::string::npos || line[sign] != '#') continue;
    const std::size_t text = line.find_first_not_of("# \t", sign);
    if (text != std::string::npos) return line.substr(text);
  }
  return "";
}

std::string quote(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return quoted + "\"";
}

int list(const std::vector<Example>& found, bool json) {
  std::string text = json ? "[" : "";
  std::size_t width = 0;
  for (const Example& example : found) width = std::max(width, example.name.size());
  for (const Example& example : found) {
    if (json) {
      text += std::string(text.size() > 1 ? "," : "") + "\n  {\"name\": " + quote(example.name) +
              ", \"path\": " + quote(example.path) + ", \"about\": " + quote(example.about) + "}";
    } else {
      text += example.name + std::string(width - example.name.size() + 2, ' ') + example.about + "\n";
    }
  }
  if (json) text += "\n]\n";
  return write_out(text) ? kDone : kFailed;
}

int copy(const std::vector<Example>& chosen, const fs::path& folder) {
  std::error_code code;
  fs::create_directories(folder, code);
  if (!fs::is_directory(folder, code)) {
    say("examples", folder.string() + ": cannot be made a folder");
    return kBadInput;
  }
  for (const Example& example : chosen) {
    const fs::path target = folder / fs::path(example.path).filename();
    if (!fs::copy_file(example.path, target, code)) {
      say("examples",
          target.string() + ": " +
              (fs::exists(target) ? "is there already; remove it or choose another folder" : code.message()));
      return kFailed;
    }
    if (!write_out(target.string() + "\n")) return kFailed;
  }
  return kDone;
}

int show(const Example& example) {
  std::ifstream file(example.path);
  std::ostringstream text;
  text << file.rdbuf();
  return write_out(text.str()) ? kDone : kFailed;
}

}  // namespace

std::vector<Example> find_examples(const std::string& folder) {
  std::vector<Example> found;
  std::error_code code;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(folder.empty() ? find_folder() : fs::path(folder), code)) {
    const std::string file = entry.path().filename().string();
    if (entry.path().extension() != ".yaml" || file.ends_with(".test.yaml")) continue;
    found.push_back({entry.path().stem().string(), entry.path().string(), find_first_comment(entry.path())});
  }
  std::sort(found.begin(), found.end(), [](const Example& a, const Example& b) { return a.name < b.name; });
  return found;
}

std::optional<std::string> find_shipped_scenes(const char* command) {
  if (!find_examples("").empty()) return find_folder().string();
  say(command, "the shipped scenes are missing; set SLIPSTICK_SCENES to the folder that holds them");
  return std::nullopt;
}

int examples(const ExamplesArguments& arguments) {
  const fs::path folder = find_folder();
  const std::vector<Example> found = find_examples(folder.string());
  if (found.empty()) {
    say("examples", "no scenes in '" + folder.string() + "'; set SLIPSTICK_SCENES to the folder that holds them");
    return kFailed;
  }
  if (arguments.name.empty()) {
    if (arguments.path || arguments.run) {
      say("examples", "which one? See 'slipstick examples --list'");
      return kBadInput;
    }
    return arguments.copy.empty() ? list(found, arguments.json) : copy(found, arguments.copy);
  }
  const auto chosen =
      std::find_if(found.begin(), found.end(), [&](const Example& e) { return e.name == arguments.name; });
  if (chosen == found.end()) {
    std::vector<std::string> names;
    for (const Example& example : found) names.push_back(example.name);
    say("examples",
        "no scene '" + arguments.name + "'" + make_hint(arguments.name, names) + " See 'slipstick examples --list'");
    return kBadInput;
  }
  if (!arguments.copy.empty()) return copy({*chosen}, arguments.copy);
  if (arguments.list) return list({*chosen}, arguments.json);
  if (arguments.path) return write_out(chosen->path + "\n") ? kDone : kFailed;
  if (!arguments.run) return show(*chosen);
  RunArguments run_arguments;
  run_arguments.scene.scene = chosen->path;
  run_arguments.command = "slipstick examples " + arguments.name + " --run";
  return run(run_arguments);
}
