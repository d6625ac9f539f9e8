#include "solve/linalg/dense_lu.h"

#include <algorithm>
#include <cmath>

namespace slipstick {

namespace {
constexpr int kPanel = 32;
}

bool DenseLu::factor_panel(int first, int width) {
  auto a = lu();
  for (int k = first; k < first + width; ++k) {
    int at = 0;
    const double largest = a.col(k).tail(size_ - k).cwiseAbs().maxCoeff(&at);
    swap_[k] = k + at;
    if (!(largest > 0) || !std::isfinite(largest)) return false;
    if (at != 0) a.row(k).swap(a.row(k + at));  // whole rows: the parts left and right of the panel follow
    const int below = size_ - k - 1, right = first + width - k - 1;
    a.col(k).tail(below) /= a(k, k);
    if (right > 0)
      a.block(k + 1, k + 1, below, right).noalias() -= a.col(k).tail(below) * a.row(k).segment(k + 1, right);
  }
  return true;
}

bool DenseLu::factor(const Eigen::Ref<const MatX>& matrix) {
  size_ = static_cast<int>(matrix.rows());
  if (const Eigen::Index entries = static_cast<Eigen::Index>(size_) * size_; data_.size() < entries)
    data_.resize(entries);
  swap_.resize(size_);
  auto a = lu();
  a = matrix;
  for (int first = 0; first < size_; first += kPanel) {
    const int width = std::min(kPanel, size_ - first);
    if (!factor_panel(first, width)) return false;
    const int rest = size_ - first - width;
    if (rest == 0) break;
    auto upper = a.block(first, first + width, width, rest);
    a.block(first, first, width, width).triangularView<Eigen::UnitLower>().solveInPlace(upper);
    a.bottomRightCorner(rest, rest).noalias() -= a.block(first + width, first, rest, width) * upper;
  }
  return true;
}

void DenseLu::solve_in_place(Eigen::Ref<VecX> x) const {
  if (size_ == 0) return;
  const auto a = lu();
  for (int k = 0; k < size_; ++k) std::swap(x[k], x[swap_[k]]);
  a.triangularView<Eigen::UnitLower>().solveInPlace(x);
  a.triangularView<Eigen::Upper>().solveInPlace(x);
}

void DenseLu::update_inverse(Eigen::Ref<MatX> inverse) const {
  if (size_ == 0) return;
  const auto a = lu();
  auto x = inverse.topLeftCorner(size_, size_);
  x.setIdentity();
  for (int k = 0; k < size_; ++k)
    if (swap_[k] != k) x.row(k).swap(x.row(swap_[k]));
  a.triangularView<Eigen::UnitLower>().solveInPlace(x);
  a.triangularView<Eigen::Upper>().solveInPlace(x);
}

void PivotedElimination::factor(const Eigen::Ref<const MatX>& s, double threshold) {
  size_ = static_cast<int>(s.rows());
  rank_ = 0;
  if (const Eigen::Index entries = static_cast<Eigen::Index>(size_) * size_; data_.size() < entries)
    data_.resize(entries);
  order_.resize(size_);
  for (int k = 0; k < size_; ++k) order_[k] = k;
  Eigen::Map<MatX> a(data_.data(), size_, size_);
  a = s;
  for (int k = 0; k < size_; ++k) {
    int at = 0;
    const double largest = a.diagonal().tail(size_ - k).maxCoeff(&at);
    if (!(largest > threshold)) return;
    if (at != 0) {
      a.row(k).swap(a.row(k + at));
      a.col(k).swap(a.col(k + at));
      std::swap(order_[k], order_[k + at]);
    }
    const int rest = size_ - k - 1;
    a.col(k).tail(rest) /= a(k, k);
    a.bottomRightCorner(rest, rest).noalias() -= a.col(k).tail(rest) * a.row(k).tail(rest);
    ++rank_;
  }
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): a Ref is written through
void PivotedElimination::solve_in_place(Eigen::Ref<MatX> x) const {
  if (x.size() == 0) return;
  const Eigen::Map<const MatX> a(data_.data(), size_, size_);
  a.topLeftCorner(rank_, rank_).triangularView<Eigen::UnitLower>().solveInPlace(x);
  a.topLeftCorner(rank_, rank_).triangularView<Eigen::Upper>().solveInPlace(x);
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): a Ref is written through
void PivotedElimination::solve_transposed_in_place(Eigen::Ref<MatX> x) const {
  if (x.size() == 0) return;
  const Eigen::Map<const MatX> a(data_.data(), size_, size_);
  a.topLeftCorner(rank_, rank_).transpose().triangularView<Eigen::Lower>().solveInPlace(x);
  a.topLeftCorner(rank_, rank_).transpose().triangularView<Eigen::UnitUpper>().solveInPlace(x);
}

}  // namespace slipstick
