// newton: the workhorse. Active-set Newton from the last answer: in a scene at rest one factorization does it all.
// Where that does not settle, interior paths (interior.h) bring the iterate near from anywhere and the active set
// finishes; where a path ends at a fold, proximal rounds go on; at last a path is followed through its folds.
#include <algorithm>

#include "solve/solvers/newton_iteration.h"
#include "solve/solvers/solvers.h"
#include "solve/solvers/time_limit.h"

namespace slipstick {

namespace {

constexpr int kWarmLimit = 12, kWarmPatience = 4;  // factorizations for the first try, idle steps before it is given up
constexpr int kProximalTry = 60, kProximalTries = 5, kMoreTries = 8;  // factorizations between tries to finish
constexpr double kInteriorNear = 1e-3;  // and interior paths, then again for each digit they gain
// What a phase may spend on the law (law_parts.h) after the map is below the tolerance: steps of a path, proximal
// tries.
constexpr int kLawSteps = 12, kLawTries = 2;
constexpr int kFastSteps = 60, kAlongSteps = 200;  // of an interior path
// Weights of friction on the path: 1 is quickest where it gets through; heavier ones have fewer folds.
constexpr double kPlain = 1, kRound = 30, kAlong = 10;

class Newton : public PolishingSolver {
 public:
  explicit Newton(const SolverOptions& options) : time_(options) {}

  SolverTraits traits() const override {
    return {.name = "newton",
            .cone = true,
            .pyramid = true,
            .box_friction = true,
            .nonsymmetric = true,
            .local_form = true,
            .citation = "Alart and Curnier 1991; Acary, Armand, Nguyen and Shpakovych 2022"};
  }

  SolverReport solve(const Problem& problem, double tolerance, Solution* answer) override {
    SolverReport report;
    if (!problem.coupling.empty() && problem.columns() > 0) {
      report.status = SolveStatus::Unsupported;
      report.note = "columns and a coupling in one problem";
      return report;
    }
    start(problem, *answer);
    iterate(tolerance, std::min(kGoal, tolerance));
    return finish(tolerance, answer);
  }

  void set_judge(Judge* judge) override { judge_ = judge; }

  SolverReport polish(const Problem& problem, double goal, Solution* answer) override {
    start(problem, *answer);
    iteration_.run_active(std::min(kGoal, goal), kWarmLimit, kWarmPatience);
    return finish(goal, answer);
  }

 private:
  void start(const Problem& problem, const Solution& guess) {
    NewtonSystem* system = &primal_;
    if (!problem.coupling.empty()) system = &dual_;
    problem_ = &problem;
    judged_.lambda.resize(problem.rows());
    judged_.v.resize(problem.unknowns());
    judged_.w.resize(problem.rows());
    time_.start();
    iteration_.start(problem, system, guess.lambda);
  }

  SolverReport finish(double tolerance, Solution* answer) {
    SolverReport report;
    iteration_.finish(answer);
    report.iterations = iteration_.factorizations();
    const bool solved = iteration_.best_residual() <= tolerance;
    report.status = solved ? SolveStatus::Solved : SolveStatus::NotConverged;
    if (!solved) report.note = time_.is_over() ? time_.note() : "iteration limit";
    return report;
  }

  void iterate(double tolerance, double goal) {
    NewtonIteration& it = iteration_;
    it.run_active(goal, kWarmLimit, kWarmPatience);
    // The law's last digit is worth the first two of these; more of them cost much and gave nothing.
    if (goes_on(tolerance) || !meets_law(tolerance)) run_path(kPlain, kFastSteps, tolerance, goal);
    if (goes_on(tolerance) || !meets_law(tolerance)) run_proximal(kProximalTries, tolerance, goal);
    if (goes_on(tolerance)) run_path(kRound, kFastSteps, tolerance, goal);
    if (goes_on(tolerance)) run_proximal(kMoreTries, tolerance, goal);
    if (goes_on(tolerance)) run_path(kAlong, kAlongSteps, tolerance, goal);
    if (goes_on(tolerance)) run_proximal(kProximalTries, tolerance, goal);
    if (it.best_residual() <= goal || time_.is_over()) return;
    it.restore_best();
    it.run_active(goal, 4, 1);
  }

  bool goes_on(double tolerance) const { return iteration_.best_residual() > tolerance && !time_.is_over(); }

  bool meets_law(double tolerance) {
    if (judge_ == nullptr || iteration_.best_residual() <= kGoal) return true;  // no digits are left
    iteration_.update_best(&judged_);
    return judge_->certify(*problem_, judged_).within(tolerance);
  }

  void run_proximal(int tries, double tolerance, double goal) {
    NewtonIteration& it = iteration_;
    it.start_proximal_phase();
    int more = 0;
    for (int k = 0; k < tries && !time_.is_over(); ++k) {
      if (!goes_on(tolerance) && (more++ >= kLawTries || meets_law(tolerance))) return;
      it.run_proximal(goal, kProximalTry);
      if (it.best_residual() > goal) it.run_active(goal, 4, 1);
    }
  }

  /// Down an interior path, with a try to finish each time the residual has fallen by a digit.
  void run_path(double friction_weight, int limit, double tolerance, double goal) {
    NewtonIteration& it = iteration_;
    const bool through_folds = limit == kAlongSteps;
    it.start_interior_phase(friction_weight);
    double next = kInteriorNear;
    int more = 0;
    for (int k = 0; k < limit && !time_.is_over(); ++k) {
      const bool able = it.run_interior(through_folds);
      if (able && it.residual() >= next) continue;
      next = 0.1 * std::min(it.residual(), next);
      it.run_active(goal, 6, 2);
      if (!able) return;
      if (it.best_residual() <= tolerance && (more++ >= kLawSteps || meets_law(tolerance))) return;
    }
  }

  TimeLimit time_;
  PrimalSystem primal_;
  DualSystem dual_;
  NewtonIteration iteration_;
  const Problem* problem_ = nullptr;
  Judge* judge_ = nullptr;  ///< null: the map decides
  Solution judged_;
};

}  // namespace

std::unique_ptr<Solver> make_newton(const SolverOptions& options) { return std::make_unique<Newton>(options); }

}  // namespace slipstick
