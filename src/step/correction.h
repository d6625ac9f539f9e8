// Overlap is corrected in positions alone, after a step: docs/step.md. Velocities stay as they are, so that no kinetic
// energy comes of it; what the potential energy changes by has its own line in the ledger.
#pragma once

#include <vector>

#include "collision/contact_finder.h"
#include "step/projection.h"

namespace slipstick {

struct CorrectionResult {
  double moved = 0;   ///< m: how far the farthest point of a body came
  double energy = 0;  ///< J: by how much the potential energy grew
  LadderResult solve;
};

class Correction {
 public:
  Correction(const Model& model, const SimulationOptions& options);  ///< keeps references

  /// Whether a contact of `state` overlaps for real and is not about to part by itself.
  bool is_due(const State& state, const ContactSet& contacts) const;
  /// Moves the bodies of all groups (bodies that touch or are joined) with such an overlap. Deep ones come out over
  /// several steps: not faster than the speed limit. Others in at most a few rounds, as normals turn.
  CorrectionResult run(ContactFinder* finder, StepSolver* solver, State* state);

 private:
  bool is_real(const State& state, const Contact& contact) const;
  void find(const State& state, ContactFinder* finder);
  bool find_groups(const State& state, bool first);
  bool is_moved(int body) { return body != kWorld && due_[root_of(body)] != 0; }
  bool update_offsets(bool spent);
  void update_joints(const State& state, bool first);
  void join(int a, int b);
  int root_of(int body);
  double calc_allowance(const Contact& contact) const;

  const Model& model_;
  const SimulationOptions& options_;
  Projection projection_;
  ContactSet contacts_;
  std::vector<double> reach_;
  std::vector<JointRows> joints_, moved_joints_;
  std::vector<double> joint_start_;   ///< errors before the first round: they are kept
  std::vector<double> joint_offset_;  ///< what rounds have added to them
  std::vector<double> offset_;        ///< per contact
  std::vector<int> group_;            ///< per body: another one of the same group, or itself
  std::vector<char> due_;             ///< per body that stands for its group
};

}  // namespace slipstick
