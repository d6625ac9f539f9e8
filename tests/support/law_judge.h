// A judge of solutions written from the law's definition, for tests: no natural map, no code of src/solve, dense
// matrices in extended precision. What it calls wrong is wrong whatever the engine's own judge says.
//
// An error is a speed (m/s, rad/s), or an impulse times the contact's own mobility, held against the speeds of that
// contact alone: its offset q = J A^-1 b + c and the change of speed of its own bodies, J_lin |dv| + J_rot |domega|.
#pragma once

#include <slipstick/problem.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

namespace slipstick::test {

using Real = long double;
using RealMatrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
using RealVector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;

/// The furthest from the law, as a part of the contact's own speeds.
struct LawFinding {
  double worst = 0;
  int block = -1;
  std::string part;
};

class LawJudge {
 public:
  LawJudge(const Problem& problem, const Solution& solution) : p_(problem) {
    const int n = p_.unknowns(), m = p_.rows();
    lambda_ = solution.lambda.cast<Real>();
    RealVector push = RealVector::Zero(n);
    free_ = v_ = RealVector::Zero(n);
    w_ = q_ = RealVector::Zero(m);
    for (const RowBlock& block : p_.blocks)
      for (int e = block.entry; e < block.entry + block.entries; ++e) {
        const int k = p_.entries[e].column;
        push.segment(p_.column_start[k], p_.column_size(k)) +=
            jacobian(block, e).transpose() * lambda_.segment(block.row, block.size);
      }
    for (int k = 0; k < p_.columns(); ++k) {
      const int first = p_.column_start[k], size = p_.column_size(k);
      const RealMatrix a = p_.mass_block(k).cast<Real>();
      inverse_.push_back(a.inverse());
      const RealVector b = Eigen::Map<const VecX>(p_.b.data() + first, size).cast<Real>();
      free_.segment(first, size) = inverse_[k] * b;
      v_.segment(first, size) = inverse_[k] * RealVector(b + push.segment(first, size));
    }
    for (int r = 0; r < m; ++r) q_[r] = p_.c[r];
    w_ = q_;
    for (const RowBlock& block : p_.blocks)
      for (int e = block.entry; e < block.entry + block.entries; ++e) {
        const int k = p_.entries[e].column;
        q_.segment(block.row, block.size) += jacobian(block, e) * free_.segment(p_.column_start[k], p_.column_size(k));
        w_.segment(block.row, block.size) += jacobian(block, e) * v_.segment(p_.column_start[k], p_.column_size(k));
      }
    for (int r = 0; r < m; ++r) w_[r] += p_.compliance[r] * lambda_[r];
    for (int r = 0; r < m && !p_.coupling.empty(); ++r)
      for (int i = p_.coupling.start[r]; i < p_.coupling.start[r + 1]; ++i)
        w_[r] += p_.coupling.value[i] * lambda_[p_.coupling.column[i]];
    check_momentum(solution);
    for (std::size_t i = 0; i < p_.blocks.size(); ++i) check(static_cast<int>(i));
  }

  const LawFinding& finding() const { return finding_; }
  /// A^-1 (b + J^T lambda).
  VecX velocity() const { return v_.cast<double>(); }

 private:
  RealMatrix jacobian(const RowBlock& block, int e) const {
    return p_.jacobian_block(block, p_.entries[e]).cast<Real>();
  }
  static int linear(int size) { return size == 6 ? 3 : size == 3 ? 2 : size; }

  void note(int block, const char* part, Real error, Real scale) {
    if (!(error > 0)) return;
    const double share = scale > 0 ? static_cast<double>(error / scale) : std::numeric_limits<double>::infinity();
    if (share <= finding_.worst) return;
    finding_ = {share, block, part};
  }

  void check_momentum(const Solution& solution) {
    for (int k = 0; k < p_.columns(); ++k) {
      const int first = p_.column_start[k], size = p_.column_size(k);
      const RealVector error = v_.segment(first, size) - solution.v.segment(first, size).cast<Real>();
      const Real scale = v_.segment(first, size).norm() + free_.segment(first, size).norm() + kStill;
      note(-1, "momentum", error.norm(), scale);
    }
  }

  Real mobility(const RowBlock& block, int row) const {
    Real sum = p_.compliance[block.row + row];
    for (int e = block.entry; e < block.entry + block.entries; ++e) {
      const RealVector j = jacobian(block, e).row(row).transpose();
      sum += j.dot(inverse_[p_.entries[e].column] * j);
    }
    const int r = block.row + row;
    for (int i = p_.coupling.empty() ? 0 : p_.coupling.start[r]; !p_.coupling.empty() && i < p_.coupling.start[r + 1];
         ++i)
      if (p_.coupling.column[i] == r) sum += p_.coupling.value[i];
    return sum;
  }

  /// The speeds of the row's own bodies.
  Real speed(const RowBlock& block, int row) const {
    Real change = 0, terms = std::abs(Real(p_.c[block.row + row]));
    for (int e = block.entry; e < block.entry + block.entries; ++e) {
      const int k = p_.entries[e].column, first = p_.column_start[k], size = p_.column_size(k), l = linear(size);
      const RealVector j = jacobian(block, e).row(row).transpose();
      const RealVector dv = v_.segment(first, size) - free_.segment(first, size), v = free_.segment(first, size);
      change += j.head(l).norm() * dv.head(l).norm() + j.tail(size - l).norm() * dv.tail(size - l).norm();
      terms += j.head(l).norm() * v.head(l).norm() + j.tail(size - l).norm() * v.tail(size - l).norm();
    }
    Real own = std::abs(q_[block.row + row]) + change + kRounding * terms + kStill;
    if (!p_.coupling.empty()) own += q_.cwiseAbs().maxCoeff();
    return own;
  }

  void check(int i) {
    const RowBlock& block = p_.blocks[i];
    for (int k = 0; k < block.size; ++k) {
      const int r = block.row + k;
      if (block.law == LawKind::Equality) note(i, "equality", std::abs(w_[r]), speed(block, k));
      if (block.law == LawKind::Nonnegative) check_normal(i, k, std::abs(lambda_[r]) * mobility(block, k));
      if (block.law == LawKind::Box) check_box(i, k);
    }
    if (block.law != LawKind::Friction) return;
    Real strength = 0;
    for (int k = 0; k < block.size; ++k)
      strength = std::max(strength, mobility(block, k) * std::abs(lambda_[block.row + k]));
    check_normal(i, 0, strength);
    if (block.size == 2) return check_friction(i, 1, 1);
    check_friction(i, 1, 2);
    if (block.size == 4 || block.size == 6) check_friction(i, 3, 1);
    if (block.size == 5) check_friction(i, 3, 2);
    if (block.size == 6) check_friction(i, 4, 2);
  }

  /// w >= 0, lambda >= 0, not both above zero.
  void check_normal(int i, int k, Real strength) {
    const RowBlock& block = p_.blocks[i];
    const Real w = w_[block.row + k], lambda = lambda_[block.row + k], scale = speed(block, k);
    note(i, "approach", -w, scale);
    note(i, "pull", -lambda * mobility(block, k), scale);
    note(i, "impulse at a distance", std::min(w, strength), scale);
  }

  /// At the lower bound w >= 0, at the upper w <= 0, between them w = 0: for each sign of w the distance to the bound
  /// at which it may have it, or w itself, is nothing.
  void check_box(int i, int k) {
    const RowBlock& block = p_.blocks[i];
    const int r = block.row + k;
    const Real d = mobility(block, k), w = w_[r], lambda = lambda_[r], scale = speed(block, k);
    note(i, "below its bound", d * (p_.lower[r] - lambda), scale);
    note(i, "above its bound", d * (lambda - p_.upper[r]), scale);
    if (w > 0) note(i, "moves inside its bounds", std::min(w, d * (lambda - p_.lower[r])), scale);
    if (w < 0) note(i, "moves inside its bounds", std::min(-w, d * (p_.upper[r] - lambda)), scale);
  }

  void check_friction(int i, int first, int size) {
    const RowBlock& block = p_.blocks[i];
    Real d = 0, scale = 0;
    for (int k = first; k < first + size; ++k) d += mobility(block, k) / size;
    for (int k = 0; k < block.size; ++k) scale = std::max(scale, speed(block, k));
    const RealVector t = lambda_.segment(block.row + first, size), w = w_.segment(block.row + first, size);
    const Real limit = block.mu * std::max(lambda_[block.row], Real(0));
    const bool disk = block.friction == FrictionModel::Cone || block.size != 3;
    if (!disk) return check_polygon(i, t, w, limit, d, scale);
    note(i, "outside the cone", d * (t.norm() - limit), scale);
    // What may be left of slip that friction does not oppose: all of it while friction could do more, or there is none
    // that tells a direction; else what does not point against friction.
    const Real spare = d * std::max(limit - t.norm(), Real(0));
    note(i, "slips though friction could do more", std::min(w.norm(), spare), scale);
    if (t.norm() == 0) return;
    const RealVector direction = t / t.norm();
    const Real along = w.dot(direction);
    const RealVector across = w - along * direction;
    const Real wrong = std::sqrt(across.squaredNorm() + (along > 0 ? along * along : Real(0)));
    // As a speed, or as the impulse by which friction is not the full one against the slip: small friction on a fast
    // slip may point a little aside.
    const Real missing = w.norm() > 0 ? d * (t + limit * w / w.norm()).norm() : Real(0);
    note(i, "slips where friction does not point", std::min(wrong, missing), scale);
  }

  /// No vertex of the polygon takes more power from the slip than lambda_t does.
  void check_polygon(int i, const RealVector& t, const RealVector& w, Real limit, Real d, Real scale) {
    const RowBlock& block = p_.blocks[i];
    const bool square = block.friction == FrictionModel::Box;
    const int count = square ? 4 : block.facets;
    const Real step = 2 * std::numbers::pi_v<Real> / count, phase = square ? std::numbers::pi_v<Real> / 4 : Real(0);
    const Real reach = limit * (square ? std::numbers::sqrt2_v<Real> : Real(1));
    for (int k = 0; k < count; ++k) {
      const Real middle = phase + (k + Real(0.5)) * step;
      const Real across = t[0] * std::cos(middle) + t[1] * std::sin(middle);
      note(i, "outside the pyramid", d * (across - reach * std::cos(step / 2)), scale);
      RealVector vertex(2);
      vertex << reach * std::cos(phase + k * step), reach * std::sin(phase + k * step);
      const RealVector turn = vertex - t;
      const Real gain = -w.dot(turn), weight = d * turn.norm() + w.norm();
      if (weight > 0) note(i, "another friction would take more", d * gain / weight, scale);
    }
  }

  static constexpr Real kRounding = 1e-7L;  ///< of the terms of an offset: it has no more digits
  static constexpr Real kStill = 1e-9L;     ///< m/s: speeds below it are no scale
  const Problem& p_;
  std::vector<RealMatrix> inverse_;
  RealVector lambda_, v_, free_, w_, q_;
  LawFinding finding_;
};

inline LawFinding find_law_error(const Problem& problem, const Solution& solution) {
  return LawJudge(problem, solution).finding();
}

}  // namespace slipstick::test
