#include "step/drivers/event_roots.h"

#include <algorithm>
#include <cmath>

namespace slipstick {

namespace {

/// The end of a slip is located to this speed, relative to the slip's.
constexpr double kSlipTolerance = 1e-10;
constexpr int kMaxRefinements = 60;
constexpr double kNoInterval = 1e-15;
constexpr int kMaxReleases = 4;

}  // namespace

ImpactRoot::ImpactRoot(const Candidate& candidate)
    : least_high_(candidate.high), high_(candidate.below ? 1 : candidate.high), below_(candidate.below) {
  s_ = std::min(candidate.s, high_);
}

RootStep ImpactRoot::next(const std::optional<Sample>& sample) {
  if (last_ || (sample && std::abs(sample->gap) <= sample->tolerance)) return {RootStep::Kind::Found, s_};
  const double newton = sample && sample->rate < 0 ? s_ - sample->gap / sample->rate : -1;
  if (sample && sample->gap < 0) {
    high_ = s_;
    high_gap_ = sample->gap;
    below_ = true;
  } else {
    low_ = s_;
    low_gap_ = sample ? sample->gap : -1;
  }
  const bool ahead = newton > s_ && newton <= 1;
  if (!below_) {  // go on along the tangent; past a dip there is nothing more to find
    if (s_ >= least_high_ && !ahead) return {};
    s_ = ahead ? newton : least_high_;
    high_ = std::max(high_, s_);
  } else {
    if (high_ - low_ <= kNoInterval) return finish();
    const double chord = low_gap_ > 0 && high_gap_ < 0 ? low_ + (high_ - low_) * low_gap_ / (low_gap_ - high_gap_) : -1;
    s_ = 0.5 * (low_ + high_);
    if (count_ < 6 && newton > low_ && newton < high_) {
      s_ = newton;
    } else if (count_ % 3 != 2 && chord > low_ && chord < high_) {
      s_ = chord;
    }
  }
  if (++count_ == kMaxRefinements) return finish();
  return {RootStep::Kind::Try, s_};
}

/// The end is where the gap is below zero, if it is anywhere.
RootStep ImpactRoot::finish() {
  if (high_gap_ >= 0) return {};
  if (s_ == high_) return {RootStep::Kind::Found, s_};
  last_ = true;
  s_ = high_;
  return {RootStep::Kind::Try, s_};
}

StickRoot::StickRoot(const Candidate& candidate, double start, double end, double impulse)
    : start_(start), whole_(impulse), s_(candidate.s), low_value_(start), high_value_(end) {}

RootStep StickRoot::next(double value, double impulse) {
  if (std::abs(value) <= kSlipTolerance * start_ || high_ - low_ <= kNoInterval || ++count_ == kMaxRefinements)
    return {RootStep::Kind::Found, s_};
  if (value < 0) {
    high_ = s_;
    high_value_ = value;
    if (side_ == -1) low_value_ /= 2;
    side_ = -1;
  } else {
    low_ = s_;
    low_value_ = value;
    if (side_ == 1) high_value_ /= 2;
    side_ = 1;
  }
  if (high_ < kJamShare && !checked_) {
    if (impulse > kJamImpulse * whole_) return {RootStep::Kind::Jams, 0};
    checked_ = true;
  }
  s_ = low_ + (high_ - low_) * low_value_ / (low_value_ - high_value_);
  return {RootStep::Kind::Try, s_};
}

ReleaseRoot::ReleaseRoot(const Candidate& candidate, double time, double force, double alpha, double start, double h)
    : alpha_(alpha), start_(start), h_(h), t0_(time), f0_(force), s_(candidate.s) {}

RootStep ReleaseRoot::next(double force) {
  const RootStep stay{count_ == 0 ? RootStep::Kind::None : RootStep::Kind::Found, s_};
  if (count_ == kMaxReleases) return stay;
  const double t1 = start_ + alpha_ * s_ * h_;
  if (!(force < f0_) || !(t1 > t0_)) return stay;
  const double t = t0_ + (t1 - t0_) * f0_ / (f0_ - force);
  const double next = (t - start_) / h_;
  if (!(next > kNoRelease) || next >= 1) return stay;
  if (std::abs(next - s_) < kNoRelease) return {RootStep::Kind::Found, s_};
  if (force > 0 && count_ > 0) {
    t0_ = t1;
    f0_ = force;
  }
  s_ = next;
  ++count_;
  return {RootStep::Kind::Try, s_};
}

}  // namespace slipstick
