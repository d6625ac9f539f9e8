// Bodies that nothing touches: the exact parabola in every scheme, at every step length, in parts and divided steps;
// velocities of the same instant as the poses; loads that change with time and place at second order.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <random>

#include "base/se3.h"
#include "support/simulate.h"

namespace slipstick {
namespace {

const char* const kFlying[] = {"stabilized", "spook", "euler", "trapezoid", "{stabilized: {locate: true}}"};

std::string number(double x) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.17g", x);
  return text.data();
}

std::string vector(const Vec3& v) { return "[" + number(v.x()) + ", " + number(v.y()) + ", " + number(v.z()) + "]"; }

/// Largest |x - exact| and |v - exact| after each of the steps.
void expect_parabola(Simulation simulation, const char* body, const Vec3& acceleration, int steps,
                     const std::string& what) {
  const int i = *simulation.model().find_body(body);
  const Vec3 x0 = simulation.state().pose[i].position, v0 = simulation.state().velocity[i].linear;
  for (int k = 0; k < steps; ++k) {
    ASSERT_TRUE(simulation.step().certified) << what;
    const double t = simulation.state().time;
    const Vec3 x = x0 + t * v0 + t * t / 2 * acceleration, v = v0 + t * acceleration;
    const double size = x0.norm() + t * v0.norm() + t * t * acceleration.norm();
    ASSERT_LT((simulation.state().pose[i].position - x).norm(), 1e-13 * (1 + k) * size) << what << ", step " << k;
    ASSERT_LT((simulation.state().velocity[i].linear - v).norm(), 1e-13 * (1 + k) * (v.norm() + v0.norm()) + 1e-14)
        << what << ", step " << k;
  }
}

TEST(Flight, IsTheExactParabolaForEveryForceAndStep) {
  std::mt19937 engine(7);
  const auto dice = [&](double size) {
    return size * (2 * static_cast<double>(engine()) / static_cast<double>(std::mt19937::max()) - 1);
  };
  const auto dice3 = [&](double size) { return Vec3(dice(size), dice(size), dice(size)); };
  for (int k = 0; k < 20; ++k) {
    const Vec3 gravity = dice3(10), force = dice3(30);
    const double mass = 0.5 + std::abs(dice(3)), h = std::exp(dice(3)) * 0.01;
    for (const char* scheme : kFlying) {
      const std::string text = "gravity: " + vector(gravity) + "\nbodies:\n  - {name: b, mass: " + number(mass) +
                               ", inertia: [1, 2, 2.5], position: " + vector(dice3(2)) +
                               ", velocity: " + vector(dice3(5)) + ", angular_velocity: " + vector(dice3(3)) +
                               "}\nforces:\n  - {load: {body: b, force: " + vector(force) +
                               "}}\nsimulation: {step: " + number(h) + ", scheme: " + scheme + "}\n";
      expect_parabola(test::simulation_of(test::scene_of(text)), "b", gravity + force / mass, 100, scheme);
    }
  }
}

/// Something else makes the step a chain of parts: a ball that bounces (events), a spinning rod that closes on a plate
/// (divided steps).
TEST(Flight, IsTheExactParabolaThroughPartsOfSteps) {
  const char* const others[] = {"{name: other, mass: 1, position: [0, 0, 0.3], shapes: [{sphere: {radius: 0.1}}]}",
                                "{name: other, mass: 1, position: [0, 0, 1], velocity: [0, 0, -3], angular_velocity: "
                                "[0, 60, 0], shapes: [{box: {size: "
                                "[1, 0.05, 0.05]}}]}"};
  for (const char* other : others) {
    for (const char* scheme : kFlying) {
      const std::string text =
          std::string(
              "materials: {default: {friction: 0.3, restitution: 0.7}}\nbodies:\n"
              "  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
              "  - {name: b, mass: 1, position: [5, 0, 100], velocity: [1, 2, 3], shapes: [{sphere: {radius: 0.1}}]}\n"
              "  - ") +
          other + "\nsimulation: {step: 1/100, scheme: " + scheme + "}\n";
      Simulation simulation = test::simulation_of(test::scene_of(text));
      int parts = 0;
      for (int k = 0; k < 100; ++k) {
        const StepReport& report = simulation.step();
        parts += report.divisions + report.events;
      }
      if (std::string(scheme) != "stabilized" || other == others[1]) {
        EXPECT_GT(parts, 0) << scheme;
      }
      const double t = simulation.state().time;
      const Vec3 x(5 + t, 2 * t, 100 + 3 * t - 9.81 * t * t / 2), v(1, 2, 3 - 9.81 * t);
      EXPECT_LT((simulation.state().pose[1].position - x).norm(), 1e-11) << scheme;
      EXPECT_LT((simulation.state().velocity[1].linear - v).norm(), 1e-11) << scheme;
    }
  }
}

/// Forces of inputs hold for a step each: the velocity at its end has all of it, that of the next step none.
TEST(Flight, InputsActForTheirStepAlone) {
  for (const char* scheme : kFlying) {
    const std::string text =
        std::string(
            "gravity: [0, 0, 0]\nbodies:\n  - {name: b, mass: 2, inertia: [1, 1, 1], position: [0, 0, 1]}\n"
            "simulation: {step: 1/10, scheme: ") +
        scheme + "}\n";
    Simulation simulation = test::simulation_of(test::scene_of(text));
    Inputs inputs = simulation.inputs();
    inputs.force("b", Vec3(4, 0, 0));
    simulation.step(inputs);
    EXPECT_NEAR(simulation.state().velocity[0].linear.x(), 0.2, 1e-14) << scheme;
    EXPECT_NEAR(simulation.state().pose[0].position.x(), 0.01, 1e-14) << scheme;
    simulation.step();
    EXPECT_NEAR(simulation.state().velocity[0].linear.x(), 0.2, 1e-14) << scheme;
    EXPECT_NEAR(simulation.state().pose[0].position.x(), 0.03, 1e-14) << scheme;
  }
}

/// m x'' = 10 cos(3 t), at t = 1: x = 10/9 (1 - cos 3), v = 10/3 sin 3.
TEST(Flight, LoadsOverTimeAreOfSecondOrder) {
  for (const char* scheme : {"stabilized", "spook", "euler"}) {
    double last = 0;
    for (const int steps : {20, 40, 80}) {
      const std::string text =
          "gravity: [0, 0, 0]\nbodies:\n  - {name: b, mass: 1, inertia: [1, 1, 1]}\nforces:\n  - {load: {body: b, "
          "force: [\"10*cos(3*t)\", 0, 0]}}\nsimulation: {step: 1/" +
          std::to_string(steps) + ", scheme: " + scheme + "}\n";
      Simulation simulation = test::simulation_of(test::scene_of(text));
      for (int k = 0; k < steps; ++k) simulation.step();
      const double x = simulation.state().pose[0].position.x(), v = simulation.state().velocity[0].linear.x();
      const double error = std::abs(x - 10.0 / 9 * (1 - std::cos(3.0))) + std::abs(v - 10.0 / 3 * std::sin(3.0));
      if (last > 0) {
        EXPECT_NEAR(last / error, 4, 0.1) << scheme;
      }
      last = error;
    }
    EXPECT_LT(last, 1e-3) << scheme;
  }
}

/// What lies on the floor reads zero, what slides its exact deceleration, from the first step on; a ball that is thrown
/// up from the floor flies like any other.
TEST(Flight, WhatTouchesIsAsItWas) {
  for (const char* scheme : {"stabilized", "spook", "euler"}) {
    const std::string text =
        std::string(
            "materials: {default: {friction: 0.5, restitution: 0}}\nbodies:\n"
            "  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
            "  - {name: still, mass: 1, position: [0, 5, 0.1], shapes: [{box: {size: [0.2, 0.2, 0.2]}}]}\n"
            "  - {name: block, mass: 2, position: [0, 0, 0.1], velocity: [2, 0, 0], shapes: [{box: {size: [4, 4, "
            "0.2]}}]}\n"
            "  - {name: ball, mass: 1, position: [0, -5, 0.1], velocity: [0, 0, 4], shapes: [{sphere: {radius: "
            "0.1}}]}\n"
            "simulation: {step: 1/100, scheme: ") +
        scheme + "}\n";
    Simulation simulation = test::simulation_of(test::scene_of(text));
    for (int k = 0; k < 30; ++k) {
      const StepReport& report = simulation.step();
      ASSERT_TRUE(report.certified) << scheme;
      EXPECT_LT(report.certificate.ledger.change, 1e-9) << scheme;
      const double t = simulation.state().time;
      const State& state = simulation.state();
      EXPECT_LT(state.velocity[1].linear.norm() + state.velocity[1].angular.norm(), 1e-9) << scheme << " " << k;
      EXPECT_NEAR(state.velocity[2].linear.x(), 2 - 0.5 * 9.81 * t, 1e-7) << scheme << " " << k;
      EXPECT_NEAR(state.velocity[3].linear.z(), 4 - 9.81 * t, 1e-12) << scheme << " " << k;
      EXPECT_NEAR(state.pose[3].position.z(), 0.1 + 4 * t - 9.81 * t * t / 2, 1e-12) << scheme << " " << k;
    }
  }
}

double calc_total(const Simulation& simulation) { return simulation.energy().kinetic + simulation.energy().potential; }

/// Two bodies on a spring that tumble through space with a third one on a pendulum spring: energies within h^2.
TEST(Flight, SpringsAreOfSecondOrder) {
  for (const char* scheme : {"stabilized", "euler"}) {
    double last = 0;
    for (const int rate : {50, 100, 200}) {
      const std::string text =
          "bodies:\n"
          "  - {name: a, mass: 1, inertia: [0.1, 0.2, 0.25], position: [0, 0, 5], velocity: [0, 1, 0], "
          "angular_velocity: "
          "[1, 2, 0.5]}\n"
          "  - {name: b, mass: 2, inertia: [0.3, 0.2, 0.2], position: [1, 0, 5], velocity: [0, -1, 0.5]}\n"
          "  - {name: c, mass: 1, inertia: [0.1, 0.1, 0.1], position: [1, 0, 0], velocity: [0, 1, 0]}\n"
          "forces:\n"
          "  - {spring: {between: [a, b], at: [[0.1, 0.1, 5], [0.9, 0, 5.1]], stiffness: 30, rest_length: 0.7}}\n"
          "  - {spring: {between: [a, b], at: [[0, 0, 5.1], [1, 0.1, 5]], stiffness: 5}}\n"
          "  - {spring: {between: [world, c], at: [[0, 0, 0], [1, 0, 0]], stiffness: 50, rest_length: 1}}\n"
          "simulation: {step: 1/" +
          std::to_string(rate) + ", scheme: " + scheme + "}\n";
      Simulation simulation = test::simulation_of(test::scene_of(text));
      const double start = calc_total(simulation);
      double worst = 0;
      for (int k = 0; k < 5 * rate; ++k) {
        simulation.step();
        worst = std::max(worst, std::abs(calc_total(simulation) - start));
      }
      if (last > 0) {
        EXPECT_NEAR(last / worst, 4, 0.4) << scheme << " " << worst;
      }
      last = worst;
    }
    EXPECT_LT(last, 5e-3) << scheme;
  }
}

/// A damped oscillator against its closed form; one that the step cannot follow is damped, and nothing blows up.
TEST(Flight, DampersAreOfSecondOrder) {
  const auto run = [](const std::string& scheme, double stiffness, double damping, int rate, double duration) {
    const std::string text =
        "gravity: [0, 0, 0]\nbodies:\n  - {name: b, mass: 1, inertia: [1, 1, 1], position: [1.1, 0, 0]}\nforces:\n  - "
        "{spring: {between: [world, b], at: [[0, 0, 0], [1.1, 0, 0]], rest_length: 1, stiffness: " +
        number(stiffness) + ", damping: " + number(damping) + "}}\nsimulation: {step: 1/" + std::to_string(rate) +
        ", scheme: " + scheme + "}\n";
    Simulation simulation = test::simulation_of(test::scene_of(text));
    for (int k = 0; k < std::lround(duration * rate); ++k) simulation.step();
    return simulation.state();
  };
  for (const char* scheme : {"stabilized", "euler"}) {
    double last = 0;
    for (const int rate : {25, 50, 100}) {
      const State end = run(scheme, 40, 1.5, rate, 2);
      const double decay = 0.75, w = std::sqrt(40 - decay * decay), t = 2;
      const double x = 0.1 * std::exp(-decay * t) * (std::cos(w * t) + decay / w * std::sin(w * t));
      const double v = -0.1 * std::exp(-decay * t) * 40 / w * std::sin(w * t);
      const double error = std::abs(end.pose[0].position.x() - 1 - x) * w + std::abs(end.velocity[0].linear.x() - v);
      if (last > 0) {
        EXPECT_NEAR(last / error, 4, 0.8) << scheme << " " << error;
      }
      last = error;
    }
    for (const double stiffness : {1e4, 1e6, 1e9, 1e12})
      for (const double damping : {0.0, 1e2, 1e5}) {
        const State end = run(scheme, stiffness, damping, 50, 4);
        EXPECT_LT(std::abs(end.pose[0].position.x() - 1), 0.1) << scheme << " " << stiffness << " " << damping;
        EXPECT_LT(std::abs(end.velocity[0].linear.x()), 0.01) << scheme << " " << stiffness << " " << damping;
      }
  }
}

}  // namespace
}  // namespace slipstick
