// Overlap with surfaces: where do triangles of one solid lie inside the other, and how large does a ball grow from
// there?
#include <algorithm>
#include <cmath>

#include "audit/overlap_meter.h"
#include "audit/surface_tree.h"

namespace slipstick {
namespace {

/// Lengths below this part of the size are rounding.
constexpr double kTiny = 1e-8;
/// More triangles than this are looked at with a stride: larger overlaps are on many of them.
constexpr std::size_t kMostTriangles = 400;
constexpr std::size_t kMostAscents = 6;
constexpr int kMostAscentSteps = 24;
constexpr int kMostNearWalls = 600;

/// A solid as seen from the frame of another one.
Solid seen_from(const Solid& frame, const Solid& solid) {
  Solid s = solid;
  s.center = frame.to_local(solid.center);
  s.frame = frame.frame.transpose() * solid.frame;
  return s;
}

/// A point well inside a convex solid.
Vec3 find_heart(const Solid& s) {
  if (s.kind != ShapeKind::Hull) return s.center;
  Vec3 mean = Vec3::Zero();
  for (const Vec3& v : s.hull->vertices) mean += v;
  return s.to_world(mean / static_cast<double>(s.hull->vertices.size()));
}

/// True if one flat wall or the wall nearest to the triangle's middle has all of it on its outer side.
bool is_outside(const std::array<Vec3, 3>& corner, const Solid& solid, double tiny) {
  bool outside = false;
  const auto test = [&](const Vec3& n, double offset) {
    outside = outside || std::min({n.dot(corner[0]), n.dot(corner[1]), n.dot(corner[2])}) > offset - tiny;
  };
  for_each_face(solid, test);
  if (outside || !solid.is_round()) return outside;
  const Wall wall = find_round_wall(solid, find_on_triangle(solid.center, corner));
  test(wall.normal, wall.offset);
  return outside;
}

/// The part of a convex polygon in a box, by its six sides.
void clip_to_box(const Box3& box, std::vector<Vec3>* polygon, std::vector<Vec3>* scratch) {
  std::vector<Vec3>& kept = *scratch;
  for (int side = 0; side < 6; ++side) {
    const int k = side / 2;
    const double sign = side % 2 == 0 ? 1 : -1, limit = side % 2 == 0 ? box.high[k] : -box.low[k];
    kept.clear();
    for (std::size_t i = 0; i < polygon->size(); ++i) {
      const Vec3 &p = (*polygon)[i], &q = (*polygon)[(i + 1) % polygon->size()];
      const double hp = sign * p[k] - limit, hq = sign * q[k] - limit;
      if (hp <= 0) kept.push_back(p);
      if ((hp < 0 && hq > 0) || (hp > 0 && hq < 0)) kept.push_back(p + hp / (hp - hq) * (q - p));
    }
    polygon->swap(kept);
  }
}

}  // namespace

/// The point of a triangle that is deepest in a convex solid: the same program in the triangle's plane, where walls of
/// the solid bound the radius and the triangle's edges only the centre.
OverlapMeter::Seed OverlapMeter::find_deepest_on(const std::array<Vec3, 3>& corner, const Solid& other) {
  const Vec3 middle = (corner[0] + corner[1] + corner[2]) / 3;
  const Vec3 normal = (corner[1] - corner[0]).cross(corner[2] - corner[0]).normalized();
  const Vec3 x = (corner[1] - corner[0]).normalized(), y = normal.cross(x);
  const auto flat = [&](const Vec3& v) { return Vec3(v.dot(x), v.dot(y), 0); };
  double extent = 2 * other.bound;
  for (const Vec3& p : corner) extent = std::max(extent, (p - middle).norm());
  program_.start(extent, 1e-12);
  for (int k = 0; k < 3; ++k) {
    const Vec3 from = flat(corner[k] - middle), edge = flat(corner[(k + 1) % 3] - middle) - from;
    const Vec3 n = Vec3(edge.y(), -edge.x(), 0).normalized();
    program_.add({n, n.dot(from), 0});
  }
  const auto add = [&](const Vec3& n, double offset) {
    program_.add({flat(n), offset - n.dot(middle), 1, WallOwner::B});
  };
  for_each_face(other, add);
  if (other.is_round()) {
    const Wall wall = find_round_wall(other, middle);
    add(wall.normal, wall.offset);
  }
  Seed best;
  best.room = -kInfinity;
  const double enough = 1e-3 * kTiny * other.bound;
  for (int cut = 0; cut < 20; ++cut) {
    if (!program_.solve(0)) ++unfinished_;
    if (program_.radius() <= 0) break;
    const Vec3 at = middle + program_.center().x() * x + program_.center().y() * y;
    const double room = calc_room(other, at);
    if (room > best.room) best = {at, room};
    if (!other.is_round() || program_.radius() - best.room <= std::max(enough, 0.05 * best.room)) break;
    const Wall wall = find_round_wall(other, at);
    add(wall.normal, wall.offset);
  }
  return best;
}

/// Against a solid that is not convex: the deepest of some points of the part of the triangle within its box, among
/// them the middles of the parts into which its surface cuts the edges.
OverlapMeter::Seed OverlapMeter::find_sample_on(const std::array<Vec3, 3>& corner, const Solid& other) {
  const SurfaceTree& tree = *other.tree;
  std::vector<Vec3>& polygon = polygon_;
  std::array<Vec3, 3> local;
  for (int k = 0; k < 3; ++k) local[k] = other.to_local(corner[k]);
  polygon.assign(local.begin(), local.end());
  Box3 box = tree.box();
  if (tree.is_heightfield()) box.low.z() -= tree.depth();
  clip_to_box(box, &polygon, &clipped_);
  Seed best;
  best.room = -kInfinity;
  if (polygon.empty()) return best;
  const auto test = [&](const Vec3& p) {
    const double room = tree.calc_room(p);
    if (room > best.room) best = {p, room};
  };
  Vec3 middle = Vec3::Zero();
  Box3 extent;
  for (const Vec3& p : polygon) {
    middle += p / static_cast<double>(polygon.size());
    extent.include(p);
  }
  test(middle);
  bool crosses = false;
  tree.for_each_in(extent, [&](int) { crosses = true; });
  if (crosses) {
    for (const Vec3& p : polygon) test(0.5 * (p + middle));
    for (int k = 0; k < 3; ++k) {
      const Vec3 &from = local[k], edge = local[(k + 1) % 3] - from;
      crossings_.assign({0.0, 1.0});
      Box3 along;
      along.include(from);
      along.include(from + edge);
      tree.for_each_in(along, [&](int t) {
        const double rate = tree.normal(t).dot(edge), height = tree.normal(t).dot(tree.corners(t)[0] - from);
        const double s = height / rate;
        if (!(s > 0 && s < 1)) return;
        const Vec3 p = from + s * edge;
        if ((find_on_triangle(p, tree.corners(t)) - p).norm() <= kTiny * other.bound) crossings_.push_back(s);
      });
      std::sort(crossings_.begin(), crossings_.end());
      for (std::size_t i = 0; i + 1 < crossings_.size(); ++i) {
        if (crossings_[i + 1] - crossings_[i] > 1e-9) test(from + 0.5 * (crossings_[i] + crossings_[i + 1]) * edge);
      }
    }
  }
  best.at = other.to_world(best.at);
  return best;
}

void OverlapMeter::collect_triangles(const Solid& solid, const Box3& box, std::vector<std::int32_t>* triangles) const {
  triangles->clear();
  solid.tree->for_each_in(box, [&](int t) { triangles->push_back(t); });
  const std::size_t stride = (triangles->size() + kMostTriangles - 1) / kMostTriangles;
  if (stride < 2) return;
  std::sort(triangles->begin(), triangles->end());
  std::size_t kept = 0;
  for (std::size_t i = 0; i < triangles->size(); i += stride) (*triangles)[kept++] = (*triangles)[i];
  triangles->resize(kept);
}

/// Points near triangles of one solid that lie in the other: on a sheet the points themselves, else some way inside.
void OverlapMeter::find_seeds(const Solid& from, const Solid& into, const Box3& common) {
  const double tiny = kTiny * 2 * std::min(from.bound, into.bound);
  Box3 box;  // of the common part, in the frame of `from`
  for (int k = 0; k < 8; ++k) {
    const Vec3 corner(k & 1 ? common.high.x() : common.low.x(), k & 2 ? common.high.y() : common.low.y(),
                      k & 4 ? common.high.z() : common.low.z());
    box.include(from.to_local(corner));
  }
  collect_triangles(from, box, &triangles_);
  const bool sheet = from.tree->is_sheet();
  for (const std::int32_t t : triangles_) {
    std::array<Vec3, 3> corner = from.tree->corners(t);
    for (Vec3& p : corner) p = from.to_world(p);
    work_ += 10;
    if (!into.is_surface() && is_outside(corner, into, tiny)) continue;
    const Seed on = into.is_surface() ? find_sample_on(corner, into) : find_deepest_on(corner, into);
    if (!(on.room > tiny)) continue;
    if (sheet) {
      seeds_.push_back(on);
      continue;
    }
    const Vec3 inward = -(from.frame * from.tree->normal(t));
    // Away from the triangle's rim, where the way inward is along a neighbour; the room falls no faster than the way.
    const Vec3 to_middle = (corner[0] + corner[1] + corner[2]) / 3 - on.at;
    const Vec3 start = on.at + std::min(0.3, 0.4 * on.room / to_middle.norm()) * to_middle;
    for (const double part : {0.5, 0.1}) {
      Seed seed;
      seed.at = start + part * on.room * inward;
      seed.room = std::min(calc_any_room(from, seed.at), calc_any_room(into, seed.at));
      seeds_.push_back(seed);
    }
  }
}

/// The walls of a solid near q. Triangles: by their planes if q is behind them (what a convex neighbourhood is bounded
/// by), or by the direction to their nearest point (what the room falls along, exactly to first order).
void OverlapMeter::add_near_walls(const Solid& solid, const Vec3& q, double radius, bool by_planes, WallOwner owner) {
  if (!solid.is_surface()) {
    for_each_face(solid, [&](const Vec3& n, double offset) { program_.add({n, offset, 1, owner}); });
    if (solid.is_round()) cuts_.push_back(find_round_wall(solid, q));
    for (const Wall& wall : cuts_) program_.add(wall);  // true of the whole solid, wherever they were found
    return;
  }
  const SurfaceTree& tree = *solid.tree;
  const Vec3 p = solid.to_local(q);
  const double room = tree.calc_room(p);
  const double least = std::abs(room) * (1 + 1e-9) + 1e-12 * solid.bound;
  const auto add = [&](const Vec3& n, const Vec3& on) {
    const Vec3 normal = solid.frame * n;
    program_.add({normal, normal.dot(solid.to_world(on)), 1, owner});
  };
  tree.for_each_near(p, std::max(radius, least), [&](int t, const Vec3& on, double distance) {
    if (program_.wall_count() > kMostNearWalls && distance > least) return;
    const Vec3& normal = tree.normal(t);
    const double height = normal.dot(p - on);
    const bool face = std::abs(height) >= distance * (1 - 1e-9);
    if (distance <= 1e-12 * solid.bound || (face && (room > 0) == (height < 0))) {
      add(normal, on);
    } else if (room > 0) {
      if (by_planes && height <= 0) {
        add(normal, on);
      } else {
        add((on - p) / distance, on);
      }
    } else if (distance <= least) {
      add((p - on) / distance, on);
    } else if (height <= 0) {
      add(normal, on);
    }
  });
  if (!tree.is_heightfield()) return;
  for (int k = 0; k < 2; ++k) {
    add(Vec3::Unit(k), tree.box().high);
    add(-Vec3::Unit(k), tree.box().low);
  }
}

/// Lets the ball grow: the program of the walls near it, in a box that follows success. Every accepted centre is
/// measured by calc_any_room, so whatever the program says, the ball is there.
OverlapMeter::Seed OverlapMeter::ascend(const Solid& a, const Solid& b, Seed seed, double trust, double size) {
  bool by_planes = true;
  int hopeless = 0;
  cuts_.clear();
  for (int step = 0; step < kMostAscentSteps && trust > 1e-9 * size; ++step) {
    const double radius = std::max(seed.room, 0.0) + 3 * trust;
    program_.start(radius + seed.at.norm(), 1e-12);
    add_near_walls(a, seed.at, radius, by_planes, WallOwner::A);
    add_near_walls(b, seed.at, radius, by_planes, WallOwner::B);
    for (int k = 0; k < 3; ++k) {
      program_.add({Vec3::Unit(k), seed.at[k] + trust, 0});
      program_.add({-Vec3::Unit(k), trust - seed.at[k], 0});
    }
    if (!program_.solve(-kInfinity)) ++unfinished_;
    const double hoped = program_.radius() - seed.room;
    Seed next;
    next.at = program_.center();
    next.room = next.at.allFinite() ? std::min(calc_any_room(a, next.at), calc_any_room(b, next.at)) : -kInfinity;
    const double gained = next.room - seed.room;
    if (b.is_round() && next.at.allFinite()) cuts_.push_back(find_round_wall(b, next.at));
    if (gained > 0) seed = next;
    if (gained > 0.25 * hoped && hoped > 1e-9 * size) {
      by_planes = true;
      hopeless = 0;
      continue;
    }
    // Neither the planes nor the directions of what is near promise more, and once more with fewer of them: the end.
    if (!(hoped > 1e-9 * size) && ++hopeless == 4) break;
    if (!by_planes) trust *= seed.room > 0 ? std::clamp(0.5 * seed.room / trust, 0.01, 0.25) : 0.25;
    by_planes = !by_planes;
  }
  return seed;
}

CommonBall OverlapMeter::measure_surface(const Solid& surface, const Solid& other, double floor) {
  // All in the frame of the surface, whose tree need not be turned then.
  const Solid b = seen_from(surface, other);
  Solid a = surface;
  a.center.setZero();
  a.frame.setIdentity();
  const long before = program_.work() + a.tree->work() + (b.tree ? b.tree->work() : 0);
  const Box3 common = calc_box(a).common(calc_box(b));
  CommonBall found;
  if ((common.high.array() < common.low.array()).any()) return found;
  const double size = 2 * std::min(a.bound, b.bound);
  const bool sheet_a = a.tree->is_sheet(), sheet_b = b.is_surface() && b.tree->is_sheet();
  seeds_.clear();
  if (!(sheet_a && sheet_b)) {
    if (!sheet_b) find_seeds(a, b, common);
    if (!sheet_a && b.is_surface()) find_seeds(b, a, common);
  }
  Seed best;
  if (sheet_a || sheet_b) {
    for (const Seed& seed : seeds_) {
      if (seed.room > best.room) best = seed;
    }
    found.depth = best.room;  // one of its points is so deep in the other: it has to move by that
  } else {
    for (const Vec3& q : {common.middle(), b.is_surface() ? Vec3(common.middle()) : find_heart(b)}) {
      const double room = std::min(calc_any_room(a, q), calc_any_room(b, q));
      // Where no triangle reaches into the other solid there is overlap only if one is all inside the other.
      if (room > 0 || !seeds_.empty()) seeds_.push_back({q, room});
    }
    std::sort(seeds_.begin(), seeds_.end(), [](const Seed& x, const Seed& y) {
      if (x.room != y.room) return x.room > y.room;
      return std::lexicographical_compare(x.at.begin(), x.at.end(), y.at.begin(), y.at.end());
    });
    const double trust = 0.25 * (common.high - common.low).norm();
    std::size_t done = 0;
    for (std::size_t i = 0; i < seeds_.size() && done < kMostAscents; ++i) {
      if (best.room > 0 && (seeds_[i].at - best.at).norm() < best.room) continue;
      const Seed grown = ascend(a, b, seeds_[i], trust, size);
      ++done;
      if (grown.room > best.room) best = grown;
      if (2 * best.room > floor && floor > 0) break;
    }
    found.depth = std::max(0.0, 2 * best.room);
  }
  found.center = surface.to_world(best.at);
  work_ += program_.work() + a.tree->work() + (b.tree ? b.tree->work() : 0) - before;
  return found;
}

}  // namespace slipstick
