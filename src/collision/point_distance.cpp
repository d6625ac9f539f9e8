#include "collision/point_distance.h"

#include "collision/convex_direction.h"
#include "collision/segments.h"
#include "collision/tolerances.h"

#include <algorithm>
#include <cmath>

namespace slipstick {
namespace {

/// In the half plane (across, along) of a body of revolution: the nearest point, the normal, the distance.
struct ProfileDistance {
  Vec2 point, normal;
  double gap;
};

ProfileDistance calc_cylinder_profile(double radius, double half, const Vec2& p) {
  const double side = p.y() < 0 ? -1 : 1;
  const double across = p.x() - radius, along = std::abs(p.y()) - half;
  if (across > 0 && along > 0) {
    const Vec2 rim(radius, side * half), d(across, side * along);
    const double distance = std::hypot(across, along);
    return {rim, d / distance, distance};
  }
  if (across > along) return {{radius, p.y()}, {1, 0}, across};
  return {{p.x(), side * half}, {0, side}, along};
}

/// Base at -half, tip at +half.
ProfileDistance calc_cone_profile(double radius, double half, const Vec2& p) {
  const Vec2 tip(0, half), rim(radius, -half), slope = rim - tip;
  const double length = slope.norm();
  const Vec2 along = slope / length, normal(-along.y(), along.x());
  const double base = -half - p.y(), mantle = normal.dot(p - tip), t = along.dot(p - tip);
  const auto from = [&](const Vec2& corner) {
    const Vec2 d = p - corner;
    const double distance = d.norm();
    return ProfileDistance{corner, distance > 0 ? Vec2(d / distance) : normal, distance};
  };
  if (base <= 0 && mantle <= 0) {
    if (mantle >= base) return {p - mantle * normal, normal, mantle};
    return {{p.x(), -half}, {0, -1}, base};
  }
  if (mantle > 0 && t <= 0) return from(tip);
  if (mantle > 0 && t <= length) return {p - mantle * normal, normal, mantle};
  if (base > 0 && p.x() <= radius) return {{p.x(), -half}, {0, -1}, base};
  return from(rim);
}

PointDistance calc_revolved(const PlacedShape& s, const Vec3& p) {
  const Vec3 local = s.frame.transpose() * (p - s.center);
  const double across = std::hypot(local.x(), local.y());
  const Vec3 radial = across > 0 ? Vec3(local.x() / across, local.y() / across, 0) : Vec3(Vec3::UnitX());
  const Vec2 in_profile(across, local.z());
  const ProfileDistance d = s.kind == ShapeKind::Cylinder ? calc_cylinder_profile(s.radius, s.half_length, in_profile)
                                                          : calc_cone_profile(s.radius, s.half_length, in_profile);
  const auto as_world = [&](const Vec2& v) { return Vec3(s.frame * Vec3(v.x() * radial + v.y() * Vec3::UnitZ())); };
  return {s.center + as_world(d.point), as_world(d.normal), d.gap};
}

/// x_i = e_i^2 y_i / (t + e_i^2) with the largest root t of sum (e_i y_i / (t + e_i^2))^2 = 1. The unknown is
/// u = t + e_k^2 with the least axis k, so that nothing cancels near its pole; Newton from the left of the root of a
/// convex falling function never overshoots.
PointDistance calc_from_ellipsoid(const PlacedShape& s, const Vec3& p) {
  const Vec3& e = s.half_size;
  const Vec3 y = s.frame.transpose() * (p - s.center);
  int k = 0;
  e.minCoeff(&k);
  const Vec3 shift = e.cwiseAbs2() - Vec3::Constant(e[k] * e[k]);
  const auto excess = [&](double u, double* slope) {
    double f = -1;
    *slope = 0;
    for (int i = 0; i < 3; ++i) {
      if (y[i] == 0) continue;
      const double q = e[i] * y[i] / (u + shift[i]);
      f += q * q;
      *slope -= 2 * q * q / (u + shift[i]);
    }
    return f;
  };
  double u = 0;
  for (int i = 0; i < 3; ++i) u = std::max(u, e[i] * std::abs(y[i]) - shift[i]);
  double slope = 0;
  for (int step = 0; step < 100; ++step) {  // also from 0: where y is 0 nothing is divided by it
    const double f = excess(u, &slope);
    if (!(f > 0) || !(slope < 0)) break;
    const double next = u - f / slope;
    if (!(next > u)) break;
    u = next;
  }
  Vec3 x;
  double rest = 1;
  for (int i = 0; i < 3; ++i) {
    x[i] = u + shift[i] > 0 ? e[i] * e[i] * y[i] / (u + shift[i]) : 0;
    rest -= x[i] * x[i] / (e[i] * e[i]);
  }
  // Within the evolute and on the middle plane: out along the least axis, either way.
  if (y[k] == 0 && rest > 1e-14) x[k] = e[k] * std::sqrt(rest);
  const Vec3 steep = x.cwiseQuotient(e.cwiseAbs2());
  const double length = steep.norm();
  const double gap = (u - e[k] * e[k]) * length;
  return {s.center + s.frame * x, s.frame * (steep / length), gap};
}

/// Inside: out through the nearest face. Outside: the general routine with a point.
PointDistance calc_from_hull(const PlacedShape& s, const Vec3& p) {
  const Vec3 local = s.frame.transpose() * (p - s.center);
  double highest = -kInfinity;
  const HullFace* nearest = nullptr;
  for (const HullFace& face : s.hull->faces) {
    const double height = face.normal.dot(local) - face.offset;
    if (height <= highest) continue;
    highest = height;
    nearest = &face;
  }
  const bool inside = highest <= 0 && !s.hull->is_flat();
  Vec3 normal = s.frame * nearest->normal;
  double gap = highest;
  if (!inside) {
    PlacedShape point;
    point.center = p;
    const ConvexCore own(s, p), other(point, p);
    normal = find_core_direction(own, other, s.bound, kInfinity).exact_normal;
    gap = calc_core_separation(own, other, normal);
  }
  return {p - gap * normal, normal, gap};
}

}  // namespace

PointDistance calc_point_distance(const PlacedShape& s, const Vec3& p) {
  switch (s.kind) {
    case ShapeKind::Cylinder:
    case ShapeKind::Cone:
      return calc_revolved(s, p);
    case ShapeKind::Ellipsoid:
      return calc_from_ellipsoid(s, p);
    case ShapeKind::Box:
    case ShapeKind::Hull:
      return calc_from_hull(s, p);
    default:
      break;
  }
  Vec3 core = s.center, normal = Vec3::UnitZ();  // sphere, capsule
  if (s.kind == ShapeKind::Capsule) {
    core += closest_on_segment(p, s.center, s.axis) * s.axis;
    if (s.axis.squaredNorm() > 0) normal = s.axis.unitOrthogonal();
  }
  const double distance = (p - core).norm();
  if (distance > kTouching * s.radius) normal = (p - core) / distance;
  return {core + s.radius * normal, normal, distance - s.radius};
}

}  // namespace slipstick
