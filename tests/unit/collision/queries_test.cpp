// Rays, nearest points and overlaps against brute force and closed forms.
#include <gtest/gtest.h>
#include <slipstick/queries.h>
#include <slipstick/surface.h>

#include <Eigen/LU>
#include <cmath>

#include "unit/collision/collision_support.h"

namespace slipstick::test {
namespace {

World make_mixed_world(Random* random, int count) {
  World world;
  const ShapeKind kinds[] = {ShapeKind::Sphere, ShapeKind::Box, ShapeKind::Capsule};
  for (int k = 0; k < count; ++k) {
    Pose pose{Vec3(random->uniform(-4, 4), random->uniform(-4, 4), random->uniform(-4, 4)), random->rotation()};
    const int body = world.add_body(k % 5 ? BodyKind::Dynamic : BodyKind::Fixed, pose, 0);
    const Solid solid = random->solid(kinds[k % 3]);
    world.add_shape(body, solid.shape, solid.points);
  }
  return world;
}

/// The signed distance of a point from every shape, by a ball without size.
double calc_nearest(const Queries& queries, const Vec3& p) {
  const auto near = queries.find_nearest(p, 100);
  return near ? near->distance : kInfinity;
}

TEST(Queries, ARayEndsWhereTheDistanceDoes) {
  Random random(51);
  int hits = 0, misses = 0;
  for (int scene = 0; scene < 10; ++scene) {
    const World world = make_mixed_world(&random, 40);
    Queries queries(world.model);
    queries.update(world.state);
    for (int k = 0; k < 60; ++k) {
      const Vec3 origin = 9 * random.direction(), target = random.uniform(0, 5) * random.direction();
      const Vec3 direction = (target - origin) * 0.37;
      const auto hit = queries.cast_ray(origin, direction, 14);
      // March along the ray by the distance to the nearest shape: slow, and shares nothing with the ray.
      const Vec3 way = direction.normalized();
      double t = 0;
      for (int i = 0; i < 3000 && t < 14; ++i) {
        const double free = calc_nearest(queries, origin + t * way);
        if (free < 1e-9) break;
        t += free;
      }
      if (!hit) {
        EXPECT_GT(t, 14 - 1e-3) << scene << ' ' << k;
        ++misses;
        continue;
      }
      ++hits;
      EXPECT_NEAR(hit->distance, t, 1e-4) << scene << ' ' << k;
      EXPECT_NEAR(calc_nearest(queries, hit->point), 0, 1e-9);
      EXPECT_LE(hit->normal.dot(way), 1e-12);
      EXPECT_NEAR(hit->normal.norm(), 1, 1e-12);
      EXPECT_NEAR(calc_nearest(queries, hit->point + 1e-6 * hit->normal), 1e-6, 2e-7);
    }
  }
  EXPECT_GT(hits, 100);
  EXPECT_GT(misses, 20);
}

TEST(Queries, ARayFromInsideDoesNotSeeTheShape) {
  World world;
  for (const Solid& solid : {make_sphere(1), make_box({1, 1, 1}), make_capsule(1, 1)}) {
    world.model.shapes.clear();
    world.model.bodies.clear();
    world.state.pose.clear();
    world.reach.clear();
    world.add_shape(world.add_body(BodyKind::Dynamic, {}, 0), solid.shape);
    Queries queries(world.model);
    queries.update(world.state);
    EXPECT_FALSE(queries.cast_ray(Vec3(0.1, 0.2, 0.3), Vec3(1, 2, 3)).has_value());
    EXPECT_FALSE(queries.cast_ray(Vec3(0.1, 0.2, 0.9), Vec3(0, 0, 1)).has_value());
    const auto from_outside = queries.cast_ray(Vec3(5, 0, 0), Vec3(-2, 0, 0));
    ASSERT_TRUE(from_outside.has_value());
    EXPECT_NEAR(from_outside->distance, 4, 1e-12);
  }
  EXPECT_FALSE(Queries(world.model).cast_ray(Vec3::Zero(), Vec3::Zero()).has_value());
}

TEST(Queries, RaysOnSurfacesAndPlanes) {
  World world;
  std::vector<double> z;
  for (int k = 0; k < 100; ++k) z.push_back(0.1 * (k % 7));
  const auto ground = make_heightfield(z, 10, 9, 9).surface;
  Shape shape;
  shape.kind = ShapeKind::Heightfield;
  shape.surface = 0;
  world.model.surfaces = {ground};
  world.add_shape(world.add_body(BodyKind::Fixed, {}, 0), shape);
  world.add_shape(world.add_body(BodyKind::Fixed, {Vec3(0, 0, -1), Quat::Identity()}, 0), make_plane().shape);
  Queries queries(world.model);
  queries.update(world.state);
  Random random(52);
  for (int k = 0; k < 300; ++k) {
    // Also exactly over corners and edges: no ray slips through.
    Vec3 from(random.uniform(-4.5, 4.5), random.uniform(-4.5, 4.5), 3);
    if (k % 3 == 0) from.head<2>() = from.head<2>().array().round().matrix() + Vec2(0.5, 0.5) * (k % 2);
    from.head<2>() = from.head<2>().cwiseMax(-4.5).cwiseMin(4.5);
    const auto hit = queries.cast_ray(from, -Vec3::UnitZ());
    ASSERT_TRUE(hit.has_value());
    EXPECT_EQ(hit->shape, 0) << from.transpose();
    double best = kInfinity;  // brute force over the triangles
    for (const Triangle& t : ground->triangles) {
      const Vec3 &a = ground->vertices[t[0]], u = ground->vertices[t[1]] - a, v = ground->vertices[t[2]] - a;
      Eigen::Matrix2d m;
      m << u.x(), v.x(), u.y(), v.y();
      const Vec2 s = m.inverse() * (from - a).head<2>();
      if (s.minCoeff() < -1e-9 || s.sum() > 1 + 1e-9) continue;
      best = std::min(best, 3 - (a.z() + s.x() * u.z() + s.y() * v.z()));
    }
    EXPECT_NEAR(hit->distance, best, 1e-9);
  }
  const auto beside = queries.cast_ray(Vec3(20, 0, 3), -Vec3::UnitZ());
  ASSERT_TRUE(beside.has_value());
  EXPECT_EQ(beside->shape, 1);
  EXPECT_NEAR(beside->distance, 4, 1e-12);
  EXPECT_FALSE(queries.cast_ray(Vec3(20, 0, 3), -Vec3::UnitZ(), 3.9).has_value());
}

TEST(Queries, OverlapsAndGapsAreThoseOfEachPair) {
  Random random(53);
  const World world = make_mixed_world(&random, 60);
  Queries queries(world.model);
  queries.update(world.state);
  std::vector<ShapeGap> overlaps;
  queries.find_overlaps(0, &overlaps);
  std::size_t next = 0, found = 0;
  for (int a = 0; a < 60; ++a) {
    for (int b = a + 1; b < 60; ++b) {
      const auto gap = queries.find_gap(a, b, 1);
      if (gap) {
        EXPECT_NEAR((gap->point_b - gap->point_a - gap->gap * gap->normal).norm(), 0, 1e-12);
      }
      if (!gap || gap->gap >= 0) continue;
      ++found;
      ASSERT_LT(next, overlaps.size());
      EXPECT_EQ(overlaps[next].shape_a, a);
      EXPECT_EQ(overlaps[next].shape_b, b);
      EXPECT_LT(overlaps[next].gap, 0);
      ++next;
    }
  }
  EXPECT_EQ(found, overlaps.size());
  EXPECT_GT(found, 3u);
}

}  // namespace
}  // namespace slipstick::test
