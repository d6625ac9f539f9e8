// What a wheel meets on the ground, against closed forms: friction that falls with slip, rolling friction by place.
#include <cmath>

#include "support/simulate.h"

namespace slipstick::test {
namespace {

constexpr double kPeak = 0.8, kSliding = 0.4, kSlipSpeed = 0.5, kGravity = 9.81;

double calc_coefficient(double slip) { return kSliding + (kPeak - kSliding) * std::exp(-slip / kSlipSpeed); }

/// A block that slides to a stop: with u = exp(v/s), du/dt = -(g/s)(sliding u + peak - sliding).
double calc_speed(double v0, double t) {
  const double ratio = (kPeak - kSliding) / kSliding;
  const double u = (std::exp(v0 / kSlipSpeed) + ratio) * std::exp(-kGravity * kSliding * t / kSlipSpeed) - ratio;
  return u > 1 ? kSlipSpeed * std::log(u) : 0;
}

constexpr const char* kBlock = R"yaml(
let: {v0: 2, push: 0, belt: 0}
materials: {default: {friction: {peak: 0.8, sliding: 0.4, slip_speed: 0.5}}}
bodies:
  - {name: floor, fixed: true, shapes: [{box: {size: [40, 4, 1]}, position: [0, 0, -0.5], surface_velocity: [belt, 0, 0]}]}
  - {name: block, mass: 2, position: [0, 0, 0.05], velocity: [v0, 0, 0], lock: [rotation], shapes: [{box: {size: [0.2, 0.2, 0.1]}}]}
forces:
  - load: {body: block, force: [push*2*9.81, 0, 0]}
)yaml";

Scene make_block(const std::string& name = "v0", double value = 2) {
  SceneLoadOptions options;
  options.set.push_back({name, std::to_string(value)});
  if (name != "v0") options.set.push_back({"v0", "0"});
  return scene_of(kBlock, options);
}

TEST(FrictionBySlip, BlockSlowsAsTheClosedFormSays) {
  const Scene scene = make_block();
  std::array<double, 2> error{};
  for (const int halved : {0, 1}) {
    Simulation simulation = simulation_of(scene, 1e-3 / (1 + halved));
    run_until(0.3, &simulation);
    error[halved] = motion_of(simulation, "block").velocity.x() - calc_speed(2, 0.3);
  }
  EXPECT_LT(std::abs(error[0]), 1e-3);
  EXPECT_NEAR(error[0] / error[1], 2, 0.05) << "of first order: the coefficient is that of the beginning of a step";
}

TEST(FrictionBySlip, EverySchemeFollows) {
  for (const char* scheme : {"stabilized", "euler", "trapezoid", "alpha-gamma", "spook"}) {
    Scene scene = make_block();
    scene.options.scheme = scheme;
    Simulation simulation = simulation_of(scene, 1e-3);
    run_until(0.3, &simulation);
    EXPECT_NEAR(motion_of(simulation, "block").velocity.x(), calc_speed(2, 0.3), 2e-3) << scheme;
    run_until(0.6, &simulation);  // the closed form stops at 0.465 s
    EXPECT_NEAR(motion_of(simulation, "block").velocity.x(), 0, scheme == std::string("spook") ? 1e-3 : 1e-9) << scheme;
  }
}

TEST(FrictionBySlip, WhatSticksHasThePeak) {
  const Scene held = make_block("push", 0.795), lost = make_block("push", 0.805);
  Simulation holds = simulation_of(held, 1e-3), slips = simulation_of(lost, 1e-3);
  run_until(1, &holds);
  run_until(1, &slips);
  EXPECT_NEAR(motion_of(holds, "block").velocity.norm(), 0, 1e-9);
  // Once it slips friction falls, and it runs away: with the peak it would have 0.05 m/s.
  EXPECT_GT(motion_of(slips, "block").velocity.x(), 0.08);
}

TEST(FrictionBySlip, SlipOnABeltIsThatAgainstTheBelt) {
  const Scene scene = make_block("belt", 1);
  Simulation simulation = simulation_of(scene, 1e-4);
  run_until(1e-4, &simulation);
  EXPECT_NEAR(motion_of(simulation, "block").velocity.x(), 1e-4 * kGravity * calc_coefficient(1), 1e-12);
}

TEST(FrictionBySlip, ForcesTellTheCoefficientThatBoundedThem) {
  const Scene scene = make_block();
  Simulation simulation = simulation_of(scene, 1e-3);
  for (int k = 0; k < 100; ++k) {
    const double slip = motion_of(simulation, "block").velocity.x();
    simulation.step();
    ASSERT_FALSE(simulation.contact_forces().empty());
    double normal = 0, tangent = 0;
    for (const ContactForce& each : simulation.contact_forces()) {
      EXPECT_NEAR(each.friction, calc_coefficient(slip), 1e-12);
      normal += each.force.z();
      tangent += each.force.x();
    }
    EXPECT_NEAR(std::abs(tangent / normal), calc_coefficient(slip), 1e-9);
  }
}

TEST(FrictionBySlip, GoesOnWithTheSameBitsFromAStoredState) {
  const Scene scene = make_block();
  Simulation whole = simulation_of(scene, 1e-3), rest = simulation_of(scene, 1e-3);
  run_until(0.1, &whole);
  ASSERT_TRUE(rest.set_state(whole.state()).empty());
  run_until(0.5, &whole);
  run_until(0.5, &rest);
  EXPECT_EQ(hash(whole.state()), hash(rest.state()));
}

/// With two coefficients both fall by the same share; the slip is the speed, whatever its direction.
TEST(FrictionBySlip, OfASkiFallsInBothDirections) {
  const Scene scene = scene_of(R"yaml(
materials:
  default: {friction: 0.8}
  ski: {friction: {peak: 0.8, sliding: 0.4, slip_speed: 0.5}, friction_across: 1.2, friction_axis: [0, 1, 0]}
material_pairs: [{between: [default, ski], friction: {peak: 0.8, sliding: 0.4, slip_speed: 0.5}}]
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {name: along, mass: 3, position: [0, 0, 0.1], velocity: [0, 0.7, 0], lock: [rotation], shapes: [{box: {size: [0.1, 1.5, 0.2]}, material: ski}]}
  - {name: across, mass: 3, position: [3, 0, 0.1], velocity: [0.7, 0, 0], lock: [rotation], shapes: [{box: {size: [0.1, 1.5, 0.2]}, material: ski}]}
)yaml");
  Simulation simulation = simulation_of(scene, 1e-5);
  run_until(1e-5, &simulation);
  EXPECT_NEAR((0.7 - motion_of(simulation, "along").velocity.y()) / 1e-5, kGravity * calc_coefficient(0.7), 1e-6);
  EXPECT_NEAR((0.7 - motion_of(simulation, "across").velocity.x()) / 1e-5, 1.5 * kGravity * calc_coefficient(0.7),
              1e-6);
}

TEST(FrictionBySlip, PairsCombineBothEnds) {
  const Scene scene = scene_of(R"yaml(
materials:
  default: {friction: 0.4}
  tyre: {friction: {peak: 0.9, sliding: 0.4, slip_speed: 0.2}}
  pad: {friction: {peak: 0.9, sliding: 0.1, slip_speed: 0.3}}
  ice: {friction: 0.05}
material_pairs: [{between: [tyre, ice], friction: 0.1}]
)yaml");
  const Model& model = scene.model;
  const auto law = [&](int a, int b) { return model.pair_law(a, b); };
  EXPECT_DOUBLE_EQ(calc_friction(law(0, 1), 0), std::sqrt(0.9 * 0.4));
  EXPECT_DOUBLE_EQ(law(0, 1).by_slip->sliding, 0.4);
  EXPECT_DOUBLE_EQ(law(0, 1).by_slip->slip_speed, 0.2);
  EXPECT_DOUBLE_EQ(law(1, 2).by_slip->sliding, 0.2);
  EXPECT_DOUBLE_EQ(law(2, 1).by_slip->slip_speed, 0.3);
  EXPECT_FALSE(law(1, 3).by_slip) << "a pair's number wins";
  EXPECT_FALSE(law(0, 3).by_slip);
  EXPECT_EQ(calc_friction(law(1, 3), 5), 0.1);
}

/// A ball that rolls over ground whose arm grows along its way: v dv/ds = -(5/7)(g/R) arm(s).
TEST(RollingMap, BallStopsWhereItsWorkSays) {
  // The map's x axis is turned into the world's y, and its middle lies at (5, 3); arms grow by 1 mm/m from 1 mm at s =
  // 0.
  const Scene scene = scene_of(R"yaml(
materials: {default: {friction: 0.5, rolling_friction: 0.1}}
bodies:
  - {name: ground, fixed: true, position: [5, 3, 0], orientation: {axis: [0, 0, 1], angle_deg: 90},
     shapes: [{heightfield: {data: [[0, 0, 0], [0, 0, 0], [0, 0, 0]], size: [10, 8],
               rolling_friction: {data: [[1, 6, 11], [1, 6, 11]], scale: 1e-3}}}]}
  - {name: ball, mass: 3, position: [6, -2, 0.1], velocity: [0, 0.7, 0], angular_velocity: [-7, 0, 0], shapes: [{sphere: {radius: 0.1}}]}
)yaml");
  const double factor = 5.0 / 7 * kGravity / 0.1, a0 = 1e-3, a1 = 1e-3;
  const double work = 0.5 * 0.7 * 0.7 / factor;  // = a0 s + a1 s^2/2
  const double way = (std::sqrt(a0 * a0 + 2 * a1 * work) - a0) / a1;
  Simulation simulation = simulation_of(scene, 1e-3);
  run_until(20, &simulation);
  const WorldMotion ball = motion_of(simulation, "ball");
  EXPECT_NEAR(ball.velocity.norm(), 0, 1e-9);
  EXPECT_NEAR(ball.pose.position.y() + 2, way, 1e-3);
  EXPECT_NEAR(ball.pose.position.x(), 6, 1e-9);
}

}  // namespace
}  // namespace slipstick::test
