// The pawl's cantilever against beam theory, and where its lead-in begins to jam, in the plane and in space.
#include <gtest/gtest.h>
#include <slipstick/scene.h>
#include <slipstick/simulation.h>

#include <cmath>
#include <numbers>

#include "support/simulate.h"

namespace slipstick {
namespace {

using test::shipped_scene;

constexpr double kLength = 1.2e-3, kHeight = 0.04e-3, kDepth = 0.05e-3, kDensity = 2330;
constexpr double kBend = 169e9 * kDepth * kHeight * kHeight * kHeight / 12;

TEST(Cantilever, TipGivesWayAsBeamTheorySays) {
  Simulation sim(shipped_scene("cantilever.yaml"));
  test::run_until(1e-3, &sim);
  const double theory = -2e-3 * std::pow(kLength, 3) / (3 * kBend);
  EXPECT_NEAR(sim.sensor("tip").values[1] / theory, 1, 0.01);
  EXPECT_NEAR(sim.sensor("tip").values[1] / theory, 1 - 1.0 / (4 * 20 * 20), 5e-4);  // what the chain itself says
}

TEST(Cantilever, SwingsWithItsFirstFrequency) {
  SceneLoadOptions load;
  load.set = {{"beam_damping", "0"}, {"load", "1e-4"}, {"hold", "2e-5"}};
  Scene scene = shipped_scene("cantilever.yaml", load);
  scene.options.scheme = "trapezoid";
  scene.options.step = 2e-7;
  Simulation sim(scene);
  double first = 0, last = 0, before = 0;
  int periods = -1;
  while (periods < 20) {
    ASSERT_FALSE(sim.step().failed);
    const double y = sim.sensor("tip").values[1], t = sim.state().time;
    if (t > 4e-5 && before < 0 && y >= 0) {
      last = t - scene.options.step * y / (y - before);
      if (++periods == 0) first = last;
    }
    before = y;
  }
  const double theory = std::pow(1.87510407, 2) / (2 * std::numbers::pi * kLength * kLength) *
                        std::sqrt(kBend / (kDensity * kDepth * kHeight));
  EXPECT_NEAR(periods / (last - first) / theory, 1, 0.02);
}

/// In space the chain has hinges that hold five directions, in metres and radians, of pieces of 0.06 mm: what the tip
/// of the beam gives way is that of the chain in the plane.
TEST(Cantilever, InSpaceIsThatOfThePlane) {
  const Result<Scene> scene = parse_scene(R"yaml(slipstick: 1
gravity: [0, 0, 0]
include: [parts/silicon_beam_space.yaml]
forces: [{load: {body: beam_19, at: [1.5e-5, 0, 0], force: [0, 0, "-2e-3*min(1, t/2e-4)"]}}]
sensors: [{body: {name: tip, body: beam_19, at: [1.5e-5, 0, 0]}}]
simulation: {duration: 1e-3, step: 1e-6}
)yaml",
                                          std::string(SLIPSTICK_SOURCE_DIR) + "/scenes/test.yaml");
  ASSERT_TRUE(scene) << scene.faults()[0].text();
  Simulation space(scene.value()), plane(shipped_scene("cantilever.yaml"));
  test::run_until(1e-3, &space);
  test::run_until(1e-3, &plane);
  const double theory = -2e-3 * std::pow(kLength, 3) / (3 * kBend);
  EXPECT_NEAR(space.sensor("tip").values[2] / theory, 1 - 1.0 / (4 * 20 * 20), 5e-4);
  EXPECT_NEAR(space.sensor("tip").values[2] / plane.sensor("tip").values[1], 1, 1e-9);
  EXPECT_NEAR(space.sensor("tip").values[0] - kLength, plane.sensor("tip").values[0] - kLength, 1e-9 * kLength);
}

/// How far the pawl has moved aside on the lead-in after 0.8 ms of a force that grows.
double calc_way(const char* scene, double wedge, double mu) {
  SceneLoadOptions load;
  load.set = {{"n", "2"}, {"wedge", std::to_string(wedge)}, {"mu", std::to_string(mu)}, {"rate", "200"}};
  Simulation sim(shipped_scene(scene, load));
  const double start = sim.sensor("tip").values[0];
  for (int k = 0; k < 400; ++k) {
    EXPECT_TRUE(sim.step().certified) << scene << " at step " << k;
  }
  return sim.sensor("tip").values[0] - start;
}

class Pawl : public testing::TestWithParam<const char*> {};

TEST_P(Pawl, JamsWhereFrictionIsTheTangentOfTheWedge) {
  for (const double wedge : {25.0, 40.0}) {
    const double border = std::tan(wedge * std::numbers::pi / 180);
    EXPECT_GT(calc_way(GetParam(), wedge, border - 1e-3), 1e-7) << wedge;
    EXPECT_LT(calc_way(GetParam(), wedge, border + 1e-3), 1e-8) << wedge;
  }
}

/// The sensor `outcome` at the end of the push; each outcome has one sensor of its own that says so too.
double calc_outcome(const char* scene, SceneLoadOptions load) {
  load.set.insert(load.set.end(), {{"n", "5"}});
  Scene made = shipped_scene(scene, load);
  made.options.step = 8e-6;
  Simulation sim(made);
  test::run_until(made.options.duration, &sim);
  const double outcome = sim.sensor("outcome").values[0];
  const double named[] = {sim.sensor("seats").values[0], sim.sensor("jams").values[0], sim.sensor("skips").values[0]};
  for (int k = 0; k < 3; ++k) EXPECT_EQ(named[k], outcome == k + 1 ? 1 : 0) << scene << ", " << k;
  return outcome;
}

TEST_P(Pawl, SeatsJamsOrSkips) {
  EXPECT_EQ(calc_outcome(GetParam(), {}), 1);
  SceneLoadOptions rough, brief, narrow, stiff;
  rough.set = {{"mu", "0.86"}};
  EXPECT_EQ(calc_outcome(GetParam(), rough), 2);
  brief.set = {{"reach", "0.02"}};  // the beam ends short of the notch: the pawl passes it
  EXPECT_EQ(calc_outcome(GetParam(), brief), 3);
  narrow.set = {{"notch", "0.03"}};  // lower than the beam: that slips past it
  EXPECT_EQ(calc_outcome(GetParam(), narrow), 3);
  stiff.set = {{"beam_height", "0.06e-3"}};  // at the end of the push the beam is not yet out of the way
  EXPECT_EQ(calc_outcome(GetParam(), stiff), 0);
}

INSTANTIATE_TEST_SUITE_P(PlaneAndSpace, Pawl, testing::Values("pawl.yaml", "pawl_space.yaml"),
                         [](const auto& info) { return std::string(info.index == 0 ? "Plane" : "Space"); });

}  // namespace
}  // namespace slipstick
