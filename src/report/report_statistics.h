// What a run leaves behind for its report: sums, maxima and the list of step times.
#pragma once

#include <slipstick/app/report.h>
#include <slipstick/health.h>

#include <cstdint>
#include <string>
#include <vector>

namespace slipstick {

struct TimeFigures {
  double mean = 0, median = 0, p99 = 0, max = 0;
};

/// Median and 99th percentile by the nearest rank; zeros for no times.
TimeFigures calc_time_figures(std::vector<double> times);

/// The first step that could not be certified, or was only with something left out of the law.
struct FirstStep {
  std::int64_t step = -1;
  double time = 0;
  std::string note;
};

/// Where the run was furthest from the law.
struct WorstFigure {
  std::int64_t step = -1;
  double time = 0;
  WorstPart part;
  std::vector<std::string> bodies;
};

struct RunFigures {
  std::string scene_path, scene_name;
  RunEnd end = RunEnd::Complete;
  std::optional<ResumePoint> resumed;
  double start_time = 0;  ///< s: where this run's counts begin

  long steps = 0;
  std::vector<double> step_seconds;
  PhaseTimes phases;  ///< sums, seconds
  double record_seconds = 0;

  double contacts_sum = 0, found_contacts_sum = 0, warm_contacts_sum = 0, rows_sum = 0;
  long islands = 0, held = 0;
  long not_unique = 0, arbitrary = 0, choices = 0;  ///< StepReport
  int contacts_max = 0, rows_max = 0;
  long iterations = 0, escalations = 0, reach_repeats = 0, late_repeats = 0, core_rows = 0, divisions = 0,
       uncertified = 0, heap_steps = 0, relaxed_steps = 0;
  long settled_steps = 0, exhausted_steps = 0;
  PaceReport pace;                    ///< sums; the shortest of all
  double work_sum = 0, work_max = 0;  ///< row operations
  FirstStep first_uncertified, first_relaxed;
  WorldVerdict world;           ///< sums
  bool last_certified = false;  ///< the last step
  long corrections = 0;         ///< steps after which overlap was corrected
  double corrected_max = 0;     ///< m, in one step
  int open_joints_max = 0;

  Residuals residual_max;
  WorstFigure worst;
  double residual_sum = 0;
  double penetration_max = 0, penetration_final = 0, joint_error_max = 0, joint_error_final = 0;

  EnergySplit initial_energy;
  double energy_scale = 1;  ///< J: growth below a rounding part of this is none
  EnergyLedger ledger;      ///< sums
  double remainder_max = 0, increase_max = 0;
  long increase_steps = 0;

  std::optional<RealtimeFigures> realtime;
  std::vector<Event> events;
  long impact_guards = 0;
};

struct RunStatistics::Impl : RunFigures {
  explicit Impl(const Simulation& simulation) : health(simulation) {}
  HealthMonitor health;
};

}  // namespace slipstick
