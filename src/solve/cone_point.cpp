#include "solve/cone_point.h"

#include <Eigen/QR>

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
    chosen_.push_back(edge);
    x_.conservativeResize(x_.size() + 1);
    x_[x_.size() - 1] = 0;
    while (!chosen_.empty()) {
      MatX columns(rows_ + 1, static_cast<Eigen::Index>(chosen_.size()));
      for (std::size_t k = 0; k < chosen_.size(); ++k) columns.col(static_cast<Eigen::Index>(k)) = chosen_[k].column;
      const VecX z = columns.householderQr().solve(target_);
      if (!z.allFinite()) return false;
      double part = 1;
      for (Eigen::Index k = 0; k < z.size(); ++k)
        if (z[k] <= 0) part = std::min(part, x_[k] / (x_[k] - z[k]));
      x_ += part * (z - x_);
      residual_ = target_ - columns * x_;
      if ((z.array() > 0).all()) break;
      drop_zeros(z);
    }
    return residual_.squaredNorm() < before * (1 - 1e-13);
  }

  void drop_zeros(const VecX& z) {
    std::size_t kept = 0;
    for (std::size_t k = 0; k < chosen_.size(); ++k) {
      const auto i = static_cast<Eigen::Index>(k);
      if (z[i] <= 0 && x_[i] <= 1e-15 * std::max(1.0, x_.maxCoeff())) continue;
      x_[static_cast<Eigen::Index>(kept)] = x_[i];
      if (kept != k) chosen_[kept] = std::move(chosen_[k]);
      ++kept;
    }
    chosen_.resize(kept);
    x_.conservativeResize(static_cast<Eigen::Index>(kept));
  }

  const std::vector<ForceCone>& cones_;
  const std::vector<char>& counted_;
  Eigen::Index rows_;
  VecX target_, residual_, x_;
  std::vector<ConeEdge> chosen_;
};

}  // namespace

ConePoint find_cone_point(const std::vector<ForceCone>& cones, const std::vector<char>& counted) {
  return ConeSearch(cones, counted).run();
}

}  // namespace slipstick
