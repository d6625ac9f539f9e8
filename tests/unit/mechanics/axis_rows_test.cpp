// Coordinates of joints, rows of the kinds made of them, couplings and limits.
#include <gtest/gtest.h>

#include <Eigen/SVD>
#include <numbers>

#include "mechanics/equations.h"
#include "unit/mechanics/scenery.h"

namespace slipstick {
namespace {

using namespace test;

constexpr double kPi = std::numbers::pi;

struct KindCase {
  JointKind kind;
  int rows;
};
const std::vector<KindCase> kNewKinds{
    {JointKind::Cylindrical, 4}, {JointKind::Universal, 4},   {JointKind::Planar, 3},  {JointKind::Screw, 4},
    {JointKind::Wheel, 5},       {JointKind::PointOnLine, 2}, {JointKind::InPlane, 1}, {JointKind::Generic, 2},
    {JointKind::Rolling, 3},     {JointKind::KnifeEdge, 1},   {JointKind::Rope, 0},    {JointKind::VelocityMotor, 0}};

JointDescription make_axis_joint(JointKind kind, const std::array<const char*, 2>& ends, Dice* dice) {
  JointDescription joint = make_any_joint(kind, ends, dice);
  const bool second = kind == JointKind::Universal || kind == JointKind::Wheel || kind == JointKind::Generic;
  if (second) joint.second_axis = joint.axis.cross(dice->direction()).normalized();
  if (kind == JointKind::Rolling) joint.second_axis = dice->direction();
  joint.radius = 0.4;
  joint.ratio = 0.3;
  joint.free = {true, false, true, false, true, true};  // generic: two slides, two turns
  return joint;
}

AxisDescription make_axis(Freedom freedom) {
  AxisDescription axis;
  axis.freedom = freedom;
  axis.friction = 1;
  return axis;
}

JointRows calc_one(const Model& model, const std::vector<Pose>& pose) {
  std::vector<JointRows> rows;
  update_joint_rows(model, pose, &rows);
  return rows.at(0);
}

TEST(AxisRows, RowsOfAllKindsAreDerivativesHoldAtTheStartAndAreIndependent) {
  Dice dice(11);
  const double h = 1e-6;
  for (const KindCase& given : kNewKinds) {
    for (const auto& ends : kEnds) {
      for (int trial = 0; trial < 5; ++trial) {
        ModelDescription world = make_bodies(2, false, &dice);
        world.joints = {make_axis_joint(given.kind, ends, &dice)};
        State start;
        const Model model = compile_good(world, &start);
        ASSERT_EQ(model.joints.size(), 1u);
        ASSERT_EQ(row_count(model.joints[0]), given.rows) << name_of(given.kind);
        const JointRows at_start = calc_one(model, start.pose);
        ASSERT_EQ(at_start.count, given.rows) << name_of(given.kind);
        MatX matrix = MatX::Zero(given.rows, 12);
        for (int k = 0; k < given.rows; ++k) {
          EXPECT_NEAR(at_start.value[k], 0, 1e-13) << name_of(given.kind);
          matrix.row(k) << at_start.row[k].a.transpose(), at_start.row[k].b.transpose();
        }
        if (given.rows > 0) {
          EXPECT_GT(Eigen::JacobiSVD<MatX>(matrix).singularValues()(given.rows - 1), 1e-3) << name_of(given.kind);
        }
        const std::vector<Twist> velocity{dice.twist(), dice.twist()};
        for (const std::vector<Pose>& pose : {start.pose, std::vector<Pose>{dice.pose(), dice.pose()}}) {
          const JointRows rows = calc_one(model, pose), ahead = calc_one(model, moved(pose, velocity, h)),
                          behind = calc_one(model, moved(pose, velocity, -h));
          for (int k = 0; k < rows.count; ++k) {
            const bool integrable = !(given.kind == JointKind::Rolling && k < 2) && given.kind != JointKind::KnifeEdge;
            if (!integrable) continue;
            EXPECT_NEAR(calc_rate(rows.row[k], rows.body_a, rows.body_b, velocity),
                        (ahead.value[k] - behind.value[k]) / (2 * h), 1e-7)
                << name_of(given.kind) << " row " << k;
          }
        }
      }
    }
  }
}

TEST(AxisRows, CoordinatesHaveExactDerivatives) {
  Dice dice(12);
  const double h = 1e-6;
  using enum Freedom;
  const std::vector<std::pair<JointKind, std::vector<Freedom>>> cases{{JointKind::Hinge, {TurnZ}},
                                                                      {JointKind::Slider, {Z}},
                                                                      {JointKind::Rod, {Length}},
                                                                      {JointKind::Cylindrical, {Z, TurnZ}},
                                                                      {JointKind::Planar, {X, Y, TurnZ}},
                                                                      {JointKind::Universal, {TurnX, TurnZ}},
                                                                      {JointKind::Wheel, {Z, TurnX, TurnZ}},
                                                                      {JointKind::Generic, {X, Z, TurnY, TurnZ}},
                                                                      {JointKind::PointOnLine, {Z}}};
  for (const auto& [kind, freedoms] : cases) {
    for (const auto& ends : kEnds) {
      ModelDescription world = make_bodies(2, false, &dice);
      world.joints = {make_axis_joint(kind, ends, &dice)};
      for (const Freedom freedom : freedoms) world.joints[0].axes.push_back(make_axis(freedom));
      State start;
      const Model model = compile_good(world, &start);
      ASSERT_EQ(model.axes.size(), freedoms.size());
      const std::vector<Twist> velocity{dice.twist(), dice.twist()};
      for (const std::vector<Pose>& pose : {start.pose, std::vector<Pose>{dice.pose(), dice.pose()}}) {
        for (std::size_t k = 0; k < freedoms.size(); ++k) {
          const int axis = static_cast<int>(k);
          const AxisRow row = calc_axis_row(model, pose, axis, 0);
          const double ahead = calc_axis_row(model, moved(pose, velocity, h), axis, row.value).value;
          const double behind = calc_axis_row(model, moved(pose, velocity, -h), axis, row.value).value;
          EXPECT_NEAR(calc_rate(row.row, row.body_a, row.body_b, velocity) / std::max(1.0, row.row.b.norm()),
                      (ahead - behind) / (2 * h) / std::max(1.0, row.row.b.norm()), 1e-6)
              << name_of(kind) << " " << name_of(freedoms[k]);
        }
      }
      for (std::size_t k = 0; k < freedoms.size(); ++k)
        EXPECT_NEAR(calc_axis_row(model, start.pose, static_cast<int>(k), 0).value, start.axis[k], 1e-13);
    }
  }
}

TEST(AxisRows, AnglesCountWholeTurnsAndWheelAnglesAreSteeringAndSpin) {
  Dice dice(13);
  ModelDescription world = make_bodies(2, false, &dice);
  world.joints = {make_axis_joint(JointKind::Wheel, kEnds[1], &dice)};
  for (const Freedom freedom : {Freedom::Z, Freedom::TurnX, Freedom::TurnZ})
    world.joints[0].axes.push_back(make_axis(freedom));
  State start;
  const Model model = compile_good(world, &start);
  const Vec3 up = world.joints[0].axis, axle = *world.joints[0].second_axis, at = world.joints[0].at;
  std::vector<double> near = start.axis;
  for (int k = 1; k <= 40; ++k) {
    const double spin = 0.5 * k, steer = 0.02 * k, travel = -0.01 * k;
    const Quat turn = exp_rotation(steer * up) * exp_rotation(spin * axle);
    std::vector<Pose> pose = start.pose;
    pose[1].position = at + turn * (pose[1].position - at) + travel * up;
    pose[1].orientation = turn * pose[1].orientation;
    const JointRows rows = calc_one(model, pose);
    for (int r = 0; r < rows.count; ++r) EXPECT_NEAR(rows.value[r], 0, 1e-12);
    update_coordinates(model, model.axes, pose, near, &near);
    EXPECT_NEAR(near[0], travel, 1e-12);
    EXPECT_NEAR(near[1], spin, 1e-12) << "more than three turns at the end";
    EXPECT_NEAR(near[2], steer, 1e-12);
  }
  EXPECT_GT(near[1], 6 * kPi);
}

TEST(AxisRows, CouplingsSumTheirAxesOverFourBodiesAndMergeOne) {
  Dice dice(14);
  ModelDescription world = make_bodies(3, false, &dice);
  JointDescription one = make_axis_joint(JointKind::Hinge, kEnds[1], &dice), two = one, gear;
  one.name = "one";
  one.b = "0";
  two.name = "two";
  two.a = "0";
  two.b = "1";
  two.axis = dice.direction();
  gear.kind = JointKind::Gear;
  gear.joints = {"one", "two"};
  gear.ratio = 2.5;
  world.joints = {gear, one, two};  // it may stand before those it ties
  State start;
  const Model model = compile_good(world, &start);
  ASSERT_EQ(model.couplings.size(), 1u);
  ASSERT_EQ(model.axes.size(), 2u);
  const std::vector<Twist> velocity{dice.twist(), dice.twist(), dice.twist()};
  const double h = 1e-6;
  const auto coupling_at = [&](double t) {
    std::vector<AxisRow> axes;
    std::vector<CouplingRow> rows;
    update_axis_rows(model, moved(start.pose, velocity, t), start.axis, &axes);
    update_coupling_rows(model, axes, &rows);
    return rows.at(0);
  };
  const CouplingRow row = coupling_at(0);
  ASSERT_EQ(row.count, 2);  // body 0 once, body 1; the world takes no part
  EXPECT_NEAR(row.value, 0, 1e-14);
  double rate = 0;
  for (int k = 0; k < row.count; ++k) {
    const Twist& v = velocity[row.body[k]];
    rate += row.row[k].head<3>().dot(v.linear) + row.row[k].tail<3>().dot(v.angular);
  }
  EXPECT_NEAR(rate, (coupling_at(h).value - coupling_at(-h).value) / (2 * h), 1e-8);
}

TEST(AxisRows, LimitsAreContactsWithOneRow) {
  Dice dice(15);
  ModelDescription world = make_bodies(2, false, &dice);
  world.joints = {make_axis_joint(JointKind::Hinge, kEnds[1], &dice)};
  AxisDescription axis;
  axis.limits = {-0.5, 2};
  axis.restitution = 0.3;
  world.joints[0].axes = {axis};
  State state;
  const Model model = compile_good(world, &state);
  const Vec3 e = world.joints[0].axis, at = world.joints[0].at;
  const Quat turn = exp_rotation(0.8 * e);
  state.pose[1].position = at + turn * (state.pose[1].position - at);
  state.pose[1].orientation = turn * state.pose[1].orientation;
  ContactSet set;
  set.contacts.resize(1);  // some contact of shapes, which stays behind them
  add_limit_contacts(model, state, &set);
  ASSERT_EQ(set.contacts.size(), 3u);
  EXPECT_NEAR(set.contacts[0].gap, 1.3, 1e-13);
  EXPECT_NEAR(set.contacts[1].gap, 1.2, 1e-13);
  EXPECT_LT(set.contacts[1].key, set.contacts[2].key);
  set.contacts.pop_back();
  std::vector<ContactRows> rows;
  update_contact_rows(model, state.pose, set, &rows);
  std::vector<Twist> velocity{Twist{}, Twist{}};
  velocity[1].angular = state.pose[1].orientation.conjugate() * e;
  EXPECT_NEAR(calc_rate(rows[0].row[0], rows[0].body_a, rows[0].body_b, velocity), 1, 1e-12);
  EXPECT_NEAR(calc_rate(rows[1].row[0], rows[1].body_a, rows[1].body_b, velocity), -1, 1e-12);
  EXPECT_EQ(rows[0].friction, 0);
  EXPECT_EQ(rows[1].restitution, 0.3);
  EXPECT_EQ(calc_axis_error(model, state), 0);
  state.axis[0] = 2 * kPi;  // a turn further: far beyond the upper limit
  EXPECT_NEAR(calc_axis_error(model, state), 0.8 + 2 * kPi - 2, 1e-12);
}

}  // namespace
}  // namespace slipstick
