// Proximal rounds: a compliance on every row about the present impulses makes each round regular whatever the
// redundancy, and its fixed point is the answer. In a round the De Saxce term s = mu |w_t| moves with the iterate, so
// it is no minimisation, but it has a residual of its own that a nonsmooth Newton with a line search can lower; a soft
// enough round can always be solved, and the stiffest that can gains most. Gets on where active sets turn in circles
// and interior paths end at folds. [AcaryBremondHuber18 freeze s instead (Cadoux09): on struck walls that stalls at
// 1e-4]
#include <algorithm>
#include <cmath>

#include "solve/laws.h"
#include "solve/solvers/newton_iteration.h"

namespace slipstick {

namespace {

// Proximal compliance 1 / (rho stiffness): three times stiffer after each round that is solved, much softer after one
// that is not. The residual may rise a little from round to round (the law is no gradient), not more.
constexpr double kFirstStiffness = 10, kLeastStiffness = 1, kMostStiffness = 1e8, kStiffer = 3, kSofter = 9;
constexpr double kMostRise = 1.5, kWorthKeeping = 0.9;
constexpr double kAccuracy = 0.1;  // of a round, over the residual before it
constexpr int kInnerSteps = 20, kHalvings = 10;

}  // namespace

void NewtonIteration::update_prox(double stiffness) {
  const Problem& p = *problem_;
  weight_.resize(p.rows());
  centre_.resize(p.rows());
  resolved_.resize(p.rows());
  for (std::size_t i = 0; i < p.blocks.size(); ++i) {
    const RowBlock& block = p.blocks[i];
    if (block.law == LawKind::Equality)
      for (int r = block.row; r < block.row + block.size; ++r)
        weight_[r] = p.compliance[r] + system_->joint_diagonal(r) / stiffness;
    else
      update_resolvent_weights(law_rows(*problem_, block), 1 / (rho_[i] * stiffness), weight_.data() + block.row);
    for (int k = block.row; k < block.row + block.size; ++k) centre_[k] = (weight_[k] - p.compliance[k]) * x_[k];
  }
}

/// The De Saxce term of a block at row velocity u and impulse x, and its gradient by w_t.
double NewtonIteration::saxce_term(const RowBlock& block, const double* u, const double* x, double* gradient) const {
  std::fill_n(gradient, 5, 0.0);
  if (block.law != LawKind::Friction) return 0;
  double w[6];
  for (int k = 0; k < block.size; ++k) w[k] = u[k] + problem_->compliance[block.row + k] * x[k];
  return de_saxce_term_and_gradient(block, w, gradient);
}

void NewtonIteration::update_round_maps() {
  const Problem& p = *problem_;
  maps_.symmetric = true;
  for (std::size_t i = 0; i < p.blocks.size(); ++i) {
    const RowBlock& block = p.blocks[i];
    const int m = block.size;
    double y[6], gradient[5];
    const double s = saxce_term(block, u_.data() + block.row, x_.data() + block.row, gradient);
    maps_.symmetric &= block.law != LawKind::Friction;
    for (int k = 0; k < m; ++k) {
      const int r = block.row + k;
      y[k] = (centre_[r] - u_[r] - (k == 0 ? s : 0)) / weight_[r];
    }
    double* resolved = resolved_.data() + block.row;
    if (block.law == LawKind::Equality) {
      std::copy_n(y, m, resolved);
      for (int r = block.row; r < block.row + m; ++r) {
        maps_.weight[r] = weight_[r];
        maps_.g[r] = weight_[r] * (resolved_[r] - x_[r]);
      }
      continue;
    }
    double* d = maps_.d.data() + maps_.start[i];
    update_resolvent(law_rows(*problem_, block), weight_.data() + block.row, y, resolved, d);
    maps_.zero[i] = std::all_of(d, d + m * m, [](double value) { return value == 0; });
    for (int k = 1; k < m && block.law == LawKind::Friction; ++k)
      for (int j = 0; j < m; ++j) d[j * m + k] += d[j * m] * gradient[k - 1];
    for (int r = block.row; r < block.row + m; ++r) maps_.g[r] = resolved_[r] - x_[r];
  }
}

/// |x - P(y)| in m/s at x + step dx: what a round must lower.
double NewtonIteration::calc_merit(double step) const {
  const Problem& p = *problem_;
  double sum = 0;
  for (std::size_t i = 0; i < p.blocks.size(); ++i) {
    const RowBlock& block = p.blocks[i];
    double u[6], x[6], y[6], resolved[6], gradient[5];
    for (int k = 0; k < block.size; ++k) {
      u[k] = u_[block.row + k] + step * du_[block.row + k];
      x[k] = x_[block.row + k] + step * dx_[block.row + k];
    }
    const double s = saxce_term(block, u, x, gradient);
    for (int k = 0; k < block.size; ++k)
      y[k] = (centre_[block.row + k] - u[k] - (k == 0 ? s : 0)) / weight_[block.row + k];
    if (block.law == LawKind::Equality)
      std::copy_n(y, block.size, resolved);
    else
      update_resolvent(law_rows(*problem_, block), weight_.data() + block.row, y, resolved, nullptr);
    for (int k = 0; k < block.size; ++k) {
      const double scale = block.law == LawKind::Equality ? weight_[block.row + k] : 1 / rho_[i];
      const double part = (x[k] - resolved[k]) * scale;
      sum += part * part;
    }
  }
  return std::sqrt(sum);
}

double NewtonIteration::find_step() const {
  const double before = calc_merit(0);
  double step = 1;
  for (int k = 0; k < kHalvings; ++k, step *= 0.5)
    if (calc_merit(step) <= (1 - 0.1 * step) * before) return step;
  return 0;
}

bool NewtonIteration::solve_round(double accuracy) {
  for (int k = 0; k < kInnerSteps; ++k) {
    update_round_maps();
    dx_.setZero(x_.size());
    du_.setZero(x_.size());
    if (calc_merit(0) <= accuracy * q_norm_) return true;
    if (!factor()) return false;
    system_->solve(maps_, &dx_, &du_);
    if (!dx_.allFinite()) return false;
    const double step = find_step();
    if (step == 0) return false;
    x_ += step * dx_;
    system_->update_state(x_, &v_, &u_);
  }
  return false;
}

void NewtonIteration::start_proximal_phase() {
  round_x_ = best_;
  stiffness_ = kFirstStiffness;
}

void NewtonIteration::run_proximal(double goal, int limit) {
  const int first = factorizations_;
  factored_ = false;
  x_ = round_x_;
  refresh();
  for (int round = 0; round < limit && factorizations_ - first < limit && residual_ > goal && !limit_->is_over();
       ++round) {
    const double before = residual_;
    start_ = x_;
    update_prox(stiffness_);
    const bool able = solve_round(kAccuracy * std::min(before, 1.0));
    if (able)
      x_ = resolved_;
    else
      clip();
    refresh();
    if (residual_ > (able ? kMostRise : kWorthKeeping) * before) {
      x_ = start_;
      refresh();
      stiffness_ = std::max(stiffness_ / kSofter, kLeastStiffness);
    } else if (able) {
      stiffness_ = std::min(stiffness_ * kStiffer, kMostStiffness);
    }
  }
  round_x_ = x_;
}

}  // namespace slipstick
