#include "step/geometric_stiffness.h"

#include <Eigen/Eigenvalues>

namespace slipstick {

namespace {

/// a - b where h^2 K is much larger than the inertia; half of it where it is this share of it.
constexpr double kStiffnessDamping = 0.2;
constexpr double kStiffRatio = 0.5;
/// rho from which a body of a floating group has it.
constexpr double kFloatingRatio = 1;
/// The same where nothing damps: a leapfrog follows a swing up to 4.
constexpr double kFollowedRatio = 2.5;
/// Square root of a mobility, of the largest: below it the body cannot turn that way.
constexpr double kHeld = 1e-5;

/// Adds (r.f) (1 - r r^T/r^2).
void add_arm_stiffness(const Vec3& arm, const Vec3& force, Mat3* stiffness) {
  const double square = arm.squaredNorm(), along = arm.dot(force);
  if (!(square > 0)) return;
  stiffness->diagonal().array() += along;
  *stiffness -= along / square * arm * arm.transpose();
}

/// Takes from a body's mobility about the direction d what a joint does that turns another body with it: that one's
/// inertia about d is added (Sherman and Morrison), and what does not move has no end of it.
void hold_turn(const Vec3& d, double other_inverse, Mat3* mobility) {
  const Vec3 turned = *mobility * d;
  const double sum = other_inverse + d.dot(turned);
  if (sum > 0) *mobility -= turned * turned.transpose() / sum;
}

}  // namespace

void GeometricStiffness::update_turns(const Mat3& mobility, Turns* turns) {
  if (mobility == turns->mobility) return;
  const Eigen::SelfAdjointEigenSolver<Mat3> found(mobility);
  Vec3 root = found.eigenvalues().cwiseMax(0.0).cwiseSqrt(), inverse = Vec3::Zero();
  for (int k = 0; k < 3; ++k) {
    if (root[k] > kHeld * root[2])
      inverse[k] = 1 / root[k];
    else
      root[k] = 0;
  }
  *turns = {mobility, found.eigenvectors(), root, inverse};
}

/// The positive part of K in the metric of the mobility, so that it does not depend on units of turns, over the
/// directions in which the body can turn.
Mat3 GeometricStiffness::calc_positive_part(const Mat3& stiffness, const Turns& turns) {
  const Mat3& u = turns.axes;
  const Mat3 in_metric = turns.root.asDiagonal() * u.transpose() * stiffness * u * turns.root.asDiagonal();
  const Eigen::SelfAdjointEigenSolver<Mat3> eigen(in_metric);
  const Mat3 back = u * turns.inverse.asDiagonal() * eigen.eigenvectors();
  return back * eigen.eigenvalues().cwiseMax(0.0).asDiagonal() * back.transpose();
}

void GeometricStiffness::add_joint(const StepInput& input, std::span<const double> impulse, const JointRows& joint) {
  const Model& model = *input.model;
  const Joint& made = model.joints[joint.joint];
  const auto moves = [&](int body) {
    return body >= 0 && model.bodies[body].kind == BodyKind::Dynamic && model.bodies[body].dof > 0;
  };
  const auto side = [&](int body, const Vec3& arm, Vec6 PairRow::*half, int other, Vec6 PairRow::*other_half) {
    if (!moves(body)) return;
    floats_[body] = made.floats;
    Part& part = parts_[body];
    Vec3 force = Vec3::Zero();
    for (int r = 0; r < joint.count; ++r) {
      const Vec6& row = joint.row[r].*half;
      force += impulse[made.first_row + r] / input.options->step * row.head<3>();
      if (!row.head<3>().isZero(0)) continue;
      const Vec3 turn = (joint.row[r].*other_half).tail<3>();
      const double other_inertia = moves(other) ? turn.dot(model.bodies[other].inertia * turn) : kInfinity;
      hold_turn(row.tail<3>(), 1 / other_inertia, &part.mobility);
    }
    add_arm_stiffness(arm, input.state->pose[body].orientation.conjugate() * force, &part.stiffness);
  };
  side(joint.body_a, made.anchor_a, &PairRow::a, joint.body_b, &PairRow::b);
  side(joint.body_b, made.anchor_b, &PairRow::b, joint.body_a, &PairRow::a);
}

void GeometricStiffness::update(const StepInput& input, std::span<const double> impulse,
                                const std::vector<JointRows>& joints, bool weighted) {
  const Model& model = *input.model;
  clear(model);
  floats_.assign(model.bodies.size(), 0);
  turns_.resize(parts_.size());
  for (std::size_t i = 0; i < parts_.size(); ++i) parts_[i].mobility = model.bodies[i].inertia_inverse;
  for (const JointRows& joint : joints) add_joint(input, impulse, joint);
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    Part& part = parts_[i];
    if (part.stiffness.isZero(0)) continue;
    const double least = weighted ? kFollowedRatio : floats_[i] ? kFloatingRatio : 0;
    part.stiffness *= input.h * input.h;
    if (3 * part.mobility.norm() * part.stiffness.norm() <= least) continue;
    update_turns(part.mobility, &turns_[i]);
    part.stiffness = calc_positive_part(part.stiffness, turns_[i]);
    const double ratio = (part.mobility * part.stiffness).trace();
    if (!(ratio > least)) continue;
    part.stiffness *= 1 - least / ratio;
    const double damping = weighted ? 0 : kStiffnessDamping;
    part.before = kWeight - damping * ratio * ratio / (ratio * ratio + kStiffRatio * kStiffRatio);
  }
}

}  // namespace slipstick
