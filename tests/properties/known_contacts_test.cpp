// What a step knows of contacts is looked for again only where something has changed (Pipe::look_again). After every
// step it must be, bit by bit, what a simulation finds that begins at that state and knows nothing.
#include "support/simulate.h"

namespace slipstick::test {
namespace {

void expect_known_as_found(const std::string& text, int steps) {
  const Scene scene = scene_of(text);
  Simulation known(scene), fresh(scene);
  int corrections = 0, repeats = 0, divisions = 0;
  for (int k = 0; k < steps; ++k) {
    const StepReport& report = known.step();
    corrections += report.corrections;
    repeats += report.reach_repeats;
    divisions += report.divisions;
    ASSERT_TRUE(fresh.set_state(known.state()).empty());
    ASSERT_EQ(known.contacts().size(), fresh.contacts().size()) << "step " << k;
    for (std::size_t i = 0; i < known.contacts().size(); ++i) {
      const Contact &a = known.contacts()[i], &b = fresh.contacts()[i];
      ASSERT_EQ(a.key, b.key) << "step " << k;
      ASSERT_EQ(a.gap, b.gap) << "step " << k;
      ASSERT_EQ(a.normal, b.normal) << "step " << k;
      ASSERT_EQ(a.point_a, b.point_a) << "step " << k;
      ASSERT_EQ(a.point_b, b.point_b) << "step " << k;
    }
  }
  EXPECT_GT(corrections, 0) << "or nothing was looked for again";
  EXPECT_GT(repeats + divisions, 0) << "or nobody had to look farther, or from elsewhere";
}

/// A ball that strikes a heap of boxes and hulls: bodies leave steps faster than they came, and overlap is corrected.
TEST(KnownContacts, AreThoseOfAFreshSearch) {
  expect_known_as_found(R"yaml(
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - repeat: {i: 4, j: 5}
    name: box_{i}_{j}
    density: 1000
    position: [0.32*i, 0.01*j, 0.15 + 0.3*j]
    shapes: [{box: {size: [0.3, 0.3, 0.3]}}]
  - repeat: {i: 6}
    name: rock_{i}
    density: 2000
    position: [0.2*i, 0.05*i, 1.9 + 0.02*i]
    shapes: [{hull: {random: {points: 20, size: [0.22, 0.18, 0.14], seed: i}}}]
  - {name: ball, mass: 200, position: [0.5, -3, 0.6], velocity: [0, 25, 0], shapes: [{sphere: {radius: 0.4}}]}
simulation: {step: 1/60}
)yaml",
                        90);
}

/// With joints, whose limits stand before the contacts.
TEST(KnownContacts, AreThoseOfAFreshSearchBesideJoints) {
  expect_known_as_found(R"yaml(
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {name: flap, mass: 5, position: [0.5, 0, 1.2], shapes: [{box: {size: [1, 1, 0.05]}}]}
  - repeat: {i: 3, j: 3, k: 2}
    name: box_{i}_{j}_{k}
    density: 1000
    position: [0.2 + 0.22*i, 0.22*(j - 1), 1.6 + 0.4*k]
    angular_velocity: [7, 3*i, 2]
    shapes: [{box: {size: [0.2, 0.2, 0.2]}}]
  - {name: ball, mass: 30, position: [0.4, -2, 1.7], velocity: [0, 30, 0], shapes: [{sphere: {radius: 0.15}}]}
joints:
  - hinge: {name: door, between: [world, flap], at: [0, 0, 1.2], axis: [0, 1, 0], limits_deg: [-10, 80]}
simulation: {step: 1/60}
)yaml",
                        120);
}

}  // namespace
}  // namespace slipstick::test
