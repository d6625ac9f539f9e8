// Meshes that start deep inside the ground come out of it, and do not fall on below: in a heightfield, in a slab that
// is a mesh itself.
#include <gtest/gtest.h>
#include <slipstick/simulation.h>
#include <slipstick/surface.h>

#include <cmath>
#include <cstdlib>
#include <random>

namespace slipstick {
namespace {

std::shared_ptr<const Surface> make_sunk_block(const Vec3& half) {
  std::vector<Vec3> vertices;
  for (int k = 0; k < 8; ++k)
    vertices.emplace_back(k & 1 ? half.x() : -half.x(), k & 2 ? half.y() : -half.y(), k & 4 ? half.z() : -half.z());
  std::vector<Triangle> triangles;
  for (const std::array<std::int32_t, 4>& q :
       {std::array{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}}) {
    triangles.push_back({q[0], q[1], q[2]});
    triangles.push_back({q[0], q[2], q[3]});
  }
  return make_surface(vertices, triangles).surface;
}

/// Waves 3 cm high.
std::shared_ptr<const Surface> make_sunk_field() {
  std::vector<double> heights;
  for (int y = 0; y < 9; ++y)
    for (int x = 0; x < 9; ++x) heights.push_back(0.03 * std::sin(0.6 * x) * std::cos(0.5 * y));
  return make_heightfield(heights, 9, 2, 2).surface;
}

TEST(Sunk, MeshesComeOutOfTheGround) {
  std::mt19937_64 random(3);
  const auto pick = [&](double low, double high) { return std::uniform_real_distribution<double>(low, high)(random); };
  const char* more = std::getenv("SLIPSTICK_SUNK");
  const int count = more != nullptr ? std::atoi(more) : 40;
  for (int k = 0; k < count; ++k) {
    const bool field = k % 2 == 0;
    ModelDescription description;
    BodyDescription ground, block;
    ground.name = "ground";
    ground.kind = BodyKind::Fixed;
    ShapeDescription shape;
    shape.kind = field ? ShapeKind::Heightfield : ShapeKind::Mesh;
    shape.surface = field ? make_sunk_field() : make_sunk_block({1, 1, 0.5});
    ground.shapes = {shape};
    if (!field) ground.pose.position.z() = -0.5;
    block.name = "block";
    block.mass = 5;
    shape.kind = ShapeKind::Mesh;
    shape.surface = make_sunk_block({0.1, pick(0.06, 0.12), pick(0.06, 0.12)});
    block.shapes = {shape};
    block.pose.position = {pick(-0.3, 0.3), pick(-0.3, 0.3), pick(-0.1, 0.1)};  // up to its whole height deep
    block.pose.orientation =
        Quat(Eigen::AngleAxisd(pick(-3, 3), Vec3(pick(-1, 1), pick(-1, 1), pick(-1, 1)).normalized()));
    Material material;
    material.name = "default";
    material.friction = 0.5;
    description.materials = {material};
    description.bodies = {ground, block};
    SimulationOptions options;
    options.step = 1.0 / 200;
    State state;
    CompiledModel compiled = compile(description, &state);
    ASSERT_TRUE(compiled.faults.empty());
    Simulation simulation(compiled.model, state, options);
    for (int step = 0; step < 200; ++step) ASSERT_FALSE(simulation.step().failed);
    EXPECT_GT(simulation.state().pose[1].position.z(), 0.02) << "case " << k;
    double deepest = 0;
    for (const Contact& contact : simulation.contacts()) deepest = std::max(deepest, -contact.gap);
    EXPECT_LT(deepest, 1e-4) << "case " << k;
    EXPECT_EQ(simulation.check_world().missed, 0) << "case " << k;
  }
}

}  // namespace
}  // namespace slipstick
