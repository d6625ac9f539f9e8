#include "step/step_solver.h"

#include <algorithm>
#include <cmath>

namespace slipstick {

namespace {

// What a step may take, in row operations. Balanced: about 0.6 s, or 2500 sweeps over pairs where its problems are
// larger than that; few steps come near it, those of a blow (decision 99). Swift: 300 such sweeps. Where the whole
// ladder would be dear, what residual will do.
constexpr double kBalancedWork = 5e7, kBalancedSweeps = 1000, kSwiftWork = 2e5, kSwiftSweeps = 400;
constexpr double kBalancedSettle = 1e-4, kSwiftSettle = 1e-3;
constexpr int kBalancedHeapSweeps = 60, kSwiftHeapSweeps = 30;
// Swift: bodies from which an island of contacts is swept unless it is a chain, a stack or a machine.
constexpr int kSwiftOrdered = 150;
constexpr double kFarAbove = 10;  // a residual over the offsets that could explain it

LadderOptions make_ladder_options(const SimulationOptions& options, const ThreadTeam* team) {
  LadderOptions made;
  made.solver = options.solver;
  made.tolerance = options.tolerance;
  if (options.solver == "auto") made.heap_tolerance = options.heap_tolerance;
  made.team = team;
  // The impulses of a first step are the guess of all that follow: Newton's are the even ones among redundant contacts.
  made.cold_sweeps = false;
  made.hold_resting = options.hold_resting;
  made.unique_forces = options.unique_forces;
  if (options.solver == "auto") {
    const bool swift = options.effort == Effort::Swift;
    if (options.effort == Effort::Balanced) made.work = kBalancedWork;
    if (swift) {
      made.work = kSwiftWork;
      made.few_sweeps = true;
      made.ordered_columns = kSwiftOrdered;
    }
    if (options.effort != Effort::Exact) {
      made.sweeps = swift ? kSwiftSweeps : kBalancedSweeps;
      made.settle = swift ? kSwiftSettle : kBalancedSettle;
    }
    if (options.effort != Effort::Exact) made.heap_sweeps = swift ? kSwiftHeapSweeps : kBalancedHeapSweeps;
    if (options.budget > 0) {
      made.work = 0;
      made.sweeps = options.budget;
    }
  }
  if (options.solver != "auto") made.solver_options = options.solver_options;
  made.solver_options.stop = options.stop;
  made.prototype = options.prototype;
  return made;
}

}  // namespace

StepSolver::StepSolver(const SimulationOptions& options, const ThreadTeam* team)
    : options_(options), team_(team), solvers_(make_ladder_options(options, team)) {
  const std::vector<std::string_view> known = solver_option_names(options.solver);
  budgeted_ = std::any_of(known.begin(), known.end(),
                          [](std::string_view name) { return name == "iterations" || name == "coupling"; });
}

void StepSolver::set_budget(int sweeps) {
  budget_ = sweeps;
  if (sweeps <= 0 || sweeps == hurried_sweeps_) return;
  LadderOptions options = make_ladder_options(options_, team_);
  options.solver = "pgs";
  options.prototype.reset();
  options.solver_options = {};
  options.solver_options.stop = options_.stop;
  options.solver_options.max_iterations = sweeps;
  hurried_ = std::make_unique<SolverLadder>(options);
  hurried_sweeps_ = sweeps;
}

LadderResult StepSolver::solve(const Problem& problem, std::span<const char> answered, bool judges,
                               Solution* solution) {
  SolverLadder& ladder = budget_ > 0 ? *hurried_ : solvers_;
  if (budget_ <= 0) ladder.set_spent(spent_);
  const LadderResult result =
      judges ? ladder.solve(problem, answered, solution) : ladder.solve_unjudged(problem, solution);
  if (budget_ <= 0) spent_ += result.work;
  if (report_ == nullptr) return result;
  report_->islands += result.islands;
  report_->held += result.held;
  report_->work += result.work;
  return result;
}

void StepSolver::certify(std::span<const NormalOffset> normals, const Problem& problem, Relaxed* relaxed,
                         Solution* solution, LadderResult* result) {
  relaxed->taken = false;
  const bool heap = result->tolerance > options_.tolerance;  // swept to a budget: what is left is no sign of a jam
  // Work that was used up, or saved, proves nothing either.
  const bool short_of_work = result->settled || result->exhausted;
  if (budget_ > 0 || result->certified || budgeted_ || heap || short_of_work) return;
  // The map is zero to the tolerance: there is a solution, and what a part of the law lacks no relaxation gives.
  if (result->residual.relative <= options_.tolerance) return;

  // The problem may have no solution: offsets below zero are not covered by the theorem. Relax it, on record; the
  // islands that failed, and no others.
  const LadderResult unrelaxed = *result;
  const Solution best = *solution;
  const std::vector<int> island(solvers_.island_of_row().begin(), solvers_.island_of_row().end());
  const std::vector<IslandResult> given(solvers_.island_results().begin(), solvers_.island_results().end());
  relaxed->problem = problem;
  const auto take = [&](std::string_view note, auto relax) {
    std::vector<double> largest(given.size(), 0.0);
    const auto change = [&](const NormalOffset& normal) {
      const bool fails = given[island[normal.row]].relative > options_.tolerance;
      return fails ? relax(problem.c[normal.row], normal) - relaxed->problem.c[normal.row] : 0.0;
    };
    for (const NormalOffset& normal : normals) {
      double& most = largest[island[normal.row]];
      most = std::max(most, std::abs(change(normal)));
    }
    // The relaxed problem's solution would leave no more than that of the given one: if the solvers left much more, the
    // offsets are not what stops them.
    const auto helps = [&](std::size_t i) { return largest[i] > 0 && given[i].natural <= kFarAbove * largest[i]; };
    bool any = false;
    for (const NormalOffset& normal : normals) {
      if (!helps(island[normal.row])) continue;
      relaxed->problem.c[normal.row] += change(normal);
      any = true;
    }
    if (!any) return false;
    *solution = best;
    LadderResult trial = solve(relaxed->problem, solution);
    trial.iterations += result->iterations;
    trial.escalations += result->escalations + 1;
    trial.choices += result->choices;
    trial.certify_seconds += result->certify_seconds;
    bool solved = true;
    for (std::size_t i = 0; i < given.size(); ++i)
      solved = solved && (!helps(i) || solvers_.island_results()[i].certified);
    if (solved) trial.relaxed = note;
    *result = trial;
    return solved;
  };
  const auto drop_restitution = [](double c, const NormalOffset& n) { return c - n.restitution; };
  const auto keep_overlap = [](double c, const NormalOffset& n) { return c - n.restitution - n.overlap; };
  relaxed->taken = take("restitution dropped", drop_restitution) || take("penetration not corrected", keep_overlap);
  if (relaxed->taken) return;
  // What closes in all the same does so because it is told to.
  const bool pressed = std::any_of(normals.begin(), normals.end(), [&](const NormalOffset& normal) {
    return given[island[normal.row]].relative > options_.tolerance && keep_overlap(problem.c[normal.row], normal) < 0;
  });
  *solution = best;
  result->residual = unrelaxed.residual;
  result->solver = unrelaxed.solver;
  result->note = pressed                  ? "a prescribed motion closes in on what does not give way"
                 : unrelaxed.note.empty() ? "not converged"
                                          : unrelaxed.note;
}

}  // namespace slipstick
