// Names of the corners and edges of a box, the manifold of a face, and sets of closest pairs: what box-box and
// capsule-box share.
//
// Corner v: bit k of v is set where coordinate k is positive. Edge: 4 * its axis + one bit for each of the other two
// coordinates in cyclic order. Face (axis, side): the outward normal is side * e_axis.
#pragma once

#include <slipstick/types.h>

#include <array>
#include <cstdint>

namespace slipstick {

inline constexpr int kNext[3] = {1, 2, 0};
inline constexpr int kAfter[3] = {2, 0, 1};

inline Vec3 corner_of(const Vec3& half_size, int v) {
  return {v & 1 ? half_size.x() : -half_size.x(), v & 2 ? half_size.y() : -half_size.y(),
          v & 4 ? half_size.z() : -half_size.z()};
}

/// The edge along `axis` at corner v.
inline int edge_at(int axis, int v) { return 4 * axis + (v >> kNext[axis] & 1) + 2 * (v >> kAfter[axis] & 1); }

/// The corner farthest along n (box axes).
inline int support_corner(const Vec3& n) { return (n.x() > 0) + 2 * (n.y() > 0) + 4 * (n.z() > 0); }

struct BoxFace {
  int axis = 0;
  double side = 1;
};

/// The part [enter, leave] of a segment p + t d, t in [0, 1], over the rectangle |x| <= h, and the sides it crosses
/// there: 0..3 = -u, +u, -v, +v; -1 where the segment ends before it meets one (Liang and Barsky).
struct RectangleClip {
  double enter = 0, leave = 1;
  int enter_side = -1, leave_side = -1;
  bool over() const { return enter <= leave; }
};
RectangleClip clip_to_rectangle(const Vec2& p, const Vec2& d, const Vec2& half);

/// A point of a line along d that was found on a side of a slightly wider rectangle, on the side itself (`at` on that
/// axis): along the line by at most `most`, else straight.
Vec3 as_on_side(const Vec3& p, const Vec3& d, int axis, double at, double most);

/// A point of the other shape over a face: (u, v) in the face, height above it, the feature that makes it.
struct FacePoint {
  double u, v, height;
  std::uint32_t feature;
  double borrows = 0;  ///< heights below this are rounding where the name is that of a corner near by; 0: it is its own
};

/// Points over one face, one a feature; of two points with one name the lower one stays. Where rounding alone decides
/// which that is, the one whose own name it is stays: the other may be as far away as points that count as one.
class FaceManifold {
 public:
  void clear() { count_ = 0; }
  void add(const FacePoint& point);
  int size() const { return count_; }
  const FacePoint* begin() const { return points_.data(); }
  const FacePoint* end() const { return points_.data() + count_; }
  double least_height() const;

 private:
  std::array<FacePoint, 24> points_;  // at most 12 entries and exits, 4 corners of the face, 4 of the other one
  int count_ = 0;
};

/// Two points that may be closest, one on each shape, in the frame of the pair's reference box.
struct ClosePair {
  Vec3 first, second;
  double distance;
  std::uint32_t feature;
};

/// Collects closest pairs; keeps those whose distance is the least or very nearly so, the least one first, no two at
/// the same place.
class ClosestPairs {
 public:
  explicit ClosestPairs(double scale) : scale_(scale) {}
  void add(const Vec3& first, const Vec3& second, std::uint32_t feature);
  /// To be called once, after the last add.
  void select();
  int size() const { return count_; }
  const ClosePair& operator[](int k) const { return pairs_[k]; }
  /// Some kept pair has this name or lies at this place of the first (or second) shape.
  bool contains(std::uint32_t feature) const;
  bool is_near_first(const Vec3& p) const;
  bool is_near_second(const Vec3& p) const;

 private:
  double scale_;
  double least_sq_ = 1e300;
  std::array<ClosePair, 25> pairs_;  // 8 + 8 corners and 9 pairs of edge directions
  int count_ = 0;
};

}  // namespace slipstick
