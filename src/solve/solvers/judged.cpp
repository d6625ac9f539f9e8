// Every solver as others see it: its answer is judged, polished where the natural map was met but a part of the law was
// not, and called solved when the judge says so and only then.
#include <algorithm>
#include <utility>

#include "solve/solvers/pgs_sweeps.h"
#include "solve/solvers/solvers.h"
#include "solve/solvers/time_limit.h"

namespace slipstick {

namespace {

/// The map is a norm over an island, the law is held against each contact's own scale: the slowest contact of an island
/// asks for more digits of the map.
constexpr int kTighter = 4;
/// Sweeps even out what is left at single contacts; a few do, or none.
constexpr int kPolishSweeps = 40, kPolishCheck = 10;

class Judged : public Solver {
 public:
  Judged(std::unique_ptr<Solver> solver, const SolverOptions& options)
      : solver_(std::move(solver)),
        polisher_(dynamic_cast<PolishingSolver*>(solver_.get())),
        time_(options),
        budgeted_(options.max_iterations > 0) {
    if (polisher_ != nullptr) polisher_->set_judge(&judge_);
  }

  SolverTraits traits() const override { return solver_->traits(); }
  const SolverHistory* history() const override { return solver_->history(); }

  SolverReport solve(const Problem& problem, double tolerance, Solution* answer) override {
    time_.start();
    SolverReport report = solver_->solve(problem, tolerance, answer);
    if (report.status == SolveStatus::Unsupported) return report;
    if (time_.is_stopped()) {  // nobody waits for the judge
      report.status = SolveStatus::NotConverged;
      report.note = time_.note();
      report.residual.relative = kInfinity;
      return report;
    }
    const Residuals* known = polisher_ != nullptr ? polisher_->verdict(*answer) : nullptr;
    report.residual = known != nullptr ? *known : judge_.certify(problem, *answer);
    if (report.status == SolveStatus::Solved && !budgeted_ && !report.hurried && !report.residual.within(tolerance))
      polish(problem, tolerance, answer, &report);
    const bool solved = report.residual.within(tolerance);
    if (solved && report.status != SolveStatus::Solved) report.note = {};
    if (!solved && report.note.empty()) report.note = kLawNotMet;
    report.status = solved ? SolveStatus::Solved : SolveStatus::NotConverged;
    return report;
  }

 private:
  void polish(const Problem& problem, double tolerance, Solution* answer, SolverReport* report) {
    double goal = tolerance;
    for (int round = 0; round < kTighter; ++round) {
      const double verdict = report->residual.verdict();
      if (verdict <= tolerance || goal <= kTightest || time_.is_over()) return;
      goal = std::max(kTightest, 0.5 * tolerance * std::min(goal, report->residual.relative) / verdict);
      const bool better = solve_again(problem, goal, answer, report);
      if (!report->residual.within(tolerance) && !sweep(problem, tolerance, answer, report) && !better) return;
    }
  }

  /// The trial if it is better by the judge.
  bool take(const Problem& problem, Solution* answer, SolverReport* report) {
    const Residuals residual = judge_.certify(problem, trial_);
    if (!(residual.verdict() < report->residual.verdict())) return false;
    std::swap(*answer, trial_);
    report->residual = residual;
    return true;
  }

  bool solve_again(const Problem& problem, double goal, Solution* answer, SolverReport* report) {
    trial_.v = answer->v;
    trial_.lambda = answer->lambda;
    const SolverReport again =
        polisher_ != nullptr ? polisher_->polish(problem, goal, &trial_) : solver_->solve(problem, goal, &trial_);
    report->iterations += again.iterations;
    report->couplings += again.couplings;
    return take(problem, answer, report);
  }

  bool sweep(const Problem& problem, double tolerance, Solution* answer, SolverReport* report) {
    if (!find_problem_fault(problem).empty()) return false;
    if (!sweeps_) sweeps_ = std::make_unique<PgsSweeps>(SolverOptions{});
    sweeps_->start(problem);
    sweeps_->set_impulses(answer->lambda);
    bool better = false;
    for (int k = 1; k <= kPolishSweeps && !report->residual.within(tolerance); ++k) {
      if (!time_.spend(problem.rows())) return better;
      sweeps_->sweep(false);
      if (k % kPolishCheck != 0) continue;
      sweeps_->calc_residual();
      sweeps_->finish(&trial_);
      better |= take(problem, answer, report);
    }
    return better;
  }

  std::unique_ptr<Solver> solver_;
  PolishingSolver* const polisher_;  ///< the same, if it can
  TimeLimit time_;
  const bool budgeted_;  ///< a budget of iterations must not be spent twice
  Judge judge_;
  std::unique_ptr<PgsSweeps> sweeps_;
  Solution trial_;
};

}  // namespace

std::unique_ptr<Solver> make_judged(std::unique_ptr<Solver> solver, const SolverOptions& options) {
  return std::make_unique<Judged>(std::move(solver), options);
}

}  // namespace slipstick
