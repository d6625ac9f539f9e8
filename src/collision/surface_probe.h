// A convex polytope with a rounded skin of a given radius (a ball, a capsule, a box, a hull) against a surface of
// triangles. Contacts come from pairs of features, each with its own test of who may touch whom:
//
//   point of the body - facet    the point is over the facet, or beyond a valley edge of it by no more than the reach
//   point of the body - edge     the point is in the edge's own region: the edge is a ridge or a rim
//   point of the body - vertex   the same for a vertex
//   edge of the body  - edge     the common perpendicular lies between the normals of the faces at either edge
//   edge of the body  - vertex   as a point and an edge, the other way round
//   face of the body  - vertex   no neighbour of the vertex lies further towards the body
//
// Flat edges and valleys carry nothing: there are no ghost edges. A facet (all triangles of a flat region) is one
// feature: the contact of a ball that rolls over it keeps its name.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collision/contact_sink.h"
#include "collision/placed_shape.h"
#include "collision/surface_index.h"

namespace slipstick {

struct PolytopeEdge {
  std::int32_t a = 0, b = 0;
  std::int32_t face[2] = {-1, -1};  ///< -1: none
  /// Without faces: unit vectors from the edge into the faces that meet there; zero where there is none.
  Vec3 inward[2] = {Vec3::Zero(), Vec3::Zero()};
};

struct PolytopeFace {
  Vec3 normal = Vec3::Zero();
  double offset = 0;  ///< normal . p = offset
};

/// Edges and faces of a hull, beside its corners.
struct PolytopeData {
  std::vector<PolytopeEdge> edges;
  std::vector<PolytopeFace> faces;
};
PolytopeData make_polytope(const Hull& hull);

/// Points, edges and faces in a frame of their own, which is placed in that of the surface.
struct Polytope {
  std::span<const Vec3> points;
  std::span<const PolytopeEdge> edges;
  std::span<const PolytopeFace> faces;
  Mat3 rotation = Mat3::Identity();
  Vec3 origin = Vec3::Zero();
  double radius = 0;
  Vec3 center = Vec3::Zero();                     ///< in the frame of the surface
  double bound = 0;                               ///< distance of its farthest point from the centre
  std::uint64_t point_names = 0, edge_names = 0;  ///< how many points and edges can be named, if not all are given

  Vec3 point(int i) const { return origin + rotation * points[i]; }
};

class SurfaceProbe {
 public:
  /// `surface_first`: the surface is the first shape of the sink. `first_feature`: names below are taken.
  SurfaceProbe(const PlacedShape& surface, bool surface_first, std::uint64_t first_feature, ContactSink* sink);

  void touch(const Polytope& body);

  // Parts of it, for bodies that are no polytopes. `begin` first.
  void begin(const Polytope& body);
  void touch_point(int i, const Vec3& p, double radius);
  void touch_edge(int i, int name);
  void touch_faces();

  /// The nearest point of the surface, and the way out to it, if p is inside a solid by at most `within`.
  bool find_way_out(const Vec3& p, double within, Vec3* on_surface, Vec3* normal, int* triangle) const;

  /// One more than the largest feature of `body` (before folding).
  std::uint64_t feature_count() const;
  Vec3 as_local(const Vec3& world) const { return rotation_.transpose() * (world - origin_); }

 private:
  enum Kind { kPointFacet, kPointEdge, kPointVertex, kEdgeEdge, kEdgeVertex, kFaceVertex };
  struct Nearest {
    TrianglePoint at;
    int triangle = -1;
    double distance = 0;
    bool inside = false;
  };

  void touch_features();
  bool find_region();
  double side(int triangle) const;
  EdgeForm form(const SurfaceEdge& edge) const;
  Nearest find_nearest_point(const Vec3& p, double within) const;
  bool is_over(int triangle, const Vec3& p, double tolerance, double beyond_valley) const;
  int touch_facet(int i, int triangle, const Vec3& p, double radius, const Nearest& nearest);
  int touch_ridges(int i, int triangle, const Vec3& p, double radius);
  int touch_tips(int i, int triangle, const Vec3& p, double radius);
  void touch_nearest(int i, const Vec3& p, double radius, const Nearest& nearest);
  void touch_edge_pair(int i, int name, int edge);
  void touch_edge_tips(int i, int name, int triangle);
  void touch_face_with(int vertex);
  bool allows(const PolytopeEdge& edge, const Vec3& direction) const;
  int add(Kind kind, std::uint64_t i, std::uint64_t j, const Vec3& normal, const Vec3& on_surface, double gap);

  const SurfaceIndex& index_;
  const bool two_sided_;
  const bool surface_first_;
  const std::uint64_t first_feature_;
  ContactSink* const sink_;
  const Vec3 origin_;
  const Mat3 rotation_;
  Polytope body_;
  Bounds region_{Vec3::Constant(-kInfinity), Vec3::Constant(kInfinity)};
  double deep_ = 0;       ///< how far a point of a body without skin may be inside and still be seen
  double edge_deep_ = 0;  ///< the same for edges
  double tiny_ = 0;       ///< lengths below are rounding
};

}  // namespace slipstick
