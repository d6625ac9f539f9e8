#include <gtest/gtest.h>
#include <slipstick/model.h>
#include <slipstick/state.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "base/se3.h"
#include "unit/model/builders.h"

namespace slipstick {
namespace {

using namespace test;

/// Compiles, and shows the faults if there are any.
Model compile_good(const ModelDescription& description, State* start) {
  CompiledModel made = compile(description, start);
  for (const CompileFault& fault : made.faults) ADD_FAILURE() << fault.message;
  return std::move(made.model);
}

ModelDescription planar_world() {
  ModelDescription world;
  world.planar = true;
  world.gravity = Vec3(0, -9.81, 0);
  return world;
}

TEST(Compile, AnEmptyDescriptionIsAnEmptyModel) {
  State start;
  const Model model = compile_good({}, &start);
  EXPECT_TRUE(model.bodies.empty());
  ASSERT_EQ(model.materials.size(), 1u);
  EXPECT_EQ(model.materials[0].name, "default");
  EXPECT_EQ(model.dof, 0);
}

TEST(Compile, NamesBodiesThatHaveNone) {
  ModelDescription world;
  world.bodies = {body("", 1, {sphere(1)}), body("body_2", 1, {sphere(1)}), body("", 1, {sphere(1)})};
  State start;
  const Model model = compile_good(world, &start);
  EXPECT_EQ(model.bodies[0].name, "body_0");
  EXPECT_EQ(model.bodies[1].name, "body_2");
  EXPECT_EQ(model.bodies[2].name, "body_2_");
  EXPECT_EQ(model.find_body("body_2"), 1);
  EXPECT_EQ(model.find_body("world"), kWorld);
  EXPECT_FALSE(model.find_body("nobody"));
}

TEST(Compile, StateIsThatOfTheCentreOfMass) {
  ModelDescription world;
  BodyDescription arm = body("arm", 1, {sphere(0.5)});
  arm.shapes[0].pose.position = Vec3(1, 0, 0);
  arm.pose = {Vec3(10, 20, 30), turn({0, 0, 1}, std::numbers::pi / 2)};
  arm.velocity = Vec3(1, 2, 3);
  arm.angular_velocity = Vec3(0, 4, 5);
  world.bodies = {arm};
  State start;
  const Model model = compile_good(world, &start);
  EXPECT_NEAR((start.pose[0].position - Vec3(10, 21, 30)).norm(), 0, 1e-14);
  EXPECT_NEAR((start.velocity[0].linear - (Vec3(1, 2, 3) + Vec3(0, 4, 5).cross(Vec3(0, 1, 0)))).norm(), 0, 1e-14);
  EXPECT_NEAR((start.velocity[0].angular - Vec3(4, 0, 5)).norm(), 0, 1e-14);  // body axes
  EXPECT_NEAR(model.shapes[0].pose.position.norm(), 0, 1e-15);
  EXPECT_NEAR(model.bodies[0].reach_radius, 0.5, 1e-15);
  EXPECT_TRUE(start.previous_velocity.empty());
  // The point of the body's own origin moves as the description says.
  EXPECT_NEAR(
      (point_velocity(start.pose[0], start.velocity[0], -model.bodies[0].center_of_mass) - Vec3(1, 2, 3)).norm(), 0,
      1e-14);
}

TEST(Compile, UnitQuaternionsWhateverIsGiven) {
  ModelDescription world;
  world.bodies = {body("b", 1, {sphere(1)})};
  world.bodies[0].pose.orientation = Quat(2, 0, 0, 2);
  State start;
  compile_good(world, &start);
  EXPECT_NEAR(start.pose[0].orientation.norm(), 1, 1e-15);
}

TEST(Compile, LocksLeaveAnOrthonormalBasis) {
  ModelDescription world;
  BodyDescription b = body("b", 1, {sphere(1)});
  b.pose.orientation = turn({1, 2, 3}, 0.9);
  b.lock = {true, false, false, false, true, false};
  b.velocity = Vec3(0, 1, 2);
  b.angular_velocity = Vec3(3, 0, -1);
  world.bodies = {b};
  State start;
  const Model model = compile_good(world, &start);
  const Body& made = model.bodies[0];
  ASSERT_EQ(made.dof, 4);
  EXPECT_EQ(model.dof, 4);
  const MatX s = made.free_basis().leftCols(4);
  EXPECT_TRUE((s.transpose() * s).isIdentity(1e-14));
  EXPECT_TRUE(made.free_basis().rightCols(2).isZero(0));
  // The locked directions are world x and world ry at t = 0 (in body axes): no free one has a part along them.
  EXPECT_TRUE(s.row(0).isZero(0));
  Vec6 ry = Vec6::Zero();
  ry.tail<3>() = b.pose.orientation.conjugate() * Vec3::UnitY();
  EXPECT_LT((s.transpose() * ry).norm(), 1e-15);
  EXPECT_NEAR((start.pose[0].orientation * start.velocity[0].angular - Vec3(3, 0, -1)).norm(), 0, 1e-14);
}

TEST(Compile, FreeBodiesHaveTheIdentityBasis) {
  ModelDescription world;
  world.bodies = {body("b", 1, {sphere(1)}), fixed("f", {sphere(1)})};
  world.bodies[0].pose.orientation = turn({1, 2, 3}, 0.9);
  world.bodies[0].lock = {false, false, false, false, false, false};
  State start;
  const Model model = compile_good(world, &start);
  EXPECT_EQ(model.bodies[0].free_basis(), Mat6::Identity());
  EXPECT_EQ(model.bodies[1].dof, 0);
  EXPECT_EQ(model.bodies[1].mass, 0);
  EXPECT_EQ(model.dof, 6);
}

TEST(Compile, APointMassNeedsNoInertia) {
  ModelDescription world;
  world.bodies = {body("p", 2, {})};
  world.bodies[0].lock = {false, false, false, true, true, true};
  State start;
  const Model model = compile_good(world, &start);
  EXPECT_EQ(model.bodies[0].dof, 3);
  EXPECT_EQ(model.bodies[0].mass, 2);
}

TEST(Compile, PlanarBodiesKeepToThePlane) {
  ModelDescription world = planar_world();
  BodyDescription b = body("b", 3, {box({2, 4, 0})});
  b.pose = {Vec3(1, 2, 0), turn({0, 0, 1}, 0.3)};
  b.angular_velocity = Vec3(0, 0, 5);
  BodyDescription point = body("p", 1, {});
  point.lock[5] = true;
  BodyDescription bar = body("bar", 1, {});
  bar.inertia = Mat3(Vec3(0, 0, 7).asDiagonal());
  world.bodies = {b, point, bar};
  State start;
  const Model model = compile_good(world, &start);
  EXPECT_EQ(model.bodies[0].dof, 3);
  Mat6 expected = Mat6::Zero();
  expected(0, 0) = expected(1, 1) = expected(5, 2) = 1;
  EXPECT_EQ(model.bodies[0].free_basis(), expected);  // exactly
  EXPECT_EQ(start.velocity[0].angular, Vec3(0, 0, 5));
  EXPECT_DOUBLE_EQ(model.bodies[0].inertia(2, 2), 3 * 20.0 / 12);
  EXPECT_GT(model.bodies[0].inertia(0, 0), 0);
  EXPECT_EQ(model.bodies[1].dof, 2);
  EXPECT_EQ(model.bodies[2].inertia(2, 2), 7);
  EXPECT_GT(model.bodies[2].inertia(0, 0), 0);
  EXPECT_TRUE((model.bodies[2].inertia * model.bodies[2].inertia_inverse).isIdentity(1e-15));
}

TEST(Compile, PlanarBoxesBecomePolygons) {
  ModelDescription world = planar_world();
  world.bodies = {body("b", 1, {box({2, 4, 0})})};
  State start;
  const Model model = compile_good(world, &start);
  const Shape& shape = model.shapes[0];
  EXPECT_EQ(shape.kind, ShapeKind::Polygon);
  ASSERT_EQ(shape.point_count, 4);
  EXPECT_EQ(model.points, (std::vector<Vec2>{{-1, -2}, {1, -2}, {1, 2}, {-1, 2}}));
  EXPECT_DOUBLE_EQ(shape.bound, std::sqrt(5));
}

TEST(Compile, PolygonsAreCounterClockwiseWithoutFlatCornersAboutTheirCentroid) {
  ModelDescription world = planar_world();
  world.bodies = {fixed("f", {polygon({{10, 10}, {10, 11}, {10, 12}, {12, 12}, {12, 10}})})};  // clockwise
  State start;
  const Model model = compile_good(world, &start);
  const Shape& shape = model.shapes[0];
  ASSERT_EQ(shape.point_count, 4);
  double twice = 0;
  for (int i = 0; i < 4; ++i) {
    const Vec2 a = model.points[i], b = model.points[(i + 1) % 4];
    twice += a.x() * b.y() - a.y() * b.x();
  }
  EXPECT_NEAR(twice, 8, 1e-12);
  EXPECT_NEAR((shape.pose.position - Vec3(11, 11, 0)).norm(), 0, 1e-12);
  EXPECT_NEAR(shape.bound, std::sqrt(2), 1e-12);
}

TEST(Compile, PlanesHaveTheirNormalAlongZOfTheirFrame) {
  for (const Vec3& n : {Vec3(0, 0, 1), Vec3(0, 0, -1), Vec3(1, 0, 0), Vec3(0, -3, 4), Vec3(1, 2, -2), Vec3(0, 1, 0),
                        Vec3(1e-9, 0, -1)}) {
    ModelDescription world;
    world.bodies = {fixed("ground", {plane(n, 2)})};
    State start;
    const Model model = compile_good(world, &start);
    const Shape& shape = model.shapes[0];
    EXPECT_NEAR((shape.pose.orientation * Vec3::UnitZ() - n.normalized()).norm(), 0, 1e-15);
    EXPECT_NEAR(n.dot(shape.pose.position), 2, 1e-14);
    EXPECT_EQ(shape.bound, std::numeric_limits<double>::infinity());
    EXPECT_EQ(model.bodies[0].reach_radius, 0);
  }
}

TEST(Compile, ReachIsTheFarthestPoint) {
  ModelDescription world;
  ShapeDescription brick = box({2, 4, 6}), pill = capsule(0.5, 4);
  brick.pose = {Vec3(1, 1, 1), turn({1, 1, 0}, 0.4)};
  pill.pose = {Vec3(-3, 0, 1), turn({0, 1, 1}, 1.4)};
  world.bodies = {fixed("a", {brick}), fixed("b", {pill})};
  State start;
  const Model model = compile_good(world, &start);
  double far = 0;
  for (int k = 0; k < 8; ++k) {
    const Vec3 corner((k & 1) ? 1 : -1, (k & 2) ? 2 : -2, (k & 4) ? 3 : -3);
    far = std::max(far, apply(brick.pose, corner).norm());
  }
  EXPECT_NEAR(model.bodies[0].reach_radius, far, 1e-14);
  far = std::max(apply(pill.pose, {0, 0, 2}).norm(), apply(pill.pose, {0, 0, -2}).norm()) + 0.5;
  EXPECT_NEAR(model.bodies[1].reach_radius, far, 1e-14);
  EXPECT_EQ(model.shapes[1].half_length, 2);
}

TEST(Compile, MaterialsCombineAndPairsWinFieldByField) {
  ModelDescription world;
  world.materials = {{"steel", 0.2, 0.1}, {"rubber", 0.8, 0.6}, {"ice", 0.02, 0}};
  world.material_pairs = {{"rubber", "steel", 0.9, std::nullopt, -1}, {"ice", "ice", std::nullopt, 0.3, -1}};
  ShapeDescription shape = sphere(1);
  shape.material = "rubber";
  world.bodies = {body("b", 1, {shape})};
  State start;
  const Model model = compile_good(world, &start);
  ASSERT_EQ(model.materials.size(), 4u);
  EXPECT_EQ(model.materials[model.shapes[0].material].name, "rubber");
  const int steel = 1, rubber = 2, ice = 3;
  EXPECT_EQ(model.pair_law(steel, rubber).friction, 0.9);
  EXPECT_EQ(model.pair_law(rubber, steel).friction, 0.9);
  EXPECT_EQ(model.pair_law(rubber, steel).restitution, 0.6);
  EXPECT_DOUBLE_EQ(model.pair_law(steel, ice).friction, std::sqrt(0.2 * 0.02));
  EXPECT_EQ(model.pair_law(ice, ice).friction, 0.02);
  EXPECT_EQ(model.pair_law(ice, ice).restitution, 0.3);
}

TEST(Compile, JointsMeetAtTheStart) {
  ModelDescription world;
  world.bodies = {body("a", 1, {sphere(1)}), body("b", 1, {sphere(1)})};
  world.bodies[0].pose = {Vec3(1, 2, 3), turn({1, 2, 3}, 0.7)};
  world.bodies[1].pose = {Vec3(-1, 0, 3), turn({0, 2, -3}, 1.7)};
  JointDescription hinge = joint(JointKind::Hinge, "h", "a", "b"), rod = joint(JointKind::Rod, "", "world", "b");
  hinge.at = rod.at = Vec3(5, 6, 7);
  hinge.axis = Vec3(1, -2, 2);
  rod.at_b = Vec3(5, 9, 11);
  hinge.compliance = 1e-6;
  hinge.damping_time = 0.1;
  world.joints = {hinge, rod};
  State start;
  const Model model = compile_good(world, &start);
  const Joint& made = model.joints[0];
  EXPECT_NEAR((apply(start.pose[0], made.anchor_a) - hinge.at).norm(), 0, 1e-14);
  EXPECT_NEAR((apply(start.pose[1], made.anchor_b) - hinge.at).norm(), 0, 1e-14);
  const Mat3 frame = start.pose[0].orientation * made.frame_a;
  EXPECT_TRUE(frame.isApprox(start.pose[1].orientation * made.frame_b, 1e-14));
  EXPECT_TRUE((frame.transpose() * frame).isIdentity(1e-14));
  EXPECT_NEAR(frame.determinant(), 1, 1e-14);
  EXPECT_TRUE(frame.col(2).isApprox(Vec3(1, -2, 2) / 3, 1e-14));
  EXPECT_EQ(made.compliance, 1e-6);
  EXPECT_EQ(made.damping_time, 0.1);
  EXPECT_EQ(model.joints[1].anchor_a, rod.at);
  EXPECT_DOUBLE_EQ(model.joints[1].length, 5);
  EXPECT_EQ(model.joints[1].name, "joint_1");
  EXPECT_EQ(model.joints[1].first_row, 5);
  EXPECT_EQ(model.joint_rows, 6);
  EXPECT_EQ(start.joint_impulse.size(), 6u);
}

TEST(Compile, SpringsAndLoads) {
  ModelDescription world;
  world.bodies = {body("a", 1, {sphere(1)})};
  world.bodies[0].shapes[0].pose.position = Vec3(1, 0, 0);
  SpringDescription spring;
  spring.a = "world";
  spring.b = "a";
  spring.at_a = Vec3(0, 0, 3);
  spring.at_b = Vec3(0, 4, 0);
  spring.stiffness = 10;
  world.springs = {spring, spring};
  world.springs[1].rest_length = 0;
  LoadDescription load;
  load.body = "a";
  load.force[0] = Expression(3);
  world.loads = {load, load};
  world.loads[1].at = Vec3(1, 2, 0);
  State start;
  const Model model = compile_good(world, &start);
  EXPECT_DOUBLE_EQ(model.springs[0].rest_length, 5);
  EXPECT_EQ(model.springs[1].rest_length, 0);
  EXPECT_NEAR((apply(start.pose[0], model.springs[0].anchor_b) - spring.at_b).norm(), 0, 1e-14);
  EXPECT_EQ(model.loads[0].at, Vec3::Zero());
  EXPECT_EQ(model.loads[1].at, Vec3(0, 2, 0));
  EXPECT_EQ(model.loads[1].force[0].at(1), 3);
}

TEST(Compile, PairsWithoutContactAreSortedAndHoldJointedBodies) {
  ModelDescription world;
  for (const char* name : {"a", "b", "c", "d"}) world.bodies.push_back(body(name, 1, {sphere(1)}));
  world.joints = {joint(JointKind::Ball, "", "d", "c"), joint(JointKind::Ball, "", "a", "c"),
                  joint(JointKind::Ball, "", "world", "c")};
  world.joints[1].collide = true;
  world.pairs_without_contact = {{"d", "a"}, {"c", "d"}, {"a", "b"}, {"a", "a"}};
  State start;
  const Model model = compile_good(world, &start);
  const std::vector<std::array<int, 2>> expected{{0, 1}, {0, 3}, {2, 3}};
  EXPECT_EQ(model.pairs_without_contact, expected);
}

TEST(Compile, KinematicBodiesStartWithTheirPrescribedVelocity) {
  ModelDescription world;
  BodyDescription belt = fixed("belt", {sphere(1)});
  belt.kind = BodyKind::Kinematic;
  belt.shapes[0].pose.position = Vec3(1, 0, 0);
  belt.pose.orientation = turn({0, 0, 1}, std::numbers::pi / 2);
  belt.kinematic_velocity[0] = Expression(2);
  belt.kinematic_angular_velocity[0] = Expression(3);
  world.bodies = {belt};
  State start;
  const Model model = compile_good(world, &start);
  EXPECT_EQ(start.pose[0].position, Vec3::Zero());  // the frame itself moves as prescribed
  EXPECT_EQ(start.velocity[0].linear, Vec3(2, 0, 0));
  EXPECT_NEAR((start.velocity[0].angular - Vec3(0, -3, 0)).norm(), 0, 1e-15);
  EXPECT_EQ(model.bodies[0].dof, 0);
}

TEST(Compile, Names) {
  EXPECT_EQ(name_of(ShapeKind::Sphere), "sphere");
  EXPECT_EQ(name_of(ShapeKind::Polygon), "polygon");
  EXPECT_EQ(name_of(JointKind::Slider), "slider");
  EXPECT_EQ(name_of(JointKind::VelocityMotor), "velocity_motor");
  EXPECT_EQ(name_of(Freedom::TurnZ), "rz");
  Joint joint;
  const auto rows_of = [&](JointKind kind) {
    joint.kind = kind;
    return row_count(joint);
  };
  EXPECT_EQ(rows_of(JointKind::Ball), 3);
  EXPECT_EQ(rows_of(JointKind::Hinge), 5);
  EXPECT_EQ(rows_of(JointKind::Slider), 5);
  EXPECT_EQ(rows_of(JointKind::Fixed), 6);
  EXPECT_EQ(rows_of(JointKind::Rod), 1);
  joint.lock[static_cast<int>(Freedom::Z)] = true;
  EXPECT_EQ(rows_of(JointKind::Slider), 6);
}

}  // namespace
}  // namespace slipstick
