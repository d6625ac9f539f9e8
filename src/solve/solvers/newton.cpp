// newton: the workhorse. Active-set Newton from the last answer; when that does not settle, proximal convex rounds
// bring the iterate near and Newton finishes. In a scene at rest one factorization does it all.
#include <algorithm>

#include "solve/solvers/newton_iteration.h"
#include "solve/solvers/solvers.h"

namespace slipstick {

namespace {

constexpr double kGoal = 1e-13;                    // what is tried for; `tolerance` is what is asked for
constexpr int kWarmLimit = 12, kWarmPatience = 4;  // factorizations for the first try, idle steps before it is given up
constexpr int kRounds = 40;                        // of three convex steps and a try to finish
constexpr double kNear = 0.1;                      // relative residual below which a finish is tried

class Newton : public Solver {
 public:
  SolverTraits traits() const override {
    return {.name = "newton",
            .cone = true,
            .pyramid = true,
            .box_friction = true,
            .nonsymmetric = true,
            .local_form = true,
            .citation = "Alart and Curnier 1991; Acary, Bremond and Huber 2018"};
  }

  SolverReport solve(const Problem& problem, double tolerance, Solution* answer) override {
    SolverReport report;
    const bool local = !problem.coupling.empty();
    if (local && problem.columns() > 0) {
      report.status = SolveStatus::Unsupported;
      report.note = "columns and a coupling in one problem";
      return report;
    }
    NewtonSystem* system = &primal_;
    if (local) system = &dual_;
    iteration_.start(problem, system, answer->lambda);
    iterate(tolerance, std::min(kGoal, tolerance));
    iteration_.finish(answer);
    report.iterations = iteration_.factorizations();
    const bool solved = iteration_.best_residual() <= tolerance;
    report.status = solved ? SolveStatus::Solved : SolveStatus::NotConverged;
    if (!solved) report.note = "iteration limit";
    return report;
  }

 private:
  void iterate(double tolerance, double goal) {
    NewtonIteration& it = iteration_;
    it.run_active(goal, kWarmLimit, kWarmPatience);
    if (it.best_residual() > tolerance) it.start_convex_phase();
    for (int k = 0; k < kRounds && it.best_residual() > tolerance; ++k) {
      it.run_convex(goal, 3);
      if (it.residual() > kNear) continue;
      it.run_active(goal, 6, 2);
      if (it.best_residual() <= tolerance) break;
      it.run_full(goal, 6);
    }
    if (it.best_residual() <= goal) return;
    it.restore_best();
    it.run_active(goal, 4, 1);
  }

  PrimalSystem primal_;
  DualSystem dual_;
  NewtonIteration iteration_;
};

}  // namespace

std::unique_ptr<Solver> make_newton() { return std::make_unique<Newton>(); }

}  // namespace slipstick
