// What a trial runs into, by the share of its length at which it seems to be.
#include <algorithm>
#include <cmath>

#include "step/drivers/event_search.h"
#include "step/drivers/hermite.h"

namespace slipstick {

namespace {

constexpr int kMaxReleasesInStep = 8;
/// A slip slower than this share of the speed that is no event is left to the problem, and so is one that ends more
/// than so often in one step: where many contacts share a body, the end of one slip may be the beginning of another.
constexpr double kLeastSlip = 2e-3;
constexpr int kMaxStops = 4;
constexpr std::size_t kManyContacts = 64;

}  // namespace

/// One contact that is open at the start; `end` is null where it is out of reach at the end.
void EventSearch::find_impact(const Gap& start, const Gap* end, Candidate* first) const {
  const Contact& contact = *start.contact;
  const double touch = motion_.touching(contact), rest = motion_.rest_speed(contact, *now_);
  const bool leaving = start.value <= touch && start.rate >= -rest;
  Candidate found;
  found.kind = Due::Impact;
  found.key = contact.key;
  // One that parts from below zero has closed again when it is back where it started.
  found.level = leaving ? std::min(0.0, start.value) : 0;
  const double f0 = start.value - found.level, d0 = h_ * start.rate;
  const Cubic cubic{f0, d0, end ? end->value - found.level : f0, end ? h_ * end->rate : 0};
  if (end && cubic.f1 < -touch) {
    // A contact that has just parted starts at zero and goes up: its first root is not the one.
    found.s = cubic.find_crossing(leaving ? 1e-6 : 0).value_or(leaving ? 0.5 : 1.0);
    found.below = true;
  } else {
    if (!(start.rate < -rest)) return;
    // Above zero at both ends. It may have dipped below, or gone right through and be on the other side, where the gap
    // grows again: the tangent at the start tells of the second, and a trial decides.
    const auto dip = end && cubic.d1 > 0 ? cubic.find_dip() : std::nullopt;
    if (dip && cubic.at(*dip) < -touch) {
      // Gaps are convex along straight ways: the tangent comes first, so that a thin thing is not jumped over.
      found.high = *dip;
      found.s = std::min(cubic.find_crossing(0).value_or(*dip), -f0 / d0);
    } else if (f0 + d0 < -touch && (!end || end->contact->normal.dot(contact.normal) < 0.5)) {
      found.s = found.high = -f0 / d0;
    } else {
      return;
    }
  }
  if (found.s < first->s) *first = found;
}

void EventSearch::find_impacts(const ContactSet& there, Candidate* first) const {
  const std::vector<Contact>&here = pipe_.found.contacts, &closed = closed_.contacts().contacts;
  std::size_t a = 0, e = 0;
  const auto skip = [&](const ContactKey& key) {
    return (due_.kind == Due::Impact && due_.key == key) || is_cleared(key);
  };
  for (const Contact& contact : here) {
    while (a < closed.size() && closed[a].key < contact.key) ++a;
    if (a < closed.size() && closed[a].key == contact.key) continue;
    while (e < there.contacts.size() && there.contacts[e].key < contact.key) ++e;
    const bool found = e < there.contacts.size() && there.contacts[e].key == contact.key;
    if (skip(contact.key)) continue;
    const Gap start = motion_.calc_gap(contact, *now_);
    if (found) {
      const Gap end = motion_.calc_gap(there.contacts[e], pipe_.end);
      find_impact(start, &end, first);
    } else {
      find_impact(start, nullptr, first);
    }
  }
  // Contacts that the start does not know: features that appear on the way.
  std::size_t b = 0;
  for (const Contact& contact : there.contacts) {
    if (contact.gap >= -motion_.touching(contact)) continue;
    while (b < here.size() && here[b].key < contact.key) ++b;
    if ((b < here.size() && here[b].key == contact.key) || skip(contact.key)) continue;
    const Gap end = motion_.calc_gap(contact, pipe_.end);
    if (end.rate >= 0) continue;
    Candidate found;
    found.kind = Due::Impact;
    found.key = contact.key;
    found.s = std::clamp(1 - end.value / (h_ * end.rate), 0.5, 1.0);
    found.below = true;
    if (found.s < first->s) *first = found;
  }
}

/// Stick, take-off and slip of the closed contacts; without `locating_` only slips that may be jams.
void EventSearch::find_transitions(Candidate* first) const {
  for (std::size_t i = from_; i < closed_.contacts().contacts.size(); ++i) {
    const ContactKey& key = closed_.contacts().contacts[i].key;
    if (is_cleared(key) || (due_.kind != Due::Nothing && due_.key == key)) continue;
    if (find_stick(i, first)) {
      if (!locating_ && first->kind == Due::Stick) return;
      continue;
    }
    if (locating_) find_release(i, first);
  }
}

/// True: the slip of contact i ends in this trial.
bool EventSearch::find_stick(std::size_t i, Candidate* first) const {
  const StepProblem& made = pipe_.trial.made();
  const Contact& contact = closed_.contacts().contacts[i];
  const double rest = motion_.rest_speed(contact, *now_), slip = closed_.slip_speed(i);
  // (What sticks may still have a slip speed in v, which is nothing but the oscillation of alpha < 1.)
  const double least = std::max(rest, kLeastSlip * motion_.near_speed());
  const bool may_stop = std::count(stops_.begin(), stops_.end(), contact.key) < kMaxStops;
  if (!(made.equations->contacts[i].friction > 0) || !(closed_.calc_normal_impulse(i) > 0) ||
      closed_.last(*now_, i).sticking || !(slip > least) || !may_stop)
    return false;
  const double end = closed_.calc_slip_end(i);
  if (!(end < -rest)) return false;
  const double s = slip / (slip - end);
  const bool wanted = locating_ || made.impulse_scale > 1;  // alpha < 1
  if (wanted && s < first->s) {
    *first = {};
    first->kind = Due::Stick;
    first->key = contact.key;
    first->closed = static_cast<int>(i);
    first->s = s;
  }
  return true;
}

void EventSearch::find_release(std::size_t i, Candidate* first) const {
  const StepProblem& made = pipe_.trial.made();
  const double alpha = 1 / made.impulse_scale, t = now_->time + alpha * h_;
  const ContactMemory& last = closed_.last(*now_, i);
  if (!last.loaded || last.force_time >= t) return;
  // Neither is needed for the order, and with many contacts forces are not unique: only so many are looked for.
  if (releases_ >= kMaxReleasesInStep || closed_.contacts().contacts.size() > kManyContacts) return;
  if (std::any_of(cuts_.begin(), cuts_.end(), [&](const Cut& cut) { return cut.key == last.key; })) return;
  const auto zero = [&](double f0, double f1, Due kind) {
    if (!(f0 > 0 && f1 < f0)) return;  // the line through both; for alpha < 1 its zero may lie beyond t + alpha h
    const double at = last.force_time + (t - last.force_time) * f0 / (f0 - f1);
    const double s = (at - now_->time) / h_;
    if (s < kNoRelease || s > 1 - kNoRelease || s >= first->s) return;
    *first = {};
    first->kind = kind;
    first->key = last.key;
    first->closed = static_cast<int>(i);
    first->s = s;
  };
  zero(last.normal_force, closed_.calc_mean_force(i, h_), Due::Takeoff);
  if (made.equations->contacts[i].friction > 0 && last.sticking && closed_.calc_normal_impulse(i) > 0)
    zero(last.friction_reserve, closed_.calc_mean_reserve(i, h_), Due::Slip);
}

}  // namespace slipstick
