// Rows of joints. Values vanish at t = 0 (if the joint was placed right); d/dt value = row . v exactly.
//
//   ball    p_B - p_A, three components: of the world, or along the axes of A where the joint floats
//   hinge   ball, and the hinge axis of B against the two cross axes of A
//   slider  p_B - p_A along the two cross axes of A (which turn with A), and the orientation
//   fixed   ball and the orientation
//   rod     |p_B - p_A| - length
//   others  what their list of freedoms does not leave free (add_held_rows)
//
// A locked coordinate is one row more.
// Orientation: x_A . y_B, y_A . z_B, z_A . x_B, each minus the small angle about the third axis near zero.
// In a planar model the rows along z and about x and y would be void; they are left out, and what is left comes first.
#include <algorithm>
#include <cmath>

#include "mechanics/equations.h"
#include "mechanics/placed_joint.h"

namespace slipstick {
namespace {

void add_row(const PairRow& row, double value, JointRows* rows) {
  rows->row[rows->count] = row;
  rows->value[rows->count] = value;
  ++rows->count;
}

/// It is not integrable.
void add_velocity_row(const PairRow& row, JointRows* rows) {
  rows->velocity_only[rows->count] = true;
  add_row(row, 0, rows);
}

void add_row(const ValuedRow& row, JointRows* rows) { add_row(row.row, row.value, rows); }

/// Where nothing holds the bodies to the world: along the axes of A, which takes part as if it carried p_B. An open
/// joint whose impulses act at two points would make angular momentum out of nothing. Mechanisms on the ground have
/// none to keep, and world axes, in which the error of a link that whips round does not turn with it, hold them better.
void add_point_rows(const Joint& joint, const PlacedPoints& at, int components, JointRows* rows) {
  const Vec3 d = at.point_b - at.point_a;
  if (joint.floats) {
    for (int i = 0; i < components; ++i) {
      const Vec3 e = at.a.rotation.col(i);
      add_row(calc_world_row(at.a, at.b, at.point_b, at.point_b, e), e.dot(d), rows);
    }
    return;
  }
  for (int i = 0; i < components; ++i) {
    add_row(calc_world_row(at.a, at.b, at.point_a, at.point_b, Vec3::Unit(i)), d[i], rows);
  }
}

/// Their values alone; the rows stay what they were.
void add_point_values(const Joint& joint, const PlacedPoints& at, int components, JointRows* rows) {
  const Vec3 d = at.point_b - at.point_a;
  for (int i = 0; i < components; ++i) rows->value[rows->count++] = joint.floats ? at.a.rotation.col(i).dot(d) : d[i];
}

void add_dot_row(const PlacedJoint& at, int i, int j, JointRows* rows) { add_row(calc_axes_row(at, i, j), rows); }
void add_turning_row(const PlacedJoint& at, int i, JointRows* rows) { add_row(calc_turning_row(at, i), rows); }

void add_rod_row(const PlacedJoint& at, double length, JointRows* rows) {
  const ValuedRow row = calc_length_row(at, length);
  add_row(row.row, row.value - length, rows);
}

/// A universal joint whose axes do not meet: B's point is at the end of a link that turns with the first angle, so that
/// the three point rows just added count from p_A + Rz(q) link.
void add_link(const Joint& joint, const PlacedJoint& at, JointRows* rows) {
  const ValuedRow turn = calc_coordinate(joint, at, Freedom::TurnZ);
  const double c = std::cos(turn.value), s = std::sin(turn.value);
  const Vec3& d = joint.link;
  const Vec3 end(c * d.x() - s * d.y(), s * d.x() + c * d.y(), d.z()), rate(-end.y(), end.x(), 0);
  for (int i = 0; i < 3; ++i) {
    rows->value[i] -= end[i];
    rows->row[i].a -= rate[i] * turn.row.a;
    rows->row[i].b -= rate[i] * turn.row.b;
  }
}

/// Rows that hold what is not free, in the axes of A.
void add_held_rows(const Joint& joint, const PlacedJoint& at, JointRows* rows) {
  for (int i = 0; i < 3; ++i)
    if (!joint.free[i]) add_turning_row(at, i, rows);
  if (!joint.link.isZero(0)) add_link(joint, at, rows);
  const auto turns = joint.free.begin() + 3;
  const auto count = std::count(turns, turns + 3, true);
  if (count == 0) {
    for (int i = 0; i < 3; ++i) add_dot_row(at, i, (i + 1) % 3, rows);
  } else if (count == 1) {  // both axes stay parallel
    const int k = static_cast<int>(std::find(turns, turns + 3, true) - turns);
    add_dot_row(at, (k + 1) % 3, k, rows);
    add_dot_row(at, (k + 2) % 3, k, rows);
  } else if (count == 2) {  // the axis of A and the one of B stay at right angles (axis_rows.cpp)
    const int held = static_cast<int>(std::find(turns, turns + 3, false) - turns);
    add_dot_row(at, (held + 1) % 3, (held + 2) % 3, rows);
  }
}

/// The matter of B at its lowest point over A's plane is at rest against A. The last row has a value, the height; for a
/// disk its lowest point is the one farthest along -n, so that the height changes with the velocity of the matter there
/// alone. The other two are not integrable.
void add_rolling_rows(const Joint& joint, const PlacedJoint& at, JointRows* rows) {
  const Vec3 n = at.frame_a.col(2);
  Vec3 up = n;
  if (joint.is_disk) {
    const Vec3 axle = at.frame_b.col(2), across = n - n.dot(axle) * axle;
    const double size = across.norm();
    up = size > 1e-12 ? Vec3(across / size) : Vec3(at.frame_b.col(0));
  }
  const Vec3 lowest = at.point_b - joint.radius * up;
  for (int i = 0; i < 2; ++i) add_velocity_row(calc_world_row(at.a, at.b, lowest, lowest, at.frame_a.col(i)), rows);
  add_row(calc_world_row(at.a, at.b, lowest, lowest, n), n.dot(lowest - at.point_a), rows);
}

void add_rows(const Joint& joint, const PlacedJoint& at, bool planar, JointRows* rows) {
  const int components = planar ? 2 : 3;
  switch (joint.kind) {
    case JointKind::Ball:
      add_point_rows(joint, at, components, rows);
      break;
    case JointKind::Hinge:
      add_point_rows(joint, at, components, rows);
      if (planar) break;
      add_dot_row(at, 0, 2, rows);
      add_dot_row(at, 1, 2, rows);
      break;
    case JointKind::Slider:  // planar: the frame's y is world z (make_frame in src/model)
      add_turning_row(at, 0, rows);
      if (!planar) add_turning_row(at, 1, rows);
      add_dot_row(at, 2, 0, rows);
      if (planar) break;
      add_dot_row(at, 0, 1, rows);
      add_dot_row(at, 1, 2, rows);
      break;
    case JointKind::Fixed:
      add_point_rows(joint, at, components, rows);
      add_dot_row(at, 0, 1, rows);
      if (planar) break;
      add_dot_row(at, 1, 2, rows);
      add_dot_row(at, 2, 0, rows);
      break;
    case JointKind::Rod:
      if (!joint.free[static_cast<int>(Freedom::Length)]) add_rod_row(at, joint.length, rows);
      break;
    case JointKind::Rolling:
      add_rolling_rows(joint, at, rows);
      break;
    case JointKind::KnifeEdge:  // not integrable: no value
      add_velocity_row(calc_world_row(at.a, at.b, at.point_b, at.point_b, at.frame_b.col(2)), rows);
      break;
    case JointKind::Rope:
    case JointKind::Gear:
    case JointKind::Rack:
    case JointKind::Differential:
    case JointKind::VelocityMotor:
      break;
    default:
      add_held_rows(joint, at, rows);
  }
}

/// Locked coordinates stay at zero (a rod's at its length).
void add_lock_rows(const Joint& joint, const PlacedJoint& at, JointRows* rows) {
  for (int k = 0; k < kFreedoms; ++k) {
    if (!joint.lock[k]) continue;
    ValuedRow row = calc_coordinate(joint, at, static_cast<Freedom>(k));
    if (static_cast<Freedom>(k) == Freedom::Length) row.value -= joint.length;
    add_row(row, rows);
  }
}

/// Points alone: no axis of the joint is asked for.
bool is_plain_ball(const Joint& joint) {
  return joint.kind == JointKind::Ball && std::none_of(joint.lock.begin(), joint.lock.end(), [](bool x) { return x; });
}

void begin_rows(const Joint& joint, int index, JointRows* out) {
  out->joint = index;
  out->body_a = joint.a;
  out->body_b = joint.b;
  out->compliance = joint.compliance;
  out->damping_time = joint.damping_time;
  out->count = 0;
  out->velocity_only = {};
}

void update_rows(const Model& model, std::span<const Pose> pose, const Joint& joint, JointRows* out) {
  if (is_plain_ball(joint)) {
    add_point_rows(joint, PlacedPoints(joint, pose), model.planar ? 2 : 3, out);
  } else {
    const PlacedJoint at(joint, pose);
    add_rows(joint, at, model.planar, out);
    add_lock_rows(joint, at, out);
  }
  for (int k = out->count; k < 6; ++k) {
    out->row[k] = PairRow{};
    out->value[k] = 0;
  }
}

}  // namespace

void update_joint_rows(const Model& model, std::span<const Pose> pose, std::vector<JointRows>* rows) {
  rows->resize(model.joints.size());
  for (std::size_t i = 0; i < model.joints.size(); ++i) {
    begin_rows(model.joints[i], static_cast<int>(i), &(*rows)[i]);
    update_rows(model, pose, model.joints[i], &(*rows)[i]);
  }
}

void update_joint_values(const Model& model, std::span<const Pose> pose, std::vector<JointRows>* rows) {
  rows->resize(model.joints.size());
  for (std::size_t i = 0; i < model.joints.size(); ++i) {
    const Joint& joint = model.joints[i];
    begin_rows(joint, static_cast<int>(i), &(*rows)[i]);
    if (is_plain_ball(joint))
      add_point_values(joint, PlacedPoints(joint, pose), model.planar ? 2 : 3, &(*rows)[i]);
    else
      update_rows(model, pose, joint, &(*rows)[i]);
  }
}

double calc_joint_error(const Model& model, std::span<const Pose> pose, std::vector<JointRows>* scratch) {
  update_joint_values(model, pose, scratch);
  double largest = 0;
  for (const JointRows& rows : *scratch) {
    for (int k = 0; k < rows.count; ++k) largest = std::max(largest, std::abs(rows.value[k]));
  }
  return largest;
}

}  // namespace slipstick
