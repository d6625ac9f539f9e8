// Stages 4 to 9 of docs/step.md for one length of time: equations, problem, warm start, solution, certificate, motion.
// The fixed pipe makes one trial a step; the event driver makes as many as it needs to find where a step must end.
#pragma once

#include "step/scheme.h"
#include "step/step_solver.h"

namespace slipstick {

/// An impulse below this fraction of the step's largest is rounding, not load.
inline constexpr double kLoaded = 1e-11;

class Trial {
 public:
  /// Keeps references.
  Trial(const Scheme& scheme, StepSolver* ladder) : scheme_(scheme), ladder_(*ladder) {}

  /// From input.state over input.h to the poses and velocities of `next`. Counts and times go to `report`; the
  /// certificate is that of the worst trial since `report` was made.
  void run(const StepInput& input, State* next, StepReport* report);

  /// Copies each problem and its guess before it is solved; nulls: no longer.
  void keep(Problem* problem, Solution* guess) {
    kept_problem_ = problem;
    kept_guess_ = guess;
  }

  const StepScratch& scratch() const { return scratch_; }
  const Solution& solution() const { return solution_; }
  bool certified() const { return outcome_.certified; }
  /// Normal row of each contact that is in the problem, with its restitution.
  const std::vector<NormalOffset>& normals() const { return normals_; }
  /// What `impulse` means in N s: lambda times this.
  double impulse_scale() const { return scratch_.impulse_scale; }

 private:
  void warm_start(const StepInput& input);
  void solve(StepReport* report);

  const Scheme& scheme_;
  StepSolver& ladder_;
  StepScratch scratch_;
  Solution solution_;
  LadderResult outcome_;
  std::vector<NormalOffset> normals_;
  int warm_contacts_ = 0;  ///< with a known impulse to begin from
  Problem* kept_problem_ = nullptr;
  Solution* kept_guess_ = nullptr;
};

/// Adds the time from construction to destruction to a counter of seconds.
class Stopwatch {
 public:
  explicit Stopwatch(double* seconds);
  ~Stopwatch();
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double* seconds_;
  long long start_;
};

/// Whether every pose and velocity is a number.
bool is_finite(const State& state);

}  // namespace slipstick
