// When two shapes touch within a fixed step, on the ways of their bodies (bent_ways.h). The pair alone is asked for its
// gap, again and again; the rest of the scene is not looked at.
#pragma once

#include <cstddef>
#include <vector>

#include "collision/contact_finder.h"
#include "step/bent_ways.h"

namespace slipstick {

/// Two shapes near each other at the start of a trial.
struct TouchPair {
  int shape_a = 0, shape_b = 0;
  int body_a = kWorld, body_b = kWorld;
  double length = 0;        ///< what touching is a small share of, m
  bool rebounds = false;    ///< its law has restitution
  bool rests = false;       ///< it has been struck and hardly leaves: what it does after that is left to the rows
  bool is_known = false;    ///< `next` is of the ways as they are now
  double next = kInfinity;  ///< share at which it touches next and rebounds; infinite: not in this trial
};

class TouchSearch {
 public:
  explicit TouchSearch(const Model& model) : model_(model) {}

  /// Keeps references until the next call. `threshold`: m/s of approach from which on contacts rebound.
  void begin(const StepInput& input, const BentWays& ways, double threshold, ContactFinder* finder);

  /// The first share from `from` on at which the pair touches and closes faster than the threshold; infinite: there is
  /// none. `in`: it is known to have gone in there; infinite: nothing is known.
  double find(const TouchPair& pair, double from, double in);
  /// Its contacts at a share of the trial, all that the rest of it could close.
  const std::vector<Contact>& look(const TouchPair& pair, double share);
  /// Of contacts of the last `look`: m/s.
  double calc_approach(const Contact& contact) const;
  /// Something of the pair as last looked at is in the other, and goes on or is deeper than what closes slowly comes:
  /// it has touched before, if it was out at all.
  bool has_gone_in(const TouchPair& pair) const;
  /// How far the last `look` would have seen.
  double reach() const { return reach_; }

 private:
  struct Sight {
    bool touches = false;     ///< something does, and closes
    bool is_in = false;       ///< something is in the other, and closes
    double time = kInfinity;  ///< until something closes, s; below 0: since it has
  };
  Sight judge(const TouchPair& pair) const;
  bool is_deep(const TouchPair& pair) const;
  double calc_speed(int body) const;

  const Model& model_;
  const StepInput* input_ = nullptr;
  const BentWays* ways_ = nullptr;
  ContactFinder* finder_ = nullptr;
  double threshold_ = 0, reach_ = 0;
  State state_;  ///< poses and velocities of the two bodies; those of the others are anything
  std::vector<Contact> contacts_;
};

}  // namespace slipstick
