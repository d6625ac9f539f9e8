// After warm-up a step allocates nothing.
#include "support/count_allocations.h"

#include <vector>

#include "support/simulate.h"

namespace slipstick::test {
namespace {

struct Case {
  const char* scene;
  const char* scheme;
};
class Allocation : public ::testing::TestWithParam<Case> {};

TEST_P(Allocation, StepsAllocateNothingAfterWarmUp) {
  Scene scene = shipped_scene(GetParam().scene);
  scene.options.scheme = GetParam().scheme;
  Simulation simulation = simulation_of(scene);
  for (int i = 0; i < 30; ++i) simulation.step();
  const long before = allocation_count;
  for (int i = 0; i < 30; ++i) simulation.step();
  EXPECT_EQ(allocation_count - before, 0);
}

TEST(Allocation, StepsAtRestAllocateNothing) {
  Scene scene = shipped_scene("stack.yaml");
  scene.options.reduce_contacts = true;
  scene.options.hold_resting = true;
  Simulation simulation = simulation_of(scene);
  for (int i = 0; i < 30; ++i) simulation.step();
  const long before = allocation_count;
  int held = 0;
  for (int i = 0; i < 30; ++i) held += simulation.step().held;
  EXPECT_EQ(allocation_count - before, 0);
  EXPECT_GT(held, 0);
}

TEST(Allocation, InputsAndReadingsAllocateNothing) {
  for (const char* scheme : {"stabilized", "trapezoid", "spook"}) {
    Scene scene = shipped_scene("motor_arm.yaml");
    scene.options.scheme = scheme;
    Simulation simulation(scene);
    Inputs in;
    double sum = 0;
    const auto step = [&] {
      simulation.update_inputs(&in);
      in.force("hand", {0, 0, 1}).torque("hand", {0, 0, 0.1});
      in.motor("shoulder").target = 0.1;
      in.motor("axle").torque = 0.2;
      simulation.step(in);
      sum += simulation.joint("shoulder").motor_force + simulation.body_forces()[1].joint.torque.norm();
    };
    for (int i = 0; i < 30; ++i) step();
    const long before = allocation_count;
    for (int i = 0; i < 30; ++i) step();
    EXPECT_EQ(allocation_count - before, 0) << scheme;
    EXPECT_NE(sum, 0);
  }
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
                         ::testing::Values(Case{"stack.yaml", "stabilized"}, Case{"heavy_stack.yaml", "stabilized"},
                                           Case{"incline.yaml", "stabilized"}, Case{"pendulum.yaml", "stabilized"},
                                           Case{"two_carts.yaml", "stabilized"}, Case{"arch.yaml", "stabilized"}));

// The event driver: steps without events.
INSTANTIATE_TEST_SUITE_P(Events, Allocation,
                         ::testing::Values(Case{"stack.yaml", "trapezoid"}, Case{"pendulum.yaml", "trapezoid"},
                                           Case{"double_pendulum.yaml", "trapezoid"}, Case{"pendulum.yaml", "euler"},
                                           Case{"free_top.yaml", "trapezoid"}));

}  // namespace
}  // namespace slipstick::test
