#include <slipstick/joint_errors.h>

#include "mechanics/equations.h"

#include <algorithm>
#include <cmath>

namespace slipstick {

std::vector<double> calc_joint_errors(const Model& model, std::span<const Pose> pose) {
  std::vector<JointRows> rows;
  update_joint_rows(model, pose, &rows);
  std::vector<double> errors(model.joints.size(), 0.0);
  for (const JointRows& joint : rows)
    for (int i = 0; i < joint.count; ++i) errors[joint.joint] = std::max(errors[joint.joint], std::abs(joint.value[i]));
  return errors;
}

}  // namespace slipstick
