// Sensors, formulas that read them, tables, loads in body axes, bodies moved by position, belts.
#include <gtest/gtest.h>
#include <slipstick/scene.h>
#include <slipstick/simulation.h>
#include <slipstick/state_file.h>

#include <cmath>
#include <numbers>

#include "support/simulate.h"

namespace slipstick {
namespace {

using test::motion_of;
using test::run_until;
using test::scene_of;
using test::shipped_scene;

std::vector<std::string> faults_of(const std::string& text) {
  std::vector<std::string> found;
  const Result<Scene> scene = parse_scene("slipstick: 1\n" + text, "s.yaml");
  if (!scene)
    for (const Fault& fault : scene.faults()) found.push_back(fault.text());
  return found;
}

constexpr const char* kArm = R"yaml(
bodies:
  - {name: arm, mass: 2, position: [0.5, 0, 0], shapes: [{box: {size: [1, 0.1, 0.1]}}]}
joints:
  - hinge: {name: elbow, between: [world, arm], at: [0, 0, 0], axis: [0, -1, 0], motor: {torque: "FORMULA", max: 40}}
sensors:
  - value: {name: error, of: "0.5 - joint('elbow').angle"}
  - integral: {name: sum, of: error, limits: [-1, 1]}
  - body: {name: tip, body: arm, at: [0.5, 0, 0]}
simulation: {duration: 6, step: 1/200}
)yaml";

std::string arm_with(const std::string& formula) {
  std::string text = kArm;
  return text.replace(text.find("FORMULA"), 7, formula);
}

TEST(Sensors, APidInTheSceneHoldsAnArm) {
  const Scene scene = scene_of(arm_with("60*error + 80*sum - 12*joint('elbow').speed"));
  Simulation sim(scene);
  run_until(10, &sim);
  EXPECT_NEAR(sim.joint("elbow").position, 0.5, 1e-6);
  EXPECT_NEAR(sim.sensor("error").value(), 0, 1e-6);
  EXPECT_NEAR(80 * sim.sensor("sum").value(), 2 * 9.81 * 0.5 * std::cos(0.5), 1e-4);
  const SensorReading tip = sim.sensor("tip");
  ASSERT_EQ(tip.values.size(), 3u);
  EXPECT_NEAR(tip.values[0], std::cos(0.5), 1e-6);
  EXPECT_NEAR(tip.values[2], std::sin(0.5), 1e-6);
  EXPECT_FALSE(sim.sensor("nothing"));
}

TEST(Sensors, TheSameControllerOutsideGivesTheSameBits) {
  Simulation inside(scene_of(arm_with("60*error + 80*sum - 12*joint('elbow').speed")));
  Simulation outside(scene_of(arm_with("0")));
  double sum = 0;
  for (int k = 0; k < 1000; ++k) {
    const double error = 0.5 - outside.joint("elbow").position;
    // Each product rounded by itself, as formulas are: no fused multiply-add.
    const volatile double p = 60 * error, i = 80 * sum, d = 12 * outside.joint("elbow").velocity;
    const volatile double growth = 1.0 / 200 * error, both = p + i;
    Inputs in = outside.inputs();
    in.motor("elbow").torque = both - d;
    outside.step(in);
    sum = std::clamp(sum + growth, -1.0, 1.0);
    inside.step();
    ASSERT_EQ(hash(inside.state()), hash(outside.state())) << "step " << k;
  }
  EXPECT_NEAR(inside.joint("elbow").position, 0.5, 1e-2);
}

TEST(Sensors, GoOnWithTheSameBitsFromAStoredState) {
  // Forces, accelerations and integrals are of the last step: the state must remember them.
  const Scene scene = scene_of(R"yaml(
materials: {default: {friction: 0.1}}
bodies:
  - {name: ground, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {name: box, mass: 1, position: [0, 0, 0.1], shapes: [{box: {size: [0.2, 0.2, 0.2]}}]}
forces:
  - load: {body: box, force: ["3*contact('ground', 'box').normal/9.81 + body('box').acceleration.x + 2*sin(5*sum)", 0, 0]}
sensors:
  - integral: {name: sum, of: "1 + body('box').vx"}
simulation: {step: 1/100}
)yaml");
  Simulation sim(scene), other(scene);
  for (int k = 0; k < 50; ++k) sim.step();
  const Result<State> stored = read_state_bytes(make_state_bytes(sim.state()));
  ASSERT_TRUE(stored);
  ASSERT_TRUE(other.set_state(*stored).empty());
  EXPECT_EQ(other.sensor("sum").value(), sim.sensor("sum").value());
  for (int k = 0; k < 50; ++k) sim.step(), other.step();
  EXPECT_EQ(hash(sim.state()), hash(other.state()));
  EXPECT_GT(std::abs(motion_of(sim, "box").velocity.x()), 0.01);
}

TEST(Sensors, MeasureWhatTheyAreCalledAfter) {
  // A wheel of radius 0.3 turns at 2 rad/s; a block stands on a table 0.4 m away from a wall and carries another one.
  const Scene scene = scene_of(R"yaml(
bodies:
  - {name: wheel, mass: 1, position: [0, 3, 2], angular_velocity: [0, 2, 0], gravity_scale: 0, shapes: [{sphere: {radius: 0.3}}]}
  - {name: ground, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {name: wall, fixed: true, position: [1, 0, 0.5], shapes: [{box: {size: [0.2, 1, 1]}}]}
  - {name: low, mass: 2, position: [0, 0, 0.25], shapes: [{box: {size: [1, 0.5, 0.5]}}]}
  - {name: high, mass: 3, position: [0, 0, 0.6], shapes: [{box: {size: [0.2, 0.2, 0.2]}}]}
sensors:
  - body: {name: rim_velocity, body: wheel, at: [0.3, 0, 0], quantity: velocity}
  - body: {name: rim_acceleration, body: wheel, at: [0.3, 0, 0], quantity: acceleration, axes: wheel}
  - body: {name: ground_seen, body: low, quantity: velocity, frame: wheel}
  - body: {name: imu, body: low, quantity: proper_acceleration, axes: low}
  - contact: {name: weight, between: [high, low]}
  - contact: {name: load, between: [ground, low], quantity: normal}
  - distance: {name: gap, between: [low, wall]}
  - ray: {name: eye, body: low, at: [0, 0, 0], direction: [1, 0, 0]}
simulation: {step: 1/1000}
)yaml");
  Simulation sim(scene);
  run_until(0.1, &sim);
  const double turn = 0.2;  // rad, about y
  const auto rim = sim.sensor("rim_velocity").values;
  EXPECT_NEAR(rim[0], -0.6 * std::sin(turn), 1e-6);
  EXPECT_NEAR(rim[2], -0.6 * std::cos(turn), 1e-6);
  EXPECT_NEAR(sim.sensor("rim_acceleration").values[0], -4 * 0.3, 1e-9);  // towards the axle
  // Seen from what turns, the block goes round the other way: -w x r.
  const auto seen = sim.sensor("ground_seen").values;
  EXPECT_NEAR(std::hypot(seen[0], seen[1], seen[2]), 2 * std::hypot(0.0, 1.75), 1e-6);
  EXPECT_NEAR(sim.sensor("imu").values[2], 9.81, 1e-9);
  EXPECT_NEAR(sim.sensor("weight").values[2], -3 * 9.81, 1e-6);
  EXPECT_NEAR(sim.sensor("load").value(), 5 * 9.81, 1e-6);
  EXPECT_NEAR(sim.sensor("gap").value(), 0.4, 1e-9);
  EXPECT_NEAR(sim.sensor("eye").value(), 0.9, 1e-9);
}

TEST(Sensors, FaultyNamesAreOneLineWithPlaceAndNearestName) {
  const std::string head = R"yaml(
bodies: [{name: arm, mass: 1, shapes: [{box: {size: [1, 1, 1]}}]}]
joints:
  - hinge: {name: elbow, between: [world, arm], at: [0, 0, 0], axis: [0, 1, 0], motor: {torque: ")yaml";
  const std::string tail = "\"}}\nsensors: [{body: {name: tip, body: arm}}]\ntables: {ramp: [[0, 0], [1, 1]]}\n";
  const auto only = [&](const std::string& formula) {
    const auto faults = faults_of(head + formula + tail);
    return faults.size() == 1 ? faults[0] : "faults: " + std::to_string(faults.size());
  };
  EXPECT_EQ(only("2*joint('elbo').angle"), "s.yaml:5:107: formula: unknown joint 'elbo'; did you mean 'elbow'?");
  EXPECT_EQ(only("joint('elbow').angel"),
            "s.yaml:5:113: unknown quantity 'angel' of joint('elbow'); did you mean 'angle'?");
  EXPECT_EQ(only("body('amr').x"), "s.yaml:5:104: formula: unknown body 'amr'; did you mean 'arm'?");
  EXPECT_EQ(only("sensor('tp').x"), "s.yaml:5:106: formula: unknown sensor 'tp'; did you mean 'tip'?");
  EXPECT_EQ(only("sensor('tip')"), "s.yaml:5:106: formula: sensor 'tip' has 3 numbers; say which: .x, .y, .z");
  EXPECT_EQ(only("jont('elbow').angle"), "s.yaml:5:98: unknown reading 'jont'; did you mean 'joint'?");
  EXPECT_EQ(only("rump(t)"), "s.yaml:5:98: unknown function 'rump'; did you mean 'ramp'?");
  EXPECT_EQ(only("joint('elbow').angle + ramp(t)"), "faults: 0");
}

TEST(Sensors, PrescribedMotionsMayNotDependOnThem) {
  const auto faults = faults_of(
      "bodies:\n  - {name: a, mass: 1, shapes: [{sphere: {radius: 1}}]}\n"
      "  - {name: k, kinematic: {velocity: [\"body('a').x\", 0, 0]}, shapes: [{sphere: {radius: 1}}], position: [9, 0, "
      "0]}\n");
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0], "s.yaml:4:37: body 'k': a prescribed motion may depend on t, not on sensors");
}

TEST(Sensors, FormulasSeeOnlyFormulasAboveThem) {
  const auto faults = faults_of("sensors:\n  - value: {name: a, of: 2*b}\n  - value: {name: b, of: 2*t}\n");
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0],
            "s.yaml:3:26: sensor 'a': uses sensor 'b', which is a formula that does not stand above it; move it up");
}

TEST(Tables, AreStraightBetweenTheirPoints) {
  const Scene scene = scene_of(
      "tables: {ramp: [[0, 0], [1, 2], [3, -2]]}\nsensors: [{value: {name: y, of: \"ramp(t)\"}}]\nsimulation: {step: "
      "0.5}\n"
      "bodies: [{name: a, mass: 1, shapes: [{sphere: {radius: 1}}]}]\n");
  Simulation sim(scene);
  for (const double wanted : {1.0, 2.0, 1.0, 0.0, -1.0, -2.0, -2.0}) {
    sim.step();
    EXPECT_DOUBLE_EQ(sim.sensor("y").value(), wanted) << sim.state().time;
  }
}

TEST(Loads, InTheFrameOfABodyTurnWithIt) {
  // Thrust along the body's x while it turns at w: v = F/(m w) (sin wt, 1 - cos wt).
  const Scene scene = scene_of(R"yaml(
gravity: [0, 0, 0]
bodies: [{name: rocket, mass: 2, inertia: [1, 1, 1], angular_velocity: [0, 0, 3]}]
forces: [{load: {body: rocket, force: [4, 0, 0], frame: body}}]
simulation: {step: 1/1000, scheme: trapezoid}
)yaml");
  Simulation sim(scene);
  run_until(1, &sim);
  EXPECT_NEAR(motion_of(sim, "rocket").velocity.x(), 2.0 / 3 * std::sin(3.0), 1e-5);
  EXPECT_NEAR(motion_of(sim, "rocket").velocity.y(), 2.0 / 3 * (1 - std::cos(3.0)), 1e-5);
}

TEST(Kinematic, ByPositionIsWhereItSaysAtEveryStep) {
  for (const char* scheme : {"stabilized", "trapezoid", "spook"}) {
    const Scene scene = scene_of(std::string(R"yaml(
bodies:
  - {name: cam, kinematic: {position: ["0.2*sin(3*t)", 1, "t^2"], angle_deg: "90*t", axis: [0, 0, 1]}, shapes: [{box: {size: [1, 1, 1]}}]}
  - {name: rider, mass: 1, position: [0, 1, 0.6], shapes: [{box: {size: [0.2, 0.2, 0.2]}}]}
simulation: {step: 1/100, scheme: )yaml") +
                                 scheme + "}\n");
    Simulation sim(scene);
    for (int k = 0; k < 150; ++k) {
      sim.step();
      const double t = sim.state().time;
      const WorldMotion cam = motion_of(sim, "cam");
      ASSERT_NEAR((cam.pose.position - Vec3(0.2 * std::sin(3 * t), 1, t * t)).norm(), 0, 1e-12) << scheme;
      const double angle = 2 * std::atan2(cam.pose.orientation.z(), cam.pose.orientation.w());
      ASSERT_NEAR(angle, std::numbers::pi / 2 * t, 1e-12) << scheme;
    }
    EXPECT_NEAR(motion_of(sim, "cam").velocity.z(), 3, 0.02) << scheme;
    EXPECT_NEAR(motion_of(sim, "rider").pose.position.z(), 1.5 * 1.5 + 0.6, 1e-3) << scheme;
  }
}

TEST(Belts, CarryABoxAfterVOverMuG) {
  for (const char* scheme : {"stabilized", "trapezoid", "spook", "euler"}) {
    Scene scene = shipped_scene("conveyor.yaml");
    scene.options.scheme = scheme;
    Simulation sim(scene);
    const double slips = 1.5 / (0.4 * 9.81), h = scene.options.step;
    double rides = 0, work = 0, friction = 0;
    while (sim.state().time < 1) {
      ASSERT_TRUE(sim.step().certified) << scheme;
      if (rides == 0 && std::abs(sim.sensor("slip").value()) < 1e-6) rides = sim.state().time;
      const StepReport& report = sim.step();
      work += report.certificate.ledger.kinematic;
      friction += report.certificate.ledger.friction;
      if (rides == 0 && std::abs(sim.sensor("slip").value()) < 1e-6) rides = sim.state().time;
    }
    EXPECT_NEAR(rides, slips, 2 * h) << scheme;
    const WorldMotion box = motion_of(sim, "box");
    EXPECT_NEAR(box.velocity.x(), 1.5, 1e-6) << scheme;
    EXPECT_NEAR(box.pose.position.x(), 1.5 * 1 - 1.5 * slips / 2, 1.5 * h) << scheme;
  }
}

TEST(Belts, PayForWhatTheyDo) {
  // Half of the belt's work becomes motion, half heat; the ledger has no remainder.
  Simulation sim(shipped_scene("conveyor.yaml"));
  double work = 0, friction = 0, rest = 0;
  while (sim.state().time < 1) {
    const EnergyLedger& ledger = sim.step().certificate.ledger;
    work += ledger.kinematic;
    friction += ledger.friction;
    rest += std::abs(ledger.numerical);
  }
  EXPECT_NEAR(work, 3 * 1.5 * 1.5, 1e-6);
  EXPECT_NEAR(friction, -0.5 * 3 * 1.5 * 1.5, 1e-2);
  EXPECT_LT(rest, 1e-6);
}

}  // namespace
}  // namespace slipstick
