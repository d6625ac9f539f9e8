#include "collision/box_features.h"

#include "collision/tolerances.h"

#include <algorithm>
#include <cmath>

namespace slipstick {

RectangleClip clip_to_rectangle(const Vec2& p, const Vec2& d, const Vec2& half) {
  RectangleClip clip;
  for (int k = 0; k < 2; ++k) {
    if (d[k] == 0) {
      if (std::abs(p[k]) > half[k]) clip.leave = -1;
      continue;
    }
    const int in_side = 2 * k + (d[k] < 0);
    const double low = -half[k] - p[k], high = half[k] - p[k];
    const double in = (d[k] > 0 ? low : high) / d[k];
    const double out = (d[k] > 0 ? high : low) / d[k];
    if (in > clip.enter) {
      clip.enter = in;
      clip.enter_side = in_side;
    }
    if (out < clip.leave) {
      clip.leave = out;
      clip.leave_side = in_side ^ 1;
    }
  }
  return clip;
}

Vec3 as_on_side(const Vec3& p, const Vec3& d, int axis, double at, double most) {
  Vec3 moved = p;
  const double back = at - p[axis];
  if (d[axis] != 0 && std::abs(back) * d.norm() <= most * std::abs(d[axis])) moved += back / d[axis] * d;
  moved[axis] = at;
  return moved;
}

void FaceManifold::add(const FacePoint& point) {
  for (int k = 0; k < count_; ++k) {
    if (points_[k].feature != point.feature) continue;
    const double rounding = points_[k].borrows - point.borrows;  // above 0: the new one has the name by right
    if (point.height < points_[k].height + rounding) points_[k] = point;
    return;
  }
  if (count_ < static_cast<int>(points_.size())) points_[count_++] = point;
}

double FaceManifold::least_height() const {
  double least = 1e300;
  for (const FacePoint& p : *this) least = std::min(least, p.height);
  return least;
}

void ClosestPairs::add(const Vec3& first, const Vec3& second, std::uint32_t feature) {
  const double distance_sq = (second - first).squaredNorm();
  // The square root is taken in select(); far pairs need not be stored at all.
  if (distance_sq > least_sq_ * (1 + 1e-3) + scale_ * scale_ * kAlsoClosest) return;
  least_sq_ = std::min(least_sq_, distance_sq);
  if (count_ < static_cast<int>(pairs_.size())) pairs_[count_++] = {first, second, distance_sq, feature};
}

void ClosestPairs::select() {
  int best = 0;
  for (int k = 0; k < count_; ++k) {
    pairs_[k].distance = std::sqrt(pairs_[k].distance);
    if (pairs_[k].distance < pairs_[best].distance) best = k;
  }
  // Among pairs at the same place the one that was added first gives its name: not the one that rounding favours.
  for (int k = 0; k < best; ++k) {
    const bool same = pairs_[k].distance <= pairs_[best].distance + kSameGap * scale_ &&
                      (pairs_[k].first - pairs_[best].first).lpNorm<Eigen::Infinity>() <= kSameGap * scale_;
    if (!same) continue;
    best = k;
    break;
  }
  std::swap(pairs_[0], pairs_[best]);
  const int found = count_;
  const double limit = pairs_[0].distance + kAlsoClosest * scale_;
  count_ = std::min(found, 1);
  for (int k = 1; k < found; ++k) {
    const bool keep = pairs_[k].distance <= limit && !is_near_first(pairs_[k].first) && !contains(pairs_[k].feature);
    if (keep) pairs_[count_++] = pairs_[k];
  }
}

bool ClosestPairs::contains(std::uint32_t feature) const {
  return std::any_of(pairs_.begin(), pairs_.begin() + count_,
                     [&](const ClosePair& pair) { return pair.feature == feature; });
}

bool ClosestPairs::is_near_first(const Vec3& p) const {
  return std::any_of(pairs_.begin(), pairs_.begin() + count_, [&](const ClosePair& pair) {
    return (pair.first - p).lpNorm<Eigen::Infinity>() <= kSamePoint * scale_;
  });
}

bool ClosestPairs::is_near_second(const Vec3& p) const {
  return std::any_of(pairs_.begin(), pairs_.begin() + count_, [&](const ClosePair& pair) {
    return (pair.second - p).lpNorm<Eigen::Infinity>() <= kSamePoint * scale_;
  });
}

}  // namespace slipstick
