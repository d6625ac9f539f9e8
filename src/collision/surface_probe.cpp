#include "collision/surface_probe.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "collision/tolerances.h"

namespace slipstick {
namespace {

/// A point without skin is looked for inside a solid to this part of its body's size.
constexpr double kDeepPart = 0.25, kEdgeDeepPart = 0.05;
/// Of the smaller size, and of the sum of both: features that are nearer lie on each other. Files have nine digits or
/// more where things are meant to be flush, and poses are rounded relative to all of a shape.
constexpr double kSnap = 1e-9, kProbeRounding = 1e-11;

/// 64 to 32 bits for pairs of surfaces with more pairs of features than 32 bits can name.
std::uint32_t fold_feature(std::uint64_t x) {
  if (x <= 0xffffffffu) return static_cast<std::uint32_t>(x);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return static_cast<std::uint32_t>(x >> 32);
}

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
  sunk_ = has_sunk_vertex_ = false;
  rocking_crossings().clear();
  body_.point_names = std::max<std::uint64_t>(body.point_names, body.points.size());
  body_.edge_names = std::max<std::uint64_t>(body.edge_names, body.edges.size());
  far_ = kDeepPart * body.bound;
  deep_ = body.radius > 0 ? 0 : far_;
  edge_deep_ = body.radius > 0 ? body.radius : kEdgeDeepPart * body.bound;
  const double size = body.bound + body.radius, least = std::min(size, index_.size());
  tiny_ = kProbeRounding * (size + index_.size());
  snap_ = kSnap * least + tiny_;
  place_ = kSamePoint * least;
  update_region();
}

bool SurfaceProbe::begin_sunk(const Polytope& body) {
  begin(body);
  sunk_ = true;
  deep_ = 2 * (body.bound + body.radius);
  update_region();
  return !two_sided_;
}

void SurfaceProbe::update_region() {
  const Vec3 wide = Vec3::Constant(calc_width());
  region_ = {index_.tree().bounds().low - wide, index_.tree().bounds().high + wide};
}

/// How far from a triangle something may be found.
double SurfaceProbe::calc_width() const {
  return body_.radius + 2 * sink_->reach() + std::max(deep_, edge_deep_) + snap_;
}

SurfaceProbe::BodyPoints& SurfaceProbe::body_points() {
  thread_local BodyPoints points;  // scratch that keeps its capacity
  return points;
}

void SurfaceProbe::place_points() {
  BodyPoints& body = body_points();
  body.points.resize(body_.points.size());
  body.outside.assign(body_.points.size(), 0);
  body.box = {Vec3::Constant(kInfinity), Vec3::Constant(-kInfinity)};
  for (std::size_t i = 0; i < body.points.size(); ++i) {
    const Vec3 p = body_.point(static_cast<int>(i));
    body.points[i] = p;
    body.box = {body.box.low.cwiseMin(p), body.box.high.cwiseMax(p)};
  }
}

/// Names of corners before names of edges: where both are found at one place the corner's stays.
void SurfaceProbe::touch(const Polytope& body) {
  begin(body);
  place_points();
  if (!find_region()) return;
  const std::size_t before = sink_->count();
  touch_points();
  touch_faces();
  touch_edges();
  touch_rocking();
  if (sink_->count() == before && !two_sided_) {
    // Nothing near the surface, but points may be deeper inside the solid than was looked for, or vertices of the
    // surface deeper inside the body. (Not edges: behind a thin wall they would be taken for being inside it.)
    const bool has_sunk_vertex = has_sunk_vertex_;
    begin_sunk(body);
    if (find_region()) {
      touch_points();
      if (has_sunk_vertex) touch_faces();
    }
  }
  finish();
}

/// Points above all that they may be near to are left out, and those that are known to be outside of a solid where only
/// what is inside counts.
void SurfaceProbe::touch_points() {
  thread_local std::vector<Vec3> rays;  // scratch that keeps its capacity
  BodyPoints& body = body_points();
  const double within = calc_depth(body_.radius), clear = body_.radius + sink_->reach() + snap_ + tiny_;
  for (int i = 0; i < static_cast<int>(body.points.size()); ++i) {
    const Vec3& p = body.points[i];
    if ((sunk_ && body.outside[i]) || !is_near(p)) continue;
    if (!two_sided_ && body.near.is_clear(i, within + tiny_, clear)) continue;
    Corner corner{i, p, body_.radius, {}, Vec3::Zero(), find_nearest_point(i, within)};
    if (corner.nearest.triangle < 0) continue;
    body.outside[i] = !corner.nearest.inside && corner.nearest.distance > snap_;
    rays.clear();
    for (int k = body_.ring_start.empty() ? 0 : body_.ring_start[i];
         !body_.ring_start.empty() && k < body_.ring_start[i + 1]; ++k)
      rays.push_back(body_.rotation * (body_.points[body_.ring[k]] - body_.points[i]));
    corner.rays = rays;
    touch_corner(corner);
  }
}

/// The body is above the plane of a triangle, with nothing of it in reach.
bool SurfaceProbe::is_clear_of(int near, double clearance) const {
  return !two_sided_ && body_points().near.lowest_point(near) > clearance;
}

void SurfaceProbe::touch_edges() {
  thread_local std::vector<int> below;  // scratch that keeps its capacity
  const BodyPoints& body = body_points();
  const NearTriangles& near = body.near;
  const double clear = calc_clearance();
  below.clear();
  for (int k = 0; k < near.count(); ++k)
    if (!is_clear_of(k, clear)) below.push_back(k);
  for (int i = 0; i < static_cast<int>(body_.edges.size()) && !below.empty(); ++i) {
    const PolytopeEdge& edge = body_.edges[i];
    if (!two_sided_ && near.least_height(edge.a) > clear && near.least_height(edge.b) > clear) continue;
    ProbeEdge own;
    own.name = i;
    own.from = body.points[edge.a];
    own.to = body.points[edge.b];
    const Bounds box = calc_edge_box(own);
    bool turned = false;
    for (const int k : below) {
      if (!two_sided_ && near.height(k, edge.a) > clear && near.height(k, edge.b) > clear) continue;
      if (!BoxTree::overlap(near.bounds(k), box)) continue;
      for (int side = 0; side < 2 && !turned; ++side) own.inward[side] = body_.rotation * edge.inward[side];
      turned = true;
      touch_edge_with(own, near.triangle(k));
    }
  }
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
  BodyPoints& body = body_points();
  const Vec3 wide = Vec3::Constant(calc_width());
  body.near.update(index_, body.points, {body.box.low - wide, body.box.high + wide});
  if (body.near.count() == 0) return false;
  Bounds all = body.near.bounds(0);
  for (int k = 1; k < body.near.count(); ++k)
    all = {all.low.cwiseMin(body.near.bounds(k).low), all.high.cwiseMax(body.near.bounds(k).high)};
  region_ = {all.low - wide, all.high + wide};
  return true;
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

bool SurfaceProbe::is_ridge(const SurfaceEdge& edge) const {
  const EdgeForm kind = form(edge);
  return kind == EdgeForm::Ridge || kind == EdgeForm::Rim;
}

/// True: this triangle is nearer than the best so far.
bool SurfaceProbe::consider(const Vec3& p, int t, Nearest* best) const {
  const Triangle& c = index_.triangle(t);
  const TrianglePoint at = find_nearest(p, index_.vertex(c[0]), index_.vertex(c[1]), index_.vertex(c[2]));
  const bool nearer =
      at.distance_sq < best->at.distance_sq || (at.distance_sq == best->at.distance_sq && t < best->triangle);
  if (nearer) {
    best->at = at;
    best->triangle = t;
  }
  return nearer;
}

SurfaceProbe::Nearest SurfaceProbe::find_nearest_point(const Vec3& p, double within) const {
  Nearest best;
  best.at.distance_sq = within * within;
  const auto enter = [&](const Bounds& box) {
    return (p - p.cwiseMax(box.low).cwiseMin(box.high)).squaredNorm() <= best.at.distance_sq;
  };
  index_.tree().walk(enter, [&](int t) { consider(p, t, &best); });
  update_inside(p, &best);
  return best;
}

/// The same for point i of the body, among the triangles near it: none is nearer than its plane.
SurfaceProbe::Nearest SurfaceProbe::find_nearest_point(int i, double within) const {
  const BodyPoints& body = body_points();
  const Vec3& p = body.points[i];
  Nearest best;
  best.at.distance_sq = within * within;
  double distance = within + tiny_;
  for (int k = 0; k < body.near.count(); ++k) {
    if (std::abs(body.near.height(k, i)) > distance) continue;
    const Bounds& box = body.near.bounds(k);
    if ((p - p.cwiseMax(box.low).cwiseMin(box.high)).squaredNorm() > best.at.distance_sq) continue;
    if (consider(p, body.near.triangle(k), &best)) distance = std::sqrt(best.at.distance_sq) + tiny_;
  }
  update_inside(p, &best);
  return best;
}

/// How far away the nearest point is, and whether p is inside the solid there.
void SurfaceProbe::update_inside(const Vec3& p, Nearest* nearest) const {
  Nearest& best = *nearest;
  if (best.triangle < 0) return;
  best.distance = std::sqrt(best.at.distance_sq);
  if (two_sided_) return;
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
}

}  // namespace slipstick
