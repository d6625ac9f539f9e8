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
