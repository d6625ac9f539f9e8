// Hulls from points: their faces, their mass, and what is refused.
#include <gtest/gtest.h>
#include <slipstick/hull.h>
#include <slipstick/model.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <random>

namespace slipstick {
namespace {

std::vector<Vec3> list_box_corners(const Vec3& half, const Quat& turn, double noise) {
  std::mt19937 engine(3);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<Vec3> points;
  for (const Vec3& p : make_box_hull(half).vertices) {
    points.push_back(turn * p + noise * Vec3(uniform(engine), uniform(engine), uniform(engine)));
  }
  return points;
}

ShapeDescription hull_of(const std::vector<Vec3>& points) {
  ShapeDescription shape;
  shape.kind = ShapeKind::Hull;
  shape.vertices = points;
  return shape;
}

TEST(Hull, ABoxHasSixFacesWhateverItsDigits) {
  const Quat turn = Quat(0.3, 0.5, -0.2, 0.7).normalized();
  for (const double noise : {0.0, 1e-15, 1e-12, 1e-10}) {
    std::vector<Vec3> points = list_box_corners({0.5, 1, 2}, turn, noise);
    points.push_back(Vec3::Zero());  // inside
    points.push_back(points[3]);     // twice
    const MadeHull made = make_hull(points);
    ASSERT_EQ(made.fault, "");
    EXPECT_EQ(made.hull.vertices.size(), 8u) << noise;
    EXPECT_EQ(made.hull.edges.size(), 12u) << noise;
    ASSERT_EQ(made.hull.faces.size(), 6u) << noise;
    for (const HullFace& face : made.hull.faces) {
      EXPECT_EQ(face.count, 4);
      for (const Vec3& p : made.hull.vertices) EXPECT_LE(face.normal.dot(p), face.offset + 1e-15);
    }
  }
}

TEST(Hull, EulersFormulaAndConvexity) {
  std::mt19937 engine(5);
  std::normal_distribution<double> normal;
  for (int k = 0; k < 50; ++k) {
    std::vector<Vec3> points;
    for (int i = 0; i < 4 + k; ++i) points.emplace_back(normal(engine), normal(engine), 0.1 * normal(engine));
    const Hull hull = make_hull(points).hull;
    ASSERT_FALSE(hull.faces.empty());
    EXPECT_EQ(hull.vertices.size() + hull.faces.size(), hull.edges.size() + 2);
    for (const HullFace& face : hull.faces) {
      for (const Vec3& p : points) EXPECT_LE(face.normal.dot(p), face.offset + 1e-7);
    }
  }
}

TEST(Hull, MassOfABoxAndOfATetrahedron) {
  const Vec3 half(0.5, 1, 2);
  ShapeDescription box;
  box.kind = ShapeKind::Box;
  box.size = 2 * half;
  std::vector<Vec3> corners = make_box_hull(half).vertices;
  for (Vec3& p : corners) p += Vec3(10, -20, 30);
  const MassProperties is = calc_unit_density(hull_of(corners), false), expected = calc_unit_density(box, false);
  EXPECT_NEAR(is.mass, expected.mass, 1e-12);
  EXPECT_LT((is.center - Vec3(10, -20, 30)).norm(), 1e-12);
  EXPECT_LT((is.inertia - expected.inertia).norm(), 1e-11);
  // Corner tetrahedron of side 1: V = 1/6, int x^2 = 1/60, int x y = 1/120.
  const MassProperties t =
      calc_unit_density(hull_of({Vec3::Zero(), Vec3::UnitX(), Vec3::UnitY(), Vec3::UnitZ()}), false);
  EXPECT_NEAR(t.mass, 1.0 / 6, 1e-15);
  EXPECT_LT((t.center - Vec3::Constant(0.25)).norm(), 1e-15);
  EXPECT_NEAR(t.inertia(0, 0), 2.0 / 60 - 2 * (1.0 / 6) / 16, 1e-15);
  EXPECT_NEAR(t.inertia(0, 1), -(1.0 / 120 - 1.0 / 96), 1e-15);
}

TEST(Hull, RoundShapesHaveTheirClosedForms) {
  ShapeDescription shape;
  shape.radius = 0.5;
  shape.length = 2;
  shape.size = {1, 2, 3};
  shape.kind = ShapeKind::Cylinder;
  const double volume = std::numbers::pi * 0.25 * 2;
  EXPECT_NEAR(calc_unit_density(shape, false).mass, volume, 1e-15);
  EXPECT_NEAR(calc_unit_density(shape, false).inertia(2, 2), volume / 8, 1e-15);
  EXPECT_NEAR(calc_unit_density(shape, false).inertia(0, 0), volume * (3 * 0.25 + 4) / 12, 1e-14);
  shape.kind = ShapeKind::Cone;
  EXPECT_NEAR(calc_unit_density(shape, false).mass, volume / 3, 1e-15);
  EXPECT_NEAR(calc_unit_density(shape, false).center.z(), -0.5, 1e-15);
  shape.kind = ShapeKind::Ellipsoid;
  const MassProperties egg = calc_unit_density(shape, false);
  EXPECT_NEAR(egg.mass, 4.0 / 3 * std::numbers::pi * 0.5 * 1 * 1.5, 1e-14);
  EXPECT_NEAR(egg.inertia(0, 0), egg.mass * (1 + 2.25) / 5, 1e-14);
}

/// A cone as a hull of many points tends to the cone: the same integrals, found in another way.
TEST(Hull, ManySidedPyramidIsNearlyACone) {
  std::vector<Vec3> points{Vec3(0, 0, 1)};
  for (int k = 0; k < 400; ++k) {
    const double angle = 2 * std::numbers::pi * k / 400;
    points.emplace_back(0.5 * std::cos(angle), 0.5 * std::sin(angle), -1);
  }
  ShapeDescription cone;
  cone.kind = ShapeKind::Cone;
  cone.radius = 0.5;
  cone.length = 2;
  const MassProperties is = calc_unit_density(hull_of(points), false), expected = calc_unit_density(cone, false);
  EXPECT_NEAR(is.mass, expected.mass, 1e-4 * expected.mass);
  EXPECT_NEAR(is.center.z(), expected.center.z(), 1e-10);
  EXPECT_LT((is.inertia - expected.inertia).norm(), 2e-4 * expected.inertia.norm());
}

TEST(Hull, RefusesWhatHasNoInside) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto fault = [](const std::vector<Vec3>& points) { return make_hull(points).fault; };
  EXPECT_NE(fault({}), "");
  EXPECT_NE(fault({Vec3::Zero(), Vec3::UnitX(), Vec3::UnitY()}).find("at least 4"), std::string::npos);
  EXPECT_NE(fault({Vec3::Zero(), Vec3::UnitX(), Vec3::UnitY(), Vec3(1, 1, 0)}).find("one plane"), std::string::npos);
  EXPECT_NE(fault({Vec3::Zero(), Vec3(1, 1, 1), Vec3(2, 2, 2), Vec3(3, 3, 3)}).find("one line"), std::string::npos);
  EXPECT_NE(fault(std::vector<Vec3>(6, Vec3::Ones())).find("all the same"), std::string::npos);
  EXPECT_NE(fault({Vec3::Zero(), Vec3::UnitX(), Vec3::UnitY(), Vec3(nan, 0, 1)}).find("point 4"), std::string::npos);
  EXPECT_NE(fault(std::vector<Vec3>(kMaxHullPoints + 1, Vec3::Zero())).find("limit"), std::string::npos);
}

}  // namespace
}  // namespace slipstick
