#include "step/ladder.h"

#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <limits>

namespace slipstick {

namespace {

constexpr int kUnlimited = std::numeric_limits<int>::max();
/// Lemke's dense factors: past this many complementary pairs a step would take minutes; the best certified residual is
/// reported instead.
constexpr int kLemkePairs = 1000;

/// Complementary pairs of the problem's polyhedral form ([AnitescuPotra97]): normal, directions, slip speed.
int calc_pairs(const Problem& problem) {
  int pairs = 0;
  for (const RowBlock& block : problem.blocks) {
    if (block.law == LawKind::Equality) continue;
    pairs += block.law != LawKind::Friction ? block.size : block.size == 2 ? 4 : block.facets + 2;
  }
  return pairs;
}

}  // namespace

std::vector<std::string_view> solver_choices() {
  std::vector<std::string_view> names = solver_names();
  names.insert(names.begin(), "auto");
  return names;
}

Ladder::Ladder(const SimulationOptions& options) : tolerance_(options.tolerance), threads_(options.threads) {
  if (options.solver == "auto") {
    rungs_ = {{"newton", kUnlimited}, {"lemke", kLemkePairs}};
  } else {
    rungs_ = {{options.solver, kUnlimited}};
  }
  for (const Rung& rung : rungs_) statistics_.emplace_back().solver = rung.solver;
}

Ladder::~Ladder() = default;

/// Climbs the rungs until the judge is content with `solution`, which keeps the best answer by relative residual.
void Ladder::solve_part(const Problem& problem, Solution* solution, Slot* slot) const {
  LadderResult& result = slot->result;
  result = {};
  slot->solvers.resize(rungs_.size());
  slot->counts.assign(rungs_.size(), {});
  slot->guess.v = solution->v;
  slot->guess.lambda = solution->lambda;
  for (std::size_t k = 0; k < rungs_.size() && !result.certified; ++k) {
    if (k > 0 && calc_pairs(problem) > rungs_[k].max_pairs) continue;
    if (!slot->solvers[k]) slot->solvers[k] = make_solver(rungs_[k].solver);
    if (k > 0) ++result.escalations;
    slot->trial.v = slot->guess.v;
    slot->trial.lambda = slot->guess.lambda;
    const SolverReport report = slot->solvers[k]->solve(problem, tolerance_, &slot->trial);
    result.iterations += report.iterations;
    const Residuals residual = slot->judge.certify(problem, slot->trial);
    SolverStatistics& count = slot->counts[k];
    count.solves = 1;
    count.certified = residual.within(tolerance_);
    count.warm_hits = report.warm_hit;
    count.iterations = report.iterations;
    if (k > 0 && !(residual.relative < result.residual.relative)) continue;
    std::swap(*solution, slot->trial);
    result.residual = residual;
    result.note = report.note;
    result.certified = residual.within(tolerance_);
  }
}

void Ladder::solve_islands(const Problem& problem, Solution* solution) {
  if (solution->v.size() != problem.unknowns()) solution->v.setZero(problem.unknowns());
  if (solution->lambda.size() != problem.rows()) solution->lambda.setZero(problem.rows());
  solution->w.resize(problem.rows());
  islands_.solve_free_columns(problem, solution);
  const auto solve = [&](int island) {
    Slot& slot = *slots_[island];
    islands_.extract(problem, island, &slot.problem);
    islands_.gather(problem, island, *solution, &slot.solution);
    solve_part(slot.problem, &slot.solution, &slot);
  };
  if (threads_ > 1) {
    tbb::task_arena arena(std::min(threads_, tbb::info::default_concurrency()));
    arena.execute([&] { tbb::parallel_for(0, islands_.count(), solve); });
  } else {
    for (int island = 0; island < islands_.count(); ++island) solve(island);
  }
  for (int island = 0; island < islands_.count(); ++island)
    islands_.scatter(problem, island, slots_[island]->solution, solution);
}

bool Ladder::climb(const Problem& problem, Solution* solution, LadderResult* result) {
  islands_.update(problem);
  const int count = std::max(islands_.count(), 1);
  while (static_cast<int>(slots_.size()) < count) slots_.push_back(std::make_unique<Slot>());
  if (islands_.count() == 1 && islands_.free_columns().empty()) {
    solve_part(problem, solution, slots_[0].get());  // no need to copy anything
  } else {
    solve_islands(problem, solution);
  }
  double worst = -1;
  for (int island = 0; island < islands_.count(); ++island) {
    const LadderResult& part = slots_[island]->result;
    result->iterations += part.iterations;
    result->escalations += part.escalations;
    for (std::size_t k = 0; k < rungs_.size(); ++k) {
      const SolverStatistics& count = slots_[island]->counts[k];
      statistics_[k].solves += count.solves;
      statistics_[k].certified += count.certified;
      statistics_[k].warm_hits += count.warm_hits;
      statistics_[k].iterations += count.iterations;
    }
    if (part.certified || part.residual.relative <= worst) continue;
    worst = part.residual.relative;
    result->note = part.note;
  }
  result->residual = judge_.certify(problem, *solution);
  return result->residual.within(tolerance_);
}

LadderResult Ladder::solve(std::span<const NormalOffset> normals, Problem* problem, Solution* solution) {
  LadderResult result;
  result.certified = climb(*problem, solution, &result);
  if (result.certified) return result;

  // The problem may have no solution: offsets below zero are not covered by the theorem. Relax it, on record.
  const std::vector<double> offsets = problem->c;
  const LadderResult unrelaxed = result;
  const Solution best = *solution;
  const auto relaxed = [&](std::string_view note, auto change) {
    bool changed = false;
    for (const NormalOffset& normal : normals) {
      const double offset = change(problem->c[normal.row], normal);
      changed = changed || offset != problem->c[normal.row];
      problem->c[normal.row] = offset;
    }
    if (!changed) return false;
    ++result.escalations;
    *solution = best;
    if (!climb(*problem, solution, &result)) return false;
    result.certified = true;
    result.note = note;
    return true;
  };
  if (relaxed("restitution dropped", [](double c, const NormalOffset& n) { return c - n.restitution; })) return result;
  if (relaxed("penetration not corrected", [](double c, const NormalOffset&) { return std::max(c, 0.0); }))
    return result;
  problem->c = offsets;
  *solution = best;
  result.residual = unrelaxed.residual;
  result.note = unrelaxed.note.empty() ? "not converged" : unrelaxed.note;
  return result;
}

}  // namespace slipstick
