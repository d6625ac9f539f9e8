// The pipe. Simulation::step is the list of stages of docs/step.md, with the same names and numbers.
#include <slipstick/simulation.h>

#include <algorithm>

#include "base/se3.h"
#include "collision/contact_finder.h"
#include "collision/reduce_contacts.h"
#include "mechanics/drive.h"
#include "mechanics/equations.h"
#include "step/audit.h"
#include "step/drivers/event_driver.h"
#include "step/impact_stage.h"
#include "step/impulses.h"
#include "step/late_contacts.h"
#include "step/reach.h"
#include "step/readings.h"
#include "step/trial.h"

namespace slipstick {

struct Simulation::Impl {
  Impl(Model m, State initial, SimulationOptions o)
      : model(std::move(m)),
        options(std::move(o)),
        state(std::move(initial)),
        next(state),
        scheme(make_scheme(options.scheme)),
        ladder(options),
        finder(model),
        trial(*scheme, &ladder),
        reach(model),
        late(model),
        impulses(model),
        readings(model),
        input_names(make_input_names(model)) {
    if (!scheme->looks_ahead() || scheme->locates(options))
      driver = std::make_unique<EventDriver>(model, options, *scheme, &ladder, &finder);
    warnings = scheme->find_warnings(model, options);
    finder.set_threads(options.threads);
    prescribed.resize(model.bodies.size());
    begin();
  }

  /// Everything that is not in the state is found from it.
  void begin() {
    stepped = false;
    rebounded = false;
    report = {};
    forces.clear();
    impacts.clear();
    weighted = state.velocity;
    update_kinematics();
    reach.assume(state, prescribed, options.step);
    find_contacts();
    readings.update(state, nullptr, options.step);
  }

  const StepReport& step();
  const StepReport& step(const Inputs& inputs);
  Faults set_state(const State& saved);

  // The stages.
  bool check_state();
  void update_kinematics();
  void find_contacts();
  void rebound();
  bool accept();
  void audit();
  void commit();

  void step_through_events();
  /// Limits of joints come first in a set; they are no contacts to those who ask for them.
  std::span<const Contact> without_limits(const ContactSet& set) const {
    return std::span<const Contact>(set.contacts).subspan(std::min(model.limits.size(), set.contacts.size()));
  }
  double calc_constraint_error() {
    return std::max(calc_joint_error(model, next.pose, &joint_scratch), calc_axis_error(model, next));
  }
  void remember_contacts();
  StepInput input() const {
    StepInput in;
    in.model = &model;
    in.options = &options;
    in.state = rebounded ? &restarted : &state;
    in.contacts = &contacts;
    in.drive = driven;
    in.prescribed = prescribed;
    in.h = in.h_nominal = options.step;
    return in;
  }

  Model model;
  SimulationOptions options;
  State state, next;
  std::unique_ptr<Scheme> scheme;
  StepSolver ladder;
  ContactFinder finder;
  Trial trial;
  Reach reach;
  LateContacts late;
  std::unique_ptr<EventDriver> driver;  ///< null: the fixed pipe
  ImpactStage impacts;
  State restarted;  ///< the state with the velocities after the impact stage
  bool rebounded = false;
  std::vector<std::string> warnings;

  std::vector<Twist> prescribed, weighted;
  ContactSet contacts;
  ContactReducer reducer;
  int found_count = 0;     ///< contacts before reduction
  double found_depth = 0;  ///< the deepest of them
  std::vector<JointRows> joint_scratch;
  std::vector<ContactForce> forces;
  bool stepped = false;  ///< since it began, or was set back
  StepImpulses impulses;
  Readings readings;
  std::shared_ptr<const InputNames> input_names;
  Drive drive;
  const Drive* driven = nullptr;  ///< null: as the scene says
  StepReport report;
};

/// With other inputs than the scene's.
const StepReport& Simulation::Impl::step(const Inputs& inputs) {
  if (const std::string_view fault = find_input_fault(inputs, input_names); !fault.empty()) {
    report = {};
    report.failed = true;
    report.note = fault;
    return report;
  }
  update_drive(model, inputs, state.pose, &drive);
  driven = &drive;
  step();
  driven = nullptr;
  return report;
}

const StepReport& Simulation::Impl::step() {
  report = {};
  if (!check_state()) return report;  // 1
  if (driver) {
    step_through_events();
    return report;
  }
  update_kinematics();  // 2
  for (;;) {
    if (scheme->has_impact_stage()) rebound();  // before 4
    trial.run(input(), &next, &report);         // 4 equations, 5 discretize, 6 warm_start, 7 solve, 8 certify, 9
    report.contacts = static_cast<int>(contacts.contacts.size() - model.limits.size());
    report.contacts_found = found_count;
    if (accept()) break;  // 10
  }
  if (rebounded && !impacts.result().solve.certified) {
    report.certified = false;
    report.note = impacts.result().solve.note;
  }
  next.step = state.step + 1;
  next.time = static_cast<double>(next.step) * options.step;
  if (!is_finite(next)) {
    report.failed = true;
    report.certified = false;
    report.note = "no finite solution";
    return report;
  }
  update_coordinates(model, state, &next);
  audit();   // 11
  commit();  // 12
  return report;
}

/// The same stages, as often as events ask for (step/drivers).
void Simulation::Impl::step_through_events() {
  driver->step(state, driven, &next, &report);
  report.contacts_found = report.contacts;
  if (report.failed) return;
  report.certificate.joint_error = calc_constraint_error();
  std::swap(state, next);
  next = state;
  stepped = true;
  readings.update(state, &driver->impulses(), options.step);
  for (const Contact& contact : without_limits(driver->contacts()))
    report.certificate.penetration = std::max(report.certificate.penetration, -contact.gap);
}

bool Simulation::Impl::check_state() {
  if (is_finite(state)) return true;
  report.failed = true;
  report.note = "the state is not finite";
  return false;
}

void Simulation::Impl::update_kinematics() {
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    if (model.bodies[i].kind != BodyKind::Kinematic) continue;
    // The prescribed velocity at mid-step moves the body with second order.
    prescribed[i] = calc_kinematic_twist(model.bodies[i], state.pose[i], state.time + options.step / 2);
  }
}

void Simulation::Impl::find_contacts() {
  const Stopwatch watch(&report.seconds.collision);
  finder.find(state, reach.lengths(options.step), &contacts);
  report.seconds.broad_phase += finder.broad_phase_seconds();
  found_count = static_cast<int>(contacts.contacts.size());
  found_depth = 0;
  for (const Contact& contact : contacts.contacts) found_depth = std::max(found_depth, -contact.gap);
  if (options.reduce_contacts) reducer.reduce(model, state.contact_memory, &contacts);
  add_limit_contacts(model, state, &contacts);
}

/// What has closed rebounds, and the step begins with the velocities after that.
void Simulation::Impl::rebound() {
  rebounded = false;
  const Stopwatch watch(&report.seconds.solve);
  rebounded = impacts.run(input(), *scheme, &ladder, &restarted);
  if (!rebounded) return;
  const ImpactResult& result = impacts.result();
  report.iterations += result.solve.iterations;
  report.escalations += result.solve.escalations;
  report.impact_guards = result.guarded;
  report.events = static_cast<int>(impacts.events().size());
}

/// A body that leaves the step faster than assumed could have met something outside the active set: look again (3). One
/// that has turned may have met something that had no row.
bool Simulation::Impl::accept() {
  if (!is_finite(next)) return true;
  if (report.reach_repeats < kMaxReachRepeats && !reach.covers(next)) {
    ++report.reach_repeats;
    find_contacts();
    return false;
  }
  const Stopwatch watch(&report.seconds.collision);
  if (report.late_repeats >= kMaxLateRepeats ||
      !late.add(state, next, options.step, reach.lengths(options.step), &finder, &contacts))
    return true;
  ++report.late_repeats;
  return false;
}

void Simulation::Impl::audit() {
  const Stopwatch watch(&report.seconds.advance);
  const double before = calc_energy(model, state.pose, input().state->velocity, state.axis).total();
  const double after = calc_energy(model, next.pose, next.velocity, state.axis).total();
  EnergyLedger& ledger = report.certificate.ledger;
  ledger = calc_ledger(input(), trial.scratch(), trial.solution(), next, before, after);
  impulses.clear();
  impulses.add(input(), *scheme, trial.scratch(), trial.solution(), next);
  if (rebounded) {
    StepInput impact_input = input();
    impact_input.contacts = &impacts.contacts();
    impulses.add_impact(impact_input, impacts.scratch());
    const ImpactResult& impact = impacts.result();
    ledger.change += impact.energy_change;
    ledger.friction += impact.friction_work;
    ledger.impact += impact.energy_change - impact.friction_work;
  }
  report.certificate.joint_error = calc_constraint_error();
}

/// What the next step must know of this one's contacts, and the forces for whoever asks.
void Simulation::Impl::remember_contacts() {
  const StepScratch& scratch = trial.scratch();
  const Solution& solution = trial.solution();
  next.contact_memory.clear();
  forces.clear();
  double largest = 0;
  for (const NormalOffset& normal : trial.normals()) largest = std::max(largest, solution.lambda[normal.row]);
  std::size_t m = 0;
  for (std::size_t i = 0; i < scratch.equations.contacts.size(); ++i) {
    const ContactRows& rows = scratch.equations.contacts[i];
    const int row = scratch.map.contact_row[i];
    if (row < 0 || !(solution.lambda[row] > kLoaded * largest)) continue;
    const Contact& contact = contacts.contacts[rows.contact];
    ContactMemory memory;
    memory.key = contact.key;
    for (int k = 0; k < (rows.friction == 0 ? 1 : rows.count); ++k)
      memory.impulse += solution.lambda[row + k] * rows.direction[k];
    memory.loaded = true;
    while (m < state.contact_memory.size() && state.contact_memory[m].key < contact.key) ++m;
    const bool was_loaded =
        m < state.contact_memory.size() && state.contact_memory[m].key == contact.key && state.contact_memory[m].loaded;
    memory.collided = !was_loaded && scratch.restitution[i] == 0;
    next.contact_memory.push_back(memory);
    if (contact.limit >= 0) continue;
    forces.push_back({contact, memory.impulse / options.step});
  }
  for (int r = 0; r < model.joint_rows; ++r)
    next.joint_impulse[r] = scratch.map.joint_row[r] < 0 ? 0.0 : solution.lambda[scratch.map.joint_row[r]];
}

void Simulation::Impl::commit() {
  {
    const Stopwatch watch(&report.seconds.advance);
    remember_contacts();
    next.previous_velocity = state.velocity;
    std::swap(state, next);
    next.joint_impulse.resize(state.joint_impulse.size());
    next.pose.resize(state.pose.size());
    next.velocity.resize(state.velocity.size());
    next.axis.resize(state.axis.size());
    stepped = true;
    readings.update(state, &impulses, options.step);
  }
  weighted = state.velocity;
  update_kinematics();
  reach.assume(state, prescribed, options.step);
  find_contacts();
  report.certificate.penetration = found_depth;  // of all that were found, kept or not
}

Faults Simulation::Impl::set_state(const State& saved) {
  Faults faults = find_state_faults(model, saved);
  if (!faults.empty()) return faults;
  state = saved;
  if (state.idle_axis.empty()) update_coordinates(model, model.idle_axes, state.pose, {}, &state.idle_axis);
  next = state;
  begin();
  return faults;
}

Simulation::Simulation(Model model, State initial, SimulationOptions options)
    : impl_(std::make_unique<Impl>(std::move(model), std::move(initial), std::move(options))) {}
Simulation::~Simulation() = default;
Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;

const StepReport& Simulation::step() { return impl_->step(); }
const StepReport& Simulation::step(const Inputs& inputs) { return impl_->step(inputs); }
Inputs Simulation::inputs() const {
  Inputs made(impl_->input_names);
  update_inputs(&made);
  return made;
}
void Simulation::update_inputs(Inputs* inputs) const {
  if (inputs->names() != impl_->input_names) *inputs = Inputs(impl_->input_names);
  slipstick::update_inputs(impl_->model, impl_->state.time + impl_->options.step, inputs);
}
Faults Simulation::set_state(const State& state) { return impl_->set_state(state); }
const JointReading& Simulation::joint(std::string_view name) const { return impl_->readings.joint(name); }
const JointReading& Simulation::joint(int index) const { return impl_->readings.joint(index); }
std::span<const JointReading> Simulation::joints() const { return impl_->readings.joints(); }
std::span<const SpringReading> Simulation::springs() const { return impl_->readings.springs(); }
std::span<const BodyForces> Simulation::body_forces() const { return impl_->readings.bodies(); }
const StepReport& Simulation::step_and_keep(Problem* problem, Solution* guess) {
  Trial& trial = impl_->driver ? impl_->driver->trial() : impl_->trial;
  trial.keep(problem, guess);
  const StepReport& report = step();
  trial.keep(nullptr, nullptr);
  return report;
}
void Simulation::set_budget(int sweeps) { impl_->ladder.set_budget(sweeps); }
const Model& Simulation::model() const { return impl_->model; }
const State& Simulation::state() const { return impl_->state; }
const SimulationOptions& Simulation::options() const { return impl_->options; }
std::span<const Contact> Simulation::contacts() const {
  return impl_->without_limits(impl_->driver && impl_->stepped ? impl_->driver->contacts() : impl_->contacts);
}
std::span<const ContactForce> Simulation::contact_forces() const {
  return impl_->driver && impl_->stepped ? impl_->driver->forces() : std::span<const ContactForce>(impl_->forces);
}
const Problem& Simulation::problem() const {
  return impl_->driver ? impl_->driver->problem() : impl_->trial.scratch().problem;
}
std::span<const std::string> Simulation::warnings() const { return impl_->warnings; }
std::span<const SolverStatistics> Simulation::solver_statistics() const { return impl_->ladder.statistics(); }
std::span<const Event> Simulation::events() const {
  return impl_->driver && impl_->stepped ? impl_->driver->events() : std::span<const Event>(impl_->impacts.events());
}
std::span<const Twist> Simulation::weighted_velocity() const {
  if (impl_->driver && impl_->stepped) return impl_->driver->weighted_velocity();
  return impl_->weighted;
}

std::string_view name_of(EventKind kind) {
  switch (kind) {
    case EventKind::Impact:
      return "impact";
    case EventKind::Takeoff:
      return "takeoff";
    case EventKind::Stick:
      return "stick";
    case EventKind::Slip:
      return "slip";
  }
  return "event";
}

EnergySplit Simulation::energy() const {
  const Energy energy = calc_energy(impl_->model, impl_->state.pose, impl_->state.velocity, impl_->state.axis);
  return {energy.kinetic, energy.potential()};
}

WorldMotion calc_world_motion(const Body& body, const Pose& pose, const Twist& velocity) {
  WorldMotion motion;
  motion.pose.orientation = pose.orientation;
  motion.pose.position = apply(pose, -body.center_of_mass);
  motion.velocity = point_velocity(pose, velocity, -body.center_of_mass);
  motion.angular_velocity = pose.orientation * velocity.angular;
  return motion;
}

}  // namespace slipstick
