#include <algorithm>
#include <cmath>

#include "base/se3.h"
#include "mechanics/equations.h"

namespace slipstick {
namespace {

constexpr double kResolvedTurn = 0.8, kSpareTurn = 0.2;
constexpr double kFirstTurn = 0.25;  ///< x of the first look
constexpr int kMaxTurnIterations = 60;
constexpr double kTurnResidual = 1e-16;  ///< of the momentum
constexpr double kTurnSettled = 1e-14;

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

/// Half the turn that a step can resolve: x, and from kResolvedTurn on less, smoothly, for Newton's method; tan has its
/// pole at pi/2.
struct HalfTurn {
  double angle, slope = 1;
  explicit HalfTurn(double x) : angle(x) {
    if (x <= kResolvedTurn) return;
    slope = std::exp((kResolvedTurn - x) / kSpareTurn);
    angle = kResolvedTurn + kSpareTurn * (1 - slope);
  }
};

/// tan(angle)/x, and its slope over x.
struct TurnFactor {
  double value = 1, slope = 2.0 / 3;
  explicit TurnFactor(double x) {
    if (x < 1e-2) {
      const double y = x * x;
      value = 1 + y / 3 + 2 * y * y / 15 + 17 * y * y * y / 315;
      slope = 2.0 / 3 + 8 * y / 15 + 34 * y * y / 105;
      return;
    }
    const HalfTurn turn(x);
    const double tangent = std::tan(turn.angle);
    value = tangent / x;
    slope = ((1 + tangent * tangent) * turn.slope * x - tangent) / (x * x * x);
  }
};

/// Balls and cubes: momentum has the direction of the turn, which rounding would not let it have.
bool has_no_axes(const Body& body) {
  const Mat3& i = body.inertia;
  return i(0, 0) == i(1, 1) && i(0, 0) == i(2, 2) && i(1, 0) == 0 && i(2, 0) == 0 && i(2, 1) == 0 && i(0, 1) == 0 &&
         i(0, 2) == 0 && i(1, 2) == 0;
}

/// Newton's method for u of a turn in the time 2 `half`.
Vec3 polish_turn(const Body& body, const Vec3& momentum, double half, Vec3 u) {
  Vec3 best = u;
  double least = INFINITY;
  for (int k = 0; k < kMaxTurnIterations; ++k) {
    const TurnFactor kappa(half * u.norm());
    const double c = half * kappa.value;
    const Vec3 spun = body.inertia * u, cross = u.cross(spun);
    const Vec3 residual = spun + c * cross - momentum;
    const double size = residual.norm();
    if (!(size < least)) {  // too far: half the way, unless rounding is all that is left
      if (least <= kTurnSettled * momentum.norm()) break;
      u = 0.5 * (u + best);
      continue;
    }
    least = size;
    best = u;
    if (size <= kTurnResidual * momentum.norm()) break;
    Mat3 slope = body.inertia + c * (skew(u) * body.inertia - skew(spun));
    slope += (half * half * half * kappa.slope) * (cross * u.transpose());
    u -= solve(slope, residual);
  }
  return best;
}

}  // namespace

double calc_turn_factor(const Vec3& u, double h) { return TurnFactor(0.5 * h * u.norm()).value; }

Vec3 calc_resolved_turn(const Vec3& u, double h) {
  const double x = 0.5 * h * u.norm();
  return x <= kResolvedTurn ? Vec3(h * u) : Vec3(HalfTurn(x).angle / x * h * u);
}

Vec3 calc_turn_moment(const Body& body, const Vec3& u, double h) {
  if (has_no_axes(body)) return Vec3::Zero();
  return 0.5 * h * calc_turn_factor(u, h) * u.cross(body.inertia * u);
}

// With c = (h/2) kappa the Cayley transform of c [u]_x is exp(h u) itself, and (1 + c [u]) and (1 - c [u]) commute:
// exp(h u) (1 - c [u]) I u = (1 + c [u]) I u, so that the momentum stays where it is in the world; u . (u x I u) = 0
// keeps the energy. Newton's method, begun at the solution of the same equation with u x I u = -(I omega_F) x u for a
// known omega_F half a step ahead, which is linear and solvable for every h.
Vec3 calc_free_turn(const Body& body, const Vec3& momentum, double h) {
  const Vec3 omega = body.inertia_inverse * momentum;
  if (has_no_axes(body)) return omega;
  const Vec3 torque = momentum.cross(omega);
  if (torque.isZero(0)) return body.inertia_inverse * momentum;  // rest, a principal axis
  // Long turns are reached by doubling the time, each begun at the one before; once all is beyond the farthest turn
  // the equation no longer depends on the time.
  const double reach = kFirstTurn / omega.norm();
  if (!(reach > 0)) return body.inertia_inverse * momentum;  // beyond all numbers: the step will say so
  double half = std::min(0.5 * h, reach);
  const Vec3 ahead = omega + half * (body.inertia_inverse * torque);
  Vec3 u = solve(body.inertia - half * skew(body.inertia * ahead), momentum);
  for (;; half = std::min(1.2 * half, 0.5 * h)) {
    u = polish_turn(body, momentum, half, u);
    if (half == 0.5 * h || half * u.norm() > 8 * kResolvedTurn) return u;
  }
}

}  // namespace slipstick
