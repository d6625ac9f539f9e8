// Where bodies are within a fixed step in which they are struck, and how they move there (docs/decisions/0110).
//
// From strike to strike a body moves as it would in a trial of that length. A trial has one velocity u with which the
// pose moves; an impulse P at the share s of it acts for (1 - s) of the way:
//
//   start of the trial   v + sum (1 - s) M^-1 P          end of it   v' + sum s M^-1 P
//
// takes the body to where it is after the rebound, and gives it the velocity that it has then: for a parabola both are
// exact. P is an impulse and a moment in the world. Of a body that turns in space the start has that spin which ends at
// the same orientation, and the end what is missing of the moment then.
#pragma once

#include <span>
#include <vector>

#include "step/scheme.h"

namespace slipstick {

class BentWays {
 public:
  explicit BentWays(const Model& model);  ///< keeps a reference

  /// Nobody has been struck yet. Reads the input until the next call. `of`: per body, whether he may be.
  void begin(const StepInput& input, std::span<const char> of);
  /// A body was struck at a share of the trial, where it is at `pose`, and has this velocity after it. `impulse`:
  /// world.
  void strike(int body, double share, const Pose& pose, const Twist& velocity, const Vec6& impulse);
  bool is_struck(int body) const { return last_[body] >= 0; }
  /// After the last strike of a body: what its trial begins and ends with.
  void finish(int body);

  /// At a share of the trial, after a strike there.
  void find(int body, double share, Pose* pose, Twist* velocity) const;
  /// With which the whole trial moves its pose.
  Twist calc_motion(int body) const;
  /// What impulses add to its velocity at the start, and at the end, where it is at `pose`.
  const Twist& start_kick(int body) const { return strikes_[last_[body]].start_kick; }
  Twist calc_end_kick(int body, const Pose& pose) const;
  /// m/s^2, of a body that may be struck.
  const Vec3& acceleration(int body) const { return gain_[body].linear; }

 private:
  struct Strike {
    double share;
    Pose pose;
    Twist velocity;
    Vec6 impulse;
    int before;        ///< an earlier one of the same body, or -1
    Twist start_kick;  ///< `finish`, of the last one
    Vec6 end_impulse;  ///< world
  };
  struct Turn {
    Twist u;      ///< with which the pose moves
    Vec3 moment;  ///< what I u leaves out of the momentum
  };
  void find_carried(const StepInput& input, std::span<const char> of);
  Vec6 calc_carried_force(int body) const;
  Turn calc_turn(int body, const Twist& start, double t) const;
  Twist calc_end(int body, const Turn& turn, double t) const;
  bool fit_spin(int body, const Pose& end, Twist* start) const;

  const Model& model_;
  const StepInput* input_ = nullptr;
  std::vector<Strike> strikes_;
  std::vector<int> last_;        ///< per body: its last strike, or -1
  std::vector<char> carried_;    ///< per body: what carries it takes its forces
  std::vector<Vec6> force_;      ///< per body that may be struck: gravity and loads, or what moves one that is carried
  std::vector<Twist> gain_;      ///< per body: what that adds to its velocity in a second
  std::vector<char> rotations_;  ///< per body: that are free
};

}  // namespace slipstick
