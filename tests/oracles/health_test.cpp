// What the health monitor says of accounts that are known: forged ledgers, open joints, bodies inside each other.
#include <gtest/gtest.h>
#include <slipstick/health.h>

#include <string>
#include <utility>
#include <vector>

#include "support/simulate.h"

namespace slipstick {
namespace {

using test::scene_of;
using test::shipped_scene;
using test::simulation_of;

/// A ball of radius s at rest in space where gravity is 10 m/s^2 times s: its weight times its size is 10 s^2 J.
Scene ball_of_size(double s) {
  const std::string size = std::to_string(s);
  return scene_of("gravity: [0, 0, -10*" + size +
                  "]\nbodies: [{name: ball, mass: 1, shapes: [{sphere: {radius: " + size + "}}]}]\n");
}

/// The alarms after steps in which the account changes like this, in units of the weight times the size.
std::vector<HealthAlarm> follow(double size, const std::vector<std::pair<double, double>>& changes_and_paid) {
  const Scene scene = ball_of_size(size);
  const Simulation simulation = simulation_of(scene);
  HealthMonitor health(simulation);
  for (const auto& [change, paid] : changes_and_paid) {
    StepReport report;
    report.certificate.ledger.change = change * 10 * size * size;
    report.certificate.ledger.motor = paid * 10 * size * size;
    health.update(simulation, report);
  }
  return {health.alarms().begin(), health.alarms().end()};
}

TEST(Health, EnergyThatNothingPaidForIsAnAlarmAtEveryScale) {
  for (const double size : {1e-3, 1.0, 1e3}) {
    const auto alarms = follow(size, {{0.05, 0}, {0.06, 0}});
    ASSERT_EQ(alarms.size(), 1U) << size;
    EXPECT_EQ(alarms[0].kind, HealthKind::Energy);
    EXPECT_NEAR(alarms[0].value, 0.11 * 10 * size * size, 1e-9 * size * size);
    EXPECT_TRUE(follow(size, {{0.05, 0}, {0.04, 0}}).empty()) << size;
  }
}

TEST(Health, WhatAMotorPaysForIsNoAlarm) { EXPECT_TRUE(follow(1, {{5, 5}, {-3, -3}, {4, 4}}).empty()); }

/// A body without a shape has a size too: what it weighs over its radius of gyration is no nothing.
TEST(Health, AMotorThatSetsABodyWithoutAShapeInMotionIsNoAlarm) {
  const Scene scene = scene_of(R"yaml(
bodies: [{name: a, mass: 1, inertia: [0.02, 0.03, 0.04], position: [0.5, 0, 0]}]
joints: [{hinge: {between: [world, a], at: [0, 0, 0], axis: [0, 1, 0],
                  motor: {position: "0.2*t + 0.1*sin(3*t)", max: 1e4, time: 0.2}}}]
)yaml");
  for (const double h : {1e-2, 5e-3, 2.5e-3, 1.25e-3}) {
    Simulation simulation = simulation_of(scene, h);
    HealthMonitor health(simulation);
    while (simulation.state().time < 1) health.update(simulation, simulation.step());
    EXPECT_TRUE(health.alarms().empty()) << h << ": " << health.alarms()[0].text();
  }
}

TEST(Health, AnImpactMayGiveBackWhatItTookButNotLater) {
  EXPECT_TRUE(follow(1, {{0, 0}, {-5, 0}, {5, 0}, {0, 0}, {-5, 0}, {4, 0}, {-4, 0}, {3, 0}}).empty());
  EXPECT_EQ(follow(1, {{-5, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {4, 0}}).size(), 1U);
}

TEST(Health, LossesDoNotHideGains) {
  std::vector<std::pair<double, double>> course(100, {-1, 0});  // friction for a long time
  EXPECT_TRUE(follow(1, course).empty());
  course.insert(course.end(), 10, {0.02, 0});
  EXPECT_EQ(follow(1, course).size(), 1U);
}

TEST(Health, AnEnergyOutOfAllProportionIsBeyondRepair) {
  const Simulation simulation = simulation_of(ball_of_size(1));
  HealthMonitor health(simulation);
  StepReport report;
  report.certificate.ledger.change = 5000;
  health.update(simulation, report);
  EXPECT_FALSE(health.beyond_repair());
  report.certificate.ledger.change = 6000;
  health.update(simulation, report);
  EXPECT_TRUE(health.beyond_repair());
}

TEST(Health, StartingOverlapAndOpenJointsAreNamed) {
  const Scene sunk = scene_of(R"(
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {name: box, mass: 1, position: [0, 0, 0.07], shapes: [{box: {size: [0.2, 0.2, 0.2]}}]}
)");
  const HealthMonitor overlap(simulation_of(sunk));
  ASSERT_EQ(overlap.alarms().size(), 1U);
  EXPECT_EQ(overlap.alarms()[0].what, "'floor' and 'box'");
  EXPECT_NEAR(overlap.alarms()[0].value, 0.03, 1e-12);
  EXPECT_NE(overlap.alarms()[0].text().find("'floor' and 'box' overlap: 0.03 m"), std::string::npos);
  const Scene apart = scene_of(R"(
bodies:
  - {name: a, mass: 1, shapes: [{sphere: {radius: 0.1}}]}
  - {name: b, mass: 1, position: [1, 0, 0], shapes: [{sphere: {radius: 0.1}}]}
joints: [{rod: {name: link, between: [a, b], at: [[0, 0, 0], [1, 0, 0]], length: 1.01}}]
)");
  const HealthMonitor open(simulation_of(apart));
  ASSERT_EQ(open.alarms().size(), 1U);
  EXPECT_EQ(open.alarms()[0].kind, HealthKind::Joint);
  EXPECT_EQ(open.alarms()[0].what, "link");
  EXPECT_FALSE(open.beyond_repair());
}

/// A block between a fixed plate and one that a bolt presses on it with 1000 N, without gravity; a load pulls at it
/// that grows by 100 N a second. It slips where that is mu times both normal forces, after 3 s.
const char* const kClamp = R"(
let: {F: 1000, mu: 0.15, rate: 100}
gravity: [0, 0, 0]
materials: {default: {friction: mu}}
bodies:
  - {name: bottom, fixed: true, shapes: [{box: {size: [0.2, 0.1, 0.02]}, position: [0, 0, -0.01]}]}
  - {name: middle, mass: 2, position: [0, 0, 0.01], shapes: [{box: {size: [0.3, 0.1, 0.02]}}]}
  - {name: top, mass: 1, position: [0, 0, 0.03], shapes: [{box: {size: [0.2, 0.1, 0.02]}}]}
forces:
  - load: {body: middle, force: ["rate*t", 0, 0]}
)";

TEST(Health, WhatIsHeldAtRestRaisesNoAlarm) {
  for (const char* bolt :
       {"motor: {torque: -F}", "stiffness: 1e8, rest: -F/1e8"}) {  // a force, or a spring that is stretched
    const Scene scene =
        scene_of(std::string(kClamp) + "joints: [{slider: {name: bolt, between: [bottom, top], axis: [0, 0, 1], " +
                 bolt + "}}]\nsimulation: {duration: 4, step: 1/1000}\n");
    Simulation simulation = simulation_of(scene);
    HealthMonitor health(simulation);
    double slips = 0;
    while (slips == 0 && simulation.state().time < 3.2) {
      const StepReport& report = simulation.step();
      EXPECT_TRUE(report.certified) << report.note;
      health.update(simulation, report);
      if (test::motion_of(simulation, "middle").velocity.norm() > 1e-6) slips = simulation.state().time;
    }
    for (const HealthAlarm& alarm : health.alarms()) ADD_FAILURE() << bolt << ": " << alarm.text();
    EXPECT_NEAR(slips, 3, 0.0021) << bolt;
  }
}

/// A beam of springs that a load bends slowly is measured by what it stores, not by the little that moves.
TEST(Health, WhatSpringsStoreIsAtPlay) {
  const Scene scene = shipped_scene("cantilever.yaml");
  Simulation simulation = simulation_of(scene);
  HealthMonitor health(simulation);
  for (int k = 0; k < 300; ++k) health.update(simulation, simulation.step());
  for (const HealthAlarm& alarm : health.alarms()) ADD_FAILURE() << alarm.text();
}

TEST(Health, WhoIsLostInTheDigitsOfItsPlaceIsBeyondRepairWhoeverPays) {
  const Scene scene = scene_of(R"(
gravity: [0, 0, 0]
bodies: [{name: ball, mass: 1, position: [1, 0, 0], shapes: [{sphere: {radius: 0.1}}]}]
forces: [{load: {body: ball, force: ["5000*body('ball').x", 0, 0]}}]
simulation: {duration: 1, step: 1/100}
)");
  Simulation simulation = simulation_of(scene);
  HealthMonitor health(simulation);
  while (!health.beyond_repair() && simulation.state().time < 0.99) health.update(simulation, simulation.step());
  EXPECT_TRUE(health.beyond_repair());
  ASSERT_FALSE(health.alarms().empty());
  EXPECT_EQ(health.alarms().back().kind, HealthKind::Place);
  EXPECT_EQ(health.alarms().back().what, "'ball'");
}

TEST(Health, HealthyScenesRaiseNoAlarm) {
  for (const char* name : {"wrecking_ball.yaml", "bouncing_ball.yaml", "newtons_cradle.yaml", "stack.yaml",
                           "slider_crank.yaml", "motor_arm.yaml", "whip_chain.yaml", "two_carts.yaml"}) {
    const Scene scene = shipped_scene(name);
    Simulation simulation = simulation_of(scene);
    HealthMonitor health(simulation);
    while (simulation.state().time < 0.7) health.update(simulation, simulation.step());
    for (const HealthAlarm& alarm : health.alarms()) ADD_FAILURE() << name << ": " << alarm.text();
  }
}

}  // namespace
}  // namespace slipstick
