// Bodies that move on surfaces of triangles: a floor of tiles is a floor, rocks come to rest in a bowl.
#include <gtest/gtest.h>
#include <slipstick/simulation.h>
#include <slipstick/surface.h>

#include <cmath>
#include <random>

namespace slipstick {
namespace {

BodyDescription make_fixed(const ShapeDescription& shape) {
  BodyDescription body;
  body.kind = BodyKind::Fixed;
  body.shapes = {shape};
  return body;
}

ShapeDescription make_surface_shape(ShapeKind kind, const MadeSurface& made) {
  EXPECT_EQ(made.problem, "");
  ShapeDescription shape;
  shape.kind = kind;
  shape.surface = made.surface;
  return shape;
}

/// A flat floor of irregular triangles, 12 m x 3 m.
ShapeDescription make_tiles() {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> noise(-0.1, 0.1);
  constexpr int kColumns = 41, kRows = 11;
  std::vector<Vec3> vertices;
  std::vector<Triangle> triangles;
  for (int i = 0; i < kColumns; ++i) {
    for (int j = 0; j < kRows; ++j)
      vertices.emplace_back(-1 + 0.3 * i + noise(random), -1.5 + 0.3 * j + noise(random), 0);
  }
  for (int i = 0; i + 1 < kColumns; ++i) {
    for (int j = 0; j + 1 < kRows; ++j) {
      const int a = i * kRows + j, b = a + kRows, c = b + 1, d = a + 1;
      triangles.push_back({a, b, c});
      triangles.push_back({a, c, d});
    }
  }
  return make_surface_shape(ShapeKind::Mesh, make_surface(vertices, triangles));
}

Simulation start(const ModelDescription& said, double step) {
  State initial;
  CompiledModel made = compile(said, &initial);
  for (const CompileFault& fault : made.faults) ADD_FAILURE() << fault.message;
  SimulationOptions options;
  options.step = step;
  return {std::move(made.model), std::move(initial), options};
}

TEST(SurfaceMotion, ABallRollsTenMetresOverTilesAsOverAPlane) {
  ShapeDescription plane;
  plane.kind = ShapeKind::Plane;
  std::vector<Vec3> ends;
  for (const ShapeDescription& floor : {plane, make_tiles()}) {
    ModelDescription said;
    BodyDescription ball;
    ball.mass = 1;
    ball.pose.position = Vec3(0, 0.1, 0.1);
    ball.velocity = Vec3(2, 0.05, 0);
    ball.angular_velocity = Vec3(-0.5, 20, 0.3);
    ball.shapes.resize(1);
    ball.shapes[0].radius = 0.1;
    said.bodies = {make_fixed(floor), ball};
    Simulation simulation = start(said, 0.005);
    for (int k = 0; k < 1000; ++k) {
      const StepReport& report = simulation.step();
      ASSERT_TRUE(report.certified);
      ASSERT_LT(std::abs(simulation.state().pose[1].position.z() - 0.1), 1e-6) << k;
    }
    ends.push_back(simulation.state().pose[1].position);
    ends.push_back(simulation.state().velocity[1].linear);
  }
  EXPECT_GT(ends[0].x(), 9.9);
  EXPECT_LT((ends[0] - ends[2]).norm(), 1e-6);
  EXPECT_LT((ends[1] - ends[3]).norm(), 1e-6);
}

TEST(SurfaceMotion, RocksComeToRestInABowl) {
  ModelDescription said;
  std::vector<double> heights;
  for (int r = 0; r < 21; ++r) {
    for (int c = 0; c < 21; ++c) {
      const double x = 0.1 * c - 1, y = 0.1 * r - 1;
      heights.push_back(0.5 * (x * x + y * y) + 0.01 * std::sin(9 * x) * std::cos(7 * y));
    }
  }
  said.bodies = {make_fixed(make_surface_shape(ShapeKind::Heightfield, make_heightfield(heights, 21, 2, 2)))};
  std::mt19937 random(4);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int k = 0; k < 8; ++k) {
    BodyDescription rock;
    rock.density = 2600;
    rock.pose.position = Vec3(0.26 * (k % 2) - 0.13, 0.26 * (k / 2 % 2) - 0.13, 0.2 + 0.25 * (k / 4));
    rock.shapes.resize(1);
    rock.shapes[0].kind = ShapeKind::Hull;
    for (int i = 0; i < 20 + 5 * k; ++i) {
      const Vec3 p(uniform(random), uniform(random), uniform(random));
      rock.shapes[0].vertices.push_back(p.normalized().cwiseProduct(Vec3(0.11, 0.09, 0.07)));
    }
    said.bodies.push_back(rock);
  }
  Simulation simulation = start(said, 0.005);
  double deepest = 0;
  for (int k = 0; k < 400; ++k) {
    const StepReport& report = simulation.step();
    ASSERT_TRUE(report.certified) << k << ' ' << report.note;
    deepest = std::max(deepest, report.certificate.penetration);
  }
  EXPECT_LT(deepest, 1e-3);
  for (std::size_t b = 1; b < said.bodies.size(); ++b) {
    EXPECT_LT(simulation.state().velocity[b].linear.norm(), 0.05) << b;
    EXPECT_GT(simulation.state().pose[b].position.z(), 0) << b;
  }
}

TEST(SurfaceMotion, AnLShapedBlockLandsOnTiles) {
  const double prof[6][2] = {{0, 0}, {0.3, 0}, {0.3, 0.1}, {0.1, 0.1}, {0.1, 0.3}, {0, 0.3}};
  std::vector<Vec3> p;
  for (const double y : {0.0, 0.2}) {
    for (const auto& q : prof) p.emplace_back(q[0], y, q[1]);
  }
  std::vector<Triangle> t{{0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {0, 4, 5}, {9, 8, 7}, {9, 7, 6}, {11, 10, 9}, {11, 9, 6}};
  for (int k = 0; k < 6; ++k) {
    const int a = k, b = (k + 1) % 6;
    t.push_back({b, a, a + 6});
    t.push_back({b, a + 6, b + 6});
  }
  ModelDescription said;
  BodyDescription block;
  block.density = 700;
  block.pose.position = Vec3(1, 0, 0.3);
  block.pose.orientation = Quat(Eigen::AngleAxisd(0.9, Vec3(1, 0.4, 0.2).normalized()));
  block.shapes = {make_surface_shape(ShapeKind::Mesh, make_surface(p, t))};
  said.bodies = {make_fixed(make_tiles()), block};
  Simulation simulation = start(said, 0.005);
  EXPECT_NEAR(simulation.model().bodies[1].mass, 700 * 0.2 * 0.05, 1e-9);
  double deepest = 0;
  for (int k = 0; k < 500; ++k) {
    const StepReport& report = simulation.step();
    ASSERT_TRUE(report.certified) << k << ' ' << report.note;
    deepest = std::max(deepest, report.certificate.penetration);
  }
  EXPECT_LT(deepest, 1e-3);
  EXPECT_LT(simulation.state().velocity[1].linear.norm(), 1e-3);
}

}  // namespace
}  // namespace slipstick
