#include "audit/world_audit.h"

#include <gtest/gtest.h>
#include <slipstick/state.h>

#include <set>

#include "audit_support.h"

namespace slipstick::test {
namespace {

BodyDescription make_body(const std::string& name, const Vec3& position, const Vec3& size, bool fixed = false) {
  BodyDescription body;
  body.name = name;
  body.kind = fixed ? BodyKind::Fixed : BodyKind::Dynamic;
  body.pose.position = position;
  body.density = 1000;
  ShapeDescription shape;
  shape.kind = ShapeKind::Box;
  shape.size = size;
  body.shapes.push_back(shape);
  return body;
}

struct Built {
  Model model;
  State state;
};
Built build(const ModelDescription& description) {
  Built built;
  CompiledModel compiled = compile(description, &built.state);
  for (const CompileFault& fault : compiled.faults) ADD_FAILURE() << fault.message;
  built.model = std::move(compiled.model);
  return built;
}

/// A floor with a row of boxes on it, each sunk in by `depth` and flush with the next.
ModelDescription make_row(int count, double depth) {
  ModelDescription description;
  description.bodies.push_back(make_body("floor", {0, 0, -0.5}, {100, 100, 1}, true));
  for (int k = 0; k < count; ++k)
    description.bodies.push_back(make_body("box" + std::to_string(k), {0.2 * k, 0, 0.1 - depth}, {0.2, 0.2, 0.2}));
  return description;
}

Contact make_contact(int a, int b, double gap) {
  Contact contact;
  contact.key = {a, b, 0};
  contact.gap = gap;
  return contact;
}

TEST(WorldAudit, WhatNoContactSaysIsMissed) {
  const Built built = build(make_row(3, 1e-3));
  WorldAudit audit(built.model);
  const WorldVerdict verdict = audit.check_all(built.state, {});
  ASSERT_EQ(verdict.missed, 3);
  EXPECT_EQ(verdict.pairs, 5);
  EXPECT_NEAR(verdict.overlap, 1e-3, 1e-12);
  EXPECT_NEAR(verdict.worst.depth, 1e-3, 1e-12);
  EXPECT_EQ(built.model.bodies[verdict.worst.body_a].name, "floor");
  // Contacts that say so, one of them not deep enough.
  std::vector<Contact> contacts{make_contact(0, 1, -1e-3), make_contact(0, 2, -9e-4), make_contact(0, 3, -1e-3)};
  const WorldVerdict second = audit.check_all(built.state, contacts);
  EXPECT_EQ(second.missed, 1);
  EXPECT_EQ(second.worst.shape_b, 2);
  EXPECT_NEAR(second.worst.reported, 9e-4, 1e-15);
  contacts[1].gap = -1e-3;
  EXPECT_EQ(audit.check_all(built.state, contacts).missed, 0);
}

TEST(WorldAudit, FlushIsNoAlarm) {
  for (const double depth : {0.0, 1e-12, 1e-9, 1e-7}) {
    const Built built = build(make_row(4, depth));
    WorldAudit audit(built.model);
    EXPECT_EQ(audit.check_all(built.state, {}).missed, 0) << depth;
  }
}

TEST(WorldAudit, PairsThatNeverTouchAreLeftOut) {
  ModelDescription description = make_row(4, 1e-2);
  description.bodies[0].kind = BodyKind::Fixed;
  for (BodyDescription& body : description.bodies) body.pose.position.x() = 0;  // all in one place
  description.bodies[1].group = description.bodies[2].group = "pair";
  description.pairs_without_contact.push_back({"floor", "box2"});
  JointDescription joint;
  joint.kind = JointKind::Ball;
  joint.name = "joint";
  joint.a = "box2";
  joint.b = "box3";
  description.joints.push_back(joint);
  description.bodies.push_back(make_body("second_floor", {0, 0, 0}, {1, 1, 1}, true));
  const Built built = build(description);
  WorldAudit audit(built.model);
  // Shapes: floor 0, box0..3 are 1..4, second floor 5.
  std::set<std::array<int, 2>> apart{{0, 5}, {1, 2}, {0, 3}, {3, 4}};
  for (int a = 0; a < 6; ++a) {
    EXPECT_FALSE(audit.may_touch(a, a));
    for (int b = a + 1; b < 6; ++b) EXPECT_EQ(audit.may_touch(a, b), !apart.contains({a, b})) << a << " " << b;
  }
  EXPECT_EQ(audit.check_all(built.state, {}).missed, 15 - 4);
}

TEST(WorldAudit, GoingRoundFindsWhatAllFinds) {
  ModelDescription description = make_row(40, 0);
  description.bodies[17].pose.position.z() -= 0.01;
  const Built built = build(description);
  WorldAudit audit(built.model), other(built.model);
  const WorldVerdict all = audit.check_all(built.state, {});
  EXPECT_EQ(all.missed, 1);
  WorldVerdict sum, again;
  int calls = 0;
  for (; audit.rounds() < 1 && calls < 10000; ++calls) {
    const WorldVerdict part = audit.check_some(built.state, {}, 300);
    sum.add(part);
    again.add(other.check_some(built.state, {}, 300));
  }
  EXPECT_GT(calls, 10);
  EXPECT_EQ(sum.pairs, all.pairs);
  EXPECT_EQ(sum.missed, 1);
  EXPECT_EQ(sum.worst.shape_b, 17);
  EXPECT_EQ(again.pairs, sum.pairs);
  EXPECT_EQ(again.work, sum.work);
  // In the mean no more is spent than allowed, but for the last pair.
  EXPECT_LT(sum.work, 300L * calls + 2000);
}

TEST(WorldAudit, PlanarWorlds) {
  ModelDescription description;
  description.planar = true;
  description.gravity = {0, -9.81, 0};
  description.bodies.push_back(make_body("block", {0, 0, 0}, {1, 1, 0}));
  description.bodies[0].shapes[0].kind = ShapeKind::Polygon;
  description.bodies[0].shapes[0].points = {{-0.5, -0.5}, {0.5, -0.5}, {0.5, 0.5}, {-0.5, 0.5}};
  BodyDescription disk = description.bodies[0];
  disk.name = "disk";
  disk.pose.position = {0.7, 0.1, 0};
  disk.shapes[0].kind = ShapeKind::Disk;
  disk.shapes[0].radius = 0.25;
  description.bodies.push_back(disk);
  const Built built = build(description);
  WorldAudit audit(built.model);
  const WorldVerdict verdict = audit.check_all(built.state, {});
  EXPECT_EQ(verdict.missed, 1);
  EXPECT_NEAR(verdict.worst.depth, 0.05, 1e-8);
}

}  // namespace
}  // namespace slipstick::test
