// What closed contacts did in a part of a step, and what is told of it.
#include <algorithm>
#include <cmath>

#include "step/drivers/closed_set.h"

namespace slipstick {

namespace {

/// Transitions of several points of one pair within this share of a step are one.
constexpr double kTogether = 0.05;
/// Impacts of several points of one pair within this share of a step are one.
constexpr double kSameTime = 1e-12;

/// When a mean force went through zero in a part from `start` to `end`: where the step was cut for that, or on the line
/// through the last two values.
double calc_zero_time(const ContactMemory& last, const ContactMemory& now, Due kind, double start, double end,
                      std::span<const Cut> cuts) {
  for (const Cut& cut : cuts)
    if (cut.key.shape_a == now.key.shape_a && cut.key.shape_b == now.key.shape_b && cut.kind == kind) return cut.time;
  const double f0 = kind == Due::Takeoff ? last.normal_force : last.friction_reserve;
  const double f1 = kind == Due::Takeoff ? now.normal_force : now.friction_reserve;
  if (!(f0 > f1)) return start;
  const double t = last.force_time + (now.force_time - last.force_time) * f0 / (f0 - f1);
  return std::clamp(t, std::min(last.force_time, end), end);
}

}  // namespace

/// What contact i did in the part that is being accepted. `largest`: the part's largest normal lambda.
ContactMemory ClosedSet::make_memory(std::size_t i, const State& now, double largest, const Candidate& due) const {
  const ContactMemory& before = last(now, i);
  const StepProblem& made = pipe_.trial.made();
  const ContactRows& rows = made.equations->contacts[i];
  const double h = pipe_.input.h;
  ContactMemory entry;
  entry.key = before.key;
  entry.closed = true;
  entry.uniqueness = pipe_.trial.uniqueness(i);
  entry.loaded = calc_normal_impulse(i) > kLoaded * largest;
  if (entry.loaded) entry.impulse = pipe_.trial.calc_contact_impulse(i, made.impulse_scale * pipe_.options.step / h);
  // Where this part ends with the end of a slip, the next one says whether the contact sticks or slips back.
  const bool tells = rows.friction > 0 && entry.loaded && due.kind != Due::Stick;
  const double slip = tells ? calc_row_slip(i).norm() : 0;
  entry.sticking = tells ? slip <= motion_.rest_speed(closed_.contacts[i], now) : before.sticking;
  entry.force_time = now.time + alpha_ * h;
  if (due.kind == Due::Jam) return entry;  // an impulse has no mean force
  entry.normal_force = calc_mean_force(i, h);
  entry.friction_reserve = calc_mean_reserve(i, h);
  return entry;
}

bool ClosedSet::remember(const State& now, const ContactSet& there, const Candidate& due, std::span<const Cut> cuts) {
  const State& next = pipe_.end;
  const double end = now.time + pipe_.input.h, near_speed = motion_.near_speed();
  const double largest = pipe_.trial.calc_largest_normal();
  bool soft_closing = false;
  pipe_.end.contact_memory.clear();
  std::size_t k = 0;
  for (std::size_t i = 0; i < closed_.contacts.size(); ++i) {
    const Contact& contact = closed_.contacts[i];
    const ContactMemory& before = last(now, i);
    const double rate = motion_.calc_gap(contact, now).rate;
    ContactMemory entry = make_memory(i, now, largest, due);
    if (entry.loaded)
      pipe_.add_force(contact, pipe_.trial.made().equations->contacts[i].friction,
                      pipe_.trial.calc_contact_impulse(i, pipe_.calc_share() * pipe_.trial.made().impulse_scale),
                      entry.uniqueness);
    const bool closes = entry.loaded && near_speed > 0 && rate < -0.1 * near_speed;
    soft_closing = soft_closing || (closes && alpha_ < 1);

    while (k < there.contacts.size() && there.contacts[k].key < contact.key) ++k;
    const bool found = k < there.contacts.size() && there.contacts[k].key == contact.key;
    const Gap after = found ? motion_.calc_gap(there.contacts[k], next) : Gap{};
    bool stays = found && entry.loaded;
    if (!entry.loaded) {
      stays = found && (motion_.is_near(there.contacts[k], next) ||
                        (after.value <= motion_.touching(contact) && after.rate <= 0));
      // From when on it has carried nothing; it is told of when the contact parts for good.
      entry.force_time =
          before.loaded ? calc_zero_time(before, entry, Due::Takeoff, now.time, end, cuts) : before.force_time;
      entry.normal_force = entry.friction_reserve = 0;
    }
    if (!stays) {
      if (tells_ && entry.force_time > 0)
        add_event({EventKind::Takeoff, entry.force_time, contact.body_a, contact.body_b, rate, after.rate});
      continue;
    }
    const bool changes = entry.loaded && before.loaded && entry.sticking != before.sticking && due.kind != Due::Jam;
    if (tells_ && changes) {
      const double t = entry.sticking ? now.time : calc_zero_time(before, entry, Due::Slip, now.time, end, cuts);
      add_event({entry.sticking ? EventKind::Stick : EventKind::Slip, t, contact.body_a, contact.body_b, rate, 0});
    }
    pipe_.end.contact_memory.push_back(entry);
  }
  return soft_closing;
}

void ClosedSet::add_event(const Event& event) {
  for (Event& other : pipe_.events) {
    const double together = event.kind == EventKind::Impact ? kSameTime : kTogether;
    if (other.kind != event.kind || other.body_a != event.body_a || other.body_b != event.body_b ||
        std::abs(other.time - event.time) > together * pipe_.options.step)
      continue;
    if (std::abs(event.normal_speed_before) > std::abs(other.normal_speed_before)) other = event;
    return;
  }
  pipe_.events.push_back(event);
}

}  // namespace slipstick
