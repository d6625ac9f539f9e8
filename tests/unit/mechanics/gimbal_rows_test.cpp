// Universal joints whose axes do not meet, the three angles of a generic joint, polynomial gears, coordinates with a
// start.
#include <gtest/gtest.h>

#include "mechanics/equations.h"
#include "unit/mechanics/scenery.h"

namespace slipstick {
namespace {

using namespace test;

/// B turned by q1 about the first axis through p1 and then by q2 about the (turned) second one through p2.
void turn_twice(const JointDescription& joint, double q1, double q2, Pose* pose) {
  const Quat first = exp_rotation(q1 * joint.axis), second = exp_rotation(q2 * *joint.second_axis);
  const Vec3 p1 = joint.at, p2 = joint.second_at.value_or(joint.at);
  pose->position = p2 + second * (pose->position - p2);
  pose->orientation = second * pose->orientation;
  pose->position = p1 + first * (pose->position - p1);
  pose->orientation = first * pose->orientation;
}

TEST(GimbalRows, ALinkBetweenTheAxesOfAUniversalJointHoldsAndHasExactRows) {
  Dice dice(71);
  const double h = 1e-6;
  for (int trial = 0; trial < 10; ++trial) {
    ModelDescription world = make_bodies(2, false, &dice);
    JointDescription joint = make_any_joint(JointKind::Universal, kEnds[trial % 2], &dice);
    joint.second_axis = joint.axis.cross(dice.direction()).normalized();
    joint.second_at = joint.at + dice.vector();
    for (const Freedom freedom : {Freedom::TurnZ, Freedom::TurnX}) {
      joint.axes.emplace_back().freedom = freedom;
      joint.axes.back().friction = 1;
    }
    joint.axes[1].start = 0.25;
    world.joints = {joint};
    State start;
    const Model model = compile_good(world, &start);
    const double q1 = 1.2 * dice.number(), q2 = 1.2 * dice.number();
    std::vector<Pose> pose = start.pose;
    turn_twice(joint, q1, q2, &pose[1]);
    std::vector<JointRows> rows, ahead, behind;
    update_joint_rows(model, pose, &rows);
    ASSERT_EQ(rows[0].count, 4);
    for (int k = 0; k < 4; ++k) EXPECT_NEAR(rows[0].value[k], 0, 1e-12);
    EXPECT_NEAR(calc_axis_row(model, pose, 0, 0).value, q1, 1e-12);
    EXPECT_NEAR(calc_axis_row(model, pose, 1, 0).value, 0.25 + q2, 1e-12) << "the coordinate counts from its start";
    for (const std::vector<Pose>& at : {pose, std::vector<Pose>{dice.pose(), dice.pose()}}) {
      const std::vector<Twist> velocity{dice.twist(), dice.twist()};
      update_joint_rows(model, at, &rows);
      update_joint_rows(model, moved(at, velocity, h), &ahead);
      update_joint_rows(model, moved(at, velocity, -h), &behind);
      for (int k = 0; k < 4; ++k) {
        const double size = std::max(1.0, rows[0].row[k].b.norm());
        EXPECT_NEAR(calc_rate(rows[0].row[k], rows[0].body_a, rows[0].body_b, velocity) / size,
                    (ahead[0].value[k] - behind[0].value[k]) / (2 * h) / size, 1e-6);
      }
    }
  }
}

TEST(GimbalRows, ThreeTurnsOfAGenericJointAreThoseOfGimbals) {
  Dice dice(72);
  const double h = 1e-6;
  ModelDescription world = make_bodies(2, false, &dice);
  JointDescription joint = make_any_joint(JointKind::Generic, kEnds[0], &dice);
  joint.second_axis = joint.axis.cross(dice.direction()).normalized();
  joint.free = {false, false, false, true, true, true};
  for (const Freedom freedom : {Freedom::TurnZ, Freedom::TurnX, Freedom::TurnY}) {
    joint.axes.emplace_back().freedom = freedom;
    joint.axes.back().friction = 1;
  }
  world.joints = {joint};
  State start;
  const Model model = compile_good(world, &start);
  const Vec3 z = joint.axis, x = *joint.second_axis, y = z.cross(x);
  for (int trial = 0; trial < 10; ++trial) {
    const Vec3 q = 1.3 * dice.vector();
    const Quat turn = exp_rotation(q[0] * z) * exp_rotation(q[1] * x) * exp_rotation(q[2] * y);
    std::vector<Pose> pose = start.pose;
    pose[1].position = joint.at + turn * (pose[1].position - joint.at);
    pose[1].orientation = turn * pose[1].orientation;
    const std::vector<Twist> velocity{dice.twist(), dice.twist()};
    for (int k = 0; k < 3; ++k) {
      const AxisRow row = calc_axis_row(model, pose, k, 0);
      EXPECT_NEAR(row.value, q[k], 1e-11);
      const double ahead = calc_axis_row(model, moved(pose, velocity, h), k, 0).value;
      const double behind = calc_axis_row(model, moved(pose, velocity, -h), k, 0).value;
      const double rate = calc_rate(row.row, row.body_a, row.body_b, velocity);
      EXPECT_NEAR(rate, (ahead - behind) / (2 * h), 1e-6 * std::max(1.0, std::abs(rate)));
    }
  }
}

TEST(GimbalRows, APolynomialGearHasItsValueAndRow) {
  Dice dice(73);
  ModelDescription world = make_bodies(2, false, &dice);
  JointDescription one = make_any_joint(JointKind::Hinge, {"world", "0"}, &dice);
  JointDescription two = make_any_joint(JointKind::Hinge, {"world", "1"}, &dice), gear;
  one.name = "one";
  two.name = "two";
  two.axes.emplace_back().start = 0.7;
  two.axes[0].friction = 1;
  gear.kind = JointKind::Gear;
  gear.joints = {"one", "two"};
  gear.polynomial = {0.1, 2, -0.5, 0.25, 0.125};
  world.joints = {one, two, gear};
  State start;
  const Model model = compile_good(world, &start);
  const std::vector<Twist> velocity{dice.twist(), dice.twist()};
  const auto coupling_at = [&](double t) {
    std::vector<AxisRow> axes;
    std::vector<CouplingRow> rows;
    update_axis_rows(model, moved(start.pose, velocity, t), start.axis, &axes);
    update_coupling_rows(model, axes, &rows);
    return rows.at(0);
  };
  const double q = 0.7, h = 1e-6;
  const CouplingRow row = coupling_at(0);
  EXPECT_NEAR(row.value, -(0.1 + 2 * q - 0.5 * q * q + 0.25 * q * q * q + 0.125 * q * q * q * q), 1e-13);
  EXPECT_NEAR(calc_axis_error(model, start), std::abs(row.value), 1e-13);
  double rate = 0;
  for (int k = 0; k < row.count; ++k)
    rate += row.row[k].head<3>().dot(velocity[row.body[k]].linear) +
            row.row[k].tail<3>().dot(velocity[row.body[k]].angular);
  EXPECT_NEAR(rate, (coupling_at(h).value - coupling_at(-h).value) / (2 * h), 1e-8);
}

}  // namespace
}  // namespace slipstick
