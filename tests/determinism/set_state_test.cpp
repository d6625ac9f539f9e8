// A state is all that decides the future: set back, or taken to another simulation, the steps have the same bits.
#include <gtest/gtest.h>
#include <slipstick/simulation.h>

#include <array>
#include <random>
#include <string>

#include "support/simulate.h"

namespace slipstick {
namespace {

using test::scene_of;
using test::shipped_scene;

const std::array<const char*, 5> kSetSchemes{"stabilized", "euler", "trapezoid", "alpha-gamma", "spook"};

/// Balls and boxes that bounce, slide and stick, a spring, a motor with limits, joint friction and a moving floor.
Scene make_mixed_scene() {
  return scene_of(R"yaml(
name: mixed
simulation: {duration: 1, step: 1/200}
materials: {bouncy: {friction: 0.3, restitution: 0.6}}
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {name: table, position: [2, 0, 0.1], kinematic: {velocity: ["0.4*cos(6*t)", 0, 0]}, shapes: [{box: {size: [1, 1, 0.2]}}]}
  - {name: parcel, mass: 2, position: [2, 0, 0.3], shapes: [{box: {size: [0.2, 0.2, 0.2]}}]}
  - {name: ball, mass: 1, position: [0, 0, 0.4], velocity: [0.5, 0, 0], shapes: [{sphere: {radius: 0.1}, material: bouncy}]}
  - {name: block, mass: 1, position: [-1, 0, 0.11], velocity: [1.5, 0.2, 0], shapes: [{box: {size: [0.3, 0.2, 0.2]}}]}
  - {name: arm, mass: 1, position: [0, 2.5, 1], shapes: [{capsule: {radius: 0.05, length: 0.4}}]}
  - {name: bob, mass: 0.5, position: [0, -2, 0.6], shapes: [{sphere: {radius: 0.05}}]}
joints:
  - hinge: {name: elbow, between: [world, arm], at: [0, 2.5, 1.2], axis: [0, 1, 0], friction: 0.02,
            limits_deg: [-30, 30], motor: {speed: "2*sin(5*t)", max: 4}}
forces:
  - spring: {between: [world, bob], at: [[0, -2, 1], [0, -2, 0.6]], stiffness: 300, damping: 1, rest_length: 0.3}
)yaml");
}

void expect_same_bits(const Scene& scene, const std::string& scheme, int steps, unsigned seed) {
  SimulationOptions options = scene.options;
  options.scheme = scheme;
  ASSERT_TRUE(find_option_faults(options).empty());
  Simulation simulation(scene.model, scene.initial, options);
  std::mt19937 random(seed);
  std::vector<State> states{simulation.state()};
  for (int k = 0; k < steps; ++k) {
    ASSERT_FALSE(simulation.step().failed);
    states.push_back(simulation.state());
  }
  for (int back = 0; back < 4; ++back) {
    const int from = static_cast<int>(random() % states.size());
    ASSERT_TRUE(simulation.set_state(states[from]).empty());
    EXPECT_EQ(hash(simulation.state()), hash(states[from]));
    Simulation other(scene.model, states[from], options);
    ASSERT_EQ(simulation.contacts().size(), other.contacts().size());
    for (int k = from; k < steps; ++k) {
      simulation.step();
      other.step();
      ASSERT_EQ(hash(simulation.state()), hash(states[k + 1]))
          << scene.name << " " << scheme << " " << from << " " << k;
      ASSERT_EQ(hash(other.state()), hash(states[k + 1])) << scene.name << " " << scheme << " " << from << " " << k;
      ASSERT_EQ(simulation.state().idle_axis, states[k + 1].idle_axis);
    }
  }
}

TEST(SetState, SameBitsForEverySchemeWithEverything) {
  const Scene scene = make_mixed_scene();
  for (const char* scheme : kSetSchemes) expect_same_bits(scene, scheme, 120, 7);
}

TEST(SetState, SameBitsForShippedScenes) {
  for (const char* name : {"stack.yaml", "bouncing_ball.yaml", "slider_crank.yaml", "winch.yaml", "coin.yaml",
                           "stick_slip_block.yaml", "painleve_rod.yaml", "dominoes.yaml"})
    for (const char* scheme : kSetSchemes) {
      Scene scene = shipped_scene(name);
      scene.options.step = std::max(scene.options.step, 2e-3);
      expect_same_bits(scene, scheme, 25, 3);
    }
}

TEST(SetState, SolverKeepsNothing) {
  Scene scene = shipped_scene("stack.yaml");
  for (const std::string_view solver : solver_choices()) {
    scene.options.solver = std::string(solver);
    scene.options.hold_resting = solver == "newton";
    if (find_option_faults(scene.options).empty()) expect_same_bits(scene, "stabilized", 15, 5);
  }
}

TEST(SetState, RefusesWhatIsNoStateOfTheModel) {
  const Scene scene = make_mixed_scene();
  Simulation simulation(scene);
  simulation.step();
  const std::uint64_t before = hash(simulation.state());
  State state = simulation.state();
  state.pose.pop_back();
  EXPECT_FALSE(simulation.set_state(state).empty());
  state = simulation.state();
  state.velocity[3].linear.x() = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(simulation.set_state(state).empty());
  state = simulation.state();
  state.joint_impulse.push_back(0);
  EXPECT_FALSE(simulation.set_state(state).empty());
  EXPECT_EQ(hash(simulation.state()), before);
  EXPECT_FALSE(simulation.step().failed);
}

}  // namespace
}  // namespace slipstick
