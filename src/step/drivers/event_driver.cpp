#include "step/drivers/event_driver.h"

#include <algorithm>
#include <cmath>

#include "base/se3.h"
#include "step/assemble.h"
#include "step/audit.h"
#include "step/drivers/hermite.h"

namespace slipstick {

namespace {

/// More events than this in one nominal step are a reported fault: impacts are plastic from there on, and after twice
/// as many the rest of the step is not located.
constexpr int kMaxEvents = 1000;
/// How often one part of a step may be shortened because something else comes first.
constexpr int kMaxShortenings = 60;
/// What is left of a step when it is over, as a share of it.
constexpr double kNoTime = 1e-12;
/// A contact touches when its gap is below this, m per metre of the larger body (at least one metre) ([methods 4.1],
/// eps_a).
constexpr double kTouching = 1e-10;
/// Nearly closed: what gravity does in a step, times this, is neither a flight nor an impact worth an event. Such
/// contacts stay in the closed set, or enter it together with the next one that does; the problem lets them part as
/// they like.
constexpr double kNearEvent = 0.05;
/// Speeds below this, m/s per m/s of the bodies (at least 1), are rest ([methods 4.1], v_close).
constexpr double kRest = 1e-8;

}  // namespace

EventDriver::EventDriver(const Model& model, const SimulationOptions& options, const Scheme& scheme, StepSolver* ladder,
                         ContactFinder* finder)
    : model_(model),
      options_(options),
      scheme_(scheme),
      ladder_(*ladder),
      finder_(*finder),
      weights_(scheme.weights(options)),
      trial_(scheme, ladder),
      reach_(model),
      impulses_(model),
      prescribed_(model.bodies.size()),
      acceleration_(model.bodies.size()),
      weighted_(model.bodies.size()) {}

// ---------------------------------------------------------------- small things

EventDriver::Gap EventDriver::calc_gap(const Contact& contact, const State& state) const {
  if (contact.limit >= 0) {
    const Limit& limit = model_.limits[contact.limit];
    const AxisRow axis = calc_axis_row(model_, state.pose, limit.axis, 0);
    const double rate = calc_pair_speed(state.velocity, axis.body_a, axis.body_b, axis.row);
    return {contact.gap, limit.upper ? -rate : rate, &contact};
  }
  const auto velocity = [&](int body, const Vec3& point) -> Vec3 {
    if (body == kWorld) return Vec3::Zero();
    const Pose& q = state.pose[body];
    return point_velocity(q, state.velocity[body], q.orientation.conjugate() * (point - q.position));
  };
  const Vec3 relative = velocity(contact.body_b, contact.point_b) - velocity(contact.body_a, contact.point_a);
  return {contact.gap, contact.normal.dot(relative), &contact};
}

Vec3 EventDriver::calc_slip(const Contact& contact, const State& state) const {
  if (contact.limit >= 0) return Vec3::Zero();
  const auto velocity = [&](int body, const Vec3& point) -> Vec3 {
    if (body == kWorld) return Vec3::Zero();
    const Pose& q = state.pose[body];
    return point_velocity(q, state.velocity[body], q.orientation.conjugate() * (point - q.position));
  };
  const Vec3 relative = velocity(contact.body_b, contact.point_b) - velocity(contact.body_a, contact.point_a);
  return relative - contact.normal.dot(relative) * contact.normal;
}

double EventDriver::touching(const Contact& contact) const {
  double size = 1;
  for (const int body : {contact.body_a, contact.body_b})
    if (body != kWorld) size = std::max(size, model_.bodies[body].reach_radius);
  return kTouching * size;
}

double EventDriver::rest_speed(const Contact& contact, const State& state) const {
  double speed = 1;
  for (const int body : {contact.body_a, contact.body_b})
    if (body != kWorld)
      speed = std::max(speed, state.velocity[body].linear.norm() +
                                  state.velocity[body].angular.norm() * model_.bodies[body].reach_radius);
  return kRest * speed;
}

double EventDriver::near_speed() const { return kNearEvent * model_.gravity.norm() * options_.step; }
bool EventDriver::is_near(const Contact& contact, const State& state) const {
  return contact.gap <= std::max(touching(contact), near_speed() * options_.step) &&
         std::abs(calc_gap(contact, state).rate) <= std::max(rest_speed(contact, state), near_speed());
}

bool EventDriver::is_cleared(const ContactKey& key) const {
  return std::find(cleared_.begin(), cleared_.end(), key) != cleared_.end();
}

StepInput EventDriver::input(double h, bool backward) const {
  StepInput in;
  in.model = &model_;
  in.options = &options_;
  in.state = &current_;
  in.contacts = &active_;
  in.middle = scheme_.rows_at_middle() ? &middle_ : nullptr;
  in.drive = drive_;
  in.prescribed = prescribed_;
  in.h = h;
  in.h_nominal = options_.step;
  in.closed = true;
  in.backward = backward;
  return in;
}

void EventDriver::update_prescribed(double t) {
  for (std::size_t i = 0; i < model_.bodies.size(); ++i)
    if (model_.bodies[i].kind == BodyKind::Kinematic)
      prescribed_[i] = calc_kinematic_twist(model_.bodies[i], current_.pose[i], t);
}

// ---------------------------------------------------------------- the chain

void EventDriver::look(const State& state, ContactSet* contacts) {
  const Stopwatch watch(&report_->seconds.collision);
  finder_.find(state, reach_.lengths(options_.step), contacts);
  report_->seconds.broad_phase += finder_.broad_phase_seconds();
  add_limit_contacts(model_, state, contacts);
}

void EventDriver::step(const State& state, const Drive* drive, State* next, StepReport* report) {
  report_ = report;
  drive_ = drive;
  impulses_.clear();
  report->certified = true;
  events_.clear();
  forces_.clear();
  cuts_.clear();
  forced_.clear();
  current_ = state;
  end_ = state;
  locating_ = scheme_.locates(options_);
  plastic_ = false;
  releases_ = 0;
  stops_.clear();
  starting_ = state.step == 0;
  for (Twist& a : acceleration_) a = {model_.gravity, Vec3::Zero()};
  const double end = static_cast<double>(state.step + 1) * options_.step;
  update_prescribed(current_.time);
  for (std::size_t i = 0; i < model_.bodies.size(); ++i)
    if (model_.bodies[i].kind == BodyKind::Kinematic) current_.velocity[i] = prescribed_[i];
  reach_.assume(current_, prescribed_, options_.step);
  look(current_, &here_);
  settle();
  int parts = 0;
  while (end - current_.time > kNoTime * options_.step) {
    if (!advance(end - current_.time)) return;  // failed
    if (end - current_.time <= kNoTime * options_.step) current_.time = end;
    settle();
    if (++parts <= kMaxEvents) continue;
    plastic_ = true;
    locating_ = locating_ && parts <= 2 * kMaxEvents;
    report->certified = false;
    report->note = locating_ ? "more than 1000 events in one step: further impacts in it were plastic"
                             : "more than 2000 events in one step: the rest of it was not located";
  }
  report->events = static_cast<int>(events_.size());
  report->contacts = static_cast<int>(std::count_if(active_.contacts.begin(), active_.contacts.end(),
                                                    [](const Contact& contact) { return contact.limit < 0; }));
  report->warm_contacts = std::min(report->contacts, trial_report_.warm_contacts);
  std::stable_sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) { return a.time < b.time; });
  current_.time = end;
  current_.step = state.step + 1;
  current_.previous_velocity = state.velocity;
  std::swap(*next, current_);
}

/// Who is closed at `current_`, after the impacts that are due there.
void EventDriver::settle() {
  touching_set_.contacts.clear();
  near_set_.contacts.clear();
  bool closing = starting_;
  std::size_t m = 0;
  const std::vector<ContactMemory>& memory = current_.contact_memory;
  for (const Contact& contact : here_.contacts) {
    while (m < memory.size() && memory[m].key < contact.key) ++m;
    const bool closed = m < memory.size() && memory[m].key == contact.key && memory[m].closed;
    const bool forced = std::find(forced_.begin(), forced_.end(), contact.key) != forced_.end();
    const bool touches = closed || forced || contact.gap <= touching(contact);
    if (!touches && !is_near(contact, current_)) continue;
    near_set_.contacts.push_back(contact);
    if (!touches) continue;
    touching_set_.contacts.push_back(contact);
    if (!closed && calc_gap(contact, current_).rate < -rest_speed(contact, current_)) closing = true;
  }
  forced_.clear();
  if (closing) {
    std::swap(touching_set_, near_set_);
    update_prescribed(current_.time);
    ImpactInput impact;
    impact.step = input(0);
    impact.step.contacts = &touching_set_;
    impact.step.middle = nullptr;
    impact.joints = starting_;
    impact.closing_speed = kRest;
    impact.plastic = plastic_;
    impact.acceleration = acceleration_;
    impact_events_.clear();
    const ImpactResult result = apply_impact(impact, &ladder_, &impact_, &current_.velocity, &impact_events_);
    for (const Event& event : impact_events_) add_event(event);
    if (result.happened) {
      impulses_.add_impact(impact.step, impact_);
      report_->iterations += result.solve.iterations;
      report_->escalations += result.solve.escalations;
      report_->impact_guards += result.guarded ? 1 : 0;
      raise_to(result.solve.residual, &report_->certificate.residual);
      if (!result.solve.certified) {
        report_->certified = false;
        report_->note = result.solve.note;
      }
      EnergyLedger ledger;
      ledger.change = result.energy_change;
      ledger.friction = result.friction_work;
      ledger.impact = result.energy_change - result.friction_work;
      report_->certificate.ledger.add(ledger);
    }
  }
  starting_ = false;
  collect_closed();
}

/// Fills active_ and makes the memory say who is closed.
void EventDriver::collect_closed() {
  active_.contacts.clear();
  memory_of_.clear();
  slip_speed_.clear();
  slip_direction_.clear();
  memory_scratch_.clear();
  std::size_t m = 0;
  const std::vector<ContactMemory>& memory = current_.contact_memory;
  for (const Contact& contact : touching_set_.contacts) {
    while (m < memory.size() && memory[m].key < contact.key) ++m;
    const bool known = m < memory.size() && memory[m].key == contact.key;
    const bool was_closed = known && memory[m].closed && (memory[m].loaded || is_near(contact, current_));
    if (calc_gap(contact, current_).rate > rest_speed(contact, current_) && !was_closed) continue;
    const Vec3 slip = calc_slip(contact, current_);
    const double speed = slip.norm();
    ContactMemory entry;
    if (known) {
      entry = memory[m];
    } else {
      entry.key = contact.key;
      entry.sticking = speed <= rest_speed(contact, current_);
    }
    entry.closed = true;
    memory_of_.push_back(static_cast<int>(memory_scratch_.size()));
    memory_scratch_.push_back(entry);
    active_.contacts.push_back(contact);
    slip_speed_.push_back(speed);
    slip_direction_.push_back(speed > 0 ? Vec3(slip / speed) : Vec3::Zero());
  }
  std::swap(current_.contact_memory, memory_scratch_);
}

/// The contacts of the closed set where they will be at mid-step; one that is not found there keeps its place.
void EventDriver::update_middle(double h) {
  middle_.contacts = active_.contacts;
  if (active_.contacts.empty()) return;
  star_.pose.resize(current_.pose.size());
  star_.velocity = current_.velocity;
  star_.axis = current_.axis;
  for (std::size_t i = 0; i < current_.pose.size(); ++i) {
    const BodyKind kind = model_.bodies[i].kind;
    const Twist& v = kind == BodyKind::Kinematic ? prescribed_[i] : current_.velocity[i];
    star_.pose[i] = kind == BodyKind::Fixed ? current_.pose[i] : move(current_.pose[i], v, h / 2);
  }
  look(star_, &star_contacts_);
  std::size_t k = 0;
  for (std::size_t i = 0; i < middle_.contacts.size(); ++i) {
    Contact& contact = middle_.contacts[i];
    while (k < star_contacts_.contacts.size() && star_contacts_.contacts[k].key < contact.key) ++k;
    if (k < star_contacts_.contacts.size() && star_contacts_.contacts[k].key == contact.key) {
      contact = star_contacts_.contacts[k];
      continue;
    }
    // Carry the points along with their bodies.
    const auto carry = [&](int body, Vec3* point) {
      if (body == kWorld) return;
      const Pose &q = current_.pose[body], &moved = star_.pose[body];
      *point = apply(moved, q.orientation.conjugate() * (*point - q.position));
    };
    carry(contact.body_a, &contact.point_a);
    carry(contact.body_b, &contact.point_b);
  }
}

/// A trial of length h from current_ to end_, with the contacts there. False: no finite answer.
bool EventDriver::run(double h, bool backward) {
  backward_ = backward;
  trial_h_ = h;
  for (int repeat = 0;; ++repeat) {
    update_prescribed(current_.time + h / 2);
    if (scheme_.rows_at_middle()) update_middle(h);
    trial_report_ = {};
    trial_.run(input(h, backward), &end_, &trial_report_);
    report_->iterations += trial_report_.iterations;
    report_->escalations += trial_report_.escalations;
    report_->islands += trial_report_.islands;
    report_->held += trial_report_.held;
    report_->rows = std::max(report_->rows, trial_report_.rows);
    report_->seconds.assemble += trial_report_.seconds.assemble;
    report_->seconds.solve += trial_report_.seconds.solve;
    report_->seconds.advance += trial_report_.seconds.advance;
    if (!is_finite(end_)) {
      report_->failed = true;
      report_->certified = false;
      report_->note = "no finite solution";
      return false;
    }
    if (repeat >= kMaxReachRepeats || reach_.covers(end_)) break;
    ++report_->reach_repeats;
    look(current_, &here_);
  }
  look(end_, &there_);
  return true;
}

/// One part of the step: to the first event, or to the end. False: failed.
bool EventDriver::advance(double left) {
  cleared_.clear();
  double h = left;
  Candidate due;
  if (!run(h)) return false;
  for (int k = 0; k < kMaxShortenings; ++k) {
    const Candidate found = find_first(h, due);
    if (found.kind == Due::Nothing) break;
    if (found.kind == Due::Jam) {
      cleared_.push_back(found.key);
      due = found;
      if (!run(h, true)) return false;
      continue;
    }
    const double s = locate(found, h);
    if (report_->failed) return false;
    if (s == kJams) {
      // The slip ends at once, by an impulse that does not fall with the length of the step: one without collision.
      cleared_.push_back(found.key);
      due = found;
      due.kind = Due::Jam;
      if (!run(h, true)) return false;
      continue;
    }
    if (s <= 0) {  // it was not there
      cleared_.push_back(found.key);
      if (!run(h, backward_)) return false;
      continue;
    }
    h *= s;
    due = found;
    if (options_.event_state == EventState::Hermite && found.kind == Due::Impact) break;
  }
  return accept(h, due);
}

bool EventDriver::accept(double h, const Candidate& due) {
  if (!trial_.certified()) {
    report_->certified = false;
    report_->note = trial_report_.note;
  }
  raise_to(trial_report_.certificate.residual, &report_->certificate.residual);
  const double before = calc_energy(model_, current_.pose, current_.velocity, current_.axis).total();
  const double after = calc_energy(model_, end_.pose, end_.velocity, current_.axis).total();
  StepInput in = input(h);
  impulses_.add(input(trial_h_, backward_), scheme_, trial_.scratch(), trial_.solution(), end_, h / trial_h_);
  report_->certificate.ledger.add(calc_ledger(in, trial_.scratch(), trial_.solution(), end_, before, after));
  for (std::size_t i = 0; i < model_.bodies.size(); ++i) {
    const Twist &v = current_.velocity[i], &w = end_.velocity[i];
    acceleration_[i] = {(w.linear - v.linear) / h, (w.angular - v.angular) / h};
    weighted_[i] = {v.linear + weights_.alpha * (w.linear - v.linear),
                    v.angular + weights_.alpha * (w.angular - v.angular)};
  }
  const double scale = trial_.impulse_scale() * options_.step / h;
  for (int r = 0; r < model_.joint_rows; ++r) {
    const int row = trial_.scratch().map.joint_row[r];
    end_.joint_impulse[r] = row < 0 ? 0.0 : scale * trial_.solution().lambda[row];
  }
  update_coordinates(model_, current_, &end_);
  update_memory(h, due);
  end_.step = current_.step;
  end_.previous_velocity = current_.previous_velocity;
  std::swap(current_, end_);
  end_.joint_impulse.resize(current_.joint_impulse.size());
  end_.axis = current_.axis;
  end_.idle_axis = current_.idle_axis;
  std::swap(here_, there_);
  if (due.kind == Due::Stick || due.kind == Due::Jam || soft_closing_) stop_slip(due);
  if (due.kind == Due::Impact) forced_.push_back(due.key);
  return true;
}

}  // namespace slipstick
