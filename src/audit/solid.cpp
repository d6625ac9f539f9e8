#include "audit/solid.h"

#include <algorithm>
#include <cmath>

#include "audit/surface_tree.h"

namespace slipstick {
namespace {

/// Nearer to an axis or a centre than this part of the radius there is no direction away from it: any one will do.
constexpr double kNoDirection = 1e-12;

Vec3 direction_of(const Vec3& d, double scale, const Vec3& otherwise) {
  const double length = d.norm();
  return length > kNoDirection * scale ? Vec3(d / length) : otherwise;
}

/// The direction of d across an axis. Near the axis the first difference keeps little but rounding along it: once more.
Vec3 direction_across(const Vec3& d, const Vec3& axis, double scale, const Vec3& otherwise) {
  const Vec3 u = direction_of(d - d.dot(axis) * axis, scale, otherwise);
  return (u - u.dot(axis) * axis).normalized();
}

/// The point of an ellipsoid's surface nearest to an inner or outer point p: x_i = a_i^2 p_i / (t + a_i^2) with
/// sum (x_i / a_i)^2 = 1, the largest root t. With s = t + a_min^2 nothing cancels near the middle plane. The sum is
/// convex and falls with s: Newton's method from a point where it is above 1 never passes the root.
Vec3 find_on_ellipsoid(const Vec3& half, Vec3 p) {
  int least = 0;
  const double low = half.minCoeff(&least), low_sq = low * low;
  if (std::abs(p[least]) < 1e-14 * low) p[least] = std::copysign(1e-14 * low, p[least]);
  double s = 0;
  for (int k = 0; k < 3; ++k) s = std::max(s, half[k] * std::abs(p[k]) + low_sq - half[k] * half[k]);
  for (int iteration = 0; iteration < 100; ++iteration) {
    double value = -1, slope = 0;
    for (int k = 0; k < 3; ++k) {
      const double d = s + half[k] * half[k] - low_sq, term = half[k] * p[k] / d;
      value += term * term;
      slope -= 2 * term * term / d;
    }
    const double next = s - value / slope;
    if (!(value > 1e-15) || !(next > s)) break;
    s = next;
  }
  Vec3 x;
  for (int k = 0; k < 3; ++k) x[k] = half[k] * half[k] * p[k] / (s + half[k] * half[k] - low_sq);
  return x / x.cwiseQuotient(half).norm();
}

Wall find_ellipsoid_wall(const Solid& s, const Vec3& q) {
  const Vec3 x = find_on_ellipsoid(s.half_size, s.to_local(q));
  const Vec3 n = x.cwiseQuotient(s.half_size.cwiseAbs2()).normalized();
  const Vec3 normal = s.frame * n;
  return {normal, normal.dot(s.center) + n.dot(x)};
}

Wall find_cone_wall(const Solid& s, const Vec3& q) {
  const Vec3 axis = s.frame.col(2), d = q - s.center;
  const Vec3 u = direction_across(d, axis, s.radius, s.frame.col(0));
  const Vec3 normal = (2 * s.half_length * u + s.radius * axis).normalized();
  return {normal, normal.dot(s.center + s.half_length * axis)};
}

}  // namespace

bool Solid::is_round() const {
  switch (kind) {
    case ShapeKind::Sphere:
    case ShapeKind::Disk:
    case ShapeKind::Capsule:
    case ShapeKind::Cylinder:
    case ShapeKind::Cone:
    case ShapeKind::Ellipsoid:
      return true;
    default:
      return false;
  }
}

Solid make_solid(const Model& model, const Shape& shape, const SurfaceTree* tree) {
  Solid s;
  s.kind = shape.kind;
  s.radius = shape.radius;
  s.half_length = shape.half_length;
  s.half_size = shape.half_size;
  s.bound = shape.bound;
  s.tree = tree;
  if (shape.kind == ShapeKind::Hull) s.hull = &model.hulls[shape.hull];
  if (shape.kind == ShapeKind::Polygon)
    s.points = std::span<const Vec2>(model.points).subspan(shape.first_point, shape.point_count);
  return s;
}

void place_solid(const Model& model, const Shape& shape, const Pose& body, Solid* s) {
  s->center = body.position + body.orientation * shape.pose.position;
  if (shape.kind == ShapeKind::Sphere || shape.kind == ShapeKind::Disk) return;
  s->frame = (body.orientation * shape.pose.orientation).toRotationMatrix();
  if (shape.kind != ShapeKind::Plane || !model.planar) return;
  Vec3 normal = s->frame.col(2);  // in a planar world rounding must not tilt it out of the plane
  normal.z() = 0;
  s->frame.col(2) = normal.normalized();
}

Box3 calc_box(const Solid& s) {
  if (s.is_surface()) {
    const Box3 box = s.tree->box();
    const Vec3 middle = s.to_world(box.middle()), half = s.frame.cwiseAbs() * (0.5 * (box.high - box.low));
    Box3 placed{middle - half, middle + half};
    // A heightfield is solid below: as deep as a body may have sunk.
    if (s.kind == ShapeKind::Heightfield) placed.include(middle - s.tree->depth() * s.frame.col(2));
    return placed;
  }
  Box3 box;
  for (int k = 0; k < 3; ++k) {
    box.high[k] = calc_support(s, Vec3::Unit(k));
    box.low[k] = -calc_support(s, -Vec3::Unit(k));
  }
  return box;
}

Wall find_round_wall(const Solid& s, const Vec3& q) {
  const Vec3 axis = s.frame.col(2);
  Vec3 core = s.center, otherwise = s.frame.col(0), d = q - s.center;
  switch (s.kind) {
    case ShapeKind::Cone:
      return find_cone_wall(s, q);
    case ShapeKind::Ellipsoid:
      return find_ellipsoid_wall(s, q);
    case ShapeKind::Capsule:
      if (std::abs(d.dot(axis)) < s.half_length) {
        d = direction_across(d, axis, s.radius, otherwise);
      } else {
        core += std::copysign(s.half_length, d.dot(axis)) * axis;
        d = q - core;
      }
      break;
    case ShapeKind::Cylinder:
      d = direction_across(d, axis, s.radius, otherwise);
      break;
    case ShapeKind::Disk:
      d.z() = 0;
      otherwise = Vec3::UnitX();
      break;
    default:
      break;
  }
  const Vec3 normal = direction_of(d, s.radius, otherwise);
  return {normal, normal.dot(core) + s.radius};
}

double calc_room(const Solid& s, const Vec3& q) {
  double room = kInfinity;
  for_each_face(s, [&](const Vec3& normal, double offset) { room = std::min(room, offset - normal.dot(q)); });
  if (!s.is_round()) return room;
  const Wall wall = find_round_wall(s, q);
  return std::min(room, wall.offset - wall.normal.dot(q));
}

double calc_support(const Solid& s, const Vec3& n) {
  const double middle = n.dot(s.center), along = n.dot(s.frame.col(2));
  const double across = (n - along * s.frame.col(2)).norm();
  double most = -kInfinity;
  switch (s.kind) {
    case ShapeKind::Sphere:
      return middle + s.radius * n.norm();
    case ShapeKind::Disk:
      return middle + s.radius * n.head<2>().norm();
    case ShapeKind::Capsule:
      return middle + s.half_length * std::abs(along) + s.radius * n.norm();
    case ShapeKind::Box:
      return middle + (s.frame.transpose() * n).cwiseAbs().dot(s.half_size);
    case ShapeKind::Cylinder:
      return middle + s.half_length * std::abs(along) + s.radius * across;
    case ShapeKind::Cone:
      return middle + std::max(s.half_length * along, s.radius * across - s.half_length * along);
    case ShapeKind::Ellipsoid:
      return middle + (s.frame.transpose() * n).cwiseProduct(s.half_size).norm();
    case ShapeKind::Hull: {
      const Vec3 local = s.frame.transpose() * n;
      for (const Vec3& v : s.hull->vertices) most = std::max(most, local.dot(v));
      return middle + most;
    }
    case ShapeKind::Polygon: {
      const Vec2 local = (s.frame.transpose() * n).head<2>();
      for (const Vec2& v : s.points) most = std::max(most, local.dot(v));
      return middle + most;
    }
    case ShapeKind::Mesh:
    case ShapeKind::Heightfield:
      return middle + s.tree->calc_support(s.frame.transpose() * n);
    case ShapeKind::Plane:
      break;
  }
  return kInfinity;
}

}  // namespace slipstick
