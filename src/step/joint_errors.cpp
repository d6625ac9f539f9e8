#include <slipstick/joint_errors.h>

#include "mechanics/equations.h"

#include <algorithm>
#include <cmath>

namespace slipstick {

std::vector<double> calc_joint_errors(const Model& model, const State& state) {
  std::vector<JointRows> rows;
  update_joint_rows(model, state.pose, &rows);
  std::vector<double> errors(model.joints.size(), 0.0);
  for (const JointRows& joint : rows)
    for (int i = 0; i < joint.count; ++i) errors[joint.joint] = std::max(errors[joint.joint], std::abs(joint.value[i]));
  std::vector<AxisRow> axes;
  std::vector<CouplingRow> couplings;
  update_axis_rows(model, state.pose, state.axis, &axes);
  update_coupling_rows(model, axes, &couplings);
  const auto raise = [&](int joint, double error) { errors[joint] = std::max(errors[joint], error); };
  for (std::size_t k = 0; k < couplings.size(); ++k) raise(model.couplings[k].joint, std::abs(couplings[k].value));
  for (const Limit& limit : model.limits) {
    const double over = axes[limit.axis].value - limit.bound;
    raise(model.axes[limit.axis].joint, limit.upper ? over : -over);
  }
  return errors;
}

}  // namespace slipstick
