// Ends of ranges that push, taut ropes among them, are rigid joints for as long as they do: nothing is lost on them,
// they let go by themselves, and what runs into them loses what a plastic impact takes.
#include <cmath>
#include <string>

#include "support/simulate.h"

namespace slipstick::test {
namespace {

const char* const kRangeSchemes[] = {"stabilized", "euler", "trapezoid", "{stabilized: {locate: true}}", "spook"};

double total_energy(const Simulation& simulation) {
  const EnergySplit energy = simulation.energy();
  return energy.kinetic + energy.potential;
}

std::string scene_with(const std::string& bodies, const std::string& joints, const std::string& scheme,
                       const std::string& step = "1/100") {
  return "bodies:\n" + bodies + "joints:\n" + joints + "simulation: {step: " + step + ", scheme: " + scheme + "}\n";
}

const std::string kRope = "  - {rope: {name: j, between: [world, a], at: [[0, 0, 0], [0.6, 0, -0.8]], length: 1}}\n";

/// On a cone, wild, with an arm, between two bodies that whirl, in a chain of ropes: the energy stays for 20 s.
TEST(Ranges, TautRopesKeepTheEnergy) {
  const std::string bob = "  - {name: a, mass: 1, inertia: [0.02, 0.03, 0.04], position: [0.6, 0, -0.8], velocity: ";
  const std::string second =
      "  - {name: b, mass: 0.5, inertia: [0.01, 0.01, 0.01], position: [1.2, 0, -1.6], velocity: ";
  const std::string arm =
      "  - {name: a, mass: 1, inertia: [0.02, 0.03, 0.04], position: [0.65, 0.05, -0.85], velocity: [0, 3, 0]}\n";
  const std::string whirl =
      "  - {name: a, mass: 1, inertia: [0.02, 0.03, 0.04], position: [0.5, 0, 0], velocity: [0, 2, 0.5], "
      "gravity_scale: "
      "0}\n  - {name: b, mass: 0.5, inertia: [0.02, 0.03, 0.04], position: [-0.5, 0, 0], velocity: [0, -2, 0.5], "
      "gravity_scale: 0}\n";
  struct Case {
    const char* name;
    std::string bodies, joints;
  };
  const Case cases[] = {
      {"conical", bob + "[0, 2.4, 0]}\n", kRope},
      {"wild", bob + "[-0.8, 4.4, -0.6]}\n", kRope},
      {"with an arm", arm, kRope},
      {"between bodies", whirl, "  - {rope: {between: [a, b], length: 1}}\n"},
      {"with a rod", bob + "[0, 2.4, 0]}\n" + second + "[0, 4.8, 0]}\n", kRope + "  - {rod: {between: [a, b]}}\n"},
  };
  for (const Case& each : cases)
    for (const std::string scheme : kRangeSchemes) {
      if (scheme == "spook" && each.name == std::string("with a rod")) continue;  // half of it, whatever the joints
      Simulation simulation = simulation_of(scene_of(scene_with(each.bodies, each.joints, scheme, "1/200")));
      const double start = total_energy(simulation), moving = simulation.energy().kinetic;
      run_until(20, &simulation);
      EXPECT_LT(std::abs(total_energy(simulation) - start), (scheme == "spook" ? 0.03 : 0.01) * moving)
          << each.name << ", " << scheme;
    }
}

/// An elbow at its end is one rigid body: its energy stays, and a motor beside it changes nothing of that.
TEST(Ranges, ALockedElbowKeepsTheEnergy) {
  const std::string bodies =
      "  - {name: a, mass: 1, inertia: [0.02, 0.03, 0.04], position: [0.5, 0, 0], velocity: [0, 0, 1.5], "
      "angular_velocity: [0, -3, 0]}\n"
      "  - {name: b, mass: 0.7, inertia: [0.01, 0.02, 0.015], position: [1.2, 0, 0], velocity: [0, 0, 3.6], "
      "angular_velocity: [0, -3, 0]}\n";
  // Gravity off, a spring beyond the end keeps it there.
  const std::string joints =
      "  - {hinge: {between: [world, a], at: [0, 0, 0], axis: [0, 1, 0]}}\n"
      "  - {hinge: {between: [a, b], at: [0.9, 0, 0], axis: [0, 1, 0], limits: [-1, 0], stiffness: 5, rest: 2}}\n";
  for (const std::string scheme : {"stabilized", "euler", "trapezoid", "{stabilized: {locate: true}}"}) {
    Simulation simulation =
        simulation_of(scene_of("gravity: [0, 0, 0]\n" + scene_with(bodies, joints, scheme, "1/200")));
    const double start = total_energy(simulation);
    run_until(20, &simulation);
    EXPECT_NEAR(total_energy(simulation), start, 1e-3 * simulation.energy().kinetic) << scheme;
    EXPECT_NEAR(simulation.state().axis[1], 0, 1e-9) << scheme;
  }
}

/// A bob that falls into its rope loses what goes along it, then swings on; thrown up it lets go, and falls back.
TEST(Ranges, RopesGoTautAndSlack) {
  const std::string falls = "  - {name: a, mass: 1, inertia: [0.02, 0.03, 0.04], position: [0.6, 0, 0]}\n";
  const std::string rope = "  - {rope: {between: [world, a], at: [[0, 0, 0], [0.6, 0, 0]], length: 1}}\n";
  for (const std::string scheme : {"stabilized", "euler", "trapezoid", "{stabilized: {locate: true}}"}) {
    Simulation simulation = simulation_of(scene_of(scene_with(falls, rope, scheme, "1/400")));
    run_until(1, &simulation);
    // Falls by 0.8 m, then the rope takes cos^2 = 0.64 of m g 0.8.
    EXPECT_NEAR(total_energy(simulation), -0.64 * 9.81 * 0.8, 0.03) << scheme;
  }
  const std::string thrown =
      "  - {name: a, mass: 1, inertia: [0.02, 0.03, 0.04], position: [0, 0, -1], velocity: [5.5, 0, 0]}\n";
  const std::string long_rope = "  - {rope: {between: [world, a], at: [[0, 0, 0], [0, 0, -1]], length: 1}}\n";
  for (const std::string scheme : kRangeSchemes) {
    Simulation simulation = simulation_of(scene_of(scene_with(thrown, long_rope, scheme, "1/400")));
    // v^2 = 3.08 g: goes slack at the height (v^2/g - 2)/3 = 0.361 above the centre, and is inside the circle then.
    bool slack = false;
    while (simulation.state().time < 1) {
      ASSERT_TRUE(simulation.step().certified) << scheme;
      const Vec3& x = simulation.state().pose[0].position;
      EXPECT_LT(x.norm(), 1 + 1e-3) << scheme;
      if (!slack && x.norm() < 1 - 1e-3) {
        slack = true;
        EXPECT_NEAR(x.z(), 0.361, 0.2) << scheme;
      }
    }
    EXPECT_TRUE(slack) << scheme;
  }
}

/// m g along a rope that hangs, m (g + v^2/r) at the lowest point of a swing: of both ends of the step together.
TEST(Ranges, ForcesAreThoseOfTheRope) {
  const std::string body = "  - {name: a, mass: 2, inertia: [0.02, 0.03, 0.04], position: [0, 0, -1], velocity: [";
  const std::string rope = "  - {rope: {name: j, between: [world, a], at: [[0, 0, 0], [0, 0, -1]], length: 1}}\n";
  for (const std::string scheme : kRangeSchemes)
    for (const double speed : {0.0, 1.5}) {
      Simulation simulation =
          simulation_of(scene_of(scene_with(body + std::to_string(speed) + ", 0, 0]}\n", rope, scheme, "1/1000")));
      for (int k = 0; k < 10; ++k) simulation.step();
      const double expected = 2 * (9.81 + speed * speed);
      EXPECT_NEAR(simulation.joint("j").reaction_force.z(), expected, 0.01 * expected) << scheme << " " << speed;
      EXPECT_NEAR(simulation.joint("j").axes[0].limit, -expected, 0.01 * expected) << scheme << " " << speed;
      const BodyForces& all = simulation.body_forces()[0];
      EXPECT_NEAR(all.joint.force.z(), expected, 0.01 * expected) << scheme << " " << speed;
    }
}

}  // namespace
}  // namespace slipstick::test
