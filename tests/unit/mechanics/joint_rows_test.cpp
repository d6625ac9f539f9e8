#include <gtest/gtest.h>

#include <Eigen/SVD>
#include <array>
#include <numbers>

#include "mechanics/equations.h"
#include "unit/mechanics/scenery.h"

namespace slipstick {
namespace {

using namespace test;
constexpr std::array kKinds{JointKind::Ball, JointKind::Hinge, JointKind::Slider, JointKind::Fixed, JointKind::Rod};

JointDescription make_joint(JointKind kind, const std::array<const char*, 2>& ends, bool planar, Dice* dice) {
  JointDescription joint = make_any_joint(kind, ends, dice);
  if (planar) {
    joint.at.z() = joint.at_b.z() = 0;
    joint.axis = kind == JointKind::Slider ? Vec3(joint.axis.x(), joint.axis.y(), 0) : Vec3(Vec3::UnitZ());
  }
  return joint;
}

/// All values of the single joint of a model.
JointRows calc_rows(const Model& model, const std::vector<Pose>& pose) {
  std::vector<JointRows> rows;
  update_joint_rows(model, pose, &rows);
  return rows.at(0);
}

void check_rates(const Model& model, const std::vector<Pose>& pose, const std::vector<Twist>& velocity,
                 const std::string& what) {
  const double h = 1e-6;
  const JointRows rows = calc_rows(model, pose), ahead = calc_rows(model, moved(pose, velocity, h)),
                  behind = calc_rows(model, moved(pose, velocity, -h));
  for (int k = 0; k < rows.count; ++k) {
    const double slope = (ahead.value[k] - behind.value[k]) / (2 * h);
    EXPECT_NEAR(calc_rate(rows.row[k], rows.body_a, rows.body_b, velocity), slope, 1e-8) << what << " row " << k;
  }
  std::vector<JointRows> alone;
  update_joint_values(model, pose, &alone);
  ASSERT_EQ(alone.at(0).count, rows.count) << what;
  for (int k = 0; k < rows.count; ++k) EXPECT_NEAR(alone[0].value[k], rows.value[k], 1e-14) << what << " row " << k;
}

TEST(JointRows, JacobiansAreTheDerivativesOfTheValues) {
  Dice dice(1);
  for (const JointKind kind : kKinds) {
    for (const auto& ends : kEnds) {
      for (int trial = 0; trial < 20; ++trial) {
        ModelDescription world = make_bodies(2, false, &dice);
        world.joints = {make_joint(kind, ends, false, &dice)};
        State start;
        const Model model = compile_good(world, &start);
        const std::vector<Pose> pose{dice.pose(), dice.pose()};  // far from where the joint holds
        const std::vector<Twist> velocity{dice.twist(), dice.twist()};
        check_rates(model, pose, velocity, std::string(name_of(kind)));
        check_rates(model, start.pose, velocity, std::string(name_of(kind)));
      }
    }
  }
}

TEST(JointRows, PlanarJacobiansAreTheDerivativesOfTheValues) {
  Dice dice(2);
  for (const JointKind kind : kKinds) {
    for (const auto& ends : kEnds) {
      for (int trial = 0; trial < 10; ++trial) {
        ModelDescription world = make_bodies(2, true, &dice);
        world.joints = {make_joint(kind, ends, true, &dice)};
        State start;
        const Model model = compile_good(world, &start);
        std::vector<Twist> velocity{dice.twist(), dice.twist()};
        for (Twist& v : velocity) v = {Vec3(v.linear.x(), v.linear.y(), 0), Vec3(0, 0, v.angular.z())};
        check_rates(model, moved(start.pose, velocity, 1.3), velocity, std::string(name_of(kind)));
      }
    }
  }
}

/// The rows over the free directions of the two bodies.
MatX calc_matrix(const Model& model, const JointRows& rows) {
  MatX matrix = MatX::Zero(rows.count, 12);
  for (int k = 0; k < rows.count; ++k) {
    if (rows.body_a != kWorld) {
      matrix.row(k).head<6>() = rows.row[k].a.transpose() * model.bodies[rows.body_a].free_basis();
    }
    if (rows.body_b != kWorld) {
      matrix.row(k).tail<6>() = rows.row[k].b.transpose() * model.bodies[rows.body_b].free_basis();
    }
  }
  return matrix;
}

TEST(JointRows, HoldAtTheStartAndAreIndependent) {
  Dice dice(3);
  for (const bool planar : {false, true}) {
    for (const JointKind kind : kKinds) {
      for (const auto& ends : kEnds) {
        ModelDescription world = make_bodies(2, planar, &dice);
        world.joints = {make_joint(kind, ends, planar, &dice)};
        world.joints[0].compliance = 1e-3;
        world.joints[0].damping_time = 0.2;
        State start;
        const Model model = compile_good(world, &start);
        const JointRows rows = calc_rows(model, start.pose);
        constexpr std::array<int, 5> kPlanarCount{2, 2, 2, 3, 1};
        EXPECT_EQ(rows.count, planar ? kPlanarCount[static_cast<int>(kind)] : row_count(model.joints[0]));
        EXPECT_EQ(rows.compliance, 1e-3);
        EXPECT_EQ(rows.damping_time, 0.2);
        for (int k = 0; k < rows.count; ++k) EXPECT_NEAR(rows.value[k], 0, 1e-14);
        for (int k = rows.count; k < 6; ++k) {
          EXPECT_EQ(rows.value[k], 0);
          EXPECT_TRUE(rows.row[k].a.isZero(0) && rows.row[k].b.isZero(0));
        }
        const Eigen::JacobiSVD<MatX> svd(calc_matrix(model, rows));
        EXPECT_GT(svd.singularValues()(rows.count - 1), 1e-3) << name_of(kind) << planar;
        std::vector<JointRows> scratch;
        EXPECT_LT(calc_joint_error(model, start.pose, &scratch), 1e-14);
      }
    }
  }
}

TEST(JointRows, FreeMotionsKeepAJointClosedAndOthersDoNot) {
  Dice dice(4);
  for (const JointKind kind : kKinds) {
    ModelDescription world = make_bodies(2, false, &dice);
    world.joints = {make_joint(kind, kEnds[0], false, &dice)};
    State start;
    const Model model = compile_good(world, &start);
    const Vec3 axis = world.joints[0].axis, at = world.joints[0].at, other = axis.cross(dice.direction()).normalized();
    std::vector<JointRows> scratch;
    const auto error_after = [&](const Quat& turn, const Vec3& shift) {  // of body 1, about the anchor
      std::vector<Pose> pose = start.pose;
      pose[1].position = at + turn * (pose[1].position - at) + shift;
      pose[1].orientation = turn * pose[1].orientation;
      return calc_joint_error(model, pose, &scratch);
    };
    const bool turns = kind == JointKind::Ball || kind == JointKind::Hinge, slides = kind == JointKind::Slider;
    const Quat none = Quat::Identity();
    if (kind == JointKind::Rod) {  // turns about its other end on `a`, which is `at`
      EXPECT_LT(error_after(exp_rotation(dice.vector()), Vec3::Zero()), 1e-14);
      EXPECT_GT(error_after(none, 0.1 * (world.joints[0].at_b - at)), 0.01);
      continue;
    }
    EXPECT_EQ(error_after(exp_rotation(0.8 * axis), Vec3::Zero()) < 1e-14, turns) << name_of(kind);
    EXPECT_EQ(error_after(exp_rotation(0.8 * other), Vec3::Zero()) < 1e-14, kind == JointKind::Ball) << name_of(kind);
    EXPECT_EQ(error_after(none, 0.7 * axis) < 1e-14, slides) << name_of(kind);
    EXPECT_GT(error_after(none, 0.1 * other), 0.01) << name_of(kind);
    // The whole assembly may move anywhere.
    const Pose anywhere = dice.pose();
    std::vector<Pose> pose = start.pose;
    for (Pose& p : pose) p = {apply(anywhere, p.position), anywhere.orientation * p.orientation};
    EXPECT_LT(calc_joint_error(model, pose, &scratch), 1e-13) << name_of(kind);
  }
}

TEST(JointRows, ARodWhoseEndsMeetStillHasADirection) {
  Dice dice(5);
  ModelDescription world = make_bodies(2, false, &dice);
  world.joints = {make_joint(JointKind::Rod, kEnds[0], false, &dice)};
  State start;
  const Model model = compile_good(world, &start);
  for (const double distance : {0.0, 1e-300, 1e-14}) {
    std::vector<Pose> pose = start.pose;
    const Joint& rod = model.joints[0];
    pose[1].position += apply(pose[0], rod.anchor_a) - apply(pose[1], rod.anchor_b) + Vec3(distance, 0, 0);
    const JointRows rows = calc_rows(model, pose);
    ASSERT_TRUE(rows.row[0].a.allFinite() && rows.row[0].b.allFinite());
    EXPECT_NEAR(rows.row[0].b.head<3>().norm(), 1, 1e-14);
    EXPECT_NEAR(rows.value[0], -rod.length, 1e-12);
  }
}

}  // namespace
}  // namespace slipstick
