// The building blocks of rows: where the two bodies of a pair are, and the two kinds of row that everything is made of.
#pragma once

#include <slipstick/model.h>

#include <span>

#include "mechanics/equations.h"

namespace slipstick {

/// Pose and rotation matrix of one side of a pair; the world sits at the origin and its rows are zero.
struct Side {
  Vec3 position = Vec3::Zero();
  Mat3 rotation = Mat3::Identity();
  bool moves = false;  ///< not the world

  Side(std::span<const Pose> pose, int body) : moves(body != kWorld) {
    if (!moves) return;
    position = pose[body].position;
    rotation = pose[body].orientation.toRotationMatrix();
  }
};

/// (e, R^T (arm x e)): the row of the world direction e at the world arm from the centre of mass, so that
/// row . v = e . (velocity of the point). Equals (e, r x R^T e) for the body-fixed r. [methods 1]
inline Vec6 calc_half_row(const Side& side, const Vec3& arm, const Vec3& e) {
  Vec6 row;
  if (side.moves) {
    row.head<3>() = e;
    row.tail<3>() = side.rotation.transpose() * arm.cross(e);
  } else {
    row.setZero();
  }
  return row;
}

/// Row of e . (p_B - p_A), p_A and p_B world points fixed in A and B.
inline PairRow calc_world_row(const Side& a, const Side& b, const Vec3& point_a, const Vec3& point_b, const Vec3& e) {
  return {-calc_half_row(a, point_a - a.position, e), calc_half_row(b, point_b - b.position, e)};
}

/// Row of the angle-like value (world vector of A) . (world vector of B): w = a x b; A: (0, R_A^T w), B: -(0, R_B^T w).
inline PairRow calc_dot_row(const Side& a, const Side& b, const Vec3& vector_a, const Vec3& vector_b) {
  const Vec3 w = vector_a.cross(vector_b);
  PairRow row;
  if (a.moves) row.a.tail<3>() = a.rotation.transpose() * w;
  if (b.moves) row.b.tail<3>() = -(b.rotation.transpose() * w);
  return row;
}

}  // namespace slipstick
