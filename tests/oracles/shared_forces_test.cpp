// Forces that are not unique, against statics with equal springs: those of contacts and of redundant joints.
#include <gtest/gtest.h>
#include <slipstick/scene.h>
#include <slipstick/simulation.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "support/simulate.h"

namespace slipstick {
namespace {

using test::scene_of;

constexpr double kG = 9.81, kWeight = 12 * kG;
const std::array<const char*, 5> kSharedSchemes{"stabilized", "euler", "trapezoid", "alpha-gamma", "spook"};

Simulation make_shared(const Scene& scene, const std::string& scheme) {
  SimulationOptions options = scene.options;
  options.scheme = scheme;
  return {scene.model, scene.initial, options};
}

/// A car on four wheels with motors that hold them, rocking on its springs.
const char* kBrakedCar = R"(
let: {M: 1200, r: 0.3, L: 1.3, w: 0.75, k: 25000}
materials: {default: {friction: 0.9}}
defaults:
  wheel: {mass: 25, group: car, shapes: [{cylinder: {radius: r, length: 0.2}, orientation: {axis: [1, 0, 0], angle_deg: 90}}]}
bodies:
  - {name: road, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {name: chassis, mass: M, inertia: [400, 1600, 1800], position: [0, 0, 0.55], angular_velocity: [0, 0.1, 0],
     group: car, shapes: [{box: {size: [3.8, 1.2, 0.4]}}]}
  - like: wheel
    repeat: {i: 2, j: 2}
    name: wheel_{i}_{j}
    position: ["i == 0 ? L : -L", "j == 0 ? w : -w", r]
joints:
  - wheel:
      repeat: {i: 2, j: 2}
      name: hub_{i}_{j}
      between: [chassis, "wheel_{i}_{j}"]
      at: ["i == 0 ? L : -L", "j == 0 ? w : -w", r]
      axis: [0, 1, 0]
      up: [0, 0, 1]
      motor: {speed: 0, max: 500}
      suspension: {stiffness: k, damping: 500, rest: -M*9.81/4/k}
simulation: {duration: 4, step: 1/500}
)";

TEST(SharedForces, CarBrakedToRestIsAsSymmetricAsItIs) {
  const Scene scene = scene_of(kBrakedCar);
  for (const char* scheme : {"stabilized", "spook"}) {
    Simulation simulation = make_shared(scene, scheme);
    for (int k = 0; k < 1200; ++k) {
      const StepReport& report = simulation.step();
      ASSERT_TRUE(report.certified) << scheme << " " << k;
      ASSERT_EQ(report.arbitrary, 0) << scheme << " " << k;
      std::array<double, 4> load{};  // of the wheels, by their bodies
      for (const ContactForce& each : simulation.contact_forces()) {
        EXPECT_NEAR(each.force.y(), 0, 0.01) << scheme << " " << k;
        load.at(static_cast<std::size_t>(each.contact.body_b) - 2) += each.force.z();
      }
      EXPECT_NEAR(load[0], load[1], 0.01) << scheme << " " << k;
      EXPECT_NEAR(load[2], load[3], 0.01) << scheme << " " << k;
      EXPECT_GT(load[0], 2000);
    }
  }
}

struct Place {
  std::string name, kind;
  Vec3 at, axis = Vec3(0, 0, 1);
  std::string between = "world, plate";
};

std::string print(const Vec3& v) {
  std::array<char, 100> text{};
  std::snprintf(text.data(), text.size(), "[%.17g, %.17g, %.17g]", v.x(), v.y(), v.z());
  return text.data();
}

std::string print_joint(const Place& place, const Quat& frame) {
  const std::string axis = place.kind == "hinge" ? ", axis: " + print(frame * place.axis) : "";
  return "  - " + place.kind + ": {name: " + place.name + ", between: [" + place.between +
         "], at: " + print(frame * place.at) + axis + "}\n";
}

std::string print_body(const std::string& name, const Vec3& at, const Quat& frame) {
  const Quat q = frame;
  std::array<char, 160> turn{};
  std::snprintf(turn.data(), turn.size(), ", orientation: [%.17g, %.17g, %.17g, %.17g]", q.w(), q.x(), q.y(), q.z());
  return "  - {name: " + name + ", mass: 12, inertia: [0.9, 0.7, 1.4], position: " + print(frame * at) + turn.data() +
         "}\n";
}

/// In two frames, and with the joints in two orders: what is asked for may depend on neither.
using Check = std::function<void(const std::string& what, const Quat& frame, const Simulation& simulation)>;

void check_views(const std::vector<std::pair<std::string, Vec3>>& bodies, std::vector<Place> places,
                 const Vec3& gravity, const Check& check) {
  const std::array<Quat, 2> frames{Quat::Identity(), Quat(0.4, -0.3, 0.7, 0.5).normalized()};
  for (const Quat& frame : frames) {
    std::string text = "gravity: " + print(frame * gravity) + "\nsimulation: {step: 1/100, duration: 1}\nbodies:\n";
    for (const auto& [name, at] : bodies) text += print_body(name, at, frame);
    text += "joints:\n";
    for (const Place& place : places) text += print_joint(place, frame);
    const Scene scene = scene_of(text);
    for (const char* scheme : kSharedSchemes) {
      Simulation simulation = make_shared(scene, scheme);
      for (int k = 0; k < 4; ++k) EXPECT_TRUE(simulation.step().certified) << scheme;
      check(scheme, frame, simulation);
    }
    std::rotate(places.begin(), places.begin() + 1, places.end());
    std::swap(places.front(), places.back());
  }
}

/// A reaction in the axes that the scene was written in, before its frame was turned.
void expect_reaction(const JointReading& joint, const Quat& frame, const Vec3& force, const Vec3& moment,
                     const std::string& what) {
  ASSERT_TRUE(joint) << what;
  const Vec3 f = frame.inverse() * joint.reaction_force, m = frame.inverse() * joint.reaction_moment;
  // A moment counts as a force on an arm of a thousandth of the size: to the square of that it is none.
  EXPECT_LE((f - force).norm(), 2e-5 * kWeight) << what << ": " << f.transpose() << ", not " << force.transpose();
  EXPECT_LE((m - moment).norm(), 2e-5 * kWeight) << what << ": " << m.transpose() << ", not " << moment.transpose();
}

TEST(SharedForces, DoorOnTwoHinges) {
  const double arm = 0.5, apart = 1.5;
  check_views({{"plate", {arm, 0, 1}}}, {{"low", "hinge", {0, 0, 0.25}}, {"top", "hinge", {0, 0, 1.75}}}, {0, 0, -kG},
              [&](const std::string& what, const Quat& frame, const Simulation& simulation) {
                const double pull = kWeight * arm / apart;
                expect_reaction(simulation.joint("low"), frame, {pull, 0, kWeight / 2}, Vec3::Zero(), what + " low");
                expect_reaction(simulation.joint("top"), frame, {-pull, 0, kWeight / 2}, Vec3::Zero(), what + " top");
              });
}

TEST(SharedForces, GateOnThreeHinges) {
  const double arm = 0.5;
  const std::vector<double> height{0.2, 0.7, 2.1};
  check_views({{"plate", {arm, 0, 1}}},
              {{"a", "hinge", {0, 0, height[0]}}, {"b", "hinge", {0, 0, height[1]}}, {"c", "hinge", {0, 0, height[2]}}},
              {0, 0, -kG}, [&](const std::string& what, const Quat& frame, const Simulation& simulation) {
                const double mean = (height[0] + height[1] + height[2]) / 3;
                double spread = 0;
                for (const double z : height) spread += (z - mean) * (z - mean);
                for (int i = 0; i < 3; ++i)
                  expect_reaction(simulation.joint(std::string(1, static_cast<char>('a' + i))), frame,
                                  {-kWeight * arm * (height[i] - mean) / spread, 0, kWeight / 3}, Vec3::Zero(),
                                  what + " " + std::to_string(i));
              });
}

TEST(SharedForces, BeamOnThreeBalls) {
  const std::vector<double> place{-1, 0, 2};
  const double load = 0.4;
  check_views({{"plate", {load, 0, 0}}},
              {{"a", "ball", {-1, 0, 0}}, {"b", "ball", {0, 0, 0}}, {"c", "ball", {2, 0, 0}}}, {0, 0, -kG},
              [&](const std::string& what, const Quat& frame, const Simulation& simulation) {
                const double mean = 1.0 / 3, spread = 5 - 3 * mean * mean;
                for (int i = 0; i < 3; ++i)
                  expect_reaction(simulation.joint(std::string(1, static_cast<char>('a' + i))), frame,
                                  {0, 0, kWeight * (1.0 / 3 + (load - mean) * (place[i] - mean) / spread)},
                                  Vec3::Zero(), what + " " + std::to_string(i));
              });
}

TEST(SharedForces, TableBoltedDown) {
  const double a = 0.6, b = 0.4, x = 0.1, y = -0.05;
  std::vector<Place> places;
  for (const double i : {-1.0, 1.0})
    for (const double j : {-1.0, 1.0})
      places.push_back({i < 0 ? (j < 0 ? "a" : "b") : (j < 0 ? "c" : "d"), "fixed", {i * a, j * b, 0}});
  check_views({{"plate", {x, y, 0.7}}}, places, {0, 0, -kG},
              [&](const std::string& what, const Quat& frame, const Simulation& simulation) {
                for (int i = 0; i < 4; ++i) {
                  const double sx = i < 2 ? -1 : 1, sy = i % 2 == 0 ? -1 : 1;
                  expect_reaction(simulation.joint(std::string(1, static_cast<char>('a' + i))), frame,
                                  {0, 0, kWeight / 4 * (1 + sx * x / a + sy * y / b)}, Vec3::Zero(),
                                  what + " " + std::to_string(i));
                }
              });
}

TEST(SharedForces, FourBarUnderALoadAcrossItsPlane) {
  // Cranks on the ground carry half of the coupler's weight at their ends, and their own in the middle.
  const std::vector<Place> places{{"o", "hinge", {0, 0, 0}, {0, 0, 1}, "world, left"},
                                  {"a", "hinge", {0, 1, 0}, {0, 0, 1}, "left, coupler"},
                                  {"b", "hinge", {2, 1, 0}, {0, 0, 1}, "coupler, right"},
                                  {"q", "hinge", {2, 0, 0}, {0, 0, 1}, "world, right"}};
  check_views({{"left", {0, 0.5, 0}}, {"coupler", {1, 1, 0}}, {"right", {2, 0.5, 0}}}, places, {0, 0, -kG},
              [&](const std::string& what, const Quat& frame, const Simulation& simulation) {
                const Vec3 half(0, 0, kWeight / 2), foot(0, 0, 1.5 * kWeight), held(kWeight, 0, 0);
                expect_reaction(simulation.joint("a"), frame, half, Vec3::Zero(), what + " a");
                expect_reaction(simulation.joint("b"), frame, -half, Vec3::Zero(), what + " b");
                expect_reaction(simulation.joint("o"), frame, foot, held, what + " o");
                expect_reaction(simulation.joint("q"), frame, foot, held, what + " q");
              });
}

TEST(SharedForces, OfAMovingFourBarDoNotDependOnTheOrderOfItsJoints) {
  const std::array<const char*, 4> joints{
      "  - hinge: {name: o, between: [world, left], at: [0, 0, 0], axis: [0, 0, 1]}\n",
      "  - hinge: {name: a, between: [left, coupler], at: [0, 1, 0], axis: [0, 0, 1]}\n",
      "  - hinge: {name: b, between: [coupler, right], at: [2, 1, 0], axis: [0, 0, 1]}\n",
      "  - hinge: {name: q, between: [world, right], at: [2, 0, 0], axis: [0, 0, 1]}\n"};
  const auto make = [&](const std::array<int, 4>& order, const char* scheme, bool chosen) {
    std::string text = R"(
gravity: [0, -5, -9.81]
simulation: {step: 1/200, duration: 1}
bodies:
  - {name: left, mass: 2, position: [0, 0.5, 0], inertia: [0.2, 0.01, 0.2], angular_velocity: [0, 0, -3]}
  - {name: coupler, mass: 3, position: [1, 1, 0], inertia: [0.01, 1, 1], velocity: [3, 0, 0]}
  - {name: right, mass: 2, position: [2, 0.5, 0], inertia: [0.2, 0.01, 0.2], angular_velocity: [0, 0, -3]}
joints:
)";
    for (const int i : order) text += joints.at(static_cast<std::size_t>(i));
    Scene scene = scene_of(text);
    scene.options.unique_forces = chosen;
    return make_shared(scene, scheme);
  };
  const auto differ = [](const Simulation& x, const Simulation& y) {
    double most = 0;
    for (const char* name : {"o", "a", "b", "q"})
      most = std::max({most, (x.joint(name).reaction_force - y.joint(name).reaction_force).norm(),
                       (x.joint(name).reaction_moment - y.joint(name).reaction_moment).norm()});
    return most;
  };
  for (const char* scheme : kSharedSchemes) {
    Simulation one = make({0, 1, 2, 3}, scheme, true), other = make({2, 0, 3, 1}, scheme, true);
    Simulation found = make({0, 1, 2, 3}, scheme, false), other_found = make({2, 0, 3, 1}, scheme, false);
    double as_found = 0;
    for (int k = 0; k < 80; ++k) {
      for (Simulation* each : {&one, &other, &found, &other_found}) EXPECT_TRUE(each->step().certified) << scheme;
      EXPECT_LE(differ(one, other), 1e-5) << scheme << " " << k;  // N, N m
      as_found = std::max(as_found, differ(found, other_found));
    }
    if (std::string(scheme) != "spook") {
      EXPECT_GT(as_found, 10) << scheme;  // there is something to choose
    }
  }
}

/// Two motors that hold one shaft, the one of them with less than half of what is needed.
TEST(SharedForces, MotorsAtRestShareWithinTheirBounds) {
  const Scene scene = scene_of(R"(
gravity: [0, 0, -9.81]
simulation: {step: 1/100, duration: 1}
bodies:
  - {name: arm, mass: 2, position: [1, 0, 0], inertia: [0.1, 0.1, 0.1]}
joints:
  - hinge: {name: strong, between: [world, arm], at: [0, -0.5, 0], axis: [0, 1, 0], motor: {speed: 0, max: 40}}
  - hinge: {name: weak, between: [world, arm], at: [0, 0.5, 0], axis: [0, 1, 0], motor: {speed: 0, max: 40}}
)");
  const double needed = -2 * kG;
  for (const double most : {40.0, 5.0}) {
    Scene made = scene;
    made.model.axes[1].motor->max = Expression(most);
    for (const char* scheme : kSharedSchemes) {
      Simulation simulation = make_shared(made, scheme);
      for (int k = 0; k < 4; ++k) ASSERT_TRUE(simulation.step().certified) << scheme;
      const double weak = most < 10 ? -most : needed / 2;
      EXPECT_NEAR(simulation.joint("weak").motor_force, weak, 1e-5) << scheme;
      EXPECT_NEAR(simulation.joint("strong").motor_force, needed - weak, 1e-5) << scheme;
    }
  }
}

/// The choice is a reading: who asks and who does not have the same motion, and asking later gives the same.
TEST(SharedForces, AskingChangesNothing) {
  const Scene scene = scene_of(R"(
gravity: [0, 0, -9.81]
simulation: {step: 1/100, duration: 1}
bodies:
  - {name: door, mass: 12, position: [0.5, 0, 1], inertia: [0.9, 0.7, 1.4], angular_velocity: [0, 0, 2]}
joints:
  - hinge: {name: low, between: [world, door], at: [0, 0, 0.25], axis: [0, 0, 1]}
  - hinge: {name: top, between: [world, door], at: [0, 0, 1.75], axis: [0, 0, 1]}
)");
  for (const char* scheme : kSharedSchemes) {
    Simulation asks = make_shared(scene, scheme), waits = make_shared(scene, scheme);
    for (int k = 0; k < 50; ++k) {
      asks.step();
      waits.step();
      EXPECT_EQ(asks.joints().size(), 2u);
    }
    EXPECT_EQ(hash(asks.state()), hash(waits.state())) << scheme;
    const Vec3 force = asks.joint("low").reaction_force;
    EXPECT_EQ(force, waits.joint("low").reaction_force) << scheme;
    EXPECT_NEAR(force.z(), kWeight / 2, 1e-4) << scheme;
    const Vec3 both = force + asks.joint("top").reaction_force, sum = asks.body_forces()[0].joint.force;
    EXPECT_NEAR((both - sum).norm(), 0, 1e-9 * kWeight) << scheme;
  }
}

}  // namespace
}  // namespace slipstick
