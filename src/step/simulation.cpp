// The pipe. Simulation::step is the list of stages of docs/step.md, with the same names and numbers.
#include <slipstick/parts.h>
#include <slipstick/simulation.h>

#include <algorithm>
#include <array>

#include "base/se3.h"
#include "mechanics/drive.h"
#include "step/drivers/driver.h"
#include "step/formulas.h"
#include "step/pair_warnings.h"

namespace slipstick {

namespace {

/// Of a simulation with faults in its options or its state: it cannot step, but has contacts to look at.
class NoScheme final : public Scheme {
 public:
  std::string_view name() const override { return {}; }
  bool looks_ahead() const override { return true; }
  bool locates(const SimulationOptions&) const override { return false; }
  void discretize(const StepInput&, const Equations&, bool, StepProblem*) override {}
};

/// A state of the right sizes, for a simulation that was given none of its model's.
State make_still_state(const Model& model) {
  State state;
  state.pose.resize(model.bodies.size());
  state.velocity.resize(model.bodies.size());
  state.joint_impulse.resize(static_cast<std::size_t>(model.joint_rows));
  state.axis.resize(model.axes.size());
  state.idle_axis.resize(model.idle_axes.size());
  state.sensor.resize(static_cast<std::size_t>(model.sensor_memory));
  return state;
}

State begin_with(const std::string& fault, const Model& model, State&& given) {
  if (!fault.empty()) return make_still_state(model);
  return std::move(given);
}

/// Why nothing can be stepped with these; empty when good.
std::string find_fault(const Model& model, const State& initial, const SimulationOptions& options) {
  const std::vector<std::string_view> solvers = solver_choices();
  const bool knows_solver = std::find(solvers.begin(), solvers.end(), options.solver) != solvers.end();
  for (const OptionFault& wrong : find_option_faults(options)) {
    // A solver that cannot do a law says so where it meets one.
    if (wrong.item.empty() && wrong.key == "solver" && knows_solver) continue;
    return wrong.message;
  }
  const Faults faults = find_state_faults(model, initial);
  return faults.empty() ? std::string() : faults.front().text();
}

}  // namespace

struct Simulation::Impl {
  Impl(Model m, State initial, SimulationOptions o)
      : model(std::move(m)),
        given(std::move(o)),
        fault(find_fault(model, initial, given)),
        options(fault.empty() ? given : SimulationOptions{}),
        scheme(fault.empty() ? make_scheme(options.scheme) : nullptr),
        pipe(model, options, begin_with(fault, model, std::move(initial)), scheme ? scheme.get() : &no_scheme),
        driver(make_driver(&pipe)),
        input_names(make_input_names(model)),
        warnings(pipe.scheme.find_warnings(model, options)) {
    for (std::string& warning : find_void_friction(model)) warnings.push_back(std::move(warning));
  }

  const StepReport& step();
  const StepReport& step_as_given();
  const StepReport& step_driven();
  const StepReport& step(const Inputs& inputs);
  bool check_state();
  Faults set_state(const State& saved);

  Model model;
  SimulationOptions given;
  std::string fault;  ///< of options or initial state: every step fails and says so
  SimulationOptions options;
  std::unique_ptr<Scheme> scheme;
  NoScheme no_scheme;
  Pipe pipe;
  std::unique_ptr<Driver> driver;
  std::shared_ptr<const InputNames> input_names;
  Drive drive;
  std::vector<std::string> warnings;
};

const StepReport& Simulation::Impl::step() {
  const StepInput& input = pipe.input;
  StepReport* report = &pipe.report;
  Trial& trial = pipe.trial;
  pipe.begin();
  if (!check_state()) return *report;  // 1
  driver->begin();
  do {                           // one part, or as many as events ask for
    do {                         // one trial, or as many as it takes to know where the part ends
      pipe.update_kinematics();  // 2
      if (!pipe.has_motions) return pipe.fail_for_value("a prescribed motion is no number");
      pipe.find_contacts();  // 3
      if (pipe.is_stopped()) return pipe.discard();
      driver->prepare();
      trial.update_equations(input, report);  // 4
      do {
        trial.discretize(input, report);  // 5
        if (!has_numbers(trial.made().problem))
          return pipe.fail_for_value("the equations have values that are no numbers");
        trial.warm_start(input, report);  // 6
        if (pipe.is_stopped()) return pipe.discard();
        trial.solve(report);  // 7
        if (pipe.is_stopped()) return pipe.discard();
        trial.certify(report);  // 8
      } while (trial.refine(input));
      if (pipe.is_stopped()) return pipe.discard();
      trial.advance(input, &pipe.end, report);  // 9
      if (!is_finite(pipe.end)) return pipe.fail_for_value("no finite solution; try a smaller step or another solver");
    } while (!driver->accept());  // 10
    pipe.audit();                 // 11
  } while (!driver->commit());    // 12
  if (report->stopped) return pipe.discard();
  return *report;
}

/// What the scene says; its formulas see the readings of the beginning of the step.
const StepReport& Simulation::Impl::step_as_given() {
  if (model.readings == 0) return step();
  clear_drive(model, &drive);
  return step_driven();
}

const StepReport& Simulation::Impl::step_driven() {
  drive.readings = pipe.sensors.readings();
  pipe.input.drive = &drive;
  step();
  pipe.input.drive = nullptr;
  return pipe.report;
}

/// With other inputs than the scene's.
const StepReport& Simulation::Impl::step(const Inputs& inputs) {
  if (const std::string_view fault = find_input_fault(inputs, input_names); !fault.empty()) {
    pipe.report = {};
    pipe.report.failed = true;
    pipe.report.note = fault;
    return pipe.report;
  }
  update_drive(model, inputs, pipe.state.pose, &drive);
  return step_driven();
}

Faults Simulation::Impl::set_state(const State& saved) {
  if (!fault.empty()) return {Fault{{}, fault}};
  Faults faults = find_state_faults(model, saved);
  if (!faults.empty()) return faults;
  State from = saved;
  if (from.idle_axis.empty()) update_coordinates(model, model.idle_axes, from.pose, {}, &from.idle_axis);
  pipe.restart(std::move(from));
  return faults;
}

bool Simulation::Impl::check_state() {
  if (fault.empty()) return pipe.check_state();
  pipe.fail(fault);
  return false;
}

Simulation::Simulation(Model model, State initial, SimulationOptions options)
    : impl_(std::make_unique<Impl>(std::move(model), std::move(initial), std::move(options))) {}
Simulation::~Simulation() = default;
Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;

Simulation::Impl& Simulation::impl() const {
  if (!impl_) throw std::logic_error("this Simulation was moved from: it has no model and no state");
  return *impl_;
}

const StepReport& Simulation::step() { return impl().step_as_given(); }
const StepReport& Simulation::step(const Inputs& inputs) { return impl().step(inputs); }
Inputs Simulation::inputs() const {
  Inputs made(impl().input_names);
  update_inputs(&made);
  return made;
}
void Simulation::update_inputs(Inputs* inputs) const {
  if (inputs->names() != impl().input_names) *inputs = Inputs(impl().input_names);
  slipstick::update_inputs(impl().model, impl().pipe.state.time + impl().options.step, impl().pipe.sensors.readings(),
                           inputs);
}
Faults Simulation::set_state(const State& state) { return impl().set_state(state); }
const JointReading& Simulation::joint(std::string_view name) const { return impl().pipe.read().joint(name); }
const JointReading& Simulation::joint(int index) const { return impl().pipe.read().joint(index); }
std::span<const JointReading> Simulation::joints() const { return impl().pipe.read().joints(); }
SensorReading Simulation::sensor(std::string_view name) const {
  const std::vector<Sensor>& all = impl().model.sensors;
  for (int i = impl().model.readings; i < static_cast<int>(all.size()); ++i)
    if (all[i].name == name) return sensor(i - impl().model.readings);
  return {};
}
SensorReading Simulation::sensor(int index) const {
  const Model& model = impl().model;
  if (index < 0 || index >= static_cast<int>(model.sensors.size()) - model.readings) return {};
  const Sensor& sensor = model.sensors[model.readings + index];
  return {index, impl().pipe.sensors.values().subspan(sensor.first, sensor.count)};
}
std::span<const double> Simulation::sensors() const {
  return impl().pipe.sensors.values().subspan(impl().model.readings);
}
std::span<const SpringReading> Simulation::springs() const { return impl().pipe.readings.springs(); }
std::span<const BodyForces> Simulation::body_forces() const { return impl().pipe.read().bodies(); }
const StepReport& Simulation::step_and_keep(Problem* problem, Solution* guess) {
  impl().pipe.trial.keep(problem, guess);
  const StepReport& report = step();
  impl().pipe.trial.keep(nullptr, nullptr);
  return report;
}
void Simulation::keep_parts(bool keep) { impl().pipe.log.keep(keep); }
std::span<const StepPart> Simulation::parts() const { return impl().pipe.log.parts(); }
void Simulation::set_budget(int sweeps) { impl().pipe.solver.set_budget(sweeps); }
const Model& Simulation::model() const { return impl().model; }
const State& Simulation::state() const { return impl().pipe.state; }
const SimulationOptions& Simulation::options() const { return impl().given; }
std::span<const Contact> Simulation::contacts() const { return impl().pipe.without_limits(impl().pipe.found); }
std::span<const ContactForce> Simulation::contact_forces() const { return impl().pipe.forces; }
const Problem& Simulation::problem() const { return impl().pipe.trial.solved(); }
std::span<const std::string> Simulation::warnings() const { return impl().warnings; }
std::span<const SolverStatistics> Simulation::solver_statistics() const { return impl().pipe.solver.statistics(); }
std::span<const Event> Simulation::events() const { return impl().pipe.events; }
std::span<const Twist> Simulation::weighted_velocity() const { return impl().pipe.weighted; }

std::string_view name_of(Grade grade) {
  constexpr std::array<std::string_view, 3> names{"not certified", "heap", "exact"};
  return names[static_cast<std::size_t>(grade)];
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

WorldVerdict Simulation::check_world() { return impl().pipe.world.check_all(state(), contacts()); }

EnergySplit Simulation::energy() const {
  const State& state = impl().pipe.state;
  const Energy energy = calc_energy(impl().model, state.pose, state.velocity, state.axis);
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
