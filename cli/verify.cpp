#include "scene_arguments.h"
#include "study_arguments.h"

#include <slipstick/app/verify.h>

int verify(const VerifyArguments& arguments) {
  double accuracy = 0;
  if (!arguments.accuracy.empty()) {
    std::string fault;
    const std::optional<double> read = read_expression("--accuracy", arguments.accuracy, &fault);
    if (read && !(*read > 0)) fault = "--accuracy '" + arguments.accuracy + "': must be a length above zero";
    if (!fault.empty()) return say("verify", fault), kBadInput;
    accuracy = *read;
  }
  const auto run = [&](const std::string& name, const std::string& scenes, const slipstick::StudyMonitor& monitor) {
    return accuracy > 0 ? slipstick::verify_accuracy(name, accuracy, scenes, monitor)
                        : slipstick::verify_problem(name, scenes, monitor);
  };
  return run_studies<slipstick::Verification>(
      {"verify", "problem", slipstick::known_problem_names(), run, slipstick::make_verification_text,
       slipstick::make_verification_json, slipstick::save_verification},
      arguments);
}
