// newton: the workhorse. Active-set Newton from the last answer: in a scene at rest one factorization does it all.
// Where that does not settle, interior paths (interior.h) bring the iterate near from anywhere and the active set
// finishes; where a path ends at a fold, proximal rounds go on; at last a path is followed through its folds. Where all
// that would cost more than the work allows, the damped path and sweeps settle for less.
#include <algorithm>

#include "solve/solvers/newton_iteration.h"
#include "solve/solvers/pgs_sweeps.h"
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
// The damped path: steps, sweeps of a crossover, steps between two of them, and how near (over `settle`) the first one
// is.
constexpr int kDampedSteps = 45, kCrossoverSweeps = 15, kCrossoverEvery = 4, kShortSteps = 3;
constexpr double kCrossoverNear = 8, kShortStep = 0.05;
constexpr double kActiveNear = 1e-5;  // from here the active set may finish
constexpr double kWholeLadder = 200;  // factorizations that all phases take together, but for the hardest problems
constexpr double kSweepStart = 10;    // row operations of a row before the first sweep
// Weights of friction on the path: 1 is quickest where it gets through; heavier ones have fewer folds.
constexpr double kPlain = 1, kRound = 30, kAlong = 10;

class Newton : public PolishingSolver {
 public:
  explicit Newton(const SolverOptions& options) : time_(options), settle_(options.settle) {}

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
    iteration_.start(problem, system, &time_, guess.lambda);
    settled_ = swept_ = false;
  }

  SolverReport finish(double tolerance, Solution* answer) {
    SolverReport report;
    iteration_.finish(answer);
    report.iterations = iteration_.factorizations();
    const bool solved = iteration_.best_residual() <= tolerance;
    report.status = solved ? SolveStatus::Solved : SolveStatus::NotConverged;
    report.settled = settled_;
    if (!solved) report.note = time_.is_over() ? time_.note() : settled_ ? kSettled : "iteration limit";
    return report;
  }

  void iterate(double tolerance, double goal) {
    NewtonIteration& it = iteration_;
    it.run_active(goal, kWarmLimit, kWarmPatience);
    if (settle_ > tolerance && !is_patient()) {
      settled_ = goes_on(tolerance) ? run_damped(goal) : meets_law(settle_);
      if (settled_ || time_.is_over()) return;
    }
    // The law's last digit is worth the first two of these; more of them cost twice the time and
    // certified one step more of a struck wall.
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

  /// Whether the work allows everything that follows, down to the last digit.
  bool is_patient() const {
    return time_.work() == nullptr || kWholeLadder * iteration_.step_work() <= time_.work()->limit;
  }

  /// Sweeps from the iterate, in place of it.
  void cross_over(const VecX& from) {
    if (!find_problem_fault(*problem_).empty()) return;
    const double rows = problem_->rows();
    if (!time_.spend((swept_ ? 0 : kSweepStart * rows) + kCrossoverSweeps * rows)) return;
    if (!swept_) sweeps_.start(*problem_);
    swept_ = true;
    sweeps_.set_impulses(from);
    for (int k = 0; k < kCrossoverSweeps; ++k) sweeps_.sweep(false);
    iteration_.go_to(sweeps_.impulses());
  }

  /// The damped path, until the judge finds less than settle_ (true) or it comes to its end.
  bool run_damped(double goal) {
    NewtonIteration& it = iteration_;
    if (!DampedPath::takes(*problem_)) return false;
    cross_over(it.best_impulses());
    it.start_damped_phase();
    int near = 0, brief = 0;
    for (int k = 1; k <= kDampedSteps; ++k) {
      const bool able = it.run_damped();
      brief = it.last_damped_step() < kShortStep ? brief + 1 : 0;
      const bool ends = !able || brief >= kShortSteps || k == kDampedSteps;
      if (!ends && (it.residual() > kCrossoverNear * settle_ || near++ % kCrossoverEvery != 0)) continue;
      cross_over(it.impulses());
      if (it.best_residual() <= kActiveNear) {
        it.restore_best();
        it.run_active(goal, 6, 2);
      }
      if (it.best_residual() <= settle_ && meets_law(settle_)) return true;
      if (ends || time_.is_over()) return false;
    }
    return false;
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
  const double settle_;
  bool settled_ = false, swept_ = false;
  PgsSweeps sweeps_{SolverOptions{}};
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
