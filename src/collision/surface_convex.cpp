// Hulls and curved convex shapes against surfaces. A hull is a polytope for the probe. A cylinder, cone or ellipsoid
// meets each triangle by the general routine for convex pairs; what it finds is kept only where the triangle may carry
// it.
#include <algorithm>
#include <vector>

#include "collision/convex_core.h"
#include "collision/narrow_phase.h"
#include "collision/surface_probe.h"

namespace slipstick {
namespace {

/// Sine of the angle by which a direction may differ from a facet's normal and still be it; of the size of a triangle,
/// how near to an edge a point is on it.
constexpr double kSameDirection = 1e-5, kOnEdge = 1e-7;

/// What a triangle may carry of what a convex shape has found against it alone.
class TriangleFilter {
 public:
  TriangleFilter(const SurfaceIndex& index, const Vec3& center) : index_(index), center_(center) {}

  /// The direction that counts, or zero: from the surface to the shape, in the surface's frame.
  Vec3 choose(int t, const Vec3& p, const Vec3& direction, bool* inner) const {
    const bool two_sided = !index_.surface().one_sided;
    const Vec3& a = index_.vertex(index_.triangle(t)[0]);
    const bool behind = two_sided && index_.normal(t).dot(center_ - a) < 0;
    const Vec3 normal = behind ? Vec3(-index_.normal(t)) : index_.normal(t);
    const double along = direction.dot(normal);
    if (along <= 0) return Vec3::Zero();
    if ((direction - along * normal).norm() < kSameDirection) {
      *inner = count_edges(t, p) == 0;
      return normal;
    }
    *inner = false;
    switch (count_edges(t, p)) {
      case 0:
        *inner = true;
        return normal;
      case 1:
        return carries(edge_, direction, behind) ? direction : Vec3::Zero();
      default:
        return index_.holds(vertex_, direction, kRegion) ? direction : Vec3::Zero();
    }
  }

 private:
  static constexpr double kRegion = 1e-4;

  /// How many edges of the triangle the point is on; the last one, and the vertex if there are two.
  int count_edges(int t, const Vec3& p) const {
    int count = 0, last = 0;
    for (int k = 0; k < 3; ++k) {
      const SurfaceEdge& edge = index_.edge(index_.edge_of(t, k));
      const Vec3& inward = edge.inward[edge.triangle[0] == t ? 0 : 1];
      const double length = (index_.vertex(edge.b) - index_.vertex(edge.a)).norm();
      if (inward.dot(p - index_.vertex(edge.a)) > kOnEdge * length) continue;
      edge_ = index_.edge_of(t, k);
      vertex_ = count > 0 && last == k - 1 ? index_.triangle(t)[k] : index_.triangle(t)[0];
      last = k;
      ++count;
    }
    return count;
  }

  bool carries(int e, const Vec3& direction, bool behind) const {
    const SurfaceEdge& edge = index_.edge(e);
    const EdgeForm carrying = behind ? EdgeForm::Valley : EdgeForm::Ridge;
    if (edge.form != EdgeForm::Rim && edge.form != carrying) return false;
    return direction.dot(edge.inward[0]) <= kRegion && direction.dot(edge.inward[1]) <= kRegion;
  }

  const SurfaceIndex& index_;
  const Vec3 center_;
  mutable int edge_ = 0, vertex_ = 0;
};

std::uint32_t mix_feature(std::uint64_t owner, std::uint32_t feature) {
  std::uint64_t x = owner << 32 | feature;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return static_cast<std::uint32_t>(x >> 32);
}

constexpr std::uint32_t kDeepName = 0xFFFFFFFF;

bool is_over_triangle(const SurfaceIndex& index, int t, const Vec3& p) {
  for (int k = 0; k < 3; ++k) {
    const SurfaceEdge& edge = index.edge(index.edge_of(t, k));
    const Vec3& a = index.vertex(edge.a);
    const double length = (index.vertex(edge.b) - a).norm();
    if (edge.inward[edge.triangle[0] == t ? 0 : 1].dot(p - a) < -kOnEdge * length) return false;
  }
  return true;
}

/// The lowest point of the shape, as each triangle under it sees that: the shallowest counts. For a shape that has sunk
/// in so far that the shortest way out of each triangle leads sideways, through an edge that carries nothing.
void push_out_lowest(const PlacedShape& curved, const PlacedShape& surface, ContactSink* sink) {
  const SurfaceIndex& index = *surface.surface;
  const ConvexCore core(curved, curved.center);
  const Vec3 center = surface.frame.transpose() * (curved.center - surface.center);
  Vec3 lowest = Vec3::Zero(), along = Vec3::UnitZ();
  double gap = -kInfinity;
  int facet = 0;
  const Vec3 wide = Vec3::Constant(curved.bound);
  index.tree().find({center - wide, center + wide}, [&](int t) {
    const Vec3 normal = surface.frame * index.normal(t), point = core.calc_support(-normal);
    const Vec3 p = center + surface.frame.transpose() * point;
    const double height = index.normal(t).dot(p - index.vertex(index.triangle(t)[0]));
    if (height > 0 || height <= gap || !is_over_triangle(index, t, p)) return;
    gap = height;
    lowest = curved.center + point;
    along = normal;
    facet = index.facet(t);
  });
  if (gap > -kInfinity) sink->add(lowest, lowest - gap * along, -along, gap, mix_feature(facet, kDeepName));
}

/// The same for a shape whose centre is inside and whose lowest point is over nothing: the way that is the nearest for
/// its centre.
void push_out_center(const PlacedShape& curved, const PlacedShape& surface, ContactSink* sink) {
  const SurfaceProbe probe(surface, false, 0, sink);
  Vec3 on, normal;
  int triangle = 0;
  if (!probe.find_way_out(probe.as_local(curved.center), 2 * curved.bound, &on, &normal, &triangle)) return;
  const Vec3 along = surface.frame * normal;
  const Vec3 lowest = curved.center + ConvexCore(curved, curved.center).calc_support(-along);
  const double gap = along.dot(lowest - (surface.center + surface.frame * on));
  sink->add(lowest, lowest - gap * along, -along, gap, mix_feature(surface.surface->facet(triangle), kDeepName));
}

}  // namespace

PolytopeData make_polytope(const Hull& hull) {
  PolytopeData data;
  for (const auto& edge : hull.edges) {
    PolytopeEdge e;
    e.a = edge[0];
    e.b = edge[1];
    data.edges.push_back(e);
  }
  for (std::size_t f = 0; f < hull.faces.size(); ++f) {
    const HullFace& face = hull.faces[f];
    data.faces.push_back({face.normal, face.offset});
    for (int k = face.first; k < face.first + face.count; ++k) {
      PolytopeEdge& edge = data.edges[hull.loop_edges[k]];
      edge.face[edge.face[0] < 0 ? 0 : 1] = static_cast<std::int32_t>(f);
    }
  }
  return data;
}

void find_hull_surface(const PlacedShape& hull, const PlacedShape& surface, ContactSink* sink) {
  SurfaceProbe probe(surface, false, 0, sink);
  Polytope body;
  body.points = hull.hull->vertices;
  body.edges = hull.polytope->edges;
  body.faces = hull.polytope->faces;
  body.rotation = surface.frame.transpose() * hull.frame;
  body.origin = body.center = probe.as_local(hull.center);
  body.bound = hull.bound;
  probe.touch(body);
}

void find_curved_surface(const PlacedShape& curved, const PlacedShape& surface, ContactSink* sink) {
  const SurfaceIndex& index = *surface.surface;
  const Vec3 center = surface.frame.transpose() * (curved.center - surface.center);
  const TriangleFilter filter(index, center);
  // Scratch that keeps its capacity from pair to pair; nothing is read from it that was not written for this triangle.
  thread_local Hull triangle;
  thread_local std::vector<Contact> found;
  bool overlap = false;
  const Vec3 wide = Vec3::Constant(curved.bound + sink->reach());
  index.tree().find({center - wide, center + wide}, [&](int t) {
    const Triangle& c = index.triangle(t);
    update_triangle_hull(index.vertex(c[0]), index.vertex(c[1]), index.vertex(c[2]), &triangle);
    PlacedShape flat;
    flat.kind = ShapeKind::Hull;
    flat.hull = &triangle;
    flat.center = surface.center;
    flat.frame = surface.frame;
    flat.bound = surface.bound;
    found.clear();
    const Contact names;
    ContactSink own(names, sink->reach(), false, &found);
    find_convex_pair(curved, flat, &own);
    for (const Contact& contact : found) {
      overlap = overlap || contact.gap < 0;
      const Vec3 on = surface.frame.transpose() * (contact.point_b - surface.center);
      bool inner = false;
      const Vec3 direction = filter.choose(t, on, surface.frame.transpose() * -contact.normal, &inner);
      if (direction.isZero(0)) continue;
      const std::uint32_t feature = mix_feature(inner ? index.facet(t) : t, contact.key.feature);
      if (sink->has(feature)) continue;
      const Vec3 along = surface.frame * direction;
      const double gap = along.dot(contact.point_a - contact.point_b);
      sink->add(contact.point_b + gap * along, contact.point_b, -along, gap, feature);
    }
  });
  if (sink->count() > 0 || !index.surface().one_sided) return;
  if (overlap) push_out_lowest(curved, surface, sink);
  if (sink->count() == 0) push_out_center(curved, surface, sink);
}

}  // namespace slipstick
