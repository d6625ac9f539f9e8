// Where forces act in a step (docs/decisions/0035, 0109). The problem's unknown u moves the pose, q' = move(q, u, h),
// so it is the velocity of the middle of the step. For bodies that nothing touches the forces act half before it and
// half after it,
//
//   M u = M v + (h/2) f(t, q),   v' = u + (h/2) M^-1 f(t', q')          the leapfrog: exact parabola, order 2
//
// Springs that the step can follow are such forces too, also those on the axes of joints; of dampers one half is
// implicit in u and the other one explicit after it, both with u: the midpoint rule.
//
// A body that a contact carries has the reaction in u alone, and all forces with it, as [Anitescu03] has it:
//
//   M u = M v + h f + J^T c,   v' = u
//
// With springs among f, where their bodies are at its start, that is symplectic Euler, which swings on for ever too.
//
// Which of the two a body does is one fact for the whole trial, so that a force always gives h f: with fixed steps it
// begins with who carried load in the step before, and the solution settles it (`settle`). Whoever is held by the same
// joints or springs does the same, so that what one gives the other gets.
#pragma once

#include <span>
#include <vector>

#include "step/geometric_stiffness.h"
#include "step/scheme.h"

namespace slipstick {

/// Of the schemes with alpha = gamma = 1; for the others forces act as they say, and only the inertia of what heavy
/// loads swing is known here.
class Flight {
 public:
  /// Who flies, as far as is known before a solution. How long the forces of the start act on each body, and which
  /// springs are among them: StepProblem's `kick` and `spring_before`.
  void begin(const StepInput& input, const Scheme& scheme, const Equations& equations, StepProblem* made);
  /// After a solution: what flies and carries load in it is carried, what is carried and carries none flies, each group
  /// of bodies at most once and back. True: there are such groups, `made` has their forces anew, and what was solved is
  /// to be solved again.
  bool settle(const StepInput& input, const Equations& equations, const Solution& solution, StepProblem* made);
  /// After that: the columns that have the problem they had; empty: nobody has, not even the same rows.
  std::span<const char> find_settled() const { return settled_; }
  /// After the trial: what flies gets the other half, of the forces where it is now.
  void end(const StepInput& input, const Solution& solution, StepProblem* made, State* next);
  /// Whether the body is held by joints alone, and flies.
  bool flies_joined(int body) const {
    return on_ && body >= 0 && joined_[group_[body]] && !held_[group_[body]] && !touched_[group_[body]];
  }
  /// The body that stands for its group, if that has joints and does not fly; else -1.
  int carried_joined_group(int body) const {
    return on_ && joined_[group_[body]] && !flies_joined(body) ? group_[body] : -1;
  }
  bool has_heavy() const { return !heavy_.empty(); }

 private:
  void update_groups(const Model& model, const Scheme& scheme, const SimulationOptions& options, double h);
  void hold_joints(const Model& model, bool closes);
  void find_followed(const Model& model, const Scheme& scheme, double h);
  void update_splits(const StepInput& input, const std::vector<SpringRows>& springs, StepProblem* made);
  void kick_springs(const StepInput& input, const Solution& solution, StepProblem* made, const State& next);
  void touch(int body) {
    if (body >= 0) touched_[group_[body]] = 1;
  }
  bool is_held_range(const StepInput& input, const ContactRows& rows) const;
  void touch_remembered(const StepInput& input);
  void touch_landing(const StepInput& input);
  void find_heavy(const StepInput& input, const Equations& equations, StepProblem* made);
  void touch_heavy();
  void touch_resting(const StepInput& input, const Equations& equations);
  void update_kicks(const StepInput& input, const Equations& equations, StepProblem* made);
  void find_loaded(const StepInput& input, const StepProblem& made, const Solution& solution);
  void find_islands(const StepProblem& made);
  int root_of(int column);
  bool is_in_heap(const StepInput& input, const StepProblem& made, int group);
  void update_settled(const StepInput& input, const StepProblem& made);
  bool flies(const StepInput& input, std::size_t body) const;

  bool on_ = false, splits_ = false, stiffens_ = false;
  bool holds_ranges_ = false;  ///< ends of ranges are held at both ends, as joints are (range_ends.h)
  std::vector<int> group_;     ///< per body: the one that stands for all that joints and springs connect it with
  std::vector<char> held_;     ///< per group: its joints, or springs that the step cannot follow, do not let it fly
  std::vector<char> joined_;   ///< per group: it has joints
  std::vector<char> follows_;  ///< per Equations::springs: the step can follow it
  std::vector<char> heavy_;    ///< per body: joint forces swing it faster than the step can follow; empty: none
  GeometricStiffness stiffness_;
  std::vector<char> touched_;           ///< per group: carried
  std::vector<int> turns_;              ///< per group: from one to the other and back, in this trial
  int settles_ = 0;                     ///< of this trial
  std::vector<char> loaded_, turning_;  ///< per group, in `settle`
  std::vector<int> island_;             ///< per column: another one of its island, or itself; empty: nobody asked
  std::vector<int> contacts_;           ///< per column that stands for its island: contacts that have rows
  std::vector<int> most_contacts_;      ///< per group: of the largest of its islands
  std::vector<char> settled_;           ///< per column
  std::vector<double> split_;           ///< StepProblem::spring_before before `settle`
  std::vector<Vec6> load_;
};

/// M^-1 times an impulse, over the free directions of the body; `added` to its inertia, or null.
Twist calc_kick(const Body& body, const Vec6& impulse, const Mat3* added = nullptr);

}  // namespace slipstick
