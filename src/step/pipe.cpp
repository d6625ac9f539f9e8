#include "step/pipe.h"

#include <algorithm>
#include <utility>

#include "step/audit.h"
#include "step/formulas.h"
#include "step/insert_contacts.h"
#include "step/overlap.h"

namespace slipstick {

namespace {

/// What is known of a force of which two parts are known.
Uniqueness find_worse(Uniqueness a, Uniqueness b) {
  for (const Uniqueness worst : {Uniqueness::Arbitrary, Uniqueness::Unknown, Uniqueness::Chosen})
    if (a == worst || b == worst) return worst;
  return Uniqueness::Unique;
}

/// Whether a sensor shows what a joint carries.
bool is_of_joint(const Sensor& sensor) {
  return sensor.kind == SensorKind::Joint && sensor.quantity != Quantity::Position &&
         sensor.quantity != Quantity::Velocity;
}

/// Whether a body is elsewhere, or moves in another way.
bool is_other(const State& a, const State& b, std::size_t body) {
  return a.pose[body].position != b.pose[body].position ||
         a.pose[body].orientation.coeffs() != b.pose[body].orientation.coeffs() ||
         a.velocity[body].linear != b.velocity[body].linear || a.velocity[body].angular != b.velocity[body].angular;
}

/// All that a correction changes of a state. What is remembered of contacts is long, and stays what it is.
void copy_motion(const State& from, State* to) {
  to->time = from.time;
  to->pose = from.pose;
  to->velocity = from.velocity;
  to->axis = from.axis;
  to->idle_axis = from.idle_axis;
}

/// Equalities alone, of joints: whatever solver is chosen or tried out for steps, these are solved directly.
SimulationOptions make_end_options(SimulationOptions options) {
  options.solver = "auto";
  options.solver_options = {};
  options.effort = Effort::Exact;
  options.budget = 0;
  options.prototype = nullptr;
  return options;
}

}  // namespace

Pipe::Pipe(const Model& m, const SimulationOptions& o, State initial, Scheme* s)
    : model(m),
      options(o),
      scheme(*s),
      team(o.threads),
      solver(o, &team),
      end_solver(make_end_options(o), &team),
      finder(m),
      reach(m, o.effort),
      world(m),
      trial(s, &solver, &end_solver, &finder),
      prescribed(m.bodies.size()),
      log(m),
      impulses(m, &log),
      readings(m),
      sensors(m),
      correction_(m, o, &team) {
  finder.set_team(&team);
  input.model = &model;
  input.options = &options;
  input.prescribed = prescribed;
  input.team = &team;
  input.h_nominal = options.step;
  restart(std::move(initial));
}

void Pipe::restart(State from) {
  state = std::move(from);
  end = state;
  weighted = state.velocity;
  begin();
  report = {};
  look_around();
  readings.update(state, nullptr, options.step);
  sensors.restart(readings, state);
}

std::span<const Contact> Pipe::without_limits(const ContactSet& set) const {
  return std::span<const Contact>(set.contacts).subspan(std::min(model.limits.size(), set.contacts.size()));
}

// ---------------------------------------------------------------- stages

bool Pipe::check_state() {
  if (is_finite(state)) return true;
  report.failed = true;
  report.certified = false;
  report.note = "the state is not finite";
  return false;
}

void Pipe::update_kinematics() {
  has_motions = true;
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    if (model.bodies[i].kind != BodyKind::Kinematic) continue;
    prescribed[i] = calc_kinematic_mean(model.bodies[i], input.state->pose[i], input.state->time, input.h);
    if (prescribed[i].linear.allFinite() && prescribed[i].angular.allFinite()) continue;
    has_motions = false;
    prescribed[i] = {};  // the step will fail; until then contacts can be looked for
  }
}

void Pipe::find_contacts() {
  if (known_) return;
  const Stopwatch watch(&report.seconds.collision);
  search(*input.state, &found);
  take_found();
}

/// What there is to know of the contacts found at the start of the trial, which are those of shapes alone yet.
void Pipe::take_found() {
  found_count = static_cast<int>(found.contacts.size());
  found_depth = 0;
  for (const Contact& contact : found.contacts) found_depth = std::max(found_depth, -contact.gap);
  if (options.reduce_contacts) reducer_.reduce(model, input.state->contact_memory, &found);
  add_limit_contacts(model, *input.state, &found);
  known_ = true;
}

/// The same where only contacts of these bodies may have changed since they were found.
void Pipe::look_again(std::span<const char> bodies) {
  const auto is_of = [&](int body) { return body != kWorld && bodies[body] != 0; };
  const auto is_old = [&](const Contact& contact) {
    return contact.limit >= 0 || is_of(contact.body_a) || is_of(contact.body_b);
  };
  const auto old = static_cast<std::size_t>(std::count_if(found.contacts.begin(), found.contacts.end(), is_old));
  // With `reduce_contacts` those that were left out are not known any more.
  if (options.reduce_contacts || 2 * old > found.contacts.size()) {
    known_ = false;
    return find_contacts();
  }
  const Stopwatch watch(&report.seconds.collision);
  finder.find(*input.state, reach.lengths(options.step), bodies, &part_);
  report.seconds.broad_phase += finder.broad_phase_seconds();
  std::erase_if(found.contacts, is_old);
  places_.clear();
  std::size_t place = 0;
  for (const Contact& contact : part_.contacts) {
    while (place < found.contacts.size() && !(contact.key < found.contacts[place].key)) ++place;
    places_.push_back(place);
  }
  insert_contacts(
      places_, [&](std::size_t i) { return part_.contacts[i]; }, &found.contacts);
  take_found();
}

void Pipe::audit() {
  const Stopwatch watch(&report.seconds.advance);
  world.check_way(*input.state, end, input.h, scheme.weights(options).gamma, input.h / options.step, found.contacts,
                  options.audit, &report);
  const LadderResult& outcome = trial.outcome();
  report.certified = report.certified && outcome.certified;
  report.heap = report.heap || trial.has_heap();
  report.settled = report.settled || outcome.settled;
  report.exhausted = report.exhausted || outcome.exhausted;
  if (!outcome.note.empty()) report.note = outcome.note;
  if (!outcome.relaxed.empty()) report.relaxed = outcome.relaxed;
  raise_to(outcome.residual, &report.certificate.residual);
  const double before = calc_energy(model, input.state->pose, input.state->velocity, input.state->axis).total();
  const double after = calc_energy(model, end.pose, end.velocity, end.axis).total();
  StepInput whole = input;
  whole.h = trial.h();
  if (taken != nullptr) whole.contacts = taken;
  log.begin_motion(input, trial.made());
  impulses.add(whole, scheme, trial.made(), trial.solution(), end, calc_share());
  log.end_motion(input, trial.made(), trial.solved(), trial.solution(), end);
  report.certificate.ledger.add(calc_ledger(input, trial.made(), trial.solution(), end, before, after));
  update_joint_error(end);
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    if (!is_blurred(model.bodies[i], end.pose[i].position)) continue;
    report.certified = false;
    report.note = "a body is so far from the origin that the last digit of its place is no rounding any more";
    break;
  }
}

void Pipe::commit(std::span<const Twist> before, State* reached) {
  {
    const Stopwatch watch(&report.seconds.advance);
    reached->step = state.step + 1;
    reached->time = static_cast<double>(reached->step) * options.step;
    reached->previous_velocity.assign(before.begin(), before.end());
    std::swap(state, *reached);
    for (ContactForce& each : forces) {
      each.force /= options.step;
      report.arbitrary += each.uniqueness == Uniqueness::Arbitrary;
      report.not_unique += each.uniqueness == Uniqueness::Arbitrary || each.uniqueness == Uniqueness::Chosen;
    }
    const bool reads = reads_joints_ || std::any_of(model.sensors.begin(), model.sensors.end(), is_of_joint);
    if (reads && options.unique_forces) impulses.share_joints();
    read_ = reads || !options.unique_forces || !impulses.has_loops();
    readings.update(state, &impulses, options.step);
  }
  report.events = static_cast<int>(events.size());
  look_around();
  correct();
  report.stopped = is_stopped();
  if (report.stopped) return std::swap(state, *reached);
  sensors.update(readings, forces, *reached, options.step, &state);
  report.certificate.penetration = found_depth;  // of all that were found, kept or not
  world.run(state, without_limits(found), options.audit, &report);
}

/// What overlaps for real is moved apart; the contacts are then those of the state as it is after that.
void Pipe::correct() {
  if (!scheme.corrects_overlap(options) || !correction_.is_due(state, found)) return;
  CorrectionResult made;
  copy_motion(state, &uncorrected_);
  {
    const Stopwatch watch(&report.seconds.solve);
    made = correction_.run(found, &finder, &solver, &state);
  }
  report.escalations += made.solve.escalations;  // iterations are those of the step's own problems
  if (made.moved == 0) return;
  if (world.enters(uncorrected_, state, found.contacts)) {
    copy_motion(uncorrected_, &state);
    report.certified = false;
    report.note = "overlap is left as it is: what its contacts ask for would move a body through another";
    return;
  }
  log.add_correction(uncorrected_, state);
  report.corrections = 1;
  report.corrected = made.moved;
  EnergyLedger ledger;
  ledger.change = ledger.correction = made.energy;
  report.certificate.ledger.add(ledger);
  update_joint_error(state);
  if (impulses.add_turn(uncorrected_.velocity, state.velocity))
    readings.update(state, &impulses, options.step);
  else
    readings.update_joints(state, &impulses, options.step);  // coordinates
  changed_.resize(model.bodies.size());
  for (std::size_t i = 0; i < changed_.size(); ++i) changed_[i] = is_other(uncorrected_, state, i);
  reach.assume(state, prescribed, options.step);
  look_again(changed_);
}

void Pipe::update_joint_error(const State& at) {
  report.certificate.joint_error =
      std::max(calc_joint_error(model, at.pose, &joint_scratch_), calc_axis_error(model, at));
  report.open_joints = count_open_joints(model, options.step, at.velocity, joint_scratch_);
  if (report.open_joints > 0) {
    report.certified = false;
    report.note = "a joint stands open and is held as it is: too far apart to be closed by a speed";
  } else if (has_torn(model, at, joint_scratch_)) {
    report.certified = false;
    report.note = "a joint has come apart by more than half its size, or half a radian: the step is too long for it";
  }
}

const Readings& Pipe::read() {
  if (read_) return readings;
  const std::lock_guard lock(reading_);
  if (read_) return readings;
  reads_joints_ = true;
  impulses.share_joints();
  readings.update(state, &impulses, options.step);
  read_ = true;
  return readings;
}

// ---------------------------------------------------------------- what they use

void Pipe::begin() {
  report = {};
  report.certified = true;
  events.clear();
  forces.clear();
  impulses.clear();
  read_ = true;  // what is shown now is all that can be known of the last step
  log.begin_step(state);
  world.begin();
  solver.begin(&report);
  end_solver.begin(nullptr);
  repeats_ = 0;
}

void Pipe::begin_again() {
  const StepReport spent = report;
  begin();
  report.iterations = spent.iterations;
  report.escalations = spent.escalations;
  report.work = spent.work;
  report.islands = spent.islands;
  report.held = spent.held;
  report.reach_repeats = spent.reach_repeats;
  report.late_repeats = spent.late_repeats;
  report.core_repeats = spent.core_repeats;
  report.seconds = spent.seconds;
}

const StepReport& Pipe::fail(std::string_view note) {
  report.failed = true;
  report.certified = false;
  report.note = note;
  events.clear();
  forces.clear();
  log.begin_step(state);
  look_around();
  return report;
}

const StepReport& Pipe::fail_for_value(std::string_view otherwise) {
  value_fault_ = find_formula_fault(input);
  return fail(value_fault_.empty() ? otherwise : std::string_view(value_fault_));
}

const StepReport& Pipe::discard() {
  State before = std::move(state);
  restart(std::move(before));
  report.failed = report.stopped = true;
  report.note = "stopped";
  return report;
}

/// The contacts of the state, within what the coming step may reach.
void Pipe::look_around() {
  input.state = &state;
  input.h = options.step;
  update_kinematics();
  reach.assume(state, prescribed, options.step);
  known_ = false;
  find_contacts();
}

void Pipe::look_from(const State& start) {
  input.state = &start;
  known_ = false;
  find_contacts();
}

void Pipe::search(const State& at, ContactSet* contacts) {
  finder.find(at, reach.lengths(options.step), contacts);
  report.seconds.broad_phase += finder.broad_phase_seconds();
}

void Pipe::find(const State& at, ContactSet* contacts) {
  const Stopwatch watch(&report.seconds.collision);
  search(at, contacts);
  add_limit_contacts(model, at, contacts);
}

bool Pipe::covers_end() {
  if (repeats_ >= kMaxReachRepeats || reach.covers(end)) {
    repeats_ = 0;
    return true;
  }
  reach.raise(end);
  ++repeats_;
  ++report.reach_repeats;
  known_ = false;
  return false;
}

void Pipe::look_farther(const State& start) {
  const std::span<const char> raised = reach.raise(end);
  const State* given = std::exchange(input.state, &start);
  look_again(raised);
  input.state = given;
}

void Pipe::book(const ImpactResult& impact, double kinematic) {
  book(impact.solve);
  report.impact_guards += impact.guarded ? 1 : 0;
  EnergyLedger ledger;
  ledger.change = impact.energy_change;
  ledger.friction = impact.friction_work;
  ledger.kinematic = kinematic;
  ledger.impact = impact.energy_change - impact.friction_work - kinematic;
  report.certificate.ledger.add(ledger);
}

void Pipe::book(const LadderResult& solved) {
  report.iterations += solved.iterations;
  report.escalations += solved.escalations;
  report.heap = report.heap || solved.tolerance > options.tolerance;
  report.settled = report.settled || solved.settled;
  report.exhausted = report.exhausted || solved.exhausted;
  report.choices += solved.choices;
  report.seconds.certify += solved.certify_seconds;
  raise_to(solved.residual, &report.certificate.residual);
  if (!solved.relaxed.empty()) report.relaxed = solved.relaxed;
  if (solved.certified) return;
  report.certified = false;
  report.note = solved.note;
}

void Pipe::add_force(const Contact& contact, double friction, const Vec3& impulse, Uniqueness uniqueness) {
  if (contact.limit >= 0) return;
  if (forces.empty() || forces.back().contact.key < contact.key) {  // they come in the order of their keys
    forces.push_back({contact, impulse, uniqueness, friction});
    return;
  }
  const auto place =
      std::lower_bound(forces.begin(), forces.end(), contact.key,
                       [](const ContactForce& each, const ContactKey& key) { return each.contact.key < key; });
  if (place == forces.end() || place->contact.key != contact.key) {
    forces.insert(place, {contact, impulse, uniqueness, friction});
    return;
  }
  place->contact = contact;
  place->friction = friction;
  place->force += impulse;
  place->uniqueness = find_worse(place->uniqueness, uniqueness);
}

void Pipe::remember_joints(const State& start) {
  const double unseen = std::max(0.0, 1 - input.h / options.step);
  end.joint_impulse.resize(model.joint_rows);
  for (int r = 0; r < model.joint_rows; ++r) {
    const double known = start.joint_impulse.empty() ? 0 : start.joint_impulse[r];
    end.joint_impulse[r] = unseen * known + calc_share() * trial.made().calc_joint_impulse(r, trial.solution());
  }
}

double Pipe::add_impulses(const StepInput& at, const ImpactScratch& scratch, PartKind kind,
                          std::span<const Pose> places) {
  const double before = impulses.calc_work_on_given(at.prescribed);
  double belts = 0;
  log.begin_instant(kind, at, places.empty() ? std::span<const Pose>(at.state->pose) : places);
  impulses.add_impact(at, scratch);
  log.end_instant(at, scratch);
  for (std::size_t i = 0; i < scratch.contact_impulse.size(); ++i) {
    const ContactRows& rows = scratch.equations.contacts[i];
    Vec3 impulse = Vec3::Zero();
    for (int k = 0; k < rows.count; ++k) impulse += scratch.contact_impulse[i][k] * rows.direction[k];
    for (int k = 1; k < rows.count; ++k) belts -= scratch.contact_impulse[i][k] * rows.drift[k];
    if (!impulse.isZero(0)) add_force(at.contacts->contacts[rows.contact], rows.friction, impulse, Uniqueness::Unknown);
  }
  return before - impulses.calc_work_on_given(at.prescribed) + belts;
}

}  // namespace slipstick
