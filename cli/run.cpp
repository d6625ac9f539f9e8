#include "commands.h"
#include "scene_arguments.h"
#include "stop.h"
#include "terminal.h"

#include <slipstick/app/output_file.h>
#include <slipstick/app/recording.h>
#include <slipstick/app/report.h>
#include <slipstick/simulation.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

namespace {

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

/// Everything that a run writes, opened before the first step.
struct Outputs {
  std::optional<slipstick::Recorder> recorder;
  slipstick::OutputFile report;
  bool recording_lost = false;  ///< a write failed, and the user has been told
};

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code code;
  return a == b || std::filesystem::equivalent(a, b, code);
}

bool open_outputs(const RunArguments& arguments, const slipstick::Scene& scene, Outputs* outputs) {
  for (const std::string& path : {arguments.output, arguments.report}) {
    if (path.empty() || !is_same_file(path, arguments.scene.scene)) continue;
    say("run", path + ": is the scene itself; choose another name");
    return false;
  }
  if (!arguments.output.empty() && is_same_file(arguments.output, arguments.report)) {
    say("run", "-o and --report name the same file");
    return false;
  }
  std::string fault;
  if (!arguments.report.empty() && !outputs->report.open(arguments.report, &fault)) {
    say("run", fault);
    return false;
  }
  if (arguments.output.empty()) return true;
  auto recorder = slipstick::Recorder::create(arguments.output, scene, arguments.command);
  if (!recorder) {
    for (const slipstick::Fault& f : recorder.faults()) say("run", f.text());
    return false;
  }
  outputs->recorder.emplace(std::move(recorder).value());
  return true;
}

/// Records the present state and returns the seconds that it took; a failure is said once.
double record(const slipstick::Simulation& simulation, const slipstick::StepReport* report, ProgressBar* bar,
              Outputs* outputs) {
  if (!outputs->recorder || outputs->recording_lost) return 0;
  const auto start = Clock::now();
  if (!outputs->recorder->append(simulation, report)) {
    outputs->recording_lost = true;
    bar->erase();
    say("run", "recording stopped: " + outputs->recorder->error());
  }
  return seconds_between(start, Clock::now());
}

/// Keeps the steps of a run on the clock: step k ends at start + k h / rate, not before; later is counted.
class Pace {
 public:
  Pace(const RunArguments& arguments, double step) : on_(arguments.realtime.has_value()), start_(Clock::now()) {
    figures_.rate = arguments.realtime.value_or(1);
    figures_.budget = arguments.budget.value_or(0);
    interval_ = step / figures_.rate;
  }

  /// Before a step: one that begins late gets the declared budget.
  void begin(slipstick::Simulation* simulation) {
    if (!on_ || figures_.budget == 0) return;
    const bool hurry = figures_.final_lateness > 0;
    simulation->set_budget(hurry ? figures_.budget : 0);
    if (hurry) ++figures_.hurried;
  }
  /// After a step and its recording: sleeps until the deadline, or counts it as missed.
  void end() {
    if (!on_) return;
    const auto deadline = start_ + std::chrono::duration_cast<Clock::duration>(
                                       std::chrono::duration<double>(static_cast<double>(++steps_) * interval_));
    const double late = seconds_between(deadline, Clock::now());
    figures_.final_lateness = std::max(late, 0.0);
    if (late <= 0) {
      std::this_thread::sleep_until(deadline);
      return;
    }
    ++figures_.missed;
    figures_.worst_lateness = std::max(figures_.worst_lateness, late);
  }
  const slipstick::RealtimeFigures* figures() const { return on_ ? &figures_ : nullptr; }

 private:
  bool on_;
  Clock::time_point start_;
  double interval_ = 0;
  long steps_ = 0;
  slipstick::RealtimeFigures figures_;
};

/// All steps, or as many as possible.
slipstick::RunEnd simulate(const RunArguments& arguments, slipstick::Simulation* simulation, Outputs* outputs,
                           slipstick::RunStatistics* statistics, Pace* pace) {
  ProgressBar bar(!arguments.quiet);
  const long steps = slipstick::calc_step_count(simulation->options());
  const double duration = static_cast<double>(steps) * simulation->options().step;
  record(*simulation, nullptr, &bar, outputs);
  for (long k = 0; k < steps; ++k) {
    if (stop_requested()) return slipstick::RunEnd::Interrupted;
    pace->begin(simulation);
    const auto start = Clock::now();
    const slipstick::StepReport& report = simulation->step();
    const auto stepped = Clock::now();
    if (report.failed) {
      bar.erase();
      say("run", "step " + std::to_string(k + 1) + " (t = " + std::to_string(simulation->state().time) +
                     " s) failed: " + std::string(report.note) + "; try a smaller step or another solver");
      return slipstick::RunEnd::Failed;
    }
    const double recorded = record(*simulation, &report, &bar, outputs);
    statistics->add(*simulation, report, seconds_between(start, stepped), recorded);
    bar.update({simulation->state().time, duration, report.contacts, statistics->residual_max()}, stepped);
    pace->end();
  }
  return slipstick::RunEnd::Complete;
}

/// Closes the recording and writes the report; false if something could not be written.
bool finish_outputs(const RunArguments& arguments, const std::string& json, Outputs* outputs) {
  bool good = !outputs->recording_lost;
  if (outputs->recorder && !outputs->recorder->close() && !outputs->recording_lost) {
    say("run", "recording is not complete: " + outputs->recorder->error());
    good = false;
  }
  std::string fault;
  if (!arguments.report.empty() && !outputs->report.write(json, &fault)) {
    say("run", fault);
    good = false;
  }
  return good;
}

}  // namespace

int run(const RunArguments& arguments) {
  std::optional<slipstick::Scene> scene = load("run", arguments.scene, arguments.simulation);
  if (!scene) return kBadInput;
  Outputs outputs;
  if (!open_outputs(arguments, *scene, &outputs)) return kBadInput;

  listen_for_stop();
  const auto start = Clock::now();
  slipstick::Simulation simulation(scene->model, scene->initial, scene->options);
  for (const std::string& warning : simulation.warnings()) say("run", "warning: " + warning);
  slipstick::RunStatistics statistics(*scene, simulation);
  Pace pace(arguments, simulation.options().step);
  const slipstick::RunEnd end = simulate(arguments, &simulation, &outputs, &statistics, &pace);
  statistics.set_end(end);
  if (pace.figures() != nullptr) statistics.set_realtime(*pace.figures());
  const double wall = seconds_between(start, Clock::now());

  const std::string json = statistics.json(simulation, wall);
  bool good = finish_outputs(arguments, json, &outputs);
  if (arguments.json) {
    good = write_out(json) && good;
  } else if (!arguments.quiet) {
    good = write_out(statistics.summary(simulation, wall, wants_colour(STDOUT_FILENO))) && good;
  }
  const long uncertified = statistics.uncertified_steps();
  if (uncertified > 0)
    say("run", std::string(arguments.strict ? "error" : "warning") + ": " + std::to_string(uncertified) +
                   (uncertified == 1 ? " step" : " steps") + " could not be certified" +
                   (arguments.strict ? "" : " (--strict makes this an error)"));
  if (end == slipstick::RunEnd::Interrupted) return kInterrupted;
  if (end == slipstick::RunEnd::Failed || !good) return kFailed;
  return uncertified > 0 && arguments.strict ? kFailed : kDone;
}
