// Meshes and heightfields against the other kinds: each is given to the probe as a polytope with a skin.
#include <algorithm>
#include <array>
#include <vector>

#include "collision/narrow_phase.h"
#include "collision/surface_probe.h"

namespace slipstick {
namespace {

/// Sine of the angle (10 degrees) by which a vertex of a surface may have lower neighbours and still be listed against
/// a plane: bodies that rock keep their support.
constexpr double kRocking = 0.17;
/// Vertices of a surface that are asked whether they are deep inside another, where nothing was found near its surface.
constexpr std::size_t kSunkPoints = 16;

constexpr std::array<std::array<int, 2>, 12> kBoxEdges{
    {{0, 1}, {2, 3}, {4, 5}, {6, 7}, {0, 2}, {1, 3}, {4, 6}, {5, 7}, {0, 4}, {1, 5}, {2, 6}, {3, 7}}};

/// Corners are numbered by the signs of their coordinates, faces 2 k (+) and 2 k + 1 (-) for axis k.
struct BoxPolytope {
  static constexpr std::array<std::int32_t, 9> kRingStart{0, 3, 6, 9, 12, 15, 18, 21, 24};
  static constexpr std::array<std::int32_t, 24> kRing{1, 2, 4, 0, 3, 5, 3, 0, 6, 2, 1, 7,
                                                      5, 6, 0, 4, 7, 1, 7, 4, 2, 6, 5, 3};
  std::array<Vec3, 8> points;
  std::array<PolytopeEdge, 12> edges;
  std::array<PolytopeFace, 6> faces;

  BoxPolytope(const Vec3& center, const Mat3& frame, const Vec3& half) {
    for (int v = 0; v < 8; ++v) {
      points[v] = center + frame * Vec3(v & 1 ? half.x() : -half.x(), v & 2 ? half.y() : -half.y(),
                                        v & 4 ? half.z() : -half.z());
    }
    for (int f = 0; f < 6; ++f) {
      faces[f].normal = (f & 1 ? -1.0 : 1.0) * frame.col(f / 2);
      faces[f].offset = faces[f].normal.dot(center) + half[f / 2];
    }
    for (int e = 0; e < 12; ++e) {
      edges[e].a = kBoxEdges[e][0];
      edges[e].b = kBoxEdges[e][1];
      for (int k = 0; k < 2; ++k) {  // an edge along axis e / 4: the faces there extend along the other axes
        const int axis = (e / 4 + 1 + k) % 3;
        edges[e].inward[k] = (edges[e].a >> axis & 1 ? -1.0 : 1.0) * frame.col(axis);
      }
    }
  }
};

/// Vertices and ridges of one surface that are near another, given to the probe one by one.
class SurfaceFeeler {
 public:
  SurfaceFeeler(const PlacedShape& from, const PlacedShape& to, bool to_first, std::uint64_t first_feature,
                ContactSink* sink)
      : index_(*from.surface), from_(from), probe_(to, to_first, first_feature, sink) {
    turn_ = to.frame.transpose() * from.frame;
    body_.bound = std::min(from.bound, to.bound);
    const Bounds& own = index_.tree().bounds();  // the origin of a mesh may be anywhere: its middle tells the side
    body_.center = probe_.as_local(from.center + from.frame * ((own.low + own.high) / 2));
    body_.point_names = index_.surface().vertices.size();
    body_.edge_names = static_cast<std::uint64_t>(index_.edge_count());
    // What of `from` is in the box of `to`, seen from `from`.
    const Bounds& box = to.surface->tree().bounds();
    const Vec3 middle = from.frame.transpose() * (to.center + to.frame * ((box.low + box.high) / 2) - from.center);
    const Vec3 half = turn_.transpose().cwiseAbs() * ((box.high - box.low) / 2) +
                      Vec3::Constant(sink->reach() + 1e-9 * (from.bound + to.bound));
    box_ = {middle - half, middle + half};
  }

  void touch_points() {
    thread_local std::vector<Vec3> rays;  // scratch that keeps its capacity
    probe_.begin(body_);
    index_.tree().find(box_, [&](int t) {
      for (const std::int32_t v : index_.triangle(t)) {
        if (index_.owner(v) != t || index_.is_flat(v)) continue;
        const Vec3 p = place(v);
        if (!probe_.is_near(p)) continue;
        index_.update_rays(v, &rays);
        for (Vec3& ray : rays) ray = turn_ * ray;
        probe_.touch_point(v, p, 0, rays, calc_outward(v));
      }
    });
  }

  /// Points that are deep inside, a few of them: enough to tell that, and the way out.
  void touch_sunk_points() {
    if (!probe_.begin_sunk(body_)) return;
    thread_local std::vector<std::int32_t> sunk;
    thread_local std::vector<Vec3> rays;
    sunk.clear();
    const Vec3 wide = Vec3::Constant(2 * body_.bound);
    index_.tree().find({box_.low - wide, box_.high + wide}, [&](int t) {
      for (const std::int32_t v : index_.triangle(t))
        if (index_.owner(v) == t && !index_.is_flat(v)) sunk.push_back(v);
    });
    const std::size_t stride = 1 + sunk.size() / kSunkPoints;
    for (std::size_t k = 0; k < sunk.size(); k += stride) {
      const Vec3 p = place(sunk[k]);
      if (!probe_.is_near(p)) continue;
      index_.update_rays(sunk[k], &rays);
      for (Vec3& ray : rays) ray = turn_ * ray;
      probe_.touch_point(sunk[k], p, 0, rays, calc_outward(sunk[k]));
    }
    probe_.finish();
  }

  void touch_edges() {
    probe_.begin(body_);
    index_.tree().find(box_, [&](int t) {
      for (int k = 0; k < 3; ++k) {
        const SurfaceEdge& own = index_.edge(index_.edge_of(t, k));
        if (own.triangle[0] != t || own.form == EdgeForm::Flat || own.form == EdgeForm::Valley) continue;
        ProbeEdge edge;
        edge.name = own.chain;
        edge.from = place(own.a);
        edge.to = place(own.b);
        for (int side = 0; side < 2; ++side) edge.inward[side] = turn_ * own.inward[side];
        edge.joint = own.joint;
        probe_.touch_edge(edge);
      }
    });
    probe_.finish();
  }

  std::uint64_t feature_count() {
    probe_.begin(body_);
    return probe_.feature_count();
  }

 private:
  Vec3 calc_outward(int v) const {
    return index_.surface().one_sided ? Vec3(turn_ * index_.outward(v)) : Vec3(Vec3::Zero());
  }
  Vec3 place(int v) const { return probe_.as_local(from_.center + from_.frame * index_.vertex(v)); }

  const SurfaceIndex& index_;
  const PlacedShape& from_;
  SurfaceProbe probe_;
  Mat3 turn_;  ///< from the frame of `from` to that of `to`
  Polytope body_;
  Bounds box_;
};

}  // namespace

void find_sphere_surface(const PlacedShape& sphere, const PlacedShape& surface, ContactSink* sink) {
  SurfaceProbe probe(surface, false, 0, sink);
  const std::array<Vec3, 1> points{probe.as_local(sphere.center)};
  Polytope body;
  body.points = points;
  body.radius = sphere.radius;
  body.center = points[0];
  probe.touch(body);
}

void find_capsule_surface(const PlacedShape& capsule, const PlacedShape& surface, ContactSink* sink) {
  SurfaceProbe probe(surface, false, 0, sink);
  const std::array<Vec3, 2> points{probe.as_local(capsule.center - capsule.axis),
                                   probe.as_local(capsule.center + capsule.axis)};
  const std::array<PolytopeEdge, 1> edges{PolytopeEdge{0, 1, {Vec3::Zero(), Vec3::Zero()}}};
  Polytope body;
  body.points = points;
  if (capsule.axis.squaredNorm() > 0) body.edges = edges;
  body.radius = capsule.radius;
  body.center = (points[0] + points[1]) / 2;
  body.bound = capsule.axis.norm();
  probe.touch(body);
}

void find_box_surface(const PlacedShape& box, const PlacedShape& surface, ContactSink* sink) {
  SurfaceProbe probe(surface, false, 0, sink);
  const Vec3 center = probe.as_local(box.center);
  const BoxPolytope parts(center, surface.frame.transpose() * box.frame, box.half_size);
  Polytope body;
  body.points = parts.points;
  body.edges = parts.edges;
  body.faces = parts.faces;
  body.ring_start = BoxPolytope::kRingStart;
  body.ring = BoxPolytope::kRing;
  body.center = center;
  body.bound = box.bound;
  probe.touch(body);
}

void find_surface_surface(const PlacedShape& a, const PlacedShape& b, ContactSink* sink) {
  const std::size_t before = sink->count();
  SurfaceFeeler a_on_b(a, b, false, 0, sink);
  a_on_b.touch_points();
  SurfaceFeeler b_on_a(b, a, true, a_on_b.feature_count(), sink);
  b_on_a.touch_points();
  a_on_b.touch_edges();  // after all corners, which give their names to what is found twice
  if (sink->count() > before) return;
  a_on_b.touch_sunk_points();
  b_on_a.touch_sunk_points();
}

/// Vertices within reach that the plane can hold: those with no neighbour much nearer to it.
void find_plane_surface(const PlacedShape& plane, const PlacedShape& surface, ContactSink* sink) {
  const SurfaceIndex& index = *surface.surface;
  const Vec3 normal = surface.frame.transpose() * plane.axis;
  const double offset = plane.axis.dot(plane.center - surface.center);
  const double far = sink->reach() + offset;
  const auto enter = [&](const Bounds& box) {
    return normal.cwiseMax(0.0).dot(box.low) + normal.cwiseMin(0.0).dot(box.high) <= far + 1e-9 * index.size();
  };
  index.tree().walk(enter, [&](int t) {
    for (const std::int32_t v : index.triangle(t)) {
      if (index.owner(v) != t || index.is_flat(v)) continue;
      const double gap = normal.dot(index.vertex(v)) - offset;
      if (gap > sink->reach() || !index.holds(v, -normal, kRocking)) continue;
      sink->add_from(false, surface.center + surface.frame * index.vertex(v), plane.axis, gap, v);
    }
  });
}

}  // namespace slipstick
