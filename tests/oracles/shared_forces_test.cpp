// Forces that are not unique, against statics with equal springs.
#include <gtest/gtest.h>
#include <slipstick/scene.h>
#include <slipstick/simulation.h>

#include <array>
#include <string>

#include "support/simulate.h"

namespace slipstick {
namespace {

using test::scene_of;

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

}  // namespace
}  // namespace slipstick
