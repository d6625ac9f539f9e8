#include "step/ladder.h"

#include <algorithm>
#include <limits>

namespace slipstick {

namespace {

constexpr int kUnlimited = std::numeric_limits<int>::max();
/// Lemke's dense factors: past this size a step would take minutes; the best certified residual is reported instead.
constexpr int kLemkeRows = 600;

}  // namespace

std::vector<std::string_view> solver_choices() {
  std::vector<std::string_view> names = solver_names();
  names.insert(names.begin(), "auto");
  return names;
}

Ladder::Ladder(const SimulationOptions& options) : tolerance_(options.tolerance) {
  if (options.solver == "auto") {
    rungs_.push_back({make_solver("newton"), kUnlimited});
    rungs_.push_back({make_solver("lemke"), kLemkeRows});
  } else {
    rungs_.push_back({make_solver(options.solver), kUnlimited});
  }
}

Ladder::~Ladder() = default;

bool Ladder::climb(const Problem& problem, Solution* solution, LadderResult* result) {
  std::swap(guess_, *solution);
  double best = std::numeric_limits<double>::infinity();
  bool first = true;
  for (Rung& rung : rungs_) {
    if (problem.rows() > rung.max_rows && !first) continue;
    if (!first) ++result->escalations;
    trial_.v = guess_.v;
    trial_.lambda = guess_.lambda;
    const SolverReport report = rung.solver->solve(problem, tolerance_, &trial_);
    result->iterations += report.iterations;
    const Residuals residual = judge_.certify(problem, trial_);
    if (first || residual.relative < best) {
      best = residual.relative;
      std::swap(*solution, trial_);
      result->residual = residual;
      result->note = report.note;
    }
    if (residual.within(tolerance_)) return true;
    first = false;
  }
  return false;
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
