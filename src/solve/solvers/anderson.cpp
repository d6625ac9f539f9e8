#include "solve/solvers/anderson.h"

#include <algorithm>
#include <cmath>

namespace slipstick {

namespace {

constexpr double kRegularization = 1e-12;  // of the trace of the normal equations
constexpr double kGrowth = 1;              // over the least residual so far: beyond, the memory is forgotten
constexpr double kLargestWeight = 1e4;     // sum |weight|: beyond, the combination is an extrapolation of rounding

}  // namespace

void Anderson::resize(int size, int memory) {
  if (size != size_ || memory != memory_) {
    size_ = size;
    memory_ = memory;
    images_.resize(size, memory);
    residuals_.resize(size, memory);
    gram_.resize(memory, memory);
    work_.resize(memory, memory);
    right_.resize(memory);
    weight_.resize(memory);
    residual_.resize(size);
    last_image_.resize(size);
    last_residual_.resize(size);
  }
  clear();
}

void Anderson::push(const VecX& y, const VecX& image) {
  residual_ = image - y;
  if (has_last_) {
    const int at = next_;
    next_ = (next_ + 1) % memory_;
    count_ = std::min(count_ + 1, memory_);
    images_.col(at) = image - last_image_;
    residuals_.col(at) = residual_ - last_residual_;
    for (int k = 0; k < count_; ++k) gram_(at, k) = gram_(k, at) = residuals_.col(k).dot(residuals_.col(at));
  } else {
    next_ = 0;
  }
  last_image_ = image;
  last_residual_ = residual_;
}

bool Anderson::mix(const VecX& y, VecX* image) {
  const bool mixed = has_last_ && count_ > 0 && was_mixed_;
  if (mixed && !((*image - y).norm() <= kGrowth * least_)) {
    // The mixed point is worse than what came before: back to the plain image, with an empty memory.
    *image = last_image_;
    clear();
    return true;
  }
  push(y, *image);
  was_mixed_ = false;
  const double norm = residual_.norm();
  least_ = has_last_ && mixed ? std::min(least_, norm) : norm;
  if (!has_last_) {
    has_last_ = true;
    return false;
  }
  // Normal equations (memory x memory) by Cholesky without square roots, in place.
  const int m = count_;
  double trace = 0;
  for (int k = 0; k < m; ++k) trace += gram_(k, k);
  for (int i = 0; i < m; ++i) {
    weight_[i] = residuals_.col(i).dot(residual_);
    for (int j = 0; j < m; ++j) work_(i, j) = gram_(i, j) + (i == j ? kRegularization * trace : 0);
  }
  for (int k = 0; k < m; ++k) {
    if (!(work_(k, k) > 0)) return false;
    for (int i = k + 1; i < m; ++i) {
      const double factor = work_(i, k) / work_(k, k);
      for (int j = k + 1; j < m; ++j) work_(i, j) -= factor * work_(k, j);
      weight_[i] -= factor * weight_[k];
    }
  }
  double sum = 0;
  for (int i = m - 1; i >= 0; --i) {
    for (int j = i + 1; j < m; ++j) weight_[i] -= work_(i, j) * weight_[j];
    weight_[i] /= work_(i, i);
    sum += std::abs(weight_[i]);
  }
  if (!(sum < kLargestWeight)) return false;
  for (int k = 0; k < m; ++k) *image -= weight_[k] * images_.col(k);
  was_mixed_ = true;
  return true;
}

}  // namespace slipstick
