// block-pivot and keller: principal pivoting for equalities, one-sided and two-sided bounds (block_pivot.h) as solvers.
//
// Friction with a square limit (Box, and every planar law: the interval) is a bounded problem once the normals are
// known: an outer fixed point freezes the tangents' bounds at +-mu lambda_n of the last round ("scaled box"). Where it
// settles the bounds are those of the answer's own normals and Coulomb's law holds as stated; where it does not, the
// best round is the answer and NotConverged its status. Disks and polygons are not products of intervals: Unsupported,
// unless mu = 0.
#include <algorithm>
#include <limits>

#include "solve/laws.h"
#include "solve/solvers/block_pivot.h"
#include "solve/solvers/solvers.h"

namespace slipstick {

namespace {

constexpr int kFrictionRounds = 200;
constexpr int kFailures = 3;        // rounds whose bounded problem was not solved, before all is given up
constexpr double kSettled = 1e-15;  // relative change of the normals below which a further round changes nothing

class Pivoting final : public Solver {
 public:
  explicit Pivoting(BoundedPivot::Rule rule) : rule_(rule) {}
  SolverTraits traits() const override {
    const bool block = rule_ == BoundedPivot::Rule::Block;
    return {.name = block ? "block-pivot" : "keller",
            .cone = false,
            .pyramid = false,
            .box_friction = true,
            .nonsymmetric = true,
            .local_form = true,
            .citation = block ? "Lacoursiere and Linde 2011; Judice and Pires 1994" : "Keller 1973; Murty 1974"};
  }
  SolverReport solve(const Problem& problem, double tolerance, Solution* answer) override;

 private:
  std::string_view find_fault(const Problem& problem, SolveStatus* status);
  void set_tangent_bounds(const Problem& problem);
  double settle_friction(const Problem& problem, double tolerance, SolverReport* report, Solution* answer);
  void keep(Solution* answer);

  BoundedPivot::Rule rule_;
  BoundedPivot pivot_;
  Judge judge_;
  bool friction_ = false;
  VecX lower_, upper_, x_, normals_, last_, zero_;
  Solution trial_;
};

std::string_view Pivoting::find_fault(const Problem& problem, SolveStatus* status) {
  *status = SolveStatus::Unsupported;
  friction_ = false;
  for (const RowBlock& block : problem.blocks) {
    if (block.law != LawKind::Friction || block.mu == 0) continue;
    friction_ = true;
    if (block.size > 3) return kNoFurtherLimits;
    if (block.size == 3 && block.friction != FrictionModel::Box) return "friction limits that are no box";
  }
  if (!problem.coupling.empty() && problem.columns() > 0) return "columns and a coupling in one problem";
  *status = SolveStatus::NotConverged;
  for (const RowBlock& block : problem.blocks)
    for (int r = block.row; r < block.row + block.size && block.law == LawKind::Box; ++r)
      if (!(problem.lower[r] <= problem.upper[r])) return "a Box row has no room between its bounds";
  return {};
}

/// Bounds +-mu n of all tangents.
void Pivoting::set_tangent_bounds(const Problem& problem) {
  for (const RowBlock& block : problem.blocks) {
    if (block.law != LawKind::Friction) continue;
    const double limit = block.mu * std::max(normals_[block.row], 0.0);
    for (int r = block.row + 1; r < block.row + block.size; ++r) {
      lower_[r] = -limit;
      upper_[r] = limit;
    }
  }
}

void Pivoting::keep(Solution* answer) {
  answer->lambda = x_;
  answer->v = pivot_.v();
  answer->w = pivot_.w();
}

/// Rounds of frozen bounds, from x_; the best by the judge into `answer`. Halfway back where a round made things worse.
double Pivoting::settle_friction(const Problem& problem, double tolerance, SolverReport* report, Solution* answer) {
  double best = std::numeric_limits<double>::infinity(), last = best;
  double relaxation = 1;
  int failures = 0;
  normals_ = x_;
  const double goal = std::min(kGoal, tolerance);
  for (int round = 0; round < kFrictionRounds; ++round) {
    set_tangent_bounds(problem);
    const auto start = round == 0 ? BoundedPivot::Start::FromImpulses : BoundedPivot::Start::FromSets;
    const PivotReport pivots = pivot_.solve(lower_, upper_, tolerance, goal, rule_, start, &x_);
    report->iterations += pivots.block_pivots + pivots.single_pivots;
    if (pivots.residual > tolerance && ++failures >= kFailures) break;
    keep(&trial_);
    // The bounds were those of other normals: bring the tangents within their own before judging.
    for (const RowBlock& block : problem.blocks)
      if (block.law == LawKind::Friction)
        for (int k = 1; k < block.size; ++k) {
          const double limit = block.mu * x_[block.row];
          trial_.lambda[block.row + k] = std::clamp(x_[block.row + k], -limit, limit);
        }
    const double residual = judge_.certify(problem, trial_).verdict();
    if (residual < best) {
      best = residual;
      answer->lambda = trial_.lambda;
    }
    last_ = x_ - normals_;
    const double change = last_.norm();
    if (best <= goal || change <= kSettled * x_.norm() || (best <= tolerance && residual > 0.5 * last)) break;
    if (residual > last) relaxation = std::max(0.25, 0.5 * relaxation);
    last = residual;
    normals_ += relaxation * last_;
  }
  return best;
}

SolverReport Pivoting::solve(const Problem& problem, double tolerance, Solution* answer) {
  SolverReport report;
  report.note = find_fault(problem, &report.status);
  if (!report.note.empty()) return report;
  pivot_.prepare(problem);
  zero_.setZero(problem.rows());
  update_pivot_bounds(problem, {}, zero_, &lower_, &upper_);
  const bool warm = answer->lambda.size() == problem.rows() && answer->lambda.allFinite();
  if (warm)
    x_ = answer->lambda;
  else
    x_.setZero(problem.rows());
  if (friction_) {
    settle_friction(problem, tolerance, &report, answer);
    x_ = answer->lambda;
    update_pivot_bounds(problem, {}, x_, &lower_, &upper_);
    pivot_.evaluate(x_);
  } else {
    const PivotReport pivots = pivot_.solve(lower_, upper_, tolerance, std::min(kGoal, tolerance), rule_,
                                            BoundedPivot::Start::FromImpulses, &x_);
    report.iterations = pivots.block_pivots + pivots.single_pivots;
    if (pivots.cycled) report.note = "block pivots cycled; finished by single pivots";
  }
  keep(answer);
  const bool solved = judge_.certify(problem, *answer).within(tolerance);
  report.status = solved ? SolveStatus::Solved : SolveStatus::NotConverged;
  report.warm_hit = warm && solved && report.iterations == 0;
  if (!solved) report.note = friction_ ? "the friction bounds did not settle" : "the residual stayed above tolerance";
  return report;
}

}  // namespace

std::unique_ptr<Solver> make_block_pivot() { return std::make_unique<Pivoting>(BoundedPivot::Rule::Block); }
std::unique_ptr<Solver> make_keller() { return std::make_unique<Pivoting>(BoundedPivot::Rule::Single); }

}  // namespace slipstick
