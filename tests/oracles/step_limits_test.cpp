// Where a step reaches its limits: shafts that turn by more than half a turn in it, joints that come apart in it,
// places whose last digit is larger than rounding may be.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "support/simulate.h"

namespace slipstick::test {
namespace {

const char* const kAnyScheme[] = {"stabilized", "euler", "trapezoid", "{stabilized: {locate: true}}", "spook"};

double energy_of(const Simulation& simulation) {
  const EnergySplit energy = simulation.energy();
  return energy.kinetic + energy.potential;
}

std::string one_body(const std::string& bodies, const std::string& joints, const std::string& scheme) {
  return "bodies:\n" + bodies + "joints:\n" + joints + "simulation: {step: 1/100, scheme: " + scheme + "}\n";
}

/// A shaft may turn by more than half a turn in a step: its coordinate counts them.
TEST(TurnCount, OfAFastShaft) {
  for (const std::string scheme : kAnyScheme)
    for (const double rate : {20.0, 300.0, 500.0, 3000.0}) {
      const std::string bodies =
          "  - {name: a, mass: 1, inertia: [0.02, 0.02, 0.02], position: [0, 0, 0], "
          "angular_velocity: [0, 0, " +
          std::to_string(rate) + "]}\n";
      const std::string joints =
          "  - {hinge: {between: [world, a], at: [0, 0, 0], axis: [0, 0, 1], limits: [-1e9, "
          "1e9]}}\n";
      Simulation simulation = simulation_of(scene_of(one_body(bodies, joints, scheme)));
      run_until(1, &simulation);
      EXPECT_NEAR(simulation.state().axis[0], rate, 1e-6 * rate) << scheme;
    }
}

/// A screw on its thread, flung: m a = m g - I (2 pi/pitch)^2 a for as long as one likes, at more than a turn in a
/// step.
TEST(TurnCount, OfAFallingScrew) {
  const std::string bodies = "  - {name: a, mass: 1, inertia: [0.01, 0.01, 0.01], position: [0, 0, 0]}\n";
  const std::string joints = "  - {screw: {between: [world, a], at: [0, 0, 0], axis: [0, 0, 1], pitch: 0.4}}\n";
  const double k = 2 * std::numbers::pi / 0.4, a = 9.81 / (1 + 0.01 * k * k);
  for (const std::string scheme : kAnyScheme) {
    Simulation simulation = simulation_of(scene_of(one_body(bodies, joints, scheme)));
    run_until(20, &simulation);
    EXPECT_NEAR(simulation.state().pose[0].position.z(), -a / 2 * 400, 0.01 * a / 2 * 400) << scheme;
    EXPECT_NEAR(energy_of(simulation), 0, 0.01 * simulation.energy().kinetic) << scheme;
  }
}

/// What a step cannot do is not certified: a screw on a swinging arm that turns too far in a step to hold together.
TEST(Torn, WhatComesApartIsNotCertified) {
  for (const char* pitch : {"1", "4"}) {
    const std::string text = std::string("let: {p: ") + pitch + R"yaml(}
bodies:
  - {name: a, mass: 1, inertia: [0.02, 0.03, 0.04], position: [0.5, 0, 0], velocity: [1, -1.2, 0.3], angular_velocity: [1, 2, -4]}
  - {name: b, mass: 0.7, inertia: [0.01, 0.02, 0.015], position: [1.2, 0, 0], velocity: [0, 1, 2], angular_velocity: [1, 2, -3]}
joints:
  - {ball: {name: pin, between: [world, a], at: [0, 0, 0]}}
  - {screw: {name: j, between: [a, b], at: [0.9, 0, 0], axis: [0.6, 0, 0.8], pitch: p}}
simulation: {step: 1/100, scheme: spook}
)yaml";
    Simulation simulation = simulation_of(scene_of(text));
    double worst = 0;
    for (int k = 0; k < 1200; ++k) {
      const StepReport& report = simulation.step();
      if (report.certified) worst = std::max(worst, report.certificate.joint_error);
      if (report.failed) break;
    }
    EXPECT_LT(worst, 0.51) << pitch;
  }
}

/// At 1e9 m from the origin the last digit of a place is 1e-7 m: more of a body of 10 cm than rounding may be.
TEST(FarAway, IsNotCertified) {
  for (const char* scheme : kAnyScheme)
    for (const double x : {1e3, 1e6, 1e9, 1e12}) {
      const std::string text =
          "bodies:\n  - {name: a, mass: 1, position: [" + std::to_string(x) +
          ", 0, 0], shapes: [{box: {size: [0.1, 0.1, 0.1]}}]}\nsimulation: {step: 1/100, scheme: " +
          std::string(scheme) + "}\n";
      Simulation simulation = simulation_of(scene_of(text));
      EXPECT_EQ(simulation.step().certified, x < 1e7) << scheme << " " << x;
    }
}

}  // namespace
}  // namespace slipstick::test
