// Room: solve. Solves a problem with the chosen solver or, for "auto", climbs a declared ladder of solvers until the
// judge is content: newton (from a few sweeps of pgs where there is no guess), then lemke while the island is not too
// large, then newton from more sweeps; heaps too dear to factor are only swept. Each island is solved by itself, in
// parallel where threads are given: an island's answer depends on nothing but the island.
#pragma once

#include <slipstick/problem.h>
#include <slipstick/solver.h>

#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace slipstick {

/// "auto" and the names of all solvers.
std::vector<std::string_view> solver_choices();

/// A solver that somebody tries out (docs/solvers.md). It finds impulses; all else that makes an answer, and the
/// verdict on it, is found by the ladder.
class PrototypeSolver {
 public:
  virtual ~PrototypeSolver() = default;
  virtual std::string_view name() const = 0;  ///< in statistics and reports; stays good as long as the solver
  /// `lambda` is the guess on entry and the answer on return. False: there is none. Called from several threads at a
  /// time where LadderOptions::threads is above 1.
  virtual bool solve(const Problem& problem, double tolerance, VecX* lambda) = 0;
};

struct LadderOptions {
  std::string solver = "auto";
  double tolerance = 1e-8;  ///< relative residual of the judge
  int threads = 1;
  const ThreadTeam* team = nullptr;  ///< who helps, in place of threads of its own; must outlive the ladder
  double time_limit = std::numeric_limits<double>::infinity();  ///< s; no rung is begun after it, and a solver that
                                                                ///< reads SolverOptions::time_limit ends by then
  SolverOptions solver_options;
  double heap_tolerance = 0;  ///< auto: above `tolerance`, that of islands too dear to factor, which are swept
  /// An island whose guess moves no column by more than rounding, and whose impulses keep it at rest within the
  /// tolerance, is not solved: v = 0 and the guess' impulses are its answer.
  bool hold_resting = false;
  /// Work that a problem, or all of a step together (set_spent), may take, in row operations (WorkMeter): the larger of
  /// both; no limit unless `work` is finite. Islands share it by their rows.
  double work = std::numeric_limits<double>::infinity();
  double sweeps = 0;        ///< the work of so many sweeps over the rows
  double settle = 0;        ///< auto: SolverOptions::settle of newton; what is settled is not tried again
  int heap_sweeps = 0;      ///< auto: least sweeps of islands too dear to factor, 0: its own number
  bool few_sweeps = false;  ///< auto: no more than these where the heap is small
  /// auto: columns of an island from which its edges alone say whether it is too dear to factor
  int ordered_columns = std::numeric_limits<int>::max();
  bool cold_sweeps = true;  ///< auto: begin with a few sweeps of pgs where there is no guess and a factor is dearer
  /// Where impulses are not unique, those of equal springs at all contacts (solve/unique_forces.h);
  /// Solution::uniqueness says which. Not for heaps, and not for problems in local form.
  bool unique_forces = false;
  /// Asked first, with each island and its guess. Where the judge is not content `solver` answers as if nobody had been
  /// asked before it, on record: an escalation, and the prototype's own statistics.
  std::shared_ptr<PrototypeSolver> prototype;
};

struct LadderResult {
  Residuals residual;  ///< of the problem as it stands on return
  bool certified = false;
  /// By which it was judged: LadderOptions::heap_tolerance if there is a heap, or an island finished short of the
  /// tolerance that is as good as one.
  double tolerance = 0;
  bool unsupported = false;  ///< no rung could take the problem
  int iterations = 0;
  int escalations = 0;
  int islands = 0;
  double work = 0;         ///< row operations spent
  bool settled = false;    ///< an island was finished short of the tolerance (LadderOptions::settle)
  bool exhausted = false;  ///< an island's work did not suffice for that either
  int held = 0;            ///< islands answered by their guess (LadderOptions::hold_resting)
  int choices = 0;         ///< factorizations for the choice of impulses (LadderOptions::unique_forces)
  int unchosen = 0;        ///< islands whose impulses are not unique, or may not be, and were left as they were found
  double certify_seconds = 0;  ///< the judge's last word
  std::string_view relaxed;    ///< what of the law was left out to find an answer (StepSolver); empty: nothing
  std::string_view solver;     ///< the rung that gave the worst island's answer (one island: the answer)
  std::string_view note;
};

/// What one solver of the ladder did since the start, islands counted one by one.
struct SolverStatistics {
  std::string_view solver;
  long solves = 0;      ///< islands given to it, however often one was
  long certified = 0;   ///< of these
  long warm_hits = 0;   ///< the last answer's basis was still right (SolverReport::warm_hit)
  long iterations = 0;  ///< pivots, Newton steps, sweeps
  // split (SolverReport); sums and largest over its solves
  long couplings = 0;
  double direct_residual_sum = 0, direct_residual_max = 0;
  double iterative_residual_sum = 0, iterative_residual_max = 0;
};

/// What became of one island.
struct IslandResult {
  bool certified = false;
  double natural = 0, relative = 0;  ///< Residuals
};

class SolverLadder {
 public:
  /// `options.solver` must be one of solver_choices().
  explicit SolverLadder(const LadderOptions& options);
  ~SolverLadder();
  SolverLadder(SolverLadder&&) noexcept;
  SolverLadder& operator=(SolverLadder&&) noexcept;
  /// `solution` holds the warm start (ignored if its sizes are wrong) and, on return, the best answer by the judge.
  LadderResult solve(const Problem& problem, Solution* solution);
  /// The same where some columns, one entry each, have their answer already (another problem differed elsewhere only):
  /// islands of such columns keep what `solution` has of them, if the judge is content with it.
  LadderResult solve(const Problem& problem, std::span<const char> answered, Solution* solution);
  /// The same where nobody asks how good the answer is: heaps are swept and not judged. Where there are any, `residual`
  /// is infinite and nothing is certified.
  LadderResult solve_unjudged(const Problem& problem, Solution* solution);
  /// Work that other problems of the same step have taken already. A fifth of the limit is left to each in any case.
  void set_spent(double work);
  /// Of the last solve: the island of each row of the problem, and each island's own result.
  std::span<const int> island_of_row() const;
  std::span<const IslandResult> island_results() const;
  /// Counts since construction, one entry per rung, the prototype first.
  std::span<const SolverStatistics> statistics() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace slipstick
