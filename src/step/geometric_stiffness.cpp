#include "step/geometric_stiffness.h"

#include <Eigen/Eigenvalues>

namespace slipstick {

namespace {

/// a - b where h^2 K is much larger than the inertia; half of it where it is this share of it.
constexpr double kStiffnessDamping = 0.2;
constexpr double kStiffRatio = 0.5;
/// rho from which a body of a floating group has it.
constexpr double kFloatingRatio = 1;

/// Adds (r.f) 1 - sym(f r^T).
void add_arm_stiffness(const Vec3& arm, const Vec3& force, Mat3* stiffness) {
  stiffness->diagonal().array() += arm.dot(force);
  *stiffness -= 0.5 * (force * arm.transpose() + arm * force.transpose());
}

Mat3 calc_positive_part(const Mat3& stiffness) {
  const Eigen::SelfAdjointEigenSolver<Mat3> eigen(stiffness);
  return eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0.0).asDiagonal() * eigen.eigenvectors().transpose();
}

}  // namespace

void GeometricStiffness::update(const StepInput& input, std::span<const double> impulse,
                                const std::vector<JointRows>& joints, bool weighted) {
  const Model& model = *input.model;
  clear(model);
  floats_.assign(model.bodies.size(), 0);
  for (const JointRows& joint : joints) {
    const Joint& made = model.joints[joint.joint];
    const auto side = [&](int body, const Vec3& arm, Vec6 PairRow::*half) {
      if (body < 0 || model.bodies[body].kind != BodyKind::Dynamic || model.bodies[body].dof == 0) return;
      floats_[body] = made.floats;
      Vec3 force = Vec3::Zero();
      for (int r = 0; r < joint.count; ++r)
        force += impulse[made.first_row + r] / input.options->step * (joint.row[r].*half).head<3>();
      add_arm_stiffness(arm, input.state->pose[body].orientation.conjugate() * force, &parts_[body].stiffness);
    };
    side(joint.body_a, made.anchor_a, &PairRow::a);
    side(joint.body_b, made.anchor_b, &PairRow::b);
  }
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    Part& part = parts_[i];
    if (part.stiffness.isZero(0)) continue;
    part.stiffness = input.h * input.h * calc_positive_part(part.stiffness);
    const double ratio = (model.bodies[i].inertia_inverse * part.stiffness).trace();
    const double least = floats_[i] || weighted ? kFloatingRatio : 0;
    if (!(ratio > least)) continue;
    part.stiffness *= 1 - least / ratio;
    const double damping = weighted ? 0 : kStiffnessDamping;
    part.before = kWeight - damping * ratio * ratio / (ratio * ratio + kStiffRatio * kStiffRatio);
  }
}

}  // namespace slipstick
