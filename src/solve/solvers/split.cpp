// split: direct-iterative splitting [LacoursiereLinde11, 16]. Joints, bounds and normals by block pivoting with the
// tangents held (96), then Gauss-Seidel sweeps on normals and tangents with the joints held (97), in turn; a direct
// solve comes last, so that all error is left in the tangents.
#include <algorithm>
#include <cmath>

#include "solve/solvers/block_pivot.h"
#include "solve/solvers/pgs_sweeps.h"
#include "solve/solvers/solvers.h"
#include "solve/solvers/time_limit.h"

namespace slipstick {

namespace {

constexpr int kSplitRounds = 20;
constexpr int kIdleSplitRounds = 4;  // without kGain: it has stagnated
constexpr double kGain = 0.99;       // of the best residual
constexpr double kDirect = 1e-12;    // what the direct part is asked for

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
    report.note = find_problem_fault(problem);
    if (report.note.empty() && !pivot_.prepare(problem)) report.note = "columns and a coupling in one problem";
    if (!report.note.empty()) {
      report.status = SolveStatus::Unsupported;
      set_zero(problem, answer);
      return report;
    }
    sweeps_.start(problem);
    if (answer->lambda.size() == problem.rows() && answer->lambda.allFinite()) sweeps_.set_impulses(answer->lambda);
    report.note = iterate(problem, kBelow * tolerance, &report.iterations);
    sweeps_.hold_impulses(best_);
    sweeps_.calc_residual();
    sweeps_.finish(answer);
    if (judge_.certify(problem, *answer).within(tolerance)) {
      report.status = SolveStatus::Solved;
      report.note = {};
    }
    return report;
  }

  const SolverHistory* history() const override { return options_.record_history ? &history_ : nullptr; }

 private:
  /// Joints, bounds and normals at the present tangents; the residual of what comes out.
  double solve_direct(const Problem& problem) {
    x_ = sweeps_.impulses();
    update_pivot_bounds(problem, {}, x_, &lower_, &upper_);
    pivot_.solve(lower_, upper_, kDirect, kDirect, BoundedPivot::Rule::Block, BoundedPivot::Start::FromImpulses, &x_);
    if (x_.allFinite()) sweeps_.hold_impulses(x_);
    return sweeps_.calc_residual();
  }

  void run_sweeps() {
    sweeps_.set_impulses(x_);  // the tangents back within the limits of the new normals
    sweeps_.hold_equalities(true);
    for (int k = 1; k <= options_.sweeps; ++k) {
      sweeps_.sweep(options_.symmetric && k % 2 == 0);
      if (!options_.record_history) continue;
      history_.residual.push_back(sweeps_.calc_residual());
      history_.changes.push_back(sweeps_.changes());
    }
  }

  /// Rounds until the residual is below the goal; says why if it never was.
  std::string_view iterate(const Problem& problem, double goal, int* iterations) {
    TimeLimit time(options_.time_limit);
    time.start();
    const int limit = options_.max_iterations > 0 ? options_.max_iterations : kSplitRounds;
    double best = solve_direct(problem), compared = best;
    best_ = sweeps_.impulses();
    int idle = 0;
    for (int round = 1; round <= limit && best > goal; ++round) {
      run_sweeps();
      *iterations += options_.sweeps;
      const double residual = solve_direct(problem);
      if (residual < best) {
        best = residual;
        best_ = sweeps_.impulses();
      }
      idle = residual < kGain * compared ? 0 : idle + 1;
      compared = std::min(compared, residual);
      if (best <= goal) break;
      if (std::isinf(residual)) return "the sweeps left the range of numbers";
      if (idle >= kIdleSplitRounds) return "direct and iterative parts stagnate";
      if (time.is_over()) return "time limit";
    }
    return best > goal ? "iteration limit" : "";
  }

  const SolverOptions options_;
  PgsSweeps sweeps_;
  BoundedPivot pivot_;
  Judge judge_;
  SolverHistory history_;
  VecX x_, best_, lower_, upper_;
};

}  // namespace

std::unique_ptr<Solver> make_split(const SolverOptions& options) { return std::make_unique<Split>(options); }

}  // namespace slipstick
