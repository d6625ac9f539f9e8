#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>

#include "mechanics/equations.h"
#include "unit/mechanics/scenery.h"

namespace slipstick {
namespace {

using namespace test;

SpringDescription make_spring(const std::array<const char*, 2>& ends, std::optional<double> rest, Dice* dice) {
  SpringDescription spring;
  spring.a = ends[0];
  spring.b = ends[1];
  spring.at_a = 2 * dice->vector();
  spring.at_b = 2 * dice->vector();
  spring.stiffness = 70;
  spring.damping = 3;
  spring.rest_length = rest;
  return spring;
}

TEST(SpringRows, JacobiansAreTheDerivativesOfTheValues) {
  Dice dice(1);
  for (const double rest : {0.0, 0.8}) {
    for (const auto& ends : kEnds) {
      for (int trial = 0; trial < 20; ++trial) {
        ModelDescription world = make_bodies(2, false, &dice);
        world.springs = {make_spring(ends, rest, &dice)};
        State start;
        const Model model = compile_good(world, &start);
        const std::vector<Pose> pose{dice.pose(), dice.pose()};
        const std::vector<Twist> velocity{dice.twist(), dice.twist()};
        const double h = 1e-6;
        std::vector<SpringRows> now, ahead, behind;
        update_spring_rows(model, pose, {}, &now);
        update_spring_rows(model, moved(pose, velocity, h), {}, &ahead);
        update_spring_rows(model, moved(pose, velocity, -h), {}, &behind);
        ASSERT_EQ(now[0].count, rest == 0 ? 3 : 1);
        // Between two bodies the components are those that turn with the mean of both.
        Vec3 carried = Vec3::Zero();
        if (rest == 0 && now[0].body_a >= 0 && now[0].body_b >= 0) {
          const Vec3 spin = 0.5 * (pose[now[0].body_a].orientation * velocity[now[0].body_a].angular +
                                   pose[now[0].body_b].orientation * velocity[now[0].body_b].angular);
          carried = spin.cross(Vec3(now[0].value.data()));
        }
        for (int k = 0; k < now[0].count; ++k) {
          const double slope = (ahead[0].value[k] - behind[0].value[k]) / (2 * h);
          EXPECT_NEAR(calc_rate(now[0].row[k], now[0].body_a, now[0].body_b, velocity), slope - carried[k], 1e-8);
        }
      }
    }
  }
}

TEST(SpringRows, CarryTheConstantsAndTheElongation) {
  Dice dice(2);
  ModelDescription world = make_bodies(2, false, &dice);
  world.springs = {make_spring(kEnds[0], std::nullopt, &dice), make_spring(kEnds[0], 0.25, &dice)};
  State start;
  const Model model = compile_good(world, &start);
  std::vector<SpringRows> rows;
  update_spring_rows(model, start.pose, {}, &rows);
  EXPECT_NEAR(rows[0].value[0], 0, 1e-14);  // at rest where it was placed
  EXPECT_NEAR(rows[1].value[0], (world.springs[1].at_b - world.springs[1].at_a).norm() - 0.25, 1e-14);
  EXPECT_EQ(rows[1].stiffness, 70);
  EXPECT_EQ(rows[1].damping, 3);
  EXPECT_EQ(rows[1].spring, 1);
}

TEST(SpringRows, EndsThatMeetPushAlongX) {
  for (const bool planar : {false, true}) {
    Dice dice(3);
    ModelDescription world = make_bodies(1, planar, &dice);
    SpringDescription spring;
    spring.a = "world";
    spring.b = "0";
    spring.stiffness = 1;
    spring.rest_length = 2;
    world.springs = {spring, spring};
    world.springs[1].rest_length = 0;
    State start;
    const Model model = compile_good(world, &start);
    std::vector<SpringRows> rows;
    update_spring_rows(model, start.pose, {}, &rows);
    ASSERT_TRUE(rows[0].row[0].b.allFinite());
    EXPECT_TRUE(rows[0].row[0].b.head<3>().isApprox(Vec3::UnitX()));
    EXPECT_NEAR(rows[0].value[0], -2, 1e-14);
    EXPECT_EQ(rows[1].count, planar ? 2 : 3);
    EXPECT_NEAR(rows[1].value[0], 0, 1e-14);
  }
}

/// A contact of two body-fixed points at the given poses; body -1 is the world.
Contact make_contact(int a, int b, Dice* dice) {
  Contact contact;
  contact.body_a = a;
  contact.body_b = b;
  contact.point_a = 2 * dice->vector();
  contact.normal = dice->direction();
  contact.gap = 0.1 * dice->number();
  contact.point_b = contact.point_a + contact.gap * contact.normal;
  return contact;
}

Vec3 follow(const std::vector<Pose>& from, const std::vector<Pose>& to, int body, const Vec3& point) {
  if (body == kWorld) return point;
  return apply(to[body], from[body].orientation.conjugate() * (point - from[body].position));
}

TEST(ContactRows, AreTheRelativeVelocityHalfWayBetweenThePoints) {
  Dice dice(4);
  ModelDescription world = make_bodies(2, false, &dice);
  State start;
  const Model model = compile_good(world, &start);
  for (const auto& ends : {std::array{0, 1}, std::array{kWorld, 1}, std::array{0, kWorld}}) {
    for (int trial = 0; trial < 50; ++trial) {
      const std::vector<Pose> pose{dice.pose(), dice.pose()};
      const std::vector<Twist> velocity{dice.twist(), dice.twist()};
      const Contact contact = make_contact(ends[0], ends[1], &dice);
      std::vector<ContactRows> rows;
      update_contact_rows(model, pose, {{contact}}, &rows);
      ASSERT_EQ(rows[0].count, 3);
      EXPECT_EQ(rows[0].gap, contact.gap);
      const double h = 1e-6;
      const auto ahead = moved(pose, velocity, h), behind = moved(pose, velocity, -h);
      const Vec3 point = 0.5 * (contact.point_a + contact.point_b);
      const Vec3 step = (follow(pose, ahead, ends[1], point) - follow(pose, ahead, ends[0], point) -
                         follow(pose, behind, ends[1], point) + follow(pose, behind, ends[0], point)) /
                        (2 * h);
      for (int k = 0; k < 3; ++k) {
        EXPECT_NEAR(calc_rate(rows[0].row[k], ends[0], ends[1], velocity), rows[0].direction[k].dot(step), 1e-8);
      }
    }
  }
}

TEST(ContactRows, DirectionsAreARightHandedFrameByTheStatedRule) {
  Dice dice(5);
  State start;
  const Model model = compile_good(make_bodies(2, false, &dice), &start);
  for (int trial = 0; trial < 200; ++trial) {
    Contact contact = make_contact(0, 1, &dice);
    if (trial < 6) contact.normal = (trial % 2 ? -1 : 1) * Vec3::Unit(trial / 2);
    std::vector<ContactRows> rows;
    update_contact_rows(model, start.pose, {{contact}}, &rows);
    Mat3 frame;
    for (int k = 0; k < 3; ++k) frame.col(k) = rows[0].direction[k];
    EXPECT_EQ(frame.col(0), contact.normal);
    EXPECT_TRUE((frame.transpose() * frame).isIdentity(1e-14));
    EXPECT_NEAR(frame.determinant(), 1, 1e-14);
    const bool near_x = std::abs(contact.normal.x()) > std::cos(25 * std::numbers::pi / 180);
    const Vec3 axis = near_x ? Vec3::UnitY() : Vec3::UnitX();
    EXPECT_NEAR(frame.col(2).dot(axis), 0, 1e-14);  // t1 is the projection of the axis, so t2 has no part of it
    EXPECT_GT(frame.col(1).dot(axis), 0);
  }
}

TEST(ContactRows, PlanarContactsHaveTwoRows) {
  Dice dice(6);
  State start;
  const Model model = compile_good(make_bodies(2, true, &dice), &start);
  Contact contact = make_contact(0, 1, &dice);
  contact.normal = Vec3(0.6, 0.8, 0);
  std::vector<ContactRows> rows;
  update_contact_rows(model, start.pose, {{contact}}, &rows);
  EXPECT_EQ(rows[0].count, 2);
  EXPECT_EQ(rows[0].direction[1], Vec3(-0.8, 0.6, 0));
}

TEST(ContactRows, TakeTheLawOfThePairOfMaterials) {
  Dice dice(7);
  ModelDescription world = make_bodies(2, false, &dice);
  world.materials = {{"a", 0.4, 0.1}, {"b", 0.9, 0.7}};
  State start;
  const Model model = compile_good(world, &start);
  Contact contact = make_contact(0, 1, &dice);
  contact.material_a = 1;
  contact.material_b = 2;
  std::vector<ContactRows> rows;
  update_contact_rows(model, start.pose, {{contact}}, &rows);
  EXPECT_DOUBLE_EQ(rows[0].friction, 0.6);
  EXPECT_DOUBLE_EQ(rows[0].restitution, 0.7);
}

TEST(PointRow, IsTheRelativeVelocityAlongTheDirection) {
  Dice dice(8);
  for (int trial = 0; trial < 50; ++trial) {
    const Pose a = dice.pose(), b = dice.pose();
    const std::vector<Twist> v{dice.twist(), dice.twist()};
    const Vec3 r = dice.vector(), s = dice.vector(), e = dice.direction();
    const double h = 1e-6;
    const auto value = [&](double t) { return e.dot(apply(move(b, v[1], t), s) - apply(move(a, v[0], t), r)); };
    EXPECT_NEAR(calc_rate(calc_point_row(a, b, r, s, e), 0, 1, v), (value(h) - value(-h)) / (2 * h), 1e-9);
  }
}

}  // namespace
}  // namespace slipstick
