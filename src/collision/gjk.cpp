#include "collision/gjk.h"

#include "collision/tolerances.h"

#include <algorithm>
#include <cmath>

namespace slipstick {
namespace {

constexpr int kMaxGjkSteps = 64;

/// At most four points of the difference B - A; the closest point of their hull to the origin.
class Simplex {
 public:
  int size() const { return count_; }
  void add(const Vec3& w) { points_[count_++] = w; }
  bool contains(const Vec3& w) const {
    return std::any_of(points_.begin(), points_.begin() + count_, [&](const Vec3& p) { return p == w; });
  }

  /// Keeps only the points that hold the closest point and returns it; zero if the origin is inside.
  Vec3 reduce() {
    switch (count_) {
      case 1:
        return points_[0];
      case 2:
        return reduce_segment();
      case 3:
        return reduce_triangle();
      default:
        return reduce_tetrahedron();
    }
  }

 private:
  void keep(int i) {
    points_[0] = points_[i];
    count_ = 1;
  }
  void keep(int i, int j) {
    const Vec3 p = points_[i], q = points_[j];
    points_[0] = p;
    points_[1] = q;
    count_ = 2;
  }

  Vec3 reduce_segment() {
    const Vec3 d = points_[1] - points_[0];
    const double t = -points_[0].dot(d), length_sq = d.squaredNorm();
    if (!(t > 0)) return keep(0), points_[0];
    if (!(t < length_sq)) return keep(1), points_[0];
    const Vec3 v = points_[0] + t / length_sq * d;
    return v - v.dot(d) / length_sq * d;  // once more: a short v must be perpendicular, too
  }

  /// By the regions of the triangle (Ericson); over its inside along the normal, which is well determined however small
  /// the distance is.
  Vec3 reduce_triangle() {
    const Vec3 a = points_[0], b = points_[1], c = points_[2];
    const Vec3 ab = b - a, ac = c - a;
    const double d1 = -ab.dot(a), d2 = -ac.dot(a);
    if (d1 <= 0 && d2 <= 0) return keep(0), a;
    const double d3 = -ab.dot(b), d4 = -ac.dot(b);
    if (d3 >= 0 && d4 <= d3) return keep(1), b;
    const double vc = d1 * d4 - d3 * d2;
    if (vc <= 0 && d1 >= 0 && d3 <= 0) return keep(0, 1), reduce_segment();
    const double d5 = -ab.dot(c), d6 = -ac.dot(c);
    if (d6 >= 0 && d5 <= d6) return keep(2), c;
    const double vb = d5 * d2 - d1 * d6;
    if (vb <= 0 && d2 >= 0 && d6 <= 0) return keep(0, 2), reduce_segment();
    const double va = d3 * d6 - d5 * d4;
    if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) return keep(1, 2), reduce_segment();
    const Vec3 normal = ab.cross(ac);
    const double area_sq = normal.squaredNorm();
    if (!(area_sq > 0)) return keep(0, 1), reduce_segment();
    return normal.dot(a) / area_sq * normal;
  }

  Vec3 reduce_tetrahedron() {
    constexpr int kFaces[4][4] = {{0, 1, 2, 3}, {0, 2, 3, 1}, {0, 3, 1, 2}, {1, 3, 2, 0}};  // three corners, the fourth
    Simplex best;
    double least = kInfinity;
    Vec3 closest = Vec3::Zero();
    bool inside = true;
    for (const auto& f : kFaces) {
      const Vec3 &a = points_[f[0]], &b = points_[f[1]], &c = points_[f[2]], &d = points_[f[3]];
      const Vec3 normal = (b - a).cross(c - a);
      const double fourth = normal.dot(d - a), origin = -normal.dot(a);
      const double size = normal.norm() * (d - a).norm();
      const bool flat = std::abs(fourth) <= 1e-14 * size;
      if (!flat && fourth * origin > 0) continue;  // the origin is on the inner side of this face
      inside = false;
      Simplex face;
      for (int k = 0; k < 3; ++k) face.add(points_[f[k]]);
      const Vec3 p = face.reduce();
      if (p.squaredNorm() >= least) continue;
      least = p.squaredNorm();
      closest = p;
      best = face;
    }
    if (inside) return Vec3::Zero();
    *this = best;
    return closest;
  }

  std::array<Vec3, 4> points_;
  int count_ = 0;
};

}  // namespace

CoreDistance find_core_distance(const ConvexCore& a, const ConvexCore& b, double scale, double reach) {
  CoreDistance result;
  Vec3 v = b.center() - a.center();
  if (!(v.squaredNorm() > 0)) v = Vec3::UnitX();
  Simplex simplex;
  simplex.add(b.calc_support(-v) - a.calc_support(v));
  v = simplex.reduce();
  const double tolerance = (a.is_polyhedral() && b.is_polyhedral() ? 0 : 1e-9) * scale;
  double best_bound = -kInfinity;
  for (int k = 0; k < kMaxGjkSteps; ++k) {
    const double length = v.norm();
    if (length <= kTouching * scale) return result;
    const Vec3 w = b.calc_support(-v) - a.calc_support(v);
    const double bound = v.dot(w) / length;  // a lower bound of the distance
    if (bound > best_bound) {
      best_bound = bound;
      result.v = v;
    }
    if (bound > reach) {
      result.answer = CoreDistance::Answer::Beyond;
      return result;
    }
    if (length - bound <= tolerance + 1e-15 * length || simplex.contains(w)) break;
    simplex.add(w);
    const Vec3 next = simplex.reduce();
    if (simplex.size() == 4) return result;                            // the origin is inside
    if (!(next.squaredNorm() < length * length * (1 - 1e-15))) break;  // no more progress: rounding
    v = next;
  }
  if (best_bound > 0) result.answer = CoreDistance::Answer::Apart;
  return result;
}

}  // namespace slipstick
