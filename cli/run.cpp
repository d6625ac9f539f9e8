#include "assemble_start.h"
#include "commands.h"
#include "output_paths.h"
#include "scene_arguments.h"
#include "stop.h"
#include "terminal.h"

#include <slipstick/app/recording.h>
#include <slipstick/app/report.h>
#include <slipstick/output_file.h>
#include <slipstick/simulation.h>
#include <slipstick/state_file.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
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
  bool recording_lost = false;        ///< a write failed, and the user has been told
  bool checkpoint_lost = false;       ///< likewise
  std::size_t alarms_said = 0;        ///< of the health report
  std::int64_t checkpoint_steps = 0;  ///< between two; 0: none
  std::uint64_t start_hash = 0;       ///< of the scene's initial state
};

/// Where the run goes on, if it is to. False, and the user told, if that cannot be.
bool find_resume(const RunArguments& arguments, const slipstick::Scene& scene,
                 std::optional<slipstick::ResumePoint>* resumed, slipstick::State* state) {
  *state = scene.initial;
  if (arguments.resume.empty()) return true;
  const auto refuse = [&](const std::string& why) {
    say("run", arguments.resume + ": " + why);
    return false;
  };
  slipstick::Result<slipstick::StateFile> stored = slipstick::load_stored_state(arguments.resume);
  if (!stored) {
    for (const slipstick::Fault& fault : stored.faults()) say("run", fault.text());
    return false;
  }
  if (const std::string wrong = slipstick::find_model_fault(*stored, scene.model); !wrong.empty()) return refuse(wrong);
  if (const std::string wrong = slipstick::find_settings_fault(*stored, scene.options); !wrong.empty())
    return refuse("was made with " + wrong + "; a run goes on only with the same settings");
  if (stored->start_hash != 0 && stored->start_hash != hash(scene.initial))
    return refuse("belongs to a run that began in other places or with other velocities than this scene's");
  const std::int64_t steps = slipstick::calc_step_count(scene.options);
  if (stored->state.step > steps)
    return refuse("stands at t = " + std::to_string(stored->state.time) +
                  " s, after the end of this run; give a longer --duration");
  *resumed = slipstick::ResumePoint{arguments.resume, stored->state.step, stored->state.time};
  *state = std::move(stored.value().state);
  return true;
}

/// Reads --every; false, and the user told, if it is not a time.
bool read_interval(const RunArguments& arguments, double step, std::int64_t* steps) {
  if (arguments.checkpoint.empty()) return true;
  std::string fault;
  const std::optional<double> seconds = read_expression("--every", arguments.every, &fault);
  if (seconds && !(*seconds > 0 && *seconds / step < 1e15)) fault = "--every must be a time above zero";
  if (!fault.empty()) {
    say("run", fault);
    return false;
  }
  *steps = std::max<std::int64_t>(1, std::llround(*seconds / step));
  return true;
}

bool open_outputs(const RunArguments& arguments, const slipstick::Scene& scene,
                  const std::optional<slipstick::ResumePoint>& resumed, Outputs* outputs) {
  const std::vector<OutputPath> paths{
      {"-o", arguments.output}, {"--report", arguments.report}, {"--checkpoint", arguments.checkpoint}};
  if (!check_outputs("run", paths, "scene", scene.files, arguments.no_clobber)) return false;
  if (resumed && is_same_file(arguments.output, resumed->file)) {
    say("run", arguments.output + ": is the recording to go on from; the rest of the run goes to a new file");
    return false;
  }
  if (!read_interval(arguments, scene.options.step, &outputs->checkpoint_steps)) return false;
  outputs->start_hash = hash(scene.initial);
  std::string fault;
  slipstick::OutputFile probe;  // a checkpoint that cannot be written is said before hours of work
  if ((!arguments.checkpoint.empty() && !probe.open(arguments.checkpoint, &fault)) ||
      (!arguments.report.empty() && !outputs->report.open(arguments.report, &fault))) {
    say("run", fault);
    return false;
  }
  if (arguments.output.empty()) return true;
  auto recorder = slipstick::Recorder::create(arguments.output, scene, arguments.command, resumed);
  if (!recorder) {
    for (const slipstick::Fault& f : recorder.faults()) say("run", f.text());
    return false;
  }
  outputs->recorder.emplace(std::move(recorder).value());
  return true;
}

/// Writes the whole state; a failure is said once, and the run goes on.
void write_checkpoint(const RunArguments& arguments, const slipstick::Simulation& simulation, ProgressBar* bar,
                      Outputs* outputs) {
  if (outputs->checkpoint_lost) return;
  const slipstick::Faults faults = slipstick::save_state(arguments.checkpoint, simulation, outputs->start_hash);
  if (faults.empty()) return;
  outputs->checkpoint_lost = true;
  bar->erase();
  say("run", "checkpoint not written: " + faults.front().text());
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

/// Says each alarm once, and when nothing more is to be expected of the run. False: it should end.
bool say_health(const RunArguments& arguments, const slipstick::HealthMonitor& health, ProgressBar* bar,
                Outputs* outputs) {
  const auto alarms = health.alarms();
  const bool ends = health.beyond_repair() && !arguments.keep_going;
  if (alarms.size() > outputs->alarms_said || ends) bar->erase();
  for (; outputs->alarms_said < alarms.size(); ++outputs->alarms_said)
    say("run", "warning: " + alarms[outputs->alarms_said].text());
  if (ends) say("run", "the state is beyond repair: the run ends here (--keep-going goes on)");
  return !ends;
}

/// All steps, or as many as possible.
slipstick::RunEnd simulate(const RunArguments& arguments, slipstick::Simulation* simulation, Outputs* outputs,
                           slipstick::RunStatistics* statistics, Pace* pace) {
  ProgressBar bar(!arguments.quiet);
  const long steps = slipstick::calc_step_count(simulation->options());
  const double duration = static_cast<double>(steps) * simulation->options().step;
  const auto interrupt = [&] {
    if (outputs->checkpoint_steps > 0) write_checkpoint(arguments, *simulation, &bar, outputs);
    return slipstick::RunEnd::Interrupted;
  };
  record(*simulation, nullptr, &bar, outputs);
  if (!say_health(arguments, statistics->health(), &bar, outputs)) return slipstick::RunEnd::Failed;
  for (long k = simulation->state().step; k < steps; ++k) {
    if (stop_requested()) return interrupt();
    pace->begin(simulation);
    const auto start = Clock::now();
    const slipstick::StepReport& report = simulation->step();
    const auto stepped = Clock::now();
    if (report.stopped) return interrupt();
    if (report.failed) {
      bar.erase();
      say("run", "step " + std::to_string(k + 1) + " (t = " + std::to_string(simulation->state().time) +
                     " s) failed: " + std::string(report.note));
      return slipstick::RunEnd::Failed;
    }
    double recorded = record(*simulation, &report, &bar, outputs);
    if (outputs->checkpoint_steps > 0 && simulation->state().step % outputs->checkpoint_steps == 0) {
      const auto begun = Clock::now();
      write_checkpoint(arguments, *simulation, &bar, outputs);
      recorded += seconds_between(begun, Clock::now());
    }
    statistics->add(*simulation, report, seconds_between(start, stepped), recorded);
    if (!say_health(arguments, statistics->health(), &bar, outputs)) return slipstick::RunEnd::Failed;
    bar.update({simulation->state().time, duration, report.contacts, statistics->residual_max()}, stepped);
    pace->end();
  }
  return slipstick::RunEnd::Complete;
}

/// Closes the recording and writes the report; false if something could not be written.
bool finish_outputs(const RunArguments& arguments, slipstick::RunEnd end, const std::string& json, Outputs* outputs) {
  bool good = !outputs->recording_lost && !outputs->checkpoint_lost;
  if (outputs->recorder && !outputs->recorder->close(end) && !outputs->recording_lost) {
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

/// Names the worst pair that the contacts say nothing of.
void say_missed(const slipstick::Model& model, const slipstick::WorldVerdict& world) {
  const slipstick::MissedContact& worst = world.worst;
  say("run", "warning: missed contact: '" + std::string(slipstick::body_name(model, worst.body_a)) + "' and '" +
                 std::string(slipstick::body_name(model, worst.body_b)) + "' overlap by " +
                 std::to_string(worst.depth) + " m at t = " + std::to_string(worst.time) + " s, their contacts say " +
                 std::to_string(worst.reported) + " m");
}

/// Names the first pair of which one went into the other within a step.
void say_crossed(const slipstick::Model& model, const slipstick::WorldVerdict& world) {
  const slipstick::CrossedPair& first = world.first_crossed;
  say("run", "warning: '" + std::string(slipstick::body_name(model, first.body_a)) + "' and '" +
                 std::string(slipstick::body_name(model, first.body_b)) +
                 "': one went into the other within a step and may have gone through it, t = " +
                 std::to_string(first.time) + " s; a shorter step helps");
}

}  // namespace

int run(const RunArguments& arguments) {
  std::optional<slipstick::Scene> scene = load("run", arguments.scene, arguments.simulation);
  if (!scene) return kBadInput;
  if (arguments.all) scene->record = {.every = 1, .contacts = true, .parts = true};
  const bool assembled = assemble_start("run", &*scene);
  std::optional<slipstick::ResumePoint> resumed;
  slipstick::State first;
  Outputs outputs;
  if (!find_resume(arguments, *scene, &resumed, &first) || !open_outputs(arguments, *scene, resumed, &outputs))
    return kBadInput;

  listen_for_stop();
  scene->options.stop = stop_token();
  const auto start = Clock::now();
  if (arguments.audit) scene->options.audit = slipstick::AuditMode::Every;
  if (arguments.budget && !arguments.realtime) scene->options.budget = *arguments.budget;
  scene->description = {};  // of many bodies it is larger than the model, which is the simulation's from here on
  slipstick::Simulation simulation(std::move(scene->model), std::move(first), scene->options);
  simulation.keep_parts(arguments.all);
  for (const std::string& warning : simulation.warnings()) say("run", "warning: " + warning);
  slipstick::RunStatistics statistics(*scene, simulation);
  if (resumed) statistics.set_resumed(*resumed);
  Pace pace(arguments, simulation.options().step);
  const slipstick::RunEnd end = simulate(arguments, &simulation, &outputs, &statistics, &pace);
  if (end != slipstick::RunEnd::Failed) statistics.add_world(simulation, simulation.check_world());
  statistics.set_end(end);
  if (pace.figures() != nullptr) statistics.set_realtime(*pace.figures());
  const double wall = seconds_between(start, Clock::now());

  const bool is_read = arguments.json || !arguments.report.empty();  // of many bodies it is long
  const std::string json = is_read ? statistics.json(simulation, wall) : std::string();
  bool good = finish_outputs(arguments, end, json, &outputs);
  if (arguments.json) {
    good = write_out(json) && good;
  } else if (!arguments.quiet) {
    good = write_out(statistics.summary(simulation, wall, wants_colour(STDOUT_FILENO))) && good;
  }
  if (statistics.world().missed > 0) say_missed(simulation.model(), statistics.world());
  if (statistics.world().crossed > 0) say_crossed(simulation.model(), statistics.world());
  const long uncertified = statistics.uncertified_steps();
  if (uncertified > 0)
    say("run", std::string(arguments.strict ? "error" : "warning") + ": " + std::to_string(uncertified) +
                   (uncertified == 1 ? " step" : " steps") + " could not be certified" +
                   (arguments.strict ? "" : " (--strict makes this an error)"));
  if (end == slipstick::RunEnd::Interrupted) return kInterrupted;
  if (end == slipstick::RunEnd::Failed || !good) return kFailed;
  const bool sound = assembled && uncertified == 0 && statistics.health().alarms().empty();
  return arguments.strict && !sound ? kFailed : kDone;
}
