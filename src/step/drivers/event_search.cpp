// What a trial runs into, and where.
#include <algorithm>
#include <cmath>

#include "step/assemble.h"
#include "step/drivers/event_driver.h"
#include "step/drivers/hermite.h"

namespace slipstick {

namespace {

/// Impacts are located to this gap, m per metre of the larger body (at least one metre), where the geometry allows.
constexpr double kGapTolerance = 1e-12;
/// The end of a slip is located to this speed, relative to the slip's.
constexpr double kSlipTolerance = 1e-12;
constexpr int kMaxRefinements = 60;
/// A share of a step below this is no time: a slip that has ended by then has been ended by an impulse.
constexpr double kNoShare = 1e-9;
constexpr double kJamShare = 1e-2;

}  // namespace

double EventDriver::calc_mean_force(int active, double h) const {
  const StepScratch& s = trial_.scratch();
  const ContactRows& c = s.equations.contacts[active];
  const int row = s.map.contact_row[active];
  const double lambda = trial_.solution().lambda[row], w = trial_.solution().w[row];
  if (lambda > 0 || !(w > 0)) return lambda * trial_.impulse_scale() / h;
  const double mobility = calc_pair_mobility(model_, c.body_a, c.body_b, c.row[0]);
  return -w / mobility * trial_.impulse_scale() / h;
}

double EventDriver::calc_mean_reserve(int active, double h) const {
  const StepScratch& s = trial_.scratch();
  const ContactRows& c = s.equations.contacts[active];
  if (c.friction == 0) return 0;
  const int row = s.map.contact_row[active];
  const auto lambda = trial_.solution().lambda.segment(row, c.count), w = trial_.solution().w.segment(row, c.count);
  const double slip = w.tail(c.count - 1).norm();
  const double mobility = calc_pair_mobility(model_, c.body_a, c.body_b, c.row[1]);
  const double reserve = c.friction * lambda[0] - lambda.tail(c.count - 1).norm() - slip / mobility;
  return reserve * trial_.impulse_scale() / h;
}

double EventDriver::calc_slip_end(int active) const {
  const StepScratch& s = trial_.scratch();
  const ContactRows& c = s.equations.contacts[active];
  const int row = s.map.contact_row[active];
  const VecX &lambda = trial_.solution().lambda, &w = trial_.solution().w;
  double u = 0, friction = 0;
  for (int k = 1; k < c.count; ++k) {
    u += w[row + k] * c.direction[k].dot(slip_direction_[active]);
    friction += lambda[row + k] * lambda[row + k];
  }
  // While it sticks, what friction could have done beyond stopping it: with that u is continuous in the step's length.
  const double spare = c.friction * lambda[row] - std::sqrt(friction);
  if (spare > 0) u -= spare * calc_pair_mobility(model_, c.body_a, c.body_b, c.row[1]);
  const double alpha = 1 / trial_.impulse_scale();
  return (u - (1 - alpha) * slip_speed_[active]) / alpha;
}

// ---------------------------------------------------------------- what

EventDriver::Candidate EventDriver::find_first(double h, const Candidate& known) {
  Candidate first;
  if (locating_) find_impacts(h, known, &first);
  find_transitions(h, known, &first);
  return first;
}

/// One contact that is open at the start; `end` is null where it is out of reach at the end.
void EventDriver::find_impact(double h, const Gap& start, const Gap* end, Candidate* first) const {
  const Contact& contact = *start.contact;
  const double touch = touching(contact), rest = rest_speed(contact, current_);
  const bool leaving = start.value <= touch && start.rate >= -rest;
  Candidate found;
  found.kind = Due::Impact;
  found.key = contact.key;
  if (end == nullptr) {
    // It was near and is not any more: either it has gone, or it went through. The tangent says which is possible.
    if (start.rate >= 0 || start.value + h * start.rate > 0) return;
    found.s = found.high = std::min(1.0, -start.value / (h * start.rate));
    found.high = std::min(1.0, found.s * (1 + 1e-6) + 1e-9);
  } else {
    const Cubic cubic{start.value, h * start.rate, end->value, h * end->rate};
    if (end->value < -touch) {
      if (leaving && end->value >= start.value && end->rate >= 0) return;  // deep, and on its way out
      // A contact that has just parted starts at zero and goes up: its first root is not the one.
      const double from = leaving ? 1e-6 : 0;
      const auto root = cubic.find_crossing(from);
      found.s = root.value_or(leaving ? 0.5 : 1.0);
      found.low = leaving ? -1 : 0;
    } else {
      if (!(start.rate < -rest && end->rate > 0)) return;
      const auto dip = cubic.find_dip();
      if (!dip || cubic.at(*dip) >= -touch) return;
      found.high = *dip;
      found.s = cubic.find_crossing(0).value_or(*dip);
    }
  }
  if (found.s < first->s) *first = found;
}

void EventDriver::find_impacts(double h, const Candidate& known, Candidate* first) {
  std::size_t a = 0, e = 0;
  const auto skip = [&](const ContactKey& key) {
    return (known.kind == Due::Impact && known.key == key) || is_cleared(key);
  };
  for (const Contact& contact : here_.contacts) {
    while (a < active_.contacts.size() && active_.contacts[a].key < contact.key) ++a;
    if (a < active_.contacts.size() && active_.contacts[a].key == contact.key) continue;
    while (e < there_.contacts.size() && there_.contacts[e].key < contact.key) ++e;
    const bool found = e < there_.contacts.size() && there_.contacts[e].key == contact.key;
    if (skip(contact.key)) continue;
    const Gap start = calc_gap(contact, current_);
    if (found) {
      const Gap end = calc_gap(there_.contacts[e], end_);
      find_impact(h, start, &end, first);
    } else {
      find_impact(h, start, nullptr, first);
    }
  }
  // Contacts that the start does not know: features that appear on the way.
  std::size_t b = 0;
  for (const Contact& contact : there_.contacts) {
    if (contact.gap >= -touching(contact)) continue;
    while (b < here_.contacts.size() && here_.contacts[b].key < contact.key) ++b;
    if ((b < here_.contacts.size() && here_.contacts[b].key == contact.key) || skip(contact.key)) continue;
    const Gap end = calc_gap(contact, end_);
    if (end.rate >= 0) continue;
    Candidate found;
    found.kind = Due::Impact;
    found.key = contact.key;
    found.s = std::clamp(1 - end.value / (h * end.rate), 0.5, 1.0);
    if (found.s < first->s) *first = found;
  }
}

/// Stick, take-off and slip of the closed contacts.
void EventDriver::find_transitions(double h, const Candidate& known, Candidate* first) {
  const double alpha = 1 / trial_.impulse_scale();
  const VecX& lambda = trial_.solution().lambda;
  for (std::size_t i = 0; i < active_.contacts.size(); ++i) {
    const Contact& contact = active_.contacts[i];
    const ContactRows& rows = trial_.scratch().equations.contacts[i];
    const ContactMemory& last = current_.contact_memory[memory_of_[i]];
    const int row = trial_.scratch().map.contact_row[i];
    if (is_cleared(contact.key) || (known.kind != Due::Nothing && known.key == contact.key)) continue;
    Candidate found;
    found.key = contact.key;
    found.active = static_cast<int>(i);
    const double rest = rest_speed(contact, current_);
    if (rows.friction > 0 && lambda[row] > 0 && slip_speed_[i] > rest) {
      const double end = calc_slip_end(static_cast<int>(i));
      if (end < -rest) {
        found.kind = Due::Stick;
        found.s = slip_speed_[i] / (slip_speed_[i] - end);
        if (!locating_ || found.s < 0.5) {
          // Ended at once, however short the step: an impulse without collision (Painleve).
          if (alpha < 1 && jams(found, h)) {
            found.kind = Due::Jam;
            found.s = 0;
          }
        }
        if (found.s < first->s && (locating_ || found.kind == Due::Jam)) *first = found;
        continue;
      }
    }
    if (!locating_ || !last.loaded || last.force_time >= current_.time + alpha * h) continue;
    const bool cut = std::any_of(cuts_.begin(), cuts_.end(), [&](const Cut& c) { return c.key == contact.key; });
    if (cut) continue;
    const auto zero = [&](double f0, double f1, Due kind) {
      if (!(f0 > 0 && f1 < 0)) return;
      const double now = current_.time + alpha * h;
      const double t = last.force_time + (now - last.force_time) * f0 / (f0 - f1);
      const double s = (t - current_.time) / h;
      if (s < 1e-6 || s > 1 - 1e-6 || s >= first->s) return;
      found.kind = kind;
      found.s = s;
      *first = found;
    };
    zero(last.normal_force, calc_mean_force(static_cast<int>(i), h), Due::Takeoff);
    if (rows.friction > 0 && last.sticking && lambda[row] > 0)
      zero(last.friction_reserve, calc_mean_reserve(static_cast<int>(i), h), Due::Slip);
  }
}

// ---------------------------------------------------------------- where

/// The share of h at which the candidate happens, with the trial left there; 0 or less: it does not.
double EventDriver::locate(const Candidate& candidate, double h) {
  if (candidate.kind == Due::Impact) return locate_impact(candidate, h);
  if (candidate.kind == Due::Stick) return locate_stick(candidate, h);
  run(candidate.s * h);
  return candidate.s;
}

double EventDriver::locate_impact(const Candidate& candidate, double h) {
  const auto find = [&]() -> const Contact* {
    for (const Contact& contact : there_.contacts)
      if (contact.key == candidate.key) return &contact;
    return nullptr;
  };
  if (options_.event_state == EventState::Hermite) {
    update_hermite(current_, end_, h, candidate.s, &end_);
    look(end_, &there_);
    return candidate.s;
  }
  double low = std::max(candidate.low, 0.0), high = candidate.high;
  double low_gap = -1, high_gap = 1;  // not known
  double s = std::min(candidate.s, high);
  bool below = candidate.high >= 1;  // the gap is known to be below zero at `high`
  for (int k = 0; k < kMaxRefinements; ++k) {
    if (!run(s * h, backward_)) return 0;
    const Contact* contact = find();
    const double tolerance = contact ? kGapTolerance * touching(*contact) / 1e-10 : kGapTolerance;
    if (contact && std::abs(contact->gap) <= tolerance) return s;
    if (contact && contact->gap < 0) {
      high = s;
      high_gap = contact->gap;
      below = true;
    } else {
      low = s;
      low_gap = contact ? contact->gap : -1;
    }
    if (high - low <= 1e-15) break;
    double next = 0.5 * (low + high);
    const double rate = contact ? h * calc_gap(*contact, end_).rate : 0;
    const double newton = rate < 0 ? s - contact->gap / rate : -1;
    const double chord = low_gap > 0 && high_gap < 0 ? low + (high - low) * low_gap / (low_gap - high_gap) : -1;
    if (k < 6 && newton > low && newton < high) {
      next = newton;
    } else if (k % 3 != 2 && chord > low && chord < high) {
      next = chord;
    }
    if (!below && k == 0) next = candidate.high;  // a dip: is it one?
    if (!below && k == 1) return 0;
    s = next;
  }
  if (high_gap >= 0) return 0;
  if (s != high && !run(high * h, backward_)) return 0;
  return high;
}

double EventDriver::locate_stick(const Candidate& candidate, double h) {
  const double start = slip_speed_[candidate.active];
  double low = 0, low_value = start, high = 1, high_value = calc_slip_end(candidate.active);
  double s = candidate.s;
  int side = 0;
  for (int k = 0; k < kMaxRefinements; ++k) {
    if (!run(s * h)) return 0;
    const double value = calc_slip_end(candidate.active);
    if (std::abs(value) <= kSlipTolerance * start || high - low <= 1e-15) return s;
    if (value < 0) {  // Illinois: a chord whose other end does not get stuck
      high = s;
      high_value = value;
      if (side == -1) low_value /= 2;
      side = -1;
    } else {
      low = s;
      low_value = value;
      if (side == 1) high_value /= 2;
      side = 1;
    }
    if (high < kNoShare) return 0;
    s = low + (high - low) * low_value / (low_value - high_value);
  }
  return s;
}

/// Does the slip end even in a hundredth of the step as if in the whole of it? Leaves the trial as it was.
bool EventDriver::jams(const Candidate& candidate, double h) {
  if (!run(kJamShare * h)) return false;
  const double end = calc_slip_end(candidate.active);
  const bool jam = end < 0 && slip_speed_[candidate.active] > 0 && end < -0.5 * slip_speed_[candidate.active];
  run(h);
  return jam;
}

}  // namespace slipstick
