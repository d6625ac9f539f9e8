// Hulls and curved convex shapes against surfaces. A hull is a polytope for the probe. A cylinder, cone or ellipsoid
// meets each triangle by the general routine for convex pairs; what it finds is kept only where the triangle may carry
// it.
#include <algorithm>
#include <vector>

#include "collision/convex_core.h"
#include "collision/narrow_phase.h"
#include "collision/surface_probe.h"
#include "collision/tolerances.h"

namespace slipstick {
namespace {

/// Sine of the angle by which a direction may differ from a facet's normal and still be it; of the size of a triangle,
/// how near to an edge a point is on it.
constexpr double kSameDirection = 1e-5, kOnEdge = 1e-7;

/// What a triangle may carry of what a convex shape has found against it alone.
class TriangleFilter {
 public:
  TriangleFilter(const SurfaceIndex& index, const Vec3& center) : index_(index), center_(center) {}

  /// The direction that counts, or zero: from the surface to the shape, in the surface's frame. `owner` is the number
  /// of the facet, straight line or vertex that carries it. `of_shape`: the point is one of the shape's own corners,
  /// wherever it is over the triangle. Points where an edge of the triangle ends it count only if that edge is there at
  /// all.
  Vec3 choose(int t, const Vec3& p, const Vec3& direction, bool of_shape, bool of_line, std::uint64_t* owner) const {
    const bool two_sided = !index_.surface().one_sided;
    const Vec3& a = index_.vertex(index_.triangle(t)[0]);
    const bool behind = two_sided && index_.normal(t).dot(center_ - a) < 0;
    const Vec3 normal = behind ? Vec3(-index_.normal(t)) : index_.normal(t);
    const double along = direction.dot(normal);
    if (along <= 0) return Vec3::Zero();
    const int edges = count_edges(t, p);
    const std::uint64_t lines = index_.surface().triangles.size();
    const std::uint64_t tips = lines + static_cast<std::uint64_t>(index_.edge_count());
    const bool on_facet = edges == 0 || is_along(direction, normal);
    if (on_facet && (edges == 0 || of_shape)) {
      *owner = index_.facet(t);
      return normal;
    }
    // At an edge exactly, along the other facet's normal: it is that one's, and found there.
    if (!on_facet && is_along_neighbour(edges, direction)) return Vec3::Zero();
    if (edges == 1) {
      *owner = lines + index_.edge(edge_).chain;
      if (on_facet) return index_.edge(edge_).form == EdgeForm::Flat ? Vec3(Vec3::Zero()) : normal;
      return carries(edge_, direction, behind) ? direction : Vec3::Zero();
    }
    *owner = tips + vertex_;
    if (on_facet && index_.is_flat(vertex_)) {
      // Inside of the facet, or of a straight line at its end.
      const auto ring = index_.ring(vertex_);
      const auto line =
          std::find_if(ring.begin(), ring.end(), [&](std::int32_t e) { return index_.edge(e).form != EdgeForm::Flat; });
      if (line == ring.end() || !of_line) return Vec3::Zero();
      *owner = lines + index_.edge(*line).chain;
    }
    if (on_facet) return normal;
    return index_.holds(vertex_, direction, kRegion) ? direction : Vec3::Zero();
  }

 private:
  static constexpr double kRegion = 1e-4;

  static bool is_along(const Vec3& direction, const Vec3& normal) {
    const double along = direction.dot(normal);
    return along > 0 && (direction - along * normal).norm() < kSameDirection;
  }

  /// Some triangle at the edge or vertex that count_edges has found looks along the direction.
  bool is_along_neighbour(int edges, const Vec3& direction) const {
    const auto looks = [&](std::int32_t e) {
      const auto& at = index_.edge(e).triangle;
      return std::any_of(at.begin(), at.end(), [&](std::int32_t t) {
        return t >= 0 && (is_along(direction, index_.normal(t)) ||
                          (!index_.surface().one_sided && is_along(direction, -index_.normal(t))));
      });
    };
    if (edges == 1) return looks(edge_);
    const auto ring = index_.ring(vertex_);
    return std::any_of(ring.begin(), ring.end(), looks);
  }

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
  const std::size_t n = hull.vertices.size();
  data.ring_start.assign(n + 1, 0);
  for (const auto& edge : hull.edges) {
    PolytopeEdge e;
    e.a = edge[0];
    e.b = edge[1];
    data.edges.push_back(e);
    for (const int v : edge) ++data.ring_start[v + 1];
  }
  for (std::size_t v = 0; v < n; ++v) data.ring_start[v + 1] += data.ring_start[v];
  data.ring.resize(2 * hull.edges.size());
  std::vector<std::int32_t> fill(data.ring_start.begin(), data.ring_start.end() - 1);
  for (const auto& edge : hull.edges) {
    for (int k = 0; k < 2; ++k) data.ring[fill[edge[k]]++] = edge[1 - k];
  }
  for (const HullFace& face : hull.faces) {
    data.faces.push_back({face.normal, face.offset});
    for (int k = 0; k < face.count; ++k) {
      // Counter-clockwise seen from outside: the face is to the left of its edges.
      const Vec3 &from = hull.vertices[hull.loops[face.first + k]],
                 &to = hull.vertices[hull.loops[face.first + (k + 1) % face.count]];
      PolytopeEdge& edge = data.edges[hull.loop_edges[face.first + k]];
      edge.inward[edge.inward[0].isZero(0) ? 0 : 1] = face.normal.cross(to - from).normalized();
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
  body.ring_start = hull.polytope->ring_start;
  body.ring = hull.polytope->ring;
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
      std::uint64_t owner = 0;
      const bool of_shape = contact.key.feature >> 16 < kEdgeName;
      const Vec3 direction =
          filter.choose(t, on, surface.frame.transpose() * -contact.normal, of_shape, found.size() <= 2, &owner);
      if (direction.isZero(0)) continue;
      const std::uint32_t feature = mix_feature(owner, contact.key.feature >> 16);
      if (sink->has(feature)) continue;
      const Vec3 along = surface.frame * direction;
      const double gap = along.dot(contact.point_a - contact.point_b);
      sink->add(contact.point_b + gap * along, contact.point_b, -along, gap, feature);
    }
  });
  sink->merge(kSamePoint * std::min(curved.bound, index.size()));
  if (sink->count() > 0 || !index.surface().one_sided) return;
  if (overlap) push_out_lowest(curved, surface, sink);
  if (sink->count() == 0) push_out_center(curved, surface, sink);
}

}  // namespace slipstick
