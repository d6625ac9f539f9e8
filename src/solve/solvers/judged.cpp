// Every solver as others see it: its answer is judged, asked for again to a tighter tolerance where the natural map was
// met but a part of the law was not, and called solved when the judge says so and only then.
#include <algorithm>
#include <chrono>
#include <utility>

#include "solve/solvers/solvers.h"
#include "solve/solvers/time_limit.h"

namespace slipstick {

namespace {

/// The map is a norm over an island, the law is held against each contact's own scale: the slowest contact of an island
/// asks for more digits of the map.
constexpr int kTighter = 4;

class Judged : public Solver {
 public:
  Judged(std::unique_ptr<Solver> solver, const SolverOptions& options)
      : solver_(std::move(solver)), time_(options.time_limit), rounds_(options.max_iterations > 0 ? 0 : kTighter) {}

  SolverTraits traits() const override { return solver_->traits(); }
  const SolverHistory* history() const override { return solver_->history(); }

  SolverReport solve(const Problem& problem, double tolerance, Solution* answer) override {
    time_.start();
    SolverReport report = solver_->solve(problem, tolerance, answer);
    if (report.status == SolveStatus::Unsupported) return report;
    report.residual = judge_.certify(problem, *answer);
    double goal = tolerance;
    for (int round = 0; round < rounds_ && report.status == SolveStatus::Solved; ++round) {
      const double verdict = report.residual.verdict();
      if (verdict <= tolerance || goal <= kTightest || time_.is_over()) break;
      goal = std::max(kTightest, 0.5 * tolerance * std::min(goal, report.residual.relative) / verdict);
      if (!improve(problem, goal, answer, &report)) break;
    }
    const bool solved = report.residual.within(tolerance);
    if (solved && report.status != SolveStatus::Solved) report.note = {};
    if (!solved && report.note.empty()) report.note = kLawNotMet;
    report.status = solved ? SolveStatus::Solved : SolveStatus::NotConverged;
    return report;
  }

 private:
  /// False: the same or worse by the judge; the answer stays what it was.
  bool improve(const Problem& problem, double goal, Solution* answer, SolverReport* report) {
    trial_.v = answer->v;
    trial_.lambda = answer->lambda;
    const SolverReport again = solver_->solve(problem, goal, &trial_);
    report->iterations += again.iterations;
    report->couplings += again.couplings;
    const Residuals residual = judge_.certify(problem, trial_);
    if (!(residual.verdict() < report->residual.verdict())) return false;
    std::swap(*answer, trial_);
    report->residual = residual;
    report->direct_residual = again.direct_residual;
    report->iterative_residual = again.iterative_residual;
    return true;
  }

  std::unique_ptr<Solver> solver_;
  TimeLimit time_;
  const int rounds_;  ///< none where a budget of iterations must not be spent twice
  Judge judge_;
  Solution trial_;
};

}  // namespace

std::unique_ptr<Solver> make_judged(std::unique_ptr<Solver> solver, const SolverOptions& options) {
  return std::make_unique<Judged>(std::move(solver), options);
}

}  // namespace slipstick
