// A shape where it is, as the judge of overlap sees it: flat walls, the wall of its round part nearest to a point, and
// its support function. Written for this room alone: nothing of the contact finder is used here.
#pragma once

#include <slipstick/model.h>
#include <slipstick/state.h>

#include "audit/ball_program.h"

namespace slipstick {

class SurfaceTree;

struct Box3 {
  Vec3 low = Vec3::Constant(kInfinity), high = Vec3::Constant(-kInfinity);
  void include(const Vec3& p) {
    low = low.cwiseMin(p);
    high = high.cwiseMax(p);
  }
  bool meets(const Box3& o) const {
    return (low.array() <= o.high.array()).all() && (o.low.array() <= high.array()).all();
  }
  Box3 common(const Box3& o) const { return {low.cwiseMax(o.low), high.cwiseMin(o.high)}; }
  Vec3 middle() const { return 0.5 * (low + high); }
};

struct Solid {
  ShapeKind kind = ShapeKind::Sphere;
  Vec3 center = Vec3::Zero();
  Mat3 frame = Mat3::Identity();
  double radius = 0, half_length = 0;
  Vec3 half_size = Vec3::Zero();
  double bound = 0;
  const Hull* hull = nullptr;
  std::span<const Vec2> points;  ///< polygon, its own frame
  const SurfaceTree* tree = nullptr;

  Vec3 to_world(const Vec3& p) const { return center + frame * p; }
  Vec3 to_local(const Vec3& p) const { return frame.transpose() * (p - center); }
  bool is_surface() const { return tree != nullptr; }
  bool is_planar() const { return kind == ShapeKind::Disk || kind == ShapeKind::Polygon; }
  /// Has a part that no finite number of walls describes.
  bool is_round() const;
};

Solid make_solid(const Model& model, const Shape& shape, const SurfaceTree* tree);
/// Moves a solid made from `shape` to where its body is.
void place_solid(const Model& model, const Shape& shape, const Pose& body, Solid* solid);
/// Not of a plane.
Box3 calc_box(const Solid& solid);

/// Convex solids only, from here on.

/// Calls `use(normal, offset)` for every flat face.
template <typename Use>
void for_each_face(const Solid& solid, Use&& use);
/// The tangent plane of the round part at its point nearest to q. A ball about q that is behind all flat walls and this
/// one is inside the solid.
Wall find_round_wall(const Solid& solid, const Vec3& q);
/// Radius of the largest ball about q inside the solid; q is outside if it is negative.
double calc_room(const Solid& solid, const Vec3& q);
/// max of n . p over the solid; of surfaces too.
double calc_support(const Solid& solid, const Vec3& n);

// ---------------------------------------------------------------- inline

template <typename Use>
void for_each_face(const Solid& s, Use&& use) {
  const auto face = [&](const Vec3& normal, double offset) { use(normal, normal.dot(s.center) + offset); };
  switch (s.kind) {
    case ShapeKind::Box:
      for (int k = 0; k < 3; ++k) {
        face(s.frame.col(k), s.half_size[k]);
        face(-s.frame.col(k), s.half_size[k]);
      }
      return;
    case ShapeKind::Hull:
      for (const HullFace& f : s.hull->faces) face(s.frame * f.normal, f.offset);
      return;
    case ShapeKind::Polygon:
      for (std::size_t k = 0; k < s.points.size(); ++k) {
        const Vec2 &a = s.points[k], edge = s.points[(k + 1) % s.points.size()] - a;
        const Vec2 n = Vec2(edge.y(), -edge.x()).normalized();
        face(s.frame * Vec3(n.x(), n.y(), 0), n.dot(a));
      }
      return;
    case ShapeKind::Cylinder:
      face(s.frame.col(2), s.half_length);
      face(-s.frame.col(2), s.half_length);
      return;
    case ShapeKind::Cone:
      face(-s.frame.col(2), s.half_length);
      return;
    default:
      return;
  }
}

}  // namespace slipstick
