// Cylinders, cones, ellipsoids and hulls against closed forms.
#include <cmath>
#include <numbers>

#include "support/simulate.h"

namespace slipstick::test {
namespace {

TEST(RoundBodies, CylinderRollsAtTwoThirds) {
  const Scene scene = scene_of(R"yaml(
let: {slope: 0.2}
materials: {default: {friction: 0.8}}
bodies:
  - {name: ramp, fixed: true, shapes: [{plane: {normal: [sin(slope), 0, cos(slope)], offset: 0}}]}
  - name: roller
    density: 1000
    position: [0.25*sin(slope), 0, 0.25*cos(slope)]
    orientation: {axis: [1, 0, 0], angle_deg: 90}
    shapes: [{cylinder: {radius: 0.25, length: 0.5}}]
simulation: {step: 1/1000}
)yaml");
  Simulation simulation = simulation_of(scene);
  run_until(1, &simulation);
  const WorldMotion roller = motion_of(simulation, "roller");
  const double expected = 2.0 / 3.0 * 9.81 * std::sin(0.2);
  EXPECT_NEAR(roller.velocity.norm() / expected, 1, 2e-3);
  EXPECT_NEAR(roller.angular_velocity.norm() * 0.25, expected, 2e-3 * expected);
}

/// Stands, lies, or rests on its mantle: nothing moves, and the floor carries the weight.
class RestingRound : public ::testing::TestWithParam<const char*> {};

TEST_P(RestingRound, KeepsStill) {
  const Scene scene = scene_of(std::string(R"yaml(
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - )yaml") + GetParam() + "\nsimulation: {step: 0.01}\n");
  Simulation simulation = simulation_of(scene);
  const WorldMotion start = motion_of(simulation, "thing");
  run_until(2, &simulation);
  const WorldMotion end = motion_of(simulation, "thing");
  EXPECT_LT((end.pose.position - start.pose.position).norm(), 1e-7);
  EXPECT_LT(end.pose.orientation.angularDistance(start.pose.orientation), 1e-6);
  Vec3 sum = Vec3::Zero();
  for (const ContactForce& contact : simulation.contact_forces()) sum += contact.force;
  EXPECT_NEAR(sum.z() / 9.81, 1, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, RestingRound,
    ::testing::Values("{name: thing, mass: 1, position: [0, 0, 0.3], shapes: [{cylinder: {radius: 0.2, length: 0.6}}]}",
                      "{name: thing, mass: 1, position: [0, 0, 0.2], orientation: {axis: [1, 0, 0], angle_deg: 90}, "
                      "shapes: [{cylinder: {radius: 0.2, length: 0.6}}]}",
                      "{name: thing, mass: 1, position: [0, 0, 0.3], shapes: [{cone: {radius: 0.2, length: 0.6}}]}",
                      "{name: thing, mass: 1, position: [0, 0, 0.2], shapes: [{ellipsoid: {size: [0.8, 0.6, 0.4]}}]}",
                      "{name: thing, mass: 1, position: [0, 0, 0], shapes: [{hull: {points: [[0, 0, 0], [1, 0, 0], "
                      "[0, 1, 0], [1, 1, 0], [0.5, 0.5, 1]]}}]}"));

TEST(RoundBodies, ConeTipsWhereItsCentreLeavesItsFoot) {
  // The centre is length / 4 above the base: tan = 4 radius / length.
  for (const double part : {0.97, 1.03}) {
    const double slope = part * std::atan(0.5);
    SceneLoadOptions options;
    const Scene scene = scene_of("let: {slope: " + std::to_string(slope) + R"yaml(}
materials: {default: {friction: 2}}
bodies:
  - {name: ramp, fixed: true, shapes: [{plane: {normal: [sin(slope), 0, cos(slope)], offset: 0}}]}
  - name: cone
    density: 1000
    position: [0.4*sin(slope), 0, 0.4*cos(slope)]
    orientation: {axis: [0, 1, 0], angle_deg: slope/deg}
    shapes: [{cone: {radius: 0.1, length: 0.8}}]
simulation: {step: 1/500}
)yaml",
                                 options);
    Simulation simulation = simulation_of(scene);
    run_until(1, &simulation);
    const double speed = motion_of(simulation, "cone").angular_velocity.norm();
    if (part < 1) {
      EXPECT_LT(speed, 1e-4);
    } else {
      EXPECT_GT(speed, 0.1);
    }
  }
}

TEST(RoundBodies, EllipsoidRocksAtItsFrequency) {
  // Rolling about y on its z pole: w^2 = m g (rho - c) / (I + m c^2), rho = a^2 / c the radius of curvature there.
  const double a = 0.3, c = 0.2, angle = 1e-3;
  const Scene scene = scene_of(R"yaml(
materials: {default: {friction: 5}}
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - name: egg
    mass: 1
    position: [0, 0, 0.2]
    orientation: {axis: [0, 1, 0], angle_deg: 0.001/deg}
    shapes: [{ellipsoid: {size: [0.6, 0.6, 0.4]}}]
simulation: {step: 1/2000}
)yaml");
  const double inertia = (a * a + c * c) / 5;
  const double omega = std::sqrt(9.81 * (a * a / c - c) / (inertia + c * c));
  Simulation simulation = simulation_of(scene);
  run_until(std::numbers::pi / omega, &simulation);  // half a period: on the other side
  const Quat q = motion_of(simulation, "egg").pose.orientation;
  EXPECT_NEAR(2 * q.y() / angle, -1, 0.05);
}

}  // namespace
}  // namespace slipstick::test
