#include "closest.h"
#include "commands.h"
#include "stop.h"
#include "terminal.h"

#include <slipstick/reproduce.h>

#include <algorithm>
#include <filesystem>

int reproduce(const ReproduceArguments& arguments) {
  std::vector<std::string> names = slipstick::experiment_names();
  if (arguments.name != "all") {
    if (std::find(names.begin(), names.end(), arguments.name) == names.end()) {
      std::string list;
      for (const std::string& name : names) list += " " + name;
      say("reproduce", "unknown experiment '" + arguments.name + "'" + make_hint(arguments.name, names) +
                           " (known: all" + list + ")");
      return kBadInput;
    }
    names = {arguments.name};
  }
  const std::vector<Example> examples = find_examples("");
  if (examples.empty()) {
    say("reproduce", "the shipped scenes are missing; set SLIPSTICK_SCENES to the folder that holds them");
    return kBadInput;
  }
  const std::string scenes = std::filesystem::path(examples[0].path).parent_path().string();
  std::error_code code;
  if (!arguments.folder.empty()) std::filesystem::create_directories(arguments.folder, code);
  if (!arguments.folder.empty() && !std::filesystem::is_directory(arguments.folder, code)) {
    say("reproduce", arguments.folder + ": cannot be made a folder; choose another name");
    return kBadInput;
  }
  listen_for_stop();
  std::vector<slipstick::Reproduction> all;
  for (const std::string& name : names) {
    ProgressBar bar(true);
    const std::string place = std::to_string(all.size() + 1) + " of " + std::to_string(names.size()) + ": ";
    auto one = slipstick::reproduce_experiment(name, scenes, [&](std::string_view run, double part) {
      bar.update(place + std::string(run), part);
      return !stop_requested();
    });
    bar.erase();
    if (!one) {
      if (stop_requested()) return kInterrupted;
      for (const slipstick::Fault& fault : one.faults()) say("reproduce", fault.text());
      return kBadInput;
    }
    all.push_back(std::move(one).value());
  }
  bool good =
      write_out(arguments.json ? slipstick::make_reproduction_json(all) : slipstick::make_reproduction_text(all));
  if (!arguments.folder.empty()) {
    const slipstick::Faults faults = slipstick::save_reproduction(arguments.folder, all);
    for (const slipstick::Fault& fault : faults) say("reproduce", fault.text());
    good = good && faults.empty();
  }
  for (const slipstick::Reproduction& one : all) {
    if (!one.failure.empty()) say("reproduce", one.name + ": " + one.failure);
    if (one.uncertified > 0)
      say("reproduce", "warning: " + one.name + ": " + std::to_string(one.uncertified) + " steps not certified");
    good = good && one.ok();
  }
  return good ? kDone : kFailed;
}
