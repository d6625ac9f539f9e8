// The expanding polytope: a polyhedron inside D = A - B grows where its face nearest to the origin is, until that face
// is one of D. The least h_D(n) over unit n, h_D(n) = max over D of n.d, is the depth; its n is the direction.
//
// It starts from four extreme points of D, whether the origin is among them or not: a face that the origin is beyond
// has a negative offset and grows first.
#include "collision/gjk.h"

#include <algorithm>
#include <cmath>

namespace slipstick {
namespace {

constexpr int kMaxEpaPoints = 256;
constexpr int kMaxEpaFaces = 2 * kMaxEpaPoints;

class ExpandingPolytope {
 public:
  ExpandingPolytope(const ConvexCore& a, const ConvexCore& b, double scale) : a_(a), b_(b), scale_(scale) {}

  Vec3 find(double tolerance) {
    if (!start()) return flat_normal_;
    Vec3 best = Vec3::UnitZ();
    double least = kInfinity;  // the smallest h_D seen: an upper bound of the depth
    while (point_count_ < kMaxEpaPoints) {
      const int near = find_nearest();
      if (near < 0) break;
      const Vec3 normal = faces_[near].normal;
      const double offset = faces_[near].offset;
      const Vec3 d = calc_support(normal);
      const double h = normal.dot(d);
      if (h < least) {
        least = h;
        best = normal;
      }
      if (least - offset <= tolerance) break;
      if (!expand(d)) faces_[near].offset = kInfinity;  // nothing new there: rounding
    }
    return best;
  }

 private:
  struct Face {
    std::array<int, 3> corner;
    Vec3 normal;
    double offset;
  };

  Vec3 calc_support(const Vec3& n) const { return a_.calc_support(n) - b_.calc_support(-n); }

  /// Four extreme points that span a volume; false if D is flat.
  bool start() {
    Vec3 p[4];
    double far = -1;
    for (int k = 0; k < 3; ++k) {
      const Vec3 low = calc_support(-Vec3::Unit(k)), high = calc_support(Vec3::Unit(k));
      if ((high - low).squaredNorm() <= far) continue;
      far = (high - low).squaredNorm();
      p[0] = low;
      p[1] = high;
    }
    const double tiny = 1e-12 * scale_;
    const Vec3 along = (p[1] - p[0]).normalized();
    const Vec3 side = along.unitOrthogonal(), other = along.cross(side);
    far = -1;
    for (const Vec3& m : {side, Vec3(-side), other, Vec3(-other)}) {
      const Vec3 q = calc_support(m);
      const double off = (q - p[0] - along.dot(q - p[0]) * along).norm();
      if (off <= far) continue;
      far = off;
      p[2] = q;
    }
    flat_normal_ = far > tiny ? along.cross(p[2] - p[0]).normalized() : side;
    if (flat_normal_.dot(b_.center() - a_.center()) < 0) flat_normal_ = -flat_normal_;
    if (!(far > tiny)) return false;
    far = tiny;
    bool found = false;
    for (const double sign : {1.0, -1.0}) {
      const Vec3 q = calc_support(sign * flat_normal_);
      const double off = std::abs(flat_normal_.dot(q - p[0]));
      if (off <= far) continue;
      far = off;
      p[3] = q;
      found = true;
    }
    if (!found) return false;
    if ((p[1] - p[0]).cross(p[2] - p[0]).dot(p[3] - p[0]) > 0) std::swap(p[1], p[2]);
    for (const Vec3& q : p) points_[point_count_++] = q;
    add_face(0, 1, 2);
    add_face(0, 2, 3);
    add_face(0, 3, 1);
    add_face(1, 3, 2);
    return true;
  }

  void add_face(int i, int j, int k) {
    if (face_count_ == kMaxEpaFaces) return;
    Face& face = faces_[face_count_++];
    face.corner = {i, j, k};
    const Vec3 e1 = points_[j] - points_[i], e2 = points_[k] - points_[i], e3 = points_[k] - points_[j];
    const Vec3 cross = e1.cross(e2);
    const double longest_sq = std::max({e1.squaredNorm(), e2.squaredNorm(), e3.squaredNorm()});
    const double area = cross.norm();
    if (!(area > 1e-12 * longest_sq)) {  // a needle has no direction: never chosen, always part of the surface
      face.normal.setZero();
      face.offset = kInfinity;
      return;
    }
    face.normal = cross / area;
    face.offset = face.normal.dot(points_[i]);
  }

  int find_nearest() const {
    int near = -1;
    double least = kInfinity;
    for (int f = 0; f < face_count_; ++f) {
      if (faces_[f].offset >= least) continue;
      least = faces_[f].offset;
      near = f;
    }
    return near;
  }

  bool is_visible(const Face& face, const Vec3& d) const {
    return face.normal.dot(d - points_[face.corner[0]]) > 1e-14 * scale_;
  }

  /// Replaces the faces that see d by the cone from their rim to d.
  bool expand(const Vec3& d) {
    std::array<std::array<int, 2>, kMaxEpaFaces> rim;
    int rim_count = 0, kept = 0;
    bool seen = false;
    for (int f = 0; f < face_count_; ++f) {
      const Face face = faces_[f];
      if (!is_visible(face, d)) {
        faces_[kept++] = face;
        continue;
      }
      seen = true;
      for (int k = 0; k < 3; ++k) {
        const std::array<int, 2> edge = {face.corner[k], face.corner[(k + 1) % 3]};
        int twin = -1;
        for (int r = 0; r < rim_count && twin < 0; ++r) twin = rim[r][0] == edge[1] && rim[r][1] == edge[0] ? r : -1;
        if (twin >= 0) {
          rim[twin] = rim[--rim_count];
        } else if (rim_count < kMaxEpaFaces) {
          rim[rim_count++] = edge;
        }
      }
    }
    face_count_ = kept;
    if (!seen) return false;
    points_[point_count_] = d;
    for (int r = 0; r < rim_count; ++r) add_face(rim[r][0], rim[r][1], point_count_);
    ++point_count_;
    return true;
  }

  const ConvexCore &a_, &b_;
  double scale_;
  Vec3 flat_normal_ = Vec3::UnitZ();
  std::array<Vec3, kMaxEpaPoints> points_;
  std::array<Face, kMaxEpaFaces> faces_;
  int point_count_ = 0, face_count_ = 0;
};

}  // namespace

Vec3 find_least_overlap(const ConvexCore& a, const ConvexCore& b, double scale, double tolerance) {
  return ExpandingPolytope(a, b, scale).find(tolerance);
}

}  // namespace slipstick
