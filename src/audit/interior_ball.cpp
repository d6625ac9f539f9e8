#include "audit/interior_ball.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "audit/surface_tree.h"

namespace slipstick {
namespace {

constexpr int kSeeds = 64;       // triangles from which a ball is tried
constexpr int kMaxShrinks = 30;  // of one ball
constexpr std::size_t kMaxBalls = 4;
constexpr std::size_t kMaxCorners = 64;

InteriorBall find_between_walls(const Solid& s) {
  BallProgram program;
  program.start(4 * s.bound + s.center.norm());
  for_each_face(s, [&](const Vec3& normal, double offset) { program.add({normal, offset}); });
  if (s.is_planar()) {  // the third direction does not count
    const Vec3 z = s.frame.col(2);
    program.add({z, z.dot(s.center), 0});
    program.add({-z, -z.dot(s.center), 0});
  }
  program.solve(0);
  return {program.center(), std::max(calc_room(s, program.center()), 0.0)};
}

/// The largest ball inside that touches the surface at p from within, n outward: begun too large, it is made to go
/// through the point of the surface that is deepest in it, until nothing is.
InteriorBall shrink_ball(const SurfaceTree& tree, const Vec3& p, const Vec3& n, double radius) {
  for (int k = 0; k < kMaxShrinks; ++k) {
    const Vec3 center = p - radius * n;
    const NearTriangle near = tree.find_nearest(center);
    if (near.distance >= radius * (1 - 1e-6)) break;
    const Vec3 chord = p - near.point;
    const double along = 2 * n.dot(chord);
    if (!(along > 0)) break;
    radius = std::min(radius * (1 - 1e-6), chord.squaredNorm() / along);
  }
  const Vec3 center = p - radius * n;
  return {center, std::max(tree.calc_room(center), 0.0)};
}

std::vector<InteriorBall> find_in_surface(const Solid& s) {
  const SurfaceTree& tree = *s.tree;
  if (tree.is_sheet()) return {{s.to_world(tree.find_nearest(tree.box().middle()).point), 0}};
  const double size = (tree.box().high - tree.box().low).norm();
  std::vector<InteriorBall> tried, kept;
  const int count = tree.triangle_count(), stride = std::max(1, count / kSeeds);
  for (int t = 0; t < count; t += stride) {
    const auto [a, b, c] = tree.corners(t);
    tried.push_back(shrink_ball(tree, (a + b + c) / 3, tree.normal(t), size));
  }
  const double most = std::max_element(tried.begin(), tried.end(), [](const auto& x, const auto& y) {
                        return x.radius < y.radius;
                      })->radius;
  // Each next one is that of at least half the size which is farthest from those kept.
  const auto away = [&](const InteriorBall& ball) {
    double least = kInfinity;
    for (const InteriorBall& k : kept) least = std::min(least, (k.center - ball.center).norm());
    return kept.empty() ? ball.radius : least;
  };
  while (kept.size() < kMaxBalls) {
    const double floor = kept.empty() ? most : 0.5 * most;
    const InteriorBall* best = nullptr;
    for (const InteriorBall& ball : tried)
      if (ball.radius >= floor && (best == nullptr || away(ball) > away(*best))) best = &ball;
    if (best == nullptr || (!kept.empty() && away(*best) < 2 * most)) break;
    kept.push_back(*best);
  }
  for (InteriorBall& ball : kept) ball.center = s.to_world(ball.center);
  return kept;
}

}  // namespace

std::vector<InteriorBall> find_interior_balls(const Solid& s) {
  if (s.is_surface()) return find_in_surface(s);
  switch (s.kind) {
    case ShapeKind::Hull:
    case ShapeKind::Polygon:
      return {find_between_walls(s)};
    case ShapeKind::Cone: {  // the circle in the triangle of its section
      const double height = 2 * s.half_length, slant = std::hypot(s.radius, height);
      const double radius = s.radius * height / (s.radius + slant);
      return {{s.center + (radius - s.half_length) * s.frame.col(2), radius}};
    }
    case ShapeKind::Cylinder:
      return {{s.center, std::min(s.radius, s.half_length)}};
    case ShapeKind::Box:
    case ShapeKind::Ellipsoid:
      return {{s.center, s.half_size.minCoeff()}};
    default:
      return {{s.center, s.radius}};
  }
}

std::vector<Vec3> find_corners(const Solid& s) {
  std::vector<Vec3> corners;
  const auto add = [&](double x, double y, double z) { corners.push_back(s.to_world({x, y, z})); };
  const auto add_some = [&](const std::vector<Vec3>& all) {
    const std::size_t stride = 1 + (all.size() - 1) / kMaxCorners;
    for (std::size_t k = 0; k < all.size(); k += stride) corners.push_back(s.to_world(all[k]));
  };
  const auto add_rim = [&](double z) {
    for (int k = 0; k < 8; ++k) {
      const double angle = 0.25 * std::numbers::pi * k;
      add(s.radius * std::cos(angle), s.radius * std::sin(angle), z);
    }
  };
  switch (s.kind) {
    case ShapeKind::Box:
      for (int k = 0; k < 8; ++k)
        add(k & 1 ? s.half_size.x() : -s.half_size.x(), k & 2 ? s.half_size.y() : -s.half_size.y(),
            k & 4 ? s.half_size.z() : -s.half_size.z());
      break;
    case ShapeKind::Hull:
      add_some(s.hull->vertices);
      break;
    case ShapeKind::Mesh:
      if (!s.tree->is_sheet()) add_some(s.tree->vertices());
      break;
    case ShapeKind::Capsule:
      for (const double side : {-1.0, 1.0}) add(0, 0, side * (s.half_length + s.radius));
      break;
    case ShapeKind::Ellipsoid:
      for (int k = 0; k < 3; ++k)
        for (const double side : {-1.0, 1.0}) corners.push_back(s.to_world(side * s.half_size[k] * Vec3::Unit(k)));
      break;
    case ShapeKind::Cylinder:
      add_rim(-s.half_length);
      add_rim(s.half_length);
      break;
    case ShapeKind::Cone:
      add_rim(-s.half_length);
      add(0, 0, s.half_length);
      break;
    default:
      break;
  }
  return corners;
}

}  // namespace slipstick
