#include "solve/cone_point.h"

#include <algorithm>
#include <cmath>

namespace slipstick {
namespace {

/// Below this (squared, of a target of length 1) forces cancel.
constexpr double kCancels = 1e-18;
/// An edge that points less than this along the residual brings nothing.
constexpr double kNoGain = 1e-11;

/// The edge of a cone that points most along r, and by how much.
struct ConeEdge {
  int cone = -1;
  double gain = 0;
  VecX column;  ///< of generalised force, and 1 if the cone is counted
};

/// C = Q R with orthonormal columns of Q, kept while columns of C come and go.
class GrowingQr {
 public:
  /// False if the column depends on the others.
  bool append(const VecX& column) {
    if (count_ == q_.cols()) {
      const Eigen::Index room = 2 * count_ + 16;
      q_.conservativeResize(column.size(), room);
      r_.conservativeResize(room, room);
    }
    VecX rest = column, part = VecX::Zero(count_);
    for (int pass = 0; pass < 2; ++pass) {  // the second pass takes what rounding left of the first
      const VecX along = q_.leftCols(count_).transpose() * rest;
      rest -= q_.leftCols(count_) * along;
      part += along;
    }
    const double size = rest.norm();
    if (!(size > 1e-13 * column.norm())) return false;
    r_.col(count_).head(count_) = part;
    r_(count_, count_) = size;
    q_.col(count_++) = rest / size;
    return true;
  }

  /// Shifts the later columns forward and turns R, now with one entry below its diagonal in each, upright again.
  void remove(int k) {
    for (Eigen::Index j = k; j + 1 < count_; ++j) r_.col(j).head(j + 2) = VecX(r_.col(j + 1).head(j + 2));
    for (Eigen::Index j = k; j + 1 < count_; ++j) {
      const double a = r_(j, j), b = r_(j + 1, j), size = std::hypot(a, b);
      if (size == 0) continue;
      const double c = a / size, s = b / size;
      for (Eigen::Index i = j; i + 1 < count_; ++i) {
        const double up = r_(j, i), down = r_(j + 1, i);
        r_(j, i) = c * up + s * down;
        r_(j + 1, i) = c * down - s * up;
      }
      const VecX left = q_.col(j);
      q_.col(j) = c * left + s * q_.col(j + 1);
      q_.col(j + 1) = c * q_.col(j + 1) - s * left;
    }
    --count_;
  }

  VecX solve(const VecX& target) const {
    VecX z = q_.leftCols(count_).transpose() * target;
    r_.topLeftCorner(count_, count_).triangularView<Eigen::Upper>().solveInPlace(z);
    return z;
  }

 private:
  MatX q_, r_;
  Eigen::Index count_ = 0;
};

class ConeSearch {
 public:
  ConeSearch(const std::vector<ForceCone>& cones, const std::vector<char>& counted)
      : cones_(cones), counted_(counted), rows_(cones.empty() ? 0 : cones[0].normal.size()) {
    target_ = VecX::Zero(rows_ + 1);
    target_[rows_] = 1;
    residual_ = target_;
  }

  ConePoint run() {
    const int limit = 100 + 10 * static_cast<int>(rows_);
    ConePoint point;
    for (int i = 0; i < limit && !point.found; ++i) {
      const ConeEdge edge = find_edge();
      point.found = residual_.squaredNorm() < kCancels || edge.gain <= kNoGain * residual_.norm() || !take(edge);
    }
    point.x = VecX::Zero(static_cast<Eigen::Index>(cones_.size()));
    for (std::size_t k = 0; k < chosen_.size(); ++k) point.x[chosen_[k].cone] += x_[static_cast<Eigen::Index>(k)];
    const double square = residual_.squaredNorm();
    point.distance = square < kCancels ? 0 : std::sqrt(square / std::max(1 - square, 1e-300));
    return point;
  }

 private:
  ConeEdge find_edge() const {
    ConeEdge best;
    const auto force = residual_.head(rows_);
    VecX slope, best_slope;
    for (std::size_t j = 0; j < cones_.size(); ++j) {
      const ForceCone& cone = cones_[j];
      double gain = cone.normal.dot(force) + (counted_[j] ? residual_[rows_] : 0);
      slope = cone.tangents.transpose() * force;
      gain += cone.mu * slope.norm();
      if (gain <= best.gain) continue;
      best.gain = gain;
      best.cone = static_cast<int>(j);
      best_slope = slope;
    }
    if (best.cone < 0) return best;
    const ForceCone& cone = cones_[static_cast<std::size_t>(best.cone)];
    best.column.resize(rows_ + 1);
    best.column.head(rows_) = cone.normal;
    const double size = best_slope.size() > 0 ? best_slope.norm() : 0;
    if (size > 0) best.column.head(rows_) += cone.mu / size * (cone.tangents * best_slope);
    best.column[rows_] = counted_[static_cast<std::size_t>(best.cone)] ? 1 : 0;
    return best;
  }

  /// Adds an edge and makes the least-squares solution over the chosen ones feasible again; false if it brought
  /// nothing.
  bool take(const ConeEdge& edge) {
    const double before = residual_.squaredNorm();
    if (!factors_.append(edge.column)) return false;
    chosen_.push_back(edge);
    x_.conservativeResize(x_.size() + 1);
    x_[x_.size() - 1] = 0;
    while (!chosen_.empty()) {
      const VecX z = factors_.solve(target_);
      if (!z.allFinite()) return false;
      double part = 1;
      for (Eigen::Index k = 0; k < z.size(); ++k)
        if (z[k] <= 0) part = std::min(part, x_[k] / (x_[k] - z[k]));
      x_ += part * (z - x_);
      if ((z.array() > 0).all()) break;
      drop_zeros(z);
    }
    residual_ = target_;
    for (std::size_t k = 0; k < chosen_.size(); ++k) residual_ -= x_[static_cast<Eigen::Index>(k)] * chosen_[k].column;
    return residual_.squaredNorm() < before * (1 - 1e-13);
  }

  void drop_zeros(const VecX& z) {
    const double zero = 1e-15 * std::max(1.0, x_.maxCoeff());
    for (Eigen::Index k = z.size(); k-- > 0;) {
      if (z[k] > 0 || x_[k] > zero) continue;
      factors_.remove(static_cast<int>(k));
      chosen_.erase(chosen_.begin() + k);
      const Eigen::Index rest = x_.size() - k - 1;
      x_.segment(k, rest) = VecX(x_.tail(rest));
      x_.conservativeResize(x_.size() - 1);
    }
  }

  const std::vector<ForceCone>& cones_;
  const std::vector<char>& counted_;
  Eigen::Index rows_;
  VecX target_, residual_, x_;
  std::vector<ConeEdge> chosen_;
  GrowingQr factors_;  ///< of the chosen columns
};

}  // namespace

ConePoint find_cone_point(const std::vector<ForceCone>& cones, const std::vector<char>& counted) {
  return ConeSearch(cones, counted).run();
}

}  // namespace slipstick
