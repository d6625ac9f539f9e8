// The cubic through values and slopes at both ends of a step: where a gap closes, and the state there ([Potra06]
// section 6).
#pragma once

#include <slipstick/state.h>

#include <optional>

namespace slipstick {

/// f on [0, 1] with f(0) = f0, f(1) = f1 and slopes d0, d1 (per unit of s).
struct Cubic {
  double f0 = 0, d0 = 0, f1 = 0, d1 = 0;

  double at(double s) const;
  double slope(double s) const;
  /// The first s in (from, 1] where f goes from above to below zero.
  std::optional<double> find_crossing(double from) const;
  /// The s in (0, 1) of the least value, if it is inside.
  std::optional<double> find_dip() const;
};

/// Poses and velocities at the share s of a step of length h. Rotations: the cubic in the chart log(Q0^-1 Q).
void update_hermite(const State& start, const State& end, double h, double s, State* state);

}  // namespace slipstick
