// Room: model. A convex polyhedron: corners, faces as loops of corners, edges. Made from points by Qhull.
#pragma once

#include <slipstick/types.h>

#include <array>
#include <span>
#include <string>
#include <vector>

namespace slipstick {

struct HullFace {
  Vec3 normal = Vec3::UnitZ();  ///< outward, unit
  double offset = 0;            ///< normal . p <= offset for every corner p
  int first = 0;                ///< in Hull::loops: its corners counter-clockwise, seen from outside
  int count = 0;
};

/// Fewer than 4 faces: a flat piece (a triangle has two sides), which has a surface and no inside.
struct Hull {
  std::vector<Vec3> vertices;
  std::vector<HullFace> faces;
  std::vector<int> loops;       ///< corners of the faces, one face after the other
  std::vector<int> loop_edges;  ///< beside `loops`: the edge from this corner to the next one of its face
  std::vector<std::array<int, 2>> edges;

  bool is_flat() const { return faces.size() < 4; }
};

/// More points than this are refused.
inline constexpr int kMaxHullPoints = 10000;
/// A hull's features are named by 15 bits.
inline constexpr int kMaxHullVertices = 5000;

struct MadeHull {
  Hull hull;
  std::string fault;  ///< empty: the hull is good
};
/// The convex hull of the points. Faces are whole: neighbours in one plane, to 1e-8 of the size
/// because files have few digits, are one face. Points inside
/// and points that are given more than once do not matter; points in one plane are a fault.
MadeHull make_hull(std::span<const Vec3> points);

Hull make_box_hull(const Vec3& half_size);

/// A triangle with two sides; the first has the normal (b - a) x (c - a). Allocates at the first call only.
void update_triangle_hull(const Vec3& a, const Vec3& b, const Vec3& c, Hull* hull);

}  // namespace slipstick
