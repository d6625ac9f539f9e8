// Contact, friction and impact against closed forms.
#include <cmath>
#include <numbers>

#include "support/simulate.h"

namespace slipstick::test {
namespace {

TEST(Contact, RestingBoxPressesWithItsWeight) {
  const Scene scene = scene_of(R"yaml(
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {name: box, mass: 7, position: [0, 0, 0.15], shapes: [{box: {size: [1, 0.5, 0.3]}}]}
simulation: {step: 0.01}
)yaml");
  Simulation simulation = simulation_of(scene);
  run_until(1, &simulation);
  Vec3 sum = Vec3::Zero();
  for (const ContactForce& contact : simulation.contact_forces()) sum += contact.force;
  EXPECT_NEAR(sum.z() / (7 * 9.81), 1, 1e-9);
  EXPECT_NEAR(sum.head<2>().norm(), 0, 1e-9 * 7 * 9.81);
  EXPECT_EQ(simulation.contact_forces().size(), 4u);
}

TEST(Contact, SlidingSphereStartsToRollAtFiveSeventhsOfItsSpeed) {
  // v0 = 7, mu = 0.2, R = 0.1: rolls at t = 1.01936799185 with v = 5 after 6.11620795107 m.
  const Scene scene = scene_of(R"yaml(
materials: {default: {friction: 0.2}}
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {name: ball, mass: 1, position: [0, 0, 0.1], velocity: [7, 0, 0], shapes: [{sphere: {radius: 0.1}}]}
)yaml");
  double previous = 0;
  for (const double h : {0.004, 0.002, 0.001}) {
    Simulation simulation = simulation_of(scene, h);
    run_until(1.2, &simulation);
    const WorldMotion ball = motion_of(simulation, "ball");
    EXPECT_NEAR(ball.velocity.x(), 5, 1e-9) << "rolling speed does not depend on the step";
    EXPECT_NEAR(ball.angular_velocity.y(), 50, 1e-7);
    const double exact = 6.11620795107 + 5 * (1.2 - 1.01936799185);
    const double error = std::abs(ball.pose.position.x() - exact);
    if (previous > 0) {
      EXPECT_NEAR(previous / error, 2, 0.25) << "first order, h = " << h;
    }
    previous = error;
  }
}

class HeadOnImpact : public ::testing::TestWithParam<double> {};

TEST_P(HeadOnImpact, LeavesWithRestitutionTimesApproachAtAnyStep) {
  // [Anitescu03], one-dimensional ball: after the two steps of an impact the speed is exactly -e for every h.
  const Scene scene = scene_of(R"yaml(
gravity: [0, 0, 0]
materials: {default: {friction: 0, restitution: 0.8}}
bodies:
  - {name: wall, fixed: true, shapes: [{plane: {normal: [-1, 0, 0], offset: -1.1}}]}
  - {name: ball, mass: 1, velocity: [1, 0, 0], lock: [rotation], shapes: [{sphere: {radius: 0.1}}]}
)yaml");
  Simulation simulation = simulation_of(scene, GetParam());
  run_until(1 + 4 * GetParam(), &simulation);
  EXPECT_NEAR(motion_of(simulation, "ball").velocity.x(), -0.8, 1e-12);
}
INSTANTIATE_TEST_SUITE_P(Steps, HeadOnImpact, ::testing::Values(0.3, 0.1, 0.07, 0.05, 0.03, 0.017, 0.007, 0.0013));

TEST(Contact, BouncingBallComesToRest) {
  // h = 1 m, e = 0.5: all over at 1.35457 s.
  const Scene scene = shipped_scene("bouncing_ball.yaml");
  Simulation simulation = simulation_of(scene);
  run_until(0.675, &simulation);  // top of the first bounce: h e^2 = 0.25 m above the floor
  EXPECT_NEAR(motion_of(simulation, "ball").pose.position.z() - 0.1, 0.25, 0.02);
  run_until(1.6, &simulation);
  EXPECT_NEAR(motion_of(simulation, "ball").pose.position.z(), 0.1, 1e-6);
  EXPECT_NEAR(motion_of(simulation, "ball").velocity.norm(), 0, 1e-9);
}

TEST(Contact, EulerAppliesPoissonImpact) {
  // Spinning ball: m=.2 R=.05 v=(2,-3) e=.6, spin -40 about y; friction enough to stop the slip in compression, where
  // the normal impulse is 0.6 and the tangential one 0.2286.
  const Scene scene = scene_of(R"yaml(
gravity: [0, 0, 0]
materials: {default: {friction: 0.5, restitution: 0.6}}
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {name: ball, mass: 0.2, position: [0, 0, 0.0515], velocity: [2, 0, -3], angular_velocity: [0, -40, 0], shapes: [{sphere: {radius: 0.05}}]}
simulation: {scheme: euler, step: 0.001}
)yaml");
  Simulation simulation = simulation_of(scene);
  run_until(0.004, &simulation);
  const WorldMotion ball = motion_of(simulation, "ball");
  EXPECT_NEAR(ball.velocity.z(), 1.8, 1e-9);
  EXPECT_NEAR(ball.velocity.x(), 0.857142857143, 1e-9);
  EXPECT_NEAR(ball.angular_velocity.y(), 17.1428571429, 1e-7);
}

TEST(Contact, PainleveRodTakesAnImpulseWithoutCollision) {
  // Rod m=1, half length 0.5, 60 degrees, tip sliding left at 1 m/s, mu = 2: no acceleration solves it, an impulse
  // does. In the limit p_n = 0.324759526419, p_t = 0.4375, and v+ = (-0.5625, 0.324759526419), omega = 1.299038105677.
  const Scene scene = scene_of(R"yaml(
planar: true
let: {l: 0.5, a: 60*deg}
materials: {default: {friction: 2}}
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 1], offset: 0}}]}
  - {name: rod, mass: 1, inertia: [1, 1, l^2/3], center_of_mass: [0, 0], position: [l*cos(a), l*sin(a)], velocity: [-1, 0],
     shapes: [{disk: {radius: 1e-9}, position: [-l*cos(a), 1e-9 - l*sin(a)]}]}
)yaml");
  const double limit = 0.324759526419;
  double previous = 0;
  for (const double h : {1e-3, 1e-4, 1e-5}) {
    Simulation simulation = simulation_of(scene, h);
    ASSERT_TRUE(simulation.step().certified);
    ASSERT_EQ(simulation.contact_forces().size(), 1u);
    const double error = std::abs(simulation.contact_forces()[0].force.y() * h - limit);
    if (previous > 0) {
      EXPECT_NEAR(previous / error, 10, 0.5);
    }
    previous = error;
  }
  EXPECT_LT(previous, 1e-4);
}

TEST(Contact, ThreeCylindersNeedFriction) {
  // Two disks on a floor, one on top: stands iff mu >= 0.267949 between disks (floor mu plentiful).
  const auto spread = [](double mu) {
    const Scene scene = scene_of("planar: true\nlet: {mu: " + std::to_string(mu) + R"yaml(}
materials: {floor: {friction: 1}, default: {friction: mu}}
material_pairs: [{between: [floor, default], friction: 0.5}]
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 1], offset: 0}, material: floor}]}
  - {name: left, mass: 1, position: [-1, 1], shapes: [{disk: {radius: 1}}]}
  - {name: right, mass: 1, position: [1, 1], shapes: [{disk: {radius: 1}}]}
  - {name: top, mass: 1, position: [0, 1 + sqrt(3)], shapes: [{disk: {radius: 1}}]}
)yaml");
    Simulation simulation = simulation_of(scene, 0.005);
    run_until(1, &simulation);
    return motion_of(simulation, "right").pose.position.x() - 1;
  };
  EXPECT_LT(spread(0.2733), 1e-6);
  EXPECT_GT(spread(0.2626), 1e-3);
}

}  // namespace
}  // namespace slipstick::test
