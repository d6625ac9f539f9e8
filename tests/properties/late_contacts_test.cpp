#include "step/late_contacts.h"

#include <algorithm>

#include "support/simulate.h"

namespace slipstick::test {
namespace {

/// A box on the floor that turns within the step, so that one corner comes deeper than its row says.
void expect_known_rows_kept(const std::string& text, const Vec3& spin) {
  const Scene scene = scene_of(text);
  const int box = *scene.model.find_body("box");
  constexpr double kStep = 0.02;
  State next = scene.initial;
  next.velocity[box].angular = spin;
  next.pose[box].orientation =
      scene.initial.pose[box].orientation * Quat(Eigen::AngleAxisd(spin.norm() * kStep, spin.normalized()));
  ContactFinder finder(scene.model);
  const std::vector<double> reach(scene.model.bodies.size(), 0.1);
  ContactSet known, all;
  finder.find(scene.initial, reach, &known);
  ASSERT_GE(known.contacts.size(), 2u);
  LateContacts late(scene.model, Effort::Balanced);
  ASSERT_TRUE(late.find(scene.initial, next, kStep, reach, true, known, &finder, &all));
  EXPECT_GT(all.contacts.size(), known.contacts.size());
  EXPECT_TRUE(std::is_sorted(all.contacts.begin(), all.contacts.end(),
                             [](const Contact& a, const Contact& b) { return a.key < b.key; }));
  for (const Contact& contact : known.contacts) {
    const auto same = std::find_if(all.contacts.begin(), all.contacts.end(),
                                   [&](const Contact& other) { return other.key == contact.key; });
    ASSERT_NE(same, all.contacts.end());
    EXPECT_EQ(same->gap, contact.gap);
    EXPECT_EQ(same->normal, contact.normal);
  }
}

TEST(LateContacts, StandBesideTheKnownOnes) {
  expect_known_rows_kept(R"yaml(
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {name: box, mass: 1, position: [0, 0, 0.5], shapes: [{box: {size: [1, 1, 1]}}]}
)yaml",
                         Vec3(0, 5, 0));
}

/// In the plane the highest bit of a name says whose corner it is: two boxes have corners of both.
TEST(LateContacts, StandBesideTheKnownOnesInThePlane) {
  expect_known_rows_kept(R"yaml(
planar: true
bodies:
  - {name: base, fixed: true, shapes: [{box: {size: [1, 1]}}]}
  - {name: box, mass: 1, position: [0.5, 1], shapes: [{box: {size: [1, 1]}}]}
)yaml",
                         Vec3(0, 0, 5));
}

}  // namespace
}  // namespace slipstick::test
