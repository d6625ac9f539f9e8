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
constexpr double kSnap = 1e-9, kRounding = 1e-11;

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
  sunk_ = false;
  rocking_crossings().clear();
  body_.point_names = std::max<std::uint64_t>(body.point_names, body.points.size());
  body_.edge_names = std::max<std::uint64_t>(body.edge_names, body.edges.size());
  far_ = kDeepPart * body.bound;
  deep_ = body.radius > 0 ? 0 : far_;
  edge_deep_ = body.radius > 0 ? body.radius : kEdgeDeepPart * body.bound;
  const double size = body.bound + body.radius, least = std::min(size, index_.size());
  tiny_ = kRounding * (size + index_.size());
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

void SurfaceProbe::touch(const Polytope& body) {
  begin(body);
  if (!find_region()) return;
  const std::size_t before = sink_->count();
  touch_features();
  if (sink_->count() == before && !two_sided_) {
    // Nothing near the surface, but points may be deeper inside the solid than was looked for. (Not edges: behind a
    // thin wall they would be taken for being inside it.)
    begin_sunk(body);
    if (find_region()) touch_features();
  }
  finish();
}

/// Names of corners before names of edges: where both are found at one place the corner's stays.
void SurfaceProbe::touch_features() {
  thread_local std::vector<Vec3> rays;  // scratch that keeps its capacity
  for (int i = 0; i < static_cast<int>(body_.points.size()); ++i) {
    rays.clear();
    if (!body_.ring_start.empty()) {
      for (int k = body_.ring_start[i]; k < body_.ring_start[i + 1]; ++k) {
        rays.push_back(body_.rotation * (body_.points[body_.ring[k]] - body_.points[i]));
      }
    }
    touch_point(i, body_.point(i), body_.radius, rays);
  }
  if (!body_.faces.empty()) touch_faces();
  for (int i = 0; i < static_cast<int>(body_.edges.size()); ++i) {
    const PolytopeEdge& edge = body_.edges[i];
    ProbeEdge own;
    own.name = i;
    own.from = body_.point(edge.a);
    own.to = body_.point(edge.b);
    for (int k = 0; k < 2; ++k) own.inward[k] = body_.rotation * edge.inward[k];
    touch_edge(own);
  }
  touch_rocking();
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
  const Vec3 wide = Vec3::Constant(calc_width());
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

bool SurfaceProbe::is_ridge(const SurfaceEdge& edge) const {
  const EdgeForm kind = form(edge);
  return kind == EdgeForm::Ridge || kind == EdgeForm::Rim;
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

}  // namespace slipstick
