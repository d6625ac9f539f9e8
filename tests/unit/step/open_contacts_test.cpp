// Contacts without rows: who is left out, and who is taken back because it has closed.
#include "step/open_contacts.h"

#include <gtest/gtest.h>
#include <slipstick/builder.h>

#include <algorithm>

#include "collision/contact_finder.h"
#include "step/insert_contacts.h"

namespace slipstick {
namespace {

constexpr int kWide = 10;  // balls along each side of a cube
constexpr double kRadius = 0.1, kPitch = 0.22, kStep = 1.0 / 60;

/// Balls that fall together, none of them nearer to another than 2 cm.
struct FallingBalls {
  explicit FallingBalls(int wide = kWide) {
    ModelDescription d;
    d.gravity = {0, 0, -9.81};
    for (int i = 0; i < wide * wide * wide; ++i) {
      BodyDescription ball;
      ball.name = "ball_" + std::to_string(i);
      ball.density = 1000;
      ball.pose.position = kPitch * Vec3(i % wide, i / wide % wide, i / (wide * wide));
      ball.velocity = {0, 0, -3};
      ShapeDescription sphere;
      sphere.kind = ShapeKind::Sphere;
      sphere.radius = kRadius;
      ball.shapes.push_back(sphere);
      d.bodies.push_back(ball);
    }
    CompiledModel compiled = compile(d, &state);
    EXPECT_TRUE(compiled.faults.empty());
    model = std::move(compiled.model);
    ContactFinder finder(model);
    finder.find(state, std::vector<double>(model.bodies.size(), 0.05), &found);
    prescribed.resize(model.bodies.size());
  }
  /// After a step of flight.
  State fly() const {
    State end = state;
    for (std::size_t i = 0; i < end.pose.size(); ++i) end.pose[i].position += kStep * end.velocity[i].linear;
    return end;
  }
  Model model;
  State state;
  ContactSet found;
  std::vector<Twist> prescribed;
};

bool has_pair(const ContactSet& set, int a, int b) {
  return std::any_of(set.contacts.begin(), set.contacts.end(), [&](const Contact& contact) {
    return std::minmax(contact.body_a, contact.body_b) == std::minmax(a, b);
  });
}

TEST(OpenContacts, WhatFallsTogetherHasNoRows) {
  FallingBalls balls;
  ASSERT_GT(balls.found.contacts.size(), 2000U);
  OpenContacts open(balls.model, Effort::Balanced);
  ContactSet near;
  ASSERT_TRUE(open.find_near(balls.state, balls.prescribed, kStep, balls.found, &near));
  EXPECT_TRUE(near.contacts.empty());
}

TEST(OpenContacts, WhoComesNearHasRowsAndSoHaveItsNeighbours) {
  FallingBalls balls;
  balls.state.velocity[0].linear.x() = 2;  // closes 33 mm of 20
  OpenContacts open(balls.model, Effort::Balanced);
  ContactSet near;
  ASSERT_TRUE(open.find_near(balls.state, balls.prescribed, kStep, balls.found, &near));
  EXPECT_TRUE(has_pair(near, 0, 1));
  EXPECT_TRUE(has_pair(near, 1, 2)) << "1 will be pushed on";
  EXPECT_FALSE(has_pair(near, 500, 501));
}

TEST(OpenContacts, SmallGroupsAndExactStepsHaveAllRows) {
  const FallingBalls few(3), many;
  ContactSet near;
  EXPECT_FALSE(OpenContacts(few.model, Effort::Balanced).find_near(few.state, few.prescribed, kStep, few.found, &near));
  EXPECT_FALSE(
      OpenContacts(many.model, Effort::Exact).find_near(many.state, many.prescribed, kStep, many.found, &near));
}

TEST(OpenContacts, WhatHasClosedIsTakenBackInTheOrderOfKeys) {
  const FallingBalls balls;
  OpenContacts open(balls.model, Effort::Balanced);
  ContactSet known, all;
  for (std::size_t i = 0; i < balls.found.contacts.size(); i += 7) known.contacts.push_back(balls.found.contacts[i]);
  const ContactSet before = known;
  State end = balls.fly();
  EXPECT_FALSE(open.find_closed(balls.state, end, kStep, balls.found, known, &all));
  int closed = -1;  // a contact that has no row
  for (std::size_t i = 1000; closed < 0; ++i)
    if (i % 7 != 0) closed = static_cast<int>(i);
  const Contact& contact = balls.found.contacts[closed];
  end.pose[contact.body_b].position -= (contact.gap + 1e-4) * contact.normal;
  ASSERT_TRUE(open.find_closed(balls.state, end, kStep, balls.found, known, &known));
  EXPECT_EQ(known.contacts.size(), before.contacts.size() + 1);
  EXPECT_TRUE(has_pair(known, contact.body_a, contact.body_b));
  EXPECT_TRUE(std::is_sorted(known.contacts.begin(), known.contacts.end(),
                             [](const Contact& x, const Contact& y) { return x.key < y.key; }));
}

TEST(OpenContacts, AllOfThemOnceInTheOrderOfKeys) {
  const FallingBalls balls;
  OpenContacts open(balls.model, Effort::Balanced);
  ContactSet known;
  for (std::size_t i = 0; i < balls.found.contacts.size(); i += 7) known.contacts.push_back(balls.found.contacts[i]);
  open.take_all(balls.found, known, &known);
  ASSERT_EQ(known.contacts.size(), balls.found.contacts.size());
  for (std::size_t i = 0; i < known.contacts.size(); ++i) EXPECT_EQ(known.contacts[i].key, balls.found.contacts[i].key);
}

/// What little closes under `swift` is left to the correction of overlap.
TEST(OpenContacts, SwiftLeavesABand) {
  const FallingBalls balls;
  const Contact& contact = balls.found.contacts[10];
  ContactSet all;
  for (const double depth : {1e-5, 5e-3}) {
    State end = balls.fly();
    end.pose[contact.body_b].position -= (contact.gap + depth) * contact.normal;
    EXPECT_EQ(OpenContacts(balls.model, Effort::Swift).find_closed(balls.state, end, kStep, balls.found, {}, &all),
              depth > 1e-3);
    EXPECT_TRUE(
        OpenContacts(balls.model, Effort::Balanced).find_closed(balls.state, end, kStep, balls.found, {}, &all));
  }
}

/// In place, whatever comes before, between, after and at the same place.
TEST(InsertContacts, PutsEachWhereItBelongs) {
  const auto named = [](int k) {
    Contact contact;
    contact.key.feature = static_cast<std::uint32_t>(k);
    return contact;
  };
  const auto keys = [](const std::vector<Contact>& all) {
    std::vector<int> list;
    for (const Contact& contact : all) list.push_back(static_cast<int>(contact.key.feature));
    return list;
  };
  std::vector<Contact> all;
  insert_contacts(
      std::vector<std::size_t>{0, 0}, [&](std::size_t i) { return named(static_cast<int>(10 + i)); }, &all);
  EXPECT_EQ(keys(all), (std::vector<int>{10, 11}));
  insert_contacts(
      std::vector<std::size_t>{0, 1, 1, 2}, [&](std::size_t i) { return named(static_cast<int>(i)); }, &all);
  EXPECT_EQ(keys(all), (std::vector<int>{0, 10, 1, 2, 11, 3}));
  insert_contacts(std::vector<std::size_t>{}, named, &all);
  EXPECT_EQ(all.size(), 6u);
}

}  // namespace
}  // namespace slipstick
