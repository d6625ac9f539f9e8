// How a contact moves, and what counts as touching and as rest.
#pragma once

#include "step/scheme.h"

namespace slipstick {

/// Speeds below this share of those of the bodies (at least calc_slow_speed) are rest ([methods 4.1], v_close).
inline constexpr double kRest = 1e-8;
/// A contact touches when its gap is below this share of calc_touch_length ([methods 4.1], eps_a).
inline constexpr double kTouching = 1e-10;

/// A contact's distance and rate of approach at one end of a trial.
struct Gap {
  double value = 0, rate = 0;
  const Contact* contact = nullptr;
};

class ContactMotion {
 public:
  /// Keeps references.
  ContactMotion(const Model& model, const StepInput& input) : model_(model), input_(input) {}

  Gap calc_gap(const Contact& contact, const State& state) const;
  Vec3 calc_slip(const Contact& contact, const State& state) const;  ///< of B over A, world
  /// The gap below which it touches.
  double touching(const Contact& contact) const;
  /// The speed below which it rests.
  double rest_speed(const Contact& contact, const State& state) const;
  /// Nearly closed: what gravity does in a step, times a small number, is neither a flight nor an impact worth an
  /// event. Such contacts stay in the closed set, or enter it together with the next one that does; the problem lets
  /// them part as they like.
  double near_speed() const;
  bool is_near(const Contact& contact, const State& state) const;

 private:
  Vec3 calc_relative(const Contact& contact, const State& state) const;

  const Model& model_;
  const StepInput& input_;  ///< for h_nominal: what counts as near is a matter of how long steps are
};

}  // namespace slipstick
