// Displacements nearest to zero in the metric of the masses that take position errors away: the problem of a step
// with h = 0, momenta zero, no friction, and the errors themselves as offsets. Its "velocities" are displacements, and
// are used for poses alone: no velocity changes.
#pragma once

#include <span>
#include <vector>

#include "step/scheme.h"
#include "step/step_solver.h"

namespace slipstick {

class Projection {
 public:
  /// Keeps references. Null: nobody helps.
  Projection(const Model& model, const SimulationOptions& options, const ThreadTeam* team);

  /// `taking_part`: bodies that may move, one entry each; the others stand still. None given: all.
  void begin(const State& state, std::span<const char> taking_part = {});
  /// Equality rows with these offsets, one per State::joint_impulse row, those of couplings too.
  void add_joints(std::span<const JointRows> joints, std::span<const double> offset);
  /// n . d + offset >= 0, one offset per contact; an infinite one leaves the contact out.
  void add_contacts(const ContactSet& contacts, std::span<const double> offset);
  LadderResult solve(StepSolver* solver);
  /// Moves `state` by the solution, but no point of a body by more than `most`: then all by less. Returns how far the
  /// farthest point came, m; nothing moves, and it is zero, where the solution is not finite.
  double move(double most, State* state);
  /// The gaps of the contacts added after the move, to first order in it.
  void update_gaps(ContactSet* contacts) const;

 private:
  struct Normal {
    int contact;   ///< of the set
    int block;     ///< of the problem; -1: nothing can move it
    NormalRow of;  ///< of no body: the same
  };
  void soften(int body_a, int body_b, const PairRow& row, int problem_row);

  const Model& model_;
  StepInput input_;
  RowMap map_;
  Problem problem_;
  Solution solution_;
  Equations equations_;  ///< axes and couplings
  std::vector<Twist> still_, displacement_;
  std::vector<JointRows> joints_;
  std::vector<Normal> normals_;
  State before_;
  double share_ = 1;  ///< of the solution that the last move took
};

}  // namespace slipstick
