// How far each body may travel in the coming step: what the contact finder must look for ([Anitescu03]; decision 0004).
#pragma once

#include <slipstick/model.h>
#include <slipstick/simulation.h>
#include <slipstick/state.h>

#include <span>
#include <vector>

namespace slipstick {

/// How often a step is repeated because a body left it faster than assumed.
inline constexpr int kMaxReachRepeats = 8;

class Reach {
 public:
  /// Keeps a reference. Swift: a way that is longer than assumed by less than a tenth of the body's thickness
  /// (overlap.h) is left to the correction of overlap.
  Reach(const Model& model, Effort effort);

  /// Assumes speeds for a step of length h from `state`; `prescribed` has the velocities of kinematic bodies.
  void assume(const State& state, std::span<const Twist> prescribed, double h);
  /// False if a body with shapes leaves the step faster than assumed: it could have met something that nobody looked
  /// for.
  bool covers(const State& next) const;
  /// Assumes more of the bodies that left the step faster, for a repeat. One entry per body: whether it is one of them.
  std::span<const char> raise(const State& next);
  /// Metres per body, for a step of length h.
  std::span<const double> lengths(double h);

 private:
  bool is_faster(std::size_t body, double more, const State& next) const;

  const Model& model_;
  std::vector<double> speed_;  ///< bound on each body's surface speed, m/s
  std::vector<double> length_;
  std::vector<char> raised_;   ///< by the last `raise`
  std::vector<double> slack_;  ///< m; empty: none
  double h_ = 1;               ///< of the step that speeds were assumed for
};

}  // namespace slipstick
