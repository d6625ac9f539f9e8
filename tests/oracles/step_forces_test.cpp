// contact_forces() is the mean of the whole step: with gravity it explains the change of every body's momentum,
// whatever the scheme, and however many parts, impacts and ends of slips the step is made of.
#include <gtest/gtest.h>

#include "support/simulate.h"

namespace slipstick {
namespace {

struct Balance {
  double worst = 0;  ///< m/s
  int impacts = 0, others = 0;
};

/// |m (v' - v) - h (m g + sum of forces)| / m over `steps` steps.
Balance measure(const Scene& scene, int steps) {
  Simulation simulation = test::simulation_of(scene);
  const Model& model = simulation.model();
  const double h = simulation.options().step;
  Balance balance;
  for (int k = 0; k < steps; ++k) {
    const std::vector<Twist> before = simulation.state().velocity;
    const StepReport& report = simulation.step();
    EXPECT_FALSE(report.failed);
    std::vector<Vec3> force(model.bodies.size(), Vec3::Zero());
    for (const ContactForce& contact : simulation.contact_forces()) {
      if (contact.contact.body_a != kWorld) force[contact.contact.body_a] -= contact.force;
      if (contact.contact.body_b != kWorld) force[contact.contact.body_b] += contact.force;
    }
    for (std::size_t i = 0; i < model.bodies.size(); ++i) {
      if (model.bodies[i].kind != BodyKind::Dynamic) continue;
      const Vec3 gained = simulation.state().velocity[i].linear - before[i].linear;
      const Vec3 given = h * (model.gravity + force[i] / model.bodies[i].mass);
      EXPECT_TRUE(simulation.body_forces()[i].inertia.force.isZero(0));
      balance.worst = std::max(balance.worst, (gained - given).norm());
    }
    for (const Event& event : simulation.events())
      ++(event.kind == EventKind::Impact ? balance.impacts : balance.others);
  }
  return balance;
}

std::string scene_text(const std::string& scheme, const std::string& impact) {
  return R"(
materials: {default: {friction: 0.3, restitution: 0.6}}
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {name: ball, mass: 2, position: [0, 0, 0.15], velocity: [0.5, 0, -1], shapes: [{sphere: {radius: 0.1}}]}
  - {name: other, mass: 1, position: [0.25, 0.02, 0.1], velocity: [-1, 0, 0], shapes: [{sphere: {radius: 0.1}}]}
  - {name: block, mass: 3, position: [0, 2, 0.1], velocity: [1, 0.3, 0], shapes: [{box: {size: [0.4, 0.3, 0.2]}}]}
simulation: {step: 1/100, scheme: )" +
         scheme + ", impact: " + impact + "}\n";
}

TEST(StepForces, ExplainTheMomentumOfEveryBody) {
  std::vector<std::string> schemes{"{alpha-gamma: {alpha: 0.7, gamma: 0.6}}", "{trapezoid: {locate: false}}",
                                   "{stabilized: {locate: true}}"};
  for (const std::string_view name : scheme_names()) schemes.emplace_back(name);
  for (const std::string& scheme : schemes) {
    for (const char* impact : {"poisson", "newton", "simplified"}) {
      const Balance balance = measure(test::scene_of(scene_text(scheme, impact)), 60);
      EXPECT_LE(balance.worst, 1e-9) << scheme << ", " << impact;
      if (scheme == "stabilized") continue;  // knows no events
      EXPECT_GE(balance.impacts, 3) << scheme;
    }
  }
}

/// Several impacts within one step: each part has forces of its own, and none of them is forgotten.
TEST(StepForces, OfAStepWithManyParts) {
  const Scene scene = test::scene_of(R"(
materials: {default: {friction: 0, restitution: 1}}
gravity: [0, 0, 0]
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {name: roof, fixed: true, shapes: [{plane: {normal: [0, 0, -1], offset: -0.3}}]}
  - {name: ball, mass: 2, position: [0, 0, 0.15], velocity: [0, 0, -7], shapes: [{sphere: {radius: 0.1}}]}
simulation: {step: 1/10, scheme: euler}
)");
  Simulation simulation = test::simulation_of(scene);
  const StepReport& report = simulation.step();  // 0.7 m on a way of 0.1 m: 0.05 down, then six times up or down
  EXPECT_TRUE(report.certified);
  EXPECT_EQ(report.events, 7);
  ASSERT_EQ(simulation.contact_forces().size(), 2u);
  double floor = 0, roof = 0;
  for (const ContactForce& contact : simulation.contact_forces()) {
    const double up = contact.contact.body_a == 2 ? -contact.force.z() : contact.force.z();
    (up > 0 ? floor : roof) += up;
  }
  EXPECT_NEAR(floor, 4 * 28 / 0.1, 1e-6);
  EXPECT_NEAR(roof, -3 * 28 / 0.1, 1e-6);
}

/// What the judge took, also of steps with events.
TEST(StepForces, TheJudgesTimeIsReported) {
  for (const char* scheme : {"euler", "stabilized"}) {
    Simulation simulation = test::simulation_of(test::scene_of(scene_text(scheme, "poisson")));
    const StepReport& report = simulation.step();
    EXPECT_GT(report.seconds.certify, 0) << scheme;
    EXPECT_LE(report.seconds.certify, report.seconds.solve) << scheme;
  }
}

}  // namespace
}  // namespace slipstick
