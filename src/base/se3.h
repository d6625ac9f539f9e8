// Rotations and rigid motions: the few formulas that the rest builds on.
#pragma once

#include <slipstick/types.h>

#include <cmath>

namespace slipstick {

/// [a]_x : skew(a) b = a x b.
inline Mat3 skew(const Vec3& a) {
  Mat3 m;
  m << 0, -a.z(), a.y(), a.z(), 0, -a.x(), -a.y(), a.x(), 0;
  return m;
}

/// exp of a rotation vector: (cos |a|/2, sin(|a|/2) a/|a|), accurate down to |a| = 0.
inline Quat exp_rotation(const Vec3& a) {
  const double half_sq = 0.25 * a.squaredNorm();
  double cosine, sinc;  // sinc = sin(|a|/2) / |a|
  if (half_sq < 1e-8) {
    cosine = 1 - half_sq / 2 + half_sq * half_sq / 24;
    sinc = 0.5 * (1 - half_sq / 6 + half_sq * half_sq / 120);
  } else {
    const double half = std::sqrt(half_sq);
    cosine = std::cos(half);
    sinc = 0.5 * std::sin(half) / half;
  }
  return {cosine, sinc * a.x(), sinc * a.y(), sinc * a.z()};
}

/// move(q, u, h) of docs/notation.md: x += h u_lin; Q <- normalise(Q exp(h u_ang)), u_ang in body axes.
inline Pose move(const Pose& q, const Twist& u, double h) {
  Pose moved;
  moved.position = q.position + h * u.linear;
  moved.orientation = (q.orientation * exp_rotation(h * u.angular)).normalized();
  return moved;
}

/// p_W of a point given in the pose's frame.
inline Vec3 apply(const Pose& x, const Vec3& p) { return x.position + x.orientation * p; }

/// Velocity in world axes of the body-fixed point r (centre-of-mass frame, body axes).
inline Vec3 point_velocity(const Pose& q, const Twist& v, const Vec3& r) {
  return v.linear + q.orientation * v.angular.cross(r);
}

}  // namespace slipstick
