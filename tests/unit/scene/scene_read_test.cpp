#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "unit/scene/scene_texts.h"

namespace slipstick {
namespace {

using Lines = std::vector<std::string>;

template <class List>
const auto& named(const List& list, const std::string& name) {
  for (const auto& each : list) {
    if (each.name == name) return each;
  }
  ADD_FAILURE() << "no " << name;
  return list[0];
}

class FullScene : public testing::Test {
 protected:
  void SetUp() override {
    Result<Scene> result = parse_scene(kFullScene, "full.yaml");
    ASSERT_EQ(lines_of(result), Lines{"ok"});
    scene_ = std::move(result).value();
  }
  const ModelDescription& said() const { return scene_.description; }
  Scene scene_;
};

TEST_F(FullScene, HasItsSettings) {
  EXPECT_EQ(scene_.name, "wrecking ball");
  EXPECT_EQ(scene_.path, "full.yaml");
  EXPECT_EQ(scene_.text, kFullScene);
  EXPECT_EQ(scene_.options.duration, 5);
  EXPECT_EQ(scene_.options.step, 1.0 / 60);
  EXPECT_EQ(scene_.options.scheme, "stabilized");
  EXPECT_EQ(scene_.options.stabilization, 0.5);
  EXPECT_EQ(scene_.options.friction, FrictionModel::Pyramid);
  EXPECT_EQ(scene_.options.facets, 8);
  EXPECT_EQ(scene_.options.tolerance, 1e-6);
  EXPECT_EQ(scene_.options.restitution_threshold, 0.01);
  EXPECT_EQ(scene_.record.every, 2);
  EXPECT_FALSE(scene_.record.contacts);
  EXPECT_EQ(said().gravity, Vec3(0, 0, -9.81));
}

TEST_F(FullScene, HasItsMaterials) {
  EXPECT_EQ(named(said().materials, "default").friction, 0.5);
  EXPECT_EQ(named(said().materials, "steel").restitution, 0.2);
  ASSERT_EQ(said().material_pairs.size(), 1u);
  EXPECT_EQ(said().material_pairs[0].a, "steel");
  EXPECT_EQ(said().material_pairs[0].friction, 0.4);
}

TEST_F(FullScene, HasItsBodies) {
  ASSERT_EQ(said().bodies.size(), 1u + 6u + 3u);
  const BodyDescription& brick = named(said().bodies, "brick_2_1");
  EXPECT_EQ(brick.pose.position, Vec3(2.5, 0, 0.75));
  EXPECT_EQ(brick.mass, 2);
  EXPECT_EQ(brick.shapes.at(0).size, Vec3(1, 0.5, 0.5));
  EXPECT_EQ(brick.shapes[0].material, "steel");
  EXPECT_EQ(brick.shapes[0].color, "#ff6347");

  const BodyDescription& ball = named(said().bodies, "ball");
  EXPECT_NEAR(ball.pose.orientation.w(), std::cos(std::numbers::pi / 12), 1e-15);
  EXPECT_NEAR(ball.pose.orientation.y(), std::sin(std::numbers::pi / 12), 1e-15);
  EXPECT_EQ(ball.density, 1000);
  EXPECT_EQ(ball.lock, (std::array<bool, 6>{false, true, false, true, false, true}));
  EXPECT_EQ(ball.shapes.at(0).color, "#cc3333");
  EXPECT_EQ(ball.shapes.at(0).pose.position, Vec3(0, 0, 0.1));
  EXPECT_EQ(ball.shapes.at(1).kind, ShapeKind::Capsule);
  EXPECT_EQ(ball.shapes.at(1).density, 500);
  EXPECT_TRUE(ball.shapes.at(1).visual_only);
  EXPECT_NEAR((ball.shapes[1].pose.orientation * Vec3::UnitZ() - Vec3::UnitX()).norm(), 0, 1e-15);

  const BodyDescription& block = named(said().bodies, "block");
  EXPECT_EQ(block.pose.orientation.z(), 1);
  EXPECT_EQ((*block.inertia)(1, 2), 0.3);
  EXPECT_EQ((*block.inertia)(2, 0), 0.2);
  EXPECT_EQ(block.lock, (std::array<bool, 6>{false, false, false, true, true, true}));

  const BodyDescription& crane = named(said().bodies, "crane");
  EXPECT_EQ(crane.kind, BodyKind::Kinematic);
  EXPECT_DOUBLE_EQ(crane.kinematic_velocity[0].at(2), std::sin(2));
  EXPECT_EQ(crane.kinematic_angular_velocity[2].at(2), 2);
  EXPECT_EQ(said().bodies[0].shapes.at(0).offset, -1);
}

TEST_F(FullScene, HasItsJoints) {
  ASSERT_EQ(said().joints.size(), 6u);
  EXPECT_EQ(said().joints[0].compliance, 1e-8);
  EXPECT_EQ(said().joints[0].damping_time, 0.033);
  EXPECT_EQ(said().joints[1].axis, Vec3::UnitY());
  EXPECT_TRUE(said().joints[1].collide);
  EXPECT_EQ(said().joints[2].at, named(said().bodies, "brick_0_0").pose.position);
  EXPECT_EQ(said().joints[3].kind, JointKind::Fixed);
  EXPECT_EQ(said().joints[3].at, named(said().bodies, "brick_1_1").pose.position);
  EXPECT_EQ(said().joints[4].at_b, Vec3(0, 0, 1));
  EXPECT_EQ(said().joints[4].length, 1.5);
  EXPECT_EQ(said().joints[5].kind, JointKind::Rod);
  EXPECT_EQ(said().joints[5].at, named(said().bodies, "brick_2_1").pose.position);
}

TEST_F(FullScene, HasItsForcesAndPairs) {
  ASSERT_EQ(said().springs.size(), 2u);
  EXPECT_EQ(said().springs[0].stiffness, 100);
  EXPECT_EQ(said().springs[0].rest_length, 0.2);
  EXPECT_EQ(said().springs[1].stiffness, 0);
  EXPECT_EQ(said().springs[1].damping, 3);
  ASSERT_EQ(said().loads.size(), 1u);
  EXPECT_DOUBLE_EQ(said().loads[0].force[0].at(1), 8 * std::cos(1));
  EXPECT_EQ(said().loads[0].torque[2].at(1), 1);
  EXPECT_EQ(said().loads[0].at, Vec3(0, 0, 0.5));
  using Pair = std::array<std::string, 2>;
  const std::vector<Pair> pairs{Pair{"ball", "ground"}, Pair{"brick_0_0", "ball"}, Pair{"brick_1_0", "ball"},
                                Pair{"brick_2_0", "ball"}};
  EXPECT_EQ(said().pairs_without_contact, pairs);
}

TEST_F(FullScene, IsCompiled) {
  EXPECT_EQ(scene_.model.bodies.size(), 10u);
  EXPECT_EQ(scene_.model.joints.size(), 6u);
  EXPECT_EQ(scene_.initial.pose.size(), 10u);
}

TEST(SceneRead, PlanarScene) {
  const Result<Scene> result = parse_scene(kPlanarScene, "flat.yaml");
  ASSERT_EQ(lines_of(result), Lines{"ok"});
  const ModelDescription& said = result->description;
  EXPECT_TRUE(said.planar);
  EXPECT_EQ(said.gravity, Vec3(0, -9.81, 0));
  EXPECT_EQ(said.bodies[0].shapes[1].normal, Vec3::UnitY());
  EXPECT_EQ(said.bodies[1].velocity, Vec3(1, 2, 0));
  EXPECT_EQ(said.bodies[1].angular_velocity, Vec3(0, 0, -3));
  EXPECT_NEAR(said.bodies[2].pose.orientation.z(), std::sqrt(0.5), 1e-15);
  EXPECT_EQ(said.bodies[2].shapes[0].size.head<2>(), Vec2(2, 1));
  EXPECT_EQ(said.bodies[2].shapes[1].points.size(), 3u);
  EXPECT_EQ((*said.bodies[3].inertia)(2, 2), 0.5);
  EXPECT_EQ(said.bodies[4].kinematic_velocity[1].at(3), 3);
  EXPECT_EQ(said.bodies[4].kinematic_angular_velocity[2].at(3), 3);
  EXPECT_EQ(said.loads[0].torque[2].at(0.5), std::sin(0.5));
  EXPECT_EQ(result->name, "flat");
}

TEST(SceneRead, SaysNothingMeansDefaults) {
  const Result<Scene> result = parse_scene("slipstick: 1\nbodies:\njoints: []\n", "empty.yaml");
  ASSERT_EQ(lines_of(result), Lines{"ok"});
  EXPECT_EQ(result->options.scheme, "stabilized");
  EXPECT_EQ(result->options.solver, "auto");
  EXPECT_EQ(result->options.step, 0.01);
  EXPECT_EQ(result->options.friction, FrictionModel::Cone);
  EXPECT_EQ(result->record.every, 1);
  EXPECT_TRUE(result->record.contacts);
}

TEST(SceneRead, SolverWithOptions) {
  const Result<Scene> result = parse_scene(
      "slipstick: 1\nsimulation: {solver: {pgs: {local: block-tangents, iterations: 50, relaxation: 1.2, symmetric: "
      "true, "
      "order: coloured, threads: 3, time_limit: 0.5}}}\n",
      "solver.yaml");
  ASSERT_EQ(lines_of(result), Lines{"ok"});
  EXPECT_EQ(result->options.solver, "pgs");
  const SolverOptions& o = result->options.solver_options;
  EXPECT_EQ(o.local, LocalSolver::BlockTangents);
  EXPECT_EQ(o.max_iterations, 50);
  EXPECT_EQ(o.relaxation, 1.2);
  EXPECT_TRUE(o.symmetric);
  EXPECT_EQ(o.order, SweepOrder::Coloured);
  EXPECT_EQ(o.threads, 3);
  EXPECT_EQ(o.time_limit, 0.5);
}

TEST(SceneRead, SolveModes) {
  Result<Scene> result = parse_scene(R"yaml(slipstick: 1
materials: {rock: {solve: iterative}, tyre: {solve: direct}, steel: {}}
material_pairs: [{between: [tyre, steel], solve: split}]
bodies:
  - {name: a, mass: 1, inertia: [1, 1, 1]}
  - {name: b, mass: 1, inertia: [1, 1, 1], position: [1, 0, 0]}
joints:
  - hinge: {name: first, between: [a, b], at: [0, 0, 0], axis: [0, 0, 1], solve: iterative, limits_deg: [-1, 1]}
  - ball: {name: second, between: [world, b], at: [0, 0, 0]}
simulation: {solver: {split: {coupling: 5, sweeps: 7}}}
)yaml",
                                     "s.yaml");
  ASSERT_EQ(lines_of(result), Lines{"ok"});
  const Model& model = result.value().model;
  const auto mode = [&](const std::string& a, const std::string& b) {
    const auto index = [&](const std::string& name) {
      for (std::size_t i = 0; i < model.materials.size(); ++i)
        if (model.materials[i].name == name) return static_cast<int>(i);
      return -1;
    };
    return model.pair_law(index(a), index(b)).solve;
  };
  EXPECT_EQ(mode("rock", "rock"), SolveMode::Iterative);
  EXPECT_EQ(mode("rock", "default"), SolveMode::Iterative);
  EXPECT_EQ(mode("rock", "tyre"), SolveMode::Direct);
  EXPECT_EQ(mode("steel", "default"), SolveMode::Split);
  EXPECT_EQ(mode("steel", "tyre"), SolveMode::Split);
  EXPECT_EQ(mode("tyre", "steel"), SolveMode::Split);
  EXPECT_EQ(model.joints[0].solve, SolveMode::Iterative);
  EXPECT_EQ(model.joints[1].solve, SolveMode::Direct);
  ASSERT_EQ(model.limits.size(), 2u);
  EXPECT_EQ(model.limits[0].law.solve, SolveMode::Iterative);
  EXPECT_EQ(result.value().options.solver_options.max_iterations, 5);
  EXPECT_EQ(result.value().options.solver_options.sweeps, 7);
}

TEST(SceneRead, SchemeAndImpactOptions) {
  Result<Scene> result = parse_scene(R"yaml(slipstick: 1
materials: {rubber: {friction: 1, tangential_restitution: 0.7}}
material_pairs: [{between: [rubber, default], impact: newton, tangential_restitution: 0.2}]
simulation:
  impact: simplified
  scheme: {alpha-gamma: {alpha: 3/5, gamma: 0.4, locate: false, stabilize: false, event_state: hermite}}
)yaml",
                                     "s.yaml");
  ASSERT_EQ(lines_of(result), Lines{"ok"});
  const SimulationOptions& options = result.value().options;
  EXPECT_EQ(options.scheme, "alpha-gamma");
  EXPECT_EQ(options.alpha_gamma.alpha, 0.6);
  EXPECT_EQ(options.alpha_gamma.gamma, 0.4);
  EXPECT_EQ(options.locate, false);
  EXPECT_FALSE(options.alpha_gamma.stabilize);
  EXPECT_EQ(options.alpha_gamma.event_state, EventState::Hermite);
  EXPECT_EQ(options.impact, ImpactLaw::Simplified);
  const Model& model = result.value().model;
  const int rubber = model.materials[0].name == "rubber" ? 0 : 1;
  EXPECT_EQ(model.pair_law(rubber, rubber).tangential_restitution, 0.7);
  EXPECT_FALSE(model.pair_law(rubber, rubber).impact);
  EXPECT_EQ(model.pair_law(rubber, 1 - rubber).impact, ImpactLaw::Newton);
  EXPECT_EQ(model.pair_law(1 - rubber, rubber).tangential_restitution, 0.2);
}

TEST(SceneRead, RandomHulls) {
  const std::string text = R"yaml(slipstick: 1
bodies:
  - repeat: {i: 3}
    name: rock_{i}
    density: 1
    shapes: [{hull: {random: {points: 20 + 5*i, size: [4, 2, 1], seed: i % 2}}}]
)yaml";
  const auto points_of = [](const std::string& scene, int body) {
    const Result<Scene> result = parse_scene(scene, "s.yaml");
    EXPECT_EQ(lines_of(result), Lines{"ok"});
    return result.ok() ? result->description.bodies.at(body).shapes.at(0).vertices : std::vector<Vec3>();
  };
  const auto a = points_of(text, 0), b = points_of(text, 1), c = points_of(text, 2);
  ASSERT_EQ(a.size(), 20u);
  ASSERT_EQ(b.size(), 25u);
  ASSERT_EQ(c.size(), 30u);
  for (const Vec3& p : a) EXPECT_NEAR(p.cwiseQuotient(Vec3(2, 1, 0.5)).norm(), 1, 1e-12);
  EXPECT_NE(a[0], b[0]);
  for (std::size_t k = 0; k < a.size(); ++k) EXPECT_EQ(a[k], c[k]) << "one seed, and points that come after";
  EXPECT_NE(points_of(text + "seed: 2\n", 0).at(0), a[0]);
}

TEST(SceneRead, OrientationForms) {
  const auto turn = [](const std::string& text) {
    const auto result =
        parse_scene("slipstick: 1\nbodies:\n  - {name: a, fixed: true, orientation: " + text + "}\n", "s.yaml");
    EXPECT_EQ(lines_of(result), Lines{"ok"}) << text;
    return result.ok() ? result->description.bodies[0].pose.orientation.toRotationMatrix() : Mat3(Mat3::Zero());
  };
  const Mat3 quarter = (Mat3() << 0, -1, 0, 1, 0, 0, 0, 0, 1).finished();  // about z
  EXPECT_NEAR((turn("[1, 0, 0, 1]") - quarter).norm(), 0, 1e-15);
  EXPECT_NEAR((turn("{axis: [0, 0, 2], angle_deg: 90}") - quarter).norm(), 0, 1e-15);
  EXPECT_NEAR((turn("{axis: [0, 0, 1], angle_rad: pi/2}") - quarter).norm(), 0, 1e-15);
  EXPECT_NEAR((turn("{rpy_deg: [0, 0, 90]}") - quarter).norm(), 0, 1e-15);
  EXPECT_NEAR((turn("{rpy_rad: [0, 0, pi/2]}") - quarter).norm(), 0, 1e-15);
  // Roll comes first, about the fixed x axis: it takes y to z; yaw then leaves z alone.
  const Mat3 both = turn("{rpy_deg: [90, 0, 90]}");
  EXPECT_NEAR((both * Vec3::UnitY() - Vec3::UnitZ()).norm(), 0, 1e-15);
  EXPECT_NEAR((both * Vec3::UnitX() - Vec3::UnitY()).norm(), 0, 1e-15);
}

TEST(SceneRead, QuotesAnchorsAndFlagsFromExpressions) {
  const Result<Scene> result = parse_scene(R"(slipstick: 1
let: {n: 4}
bodies:
  - &first {name: "a{n-1}", mass: '2*n', inertia: [1, 1, 1]}
  - repeat: {i: 3}
    name: c_{i}
    fixed: i == 0
    mass: 1
    inertia: [1, 1, 1]
  - {name: b, mass: 1, inertia: &round [2, 2, 2]}
  - {name: c, mass: 1, inertia: *round}
)",
                                           "s.yaml");
  ASSERT_EQ(lines_of(result), Lines{"ok"});
  EXPECT_EQ(result->description.bodies[0].name, "a3");
  EXPECT_EQ(result->description.bodies[0].mass, 8);
  EXPECT_EQ(result->description.bodies[1].kind, BodyKind::Fixed);
  EXPECT_EQ(result->description.bodies[2].kind, BodyKind::Dynamic);
  EXPECT_EQ((*result->description.bodies[5].inertia)(0, 0), 2);
}

}  // namespace
}  // namespace slipstick
