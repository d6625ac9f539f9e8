// A force that acts for a step gives exactly h times what was asked for, whatever the body does in it: rests, takes
// off, flies, lands, hangs on joints or springs; and so do torques and motors. In every scheme. SLIPSTICK_PUSHES: how
// many random pushes (some 700); SLIPSTICK_PUSHES_FIRST: with which scene to begin.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "support/simulate.h"

namespace slipstick {
namespace {

const char* const kPushedSchemes[] = {"stabilized",
                                      "spook",
                                      "euler",
                                      "trapezoid",
                                      "{alpha-gamma: {alpha: 0.7, gamma: 0.6}}",
                                      "{alpha-gamma: {alpha: 1, gamma: 1}}",
                                      "{stabilized: {locate: true}}",
                                      "{euler: {locate: false}}"};

std::string exact(double x) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.17g", x);
  return text.data();
}

std::string floor_of(double friction, double restitution) {
  return "materials: {default: {friction: " + exact(friction) + ", restitution: " + exact(restitution) +
         "}}\nbodies:\n  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n";
}

std::string end_of_scene(double h, const std::string& scheme) {
  return "simulation: {step: " + exact(h) + ", scheme: " + scheme + "}\n";
}

constexpr char kOther[] =
    "  - {name: other, mass: 9, position: [3, 0, 0.1], shapes: [{box: {size: [0.2, 0.2, 0.2]}}]}\n";

/// A body at rest is pushed off the floor for one step: it has the impulse, less what gravity has taken.
TEST(Push, OfABodyAtRestGivesWhatWasAskedFor) {
  for (const char* shape : {"sphere: {radius: 0.1}", "box: {size: [0.2, 0.2, 0.2]}"})
    for (const char* scheme : kPushedSchemes)
      for (const double h : {1e-2, 1e-3, 1e-4})
        for (const int rests : {0, 1, 7}) {
          const std::string what = std::string(scheme) + ", " + shape + ", " + exact(h);
          Simulation simulation = test::simulation_of(
              test::scene_of(floor_of(0, 0) + "  - {name: body, mass: 2, position: [0, 0, 0.1], shapes: [{" + shape +
                             "}]}\n" + (rests == 7 ? kOther : "") + end_of_scene(h, scheme)));
          for (int k = 0; k < rests; ++k) simulation.step();
          Inputs inputs = simulation.inputs();
          inputs.force("body", Vec3(1.5 / h, 0, 2 / h));  // N s in a step
          inputs.torque("body", Vec3(0, 0, 0.01 / h));
          EXPECT_TRUE(simulation.step(inputs).certified) << what;
          for (int k = 0; k < 3; ++k) EXPECT_TRUE(simulation.step().certified) << what;
          const Twist& v = simulation.state().velocity[1];
          EXPECT_NEAR(v.linear.x(), 0.75, 1e-11) << what;
          EXPECT_NEAR(v.linear.z() + 4 * h * 9.81, 1, 1e-11) << what;
          EXPECT_NEAR(v.angular.z() * simulation.model().bodies[1].inertia(2, 2), 0.01, 1e-12) << what;
        }
}

/// A sideways push without friction in the step of a landing, before it and after it.
TEST(Push, InALandingGivesWhatWasAskedFor) {
  for (const char* shape : {"sphere: {radius: 0.1}", "box: {size: [0.2, 0.2, 0.2]}"})
    for (const char* scheme : kPushedSchemes)
      for (const double restitution : {0.0, 0.5, 1.0})
        for (const double share : {0.05, 0.4, 0.95})
          for (const int when : {0, 1, 2, 3}) {
            const double h = 0.01, v = 1;
            Simulation simulation = test::simulation_of(
                test::scene_of(floor_of(0, restitution) + "  - {name: body, mass: 2, position: [0, 0, " +
                               exact(0.1 + (1 + share) * h * v) + "], velocity: [0, 0, " + exact(-v) + "], shapes: [{" +
                               shape + "}]}\n" + end_of_scene(h, scheme)));
            for (int k = 0; k < 5; ++k) {
              Inputs inputs = simulation.inputs();
              if (k == when) inputs.force("body", Vec3(3 / h, 0, 0));
              if (k == when) inputs.torque("body", Vec3(0, 0, 0.01 / h));
              EXPECT_TRUE(simulation.step(inputs).certified) << scheme;
            }
            const Twist& found = simulation.state().velocity[1];
            const std::string what =
                std::string(scheme) + ", " + shape + ", " + exact(restitution) + " " + exact(share) + " " + exact(when);
            EXPECT_NEAR(found.linear.x(), 1.5, 1e-11) << what;
            EXPECT_NEAR(found.angular.z() * simulation.model().bodies[1].inertia(2, 2), 0.01, 1e-11) << what;
          }
}

/// A carriage that lies at the lower end of its range, thrown upwards by its motor.
TEST(Push, ByAMotorGivesWhatWasAskedFor) {
  for (const char* scheme : kPushedSchemes)
    for (const double h : {1e-2, 1e-4}) {
      Simulation simulation = test::simulation_of(
          test::scene_of(floor_of(0, 0) +
                         "  - {name: body, mass: 2, position: [0, 0, 1], inertia: [1, 1, 1]}\njoints:\n"
                         "  - slider: {name: rail, between: [world, body], axis: [0, 0, 1], limits: [0, 9], motor: "
                         "{torque: 0}}\n" +
                         end_of_scene(h, scheme)));
      for (int k = 0; k < 3; ++k) simulation.step();
      const double before =
          simulation.state().velocity[1].linear.z();  // what the solver leaves of rest, some 1e-10 m/s
      EXPECT_NEAR(before, 0, 1e-9) << scheme << " " << h;
      Inputs inputs = simulation.inputs();
      inputs.motor("rail").torque = 2 / h;
      EXPECT_TRUE(simulation.step(inputs).certified) << scheme;
      for (int k = 0; k < 3; ++k) EXPECT_TRUE(simulation.step().certified) << scheme;
      EXPECT_NEAR(simulation.state().velocity[1].linear.z() + 4 * h * 9.81 - before, 1, 1e-10) << scheme << " " << h;
    }
}

// ---------------------------------------------------------------- at random

class PushDice {
 public:
  explicit PushDice(unsigned seed) : engine_(seed) {}
  double number(double from, double to) {
    return from + (to - from) * static_cast<double>(engine_()) / static_cast<double>(std::mt19937::max());
  }
  int below(int count) { return std::min(static_cast<int>(number(0, count)), count - 1); }
  Vec3 vector(double size) {
    const double x = number(-size, size), y = number(-size, size);
    return {x, y, number(-size, size)};
  }

 private:
  std::mt19937 engine_;
};

std::string as_text(const Vec3& v) { return "[" + exact(v.x()) + ", " + exact(v.y()) + ", " + exact(v.z()) + "]"; }

/// Scenes of a few things that stand apart: one or two bodies each, near the floor or above it, that are free, on each
/// other, joined, on a spring, or on a joint to the world with a motor and a range.
class PushedScene {
 public:
  PushedScene(unsigned seed, const std::string& scheme) : dice_(seed) {
    for (int i = 0; i < 4; ++i) add_thing(2.0 * i);
    text_ = floor_of(dice_.number(0, 0.8), dice_.below(2) * dice_.number(0, 1)) + bodies_ +
            (joints_.empty() ? "" : "joints:\n" + joints_) + (springs_.empty() ? "" : "forces:\n" + springs_) +
            end_of_scene(std::pow(10, dice_.number(-3.5, -1.8)), scheme);
  }
  const std::string& text() const { return text_; }

 private:
  std::string add_body(double x, double y, double z, bool rests) {
    const std::string name = "b" + std::to_string(count_++);
    const double size = 0.2;
    const char* const shapes[] = {"sphere: {radius: 0.1}", "box: {size: [0.2, 0.2, 0.2]}",
                                  "box: {size: [0.3, 0.25, 0.2]}", "capsule: {radius: 0.1, length: 0.2}"};
    const int shape = dice_.below(rests ? 3 : 4);
    bodies_ += "  - {name: " + name + ", mass: " + exact(dice_.number(0.3, 4)) + ", position: [" + exact(x) + ", " +
               exact(y) + ", " + exact(z + size / 2) + "]";
    if (!rests) {
      Vec3 v = dice_.vector(1);
      v.z() -= 1;
      bodies_ += ", velocity: " + as_text(v) + ", angular_velocity: " + as_text(dice_.vector(3));
    }
    bodies_ += std::string(", shapes: [{") + shapes[shape] + "}]}\n";
    return name;
  }
  void add_thing(double x) {
    const int kind = dice_.below(6);
    const bool rests = dice_.below(3) == 0;
    const double z = rests ? 0 : dice_.number(0.01, 0.15);
    const std::string a = add_body(x, 0, z, rests);
    if (kind == 0) return;
    if (kind == 1) {
      add_body(x + dice_.number(-0.05, 0.05), 0, z + 0.2 + (rests ? 0 : 0.02), rests);
    } else if (kind == 2) {
      const char* const kinds[] = {"ball", "hinge", "fixed", "universal"};
      const std::string at = "[" + exact(x) + ", 0.25, " + exact(z + 0.1) + "]", joint = kinds[dice_.below(4)];
      joints_ += "  - " + joint + ": {between: [" + a + ", " + add_body(x, 0.5, z, rests) + "], at: " + at +
                 (joint == "hinge"       ? ", axis: [1, 0, 0]"
                  : joint == "universal" ? ", axis: [1, 0, 0], axis_b: [0, 0, 1]"
                                         : "") +
                 "}\n";
    } else if (kind == 3) {
      const std::string b = add_body(x, 0.6, z, rests);
      springs_ += "  - spring: {between: [" + a + ", " + b + "], at: [[" + exact(x) + ", 0, " + exact(z + 0.1) +
                  "], [" + exact(x) + ", 0.6, " + exact(z + 0.1) +
                  "]], stiffness: " + exact(std::pow(10, dice_.number(1, 4))) +
                  ", damping: " + exact(dice_.below(2) * dice_.number(0, 3)) +
                  (dice_.below(2) ? ", rest_length: 0.6" : "") + "}\n";
    } else {
      joints_ += std::string("  - ") +
                 (kind == 4 ? "slider: {axis: [0, 0, 1], limits: [" + exact(-z) + ", 1]"
                            : "hinge: {axis: [0, 1, 0], at: [" + exact(x - 0.5) + ", 0, " + exact(z + 0.1) +
                                  "], limits_rad: [-1, " + exact(dice_.number(0, 0.1)) + "]") +
                 ", name: m" + std::to_string(count_) + ", between: [world, " + a + "], motor: {torque: 0}}\n";
    }
  }

  PushDice dice_;
  int count_ = 0;
  std::string bodies_, joints_, springs_, text_;
};

struct Push {
  Wrench asked;  ///< world
  bool pure = true;
};

/// What is left of M (v' - v) when the forces that were asked for and all that others have done are taken away, N s and
/// N m s, over what was asked for.
/// `corrected`: overlap was, and the turn that keeps the angular momentum of what floats is in `inertia` too.
void expect_given(const Simulation& simulation, const State& before, const std::vector<Push>& pushes, double scale,
                  bool corrected, const std::string& what) {
  const Model& model = simulation.model();
  const double h = simulation.options().step;
  std::vector<Vec3> contact(model.bodies.size(), Vec3::Zero());
  for (const ContactForce& force : simulation.contact_forces()) {
    contact[force.contact.body_a] -= force.force;
    contact[force.contact.body_b] += force.force;
  }
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    const Body& body = model.bodies[i];
    if (body.kind != BodyKind::Dynamic) continue;
    const BodyForces& forces = simulation.body_forces()[i];
    const Vec3& asked = pushes[i].asked.force;
    const Vec3 others = body.mass * model.gravity + contact[i] + forces.joint.force + forces.spring.force;
    const Vec3 gained = simulation.state().velocity[i].linear - before.velocity[i].linear;
    const double least = std::max(asked.norm() * h, scale);
    const Vec3 turn = corrected ? forces.inertia.force : Vec3(Vec3::Zero());
    EXPECT_LE((body.mass * gained - h * (others + asked + turn)).norm(), 1e-9 * least) << what << ", body " << i;
    if (!corrected) {
      EXPECT_LE(h * forces.inertia.force.norm(), 1e-14 * least) << what << ", body " << i;
    }
    EXPECT_LE(h * (forces.load.force - asked).norm(), 1e-12 * least) << what << ", body " << i;
    const Vec3 turned = body.inertia * (simulation.state().velocity[i].angular - before.velocity[i].angular);
    const double least_turn = std::max({pushes[i].asked.torque.norm() * h, least * 0.1});
    EXPECT_LE((turned - h * forces.sum().torque).norm(), 1e-9 * least_turn) << what << ", body " << i;
    // Of a torque about a centre the size stays, whichever way the body turns.
    if (pushes[i].pure) {
      const double size = pushes[i].asked.torque.norm();
      EXPECT_LE(h * forces.load.torque.norm(), (1 + 1e-9) * h * size) << what << ", body " << i;
    }
    // A ball or a cube by itself has no gyroscopic moment: all that turns it are torques.
    // Its torques count in the axes of the start of a trial in `stabilized` and `spook`.
    const bool alone = forces.joint.force.isZero(0) && forces.spring.force.isZero(0) &&
                       simulation.options().scheme != "euler" && simulation.options().scheme != "trapezoid" &&
                       simulation.options().scheme != "alpha-gamma";
    if (alone && !corrected && (body.inertia - body.inertia(0, 0) * Mat3::Identity()).norm() < 1e-12) {
      EXPECT_LE(h * forces.inertia.torque.norm(), 1e-9 * least_turn) << what << ", body " << i;
    }
  }
}

/// Returns how many pushes there were.
int push_at_random(unsigned seed, const std::string& scheme) {
  const Scene scene = test::scene_of(PushedScene(seed, scheme).text());
  Simulation simulation = test::simulation_of(scene);
  const Model& model = simulation.model();
  const double h = simulation.options().step;
  PushDice dice(seed + 1000003);
  int count = 0;
  const int steps = 30;
  for (int k = 0; k < steps; ++k) {
    Inputs inputs = simulation.inputs();
    std::vector<Push> pushes(model.bodies.size());
    const State before = simulation.state();
    double scale = 1e-3;
    for (std::size_t i = 0; i < model.bodies.size(); ++i)
      if (model.bodies[i].kind == BodyKind::Dynamic)
        scale = std::max(scale, model.bodies[i].mass * (before.velocity[i].linear.norm() + h * 9.81));
    for (int n = dice.below(3); n > 0; --n) {
      const int i = 1 + dice.below(static_cast<int>(model.bodies.size()) - 1);
      const double size = std::pow(10, dice.number(-1, 1)) * model.bodies[i].mass * 0.3 / h;  // N
      ++count;
      Push& push = pushes[i];
      if (dice.below(3) == 0) {
        const Vec3 torque = 0.1 * dice.vector(size);
        inputs.torque(i, torque);
        push.asked.torque += torque;
      } else {
        const Vec3 force = dice.vector(size);
        push.asked.force += force;
        if (dice.below(2)) {
          inputs.force(i, force, before.pose[i].position + dice.vector(0.1));
          push.pure = false;
        } else {
          inputs.force(i, force);
        }
      }
    }
    std::vector<double> torques(model.axes.size(), 0.0);
    for (std::size_t a = 0; a < model.axes.size(); ++a)
      if (dice.below(4) == 0) ++count, inputs.motor(static_cast<int>(a)).torque = torques[a] = dice.number(-0.3, 1) / h;
    const StepReport& report = simulation.step(inputs);
    const std::string what = scheme + ", scene " + std::to_string(seed) + ", step " + std::to_string(k);
    EXPECT_FALSE(report.failed) << what;
    if (report.failed) break;
    for (std::size_t i = 0; i < model.bodies.size(); ++i)
      if (model.bodies[i].kind == BodyKind::Dynamic)
        scale = std::max(scale, model.bodies[i].mass * simulation.state().velocity[i].linear.norm());
    expect_given(simulation, before, pushes, scale, report.corrections > 0, what);
    for (std::size_t a = 0; a < model.axes.size(); ++a)
      EXPECT_NEAR(simulation.joint(model.axes[a].joint).motor_force, torques[a], 1e-9 * std::abs(torques[a])) << what;
    if (::testing::Test::HasFailure()) break;
  }
  return count;
}

/// Boxes that spin into each other in the air. Where their overlap is corrected, the turn that keeps their angular
/// momentum is on record too: no velocity changes without an impulse.
TEST(Push, WhatACorrectionTurnsIsOnRecord) {
  for (const char* scheme : {"stabilized", "spook"}) {
    PushDice dice(5);
    std::string text = floor_of(0.4, 0.3);
    for (int i = 0; i < 12; ++i)
      text += "  - {name: b" + std::to_string(i) + ", mass: " + exact(dice.number(0.5, 3)) + ", position: [" +
              exact(0.24 * (i % 3)) + ", " + exact(0.24 * (i / 3 % 2)) + ", " + exact(0.4 + 0.22 * (i / 6)) +
              "], orientation: {axis: [1, 2, 3], angle_deg: " + exact(dice.number(-180, 180)) +
              "}, angular_velocity: " + as_text(dice.vector(3)) + ", shapes: [{box: {size: [0.2, 0.15, 0.18]}}]}\n";
    Simulation simulation = test::simulation_of(test::scene_of(text + end_of_scene(0.01, scheme)));
    const Model& model = simulation.model();
    double turned = 0;
    for (int k = 0; k < 60; ++k) {
      const State before = simulation.state();
      simulation.step();
      for (std::size_t i = 1; i < model.bodies.size(); ++i) {
        const Twist &v = before.velocity[i], &next = simulation.state().velocity[i];
        const BodyForces& forces = simulation.body_forces()[i];
        const Wrench sum = forces.sum();
        EXPECT_NEAR((next.linear - v.linear - 0.01 / model.bodies[i].mass * sum.force).norm(), 0, 1e-11) << scheme << k;
        EXPECT_NEAR((model.bodies[i].inertia * (next.angular - v.angular) - 0.01 * sum.torque).norm(), 0, 1e-11)
            << scheme << k;
        turned = std::max(turned, forces.inertia.force.norm());
      }
    }
    EXPECT_GT(turned, 1e-3) << scheme;  // N: it has happened
  }
}

TEST(Push, AtRandomGivesWhatWasAskedFor) {
  const char* asked = std::getenv("SLIPSTICK_PUSHES");
  const char* begin = std::getenv("SLIPSTICK_PUSHES_FIRST");
  const int most = asked ? std::atoi(asked) : 700;
  unsigned seed = begin ? std::atoi(begin) : 0;
  for (int count = 0; count < most && !HasFailure(); ++seed)
    for (const char* scheme : kPushedSchemes) count += push_at_random(seed, scheme);
}

}  // namespace
}  // namespace slipstick
