// What closed contacts did in a part of a step, and what is told of it.
#include <algorithm>
#include <cmath>

#include "step/drivers/event_driver.h"

#include "step/trial.h"

namespace slipstick {

namespace {

/// Transitions of several points of one pair within this share of a step are one.
constexpr double kTogether = 0.05;
/// Impacts of several points of one pair within this share of a step are one.
constexpr double kSameTime = 1e-12;

void add_ledger(double friction, EnergyLedger* sum) {
  sum->change += friction;
  sum->friction += friction;
}

}  // namespace

/// What contact i of the closed set did in the part that is being accepted. `largest`: the part's largest normal
/// lambda.
ContactMemory EventDriver::make_memory(std::size_t i, double h, double largest, const Candidate& due) const {
  const ContactMemory& last = current_.contact_memory[memory_of_[i]];
  const ContactRows& rows = trial_.scratch().equations.contacts[i];
  const int row = trial_.scratch().map.contact_row[i];
  const VecX &lambda = trial_.solution().lambda, &w = trial_.solution().w;
  ContactMemory entry;
  entry.key = last.key;
  entry.closed = true;
  entry.loaded = lambda[row] > kLoaded * largest;
  for (int r = 0; entry.loaded && r < (rows.friction == 0 ? 1 : rows.count); ++r)
    entry.impulse += trial_.impulse_scale() * options_.step / h * lambda[row + r] * rows.direction[r];
  // Where this part ends with the end of a slip, the next one says whether the contact sticks or slips back.
  const bool tells = rows.friction > 0 && entry.loaded && due.kind != Due::Stick;
  const double slip = tells ? w.segment(row + 1, rows.count - 1).norm() : 0;
  entry.sticking = tells ? slip <= rest_speed(active_.contacts[i], current_) : last.sticking;
  entry.force_time = current_.time + weights_.alpha * h;
  if (due.kind == Due::Jam) return entry;  // an impulse has no mean force
  entry.normal_force = calc_mean_force(static_cast<int>(i), h);
  entry.friction_reserve = calc_mean_reserve(static_cast<int>(i), h);
  return entry;
}

/// When a mean force went through zero: where the step was cut for that, or on the line through the last two values.
double EventDriver::calc_zero_time(const ContactMemory& last, const ContactMemory& now, Due kind, double end) const {
  for (const Cut& cut : cuts_)
    if (cut.key.shape_a == now.key.shape_a && cut.key.shape_b == now.key.shape_b && cut.kind == kind) return cut.time;
  const double f0 = kind == Due::Takeoff ? last.normal_force : last.friction_reserve;
  const double f1 = kind == Due::Takeoff ? now.normal_force : now.friction_reserve;
  if (!(f0 > f1)) return current_.time;
  const double t = last.force_time + (now.force_time - last.force_time) * f0 / (f0 - f1);
  return std::clamp(t, std::min(last.force_time, end), end);
}

/// end_.contact_memory, the forces and the transitions of the part that is being accepted.
void EventDriver::update_memory(double h, const Candidate& due) {
  const bool tell = scheme_.locates(options_);
  const double end = current_.time + h;
  double largest = 0;
  for (const NormalOffset& normal : trial_.normals()) largest = std::max(largest, trial_.solution().lambda[normal.row]);
  end_.contact_memory.clear();
  forces_.clear();
  soft_closing_ = false;
  std::size_t k = 0;
  for (std::size_t i = 0; i < active_.contacts.size(); ++i) {
    const Contact& contact = active_.contacts[i];
    const ContactMemory& last = current_.contact_memory[memory_of_[i]];
    const double rate = calc_gap(contact, current_).rate;
    ContactMemory entry = make_memory(i, h, largest, due);
    if (entry.loaded && contact.limit < 0) forces_.push_back({contact, entry.impulse / options_.step});
    const bool closes = entry.loaded && near_speed() > 0 && rate < -0.1 * near_speed();
    soft_closing_ = soft_closing_ || (closes && weights_.alpha < 1);

    while (k < there_.contacts.size() && there_.contacts[k].key < contact.key) ++k;
    const bool found = k < there_.contacts.size() && there_.contacts[k].key == contact.key;
    const Gap after = found ? calc_gap(there_.contacts[k], end_) : Gap{};
    bool stays = found && entry.loaded;
    if (!entry.loaded) {
      stays = found && (is_near(there_.contacts[k], end_) || (after.value <= touching(contact) && after.rate <= 0));
      // From when on it has carried nothing; it is told of when the contact parts for good.
      entry.force_time = last.loaded ? calc_zero_time(last, entry, Due::Takeoff, end) : last.force_time;
      entry.normal_force = entry.friction_reserve = 0;
    }
    if (!stays) {
      if (tell && entry.force_time > 0)
        add_event({EventKind::Takeoff, entry.force_time, contact.body_a, contact.body_b, rate, after.rate});
      continue;
    }
    const bool changes = entry.loaded && last.loaded && entry.sticking != last.sticking && due.kind != Due::Jam;
    if (tell && changes) {
      const double t = entry.sticking ? current_.time : calc_zero_time(last, entry, Due::Slip, end);
      add_event({entry.sticking ? EventKind::Stick : EventKind::Slip, t, contact.body_a, contact.body_b, rate, 0});
    }
    end_.contact_memory.push_back(entry);
  }
  cuts_.clear();
  if (due.kind == Due::Takeoff || due.kind == Due::Slip) cuts_.push_back({due.key, due.kind, end});
}

/// Several points of one pair of bodies that do the same at the same time are one event; the fastest stands for them.
void EventDriver::add_event(const Event& event) {
  for (Event& other : events_) {
    const double together = event.kind == EventKind::Impact ? kSameTime : kTogether;
    if (other.kind != event.kind || other.body_a != event.body_a || other.body_b != event.body_b ||
        std::abs(other.time - event.time) > together * options_.step)
      continue;
    if (std::abs(event.normal_speed_before) > std::abs(other.normal_speed_before)) other = event;
    return;
  }
  events_.push_back(event);
}

/// A slip has come to its end at current_: nothing of it stays in v ([methods 4.4]).
void EventDriver::stop_slip(const Candidate& due) {
  ContactSet& closed = touching_set_;
  closed.contacts.clear();
  sticking_.clear();
  std::size_t m = 0;
  const std::vector<ContactMemory>& memory = current_.contact_memory;
  for (const Contact& contact : here_.contacts) {
    while (m < memory.size() && memory[m].key < contact.key) ++m;
    if (m == memory.size() || memory[m].key != contact.key || !memory[m].loaded) continue;
    closed.contacts.push_back(contact);
    const bool at_rest = calc_slip(contact, current_).norm() <= rest_speed(contact, current_);
    const bool stops = due.kind != Due::Nothing && contact.key == due.key;
    sticking_.push_back(stops || memory[m].sticking || at_rest ? 1 : 0);
  }
  update_prescribed(current_.time);
  StepInput in = input(0);
  in.contacts = &closed;
  in.middle = nullptr;
  const double before = calc_kinetic(model_, current_.velocity);
  const LadderResult result = project_velocity(in, sticking_, &ladder_, &impact_, &current_.velocity);
  impulses_.add_impact(in, impact_);
  report_->iterations += result.iterations;
  report_->escalations += result.escalations;
  raise_to(result.residual, &report_->certificate.residual);
  add_ledger(calc_kinetic(model_, current_.velocity) - before, &report_->certificate.ledger);
  if (due.kind == Due::Jam) {
    for (const Contact& contact : closed.contacts)
      if (contact.key == due.key) add_event({EventKind::Impact, current_.time, contact.body_a, contact.body_b, 0, 0});
  }
}

}  // namespace slipstick
