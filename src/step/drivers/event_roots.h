// Where an event is: searches along the length of a trial that know nothing but numbers. Each proposes a share s of
// the length, is told what a trial of that length has shown, and proposes the next one.
#pragma once

#include <optional>

#include "step/drivers/candidate.h"

namespace slipstick {

/// A slip that ends within this share of a step, with a normal impulse that stays above that share of the whole step's,
/// is ended by an impulse and not by a force ([methods 4.3], Painleve).
inline constexpr double kJamShare = 1e-2;
inline constexpr double kJamImpulse = 0.2;
/// Take-off and slip nearer than this share of the step to its start are left to the problem.
inline constexpr double kNoRelease = 1e-6;

struct RootStep {
  enum class Kind {
    Try,    ///< make a trial of the share s
    Found,  ///< the trial just made is the one
    None,   ///< there is nothing
    Jams    ///< the slip is ended by an impulse at the start, not later
  };
  Kind kind = Kind::None;
  double s = 0;
};

/// Where a gap closes: Newton, chord and bisection between bounds.
class ImpactRoot {
 public:
  struct Sample {
    double gap = 0;        ///< above the level at which the contact closes
    double rate = 0;       ///< per unit of s
    double tolerance = 0;  ///< a gap that is none
  };
  explicit ImpactRoot(const Candidate& candidate);
  double first() const { return s_; }
  /// Of a trial of the share proposed last; nothing where the contact was out of reach.
  RootStep next(const std::optional<Sample>& sample);

 private:
  RootStep finish();

  double least_high_;  ///< no dip beyond this
  double low_ = 0, high_ = 1, s_ = 0;
  double low_gap_ = -1, high_gap_ = 1;  ///< not known
  bool below_;                          ///< the gap is known to be below zero at `high_`
  bool last_ = false;                   ///< the last trial has been proposed
  int count_ = 0;
};

/// Where a slip speed, `start` at s = 0, goes through zero: chords whose other end does not get stuck (Illinois).
class StickRoot {
 public:
  /// `end` and `impulse`: slip speed and normal impulse of the trial of the whole length.
  StickRoot(const Candidate& candidate, double start, double end, double impulse);
  double first() const { return s_; }
  RootStep next(double value, double impulse);

 private:
  double start_, whole_, s_;
  double low_ = 0, low_value_, high_ = 1, high_value_;
  int side_ = 0, count_ = 0;
  bool checked_ = false;
};

/// Where the mean force (or reserve) of a closed contact is zero: it counts at t + alpha s h, and below zero it is only
/// an estimate. So the zero is drawn through the two latest values that are above it, where there are two.
class ReleaseRoot {
 public:
  /// `force` counts at `time`, before that of the trials, which begin at `start`; s is a share of h.
  ReleaseRoot(const Candidate& candidate, double time, double force, double alpha, double start, double h);
  double first() const { return s_; }
  RootStep next(double force);

 private:
  double alpha_, start_, h_, t0_, f0_, s_;
  int count_ = 0;
};

}  // namespace slipstick
