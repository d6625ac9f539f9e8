// A convex polytope with a rounded skin of a given radius (a ball, a capsule, a box, a hull), or the corners and ridges
// of another surface, against a surface of triangles. Contacts come from pairs of features. Each asks BOTH sides
// whether they can be pushed that way (the normal is in the normal cone of either feature, the Gauss map):
//
//   point of the body - facet    the point is over the facet, or beyond a valley edge of it by no more than the reach
//   point of the body - edge     the point is in the edge's own region: the edge is a ridge or a rim
//   point of the body - vertex   the same for a vertex
//   face of the body  - vertex   as a point and a facet, the other way round
//   edge of the body  - edge     the common perpendicular lies between the normals of the faces at either edge
//   edge of the body  - vertex   as a point and an edge, the other way round
//
// Flat edges and valleys carry nothing: there are no ghost edges. A facet (all triangles of a flat region) and a
// straight line of ridges between two facets are one feature each: a contact keeps its name along them. Where faces lie
// on each other, the corners of what they share are points on facets, vertices on faces and crossings of edges:
// together they are the whole manifold, and nothing is clipped. A corner that lies on an edge of the facet (within
// `snap_`) is the facet's if the body leans over it; crossings within half of that from an end are left to the corner;
// what is found twice is merged.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "collision/contact_sink.h"
#include "collision/near_triangles.h"
#include "collision/placed_shape.h"
#include "collision/surface_index.h"

namespace slipstick {

struct PolytopeEdge {
  std::int32_t a = 0, b = 0;
  /// Unit vectors from the edge into the faces that meet there; zero where there is none.
  Vec3 inward[2] = {Vec3::Zero(), Vec3::Zero()};
};

struct PolytopeFace {
  Vec3 normal = Vec3::Zero();
  double offset = 0;  ///< normal . p = offset
};

/// Edges, faces and neighbours of a hull, beside its corners.
struct PolytopeData {
  std::vector<PolytopeEdge> edges;
  std::vector<PolytopeFace> faces;
  std::vector<std::int32_t> ring_start,
      ring;  ///< neighbours of point i: ring[ring_start[i]] .. ring[ring_start[i + 1]]
};
PolytopeData make_polytope(const Hull& hull);

/// Points, edges and faces in a frame of their own, which is placed in that of the surface.
struct Polytope {
  std::span<const Vec3> points;
  std::span<const PolytopeEdge> edges;
  std::span<const PolytopeFace> faces;
  std::span<const std::int32_t> ring_start, ring;  ///< as in PolytopeData; empty for bodies with a skin
  Mat3 rotation = Mat3::Identity();
  Vec3 origin = Vec3::Zero();
  double radius = 0;
  Vec3 center = Vec3::Zero();                     ///< in the frame of the surface
  double bound = 0;                               ///< distance of its farthest point from the centre
  std::uint64_t point_names = 0, edge_names = 0;  ///< how many points and edges can be named, if not all are given

  Vec3 point(int i) const { return origin + rotation * points[i]; }
};

/// An edge of the body in the frame of the surface.
struct ProbeEdge {
  int name = 0;
  Vec3 from, to;
  std::array<Vec3, 2> inward{Vec3::Zero(), Vec3::Zero()};
  std::array<bool, 2> joint{false, false};  ///< the line goes on at `from`, at `to`
};

class SurfaceProbe {
 public:
  /// `surface_first`: the surface is the first shape of the sink. `first_feature`: names below are taken.
  SurfaceProbe(const PlacedShape& surface, bool surface_first, std::uint64_t first_feature, ContactSink* sink);

  void touch(const Polytope& body);

  // Parts of it, for bodies that are no polytopes: `begin` first, points before edges, then `finish`.
  void begin(const Polytope& body);
  /// The same where nothing was found near the surface: points that are deeper inside the solid count, whatever they
  /// fit. False: the surface is a sheet and has no inside.
  bool begin_sunk(const Polytope& body);
  /// Some of the surface may be in reach of a point.
  bool is_near(const Vec3& p) const { return BoxTree::overlap(region_, {p, p}); }
  /// `rays`: from the point to its neighbours, in the frame of the surface; none: it can be pushed any way. `outward`:
  /// of a vertex of a solid's surface, which is not pushed along it, out of the solid; zero: not known.
  void touch_point(int i, const Vec3& p, double radius, std::span<const Vec3> rays, const Vec3& outward = Vec3::Zero());
  void touch_edge(const ProbeEdge& edge);
  void finish() {
    touch_rocking();
    sink_->merge(place_);
  }

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
  /// A point of the body and what is known of its place.
  struct Corner {
    int name;
    Vec3 p;
    double radius;
    std::span<const Vec3> rays;
    Vec3 outward;
    Nearest nearest;
    bool on = false;  ///< on the surface: inside or outside is noise
  };
  struct FacetTouch {
    int triangle;
    Vec3 normal;
    double height;
    double way_out;  ///< how deep the corner is, and its edges beyond it
  };
  struct Crossing {
    std::uint64_t own, chain;
    Vec3 normal, on_edge;
    double height;
  };
  struct RockingCrossing {
    Crossing crossing;
    double way_out;  ///< how deep it is, and its edges beyond it
  };

  /// The points of a body in the frame of the surface, and what was found out about them.
  struct BodyPoints {
    std::vector<Vec3> points;
    std::vector<char> outside;  ///< what is nearest to it is known, and it is neither inside nor on it
    Bounds box;
    NearTriangles near;
  };
  static BodyPoints& body_points();
  void place_points();
  void touch_points();
  void touch_edges();
  void update_region();
  bool find_region();
  /// Above the planes of triangles by more than this there is nothing of them in reach of an edge or a face.
  double calc_clearance() const { return std::max(body_.radius + sink_->reach(), edge_deep_) + 2 * snap_ + tiny_; }
  bool is_clear_of(int near, double clearance) const;
  double calc_depth(double radius) const { return radius + sink_->reach() + deep_ + snap_; }
  Nearest find_nearest_point(int i, double within) const;
  bool consider(const Vec3& p, int triangle, Nearest* best) const;
  void update_inside(const Vec3& p, Nearest* nearest) const;
  void touch_corner(Corner corner);
  double calc_width() const;
  double side(int triangle) const;
  EdgeForm form(const SurfaceEdge& edge) const;
  bool is_ridge(const SurfaceEdge& edge) const;
  Nearest find_nearest_point(const Vec3& p, double within) const;
  bool is_over(int triangle, const Vec3& p, double tolerance, double beyond_valley) const;
  bool leans(int triangle, const Corner& corner, double tolerance) const;
  bool find_facet(int triangle, const Corner& corner, FacetTouch* touch) const;
  void find_facets(const Corner& corner, std::span<const std::int32_t> near, std::vector<FacetTouch>* found) const;
  void drop_far_facets(const Corner& corner, std::vector<FacetTouch>* found) const;
  void find_triangles(const Vec3& p, double within, std::vector<std::int32_t>* found) const;
  int touch_ridges(const Corner& corner, int triangle, const std::vector<FacetTouch>& taken);
  int touch_tips(const Corner& corner, int triangle);
  void touch_nearest(const Corner& corner);
  void find_lying_normal(const std::array<Vec3, 2>& sides, const Vec3& bisector, const Corner& corner,
                         Vec3* normal) const;
  bool find_edge_normal(const ProbeEdge& own, const SurfaceEdge& edge, Vec3* normal, bool* rocks) const;
  void touch_crossing(const Crossing& crossing);
  void touch_rocking();
  static std::vector<RockingCrossing>& rocking_crossings();
  void touch_edge_pair(const ProbeEdge& own, int edge);
  void touch_edge_tips(const ProbeEdge& own, int triangle);
  void touch_edge_with(const ProbeEdge& own, int triangle);
  Bounds calc_edge_box(const ProbeEdge& own) const;
  void touch_faces();
  void touch_face_with(int vertex);
  bool leans_over_face(std::size_t face, std::span<const double> heights, std::span<const Vec3> rays) const;
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
  double far_ = 0;        ///< facets farther away than this count only if no other way out is shorter
  bool sunk_ = false;     ///< nothing was found near the surface: points that are deeper count, whatever they fit
  double tiny_ = 0;       ///< lengths below are rounding
  double snap_ = 0;       ///< what is nearer than this is on it
  double place_ = 0;      ///< contacts nearer to each other than this, with one normal, are one
  bool has_sunk_vertex_ = false;  ///< a vertex of the surface was found inside the body
};

}  // namespace slipstick
