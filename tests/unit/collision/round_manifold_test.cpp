// Cylinders, cones, ellipsoids and hulls at rest: how many contacts, where, and that their names stay.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "unit/collision/rest.h"
#include "unit/collision/slow_convex.h"

namespace slipstick::test {
namespace {

Pose place_at(const Vec3& position, const Vec3& axis = Vec3::UnitX(), double degrees = 0) {
  return {position, Quat(Eigen::AngleAxisd(degrees * std::numbers::pi / 180, axis.normalized()))};
}

void expect_round_rest(const std::vector<Contact>& contacts, std::size_t count) {
  expect_rest(contacts, count, Vec3::UnitZ(), 1e-9);
}

TEST(RoundManifold, OnAPlane) {
  const Solid plane = make_plane();
  const auto on_plane = [&](const Solid& solid, const Pose& pose) {
    return find_contacts(make_pair_world(plane, {}, solid, pose, 1e-6));
  };
  const Solid cylinder = make_cylinder(0.2, 0.5), cone = make_cone(0.2, 0.5);
  expect_round_rest(on_plane(cylinder, place_at({0, 0, 0.5})), 8);
  expect_round_rest(on_plane(cylinder, place_at({0, 0, 0.2}, Vec3::UnitX(), 90)), 2);
  // Half way between: the lowest point of its rim, at the corner of its profile.
  const double low = 0.5 * std::cos(0.5) + 0.2 * std::sin(0.5);
  expect_round_rest(on_plane(cylinder, place_at({0, 0, low}, Vec3::UnitY(), 0.5 * 180 / std::numbers::pi)), 1);
  expect_round_rest(on_plane(cone, place_at({0, 0, 0.5})), 8);
  // A cone on its mantle: the tip and the lowest point of the rim.
  const double mantle = std::atan2(0.2, 1.0);
  const double height = 0.5 * std::sin(mantle);
  expect_round_rest(on_plane(cone, place_at({0, 0, height}, Vec3::UnitY(), 90 + mantle * 180 / std::numbers::pi)), 2);
  expect_round_rest(on_plane(make_ellipsoid({0.3, 0.2, 0.1}), place_at({0, 0, 0.1})), 1);
}

TEST(RoundManifold, StandingAndLyingOnABox) {
  const Solid base = make_box({1, 1, 0.5}), cylinder = make_cylinder(0.2, 0.4);
  std::vector<Contact> contacts = find_contacts(make_pair_world(base, {}, cylinder, place_at({0.1, 0.2, 0.9}), 1e-6));
  expect_round_rest(contacts, 8);
  EXPECT_NEAR(extent(contacts).x(), 0.4, 1e-9);
  const Pose lying = place_at({0.1, 0.2, 0.7}, Vec3::UnitX(), 90);
  contacts = find_contacts(make_pair_world(base, {}, cylinder, lying, 1e-6));
  expect_round_rest(contacts, 2);
  EXPECT_NEAR(extent(contacts).y(), 0.8, 1e-9);
  // Over the end of the box: as far as the box goes.
  contacts = find_contacts(make_pair_world(base, {}, cylinder, place_at({0.1, 0.8, 0.7}, Vec3::UnitX(), 90), 1e-6));
  expect_round_rest(contacts, 2);
  EXPECT_NEAR(extent(contacts).y(), 0.6, 1e-9);
}

TEST(RoundManifold, LogOnLogAndCoinOnCoin) {
  const Solid log = make_cylinder(0.2, 0.5);
  const Pose low = place_at({0, 0, 0}, Vec3::UnitX(), 90), high = place_at({0, 0.3, 0.4}, Vec3::UnitX(), 90);
  const std::vector<Contact> line = find_contacts(make_pair_world(log, low, log, high, 1e-6));
  ASSERT_GE(line.size(), 2u);
  for (const Contact& c : line) EXPECT_NEAR(c.gap, 0, 1e-9);
  EXPECT_NEAR(extent(line).y(), 0.7, 1e-9);
  EXPECT_EQ(find_contacts(make_pair_world(log, {}, log, place_at({0, 0.4, 0}, Vec3::UnitY(), 90), 1e-6)).size(), 1u);
  const Solid coin = make_cylinder(0.2, 0.02);
  expect_round_rest(find_contacts(make_pair_world(coin, {}, coin, place_at({0, 0, 0.04}), 1e-6)), 8);
}

TEST(RoundManifold, HullBoxesRestLikeBoxes) {
  Solid box;
  box.shape.kind = ShapeKind::Hull;
  box.hull = make_box_hull({0.5, 0.3, 0.2});
  const Solid base = make_box({1, 1, 0.5});
  const std::vector<Contact> contacts = find_contacts(make_pair_world(base, {}, box, place_at({0.1, -0.2, 0.7}), 1e-6));
  expect_round_rest(contacts, 4);
  EXPECT_LT((extent(contacts) - Vec3(1, 0.6, 0)).norm(), 1e-9);
  expect_round_rest(find_contacts(make_pair_world(box, {}, box, place_at({0, 0, 0.4}), 1e-6)), 4);
  expect_round_rest(find_contacts(make_pair_world(box, {}, box, place_at({0, 0, 0.4}, Vec3::UnitZ(), 40), 1e-6)), 8);
}

/// Noise of any size below that of a point: the same contacts under the same names.
TEST(RoundManifold, NamesStayUnderNoise) {
  const Solid base = make_box({1, 1, 0.5}), cylinder = make_cylinder(0.2, 0.4);
  Solid box;
  box.shape.kind = ShapeKind::Hull;
  box.hull = make_box_hull({0.3, 0.3, 0.4});
  Random random(5);
  for (const Solid& solid : {cylinder, box}) {
    std::vector<Contact> first;
    for (int k = 0; k < 300; ++k) {
      const double size = k == 0 ? 0 : std::pow(10.0, -random.uniform(8, 16));
      const Pose top = place_at(Vec3(0.1, 0.2, 0.9) + size * random.direction(), random.direction(), 50 * size);
      std::vector<Contact> contacts = find_contacts(make_pair_world(base, {}, solid, top, 1e-5));
      // A tilted rim has a lowest point besides those that stand for it.
      std::erase_if(contacts, [](const Contact& c) { return c.key.feature == 0xFFFF0010u; });
      if (k == 0) first = contacts;
      ASSERT_EQ(contacts.size(), first.size()) << size;
      for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(contacts[i].key, first[i].key) << size;
    }
  }
}

/// A cap's disk is clipped as an octagon: what is over the rest of it has its exact foot all the same.
TEST(RoundManifold, AnEndOverTheRestOfTheDisk) {
  const double radius = 0.6;
  const Convex can{make_cylinder(radius, 0.1), {}};
  for (const double tilt : {1e-5, 1e-3, 2e-2, 0.1}) {
    for (int k = 0; k < 48; ++k) {
      const double angle = k * std::numbers::pi / 24, away = angle + 0.7 * k;
      const Vec3 foot(0.97 * radius * std::cos(angle), 0.97 * radius * std::sin(angle), 0.1);
      const Vec3 axis(std::cos(tilt) * std::cos(away), std::cos(tilt) * std::sin(away), std::sin(tilt));
      const Convex rod{make_capsule(0.2, 0.8),
                       {foot + Vec3(0, 0, 0.5) + 0.8 * axis, Quat::FromTwoVectors(Vec3::UnitZ(), axis)}};
      const auto found = find_contacts(make_pair_world(can.solid, can.pose, rod.solid, rod.pose, 1));
      ASSERT_FALSE(found.empty());
      const Contact& c = least(found);
      EXPECT_NEAR(c.gap, 0.3, 1e-9) << tilt << ' ' << k;
      EXPECT_LT((can.project(c.point_a) - c.point_a).norm(), 1e-8) << tilt << ' ' << k;
      EXPECT_LT((rod.project(c.point_b) - c.point_b).norm(), 1e-8) << tilt << ' ' << k;
    }
  }
}

/// Two cans side by side whose caps share a thin lens, seen from above.
TEST(RoundManifold, CapsThatShareALens) {
  const Solid can = make_cylinder(0.5, 0.1);
  for (const double apart : {0.99, 0.999, 0.9999, 1 - 1e-6}) {
    for (int k = 0; k < 24; ++k) {
      const double angle = k * std::numbers::pi / 12;
      const Convex low{can, {}},
          high{can, {Vec3(apart * std::cos(angle), apart * std::sin(angle), 0.5), Quat::Identity()}};
      const auto found = find_contacts(make_pair_world(low.solid, low.pose, high.solid, high.pose, 1));
      ASSERT_FALSE(found.empty());
      const Contact& c = least(found);
      EXPECT_NEAR(c.gap, 0.3, 1e-9) << apart << ' ' << k;
      EXPECT_LT((low.project(c.point_a) - c.point_a).norm(), 1e-6) << apart << ' ' << k;
      EXPECT_LT((high.project(c.point_b) - c.point_b).norm(), 1e-6) << apart << ' ' << k;
    }
  }
}

/// On the middle plane, inside and outside of the evolute.
TEST(RoundManifold, ABallInsideAFlatEllipsoid) {
  const Convex flat{make_ellipsoid({0.75, 0.25, 0.75}), {}};
  for (int k = 0; k < 200; ++k) {
    const double r = 0.75 * k / 200.0, angle = 0.3 * k;
    const Convex ball{make_sphere(0.25), {Vec3(r * std::cos(angle), 0, r * std::sin(angle)), Quat::Identity()}};
    const auto found = find_contacts(make_pair_world(ball.solid, ball.pose, flat.solid, flat.pose, 0));
    ASSERT_EQ(found.size(), 1u);
    EXPECT_NEAR(found[0].gap, calc_separation(ball, flat, found[0].normal), 1e-9) << k;
  }
}

}  // namespace
}  // namespace slipstick::test
