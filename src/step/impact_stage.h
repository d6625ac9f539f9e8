// The impact before a step ([LacoursiereLinde11, 11], docs/decisions/0047): contacts that have closed since the last
// step, or will close within this one, get their rebound before it begins, which then starts from the velocities after
// it.
//
// Velocities of what flies are those of the instant of its poses (flight.h), so the speed of approach is known exactly.
// An impact is answered up to a step early, a gap Phi above where it happens, or that much late below it. With the
// acceleration of approach a, speeds at the contact are w^2 + 2 a Phi; so that the rebound has the right energy it is
// answered with
//
//   e_eff^2 = e^2 - (1 - e^2) 2 a Phi / w^2        (not below 0)
//
// and a ball with e = 1 keeps its energy at any step.
#pragma once

#include "step/impact.h"

namespace slipstick {

class ImpactStage {
 public:
  /// One impact of several that follow each other, as one body hands on what another gave it.
  struct Pass {
    ContactSet contacts;  ///< those that took part
    ImpactScratch scratch;
    ImpactResult result;
  };

  /// If a contact of `input` with restitution closes faster than the threshold, copies the state to `restarted` with
  /// the velocities after the impacts and says true. Kinetic energy never grows ([methods 6.4]); plastic contacts need
  /// no stage of their own, their rows in the step do the same. `ahead`: contacts that will close count too. `handled`,
  /// per body: its impacts have been seen to (touch_impacts.h); empty: nobody's.
  bool run(const StepInput& input, const Scheme& scheme, bool ahead, StepSolver* ladder, State* restarted,
           std::span<const char> handled = {});

  std::span<const Pass> passes() const { return std::span<const Pass>(passes_).first(count_); }
  const std::vector<Event>& events() const { return events_; }

 private:
  bool may_be_due(const Model& model, std::span<const Pose> pose, double threshold) const;
  bool is_due(const StepInput& input, bool ahead, double threshold, ContactSet* touching);
  void keep_near(ContactSet* touching);
  std::span<const char> find_taking_part(const Model& model, const ContactSet& touching);
  void update_acceleration(const StepInput& input);

  std::vector<Pass> passes_;
  std::size_t count_ = 0;
  bool ends_early_ = false;  ///< a pile that loses most of its energy in impacts anyway
  std::vector<ContactRows> rows_;
  std::vector<double> restitution_;   ///< e_eff per contact that takes part
  std::vector<char> due_;             ///< per contact that takes part
  std::vector<char> struck_, moves_;  ///< per body
  std::vector<char> taking_part_;     ///< per body, in the pass at hand
  std::vector<Twist> velocity_;
  std::vector<Twist> acceleration_;  ///< by gravity and loads
  std::vector<Vec6> load_;
  std::vector<Event> events_;
  ContactSet all_;
};

/// m/s of approach below which an impact of a fixed step is plastic, where the options do not say: less is what a
/// resting contact gains in a step.
double calc_plastic_speed(const Model& model, double h);

}  // namespace slipstick
