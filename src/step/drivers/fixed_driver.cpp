// Fixed steps: one trial from the state to the end of the step. It is repeated if a body leaves it faster than stage 3
// assumed, or if its end shows contacts that had no row. If a centre went into something on the way, the step is
// divided at the first touch; rows on the way of the centres are for what goes into something all the same
// (docs/step.md).
#include <algorithm>

#include "step/core_rows.h"
#include "step/drivers/driver.h"
#include "step/drivers/part_limit.h"
#include "step/drivers/touch_part.h"
#include "step/impact_stage.h"
#include "step/landing.h"
#include "step/late_contacts.h"
#include "step/open_contacts.h"
#include "step/touch_impacts.h"

namespace slipstick {

namespace {

/// A divided step has at most so many parts: the last one is the rest of it, with rows on the way of the centres.
constexpr int kMaxParts = 100;
/// How often a part in which a core goes into something is made shorter before the core gets a row.
constexpr int kMostShortened = 3;
/// Of the way through a wall: a corner that is there is pushed back to where it came from.
constexpr double kWithin = 0.3;

class FixedDriver final : public Driver {
 public:
  explicit FixedDriver(Pipe* pipe)
      : Driver(pipe),
        late_(pipe->model, pipe->options.effort),
        open_(pipe->model, pipe->options.effort),
        cores_(pipe->model),
        gamma_(pipe->scheme.weights(pipe->options).gamma),
        reached_(pipe->state),
        touch_part_(pipe->model),
        touches_(pipe->model),
        landings_(pipe->model) {}

  void begin() override;
  void prepare() override;
  bool accept() override;
  bool commit() override;

 private:
  void begin_trials();
  void begin_part();
  double calc_part(double left);
  double threshold() const;
  double calc_until_touch(double part);
  bool misses_closed();
  bool find_cores();
  bool divide();
  bool join();
  void leave_out();
  bool find_late();
  bool divide_turn();
  void rebound();
  void book_impacts();
  void book_touches();
  void book_landings(const State& begun);
  template <class F>
  auto as_struck(const F& look);
  bool covers_end();
  void look_farther();
  bool has_landed(const Contact& contact) const;
  void remember();

  LateContacts late_;
  OpenContacts open_;
  CoreRows cores_;
  double gamma_;
  const State* start_ = nullptr;  ///< of the part: the state, or `reached_`
  State reached_;                 ///< the end of the part before
  double end_time_ = 0;           ///< of the step
  int parts_ = 0;                 ///< before this one; kMaxParts: the step is not divided again
  int shortened_ = 0;             ///< this part, because a core went into something all the same
  int core_repeats_ = 0, late_repeats_ = 0, open_repeats_ = 0;
  bool leaves_out_ = false;   ///< contacts that push against rows on the way of the centres
  bool is_extended_ = false;  ///< the trial has `extended_` instead of what was found
  ContactSet extended_;       ///< what may close, and what the ends of trials and the ways to them have shown
  ContactSet unseen_;         ///< these and what has closed without a row, at the last try
  TouchPart touch_part_;
  std::vector<Twist> speed_;  ///< those with prescribed motion too
  TouchImpacts touches_;
  State struck_;       ///< the state with the velocities with which those begin the trial that are struck within it
  ContactSet raised_;  ///< what the trial has, with gaps that are right at its end
  ContactSet aimed_;   ///< with the lever arms of the touch
  std::vector<Twist> unstruck_;
  ImpactStage impacts_;
  bool rebounded_ = false;
  State restarted_;  ///< the state with the velocities after the impact stage
  Landings landings_;
  bool landed_ = false;
  State touching_;  ///< the state with the velocities at the touch of what comes down within the step
};

void FixedDriver::begin() {
  const double h = pipe_.options.step;
  start_ = &pipe_.state;
  end_time_ = pipe_.state.time + h;
  parts_ = 0;
  shortened_ = 0;
  begin_trials();
  pipe_.input.state = start_;
  pipe_.input.h = calc_until_touch(turns_far(pipe_.model, pipe_.state.velocity, h) ? calc_part(h) : h);
}

/// The rest of a divided step.
void FixedDriver::begin_part() {
  ++parts_;
  shortened_ = 0;
  begin_trials();
  pipe_.look_from(*start_);
  pipe_.input.h = calc_until_touch(calc_part(end_time_ - start_->time));
}

/// What is left of the step, or as much of it as what turns and is near allows: a row has the lever arm of the start.
double FixedDriver::calc_part(double left) {
  if (parts_ + 1 >= kMaxParts) return left;
  const double most = calc_part_limit(pipe_.model, *start_, start_->velocity, pipe_.found.contacts, pipe_.world.fast(),
                                      Open::HaveRows, left);
  if (most < left) ++pipe_.report.divisions;
  return most;
}

double FixedDriver::threshold() const {
  return pipe_.options.restitution_threshold.value_or(calc_plastic_speed(pipe_.model, pipe_.options.step));
}

/// Of a part, as much as there is until something that joints hold touches: its impact has the lever arms of that
/// instant, and what acts until then has acted.
double FixedDriver::calc_until_touch(double part) {
  if (parts_ + 1 >= kMaxParts || pipe_.model.joints.empty() ||
      pipe_.scheme.impacts_before(pipe_.options) != ImpactsBefore::Ahead)
    return part;
  speed_ = start_->velocity;
  for (std::size_t i = 0; i < speed_.size(); ++i)
    if (pipe_.model.bodies[i].kind == BodyKind::Kinematic) speed_[i] = pipe_.prescribed[i];
  const double most = touch_part_.find(*start_, speed_, pipe_.found.contacts, threshold(), part, pipe_.options.step);
  if (most < part) ++pipe_.report.divisions;
  return most;
}

/// What has closed rebounds, what comes down alone does so, and the trial begins with the velocities after that.
void FixedDriver::prepare() {
  StepInput& input = pipe_.input;
  input.state = start_;
  input.contacts = is_extended_ ? &extended_ : &pipe_.found;
  input.landing = {};
  input.rolling = {};
  rebounded_ = landed_ = false;
  rebound();
  const Stopwatch watch(&pipe_.report.seconds.assemble);
  if (!is_extended_) {
    is_extended_ = open_.find_near(*input.state, input.prescribed, input.h, pipe_.found, &extended_);
    if (is_extended_) input.contacts = &extended_;
  }
  if (touches_.raise(*input.contacts, &raised_)) input.contacts = &raised_;
  if (landed_) {
    landings_.aim(*input.contacts, &aimed_);
    input.contacts = &aimed_;
  }
  pipe_.taken = input.contacts == &raised_ || input.contacts == &aimed_ ? input.contacts : nullptr;
}

/// The velocities with which the trial begins, if they are not those of its state.
void FixedDriver::rebound() {
  StepInput& input = pipe_.input;
  const ImpactsBefore stage = pipe_.scheme.impacts_before(pipe_.options);
  if (stage == ImpactsBefore::None) return;
  const bool ahead = stage == ImpactsBefore::Ahead;
  const Stopwatch watch(&pipe_.report.seconds.solve);
  touches_.keep_places(pipe_.log.on());
  if (ahead && touches_.run(input, threshold(), &pipe_.finder, &pipe_.solver, &struck_)) input.state = &struck_;
  rebounded_ = impacts_.run(input, pipe_.scheme, ahead, &pipe_.solver, &restarted_, touches_.handled());
  if (rebounded_) input.state = &restarted_;
  input.rolling = pipe_.trial.find_rolling(input);
  landed_ = ahead && landings_.run(input, touches_.handled(), &pipe_.finder, &pipe_.solver, &touching_);
  if (!landed_) return;
  input.state = &touching_;
  input.landing = landings_.landings();
}

/// Nothing is known yet of what the set found does not have.
void FixedDriver::begin_trials() {
  is_extended_ = leaves_out_ = false;
  core_repeats_ = late_repeats_ = open_repeats_ = 0;
  cores_.begin();
}

bool FixedDriver::accept() {
  pipe_.report.contacts = static_cast<int>(pipe_.without_limits(*pipe_.input.contacts).size());
  pipe_.report.contacts_found = pipe_.found_count;
  if (misses_closed()) return false;
  // Ways first: the end of one that goes through something says nothing of the contacts that there should be.
  const Stopwatch watch(&pipe_.report.seconds.collision);
  return !find_cores() && !find_late();
}

/// With the velocities that those have at the end who are struck within the trial.
template <class F>
auto FixedDriver::as_struck(const F& look) {
  if (touches_.struck().empty()) return look();
  std::vector<Twist>& velocity = pipe_.end.velocity;
  unstruck_ = velocity;
  touches_.kick_end(&pipe_.end);
  const auto seen = look();
  std::swap(velocity, unstruck_);
  return seen;
}

bool FixedDriver::covers_end() {
  return as_struck([&] { return pipe_.reach.covers(pipe_.end); });
}

void FixedDriver::look_farther() {
  as_struck([&] { return pipe_.look_farther(*start_), true; });
}

/// Has anything closed that has no row, because it was not expected to or lay beyond the reach? Again, with its row. If
/// that was not enough, a blow passes through many bodies: then with rows for all that is within reach.
bool FixedDriver::misses_closed() {
  const bool covers = covers_end();
  if (!covers && core_repeats_ > 0 && open_repeats_ < kMaxOpenRepeats) {
    // Rows on the way of centres were found with too short a reach: all of it again, with a longer one.
    const int repeats = open_repeats_ + 1;
    look_farther();
    begin_trials();
    open_repeats_ = repeats;
    ++pipe_.report.reach_repeats;
    return true;
  }
  if (!covers) {
    if (!is_extended_) extended_ = pipe_.found;  // what has rows
    is_extended_ = true;
    pipe_.input.contacts = &extended_;
    look_farther();
  }
  const Stopwatch watch(&pipe_.report.seconds.collision);
  const bool again = open_repeats_ < kMaxOpenRepeats;  // else the rows of the trial stay as they are
  if (!is_extended_ ||
      !open_.find_closed(*start_, pipe_.end, pipe_.input.h, pipe_.found, extended_, again ? &extended_ : &unseen_))
    return false;
  if (!again) {
    pipe_.report.certified = false;
    pipe_.report.note = kClosedUnseen;
    return false;
  }
  if (open_repeats_ > 0) open_.take_all(pipe_.found, extended_, &extended_);
  ++open_repeats_;
  ++pipe_.report.reach_repeats;
  return true;
}

/// Does the centre of anything go into something? Again: only until then, or with a row against it.
bool FixedDriver::find_cores() {
  const bool gives_up = core_repeats_ >= kMaxCoreRepeats, whole = parts_ == 0 || parts_ == kMaxParts;
  if (gives_up && whole && leaves_out_) return false;
  FastPairs& fast = pipe_.world.fast();
  const double h = pipe_.input.h;
  fast.find(*start_, pipe_.end, h, gamma_, h / pipe_.options.step, pipe_.found.contacts);
  if (gives_up && !whole) return join();
  if (divide()) return true;
  if (!cores_.find(*start_, &fast, &pipe_.finder)) return false;
  if (gives_up) core_repeats_ = 0, leaves_out_ = true;
  ++core_repeats_;
  ++pipe_.report.core_repeats;
  if (!is_extended_) extended_ = pipe_.found;
  is_extended_ = true;
  cores_.put_into(&extended_);
  if (leaves_out_) leave_out();
  return true;
}

/// A body that is more than half way in has contacts that push it on, to the other side, against the rows that keep it.
void FixedDriver::leave_out() {
  const auto count = std::erase_if(extended_.contacts, [&](const Contact& contact) { return cores_.opposes(contact); });
  if (count == 0) return;
  pipe_.report.certified = false;
  pipe_.report.note = kLeftOut;
}

/// A trial that goes through something tells nothing of the impact. So the part ends before that, and the next one
/// begins with what touches there.
bool FixedDriver::divide() {
  if (parts_ + 1 >= kMaxParts || shortened_ >= kMostShortened) return false;
  double share = kInfinity;
  if (core_repeats_ == 0) {
    const CoreRows::First first = cores_.find_first(*start_, &pipe_.world.fast(), &pipe_.finder);
    if (first.when <= 1 && !first.near) share = kBefore * first.when;
  }
  // Of a corner that goes through a wall: before that, or within the wall if it is that near, where contacts tell.
  const CoreRows::Passage wall = cores_.find_passage(*start_, &pipe_.world.fast(), &pipe_.finder);
  if (wall.enters <= 1) {
    const double thick = wall.leaves - wall.enters;
    share = std::min(share, wall.enters > thick ? kBefore * wall.enters : wall.enters + kWithin * thick);
  }
  const double part = share * pipe_.input.h;
  if (share > 1 || !(part > kNoTime * pipe_.options.step)) return false;
  ++shortened_;
  ++pipe_.report.divisions;
  pipe_.input.h = part;
  begin_trials();
  return true;
}

/// Rows do not keep a core out of something in this part, since what touches has wrong normals there. The step is taken
/// again as a whole, from where nothing had touched yet: its rows are less accurate and keep the side.
bool FixedDriver::join() {
  if (cores_.find_first(*start_, &pipe_.world.fast(), &pipe_.finder).when > 1) return false;
  pipe_.begin_again();
  begin();
  parts_ = kMaxParts;
  pipe_.report.divisions = 0;
  pipe_.look_from(*start_);
  pipe_.input.h = pipe_.options.step;
  return true;
}

bool FixedDriver::find_late() {
  const double h = pipe_.input.h;
  const bool cheap = pipe_.report.work < kCheapStep;
  if (late_repeats_ >= (cheap ? kMoreLateRepeats : kMaxLateRepeats) ||
      !late_.find(*start_, pipe_.end, h, pipe_.reach.lengths(h), cheap, *pipe_.input.contacts, &pipe_.finder,
                  &extended_))
    return false;
  if (divide_turn()) return true;
  ++late_repeats_;
  ++pipe_.report.late_repeats;
  is_extended_ = true;
  if (leaves_out_) leave_out();
  return true;
}

/// What overlaps at the end was set turning so far by the impacts of this very trial that the lever arms of its rows
/// are those of another body. The part ends where it touches, and the next one has the turning before it.
bool FixedDriver::divide_turn() {
  const double h = pipe_.input.h;
  if (parts_ + 1 >= kMaxParts || shortened_ >= kMostShortened || !turns_far(pipe_.model, pipe_.end.velocity, h))
    return false;
  const double part = calc_part_limit(pipe_.model, *start_, pipe_.end.velocity, pipe_.found.contacts,
                                      pipe_.world.fast(), Open::HaveRows, h);
  if (!(part < h)) return false;
  ++shortened_;
  ++pipe_.report.divisions;
  pipe_.input.h = part;
  begin_trials();
  return true;
}

/// Impacts within the trial. What they did to velocities at its start is in it, the rest comes to its end.
void FixedDriver::book_touches() {
  if (touches_.struck().empty()) return;
  const auto listed = static_cast<std::ptrdiff_t>(pipe_.events.size());
  pipe_.events.insert(pipe_.events.end(), touches_.events().begin(), touches_.events().end());
  std::stable_sort(pipe_.events.begin() + listed, pipe_.events.end(),  // clusters do not wait for each other
                   [](const Event& a, const Event& b) { return a.time < b.time; });
  for (const TouchImpacts::Pass& pass : touches_.passes()) {
    pipe_.log.set_touch(pass.share, pipe_.input.h);
    pipe_.book(pass.result, pipe_.add_impulses(touches_.touching_at(pass), pass.scratch, PartKind::Touch, pass.pose));
  }
  EnergyLedger ledger;
  ledger.change = ledger.numerical = touches_.calc_energy_left(pipe_.end);
  pipe_.report.certificate.ledger.add(ledger);
  for (const int body : touches_.struck())
    pipe_.impulses.add_contact_moment(body, touches_.calc_turned_moment(body, pipe_.end.pose[body]));
  touches_.kick_end(&pipe_.end);
}

/// What was done before the trial, and in it.
void FixedDriver::book_impacts() {
  StepInput at = pipe_.input;
  const bool struck = !touches_.struck().empty();
  const State& begun = struck ? struck_ : *start_;
  pipe_.log.go_before_motion();
  if (struck) pipe_.log.add_kick(PartKind::Early, start_->time, *start_, start_->velocity, struck_.velocity);
  if (rebounded_) {
    pipe_.events.insert(pipe_.events.end(), impacts_.events().begin(), impacts_.events().end());
    for (const ImpactStage::Pass& pass : impacts_.passes()) {
      at.contacts = &pass.contacts;
      pipe_.book(pass.result, pipe_.add_impulses(at, pass.scratch));
    }
  }
  if (struck && pipe_.log.on()) unstruck_ = pipe_.end.velocity;
  book_touches();
  if (landed_) book_landings(begun);
  if (struck) pipe_.log.add_kick(PartKind::Late, pipe_.end.time, pipe_.end, unstruck_, pipe_.end.velocity);
}

/// `begun`: the state before the impact stage.
void FixedDriver::book_landings(const State& begun) {
  EnergyLedger ledger;
  ledger.correction = landings_.gravity_work();
  ledger.load = landings_.load_work();
  ledger.change = ledger.correction + ledger.load;
  pipe_.report.certificate.ledger.add(ledger);
  const ImpactResult* carried = landings_.carried();
  pipe_.log.add_fall(rebounded_ ? restarted_ : begun, carried ? landings_.scratch().initial : touching_.velocity);
  if (carried)
    pipe_.book(*carried, pipe_.add_impulses(landings_.carried_at(pipe_.input), landings_.scratch(), PartKind::Carried,
                                            pipe_.input.state->pose));
}

bool FixedDriver::commit() {
  book_impacts();
  remember();
  State& end = pipe_.end;
  if (end_time_ - end.time > kNoTime * pipe_.options.step) {
    end.step = start_->step;
    end.previous_velocity = start_->velocity;
    std::swap(reached_, end);
    start_ = &reached_;
    begin_part();
    return false;
  }
  pipe_.weighted = end.velocity;
  pipe_.commit(start_->velocity, &end);
  return true;
}

/// Whether one of its bodies came down in the trial.
bool FixedDriver::has_landed(const Contact& contact) const {
  if (!landed_ || contact.limit >= 0) return false;
  const std::span<const Landing> landing = landings_.landings();
  return std::max(landing[contact.body_a].share, landing[contact.body_b].share) >= 0;
}

/// What the next step must know of this one's contacts and joints.
void FixedDriver::remember() {
  const StepProblem& made = pipe_.trial.made();
  const VecX& lambda = pipe_.trial.solution().lambda;
  const std::vector<ContactMemory>& last = start_->contact_memory;
  const double whole = pipe_.options.step / pipe_.input.h;  // impulses are remembered as those of a whole step
  State& end = pipe_.end;
  end.contact_memory.clear();
  const double largest = pipe_.trial.calc_largest_normal();
  std::size_t m = 0;
  for (std::size_t i = 0; i < made.equations->contacts.size(); ++i) {
    const int row = made.map.contact_row[i];
    if (row < 0 || !(lambda[row] > kLoaded * largest)) continue;
    const ContactRows& rows = made.equations->contacts[i];
    const Contact& contact = pipe_.input.contacts->contacts[rows.contact];
    if (contact.central) {
      ++pipe_.report.core_rows;
      pipe_.add_force(contact, rows.friction, pipe_.trial.calc_contact_impulse(i, made.impulse_scale),
                      pipe_.trial.uniqueness(i));
      continue;
    }
    ContactMemory memory;
    memory.key = contact.key;
    const Vec3 impulse = pipe_.trial.calc_contact_impulse(i, made.impulse_scale);
    memory.impulse = whole * impulse;
    memory.loaded = true;
    memory.uniqueness = pipe_.trial.uniqueness(i);
    while (m < last.size() && last[m].key < contact.key) ++m;
    const bool was_loaded = m < last.size() && last[m].key == contact.key && last[m].loaded;
    memory.collided = !was_loaded && made.restitution[i] == 0;
    memory.closed = has_landed(contact);
    end.contact_memory.push_back(memory);
    pipe_.add_force(contact, rows.friction, impulse, memory.uniqueness);
  }
  pipe_.remember_joints(*start_);
}

}  // namespace

std::unique_ptr<Driver> make_fixed_driver(Pipe* pipe) { return std::make_unique<FixedDriver>(pipe); }

std::unique_ptr<Driver> make_driver(Pipe* pipe) {
  const bool fixed = pipe->scheme.looks_ahead() && !pipe->scheme.locates(pipe->options);
  return fixed ? make_fixed_driver(pipe) : make_event_driver(pipe);
}

}  // namespace slipstick
