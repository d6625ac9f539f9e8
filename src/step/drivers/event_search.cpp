#include "step/drivers/event_search.h"

#include <algorithm>

#include "step/drivers/hermite.h"
#include "step/drivers/part_limit.h"

namespace slipstick {

namespace {

/// How often one part of a step may be shortened because something else comes first.
constexpr int kMaxShortenings = 60;
/// Impacts are located to this share of the gap that counts as touching, where the geometry allows.
constexpr double kGapTolerance = 1e-2;

}  // namespace

EventSearch::EventSearch(Pipe* pipe, const ClosedSet& closed)
    : pipe_(*pipe), closed_(closed), motion_(pipe->model, pipe->input) {}

void EventSearch::begin_step() {
  locating_ = pipe_.scheme.locates(pipe_.options);
  releases_ = 0;
  stops_.clear();
  cuts_.clear();
}

void EventSearch::begin_part(const State& now, double h) {
  now_ = &now;
  h_ = h;
  due_ = {};
  cleared_.clear();
  shortenings_ = 0;
  from_ = 0;
  ask(h, false, Doing::Looking);
}

void EventSearch::end_part() {
  cuts_.clear();
  if (due_.kind == Due::Takeoff || due_.kind == Due::Slip) cuts_.push_back({due_.key, due_.kind, now_->time + h_});
}

bool EventSearch::is_cleared(const ContactKey& key) const {
  return std::find(cleared_.begin(), cleared_.end(), key) != cleared_.end();
}

/// Always false: the present trial is not the one. None is so short that nothing can be divided by it.
bool EventSearch::ask(double h, bool backward, Doing doing) {
  asked_h_ = std::max(h, kNoTime * pipe_.options.step);
  asked_backward_ = backward;
  doing_ = doing;
  return false;
}

bool EventSearch::look(ContactSet* there) {
  switch (doing_) {
    case Doing::Looking:
      from_ = 0;
      if (++shortenings_ > kMaxShortenings) return true;
      return look_for_first(there);
    case Doing::Resuming:
      return look_for_first(there);
    case Doing::CheckingJam:
      return check_jam();
    case Doing::Locating:
      return locate(there);
  }
  return true;
}

bool EventSearch::look_for_first(ContactSet* there) {
  found_ = {};
  if (locating_) find_impacts(*there, &found_);
  find_transitions(&found_);
  if (found_.kind == Due::Nothing) return true;
  if (!locating_) {
    whole_ = closed_.calc_normal_impulse(found_.closed);
    return ask(kJamShare * h_, false, Doing::CheckingJam);
  }
  if (found_.kind == Due::Impact && pipe_.options.alpha_gamma.event_state == EventState::Hermite) {
    update_hermite(*now_, pipe_.end, h_, found_.s, &pipe_.end);
    pipe_.find(pipe_.end, there);
    h_ *= found_.s;
    due_ = found_;
    return true;
  }
  begin_root();
  return false;
}

/// An impulse without collision (Painleve): does the slip end even in a hundredth of the step, by an impulse as large
/// as in the whole of it?
bool EventSearch::check_jam() {
  if (closed_.calc_slip_end(found_.closed) < 0 && closed_.calc_normal_impulse(found_.closed) > kJamImpulse * whole_)
    return take_jam();
  from_ = static_cast<std::size_t>(found_.closed) + 1;
  return ask(h_, false, Doing::Resuming);
}

/// The slip ends at once, by an impulse that does not fall with the length of the step.
bool EventSearch::take_jam() {
  cleared_.push_back(found_.key);
  due_ = found_;
  due_.kind = Due::Jam;
  return ask(h_, true, Doing::Looking);
}

// ---------------------------------------------------------------- where

void EventSearch::begin_root() {
  const auto begin = [&](const auto& root, bool backward) {
    root_ = root;
    ask(root.first() * h_, backward, Doing::Locating);
  };
  if (found_.kind == Due::Impact) return begin(ImpactRoot(found_), asked_backward_);
  const std::size_t i = found_.closed;
  if (found_.kind == Due::Stick) {
    stops_.push_back(found_.key);
    return begin(StickRoot(found_, closed_.slip_speed(i), closed_.calc_slip_end(i), closed_.calc_normal_impulse(i)),
                 false);
  }
  ++releases_;
  const ContactMemory& last = closed_.last(*now_, i);
  const double force = found_.kind == Due::Takeoff ? last.normal_force : last.friction_reserve;
  begin(ReleaseRoot(found_, last.force_time, force, 1 / pipe_.trial.made().impulse_scale, now_->time, h_), false);
}

RootStep EventSearch::next_root(const ContactSet& there) {
  if (auto* stick = std::get_if<StickRoot>(&root_))
    return stick->next(closed_.calc_slip_end(found_.closed), closed_.calc_normal_impulse(found_.closed));
  if (auto* release = std::get_if<ReleaseRoot>(&root_))
    return release->next(found_.kind == Due::Takeoff ? closed_.calc_mean_force(found_.closed, asked_h_)
                                                     : closed_.calc_mean_reserve(found_.closed, asked_h_));
  std::optional<ImpactRoot::Sample> sample;
  for (const Contact& contact : there.contacts) {
    if (contact.key != found_.key) continue;
    sample = {contact.gap - found_.level, h_ * motion_.calc_gap(contact, pipe_.end).rate,
              kGapTolerance * motion_.touching(contact)};
    break;
  }
  return std::get<ImpactRoot>(root_).next(sample);
}

bool EventSearch::locate(ContactSet* there) {
  const RootStep step = next_root(*there);
  switch (step.kind) {
    case RootStep::Kind::Try:
      return ask(step.s * h_, asked_backward_, Doing::Locating);
    case RootStep::Kind::Jams:
      return take_jam();
    case RootStep::Kind::None:  // it was not there
      cleared_.push_back(found_.key);
      return ask(h_, asked_backward_, Doing::Looking);
    case RootStep::Kind::Found:
      break;
  }
  // Does anything come before it?
  h_ = asked_h_;
  due_ = found_;
  doing_ = Doing::Looking;
  return look(there);
}

}  // namespace slipstick
