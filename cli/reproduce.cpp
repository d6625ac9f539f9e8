#include "closest.h"
#include "commands.h"
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
  std::vector<slipstick::Reproduction> all;
  for (const std::string& name : names) {
    auto one = slipstick::reproduce_experiment(name, scenes);
    if (!one) {
      for (const slipstick::Fault& fault : one.faults()) say("reproduce", fault.text());
      return kFailed;
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
  for (const slipstick::Reproduction& one : all)
    for (const slipstick::ReproducedFigure& figure : one.figures) good = good && figure.ok();
  return good ? kDone : kFailed;
}
