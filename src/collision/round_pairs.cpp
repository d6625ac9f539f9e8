// Spheres, disks and capsules: the distance of the cores less the radii. Exact while the cores are apart; beyond that
// the depth is measured along the direction that is left.
#include "collision/narrow_phase.h"
#include "collision/segments.h"
#include "collision/tolerances.h"

#include <array>
#include <cmath>

namespace slipstick {
namespace {

Vec3 any_perpendicular(const Vec3& a) {
  int least = 0;
  a.cwiseAbs().minCoeff(&least);
  return a.cross(Vec3::Unit(least)).normalized();
}

/// Contact of two balls; `fallback` is the normal when the centres coincide.
void add_balls(const Vec3& center_a, double radius_a, const Vec3& center_b, double radius_b, const Vec3& fallback,
               std::uint32_t feature, ContactSink* sink) {
  const Vec3 d = center_b - center_a;
  const double distance_sq = d.squaredNorm();
  const double far = sink->reach() + radius_a + radius_b;
  if (distance_sq > far * far * (1 + 1e-12)) return;
  const double distance = std::sqrt(distance_sq);
  const Vec3 normal = distance > 1e-14 * (radius_a + radius_b) ? Vec3(d / distance) : fallback;
  sink->add_from(true, center_a + radius_a * normal, normal, distance - radius_a - radius_b, feature);
}

}  // namespace

void find_ball_ball(const Vec3& center_a, double radius_a, const Vec3& center_b, double radius_b, ContactSink* sink) {
  add_balls(center_a, radius_a, center_b, radius_b, Vec3::UnitY(), 0, sink);
}

void find_sphere_sphere(const PlacedShape& a, const PlacedShape& b, ContactSink* sink) {
  add_balls(a.center, a.radius, b.center, b.radius, Vec3::UnitY(), 0, sink);
}

void find_sphere_capsule(const PlacedShape& sphere, const PlacedShape& capsule, ContactSink* sink) {
  const Vec3 on_core = capsule.center + closest_on_segment(sphere.center, capsule.center, capsule.axis) * capsule.axis;
  const bool straight = capsule.axis.squaredNorm() > 0;
  add_balls(sphere.center, sphere.radius, on_core, capsule.radius,
            straight ? any_perpendicular(capsule.axis) : Vec3(Vec3::UnitY()), 0, sink);
}

void find_sphere_box(const PlacedShape& sphere, const PlacedShape& box, ContactSink* sink) {
  const Vec3 p = box.frame.transpose() * (sphere.center - box.center);
  const Vec3 inside = p.cwiseMax(-box.half_size).cwiseMin(box.half_size);
  const Vec3 d = inside - p;
  const double distance_sq = d.squaredNorm();
  const double far = sink->reach() + sphere.radius;
  if (distance_sq > far * far * (1 + 1e-12)) return;
  const double distance = std::sqrt(distance_sq);
  if (distance > kTouching * sphere.radius) {
    const Vec3 normal = box.frame * (d / distance);
    sink->add_from(true, sphere.center + sphere.radius * normal, normal, distance - sphere.radius, 0);
    return;
  }
  // The centre is in the box: out through the nearest face.
  int axis = 0;
  const double height = (p.cwiseAbs() - box.half_size).maxCoeff(&axis);
  const Vec3 normal = (p[axis] < 0 ? 1.0 : -1.0) * box.frame.col(axis);
  sink->add_from(true, sphere.center + sphere.radius * normal, normal, height - sphere.radius, 0);
}

namespace {

/// An end of one core and the closest point of the other core, or the crossing of both.
struct CorePair {
  Vec3 on_a, on_b;
  double distance = 0;
  std::uint32_t feature = 0;
  bool over = false;  ///< the end projects into the other core, not beyond it
};

}  // namespace

/// Features: 0, 1 the ends of A; 2, 3 the ends of B; 4 the point where the cores pass each other.
void find_capsule_capsule(const PlacedShape& a, const PlacedShape& b, ContactSink* sink) {
  std::array<CorePair, 4> ends;
  int best = 0;
  for (int e = 0; e < 4; ++e) {
    const PlacedShape& own = e < 2 ? a : b;
    const PlacedShape& other = e < 2 ? b : a;
    const Vec3 end = own.center + (e & 1 ? 1.0 : -1.0) * own.axis;
    const double s = closest_on_line(end, other.center, other.axis);
    const Vec3 on_other = other.center + std::clamp(s, -1.0, 1.0) * other.axis;
    ends[e] = {e < 2 ? end : on_other, e < 2 ? on_other : end, (on_other - end).norm(), static_cast<std::uint32_t>(e),
               std::abs(s) <= 1 + kSamePoint};
    if (ends[e].distance < ends[best].distance) best = e;
  }
  const double tolerance = 1e-13 * std::min(a.bound, b.bound);  // parallel cores: the crossing is anywhere
  const Vec3 cross = a.axis.cross(b.axis);
  const double parallel_sq = cross.squaredNorm() / (a.axis.squaredNorm() * b.axis.squaredNorm());
  Vec3 fallback = Vec3::UnitY();
  if (parallel_sq > 1e-16) {
    fallback = (cross.dot(b.center - a.center) < 0 ? -1.0 : 1.0) * cross.normalized();
  } else if (a.axis.squaredNorm() > 0) {
    fallback = any_perpendicular(a.axis);
  }
  double s, t;
  bool crossed = false;
  if (closest_on_lines(a.center, a.axis, b.center, b.axis, &s, &t) && std::abs(s) < 1 && std::abs(t) < 1) {
    const Vec3 on_a = a.center + s * a.axis, on_b = b.center + t * b.axis;
    crossed = (on_b - on_a).norm() < ends[best].distance - tolerance;
    if (crossed) add_balls(on_a, a.radius, on_b, b.radius, fallback, 4, sink);
  }
  if (!crossed) add_balls(ends[best].on_a, a.radius, ends[best].on_b, b.radius, fallback, ends[best].feature, sink);
  // Lines of contact: cores that are nearly parallel hold each other at both ends of their overlap.
  if (!(parallel_sq < 1 - kNearFace * kNearFace)) return;
  const double same = kSamePoint * std::min(a.bound, b.bound);
  const CorePair* kept[4];
  int count = 0;
  if (!crossed) kept[count++] = &ends[best];
  for (const CorePair& end : ends) {
    bool is_new = end.over && (crossed || &end != &ends[best]);
    for (int k = 0; k < count; ++k) is_new = is_new && (kept[k]->on_a - end.on_a).norm() > same;
    if (!is_new) continue;
    kept[count++] = &end;
    add_balls(end.on_a, a.radius, end.on_b, b.radius, fallback, end.feature, sink);
  }
}

}  // namespace slipstick
