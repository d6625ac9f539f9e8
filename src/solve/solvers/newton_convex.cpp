// The globally convergent phase. With s = mu |w_t| frozen and a proximal term delta on every row, the problem is
// convex: minimise 1/2 x^T W x + sum_i 1/2 |P_i(y_i(x))|_R^2 over x, whose gradient is W (x - P(y(x))). Newton with an
// exact line search finds its minimum from anywhere; then lambda and s are renewed [Cadoux09; AcaryBremondHuber18].
#include <algorithm>
#include <cmath>

#include "solve/laws.h"
#include "solve/solvers/newton_iteration.h"

namespace slipstick {

namespace {

constexpr double kStiffness = 100, kLeastStiffness = 1, kMostStiffness = 1e6;
constexpr double kAccuracy = 0.1, kFullAccuracy = 1e-3;  // of an inner solve, over the residual before it
constexpr int kInnerSteps = 20;

}  // namespace

void NewtonIteration::update_prox(double stiffness) {
  const Problem& p = *problem_;
  weight_.resize(p.rows());
  centre_.resize(p.rows());
  saxce_.setZero(p.rows());
  resolved_.resize(p.rows());
  for (std::size_t i = 0; i < p.blocks.size(); ++i) {
    const RowBlock& block = p.blocks[i];
    update_resolvent_weights(law_rows(*problem_, block), 1 / (rho_[i] * stiffness), weight_.data() + block.row);
    for (int k = block.row; k < block.row + block.size; ++k) centre_[k] = (weight_[k] - p.compliance[k]) * x_[k];
    if (block.law == LawKind::Friction) saxce_[block.row] = de_saxce_term(block, w_.data() + block.row);
  }
}

/// The De Saxce term of a block at row velocity u and impulse x: the frozen one, or with `follow_` that of this point,
/// with its gradient by w_t.
double NewtonIteration::saxce_term(const RowBlock& block, const double* u, const double* x, double* gradient) const {
  std::fill_n(gradient, 5, 0.0);
  if (block.law != LawKind::Friction) return 0;
  if (!follow_) return saxce_[block.row];
  double w[6];
  for (int k = 0; k < block.size; ++k) w[k] = u[k] + problem_->compliance[block.row + k] * x[k];
  return de_saxce_term_and_gradient(block, w, gradient);
}

void NewtonIteration::update_convex_maps() {
  const Problem& p = *problem_;
  maps_.symmetric = !follow_;
  for (std::size_t i = 0; i < p.blocks.size(); ++i) {
    const RowBlock& block = p.blocks[i];
    const int m = block.size;
    double y[6], gradient[5];
    const double s = saxce_term(block, u_.data() + block.row, x_.data() + block.row, gradient);
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

/// |x - P(y)| in m/s at x + step dx: what the full Newton must lower.
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

/// Derivative of the convex function along the Newton direction at x + step dx: du . (x + step dx - P(y)).
double NewtonIteration::calc_slope(double step) {
  const Problem& p = *problem_;
  double slope = 0;
  for (const RowBlock& block : p.blocks) {
    double y[6], resolved[6];
    for (int k = 0; k < block.size; ++k) {
      const int r = block.row + k;
      y[k] = (centre_[r] - u_[r] - step * du_[r] - saxce_[r]) / weight_[r];
    }
    if (block.law == LawKind::Equality)
      std::copy_n(y, block.size, resolved);
    else
      update_resolvent(law_rows(*problem_, block), weight_.data() + block.row, y, resolved, nullptr);
    for (int k = 0; k < block.size; ++k) {
      const int r = block.row + k;
      slope += du_[r] * (x_[r] + step * dx_[r] - resolved[k]);
    }
  }
  return slope;
}

/// The slope grows with the step (convexity): its zero by bracketing, accurate enough that a step always gains.
double NewtonIteration::find_step() {
  if (follow_) {
    const double before = calc_merit(0);
    double step = 1;
    for (int k = 0; k < 10; ++k, step *= 0.5)
      if (calc_merit(step) <= (1 - 0.1 * step) * before) return step;
    return 0;
  }
  const double at_zero = calc_slope(0), at_one = calc_slope(1);
  if (!(at_zero < 0) || at_one <= 0.5 * std::abs(at_zero)) return 1;
  double low = 0, high = 1, slope_low = at_zero, slope_high = at_one;
  double step = 1;
  for (int k = 0; k < 12; ++k) {
    step = low + (high - low) * std::clamp(slope_low / (slope_low - slope_high), 0.1, 0.9);
    const double slope = calc_slope(step);
    if (std::abs(slope) <= 0.2 * std::abs(at_zero)) return step;
    (slope < 0 ? low : high) = step;
    (slope < 0 ? slope_low : slope_high) = slope;
  }
  return step;
}

bool NewtonIteration::solve_convex(double accuracy) {
  for (int k = 0; k < kInnerSteps; ++k) {
    update_convex_maps();
    dx_.setZero(x_.size());
    du_.setZero(x_.size());
    if (calc_merit(0) <= accuracy * q_norm_) return true;
    if (!system_->factor(maps_)) return false;
    ++factorizations_;
    system_->solve(maps_, &dx_, &du_);
    if (!dx_.allFinite()) return false;
    const double step = find_step();
    if (step == 0) return false;
    x_ += step * dx_;
    system_->update_state(x_, &v_, &u_);
  }
  return false;
}

void NewtonIteration::start_convex_phase() {
  convex_x_ = best_;
  stiffness_ = kStiffness;
}

void NewtonIteration::run_convex(double goal, int rounds) {
  follow_ = false;
  factored_ = false;
  x_ = convex_x_;
  refresh();
  for (int round = 0; round < rounds && residual_ > goal; ++round) {
    const double before = residual_;
    const int first = factorizations_;
    update_prox(stiffness_);
    const bool able = solve_convex(kAccuracy * std::min(before, 1.0));
    // P(y) magnifies what is left of the gradient by the stiffness: it is the answer only where that is small.
    if (able)
      x_ = resolved_;
    else
      clip();
    refresh();
    const bool idle = factorizations_ - first <= 2 && residual_ > 0.5 * before;
    if (!able)
      stiffness_ = std::max(stiffness_ / 4, kLeastStiffness);
    else if (idle)
      stiffness_ = std::min(stiffness_ * 2, kMostStiffness);
  }
  convex_x_ = x_;
}

void NewtonIteration::run_full(double goal, int rounds) {
  follow_ = true;
  factored_ = false;
  x_ = convex_x_;
  refresh();
  double stiffness = stiffness_;
  for (int round = 0; round < rounds && residual_ > goal; ++round) {
    const double before = residual_;
    update_prox(stiffness);
    if (!solve_convex(kFullAccuracy * std::min(before, 1.0))) return;
    x_ = resolved_;
    refresh();
    if (residual_ > before) return;
    if (residual_ > 0.1 * before) stiffness *= 10;
    convex_x_ = x_;
  }
}

}  // namespace slipstick
