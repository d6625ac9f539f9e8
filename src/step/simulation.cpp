// The pipe. Simulation::step is the list of stages of docs/step.md, with the same names and numbers.
#include <slipstick/simulation.h>

#include "base/se3.h"
#include "mechanics/drive.h"
#include "step/drivers/driver.h"
#include "step/formulas.h"
#include "step/pair_warnings.h"

namespace slipstick {

namespace {

/// Of a simulation whose options name none that is known: it cannot step, but has a state and contacts to look at.
class NoScheme final : public Scheme {
 public:
  std::string_view name() const override { return {}; }
  bool looks_ahead() const override { return true; }
  bool locates(const SimulationOptions&) const override { return false; }
  void discretize(const StepInput&, const Equations&, bool, StepProblem*) override {}
};

}  // namespace

struct Simulation::Impl {
  Impl(Model m, State initial, SimulationOptions o)
      : model(std::move(m)),
        options(std::move(o)),
        scheme(make_scheme(options.scheme)),
        knows_scheme(scheme != nullptr),
        pipe(model, options, std::move(initial), knows_scheme ? scheme.get() : &no_scheme),
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
  SimulationOptions options;
  std::unique_ptr<Scheme> scheme;
  bool knows_scheme;
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
  Faults faults = find_state_faults(model, saved);
  if (!faults.empty()) return faults;
  State from = saved;
  if (from.idle_axis.empty()) update_coordinates(model, model.idle_axes, from.pose, {}, &from.idle_axis);
  pipe.restart(std::move(from));
  return faults;
}

bool Simulation::Impl::check_state() {
  if (knows_scheme) return pipe.check_state();
  pipe.fail("unknown scheme (find_option_faults names it)");
  return false;
}

Simulation::Simulation(Model model, State initial, SimulationOptions options)
    : impl_(std::make_unique<Impl>(std::move(model), std::move(initial), std::move(options))) {}
Simulation::~Simulation() = default;
Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;

const StepReport& Simulation::step() { return impl_->step_as_given(); }
const StepReport& Simulation::step(const Inputs& inputs) { return impl_->step(inputs); }
Inputs Simulation::inputs() const {
  Inputs made(impl_->input_names);
  update_inputs(&made);
  return made;
}
void Simulation::update_inputs(Inputs* inputs) const {
  if (inputs->names() != impl_->input_names) *inputs = Inputs(impl_->input_names);
  slipstick::update_inputs(impl_->model, impl_->pipe.state.time + impl_->options.step, impl_->pipe.sensors.readings(),
                           inputs);
}
Faults Simulation::set_state(const State& state) { return impl_->set_state(state); }
const JointReading& Simulation::joint(std::string_view name) const { return impl_->pipe.read().joint(name); }
const JointReading& Simulation::joint(int index) const { return impl_->pipe.read().joint(index); }
std::span<const JointReading> Simulation::joints() const { return impl_->pipe.read().joints(); }
SensorReading Simulation::sensor(std::string_view name) const {
  const std::vector<Sensor>& all = impl_->model.sensors;
  for (int i = impl_->model.readings; i < static_cast<int>(all.size()); ++i)
    if (all[i].name == name) return sensor(i - impl_->model.readings);
  return {};
}
SensorReading Simulation::sensor(int index) const {
  const Model& model = impl_->model;
  if (index < 0 || index >= static_cast<int>(model.sensors.size()) - model.readings) return {};
  const Sensor& sensor = model.sensors[model.readings + index];
  return {index, impl_->pipe.sensors.values().subspan(sensor.first, sensor.count)};
}
std::span<const double> Simulation::sensors() const {
  return impl_->pipe.sensors.values().subspan(impl_->model.readings);
}
std::span<const SpringReading> Simulation::springs() const { return impl_->pipe.readings.springs(); }
std::span<const BodyForces> Simulation::body_forces() const { return impl_->pipe.read().bodies(); }
const StepReport& Simulation::step_and_keep(Problem* problem, Solution* guess) {
  impl_->pipe.trial.keep(problem, guess);
  const StepReport& report = step();
  impl_->pipe.trial.keep(nullptr, nullptr);
  return report;
}
void Simulation::set_budget(int sweeps) { impl_->pipe.solver.set_budget(sweeps); }
const Model& Simulation::model() const { return impl_->model; }
const State& Simulation::state() const { return impl_->pipe.state; }
const SimulationOptions& Simulation::options() const { return impl_->options; }
std::span<const Contact> Simulation::contacts() const { return impl_->pipe.without_limits(impl_->pipe.found); }
std::span<const ContactForce> Simulation::contact_forces() const { return impl_->pipe.forces; }
const Problem& Simulation::problem() const { return impl_->pipe.trial.solved(); }
std::span<const std::string> Simulation::warnings() const { return impl_->warnings; }
std::span<const SolverStatistics> Simulation::solver_statistics() const { return impl_->pipe.solver.statistics(); }
std::span<const Event> Simulation::events() const { return impl_->pipe.events; }
std::span<const Twist> Simulation::weighted_velocity() const { return impl_->pipe.weighted; }

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

WorldVerdict Simulation::check_world() { return impl_->pipe.world.check_all(state(), contacts()); }

EnergySplit Simulation::energy() const {
  const State& state = impl_->pipe.state;
  const Energy energy = calc_energy(impl_->model, state.pose, state.velocity, state.axis);
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
