// Springs and dampers on the axes of joints: they swing for as long as they should, in every scheme and on every kind
// of axis, beside motors, on what contacts carry; those that the step cannot follow stay within their bounds.
#include <cmath>
#include <string>

#include "support/simulate.h"

namespace slipstick::test {
namespace {

const char* const kSchemes[] = {"stabilized", "euler", "trapezoid", "{stabilized: {locate: true}}", "spook"};

const std::string kArm = "  - {name: a, mass: 1, inertia: [0.02, 0.03, 0.04], position: [0.5, 0, 0]}\n";
const std::string kTwo =
    kArm + "  - {name: b, mass: 0.7, inertia: [0.01, 0.02, 0.015], position: [1.2, 0, 0], velocity: [0, 0, 0]}\n";
const std::string kPin = "  - {ball: {between: [world, a], at: [0, 0, 0]}}\n";

struct Case {
  const char* name;
  std::string bodies, joints;
};

/// Each of them swings freely: its energy stays.
std::vector<Case> list_cases() {
  const std::string motor =
      "  - {hinge: {between: [world, a], at: [0, 0, 0], axis: [0, 1, 0], motor: {speed: 0, max: 1e3}}}\n";
  const std::string base = "  - {name: base, mass: 5, inertia: [0.3, 0.3, 0.4], position: [0, 0, 0.5]}\n";
  return {
      {"hinge", kArm, "  - {hinge: {between: [world, a], at: [0, 0, 0], axis: [0, 1, 0], stiffness: 20}}\n"},
      {"wound", kArm, "  - {hinge: {between: [world, a], at: [0, 0, 0], axis: [0, 1, 0], stiffness: 5, rest: 7}}\n"},
      {"hinge in a chain", kTwo,
       kPin + "  - {hinge: {between: [a, b], at: [0.9, 0, 0], axis: [0, 1, 0], stiffness: 15}}\n"},
      {"slider", kArm, "  - {slider: {between: [world, a], axis: [0, 0, 1], stiffness: 300}}\n"},
      {"slider in a chain", kTwo, kPin + "  - {slider: {between: [a, b], axis: [1, 0, 0], stiffness: 200}}\n"},
      {"universal", kTwo,
       kPin + "  - {universal: {between: [a, b], at: [0.9, 0, 0], axis: [0, 0, 1], axis_b: [0, 1, 0], first: "
              "{stiffness: 8}, second: {stiffness: 12}}}\n"},
      {"planar", kTwo,
       kPin + "  - {planar: {between: [a, b], at: [0.9, 0, 0], normal: [0, 1, 0], x_axis: [1, 0, 0], x: {stiffness: "
              "200}, y: {stiffness: 150}, turn: {stiffness: 5}}}\n"},
      {"cylindrical", kTwo,
       kPin +
           "  - {cylindrical: {between: [a, b], at: [0.9, 0, 0], axis: [0.6, 0, 0.8], slide: {stiffness: 200}, turn: "
           "{stiffness: 3}}}\n"},
      {"rod", kArm, "  - {rod: {between: [world, a], at: [[0, 0, 1], [0.6, 0, 0]], stiffness: 300, rest: 1.2}}\n"},
      {"suspension", base + "  - {name: a, mass: 1, inertia: [0.02, 0.03, 0.04], position: [0, 0.5, 0]}\n",
       "  - {slider: {between: [world, base], axis: [0, 0, 1], stiffness: 900}}\n"
       "  - {wheel: {between: [base, a], at: [0, 0.5, 0], axis: [0, 1, 0], up: [0, 0, 1], suspension: {stiffness: "
       "600}}}\n"},
      {"beside a motor that holds", kTwo,
       motor + "  - {hinge: {between: [a, b], at: [0.9, 0, 0], axis: [0, 1, 0], stiffness: 15}}\n"},
      {"on a joint with dry friction that holds", kTwo,
       "  - {hinge: {between: [world, a], at: [0, 0, 0], axis: [0, 1, 0], friction: 1e3}}\n"
       "  - {hinge: {between: [a, b], at: [0.9, 0, 0], axis: [0, 1, 0], stiffness: 15}}\n"},
  };
}

double total_of(const Simulation& simulation) {
  const EnergySplit energy = simulation.energy();
  return energy.kinetic + energy.potential;
}

double mean_energy(Simulation* simulation, double until) {
  double sum = 0;
  int count = 0;
  for (; simulation->state().time < until - 1e-9; ++count) {
    EXPECT_TRUE(simulation->step().certified);
    sum += total_of(*simulation);
  }
  return sum / count;
}

TEST(AxisSprings, SwingOn) {
  for (const Case& each : list_cases())
    for (const std::string scheme : kSchemes) {
      // Thirty rad/s on a hinge are beyond what its joints keep the energy of.
      if (scheme == "spook" && each.name == std::string("wound")) continue;
      const double duration = scheme == "stabilized" ? 20 : 6;
      const std::string text =
          "bodies:\n" + each.bodies + "joints:\n" + each.joints + "simulation: {step: 1/200, scheme: " + scheme + "}\n";
      Simulation simulation = simulation_of(scene_of(text));
      const double start = total_of(simulation);
      double moving = 0;
      while (simulation.state().time < 2) {
        simulation.step();
        moving = std::max(moving, simulation.energy().kinetic);
      }
      run_until(duration - 2, &simulation);
      const double end = mean_energy(&simulation, duration);
      EXPECT_LT(std::abs(end - start), (scheme == "spook" ? 0.06 : 0.01) * moving) << each.name << ", " << scheme;
    }
}

/// x'' = -k x - d x' on a slider, and the same about a hinge, against the closed form.
TEST(AxisSprings, DampersAreOfSecondOrder) {
  for (const char* joint : {"slider: {between: [world, a], axis: [1, 0, 0], rest: 0.1,",
                            "hinge: {between: [world, a], at: [0, 0, 0], axis: [1, 0, 0], rest: 0.1,"})
    for (const char* scheme : {"stabilized", "euler", "trapezoid"}) {
      double last = 0;
      for (const int rate : {25, 50, 100}) {
        const std::string text =
            "gravity: [0, 0, 0]\nbodies:\n  - {name: a, mass: 1, inertia: [1, 1, 1], position: [0, 0, 0]}\njoints:\n"
            "  - {" +
            std::string(joint) + " stiffness: 40, damping: 1.5}}\nsimulation: {step: 1/" + std::to_string(rate) +
            ", scheme: " + scheme + "}\n";
        Simulation simulation = simulation_of(scene_of(text));
        run_until(2, &simulation);
        const double decay = 0.75, w = std::sqrt(40 - decay * decay), t = 2;
        const double x = 0.1 - 0.1 * std::exp(-decay * t) * (std::cos(w * t) + decay / w * std::sin(w * t));
        const double error = std::abs(simulation.state().axis[0] - x);
        if (last > 0) {
          EXPECT_NEAR(last / error, 4, 0.8) << joint << " " << scheme << " " << error;
        }
        last = error;
      }
    }
}

/// An impulse of the spring at the end of a step is one of the axis, and of its joint.
TEST(AxisSprings, ForcesAreThoseOfTheElongation) {
  const std::string text =
      "gravity: [0, 0, 0]\nbodies:\n" + kArm +
      "joints:\n  - {slider: {name: j, between: [world, a], axis: [1, 0, 0], rest: 0.1, stiffness: 40}}\n"
      "simulation: {step: 1/1000}\n";
  Simulation simulation = simulation_of(scene_of(text));
  double momentum = 0;
  for (int k = 0; k < 200; ++k) {
    const double before = simulation.state().axis[0];
    simulation.step();
    const double force = simulation.joint("j").axes[0].spring, mean = (before + simulation.state().axis[0]) / 2;
    EXPECT_NEAR(force, 40 * (0.1 - mean), 1e-9);
    EXPECT_NEAR(simulation.joint("j").reaction_force.x(), force, 1e-9);
    momentum += force / 1000;
  }
  EXPECT_NEAR(simulation.state().velocity[0].linear.x(), momentum, 1e-12);
}

/// What the step cannot follow is implicit: it never has more energy than it began with.
TEST(AxisSprings, StiffOnesStayBounded) {
  for (const char* scheme : {"stabilized", "euler", "{stabilized: {locate: true}}"})
    for (const double stiffness : {1e2, 1e3, 1e4, 1e5, 1e7})
      for (const double damping : {0.0, 1.0, 1e3}) {
        const std::string text =
            "bodies:\n" + kTwo + "joints:\n" + kPin +
            "  - {hinge: {between: [a, b], at: [0.9, 0, 0], axis: [0, 1, 0], rest: 0.1, stiffness: " +
            std::to_string(stiffness) + ", damping: " + std::to_string(damping) +
            "}}\nsimulation: {step: 1/100, scheme: " + scheme + "}\n";
        Simulation simulation = simulation_of(scene_of(text));
        const double start = total_of(simulation), moving = 10;
        for (int k = 0; k < 300; ++k) {
          EXPECT_TRUE(simulation.step().certified);
          ASSERT_LT(total_of(simulation), start + 0.02 * std::max(moving, std::abs(start)))
              << scheme << " " << stiffness << " " << damping << " step " << k;
        }
      }
}

}  // namespace
}  // namespace slipstick::test
