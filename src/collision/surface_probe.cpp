#include "collision/surface_probe.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "collision/segments.h"

namespace slipstick {
namespace {

/// A point without skin is looked for inside a solid to this part of its body's size.
constexpr double kDeepPart = 0.25, kEdgeDeepPart = 0.05;
/// Sines of angles by which a direction may leave the region that a feature owns.
constexpr double kRegionSlack = 1e-9, kWedgeSlack = 1e-6;

/// 64 to 32 bits for pairs of surfaces with more pairs of features than 32 bits can name.
std::uint32_t fold_feature(std::uint64_t x) {
  if (x <= 0xffffffffu) return static_cast<std::uint32_t>(x);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return static_cast<std::uint32_t>(x >> 32);
}

Bounds box_about(const Vec3& p, double r) { return {p - Vec3::Constant(r), p + Vec3::Constant(r)}; }

}  // namespace

SurfaceProbe::SurfaceProbe(const PlacedShape& surface, bool surface_first, std::uint64_t first_feature,
                           ContactSink* sink)
    : index_(*surface.surface),
      two_sided_(!index_.surface().one_sided),
      surface_first_(surface_first),
      first_feature_(first_feature),
      sink_(sink),
      origin_(surface.center),
      rotation_(surface.frame) {}

void SurfaceProbe::begin(const Polytope& body) {
  body_ = body;
  body_.point_names = std::max<std::uint64_t>(body.point_names, body.points.size());
  body_.edge_names = std::max<std::uint64_t>(body.edge_names, body.edges.size());
  deep_ = body.radius > 0 ? 0 : kDeepPart * body.bound;
  edge_deep_ = body.radius > 0 ? body.radius : kEdgeDeepPart * body.bound;
  tiny_ = 1e-11 * (body.bound + body.radius + index_.size());
}

void SurfaceProbe::touch(const Polytope& body) {
  begin(body);
  if (!find_region()) return;
  const std::size_t before = sink_->count();
  touch_features();
  if (sink_->count() > before || two_sided_) return;
  // Nothing near the surface, but points may be deeper inside the solid than was looked for. (Not edges: behind a thin
  // wall they would be taken for being inside it.)
  deep_ = 2 * (body.bound + body.radius);
  if (find_region()) touch_features();
}

void SurfaceProbe::touch_features() {
  for (int i = 0; i < static_cast<int>(body_.points.size()); ++i) touch_point(i, body_.point(i), body_.radius);
  for (int i = 0; i < static_cast<int>(body_.edges.size()); ++i) touch_edge(i, i);
  if (!body_.faces.empty()) touch_faces();
}

bool SurfaceProbe::find_way_out(const Vec3& p, double within, Vec3* on_surface, Vec3* normal, int* triangle) const {
  const Nearest nearest = find_nearest_point(p, within);
  if (nearest.triangle < 0 || !nearest.inside) return false;
  *on_surface = nearest.at.point;
  *triangle = nearest.triangle;
  *normal = index_.normal(nearest.triangle);
  if (nearest.at.on != TrianglePoint::On::Face && nearest.distance > 1e-11 * index_.size()) {
    *normal = (nearest.at.point - p) / nearest.distance;
  }
  return true;
}

/// Where the triangles near the body are, widened by as much as the body may be away: most of its points and edges are
/// elsewhere. False if there are none.
bool SurfaceProbe::find_region() {
  Bounds box{body_.point(0), body_.point(0)};
  for (int i = 1; i < static_cast<int>(body_.points.size()); ++i) {
    const Vec3 p = body_.point(i);
    box = {box.low.cwiseMin(p), box.high.cwiseMax(p)};
  }
  const Vec3 wide = Vec3::Constant(body_.radius + 2 * sink_->reach() + std::max(deep_, edge_deep_) + tiny_);
  Bounds near{Vec3::Constant(kInfinity), Vec3::Constant(-kInfinity)};
  index_.tree().find({box.low - wide, box.high + wide}, [&](int t) {
    for (const std::int32_t v : index_.triangle(t)) {
      near = {near.low.cwiseMin(index_.vertex(v)), near.high.cwiseMax(index_.vertex(v))};
    }
  });
  region_ = {near.low - wide, near.high + wide};
  return near.low.x() <= near.high.x();
}

std::uint64_t SurfaceProbe::feature_count() const {
  const std::uint64_t t = index_.surface().triangles.size(), n = index_.surface().vertices.size(),
                      m = static_cast<std::uint64_t>(index_.edge_count());
  return first_feature_ + body_.point_names * (t + m + n) + body_.edge_names * (m + n) + body_.faces.size() * n;
}

int SurfaceProbe::add(Kind kind, std::uint64_t i, std::uint64_t j, const Vec3& normal, const Vec3& on_surface,
                      double gap) {
  if (!(gap <= sink_->reach())) return 0;
  const std::uint64_t t = index_.surface().triangles.size(), n = index_.surface().vertices.size(),
                      m = static_cast<std::uint64_t>(index_.edge_count());
  const std::uint64_t p = body_.point_names, e = body_.edge_names;
  const std::array<std::uint64_t, 6> start{
      0, p * t, p * (t + m), p * (t + m + n), p * (t + m + n) + e * m, p * (t + m + n) + e * (m + n)};
  const std::array<std::uint64_t, 6> width{t, m, n, m, n, n};
  const std::uint32_t feature = fold_feature(first_feature_ + start[kind] + i * width[kind] + j);
  if (sink_->has(feature)) return 1;
  const Vec3 along = rotation_ * normal, on = origin_ + rotation_ * on_surface;
  if (surface_first_) {
    sink_->add(on, on + gap * along, along, gap, feature);
  } else {
    sink_->add(on + gap * along, on, -along, gap, feature);
  }
  return 1;
}

/// Which side of a triangle counts as outside: its own, or for a sheet the one where the body is.
double SurfaceProbe::side(int t) const {
  if (!two_sided_) return 1;
  return index_.normal(t).dot(body_.center - index_.vertex(index_.triangle(t)[0])) < 0 ? -1 : 1;
}

EdgeForm SurfaceProbe::form(const SurfaceEdge& edge) const {
  if (!two_sided_ || edge.form == EdgeForm::Flat || edge.form == EdgeForm::Rim) return edge.form;
  const double s0 = side(edge.triangle[0]), s1 = side(edge.triangle[1]);
  if (s0 != s1) return EdgeForm::Ridge;
  if (s0 > 0) return edge.form;
  return edge.form == EdgeForm::Ridge ? EdgeForm::Valley : EdgeForm::Ridge;
}

SurfaceProbe::Nearest SurfaceProbe::find_nearest_point(const Vec3& p, double within) const {
  Nearest best;
  best.at.distance_sq = within * within;
  const auto enter = [&](const Bounds& box) {
    return (p - p.cwiseMax(box.low).cwiseMin(box.high)).squaredNorm() <= best.at.distance_sq;
  };
  index_.tree().walk(enter, [&](int t) {
    const Triangle& c = index_.triangle(t);
    const TrianglePoint at = find_nearest(p, index_.vertex(c[0]), index_.vertex(c[1]), index_.vertex(c[2]));
    if (at.distance_sq < best.at.distance_sq || (at.distance_sq == best.at.distance_sq && t < best.triangle)) {
      best.at = at;
      best.triangle = t;
    }
  });
  if (best.triangle < 0) return best;
  best.distance = std::sqrt(best.at.distance_sq);
  if (two_sided_) return best;
  const int t = best.triangle, k = best.at.corner;
  const Vec3& out = best.at.on == TrianglePoint::On::Face   ? index_.normal(t)
                    : best.at.on == TrianglePoint::On::Edge ? index_.edge(index_.edge_of(t, k)).outward
                                                            : index_.outward(index_.triangle(t)[k]);
  best.inside = out.dot(p - best.at.point) < 0;
  // Beside the rim of a heightfield nothing is inside.
  if (best.inside && best.at.on == TrianglePoint::On::Edge) {
    best.inside = index_.edge(index_.edge_of(t, k)).form != EdgeForm::Rim;
  } else if (best.inside && best.at.on == TrianglePoint::On::Vertex) {
    for (const std::int32_t e : index_.ring(index_.triangle(t)[k])) {
      best.inside = best.inside && index_.edge(e).form != EdgeForm::Rim;
    }
  }
  return best;
}

/// The point's projection is in the triangle, or beyond a valley edge by at most `beyond_valley`: near a valley what is
/// free is in front of both planes, so that the plane counts before the point is over the triangle.
bool SurfaceProbe::is_over(int t, const Vec3& p, double tolerance, double beyond_valley) const {
  for (int k = 0; k < 3; ++k) {
    const SurfaceEdge& edge = index_.edge(index_.edge_of(t, k));
    const Vec3& inward = edge.inward[edge.triangle[0] == t ? 0 : 1];
    const double within = inward.dot(p - index_.vertex(edge.a));
    if (within >= -tolerance) continue;
    if (-within > beyond_valley || form(edge) != EdgeForm::Valley) return false;
  }
  return true;
}

int SurfaceProbe::touch_facet(int i, int t, const Vec3& p, double radius, const Nearest& nearest) {
  const Vec3 normal = side(t) * index_.normal(t);
  const double height = normal.dot(p - index_.vertex(index_.triangle(t)[0]));
  if (height - radius > sink_->reach()) return 0;
  double beyond = sink_->reach();
  if (two_sided_) {
    if (height < -(deep_ + radius)) return 0;
  } else if (nearest.inside) {
    if (height > tiny_ || -height > 2 * nearest.distance + tiny_) return 0;
    beyond += 2 * nearest.distance;
  } else if (height < -tiny_) {
    return 0;
  }
  const double tolerance = tiny_ + 1e-7 * std::abs(height);
  if (!is_over(t, p, tolerance, 0)) {
    // A plane that comes nearer than the surface does is not one of a valley that the point is in.
    if (std::abs(height) < nearest.distance - tiny_ || !is_over(t, p, tolerance, beyond)) return 0;
  }
  return add(kPointFacet, i, index_.facet(t), normal, p - height * normal, height - radius);
}

int SurfaceProbe::touch_ridges(int i, int t, const Vec3& p, double radius) {
  int found = 0;
  for (int k = 0; k < 3; ++k) {
    const int e = index_.edge_of(t, k);
    const SurfaceEdge& edge = index_.edge(e);
    if (edge.triangle[0] != t) continue;
    const EdgeForm kind = form(edge);
    if (kind != EdgeForm::Ridge && kind != EdgeForm::Rim) continue;
    const Vec3 &a = index_.vertex(edge.a), along = index_.vertex(edge.b) - a;
    const double s = along.dot(p - a) / along.squaredNorm();
    if (!(s > 0 && s < 1)) continue;
    const Vec3 at = a + s * along, d = p - at;
    const double distance = d.norm(), slack = kRegionSlack * distance;
    if (distance - radius > sink_->reach()) continue;
    if (d.dot(edge.inward[0]) > slack || d.dot(edge.inward[1]) > slack) continue;
    found += add(kPointEdge, i, e, distance > tiny_ ? Vec3(d / distance) : edge.outward, at, distance - radius);
  }
  return found;
}

int SurfaceProbe::touch_tips(int i, int t, const Vec3& p, double radius) {
  int found = 0;
  for (const std::int32_t v : index_.triangle(t)) {
    if (index_.owner(v) != t || index_.is_flat(v)) continue;
    const Vec3 d = p - index_.vertex(v);
    const double distance = d.norm();
    if (distance - radius > sink_->reach() || distance <= tiny_) continue;
    if (!index_.holds(v, d / distance, kRegionSlack)) continue;
    found += add(kPointVertex, i, v, d / distance, index_.vertex(v), distance - radius);
  }
  return found;
}

/// What rounding let fall between the regions: the nearest point itself.
void SurfaceProbe::touch_nearest(int i, const Vec3& p, double radius, const Nearest& nearest) {
  const int t = nearest.triangle, k = nearest.at.corner;
  const double sign = nearest.inside ? -1 : 1;
  Vec3 normal = side(t) * index_.normal(t);
  if (nearest.distance > tiny_) normal = sign / nearest.distance * (p - nearest.at.point);
  const double gap = sign * nearest.distance - radius;
  switch (nearest.at.on) {
    case TrianglePoint::On::Face:
      add(kPointFacet, i, index_.facet(t), normal, nearest.at.point, gap);
      break;
    case TrianglePoint::On::Edge:
      add(kPointEdge, i, index_.edge_of(t, k), normal, nearest.at.point, gap);
      break;
    case TrianglePoint::On::Vertex:
      add(kPointVertex, i, index_.triangle(t)[k], normal, nearest.at.point, gap);
      break;
  }
}

void SurfaceProbe::touch_point(int i, const Vec3& p, double radius) {
  if (!BoxTree::overlap(region_, {p, p})) return;
  const Nearest nearest = find_nearest_point(p, radius + sink_->reach() + deep_ + tiny_);
  if (nearest.triangle < 0) return;
  if (!nearest.inside && !two_sided_ && nearest.distance - radius > sink_->reach()) return;
  // Facets count beyond their valleys (is_over).
  const double within =
      nearest.inside ? 4 * nearest.distance + sink_->reach() : radius + 2 * sink_->reach() + (two_sided_ ? deep_ : 0);
  int found = 0;
  index_.tree().find(box_about(p, within + tiny_), [&](int t) {
    found += touch_facet(i, t, p, radius, nearest);
    if (nearest.inside) return;
    found += touch_ridges(i, t, p, radius);
    found += touch_tips(i, t, p, radius);
  });
  if (found == 0) touch_nearest(i, p, radius, nearest);
}

/// The body's edge can be pushed along `direction` (outwards from the body): it lies between the normals of its faces.
bool SurfaceProbe::allows(const PolytopeEdge& edge, const Vec3& direction) const {
  if (edge.face[0] < 0 || edge.face[1] < 0) {
    const Vec3 own = body_.rotation.transpose() * direction;
    return own.dot(edge.inward[0]) <= kWedgeSlack && own.dot(edge.inward[1]) <= kWedgeSlack;
  }
  const Vec3 n0 = body_.rotation * body_.faces[edge.face[0]].normal;
  const Vec3 n1 = body_.rotation * body_.faces[edge.face[1]].normal;
  const Vec3 axis = n0.cross(n1);
  const double slack = -kWedgeSlack * axis.norm();
  return n0.cross(direction).dot(axis) >= slack && direction.cross(n1).dot(axis) >= slack && direction.dot(n0 + n1) > 0;
}

void SurfaceProbe::touch_edge_pair(int i, int name, int e) {
  const SurfaceEdge& edge = index_.edge(e);
  const EdgeForm kind = form(edge);
  if (kind != EdgeForm::Ridge && kind != EdgeForm::Rim) return;
  const PolytopeEdge& own = body_.edges[i];
  const Vec3 from = body_.point(own.a), to = body_.point(own.b), middle = (from + to) / 2, half = (to - from) / 2;
  const Vec3 edge_middle = (index_.vertex(edge.a) + index_.vertex(edge.b)) / 2;
  const Vec3 edge_half = (index_.vertex(edge.b) - index_.vertex(edge.a)) / 2;
  double s, t;
  if (!closest_on_lines(middle, half, edge_middle, edge_half, &s, &t)) return;
  if (!(std::abs(s) < 1 && std::abs(t) < 1)) return;
  const Vec3 on_body = middle + s * half, on_edge = edge_middle + t * edge_half;
  Vec3 normal = half.cross(edge_half).normalized();
  const bool by_center = two_sided_ || kind == EdgeForm::Rim;
  const double way = by_center ? normal.dot(body_.center - on_edge) : normal.dot(edge.outward);
  if (way < 0) normal = -normal;
  if (normal.dot(edge.inward[0]) > kWedgeSlack || normal.dot(edge.inward[1]) > kWedgeSlack) return;
  if (!allows(own, -normal)) return;
  const double height = normal.dot(on_body - on_edge);
  if (height < -edge_deep_) return;
  add(kEdgeEdge, name, e, normal, on_edge, height - body_.radius);
}

/// Tips of the surface against an edge of the body: the side of a capsule, or an edge that a tip is in the region of.
void SurfaceProbe::touch_edge_tips(int i, int name, int t) {
  const PolytopeEdge& own = body_.edges[i];
  const Vec3 from = body_.point(own.a), to = body_.point(own.b), middle = (from + to) / 2, half = (to - from) / 2;
  for (const std::int32_t v : index_.triangle(t)) {
    if (index_.owner(v) != t || index_.is_flat(v)) continue;
    const double s = closest_on_line(index_.vertex(v), middle, half);
    if (!(std::abs(s) < 1)) continue;
    const Vec3 d = middle + s * half - index_.vertex(v);
    const double distance = d.norm();
    if (distance - body_.radius > sink_->reach() || distance <= tiny_) continue;
    if (!index_.holds(v, d / distance, kRegionSlack) || !allows(own, -d / distance)) continue;
    add(kEdgeVertex, name, v, d / distance, index_.vertex(v), distance - body_.radius);
  }
}

void SurfaceProbe::touch_edge(int i, int name) {
  const Vec3 a = body_.point(body_.edges[i].a), b = body_.point(body_.edges[i].b);
  const Vec3 wide = Vec3::Constant(sink_->reach() + edge_deep_ + tiny_), low = a.cwiseMin(b), high = a.cwiseMax(b);
  if (!BoxTree::overlap(region_, {low, high})) return;
  index_.tree().find({low - wide, high + wide}, [&](int t) {
    for (int k = 0; k < 3; ++k) {
      const int e = index_.edge_of(t, k);
      if (index_.edge(e).triangle[0] == t) touch_edge_pair(i, name, e);
    }
    touch_edge_tips(i, name, t);
  });
}

void SurfaceProbe::touch_faces() {
  Bounds box{body_.point(0), body_.point(0)};
  for (int i = 1; i < static_cast<int>(body_.points.size()); ++i) {
    const Vec3 p = body_.point(i);
    box = {box.low.cwiseMin(p), box.high.cwiseMax(p)};
  }
  const Vec3 wide = Vec3::Constant(sink_->reach() + tiny_);
  index_.tree().find({box.low - wide, box.high + wide}, [&](int t) {
    for (const std::int32_t v : index_.triangle(t)) {
      if (index_.owner(v) == t && !index_.is_flat(v)) touch_face_with(v);
    }
  });
}

/// The face that the vertex is furthest in front of, or least behind.
void SurfaceProbe::touch_face_with(int v) {
  const Vec3 p = body_.rotation.transpose() * (index_.vertex(v) - body_.origin);
  int face = -1;
  double height = -kInfinity;
  for (int f = 0; f < static_cast<int>(body_.faces.size()); ++f) {
    const double h = body_.faces[f].normal.dot(p) - body_.faces[f].offset;
    if (h <= height) continue;
    height = h;
    face = f;
    if (height > sink_->reach()) return;
  }
  if (face < 0 || height < -deep_) return;
  const Vec3 normal = -(body_.rotation * body_.faces[face].normal);
  if (!index_.holds(v, normal, kWedgeSlack)) return;
  const Vec3 foot = p - height * body_.faces[face].normal;
  for (const PolytopeFace& f : body_.faces) {
    if (f.normal.dot(foot) - f.offset > 1e-9 * body_.bound) return;
  }
  add(kFaceVertex, face, v, normal, index_.vertex(v), height);
}

}  // namespace slipstick
