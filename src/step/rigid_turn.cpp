#include "step/rigid_turn.h"

#include <Eigen/Eigenvalues>

namespace slipstick {

namespace {

/// Moments of inertia below this share of the largest are those of a line or a point, which cannot be turned.
constexpr double kNoInertia = 1e-12;

/// About the origin.
Vec3 calc_angular_momentum(const Body& body, const Pose& pose, const Twist& v) {
  return pose.position.cross(body.mass * v.linear) + pose.orientation * (body.inertia * v.angular);
}

Vec3 solve_inertia(const Mat3& inertia, const Vec3& momentum) {
  const Eigen::SelfAdjointEigenSolver<Mat3> eigen(inertia);
  const Vec3& moments = eigen.eigenvalues();
  Vec3 along = eigen.eigenvectors().transpose() * momentum;
  for (int k = 0; k < 3; ++k) along[k] = moments[k] > kNoInertia * moments[2] ? along[k] / moments[k] : 0;
  return eigen.eigenvectors() * along;
}

void turn_group(const Model& model, std::span<const int> group, int root, std::span<const Pose> before, State* state) {
  double mass = 0;
  Vec3 centre = Vec3::Zero(), missing = Vec3::Zero();
  for (std::size_t i = root; i < group.size(); ++i) {
    if (group[i] != root) continue;
    const Body& body = model.bodies[i];
    mass += body.mass;
    centre += body.mass * state->pose[i].position;
    missing += calc_angular_momentum(body, before[i], state->velocity[i]) -
               calc_angular_momentum(body, state->pose[i], state->velocity[i]);
  }
  if (!(mass > 0)) return;
  centre /= mass;
  Mat3 inertia = Mat3::Zero();
  for (std::size_t i = root; i < group.size(); ++i) {
    if (group[i] != root) continue;
    const Body& body = model.bodies[i];
    const Mat3 r = state->pose[i].orientation.toRotationMatrix();
    const Vec3 x = state->pose[i].position - centre;
    inertia += r * body.inertia * r.transpose() + body.mass * (x.squaredNorm() * Mat3::Identity() - x * x.transpose());
  }
  const Vec3 turn = solve_inertia(inertia, missing);
  for (std::size_t i = root; i < group.size(); ++i) {
    if (group[i] != root) continue;
    state->velocity[i].linear += turn.cross(state->pose[i].position - centre);
    state->velocity[i].angular += state->pose[i].orientation.conjugate() * turn;
  }
}

}  // namespace

bool is_unheld(const Model& model, int body) {
  return model.bodies[body].kind == BodyKind::Dynamic && model.bodies[body].dof == (model.planar ? 3 : 6);
}

void restore_angular_momentum(const Model& model, std::span<const int> group, std::span<const char> held,
                              std::span<const Pose> before, State* state) {
  for (std::size_t i = 0; i < group.size(); ++i)
    if (group[i] == static_cast<int>(i) && !held[i]) turn_group(model, group, group[i], before, state);
}

}  // namespace slipstick
