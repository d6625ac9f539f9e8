// newton: the workhorse. Active-set Newton from the last answer; when that does not settle, proximal convex rounds
// bring the iterate near and Newton finishes. SOLVING of the whole problem is one factorization in a scene at rest.
#include <algorithm>

#include "solve/solvers/newton_iteration.h"
#include "solve/solvers/solvers.h"

namespace slipstick {

namespace {

constexpr double kGoal = 1e-13;  // what is tried for; `tolerance` is what is asked for
constexpr int kWarmLimit = 12;
constexpr int kRounds = 60;

class Newton : public Solver {
 public:
  SolverTraits traits() const override {
    return {.name = "newton",
            .cone = true,
            .pyramid = true,
            .box_friction = true,
            .nonsymmetric = true,
            .local_form = false,
            .citation = "Alart and Curnier 1991; Acary, Bremond and Huber 2018"};
  }

  SolverReport solve(const Problem& problem, double tolerance, Solution* answer) override {
    SolverReport report;
    if (!problem.coupling.empty()) {
      report.status = SolveStatus::Unsupported;
      report.note = "problems in local form";
      return report;
    }
    iteration_.start(problem, &primal_, answer->lambda);
    const double goal = std::min(kGoal, tolerance);
    iteration_.run_active(goal, kWarmLimit, 4);
    if (iteration_.best_residual() > tolerance) iteration_.start_convex_phase();
    for (int k = 0; k < 40 && iteration_.best_residual() > tolerance; ++k) {
      iteration_.run_convex(goal, 3, false);
      if (iteration_.residual() > 0.1) continue;
      iteration_.run_active(goal, 6, 2);
      if (iteration_.best_residual() <= tolerance) continue;
      iteration_.run_convex(goal, 6, true);
    }
    if (iteration_.best_residual() > goal) {
      iteration_.restore_best();
      iteration_.run_active(goal, 4, 1);
    }
    iteration_.finish(answer);
    report.iterations = iteration_.factorizations();
    const bool solved = iteration_.best_residual() <= tolerance;
    report.status = solved ? SolveStatus::Solved : SolveStatus::NotConverged;
    if (!solved) report.note = "iteration limit";
    return report;
  }

 private:
  PrimalSystem primal_;
  NewtonIteration iteration_;
};

}  // namespace

std::unique_ptr<Solver> make_newton() { return std::make_unique<Newton>(); }

}  // namespace slipstick
