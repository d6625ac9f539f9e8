// Surfaces: what they enclose, and what is wrong with them.
#include <gtest/gtest.h>
#include <slipstick/state.h>
#include <slipstick/surface.h>

#include <cmath>
#include <limits>

#include "unit/model/builders.h"

namespace slipstick {
namespace {

struct Pieces {
  std::vector<Vec3> vertices;
  std::vector<Triangle> triangles;
};

/// A box as 12 triangles, each with corners of its own as an STL file has them.
Pieces make_box_pieces(const Vec3& low, const Vec3& high) {
  const int quads[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
  Pieces pieces;
  const auto corner = [&](int k) {
    return Vec3(k & 1 ? high.x() : low.x(), k & 2 ? high.y() : low.y(), k & 4 ? high.z() : low.z());
  };
  for (const auto& q : quads) {
    for (const auto& t : {std::array{q[0], q[1], q[2]}, std::array{q[0], q[2], q[3]}}) {
      const auto first = static_cast<std::int32_t>(pieces.vertices.size());
      for (const int k : t) pieces.vertices.push_back(corner(k));
      pieces.triangles.push_back({first, first + 1, first + 2});
    }
  }
  return pieces;
}

MadeSurface make_box_surface(const Vec3& low, const Vec3& high) {
  Pieces pieces = make_box_pieces(low, high);
  return make_surface(pieces.vertices, pieces.triangles);
}

TEST(Surface, BoxHasTheMassOfABox) {
  const Vec3 low(10, -20, 30), size(1, 2, 3);
  const MadeSurface made = make_box_surface(low, low + size);
  ASSERT_EQ(made.problem, "");
  EXPECT_TRUE(made.surface->closed);
  EXPECT_TRUE(made.surface->one_sided);
  EXPECT_FALSE(made.surface->turned);
  EXPECT_EQ(made.surface->vertices.size(), 8u);
  EXPECT_NEAR(made.surface->volume, 6, 1e-12);
  const MassProperties mass = calc_surface_mass(*made.surface), box = calc_unit_density(test::box(size), false);
  EXPECT_NEAR(mass.mass, box.mass, 1e-12);
  EXPECT_LT((mass.center - (low + size / 2)).norm(), 1e-12);
  EXPECT_LT((mass.inertia - box.inertia).norm(), 1e-11);
}

/// A corner tetrahedron with legs a, b, c: volume a b c / 6, centroid at a quarter, Ixx about the corner
/// = V (b^2 + c^2) / 10.
TEST(Surface, TetrahedronAgainstItsClosedForm) {
  const double a = 1.2, b = 0.7, c = 2.1, volume = a * b * c / 6;
  const MadeSurface made =
      make_surface({{0, 0, 0}, {a, 0, 0}, {0, b, 0}, {0, 0, c}}, {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}});
  ASSERT_EQ(made.problem, "");
  const MassProperties mass = calc_surface_mass(*made.surface);
  EXPECT_NEAR(mass.mass, volume, 1e-15);
  EXPECT_LT((mass.center - Vec3(a, b, c) / 4).norm(), 1e-15);
  const Vec3 d = mass.center;
  const Mat3 at_corner = mass.inertia + volume * (d.squaredNorm() * Mat3::Identity() - d * d.transpose());
  EXPECT_NEAR(at_corner(0, 0), volume * (b * b + c * c) / 10, 1e-15);
  EXPECT_NEAR(at_corner(0, 1), -volume * a * b / 20, 1e-15);
}

TEST(Surface, AnOpenOneIsAShell) {
  const MadeSurface made = make_surface({{0, 0, 0}, {2, 0, 0}, {2, 1, 0}, {0, 1, 0}}, {{0, 1, 2}, {0, 2, 3}});
  ASSERT_EQ(made.problem, "");
  EXPECT_FALSE(made.surface->closed);
  const MassProperties plate = calc_surface_mass(*made.surface);
  EXPECT_NEAR(plate.mass, 2, 1e-15);
  EXPECT_NEAR(plate.inertia(0, 0), 2.0 / 12, 1e-14);
  EXPECT_NEAR(plate.inertia(1, 1), 2.0 * 4 / 12, 1e-14);
  EXPECT_NEAR(plate.inertia(2, 2), 2.0 * 5 / 12, 1e-14);
}

TEST(Surface, TrianglesThatFaceInwardsAreTurned) {
  Pieces pieces = make_box_pieces({0, 0, 0}, {1, 1, 1});
  for (Triangle& t : pieces.triangles) std::swap(t[0], t[1]);
  const MadeSurface made = make_surface(pieces.vertices, pieces.triangles);
  ASSERT_EQ(made.problem, "");
  EXPECT_TRUE(made.surface->turned);
  EXPECT_NEAR(made.surface->volume, 1, 1e-15);
  EXPECT_GT(calc_surface_mass(*made.surface).mass, 0);
}

TEST(Surface, ATriangleGivenTwiceCountsOnce) {
  Pieces pieces = make_box_pieces({0, 0, 0}, {1, 1, 1});
  const Triangle first = pieces.triangles[0];
  pieces.triangles.push_back({first[1], first[2], first[0]});  // the same from another corner
  pieces.triangles.push_back(pieces.triangles[7]);
  const MadeSurface made = make_surface(pieces.vertices, pieces.triangles);
  ASSERT_EQ(made.problem, "");
  EXPECT_EQ(made.surface->dropped, 2);
  EXPECT_EQ(made.surface->triangles.size(), 12u);
  EXPECT_TRUE(made.surface->closed);
  EXPECT_NEAR(made.surface->volume, 1, 1e-15);
}

TEST(Surface, TrianglesWithoutAreaAreLeftOut) {
  Pieces pieces = make_box_pieces({0, 0, 0}, {1, 1, 1});
  const auto first = static_cast<std::int32_t>(pieces.vertices.size());
  for (const double x : {0.0, 0.5, 1.0}) pieces.vertices.emplace_back(x, 5, 5);
  pieces.triangles.push_back({0, 0, 1});
  pieces.triangles.push_back({0, 1, 0});
  const MadeSurface made = make_surface(pieces.vertices, pieces.triangles);
  ASSERT_EQ(made.problem, "");
  EXPECT_EQ(made.surface->dropped, 2);
  EXPECT_TRUE(made.surface->closed);
  EXPECT_EQ(make_surface(pieces.vertices, {{first, first + 1, first + 2}}).problem, "has no triangle with an area");
}

TEST(Surface, FaultsSayWhatAndWhere) {
  const std::vector<Vec3> corners{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  EXPECT_NE(make_surface(corners, {{0, 1, 4}}).problem.find("triangle 1 names a vertex that is not there (5 of 4)"),
            std::string::npos);
  EXPECT_NE(make_surface(corners, {{0, 1, -1}}).problem.find("not there"), std::string::npos);
  EXPECT_NE(make_surface(corners, {{0, 1, 2}, {0, 1, 3}}).problem.find("face opposite ways"), std::string::npos);
  std::vector<Vec3> broken = corners;
  broken[2].y() = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(make_surface(broken, {{0, 1, 2}}).problem.find("vertex 3 is not a place"), std::string::npos);
  EXPECT_NE(make_surface({}, {}).problem, "");
  const std::vector<Triangle> many(kMaxTriangles + 1, {0, 1, 2});
  EXPECT_NE(make_surface(corners, many).problem.find("limit"), std::string::npos);
}

TEST(Surface, Heightfield) {
  const MadeSurface made = make_heightfield({0, 1, 2, 3, 4, 5}, 3, 4, 2);
  ASSERT_EQ(made.problem, "");
  EXPECT_EQ(made.surface->vertices.size(), 6u);
  EXPECT_EQ(made.surface->triangles.size(), 4u);
  EXPECT_TRUE(made.surface->vertices[0].isApprox(Vec3(-2, -1, 0)));
  EXPECT_TRUE(made.surface->vertices[5].isApprox(Vec3(2, 1, 5)));
  for (const Triangle& t : made.surface->triangles) {
    const auto& p = made.surface->vertices;
    EXPECT_GT((p[t[1]] - p[t[0]]).cross(p[t[2]] - p[t[0]]).z(), 0) << "faces up";
  }
  EXPECT_NE(make_heightfield({0, 1, 2}, 3, 1, 1).problem, "");
  EXPECT_NE(make_heightfield({0, 1, 2, 3, 4}, 2, 1, 1).problem, "");
  EXPECT_NE(make_heightfield({0, 1, 2, std::nan("")}, 2, 1, 1).problem.find("row 2, column 2"), std::string::npos);
}

ShapeDescription as_mesh(const std::shared_ptr<const Surface>& surface) {
  ShapeDescription shape;
  shape.kind = ShapeKind::Mesh;
  shape.surface = surface;
  return shape;
}

TEST(Surface, BodiesMadeOfIt) {
  ModelDescription said;
  const auto cube = make_box_surface({0, 0, 0}, {1, 1, 1}).surface;
  const auto sheet = make_surface({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 2}}).surface;
  BodyDescription solid, open, open_with_mass;
  solid.name = "solid";
  solid.density = 2;
  solid.shapes = {as_mesh(cube), as_mesh(cube)};
  solid.shapes[1].pose.position.x() = 1;
  said.bodies = {solid};
  State state;
  const CompiledModel good = compile(said, &state);
  ASSERT_TRUE(good.faults.empty()) << good.faults[0].message;
  EXPECT_NEAR(good.model.bodies[0].mass, 4, 1e-12);
  EXPECT_LT((good.model.bodies[0].center_of_mass - Vec3(1, 0.5, 0.5)).norm(), 1e-12);
  EXPECT_EQ(good.model.surfaces.size(), 1u) << "shared";
  EXPECT_NEAR(good.model.bodies[0].reach_radius, std::sqrt(1 + 0.25 + 0.25), 1e-12);

  open.name = "open";
  open.density = 2;
  open.shapes = {as_mesh(sheet)};
  open_with_mass = open;
  open_with_mass.name = "open with mass";
  open_with_mass.density.reset();
  open_with_mass.mass = 3;
  said.bodies = {open, open_with_mass};
  const CompiledModel bad = compile(said, &state);
  ASSERT_EQ(bad.faults.size(), 1u);
  EXPECT_NE(bad.faults[0].message.find("mesh is open"), std::string::npos) << bad.faults[0].message;
}

TEST(Surface, GroupsBecomeNumbers) {
  ModelDescription said;
  for (const char* group : {"a", "", "b", "a"}) {
    BodyDescription body;
    body.mass = 1;
    body.group = group;
    body.shapes = {test::sphere(1)};
    said.bodies.push_back(body);
  }
  State state;
  const CompiledModel made = compile(said, &state);
  ASSERT_TRUE(made.faults.empty());
  EXPECT_EQ(made.model.bodies[0].group, made.model.bodies[3].group);
  EXPECT_NE(made.model.bodies[0].group, made.model.bodies[2].group);
  EXPECT_EQ(made.model.bodies[1].group, -1);
}

TEST(Surface, RollingFrictionIsBilinearOverTheRectangle) {
  // 3 columns over 8 m, 2 rows over 2 m; the heights have a grid of their own.
  const Grid arms{{0, 0.1, 0.4, 1, 1.2, 0.8}, 3};
  const MadeSurface made = make_heightfield({0, 1, 2, 3}, 2, 8, 2, arms);
  ASSERT_EQ(made.problem, "");
  const Surface& field = *made.surface;
  EXPECT_DOUBLE_EQ(calc_rolling_friction(field, -4, -1), 0);
  EXPECT_DOUBLE_EQ(calc_rolling_friction(field, 0, -1), 0.1);
  EXPECT_DOUBLE_EQ(calc_rolling_friction(field, 4, 1), 0.8);
  EXPECT_DOUBLE_EQ(calc_rolling_friction(field, -2, 0), (0 + 0.1 + 1 + 1.2) / 4);
  EXPECT_DOUBLE_EQ(calc_rolling_friction(field, 3, -0.5),
                   0.75 * (0.25 * 0.1 + 0.75 * 0.4) + 0.25 * (0.25 * 1.2 + 0.75 * 0.8));
  EXPECT_DOUBLE_EQ(calc_rolling_friction(field, 100, 0), 0.6) << "beyond it as on its border";
  for (const Grid& bad : {Grid{{1, 2, 3}, 3}, Grid{{1, 2, 3, 4, 5}, 2}, Grid{{1, 2, 3, -1}, 2},
                          Grid{{1, 2, 3, std::numeric_limits<double>::infinity()}, 2}})
    EXPECT_NE(make_heightfield({0, 0, 0, 0}, 2, 1, 1, bad).problem.find("rolling_friction"), std::string::npos);
}

}  // namespace
}  // namespace slipstick
