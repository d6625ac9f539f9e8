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
constexpr double kSlipTolerance = 1e-10;
constexpr int kMaxRefinements = 60;
/// A slip that ends within this share of a step, with a normal impulse that stays above that share of the whole step's,
/// is ended by an impulse and not by a force ([methods 4.3], Painleve).
constexpr double kJamShare = 1e-2;
constexpr double kJamImpulse = 0.2;
/// Take-off and slip nearer than this share of the step to its start are left to the problem.
constexpr double kNoRelease = 1e-6;
constexpr int kMaxReleases = 4;
constexpr int kMaxReleasesInStep = 8;
/// A slip slower than this share of the speed that is no event is left to the problem, and so is one that ends more
/// than so often in one step: where many contacts share a body, the end of one slip may be the beginning of another.
constexpr double kLeastSlip = 2e-3;
constexpr int kMaxStops = 4;
constexpr std::size_t kManyContacts = 64;

}  // namespace

double EventDriver::calc_normal_impulse(int active) const {
  return active < 0 ? 0 : trial_.solution().lambda[trial_.scratch().map.contact_row[active]];
}

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
  // One that parts from below zero has closed again when it is back where it started.
  found.level = leaving ? std::min(0.0, start.value) : 0;
  const double f0 = start.value - found.level, d0 = h * start.rate;
  const Cubic cubic{f0, d0, end ? end->value - found.level : f0, end ? h * end->rate : 0};
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
    found.below = true;
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
    // (What sticks may still have a slip speed in v, which is nothing but the oscillation of alpha < 1.)
    const double least = std::max(rest, kLeastSlip * near_speed());
    const bool may_stop = std::count(stops_.begin(), stops_.end(), contact.key) < kMaxStops;
    if (rows.friction > 0 && lambda[row] > 0 && !last.sticking && slip_speed_[i] > least && may_stop) {
      const double end = calc_slip_end(static_cast<int>(i));
      if (end < -rest) {
        found.kind = Due::Stick;
        found.s = slip_speed_[i] / (slip_speed_[i] - end);
        if (!locating_ && alpha < 1 && jams(found, h)) {
          found.kind = Due::Jam;
          found.s = 0;
        }
        if (found.s < first->s && (locating_ || found.kind == Due::Jam)) *first = found;
        continue;
      }
    }
    if (!locating_ || !last.loaded || last.force_time >= current_.time + alpha * h) continue;
    // Neither is needed for the order, and with many contacts forces are not unique: only so many are looked for.
    if (releases_ >= kMaxReleasesInStep || active_.contacts.size() > kManyContacts) continue;
    const bool cut = std::any_of(cuts_.begin(), cuts_.end(), [&](const Cut& c) { return c.key == contact.key; });
    if (cut) continue;
    const auto zero = [&](double f0, double f1, Due kind) {
      if (!(f0 > 0 && f1 < f0)) return;  // the line through both; for alpha < 1 its zero may lie beyond t + alpha h
      const double now = current_.time + alpha * h;
      const double t = last.force_time + (now - last.force_time) * f0 / (f0 - f1);
      const double s = (t - current_.time) / h;
      if (s < kNoRelease || s > 1 - kNoRelease || s >= first->s) return;
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
  return locate_release(candidate, h);
}

/// Where the mean force (or reserve) of a closed contact is zero: it counts at t + alpha s h, and below zero it is only
/// an estimate (calc_mean_force). So the zero is drawn through the two latest values that are above it, where there are
/// two.
double EventDriver::locate_release(const Candidate& candidate, double h) {
  ++releases_;
  const ContactMemory& last = current_.contact_memory[memory_of_[candidate.active]];
  const bool takeoff = candidate.kind == Due::Takeoff;
  const double alpha = 1 / trial_.impulse_scale();
  double t0 = last.force_time, f0 = takeoff ? last.normal_force : last.friction_reserve;
  double s = candidate.s;
  for (int k = 0; k < kMaxReleases; ++k) {
    if (!run(s * h)) return 0;
    const double t1 = current_.time + alpha * s * h;
    const double f1 = takeoff ? calc_mean_force(candidate.active, s * h) : calc_mean_reserve(candidate.active, s * h);
    if (!(f1 < f0) || !(t1 > t0)) return k == 0 ? 0 : s;
    const double t = t0 + (t1 - t0) * f0 / (f0 - f1);
    const double next = (t - current_.time) / h;
    if (!(next > kNoRelease) || next >= 1) return k == 0 ? 0 : s;
    if (std::abs(next - s) < kNoRelease) return s;
    if (f1 > 0 && k > 0 && t1 > t0) {
      t0 = t1;
      f0 = f1;
    }
    s = next;
  }
  return run(s * h) ? s : 0;
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
  double low = 0, high = candidate.below ? 1 : candidate.high, s = std::min(candidate.s, high);
  double low_gap = -1, high_gap = 1;  // not known
  bool below = candidate.below;       // the gap is known to be below zero at `high`
  for (int k = 0; k < kMaxRefinements; ++k) {
    if (!run(s * h, backward_)) return 0;
    const Contact* contact = find();
    const double tolerance = contact ? kGapTolerance * touching(*contact) / 1e-10 : kGapTolerance;
    const double gap = contact ? contact->gap - candidate.level : 0;
    if (contact && std::abs(gap) <= tolerance) return s;
    const double rate = contact ? h * calc_gap(*contact, end_).rate : 0;
    const double newton = rate < 0 ? s - gap / rate : -1;
    if (contact && gap < 0) {
      high = s;
      high_gap = gap;
      below = true;
    } else {
      low = s;
      low_gap = contact ? gap : -1;
    }
    if (!below) {  // go on along the tangent; past a dip there is nothing more to find
      if (s >= candidate.high && !(newton > s && newton <= 1)) return 0;
      s = newton > s && newton <= 1 ? newton : candidate.high;
      high = std::max(high, s);
      continue;
    }
    if (high - low <= 1e-15) break;
    const double chord = low_gap > 0 && high_gap < 0 ? low + (high - low) * low_gap / (low_gap - high_gap) : -1;
    s = 0.5 * (low + high);
    if (k < 6 && newton > low && newton < high) {
      s = newton;
    } else if (k % 3 != 2 && chord > low && chord < high) {
      s = chord;
    }
  }
  if (high_gap >= 0) return 0;
  if (s != high && !run(high * h, backward_)) return 0;
  return high;
}

double EventDriver::locate_stick(const Candidate& candidate, double h) {
  stops_.push_back(candidate.key);
  const double start = slip_speed_[candidate.active];
  double low = 0, low_value = start, high = 1, high_value = calc_slip_end(candidate.active);
  const double whole = calc_normal_impulse(candidate.active);
  double s = candidate.s;
  int side = 0;
  bool checked = false;
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
    if (high < kJamShare && !checked) {
      if (calc_normal_impulse(candidate.active) > kJamImpulse * whole) return kJams;
      checked = true;
    }
    s = low + (high - low) * low_value / (low_value - high_value);
  }
  return s;
}

/// An impulse without collision (Painleve): does the slip end even in a hundredth of the step, by an impulse as large
/// as in the whole of it? Leaves the trial as it was.
bool EventDriver::jams(const Candidate& candidate, double h) {
  const double whole = calc_normal_impulse(candidate.active);
  if (!run(kJamShare * h)) return false;
  const bool jam = calc_slip_end(candidate.active) < 0 && calc_normal_impulse(candidate.active) > kJamImpulse * whole;
  run(h);
  return jam;
}

}  // namespace slipstick
