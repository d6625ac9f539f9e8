#include "commands.h"
#include "scene_arguments.h"
#include "terminal.h"

#include <slipstick/app/problem_file.h>
#include <slipstick/simulation.h>

#include <cmath>
#include <cstdio>

namespace {

std::string make_title(const slipstick::Scene& scene, double time) {
  char text[128];
  std::snprintf(text, sizeof text, "step of %.17g s from t = %.17g s, scheme ", scene.options.step, time);
  return (scene.name.empty() ? scene.path : scene.name) + ": " + text + scene.options.scheme;
}

}  // namespace

int dump(const DumpArguments& arguments) {
  std::string fault;
  const std::optional<double> at = read_expression("--at", arguments.at, &fault);
  if (!at || !std::isfinite(*at) || *at < 0) {
    say("dump", at ? "--at must be a time in seconds, zero or more" : fault);
    return kBadInput;
  }
  const std::optional<slipstick::Scene> scene = load("dump", arguments.scene, arguments.simulation);
  if (!scene) return kBadInput;
  if (arguments.output == arguments.scene.scene) {
    say("dump", arguments.output + ": is the scene itself; choose another name");
    return kBadInput;
  }
  const double steps = std::floor(*at / scene->options.step + 1e-6);
  if (steps > 1e12) {
    say("dump", "--at is more than 1e12 steps away");
    return kBadInput;
  }
  slipstick::Simulation simulation(scene->model, scene->initial, scene->options);
  for (long k = 0; k < static_cast<long>(steps); ++k) {
    const slipstick::StepReport& report = simulation.step();
    if (!report.failed) continue;
    say("dump", "the run failed at t = " + std::to_string(simulation.state().time) + " s: " + std::string(report.note));
    return kFailed;
  }
  const double time = simulation.state().time;
  slipstick::Problem problem;
  slipstick::Solution guess;
  simulation.step_and_keep(&problem, &guess);
  const slipstick::Faults faults = slipstick::save_problem(arguments.output, problem, make_title(*scene, time), &guess);
  for (const slipstick::Fault& each : faults) say("dump", each.text());
  if (!faults.empty()) return kBadInput;
  char text[256];
  std::snprintf(text, sizeof text, ": the step from t = %.6g s, %d unknowns, %d rows\n", time, problem.unknowns(),
                problem.rows());
  return write_out(arguments.output + text) ? kDone : kFailed;
}
