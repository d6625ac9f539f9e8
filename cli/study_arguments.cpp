#include "study_arguments.h"

#include "closest.h"
#include "scene_arguments.h"
#include "terminal.h"

#include <algorithm>
#include <filesystem>

std::optional<StudySelection> select_studies(const char* command, const char* what, const ReproduceArguments& arguments,
                                             std::vector<std::string> known) {
  if (arguments.name != "all") {
    if (std::find(known.begin(), known.end(), arguments.name) == known.end()) {
      std::string list;
      for (const std::string& name : known) list += " " + name;
      say(command, std::string("unknown ") + what + " '" + arguments.name + "'" + make_hint(arguments.name, known) +
                       " (known: all" + list + ")");
      return std::nullopt;
    }
    known = {arguments.name};
  }
  const std::optional<std::string> scenes = find_shipped_scenes(command);
  if (!scenes) return std::nullopt;
  std::error_code code;
  if (!arguments.folder.empty()) std::filesystem::create_directories(arguments.folder, code);
  if (!arguments.folder.empty() && !std::filesystem::is_directory(arguments.folder, code)) {
    say(command, arguments.folder + ": cannot be made a folder; choose another name");
    return std::nullopt;
  }
  return StudySelection{std::move(known), *scenes};
}
