#include "collision/convex_direction.h"

#include "collision/gjk.h"
#include "collision/tolerances.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

namespace slipstick {
namespace {

/// Kinks farther than this from the first direction are not looked at: it is known much better.
constexpr double kNearKink = 0.02;
/// Accuracy of the first direction of overlapping curved shapes, part of the size.
constexpr double kCurvedDepth = 1e-7;

class DirectionPolish {
 public:
  DirectionPolish(const ConvexCore& a, const ConvexCore& b, double scale, const Vec3& first)
      : a_(a), b_(b), slack_(kSameGap * scale), first_(first) {
    a.find_kinks(first, kNearKink, &kinks_);
    Kinks of_b;
    b.find_kinks(-first, kNearKink, &of_b);
    for (int k = 0; k < of_b.face_count; ++k) kinks_.add_face(-of_b.faces[k]);
    line_split_ = kinks_.line_count;
    for (int k = 0; k < of_b.line_count; ++k) kinks_.add_line(of_b.lines[k].axis, -of_b.lines[k].value);
  }

  CoreDirection find() {
    CoreDirection free{true, first_, calc_core_separation(a_, b_, first_), first_};
    const bool polyhedral = a_.is_polyhedral() && b_.is_polyhedral();
    if (!polyhedral) {
      climb(&free);
      for (int k = 0; k < kinks_.line_count; ++k) follow(kinks_.lines[k], &free);
    }
    // A crossing of edges before a free direction, a face before both, where they are as good.
    CoreDirection best = free;
    for (int i = 0; i < line_split_; ++i) {
      for (int j = line_split_; j < kinks_.line_count; ++j) {
        cross(kinks_.lines[i], kinks_.lines[j], &free, &best);
      }
    }
    for (int k = 0; k < kinks_.face_count; ++k) {
      consider(kinks_.faces[k], &free, &best);
    }
    best.exact_normal = free.normal;
    return best;
  }

 private:
  Vec3 calc_gradient(const Vec3& n) const { return b_.calc_support(-n) - a_.calc_support(n); }

  void offer(const Vec3& n, CoreDirection* best) const {
    const double s = calc_core_separation(a_, b_, n);
    if (s > best->separation) *best = {true, n, s, n};
  }

  /// `best` is at most the slack worse than `free`, the best of all.
  void consider(const Vec3& n, CoreDirection* free, CoreDirection* best) const {
    const double s = calc_core_separation(a_, b_, n);
    if (s > free->separation) *free = {true, n, s, n};
    if (s >= free->separation - slack_) *best = {true, n, s, n};
    if (best->separation < free->separation - slack_) *best = *free;
  }

  /// Newton's method on the unit sphere, where s is smooth: with g = b - a, P = I - n n^T and the curvatures H of both
  /// support functions, (P H P + s I) d = P g.
  void climb(CoreDirection* best) const {
    Vec3 n = first_;
    for (int k = 0; k < 12; ++k) {
      const Vec3 g = calc_gradient(n);
      const Vec3 x = n.unitOrthogonal(), y = n.cross(x);
      const Mat3 h = a_.calc_curvature(n) + b_.calc_curvature(-n);
      const double s = n.dot(g);
      const double xx = x.dot(h * x) + s, yy = y.dot(h * y) + s, xy = x.dot(h * y);
      const double det = xx * yy - xy * xy;
      if (!(det > 0) || !(xx > 0)) return;  // no maximum here
      const double gx = g.dot(x), gy = g.dot(y);
      Vec3 step = (yy * gx - xy * gy) / det * x + (xx * gy - xy * gx) / det * y;
      const double length = step.norm();
      if (length > 0.2) step *= 0.2 / length;
      n = (n + step).normalized();
      offer(n, best);
      if (length < 1e-14) return;
    }
  }

  /// The maximum along the circle n . axis = value near the first direction: the root of g . dn/dt.
  void follow(const Kink& kink, CoreDirection* best) const {
    const Vec3 flat = first_ - kink.axis.dot(first_) * kink.axis;
    if (!(flat.norm() > 1e-3) || !(std::abs(kink.value) < 1)) return;
    const Vec3 x = flat.normalized(), y = kink.axis.cross(x);
    const double radius = std::sqrt(1 - kink.value * kink.value);
    const auto at = [&](double t) {
      return Vec3(kink.value * kink.axis + radius * (std::cos(t) * x + std::sin(t) * y)).normalized();
    };
    const auto slope = [&](double t) { return calc_gradient(at(t)).dot(std::cos(t) * y - std::sin(t) * x); };
    double low = 0, f_low = slope(0);
    offer(at(0), best);
    double high = f_low > 0 ? 1e-3 : -1e-3, f_high = slope(high);
    for (int k = 0; k < 9 && f_low * f_high > 0; ++k) {
      low = high;
      f_low = f_high;
      high *= 2;
      f_high = slope(high);
    }
    if (!(f_low * f_high < 0)) return;
    for (int k = 0; k < 60 && std::abs(high - low) > 1e-15; ++k) {  // regula falsi (Illinois), with halving
      double t = (low * f_high - high * f_low) / (f_high - f_low);
      if (k % 4 == 3 || !(std::min(low, high) < t && t < std::max(low, high))) t = (low + high) / 2;
      const double f = slope(t);
      if (f == 0) {
        low = high = t;
        break;
      }
      if (f * f_high < 0) {
        low = high;
        f_low = f_high;
      } else {
        f_low /= 2;
      }
      high = t;
      f_high = f;
    }
    offer(at(high), best);
    offer(at(low), best);
  }

  /// n . u = alpha and n . w = beta.
  void cross(const Kink& first, const Kink& second, CoreDirection* free, CoreDirection* best) const {
    const Vec3 &u = first.axis, &w = second.axis;
    const Vec3 normal = u.cross(w);
    const double det = normal.squaredNorm(), c = u.dot(w);
    if (!(det > 1e-16)) return;
    const Vec3 p = ((first.value - second.value * c) * u + (second.value - first.value * c) * w) / det;
    const double rest = 1 - p.squaredNorm();
    if (!(rest > 0)) return;
    const double side = normal.dot(first_) < 0 ? -1 : 1;
    const Vec3 n = (p + side * std::sqrt(rest / det) * normal).normalized();
    if ((n - first_).squaredNorm() > 16 * kNearKink * kNearKink) return;
    consider(n, free, best);
  }

  const ConvexCore &a_, &b_;
  double slack_;
  Vec3 first_;
  Kinks kinks_;  ///< both, in terms of n; lines of A first
  int line_split_ = 0;
};

}  // namespace

CoreDirection find_core_direction(const ConvexCore& a, const ConvexCore& b, double scale, double reach) {
  const CoreDistance distance = find_core_distance(a, b, scale, reach);
  if (distance.answer == CoreDistance::Answer::Beyond) return {};
  Vec3 first;
  if (distance.answer == CoreDistance::Answer::Apart) {
    first = distance.v.normalized();
  } else {
    const bool polyhedral = a.is_polyhedral() && b.is_polyhedral();
    first = find_least_overlap(a, b, scale, (polyhedral ? 1e-12 : kCurvedDepth) * scale);
  }
  CoreDirection direction = DirectionPolish(a, b, scale, first).find();
  direction.within_reach = direction.separation <= reach;
  return direction;
}

}  // namespace slipstick
