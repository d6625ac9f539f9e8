#include "audit/overlap_meter.h"

#include <algorithm>
#include <cmath>

#include "audit/surface_tree.h"

namespace slipstick {
namespace {

/// A radius is found when its bounds differ by less than this part of the smaller solid.
constexpr double kSameRadius = 1e-9;
/// Rounds of cutting planes; what is left between the bounds after them is reported as it is.
constexpr int kMostCuts = 60;
/// A push shorter than this has no direction.
constexpr double kLeastPush = 1e-6;

bool is_ball(const Solid& s) { return s.kind == ShapeKind::Sphere || s.kind == ShapeKind::Disk; }

double calc_size(const Solid& a, const Solid& b) { return 2 * std::min(a.bound, b.bound); }

}  // namespace

double calc_any_room(const Solid& solid, const Vec3& q) {
  return solid.is_surface() ? solid.tree->calc_room(solid.to_local(q)) : calc_room(solid, q);
}

CommonBall OverlapMeter::measure(const Solid& a, const Solid& b, double floor) {
  work_ += 20;
  if (a.kind == ShapeKind::Plane) return measure_plane(a, b);
  if (b.kind == ShapeKind::Plane) return measure_plane(b, a);
  if (is_ball(a) && is_ball(b)) return measure_balls(a, b);
  if (a.is_surface()) return measure_surface(a, b, floor);
  if (b.is_surface()) return measure_surface(b, a, floor);
  return measure_convex(a, b, floor);
}

/// What is below a half space however far: all of it counts, for a ball of the other solid's size would hide how deep.
CommonBall OverlapMeter::measure_plane(const Solid& plane, const Solid& other) const {
  const Vec3 n = plane.frame.col(2);
  const double depth = n.dot(plane.center) + calc_support(other, -n);
  return {std::max(0.0, depth), std::max(0.0, depth), other.center};
}

CommonBall OverlapMeter::measure_balls(const Solid& a, const Solid& b) const {
  Vec3 d = b.center - a.center;
  if (a.is_planar() || b.is_planar()) d.z() = 0;
  const double distance = d.norm(), depth = a.radius + b.radius - distance;
  if (!(depth > 0)) return {0, 0, a.center};
  const double most = 2 * std::min(a.radius, b.radius);
  if (depth >= most) return {most, most, a.radius < b.radius ? a.center : b.center};
  return {depth, depth, a.center + (a.radius - 0.5 * depth) / distance * d};
}

void OverlapMeter::start_convex(const Solid& a, const Solid& b, double extent) {
  program_.start(extent, a.is_round() || b.is_round() ? 1e-12 : 1e-14);  // cuts are nearly parallel in the end
  for_each_face(a, [&](const Vec3& n, double offset) { program_.add({n, offset, 1, WallOwner::A}); });
  for_each_face(b, [&](const Vec3& n, double offset) { program_.add({n, offset, 1, WallOwner::B}); });
}

/// Cutting planes for the round parts: where the ball of the program pushes through (Kelley's method), and across the
/// direction in which the two solids push on it, where the sum of the supports bounds every ball. Those that cut off
/// less than `least` are not worth it, and would be parallel to others but for rounding. False: there was none.
bool OverlapMeter::add_cuts(const Solid& a, const Solid& b, const Vec3& at, double least) {
  const Vec3 q = program_.center();
  const double radius = program_.radius();
  Vec3 push = program_.calc_push(WallOwner::A);
  if (a.is_planar() || b.is_planar()) push.z() = 0;
  const double length = push.norm();
  bool added = false;
  const auto add = [&](const Wall& wall) {
    if (!(wall.normal.dot(q) + radius - wall.offset > least)) return;
    program_.add(wall);
    added = true;
  };
  for (const bool first : {true, false}) {
    const Solid& solid = first ? a : b;
    if (!solid.is_round()) continue;
    Wall wall = find_round_wall(solid, at);
    wall.owner = first ? WallOwner::A : WallOwner::B;
    add(wall);
    if (!(length > kLeastPush)) continue;
    wall.normal = (first ? 1 : -1) / length * push;
    wall.offset = calc_support(solid, wall.normal);
    add(wall);
  }
  return added;
}

CommonBall OverlapMeter::measure_convex(const Solid& placed_a, const Solid& placed_b, double floor) {
  const Box3 common = calc_box(placed_a).common(calc_box(placed_b));
  if ((common.high.array() < common.low.array()).any()) return {0, 0, placed_a.center};
  const Vec3 origin = common.middle();  // far from the world's origin its rounding must not count
  Solid a = placed_a, b = placed_b;
  a.center -= origin;
  b.center -= origin;
  const double size = calc_size(a, b), extent = 0.5 * (common.high - common.low).norm() + 1e-9 * size;
  const long before = program_.work();
  start_convex(a, b, extent);
  const bool round = a.is_round() || b.is_round();
  if (round) {
    for (int k = 0; k < (a.is_planar() || b.is_planar() ? 2 : 3); ++k) {
      program_.add({Vec3::Unit(k), common.high[k] - origin[k]});
      program_.add({-Vec3::Unit(k), origin[k] - common.low[k]});
    }
    add_cuts(a, b, Vec3::Zero(), -kInfinity);
  }
  CommonBall found;
  Vec3 best = Vec3::Zero();
  for (int cut = 0; cut < kMostCuts; ++cut) {
    if (!program_.solve(0.5 * floor)) ++unfinished_;
    found.bound = std::max(0.0, 2 * program_.bound());
    if (found.bound <= floor) break;
    // The corner of the walls, and half of the way there from the best centre so far: corners leap from end to end
    // where much room is left sideways.
    bool added = false;
    for (const Vec3& q : {program_.center(), Vec3(0.5 * (program_.center() + best))}) {
      const double depth = 2 * std::min(calc_room(a, q), calc_room(b, q));
      if (depth > found.depth) {
        found.depth = depth;
        best = q;
      }
      if (!round) break;
      added = add_cuts(a, b, q, 0.1 * kSameRadius * size) || added;
    }
    if (!added || found.bound - found.depth <= kSameRadius * size) break;
  }
  found.center = best + origin;
  work_ += program_.work() - before;
  return found;
}

}  // namespace slipstick
