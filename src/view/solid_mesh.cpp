#include "view/solid_mesh.h"

#include <slipstick/types.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>

namespace slipstick {

namespace {

constexpr int kAround = 32, kRings = 16;  ///< of round things

std::array<float, 3> as_floats(const Vec3& v) {
  return {static_cast<float>(v.x()), static_cast<float>(v.y()), static_cast<float>(v.z())};
}

class Maker {
 public:
  std::uint32_t add(const Vec3& position, const Vec3& normal) {
    mesh.position.push_back(as_floats(position));
    mesh.normal.push_back(as_floats(normal.normalized()));
    return static_cast<std::uint32_t>(mesh.position.size() - 1);
  }
  void triangle(std::uint32_t a, std::uint32_t b, std::uint32_t c) { mesh.index.insert(mesh.index.end(), {a, b, c}); }
  /// With a normal of its own; one without area is left out.
  void flat(const Vec3& a, const Vec3& b, const Vec3& c) {
    const Vec3 normal = (b - a).cross(c - a);
    if (!(normal.norm() > 0)) return;
    const std::uint32_t first = add(a, normal);
    add(b, normal);
    add(c, normal);
    triangle(first, first + 1, first + 2);
  }
  /// A body of revolution about z from an outline of points (radius, z) with normals, bottom to top.
  struct OutlinePoint {
    double radius, z;
    double normal_radius, normal_z;
  };
  void revolve(const std::vector<OutlinePoint>& outline) {
    const auto first = static_cast<std::uint32_t>(mesh.position.size());
    for (const OutlinePoint& p : outline)
      for (int k = 0; k <= kAround; ++k) {
        const double angle = 2 * std::numbers::pi * k / kAround, c = std::cos(angle), s = std::sin(angle);
        add({p.radius * c, p.radius * s, p.z}, {p.normal_radius * c, p.normal_radius * s, p.normal_z});
      }
    for (std::uint32_t row = 0; row + 1 < outline.size(); ++row)
      for (std::uint32_t k = 0; k < kAround; ++k) {
        const std::uint32_t a = first + row * (kAround + 1) + k, b = a + kAround + 1;
        if (outline[row].radius > 0) triangle(a, a + 1, b + 1);
        if (outline[row + 1].radius > 0) triangle(a, b + 1, b);
      }
  }
  SolidMesh mesh;
};

using Outline = std::vector<Maker::OutlinePoint>;

/// Half of a circle from below to above, its two halves `length` apart.
Outline make_capsule(double radius, double length) {
  Outline outline;
  for (int k = 0; k <= kRings; ++k) {
    const double angle = std::numbers::pi * (static_cast<double>(k) / kRings - 0.5);
    const double c = k == 0 || k == kRings ? 0 : std::cos(angle), s = std::sin(angle);
    if (k == kRings / 2 && length > 0) outline.push_back({radius, -length / 2, 1, 0});
    outline.push_back({radius * c, radius * s + (k < kRings / 2 ? -length / 2 : length / 2), c, s});
  }
  return outline;
}

Outline make_cylinder(double radius, double length) {
  const double z = length / 2;
  return {{0, -z, 0, -1}, {radius, -z, 0, -1}, {radius, -z, 1, 0}, {radius, z, 1, 0}, {radius, z, 0, 1}, {0, z, 0, 1}};
}

Outline make_cone(double radius, double length) {
  const double z = length / 2;
  return {{0, -z, 0, -1}, {radius, -z, 0, -1}, {radius, -z, length, radius}, {0, z, length, radius}};
}

void add_box(const Vec3& half, Maker* maker) {
  for (int axis = 0; axis < 3; ++axis)
    for (const double side : {-1.0, 1.0}) {
      const Vec3 n = side * Vec3::Unit(axis), u = Vec3::Unit((axis + 1) % 3), v = n.cross(u);
      const auto corner = [&](double a, double b) { return Vec3(half.cwiseProduct(n + a * u + b * v)); };
      const std::uint32_t first = maker->add(corner(-1, -1), n);
      maker->add(corner(1, -1), n);
      maker->add(corner(1, 1), n);
      maker->add(corner(-1, 1), n);
      maker->triangle(first, first + 1, first + 2);
      maker->triangle(first, first + 2, first + 3);
    }
}

double calc_turn(const Vec2& a, const Vec2& b, const Vec2& c) {
  return (b - a).x() * (c - a).y() - (b - a).y() * (c - a).x();
}

/// Triangles of a simple polygon, counter-clockwise, by cutting off ears.
std::vector<std::array<std::size_t, 3>> cut_ears(const std::vector<Vec2>& points) {
  std::vector<std::size_t> left(points.size());
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = i;
  std::vector<std::array<std::size_t, 3>> triangles;
  const auto is_ear = [&](std::size_t k) {
    const std::size_t n = left.size(), i = left[(k + n - 1) % n], j = left[k], l = left[(k + 1) % n];
    if (calc_turn(points[i], points[j], points[l]) <= 0) return false;
    return std::none_of(left.begin(), left.end(), [&](std::size_t p) {
      return p != i && p != j && p != l && calc_turn(points[i], points[j], points[p]) >= 0 &&
             calc_turn(points[j], points[l], points[p]) >= 0 && calc_turn(points[l], points[i], points[p]) >= 0;
    });
  };
  while (left.size() >= 3) {
    std::size_t ear = 0;
    while (ear < left.size() && !is_ear(ear)) ++ear;
    if (ear == left.size()) ear = 0;  // one that crosses itself: something is drawn
    const std::size_t n = left.size();
    triangles.push_back({left[(ear + n - 1) % n], left[ear], left[(ear + 1) % n]});
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(ear));
  }
  return triangles;
}

/// A plate over a polygon.
void add_plate(std::vector<Vec2> points, double thickness, Maker* maker) {
  double area = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Vec2 &a = points[i], &b = points[(i + 1) % points.size()];
    area += a.x() * b.y() - a.y() * b.x();
  }
  if (area < 0) std::reverse(points.begin(), points.end());
  const auto at = [&](std::size_t i, double side) { return Vec3(points[i].x(), points[i].y(), side * thickness / 2); };
  for (const auto& [i, j, k] : cut_ears(points)) {
    maker->flat(at(i, 1), at(j, 1), at(k, 1));
    maker->flat(at(k, -1), at(j, -1), at(i, -1));
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::size_t j = (i + 1) % points.size();
    maker->flat(at(i, -1), at(j, -1), at(j, 1));
    maker->flat(at(i, -1), at(j, 1), at(i, 1));
  }
}

void add_surface(const RecordShape& shape, Maker* maker) {
  const auto corner = [&](std::int32_t i) {
    const auto& p = shape.vertices[static_cast<std::size_t>(i)];
    return Vec3(p[0], p[1], p[2]);
  };
  const auto count = static_cast<std::int32_t>(shape.vertices.size());
  for (const auto& [a, b, c] : shape.triangles)
    if (std::min({a, b, c}) >= 0 && std::max({a, b, c}) < count) maker->flat(corner(a), corner(b), corner(c));
}

void add_ground(double half, Maker* maker) {
  maker->flat({-half, -half, 0}, {half, -half, 0}, {half, half, 0});
  maker->flat({-half, -half, 0}, {half, half, 0}, {-half, half, 0});
}

}  // namespace

SolidMesh make_solid_mesh(const RecordShape& shape, const std::string& kind, double size, double thickness) {
  Maker maker;
  const Vec3 half(shape.size[0] / 2, shape.size[1] / 2, shape.size[2] > 0 ? shape.size[2] / 2 : thickness / 2);
  if (kind == "sphere") maker.revolve(make_capsule(shape.radius, 0));
  if (kind == "capsule") maker.revolve(make_capsule(shape.radius, shape.length));
  if (kind == "cylinder") maker.revolve(make_cylinder(shape.radius, shape.length));
  if (kind == "disk") maker.revolve(make_cylinder(shape.radius, thickness));
  if (kind == "cone") maker.revolve(make_cone(shape.radius, shape.length));
  if (kind == "box") add_box(half, &maker);
  if (kind == "ellipsoid") {
    maker.revolve(make_capsule(1, 0));
    for (std::size_t i = 0; i < maker.mesh.position.size(); ++i) {
      const auto& p = maker.mesh.position[i];
      const Vec3 unit(p[0], p[1], p[2]);
      maker.mesh.position[i] = as_floats(half.cwiseProduct(unit));
      maker.mesh.normal[i] = as_floats(unit.cwiseQuotient(half).normalized());
    }
  }
  if (kind == "polygon" && shape.points.size() >= 3) {
    std::vector<Vec2> points;
    for (const auto& p : shape.points) points.emplace_back(p[0], p[1]);
    add_plate(std::move(points), thickness, &maker);
  }
  if (kind == "plane" || kind == "halfspace") add_ground(size, &maker);
  if (kind == "hull" || kind == "mesh" || kind == "heightfield") add_surface(shape, &maker);
  return std::move(maker.mesh);
}

}  // namespace slipstick
