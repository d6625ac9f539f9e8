#include "view/pull.h"

#include "support/simulate.h"

namespace slipstick {
namespace {

Scene make_rod(const std::string& simulation) {
  return test::scene_of(
      "bodies: [{name: rod, mass: 2, position: [0, 0, 1], inertia: [0.2, 0.2, 0.001]}]\nsimulation: " + simulation);
}

void drag(const LivePull& pull, int steps, Simulation* simulation) {
  Inputs in;
  for (int k = 0; k < steps; ++k) {
    simulation->update_inputs(&in);
    apply_pull(*simulation, pull, &in);
    ASSERT_FALSE(simulation->step(in).failed);
  }
}

TEST(Pull, HangsByItsSpring) {
  const Scene scene = make_rod("{duration: 1, step: 1/100}");
  for (const double strength : {0.3, 1.0, 3.0}) {
    Simulation simulation(scene);
    drag({0, {0, 0, 0.5}, {0, 0, 1.5}, strength}, 3000, &simulation);
    const double stiffness = strength * 2 * std::pow(2 * M_PI * 3, 2);
    EXPECT_NEAR(simulation.state().pose[0].position.z(), 1 - 2 * 9.81 / stiffness, 1e-4);
  }
}

TEST(Pull, IsStableForEveryStrengthStepAndScheme) {
  for (const char* step : {"1/1000", "1/60", "1/10"})
    for (const char* scheme : {"stabilized", "trapezoid", "spook"}) {
      const Scene scene = make_rod("{duration: 1, step: " + std::string(step) + ", scheme: " + scheme + "}");
      for (const double strength : {0.01, 1.0, 100.0, 1e6}) {
        Simulation simulation(scene);
        drag({0, {0.01, 0, 0.5}, {1, 0.5, 2}, strength}, static_cast<int>(4 / scene.options.step), &simulation);
        EXPECT_LT(simulation.state().velocity[0].linear.norm(), 60) << step << " " << scheme << " " << strength;
        EXPECT_LT((simulation.state().pose[0].position - Vec3(1, 0.5, 2)).norm(), strength < 0.1 ? 5 : 1.5)
            << step << " " << scheme << " " << strength;
      }
    }
}

}  // namespace
}  // namespace slipstick
