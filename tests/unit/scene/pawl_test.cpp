// The pawl's cantilever against beam theory, and where its lead-in begins to jam.
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

/// How far the pawl has moved aside on the lead-in after 0.6 ms of a force that grows.
double calc_way(double wedge, double mu) {
  SceneLoadOptions load;
  load.set = {{"n", "2"}, {"wedge", std::to_string(wedge)}, {"mu", std::to_string(mu)}, {"rate", "200"}};
  Simulation sim(shipped_scene("pawl.yaml", load));
  const double start = sim.sensor("tip").values[0];
  for (int k = 0; k < 400; ++k) sim.step();
  return sim.sensor("tip").values[0] - start;
}

TEST(Pawl, JamsWhereFrictionIsTheTangentOfTheWedge) {
  for (const double wedge : {25.0, 40.0}) {
    const double border = std::tan(wedge * std::numbers::pi / 180);
    EXPECT_GT(calc_way(wedge, border - 1e-3), 1e-7) << wedge;
    EXPECT_LT(calc_way(wedge, border + 1e-3), 1e-8) << wedge;
  }
}

}  // namespace
}  // namespace slipstick
