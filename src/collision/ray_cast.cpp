#include "collision/ray_cast.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "collision/narrow_phase.h"
#include "collision/surface_index.h"

namespace slipstick {
namespace {

bool enter(double t, const Vec3& normal, double* distance, Vec3* out) {
  if (!(t >= 0) || !(t <= *distance)) return false;
  *distance = t;
  *out = normal;
  return true;
}

bool cast_sphere(const Ray& ray, const Vec3& center, double radius, double* distance, Vec3* normal) {
  const Vec3 to = center - ray.origin;
  const double along = ray.direction.dot(to);
  const double off_sq = (to - along * ray.direction).squaredNorm();
  if (off_sq > radius * radius) return false;
  const double t = along - std::sqrt(radius * radius - off_sq);
  return enter(t, (ray.origin + t * ray.direction - center) / radius, distance, normal);
}

/// The side of an endless cylinder, cut at the ends of the core; then the two balls.
bool cast_capsule(const Ray& ray, const PlacedShape& shape, double* distance, Vec3* normal) {
  const double half = shape.axis.norm();
  bool found = false;
  if (half > 0) {
    const Vec3 axis = shape.axis / half, to = ray.origin - shape.center;
    const Vec3 d = ray.direction - ray.direction.dot(axis) * axis, p = to - to.dot(axis) * axis;
    const double a = d.squaredNorm(), b = d.dot(p), c = p.squaredNorm() - shape.radius * shape.radius;
    const double root_sq = b * b - a * c;
    if (a > 0 && root_sq >= 0 && c > 0) {
      const double t = (-b - std::sqrt(root_sq)) / a;
      const double at = (to + t * ray.direction).dot(axis);
      if (std::abs(at) <= half) found = enter(t, (p + t * d) / shape.radius, distance, normal);
    }
    // A ball's hit inside the straight part is inside the capsule: it counts only from outside.
    if (c <= 0 && std::abs(to.dot(axis)) <= half) return false;
  }
  for (const double end : {-1.0, 1.0}) {
    const Vec3 center = shape.center + end * shape.axis;
    if ((ray.origin - shape.center - end * shape.axis).norm() <= shape.radius) return false;
    double t = *distance;
    Vec3 n;
    if (!cast_sphere(ray, center, shape.radius, &t, &n)) continue;
    const double beyond = end * (ray.origin + t * ray.direction - center).dot(shape.axis);
    if (half == 0 || beyond >= 0) found = enter(t, n, distance, normal) || found;
  }
  return found;
}

/// Clips the ray by half spaces n . p <= offset one after the other.
struct RayClip {
  double near = -std::numeric_limits<double>::infinity(), far = std::numeric_limits<double>::infinity();
  Vec3 normal = Vec3::Zero();
  bool missed = false;

  void clip(const Ray& ray, const Vec3& n, double offset) {
    const double speed = n.dot(ray.direction), height = n.dot(ray.origin) - offset;
    if (speed < 0) {
      const double t = -height / speed;
      if (t > near) {
        near = t;
        normal = n;
      }
    } else if (speed > 0) {
      far = std::min(far, -height / speed);
    } else if (height > 0) {
      missed = true;
    }
  }
  bool finish(double* distance, Vec3* out) const {
    return !missed && near <= far && enter(near, normal, distance, out);
  }
};

bool cast_box(const Ray& ray, const PlacedShape& shape, double* distance, Vec3* normal) {
  RayClip clip;
  for (int f = 0; f < 6; ++f) {
    const Vec3 n = (f & 1 ? -1.0 : 1.0) * shape.frame.col(f / 2);
    clip.clip(ray, n, n.dot(shape.center) + shape.half_size[f / 2]);
  }
  return clip.finish(distance, normal);
}

bool cast_polygon(const Ray& ray, const PlacedShape& shape, double* distance, Vec3* normal) {
  RayClip clip;
  for (int k = 0; k < shape.point_count; ++k) {
    const Vec2 &n = shape.edge_normals[k], &p = shape.points[k];
    clip.clip(ray, Vec3(n.x(), n.y(), 0), n.dot(p));
  }
  return clip.finish(distance, normal);
}

bool cast_hull(const Ray& ray, const PlacedShape& shape, double* distance, Vec3* normal) {
  RayClip clip;
  const Ray local{shape.frame.transpose() * (ray.origin - shape.center), shape.frame.transpose() * ray.direction};
  for (const HullFace& face : shape.hull->faces) clip.clip(local, face.normal, face.offset);
  if (!clip.finish(distance, normal)) return false;
  *normal = shape.frame * *normal;
  return true;
}

/// Marches by the distance to the shape, which cannot be overstepped.
bool cast_curved(const Ray& ray, const PlacedShape& shape, double* distance, Vec3* normal) {
  constexpr int kMaxSteps = 1000;
  const double close = 1e-11 * shape.bound;
  PlacedShape probe;  // a ball without size
  thread_local std::vector<Contact> found;
  double t = std::max(0.0, ray.direction.dot(shape.center - ray.origin) - shape.bound);
  const double last = std::min(*distance, ray.direction.dot(shape.center - ray.origin) + shape.bound);
  for (int step = 0; step < kMaxSteps && t <= last; ++step) {
    probe.center = ray.origin + t * ray.direction;
    found.clear();
    find_pair(shape, probe, {}, kInfinity, &found);
    if (found.empty() || (t == 0 && found[0].gap <= 0)) return false;  // it begins inside
    if (found[0].gap <= close) return enter(t, found[0].normal, distance, normal);
    t += found[0].gap;
  }
  return false;
}

bool cast_plane(const Ray& ray, const PlacedShape& shape, double* distance, Vec3* normal) {
  const double speed = shape.axis.dot(ray.direction), height = shape.axis.dot(ray.origin - shape.center);
  return speed < 0 && height >= 0 && enter(-height / speed, shape.axis, distance, normal);
}

/// The ray and a box: false if they miss each other before `most`.
bool meets(const Vec3& origin, const Vec3& inverse, const Bounds& box, double most) {
  double near = 0, far = most;
  for (int k = 0; k < 3; ++k) {
    const double a = (box.low[k] - origin[k]) * inverse[k], b = (box.high[k] - origin[k]) * inverse[k];
    // 0 / 0 on the edge of a slab is not a number: the comparisons below let it pass.
    if (std::min(a, b) > near) near = std::min(a, b);
    if (std::max(a, b) < far) far = std::max(a, b);
  }
  return near <= far * (1 + 1e-12) + 1e-300;
}

bool cast_surface(const Ray& ray, const PlacedShape& shape, double* distance, Vec3* normal) {
  const SurfaceIndex& index = *shape.surface;
  const Vec3 origin = shape.frame.transpose() * (ray.origin - shape.center);
  const Vec3 direction = shape.frame.transpose() * ray.direction;
  const Vec3 inverse = direction.cwiseInverse();
  int best = -1;
  const auto near = [&](const Bounds& box) {
    const Vec3 wide = Vec3::Constant(1e-12 * index.size());
    return meets(origin, inverse, {box.low - wide, box.high + wide}, *distance);
  };
  index.tree().walk(near, [&](int t) {
    const double speed = index.normal(t).dot(direction);
    if (speed == 0 || (index.surface().one_sided && speed > 0)) return;
    const Vec3& a = index.vertex(index.triangle(t)[0]);
    const double at = index.normal(t).dot(a - origin) / speed;
    if (!(at >= 0) || at > *distance || (at == *distance && t > best)) return;
    const Vec3 p = origin + at * direction;
    for (int k = 0; k < 3; ++k) {  // a hair beyond an edge counts: no ray slips through between two triangles
      const SurfaceEdge& edge = index.edge(index.edge_of(t, k));
      const Vec3& inward = edge.inward[edge.triangle[0] == t ? 0 : 1];
      if (inward.dot(p - index.vertex(edge.a)) < -1e-12 * index.size()) return;
    }
    *distance = at;
    best = t;
  });
  if (best < 0) return false;
  *normal = shape.frame * index.normal(best);
  if (normal->dot(ray.direction) > 0) *normal = -*normal;
  return true;
}

}  // namespace

bool cast_ray(const Ray& ray, const PlacedShape& shape, double* distance, Vec3* normal) {
  switch (shape.kind) {
    case ShapeKind::Sphere:
    case ShapeKind::Disk:
      return cast_sphere(ray, shape.center, shape.radius, distance, normal);
    case ShapeKind::Capsule:
      return cast_capsule(ray, shape, distance, normal);
    case ShapeKind::Box:
      return cast_box(ray, shape, distance, normal);
    case ShapeKind::Plane:
      return cast_plane(ray, shape, distance, normal);
    case ShapeKind::Polygon:
      return cast_polygon(ray, shape, distance, normal);
    case ShapeKind::Hull:
      return cast_hull(ray, shape, distance, normal);
    case ShapeKind::Cylinder:
    case ShapeKind::Cone:
    case ShapeKind::Ellipsoid:
      return cast_curved(ray, shape, distance, normal);
    case ShapeKind::Mesh:
    case ShapeKind::Heightfield:
      return cast_surface(ray, shape, distance, normal);
  }
  return false;
}

}  // namespace slipstick
