// Isolated systems keep their momentum and angular momentum to rounding, whatever acts between their bodies, in every
// scheme. SLIPSTICK_MOMENTUM: how many random scenes (50), each for ten seconds; otherwise a few short ones.
// SLIPSTICK_MOMENTUM_FIRST: with which to begin, so that they may be run in pieces.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "base/se3.h"
#include "support/simulate.h"

namespace slipstick {
namespace {

struct Momentum {
  Vec3 linear = Vec3::Zero(), angular = Vec3::Zero();
  double linear_size = 0, angular_size = 0;  ///< of the terms that may cancel
};

Momentum calc_momentum(const Simulation& simulation) {
  Momentum sum;
  const State& state = simulation.state();
  for (std::size_t i = 0; i < state.pose.size(); ++i) {
    const Body& body = simulation.model().bodies[i];
    const Vec3 p = body.mass * state.velocity[i].linear;
    const Vec3 orbit = state.pose[i].position.cross(p);
    const Vec3 spin = state.pose[i].orientation * (body.inertia * state.velocity[i].angular);
    sum.linear += p;
    sum.angular += orbit + spin;
    sum.linear_size += p.norm();
    sum.angular_size += orbit.norm() + spin.norm();
  }
  return sum;
}

class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}
  double number(double from, double to) {
    return from + (to - from) * static_cast<double>(engine_()) / static_cast<double>(std::mt19937::max());
  }
  std::string vector(double size) {
    return "[" + std::to_string(number(-size, size)) + ", " + std::to_string(number(-size, size)) + ", " +
           std::to_string(number(-size, size)) + "]";
  }

 private:
  std::mt19937 engine_;
};

/// Six bodies: two that fly at each other, two joined, two on a spring; and springs from group to group.
std::string make_isolated(unsigned seed, const std::string& scheme) {
  Dice dice(seed);
  const auto number = [&](double from, double to) { return std::to_string(dice.number(from, to)); };
  std::string text = "gravity: [0, 0, 0]\nmaterials: {default: {friction: " + number(0.1, 0.8) +
                     ", restitution: " + number(0, 0.8) + "}}\nbodies:\n";
  const char* const joints[] = {"ball", "hinge", "fixed", "slider", "universal", "rod"};
  for (int i = 0; i < 6; ++i) {
    const double x = i % 2 == 0 ? -0.4 : 0.4, y = 1.5 * (i / 2);
    text += "  - {name: b" + std::to_string(i) + ", mass: " + number(0.5, 3) + ", position: [" + std::to_string(x) +
            ", " + std::to_string(y) + ", " + number(-0.1, 0.1) + "], angular_velocity: " + dice.vector(3) +
            ", velocity: [" + std::to_string(i < 2 ? -2 * x : 0.0) + ", " + number(-0.2, 0.2) + ", " +
            number(-0.2, 0.2) + "], shapes: [{" +
            (i % 3 == 0 ? "sphere: {radius: 0.2}" : "box: {size: [0.3, 0.2, 0.4]}") + "}]}\n";
  }
  const std::string kind = joints[seed % 6];
  text += "joints:\n  - {" + kind + ": {between: [b2, b3], at: ";
  if (kind == "rod") {
    text += "[[-0.3, 1.5, 0], [0.3, 1.6, 0.1]]";
  } else {
    text += "[0, 1.5, 0]";
  }
  if (kind == "hinge" || kind == "slider") text += ", axis: [0.6, 0, 0.8]";
  if (kind == "universal") text += ", axis: [0.6, 0, 0.8], axis_b: [0, 1, 0]";
  text += "}}\nforces:\n";
  const auto spring = [&](int a, int b, const std::string& rest) {
    text += "  - {spring: {between: [b" + std::to_string(a) + ", b" + std::to_string(b) + "], at: [[-0.3, " +
            std::to_string(1.5 * (a / 2)) + ", 0], [0.3, " + std::to_string(1.5 * (b / 2)) +
            ", 0]], stiffness: " + number(2, 50) + ", damping: " + number(0, 2) + rest + "}}\n";
  };
  spring(4, 5, "");
  spring(4, 3, ", rest_length: 0.5");
  spring(2, 1, ", rest_length: 0");
  return text + "simulation: {step: 0.005, scheme: " + scheme + "}\n";
}

/// Largest changes, relative to the sizes at the start.
void expect_kept(const std::string& text, double duration, const std::string& what) {
  Simulation simulation = test::simulation_of(test::scene_of(text));
  const Momentum start = calc_momentum(simulation);
  const long steps = std::lround(duration / simulation.options().step);
  bool touched = false;
  for (long k = 0; k < steps; ++k) {
    ASSERT_FALSE(simulation.step().failed) << what;
    touched = touched || !simulation.contact_forces().empty() || !simulation.events().empty();
  }
  const Momentum end = calc_momentum(simulation);
  EXPECT_LT((end.linear - start.linear).norm(), 1e-10 * start.linear_size) << what;
  EXPECT_LT((end.angular - start.angular).norm(), 1e-10 * start.angular_size) << what;
  EXPECT_TRUE(touched) << what << ": nothing collided";
}

/// A contact opens 7 us after the beginning of a step. What the joint does in that time, taken for what it does in a
/// whole step, made its bodies count as heavily loaded links, whose angular momentum is not kept.
TEST(Momentum, WhatAJointDoesInAShortPartIsNoLoad) {
  expect_kept(make_isolated(40, "{stabilized: {locate: true}}"), 2.2, "scene 40");
}

TEST(Momentum, OfIsolatedSystemsIsKept) {
  const char* asked = std::getenv("SLIPSTICK_MOMENTUM");
  const char* begin = std::getenv("SLIPSTICK_MOMENTUM_FIRST");
  const unsigned count = asked ? std::atoi(asked) : 3, first = begin ? std::atoi(begin) : 0;
  const double duration = asked ? 10 : 1;
  std::vector<std::string> schemes{"{alpha-gamma: {alpha: 0.7, gamma: 0.6}}", "{stabilized: {locate: true}}"};
  for (const std::string_view name : scheme_names()) schemes.emplace_back(name);
  for (unsigned seed = first; seed < first + count; ++seed)
    for (const std::string& scheme : schemes)
      expect_kept(make_isolated(seed, scheme), duration, scheme + ", scene " + std::to_string(seed));
}

}  // namespace
}  // namespace slipstick
