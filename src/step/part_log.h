// The parts of a step as StepPart (slipstick/parts.h), for runs that want to be checked. What it is told are the very
// impulses that StepImpulses sums; places and velocities are those that the stages hand to each other. Nothing is made
// to fit: what does not add up shows (docs/recheck.md).
#pragma once

#include <slipstick/parts.h>
#include <slipstick/state.h>

#include <span>
#include <vector>

#include "step/impact.h"
#include "step/scheme.h"

namespace slipstick {

class PartLog {
 public:
  explicit PartLog(const Model& model) : model_(model) {}  ///< keeps a reference

  void keep(bool on) { on_ = on; }
  bool on() const { return on_; }
  std::span<const StepPart> parts() const { return parts_; }

  /// A step begins at `state`; what is there is forgotten.
  void begin_step(const State& state);
  /// What happened before the motion that was told last: the next instants stand before it.
  void go_before_motion();

  void begin_motion(const StepInput& input, const StepProblem& made);
  void end_motion(const StepInput& input, const StepProblem& made, const Problem& solved, const Solution& solution,
                  const State& end);
  /// `places`: of all bodies then; the rows of `at` may be taken elsewhere.
  void begin_instant(PartKind kind, const StepInput& at, std::span<const Pose> places);
  void end_instant(const StepInput& at, const ImpactScratch& scratch);
  /// Before an instant of the kind Touch: when each body touches, as a share of a motion of that length.
  void set_touch(std::span<const double> share, double length) {
    touch_share_ = share;
    touch_length_ = length;
  }
  /// What touches give to velocities at one end of their motion.
  void add_kick(PartKind kind, double time, const State& at, std::span<const Twist> before,
                std::span<const Twist> after);
  /// Forces that have acted before the last motion (Landing::acted), which led to `after`.
  void add_fall(const State& before, std::span<const Twist> after);
  void add_correction(const State& before, const State& after);

  // From StepImpulses, for the part begun last. Of bodies: world force, body torque in the axes of `at`.
  void add_known(int body, const Vec6& gravity, const Vec6& load, const Pose& at);
  void add_added(int body, const Vec3& moment);
  void add_early(int body, const Vec6& gravity, const Vec6& load);
  void add_link(int link, int body_a, int body_b, const PairRow& impulse, std::span<const Pose> pose);
  /// `pose`: where the rows are taken. `at_end`: of a motion that rolls.
  void add_contact(const StepInput& input, const ContactRows& rows, std::span<const Pose> pose,
                   std::span<const double> impulse, bool at_end);

 private:
  StepPart& begin(PartKind kind, double time);
  PartImpulse about_start(int body, const Vec6& impulse, const Pose& at) const;
  void add_given_end(const StepInput& input, const State& end, PartContact* contact) const;
  void close(StepPart* part);
  double share_of(int body) const { return body < 0 ? 0 : touch_share_[body]; }
  void show_given(std::vector<Twist>* velocity) const;

  const Model& model_;
  bool on_ = false;
  std::vector<StepPart> parts_;
  std::size_t now_ = 0;  ///< the part begun last
  bool before_motion_ = false;
  std::vector<Twist> shown_before_;  ///< the same before the last motion
  std::vector<Twist> shown_;         ///< of bodies that are not dynamic: their velocity in the state
  std::vector<PartImpulse> early_gravity_, early_load_;
  std::span<const double> touch_share_;
  double touch_length_ = 0;
  std::vector<int> link_place_;  ///< per link: its row of the part begun last, or -1
};

}  // namespace slipstick
