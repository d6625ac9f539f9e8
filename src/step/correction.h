// Overlap, and with `close_joints` what a step has opened joints by, is corrected in positions alone, after a step:
// docs/step.md. Velocities stay as they are, so that no kinetic
// energy comes of it, but for the rigid turn that keeps the angular momentum of groups that float (rigid_turn.h); what
// the energy changes by has its own line in the ledger.
#pragma once

#include <array>
#include <vector>

#include "collision/contact_finder.h"
#include "step/projection.h"

namespace slipstick {

struct CorrectionResult {
  double moved = 0;   ///< m: how far the farthest point of a body came
  double energy = 0;  ///< J: by how much the energy grew
  LadderResult solve;
};

class Correction {
 public:
  /// Keeps references. Null: nobody helps.
  Correction(const Model& model, const SimulationOptions& options, const ThreadTeam* team);

  /// Whether a contact of `state` overlaps for real and is not about to part by itself, or a joint is to be closed.
  bool is_due(const State& state, const ContactSet& contacts);
  /// Moves the bodies of all groups (bodies that touch or are joined) with such an overlap or joint. Deep ones come out
  /// over several steps: not faster than the speed limit. Others in at most a few rounds, as normals turn.
  /// `found`: the contacts of `state`. With less than exact effort they serve the first round.
  CorrectionResult run(const ContactSet& found, ContactFinder* finder, StepSolver* solver, State* state);

 private:
  /// What a correction is worth (SimulationOptions::effort).
  struct Care {
    int rounds;        ///< of one that is not limited by its speed
    double band;       ///< of the thinner body: overlap up to this is left alone; 0: what is left to rows (overlap.h)
    double corrected;  ///< body sizes: what is left after a round and is not worth another one; with a band, that
    double parting;    ///< steps: a contact that would be out in so many by its own speed is left to it
  };
  static Care care_of(Effort effort);

  /// `turns`: also where it is what the turns of a step have left.
  bool is_real(const State& state, const Contact& contact, bool turns) const;
  bool is_closable(const State& state, const JointRows& joint) const;
  bool find_loose(const State& state);
  void find(const State& state, ContactFinder* finder);
  void take_near(const ContactSet& found);
  bool find_groups(const State& state, bool first);
  void count_contacts();
  void find_jointed();
  bool is_jointed(const std::array<int, 2>& bodies);
  bool is_large(int body);
  bool leave_large();
  bool leave_corrected();
  bool moves(int body) const { return body != kWorld && model_.bodies[body].kind == BodyKind::Dynamic; }
  bool is_moved(int body) { return body != kWorld && due_[root_of(body)] != 0; }
  std::span<const char> find_moved();
  bool update_offsets(bool spent);
  void update_joints(const State& state, bool first);
  void keep_momentum(State* state);
  void join(int a, int b);
  int root_of(int body);
  double calc_allowance(const Contact& contact) const;
  double calc_band(const Contact& contact) const;  ///< overlap that is left alone, m
  double calc_corrected(const Contact& contact);   ///< overlap that is not worth a round, m

  const Model& model_;
  const SimulationOptions& options_;
  const Care care_;
  std::vector<double> thickness_;  ///< of each body, where there is a band
  Projection projection_;
  ContactSet contacts_;
  std::vector<double> reach_;
  std::vector<JointRows> joints_, moved_joints_;
  std::vector<double> joint_start_;  ///< errors that are kept: all before the first round, or those of open joints
  std::vector<int> loose_;           ///< a body of each joint that is to be closed
  double looseness_ = 0;             ///< m or rad: the largest error of those
  std::vector<AxisRow> axes_;
  std::vector<CouplingRow> couplings_;
  std::vector<double> joint_offset_;  ///< what rounds have added to them
  std::vector<double> offset_;        ///< per contact
  std::vector<int> group_;            ///< per body: another one of the same group, or itself
  std::vector<char> due_;             ///< per body that stands for its group
  std::vector<char> taking_part_;     ///< per body: its group is due
  std::vector<char> left_;            ///< per body that stands for its group: a round has left something
  std::vector<int> touching_;         ///< per body that stands for its group: its contacts; of `balanced`
  std::vector<char> jointed_;         ///< per body that stands for its group: there are joints in it
  std::vector<Pose> before_;
  std::vector<int> moved_;  ///< per body: what stands for its group, or -1
  std::vector<char> held_;  ///< per body that stands for its group: something that does not move holds it
};

}  // namespace slipstick
