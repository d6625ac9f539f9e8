// Same input, same bits: from run to run and for any thread count.
#include "support/simulate.h"

namespace slipstick::test {
namespace {

class Determinism : public ::testing::TestWithParam<const char*> {};

TEST_P(Determinism, SameHashTwiceAndWithOtherThreads) {
  const auto run = [](int threads) {
    Scene scene = shipped_scene(GetParam());
    scene.options.threads = threads;
    Simulation simulation = simulation_of(scene);
    for (int i = 0; i < 60; ++i) simulation.step();
    return hash(simulation.state());
  };
  const std::uint64_t once = run(1);
  EXPECT_EQ(once, run(1));
  EXPECT_EQ(once, run(2));
  EXPECT_EQ(once, run(5));
}

INSTANTIATE_TEST_SUITE_P(Scenes, Determinism,
                         ::testing::Values("stack.yaml", "cannonball.yaml", "dominoes.yaml", "wrecking_ball.yaml",
                                           "incline.yaml", "arch.yaml", "two_carts.yaml", "double_pendulum.yaml"));

/// What is large is worked on in portions: contacts, rows, sweeps, judge and correction.
struct LargeCase {
  const char* name;
  const char* scene;
  std::vector<std::pair<std::string, std::string>> set;
  const char* scheme;
  Effort effort;
  int steps;
};

class LargeDeterminism : public ::testing::TestWithParam<LargeCase> {};

TEST_P(LargeDeterminism, SameHashOnAnyNumberOfThreads) {
  const LargeCase& given = GetParam();
  const auto run = [&](int threads) {
    SceneLoadOptions options;
    options.set = given.set;
    Scene scene = shipped_scene(given.scene, options);
    scene.options.threads = threads;
    scene.options.effort = given.effort;
    if (given.scheme != nullptr) scene.options.scheme = given.scheme;
    Simulation simulation = simulation_of(scene);
    double residual = 0;
    for (int i = 0; i < given.steps; ++i) residual += simulation.step().certificate.residual.worst.relative;
    return std::pair(hash(simulation.state()), residual);
  };
  const auto alone = run(1);
  EXPECT_EQ(alone, run(2));
  EXPECT_EQ(alone, run(4));
}

INSTANTIATE_TEST_SUITE_P(
    Scenes, LargeDeterminism,
    ::testing::Values(LargeCase{"heap", "heap.yaml", {{"n", "1500"}}, nullptr, Effort::Swift, 40},
                      LargeCase{"wall", "wall.yaml", {{"hit", "0"}}, nullptr, Effort::Swift, 20},
                      LargeCase{"wall_balanced", "wall.yaml", {{"hit", "0"}}, nullptr, Effort::Balanced, 3},
                      LargeCase{"wheel_loader", "wheel_loader.yaml", {}, nullptr, Effort::Exact, 20},
                      LargeCase{"rocks", "rock_pile.yaml", {{"n", "200"}}, nullptr, Effort::Swift, 30},
                      LargeCase{"spook", "heap.yaml", {{"n", "800"}}, "spook", Effort::Swift, 20},
                      LargeCase{"euler", "heap.yaml", {{"n", "27"}}, "euler", Effort::Exact, 10},
                      LargeCase{"trapezoid", "heap.yaml", {{"n", "27"}}, "trapezoid", Effort::Exact, 10},
                      LargeCase{"alpha_gamma", "heap.yaml", {{"n", "27"}}, "alpha-gamma", Effort::Exact, 10}),
    [](const ::testing::TestParamInfo<LargeCase>& info) { return std::string(info.param.name); });

TEST(Determinism, SceneOrderOfStepsDoesNotMatter) {
  // Two simulations stepped in turn do not disturb each other: all scratch is their own.
  const Scene scene = shipped_scene("dominoes.yaml");
  Simulation a = simulation_of(scene), b = simulation_of(scene), alone = simulation_of(scene);
  for (int i = 0; i < 30; ++i) {
    a.step();
    b.step();
  }
  for (int i = 0; i < 30; ++i) alone.step();
  EXPECT_EQ(hash(a.state()), hash(b.state()));
  EXPECT_EQ(hash(a.state()), hash(alone.state()));
}

}  // namespace
}  // namespace slipstick::test
