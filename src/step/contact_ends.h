// Contacts that roll hold at both ends of a trial, as rigid joints do (joint_ends.h; docs/decisions/0125).
//
// The row of a contact is that of the point that is lowest at the start. Where a rim, an ellipsoid or a ball on a ball
// rolls, another point is lowest at the end: the gap is not linear in the motion, and dips by O(h^2) in each step. So
// the row asks the pair's own distance at the end of the last pass's way, and its tangents have the mean of the slips
// at both ends; and what carries the body acts at the start and at the end, each time along the rows there:
//
//   M u = M v + (h/2) f + J(q)^T l,    0 <= gap(move(q, u, h)) _|_ l_n >= 0,   slip: (J_t(q) + J_t(q')) u/2
//   M v' = M u + (h/2) f' + J(q')^T m,   0 <= n(q') v' _|_ m_n >= 0,           slip: J_t(q') v'
//
// both with the friction of the pair. The second one is a problem of the ordinary type with h = 0. Such bodies fly
// (flight.h), whatever carries them: energies swing within O(h^2) and do not drift.
//
// Who rolls is known before the trial, from the state: a body that nothing holds but a few contacts with its
// surroundings, one of them on a round part, with a gap that the velocities at hand bend. Faces and corners do not
// roll, balls on a plane have a linear gap, and what rests stays as it was.
#pragma once

#include <span>
#include <vector>

#include "collision/contact_finder.h"
#include "step/scheme.h"
#include "step/step_solver.h"

namespace slipstick {

class ContactEnds {
 public:
  explicit ContactEnds(ContactFinder* finder) : finder_(*finder) {}  ///< keeps a reference

  /// With fixed steps, before a trial: per body, whether it rolls in it (StepInput::rolling); empty: none does.
  std::span<const char> find(const StepInput& input, const Scheme& scheme);

  /// Which contacts: those of StepInput::rolling.
  void begin(const StepInput& input, const Equations& equations, StepProblem* made);
  /// Offsets of their rows, after the scheme has made them.
  void apply(StepProblem* made) const;
  /// Before another pass: how bodies turned in the last one (StepProblem).
  void add_bends(const StepInput& input, StepProblem* made) const;
  /// After a solution: true if another pass will help.
  bool refine(const StepInput& input, const StepProblem& made, const Solution& solution);
  /// Before another pass: columns that it does not ask anything of; empty: there are no contacts that roll.
  std::span<const char> find_good(const Problem& problem, const RowMap& map);
  /// Velocities of `next` that the contacts allow, and the impulses that it took.
  LadderResult end(const StepInput& input, const Solution& solution, StepSolver* solver, StepProblem* made,
                   State* next);

 private:
  /// A contact whose end is asked for.
  struct Held {
    int contact = 0;  ///< of Equations::contacts
    double kept = 0;  ///< overlap that stays, <= 0
    Contact end;      ///< where the way of the last pass leads
    std::array<double, 3> offset{};
  };

  void find_lone(const Model& model);
  bool find_carried(const StepInput& input);
  bool find_turning(const StepInput& input);
  void find_asked(const StepInput& input);
  bool find_bent(const StepInput& input);
  void look(const StepInput& input, std::span<const char> bodies);
  Contact find_end(const StepInput& input, const Contact& start) const;
  double calc_given(const StepInput& input, const ContactRows& rows, int k, double* moving) const;
  bool is_run_over(const StepInput& input, int contact, const Contact& end) const;
  void update_offsets(const StepInput& input, const Equations& equations);
  double calc_slip(const StepInput& input, const Contact& end, const Vec3& direction, const Vec3& normal) const;
  void find_ends(const StepInput& input, const Solution& solution, StepProblem* made) const;
  void make_problem(const StepInput& input, const Solution& solution, StepProblem* made, State* next);
  void take(const StepInput& input, StepProblem* made, State* next);

  ContactFinder& finder_;
  std::vector<char> lone_;     ///< per body: it moves, and nothing but contacts holds it
  std::vector<int> carrying_;  ///< of the contacts at the start: what carries somebody
  std::vector<char> turning_;  ///< per body: it turns, on something round
  std::vector<int> count_;     ///< per body: contacts that carry it
  std::vector<char> rolling_;
  bool active_ = false;
  bool bends_ = true;    ///< turns are those of the pass before; false: that did not help
  bool linear_ = false;  ///< passes did not help
  int passes_ = 0;
  double worst_ = 0;                 ///< what the last pass has left, in sizes of the bodies
  std::vector<Held> held_, before_;  ///< of this pass and of the last one
  std::vector<Twist> way_;           ///< u of the last pass
  State end_;                        ///< poses alone: where that leads
  std::vector<double> reach_;
  ContactSet found_;  ///< there
  std::vector<int> island_;
  std::vector<char> good_;
  std::vector<Twist> prescribed_;  ///< of kinematic bodies at the end
  std::vector<double> offset_;
  StepInput at_end_;
  RowMap map_;
  Problem problem_;
  Solution solution_;
};

}  // namespace slipstick
