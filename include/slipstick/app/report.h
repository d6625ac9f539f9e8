// Room: report. The report of a run: one JSON object, all numbers in SI (docs/report.md).
#pragma once

#include <slipstick/app/recording.h>
#include <slipstick/health.h>
#include <slipstick/scene.h>
#include <slipstick/simulation.h>

#include <memory>
#include <optional>
#include <string>

namespace slipstick {

/// How well a run kept pace with the clock.
struct RealtimeFigures {
  double rate = 1;            ///< simulated seconds a second asked for
  int budget = 0;             ///< sweeps per problem in steps that began late; 0: none declared
  long missed = 0;            ///< steps that ended after their deadline
  long hurried = 0;           ///< steps taken with the budget
  double worst_lateness = 0;  ///< s
  double final_lateness = 0;  ///< s
};

/// Collects the figures of a run step by step. Allocation-free between steps apart from a growing list of step times.
class RunStatistics {
 public:
  RunStatistics(const Scene& scene, const Simulation& simulation);
  ~RunStatistics();
  RunStatistics(RunStatistics&&) noexcept;
  RunStatistics& operator=(RunStatistics&&) noexcept;

  /// `step_seconds`: wall time of Simulation::step; `record_seconds`: of writing the recording.
  void add(const Simulation& simulation, const StepReport& report, double step_seconds, double record_seconds);
  /// What the world's certificate of the last state says, all pairs looked at; a missed contact takes the last step's
  /// certificate.
  void add_world(const Simulation& simulation, const WorldVerdict& verdict);
  const WorldVerdict& world() const;  ///< of all states so far
  /// Says that the run was to keep pace with the clock, and how that went.
  void set_realtime(const RealtimeFigures& figures);
  /// Says that the run went on from a stored state: all counts begin there.
  void set_resumed(const ResumePoint& point);
  /// How the run ended; Complete until something else is said.
  void set_end(RunEnd end);
  /// The JSON text, indented. `wall_s` is the whole run's.
  std::string json(const Simulation& simulation, double wall_s) const;
  /// A dozen lines for a person.
  std::string summary(const Simulation& simulation, double wall_s, bool colour) const;

  double residual_max() const;
  long uncertified_steps() const;
  /// Followed from the first state on.
  const HealthMonitor& health() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace slipstick
