#include "closest.h"
#include "commands.h"
#include "scene_arguments.h"
#include "terminal.h"

#include <slipstick/app/study.h>

#include <algorithm>

namespace {

/// A list with commas; `otherwise` if it is empty.
std::vector<std::string> split(const std::string& list, const std::string& otherwise) {
  std::vector<std::string> names = split_names(list);
  if (names.empty()) names.push_back(otherwise);
  return names;
}

}  // namespace

int compare(const CompareArguments& arguments) {
  const std::optional<slipstick::Scene> scene = load("compare", arguments.scene, arguments.simulation);
  if (!scene) return kBadInput;
  std::vector<slipstick::SimulationOptions> options;
  std::vector<std::string> faults;
  for (const std::string& scheme : split(arguments.schemes, scene->options.scheme))
    for (const std::string& solver : split(arguments.solvers, scene->options.solver)) {
      slipstick::SimulationOptions each = scene->options;
      each.scheme = scheme;
      if (solver != each.solver) each.solver_options = {};  // the scene's are for its own solver
      each.solver = solver;
      for (const slipstick::OptionFault& fault : slipstick::find_option_faults(each))
        if (std::find(faults.begin(), faults.end(), fault.message) == faults.end()) faults.push_back(fault.message);
      options.push_back(std::move(each));
    }
  for (const std::string& fault : faults) say("compare", fault);
  if (!faults.empty()) return kBadInput;
  const std::vector<slipstick::ComparedRun> runs = slipstick::compare_runs(*scene, options);
  const bool good = write_out(arguments.json ? slipstick::make_comparison_json(*scene, runs)
                                             : slipstick::make_comparison_text(*scene, runs));
  const bool failed = std::any_of(runs.begin(), runs.end(), [](const auto& run) { return run.failed; });
  return good && !failed ? kDone : kFailed;
}
