// auto, where there is no guess: a few sweeps of Gauss-Seidel. They cost less than one factorization, end easy problems
// at once and give the first rung a guess otherwise. Of a problem that newton solves by dense steps a factorization
// costs little more than a sweep, and it needs no guess.
#include <cmath>
#include <vector>

#include "solve/solver_ladder_impl.h"
#include "solve/solvers/newton_system.h"
#include "solve/solvers/solvers.h"

namespace slipstick {

namespace {

constexpr int kStarterSweeps = 5;

}  // namespace

/// A few sweeps where there is no guess. True: the judge is content already.
bool SolverLadder::Impl::start_cold(const Problem& problem, Solution* solution, LadderSlot* slot) const {
  if (!solution->lambda.isZero(0) || problem.rows() == 0 || SmallSystem::takes(problem)) return false;
  SolverOptions budget;
  budget.max_iterations = kStarterSweeps;
  budget.stop = solver_options.stop;
  const SolverReport report = sweep(budget, problem, options.tolerance, *solution, &slot->scratch->starter, slot);
  if (report.status == SolveStatus::Unsupported) return false;
  std::swap(*solution, slot->scratch->trial);
  if (report.status != SolveStatus::Solved) return false;
  take_swept(report, options.tolerance, slot);
  return slot->result.certified;
}

/// The best of a few sweeps over one island, where it stands. Solved: by its natural map; the judge is still to be
/// asked.
SolverReport SolverLadder::Impl::sweep_coupled(std::span<const int> blocks) {
  SolverReport report;
  const double goal = kBelow * options.tolerance;
  double best = cold.calc_island_residual(blocks), last = best;
  while (report.iterations < kStarterSweeps && best > goal) {
    if (last == best) cold.copy_impulses(blocks, &cold_best);
    cold.sweep(blocks);
    ++report.iterations;
    last = cold.calc_island_residual(blocks);
    best = std::min(best, last);
  }
  if (last != best) {
    cold.set_impulses(blocks, cold_best);
    cold.calc_island_residual(blocks);
  }
  if (best <= goal) report.status = SolveStatus::Solved;
  return report;
}

/// The same for problems in local form: every island where it stands, since nothing but W ties rows there. Nothing is
/// copied, no island has a solver of its own, and the judge sees the whole once for all that are solved. True: all are.
bool SolverLadder::Impl::start_coupled(const Problem& problem, Solution* solution, LadderJudged* judged) {
  if (!starts_cold || problem.coupling.empty() || problem.columns() > 0 || is_late()) return false;
  if (SmallSystem::takes(problem)) return false;
  if (std::isfinite(work_per_row) || options.heap_tolerance > options.tolerance || options.hold_resting ||
      options.prototype || options.unique_forces)
    return false;
  if (!solution->lambda.isZero(0) || !find_problem_fault(problem).empty()) return false;
  cold.start_islands(problem);
  cold_best.resize(problem.rows());
  reports.resize(islands.count());
  bool any = false;
  for (int island = 0; island < islands.count(); ++island) {
    LadderSlot& slot = *slots[island];
    reset(&slot);
    reports[island] = sweep_coupled(islands.blocks(island));
    int rows = 0;
    for (const int i : islands.blocks(island)) rows += problem.blocks[i].size;
    slot.swept = (PgsSweeps::kStartWork + reports[island].iterations) * rows;
    any = any || reports[island].status == SolveStatus::Solved;
  }
  cold.finish(solution);
  if (!any) return false;
  judge_whole(problem, *solution, judged);
  bool all = true;
  for (int island = 0; island < islands.count(); ++island) {
    LadderSlot& slot = *slots[island];
    reports[island].residual = judge.islands()[island];
    slot.is_solved =
        reports[island].status == SolveStatus::Solved && reports[island].residual.within(options.tolerance);
    all = all && slot.is_solved;
    if (!slot.is_solved) continue;
    take_swept(reports[island], options.tolerance, &slot);
    slot.result.work = slot.swept;
  }
  return all;
}

}  // namespace slipstick
