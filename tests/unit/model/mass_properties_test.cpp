#include "model/mass_properties.h"

#include <gtest/gtest.h>
#include <slipstick/state.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "unit/model/builders.h"

namespace slipstick {
namespace {

using namespace test;

/// Whether a point of the shape's own frame is inside.
bool holds(const ShapeDescription& shape, const Vec3& p) {
  switch (shape.kind) {
    case ShapeKind::Sphere:
      return p.norm() <= shape.radius;
    case ShapeKind::Box:
      return (p.cwiseAbs() - shape.size / 2).maxCoeff() <= 0;
    case ShapeKind::Capsule: {
      const double z = std::clamp(p.z(), -shape.length / 2, shape.length / 2);
      return (p - Vec3(0, 0, z)).norm() <= shape.radius;
    }
    default:
      return false;
  }
}

/// Midpoint rule over a cube: slow, and knows no formula.
MassProperties integrate(double half, int n, const std::function<double(const Vec3&)>& density) {
  MassProperties sum;
  Vec3 first = Vec3::Zero();
  Mat3 second = Mat3::Zero();
  const double side = 2 * half / n, cell = side * side * side;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < n; ++k) {
        const Vec3 p = side * Vec3(i + 0.5, j + 0.5, k + 0.5) - Vec3::Constant(half);
        const double m = density(p) * cell;
        if (m == 0) continue;
        sum.mass += m;
        first += m * p;
        second += m * (p.squaredNorm() * Mat3::Identity() - p * p.transpose());
      }
  sum.center = first / sum.mass;
  const Vec3 c = sum.center;
  sum.inertia = second - sum.mass * (c.squaredNorm() * Mat3::Identity() - c * c.transpose());
  return sum;
}

TEST(MassProperties, ClosedForms) {
  const double r = 0.7;
  const MassProperties ball = calc_unit_density(sphere(r), false);
  EXPECT_DOUBLE_EQ(ball.mass, 4 * std::numbers::pi / 3 * r * r * r);
  EXPECT_NEAR((ball.inertia - 0.4 * ball.mass * r * r * Mat3::Identity()).norm(), 0, 1e-15);
  const MassProperties brick = calc_unit_density(box({1, 2, 3}), false);
  EXPECT_DOUBLE_EQ(brick.mass, 6);
  EXPECT_TRUE(brick.inertia.diagonal().isApprox(Vec3(6.0 * 13 / 12, 6.0 * 10 / 12, 6.0 * 5 / 12), 1e-15));
  const MassProperties coin = calc_unit_density(disk(r), true);
  EXPECT_DOUBLE_EQ(coin.mass, std::numbers::pi * r * r);
  EXPECT_DOUBLE_EQ(coin.inertia(2, 2), coin.mass * r * r / 2);
  const MassProperties card = calc_unit_density(box({3, 4, 0}), true);
  EXPECT_DOUBLE_EQ(card.mass, 12);
  EXPECT_DOUBLE_EQ(card.inertia(2, 2), 25);
  EXPECT_GT(card.inertia(0, 0), 0);
  EXPECT_EQ(calc_unit_density(plane({0, 0, 1}, 0), false).mass, 0);
}

TEST(MassProperties, CapsuleWithoutLengthIsABallAndALongOneARod) {
  const MassProperties ball = calc_unit_density(sphere(0.3), false), none = calc_unit_density(capsule(0.3, 0), false);
  EXPECT_NEAR(none.mass, ball.mass, 1e-15);
  EXPECT_TRUE(none.inertia.isApprox(ball.inertia, 1e-15));
  const MassProperties rod = calc_unit_density(capsule(1e-4, 1), false);
  EXPECT_NEAR(rod.inertia(0, 0) / rod.mass, 1.0 / 12, 1e-4);
}

TEST(MassProperties, AgreesWithNumericIntegration) {
  for (const ShapeDescription& shape : {sphere(0.8), box({0.9, 1.3, 0.6}), capsule(0.35, 0.9)}) {
    const MassProperties ours = calc_unit_density(shape, false);
    const MassProperties slow = integrate(1, 120, [&](const Vec3& p) { return holds(shape, p) ? 1.0 : 0.0; });
    EXPECT_NEAR(ours.mass, slow.mass, 0.02 * slow.mass) << name_of(shape.kind);
    EXPECT_LT((ours.inertia - slow.inertia).norm(), 0.03 * slow.inertia.norm()) << name_of(shape.kind);
  }
}

TEST(MassProperties, CompoundAgreesWithNumericIntegration) {
  ShapeDescription a = box({0.8, 0.4, 0.6}), b = capsule(0.2, 0.5), c = sphere(0.25);
  a.pose = {Vec3(-0.4, 0.1, -0.2), turn({1, 2, 3}, 0.7)};
  b.pose = {Vec3(0.4, 0.45, 0.3), turn({1, -1, 0.5}, 1.1)};
  c.pose = {Vec3(0.5, -0.5, -0.4), turn({0, 0, 1}, 2)};
  a.density = 1000;
  b.density = 3000;
  BodyDescription given = body("b", 0, {a, b, c});
  given.mass.reset();
  given.density = 500;  // for the sphere, which has none of its own
  FaultList faults;
  ItemCheck check(-1, "b", &faults);
  const auto ours = calc_body_mass(given, {}, false, &check);
  ASSERT_TRUE(ours);
  const MassProperties slow = integrate(1, 160, [&](const Vec3& p) {
    double density = 0;
    for (const ShapeDescription& shape : given.shapes) {
      const Vec3 own = shape.pose.orientation.conjugate() * (p - shape.pose.position);
      if (holds(shape, own)) density += shape.density.value_or(500);
    }
    return density;
  });
  EXPECT_NEAR(ours->mass, slow.mass, 0.01 * slow.mass);
  EXPECT_LT((ours->center - slow.center).norm(), 0.004);
  EXPECT_LT((ours->inertia - slow.inertia).norm(), 0.015 * slow.inertia.norm());
  EXPECT_EQ(ours->inertia, ours->inertia.transpose());
}

TEST(MassProperties, ABoxOfTwoHalvesIsTheBox) {
  ShapeDescription left = box({1, 2, 3}), right = left;
  left.pose.position.x() = -0.5;
  right.pose.position.x() = 0.5;
  right.pose.orientation = turn({1, 0, 0}, std::numbers::pi);
  const MassProperties both = join_matter(move_matter(calc_unit_density(left, false), left.pose),
                                          move_matter(calc_unit_density(right, false), right.pose));
  const MassProperties whole = calc_unit_density(box({2, 2, 3}), false);
  EXPECT_DOUBLE_EQ(both.mass, whole.mass);
  EXPECT_NEAR(both.center.norm(), 0, 1e-15);
  EXPECT_TRUE(both.inertia.isApprox(whole.inertia, 1e-15));
}

TEST(MassProperties, PolygonMomentsOfATriangleFarAwayAndInEitherOrder) {
  // Right triangle with legs b, h: A = bh/2, centroid at a third, I_x = b h^3/36, I_y = h b^3/36, I_xy = -b^2 h^2/72.
  const double b = 0.6, h = 0.9;
  const Vec2 far(1000, -2000);
  for (const bool reverse : {false, true}) {
    std::vector<Vec2> points{far, far + Vec2(b, 0), far + Vec2(0, h)};
    if (reverse) std::reverse(points.begin(), points.end());
    ShapeDescription shape = polygon({});
    shape.points = points;
    const MassProperties m = calc_unit_density(shape, true);
    EXPECT_NEAR(m.mass, b * h / 2, 1e-12);
    EXPECT_NEAR((m.center.head<2>() - far - Vec2(b / 3, h / 3)).norm(), 0, 1e-12);
    EXPECT_NEAR(m.inertia(0, 0), b * h * h * h / 36, 1e-12);
    EXPECT_NEAR(m.inertia(1, 1), h * b * b * b / 36, 1e-12);
    EXPECT_NEAR(m.inertia(0, 1), b * b * h * h / 72, 1e-12);
    EXPECT_NEAR(m.inertia(2, 2), m.inertia(0, 0) + m.inertia(1, 1), 1e-15);
  }
}

TEST(MassProperties, APolygonOfManySidesIsADisk) {
  ShapeDescription shape = polygon({});
  for (int i = 0; i < 2000; ++i)
    shape.points.push_back({std::cos(i * std::numbers::pi / 1000), std::sin(i * std::numbers::pi / 1000)});
  const MassProperties round = calc_unit_density(shape, true), exact = calc_unit_density(disk(1), true);
  EXPECT_NEAR(round.mass, exact.mass, 1e-5);
  EXPECT_TRUE(round.inertia.isApprox(exact.inertia, 1e-5));
}

TEST(MassProperties, GivenMassScalesAndGivenInertiaStays) {
  ModelDescription world;
  world.bodies.push_back(body("scaled", 24, {box({1, 2, 3})}));
  world.bodies.push_back(body("given", 24, {box({1, 2, 3})}));
  const Mat3 inertia = (Mat3() << 2, 0.1, 0, 0.1, 3, 0.2, 0, 0.2, 4).finished();
  world.bodies[1].inertia = inertia;
  world.bodies[1].center_of_mass = Vec3(0.1, 0.2, 0.3);
  State start;
  const CompiledModel made = compile(world, &start);
  ASSERT_TRUE(made.faults.empty()) << made.faults[0].message;
  const Body& scaled = made.model.bodies[0];
  EXPECT_DOUBLE_EQ(scaled.mass, 24);
  EXPECT_TRUE(scaled.inertia.diagonal().isApprox(Vec3(26, 20, 10), 1e-15));
  EXPECT_TRUE((scaled.inertia * scaled.inertia_inverse).isIdentity(1e-14));
  EXPECT_EQ(made.model.bodies[1].inertia, inertia);
  EXPECT_EQ(made.model.bodies[1].center_of_mass, Vec3(0.1, 0.2, 0.3));
  EXPECT_EQ(start.pose[1].position, Vec3(0.1, 0.2, 0.3));
  EXPECT_EQ(made.model.shapes[1].pose.position, -Vec3(0.1, 0.2, 0.3));
}

TEST(MassProperties, VisualOnlyShapesWeighNothing) {
  ModelDescription world;
  ShapeDescription seen = sphere(5);
  seen.visual_only = true;
  world.bodies.push_back(body("b", 2, {seen, sphere(1)}));
  const CompiledModel made = compile(world, nullptr);
  ASSERT_TRUE(made.faults.empty());
  EXPECT_DOUBLE_EQ(made.model.bodies[0].inertia(0, 0), 0.8);
  EXPECT_EQ(made.model.shapes.size(), 1u);
}

}  // namespace
}  // namespace slipstick
