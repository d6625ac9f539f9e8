// How long the parts of a step may be so that their error stays within SimulationOptions::accuracy.
//
// The scheme with alpha = gamma = 1/2 leaves an error of h^3/12 times the third derivative of the motion in a part
// ([Potra06] theorem 5.1: order two); twice that is counted, since the error of the velocity goes on to move the body.
// The accelerations of two parts in a row give that derivative without another solution, j = (a - a_before) / ((h +
// h_before)/2), for the centre of mass and for the turn; in body axes a turn that changes its axis has w x a beside it.
// A part is good where
//
//   r = h^2/6 max(|j|, R (|j_turn| + |w x a_turn|)) / accuracy <= 1,      R the size of the body,
//
// so that the errors of all parts sum up to the accuracy for each second of motion, wherever short parts are needed.
// The next length follows r and the r before it (a PI controller, as usual for integrators of ordinary differential
// equations). Accelerations jump at events: the part after one is not judged, and is shorter for that.
#pragma once

#include <slipstick/simulation.h>

namespace slipstick {

class StepControl {
 public:
  StepControl(const Model& model, const SimulationOptions& options)
      : model_(model), options_(options) {}  ///< keeps references

  bool active() const { return options_.accuracy > 0; }
  /// A step begins with what the last one remembered.
  void begin(const Pace& remembered) { pace_ = remembered; }
  const Pace& pace() const { return pace_; }

  /// The length of the next part, of which `left` is the most.
  double choose(double left);
  /// Whether a part of length h from `start` to `end` is good enough; books it. False: `choose` again, it is shorter
  /// now.
  bool accept(const State& start, const State& end, double h, PaceReport* report);
  /// Something happened where the part ended: what was known about accelerations is no longer true.
  void forget() { pace_.acceleration.clear(); }

 private:
  double calc_error(const State& start, const State& end, double h);
  double least() const;

  const Model& model_;
  const SimulationOptions& options_;
  Pace pace_;
  std::vector<Twist> acceleration_;  ///< of the part looked at
};

}  // namespace slipstick
