// Events and impacts against closed forms: stick and slip, bouncing, laws of impact, Painleve's rod, fast bodies.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <random>

#include "support/follow.h"

namespace slipstick::test {
namespace {

// ---------------------------------------------------------------- stick and slip

TEST(StickSlip, OutputsOfThePaper) {
  // [Gavrea08]: alpha = gamma = 1/2, h = 0.01, nothing located. v^h oscillates, v^{h,alpha} does not.
  Simulation simulation = simulation_of(scene_under("stick_slip_block.yaml", "{trapezoid: {locate: false}}"));
  const int block = *simulation.model().find_body("block");
  double v = 0, u = 0, variation_v = 0, variation_u = 0;
  while (simulation.state().time < 10 - 1e-9) {
    simulation.step();
    const double v1 = simulation.state().velocity[block].linear.x();
    const double u1 = simulation.weighted_velocity()[block].linear.x();
    variation_v += std::abs(v1 - v);
    variation_u += std::abs(u1 - u);
    v = v1;
    u = u1;
  }
  EXPECT_NEAR(motion_of(simulation, "block").pose.position.x(), 2.9912529546, 1e-9);
  EXPECT_NEAR(std::abs(v), 1.845754e-3, 1e-8);
  EXPECT_NEAR(u, 0, 1e-12);
  EXPECT_NEAR(variation_v, 2.1576, 1e-3);
  EXPECT_NEAR(variation_u, 0.27998, 1e-4);
}

TEST(StickSlip, SecondOrderWhenLocatedFirstOrderWhenNot) {
  const double exact = 2.991302833115;
  const auto error = [&](const std::string& scheme, double h) {
    Simulation simulation = simulation_of(scene_under("stick_slip_block.yaml", scheme), h);
    follow(10, &simulation);
    return std::abs(motion_of(simulation, "block").pose.position.x() - exact);
  };
  for (const double h : {0.01, 0.005, 0.0025}) {
    EXPECT_NEAR(error("trapezoid", h) / error("trapezoid", h / 2), 4, 0.4);
    EXPECT_NEAR(error("euler", h) / error("euler", h / 2), 2, 0.2);
    EXPECT_NEAR(error("{euler: {locate: false}}", h) / error("{euler: {locate: false}}", h / 2), 2, 0.2);
  }
}

TEST(StickSlip, EventsComeWhenTheyShould) {
  Simulation simulation = simulation_of(shipped_scene("stick_slip_block.yaml"), 0.002);
  const Course run = follow(10, &simulation);
  const std::array<double, 4> sticks{0.338608184672, 3.532834608887, 6.674427262477, 9.816019916067};
  const std::array<double, 3> slips{2.946346791224, 6.087939444814, 9.229532098403};
  const auto stick = of_kind(run.events, EventKind::Stick), slip = of_kind(run.events, EventKind::Slip);
  ASSERT_EQ(stick.size(), 4u);
  ASSERT_EQ(slip.size(), 3u);
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(stick[i].time, sticks[i], 1e-5);
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(slip[i].time, slips[i], 1e-4);
}

TEST(StickSlip, SphereRollsFromTheRightInstantOn) {
  Simulation simulation = simulation_of(shipped_scene("sliding_sphere.yaml"), 0.01);
  const Course run = follow(1.2, &simulation);
  ASSERT_EQ(run.events.size(), 1u);
  EXPECT_EQ(run.events[0].kind, EventKind::Stick);
  EXPECT_NEAR(run.events[0].time, 1.01936799185, 1e-9);
  EXPECT_NEAR(motion_of(simulation, "ball").pose.position.x(), 6.11620795107 + 5 * (1.2 - 1.01936799185), 1e-9);
  EXPECT_NEAR(motion_of(simulation, "ball").velocity.x(), 5, 1e-12);
}

// ---------------------------------------------------------------- impacts

TEST(Impacts, BallLeavesTheWallAtETimesItsSpeedAtTheRightInstant) {
  for (const double h : {0.3, 0.1, 0.07, 0.05, 0.03, 0.017})
    for (const char* scheme :
         {"trapezoid", "euler", "{alpha-gamma: {alpha: 0.7, gamma: 0.6}}", "{stabilized: {locate: true}}"}) {
      Simulation simulation = simulation_of(scene_under("ball_and_wall.yaml", scheme, {"e=0.8"}), h);
      const Course run = follow(2, &simulation);
      ASSERT_EQ(run.events.size(), 1u) << scheme << " h = " << h;
      EXPECT_NEAR(run.events[0].time, 1, 1e-12);
      EXPECT_NEAR(run.events[0].normal_speed_before, -1, 1e-12);
      EXPECT_NEAR(run.events[0].normal_speed_after, 0.8, 1e-12);
      EXPECT_NEAR(motion_of(simulation, "ball").pose.position.x(), 1 - 0.8 * (simulation.state().time - 1), 1e-11);
    }
}

TEST(Impacts, BouncingBallComesToRestAfterFinitelyManyEvents) {
  Scene scene = shipped_scene("bouncing_ball.yaml");
  scene.options.scheme = "trapezoid";
  scene.options.restitution_threshold.reset();
  for (const double h : {0.02, 0.005, 0.001}) {
    Simulation simulation = simulation_of(scene, h);
    const Course run = follow(1.6, &simulation);
    ASSERT_GE(run.events.size(), 5u);
    EXPECT_LE(run.events.size(), 20u);
    EXPECT_NEAR(run.events[0].time, 0.451523640986, 1e-11);
    EXPECT_NEAR(run.events[1].time, 0.903047281971, 1e-11);
    EXPECT_NEAR(run.events[2].time, 1.12880910246, 1e-10);
    EXPECT_NEAR(run.events.back().time, 1.35457092296, 2 * h);
    EXPECT_NEAR(motion_of(simulation, "ball").pose.position.z(), 0.1, 1e-12);
    EXPECT_NEAR(motion_of(simulation, "ball").velocity.norm(), 0, 1e-12);
    EXPECT_LE(run.increase, 1e-12);
  }
}

TEST(Impacts, NearlyElasticBallDoesNotLoopForEver) {
  Scene scene = shipped_scene("bouncing_ball.yaml", {.set = {{"e", "0.98"}}});
  scene.options.scheme = "trapezoid";
  scene.options.restitution_threshold.reset();
  Simulation simulation = simulation_of(scene, 0.05);
  follow(60, &simulation);  // sum of all flights: 2 sqrt(2/g) e/(1 - e) + sqrt(2/g) = 44.7 s
  EXPECT_NEAR(motion_of(simulation, "ball").pose.position.z(), 0.1, 1e-9);
  EXPECT_NEAR(motion_of(simulation, "ball").velocity.norm(), 0, 1e-9);
}

Scene spinning_ball(const std::string& law, const std::string& more = "") {
  return scene_of(R"yaml(
gravity: [0, 0, 0]
materials: {default: {friction: 0.3, restitution: 0.6)yaml" +
                  more + R"yaml(}}
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {name: ball, mass: 0.2, position: [0, 0, 0.0515], velocity: [2, 0, -3], angular_velocity: [0, -40, 0], shapes: [{sphere: {radius: 0.05}}]}
simulation: {scheme: trapezoid, step: 0.01, impact: )yaml" +
                  law + "}\n");
}

TEST(Impacts, FrictionIsBoundedOverTheWholeImpulse) {
  // Compression alone (0.6 N s) would leave a slip: mu 0.6 = 0.18 < 0.2286; with decompression 0.288 suffice to stop
  // it.
  for (const char* law : {"poisson", "newton"}) {
    Simulation simulation = simulation_of(spinning_ball(law));
    const Course run = follow(0.02, &simulation);
    const WorldMotion ball = motion_of(simulation, "ball");
    EXPECT_NEAR(ball.velocity.z(), 1.8, 1e-10) << law;
    EXPECT_NEAR(ball.velocity.x(), 0.857142857143, 1e-10) << law;
    EXPECT_NEAR(ball.angular_velocity.y(), 17.1428571429, 1e-8) << law;
    EXPECT_EQ(run.guards, 0);
  }
  // v+ = 1.6 vc - 0.6 v-, where friction has done 0.18 in compression.
  Simulation simulation = simulation_of(spinning_ball("simplified"));
  follow(0.02, &simulation);
  EXPECT_NEAR(motion_of(simulation, "ball").velocity.z(), 1.8, 1e-10);
  EXPECT_NEAR(motion_of(simulation, "ball").velocity.x(), 2 - 1.6 * 0.18 / 0.2, 1e-10);
}

TEST(Impacts, SuperballReturnsItsSpin) {
  Scene scene = scene_of(R"yaml(
gravity: [0, 0, 0]
materials: {default: {friction: 2, restitution: 1, tangential_restitution: 1}}
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {name: ball, mass: 0.2, position: [0, 0, 0.0515], velocity: [2, 0, -3], shapes: [{sphere: {radius: 0.05}}]}
simulation: {scheme: trapezoid, step: 0.01}
)yaml");
  Simulation simulation = simulation_of(scene);
  const double before = simulation.energy().kinetic;
  follow(0.02, &simulation);
  const WorldMotion ball = motion_of(simulation, "ball");
  const double slip = ball.velocity.x() - 0.05 * ball.angular_velocity.y();
  EXPECT_NEAR(slip, -2, 1e-9) << "the slip is reversed";
  EXPECT_NEAR(simulation.energy().kinetic / before, 1, 1e-10) << "and no energy lost";
}

TEST(Impacts, NoLawGainsEnergy) {
  // Boxes thrown at the floor and at each other, several frictional contacts at a time: where Poisson's or Newton's law
  // would gain, the simplified one takes over, and says so.
  int guards = 0;
  for (const char* law : {"poisson", "newton", "simplified"})
    for (int seed = 1; seed <= 12; ++seed) {
      std::mt19937 random(seed);
      std::uniform_real_distribution<double> uniform(-1, 1);
      const auto number = [&](double size) { return std::to_string(size * uniform(random)); };
      std::string text =
          "materials: {default: {friction: 0.9, restitution: 0.8}}\nbodies:\n"
          "  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n";
      for (int i = 0; i < 2; ++i)
        text += "  - {name: b" + std::to_string(i) + ", mass: 1, position: [" + number(0.1) + ", " + number(0.1) +
                ", " + std::to_string(1 + 1.5 * i) + "], velocity: [" + number(2) + ", " + number(2) +
                ", -4], angular_velocity: [" + number(5) + ", " + number(5) + ", " + number(5) +
                "], shapes: [{box: {size: [1, 0.4, 0.3]}}]}\n";
      text += "simulation: {step: 0.005, scheme: {trapezoid: {stabilize: false}}, impact: " + std::string(law) + "}\n";
      Simulation simulation = simulation_of(scene_of(text));
      const Course run = follow(0.6, &simulation);
      EXPECT_LE(run.increase, 1e-8) << law << " seed " << seed;
      EXPECT_FALSE(run.events.empty());
      guards += run.guards;
    }
  EXPECT_GT(guards, 0) << "the guard is not idle";
}

TEST(Impacts, StartThatViolatesContactAndJointIsAnImpactAtZero) {
  const Scene scene = scene_of(R"yaml(
planar: true
gravity: [0, 0]
materials: {default: {friction: 0, restitution: 0.5}}
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 1], offset: 0}}]}
  - {name: ball, mass: 1, position: [0, 0.1], velocity: [0, -2], lock: [rotation], shapes: [{disk: {radius: 0.1}}]}
  - {name: bob, mass: 1, position: [5, 4], velocity: [1, 1], lock: [rotation]}
joints: [{rod: {between: [world, bob], at: [[5, 5], [5, 4]]}}]
simulation: {scheme: trapezoid, step: 0.01}
)yaml");
  Simulation simulation = simulation_of(scene);
  ASSERT_TRUE(simulation.step().certified);
  ASSERT_EQ(simulation.events().size(), 2u);
  for (const Event& event : simulation.events()) {
    EXPECT_EQ(event.kind, EventKind::Impact);
    EXPECT_EQ(event.time, 0);
  }
  EXPECT_NEAR(motion_of(simulation, "ball").velocity.y(), 1, 1e-12);
  EXPECT_NEAR(motion_of(simulation, "bob").velocity.norm(), 1, 1e-9) << "the radial part is gone";
}

TEST(Impacts, GrazingInsideAStepIsSeen) {
  // A ball on a parabola dips 1 mm into the floor in the middle of a step, above it at both ends.
  const Scene scene = scene_of(R"yaml(
gravity: [0, 0, 20]
materials: {default: {friction: 0, restitution: 1}}
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {name: ball, mass: 1, position: [0, 0, 0.1 + 0.024], velocity: [0, 0, -1], shapes: [{sphere: {radius: 0.1}}]}
simulation: {scheme: trapezoid, step: 0.1}
)yaml");
  Simulation simulation = simulation_of(scene);
  ASSERT_TRUE(simulation.step().certified);
  ASSERT_EQ(simulation.events().size(), 1u);
  EXPECT_NEAR(simulation.events()[0].normal_speed_before, -std::sqrt(1 - 2 * 20 * 0.024), 1e-9);
}

TEST(Impacts, TooManyInOneStepAreAReportedFault) {
  // A ball between two walls, 1 cm apart, at 1 km/s without loss: 100 000 impacts in a second.
  const Scene scene = scene_of(R"yaml(
gravity: [0, 0, 0]
materials: {default: {friction: 0, restitution: 1}}
bodies:
  - {name: left, fixed: true, shapes: [{plane: {normal: [1, 0, 0], offset: -0.105}}]}
  - {name: right, fixed: true, shapes: [{plane: {normal: [-1, 0, 0], offset: -0.105}}]}
  - {name: ball, mass: 1, velocity: [1000, 0, 0], shapes: [{sphere: {radius: 0.1}}]}
simulation: {scheme: trapezoid, step: 1}
)yaml");
  Simulation simulation = simulation_of(scene);
  const StepReport& report = simulation.step();
  EXPECT_FALSE(report.certified);
  EXPECT_FALSE(report.failed);
  EXPECT_NE(report.note.find("more than 1000 events"), std::string_view::npos) << report.note;
  EXPECT_LE(report.events, 2100);
  EXPECT_LE(std::abs(motion_of(simulation, "ball").pose.position.x()), 0.005 + 1e-9) << "it is still between them";
  EXPECT_NEAR(simulation.state().time, 1, 0);
}

TEST(Impacts, SimultaneousOnesAreOneProblem) {
  // Three balls in a row hit a wall of three others at the same instant.
  const Scene scene = scene_of(R"yaml(
gravity: [0, 0, 0]
materials: {default: {friction: 0, restitution: 1}}
bodies:
  - {name: "a_{i}", repeat: {i: 3}, mass: 1, position: [0, i, 0], velocity: [1, 0, 0], shapes: [{sphere: {radius: 0.1}}]}
  - {name: "b_{i}", repeat: {i: 3}, mass: 1, position: [0.7, i, 0], shapes: [{sphere: {radius: 0.1}}]}
simulation: {scheme: trapezoid, step: 0.2}
)yaml");
  Simulation simulation = simulation_of(scene);
  const Course run = follow(1, &simulation);
  ASSERT_EQ(run.events.size(), 3u);
  for (const Event& event : run.events) EXPECT_NEAR(event.time, 0.5, 1e-12);
  EXPECT_NEAR(motion_of(simulation, "b_1").velocity.x(), 1, 1e-12);
  EXPECT_NEAR(motion_of(simulation, "a_1").velocity.x(), 0, 1e-12);
}

// ---------------------------------------------------------------- Painleve

TEST(Painleve, ImpulseWithoutCollisionAtAnyStep) {
  // m = 1, half length 1/2, 60 degrees, mu = 2: in the limit v+ = (-0.5625, 0.324759526419), omega = 1.299038105677.
  for (const char* scheme : {"trapezoid", "euler"}) {
    double previous = 0;
    for (const double h : {1e-1, 1e-2, 1e-3, 1e-4}) {
      Simulation simulation = simulation_of(scene_under("painleve_rod.yaml", scheme), h);
      ASSERT_TRUE(simulation.step().certified);
      const auto impacts = of_kind({simulation.events().begin(), simulation.events().end()}, EventKind::Impact);
      EXPECT_EQ(impacts.size(), 1u);
      const WorldMotion rod = motion_of(simulation, "rod");
      const double error = (rod.velocity - Vec3(-0.5625, 0.324759526419, 0)).norm() +
                           std::abs(rod.angular_velocity.z() - 1.299038105677);
      if (h < 5e-2 && previous > 0) {
        EXPECT_NEAR(previous / error, 10, 3) << scheme << " h = " << h;
      }
      previous = error;
    }
    EXPECT_LT(previous, 1e-2);
  }
}

TEST(Painleve, SecondOrderAfterwards) {
  // Pivoting on the tip: theta(0.2) = 1.176525042713 from the vertical... the angle to the floor.
  const auto error = [](double h) {
    Simulation simulation = simulation_of(scene_under("painleve_rod.yaml", "trapezoid"), h);
    const Course run = follow(0.2, &simulation);
    EXPECT_EQ(of_kind(run.events, EventKind::Impact).size(), 1u) << h;
    const Quat q = motion_of(simulation, "rod").pose.orientation;
    return std::abs(60 * std::numbers::pi / 180 + 2 * std::atan2(q.z(), q.w()) - 1.176525042713);
  };
  const double coarse = error(0.01), middle = error(0.005), fine = error(0.0025);
  EXPECT_LT(coarse, 2e-3);
  EXPECT_NEAR(coarse / middle, 4, 0.8);
  EXPECT_NEAR(middle / fine, 4, 0.8);
}

TEST(Painleve, OtherInconsistentStart) {
  // Half length 1, mu = 5/3, g = 10: P_N = 0.324759526419, P_T = -0.4375; after it (0.5625, 0.324759526419),
  // 0.649519052838.
  const Scene scene = scene_of(R"yaml(
planar: true
gravity: [0, -10]
let: {l: 1, a: 60*deg}
materials: {default: {friction: 5/3}}
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 1], offset: 0}}]}
  - {name: rod, mass: 1, inertia: [1, 1, l^2/3], center_of_mass: [0, 0], position: [-l*cos(a), l*sin(a)], velocity: [1, 0],
     shapes: [{disk: {radius: 1e-9}, position: [l*cos(a), 1e-9 - l*sin(a)]}]}
simulation: {scheme: trapezoid}
)yaml");
  for (const double h : {1e-2, 1e-3, 1e-4}) {
    Simulation simulation = simulation_of(scene, h);
    ASSERT_TRUE(simulation.step().certified);
    const WorldMotion rod = motion_of(simulation, "rod");
    EXPECT_NEAR(rod.velocity.x(), 0.5625, 12 * h);
    EXPECT_NEAR(rod.velocity.y(), 0.324759526419, 12 * h);
    EXPECT_NEAR(std::abs(rod.angular_velocity.z()), 0.649519052838, 12 * h);
  }
}

TEST(Painleve, ConsistentStartJustSlides) {
  Simulation simulation = simulation_of(scene_under("painleve_rod.yaml", "trapezoid", {"mu=1"}), 1e-3);
  ASSERT_TRUE(simulation.step().certified);
  EXPECT_TRUE(of_kind({simulation.events().begin(), simulation.events().end()}, EventKind::Impact).empty());
  // Acceleration of the sliding rod: A_nn + mu A_nt = 1.75 - 1.299 = 0.451 > 0, N = g/0.451.
  const double normal = 9.81 / (1.75 - 1.299038105677);
  ASSERT_EQ(simulation.contact_forces().size(), 1u);
  EXPECT_NEAR(simulation.contact_forces()[0].force.y() / normal, 1, 0.02);
}

// ---------------------------------------------------------------- rattling

/// What closes a joint is a speed of millimetres per second that every part of a step gives, however short. Taken away
/// by an impact and given again after it, it closed the same contact 2000 times in one step.
TEST(Rattling, JointsThatAreBeingClosedMakeNoImpacts) {
  Simulation simulation = simulation_of(scene_of(R"yaml(
gravity: [0, 0, 0]
materials: {default: {friction: 0.514991, restitution: 0.439051}}
bodies:
  - {name: b1, mass: 0.641782, position: [0.4, 0, 0.078355], angular_velocity: [-1.214792, -0.374477, -0.693710],
     velocity: [-0.8, 0.058358, 0.049425], shapes: [{box: {size: [0.3, 0.2, 0.4]}}]}
  - {name: b2, mass: 1.822237, position: [-0.4, 1.5, 0.062434], angular_velocity: [1.750350, -0.134009, -0.699351],
     velocity: [0, -0.090937, 0.185465], shapes: [{box: {size: [0.3, 0.2, 0.4]}}]}
  - {name: b3, mass: 1.343490, position: [0.4, 1.5, -0.085793], angular_velocity: [2.016473, 2.553580, -0.643291],
     velocity: [0, 0.027218, -0.008009], shapes: [{sphere: {radius: 0.2}}]}
joints:
  - ball: {between: [b2, b3], at: [0, 1.5, 0]}
forces:
  - spring: {between: [b2, b1], at: [[-0.3, 1.5, 0], [0.3, 0, 0]], stiffness: 36.590367, damping: 0.236549, rest_length: 0}
simulation: {step: 0.005, scheme: {alpha-gamma: {alpha: 0.7, gamma: 0.6}}}
)yaml"));
  std::size_t most = 0;
  for (int k = 0; k < 400; ++k) {
    const StepReport& report = simulation.step();
    ASSERT_TRUE(report.certified) << "step " << k << ": " << report.note;
    most = std::max(most, simulation.events().size());
  }
  EXPECT_LT(most, 100u);
}

// ---------------------------------------------------------------- fast bodies

class Bullet : public ::testing::TestWithParam<const char*> {};

TEST_P(Bullet, NonePassesAThinPlate) {
  // 1 m/s to 1 km/s against a plate of 1 mm, from random places in random headings.
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int i = 0; i < 1000; ++i) {
    const double speed = std::pow(10.0, 3 * uniform(random));
    const double tilt = 1.2 * uniform(random), turn = 2 * std::numbers::pi * uniform(random);
    const Vec3 heading(std::sin(tilt) * std::cos(turn), std::sin(tilt) * std::sin(turn), -std::cos(tilt));
    const double away = speed * 0.01 * (0.2 + 2 * uniform(random));  // meets the plate inside the first steps
    const Vec3 start = -away * heading + Vec3(0.3 * uniform(random), 0.3 * uniform(random), 0.0105);
    const auto triple = [](const Vec3& x) {
      return "[" + std::to_string(x.x()) + ", " + std::to_string(x.y()) + ", " + std::to_string(x.z()) + "]";
    };
    const Scene scene =
        scene_of(R"yaml(
gravity: [0, 0, 0]
materials: {default: {friction: 0.3, restitution: 0.2}}
bodies:
  - {name: plate, fixed: true, shapes: [{box: {size: [400, 400, 0.001]}}]}
  - {name: bullet, mass: 0.01, position: )yaml" +
                 triple(start) + ", velocity: " + triple(speed * heading) + R"yaml(, shapes: [{sphere: {radius: 0.01}}]}
simulation: {step: 0.01, scheme: )yaml" +
                 GetParam() + "}\n");
    Simulation simulation = simulation_of(scene);
    follow(0.05, &simulation);
    EXPECT_GT(motion_of(simulation, "bullet").pose.position.z(), 0.0105 - 1e-6)
        << "speed " << speed << " heading " << heading.transpose();
  }
}
INSTANTIATE_TEST_SUITE_P(Schemes, Bullet, ::testing::Values("stabilized", "trapezoid", "euler"));

}  // namespace
}  // namespace slipstick::test
