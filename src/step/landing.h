// Plastic impacts of lone bodies inside a fixed step (docs/decisions/0087).
//
// A gap row makes the impact of a body that comes down on a corner in two parts: the first ends the step at the touch,
// the second comes with the next one. Together they are the whole impact. But the forces of the step act together with
// it, and what carried the body until then, the corner about which it turns, is let go by the impact: its reaction
// until the touch is missing, h g of speed at each impact. So a body that comes down on something within the step, at
// the share s of it, begins the step with the velocity that it has at the touch,
//
//   M v- = M v + (lag + s h) f + sum of what carries it J(q*)^T c,        q* = move(q, v, s h)
//
// with lag = h/2 if something has carried it in the step before: the leapfrog's v is half a step behind its pose then.
// What is left of the step's forces, (1 - s) h less the lag (it may be below 0), acts together with the impact, so that
// a force gives h f in this step too. The gap row ends at u = s v- + (1 - s) v+: the right way, to second order.
//
// The contact's row has the point of the body that will touch: friction of the impact has its lever arm.
//
// Only of bodies that nothing but contacts with the surroundings holds: of bodies that touch each other all must have
// their velocities at the same instant.
#pragma once

#include "collision/contact_finder.h"
#include "step/impact.h"

namespace slipstick {

class Landings {
 public:
  explicit Landings(const Model& model);  ///< keeps a reference

  /// If a lone body comes down within the step, copies the state to `restarted` with the velocities at the touch and
  /// says true. `handled`, per body: not these (touch_impacts.h); empty: nobody is.
  bool run(const StepInput& input, std::span<const char> handled, ContactFinder* finder, StepSolver* ladder,
           State* restarted);

  /// After `run`: the contacts of the trial, those of what comes down with the body's own point on both sides. In the
  /// middle of the gap, where rows are taken, the lever arm of friction would be longer by half a gap than it is at the
  /// touch. What lies under it does not care.
  void aim(const ContactSet& given, ContactSet* aimed) const;

  /// Per body: StepInput::landing.
  std::span<const Landing> landings() const { return landing_; }
  /// What has carried them until then; null: nothing has.
  const ImpactResult* carried() const { return result_.happened ? &result_ : nullptr; }
  /// Where and by which contacts: what Pipe::add_impulses wants.
  StepInput carried_at(const StepInput& input) const;
  const ImpactScratch& scratch() const { return scratch_; }
  /// What gravity and loads have done to kinetic energies until the touch, J.
  double gravity_work() const { return gravity_work_; }
  double load_work() const { return load_work_; }

 private:
  int find_lone(const Contact& contact) const;
  bool find_touches(const StepInput& input, std::span<const char> handled);
  void find_lags(const StepInput& input);
  double calc_share(const StepInput& input, const Contact& contact, int body) const;
  void fall(const StepInput& input, State* restarted);
  bool carry(const StepInput& input, ContactFinder* finder, StepSolver* ladder, State* restarted);

  const Model& model_;
  std::vector<char> free_;   ///< per body: nothing is fastened to it
  std::vector<char> meets_;  ///< per body: it is near another one that moves, or somebody else's
  std::vector<double> lag_;  ///< per body: its velocity is so much behind, s; below 0: nothing carries it
  std::span<const char> rolling_;
  std::vector<char> carried_;  ///< per body: it comes down, and something carries it until then
  std::vector<Twist> speed_;   ///< per body, of those with prescribed motion too
  std::vector<Landing> landing_;
  std::vector<Vec6> load_;
  std::vector<double> reach_;
  State touch_;  ///< where lone bodies are when they come down
  ContactSet found_, carrying_;
  std::vector<Event> ignored_;
  ImpactScratch scratch_;
  ImpactResult result_;
  double gravity_work_ = 0, load_work_ = 0;
};

}  // namespace slipstick
