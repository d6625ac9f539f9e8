// A convex shape as the general routines see it: a support function, its curvature, and the directions at which that
// function has kinks. Spheres and capsules are a point and a segment, with a radius that is added at the end.
//
// Positions are relative to an origin near the pair, in world axes: far from the world's origin nothing gets lost.
#pragma once

#include "collision/placed_shape.h"

#include <array>
#include <cstdint>

namespace slipstick {

// Names of features: 16 bits a side. Corners (and ends, tips, lowest points of rims) count from 0, edges from
// kEdgeName.
inline constexpr std::uint32_t kEdgeName = 0x8000;
inline constexpr std::uint32_t kAnywhere = 0xFFFF;  ///< the other side's corner says it all
inline std::uint32_t convex_feature(std::uint32_t of_a, std::uint32_t of_b) { return of_a << 16 | of_b; }

/// Points of a rim that stand for it where it lies flat, at fixed angles of the body: 0, 45, ... degrees.
inline constexpr int kRimPoints = 8;
// Names of a cylinder: rim points 0..7 below and 8..15 above, then the lowest points of the two rims.
inline constexpr std::uint32_t kLowestName = 2 * kRimPoints;
inline constexpr std::uint32_t kTipName = kLowestName + 2;
inline constexpr std::uint32_t kSideName = kEdgeName + 4 * kRimPoints;  ///< the straight line of a lateral surface

/// Directions with n . axis = value: where the support function of an edge, of a mantle, has a kink.
struct Kink {
  Vec3 axis;
  double value;
};

/// Kinks and face normals near one direction.
struct Kinks {
  int line_count = 0, face_count = 0;
  std::array<Kink, 12> lines;
  std::array<Vec3, 6> faces;
  void add_line(const Vec3& axis, double value) {
    if (line_count < static_cast<int>(lines.size())) lines[line_count++] = {axis, value};
  }
  void add_face(const Vec3& normal) {
    if (face_count < static_cast<int>(faces.size())) faces[face_count++] = normal;
  }
};

/// The points farthest along a direction: one, or the ends of a straight line.
struct SupportLine {
  Vec3 from, to;
  std::uint32_t from_name = 0, to_name = 0, name = 0;  ///< of the ends and of the line
  bool is_line = false;
};

class ConvexCore {
 public:
  enum class Kind : std::uint8_t { Point, Segment, Polyhedron, Cylinder, Cone, Ellipsoid };

  ConvexCore(const PlacedShape& shape, const Vec3& origin);

  Kind kind() const { return kind_; }
  const PlacedShape& shape() const { return *shape_; }
  const Vec3& center() const { return center_; }
  double radius() const { return radius_; }
  bool is_polyhedral() const { return kind_ <= Kind::Polyhedron; }

  /// A point of the core farthest along m.
  Vec3 calc_support(const Vec3& m) const;
  /// Second derivative of the support function at the unit vector m, where it is smooth.
  Mat3 calc_curvature(const Vec3& m) const;
  /// Kinks and faces whose directions are within `angle` of m.
  void find_kinks(const Vec3& m, double angle, Kinks* kinks) const;
  /// The line that supports m, if one does to within `angle`; else the point.
  SupportLine find_support_line(const Vec3& m, double angle) const;
  /// Cosine between m and the nearest normal of a flat face, and that normal; -2 if there is none.
  double find_face(const Vec3& m, Vec3* normal, int* face) const;

  // Written out: these are most of what a support costs beside its search, and the compiler calls Eigen's product.
  Vec3 as_pair(const Vec3& local) const {
    const Mat3& f = shape_->frame;
    return center_ + (f.col(0) * local.x() + f.col(1) * local.y() + f.col(2) * local.z());
  }
  Vec3 as_local_direction(const Vec3& m) const {
    const Mat3& f = shape_->frame;
    return {f.col(0).dot(m), f.col(1).dot(m), f.col(2).dot(m)};
  }

 private:
  int find_support_vertex(const Vec3& local) const;
  int find_farthest_face(const Vec3& local) const;
  Vec3 calc_edge_direction(int edge) const;
  /// Calls visit(edge) for each edge at a corner of the hull, in ascending order.
  template <class Visit>
  void visit_edges(int vertex, Visit&& visit) const;

  const PlacedShape* shape_;
  Vec3 center_;
  double radius_ = 0;
  Kind kind_;
};

/// min over B of n.p - max over A of n.p, of the cores: for every unit n a lower bound of their signed distance.
double calc_core_separation(const ConvexCore& a, const ConvexCore& b, const Vec3& n);

}  // namespace slipstick
