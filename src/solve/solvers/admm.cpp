// admm: alternating directions in the velocities, for large problems. The matrix A + sum J^T rho J (equality rows
// explicit beside it) is factored once and again only when the penalty changes; an iteration costs one solve with it
// and one projection a row block.
//
//   v-step        x_i = lambda_i + rho_i (t_i - u_i),  v = A^-1 (b + J^T x),  u = J v + W x + c     (one linear system)
//   local step    lambda_i <- P_K^R( R^-1 (lambda_i / rho_i - u_i - s_i n) ),  R = C + 1 / rho        (resolvent of the
//   law)
//                 t_i <- u_i + (lambda_i^new - lambda_i) / rho_i
//
// s = mu |w_t| is De Saxce's term of the present velocities, renewed in every iteration, so that a fixed point obeys
// Coulomb's law and not its associated relaxation; u is over-relaxed. The penalty rho = theta / diagonal of the
// Delassus follows the balance of the residuals |u - t| and |x - lambda|. [Boyd11; AcaryBremondHuber18; Tasora21]
//
// The map (lambda, t) -> (lambda, t) is accelerated by Anderson's mixing with a safeguard: an accelerated point whose
// own residual is not below a multiple of the last is dropped. [WalkerNi11; ZhangODonoghueBoyd20]
#include <algorithm>
#include <cmath>
#include <limits>

#include "solve/laws.h"
#include "solve/natural_map.h"
#include "solve/solvers/anderson.h"
#include "solve/solvers/newton_laws.h"
#include "solve/solvers/newton_system.h"
#include "solve/solvers/solvers.h"

namespace slipstick {

namespace {

constexpr double kOverRelaxation = 1.5;
constexpr double kEqualityShift = 1e-10;                    // proximal compliance of equality rows over the diagonal
constexpr double kLeastPenalty = 1e-6, kMostPenalty = 1e8;  // theta
constexpr double kFirstPenalty =
    100;                          // theta: contacts are many more than degrees of freedom where this solver is used
constexpr int kEpoch = 20;        // iterations after which state, residual, penalty and mode are looked at
constexpr double kBalance = 5;    // imbalance of the residuals that changes the penalty
constexpr int kMostChanges = 12;  // of the penalty: from then on it is fixed, as the proofs of convergence want it
constexpr double kSlow = 0.7;     // rate of an epoch that is no reason to try the other mode
constexpr double kForget = 0.85, kLeastDrop = 0.4;
constexpr int kMemory = 8;  // of Anderson's mixing
// Budget in iterations: as many as fit into this many row operations, so that the same problem has the same answer on
// every machine; small problems may take long, heaps of 10,000 contacts some hundreds of iterations.
constexpr double kAdmmBudget = 1.2e7;
constexpr int kLeastAdmm = 400, kMostAdmm = 8000;

class Admm final : public Solver {
 public:
  explicit Admm(const SolverOptions& options) : asked_(options.max_iterations) {}

  SolverTraits traits() const override {
    return {.name = "admm",
            .cone = true,
            .pyramid = true,
            .box_friction = true,
            .nonsymmetric = true,
            .local_form = true,
            .citation = "Boyd et al. 2011; Acary, Bremond and Huber 2018; Tasora et al. 2021"};
  }
  SolverReport solve(const Problem& problem, double tolerance, Solution* answer) override;

 private:
  void begin(const Problem& problem, const VecX& guess);
  bool set_penalty(double theta);
  void step();
  void update_laws();
  double judge();
  void choose_mode(double rate);
  bool end_epoch();
  void iterate(double tolerance, int limit);
  void mix();

  const Problem* problem_ = nullptr;
  NewtonSystem* system_ = nullptr;
  PrimalSystem primal_;
  DualSystem dual_;
  NewtonMaps maps_;
  Anderson anderson_;
  std::vector<double> rho_;  // natural-map scale of each block
  double scale_ = 0, theta_ = 1, primal_residual_ = 0, dual_residual_ = 0, impulse_residual_ = 0, best_ = 0, last_ = 0;
  int asked_;  ///< iterations, 0: its own number
  int iterations_ = 0, changes_ = 0;
  bool mixing_ = true;
  double rate_[2] = {1, 1};  // residual after over before the last epoch, plain and mixed
  VecX lambda_, t_, x_, v_, u_, w_, weight_, dx_, du_, best_lambda_, q_, point_, image_;
};

void Admm::begin(const Problem& problem, const VecX& guess) {
  problem_ = &problem;
  if (problem.coupling.empty())
    system_ = &primal_;
  else
    system_ = &dual_;
  system_->prepare(problem);
  maps_.resize(problem);
  const int rows = problem.rows(), blocks = static_cast<int>(problem.blocks.size());
  rho_.resize(blocks);
  for (int i = 0; i < blocks; ++i) {
    const double diagonal = system_->mean_diagonal(i);
    rho_[i] = diagonal > 0 ? 1 / diagonal : 1;
  }
  x_.setZero(rows);
  system_->update_state(x_, &v_, &q_);
  scale_ = calc_residual_scale(problem, v_, q_);
  const bool warm = guess.size() == rows && guess.allFinite();
  if (warm)
    lambda_ = guess;
  else
    lambda_.setZero(rows);
  for (const RowBlock& block : problem.blocks)
    project_impulse(block, problem.lower.data() + block.row, problem.upper.data() + block.row,
                    lambda_.data() + block.row);
  x_ = lambda_;
  system_->update_state(x_, &v_, &u_);
  t_ = u_;
  weight_.resize(rows);
  anderson_.resize(2 * rows, kMemory);
  point_.resize(2 * rows);
  image_.resize(2 * rows);
  iterations_ = changes_ = 0;
  mixing_ = true;
  rate_[0] = rate_[1] = kSlow;
  best_ = last_ = kInfinity;
}

bool Admm::set_penalty(double theta) {
  theta_ = theta;
  maps_.symmetric = true;
  for (std::size_t i = 0; i < problem_->blocks.size(); ++i) {
    const RowBlock& block = problem_->blocks[i];
    double* weight = weight_.data() + block.row;
    update_resolvent_weights(law_rows(*problem_, block), 1 / (rho_[i] * theta), weight);
    double* d = maps_.d.data() + maps_.start[i];
    std::fill_n(d, block.size * block.size, 0.0);
    for (int k = 0; k < block.size; ++k) {
      const double compliance = problem_->compliance[block.row + k];
      d[k * block.size + k] = 1 / (weight[k] - compliance);
      if (block.law == LawKind::Equality)
        maps_.weight[block.row + k] = compliance + kEqualityShift * system_->joint_diagonal(block.row + k);
    }
  }
  anderson_.clear();
  return system_->factor(maps_);
}

/// The v-step: x_ and u_.
void Admm::step() {
  for (const RowBlock& block : problem_->blocks) {
    for (int r = block.row; r < block.row + block.size; ++r) {
      const double c = problem_->compliance[r];
      if (block.law == LawKind::Equality)
        maps_.g[r] = -(u_[r] + c * x_[r]);
      else
        maps_.g[r] = lambda_[r] + (t_[r] - u_[r]) / (weight_[r] - c) - x_[r];
    }
  }
  system_->solve(maps_, &dx_, &du_);
  x_ += dx_;
  u_ += du_;
}

/// The local step: lambda_, t_ and the two residuals.
void Admm::update_laws() {
  double primal = 0, dual = 0;
  for (std::size_t i = 0; i < problem_->blocks.size(); ++i) {
    const RowBlock& block = problem_->blocks[i];
    const int first = block.row, m = block.size;
    if (block.law == LawKind::Equality) {
      for (int r = first; r < first + m; ++r) {
        const double w = u_[r] + problem_->compliance[r] * x_[r];
        primal += w * w;
        lambda_[r] = x_[r];
        t_[r] = u_[r];
      }
      continue;
    }
    double relaxed[6], y[6], w[6], next[6];
    for (int k = 0; k < m; ++k) {
      const int r = first + k;
      relaxed[k] = kOverRelaxation * u_[r] + (1 - kOverRelaxation) * t_[r];
      w[k] = u_[r] + problem_->compliance[r] * lambda_[r];
    }
    const double s = block.law == LawKind::Friction ? de_saxce_term(block, w) : 0;
    for (int k = 0; k < m; ++k) {
      const double delta = weight_[first + k] - problem_->compliance[first + k];
      y[k] = (delta * lambda_[first + k] - relaxed[k] - (k == 0 ? s : 0)) / weight_[first + k];
    }
    update_resolvent(law_rows(*problem_, block), weight_.data() + first, y, next, nullptr);
    for (int k = 0; k < m; ++k) {
      const int r = first + k;
      const double delta = weight_[r] - problem_->compliance[r];
      const double t = relaxed[k] + delta * (next[k] - lambda_[r]);
      primal += (u_[r] - t) * (u_[r] - t);
      const double impulse = (x_[r] - next[k]) / rho_[i];
      dual += impulse * impulse;
      lambda_[r] = next[k];
      t_[r] = t;
    }
  }
  primal_residual_ = std::sqrt(primal);
  impulse_residual_ = std::sqrt(dual);
}

/// The relative residual of lambda_ by the judge's formula; keeps the best. The dual residual is what the difference of
/// x and lambda means in velocities: in a hyperstatic problem much less than its size.
double Admm::judge() {
  system_->update_state(lambda_, &v_, &w_);
  dual_residual_ = (w_ - u_).norm();
  w_ += Eigen::Map<const VecX>(problem_->compliance.data(), problem_->rows()).cwiseProduct(lambda_);
  const double residual = calc_relative(calc_natural_map_norm(*problem_, rho_, lambda_, w_), scale_);
  if (residual < best_) {
    best_ = residual;
    best_lambda_ = lambda_;
  }
  return residual;
}

/// Mixed or plain, whichever lowered the residual more in its last epoch (with friction the map is no gradient, and
/// mixed points may circle); what was seen of the other counts less with each epoch, so that both are tried again.
void Admm::choose_mode(double rate) {
  rate_[mixing_] = std::isfinite(rate) ? rate : 0;
  rate_[!mixing_] *= kForget;
  if (rate_[mixing_] <= rate_[!mixing_]) return;
  mixing_ = !mixing_;
  anderson_.clear();
}

/// Ends an epoch: the penalty follows the balance of the residuals.
bool Admm::end_epoch() {
  system_->update_state(x_, &v_, &u_);
  const double residual = judge();
  choose_mode(residual / last_);
  last_ = residual;
  const double ratio = primal_residual_ / std::max(dual_residual_, 1e-300);
  if (changes_ >= kMostChanges || (ratio < kBalance && ratio > 1 / kBalance)) return true;
  const double theta = std::clamp(theta_ * std::clamp(std::sqrt(ratio), kLeastDrop, 10.0), kLeastPenalty, kMostPenalty);
  if (theta == theta_) return true;
  ++changes_;
  return set_penalty(theta);
}

/// Replaces (lambda, t), the image of point_, by a mixture of the last images.
void Admm::mix() {
  const int rows = problem_->rows();
  image_.head(rows) = lambda_;
  image_.tail(rows) = t_;
  // One metric for impulses and velocities, that of the penalty: the map is nonexpansive in it when s is frozen.
  for (int r = 0; r < rows; ++r) {
    const double root = std::sqrt(weight_[r] - problem_->compliance[r]);
    point_[r] *= root;
    image_[r] *= root;
    point_[rows + r] /= root;
    image_[rows + r] /= root;
  }
  if (!anderson_.mix(point_, &image_)) return;
  for (int r = 0; r < rows; ++r) {
    const double root = std::sqrt(weight_[r] - problem_->compliance[r]);
    lambda_[r] = image_[r] / root;
    t_[r] = image_[rows + r] * root;
  }
}

void Admm::iterate(double tolerance, int limit) {
  const int rows = problem_->rows();
  while (iterations_ < limit) {
    point_.head(rows) = lambda_;
    point_.tail(rows) = t_;
    step();
    update_laws();
    ++iterations_;
    const double own = std::max(primal_residual_, impulse_residual_);
    if (!std::isfinite(own)) return;
    if (own <= 2 * tolerance * scale_ && judge() <= tolerance) return;
    if (iterations_ % kEpoch == 0 && (!end_epoch() || best_ <= tolerance)) return;
    if (mixing_) mix();
  }
}

SolverReport Admm::solve(const Problem& problem, double tolerance, Solution* answer) {
  SolverReport report;
  if (has_further_limits(problem)) {
    report.status = SolveStatus::Unsupported;
    report.note = kNoFurtherLimits;
    return report;
  }
  if (!problem.coupling.empty() && problem.columns() > 0) {
    report.status = SolveStatus::Unsupported;
    report.note = "columns and a coupling in one problem";
    return report;
  }
  begin(problem, answer->lambda);
  const int own =
      static_cast<int>(std::clamp(kAdmmBudget / std::max(problem.rows(), 1), double{kLeastAdmm}, double{kMostAdmm}));
  const int limit = asked_ > 0 ? asked_ : own;
  // Half the tolerance, so that rounding decides nothing.
  if (judge() > 0.5 * tolerance && set_penalty(kFirstPenalty)) iterate(0.5 * tolerance, limit);
  answer->lambda = best_lambda_;
  system_->update_state(answer->lambda, &answer->v, &answer->w);
  answer->w += Eigen::Map<const VecX>(problem.compliance.data(), problem.rows()).cwiseProduct(answer->lambda);
  report.iterations = iterations_;
  const bool solved = best_ <= 0.5 * tolerance;
  report.status = solved ? SolveStatus::Solved : SolveStatus::NotConverged;
  if (!solved) report.note = "iteration budget";
  return report;
}

}  // namespace

std::unique_ptr<Solver> make_admm(const SolverOptions& options) { return std::make_unique<Admm>(options); }

}  // namespace slipstick
