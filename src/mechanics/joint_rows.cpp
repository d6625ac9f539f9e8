// Rows of joints. Values vanish at t = 0 (if the joint was placed right); d/dt value = row . v exactly.
//
//   ball    p_B - p_A, three world components
//   hinge   ball, and the hinge axis of B against the two cross axes of A
//   slider  p_B - p_A along the two cross axes of A (which turn with A), and the orientation
//   fixed   ball and the orientation
//   rod     |p_B - p_A| - length
//
// Orientation: x_A . y_B, y_A . z_B, z_A . x_B, each minus the small angle about the third axis near zero.
// In a planar model the rows along z and about x and y would be void; they are left out, and what is left comes first.
#include <algorithm>
#include <cmath>

#include "mechanics/equations.h"
#include "mechanics/rows.h"

namespace slipstick {
namespace {

/// Both sides of a joint in world axes.
struct Placed {
  Side a, b;
  Vec3 point_a, point_b;
  Mat3 frame_a, frame_b;

  Placed(const Joint& joint, std::span<const Pose> pose) : a(pose, joint.a), b(pose, joint.b) {
    point_a = a.position + a.rotation * joint.anchor_a;
    point_b = b.position + b.rotation * joint.anchor_b;
    frame_a = a.rotation * joint.frame_a;
    frame_b = b.rotation * joint.frame_b;
  }
};

void add_row(const PairRow& row, double value, JointRows* rows) {
  rows->row[rows->count] = row;
  rows->value[rows->count] = value;
  ++rows->count;
}

void add_point_rows(const Placed& at, int components, JointRows* rows) {
  const Vec3 d = at.point_b - at.point_a;
  for (int i = 0; i < components; ++i) {
    add_row(calc_world_row(at.a, at.b, at.point_a, at.point_b, Vec3::Unit(i)), d[i], rows);
  }
}

/// (axis i of A) . (axis j of B)
void add_dot_row(const Placed& at, int i, int j, JointRows* rows) {
  const Vec3 x = at.frame_a.col(i), y = at.frame_b.col(j);
  add_row(calc_dot_row(at.a, at.b, x, y), x.dot(y), rows);
}

/// (axis i of A) . (p_B - p_A). The direction turns with A, so that A takes part as if it carried the point p_B:
/// e . (pdot_B - pdot_A) + (omega_A x e) . d = e . pdot_B - (velocity of A's matter at p_B) . e.
void add_turning_row(const Placed& at, int i, JointRows* rows) {
  const Vec3 e = at.frame_a.col(i);
  add_row(calc_world_row(at.a, at.b, at.point_b, at.point_b, e), e.dot(at.point_b - at.point_a), rows);
}

/// Where the ends (almost) coincide the line has no direction; the one it had at t = 0, carried along by A, serves.
void add_rod_row(const Placed& at, double length, JointRows* rows) {
  const Vec3 d = at.point_b - at.point_a;
  const double distance = d.norm();
  const Vec3 e = distance > 1e-12 * length ? Vec3(d / distance) : Vec3(at.frame_a.col(2));
  add_row(calc_world_row(at.a, at.b, at.point_a, at.point_b, e), distance - length, rows);
}

void add_rows(const Joint& joint, const Placed& at, bool planar, JointRows* rows) {
  const int components = planar ? 2 : 3;
  switch (joint.kind) {
    case JointKind::Ball:
      add_point_rows(at, components, rows);
      break;
    case JointKind::Hinge:
      add_point_rows(at, components, rows);
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
      add_point_rows(at, components, rows);
      add_dot_row(at, 0, 1, rows);
      if (planar) break;
      add_dot_row(at, 1, 2, rows);
      add_dot_row(at, 2, 0, rows);
      break;
    case JointKind::Rod:
      add_rod_row(at, joint.length, rows);
      break;
  }
}

}  // namespace

void update_joint_rows(const Model& model, std::span<const Pose> pose, std::vector<JointRows>* rows) {
  rows->resize(model.joints.size());
  for (std::size_t i = 0; i < model.joints.size(); ++i) {
    const Joint& joint = model.joints[i];
    JointRows& out = (*rows)[i];
    out.joint = static_cast<int>(i);
    out.body_a = joint.a;
    out.body_b = joint.b;
    out.compliance = joint.compliance;
    out.damping_time = joint.damping_time;
    out.count = 0;
    add_rows(joint, Placed(joint, pose), model.planar, &out);
    for (int k = out.count; k < 6; ++k) {
      out.row[k] = PairRow{};
      out.value[k] = 0;
    }
  }
}

double calc_joint_error(const Model& model, std::span<const Pose> pose, std::vector<JointRows>* scratch) {
  update_joint_rows(model, pose, scratch);
  double largest = 0;
  for (const JointRows& rows : *scratch) {
    for (int k = 0; k < rows.count; ++k) largest = std::max(largest, std::abs(rows.value[k]));
  }
  return largest;
}

}  // namespace slipstick
