// The climbing limit of the rover against the closed forms of its traction model (docs/rover.md).
#include <cmath>
#include <numbers>

#include "support/simulate.h"

namespace slipstick::test {
namespace {

constexpr double kSlope = 20 * std::numbers::pi / 180, kArm = 0.02, kRadius = 0.25;

Scene make_slope(const std::string& name, double value) {
  SceneLoadOptions options;
  options.set.push_back({name, std::to_string(value)});
  return shipped_scene("rover_slope.yaml", options);
}

/// Whether a hub moves up the slope when the run ends; all steps certified, joints below 1e-4.
bool climbs(const std::string& name, double value) {
  const Scene scene = make_slope(name, value);
  Simulation simulation = simulation_of(scene);
  double open = 0;
  while (simulation.state().time < scene.options.duration - 1e-9) {
    const StepReport& report = simulation.step();
    EXPECT_TRUE(report.certified) << report.note;
    open = std::max(open, report.certificate.joint_error);
  }
  EXPECT_LT(open, 1e-4);
  return simulation.sensor("roll_00").value() > 0.01;
}

/// The border of climbing between two values 1.6 % below and above `middle`, to 0.4 %.
double find_border(const std::string& name, double middle) {
  double low = 0.984 * middle, high = 1.016 * middle;
  EXPECT_FALSE(climbs(name, low));
  EXPECT_TRUE(climbs(name, high));
  while (high - low > 4.1e-3 * middle) (climbs(name, (low + high) / 2) ? high : low) = (low + high) / 2;
  return (low + high) / 2;
}

TEST(RoverSlope, FrictionLimitIsTheTangent) {
  const double border = find_border("mu", std::tan(kSlope));
  EXPECT_NEAR(border / std::tan(kSlope), 1, 0.01);
}

TEST(RoverSlope, TorqueLimitIsSlopeAndSinkage) {
  double mass = 0;
  for (const Body& body : make_slope("slope", 20).model.bodies) mass += body.mass;
  const double torque = mass * 9.81 * (kRadius * std::sin(kSlope) + kArm * std::cos(kSlope)) / 4;
  EXPECT_NEAR(find_border("drive_torque", torque) / torque, 1, 0.01);
}

}  // namespace
}  // namespace slipstick::test
