#include "audit/path_audit.h"

#include <gtest/gtest.h>

#include <numbers>

#include "base/se3.h"

namespace slipstick {
namespace {

/// A thin fixed plate about the origin and a missile with the given shape.
ModelDescription make_pair(const ShapeDescription& missile) {
  ModelDescription description;
  BodyDescription plate, body;
  plate.name = "plate";
  plate.kind = BodyKind::Fixed;
  ShapeDescription box;
  box.kind = ShapeKind::Box;
  box.size = {2, 2, 1e-4};
  plate.shapes = {box};
  body.name = "missile";
  body.mass = 1;
  body.shapes = {missile};
  description.bodies = {plate, body};
  return description;
}

ShapeDescription make_ball(double radius) {
  ShapeDescription ball;
  ball.kind = ShapeKind::Sphere;
  ball.radius = radius;
  return ball;
}

/// What the judge says of a way of the missile, turned and moved as a whole by `frame`.
WorldVerdict judge(const Vec3& from, const Vec3& to, const Vec3& turn, const Pose& frame) {
  State state;
  const Model model = compile(make_pair(make_ball(0.01)), &state).model;
  WorldAudit audit(model);
  FastPairs fast(model, &audit);
  State end = state;
  const auto place = [&](const Vec3& p, State* at) {
    at->pose[0] = frame;
    at->pose[1].position = apply(frame, p);
    at->pose[1].orientation = frame.orientation;
  };
  place(from, &state);
  place(to, &end);
  end.pose[1].orientation = end.pose[1].orientation * exp_rotation(turn);
  state.velocity[1].angular = end.velocity[1].angular = turn;
  fast.find(state, end, 1, 1, 1, {});
  WorldVerdict verdict;
  PathAudit().check(&fast, model, 0, 1, &verdict);
  return verdict;
}

TEST(PathAudit, SeesWhatGoesThroughAThinPlateInAnyFrame) {
  Pose frame;
  for (int k = 0; k < 20; ++k) {
    const WorldVerdict through = judge({0.3, 0.2, 1 + 0.1 * k}, {-0.4, 0.1, -2}, {9.0 * k, 3, 1}, frame);
    ASSERT_EQ(through.crossed, 1) << k;
    EXPECT_EQ(through.first_crossed.body_a, 0);
    EXPECT_EQ(through.first_crossed.body_b, 1);
    EXPECT_NEAR(through.first_crossed.time, (1 + 0.1 * k) / (3 + 0.1 * k), 1e-4);
    EXPECT_EQ(judge({0.3, 0.2, 1}, {-0.4, 0.1, 0.011}, {9, 3, 1}, frame).crossed, 0) << "stops above it";
    EXPECT_EQ(judge({1.3, 0.2, 1}, {1.2, 0.1, -1}, {9, 3, 1}, frame).crossed, 0) << "goes by";
    EXPECT_EQ(judge({0, 0, 0.5}, {0.9, 0.9, 0.02}, {0, 0, 0}, frame).crossed, 0) << "over it";
    frame.position += Vec3(10, -3, 7);
    frame.orientation = frame.orientation * exp_rotation(Vec3(0.3, 0.5, -0.2));
  }
}

TEST(PathAudit, TurnsAreCountedWhole) {
  for (const double angle : {0.1, 3.0, 7.0, 20.0}) {
    const Vec3 axis = Vec3(1, 2, -1).normalized();
    Pose from, to;
    from.orientation = exp_rotation(Vec3(0.4, 0, 1));
    to.orientation = from.orientation * exp_rotation(angle * axis);
    const BodyPath path = make_path(from, to, angle * axis);
    EXPECT_LT((path.turn - angle * axis).norm(), 1e-9);
    EXPECT_LT((path.at(1).orientation.coeffs() - to.orientation.coeffs()).norm(), 1e-9 + 2 * (angle > 6));
  }
}

TEST(InteriorBalls, AreInsideAndAsLargeAsCanBe) {
  ShapeDescription cone;
  cone.kind = ShapeKind::Cone;
  cone.radius = 0.3;
  cone.length = 0.4;
  State state;
  const Model model = compile(make_pair(cone), &state).model;
  WorldAudit audit(model);
  const Solid solid = audit.make_own(1);
  const InteriorBall ball = find_interior_balls(solid).front();
  EXPECT_NEAR(ball.radius, 0.15, 1e-12);  // of the triangle with sides 0.6, 0.5, 0.5
  EXPECT_NEAR(calc_room(solid, ball.center), ball.radius, 1e-12);
}

}  // namespace
}  // namespace slipstick
