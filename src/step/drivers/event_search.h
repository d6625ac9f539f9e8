// What a trial of the event driver runs into first, and where that is:
//
//   impact       an open contact would be below zero at the end of a trial, or dips below it inside: the cubic of its
//                gap is the first guess, steps of the guessed length refine it
//   stick        a sliding contact would stop or turn round: located where its slip speed is zero
//   take-off,    the mean force, or the friction in reserve, of a closed contact goes through zero between the last
//   slip         step and this one: the step is cut there, and the problem itself lets go in the next part
//   jam          a slip is ended by an impulse without collision (Painleve): the trial is made with alpha = gamma = 1
//
// The search asks for trials of other lengths until it knows; the last of them ends at the event.
#pragma once

#include <variant>
#include <vector>

#include "step/drivers/closed_set.h"
#include "step/drivers/event_roots.h"

namespace slipstick {

class EventSearch {
 public:
  /// Keeps references.
  EventSearch(Pipe* pipe, const ClosedSet& closed);

  void begin_step();
  /// A part of the step from `now`, of length h if nothing comes first.
  void begin_part(const State& now, double h);
  /// No events but jams are looked for in the rest of this step.
  void give_up() { locating_ = false; }
  bool locates() const { return locating_; }

  /// After a trial of the length and kind asked for: true if it is the one to accept; else another is asked for.
  /// `there` has the contacts at the end of the trial.
  bool look(ContactSet* there);

  double asked_h() const { return asked_h_; }
  bool asked_backward() const { return asked_backward_; }  ///< StepInput::backward
  /// Of the part to accept: its length, and why it ends there.
  double h() const { return h_; }
  const Candidate& due() const { return due_; }
  /// The transitions that the present part begins with.
  std::span<const Cut> cuts() const { return cuts_; }
  /// The part was accepted.
  void end_part();

 private:
  enum class Doing { Looking, CheckingJam, Resuming, Locating };

  bool ask(double h, bool backward, Doing doing);
  bool look_for_first(ContactSet* there);
  bool check_jam();
  bool take_jam();
  bool locate(ContactSet* there);
  void begin_root();
  RootStep next_root(const ContactSet& there);
  bool is_cleared(const ContactKey& key) const;

  void find_impacts(const ContactSet& there, Candidate* first) const;
  void find_impact(const Gap& start, const Gap* end, Candidate* first) const;
  void find_transitions(Candidate* first) const;
  bool find_stick(std::size_t i, Candidate* first) const;
  void find_release(std::size_t i, Candidate* first) const;

  Pipe& pipe_;
  const ClosedSet& closed_;
  ContactMotion motion_;
  bool locating_ = false;  ///< in this step

  const State* now_ = nullptr;  ///< start of the part
  double h_ = 0;                ///< its length, as far as is known
  Candidate due_;               ///< why
  Candidate found_;             ///< what is being located
  std::variant<std::monostate, ImpactRoot, StickRoot, ReleaseRoot> root_;
  Doing doing_ = Doing::Looking;
  std::size_t from_ = 0;             ///< closed contacts before this one have been looked at in this trial
  double whole_ = 0;                 ///< normal impulse of the contact being checked for a jam, over h
  int shortenings_ = 0;              ///< of this part
  int releases_ = 0;                 ///< take-offs and slips looked for in this step
  std::vector<ContactKey> stops_;    ///< whose slips have been stopped in this step, once for each time
  std::vector<ContactKey> cleared_;  ///< looked at in this part: no event
  std::vector<Cut> cuts_;
  double asked_h_ = 0;
  bool asked_backward_ = false;
};

}  // namespace slipstick
