// Convex polygons and disks in the plane z = 0.
#include "collision/narrow_phase.h"
#include "collision/tolerances.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace slipstick {
namespace {

Vec3 as_3d(const Vec2& p) { return {p.x(), p.y(), 0}; }

int after(const PlacedShape& polygon, int k) { return k + 1 == polygon.point_count ? 0 : k + 1; }

double height(const PlacedShape& polygon, int edge, const Vec2& p) {
  return polygon.edge_normals[edge].dot(p - polygon.points[edge]);
}

/// Closest point of the edge from point k on, and its parameter in [0, 1].
Vec2 closest_on_edge(const PlacedShape& polygon, int k, const Vec2& p) {
  const Vec2& from = polygon.points[k];
  const Vec2 d = polygon.points[after(polygon, k)] - from;
  return from + std::clamp(d.dot(p - from) / d.squaredNorm(), 0.0, 1.0) * d;
}

bool is_inner(const PlacedShape& polygon, int edge) { return polygon.corners && polygon.corners[edge].inner; }

/// The direction, near to d, in which the part that a piece belongs to can be touched at this vertex: the piece itself
/// has a corner there that its part may not have. d is a unit vector, outwards. Nothing: none is near.
std::optional<Vec2> find_allowed(const PlacedShape& polygon, int vertex, const Vec2& d) {
  if (!polygon.corners) return d;
  constexpr double kNear = 0.1;  // what is tilted by so little still rests on the sides that meet there
  const OutlineCorner& corner = polygon.corners[vertex];
  const auto to_world = polygon.frame.topLeftCorner<2, 2>();
  const Vec2 own = to_world.transpose() * d;
  const auto turn = [](const Vec2& a, const Vec2& b) { return a.x() * b.y() - a.y() * b.x(); };
  if (!corner.hollow && turn(corner.before, own) >= 0 && turn(own, corner.after) >= 0 &&
      own.dot(corner.before + corner.after) > 0)
    return d;
  const double before = (own - corner.before).norm(), after = (own - corner.after).norm();
  if (std::min(before, after) > kNear) return std::nullopt;
  return Vec2(to_world * (before <= after ? corner.before : corner.after));
}

bool allows(const PlacedShape& polygon, int vertex, const Vec2& d) {
  return find_allowed(polygon, vertex, d).has_value();
}

/// Where the outline bends inwards: the side of this piece that what is near the corner comes to. Both sides of such a
/// corner hold for all that is near it.
std::optional<Vec2> find_hollow(const PlacedShape& polygon, int vertex, const Vec2& d) {
  std::optional<Vec2> best;
  const int before = vertex == 0 ? polygon.point_count - 1 : vertex - 1;
  for (const int edge : {before, vertex}) {
    const Vec2& n = polygon.edge_normals[edge];
    if (is_inner(polygon, edge) || !(n.dot(d) > 0)) continue;
    if (!best || n.dot(d) > best->dot(d)) best = n;
  }
  return best;
}

/// The same of a point on its boundary.
std::optional<Vec2> find_allowed_at(const PlacedShape& polygon, const Vec2& p, const Vec2& d, double same) {
  if (!polygon.corners) return d;
  for (int v = 0; v < polygon.point_count; ++v) {
    if ((polygon.points[v] - p).norm() > same) continue;
    return polygon.corners[v].hollow ? find_hollow(polygon, v, d) : find_allowed(polygon, v, d);
  }
  return d;
}

struct EdgeSeparation {
  double value = -1e300;
  int edge = 0;
  double any = -1e300;  ///< the greatest height, also over edges that nothing can touch
};

/// Whether one of the vertices of a piece that lie lowest along n can be touched there.
bool allows_lowest(const PlacedShape& polygon, const Vec2& n, double lowest) {
  if (!polygon.corners) return true;
  const double same = kSameGap * polygon.bound;
  for (int v = 0; v < polygon.point_count; ++v)
    if (n.dot(polygon.points[v]) <= lowest + same && allows(polygon, v, -n)) return true;
  return false;
}

/// max over the edges of `own` of the least height of `other` over it; stops once that is above `enough`.
EdgeSeparation calc_separation(const PlacedShape& own, const PlacedShape& other, double enough) {
  EdgeSeparation best;
  for (int k = 0; k < own.point_count && best.any <= enough; ++k) {
    double least = 1e300;
    for (int v = 0; v < other.point_count; ++v) {
      least = std::min(least, own.edge_normals[k].dot(other.points[v]));
    }
    const double lowest = least;
    least -= own.edge_normals[k].dot(own.points[k]);
    best.any = std::max(best.any, least);
    if (least > best.value && !is_inner(own, k) && allows_lowest(other, own.edge_normals[k], lowest))
      best.value = least, best.edge = k;
  }
  return best;
}

/// Features of two polygons: a vertex of A, or one of B.
constexpr std::uint32_t kOfB = 1u << 31;

struct EdgePoint {
  Vec2 on_edge;  ///< on the reference edge
  double height;
  std::uint32_t feature;
  Vec2 normal;  ///< of that edge
};

class PolygonPair {
 public:
  PolygonPair(const PlacedShape& a, const PlacedShape& b, ContactSink* sink)
      : a_(a), b_(b), sink_(*sink), scale_(std::min(a.bound, b.bound)) {}

  void find();

 private:
  struct Closest {
    Vec2 on_a, on_b;
    double distance_sq = 1e300;
    std::uint32_t feature = 0;
  };

  bool has_pieces() const { return a_.corners || b_.corners; }
  void update_manifold(bool of_a, int edge);
  void update_facing(bool of_a, int edge);
  void add_overlap(bool of_a, int edge, int facing);
  void add_manifold(bool of_a, const Closest* taken);
  void add_point(const EdgePoint& point);
  Closest find_closest() const;
  void add_near_edge(const Vec2& normal, const Closest& closest);
  void add_at_corners(const Vec2& normal, const Closest& closest);

  const PlacedShape &a_, &b_;
  ContactSink& sink_;
  double scale_;
  std::array<EdgePoint, 16> manifold_;  ///< two of whole polygons
  int count_ = 0;
};

void PolygonPair::add_point(const EdgePoint& point) {
  for (int k = 0; k < count_; ++k) {
    const bool same =
        manifold_[k].feature == point.feature || (manifold_[k].on_edge - point.on_edge).norm() <= kSamePoint * scale_;
    if (!same) continue;
    if (point.height < manifold_[k].height) manifold_[k] = point;
    return;
  }
  if (count_ < static_cast<int>(manifold_.size())) manifold_[count_++] = point;
}

/// The two ends of the overlap of the reference edge and the other polygon's most opposed edge, seen along the normal.
/// Each end is a vertex of one of them; where both have one, A's gives the name.
void PolygonPair::update_manifold(bool of_a, int edge) {
  const PlacedShape& own = of_a ? a_ : b_;
  const PlacedShape& other = of_a ? b_ : a_;
  count_ = 0;
  const Vec2& n = own.edge_normals[edge];
  int facing = 0;
  double least = 2;
  for (int k = 0; k < other.point_count; ++k) {
    const double cosine = n.dot(other.edge_normals[k]);
    if (cosine < least) {
      least = cosine;
      facing = k;
    }
  }
  add_overlap(of_a, edge, facing);
}

/// The same of pieces, whose parts may bend a little at every corner: all sides that face each other about here.
void PolygonPair::update_facing(bool of_a, int edge) {
  const PlacedShape& own = of_a ? a_ : b_;
  const PlacedShape& other = of_a ? b_ : a_;
  const Vec2& n = own.edge_normals[edge];
  count_ = 0;
  for (int k = 0; k < own.point_count; ++k) {
    if (is_inner(own, k) || n.dot(own.edge_normals[k]) < kNearFace) continue;
    for (int j = 0; j < other.point_count; ++j)
      if (!is_inner(other, j) && n.dot(other.edge_normals[j]) <= -kNearFace) add_overlap(of_a, k, j);
  }
  if (count_ == 0) update_manifold(of_a, edge);
}

void PolygonPair::add_overlap(bool of_a, int edge, int facing) {
  const PlacedShape& own = of_a ? a_ : b_;
  const PlacedShape& other = of_a ? b_ : a_;
  const Vec2& n = own.edge_normals[edge];
  // Along the reference edge own vertices are at 0 and length; the facing edge runs the other way.
  const Vec2& origin = own.points[edge];
  const Vec2 tangent(-n.y(), n.x());
  const double length = tangent.dot(own.points[after(own, edge)] - origin);
  const int start = after(other, facing);
  const Vec2 from = other.points[start] - origin, to = other.points[facing] - origin;
  const double x0 = tangent.dot(from), x1 = tangent.dot(to);
  const double y0 = n.dot(from), y1 = n.dot(to);
  if (!(x1 > x0) || x1 < 0 || x0 > length) return;
  const double same = kSamePoint * scale_;
  const auto add_end = [&](double own_x, int own_vertex, double other_x, int other_vertex, bool use_own) {
    const double x = use_own ? own_x : other_x;
    const bool named_own = std::abs(own_x - other_x) <= same ? of_a : use_own;
    const bool named_a = named_own == of_a;
    const std::uint32_t vertex = named_own ? own_vertex : other_vertex;
    const double y = y0 + (x - x0) / (x1 - x0) * (y1 - y0);
    add_point({origin + x * tangent, use_own ? y : (x == x0 ? y0 : y1), named_a ? vertex : vertex | kOfB, n});
  };
  add_end(0, edge, x0, start, x0 < 0);
  add_end(length, after(own, edge), x1, facing, x1 > length);
}

void PolygonPair::add_manifold(bool of_a, const Closest* taken) {
  for (int k = 0; k < count_; ++k) {
    const EdgePoint& p = manifold_[k];
    const Vec2& n = p.normal;
    if (taken) {
      const Vec2& at = of_a ? taken->on_a : taken->on_b;
      const bool known = taken->feature == p.feature || (at - p.on_edge).norm() <= kSamePoint * scale_;
      if (known) continue;
    }
    sink_.add_from(of_a, as_3d(p.on_edge), as_3d(of_a ? n : Vec2(-n)), p.height, p.feature);
  }
}

PolygonPair::Closest PolygonPair::find_closest() const {
  Closest best;
  for (const bool of_a : {true, false}) {
    const PlacedShape& own = of_a ? a_ : b_;
    const PlacedShape& other = of_a ? b_ : a_;
    for (int v = 0; v < own.point_count; ++v) {
      for (int k = 0; k < other.point_count; ++k) {
        if (is_inner(other, k)) continue;
        const Vec2& p = own.points[v];
        const Vec2 q = closest_on_edge(other, k, p);
        const double distance_sq = (q - p).squaredNorm();
        if (distance_sq >= best.distance_sq * (1 - 1e-12)) continue;  // two vertices: A's gives the name
        const std::uint32_t vertex = v;
        best = {of_a ? p : q, of_a ? q : p, distance_sq, of_a ? vertex : vertex | kOfB};
      }
    }
  }
  return best;
}

void PolygonPair::add_near_edge(const Vec2& normal, const Closest& closest) {
  double best = kNearFace;
  bool of_a = true;
  int edge = -1;
  for (int k = 0; k < a_.point_count; ++k) {
    const double cosine = normal.dot(a_.edge_normals[k]);
    if (cosine > best && !is_inner(a_, k)) {
      best = cosine;
      edge = k;
    }
  }
  best += kSameGap;
  for (int k = 0; k < b_.point_count; ++k) {
    const double cosine = -normal.dot(b_.edge_normals[k]);
    if (cosine > best && !is_inner(b_, k)) {
      best = cosine;
      edge = k;
      of_a = false;
    }
  }
  if (edge < 0) return;
  update_manifold(of_a, edge);
  add_manifold(of_a, &closest);
}

/// Of pieces: the closest points push along what their parts allow there, or not at all.
void PolygonPair::add_at_corners(const Vec2& normal, const Closest& closest) {
  const double same = kTouching * scale_;
  const auto from_a = find_allowed_at(a_, closest.on_a, normal, same);
  if (!from_a) return;
  const auto from_b = find_allowed_at(b_, closest.on_b, -*from_a, same);
  if (!from_b) return;
  const Vec2 pushed = -*from_b;
  const double gap = pushed.dot(closest.on_b - closest.on_a);
  if (gap > sink_.reach()) return;
  sink_.add(as_3d(closest.on_a), as_3d(closest.on_a + gap * pushed), as_3d(pushed), gap, closest.feature);
  add_near_edge(pushed, closest);
}

void PolygonPair::find() {
  const EdgeSeparation over_a = calc_separation(a_, b_, sink_.reach());
  if (over_a.any > sink_.reach()) return;
  const EdgeSeparation over_b = calc_separation(b_, a_, sink_.reach());
  if (over_b.any > sink_.reach()) return;
  const double slack = kSameGap * scale_;
  const bool of_a = over_a.value >= over_b.value - slack;
  const int edge = of_a ? over_a.edge : over_b.edge;
  const double separation = std::max(over_a.value, over_b.value);
  if (has_pieces()) {
    update_facing(of_a, edge);
  } else {
    update_manifold(of_a, edge);
  }
  double least = 1e300;
  for (int k = 0; k < count_; ++k) least = std::min(least, manifold_[k].height);
  const bool apart = std::max(over_a.any, over_b.any) > 0;
  // The lowest vertex may lie beyond a piece's side, over the next piece: this one carries what is over it.
  const bool beside = !apart && count_ > 0 && has_pieces();
  if (least <= separation + slack || beside) return add_manifold(of_a, nullptr);
  const Closest closest = find_closest();
  const double distance = std::sqrt(closest.distance_sq);
  const double same = kTouching * scale_;
  if (apart && distance > same) {
    if (distance > sink_.reach()) return;
    const Vec2 normal = (closest.on_b - closest.on_a) / distance;
    if (has_pieces()) return add_at_corners(normal, closest);
    sink_.add(as_3d(closest.on_a), as_3d(closest.on_b), as_3d(normal), distance, closest.feature);
    return add_near_edge(normal, closest);
  }
  // Two vertices meet to working accuracy: the best edge's direction, at the vertex.
  const Vec2 n = of_a ? a_.edge_normals[edge] : Vec2(-b_.edge_normals[edge]);
  const bool other = has_pieces() && std::abs(separation) > distance + slack;
  if (other || !find_allowed_at(a_, closest.on_a, n, same) || !find_allowed_at(b_, closest.on_b, -n, same))
    return;  // what touches here is another piece
  sink_.add_from(of_a, as_3d(of_a ? closest.on_a : closest.on_b), as_3d(n), separation, closest.feature);
}

}  // namespace

void find_disk_polygon(const PlacedShape& disk, const PlacedShape& polygon, ContactSink* sink) {
  const Vec2 p = disk.center.head<2>();
  const double far = sink->reach() + disk.radius;
  int edge = -1;
  double separation = -1e300, any = -1e300;
  for (int k = 0; k < polygon.point_count; ++k) {
    const double h = height(polygon, k, p);
    if (h > far) return;
    any = std::max(any, h);
    if (h > separation && !is_inner(polygon, k)) {
      separation = h;
      edge = k;
    }
  }
  // The closest point of a convex polygon is on the edge of greatest height; where that is no edge of its part, it is
  // another piece that the disk is near.
  if (edge < 0 || (any > 0 && any > separation)) return;
  const Vec2 on_polygon = closest_on_edge(polygon, edge, p);
  const double distance = (on_polygon - p).norm();
  const bool outside = separation > 0 && distance > kTouching * disk.radius;
  const Vec2 away = outside ? Vec2((on_polygon - p) / distance) : Vec2(-polygon.edge_normals[edge]);
  const auto allowed = find_allowed_at(polygon, on_polygon, -away, kTouching * disk.radius);
  if (!allowed) return;
  const Vec2 normal = polygon.corners ? Vec2(-*allowed) : away;
  const double core = !outside ? separation : polygon.corners ? normal.dot(on_polygon - p) : distance;
  sink->add_from(true, as_3d(p + disk.radius * normal), as_3d(normal), core - disk.radius, 0);
}

void find_polygon_polygon(const PlacedShape& a, const PlacedShape& b, ContactSink* sink) {
  PolygonPair(a, b, sink).find();
}

}  // namespace slipstick
