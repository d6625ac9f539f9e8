#include "scene_arguments.h"
#include "study_arguments.h"

#include <slipstick/app/verify.h>

namespace {

/// Nothing and a fault: it cannot be read, or is not above zero. 0: not given.
double read_positive(const char* option, const std::string& text, const std::string& what, std::string* fault) {
  if (text.empty()) return 0;
  const std::optional<double> read = read_expression(option, text, fault);
  if (read && !(*read > 0)) *fault = std::string(option) + " '" + text + "': must be a " + what + " above zero";
  return read.value_or(0);
}

}  // namespace

int verify(const VerifyArguments& arguments) {
  std::string fault;
  const double accuracy = read_positive("--accuracy", arguments.accuracy, "length", &fault);
  const double step = fault.empty() ? read_positive("--step", arguments.step, "time", &fault) : 0;
  if (fault.empty() && accuracy > 0 && step > 0) fault = "--accuracy chooses the steps itself; leave out --step";
  if (fault.empty() && step > 0 && arguments.name == "all") fault = "--step is for one problem; say which";
  if (!fault.empty()) return say("verify", fault), kBadInput;
  const auto run = [&](const std::string& name, const std::string& scenes, const slipstick::StudyMonitor& monitor) {
    return accuracy > 0 ? slipstick::verify_accuracy(name, accuracy, scenes, monitor)
                        : slipstick::verify_problem(name, scenes, monitor, step);
  };
  return run_studies<slipstick::Verification>(
      {"verify", "problem", slipstick::known_problem_names(), run, slipstick::make_verification_text,
       slipstick::make_verification_json, slipstick::save_verification},
      arguments);
}
