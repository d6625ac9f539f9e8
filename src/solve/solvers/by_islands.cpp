// A solver that is given each island of a problem by itself. Scales of a whole problem are those of its fastest island:
// an interior path that begins there gives slow islands impulses a billion times too large, and of joints that say the
// same twice rounding then leaves such impulses, which cancel. What is elsewhere must not decide.
#include "solve/presolve.h"
#include "solve/solvers/solvers.h"
#include "solve/solvers/time_limit.h"

namespace slipstick {

namespace {

class ByIslands : public Solver {
 public:
  ByIslands(std::unique_ptr<Solver> solver, const SolverOptions& options)
      : solver_(std::move(solver)), time_(options) {}

  SolverTraits traits() const override { return solver_->traits(); }
  const SolverHistory* history() const override { return solver_->history(); }

  SolverReport solve(const Problem& problem, double tolerance, Solution* answer) override {
    islands_.update(problem);
    if (islands_.count() <= 1 && islands_.free_columns().empty()) return solver_->solve(problem, tolerance, answer);
    time_.start();
    const bool has_guess = answer->lambda.size() == problem.rows() && answer->v.size() == problem.unknowns();
    if (has_guess && answer->w.size() != problem.rows()) answer->w.setZero(problem.rows());  // read along, not used
    SolverReport sum;
    set_zero(problem, &whole_);
    for (int island = 0; island < islands_.count() && !time_.is_over(); ++island) {
      islands_.extract(problem, island, &part_);
      own_ = {};
      if (has_guess) islands_.gather(problem, island, *answer, &own_);
      const SolverReport report = solver_->solve(part_, tolerance, &own_);
      if (report.status == SolveStatus::Unsupported) {
        set_zero(problem, answer);
        return report;
      }
      islands_.scatter(problem, island, own_, &whole_);
      add(report, &sum);
    }
    islands_.solve_free_columns(problem, &whole_);
    std::swap(*answer, whole_);
    sum.residual = judge_.certify(problem, *answer);
    const bool solved = sum.residual.within(tolerance);
    sum.status = solved ? SolveStatus::Solved : SolveStatus::NotConverged;
    if (!solved && sum.note.empty()) sum.note = time_.is_over() ? time_.note() : kLawNotMet;
    return sum;
  }

 private:
  static void add(const SolverReport& report, SolverReport* sum) {
    sum->iterations += report.iterations;
    sum->couplings += report.couplings;
    sum->warm_hit = sum->warm_hit || report.warm_hit;
    sum->settled = sum->settled || report.settled;
    sum->hurried = sum->hurried || report.hurried;
    if (sum->note.empty()) sum->note = report.note;
  }

  std::unique_ptr<Solver> solver_;
  TimeLimit time_;
  Islands islands_;
  Problem part_;
  Solution own_, whole_;
  Judge judge_;
};

}  // namespace

std::unique_ptr<Solver> make_by_islands(std::unique_ptr<Solver> solver, const SolverOptions& options) {
  return std::make_unique<ByIslands>(std::move(solver), options);
}

}  // namespace slipstick
