// The features of a body against those of a surface, pair by pair (surface_probe.h).
#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "collision/segments.h"
#include "collision/surface_probe.h"

namespace slipstick {
namespace {

/// Sines of angles by which a direction may leave the region that a feature owns.
constexpr double kRegionSlack = 1e-9, kWedgeSlack = 1e-6;
/// The same for corners over faces (10 degrees): bodies that rock keep their support.
constexpr double kRock = 0.17;
/// Cosine between the normal that a vertex of a solid is pushed along and its own outward direction: above it the
/// vertex would be pushed out of the matter that it belongs to (one of a gentle pit fits both ways, within kRock).
constexpr double kAwry = 0.5;
/// Sine of the angle between edges below which they have no crossing.
constexpr double kParallel = 1e-6;
/// Of the height over a facet: how far beside it a point is still over it.
constexpr double kAskew = 1e-7;

/// A corner with these rays to its neighbours can be pushed along n, the normal of what is below it: no neighbour is
/// further down, or what is further down is so only because the corner itself is `height` above.
bool fits(std::span<const Vec3> rays, const Vec3& n, double height, double slack) {
  const double lower = std::max(height, 0.0);
  return std::all_of(rays.begin(), rays.end(), [&](const Vec3& ray) {
    const double rise = n.dot(ray) + lower;
    return rise >= 0 || rise * rise <= slack * slack * ray.squaredNorm();
  });
}

/// How far the neighbours of a corner are below it.
double calc_drop(std::span<const Vec3> rays, const Vec3& n) {
  double drop = 0;
  for (const Vec3& ray : rays) drop = std::max(drop, -n.dot(ray));
  return drop;
}

/// Inward directions of the edges of a facet that a corner lies on.
struct Rims {
  std::array<Vec3, 8> inward;
  int count = 0;
  void add(const Vec3& direction) {
    if (count < static_cast<int>(inward.size())) inward[count++] = direction;
  }
};

/// Some direction in the cone of the rays is inward for both. In the plane of the two products with the inward
/// directions: a ray in the first quadrant, or two between which it is.
bool leans_over(std::span<const Vec3> rays, const Vec3& u, const Vec3& v) {
  for (const Vec3& p : rays) {
    const double length = p.norm(), pu = u.dot(p), pv = v.dot(p), least = kWedgeSlack * length;
    if (pu <= least) continue;
    if (pv > least) return true;
    for (const Vec3& q : rays) {
      const double qu = u.dot(q), qv = v.dot(q), other = q.norm();
      if (qv > kWedgeSlack * other && pu * qv - pv * qu > kWedgeSlack * length * other) return true;
    }
  }
  return false;
}

/// The body has some of itself over the facet whose edges these are. Of corners that lie on an edge exactly this says
/// which of the facets there they belong to; no rays lean over anything.
bool leans_over(std::span<const Vec3> rays, const Rims& rims) {
  if (rays.empty()) return true;
  for (int i = 0; i < rims.count; ++i) {
    for (int j = i; j < rims.count; ++j) {
      if (!leans_over(rays, rims.inward[i], rims.inward[j])) return false;
    }
  }
  return true;
}

/// Cosine of the angle (10 degrees) within which normals point the same way.
constexpr double kSameWay = 0.985;

}  // namespace

std::vector<SurfaceProbe::RockingCrossing>& SurfaceProbe::rocking_crossings() {
  thread_local std::vector<RockingCrossing> crossings;  // scratch that keeps its capacity
  return crossings;
}

/// Triangles whose bounds come nearer to p than this.
void SurfaceProbe::find_triangles(const Vec3& p, double within, std::vector<std::int32_t>* found) const {
  const Vec3 wide = Vec3::Constant(within);
  found->clear();
  index_.tree().find({p - wide, p + wide}, [&](int t) { found->push_back(t); });
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

/// Flat edges count too: a body that leans over the facet leans over one of the triangles that meet there.
bool SurfaceProbe::leans(int t, const Corner& corner, double tolerance) const {
  if (corner.rays.empty()) return true;
  Rims rims;
  for (int k = 0; k < 3; ++k) {
    const SurfaceEdge& edge = index_.edge(index_.edge_of(t, k));
    const Vec3& inward = edge.inward[edge.triangle[0] == t ? 0 : 1];
    if (std::abs(inward.dot(corner.p - index_.vertex(edge.a))) <= tolerance) rims.add(inward);
  }
  return leans_over(corner.rays, rims);
}

bool SurfaceProbe::find_facet(int t, const Corner& corner, FacetTouch* touch) const {
  const Vec3 normal = side(t) * index_.normal(t);
  const double height = normal.dot(corner.p - index_.vertex(index_.triangle(t)[0]));
  if (height - corner.radius > sink_->reach()) return false;
  double beyond = sink_->reach();
  if (two_sided_ || corner.on) {
    if (height < -(deep_ + corner.radius + snap_)) return false;
  } else if (corner.nearest.inside) {
    if (height > tiny_) return false;
    beyond += 2 * corner.nearest.distance;
  } else if (height < -tiny_) {
    return false;
  }
  if (!fits(corner.rays, normal, height, kRock) || normal.dot(corner.outward) > kAwry) return false;
  const double tolerance = snap_ + kAskew * std::abs(height);
  if (!is_over(t, corner.p, tolerance, 0)) {
    // A plane that comes nearer than the surface does is not one of a valley that the point is in.
    if (std::abs(height) < corner.nearest.distance - tiny_ || !is_over(t, corner.p, tolerance, beyond)) return false;
  }
  if (!leans(t, corner, tolerance)) return false;
  *touch = {t, normal, height, std::max(0.0, -height) + calc_drop(corner.rays, normal)};
  return true;
}

/// Of facets that the point is behind those count that are not much deeper than the nearest way out of the corner and
/// its edges; edges may be deeper only in a facet that stands on the nearest one (a wall on a floor).
void SurfaceProbe::find_facets(const Corner& corner, std::span<const std::int32_t> near,
                               std::vector<FacetTouch>* found) const {
  found->clear();
  for (const std::int32_t t : near) {
    FacetTouch touch;
    if (find_facet(t, corner, &touch)) found->push_back(touch);
  }
  if ((!corner.nearest.inside && !corner.on) || found->size() < 2) return;
  const FacetTouch best = *std::min_element(
      found->begin(), found->end(), [](const FacetTouch& x, const FacetTouch& y) { return x.way_out < y.way_out; });
  const double most = 2 * best.way_out + snap_;
  const Vec3& on_best = index_.vertex(index_.triangle(best.triangle)[0]);
  std::erase_if(*found, [&](const FacetTouch& touch) {
    if (-touch.height > most) return true;
    if (touch.way_out <= most) return false;
    const Triangle& corners = index_.triangle(touch.triangle);
    return std::all_of(corners.begin(), corners.end(),
                       [&](std::int32_t v) { return best.normal.dot(index_.vertex(v) - on_best) <= snap_; });
  });
}

/// Deep facets that are farther away than the nearest point of the surface with all that hangs below the corner there:
/// a rod that sticks through a plate is not pushed out of the plate's far end, however well its corner fits that.
void SurfaceProbe::drop_far_facets(const Corner& corner, std::vector<FacetTouch>* found) const {
  const Nearest& nearest = corner.nearest;
  if (found->empty() || corner.rays.empty() || !(nearest.distance > tiny_)) return;
  const Vec3 normal = (nearest.at.point - corner.p) / nearest.distance;
  const double way_out = nearest.distance + calc_drop(corner.rays, normal) + snap_;
  std::erase_if(*found, [&](const FacetTouch& touch) { return -touch.height > far_ && touch.way_out > way_out; });
}

/// For a corner that lies on an edge and leans over neither of its sides (an edge exactly over a parallel one): either
/// side's normal is right. That side counts to which more of the body is, so that a slab that lies there stays.
void SurfaceProbe::find_lying_normal(const std::array<Vec3, 2>& sides, const Vec3& bisector, const Corner& corner,
                                     Vec3* normal) const {
  *normal = Vec3::Zero();
  double most = -kInfinity;
  for (const Vec3& n : sides) {
    const double along = n.dot(body_.center - corner.p);
    if (along <= most + snap_ || !fits(corner.rays, n, 0, kWedgeSlack)) continue;
    most = along;
    *normal = n;
  }
  if (normal->isZero(0) && fits(corner.rays, bisector, 0, kWedgeSlack)) *normal = bisector;
}

int SurfaceProbe::touch_ridges(const Corner& corner, int t, const std::vector<FacetTouch>& taken) {
  int found = 0;
  for (int k = 0; k < 3; ++k) {
    const SurfaceEdge& edge = index_.edge(index_.edge_of(t, k));
    if (edge.triangle[0] != t || !is_ridge(edge)) continue;
    const bool known = std::any_of(taken.begin(), taken.end(), [&](const FacetTouch& touch) {
      const int facet = index_.facet(touch.triangle);
      return facet == index_.facet(t) || (edge.triangle[1] >= 0 && facet == index_.facet(edge.triangle[1]));
    });
    if (known && corner.radius == 0) continue;
    const Vec3 &a = index_.vertex(edge.a), along = index_.vertex(edge.b) - a;
    const double s = along.dot(corner.p - a) / along.squaredNorm();
    const double low = edge.joint[0] ? -kRegionSlack : 0, high = edge.joint[1] ? 1 + kRegionSlack : 1;
    if (!(s > low && s < high)) continue;
    const Vec3 at = a + s * along, d = corner.p - at;
    const double distance = d.norm(), slack = kRegionSlack * distance;
    if (distance - corner.radius > sink_->reach()) continue;
    Vec3 normal = d / distance;
    if (distance > (corner.radius > 0 ? tiny_ : snap_)) {
      if (d.dot(edge.inward[0]) > slack || d.dot(edge.inward[1]) > slack) continue;
      if (!fits(corner.rays, normal, 0, kWedgeSlack)) continue;
    } else {
      const Vec3 one = side(t) * index_.normal(t);
      const Vec3 other = edge.triangle[1] < 0 ? one : Vec3(side(edge.triangle[1]) * index_.normal(edge.triangle[1]));
      find_lying_normal({one, other}, edge.outward, corner, &normal);
      if (normal.isZero(0)) continue;
    }
    found += add(kPointEdge, corner.name, edge.chain, normal, at, normal.dot(d) - corner.radius);
  }
  return found;
}

int SurfaceProbe::touch_tips(const Corner& corner, int t) {
  int found = 0;
  for (const std::int32_t v : index_.triangle(t)) {
    if (index_.owner(v) != t || index_.is_flat(v)) continue;
    const Vec3 d = corner.p - index_.vertex(v);
    const double distance = d.norm();
    if (distance - corner.radius > sink_->reach()) continue;
    const bool lies = distance <= (corner.radius > 0 ? tiny_ : snap_);
    const Vec3 normal = lies ? index_.outward(v) : Vec3(d / distance);
    if (!index_.holds(v, normal, kRegionSlack) || !fits(corner.rays, normal, 0, kWedgeSlack)) continue;
    found += add(kPointVertex, corner.name, v, normal, index_.vertex(v), (lies ? 0 : distance) - corner.radius);
  }
  return found;
}

/// What rounding let fall between the regions of edges and tips: the nearest point itself. Facets have no gaps; theirs
/// only counts as the last way out of a solid (`sunk_`).
void SurfaceProbe::touch_nearest(const Corner& corner) {
  const Nearest& nearest = corner.nearest;
  const int t = nearest.triangle, k = nearest.at.corner;
  const double sign = nearest.inside ? -1 : 1;
  Vec3 normal = side(t) * index_.normal(t);
  if (nearest.distance > tiny_) normal = sign / nearest.distance * (corner.p - nearest.at.point);
  const double gap = sign * nearest.distance - corner.radius;
  if (normal.dot(corner.outward) > kAwry) return;
  if (!corner.rays.empty() && !(sunk_ && nearest.inside)) {
    if (corner.on || nearest.at.on == TrianglePoint::On::Face || !fits(corner.rays, normal, 0, kWedgeSlack)) return;
  }
  switch (nearest.at.on) {
    case TrianglePoint::On::Face:
      add(kPointFacet, corner.name, index_.facet(t), normal, nearest.at.point, gap);
      break;
    case TrianglePoint::On::Edge:
      add(kPointEdge, corner.name, index_.edge(index_.edge_of(t, k)).chain, normal, nearest.at.point, gap);
      break;
    case TrianglePoint::On::Vertex:
      add(kPointVertex, corner.name, index_.triangle(t)[k], normal, nearest.at.point, gap);
      break;
  }
}

void SurfaceProbe::touch_point(int i, const Vec3& p, double radius, std::span<const Vec3> rays, const Vec3& outward) {
  if (!is_near(p)) return;
  const Corner corner{i, p, radius, rays, outward, find_nearest_point(p, calc_depth(radius))};
  if (corner.nearest.triangle >= 0) touch_corner(corner);
}

void SurfaceProbe::touch_corner(Corner corner) {
  const double reach = sink_->reach(), radius = corner.radius;
  const Vec3& p = corner.p;
  const int i = corner.name;
  const Nearest& nearest = corner.nearest;
  corner.on = radius == 0 && nearest.distance <= snap_;
  const bool behind = nearest.inside && !corner.on;
  if (!corner.on && !behind && !two_sided_ && nearest.distance - radius > reach) return;
  // Facets count beyond their valleys (is_over).
  const double within = behind ? 4 * nearest.distance + reach : radius + 2 * reach + (two_sided_ ? deep_ : 0);
  thread_local std::vector<FacetTouch> facets;  // scratch that keeps its capacity
  thread_local std::vector<std::int32_t> near;
  find_triangles(p, within + snap_, &near);
  find_facets(corner, near, &facets);
  if (behind) drop_far_facets(corner, &facets);
  // The nearest facets may be ones that the body cannot be pushed along: flush sides, the far side of a plate.
  if (facets.empty() && radius == 0 && (corner.on || behind)) {
    thread_local std::vector<std::int32_t> deep;
    find_triangles(p, deep_ + snap_, &deep);
    find_facets(corner, deep, &facets);
    if (behind) drop_far_facets(corner, &facets);
  }
  int found = 0;
  for (const FacetTouch& touch : facets) {
    const Vec3 foot = p - touch.height * touch.normal;
    found += add(kPointFacet, i, index_.facet(touch.triangle), touch.normal, foot, touch.height - radius);
  }
  if (!behind) {
    for (const std::int32_t t : near) found += touch_ridges(corner, t, facets);
    if (!corner.on || found == 0) {
      for (const std::int32_t t : near) found += touch_tips(corner, t);
    }
  }
  if (found == 0) touch_nearest(corner);
}

/// The common normal of an edge and a ridge, if both can be pushed along it. Bodies that rock keep their support: a
/// normal that is beyond that of a face by no more than kRock becomes the face's.
bool SurfaceProbe::find_edge_normal(const ProbeEdge& own, const SurfaceEdge& edge, Vec3* normal, bool* rocks) const {
  const auto find_beyond = [&](Vec3* inward) {
    double most = -kInfinity;
    for (int k = 0; k < 2; ++k) {
      const double of_edge = normal->dot(edge.inward[k]), of_own = -normal->dot(own.inward[k]);
      if (std::max(of_edge, of_own) <= most) continue;
      most = std::max(of_edge, of_own);
      *inward = of_edge > of_own ? edge.inward[k] : own.inward[k];
    }
    return most;
  };
  Vec3 inward;
  const double beyond = find_beyond(&inward);
  *rocks = beyond > kWedgeSlack;
  if (!*rocks) return true;
  if (beyond > kRock || body_.radius > 0) return false;
  *normal = (*normal - normal->dot(inward) * inward).normalized();
  return find_beyond(&inward) <= kRock;
}

/// The crossing of an edge and a ridge, seen along their normal. One at an end belongs to the corner there, except
/// where a straight line goes on or meets a valley.
void SurfaceProbe::touch_edge_pair(const ProbeEdge& own, int e) {
  const SurfaceEdge& edge = index_.edge(e);
  if (!is_ridge(edge)) return;
  const Vec3 middle = (own.from + own.to) / 2, half = (own.to - own.from) / 2;
  const Vec3 edge_middle = (index_.vertex(edge.a) + index_.vertex(edge.b)) / 2;
  const Vec3 edge_half = (index_.vertex(edge.b) - index_.vertex(edge.a)) / 2;
  const double length = half.norm(), edge_length = edge_half.norm();
  Vec3 normal = half.cross(edge_half);
  const double sine = normal.norm();
  if (!(sine > kParallel * length * edge_length)) return;
  normal /= sine;
  const bool by_center = two_sided_ || form(edge) == EdgeForm::Rim;
  const double way = by_center ? normal.dot(body_.center - edge_middle) : normal.dot(edge.outward);
  if (way < 0) normal = -normal;
  bool rocks = false;
  if (!find_edge_normal(own, edge, &normal, &rocks)) return;
  const auto as_seen = [&](const Vec3& x) { return Vec3(x - normal.dot(x) * normal); };
  double s, t;
  if (!closest_on_lines(as_seen(middle - edge_middle), as_seen(half), Vec3::Zero(), as_seen(edge_half), &s, &t)) return;
  const auto is_between = [&](double at, double half_length, const std::array<bool, 2>& joint) {
    const double to_end = (1 - std::abs(at)) * half_length;
    return to_end > (joint[at > 0 ? 1 : 0] ? -snap_ : snap_ / 2);
  };
  if (!is_between(s, length, own.joint) || !is_between(t, edge_length, edge.joint)) return;
  const Vec3 on_body = middle + s * half, on_edge = edge_middle + t * edge_half;
  const double height = normal.dot(on_body - on_edge);
  if (height < -edge_deep_ || height - body_.radius > sink_->reach()) return;
  const Crossing crossing{static_cast<std::uint64_t>(own.name), static_cast<std::uint64_t>(edge.chain), normal, on_edge,
                          height};
  if (rocks) {
    // How far the ends of the edges are beyond each other: what a real support has little of.
    const double beyond =
        (1 + std::abs(s)) * std::abs(normal.dot(half)) + (1 + std::abs(t)) * std::abs(normal.dot(edge_half));
    rocking_crossings().push_back({crossing, std::max(0.0, -height) + beyond});
    return;
  }
  touch_crossing(crossing);
}

void SurfaceProbe::touch_crossing(const Crossing& crossing) {
  const double height = crossing.height;
  // Edges that have passed each other by much where a corner is out by little: the way out is the corner's.
  const Vec3 place = origin_ + rotation_ * crossing.on_edge;
  if (height < -snap_ && sink_->has_shallower(place, -2 * height, 0.5 * height + snap_, snap_)) return;
  add(kEdgeEdge, crossing.own, crossing.chain, crossing.normal, crossing.on_edge, height - body_.radius);
}

/// After all others, the shortest way out first: they do not count where something else there shows a shorter one (the
/// side of a body that overlaps an edge by a hair is nearly parallel to the side below, and is no support).
void SurfaceProbe::touch_rocking() {
  std::vector<RockingCrossing>& crossings = rocking_crossings();
  std::sort(crossings.begin(), crossings.end(), [](const RockingCrossing& x, const RockingCrossing& y) {
    return std::tie(x.way_out, x.crossing.own, x.crossing.chain) <
           std::tie(y.way_out, y.crossing.own, y.crossing.chain);
  });
  for (const RockingCrossing& rocking : crossings) {
    const Crossing& crossing = rocking.crossing;
    const Vec3 place = origin_ + rotation_ * crossing.on_edge, normal = rotation_ * crossing.normal;
    const double radius = 2 * rocking.way_out + place_;
    if (!sink_->has_other_way(place, radius, -rocking.way_out / 2, normal, kSameWay)) touch_crossing(crossing);
  }
  crossings.clear();
}

/// Tips of the surface against an edge of the body: the side of a capsule, or an edge that a tip is in the region of.
void SurfaceProbe::touch_edge_tips(const ProbeEdge& own, int t) {
  const Vec3 middle = (own.from + own.to) / 2, half = (own.to - own.from) / 2;
  for (const std::int32_t v : index_.triangle(t)) {
    if (index_.owner(v) != t || index_.is_flat(v)) continue;
    const double s = closest_on_line(index_.vertex(v), middle, half);
    if (!(std::abs(s) < 1)) continue;
    const Vec3 d = middle + s * half - index_.vertex(v);
    const double distance = d.norm();
    if (distance - body_.radius > sink_->reach() || distance <= (body_.radius > 0 ? tiny_ : snap_)) continue;
    const Vec3 normal = d / distance;
    // Crossings within half a snap of the end of a ridge are left to its tip.
    const double slack = body_.radius > 0 ? kRegionSlack + snap_ / distance : kRegionSlack;
    if (!index_.holds(v, normal, slack)) continue;
    if (normal.dot(own.inward[0]) < -kWedgeSlack || normal.dot(own.inward[1]) < -kWedgeSlack) continue;
    add(kEdgeVertex, own.name, v, normal, index_.vertex(v), distance - body_.radius);
  }
}

/// What an edge may meet.
Bounds SurfaceProbe::calc_edge_box(const ProbeEdge& own) const {
  const Vec3 wide = Vec3::Constant(sink_->reach() + edge_deep_ + snap_);
  return {own.from.cwiseMin(own.to) - wide, own.from.cwiseMax(own.to) + wide};
}

void SurfaceProbe::touch_edge(const ProbeEdge& own) {
  if (!BoxTree::overlap(region_, {own.from.cwiseMin(own.to), own.from.cwiseMax(own.to)})) return;
  index_.tree().find(calc_edge_box(own), [&](int t) { touch_edge_with(own, t); });
}

/// The tips and ridges that a triangle owns.
void SurfaceProbe::touch_edge_with(const ProbeEdge& own, int t) {
  touch_edge_tips(own, t);
  for (int k = 0; k < 3; ++k) {
    const int e = index_.edge_of(t, k);
    if (index_.edge(e).triangle[0] == t) touch_edge_pair(own, e);
  }
}

void SurfaceProbe::touch_faces() {
  if (body_.faces.empty()) return;
  const BodyPoints& body = body_points();
  const double clear = calc_clearance();
  const Vec3 wide = Vec3::Constant(sink_->reach() + snap_);
  const Bounds box{body.box.low - wide, body.box.high + wide};
  for (int k = 0; k < body.near.count(); ++k) {
    if (is_clear_of(k, clear) || !BoxTree::overlap(body.near.bounds(k), box)) continue;
    const int t = body.near.triangle(k);
    for (const std::int32_t v : index_.triangle(t)) {
      if (index_.owner(v) == t && !index_.is_flat(v)) touch_face_with(v);
    }
  }
}

/// The same as a point over facets with the roles exchanged: the vertex against every face of the body.
void SurfaceProbe::touch_face_with(int v) {
  thread_local std::vector<Vec3> rays;  // scratch that keeps its capacity
  thread_local std::vector<double> heights;
  const Vec3 p = body_.rotation.transpose() * (index_.vertex(v) - body_.origin);
  heights.clear();
  double most = -kInfinity;
  for (const PolytopeFace& face : body_.faces) {
    heights.push_back(face.normal.dot(p) - face.offset);
    most = std::max(most, heights.back());
    if (most > sink_->reach() + snap_) return;  // flush sides are not beyond reach
  }
  has_sunk_vertex_ = has_sunk_vertex_ || most <= snap_;
  if (most < -deep_) return;
  index_.update_rays(v, &rays);
  for (Vec3& ray : rays) ray = body_.rotation.transpose() * ray;
  const Vec3 outward = two_sided_ ? Vec3(Vec3::Zero()) : Vec3(body_.rotation.transpose() * index_.outward(v));
  // The foot of what is outside is on the face it is highest over; inside, the least deep faces that it fits count.
  const double lowest = most > snap_ ? most - snap_ : -deep_;
  double most_out = kInfinity;  // the way out of the vertex and its edges
  for (const bool counted : {false, true}) {
    for (std::size_t f = 0; f < body_.faces.size(); ++f) {
      const double height = heights[f];
      const Vec3& normal = body_.faces[f].normal;
      if (height < lowest || normal.dot(outward) > kAwry || !fits(rays, normal, height, kRock)) continue;
      const double way_out = std::max(0.0, -height) + calc_drop(rays, normal);
      if (most <= snap_ && way_out > most_out) continue;
      if (!leans_over_face(f, heights, rays)) continue;
      if (counted) add(kFaceVertex, f, v, -(body_.rotation * normal), index_.vertex(v), height);
      most_out = std::min(most_out, 2 * way_out + snap_);
    }
  }
}

/// A vertex of these heights over the faces is over face f, and the surface leans over it there.
bool SurfaceProbe::leans_over_face(std::size_t f, std::span<const double> heights, std::span<const Vec3> rays) const {
  const Vec3& normal = body_.faces[f].normal;
  const double tolerance = snap_ + kAskew * std::abs(heights[f]);
  Rims rims;
  for (std::size_t g = 0; g < body_.faces.size(); ++g) {
    if (g == f) continue;
    const double along = normal.dot(body_.faces[g].normal), beside = heights[g] - heights[f] * along;
    const double sine = std::sqrt(std::max(1 - along * along, 1e-30));
    if (beside > tolerance * sine) return false;
    if (beside >= -tolerance * sine) rims.add((along * normal - body_.faces[g].normal) / sine);
  }
  return leans_over(rays, rims);
}

}  // namespace slipstick
