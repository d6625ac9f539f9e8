// Both sides of a joint in world axes.
#pragma once

#include <slipstick/model.h>

#include <span>

#include "mechanics/rows.h"

namespace slipstick {

/// Its points: all that a ball joint needs.
struct PlacedPoints {
  Side a, b;
  Vec3 point_a, point_b;

  PlacedPoints(const Joint& joint, std::span<const Pose> pose) : a(pose, joint.a), b(pose, joint.b) {
    point_a = a.position + a.rotation * joint.anchor_a;
    point_b = b.position + b.rotation * joint.anchor_b;
  }
};

struct PlacedJoint : PlacedPoints {
  Mat3 frame_a, frame_b;

  PlacedJoint(const Joint& joint, std::span<const Pose> pose) : PlacedPoints(joint, pose) {
    frame_a = a.rotation * joint.frame_a;
    frame_b = b.rotation * joint.frame_b;
  }
};

/// A row with its value.
struct ValuedRow {
  PairRow row;
  double value = 0;
};

/// (axis i of A) . (axis j of B)
inline ValuedRow calc_axes_row(const PlacedJoint& at, int i, int j) {
  const Vec3 x = at.frame_a.col(i), y = at.frame_b.col(j);
  return {calc_dot_row(at.a, at.b, x, y), x.dot(y)};
}

/// (axis i of A) . (p_B - p_A). The direction turns with A, so that A takes part as if it carried the point p_B:
/// e . (pdot_B - pdot_A) + (omega_A x e) . d = e . pdot_B - (velocity of A's matter at p_B) . e.
inline ValuedRow calc_turning_row(const PlacedJoint& at, int i) {
  const Vec3 e = at.frame_a.col(i);
  return {calc_world_row(at.a, at.b, at.point_b, at.point_b, e), e.dot(at.point_b - at.point_a)};
}

/// |p_B - p_A|. Where the ends (almost) coincide the line has no direction; the one it had at t = 0, carried along by
/// A, serves.
inline ValuedRow calc_length_row(const PlacedJoint& at, double length) {
  const Vec3 d = at.point_b - at.point_a;
  const double distance = d.norm();
  const Vec3 e = distance > 1e-12 * length ? Vec3(d / distance) : Vec3(at.frame_a.col(2));
  return {calc_world_row(at.a, at.b, at.point_a, at.point_b, e), distance};
}

/// A coordinate of the joint; angles in (-pi, pi].
ValuedRow calc_coordinate(const Joint& joint, const PlacedJoint& at, Freedom freedom);

}  // namespace slipstick
