// A capsule and a box: the core segment against the box as in box_box.cpp, less the radius. Works in the box's frame.
//
// Features: 0, 1 the ends of the core; 2 + e the core against edge e; 14 + v the core against corner v.
#include "collision/box_features.h"
#include "collision/narrow_phase.h"
#include "collision/segments.h"
#include "collision/tolerances.h"

#include <algorithm>
#include <cmath>

namespace slipstick {
namespace {

std::uint32_t end_feature(int end) { return end; }
std::uint32_t edge_feature(int edge) { return 2 + edge; }
std::uint32_t corner_feature(int v) { return 14 + v; }

class CapsuleBox {
 public:
  CapsuleBox(const PlacedShape& capsule, const PlacedShape& box, ContactSink* sink)
      : box_(box),
        half_(box.half_size),
        radius_(capsule.radius),
        sink_(*sink),
        center_(box.frame.transpose() * (capsule.center - box.center)),
        axis_(box.frame.transpose() * capsule.axis),
        reach_(sink->reach() + capsule.radius),
        scale_(std::min(capsule.bound, box.half_size.maxCoeff())) {}

  void find();

 private:
  struct EdgePoint {
    Vec3 normal, on_core, on_box;  ///< the normal is from the box to the core
    std::uint32_t feature = 0;
    bool inside = false;
  };

  bool separate();
  EdgePoint make_edge_point(int i) const;
  void find_closest(ClosestPairs* pairs) const;
  void update_manifold(const BoxFace& face);
  void add_manifold(const BoxFace& face, const ClosestPairs* taken);
  void add_near_face(const Vec3& normal, const ClosestPairs& taken);
  void add_edge_point(const EdgePoint& point);
  void add(const Vec3& on_core, const Vec3& normal, double core_gap, std::uint32_t feature);

  const PlacedShape& box_;
  Vec3 half_;
  double radius_;
  ContactSink& sink_;
  Vec3 center_, axis_;  ///< the core is center_ +- axis_
  double reach_;        ///< of the core
  double scale_;

  double face_separation_ = -1e300;
  BoxFace face_;
  double edge_separation_ = -1e300;
  int edge_axis_ = 0;
  FaceManifold manifold_;
};

/// The capsule is the sink's first shape: its normal is from the capsule to the box.
void CapsuleBox::add(const Vec3& on_core, const Vec3& normal, double core_gap, std::uint32_t feature) {
  const Vec3 on_capsule = box_.center + box_.frame * (on_core - radius_ * normal);
  sink_.add_from(true, on_capsule, -(box_.frame * normal), core_gap - radius_, feature);
}

/// Face normals of the box and e_i x axis. True if an axis puts them out of reach.
bool CapsuleBox::separate() {
  const Vec3 s = center_.cwiseAbs() - half_ - axis_.cwiseAbs();
  int i = 0;
  face_separation_ = s.maxCoeff(&i);
  if (face_separation_ > reach_) return true;
  face_ = {i, center_[i] < 0 ? -1.0 : 1.0};
  const double axis_sq = axis_.squaredNorm();
  for (int k = 0; k < 3; ++k) {
    const int p = kNext[k], q = kAfter[k];
    const double length_sq = axis_[p] * axis_[p] + axis_[q] * axis_[q];
    if (!(length_sq > 1e-16 * axis_sq)) continue;
    const double shift = std::abs(center_[q] * axis_[p] - center_[p] * axis_[q]);
    const double radius = half_[p] * std::abs(axis_[q]) + half_[q] * std::abs(axis_[p]);
    const double edge = (shift - radius) / std::sqrt(length_sq);
    if (edge > reach_) return true;
    if (edge > edge_separation_) {
      edge_separation_ = edge;
      edge_axis_ = k;
    }
  }
  return false;
}

/// The edge along axis i that supports the box towards the core, and where the core passes it.
CapsuleBox::EdgePoint CapsuleBox::make_edge_point(int i) const {
  EdgePoint point;
  const Vec3 l = Vec3::Unit(i).cross(axis_).normalized();
  point.normal = l.dot(center_) < 0 ? Vec3(-l) : l;
  const int v = support_corner(point.normal);
  point.feature = edge_feature(edge_at(i, v));
  Vec3 middle = corner_of(half_, v);
  middle[i] = 0;
  double s = 0, t = 0;
  const bool crossing = closest_on_lines(middle, half_[i] * Vec3::Unit(i), center_, axis_, &s, &t);
  point.inside = crossing && std::abs(s) <= 1 && std::abs(t) <= 1;
  point.on_box = middle + std::clamp(s, -1.0, 1.0) * half_[i] * Vec3::Unit(i);
  point.on_core = center_ + std::clamp(t, -1.0, 1.0) * axis_;
  return point;
}

void CapsuleBox::find_closest(ClosestPairs* pairs) const {
  for (int end = 0; end < 2; ++end) {
    const Vec3 p = center_ + (end ? 1.0 : -1.0) * axis_;
    pairs->add(p, p.cwiseMax(-half_).cwiseMin(half_), end_feature(end));
  }
  for (int v = 0; v < 8; ++v) {
    const Vec3 p = corner_of(half_, v);
    pairs->add(center_ + closest_on_segment(p, center_, axis_) * axis_, p, corner_feature(v));
  }
  for (int i = 0; i < 3; ++i) {
    if (!(Vec3::Unit(i).cross(axis_).squaredNorm() > 1e-16 * axis_.squaredNorm())) continue;
    const EdgePoint point = make_edge_point(i);
    if (point.inside && point.normal.dot(point.on_core - point.on_box) > 0) {
      pairs->add(point.on_core, point.on_box, point.feature);
    }
  }
  pairs->select();
}

/// The two ends of the part of the core that is over the face.
void CapsuleBox::update_manifold(const BoxFace& face) {
  manifold_.clear();
  const int u = kNext[face.axis], v = kAfter[face.axis];
  const auto as_face = [&](const Vec3& x) { return Vec3(x[u], x[v], face.side * x[face.axis]); };
  Vec3 from = as_face(center_ - axis_);
  from.z() -= half_[face.axis];
  const Vec3 d = 2 * as_face(axis_);
  // A core that lies exactly over an edge is over the face, all of it.
  const Vec2 wide = Vec2(half_[u], half_[v]) + Vec2::Constant(kFlush * (half_.maxCoeff() + axis_.norm()));
  const RectangleClip part = clip_to_rectangle(from.head<2>(), d.head<2>(), wide);
  if (!part.over()) return;
  const double most = kSamePoint * scale_, near = most / std::max(d.norm(), 1e-300);
  const auto feature_at = [&](double t, int side) -> std::uint32_t {
    if (t <= near) return end_feature(0);
    if (t >= 1 - near) return end_feature(1);
    const int base = face.side > 0 ? 1 << face.axis : 0;
    const int positive = side & 1;
    return edge_feature(side < 2 ? edge_at(v, base | positive << u) : edge_at(u, base | positive << v));
  };
  const auto add_at = [&](double t, int side) {
    Vec3 p = from + t * d;
    if (side >= 0) p = as_on_side(p, d, side / 2, side & 1 ? half_[side < 2 ? u : v] : -half_[side < 2 ? u : v], most);
    manifold_.add({p.x(), p.y(), p.z(), feature_at(t, side)});
  };
  const bool one_point = part.leave - part.enter <= near;
  const bool first_is_lower = d.z() >= 0;
  if (!one_point || first_is_lower) add_at(part.enter, part.enter_side);
  if (!one_point || !first_is_lower) add_at(part.leave, part.leave_side);
}

void CapsuleBox::add_manifold(const BoxFace& face, const ClosestPairs* taken) {
  const Vec3 up = face.side * Vec3::Unit(face.axis);
  for (const FacePoint& p : manifold_) {
    Vec3 on_core = (half_[face.axis] + p.height) * up;
    on_core[kNext[face.axis]] = p.u;
    on_core[kAfter[face.axis]] = p.v;
    if (taken && (taken->contains(p.feature) || taken->is_near_first(on_core))) continue;
    add(on_core, up, p.height, p.feature);
  }
}

void CapsuleBox::add_near_face(const Vec3& normal, const ClosestPairs& taken) {
  int i = 0;
  if (normal.cwiseAbs().maxCoeff(&i) < kNearFace) return;
  const BoxFace face{i, normal[i] < 0 ? -1.0 : 1.0};
  update_manifold(face);
  add_manifold(face, &taken);
}

void CapsuleBox::add_edge_point(const EdgePoint& point) {
  add(point.on_core, point.normal, point.normal.dot(point.on_core - point.on_box), point.feature);
  ClosestPairs taken(scale_);
  taken.add(point.on_core, point.on_box, point.feature);
  taken.select();
  add_near_face(point.normal, taken);
}

void CapsuleBox::find() {
  if (separate()) return;
  const double separation = std::max(face_separation_, edge_separation_);
  const double slack = kSameGap * scale_;
  const bool on_face = edge_separation_ <= face_separation_ + slack;
  Vec3 normal = face_.side * Vec3::Unit(face_.axis);
  if (on_face) {
    update_manifold(face_);
    if (manifold_.least_height() <= separation + slack) return add_manifold(face_, nullptr);
  } else {
    const EdgePoint point = make_edge_point(edge_axis_);
    if (point.inside || separation <= 0) return add_edge_point(point);
    normal = point.normal;
  }
  ClosestPairs pairs(scale_);
  find_closest(&pairs);
  if (separation > 0 && pairs[0].distance > kTouching * scale_) {
    if (pairs[0].distance > reach_) return;
    for (int k = 0; k < pairs.size(); ++k) {
      const Vec3 n = (pairs[k].first - pairs[k].second) / pairs[k].distance;
      add(pairs[k].first, n, pairs[k].distance, pairs[k].feature);
    }
    normal = (pairs[0].first - pairs[0].second) / pairs[0].distance;
  } else {
    // The core grazes the box: where is certain, the direction is that of the best axis.
    add(pairs[0].first, normal, separation, pairs[0].feature);
  }
  add_near_face(normal, pairs);
}

}  // namespace

void find_capsule_box(const PlacedShape& capsule, const PlacedShape& box, ContactSink* sink) {
  CapsuleBox(capsule, box, sink).find();
}

}  // namespace slipstick
