#include "view/pull.h"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/se3.h"

namespace slipstick {

namespace {

/// Natural frequency of a body on the hand's spring, rad/s of the clock, and its damping as a fraction of the critical.
constexpr double kPullFrequency = 2 * std::numbers::pi * 3;
constexpr double kPullDamping = 0.7;
/// h^2 k times the trace of W at most: a stiffer spring would turn the body too far in a step for its force to be
/// right.
constexpr double kMostStiffness = 1;

/// What a unit impulse at the point `arm` (centre-of-mass frame) changes of the point's velocity, world axes.
Mat3 calc_point_mobility(const Body& body, const Quat& orientation, const Vec3& arm) {
  Eigen::Matrix<double, 3, 6> point;
  point.leftCols<3>().setIdentity();
  point.rightCols<3>() = -(orientation.toRotationMatrix() * skew(arm));
  Mat6 mass = Mat6::Zero();
  mass.topLeftCorner<3, 3>() = body.mass * Mat3::Identity();
  mass.bottomRightCorner<3, 3>() = body.inertia;
  const MatX free = body.free_basis().leftCols(body.dof);
  const MatX row = point * free;
  return row * (free.transpose() * mass * free).llt().solve(row.transpose());
}

}  // namespace

void apply_pull(const Simulation& simulation, const LivePull& pull, Inputs* inputs) {
  const Body& body = simulation.model().bodies[static_cast<std::size_t>(pull.body)];
  const Pose& pose = simulation.state().pose[static_cast<std::size_t>(pull.body)];
  const Twist& velocity = simulation.state().velocity[static_cast<std::size_t>(pull.body)];
  if (body.dof == 0) return;
  const double h = simulation.options().step;
  const Vec3 arm = pull.point - body.center_of_mass, at = apply(pose, arm);
  const Mat3 mobility = calc_point_mobility(body, pose.orientation, arm);
  const double frequency = kPullFrequency / pull.speed;
  const double wanted = pull.strength * body.mass * frequency * frequency;
  const double stiffness = std::min(wanted, kMostStiffness / (h * h * mobility.trace()));
  const double damping = 2 * kPullDamping * std::sqrt(stiffness * body.mass);
  const Vec3 stretch = at - pull.target;
  const Vec3 ahead = point_velocity(pose, velocity, arm) + h * simulation.model().gravity;
  const Mat3 soft = Mat3::Identity() + (h * damping + h * h * stiffness) * mobility;
  const Vec3 force = -soft.partialPivLu().solve(stiffness * stretch + (damping + h * stiffness) * ahead);
  inputs->force(pull.body, force, at);
}

}  // namespace slipstick
