// The event driver: one nominal step as a chain of parts that end where something happens (docs/schemes.md). Each part
// begins with the impacts that are due and the closed set (closed_set.h); a search decides where it ends
// (event_search.h).
//
// Without `locate` every trial is accepted whole and impacts are those of the contacts found below zero at its start.
#include <algorithm>

#include "step/core_rows.h"
#include "step/drivers/driver.h"
#include "step/drivers/event_search.h"
#include "step/drivers/part_limit.h"
#include "step/drivers/step_control.h"

namespace slipstick {

namespace {

/// More parts than this in one nominal step are a reported fault: impacts are plastic from there on, and after twice as
/// many the rest of the step is not located.
constexpr int kMaxEvents = 1000;
/// How often a part in which a core goes into something is made shorter before the core is stopped, and in all.
constexpr int kShortenedFirst = 3, kMaxShortened = 20;

class EventDriver final : public Driver {
 public:
  explicit EventDriver(Pipe* pipe);

  void begin() override;
  void prepare() override;
  bool accept() override;
  bool commit() override;

 private:
  void begin_part();
  void settle();
  void update_known();
  void stop_slip(const Candidate& due);
  void count_part();
  bool end_step();
  void update_instant();
  StepInput make_instant(const ContactSet& contacts);
  bool goes_through();
  bool is_too_long();
  void stop_cores();
  void drop_opposed();
  void count_rows();
  double time_left() const { return end_time_ - current_.time; }

  const Model& model_;
  const SimulationOptions& options_;
  double alpha_, gamma_;
  CoreRows cores_;
  ContactMotion motion_;
  ClosedSet closed_;
  EventSearch search_;
  StepControl control_;
  ImpactScratch impact_;

  State current_;     ///< start of the part
  ContactSet there_;  ///< contacts at the end of the trial
  double end_time_ = 0;
  int parts_ = 0;
  int shortened_ = 0;                ///< this part, because a core went into something
  int core_repeats_ = 0;             ///< trials of this part with rows on the way of the centres
  double rows_h_ = 0;                ///< length of the trial in which these were found
  bool plastic_ = false;             ///< too many events: no more restitution in this step
  bool starting_ = false;            ///< the first step: joint speeds that are not zero are an impact
  bool settled_ = false;             ///< the closed set is that of current_
  std::vector<Twist> instant_;       ///< velocities of kinematic bodies at current_
  std::vector<Twist> acceleration_;  ///< of the part before
  std::vector<Event> impact_events_;
  ContactSet stopping_;
  ContactSet with_rows_, middle_with_rows_;  ///< what is closed, and rows on the way of the centres after that
  std::vector<char> sticking_;
};

EventDriver::EventDriver(Pipe* pipe)
    : Driver(pipe),
      model_(pipe->model),
      options_(pipe->options),
      alpha_(pipe->scheme.weights(pipe->options).alpha),
      gamma_(pipe->scheme.weights(pipe->options).gamma),
      cores_(pipe->model),
      motion_(pipe->model, pipe->input),
      closed_(pipe),
      search_(pipe, closed_),
      control_(pipe->model, pipe->options),
      instant_(pipe->model.bodies.size()),
      acceleration_(pipe->model.bodies.size()) {}

void EventDriver::begin() {
  const State& state = pipe_.state;
  current_ = state;
  end_time_ = static_cast<double>(state.step + 1) * options_.step;
  starting_ = state.step == 0;
  control_.begin(state.pace);
  plastic_ = false;
  settled_ = false;
  parts_ = 0;
  closed_.begin_step();
  search_.begin_step();
  for (Twist& a : acceleration_) a = {model_.gravity, Vec3::Zero()};
  update_instant();
  for (std::size_t i = 0; i < model_.bodies.size(); ++i)
    if (model_.bodies[i].kind == BodyKind::Kinematic) current_.velocity[i] = instant_[i];
  begin_part();
}

void EventDriver::begin_part() {
  shortened_ = core_repeats_ = 0;
  cores_.begin();
  double left = time_left();
  if (control_.active()) left = pipe_.input.h_nominal = control_.choose(left);
  const double most = search_.locates() ? calc_part_limit(model_, current_, current_.velocity, pipe_.found.contacts,
                                                          pipe_.world.fast(), Open::Watched, left)
                                        : left;
  if (most < left) ++pipe_.report.divisions;
  search_.begin_part(current_, most);
  pipe_.input.state = &current_;
  pipe_.input.closed = true;
  pipe_.input.h = search_.asked_h();
  pipe_.input.backward = false;
}

void EventDriver::update_instant() {
  for (std::size_t i = 0; i < model_.bodies.size(); ++i)
    if (model_.bodies[i].kind == BodyKind::Kinematic)
      instant_[i] = calc_kinematic_twist(model_.bodies[i], current_.pose[i], current_.time, pipe_.options.step);
}

/// What an impact or a projection at this very instant is given.
StepInput EventDriver::make_instant(const ContactSet& contacts) {
  update_instant();
  StepInput in = pipe_.input;
  in.state = &current_;
  in.contacts = &contacts;
  in.middle = nullptr;
  in.prescribed = instant_;
  in.h = 0;
  in.backward = false;
  return in;
}

/// Who is closed at `current_`, after the impacts that are due there.
void EventDriver::settle() {
  settled_ = true;
  if (closed_.gather(current_, starting_)) {
    ImpactInput impact;
    impact.step = make_instant(closed_.gathered());
    impact.joints = starting_;
    // A speed that closes a joint is given by the first part of a step, however short. If an impact took it away, the
    // part after it would give it again, as a blow that closes the contact once more: thousands of impacts in no time.
    impact.keeps_joint_speed = !starting_ && pipe_.scheme.corrects_overlap(options_);
    impact.closing_share = kRest;
    impact.plastic = plastic_;
    impact.acceleration = acceleration_;
    impact_events_.clear();
    const ImpactResult result = apply_impact(impact, &pipe_.solver, &impact_, &current_.velocity, &impact_events_);
    for (const Event& event : impact_events_) closed_.add_event(event);
    if (result.happened) pipe_.book(result, pipe_.add_impulses(impact.step, impact_));
  }
  starting_ = false;
  closed_.close(&current_);
}

void EventDriver::prepare() {
  if (!settled_) settle();
  const double place = pipe_.scheme.row_place(options_);
  const bool middle = place > 0;
  if (middle) closed_.update_middle(current_, place * pipe_.input.h);
  pipe_.input.contacts = &closed_.contacts();
  pipe_.input.middle = middle ? &closed_.middle() : nullptr;
  if (core_repeats_ == 0) return;
  const auto add_rows = [&](const ContactSet** contacts, ContactSet* more) {
    if (*contacts == nullptr) return;
    more->contacts = (*contacts)->contacts;
    const std::size_t first = more->contacts.size();
    cores_.append_to(more);  // at the end: who counts closed contacts finds them where they were
    // What a core must go back by is asked of the trial that the row was found in. In a shorter one (1e-12 of a step,
    // where something else comes first) the same way would be a speed without bounds.
    const double share = std::min(1.0, pipe_.input.h / rows_h_);
    for (std::size_t i = first; i < more->contacts.size(); ++i)
      if (more->contacts[i].gap < 0) more->contacts[i].gap *= share;
    *contacts = more;
  };
  add_rows(&pipe_.input.contacts, &with_rows_);
  add_rows(&pipe_.input.middle, &middle_with_rows_);
}

bool EventDriver::accept() {
  if (!pipe_.covers_end()) return false;
  pipe_.find(pipe_.end, &there_);
  const bool accepted = search_.look(&there_);
  if (accepted && (goes_through() || is_too_long())) return false;
  pipe_.input.h = accepted ? search_.h() : search_.asked_h();
  pipe_.input.backward = search_.asked_backward();
  return accepted;
}

/// Has a core gone into something that the search did not see coming? Then the part ends before that, where bodies
/// overlap and their contact tells of it. If they overlap already, it does not: the core itself is stopped, and gets a
/// row for the rest of the part.
bool EventDriver::goes_through() {
  if (!search_.locates() || shortened_ >= kMaxShortened) return false;
  FastPairs& fast = pipe_.world.fast();
  const double h = search_.h();
  fast.find(current_, pipe_.end, h, gamma_, h / options_.step, pipe_.found.contacts);
  const CoreRows::First first = cores_.find_first(current_, &fast, &pipe_.finder);
  if (first.when > 1) return false;
  const double before = kBefore * first.when * h;
  const bool at_once = !(before > kNoTime * options_.step);
  const bool stops = (first.near || at_once || shortened_ >= kShortenedFirst) && core_repeats_ < kMaxCoreRepeats;
  if (at_once && !stops) return false;
  ++shortened_;
  ++pipe_.report.divisions;
  if (stops) stop_cores();
  search_.begin_part(current_, stops ? h : before);
  pipe_.input.h = search_.asked_h();
  pipe_.input.backward = false;
  return true;
}

/// The error of the part is larger than SimulationOptions::accuracy allows: again, shorter.
bool EventDriver::is_too_long() {
  if (!control_.active() || search_.asked_backward()) return false;
  if (control_.accept(current_, pipe_.end, search_.h(), &pipe_.report.pace)) return false;
  begin_part();
  return true;
}

/// An impact on the way of the centres, for want of a contact that would do it.
void EventDriver::stop_cores() {
  cores_.find(current_, &pipe_.world.fast(), &pipe_.finder);
  rows_h_ = search_.h();
  ++core_repeats_;
  ++pipe_.report.core_repeats;
  drop_opposed();
  if (core_repeats_ > 1) return;
  stopping_.contacts.clear();
  cores_.append_to(&stopping_);
  pipe_.report.core_rows += static_cast<int>(stopping_.contacts.size());
  ImpactInput impact;
  impact.step = make_instant(stopping_);
  impact.closing_share = kRest;
  impact.plastic = plastic_;
  impact.acceleration = acceleration_;
  impact_events_.clear();
  const ImpactResult result = apply_impact(impact, &pipe_.solver, &impact_, &current_.velocity, &impact_events_);
  if (result.happened) pipe_.book(result, pipe_.add_impulses(impact.step, impact_));
}

/// A body that is more than half way in has contacts that push it on, to the other side. They are left out of this
/// part, and the step is not certified.
void EventDriver::drop_opposed() {
  const int dropped = closed_.drop([&](const Contact& contact) { return cores_.opposes(contact); });
  if (dropped == 0) return;
  pipe_.report.certified = false;
  pipe_.report.note = kLeftOut;
}

/// Rows on the way of the centres that carried load in the part.
void EventDriver::count_rows() {
  if (core_repeats_ == 0) return;
  const StepProblem& made = pipe_.trial.made();
  const double least = kLoaded * pipe_.trial.calc_largest_normal();
  for (std::size_t i = closed_.contacts().contacts.size(); i < with_rows_.contacts.size(); ++i) {
    const int row = made.map.contact_row[i];
    if (row < 0 || !(pipe_.trial.solution().lambda[row] > least)) continue;
    ++pipe_.report.core_rows;
    pipe_.add_force(with_rows_.contacts[i], made.equations->contacts[i].friction,
                    pipe_.trial.calc_contact_impulse(i, pipe_.calc_share() * made.impulse_scale),
                    pipe_.trial.uniqueness(i));
  }
}

/// The part that was accepted, as the next ones must know it.
void EventDriver::update_known() {
  const double h = pipe_.input.h;
  State& end = pipe_.end;
  for (std::size_t i = 0; i < model_.bodies.size(); ++i) {
    const Twist &v = current_.velocity[i], &w = end.velocity[i];
    acceleration_[i] = {(w.linear - v.linear) / h, (w.angular - v.angular) / h};
    pipe_.weighted[i] = {v.linear + alpha_ * (w.linear - v.linear), v.angular + alpha_ * (w.angular - v.angular)};
  }
  pipe_.remember_joints(current_);
  end.step = current_.step;
  end.previous_velocity = current_.previous_velocity;
}

bool EventDriver::commit() {
  update_known();
  count_rows();
  const bool soft_closing = closed_.remember(current_, there_, search_.due(), search_.cuts());
  const Candidate due = search_.due();
  if (due.kind != Due::Nothing || soft_closing) control_.forget();
  search_.end_part();
  std::swap(current_, pipe_.end);
  std::swap(pipe_.found, there_);
  if (due.kind == Due::Stick || due.kind == Due::Jam || soft_closing) stop_slip(due);
  if (due.kind == Due::Impact) closed_.force(due.key);
  const bool over = !(time_left() > kNoTime * options_.step);
  if (over) current_.time = end_time_;
  settle();
  if (!control_.active() || due.kind != Due::Nothing) count_part();
  if (over) return end_step();
  begin_part();
  return false;
}

void EventDriver::count_part() {
  if (++parts_ <= kMaxEvents) return;
  plastic_ = true;
  const bool gives_up = parts_ > 2 * kMaxEvents;
  if (gives_up) search_.give_up();
  pipe_.report.certified = false;
  pipe_.report.note = gives_up ? "more than 2000 events in one step: the rest of it was not located"
                               : "more than 1000 events in one step: further impacts in it were plastic";
}

bool EventDriver::end_step() {
  StepReport& report = pipe_.report;
  const std::vector<Contact>& closed = closed_.contacts().contacts;
  report.contacts = static_cast<int>(
      std::count_if(closed.begin(), closed.end(), [](const Contact& contact) { return contact.limit < 0; }));
  report.contacts_found = report.contacts;
  report.warm_contacts = std::min(report.contacts, report.warm_contacts);
  std::stable_sort(pipe_.events.begin(), pipe_.events.end(),
                   [](const Event& a, const Event& b) { return a.time < b.time; });
  current_.pace = control_.pace();
  pipe_.input.h_nominal = options_.step;
  pipe_.commit(pipe_.state.velocity, &current_);
  return true;
}

/// A slip has come to its end at current_: nothing of it stays in v ([methods 4.4]).
void EventDriver::stop_slip(const Candidate& due) {
  stopping_.contacts.clear();
  sticking_.clear();
  std::size_t m = 0;
  const std::vector<ContactMemory>& memory = current_.contact_memory;
  for (const Contact& contact : pipe_.found.contacts) {
    while (m < memory.size() && memory[m].key < contact.key) ++m;
    if (m == memory.size() || memory[m].key != contact.key || !memory[m].loaded) continue;
    stopping_.contacts.push_back(contact);
    const bool at_rest = motion_.calc_slip(contact, current_).norm() <= motion_.rest_speed(contact, current_);
    const bool stops = due.kind != Due::Nothing && contact.key == due.key;
    sticking_.push_back(stops || memory[m].sticking || at_rest ? 1 : 0);
  }
  const StepInput in = make_instant(stopping_);
  const double before = calc_kinetic(model_, current_.velocity);
  LadderResult result = project_velocity(in, sticking_, &pipe_.solver, &impact_, &current_.velocity);
  result.certified = true;  // it only cleans: what redundant rows leave of it is in the residual, and is no verdict
  pipe_.book(result);
  EnergyLedger ledger;
  ledger.kinematic = pipe_.add_impulses(in, impact_, PartKind::Projection);
  ledger.change = calc_kinetic(model_, current_.velocity) - before;
  ledger.friction = ledger.change - ledger.kinematic;
  pipe_.report.certificate.ledger.add(ledger);
  if (due.kind != Due::Jam) return;
  for (const Contact& contact : stopping_.contacts)
    if (contact.key == due.key)
      closed_.add_event({EventKind::Impact, current_.time, contact.body_a, contact.body_b, 0, 0});
}

}  // namespace

std::unique_ptr<Driver> make_event_driver(Pipe* pipe) { return std::make_unique<EventDriver>(pipe); }

}  // namespace slipstick
