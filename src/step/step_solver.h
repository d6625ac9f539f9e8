// Solves a step's problem with the ladder of solvers and, if the judge is not content, relaxes the problem: restitution
// dropped, and last overlap not taken away either. Without prescribed motions what is left is always solvable
// ([methods 2.2]); the speed of a prescribed body stays in its row, and what it jams has no solution and no
// certificate. Each rung climbed and each relaxation is counted and named; nothing is relaxed in silence. A solver with
// a budget of iterations proves nothing by using it up: no relaxation then, what it reached is reported as what it is.
#pragma once

#include <slipstick/simulation.h>
#include <slipstick/solver_ladder.h>

#include <memory>
#include <span>

namespace slipstick {

/// A normal contact row and the terms of its offset that may be left out. What else there is, the speed of a prescribed
/// body above all, is a fact.
struct NormalOffset {
  int row = 0;
  double restitution = 0;  ///< Lambda_j <= 0, m/s
  double overlap = 0;      ///< what takes overlap away, <= 0, m/s
};

/// A problem that took the place of one that could not be solved.
struct Relaxed {
  bool taken = false;  ///< the answer is that of `problem`
  Problem problem;
};

class StepSolver {
 public:
  /// Null: nobody helps.
  explicit StepSolver(const SimulationOptions& options, const ThreadTeam* team = nullptr);
  double tolerance() const { return options_.tolerance; }

  /// A new step, or the same from its start: its problems share one limit of work. All that is solved until the next
  /// call, whatever comes of it, is counted here: `islands`, `held` and `work` of the report.
  void begin(StepReport* report) {
    spent_ = 0;
    report_ = report;
  }
  /// Stage 7. `solution` holds the warm start.
  LadderResult solve(const Problem& problem, Solution* solution) { return solve(problem, {}, true, solution); }
  /// The same for another pass, in which some columns have their answer already (SolverLadder).
  LadderResult solve_again(const Problem& problem, std::span<const char> answered, Solution* solution) {
    return solve(problem, answered, true, solution);
  }
  /// The same for a problem whose answer geometry shows to be good or not (correction.h): heaps are not judged.
  LadderResult solve_unjudged(const Problem& problem, Solution* solution) {
    return solve(problem, {}, false, solution);
  }
  /// Stage 8. `result` and `solution` are those of `solve`; where the judge is not content, those of a relaxed problem
  /// take their place if it is content with them.
  void certify(std::span<const NormalOffset> normals, const Problem& problem, Relaxed* relaxed, Solution* solution,
               LadderResult* result);
  /// Both.
  LadderResult solve(std::span<const NormalOffset> normals, const Problem& problem, Relaxed* relaxed,
                     Solution* solution) {
    return solve_again(normals, problem, {}, relaxed, solution);
  }
  LadderResult solve_again(std::span<const NormalOffset> normals, const Problem& problem,
                           std::span<const char> answered, Relaxed* relaxed, Solution* solution) {
    LadderResult result = solve_again(problem, answered, solution);
    certify(normals, problem, relaxed, solution, &result);
    return result;
  }
  /// Of the problem that was solved last.
  std::span<const int> island_of_row() const { return (budget_ > 0 ? *hurried_ : solvers_).island_of_row(); }

  std::span<const SolverStatistics> statistics() const { return solvers_.statistics(); }
  /// Simulation::set_budget
  void set_budget(int sweeps);

 private:
  LadderResult solve(const Problem& problem, std::span<const char> answered, bool judges, Solution* solution);

  SimulationOptions options_;
  const ThreadTeam* team_;
  double spent_ = 0;              ///< work, since begin()
  StepReport* report_ = nullptr;  ///< null: nobody counts
  int budget_ = 0;
  std::unique_ptr<SolverLadder> hurried_;  ///< pgs with the latest budget; null before the first
  int hurried_sweeps_ = 0;
  SolverLadder solvers_;
  bool budgeted_ = false;  ///< the chosen solver may stop at a limit of iterations that the user sets
};

}  // namespace slipstick
