// Joints, springs and free motion against closed forms.
#include <cmath>
#include <numbers>

#include "support/simulate.h"

namespace slipstick::test {
namespace {

TEST(Mechanism, PendulumIsOfSecondOrderAndItsRodStaysRigid) {
  // t = 1 of the pendulum released from the horizontal, from the exact solution at 1e-12 by integrating the angle.
  const auto exact = [] {
    double angle = -std::numbers::pi / 2, rate = 0;  // from the vertical; x = sin, y = -cos
    const int n = 200000;
    const double h = 1.0 / n;
    for (int i = 0; i < n; ++i) {  // Stormer-Verlet, error ~ h^2 = 2.5e-11
      rate -= h / 2 * 9.81 * std::sin(angle);
      angle += h * rate;
      rate -= h / 2 * 9.81 * std::sin(angle);
    }
    return Vec2(std::sin(angle), -std::cos(angle));
  }();
  const Scene scene = shipped_scene("pendulum.yaml");
  double previous = 0;
  for (const double h : {1.0 / 256, 1.0 / 512, 1.0 / 1024}) {
    Simulation simulation = simulation_of(scene, h);
    double drift = 0;
    while (simulation.state().time < 1 - 1e-9) drift = std::max(drift, simulation.step().certificate.joint_error);
    const double error = (motion_of(simulation, "bob").pose.position.head<2>() - exact).norm();
    if (previous > 0) {
      EXPECT_NEAR(previous / error, 4, 0.2);
    }
    EXPECT_LT(drift, 1e-9);
    previous = error;
  }
}

TEST(Mechanism, SpringStepIsLinearlyImplicitAtAnyStiffness) {
  // One step of m v' = m v - h (k (phi + h v')) - h d v': closed form of the compliant row, [methods 7.1].
  for (const double k : {1e5, 1e6, 1e9, 1e12}) {  // softer ones are those of Flight
    const double d = 3, h = 0.01, phi = 0.1, v = 0.7, m = 2;
    const Scene scene = scene_of("gravity: [0, 0, 0]\nlet: {k: " + std::to_string(k) + R"yaml(}
bodies: [{name: mass, mass: 2, position: [1.1, 0, 0], velocity: [0.7, 0, 0], lock: [rotation]}]
forces: [{spring: {between: [world, mass], at: [[0, 0, 0], [1.1, 0, 0]], stiffness: k, damping: 3, rest_length: 1}}]
)yaml");
    Simulation simulation = simulation_of(scene, h);
    ASSERT_TRUE(simulation.step().certified);
    const double expected = (m * v - h * k * phi) / (m + h * h * k + h * d);
    EXPECT_NEAR(motion_of(simulation, "mass").velocity.x() / expected, 1, 1e-12) << "k = " << k;
  }
}

TEST(Mechanism, FreeBodyKeepsItsEnergyAndTurnsOver) {
  // J = diag(1, 2, 3), omega0 = (0.01, 5, 0.01): omega(10) = (0.0127148706268, 4.9999938332, 0.0109797986488).
  const Scene scene = shipped_scene("tumbling_body.yaml");
  const Vec3 exact(0.0127148706268, 4.9999938332, 0.0109797986488);
  // Near the separatrix a small phase error grows, so that the error falls faster than the order, which is two.
  double previous = 0;
  for (const double h : {0.002, 0.001, 0.0005}) {
    Simulation simulation = simulation_of(scene, h);
    const double energy = simulation.energy().kinetic;
    run_until(10, &simulation);
    EXPECT_NEAR(simulation.energy().kinetic / energy, 1, 1e-11);
    const double error = (simulation.state().velocity[0].angular - exact).norm();
    if (previous > 0) {
      EXPECT_GT(previous / error, 3.6);
    }
    previous = error;
  }
  EXPECT_LT(previous, 1e-3);
}

TEST(Mechanism, EveryJointHolds) {
  // A tree with one joint of each kind swings for a second.
  const Scene scene = scene_of(R"yaml(
defaults: {bar: {mass: 1, shapes: [{box: {size: [0.9, 0.1, 0.1]}}]}}
bodies:
  - {name: a, like: bar, position: [0.5, 0, 0]}
  - {name: b, like: bar, position: [1.5, 0, 0]}
  - {name: c, like: bar, position: [2.5, 0, 0]}
  - {name: d, like: bar, position: [3.5, 0, 0]}
  - {name: e, like: bar, position: [4.5, 0, 0]}
joints:
  - hinge: {between: [world, a], at: [0, 0, 0], axis: [0, 1, 0]}
  - ball: {between: [a, b], at: [1, 0, 0]}
  - slider: {between: [b, c], at: [2, 0, 0], axis: [0, 0, 1]}
  - fixed: {between: [c, d], at: [3, 0, 0]}
  - rod: {between: [d, e], at: [[3.9, 0, 0], [4.1, 0, 0]]}
)yaml");
  for (const double h : {0.004, 0.002, 0.001}) {
    Simulation simulation = simulation_of(scene, h);
    double error = 0;
    while (simulation.state().time < 1 - 1e-9) {
      const StepReport& report = simulation.step();
      ASSERT_TRUE(report.certified) << report.note;
      error = std::max(error, report.certificate.joint_error);
    }
    EXPECT_LT(error, 1e-9) << h;
  }
}

TEST(Mechanism, LoadFollowsItsExpression) {
  // m = 2, force 8 cos t from rest: v = 4 sin t.
  const Scene scene = scene_of(R"yaml(
gravity: [0, 0, 0]
bodies: [{name: block, mass: 2, lock: [rotation]}]
forces: [{load: {body: block, force: ["8*cos(t)", 0, 0]
}
}]
)yaml");
  Simulation simulation = simulation_of(scene, 1e-4);
  run_until(1, &simulation);
  EXPECT_NEAR(motion_of(simulation, "block").velocity.x(), 4 * std::sin(1.0), 2e-4);
}

TEST(Mechanism, KinematicBodyCarriesWhatStandsOnIt) {
  const Scene scene = scene_of(R"yaml(
bodies:
  - {name: lift, kinematic: {velocity: [0, 0, "0.5*cos(t)"]}, shapes: [{box: {size: [2, 2, 0.2]}, position: [0, 0, -0.1]}]
}
  - {name: box, mass: 3, position: [0, 0, 0.25], shapes: [{box: {size: [0.5, 0.5, 0.5]}}]}
)yaml");
  Simulation simulation = simulation_of(scene, 0.002);
  run_until(1, &simulation);
  EXPECT_NEAR(motion_of(simulation, "lift").pose.position.z(), 0.5 * std::sin(1.0), 1e-6);
  EXPECT_NEAR(motion_of(simulation, "box").pose.position.z() - motion_of(simulation, "lift").pose.position.z(), 0.25,
              1e-9);
}

TEST(Mechanism, LedgerRemainderVanishesWithTheStep) {
  // A damped spring, friction and a load: every term of the ledger is there, and the remainder is O(h^2) a step.
  const Scene scene = scene_of(R"yaml(
materials: {default: {friction: 0.3}}
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {name: box, mass: 1, position: [0, 0, 0.25], velocity: [2, 0, 0], shapes: [{box: {size: [0.5, 0.5, 0.5]}}]}
forces:
  - spring: {between: [world, box], at: [[-2, 0, 0.25], [0, 0, 0.25]], stiffness: 20, damping: 1, rest_length: 2}
  - load: {body: box, force: ["2*cos(3*t)", 0, 0]}
)yaml");
  double previous = 0;
  for (const double h : {0.004, 0.002, 0.001}) {
    Simulation simulation = simulation_of(scene, h);
    double worst = 0, friction = 0, damping = 0, load = 0;
    while (simulation.state().time < 0.4 - 1e-9) {
      const EnergyLedger& ledger = simulation.step().certificate.ledger;
      worst = std::max(worst, std::abs(ledger.numerical));
      friction += ledger.friction;
      damping += ledger.damping;
      load += ledger.load;
    }
    EXPECT_LT(friction, -0.1);
    EXPECT_LT(damping, -0.1);
    EXPECT_NE(load, 0);
    if (previous > 0) {
      EXPECT_GT(previous / worst, 3.5);
    }
    previous = worst;
  }
}

/// Three rods on ball joints that lie on their axes, flung in space: nothing turns a rod about itself, and it goes on
/// to spin as it did.
TEST(Mechanism, RodsKeepTheSpinAboutThemselves) {
  const Scene scene = scene_of(R"yaml(
bodies:
  - name: "rod_{i}"
    repeat: {i: 3}
    mass: 1
    inertia: [0.001, 0.08, 0.08]
    position: [i + 0.5, 0, 0]
    velocity: [0, i + 0.5, 0]
    angular_velocity: [0.1, 0, 1]
joints:
  - {ball: {between: [world, rod_0], at: [0, 0, 0]}}
  - {ball: {between: [rod_0, rod_1], at: [1, 0, 0]}}
  - {ball: {between: [rod_1, rod_2], at: [2, 0, 0]}}
)yaml");
  for (const char* scheme : {"stabilized", "euler", "trapezoid"}) {
    SimulationOptions options = scene.options;
    options.scheme = scheme;
    options.step = 1.0 / 140;
    Simulation simulation(scene.model, scene.initial, options);
    run_until(10, &simulation);
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(simulation.state().velocity[i].angular.x(), 0.1, 1e-5) << scheme;
  }
}

}  // namespace
}  // namespace slipstick::test
