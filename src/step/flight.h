// Where velocities stand in time (docs/decisions/0035). The problem's unknown u moves the pose, q' = move(q, u, h), so
// it is the velocity of the middle of the step. For bodies that nothing touches the forces act half before it and half
// after it,
//
//   M u = M v + (h/2) f(t, q),   v' = u + (h/2) M^-1 f(t', q')          the leapfrog: exact parabola, order 2
//
// and State::velocity is that of the state's own instant. Springs that the step can follow are such forces too; of
// dampers one half is implicit in u and the other one explicit after it, both with u: the midpoint rule.
//
// A body that a contact carries has the reaction in u alone: there v' = u, half a step behind, and the next step makes
// up for it, M u = M v + h f + J^T c, as [Anitescu03] has it. Whoever is held by the same joints or springs has its
// velocities at the same instant, so that what one gives the other gets.
#pragma once

#include <algorithm>
#include <vector>

#include "step/geometric_stiffness.h"
#include "step/scheme.h"

namespace slipstick {

/// By how much the velocity of a body that this contact carries is behind the state, s: half a trial, or what its
/// landing has left (landing.h). Fixed steps.
inline double calc_lag(const StepInput& input, const ContactMemory& memory) {
  return memory.closed ? std::clamp(input.state->time - memory.force_time, 0.0, input.h_nominal) : 0.5 * input.h;
}

/// Of the schemes with alpha = gamma = 1; for the others forces act as they say.
class Flight {
 public:
  /// How long the forces of the start act on each body, and which springs are among them: StepProblem's `kick` and
  /// `spring_before`.
  void begin(const StepInput& input, const Scheme& scheme, const Equations& equations, StepProblem* made);
  /// After the trial: what flies gets the other half, of the forces where it is now.
  void end(const StepInput& input, const Solution& solution, StepProblem* made, State* next);
  /// Whether the body is held by joints alone, and flies: at the start after `begin`, at the end after `end`.
  bool flies_joined(int body) const {
    return on_ && body >= 0 && joined_[group_[body]] && !held_[group_[body]] && !touched_[group_[body]];
  }
  bool has_heavy() const { return on_ && !heavy_.empty(); }

 private:
  void update_groups(const Model& model, const Scheme& scheme, const SimulationOptions& options, double h);
  void hold_joints(const Model& model, bool closes);
  void update_splits(const StepInput& input, const std::vector<SpringRows>& springs, StepProblem* made);
  void kick_springs(const StepInput& input, const Solution& solution, StepProblem* made, const State& next);
  void touch(int body) {
    if (body >= 0) touched_[group_[body]] = 1;
  }
  void touch_remembered(const StepInput& input, StepProblem* made);
  void land(const StepInput& input, StepProblem* made);
  void touch_heavy(const StepInput& input, const Equations& equations, StepProblem* made);
  void touch_resting(const StepInput& input, const Equations& equations);
  bool flies(const StepInput& input, std::size_t body) const;

  bool on_ = false, splits_ = false, stiffens_ = false;
  std::vector<int> group_;    ///< per body: the one that stands for all that joints and springs connect it with
  std::vector<char> held_;    ///< per group: its joints, or springs that the step cannot follow, do not let it fly
  std::vector<char> joined_;  ///< per group: it has joints
  std::vector<char> heavy_;   ///< per group: joint forces swing a body faster than the step can follow
  GeometricStiffness stiffness_;
  std::vector<char> touched_;  ///< per group
  std::vector<Vec6> load_;
};

/// M^-1 times an impulse, over the free directions of the body.
Twist calc_kick(const Body& body, const Vec6& impulse);

}  // namespace slipstick
