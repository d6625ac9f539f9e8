#include "step/step_solver.h"

#include <algorithm>
#include <cmath>

namespace slipstick {

namespace {

constexpr double kFarAbove = 10;  // a residual over the offsets that could explain it

LadderOptions make_ladder_options(const SimulationOptions& options) {
  LadderOptions made;
  made.solver = options.solver;
  made.tolerance = options.tolerance;
  if (options.solver == "auto") made.heap_tolerance = options.heap_tolerance;
  made.threads = options.threads;
  // The impulses of a first step are the guess of all that follow: Newton's are the even ones among redundant contacts.
  made.cold_sweeps = false;
  made.hold_resting = options.hold_resting;
  if (options.solver != "auto") made.solver_options = options.solver_options;
  return made;
}

}  // namespace

StepSolver::StepSolver(const SimulationOptions& options) : options_(options), solvers_(make_ladder_options(options)) {
  const std::vector<std::string_view> known = solver_option_names(options.solver);
  budgeted_ = std::any_of(known.begin(), known.end(),
                          [](std::string_view name) { return name == "iterations" || name == "coupling"; });
}

void StepSolver::set_budget(int sweeps) {
  budget_ = sweeps;
  if (sweeps <= 0 || sweeps == hurried_sweeps_) return;
  LadderOptions options = make_ladder_options(options_);
  options.solver = "pgs";
  options.solver_options = {};
  options.solver_options.max_iterations = sweeps;
  hurried_ = std::make_unique<SolverLadder>(options);
  hurried_sweeps_ = sweeps;
}

LadderResult StepSolver::solve(std::span<const NormalOffset> normals, Problem* problem, Solution* solution) {
  if (budget_ > 0) return hurried_->solve(*problem, solution);
  LadderResult result = solvers_.solve(*problem, solution);
  const bool heap = result.tolerance > options_.tolerance;  // swept to a budget: what is left is no sign of a jam
  if (result.certified || budgeted_ || heap) return result;

  // The problem may have no solution: offsets below zero are not covered by the theorem. Relax it, on record.
  const std::vector<double> offsets = problem->c;
  const LadderResult unrelaxed = result;
  const Solution best = *solution;
  const auto relaxed = [&](std::string_view note, auto change) {
    double largest = 0;
    for (const NormalOffset& normal : normals) {
      const double offset = change(problem->c[normal.row], normal);
      largest = std::max(largest, std::abs(offset - problem->c[normal.row]));
      problem->c[normal.row] = offset;
    }
    // The relaxed problem's solution would leave no more than that of the given one: if the solvers left much more, the
    // offsets are not what stops them.
    if (largest == 0 || unrelaxed.residual.natural > kFarAbove * largest) return false;
    *solution = best;
    const LadderResult trial = solvers_.solve(*problem, solution);
    const int iterations = result.iterations + trial.iterations;
    const int escalations = result.escalations + trial.escalations + 1;
    const int islands = result.islands + trial.islands, held = result.held + trial.held;
    const double certify_seconds = result.certify_seconds + trial.certify_seconds;
    result = trial;
    result.certify_seconds = certify_seconds;
    result.islands = islands;
    result.held = held;
    result.iterations = iterations;
    result.escalations = escalations;
    if (trial.certified) result.note = note;
    return trial.certified;
  };
  if (relaxed("restitution dropped", [](double c, const NormalOffset& n) { return c - n.restitution; })) return result;
  if (relaxed("penetration not corrected", [](double c, const NormalOffset&) { return std::max(c, 0.0); }))
    return result;
  problem->c = offsets;
  *solution = best;
  result.residual = unrelaxed.residual;
  result.solver = unrelaxed.solver;
  result.note = unrelaxed.note.empty() ? "not converged" : unrelaxed.note;
  return result;
}

}  // namespace slipstick
