#include "commands.h"
#include "stop.h"
#include "study_arguments.h"
#include "terminal.h"

#include <slipstick/verify.h>

int verify(const ReproduceArguments& arguments) {
  const std::optional<StudySelection> chosen =
      select_studies("verify", "problem", arguments, slipstick::known_problem_names());
  if (!chosen) return kBadInput;
  listen_for_stop();
  std::vector<slipstick::Verification> all;
  for (const std::string& name : chosen->names) {
    ProgressBar bar(true);
    const std::string place = std::to_string(all.size() + 1) + " of " + std::to_string(chosen->names.size()) + ": ";
    auto one = slipstick::verify_problem(name, chosen->scenes, [&](std::string_view run, double part) {
      bar.update(place + std::string(run), part);
      return !stop_requested();
    });
    bar.erase();
    if (!one) {
      if (stop_requested()) return kInterrupted;
      for (const slipstick::Fault& fault : one.faults()) say("verify", fault.text());
      return kBadInput;
    }
    all.push_back(std::move(one).value());
  }
  bool good =
      write_out(arguments.json ? slipstick::make_verification_json(all) : slipstick::make_verification_text(all));
  if (!arguments.folder.empty()) {
    const slipstick::Faults faults = slipstick::save_verification(arguments.folder, all);
    for (const slipstick::Fault& fault : faults) say("verify", fault.text());
    good = good && faults.empty();
  }
  for (const slipstick::Verification& one : all) {
    if (!one.failure.empty()) say("verify", one.name + ": " + one.failure);
    if (one.uncertified > 0)
      say("verify", "warning: " + one.name + ": " + std::to_string(one.uncertified) + " steps not certified");
    good = good && one.ok();
  }
  return good ? kDone : kFailed;
}
