// All impulses of a step, by what made them: summed over the parts of the step, its impacts and its projections, so
// that their sum on a body is exactly its change of momentum. Readings (readings.h) are these over the step's length.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "step/impact.h"
#include "step/joint_shares.h"
#include "step/part_log.h"
#include "step/scheme.h"

namespace slipstick {

class StepImpulses {
 public:
  StepImpulses(const Model& model, PartLog* log);  ///< keeps references; all that is added is told to the log

  void clear();
  /// What one solved problem of length input.h did. `share`: of its length that counts (an event state that was
  /// interpolated); the sum is exact for 1 alone.
  void add(const StepInput& input, const Scheme& scheme, const StepProblem& made, const Solution& solution,
           const State& next, double share = 1);
  /// An impact, or a projection: `input.contacts` are those it was made with.
  void add_impact(const StepInput& input, const ImpactScratch& scratch);
  /// A correction of overlap has left bodies with other velocities: floating groups keep their angular momentum by it
  /// (rigid_turn.h). False: it has not.
  bool add_turn(std::span<const Twist> before, std::span<const Twist> after);
  /// Reactions of redundant joints become those of equal springs (joint_shares.h). Nothing more can be added after it.
  void share_joints();
  /// Whether that may change anything.
  bool has_loops() const { return shares_.any(); }
  /// What contacts have done to a body beside that, N m s in body axes.
  void add_contact_moment(int body, const Vec3& moment) { bodies_[body].contact.tail<3>() += moment; }
  /// J: what contacts and joints have done on bodies with prescribed motion, if they all went with these velocities.
  double calc_work_on_given(std::span<const Twist> velocity) const;

  struct JointImpulse {
    Vec3 force = Vec3::Zero(), moment = Vec3::Zero();  ///< on B, world, about the anchor on B; N s, N m s
    double coupling = 0;
  };
  struct AxisImpulse {
    double motor = 0, limit = 0, friction = 0, spring = 0;
  };
  /// (world linear, body angular), as velocities.
  struct BodyImpulse {
    Vec6 gravity = Vec6::Zero(), load = Vec6::Zero(), joint = Vec6::Zero(), spring = Vec6::Zero(),
         contact = Vec6::Zero(), inertia = Vec6::Zero();
  };
  std::span<const JointImpulse> joints() const { return joints_; }
  std::span<const AxisImpulse> axes() const { return axes_; }
  std::span<const Vec3> springs() const { return springs_; }  ///< force on B, N s
  std::span<const BodyImpulse> bodies() const { return bodies_; }

 private:
  void add_known(const StepInput& input, const Scheme& scheme, const StepProblem& made, const Solution& solution,
                 const State& next, double share);
  void add_joints(const Equations& equations, std::span<const Pose> pose, std::span<const double> slots);
  void add_axes(const Equations& equations, std::span<const Pose> pose, std::span<const double> slots);
  void add_spring(const Equations& equations, std::span<const Pose> pose, std::size_t i, const Vec6& on_a,
                  const Vec6& on_b);
  void add_contact(const StepInput& input, const ContactRows& rows, std::span<const Pose> pose,
                   std::span<const double> impulse, bool at_end = false);
  void add_range_ends(const StepInput& input, const StepProblem& made, std::span<const Pose> pose, double share);
  void add_to_joint(int joint, std::span<const Pose> pose, const PairRow& row, double impulse);
  void add_to_body(int body, const Vec6& impulse, Vec6 BodyImpulse::*what);

  const Model& model_;
  PartLog& log_;
  std::vector<int> axis_of_spring_;  ///< springs after those of the model
  std::vector<JointImpulse> joints_;
  std::vector<AxisImpulse> axes_;
  std::vector<Vec3> springs_;
  std::vector<BodyImpulse> bodies_;
  JointShares shares_;
  std::vector<double> slots_;  ///< scratch: one per State::joint_impulse
};

}  // namespace slipstick
