// Stages 4 to 9 of docs/step.md for one length of time: equations, problem, warm start, solution, certificate, motion.
// A driver decides how many trials a step takes, and how long they are.
#pragma once

#include "step/contact_ends.h"
#include "step/flight.h"
#include "step/joint_ends.h"
#include "step/scheme.h"
#include "step/step_solver.h"

namespace slipstick {

/// An impulse below this fraction of the step's largest is rounding, not load.
inline constexpr double kLoaded = 1e-11;

/// Counts and times of a trial go to the report of the step, whatever becomes of the trial; its verdict (`outcome`) is
/// left to the audit.
class Trial {
 public:
  /// Keeps references. `end_solver` is for the velocities at the end of trials: what it remembers of one problem's
  /// structure serves the next one, and is not that of steps.
  Trial(Scheme* scheme, StepSolver* solver, StepSolver* end_solver, ContactFinder* finder)
      : scheme_(*scheme), solver_(*solver), end_solver_(*end_solver), contact_ends_(finder) {}

  /// Before stage 4, with fixed steps: who rolls (StepInput::rolling).
  std::span<const char> find_rolling(const StepInput& input) { return contact_ends_.find(input, scheme_); }

  void update_equations(const StepInput& input, StepReport* report);  ///< 4
  void discretize(const StepInput& input, StepReport* report);        ///< 5
  /// 6. The last step's impulses by key, and the present velocities; after `refine` the solution that it looked at, and
  /// in a trial that differs from the last one in its contacts alone what that one found.
  void warm_start(const StepInput& input, StepReport* report);
  void solve(StepReport* report);    ///< 7
  void certify(StepReport* report);  ///< 8
  /// True: stages 5 to 8 are worth taking again with what is known now.
  bool refine(const StepInput& input);
  void advance(const StepInput& input, State* next, StepReport* report);  ///< 9

  /// Copies each problem and its guess before it is solved; nulls: no longer.
  void keep(Problem* problem, Solution* guess) {
    kept_problem_ = problem;
    kept_guess_ = guess;
  }

  const StepProblem& made() const { return made_; }
  /// The problem that the solution belongs to: the one made, or a relaxation of it.
  const Problem& solved() const { return relaxed_.taken ? relaxed_.problem : made_.problem; }
  const Solution& solution() const { return solution_; }
  const LadderResult& outcome() const { return outcome_; }
  bool has_heap() const { return outcome_.tolerance > solver_.tolerance(); }
  /// Normal row of each contact that is in the problem, with its restitution.
  const std::vector<NormalOffset>& normals() const { return normals_; }
  int warm_contacts() const { return warm_contacts_; }

  double h() const { return h_; }  ///< its length

  /// The largest normal lambda.
  double calc_largest_normal() const;
  Uniqueness uniqueness(std::size_t i) const;  ///< of the impulse of contact i of the problem; it must have rows
  /// Impulse of contact i of the problem on its body B, world, with N s per unit of lambda; it must have rows.
  Vec3 calc_contact_impulse(std::size_t i, double unit) const;

 private:
  void begin_ends(const StepInput& input);
  bool learns_loads(const StepInput& input);
  bool settle(const StepInput& input);
  std::span<const char> find_answered();
  void take_end(const LadderResult& ends, StepReport* report);
  int warm_contacts(const StepInput& input, double share, std::size_t first, std::size_t last);

  Scheme& scheme_;
  StepSolver& solver_;
  StepSolver& end_solver_;
  Flight flight_;
  JointEnds ends_;
  ContactEnds contact_ends_;
  Equations equations_;
  StepProblem made_;
  Relaxed relaxed_;
  Solution solution_;
  Solution answer_;  ///< before a further pass: of those that have their answer
  LadderResult outcome_;
  std::vector<NormalOffset> normals_;
  double h_ = 0;
  bool again_ = false;     ///< `refine` has asked for another pass
  bool settling_ = false;  ///< because others fly now: it is the first pass of another problem
  bool fresh_ = false;     ///< the first pass of a problem: what it shows has not been asked yet
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
