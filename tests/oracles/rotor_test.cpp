// Rotors on axes, motors that are forces or dampers, carried weight, contact bits: against closed forms.
#include <algorithm>
#include <array>
#include <cmath>

#include "support/simulate.h"

namespace slipstick::test {
namespace {

const std::vector<std::string> kRotorSchemes{"stabilized", "euler", "trapezoid", "alpha-gamma", "spook"};

/// A block of 1 kg m^2 about z on an axle with a rotor.
Scene axle(const std::string& keys, const std::string& body = "") {
  return scene_of(R"yaml(
gravity: [0, 0, 0]
bodies: [{name: rotor, mass: 1, inertia: [1, 1, 1])yaml" +
                  body + R"yaml(}]
joints: [{hinge: {name: axle, between: [world, rotor], at: [0, 0, 0], axis: [0, 0, 1])yaml" +
                  keys + "}}]\n");
}

TEST(Rotor, ArmatureAddsToTheInertiaAboutTheAxleInEveryScheme) {
  // 8 N m on 1 + 3 kg m^2: 2 rad/s^2, and the kinetic energy is the work.
  for (const std::string& scheme : kRotorSchemes) {
    Scene scene = axle(", armature: 3, motor: {torque: 8}");
    scene.options.scheme = scheme;
    Simulation simulation = simulation_of(scene, 0.01);
    double work = 0, numerical = 0;
    for (int k = 0; k < 100; ++k) {
      const StepReport& report = simulation.step();
      ASSERT_TRUE(report.certified) << scheme;
      work += report.certificate.ledger.motor;
      numerical = std::max(numerical, std::abs(report.certificate.ledger.numerical));
    }
    EXPECT_NEAR(motion_of(simulation, "rotor").angular_velocity.z(), 2, 1e-9) << scheme;
    EXPECT_NEAR(work, 0.5 * 4 * 4, 1e-6) << scheme;
    EXPECT_LT(numerical, 1e-6) << scheme;
    EXPECT_NEAR(simulation.joint("axle").motor_force, 8, 1e-9) << scheme;
  }
}

TEST(Rotor, TwoBodiesShareTheRotorBetweenThemAndKeepAngularMomentum) {
  Scene scene = scene_of(R"yaml(
gravity: [0, 0, 0]
bodies:
  - {name: stator, mass: 2, inertia: [2, 2, 2]}
  - {name: shaft, mass: 1, inertia: [1, 1, 1], angular_velocity: [0, 0, 5]}
joints: [{hinge: {name: axle, between: [stator, shaft], at: [0, 0, 0], axis: [0, 0, 1], armature: 4, damping: 3}}]
)yaml");
  Simulation simulation = simulation_of(scene, 1e-3);
  run_until(1, &simulation);
  // The relative spin w decays with damping / (armature + reduced inertia): 3 / (4 + 2/3).
  const double a = motion_of(simulation, "stator").angular_velocity.z();
  const double b = motion_of(simulation, "shaft").angular_velocity.z();
  EXPECT_NEAR(2 * a + b, 5, 1e-9);
  EXPECT_NEAR(b - a, 5 * std::exp(-3 / (4 + 2.0 / 3)), 2e-3);
}

/// A link on a ball joint and a second one on it, whose joint `joint` is; both are asymmetric, and turn about all axes.
Scene chain(const std::string& joint, const std::string& scheme, const std::string& more = "") {
  return scene_of(R"yaml(
bodies:
  - {name: a, mass: 1, inertia: [0.02, 0.03, 0.04], position: [0.5, 0, 0]}
  - {name: b, mass: 0.7, inertia: [0.01, 0.02, 0.015], position: [1.2, 0.1, 0.05]}
joints:
  - ball: {name: pin, between: [world, a], at: [0, 0, 0]}
  - )yaml" + joint +
                  "\n" + more + "simulation: {scheme: " + scheme + "}\n");
}

double rotor_energy(const Simulation& simulation) {
  const EnergySplit energy = simulation.energy();
  return energy.kinetic + energy.potential;
}

const std::string kFamily = "{alpha-gamma: {alpha: 0.6, gamma: 0.6}}";
const std::string kRotorHinge =
    "hinge: {name: j, between: [a, b], at: [0.9, 0, 0], axis: [0.6, 0, 0.8], armature: 0.15}";

TEST(Rotor, BetweenMovingBodiesTheEnergyStays) {
  // What the second link turns by itself, gyroscopically, turns the rotor: 7.5 times its own inertia.
  const std::vector<std::string> joints{
      kRotorHinge,
      "slider: {name: j, between: [a, b], at: [0.9, 0, 0], axis: [0, 0.6, 0.8], armature: 3, limits: [-9, 9]}",
      "universal: {name: j, between: [a, b], at: [0.9, 0, 0], axis: [0, 0, 1], axis_b: [0, 1, 0], first: {armature: "
      "0.05},"
      " second: {armature: 0.08}}"};
  for (const std::string& joint : joints)
    for (const std::string& scheme : {std::string("stabilized"), std::string("{stabilized: {stabilization: 0.999}}"),
                                      std::string("euler"), std::string("trapezoid"), kFamily, std::string("spook")}) {
      Simulation simulation = simulation_of(chain(joint, scheme), 0.005);
      const double start = rotor_energy(simulation);
      double worst = 0;
      while (simulation.state().time < 3 - 1e-9) {
        ASSERT_TRUE(simulation.step().certified) << joint << scheme;
        worst = std::max(worst, std::abs(rotor_energy(simulation) - start));
      }
      EXPECT_LT(worst, scheme == "trapezoid" || scheme == "stabilized" || scheme == "euler" ? 0.02 : 0.4)
          << joint << scheme;
    }
}

TEST(Rotor, BetweenMovingBodiesSchemesHaveTheirOrders) {
  const auto run = [](const std::string& scheme, double h) {
    Simulation simulation = simulation_of(chain(kRotorHinge, scheme), h);
    run_until(0.64, &simulation);
    return motion_of(simulation, "b").pose.position;
  };
  const Vec3 known = run("trapezoid", 1.0 / 3200);
  const std::array<std::pair<std::string, double>, 5> wanted{
      {{"stabilized", 2}, {"euler", 2}, {"trapezoid", 2}, {kFamily, 1}, {"spook", 1}}};
  for (const auto& [scheme, order] : wanted) {
    const double coarse = (run(scheme, 1.0 / 100) - known).norm(), fine = (run(scheme, 1.0 / 400) - known).norm();
    EXPECT_GT(std::log2(coarse / fine) / 2, order - 0.3) << scheme << " " << coarse << " " << fine;
  }
}

TEST(Rotor, OfGreatInertiaHoldsTheCoordinateAsAWeldDoes) {
  // It keeps the speed it had, none, whatever the bodies' own momenta ask for.
  const std::string place = "{name: j, between: [a, b], at: [0.9, 0, 0]";
  for (const std::string& scheme :
       {std::string("stabilized"), std::string("euler"), std::string("trapezoid"), kFamily, std::string("spook")}) {
    Simulation rotor = simulation_of(chain("hinge: " + place + ", axis: [0.6, 0, 0.8], armature: 1e6}", scheme), 0.005);
    Simulation weld = simulation_of(chain("fixed: " + place + "}", scheme), 0.005);
    run_until(1, &rotor);
    run_until(1, &weld);
    EXPECT_LT((motion_of(rotor, "b").pose.position - motion_of(weld, "b").pose.position).norm(),
              scheme == "spook" || scheme == kFamily ? 2e-3 : 1e-6)
        << scheme;
    EXPECT_NEAR(rotor.joint("j").position, 0, 1e-4) << scheme;
  }
}

TEST(Rotor, WhatItDoesAtBothEndsIsInTheReadings) {
  // m (v' - v) is all forces of the step, those of the rotor of a slide at its end too.
  const std::string slide = "slider: {name: j, between: [a, b], at: [0.9, 0, 0], axis: [0, 0.6, 0.8], armature: 3}";
  for (const std::string& scheme : {std::string("stabilized"), std::string("{stabilized: {stabilization: 0.999}}"),
                                    std::string("trapezoid"), kFamily, std::string("spook")}) {
    Simulation simulation = simulation_of(chain(slide, scheme), 0.01);
    run_until(0.3, &simulation);
    const int b = *simulation.model().find_body("b");
    const Vec3 before = simulation.state().velocity[b].linear;
    ASSERT_TRUE(simulation.step().certified);
    const Vec3 gained = 0.7 * (simulation.state().velocity[b].linear - before);
    EXPECT_LT((gained - 0.01 * simulation.body_forces()[b].sum().force).norm(), 1e-10) << scheme;
  }
}

TEST(Rotor, OnAPrescribedBodyHasThatBodysRateInItAndTheDrivePays) {
  const auto run = [](const std::string& scheme, double h, double* numerical) {
    Simulation simulation = simulation_of(scene_of(R"yaml(
bodies:
  - {name: base, kinematic: {angular_velocity: ["sin(3*t)", 0, "2*sin(2*t)"]}}
  - {name: b, mass: 0.7, inertia: [0.01, 0.02, 0.015], position: [0.3, 0.1, 0.05]}
joints: [{hinge: {name: j, between: [base, b], at: [0.1, 0, 0], axis: [0.6, 0, 0.8], armature: 0.15}}]
simulation: {scheme: )yaml" + scheme + "}\n"),
                                          h);
    *numerical = 0;
    while (simulation.state().time < 1.5 - 1e-9) {
      const StepReport& report = simulation.step();
      EXPECT_TRUE(report.certified) << scheme;
      *numerical += report.certificate.ledger.numerical;
    }
    return motion_of(simulation, "b").pose.position;
  };
  double numerical = 0;
  const Vec3 known = run("trapezoid", 1.0 / 1000, &numerical);
  EXPECT_NEAR(numerical, 0, 1e-3);
  for (const std::string& scheme : kRotorSchemes) {
    EXPECT_LT((run(scheme, 1.0 / 200, &numerical) - known).norm(), 0.01) << scheme;
    EXPECT_NEAR(numerical, 0, 0.02) << scheme;
  }
}

TEST(Rotor, ImpactsMoveTheRotorToo) {
  // A block on a rail with a rotor of 3 kg hits a stop elastically: 2 m/s come back, for block and rotor are one mass.
  for (const std::string scheme : {"euler", "trapezoid"}) {
    Scene scene = scene_of(R"yaml(
gravity: [0, 0, 0]
bodies: [{name: block, mass: 1, inertia: [1, 1, 1], velocity: [2, 0, 0]}]
joints:
  - slider: {name: rail, between: [world, block], at: [0, 0, 0], axis: [1, 0, 0], armature: 3, limits: [-9, 0.5],
             restitution: 1}
)yaml");
    scene.options.scheme = scheme;
    Simulation simulation = simulation_of(scene, 0.01);
    run_until(0.5, &simulation);
    EXPECT_NEAR(motion_of(simulation, "block").velocity.x(), -2, 1e-6) << scheme;
  }
}

TEST(Rotor, ADamperMotorPullsTowardsItsSpeedWithinItsBound) {
  // d (w - target) = -I w': w = 6 (1 - exp(-d t / I)); with a bound of 2 N m: 2 rad/s^2 at first.
  Simulation free = simulation_of(axle(", motor: {speed: 6, damping: 2}"), 1e-3);
  run_until(1, &free);
  EXPECT_NEAR(motion_of(free, "rotor").angular_velocity.z(), 6 * (1 - std::exp(-2.0)), 5e-3);
  Simulation bounded = simulation_of(axle(", motor: {speed: 6, damping: 20, max: 2}"), 1e-3);
  run_until(1, &bounded);
  EXPECT_NEAR(motion_of(bounded, "rotor").angular_velocity.z(), 2, 1e-9);
}

TEST(Rotor, StartIsWhereTheCoordinateCountsFrom) {
  // A spring whose rest is at 0.5 and a coordinate that begins at 0.5: nothing moves; its limits are those of the
  // coordinate.
  Simulation simulation = simulation_of(axle(", start: 0.5, rest: 0.5, stiffness: 10, limits: [0.4, 0.6]"), 0.01);
  run_until(0.5, &simulation);
  EXPECT_NEAR(simulation.joint("axle").position, 0.5, 1e-12);
  EXPECT_NEAR(motion_of(simulation, "rotor").angular_velocity.norm(), 0, 1e-12);
}

TEST(Rotor, AShareOfTheWeightMayBeCarried) {
  Simulation simulation = simulation_of(scene_of(R"yaml(
bodies:
  - {name: half, mass: 2, inertia: [1, 1, 1], gravity_scale: 0.5}
  - {name: none, mass: 2, inertia: [1, 1, 1], gravity_scale: 0, position: [5, 0, 0]}
)yaml"),
                                        0.01);
  double numerical = 0;
  for (int k = 0; k < 100; ++k)
    numerical = std::max(numerical, std::abs(simulation.step().certificate.ledger.numerical));
  EXPECT_NEAR(motion_of(simulation, "half").velocity.z(), -9.81 / 2, 1e-9);
  EXPECT_EQ(motion_of(simulation, "none").velocity.norm(), 0);
  EXPECT_LT(numerical, 0.01);
}

TEST(Rotor, ContactBitsDecideWhoTouchesWhom) {
  // red meets the floor, blue does not, and green meets red through red's affinity alone.
  Simulation simulation = simulation_of(scene_of(R"yaml(
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {}, contype: 1, conaffinity: 1}]}
  - {name: red, mass: 1, position: [0, 0, 0.5], shapes: [{box: {size: [1, 1, 1]}, contype: 1, conaffinity: 4}]}
  - {name: blue, mass: 1, position: [5, 0, 0.5], shapes: [{box: {size: [1, 1, 1]}, contype: 2, conaffinity: 2}]}
  - {name: green, mass: 1, position: [0, 0, 1.5], shapes: [{box: {size: [1, 1, 1]}, contype: 4, conaffinity: 0}]}
)yaml"),
                                        0.01);
  run_until(0.5, &simulation);
  EXPECT_NEAR(motion_of(simulation, "red").pose.position.z(), 0.5, 1e-6);
  EXPECT_NEAR(motion_of(simulation, "green").pose.position.z(), 1.5, 1e-6);
  EXPECT_LT(motion_of(simulation, "blue").pose.position.z(), -0.5);
}

}  // namespace
}  // namespace slipstick::test
