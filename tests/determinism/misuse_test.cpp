// What a program of the user's may get wrong: it is said, and nothing is corrupted.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <utility>

#include "support/simulate.h"

namespace slipstick {
namespace {

constexpr char kFall[] =
    "bodies:\n  - {name: ball, mass: 1, position: [0, 0, 1], shapes: [{sphere: {radius: 0.1}}]}\n"
    "simulation: {step: 1/100}\n";

/// A simulation with a fault makes no step, says why, and still has a model and a state to look at.
void expect_refusal(Simulation* simulation, const std::string& part) {
  for (int k = 0; k < 2; ++k) {
    const StepReport& report = simulation->step();
    EXPECT_TRUE(report.failed);
    EXPECT_FALSE(report.certified);
    EXPECT_NE(std::string(report.note).find(part), std::string::npos) << report.note;
  }
  EXPECT_TRUE(simulation->step(simulation->inputs()).failed);
  EXPECT_FALSE(simulation->set_state(simulation->state()).empty());
  EXPECT_EQ(simulation->state().pose.size(), simulation->model().bodies.size());
  EXPECT_EQ(simulation->state().step, 0);
  EXPECT_TRUE(simulation->contacts().empty());
}

TEST(Misuse, OptionsWithFaultsMakeNoStep) {
  const Scene scene = test::scene_of(kFall);
  const std::vector<std::pair<std::string, std::function<void(SimulationOptions*)>>> wrong = {
      {"step must be", [](SimulationOptions* o) { o->step = -1; }},
      {"step must be", [](SimulationOptions* o) { o->step = 0; }},
      {"step must be", [](SimulationOptions* o) { o->step = std::numeric_limits<double>::quiet_NaN(); }},
      {"threads must be", [](SimulationOptions* o) { o->threads = -3; }},
      {"threads must be", [](SimulationOptions* o) { o->threads = 0; }},
      {"tolerance must", [](SimulationOptions* o) { o->tolerance = 0; }},
      {"unknown scheme", [](SimulationOptions* o) { o->scheme = "stabilised"; }},
      {"unknown solver", [](SimulationOptions* o) { o->solver = "newtom"; }},
      {"facets must", [](SimulationOptions* o) { o->facets = 5; }},
  };
  for (const auto& [part, spoil] : wrong) {
    SimulationOptions options = scene.options;
    spoil(&options);
    Simulation simulation(scene.model, scene.initial, options);
    expect_refusal(&simulation, part);
    EXPECT_EQ(simulation.options().threads, options.threads);  // what was asked for
  }
}

TEST(Misuse, AStateOfAnotherModelMakesNoStep) {
  const Scene scene = test::scene_of(kFall);
  State larger = scene.initial, empty;
  larger.pose.resize(1000);
  larger.velocity.resize(1000);
  for (const State& state : {larger, empty}) {
    Simulation simulation(scene.model, state, scene.options);
    expect_refusal(&simulation, "poses, the model");
  }
}

TEST(Misuse, AMovedFromSimulationSaysSo) {
  Simulation first = test::simulation_of(test::scene_of(kFall));
  Simulation second = std::move(first);
  EXPECT_FALSE(second.step().failed);
  EXPECT_THROW((void)first.step(), std::logic_error);   // NOLINT(bugprone-use-after-move): that is the test
  EXPECT_THROW((void)first.state(), std::logic_error);  // NOLINT(bugprone-use-after-move)
  first = std::move(second);
  EXPECT_FALSE(first.step().failed);
}

TEST(Misuse, AResultWithoutAValueSaysWhy) {
  const Result<int> bad(Fault{{"a.yaml", 3, 4}, "no such thing"});
  try {
    (void)bad.value();
    FAIL() << "no exception";
  } catch (const std::logic_error& error) {
    EXPECT_NE(std::string(error.what()).find("a.yaml:3:4: no such thing"), std::string::npos) << error.what();
  }
  EXPECT_TRUE(Result<int>(3).faults().empty());
}

}  // namespace
}  // namespace slipstick
