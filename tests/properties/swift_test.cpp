// effort: swift. What is swept comes to rest, overlaps by little, says what it reached, and does not depend on what
// happens elsewhere; what can be solved quickly is solved.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/simulate.h"

namespace slipstick {
namespace {

using test::shipped_scene;
using test::simulation_of;

Scene swift_scene(const std::string& name, std::vector<std::pair<std::string, std::string>> set) {
  SceneLoadOptions load;
  load.set = std::move(set);
  Scene scene = shipped_scene(name, load);
  scene.options.effort = Effort::Swift;
  return scene;
}

TEST(Swift, AHeapComesToRest) {
  Simulation simulation = simulation_of(swift_scene("heap.yaml", {{"n", "216"}}));
  double deepest = 0;
  int swept = 0, not_certified = 0;
  for (int k = 0; k < 360; ++k) {
    const StepReport& report = simulation.step();
    ASSERT_FALSE(report.failed);
    deepest = std::max(deepest, report.certificate.penetration);
    swept += report.heap;
    not_certified += !report.certified;
    // What was not reached is said: a swept step is certified by the heaps' tolerance and by nothing else.
    if (report.heap) {
      EXPECT_EQ(report.certified, report.certificate.residual.verdict() <= 1e-4);
    }
    EXPECT_LE(report.certificate.residual.relative, 0.02);
  }
  EXPECT_GT(swept, 300) << "else this test says nothing";
  EXPECT_GT(not_certified, 0);
  EXPECT_LT(deepest, 1e-3);                     // m; balls of 0.1 m
  EXPECT_LT(simulation.energy().kinetic, 0.5);  // J, of 3 kJ that were there; a ball on top may still roll
  for (std::size_t i = 0; i < simulation.model().bodies.size(); ++i) {
    if (simulation.model().bodies[i].kind != BodyKind::Dynamic) continue;
    const Vec3& p = simulation.state().pose[i].position;
    EXPECT_GT(p.z(), 0.1 - 1e-3);
    EXPECT_LT(std::max(std::abs(p.x()), std::abs(p.y())), 0.66 - 0.1 + 1e-3);
  }
}

TEST(Swift, AStruckWallOverlapsByMillimetres) {
  Simulation simulation = simulation_of(swift_scene("wall.yaml", {{"hit", "0.1"}}));
  double deepest = 0;
  for (int k = 0; k < 60; ++k) deepest = std::max(deepest, simulation.step().certificate.penetration);
  EXPECT_GT(simulation.energy().kinetic, 1e3) << "the ball did not hit";
  EXPECT_LT(deepest, 5e-3);  // 0.6 to 3 mm: a blow is chaotic
}

/// No sweeps hold a tower: what a factorization solves quickly is solved by newton, to the last digit.
TEST(Swift, ATallStackIsCertified) {
  Simulation simulation = simulation_of(swift_scene("stack.yaml", {{"n", "20"}}));
  for (int k = 0; k < 60; ++k) {
    const StepReport& report = simulation.step();
    EXPECT_TRUE(report.certified);
    EXPECT_LE(report.certificate.residual.relative, 1e-8);
  }
}

/// The same bits twice, and with a second heap far away that moves otherwise.
TEST(Swift, AHeapHasTheSameBitsWithABystander) {
  const std::string heap = R"yaml(
bodies:
  - {name: ground, fixed: true, shapes: [{plane: {normal: [0, 0, 1]}}]}
  - repeat: {i: 180}
    name: ball_{i}
    mass: 1
    position: ["0.21*mod(i, 6) + 0.01*rand(i, 1)", "0.21*mod(floor(i/6), 6) + 0.01*rand(i, 2)", 0.1 + 0.205*floor(i/36)]
    shapes: [{sphere: {radius: 0.1}}]
)yaml";
  const std::string other = R"yaml(
  - repeat: {i: 200}
    name: other_{i}
    mass: 2
    velocity: [0, 0, -3]
    position: ["50 + 0.25*mod(i, 7)", "0.22*mod(floor(i/7), 7) + 0.02*rand(i, 5)", 0.15 + 0.3*floor(i/49)]
    shapes: [{sphere: {radius: 0.1}}]
)yaml";
  const std::string settings = "simulation: {step: 1/60, effort: swift}\n";
  Simulation one = simulation_of(test::scene_of(heap + settings)),
             again = simulation_of(test::scene_of(heap + settings));
  Simulation two = simulation_of(test::scene_of(heap + other + settings));
  int swept = 0;
  for (int k = 0; k < 60; ++k) {
    swept += one.step().heap;
    again.step();
    two.step();
  }
  EXPECT_GT(swept, 30) << "else this test says nothing";
  for (std::size_t i = 0; i < one.model().bodies.size(); ++i) {
    EXPECT_EQ(one.state().pose[i].position, again.state().pose[i].position);
    EXPECT_EQ(one.state().pose[i].position, two.state().pose[i].position) << i;
    EXPECT_EQ(one.state().velocity[i].angular, two.state().velocity[i].angular) << i;
  }
}

}  // namespace
}  // namespace slipstick
