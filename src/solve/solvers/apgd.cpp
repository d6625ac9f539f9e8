// apgd: accelerated projected gradients on the dual, without any factorization, for heaps whose factors would be dear.
//
// With De Saxce's term s frozen the problem is convex: minimise 1/2 lambda^T H lambda + (q + s)^T lambda over the laws'
// sets. Nesterov's method, in the metric of the Delassus diagonal (a step of each block scaled by rho_i, which keeps
// the projection), with backtracking on the step and a restart whenever the momentum points uphill. One product with J
// A^-1 J^T an iteration. [MazharHeynNegrutTasora15; ODonoghueCandes15]
//
// That alone would solve the associated relaxation, in which sliding bodies lift. An outer loop renews s = mu |w_t|
// from the present velocities each time the inner residual has fallen, until the natural map with its own s is small:
// the answer obeys Coulomb's law. [Cadoux09]
#include <algorithm>
#include <cmath>
#include <limits>

#include "solve/laws.h"
#include "solve/mass_blocks.h"
#include "solve/natural_map.h"
#include "solve/solvers/solvers.h"

namespace slipstick {

namespace {

constexpr double kShrink = 0.5, kGrow = 1 / 0.95;  // of the step: where it is too long, and after each iteration
constexpr int kBacktracks = 30;
constexpr double kInnerGain = 0.3;  // an inner solve ends when its residual is this part of the whole one
constexpr int kInnerLimit = 200, kCheckEvery = 5;
// Budget in iterations: as many as fit into this many row products, the same on every machine.
constexpr double kApgdBudget = 3e7;
constexpr int kLeastApgd = 1000, kMostApgd = 20000;

class Apgd final : public Solver {
 public:
  explicit Apgd(const SolverOptions& options) : asked_(options.max_iterations) {}

  SolverTraits traits() const override {
    return {.name = "apgd",
            .cone = true,
            .pyramid = true,
            .box_friction = true,
            .nonsymmetric = false,
            .local_form = true,
            .citation = "Mazhar, Heyn, Negrut and Tasora 2015; Cadoux 2009"};
  }
  SolverReport solve(const Problem& problem, double tolerance, Solution* answer) override;

 private:
  void begin(const Problem& problem, const VecX& guess);
  void update_state(const VecX& lambda, VecX* w);
  void project(VecX* x) const;
  void update_saxce();
  double judge();
  bool descend();
  void advance_momentum();
  void restart();
  void iterate(double tolerance, int limit);

  const Problem* problem_ = nullptr;
  MassBlocks masses_;
  std::vector<double> rho_;
  double scale_ = 0, step_ = 1, momentum_ = 1, best_ = 0;
  int asked_;  ///< iterations, 0: its own number
  int iterations_ = 0;
  VecX lambda_, w_, last_, last_w_, y_, wy_, saxce_, metric_, v_, q_, best_lambda_;
};

void Apgd::update_state(const VecX& lambda, VecX* w) {
  update_velocity(*problem_, masses_, lambda, &v_);
  update_row_velocity(*problem_, v_, lambda, w);
}

void Apgd::project(VecX* x) const {
  for (const RowBlock& block : problem_->blocks)
    project_impulse(block, problem_->lower.data() + block.row, problem_->upper.data() + block.row,
                    x->data() + block.row);
}

void Apgd::begin(const Problem& problem, const VecX& guess) {
  problem_ = &problem;
  masses_.update(problem);
  const int rows = problem.rows(), blocks = static_cast<int>(problem.blocks.size());
  rho_.resize(blocks);
  metric_.resize(rows);
  for (int i = 0; i < blocks; ++i) {
    const double diagonal = calc_mean_diagonal(problem, masses_, problem.blocks[i]);
    rho_[i] = diagonal > 0 ? 1 / diagonal : 1;
    const RowBlock& block = problem.blocks[i];
    metric_.segment(block.row, block.size).setConstant(rho_[i]);
    if (block.law != LawKind::Equality) continue;
    double own[6];
    update_joint_diagonal(problem, masses_, block, own);
    for (int k = 0; k < block.size; ++k) metric_[block.row + k] = 1 / own[k];
  }
  lambda_.setZero(rows);
  update_state(lambda_, &q_);
  scale_ = calc_residual_scale(problem, v_, q_);
  if (guess.size() == rows && guess.allFinite()) lambda_ = guess;
  project(&lambda_);
  update_state(lambda_, &w_);
  saxce_.setZero(rows);
  iterations_ = 0;
  step_ = 1;
  best_ = kInfinity;
  restart();
}

void Apgd::restart() {
  momentum_ = 1;
  y_ = lambda_;
  wy_ = w_;
}

void Apgd::update_saxce() {
  for (const RowBlock& block : problem_->blocks)
    if (block.law == LawKind::Friction) saxce_[block.row] = de_saxce_term(block, w_.data() + block.row);
}

/// The relative residual of lambda_ by the judge's formula; keeps the best.
double Apgd::judge() {
  const double residual = calc_relative(calc_natural_map_norm(*problem_, rho_, lambda_, w_), scale_);
  if (residual < best_) {
    best_ = residual;
    best_lambda_ = lambda_;
  }
  return residual;
}

/// One projected gradient step from y_ to lambda_, short enough for the quadratic bound to hold. False: no step is.
bool Apgd::descend() {
  last_ = lambda_;
  last_w_ = w_;
  for (int k = 0; k < kBacktracks; ++k) {
    lambda_ = y_ - step_ * metric_.cwiseProduct(wy_ + saxce_);
    project(&lambda_);
    update_state(lambda_, &w_);
    const double curvature = (lambda_ - y_).dot(w_ - wy_);
    const double length = (lambda_ - y_).cwiseAbs2().cwiseQuotient(metric_).sum();
    if (curvature * step_ <= length * (1 + 1e-12)) return true;
    step_ *= kShrink;
  }
  return false;
}

void Apgd::advance_momentum() {
  if ((wy_ + saxce_).dot(lambda_ - last_) > 0) {  // uphill
    restart();
  } else {
    const double next = 0.5 * (1 + std::sqrt(1 + 4 * momentum_ * momentum_));
    const double beta = (momentum_ - 1) / next;
    momentum_ = next;
    y_ = lambda_ + beta * (lambda_ - last_);
    wy_ = w_ + beta * (w_ - last_w_);
  }
  step_ *= kGrow;
}

void Apgd::iterate(double tolerance, int limit) {
  while (iterations_ < limit) {
    update_saxce();
    restart();
    const double goal = std::max(kInnerGain * judge(), 0.5 * tolerance);
    for (int k = 1; k <= kInnerLimit && iterations_ < limit; ++k) {
      if (!descend()) return;
      advance_momentum();
      ++iterations_;
      if (k % kCheckEvery != 0) continue;
      if (calc_relative(calc_natural_map_norm(*problem_, rho_, lambda_, w_, &saxce_), scale_) <= goal) break;
    }
    if (!(judge() < kInfinity) || best_ <= tolerance) return;
  }
}

SolverReport Apgd::solve(const Problem& problem, double tolerance, Solution* answer) {
  SolverReport report;
  if (has_further_limits(problem)) {
    report.status = SolveStatus::Unsupported;
    report.note = kNoFurtherLimits;
    return report;
  }
  if (!problem.symmetric) {
    report.status = SolveStatus::Unsupported;
    report.note = "A is not symmetric";
    return report;
  }
  begin(problem, answer->lambda);
  const int own =
      static_cast<int>(std::clamp(kApgdBudget / std::max(problem.rows(), 1), double{kLeastApgd}, double{kMostApgd}));
  const int limit = asked_ > 0 ? asked_ : own;
  if (judge() > 0.5 * tolerance) iterate(0.5 * tolerance, limit);
  if (best_ < kInfinity) lambda_ = best_lambda_;
  answer->lambda = lambda_;
  update_state(lambda_, &answer->w);
  answer->v = v_;
  report.iterations = iterations_;
  const bool solved = best_ <= 0.5 * tolerance;
  report.status = solved ? SolveStatus::Solved : SolveStatus::NotConverged;
  if (!solved) report.note = "iteration budget";
  return report;
}

}  // namespace

std::unique_ptr<Solver> make_apgd(const SolverOptions& options) { return std::make_unique<Apgd>(options); }

}  // namespace slipstick
