// Bodies at rest on each other: how many contacts, where, and that their names stay.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "unit/collision/rest.h"
#include "unit/collision/slow_convex.h"

namespace slipstick::test {
namespace {

constexpr double kTinyReach = 1e-6;

Pose at(const Vec3& position, const Quat& orientation = Quat::Identity()) { return {position, orientation}; }

Quat turn(const Vec3& axis, double degrees) {
  return Quat(Eigen::AngleAxisd(degrees * std::numbers::pi / 180, axis.normalized()));
}

TEST(Manifold, BoxOnPlane) {
  const Solid plane = make_plane(), box = make_box({0.5, 0.3, 0.2});
  const World world = make_pair_world(plane, {}, box, at({0, 0, 0.2}), kTinyReach);
  const std::vector<Contact> contacts = find_contacts(world);
  expect_rest(contacts, 4);
  EXPECT_LT((extent(contacts) - Vec3(1, 0.6, 0)).norm(), 1e-12);
  // Wide reach: every corner.
  EXPECT_EQ(find_contacts(make_pair_world(plane, {}, box, at({0, 0, 0.2}), 1)).size(), 8u);
}

TEST(Manifold, PlaneAsTheSecondShape) {
  const World world = make_pair_world(make_box({0.5, 0.3, 0.2}), at({0, 0, 0.2}), make_plane(), {}, kTinyReach);
  expect_rest(find_contacts(world), 4, -Vec3::UnitZ());
}

TEST(Manifold, BoxOnBox) {
  const Solid base = make_box({1, 1, 0.5}), box = make_box({0.5, 0.3, 0.2});
  const std::vector<Contact> contacts = find_contacts(make_pair_world(base, {}, box, at({0.1, -0.2, 0.7}), kTinyReach));
  expect_rest(contacts, 4);
  EXPECT_LT((extent(contacts) - Vec3(1, 0.6, 0)).norm(), 1e-12);
}

TEST(Manifold, EqualCubesFlush) {
  const Solid cube = make_box({0.5, 0.5, 0.5});
  Random random(3);
  std::vector<Contact> first;
  for (int k = 0; k < 5000; ++k) {
    // Noise of all sizes below that at which two points are one: always the same four contacts, same names.
    const double size = k == 0 ? 0 : std::pow(10.0, -random.uniform(7, 16));
    const Pose top = at(Vec3::UnitZ() + size * random.direction(), turn(random.direction(), 50 * size));
    const std::vector<Contact> contacts = find_contacts(make_pair_world(cube, {}, cube, top, kTinyReach));
    ASSERT_EQ(contacts.size(), 4u) << size;
    EXPECT_LT((extent(contacts) - Vec3(1, 1, 0)).norm(), 4 * size + 1e-12);
    if (k == 0) first = contacts;
    for (int i = 0; i < 4; ++i) EXPECT_EQ(contacts[i].key, first[i].key) << size;
  }
}

TEST(Manifold, CubesTurnedAgainstEachOther) {
  const Solid cube = make_box({0.5, 0.5, 0.5});
  const auto count = [&](double degrees) {
    const Pose top = at(Vec3::UnitZ(), turn(Vec3::UnitZ(), degrees));
    return find_contacts(make_pair_world(cube, {}, cube, top, kTinyReach)).size();
  };
  EXPECT_EQ(count(45), 8u);
  EXPECT_EQ(count(1), 8u);
  EXPECT_EQ(count(90), 4u);
  EXPECT_EQ(count(180), 4u);
}

TEST(Manifold, CrossedSlabs) {
  const Solid slab = make_box({2, 0.2, 0.1});
  for (const double degrees : {90.0, 60.0}) {
    const Pose top = at({0, 0, 0.2}, turn(Vec3::UnitZ(), degrees));
    expect_rest(find_contacts(make_pair_world(slab, {}, slab, top, kTinyReach)), 4);
  }
}

TEST(Manifold, SlightlyTiltedOverTheRim) {
  // The lowest corner is beyond the rim: the closest points are two edges. All of the overlap must still be there.
  const Solid base = make_box({0.5, 0.5, 0.5}), plank = make_box({1, 0.3, 0.1});
  for (const double degrees : {1e-7, 1e-5, 1e-3, -1e-3}) {
    for (const double lift : {1e-7, 0.0, -1e-7}) {
      const Pose top = at({0.2, 0.1, 0.6 + lift}, turn(Vec3(0.1, 1, 0), degrees));
      const std::vector<Contact> contacts = find_contacts(make_pair_world(base, {}, plank, top, 1e-3));
      ASSERT_GE(contacts.size(), 4u) << degrees;
      EXPECT_GT(extent(contacts).x(), 1 - 1e-6);
      EXPECT_GT(extent(contacts).y(), 0.6 - 1e-6);
    }
  }
}

TEST(Manifold, EdgeOnFace) {
  const Solid base = make_box({1, 1, 0.5}), cube = make_box({0.5, 0.5, 0.5});
  const Pose top = at({0, 0, 0.5 + std::sqrt(0.5)}, turn(Vec3::UnitX(), 45));
  const std::vector<Contact> contacts = find_contacts(make_pair_world(base, {}, cube, top, kTinyReach));
  expect_rest(contacts, 2);
  EXPECT_NEAR(extent(contacts).x(), 1, 1e-12);
}

TEST(Manifold, CornerOnFace) {
  const Solid base = make_box({1, 1, 0.5}), cube = make_box({0.5, 0.5, 0.5});
  const Quat on_corner = Quat::FromTwoVectors(Vec3(1, 1, 1), -Vec3::UnitZ());
  const Pose top = at({0.1, 0.2, 0.5 + 0.5 * std::sqrt(3.0)}, on_corner);
  expect_rest(find_contacts(make_pair_world(base, {}, cube, top, kTinyReach)), 1);
}

TEST(Manifold, CrossedEdgesAndCorners) {
  const Solid cube = make_box({0.5, 0.5, 0.5});
  const double s = std::sqrt(0.5);
  // Ridge over ridge at right angles.
  const Pose low = at(Vec3::Zero(), turn(Vec3::UnitX(), 45)), high = at({0, 0, 2 * s}, turn(Vec3::UnitY(), 45));
  expect_rest(find_contacts(make_pair_world(cube, low, cube, high, kTinyReach)), 1);
  // Corner to corner along the diagonal.
  const Vec3 gap = Vec3::Constant(1.1);
  const std::vector<Contact> corner = find_contacts(make_pair_world(cube, {}, cube, at(gap), 1));
  ASSERT_EQ(corner.size(), 1u);
  EXPECT_NEAR(corner[0].gap, 0.1 * std::sqrt(3.0), 1e-14);
  EXPECT_LT((corner[0].normal - Vec3::Ones().normalized()).norm(), 1e-12);
  // Parallel edges: both ends.
  const std::vector<Contact> edges = find_contacts(make_pair_world(cube, {}, cube, at({0.3, 1.1, 1.1}), 0.5));
  ASSERT_EQ(edges.size(), 2u);
  EXPECT_NEAR(edges[0].gap, 0.1 * std::sqrt(2.0), 1e-14);
  EXPECT_NEAR(edges[1].gap, 0.1 * std::sqrt(2.0), 1e-14);
  EXPECT_NEAR(extent(edges).x(), 0.7, 1e-12);
}

TEST(Manifold, LyingCapsule) {
  const Solid capsule = make_capsule(0.2, 0.5);
  const Quat lying = turn(Vec3::UnitY(), 90);
  std::vector<Contact> contacts =
      find_contacts(make_pair_world(make_plane(), {}, capsule, at({0, 0, 0.2}, lying), kTinyReach));
  expect_rest(contacts, 2);
  EXPECT_NEAR(extent(contacts).x(), 1, 1e-12);
  contacts = find_contacts(make_pair_world(make_box({1, 1, 0.5}), {}, capsule, at({0.2, 0, 0.7}, lying), kTinyReach));
  expect_rest(contacts, 2);
  EXPECT_NEAR(extent(contacts).x(), 1, 1e-12);
  // Across a narrow box: at its two rims.
  contacts = find_contacts(make_pair_world(make_box({0.3, 1, 0.5}), {}, capsule, at({0, 0, 0.7}, lying), kTinyReach));
  expect_rest(contacts, 2);
  EXPECT_NEAR(extent(contacts).x(), 0.6, 1e-12);
  // Along the edge of a box, level with it on the diagonal.
  const Vec3 aside(0.1, 0.5 + 0.25 * std::sqrt(0.5), 0.5 + 0.25 * std::sqrt(0.5));
  contacts = find_contacts(make_pair_world(make_box({2, 0.5, 0.5}), {}, capsule, at(aside, lying), 0.1));
  ASSERT_EQ(contacts.size(), 2u);
  EXPECT_NEAR(contacts[0].gap, 0.05, 1e-12);
  EXPECT_NEAR(contacts[1].gap, 0.05, 1e-12);
  // Standing on its end.
  expect_rest(find_contacts(make_pair_world(make_box({1, 1, 0.5}), {}, capsule, at({0, 0, 1.2}), kTinyReach)), 1);
}

TEST(Manifold, ParallelCapsules) {
  const Solid capsule = make_capsule(0.2, 0.5);
  for (const double shift : {0.0, 0.3, -0.6}) {
    const std::vector<Contact> contacts =
        find_contacts(make_pair_world(capsule, {}, capsule, at({0, 0.4, shift}), kTinyReach));
    expect_rest(contacts, 2, Vec3::UnitY());
    EXPECT_NEAR(extent(contacts).z(), 1 - std::abs(shift), 1e-12);
  }
  const auto crossed =
      find_contacts(make_pair_world(capsule, {}, capsule, at({0, 0.4, 0}, turn(Vec3::UnitY(), 40)), 1));
  EXPECT_EQ(crossed.size(), 1u);
  const auto in_line = find_contacts(make_pair_world(capsule, {}, capsule, at({0, 0, 1.4}), kTinyReach));
  expect_rest(in_line, 1);
}

TEST(Manifold, Planar) {
  const Solid box = make_rectangle(0.5, 0.5), floor = make_rectangle(3, 0.5);
  const Vec3 up = Vec3::UnitY();
  std::vector<Contact> contacts = find_contacts(make_pair_world(floor, {}, box, at({0.3, 1, 0}), kTinyReach));
  expect_rest(contacts, 2, up);
  EXPECT_NEAR(extent(contacts).x(), 1, 1e-12);
  contacts = find_contacts(make_pair_world(floor, {}, box, at({3.2, 1, 0}), kTinyReach));  // over the end
  expect_rest(contacts, 2, up);
  EXPECT_NEAR(extent(contacts).x(), 0.3, 1e-12);
  contacts = find_contacts(make_pair_world(box, {}, box, at({0, 1, 0}), kTinyReach));  // flush
  expect_rest(contacts, 2, up);
  const Pose tip = at({0, 0.5 + std::sqrt(0.5), 0}, turn(Vec3::UnitZ(), 45));
  expect_rest(find_contacts(make_pair_world(floor, {}, box, tip, kTinyReach)), 1, up);
  const Pose upright = at(Vec3::Zero(), Quat::FromTwoVectors(Vec3::UnitZ(), up));
  expect_rest(find_contacts(make_pair_world(make_plane(), upright, box, at({0, 0.5, 0}), kTinyReach)), 2, up);
  EXPECT_EQ(find_contacts(make_pair_world(make_plane(), upright, box, at({0, 0.5, 0}), 2)).size(), 4u);
  expect_rest(find_contacts(make_pair_world(make_disk(0.3), {}, make_disk(0.2), at({0, 0.5, 0}), kTinyReach)), 1, up);
  expect_rest(find_contacts(make_pair_world(floor, {}, make_disk(0.2), at({1, 0.7, 0}), kTinyReach)), 1, up);
}

TEST(Manifold, PlanarContactsStayInThePlane) {
  Random random(5);
  for (int k = 0; k < 200; ++k) {
    const Pose wall = random.pose(ShapeKind::Plane, true, 1);
    const World world = make_pair_world(make_plane(), wall, random.solid(ShapeKind::Polygon),
                                        random.pose(ShapeKind::Polygon, true, 1), 10);
    for (const Contact& c : find_contacts(world)) {
      EXPECT_EQ(c.normal.z(), 0);
      EXPECT_EQ(c.point_a.z(), 0);
      EXPECT_EQ(c.point_b.z(), 0);
    }
  }
}

TEST(Manifold, NamesStayWhileABoxSlidesAndSpins) {
  const Solid base = make_box({3, 3, 0.5}), box = make_box({0.5, 0.3, 0.2});
  std::vector<Contact> before;
  for (int k = 0; k < 400; ++k) {
    const Quat spin = turn(Vec3::UnitZ(), 2.7 * k) * turn(Vec3::UnitX(), 1e-5 * std::sin(k));
    const Pose top = at({std::cos(0.1 * k), std::sin(0.1 * k), 0.7}, spin);
    const std::vector<Contact> contacts = find_contacts(make_pair_world(base, {}, box, top, 1e-3));
    ASSERT_EQ(contacts.size(), 4u);
    for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(contacts[i].key, before[i].key);
    before = contacts;
  }
}

/// Two boxes that meet along an edge each, parallel to rounding: where on the edges is noise, but it is on both of
/// them.
TEST(Manifold, EdgesParallelToRounding) {
  Random random(41);
  const Convex a{make_box({1, 0.5, 0.75}), {}};
  for (int k = 0; k < 20000; ++k) {
    const double size = std::pow(10, random.uniform(-11, -6));
    const Vec3 noise = size * random.direction();
    const Quat turn = Quat(Eigen::AngleAxisd(std::numbers::pi / 2, Vec3::UnitY())) *
                      Quat(Eigen::AngleAxisd(noise.norm(), noise.normalized()));
    const Convex b{make_box({0.25, 0.25, 0.5}), {Vec3(0.25, 0.75, -1) + size * random.direction(), turn}};
    for (const Contact& c : find_contacts(make_pair_world(a.solid, a.pose, b.solid, b.pose, 0.1))) {
      ASSERT_LT((a.project(c.point_a) - c.point_a).norm(), 1e-7) << k;
      ASSERT_LT((b.project(c.point_b) - c.point_b).norm(), 1e-7) << k;
    }
  }
}

}  // namespace
}  // namespace slipstick::test
