// The event driver: one nominal step as a chain of shorter ones that end where something happens (docs/schemes.md).
//
//   closed set   contacts that touch and do not part; they alone are in the problem. A contact enters it by an impact,
//   or
//                when it touches at rest; it leaves it when it carries nothing and parts.
//   impact       an open contact would be below zero at the end of a trial, or dips below it inside: the cubic of its
//   gap
//                is the first guess, steps of the guessed length refine it; then compression and decompression
//   stick        a sliding contact would stop or turn round: located where its slip speed is zero
//   take-off,    the mean force, or the friction in reserve, of a closed contact goes through zero between the last
//   step slip         and this one: the step is cut there, and the problem itself lets go in the next part
//
// Without `locate` every trial is accepted whole and impacts are those of the contacts found below zero at its start.
#pragma once

#include <slipstick/simulation.h>

#include <span>
#include <vector>

#include "collision/contact_finder.h"
#include "step/impact.h"
#include "step/impulses.h"
#include "step/reach.h"
#include "step/trial.h"

namespace slipstick {

class EventDriver {
 public:
  /// Keeps references.
  EventDriver(const Model& model, const SimulationOptions& options, const Scheme& scheme, StepSolver* ladder,
              ContactFinder* finder);

  /// From `state` to the end of the nominal step; the report gets everything but the joint error and the penetration.
  /// On failure `next` is not changed.
  void step(const State& state, const Drive* drive, State* next, StepReport* report);

  std::span<const Event> events() const { return events_; }
  std::span<const ContactForce> forces() const { return forces_; }
  std::span<const Twist> weighted_velocity() const { return weighted_; }
  /// Of the last step that did not fail.
  const StepImpulses& impulses() const { return impulses_; }
  const Problem& problem() const { return trial_.scratch().problem; }
  Trial& trial() { return trial_; }
  /// All contacts within reach of the state that `step` ended in.
  const ContactSet& contacts() const { return here_; }

 private:
  enum class Due { Nothing, Impact, Stick, Takeoff, Slip, Jam };
  /// Something that a trial runs into, at the share s of its length.
  struct Candidate {
    Due kind = Due::Nothing;
    double s = 2;
    ContactKey key;
    int active = -1;     ///< index into active_, or -1
    double level = 0;    ///< impact: the gap at which it closes
    double high = 1;     ///< impact: the gap may be below zero here
    bool below = false;  ///< impact: it is below zero at the end of the trial
  };
  /// A contact's distance and rate of approach at one end of a trial.
  struct Gap {
    double value = 0, rate = 0;
    const Contact* contact = nullptr;
  };

  // event_driver.cpp: the chain.
  void look(const State& state, ContactSet* contacts);
  void settle();
  void collect_closed();
  bool advance(double left);
  bool run(double h, bool backward = false);
  void update_middle(double h);
  bool accept(double h, const Candidate& due);
  StepInput input(double h, bool backward = false) const;
  void update_prescribed(double t);
  // event_memory.cpp: what closed contacts did.
  void update_memory(double h, const Candidate& due);
  ContactMemory make_memory(std::size_t i, double h, double largest, const Candidate& due) const;
  double calc_zero_time(const ContactMemory& last, const ContactMemory& now, Due kind, double end) const;
  void add_event(const Event& event);
  void stop_slip(const Candidate& due);
  // event_search.cpp: what a trial runs into, and where.
  Candidate find_first(double h, const Candidate& known);
  void find_impacts(double h, const Candidate& known, Candidate* first);
  void find_impact(double h, const Gap& start, const Gap* end, Candidate* first) const;
  void find_transitions(double h, const Candidate& known, Candidate* first);
  static constexpr double kJams = -1;  ///< of `locate`: the slip is ended by an impulse at the start, not later
  double locate(const Candidate& candidate, double h);
  double locate_impact(const Candidate& candidate, double h);
  double locate_stick(const Candidate& candidate, double h);
  double locate_release(const Candidate& candidate, double h);
  bool jams(const Candidate& candidate, double h);
  // Small things.
  Gap calc_gap(const Contact& contact, const State& state) const;
  Vec3 calc_slip(const Contact& contact, const State& state) const;
  double touching(const Contact& contact) const;
  double rest_speed(const Contact& contact, const State& state) const;
  /// Excess of the slip speed along its first direction over zero: continuous through the change from slip to stick.
  double calc_slip_end(int active) const;
  /// Mean force over the trial, N: below zero it is what a two-sided contact would pull with. Friction in reserve
  /// alike.
  double calc_mean_force(int active, double h) const;
  double calc_mean_reserve(int active, double h) const;
  double calc_normal_impulse(int active) const;
  bool is_cleared(const ContactKey& key) const;
  double near_speed() const;
  bool is_near(const Contact& contact, const State& state) const;

  const Model& model_;
  const SimulationOptions& options_;
  const Scheme& scheme_;
  StepSolver& ladder_;
  ContactFinder& finder_;
  Weights weights_;

  Trial trial_;
  Reach reach_;
  ImpactScratch impact_;
  StepImpulses impulses_;
  const Drive* drive_ = nullptr;
  double trial_h_ = 0;  ///< length of the present trial
  State current_, end_, star_;
  ContactSet here_, there_, active_, middle_, star_contacts_, touching_set_, near_set_;
  std::vector<int> memory_of_;        ///< active contact -> entry of current_.contact_memory
  std::vector<double> slip_speed_;    ///< of active contacts at the start
  std::vector<Vec3> slip_direction_;  ///< world
  std::vector<char> sticking_;
  std::vector<ContactMemory> memory_scratch_;
  std::vector<ContactKey> forced_;   ///< take part in the next impact whatever their gap says
  std::vector<ContactKey> stops_;    ///< whose slips have been stopped in this step, once for each time
  std::vector<ContactKey> cleared_;  ///< looked at in this advance: no event
  struct Cut {
    ContactKey key;
    Due kind;
    double time;
  };
  std::vector<Cut> cuts_;  ///< transitions that the present part begins with
  std::vector<Twist> prescribed_, acceleration_, weighted_;
  std::vector<Event> events_, impact_events_;
  std::vector<ContactForce> forces_;
  StepReport* report_ = nullptr;
  StepReport trial_report_;
  bool locating_ = false;  ///< in this step: given up when there are too many events
  bool plastic_ = false;   ///< too many events: no more restitution in this step
  bool starting_ = false;
  bool soft_closing_ = false;  ///< a nearly closed contact has closed in the part being accepted
  int releases_ = 0;           ///< take-offs and slips looked for in this step
  bool backward_ = false;      ///< the present trial was made with alpha = gamma = 1
};

}  // namespace slipstick
