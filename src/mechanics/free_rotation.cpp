#include "base/se3.h"
#include "mechanics/equations.h"

namespace slipstick {
namespace {

/// Elimination without pivoting: safe, because the symmetric part (the inertia) is positive definite.
Vec3 solve(Mat3 a, Vec3 b) {
  for (int k = 0; k < 2; ++k) {
    for (int i = k + 1; i < 3; ++i) {
      const double factor = a(i, k) / a(k, k);
      for (int j = k + 1; j < 3; ++j) a(i, j) -= factor * a(k, j);
      b[i] -= factor * b[k];
    }
  }
  b[2] /= a(2, 2);
  b[1] = (b[1] - a(1, 2) * b[2]) / a(1, 1);
  b[0] = (b[0] - a(0, 1) * b[1] - a(0, 2) * b[2]) / a(0, 0);
  return b;
}

}  // namespace

// [methods 3.2] with alpha = gamma = 1/2 and no force: F = [I omega_F]_x at omega_F = omega + (h/2) I^-1 ((I omega) x
// omega), and (I - (h/2) F) u = I omega for the mean u = (omega + omega') / 2. F is antisymmetric, so that
// u . I (omega' - omega) = h u . F u = 0: kinetic energy is kept whatever h is.
Vec3 calc_free_rotation(const Body& body, const Vec3& omega, double h) {
  const Vec3 momentum = body.inertia * omega;
  const Vec3 torque = momentum.cross(omega);
  if (torque.isZero(0)) return omega;  // u = omega solves it: rest, a principal axis, a ball
  const Vec3 middle = omega + (h / 2) * (body.inertia_inverse * torque);
  const Mat3 gyro = skew(body.inertia * middle);
  const Mat3 matrix = body.inertia - (h / 2) * gyro;
  const Vec3 mean = solve(matrix, momentum);
  return 2 * mean - omega;
}

}  // namespace slipstick
