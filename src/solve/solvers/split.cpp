// split: direct-iterative splitting [LacoursiereLinde11, 16]. Joints, bounds and normals directly with the tangents
// held (96), then Gauss-Seidel sweeps on normals and tangents with the joints held (97), in turn; a direct solve comes
// last, so that all error is left in the tangents. RowBlock::mode says which half a block belongs to.
#include <algorithm>
#include <cmath>

#include "solve/solvers/direct_half.h"
#include "solve/solvers/pgs_sweeps.h"
#include "solve/solvers/solvers.h"
#include "solve/solvers/time_limit.h"

namespace slipstick {

namespace {

constexpr int kSplitCouplings = 20;
constexpr int kIdleSplitCouplings = 4;  // without kGain: it has stagnated
constexpr double kGain = 0.99;          // of the best residual

class Split : public Solver {
 public:
  explicit Split(const SolverOptions& options) : options_(options), sweeps_(options) {}

  SolverTraits traits() const override {
    return {.name = "split",
            .cone = true,
            .pyramid = true,
            .box_friction = true,
            .nonsymmetric = true,
            .local_form = true,
            .citation = "Lacoursiere and Linde 2011, section 16"};
  }

  SolverReport solve(const Problem& problem, double tolerance, Solution* answer) override {
    SolverReport report;
    history_.residual.clear();
    history_.changes.clear();
    history_.couplings.clear();
    report.note = find_problem_fault(problem);
    if (report.note.empty() && !direct_.prepare(problem, tolerance))
      report.note = "columns and a coupling in one problem";
    if (!report.note.empty()) {
      report.status = SolveStatus::Unsupported;
      set_zero(problem, answer);
      return report;
    }
    sweeps_.start(problem);
    if (answer->lambda.size() == problem.rows() && answer->lambda.allFinite()) sweeps_.set_impulses(answer->lambda);
    report.note = iterate(problem, tolerance, answer, &report);
    finish_best(answer);
    if (report.note.empty()) report.status = SolveStatus::Solved;
    return report;
  }

  const SolverHistory* history() const override { return options_.record_history ? &history_ : nullptr; }

 private:
  /// The direct half with the others held; the residuals of what comes out.
  CouplingResidual solve_direct(double iterative) {
    CouplingResidual left;
    left.iterative = iterative;
    x_ = sweeps_.impulses();
    left.direct = direct_.solve(sweeps_.scale(), &x_);
    if (x_.allFinite()) sweeps_.hold_impulses(x_);
    left.all = sweeps_.calc_residual();
    if (options_.record_history) history_.couplings.push_back(left);
    return left;
  }

  /// The residual of the swept rows after them.
  double run_sweeps() {
    sweeps_.set_impulses(sweeps_.impulses());  // the tangents back within the limits of the new normals
    for (int k = 1; k <= options_.sweeps; ++k) {
      sweeps_.sweep(options_.symmetric && k % 2 == 0);
      if (!options_.record_history) continue;
      history_.residual.push_back(sweeps_.calc_residual());
      history_.changes.push_back(sweeps_.changes());
    }
    return sweeps_.calc_swept_residual();
  }

  void keep_best(const CouplingResidual& left, SolverReport* report) {
    best_ = sweeps_.impulses();
    report->direct_residual = left.direct;
    report->iterative_residual = left.iterative;
  }

  void finish_best(Solution* answer) {
    sweeps_.hold_impulses(best_);
    sweeps_.calc_residual();
    sweeps_.finish(answer);
  }

  /// Whether the judge is content with the best; else the goal of the map becomes what the law asks for.
  bool is_content(const Problem& problem, double tolerance, double best, Solution* answer, double* goal) {
    x_ = sweeps_.impulses();
    finish_best(answer);
    sweeps_.hold_impulses(x_);
    const Residuals residual = judge_.certify(problem, *answer);
    if (residual.within(tolerance)) return true;
    *goal = std::max(kTightest, 0.5 * std::min(best, *goal) * tolerance / residual.verdict());
    return false;
  }

  /// Couplings until the judge is content; says why if it never was.
  std::string_view iterate(const Problem& problem, double tolerance, Solution* answer, SolverReport* report) {
    double goal = kBelow * tolerance;
    TimeLimit time(options_);
    time.start();
    const int limit = options_.max_iterations > 0 ? options_.max_iterations : kSplitCouplings;
    sweeps_.hold_direct(true);
    CouplingResidual left = solve_direct(sweeps_.calc_swept_residual());
    keep_best(left, report);
    double best = left.all, compared = best;
    int idle = 0;
    for (int round = 1; round <= limit; ++round) {
      if (best <= goal && (goal <= kTightest || is_content(problem, tolerance, best, answer, &goal))) break;
      if (best <= goal) continue;  // a tighter goal, met already
      if (!direct_.has_other_half())
        return best > kBelow * tolerance ? "the direct half stays above the tolerance" : "";
      left = solve_direct(run_sweeps());
      report->iterations += options_.sweeps;
      ++report->couplings;
      if (left.all < best) {
        best = left.all;
        keep_best(left, report);
      }
      idle = left.all < kGain * compared ? 0 : idle + 1;
      compared = std::min(compared, left.all);
      if (best <= goal) continue;
      if (std::isinf(left.all)) return "the sweeps left the range of numbers";
      if (idle >= kIdleSplitCouplings) return "direct and iterative parts stagnate";
      if (time.is_over()) return time.note();
    }
    return best > goal ? "iteration limit" : "";
  }

  const SolverOptions options_;
  PgsSweeps sweeps_;
  DirectHalf direct_;
  Judge judge_;
  SolverHistory history_;
  VecX x_, best_;
};

}  // namespace

std::unique_ptr<Solver> make_split(const SolverOptions& options) { return std::make_unique<Split>(options); }

}  // namespace slipstick
