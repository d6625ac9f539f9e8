// Friction beyond one coefficient against closed forms: rolling, spinning, two coefficients.
#include <cmath>

#include "support/simulate.h"

namespace slipstick::test {
namespace {

TEST(Friction, RollingSphereStopsByRollingFriction) {
  // A sphere that rolls loses (5/7) g arm / R: from 1 m/s with arm 1 mm and R = 0.1 it stops after v^2 / (2 a).
  const Scene scene = scene_of(R"yaml(
materials: {default: {friction: 0.5, rolling_friction: 0.002}}
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {name: ball, mass: 3, position: [0, 0, 0.1], velocity: [0.3, 0.4, 0], angular_velocity: [-4, 3, 0],
     shapes: [{sphere: {radius: 0.1}}]}
)yaml");
  const double a = 5.0 / 7 * 9.81 * 0.002 / 0.1, v = 0.5;
  Simulation simulation = simulation_of(scene, 0.001);
  run_until(1, &simulation);
  EXPECT_NEAR(motion_of(simulation, "ball").velocity.norm(), v - a, 1e-9);
  run_until(v / a + 0.1, &simulation);
  const WorldMotion ball = motion_of(simulation, "ball");
  EXPECT_NEAR(ball.velocity.norm(), 0, 1e-9) << "and stays";
  EXPECT_NEAR(ball.pose.position.head<2>().norm(), v * v / (2 * a), 1e-3);
}

TEST(Friction, SpinningSphereSlowsBySpinningFriction) {
  const Scene scene = scene_of(R"yaml(
materials: {default: {friction: 0.5, spinning_friction: 0.01}}
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {name: ball, mass: 3, position: [0, 0, 0.1], angular_velocity: [0, 0, 30], shapes: [{sphere: {radius: 0.1}}]}
)yaml");
  Simulation simulation = simulation_of(scene, 0.01);
  run_until(1, &simulation);
  const double slowing = 0.01 * 9.81 / (0.4 * 0.1 * 0.1);
  EXPECT_NEAR(motion_of(simulation, "ball").angular_velocity.z(), 30 - slowing, 1e-9);
  run_until(30 / slowing + 0.1, &simulation);
  EXPECT_NEAR(motion_of(simulation, "ball").angular_velocity.norm(), 0, 1e-9);
}

TEST(Friction, PlanarDiskStopsByRollingFriction) {
  const Scene scene = scene_of(R"yaml(
planar: true
gravity: [0, -9.81]
materials: {default: {friction: 0.5, rolling_friction: 0.002}}
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 1], offset: 0}}]}
  - {name: disk, mass: 3, position: [0, 0.1], velocity: [0.5, 0], angular_velocity: -5, shapes: [{disk: {radius: 0.1}}]}
)yaml");
  Simulation simulation = simulation_of(scene, 0.001);
  run_until(1, &simulation);
  EXPECT_NEAR(motion_of(simulation, "disk").velocity.x(), 0.5 - 2.0 / 3 * 9.81 * 0.002 / 0.1, 1e-9);
}

/// A ski: 0.05 along its axis and 0.4 across. Sliding at an angle its force lies on the ellipse where dissipation is
/// greatest: lambda = -N (mu_1^2 w_1, mu_2^2 w_2) / |(mu_1 w_1, mu_2 w_2)|.
TEST(Friction, AnisotropicSliding) {
  for (const double heading : {0.0, 0.3, 1.2, 1.5707963267948966}) {
    SceneLoadOptions options;
    options.set.push_back({"heading", std::to_string(heading)});
    const Scene scene = scene_of(R"yaml(
let: {heading: 0}
materials:
  default: {friction: 0.05}
  ski: {friction: 0.05, friction_across: 0.4, friction_axis: [0, 1, 0]}
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {name: ski, mass: 3, position: [0, 0, 0.1], velocity: [2*sin(heading), 2*cos(heading), 0], lock: [rotation],
     shapes: [{box: {size: [0.1, 1.5, 0.2]}, material: ski}]}
)yaml",
                                 options);
    Simulation simulation = simulation_of(scene, 1e-5);
    const Vec3 before = motion_of(simulation, "ski").velocity;
    run_until(1e-5, &simulation);
    const Vec3 force = (motion_of(simulation, "ski").velocity - before) / 1e-5;
    const double across = 0.4 * before.x(), along = 0.05 * before.y(), size = std::hypot(across, along);
    EXPECT_NEAR(force.x(), -9.81 * 0.4 * across / size, 1e-4);
    EXPECT_NEAR(force.y(), -9.81 * 0.05 * along / size, 1e-4);
  }
}

TEST(Friction, AnisotropicStick) {
  // On a slope of 10 degrees the ski holds across (0.4 > tan 10) and slides along (0.05 < tan 10).
  for (const bool across : {true, false}) {
    SceneLoadOptions options;
    options.set.push_back({"across", across ? "1" : "0"});
    const Scene scene = scene_of(R"yaml(
let: {across: 1}
gravity: [9.81*sin(10*deg)*across, 9.81*sin(10*deg)*(1-across), -9.81*cos(10*deg)]
materials:
  default: {friction: 0.05}
  ski: {friction: 0.05, friction_across: 0.4, friction_axis: [0, 1, 0]}
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {name: ski, mass: 3, position: [0, 0, 0.1], shapes: [{box: {size: [1.5, 1.5, 0.2]}, material: ski}]}
)yaml",
                                 options);
    Simulation simulation = simulation_of(scene, 0.01);
    run_until(1, &simulation);
    const double slope = 10 * 3.141592653589793 / 180, a = 9.81 * (std::sin(slope) - 0.05 * std::cos(slope));
    EXPECT_NEAR(motion_of(simulation, "ski").velocity.norm(), across ? 0 : a, 1e-9);
  }
}

const std::vector<std::string> kFrictionSchemes{"stabilized", "euler", "trapezoid", "alpha-gamma", "spook"};

bool is_of_second_order(const std::string& scheme) { return scheme == "trapezoid" || scheme == "alpha-gamma"; }

/// A block of two coefficients, their axis `turn` radians from x, that slides from 3 m/s at `heading` radians.
struct Slide {
  double along = 0.5, across = 0.2, turn = 0, heading = 0;
};

Simulation simulation_of_slide(const Slide& slide, const std::string& scheme, double h) {
  SceneLoadOptions options;
  for (const auto& [name, value] : {std::pair("along", slide.along), std::pair("across", slide.across),
                                    std::pair("turn", slide.turn), std::pair("heading", slide.heading)})
    options.set.push_back({name, std::to_string(value)});
  Scene scene = scene_of(R"yaml(
let: {along: 0.5, across: 0.2, turn: 0, heading: 0}
materials:
  default: {friction: along}
  skin: {friction: along, friction_across: across, friction_axis: [cos(turn), sin(turn), 0]}
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {name: block, mass: 1, position: [0, 0, 0.1], velocity: [3*cos(heading), 3*sin(heading), 0], lock: [rotation],
     shapes: [{sphere: {radius: 0.1}, material: skin}]}
)yaml",
                         options);
  scene.options.scheme = scheme;
  return simulation_of(scene, h);
}

TEST(Friction, AcrossSlowsByItsOwnCoefficientUntilItStops) {
  constexpr double kQuarter = 1.570796;
  for (const std::string& scheme : kFrictionSchemes)
    for (const Slide& slide : {Slide{.across = 0.2, .heading = kQuarter}, Slide{.across = 0.01, .heading = kQuarter},
                               Slide{.along = 0.05, .across = 0.4, .heading = kQuarter},
                               Slide{.across = 0.2, .turn = 0.7, .heading = 0.7 + kQuarter}}) {
      Simulation simulation = simulation_of_slide(slide, scheme, 0.01);
      run_until(0.25, &simulation);
      const double slowing = slide.across * 9.81;
      EXPECT_NEAR(motion_of(simulation, "block").velocity.norm(), 3 - slowing * 0.25, 1e-6) << scheme << slide.across;
      if (slide.across < 0.1) continue;
      run_until(3 / slowing + 0.05, &simulation);
      const WorldMotion block = motion_of(simulation, "block");
      EXPECT_NEAR(block.velocity.norm(), 0, 1e-9) << scheme << slide.across;
      EXPECT_NEAR(block.pose.position.head<2>().norm(), 4.5 / slowing, is_of_second_order(scheme) ? 1e-6 : 0.016)
          << scheme << slide.across;
    }
}

TEST(Friction, AnisotropicSlidingIsOfTheOrderOfItsScheme) {
  // dv_1 : dv_2 = mu_1^2 v_1 : mu_2^2 v_2, so that v_2 goes as v_1 to the power (mu_2/mu_1)^2, until both are zero.
  const auto error_of = [](const Slide& slide, const std::string& scheme, double h) {
    Simulation simulation = simulation_of_slide(slide, scheme, h);
    run_until(0.4, &simulation);
    const Vec3 v = motion_of(simulation, "block").velocity;
    const double c = std::cos(slide.turn), s = std::sin(slide.turn), from = slide.heading - slide.turn;
    const double along = (c * v.x() + s * v.y()) / (3 * std::cos(from));
    const double across = (c * v.y() - s * v.x()) / (3 * std::sin(from));
    return across - std::pow(along, slide.across * slide.across / (slide.along * slide.along));
  };
  for (const Slide& slide :
       {Slide{.heading = 1.2}, Slide{.turn = 0.5, .heading = 1.2}, Slide{.along = 0.2, .across = 0.3, .heading = 1.2}})
    for (const std::string& scheme : kFrictionSchemes) {
      const double coarse = error_of(slide, scheme, 0.01), fine = error_of(slide, scheme, 0.005);
      const bool second = is_of_second_order(scheme);
      EXPECT_NEAR(coarse / fine, second ? 4 : 2, second ? 0.4 : 0.3) << scheme << slide.turn << slide.across;
      EXPECT_LT(std::abs(coarse), second ? 2e-4 : 2e-2) << scheme << slide.turn << slide.across;
    }
}

TEST(Friction, SpinningAndRollingThatHaveStoppedStayAtRest) {
  // With alpha < 1 a limit at u alone would let v change its sign in every step.
  const double slowing = 0.01 * 9.81 / (0.4 * 0.1 * 0.1), rolling = 5.0 / 7 * 9.81 * 0.02 / 0.1;
  for (const std::string& scheme : kFrictionSchemes) {
    Scene scene = scene_of(R"yaml(
materials: {default: {friction: 0.5, spinning_friction: 0.01}, rough: {friction: 0.5}}
material_pairs: [{between: [default, rough], friction: 0.5, rolling_friction: 0.02}]
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {name: top, mass: 3, position: [0, 0, 0.1], angular_velocity: [0, 0, 10], shapes: [{sphere: {radius: 0.1}}]}
  - {name: ball, mass: 3, position: [3, 0, 0.1], velocity: [0.3, 0.4, 0], angular_velocity: [-4, 3, 0],
     shapes: [{sphere: {radius: 0.1}, material: rough}]}
)yaml");
    scene.options.scheme = scheme;
    Simulation simulation = simulation_of(scene, 0.01);
    run_until(0.6, &simulation);
    const WorldMotion top = motion_of(simulation, "top"), ball = motion_of(simulation, "ball");
    const bool second = is_of_second_order(scheme);
    EXPECT_NEAR(top.angular_velocity.norm(), 0, 1e-9) << scheme;
    EXPECT_NEAR(ball.velocity.norm(), 0, 1e-9) << scheme;
    const double turned = 2 * std::atan2(top.pose.orientation.z(), top.pose.orientation.w());
    EXPECT_NEAR(std::remainder(turned - 50 / slowing, 2 * 3.141592653589793), 0, second ? 1e-3 : 0.06) << scheme;
    EXPECT_NEAR((ball.pose.position - Vec3(3, 0, 0.1)).norm(), 0.125 / rolling, second ? 1e-4 : 3e-3) << scheme;
  }
}

}  // namespace
}  // namespace slipstick::test
