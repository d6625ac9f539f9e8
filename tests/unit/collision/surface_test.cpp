// Meshes and heightfields: no ghost edges, distances against closed forms and brute force, solids made of triangles
// against the same solids made of formulas.
#include <gtest/gtest.h>
#include <slipstick/surface.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "collision/surface_index.h"
#include "unit/collision/collision_support.h"
#include "unit/collision/flush_support.h"
#include "unit/collision/slow_convex.h"

namespace slipstick::test {
namespace {

/// n x n cells of one metre about the origin.
std::shared_ptr<const Surface> make_ground(int n, const std::function<double(int, int)>& height) {
  std::vector<double> z;
  for (int r = 0; r <= n; ++r)
    for (int c = 0; c <= n; ++c) z.push_back(height(c, r));
  return make_heightfield(z, n + 1, n, n).surface;
}

/// A solid (shape 0) against a surface (shape 1) of a fixed body.
World make_surface_world(const Solid& solid, const Pose& pose, const std::shared_ptr<const Surface>& surface,
                         const Pose& surface_pose, double reach) {
  World world;
  world.add_shape(world.add_body(BodyKind::Dynamic, pose, reach), solid.shape, solid.points, solid.hull);
  world.add_surface(world.add_body(BodyKind::Fixed, surface_pose, 0), surface, !surface->closed);
  return world;
}

double calc_surface_distance(const Surface& surface, const Vec3& p) {
  double best = kInfinity;
  for (const Triangle& t : surface.triangles) {
    best = std::min(
        best, find_nearest(p, surface.vertices[t[0]], surface.vertices[t[1]], surface.vertices[t[2]]).distance_sq);
  }
  return std::sqrt(best);
}

TEST(SurfacePairs, ABallOnAFlatFieldMeetsAPlane) {
  Random random(31);
  const auto ground = make_ground(8, [](int, int) { return 0.0; });
  std::uint32_t name = 0;
  for (int k = 0; k < 400; ++k) {
    // On cells, on their edges, diagonals and corners, and a hair beside them.
    Vec3 at(random.uniform(-3, 3), random.uniform(-3, 3), 0.5 + random.uniform(-0.1, 0.1));
    if (k % 4 == 1) at.x() = std::round(at.x());
    if (k % 4 == 2) at.y() = at.x() + random.uniform(-1e-13, 1e-13);
    if (k % 4 == 3)
      at.head<2>() = at.head<2>().array().round().matrix() + Vec2::Constant(random.uniform(-1e-12, 1e-12));
    const auto found = find_contacts(make_surface_world(make_sphere(0.5), {at, Quat::Identity()}, ground, {}, 0.3));
    ASSERT_EQ(found.size(), 1u) << at.transpose();
    EXPECT_NEAR(found[0].gap, at.z() - 0.5, 1e-15);
    EXPECT_NEAR(found[0].normal.z(), -1, 1e-15);
    EXPECT_NEAR((found[0].point_b - Vec3(at.x(), at.y(), 0)).norm(), 0, 1e-14);
    if (k == 0) name = found[0].key.feature;
    EXPECT_EQ(found[0].key.feature, name) << "the whole floor is one feature";
  }
}

TEST(SurfacePairs, ABoxOnAFlatFieldHasItsCorners) {
  Random random(32);
  const auto ground = make_ground(8, [](int, int) { return 0.0; });
  for (int k = 0; k < 100; ++k) {
    const Quat turn(Eigen::AngleAxisd(k % 3 ? random.uniform(0, 6) : 0, Vec3::UnitZ()));
    const Vec3 at(k % 5 ? random.uniform(-2, 2) : 0.5, random.uniform(-2, 2), 0.3 - 1e-4 * (k % 2));
    const World world = make_surface_world(make_box({0.7, 0.9, 0.3}), {at, turn}, ground, {}, 0.01);
    const auto found = find_contacts(world);
    ASSERT_EQ(found.size(), 4u);
    for (const Contact& c : found) {
      EXPECT_NEAR(c.gap, at.z() - 0.3, 1e-14);
      EXPECT_NEAR(c.normal.z(), -1, 1e-14);
    }
  }
}

TEST(SurfacePairs, LeastGapOfABallIsTheDistance) {
  Random random(33);
  const auto ground = make_ground(6, [](int c, int r) { return 0.3 * std::sin(2.1 * c) * std::cos(1.7 * r); });
  int touched = 0;
  for (int k = 0; k < 1500; ++k) {
    const Vec3 at(random.uniform(-2.5, 2.5), random.uniform(-2.5, 2.5), random.uniform(0.1, 1));
    const double distance = calc_surface_distance(*ground, at), radius = random.uniform(0.05, 0.5);
    const auto found = find_contacts(make_surface_world(make_sphere(radius), {at, Quat::Identity()}, ground, {}, 0.2));
    bool above = true;  // brute force knows no side: only points over the field's own height are compared
    for (const Contact& c : found) above = above && c.gap > -radius;
    if (!above) continue;
    ASSERT_EQ(found.empty(), distance - radius > 0.2) << k;
    if (found.empty()) continue;
    ++touched;
    EXPECT_NEAR(least(found).gap, distance - radius, 1e-12) << k;
    for (const Contact& c : found) {
      EXPECT_NEAR((c.point_b - c.point_a - c.gap * c.normal).norm(), 0, 1e-13);
      EXPECT_NEAR((c.point_a - at).norm(), radius, 1e-12);
    }
  }
  EXPECT_GT(touched, 300);
}

/// The same solid by its formula: what matters is the least gap.
TEST(SurfacePairs, AMeshOfABoxIsABox) {
  Random random(34);
  const Vec3 half(0.5, 0.8, 0.3);
  const auto mesh = make_box_mesh(half);
  int touched = 0;
  for (int k = 0; k < 2000; ++k) {
    const Solid solid = k % 3 == 0 ? make_sphere(0.3) : k % 3 == 1 ? make_capsule(0.2, 0.5) : make_box({0.4, 0.3, 0.2});
    const Pose pose{random.uniform(0.3, 1.6) * random.direction(), random.rotation()};
    const Pose box_pose{0.1 * random.direction(), random.rotation()};
    const auto expected = find_contacts(make_pair_world(solid, pose, make_box(half), box_pose, 0.15));
    const auto found = find_contacts(make_surface_world(solid, pose, mesh, box_pose, 0.15));
    if (expected.empty()) {
      EXPECT_TRUE(found.empty()) << k;
      continue;
    }
    if (least(expected).gap < 0) continue;  // in overlap, the features give depths of their own
    ++touched;
    ASSERT_FALSE(found.empty()) << k;
    EXPECT_NEAR(least(found).gap, least(expected).gap, 1e-9) << k;
  }
  EXPECT_GT(touched, 200);
}

TEST(SurfacePairs, ShallowOverlapsHaveTheirDepth) {
  const auto mesh = make_box_mesh({1, 1, 1});
  for (const double depth : {1e-9, 1e-6, 1e-3, 0.05}) {
    const Pose over{Vec3(0.2, 0.1, 1.25 - depth), Quat::Identity()};
    for (const Solid& solid : {make_sphere(0.25), make_box({0.3, 0.2, 0.25})}) {
      const auto found = find_contacts(make_surface_world(solid, over, mesh, {}, 0.001));
      ASSERT_EQ(found.size(), solid.shape.kind == ShapeKind::Sphere ? 1u : 4u);
      for (const Contact& c : found) {
        EXPECT_NEAR(c.gap, -depth, 1e-12);
        EXPECT_NEAR(c.normal.z(), -1, 1e-12);
      }
    }
  }
}

TEST(SurfacePairs, BoxesOverTheRimAndOnTips) {
  // A large plate over a small cube: the cube's corners hold it, not the plate's.
  const auto mesh = make_box_mesh({0.5, 0.5, 0.5});
  const auto found =
      find_contacts(make_surface_world(make_box({2, 2, 0.1}), {Vec3(0.1, 0, 0.6), Quat::Identity()}, mesh, {}, 0.01));
  ASSERT_EQ(found.size(), 4u);
  for (const Contact& c : found) EXPECT_NEAR(c.gap, 0, 1e-14);
}

TEST(SurfacePairs, TwoMeshesMeetLikeTwoBoxes) {
  Random random(35);
  const Vec3 half_a(0.5, 0.8, 0.3), half_b(0.4, 0.3, 0.6);
  const auto mesh_a = make_box_mesh(half_a), mesh_b = make_box_mesh(half_b);
  int touched = 0;
  for (int k = 0; k < 800; ++k) {
    const Pose a{random.uniform(0.5, 1.4) * random.direction(), random.rotation()}, b{Vec3::Zero(), random.rotation()};
    const auto expected = find_contacts(make_pair_world(make_box(half_a), a, make_box(half_b), b, 0.1));
    World world;
    world.add_surface(world.add_body(BodyKind::Dynamic, a, 0.05), mesh_a, false);
    world.add_surface(world.add_body(BodyKind::Dynamic, b, 0.05), mesh_b, false);
    const auto found = find_contacts(world);
    if (expected.empty() || least(expected).gap < 0) continue;
    ++touched;
    ASSERT_FALSE(found.empty()) << k;
    EXPECT_NEAR(least(found).gap, least(expected).gap, 1e-9) << k;
    for (std::size_t i = 1; i < found.size(); ++i) EXPECT_LT(found[i - 1].key, found[i].key);
  }
  EXPECT_GT(touched, 40);
}

TEST(SurfacePairs, AMeshOnAPlaneStandsOnItsCorners) {
  World world;
  world.add_surface(world.add_body(BodyKind::Dynamic, {Vec3(0, 0, 0.999), Quat::Identity()}, 0.01),
                    make_box_mesh({1, 1, 1}), false);
  world.add_shape(world.add_body(BodyKind::Fixed, {}, 0), make_plane().shape);
  const auto found = find_contacts(world);
  ASSERT_EQ(found.size(), 4u);
  for (const Contact& c : found) EXPECT_NEAR(c.gap, -0.001, 1e-14);
}

TEST(SurfacePairs, ASheetHasTwoSides) {
  const auto sheet = make_surface({{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0}}, {{0, 1, 2}, {0, 2, 3}}).surface;
  for (const double z : {0.28, -0.28}) {
    const auto found =
        find_contacts(make_surface_world(make_sphere(0.3), {Vec3(0.2, 0.1, z), Quat::Identity()}, sheet, {}, 0));
    ASSERT_EQ(found.size(), 1u);
    EXPECT_NEAR(found[0].gap, -0.02, 1e-14);
    EXPECT_NEAR(found[0].normal.z(), z > 0 ? -1 : 1, 1e-14);
  }
}

TEST(SurfacePairs, AValleyHoldsABallOnBothSides) {
  // Two slopes of 45 degrees that meet along x = 0 ... the ball touches both, in either order of the step.
  const auto valley = make_ground(4, [](int c, int) { return std::abs(c - 2.0); });
  const double z = 0.5 * std::sqrt(2.0);
  const auto found =
      find_contacts(make_surface_world(make_sphere(0.5), {Vec3(0, 0.3, z), Quat::Identity()}, valley, {}, 0.05));
  ASSERT_EQ(found.size(), 2u);
  for (const Contact& c : found) EXPECT_NEAR(c.gap, 0, 1e-14);
  EXPECT_NEAR(found[0].normal.dot(found[1].normal), 0, 1e-14);
}

/// Cylinder, cone, ellipsoid and a hull of random points.
Solid make_general(int k, Random* random) {
  if (k == 0) return make_cylinder(0.3, 0.5);
  if (k == 1) return make_cone(0.3, 0.5);
  if (k == 2) return make_ellipsoid({0.3, 0.4, 0.6});
  std::vector<Vec3> points;
  for (int i = 0; i < 30; ++i) points.push_back(random->direction().cwiseProduct(Vec3(0.3, 0.4, 0.6)));
  return make_hull_solid(points);
}

TEST(SurfacePairs, GeneralShapesOnAFlatFieldMeetAPlane) {
  const auto ground = make_ground(8, [](int, int) { return 0.0; });
  for (int k = 0; k < 400; ++k) {
    Random random(1000 + k);
    World on_field, on_plane;
    const Pose pose{Vec3(random.uniform(-2, 2), random.uniform(-2, 2), random.uniform(0.25, 0.65)), random.rotation()};
    for (World* world : {&on_field, &on_plane}) {
      Random points(k);
      const Solid solid = make_general(k % 4, &points);
      world->add_shape(world->add_body(BodyKind::Dynamic, pose, 0.1), solid.shape, {}, solid.hull);
    }
    on_field.add_surface(on_field.add_body(BodyKind::Fixed, {}, 0), ground, true);
    on_plane.add_shape(on_plane.add_body(BodyKind::Fixed, {}, 0), make_plane().shape);
    const auto expected = find_contacts(on_plane), found = find_contacts(on_field);
    if (expected.empty() || least(expected).gap < -0.02) continue;
    ASSERT_FALSE(found.empty()) << k;
    EXPECT_NEAR(least(found).gap, least(expected).gap, 1e-6) << k;
    for (const Contact& c : found) EXPECT_NEAR(c.normal.z(), -1, 1e-9) << k << ": no ghost edges";
    for (std::size_t i = 1; i < found.size(); ++i) EXPECT_LT(found[i - 1].key, found[i].key) << k;
  }
}

TEST(SurfacePairs, WhatHasSunkInDeepIsStillPushedOut) {
  const auto ground = make_ground(8, [](int, int) { return 0.0; });
  for (int k = 0; k < 600; ++k) {
    Random random(3000 + k);
    const Solid solid = k % 6 == 4   ? make_box({0.3, 0.4, 0.6})
                        : k % 6 == 5 ? make_capsule(0.2, 0.3)
                                     : make_general(k % 6, &random);
    const Pose pose{Vec3(random.uniform(-2, 2), random.uniform(-2, 2), random.uniform(-0.4, 0.3)), random.rotation()};
    const auto found = find_contacts(make_surface_world(solid, pose, ground, {}, 0.01));
    const auto expected = find_contacts(make_pair_world(solid, pose, make_plane(), {}, 0.01));
    if (expected.empty() || Convex{solid, pose}.support(Vec3::UnitZ()) < 0) continue;  // below all: lost
    ASSERT_FALSE(found.empty()) << k;
    if (k % 6 < 3 && least(expected).gap < -0.02) {
      EXPECT_LT(least(found).gap, 0) << k;
    }
    for (const Contact& c : found) {
      EXPECT_NEAR(c.normal.z(), -1, 1e-6) << k;
      EXPECT_GE(c.gap, least(expected).gap - 1e-9) << k;
    }
  }
}

TEST(SurfacePairs, AThinPlateDoesNotPullFromBehind) {
  const auto plate = make_box_mesh({3, 3, 0.02});
  for (int k = 0; k < 300; ++k) {
    Random random(4000 + k);
    const Solid solid = k % 5 == 4 ? make_box({0.3, 0.4, 0.6}) : make_general(k % 5, &random);
    const Quat turn = random.rotation();
    const double below = -Convex{solid, {Vec3::Zero(), turn}}.support(-Vec3::UnitZ());
    const Pose pose{Vec3(random.uniform(-2, 2), random.uniform(-2, 2), 0.02 - below + 0.05), turn};
    EXPECT_TRUE(find_contacts(make_surface_world(solid, pose, plate, {}, 0.01)).empty()) << k;
  }
}

/// What sticks through a plate is pushed along the plate's normal, or to the side if that is the shorter way: never out
/// of an end of the plate that is farther away than all of the body is long.
TEST(SurfacePairs, WhatSticksThroughAPlateIsNotPushedOutOfItsFarEnd) {
  constexpr double kHalf = 0.9, kThick = 0.005;
  const auto plate = make_box_mesh({kHalf, kHalf, kThick}, 4);
  const Vec3 half(0.27, 0.018, 0.0009);
  int touching = 0;
  for (int k = 0; k < 3000; ++k) {
    Random random(5000 + k);
    const Solid rod = make_form(kForms[k % 3], half, &random);
    const Pose pose{Vec3(random.uniform(-0.3, 0.3), random.uniform(-0.3, 0.3), random.uniform(-0.25, 0.25)),
                    random.rotation()};
    World world;
    const int body = world.add_body(BodyKind::Dynamic, pose, k % 2 ? 0.001 : 0.7);  // slow, and fast
    if (rod.surface) {
      world.add_surface(body, rod.surface, false);
    } else {
      world.add_shape(body, rod.shape, rod.points, rod.hull);
    }
    world.add_surface(world.add_body(BodyKind::Fixed, {}, 0), plate, false);
    for (const Contact& c : find_contacts(world)) {
      ++touching;
      EXPECT_GE(c.gap, -2 * half.norm() - 2 * kThick) << k << ": " << name_of(kForms[k % 3]) << ", " << c.normal;
    }
  }
  EXPECT_GT(touching, 1000);
}

TEST(SurfacePairs, AHullOnHillsIsAsFarAsItsTriangles) {
  const auto ground = make_ground(6, [](int c, int r) { return 0.3 * std::sin(2.1 * c) * std::cos(1.7 * r); });
  int touched = 0;
  for (int k = 0; k < 300; ++k) {
    Random random(2000 + k);
    World world;
    const Solid solid = make_general(3, &random);
    const Pose pose{Vec3(random.uniform(-2, 2), random.uniform(-2, 2), random.uniform(0.5, 1)), random.rotation()};
    world.add_shape(world.add_body(BodyKind::Dynamic, pose, 0.1), solid.shape, {}, solid.hull);
    world.add_surface(world.add_body(BodyKind::Fixed, {}, 0), ground, true);
    // The same triangles, each as a flat hull of its own, by the general routine.
    World pieces = world;
    pieces.model.shapes.pop_back();
    for (const Triangle& t : ground->triangles) {
      Shape piece;
      piece.kind = ShapeKind::Hull;
      Hull hull;
      update_triangle_hull(ground->vertices[t[0]], ground->vertices[t[1]], ground->vertices[t[2]], &hull);
      pieces.add_shape(1, piece, {}, hull);
    }
    const auto expected = find_contacts(pieces), found = find_contacts(world);
    if (!expected.empty() && least(expected).gap <= 1e-3) continue;
    ASSERT_EQ(found.empty(), expected.empty()) << k;
    if (found.empty()) continue;
    ++touched;
    EXPECT_NEAR(least(found).gap, least(expected).gap, 1e-6) << k;
  }
  EXPECT_GT(touched, 20);
}

TEST(SurfaceIndex, FacetsAndForms) {
  const SurfaceIndex box(make_box_mesh({1, 2, 3}));
  int ridges = 0, flat = 0;
  for (int e = 0; e < box.edge_count(); ++e) {
    ridges += box.edge(e).form == EdgeForm::Ridge;
    flat += box.edge(e).form == EdgeForm::Flat;
  }
  EXPECT_EQ(ridges, 12);
  EXPECT_EQ(flat, 6);
  for (int t = 0; t < 12; ++t) EXPECT_EQ(box.facet(t), t / 2 * 2);
  for (int v = 0; v < 8; ++v) EXPECT_GT(box.outward(v).dot(box.vertex(v)), 0);
}

}  // namespace
}  // namespace slipstick::test
