#include "unit/collision/slow_convex.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace slipstick::test {

namespace {

Vec3 as_3d(const Vec2& p) { return {p.x(), p.y(), 0}; }

Vec3 project_to_ball(const Vec3& center, double radius, const Vec3& p) {
  const Vec3 d = p - center;
  return d.norm() <= radius ? p : Vec3(center + radius * d.normalized());
}

Vec3 project_to_segment(const Vec3& from, const Vec3& to, const Vec3& p) {
  const Vec3 d = to - from;
  return from + std::clamp(d.dot(p - from) / d.squaredNorm(), 0.0, 1.0) * d;
}

Vec3 project_to_polygon(const std::vector<Vec2>& points, const Vec3& p) {
  bool inside = true;
  Vec3 best = p;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < points.size(); ++k) {
    const Vec3 from = as_3d(points[k]), to = as_3d(points[(k + 1) % points.size()]);
    inside = inside && (to - from).cross(p - from).z() >= 0;
    const Vec3 q = project_to_segment(from, to, p);
    if ((q - p).norm() < least) {
      least = (q - p).norm();
      best = q;
    }
  }
  return inside ? p : best;
}

/// Onto the triangle (tip, rim) of a cone's profile: the nearest of its two sides unless inside.
Vec3 project_to_cone(double radius, double half, const Vec3& p) {
  const double across = p.head<2>().norm();
  const Vec3 out = across > 0 ? Vec3(p.x() / across, p.y() / across, 0) : Vec3(1, 0, 0);
  const bool inside = p.z() >= -half && across <= radius * (half - p.z()) / (2 * half);
  if (inside) return p;
  const Vec3 flat(across, 0, p.z());
  const Vec3 tip(0, 0, half), rim(radius, 0, -half), foot(0, 0, -half);
  const Vec3 on_mantle = project_to_segment(tip, rim, flat), on_base = project_to_segment(foot, rim, flat);
  const Vec3 q = (on_mantle - flat).norm() < (on_base - flat).norm() ? on_mantle : on_base;
  return q.x() * out + q.z() * Vec3::UnitZ();
}

/// By bisection of sum (e y / (t + e^2))^2 = 1, t > 0: outside only.
Vec3 project_to_ellipsoid(const Vec3& e, const Vec3& y) {
  if (y.cwiseQuotient(e).norm() <= 1) return y;
  const auto at = [&](double t) {
    return Vec3(e.cwiseAbs2().cwiseProduct(y).cwiseQuotient((e.cwiseAbs2().array() + t).matrix()));
  };
  double low = 0, high = e.maxCoeff() * y.norm();
  for (int k = 0; k < 200; ++k) {
    const double t = (low + high) / 2;
    (at(t).cwiseQuotient(e).norm() > 1 ? low : high) = t;
  }
  return at(high);
}

/// Every face and every edge.
Vec3 project_to_hull(const Hull& hull, const Vec3& p) {
  bool inside = true;
  Vec3 best = p;
  double least = std::numeric_limits<double>::infinity();
  const auto offer = [&](const Vec3& q) {
    if ((q - p).norm() >= least) return;
    least = (q - p).norm();
    best = q;
  };
  for (const HullFace& face : hull.faces) {
    const double height = face.normal.dot(p) - face.offset;
    inside = inside && height <= 0;
    bool over = height > 0;
    for (int k = 0; k < face.count; ++k) {
      const Vec3 from = hull.vertices[hull.loops[face.first + k]];
      const Vec3 to = hull.vertices[hull.loops[face.first + (k + 1) % face.count]];
      over = over && (to - from).cross(p - from).dot(face.normal) >= 0;
      offer(project_to_segment(from, to, p));
    }
    if (over) offer(p - height * face.normal);
  }
  return inside ? p : best;
}

}  // namespace

double Convex::support(const Vec3& n) const {
  const Vec3 local = pose.orientation.conjugate() * n;
  const Shape& s = solid.shape;
  double extent = 0;
  switch (s.kind) {
    case ShapeKind::Sphere:
    case ShapeKind::Disk:
      extent = s.radius;
      break;
    case ShapeKind::Box:
      extent = s.half_size.dot(local.cwiseAbs());
      break;
    case ShapeKind::Capsule:
      extent = s.radius + s.half_length * std::abs(local.z());
      break;
    case ShapeKind::Plane:
      extent = (local - Vec3::UnitZ()).norm() < 1e-7 ? 0 : std::numeric_limits<double>::infinity();
      break;
    case ShapeKind::Polygon:
      extent = -std::numeric_limits<double>::infinity();
      for (const Vec2& p : solid.points) extent = std::max(extent, p.dot(local.head<2>()));
      break;
    case ShapeKind::Cylinder:
      extent = s.half_length * std::abs(local.z()) + s.radius * local.head<2>().norm();
      break;
    case ShapeKind::Cone:
      extent = std::max(s.half_length * local.z(), s.radius * local.head<2>().norm() - s.half_length * local.z());
      break;
    case ShapeKind::Ellipsoid:
      extent = s.half_size.cwiseProduct(local).norm();
      break;
    case ShapeKind::Hull:
      extent = -std::numeric_limits<double>::infinity();
      for (const Vec3& p : solid.hull.vertices) extent = std::max(extent, p.dot(local));
      break;
    default:
      break;  // surfaces: surface_test.cpp
  }
  return n.dot(pose.position) + extent;
}

Vec3 Convex::project(const Vec3& p) const {
  const Vec3 local = pose.orientation.conjugate() * (p - pose.position);
  const Shape& s = solid.shape;
  Vec3 q = local;
  switch (s.kind) {
    case ShapeKind::Sphere:
    case ShapeKind::Disk:
      q = project_to_ball(Vec3::Zero(), s.radius, local);
      break;
    case ShapeKind::Box:
      q = local.cwiseMin(s.half_size).cwiseMax(-s.half_size);
      break;
    case ShapeKind::Capsule: {
      const Vec3 end = s.half_length * Vec3::UnitZ();
      q = project_to_ball(project_to_segment(-end, end, local), s.radius, local);
      break;
    }
    case ShapeKind::Plane:
      q.z() = std::min(q.z(), 0.0);
      break;
    case ShapeKind::Polygon:
      q = project_to_polygon(solid.points, local);
      break;
    case ShapeKind::Cylinder:
      q.head<2>() *= std::min(1.0, s.radius / std::max(local.head<2>().norm(), 1e-300));
      q.z() = std::clamp(q.z(), -s.half_length, s.half_length);
      break;
    case ShapeKind::Cone:
      q = project_to_cone(s.radius, s.half_length, local);
      break;
    case ShapeKind::Ellipsoid:
      q = project_to_ellipsoid(s.half_size, local);
      break;
    case ShapeKind::Hull:
      q = project_to_hull(solid.hull, local);
      break;
    default:
      break;  // surfaces: surface_test.cpp
  }
  return pose.position + pose.orientation * q;
}

double calc_separation(const Convex& a, const Convex& b, const Vec3& n) { return -b.support(-n) - a.support(n); }

Bracket calc_distance(const Convex& a, const Convex& b, double tolerance) {
  Vec3 on_b = b.project(a.pose.position), on_a = a.project(on_b);
  Bracket bracket{-std::numeric_limits<double>::infinity(), (on_b - on_a).norm()};
  for (int k = 0; k < 20000 && bracket.high - bracket.low > tolerance; ++k) {
    on_b = b.project(on_a);
    on_a = a.project(on_b);
    bracket.high = (on_b - on_a).norm();
    if (bracket.high < tolerance) return {0, bracket.high};
    const Vec3 n = (on_b - on_a) / bracket.high;
    const bool by_plane_a = a.solid.shape.kind == ShapeKind::Plane, by_plane_b = b.solid.shape.kind == ShapeKind::Plane;
    const Vec3 direction = by_plane_a   ? Vec3(a.pose.orientation * Vec3::UnitZ())
                           : by_plane_b ? Vec3(-(b.pose.orientation * Vec3::UnitZ()))
                                        : n;
    bracket.low = std::max(bracket.low, calc_separation(a, b, direction));
  }
  return bracket;
}

std::vector<Vec3> list_box_directions(const Convex& a, const Convex& b) {
  const Mat3 ra = a.pose.orientation.toRotationMatrix(), rb = b.pose.orientation.toRotationMatrix();
  std::vector<Vec3> list;
  for (int i = 0; i < 3; ++i) {
    list.push_back(ra.col(i));
    list.push_back(rb.col(i));
    for (int j = 0; j < 3; ++j) list.push_back(ra.col(i).cross(rb.col(j)).normalized());
  }
  const std::size_t count = list.size();
  for (std::size_t k = 0; k < count; ++k) list.push_back(-list[k]);
  return list;
}

}  // namespace slipstick::test
