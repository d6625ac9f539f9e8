// How far each body may travel in the coming step: what the contact finder must look for ([Anitescu03]; decision 0004).
#pragma once

#include <slipstick/model.h>
#include <slipstick/state.h>

#include <span>
#include <vector>

namespace slipstick {

/// How often a step is repeated because a body left it faster than assumed.
inline constexpr int kMaxReachRepeats = 8;

class Reach {
 public:
  explicit Reach(const Model& model);  ///< keeps a reference

  /// Assumes speeds for a step of length h from `state`; `prescribed` has the velocities of kinematic bodies.
  void assume(const State& state, std::span<const Twist> prescribed, double h);
  /// False if a body with shapes leaves the step faster than assumed: it could have met something that nobody looked
  /// for.
  bool covers(const State& next) const;
  /// Assumes more of the bodies that left the step faster, for a repeat.
  void raise(const State& next);
  /// Metres per body, for a step of length h.
  std::span<const double> lengths(double h);

 private:
  bool is_faster(std::size_t body, const State& next) const;

  const Model& model_;
  std::vector<double> speed_;  ///< bound on each body's surface speed, m/s
  std::vector<double> length_;
};

}  // namespace slipstick
