#include "audit_support.h"

#include <algorithm>
#include <cmath>

namespace slipstick::test {
namespace {

Piece make_piece(ShapeKind kind, double bound) {
  Piece piece;
  piece.solid.kind = kind;
  piece.solid.bound = bound;
  return piece;
}

Piece make_surface_piece(const std::vector<Vec3>& vertices, const std::vector<Triangle>& triangles, double bound) {
  Piece piece = make_piece(ShapeKind::Mesh, bound);
  const MadeSurface made = make_surface(vertices, triangles);
  piece.tree = std::make_shared<SurfaceTree>(made.surface, false);
  piece.solid.tree = piece.tree.get();
  return piece;
}

/// The rectangle from `corner` along u and v, n x m cells, outward u x v.
void add_rectangle(const Vec3& corner, const Vec3& u, const Vec3& v, int n, int m, std::vector<Vec3>* vertices,
                   std::vector<Triangle>* triangles) {
  const auto first = static_cast<std::int32_t>(vertices->size());
  for (int i = 0; i <= n; ++i) {
    for (int j = 0; j <= m; ++j) vertices->push_back(corner + u * i / n + v * j / m);
  }
  for (std::int32_t i = 0; i < n; ++i) {
    for (std::int32_t j = 0; j < m; ++j) {
      const std::int32_t p = first + i * (m + 1) + j, q = p + m + 1;
      triangles->push_back({p, q, q + 1});
      triangles->push_back({p, q + 1, p + 1});
    }
  }
}

}  // namespace

Piece& Piece::move(const Vec3& center, const Quat& turn) {
  solid.center = center;
  solid.frame = turn.toRotationMatrix();
  return *this;
}

Piece make_ball(double radius) {
  Piece piece = make_piece(ShapeKind::Sphere, radius);
  piece.solid.radius = radius;
  return piece;
}
Piece make_block(const Vec3& half) {
  Piece piece = make_piece(ShapeKind::Box, half.norm());
  piece.solid.half_size = half;
  return piece;
}
Piece make_pill(double radius, double half_length) {
  Piece piece = make_piece(ShapeKind::Capsule, radius + half_length);
  piece.solid.radius = radius;
  piece.solid.half_length = half_length;
  return piece;
}
Piece make_can(double radius, double half_length) {
  Piece piece = make_piece(ShapeKind::Cylinder, std::hypot(radius, half_length));
  piece.solid.radius = radius;
  piece.solid.half_length = half_length;
  return piece;
}
Piece make_hat(double radius, double half_length) {
  Piece piece = make_can(radius, half_length);
  piece.solid.kind = ShapeKind::Cone;
  return piece;
}
Piece make_egg(const Vec3& half) {
  Piece piece = make_piece(ShapeKind::Ellipsoid, half.maxCoeff());
  piece.solid.half_size = half;
  return piece;
}
Piece make_half_space() { return make_piece(ShapeKind::Plane, kInfinity); }
Piece make_coin(double radius) {
  Piece piece = make_ball(radius);
  piece.solid.kind = ShapeKind::Disk;
  return piece;
}
Piece make_flat(const std::vector<Vec2>& points) {
  double bound = 0;
  for (const Vec2& p : points) bound = std::max(bound, p.norm());
  Piece piece = make_piece(ShapeKind::Polygon, bound);
  piece.points = std::make_shared<std::vector<Vec2>>(points);
  piece.solid.points = *piece.points;
  return piece;
}
Piece make_stone(const std::vector<Vec3>& points) {
  double bound = 0;
  for (const Vec3& p : points) bound = std::max(bound, p.norm());
  Piece piece = make_piece(ShapeKind::Hull, bound);
  piece.hull = std::make_shared<Hull>(make_hull(points).hull);
  piece.solid.hull = piece.hull.get();
  return piece;
}

Piece make_block_mesh(const Vec3& half, int n) {
  std::vector<Vec3> vertices;
  std::vector<Triangle> triangles;
  for (int k = 0; k < 3; ++k) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    const Vec3 u = 2 * half[i] * Vec3::Unit(i), v = 2 * half[j] * Vec3::Unit(j);
    add_rectangle(Vec3(-half + 2 * half[k] * Vec3::Unit(k)), u, v, n, n, &vertices, &triangles);
    add_rectangle(-half, v, u, n, n, &vertices, &triangles);
  }
  return make_surface_piece(vertices, triangles, half.norm());
}

Piece make_stone_mesh(const std::vector<Vec3>& points) {
  const Piece stone = make_stone(points);
  std::vector<Triangle> triangles;
  for (const HullFace& face : stone.hull->faces) {
    const int* loop = stone.hull->loops.data() + face.first;
    for (int k = 1; k + 1 < face.count; ++k) triangles.push_back({loop[0], loop[k], loop[k + 1]});
  }
  return make_surface_piece(stone.hull->vertices, triangles, stone.solid.bound);
}

Piece make_angle_mesh(double half) {
  std::vector<Vec3> vertices;
  std::vector<Triangle> triangles;
  const Vec3 x = Vec3::UnitX(), y = 2 * half * Vec3::UnitY(), z = Vec3::UnitZ();
  const auto at = [&](double px, double pz) { return Vec3(px, -half, pz); };
  add_rectangle(at(-1, 1), x, y, 1, 1, &vertices, &triangles);   // top of the upright part
  add_rectangle(at(0, 0), x, y, 1, 1, &vertices, &triangles);    // top of the foot
  add_rectangle(at(-1, -1), y, x, 1, 1, &vertices, &triangles);  // bottom, two squares
  add_rectangle(at(0, -1), y, x, 1, 1, &vertices, &triangles);
  for (const double pz : {-1.0, 0.0}) add_rectangle(at(-1, pz), z, y, 1, 1, &vertices, &triangles);
  add_rectangle(at(0, 0), y, z, 1, 1, &vertices, &triangles);
  add_rectangle(at(1, -1), y, z, 1, 1, &vertices, &triangles);
  for (const Vec3& corner : {at(-1, -1), at(0, -1), at(-1, 0)}) {
    add_rectangle(corner, x, z, 1, 1, &vertices, &triangles);
    add_rectangle(corner + y, z, x, 1, 1, &vertices, &triangles);
  }
  return make_surface_piece(vertices, triangles, Vec3(1, half, 1).norm());
}

Piece make_sheet(double half) {
  std::vector<Vec3> vertices;
  std::vector<Triangle> triangles;
  add_rectangle(Vec3(-half, -half, 0), 2 * half * Vec3::UnitX(), 2 * half * Vec3::UnitY(), 4, 4, &vertices, &triangles);
  return make_surface_piece(vertices, triangles, std::sqrt(2.0) * half);
}

Quat Dice::turn() {
  Quat q(uniform(-1, 1), uniform(-1, 1), uniform(-1, 1), uniform(-1, 1));
  while (q.squaredNorm() > 1 || q.squaredNorm() < 0.01)
    q = Quat(uniform(-1, 1), uniform(-1, 1), uniform(-1, 1), uniform(-1, 1));
  return q.normalized();
}

std::vector<Vec3> Dice::cloud(int count) {
  std::vector<Vec3> points;
  for (int k = 0; k < count; ++k) points.push_back(point(1).normalized().cwiseProduct(Vec3(1, 0.8, 0.6)));
  return points;
}

double search_depth(const Solid& a, const Solid& b, Dice* dice, int starts) {
  const Box3 box = calc_box(a).common(calc_box(b));
  double most = 0;
  for (int start = 0; start < starts; ++start) {
    Vec3 q;
    for (int k = 0; k < 3; ++k)
      q[k] = dice->uniform(std::min(box.low[k], box.high[k]), std::max(box.low[k], box.high[k]));
    double room = std::min(calc_any_room(a, q), calc_any_room(b, q));
    for (double step = 0.3 * (box.high - box.low).norm(); step > 1e-9;) {
      bool better = false;
      for (int trial = 0; trial < 24; ++trial) {
        const Vec3 p = q + step * dice->point(1);
        const double there = std::min(calc_any_room(a, p), calc_any_room(b, p));
        if (!(there > room)) continue;
        q = p;
        room = there;
        better = true;
      }
      if (!better) step *= 0.5;
    }
    most = std::max(most, 2 * room);
  }
  return most;
}

}  // namespace slipstick::test
