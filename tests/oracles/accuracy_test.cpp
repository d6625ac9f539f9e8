// Steps that choose themselves (`accuracy`): the error of a run is what was asked for, not much more.
#include <gtest/gtest.h>

#include <cmath>

#include "support/simulate.h"

namespace slipstick {
namespace {

struct Outcome {
  Vec3 position = Vec3::Zero();
  int parts = 0, rejected = 0, coarse = 0;
  bool certified = true;
};

Outcome run_with(const std::string& text, double accuracy, double duration, const char* body) {
  Scene scene = test::scene_of(text + "simulation: {step: 1/20, accuracy: 1}\n");
  scene.options.accuracy = accuracy;
  scene.options.duration = duration;
  EXPECT_EQ(scene.options.scheme, "trapezoid");
  Simulation simulation(scene);
  Outcome outcome;
  PaceReport sum;
  for (long i = calc_step_count(scene.options); i > 0; --i) {
    const StepReport& report = simulation.step();
    outcome.certified = outcome.certified && report.certified;
    sum.add(report.pace);
  }
  EXPECT_NEAR(simulation.state().time, duration, 1e-12);
  const int index = *simulation.model().find_body(body);
  outcome.position = simulation.state().pose[index].position;
  outcome.parts = sum.parts;
  outcome.rejected = sum.rejected;
  outcome.coarse = sum.coarse;
  return outcome;
}

void expect_within(const std::string& text, double duration, const char* body, const Vec3& reference) {
  int parts_before = 0;
  for (const double accuracy : {1e-3, 1e-4, 1e-5, 1e-6}) {
    const Outcome outcome = run_with(text, accuracy, duration, body);
    const double error = (outcome.position - reference).norm();
    EXPECT_LE(error, 10 * accuracy) << "accuracy " << accuracy << ", " << outcome.parts << " parts";
    EXPECT_TRUE(outcome.certified);
    EXPECT_EQ(outcome.coarse, 0);
    EXPECT_GT(outcome.parts, parts_before) << "more digits, more parts";
    EXPECT_LT(outcome.rejected, outcome.parts / 2 + 10);
    parts_before = outcome.parts;
  }
}

// x'' = -k x / m: cos(2 t).
TEST(Accuracy, Oscillator) {
  const std::string text =
      "gravity: [0, 0, 0]\nbodies: [{name: bob, mass: 1, position: [1, 0, 0], shapes: [{sphere: {radius: 0.1}}]}]\n"
      "forces: [{spring: {between: [world, bob], at: [[0, 0, 0], [1, 0, 0]], stiffness: 4, rest_length: 0}}]\n";
  expect_within(text, 3, "bob", {std::cos(6.0), 0, 0});
}

// A load that is quiet but for a jerk of 20 ms: parts are short there, and nowhere else.
TEST(Accuracy, ShortWhereItMatters) {
  const std::string text =
      "gravity: [0, 0, 0]\nbodies: [{name: bob, mass: 1, shapes: [{sphere: {radius: 0.1}}]}]\n"
      "forces: [{load: {body: bob, force: [\"1000*exp(-((t - 1)/0.02)^2)\", 0, 0]}}]\n";
  // The impulse 1000 * 0.02 * sqrt(pi) acts around t = 1.
  const double speed = 1000 * 0.02 * std::sqrt(std::acos(-1.0));
  expect_within(text, 2, "bob", {speed, 0, 0});
  Scene scene = test::scene_of(text + "simulation: {step: 1/20, accuracy: 1e-4}\n");
  Simulation simulation(scene);
  int around = 0, elsewhere = 0;
  for (int i = 0; i < 40; ++i) {
    const int parts = simulation.step().pace.parts;
    (i >= 18 && i < 22 ? around : elsewhere) += parts;  // four frames around t = 1, and 36 others
  }
  EXPECT_GT(around, 2 * elsewhere);
}

// A ball that bounces with e = 0.8: heights by the closed form, accelerations jump at each impact.
TEST(Accuracy, BouncingBall) {
  const std::string text =
      "gravity: [0, 0, -10]\nmaterials: {default: {friction: 0, restitution: 0.8}}\nbodies:\n"
      "  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
      "  - {name: ball, mass: 1, position: [0, 0, 1.1], shapes: [{sphere: {radius: 0.1}}]}\n";
  const double first = std::sqrt(0.2), flight = 2 * 0.8 * 10 * first / 10;
  const double t = 1.5 - first - flight, v = 0.64 * 10 * first;  // after the second impact
  const Vec3 reference(0, 0, 0.1 + v * t - 5 * t * t);
  for (const double accuracy : {1e-3, 1e-6}) {
    const Outcome outcome = run_with(text, accuracy, 1.5, "ball");
    EXPECT_LE((outcome.position - reference).norm(), 10 * accuracy);
    EXPECT_TRUE(outcome.certified);
  }
}

// What the choice remembers is part of the state: set back, a run goes on with the same bits.
TEST(Accuracy, StatesAreExact) {
  const Scene scene = test::scene_of(
      "materials: {default: {restitution: 0.7}}\nbodies:\n"
      "  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
      "  - {name: ball, mass: 1, position: [0, 0, 0.3], velocity: [1, 0, 0], shapes: [{sphere: {radius: 0.1}}]}\n"
      "forces: [{spring: {between: [world, ball], at: [[0, 0, 1], [0, 0, 0.3]], stiffness: 40, rest_length: 0}}]\n"
      "simulation: {accuracy: 1e-5, step: 1/30}\n");
  Simulation simulation(scene);
  for (int i = 0; i < 7; ++i) simulation.step();
  const State saved = simulation.state();
  EXPECT_GT(saved.pace.next, 0);
  for (int i = 0; i < 9; ++i) simulation.step();
  const std::uint64_t end = hash(simulation.state());
  Simulation other(scene);
  ASSERT_TRUE(other.set_state(saved).empty());
  for (int i = 0; i < 9; ++i) other.step();
  EXPECT_EQ(hash(other.state()), end);
}

TEST(Accuracy, NeedsSecondOrder) {
  SimulationOptions options;
  options.accuracy = 1e-4;
  for (const char* scheme : {"stabilized", "spook", "euler"}) {
    options.scheme = scheme;
    const auto faults = find_option_faults(options);
    ASSERT_EQ(faults.size(), 1u) << scheme;
    EXPECT_EQ(faults[0].key, "accuracy");
    SimulationOptions chosen = options;
    set_accuracy(1e-4, &chosen);
    EXPECT_EQ(chosen.scheme, "trapezoid");
    EXPECT_TRUE(find_option_faults(chosen).empty());
  }
  options.scheme = "trapezoid";
  options.accuracy = -1;
  EXPECT_FALSE(find_option_faults(options).empty());
}

}  // namespace
}  // namespace slipstick
