#include "collision/box_clip.h"

#include "collision/tolerances.h"

#include <algorithm>
#include <cmath>

namespace slipstick {
namespace {

/// Of the distance below which points are one: heights that differ by less are the same.
constexpr double kRounding = 1e-5;

/// A face of the incident box in the coordinates (u, v, height) of the reference face.
struct FacingSide {
  Vec3 center, along, across;  ///< corners are center -+ along -+ across
  std::array<Vec3, 4> corner;  ///< in turn
  std::array<int, 4> name;     ///< of corner k
  std::array<int, 4> edge;     ///< of the edge from corner k to k + 1
};

class FaceClipper {
 public:
  FaceClipper(const BoxFace& face, const Vec3& half_size, const IncidentBox& incident, bool reference_is_a,
              double same_point)
      : face_(face),
        u_(kNext[face.axis]),
        v_(kAfter[face.axis]),
        top_(half_size[face.axis]),
        half_(half_size[u_], half_size[v_]),
        flush_(kFlush * (half_size.maxCoeff() + incident.half_size.maxCoeff())),
        wide_(half_ + Vec2::Constant(flush_)),
        reference_is_a_(reference_is_a),
        same_point_(same_point) {
    set_facing_side(incident);
  }

  void clip(FaceManifold* manifold) {
    // One decision per corner, which both its edges take as given: were each edge to judge for itself, a corner on a
    // flush side would vanish and come back with the last bit.
    int inside = 0;
    for (int k = 0; k < 4; ++k) {
      inside_[k] = (side_.corner[k].head<2>().cwiseAbs().array() <= wide_.array()).all();
      if (!inside_[k]) continue;
      ++inside;
      add(side_.corner[k], corner_feature(!reference_is_a_, side_.name[k]), manifold);
    }
    for (int k = 0; k < 4; ++k) add_crossings(k, manifold);
    if (inside < 4) add_reference_corners(manifold);
    add_waiting(manifold);
  }

 private:
  Vec3 as_face_vector(const Vec3& x) const { return {x[u_], x[v_], face_.side * x[face_.axis]}; }

  void set_facing_side(const IncidentBox& box) {
    const Vec3 down = face_.side * box.axes.row(face_.axis).transpose();
    int axis = 0;
    down.cwiseAbs().maxCoeff(&axis);
    const double side = down[axis] > 0 ? -1 : 1;  // its outward normal looks down at the face
    const int p = kNext[axis], q = kAfter[axis];
    side_.center = as_face_vector(box.center + side * box.half_size[axis] * box.axes.col(axis));
    side_.center.z() -= top_;
    side_.along = as_face_vector(box.half_size[p] * box.axes.col(p));
    side_.across = as_face_vector(box.half_size[q] * box.axes.col(q));
    const int base = side > 0 ? 1 << axis : 0;
    side_.name = {base, base | 1 << p, base | 1 << p | 1 << q, base | 1 << q};
    const Vec3 low = side_.center - side_.across, high = side_.center + side_.across;
    side_.corner = {low - side_.along, low + side_.along, high + side_.along, high - side_.along};
    side_.edge = {edge_at(p, side_.name[0]), edge_at(q, side_.name[1]), edge_at(p, side_.name[3]),
                  edge_at(q, side_.name[0])};
  }

  /// Adds where edge k crosses the sides of the face; its corners have been decided.
  void add_crossings(int k, FaceManifold* manifold) {
    const int next = (k + 1) & 3;
    const Vec3 &from = side_.corner[k], &to = side_.corner[next];
    if (inside_[k] && inside_[next]) return;
    if (inside_[k]) return add_leaving(from, to, k, manifold);
    if (inside_[next]) return add_leaving(to, from, k, manifold);
    const Vec3 d = to - from;
    const RectangleClip part = clip_to_rectangle(from.head<2>(), d.head<2>(), wide_);
    if (!part.over() || part.enter_side < 0 || part.leave_side < 0) return;
    const Vec3 enter = from + part.enter * d, leave = from + part.leave * d;
    add_crossing(enter, leave, part.enter_side, k, manifold);
    add_crossing(leave, enter, part.leave_side, k, manifold);
  }

  /// Edge k leads from a corner over the face to one that is not: it crosses the first of the sides that `to` is
  /// beyond.
  void add_leaving(const Vec3& from, const Vec3& to, int k, FaceManifold* manifold) {
    const Vec3 d = to - from;
    double first = 1;
    int side = -1;
    for (int i = 0; i < 2; ++i) {
      if (std::abs(to[i]) <= wide_[i]) continue;
      const double t = ((to[i] > 0 ? wide_[i] : -wide_[i]) - from[i]) / d[i];
      if (side >= 0 && t >= first) continue;
      first = std::min(t, 1.0);
      side = 2 * i + (to[i] > 0);
    }
    add_crossing(from + first * d, from, side, k, manifold);
  }

  /// The edge from `far` on leaves the rectangle at `p`. If it runs along that side of the rectangle all the way, p is
  /// somewhere in the middle of a straight line and rounding decides where: it waits for what the others give.
  void add_crossing(const Vec3& crossing, const Vec3& far, int side, int k, FaceManifold* manifold) {
    const int axis = side / 2;
    const double at_side = side & 1 ? half_[axis] : -half_[axis], to_side = far[axis] - at_side;
    const Vec3 p = as_on_side(crossing, far - crossing, axis, at_side, same_point_);
    const std::uint32_t feature = crossing_feature(side, k);
    if (std::abs(to_side) <= same_point_ && snapped(p, feature) == feature) {
      waiting_[waiting_count_++] = {p.x(), p.y(), p.z(), feature, 0};
    } else {
      add(p, feature, manifold);
    }
  }

  /// Points in the middle of a line count only if they are lower than all others: the least height is exact.
  void add_waiting(FaceManifold* manifold) {
    for (int k = 0; k < waiting_count_; ++k) {
      if (waiting_[k].height < manifold->least_height() - kRounding * same_point_) manifold->add(waiting_[k]);
    }
  }

  /// Corners of the face under the facing side: corner - center = x along + y across with |x|, |y| <= 1. Where the side
  /// is seen so much askew that it has no width, none is under it.
  void add_reference_corners(FaceManifold* manifold) {
    const Vec3 &a = side_.along, &b = side_.across;
    const double det = a.x() * b.y() - a.y() * b.x();
    if (det == 0) return;
    const double wide_x = 1 + flush_ / a.norm(), wide_y = 1 + flush_ / b.norm();
    for (int k = 0; k < 4; ++k) {
      const Vec2 corner(k & 1 ? half_.x() : -half_.x(), k & 2 ? half_.y() : -half_.y());
      const Vec2 d = corner - side_.center.head<2>();
      const double x = (d.x() * b.y() - d.y() * b.x()) / det;
      const double y = (a.x() * d.y() - a.y() * d.x()) / det;
      if (std::abs(x) > wide_x || std::abs(y) > wide_y) continue;
      const Vec3 p(corner.x(), corner.y(), side_.center.z() + x * a.z() + y * b.z());
      add(p, corner_feature(reference_is_a_, corner_name(k & 1, k & 2)), manifold);
    }
  }

  void add(const Vec3& p, std::uint32_t feature, FaceManifold* manifold) const {
    const std::uint32_t name = snapped(p, feature);
    manifold->add({p.x(), p.y(), p.z(), name, name == feature ? 0 : kRounding * same_point_});
  }

  /// The name of the corner at this place, if there is one; otherwise the name that was given.
  std::uint32_t snapped(const Vec3& p, std::uint32_t feature) const {
    const bool near_own =
        std::abs(std::abs(p.x()) - half_.x()) <= same_point_ && std::abs(std::abs(p.y()) - half_.y()) <= same_point_;
    const std::uint32_t own = corner_feature(reference_is_a_, corner_name(p.x() > 0, p.y() > 0));
    if (near_own && reference_is_a_) return own;
    for (int k = 0; k < 4; ++k) {
      const Vec3& c = side_.corner[k];
      if (std::abs(c.x() - p.x()) <= same_point_ && std::abs(c.y() - p.y()) <= same_point_) {
        return near_own && reference_is_a_ ? own : corner_feature(!reference_is_a_, side_.name[k]);
      }
    }
    return near_own ? own : feature;
  }

  int corner_name(bool u_positive, bool v_positive) const {
    return (face_.side > 0 ? 1 << face_.axis : 0) | (u_positive ? 1 << u_ : 0) | (v_positive ? 1 << v_ : 0);
  }

  /// Side 0..3 of the rectangle is an edge of the reference box; k is an edge of the facing side.
  std::uint32_t crossing_feature(int side, int k) const {
    const bool positive = side & 1;
    const int own = side < 2 ? edge_at(v_, corner_name(positive, false)) : edge_at(u_, corner_name(false, positive));
    return reference_is_a_ ? edges_feature(own, side_.edge[k]) : edges_feature(side_.edge[k], own);
  }

  BoxFace face_;
  int u_, v_;
  double top_;
  Vec2 half_;     ///< of the face
  double flush_;  ///< lengths below are none
  Vec2 wide_;     ///< the same with what counts as flush: all that is judged is judged by it
  bool reference_is_a_;
  double same_point_;
  FacingSide side_;
  std::array<bool, 4> inside_{};
  std::array<FacePoint, 8> waiting_;
  int waiting_count_ = 0;
};

}  // namespace

void update_face_manifold(const BoxFace& face, const Vec3& half_size, const IncidentBox& incident, bool reference_is_a,
                          double same_point, FaceManifold* manifold) {
  manifold->clear();
  FaceClipper(face, half_size, incident, reference_is_a, same_point).clip(manifold);
}

}  // namespace slipstick
