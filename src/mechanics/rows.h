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

/// (e, R^T (arm x e)), times a sign: the row of the world direction e at the world arm from the centre of mass, so that
/// row . v = e . (velocity of the point). Equals (e, r x R^T e) for the body-fixed r. [methods 1] Number by number:
/// with vectors of three in pairs and singles the processor waits for its own stores.
inline Vec6 calc_half_row(const Side& side, const Vec3& arm, const Vec3& e, double sign = 1) {
  Vec6 row;
  if (!side.moves) {
    row.setZero();
    return row;
  }
  const double x = arm[1] * e[2] - arm[2] * e[1], y = arm[2] * e[0] - arm[0] * e[2], z = arm[0] * e[1] - arm[1] * e[0];
  const Mat3& r = side.rotation;
  for (int k = 0; k < 3; ++k) {
    row[k] = sign * e[k];
    row[3 + k] = sign * (r(0, k) * x + r(1, k) * y + r(2, k) * z);
  }
  return row;
}

/// Row of e . (p_B - p_A), p_A and p_B world points fixed in A and B.
inline PairRow calc_world_row(const Side& a, const Side& b, const Vec3& point_a, const Vec3& point_b, const Vec3& e) {
  return {calc_half_row(a, point_a - a.position, e, -1), calc_half_row(b, point_b - b.position, e)};
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
