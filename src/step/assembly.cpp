#include <slipstick/assembly.h>

#include <algorithm>
#include <cmath>

#include "mechanics/equations.h"
#include "step/overlap.h"
#include "step/projection.h"

namespace slipstick {

namespace {

constexpr int kMaxAssemblyRounds = 200;
constexpr double kAssembled = 1e-9;       // of the size of a joint, m, or rad
constexpr double kAssemblyLimit = 0.1;    // of the largest joint
constexpr double kAssemblyStride = 0.1;   // of the largest joint, in one round
constexpr double kAssemblyStall = 1e-13;  // of it: a round that moves no farther changes nothing

struct JointState {
  double error = 0;  ///< m or rad
  bool holds = true;
};

JointState look_at(const Model& model, std::span<const JointRows> joints) {
  JointState found;
  for (const JointRows& joint : joints) {
    const double size = calc_joint_size(model, model.joints[joint.joint]);
    for (int r = 0; r < joint.count; ++r) {
      found.error = std::max(found.error, std::abs(joint.value[r]));
      found.holds = found.holds && std::abs(joint.value[r]) <= kAssembled * size;
    }
  }
  return found;
}

void update_rigid(const Model& model, const State& state, std::vector<JointRows>* joints, std::vector<double>* offset) {
  update_joint_rows(model, state.pose, joints);
  std::erase_if(*joints, [](const JointRows& joint) { return joint.compliance > 0; });
  offset->assign(model.joint_rows, 0.0);
  for (const JointRows& joint : *joints)
    for (int r = 0; r < joint.count; ++r) (*offset)[model.joints[joint.joint].first_row + r] = joint.value[r];
}

void measure(const Model& model, const State& start, Assembly* made) {
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    const Pose &from = start.pose[i], &to = made->state.pose[i];
    const double turned = from.orientation.angularDistance(to.orientation) * model.bodies[i].reach_radius;
    const double moved = (to.position - from.position).norm() + turned;
    if (moved <= made->moved) continue;
    made->moved = moved;
    made->body = static_cast<int>(i);
  }
}

}  // namespace

Assembly assemble(const Model& model, const SimulationOptions& options, const State& start) {
  Assembly made;
  made.state = start;
  std::vector<JointRows> joints;
  std::vector<double> offset;
  update_rigid(model, made.state, &joints, &offset);
  JointState now = look_at(model, joints);
  made.error = made.left = now.error;
  made.needed = !now.holds;
  if (!made.needed) return made;
  double size = 0;
  for (const Joint& joint : model.joints) size = std::max(size, calc_joint_size(model, joint));
  made.limit = kAssemblyLimit * size;
  SimulationOptions chosen = options;
  chosen.solver = "auto";
  chosen.hold_resting = chosen.unique_forces = false;
  StepSolver solver(chosen);
  Projection projection(model, chosen, nullptr);
  for (int round = 0; round < kMaxAssemblyRounds && !now.holds; ++round) {
    projection.begin(made.state);
    projection.add_joints(joints, offset);
    projection.solve(&solver);
    const double moved = projection.move(kAssemblyStride * size, &made.state);
    update_rigid(model, made.state, &joints, &offset);
    now = look_at(model, joints);
    if (moved <= kAssemblyStall * size) break;
  }
  made.left = now.error;
  measure(model, start, &made);
  made.closed = now.holds && made.moved <= made.limit;
  if (!made.closed) made.state = start;
  return made;
}

}  // namespace slipstick
