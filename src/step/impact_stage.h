// The impact stage of [LacoursiereLinde11, 11]: contacts that have closed since the last step get their rebound before
// the step begins, which then starts from the velocities after it.
#pragma once

#include "step/impact.h"

namespace slipstick {

class ImpactStage {
 public:
  /// If a contact of `input` with restitution has closed faster than the threshold, copies the state to `restarted`
  /// with the velocities after the impact and says true. Kinetic energy never grows ([methods 6.4]); plastic contacts
  /// need no stage of their own, their rows in the step do the same.
  bool run(const StepInput& input, const Scheme& scheme, StepSolver* ladder, State* restarted);

  const ImpactResult& result() const { return result_; }
  const ImpactScratch& scratch() const { return scratch_; }
  /// The contacts that took part.
  const ContactSet& contacts() const { return touching_; }
  const std::vector<Event>& events() const { return events_; }

 private:
  bool is_due(const StepInput& input);

  ImpactScratch scratch_;
  ImpactResult result_;
  ContactSet touching_;
  std::vector<ContactRows> rows_;
  std::vector<Twist> velocity_;
  std::vector<Event> events_;
};

/// m/s of approach below which an impact of a fixed step is plastic, where the options do not say: less is what a
/// resting contact gains in a step.
double calc_plastic_speed(const Model& model, double h);

}  // namespace slipstick
