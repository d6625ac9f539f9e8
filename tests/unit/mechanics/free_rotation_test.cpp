#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>

#include "mechanics/equations.h"
#include "unit/mechanics/scenery.h"

namespace slipstick {
namespace {

using namespace test;

Body make_body(const Mat3& inertia) {
  Body body;
  body.mass = 1;
  body.inertia = inertia;
  body.inertia_inverse = inertia.inverse();
  return body;
}

double calc_kinetic(const Body& body, const Vec3& omega) { return 0.5 * omega.dot(body.inertia * omega); }

/// omega after a free turn.
Vec3 turn_freely(const Body& body, const Vec3& omega, double h) {
  return 2 * calc_free_turn(body, body.inertia * omega, h) - omega;
}

Vec3 rotate(const Body& body, Vec3 omega, double time, int steps) {
  for (int i = 0; i < steps; ++i) omega = turn_freely(body, omega, time / steps);
  return omega;
}

TEST(FreeRotation, KeepsKineticEnergyForAnyStep) {
  Dice dice(1);
  for (int trial = 0; trial < 500; ++trial) {
    const Mat3 turn = exp_rotation(3 * dice.vector()).toRotationMatrix();
    const Body body = make_body(turn * Vec3(1, 1.5 + dice.number() / 2, 2).asDiagonal() * turn.transpose());
    const Vec3 omega = 10 * dice.vector();
    const double h = std::pow(10.0, 1.5 * dice.number() - 2);
    const double before = calc_kinetic(body, omega), after = calc_kinetic(body, turn_freely(body, omega, h));
    EXPECT_NEAR(after, before, 1e-14 * before) << h;
  }
}

TEST(FreeRotation, SlenderBodiesKeepEnergyThroughTurnsThatNoStepResolves) {
  Dice dice(2);
  for (int trial = 0; trial < 500; ++trial) {
    const Mat3 turn = exp_rotation(3 * dice.vector()).toRotationMatrix();
    const Body body = make_body(turn * Vec3(0.04, 1, 1 + 0.03 * dice.number()).asDiagonal() * turn.transpose());
    Vec3 omega = 300 * dice.vector();
    const double before = calc_kinetic(body, omega), size = (body.inertia * omega).norm();
    for (int k = 0; k < 20; ++k) omega = turn_freely(body, omega, 1.0 / 60);
    EXPECT_NEAR(calc_kinetic(body, omega), before, 1e-10 * before) << trial;
    EXPECT_NEAR((body.inertia * omega).norm(), size, 1e-10 * size) << trial;
  }
}

TEST(FreeRotation, IsOfSecondOrder) {
  const Mat3 turn = exp_rotation({0.3, -0.8, 0.5}).toRotationMatrix();
  const Body body = make_body(turn * Vec3(1, 2, 2.5).asDiagonal() * turn.transpose());
  const Vec3 start(1, 2, 3), exact = rotate(body, start, 2, 200000);
  double last = 0;
  for (const int steps : {200, 400, 800}) {
    const double error = (rotate(body, start, 2, steps) - exact).norm();
    if (last > 0) {
      EXPECT_NEAR(std::log2(last / error), 2, 0.05) << steps;
    }
    last = error;
  }
  EXPECT_GT(last, 1e-9);  // the orders above are those of the method, not of rounding
}

TEST(FreeRotation, FlipsAboutTheMiddleAxisAsTheReferenceDoes) {
  // Reference by a high-order integrator; two flips amplify every error before t = 10.
  const Body body = make_body(Vec3(1, 2, 3).asDiagonal());
  const Vec3 omega = rotate(body, Vec3(0.01, 5, 0.01), 10, 160000);
  EXPECT_NEAR((omega - Vec3(0.0127148706268, 4.9999938332, 0.0109797986488)).norm(), 0, 1e-7);
  EXPECT_NEAR(calc_kinetic(body, omega), 25.0002, 1e-11 * 25);
}

TEST(FreeRotation, KeepsMomentumInTheWorld) {
  Dice dice(5);
  for (int trial = 0; trial < 500; ++trial) {
    const Mat3 turn = exp_rotation(3 * dice.vector()).toRotationMatrix();
    const Body body = make_body(turn * Vec3(1, 1.5 + dice.number() / 2, 2).asDiagonal() * turn.transpose());
    const Vec3 omega = 10 * dice.vector();
    const double h = 1.4 * std::pow(10.0, 2 * dice.number() - 2) / omega.norm();
    const Vec3 p = body.inertia * omega, u = calc_free_turn(body, p, h);
    const Vec3 after = exp_rotation(h * u) * (body.inertia * (2 * u - omega));
    EXPECT_NEAR((after - p).norm(), 0, 2e-14 * p.norm()) << h * omega.norm();
  }
}

TEST(FreeRotation, LeavesPrincipalAxesBallsAndPointMassesAlone) {
  const Vec3 omega(1, -2, 3);
  EXPECT_EQ(turn_freely(make_body(Vec3(1, 2, 2.5).asDiagonal()), Vec3(0, 7, 0), 0.1), Vec3(0, 7, 0));
  EXPECT_TRUE(turn_freely(make_body(0.3 * Mat3::Identity()), omega, 0.1).isApprox(omega, 1e-15));
}

}  // namespace
}  // namespace slipstick
