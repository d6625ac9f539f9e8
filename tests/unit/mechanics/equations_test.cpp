#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "mechanics/equations.h"
#include "unit/mechanics/scenery.h"

namespace slipstick {
namespace {

using namespace test;

TEST(Energy, OfAnOffsetSpinningBody) {
  Dice dice(1);
  ModelDescription world = make_bodies(2, false, &dice);
  world.bodies[1].kind = BodyKind::Fixed;
  world.bodies[0].velocity = Vec3(1, 2, 3);
  world.bodies[0].angular_velocity = Vec3(-1, 0.5, 2);
  State start;
  const Model model = compile_good(world, &start);
  const Energy energy = calc_energy(model, start.pose, start.velocity, {});
  // World frame: 1/2 m v_c^2 + 1/2 w . (R I R^T) w; box of 1 x 2 x 3 with mass 1.
  const BodyDescription& given = world.bodies[0];
  const Mat3 r = given.pose.orientation.toRotationMatrix();
  const Vec3 center = r * given.shapes[0].pose.position;
  const Mat3 inertia = r * Vec3(13 / 12.0, 10 / 12.0, 5 / 12.0).asDiagonal() * r.transpose();
  const Vec3 w = given.angular_velocity, v = given.velocity + w.cross(center);
  EXPECT_NEAR(energy.kinetic, 0.5 * v.squaredNorm() + 0.5 * w.dot(inertia * w), 1e-13);
  EXPECT_NEAR(energy.gravity, 9.81 * (given.pose.position + center).z(), 1e-13);
  EXPECT_EQ(energy.spring, 0);
  EXPECT_EQ(energy.total(), energy.kinetic + energy.potential());
}

TEST(Energy, ForcesAreMinusItsGradient) {
  Dice dice(2);
  for (int trial = 0; trial < 20; ++trial) {
    ModelDescription world = make_bodies(3, false, &dice);
    for (const double rest : {0.0, 1.5}) {
      SpringDescription spring;
      spring.a = rest == 0 ? "0" : "world";
      spring.b = rest == 0 ? "1" : "2";
      spring.at_a = 2 * dice.vector();
      spring.at_b = 2 * dice.vector();
      spring.stiffness = 10;
      spring.rest_length = rest;
      world.springs.push_back(spring);
    }
    State start;
    const Model model = compile_good(world, &start);
    start.pose = {dice.pose(), dice.pose(), dice.pose()};
    start.velocity = {dice.twist(), dice.twist(), dice.twist()};
    Equations equations;
    update_equations(model, nullptr, start, {}, &equations);
    double power = 0;
    for (int i = 0; i < 3; ++i) power -= equations.gravity[i].head<3>().dot(start.velocity[i].linear);
    for (const SpringRows& rows : equations.springs) {
      for (int k = 0; k < rows.count; ++k) {
        power += rows.stiffness * rows.value[k] * calc_rate(rows.row[k], rows.body_a, rows.body_b, start.velocity);
      }
    }
    const double h = 1e-5;
    const double ahead = calc_energy(model, moved(start.pose, start.velocity, h), start.velocity, {}).potential();
    const double behind = calc_energy(model, moved(start.pose, start.velocity, -h), start.velocity, {}).potential();
    EXPECT_NEAR(power, (ahead - behind) / (2 * h), 1e-6);
  }
}

Expression formula(const char* text) {
  ExpressionContext context;
  context.allow_time = true;
  return std::get<Expression>(compile_expression(text, context));
}

TEST(Loads, PowerIsForceTimesVelocityOfThePoint) {
  Dice dice(3);
  ModelDescription world = make_bodies(2, false, &dice);
  LoadDescription load;
  load.body = "1";
  load.force = {formula("8*cos(t)"), Expression(2), formula("t^2")};
  load.torque = {Expression(1), formula("t"), Expression(-3)};
  load.at = Vec3(0.4, 0.5, -0.6);
  world.loads = {load, load};
  State start;
  const Model model = compile_good(world, &start);
  const Twist v = dice.twist();
  std::vector<Vec6> loads;
  update_loads(model, nullptr, start.pose, 1.5, &loads);
  EXPECT_TRUE(loads[0].isZero(0));
  const Vec3 force(8 * std::cos(1.5), 2, 2.25), torque(1, 1.5, -3);
  const Vec3 arm = *load.at - model.bodies[1].center_of_mass;
  const double power =
      2 * (force.dot(point_velocity(start.pose[1], v, arm)) + torque.dot(start.pose[1].orientation * v.angular));
  EXPECT_NEAR(loads[1].head<3>().dot(v.linear) + loads[1].tail<3>().dot(v.angular), power, 1e-12);
}

TEST(Kinematic, TwistFollowsTheFormulas) {
  Body body;
  body.kind = BodyKind::Kinematic;
  KinematicMotion motion;
  motion.velocity = {formula("sin(t)"), Expression(1), Expression(0)};
  motion.angular_velocity = {Expression(0), formula("2*t"), Expression(0)};
  body.motion = std::make_shared<const KinematicMotion>(motion);
  Dice dice(4);
  const Pose pose = dice.pose();
  const Twist twist = calc_kinematic_twist(body, pose, 0.7, 0.01);
  EXPECT_NEAR((twist.linear - Vec3(std::sin(0.7), 1, 0)).norm(), 0, 1e-15);
  EXPECT_NEAR((pose.orientation * twist.angular - Vec3(0, 1.4, 0)).norm(), 0, 1e-15);
}

TEST(Equations, GravityActsOnDynamicBodiesOnly) {
  Dice dice(5);
  ModelDescription world = make_bodies(2, false, &dice);
  world.bodies[0].kind = BodyKind::Fixed;
  State start;
  const Model model = compile_good(world, &start);
  Equations equations;
  update_equations(model, nullptr, start, {}, &equations);
  EXPECT_TRUE(equations.gravity[0].isZero(0));
  EXPECT_EQ(equations.gravity[1].head<3>(), Vec3(0, 0, -2 * 9.81));
  EXPECT_TRUE(equations.gravity[1].tail<3>().isZero(0));
}

}  // namespace
}  // namespace slipstick
