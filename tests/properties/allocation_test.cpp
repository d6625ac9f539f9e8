// After warm-up a step allocates nothing.
#include "support/count_allocations.h"

#include <vector>

#include "support/simulate.h"

namespace slipstick::testing {
namespace {

class Allocation : public ::testing::TestWithParam<const char*> {};

TEST_P(Allocation, StepsAllocateNothingAfterWarmUp) {
  Simulation simulation = simulation_of(shipped_scene(GetParam()));
  for (int i = 0; i < 30; ++i) simulation.step();
  const long before = allocation_count;
  for (int i = 0; i < 30; ++i) simulation.step();
  EXPECT_EQ(allocation_count - before, 0);
}

TEST(Allocation, TheCounterCounts) {
  const long before = allocation_count;
  std::vector<int> vector(1000);
  VecX eigen = VecX::Zero(1000);
  EXPECT_EQ(vector.size() + eigen.size(), 2000u);
  if (kCountsAllocations) {
    EXPECT_GE(allocation_count - before, 2);
  }
}

// Scenes whose contacts are all there from the start: later ones need memory for new contacts only.
INSTANTIATE_TEST_SUITE_P(Scenes, Allocation,
                         ::testing::Values("stack.yaml", "heavy_stack.yaml", "incline.yaml", "pendulum.yaml",
                                           "two_carts.yaml", "arch.yaml"));

}  // namespace
}  // namespace slipstick::testing
