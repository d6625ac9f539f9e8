#include "step/touch_search.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/se3.h"

namespace slipstick {

namespace {

/// Of TouchPair::length: a gap as small as this is found to be a touch; overlap of more is one that was missed.
constexpr double kFoundGap = 1e-11, kGoneIn = 1e-9;
/// A touch so little after the end of the trial, as a share of it, is at its end.
constexpr double kAtEnd = 1e-12;
/// A share of the trial that is none.
constexpr double kNoInterval = 1e-15;
constexpr int kMostLooks = 60;
/// The way that the rest of the trial could take, and some more.
constexpr double kReachMargin = 1.25;

}  // namespace

void TouchSearch::begin(const StepInput& input, const BentWays& ways, double threshold, ContactFinder* finder) {
  input_ = &input;
  ways_ = &ways;
  threshold_ = threshold;
  finder_ = finder;
  state_.pose = input.state->pose;
  state_.velocity = input.state->velocity;
}

double TouchSearch::calc_speed(int body) const {
  if (body < 0) return 0;
  const Twist& v = state_.velocity[body];
  return v.linear.norm() + v.angular.norm() * model_.bodies[body].reach_radius +
         input_->h * ways_->acceleration(body).norm();
}

const std::vector<Contact>& TouchSearch::look(const TouchPair& pair, double share) {
  for (const int body : {pair.body_a, pair.body_b})
    if (body >= 0) ways_->find(body, share, &state_.pose[body], &state_.velocity[body]);
  reach_ = kReachMargin * input_->h * (calc_speed(pair.body_a) + calc_speed(pair.body_b)) + kGoneIn * pair.length;
  contacts_.clear();
  finder_->find_between(state_, pair.shape_a, pair.shape_b, reach_, &contacts_);
  return contacts_;
}

double TouchSearch::calc_approach(const Contact& contact) const {
  const auto speed = [&](int body, const Vec3& point) {
    if (body < 0) return 0.0;
    const Pose& q = state_.pose[body];
    return contact.normal.dot(
        point_velocity(q, state_.velocity[body], q.orientation.conjugate() * (point - q.position)));
  };
  return speed(contact.body_a, contact.point_a) - speed(contact.body_b, contact.point_b);
}

/// Deeper than what is too slow to rebound comes within the trial. Its approach says nothing then: the normal of what
/// is deep may be that of another side.
bool TouchSearch::is_deep(const TouchPair& pair) const {
  const double most = threshold_ * input_->h + kGoneIn * pair.length;
  return std::any_of(contacts_.begin(), contacts_.end(), [&](const Contact& contact) { return contact.gap < -most; });
}

bool TouchSearch::has_gone_in(const TouchPair& pair) const {
  return is_deep(pair) || std::any_of(contacts_.begin(), contacts_.end(), [&](const Contact& contact) {
           return contact.gap < -kGoneIn * pair.length && calc_approach(contact) > threshold_;
         });
}

/// Of the features of the pair the one that closes first; one that parts may come back with the forces.
TouchSearch::Sight TouchSearch::judge(const TouchPair& pair) const {
  Sight sight;
  const double found = kFoundGap * pair.length;
  const auto gain = [&](int body) { return body < 0 ? Vec3(Vec3::Zero()) : ways_->acceleration(body); };
  const Vec3 gained = gain(pair.body_a) - gain(pair.body_b);
  for (const Contact& contact : contacts_) {
    const double w = calc_approach(contact), a = contact.normal.dot(gained);
    if (std::abs(contact.gap) <= found) {
      sight.touches = sight.touches || w > threshold_;
      if (w < 0 && a > 0) sight.time = std::min(sight.time, -2 * w / a);
    } else if (contact.gap < 0) {
      if (!(w > threshold_)) continue;
      sight.is_in = true;
      sight.time = std::min(sight.time, contact.gap / w);
    } else {
      const double square = w * w + 2 * a * contact.gap;
      const double divisor = square < 0 ? 0 : w + std::sqrt(square);
      if (divisor > 0) sight.time = std::min(sight.time, 2 * contact.gap / divisor);
    }
  }
  return sight;
}

/// Newton's method, within what is known: nothing has gone in until `low`, something has at `in`.
double TouchSearch::find(const TouchPair& pair, double from, double in) {
  look(pair, from);
  if (judge(pair).is_in) return from;
  const bool was_deep = is_deep(pair);  // and comes out, or has been left so
  if (was_deep && in < kInfinity) {
    look(pair, in);
    if (!judge(pair).is_in) return kInfinity;
  }
  double low = from, share = from;
  for (int k = 0; k < kMostLooks; ++k) {
    if (k > 0 || was_deep) look(pair, share);
    Sight sight = judge(pair);
    sight.is_in = sight.is_in || (!was_deep && is_deep(pair));
    if (sight.touches && !sight.is_in) return share;
    (sight.is_in ? in : low) = share;
    double next = share + sight.time / input_->h;
    if (in < kInfinity) {
      if (!(next > low && next < in)) next = 0.5 * (low + in);
    } else {
      if (next > 1) return next <= 1 + kAtEnd ? 1 : kInfinity;
      if (next - share <= kNoInterval) return share;
    }
    if (in - low <= kNoInterval) return in;
    share = next;
  }
  return low;
}

}  // namespace slipstick
