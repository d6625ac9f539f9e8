// Inputs and readings of a running simulation against closed forms.
#include <gtest/gtest.h>
#include <slipstick/scene.h>
#include <slipstick/simulation.h>

#include <array>
#include <cmath>
#include <random>
#include <string>

#include "support/simulate.h"

namespace slipstick {
namespace {

using test::scene_of;
using test::shipped_scene;

const std::array<const char*, 5> kDoorSchemes{"stabilized", "euler", "trapezoid", "alpha-gamma", "spook"};

Simulation make(const Scene& scene, const std::string& scheme) {
  SimulationOptions options = scene.options;
  options.scheme = scheme;
  return {scene.model, scene.initial, options};
}

const char* kBrick = R"(
gravity: [0, 0, 0]
simulation: {step: 1/100, duration: 1}
bodies:
  - {name: brick, mass: 2, position: [1, 2, 3], inertia: [0.1, 0.2, 0.3], center_of_mass: [0.1, 0, 0]}
  - {name: other, mass: 1, position: [5, 0, 0], inertia: [1, 1, 1]}
)";

TEST(Inputs, ForceAtThePointOfTheBody) {
  const Scene scene = scene_of(kBrick);
  for (const char* scheme : kDoorSchemes) {
    Simulation world = make(scene, scheme), body = make(scene, scheme);
    Inputs in = world.inputs();
    in.force("brick", {0, 0, 10});  // centre of mass: no turn
    ASSERT_TRUE(world.step(in).certified);
    EXPECT_NEAR(world.state().velocity[0].linear.z(), 10 * 0.01 / 2, 1e-15) << scheme;
    EXPECT_NEAR(world.state().velocity[0].angular.norm(), 0, 1e-15);
    EXPECT_EQ(world.state().velocity[1].linear.norm(), 0);
    // The body's origin is (-0.1, 0, 0) from its centre of mass: (-0.1, 0, 0) x (0, 0, 10) = (0, 1, 0).
    in = body.inputs();
    in.force(0, {0, 0, 10}, Vec3(0, 0, 0), Frame::Body);
    body.step(in);
    EXPECT_NEAR(body.state().velocity[0].angular.y(), 1 * 0.01 / 0.2, 1e-12) << scheme;
    in = make(scene, scheme).inputs();
    Simulation point = make(scene, scheme);
    in = point.inputs();
    in.force("brick", {0, 0, 10}, Vec3(1, 2, 3));
    point.step(in);
    EXPECT_NEAR((point.state().velocity[0].angular - body.state().velocity[0].angular).norm(), 0, 1e-4);
    EXPECT_NEAR(point.body_forces()[0].load.force.z(), 10, 1e-12);
  }
}

/// The same force as a load of the scene and as an input, on a body that tumbles beside others, in random places.
TEST(Inputs, AForceIsALoadOfTheScene) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> any(-1, 1);
  const auto draw = [&] { return Vec3(any(random), any(random), any(random)); };
  for (int round = 0; round < 20; ++round) {
    Scene scene = scene_of(kBrick);
    scene.initial.pose[0].orientation = Quat(any(random), any(random), any(random), any(random)).normalized();
    scene.initial.velocity[0] = {draw(), 3 * draw()};
    const Vec3 force = 20 * draw(), torque = 3 * draw(), at = 0.3 * draw();  // `at` in the body's frame
    Scene loaded = scene;
    Load load;
    load.name = "push";
    load.at = at - scene.model.bodies[0].center_of_mass;
    for (int k = 0; k < 3; ++k) {
      load.force[k] = Expression(force[k]);
      load.torque[k] = Expression(torque[k]);
    }
    loaded.model.loads.push_back(load);
    for (const char* scheme : kDoorSchemes) {
      Simulation with_load = make(loaded, scheme), with_input = make(scene, scheme);
      for (int k = 0; k < 10; ++k) {
        with_load.step();
        const Pose& q = with_input.state().pose[0];
        const Vec3 point = q.position + q.orientation * load.at;
        with_input.step(with_input.inputs().force("brick", force, point).torque("brick", torque));
      }
      const Twist &u = with_load.state().velocity[0], &v = with_input.state().velocity[0];
      EXPECT_NEAR((u.linear - v.linear).norm() + (u.angular - v.angular).norm(), 0, 1e-11) << scheme;
    }
  }
}

TEST(Inputs, HoldForOneStepOnly) {
  const Scene scene = scene_of(kBrick);
  Simulation simulation(scene);
  simulation.step(simulation.inputs().torque("brick", {0, 0, 3}));
  const Vec3 omega = simulation.state().velocity[0].angular;
  EXPECT_NEAR(omega.z(), 3 * 0.01 / 0.3, 1e-12);
  simulation.step();
  EXPECT_NEAR((simulation.state().velocity[0].angular - omega).norm(), 0, 1e-12);
}

TEST(Inputs, StepIsStepOfInputs) {
  for (const char* name : {"motor_arm.yaml", "winch.yaml", "excavator.yaml", "two_carts.yaml", "bouncing_ball.yaml"}) {
    const Scene scene = shipped_scene(name);
    for (const char* scheme : kDoorSchemes) {
      Simulation plain = make(scene, scheme), driven = make(scene, scheme);
      for (int k = 0; k < 20; ++k) {
        plain.step();
        driven.step(driven.inputs());
        ASSERT_EQ(hash(plain.state()), hash(driven.state())) << name << " " << scheme << " " << k;
      }
    }
  }
}

/// A scene's load of its own, and the same as an input.
TEST(Inputs, LoadsOfTheSceneCanBeScaled) {
  const Scene scene =
      scene_of(std::string(kBrick) + "forces:\n  - load: {name: wind, body: brick, force: [4, 0, 0]}\n");
  Simulation simulation(scene);
  simulation.step();
  EXPECT_NEAR(simulation.state().velocity[0].linear.x(), 0.02, 1e-15);
  Inputs in = simulation.inputs();
  in.load("wind").scale = 0;
  simulation.step(in);
  EXPECT_NEAR(simulation.state().velocity[0].linear.x(), 0.02, 1e-15);
}

TEST(Inputs, FaultsMakeNoStep) {
  const Scene scene = shipped_scene("motor_arm.yaml");
  Simulation simulation(scene);
  const std::uint64_t before = hash(simulation.state());
  const auto refused = [&](const Inputs& in) {
    const StepReport& report = simulation.step(in);
    return report.failed && !report.note.empty() && hash(simulation.state()) == before;
  };
  Inputs in = simulation.inputs();
  in.force("no such body", {0, 0, 1});
  ASSERT_EQ(in.faults().size(), 1u);
  EXPECT_NE(in.faults()[0].text().find("no such body"), std::string::npos);
  EXPECT_TRUE(refused(in));
  in = simulation.inputs();
  in.motor("nothing").target = 3;
  EXPECT_TRUE(refused(in));
  in = simulation.inputs();
  in.force(1000, {0, 0, 1});
  EXPECT_TRUE(refused(in));
  in = simulation.inputs();
  in.force(0, {0, 0, std::nan("")});
  EXPECT_TRUE(refused(in));
  in = simulation.inputs();
  for (std::size_t k = 0; k < scene.model.axes.size(); ++k)
    if (scene.model.axes[k].motor) in.motor(static_cast<int>(k)).target = std::nan("");
  EXPECT_TRUE(refused(in));
  EXPECT_TRUE(refused(Inputs()));
  EXPECT_TRUE(refused(Simulation(scene_of(kBrick)).inputs()));
  EXPECT_FALSE(simulation.step(simulation.inputs()).failed);
}

const char* kArm = R"(
simulation: {step: 1/1000, duration: 1}
bodies:
  - {name: arm, mass: 3, position: [0.4, 0, 0], inertia: [0.01, 0.2, 0.2]}
joints:
  - hinge: {name: elbow, between: [world, arm], at: [0, 0, 0], axis: [0, 1, 0], motor: {position: 0, max: 100}}
)";

TEST(Readings, MotorOfALoadedArmHoldsItsWeight) {
  const Scene scene = scene_of(kArm);
  for (const char* scheme : {"stabilized", "euler", "trapezoid", "alpha-gamma"}) {
    Simulation simulation = make(scene, scheme);
    Inputs in = simulation.inputs();
    for (int k = 0; k < 4; ++k) simulation.step(simulation.inputs().force("arm", {0, 0, -7}));
    const JointReading& elbow = simulation.joint("elbow");
    // About +y a weight at +x turns the arm by +x g m (down is positive): the motor holds with -.
    EXPECT_NEAR(elbow.motor_force, -0.4 * (3 * 9.81 + 7), 1e-6) << scheme;
    EXPECT_NEAR(elbow.reaction_force.z(), 3 * 9.81 + 7, 1e-6) << scheme;
    EXPECT_NEAR(elbow.reaction_moment.y(), elbow.motor_force, 1e-6) << scheme;
    EXPECT_NEAR(elbow.position, 0, 1e-9);
    in = simulation.inputs();
    in.motor("elbow").torque = -20;
    const double before = elbow.velocity;
    simulation.step(in);
    EXPECT_NEAR(elbow.motor_force, -20, 1e-12) << scheme;
    const double inertia = 0.2 + 3 * 0.4 * 0.4, torque = 0.4 * 3 * 9.81 - 20;
    EXPECT_NEAR(elbow.velocity - before, torque / inertia / 1000, 1e-6) << scheme;
    in.motor("elbow").torque = -1e6;
    simulation.step(in);
    EXPECT_NEAR(elbow.motor_force, -100, 1e-9) << scheme << ": bounded";
  }
}

TEST(Inputs, MotorFollowsTheTargetThatIsGiven) {
  const Scene scene = scene_of(kArm);
  for (const char* scheme : kDoorSchemes) {
    Simulation simulation = make(scene, scheme);
    EXPECT_EQ(double(simulation.inputs().motor("elbow").max), 100);
    for (int k = 0; k < 2000; ++k) {
      Inputs in = simulation.inputs();
      in.motor("elbow").target = 0.3;
      simulation.step(in);
    }
    EXPECT_NEAR(simulation.joint("elbow").position, 0.3, 1e-6) << scheme;
  }
}

TEST(Readings, HangingChainCarriesTheWeightsBelow) {
  std::string text = "simulation: {step: 1/200, duration: 1}\nbodies:\n";
  const std::array<double, 5> mass{1, 20, 0.3, 4, 100};
  for (std::size_t i = 0; i < mass.size(); ++i)
    text += "  - {name: link" + std::to_string(i) + ", mass: " + std::to_string(mass[i]) + ", position: [0, 0, " +
            std::to_string(-0.5 - double(i)) + "], inertia: [0.1, 0.1, 0.1]}\n";
  text += "joints:\n";
  for (std::size_t i = 0; i < mass.size(); ++i)
    text += "  - ball: {name: j" + std::to_string(i) + ", between: [" +
            (i == 0 ? "world" : "link" + std::to_string(i - 1)) + ", link" + std::to_string(i) + "], at: [0, 0, " +
            std::to_string(-double(i)) + "]}\n";
  const Scene scene = scene_of(text);
  for (const char* scheme : kDoorSchemes) {
    Simulation simulation = make(scene, scheme);
    const int steps = std::string(scheme) == "spook" ? 4000 : 20;  // compliant: it must come to rest first
    for (int k = 0; k < steps; ++k) ASSERT_TRUE(simulation.step().certified);
    double below = 0;
    for (int i = static_cast<int>(mass.size()) - 1; i >= 0; --i) {
      below += mass[i] * 9.81;
      const JointReading& joint = simulation.joint("j" + std::to_string(i));
      EXPECT_NEAR(joint.reaction_force.z(), below, 1e-9 * below) << scheme << " " << i;
      EXPECT_NEAR(joint.reaction_force.head<2>().norm(), 0, 1e-9 * below);
      EXPECT_NEAR(joint.reaction_moment.norm(), 0, 1e-9 * below);
    }
  }
}

TEST(Readings, TurnsAreCountedWhereNothingActs) {
  const Scene scene = scene_of(R"(
gravity: [0, 0, 0]
simulation: {step: 1/100, duration: 1}
bodies:
  - {name: wheel, mass: 1, inertia: [1, 1, 2], angular_velocity: [0, 0, 12]}
joints:
  - hinge: {name: axle, between: [world, wheel], at: [0, 0, 0], axis: [0, 0, 1]}
)");
  for (const char* scheme : kDoorSchemes) {
    Simulation simulation = make(scene, scheme);
    for (int k = 0; k < 300; ++k) simulation.step();
    EXPECT_NEAR(simulation.joint("axle").position, 36, 1e-6) << scheme;
    EXPECT_NEAR(simulation.joint("axle").velocity, 12, 1e-9) << scheme;
  }
}

TEST(Readings, UnknownNamesAreSafe) {
  Simulation simulation(scene_of(kArm));
  EXPECT_FALSE(simulation.joint("nothing"));
  EXPECT_FALSE(simulation.joint(7));
  EXPECT_TRUE(std::isnan(simulation.joint(-3).position));
  EXPECT_TRUE(simulation.joint("elbow"));
}

TEST(Readings, LimitAndFrictionForces) {
  // Pushed against its stop with 10 N: dry friction of 2 N does nothing once it rests; the limit carries the push.
  const Scene scene = scene_of(R"(
gravity: [0, 0, 0]
simulation: {step: 1/100, duration: 1}
bodies:
  - {name: cart, mass: 1, inertia: [1, 1, 1]}
joints:
  - slider: {name: rail, between: [world, cart], at: [0, 0, 0], axis: [1, 0, 0], limits: [-1, 0.01], friction: 2}
)");
  for (const char* scheme : kDoorSchemes) {
    Simulation simulation = make(scene, scheme);
    simulation.step(simulation.inputs().force("cart", {10, 0, 0}));
    EXPECT_NEAR(simulation.joint("rail").friction_force, -2, 1e-9) << scheme;
    for (int k = 0; k < 60; ++k) simulation.step(simulation.inputs().force("cart", {10, 0, 0}));
    const JointReading& rail = simulation.joint("rail");
    EXPECT_NEAR(rail.limit_force + rail.friction_force, -10, 1e-6) << scheme;
    EXPECT_NEAR(rail.reaction_force.x(), -10, 1e-6) << scheme;
    EXPECT_LE(rail.limit_force, -8 + 1e-6) << scheme;
  }
}

}  // namespace
}  // namespace slipstick
