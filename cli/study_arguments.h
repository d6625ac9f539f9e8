// What `reproduce` and `verify` share: which of their studies are meant, on which scenes, and the run through them.
#pragma once

#include "commands.h"
#include "stop.h"
#include "terminal.h"

#include <slipstick/app/study.h>

#include <functional>

/// Names to run and the folder of the shipped scenes; nothing, and the user told, if the arguments cannot be used.
struct StudySelection {
  std::vector<std::string> names;
  std::string scenes;
};
std::optional<StudySelection> select_studies(const char* command, const char* what, const ReproduceArguments& arguments,
                                             std::vector<std::string> known);

/// A kind of studies: how they are called, run, printed and saved.
template <class Study>
struct StudyKind {
  const char *command, *what;
  std::vector<std::string> names;
  std::function<slipstick::Result<Study>(const std::string& name, const std::string& scenes,
                                         const slipstick::StudyMonitor& monitor)>
      run;
  std::string (*make_text)(const std::vector<Study>& all);
  std::string (*make_json)(const std::vector<Study>& all);
  slipstick::Faults (*save)(const std::string& folder, const std::vector<Study>& all);
};

template <class Study>
int run_studies(const StudyKind<Study>& kind, const ReproduceArguments& arguments) {
  const std::optional<StudySelection> chosen = select_studies(kind.command, kind.what, arguments, kind.names);
  if (!chosen) return kBadInput;
  listen_for_stop();
  std::vector<Study> all;
  for (const std::string& name : chosen->names) {
    ProgressBar bar(true);
    const std::string place = std::to_string(all.size() + 1) + " of " + std::to_string(chosen->names.size()) + ": ";
    auto one = kind.run(name, chosen->scenes, [&](std::string_view run, double part) {
      bar.update(place + std::string(run), part);
      return !stop_requested();
    });
    bar.erase();
    if (!one) {
      if (stop_requested()) return kInterrupted;
      for (const slipstick::Fault& fault : one.faults()) say(kind.command, fault.text());
      return kBadInput;
    }
    all.push_back(std::move(one).value());
  }
  bool good = write_out(arguments.json ? kind.make_json(all) : kind.make_text(all));
  if (!arguments.folder.empty()) {
    const slipstick::Faults faults = kind.save(arguments.folder, all);
    for (const slipstick::Fault& fault : faults) say(kind.command, fault.text());
    good = good && faults.empty();
  }
  for (const Study& one : all) {
    if (!one.failure.empty()) say(kind.command, one.name + ": " + one.failure);
    if (one.uncertified > 0)
      say(kind.command, "warning: " + one.name + ": " + std::to_string(one.uncertified) + " steps not certified");
    good = good && one.ok();
  }
  return good ? kDone : kFailed;
}
