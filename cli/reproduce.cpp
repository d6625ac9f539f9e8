#include "commands.h"
#include "stop.h"
#include "study_arguments.h"
#include "terminal.h"

#include <slipstick/reproduce.h>

int reproduce(const ReproduceArguments& arguments) {
  const std::optional<StudySelection> chosen =
      select_studies("reproduce", "experiment", arguments, slipstick::experiment_names());
  if (!chosen) return kBadInput;
  listen_for_stop();
  std::vector<slipstick::Reproduction> all;
  for (const std::string& name : chosen->names) {
    ProgressBar bar(true);
    const std::string place = std::to_string(all.size() + 1) + " of " + std::to_string(chosen->names.size()) + ": ";
    auto one = slipstick::reproduce_experiment(name, chosen->scenes, [&](std::string_view run, double part) {
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
