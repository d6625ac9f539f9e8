// A simulation with the inputs of its next step, and the arrays that show it.
#include "boxes.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace slipstick::python {

namespace {

using Clock = std::chrono::steady_clock;
constexpr long kStepsBetweenLooks = 16;       // at the clock
constexpr double kSecondsBetweenLooks = 0.1;  // for Ctrl-C

/// A NumPy array over numbers that `views` owns a share of.
py::array make_view(const std::shared_ptr<Views>& views, const std::vector<double>& numbers,
                    std::vector<py::ssize_t> shape) {
  const py::capsule owner(new std::shared_ptr<Views>(views),
                          [](void* p) { delete static_cast<std::shared_ptr<Views>*>(p); });
  py::array_t<double> made(std::move(shape), numbers.data(), owner);
  py::detail::array_proxy(made.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return made;
}

struct ContactRow {
  std::int32_t a, b;
  double point[3], normal[3];
  double gap;
  double force[3];
};

ContactRow make_row(const Contact& contact, const Vec3& force) {
  ContactRow row{};
  row.a = contact.body_a;
  row.b = contact.body_b;
  const Vec3 point = 0.5 * (contact.point_a + contact.point_b);
  for (int k = 0; k < 3; ++k) {
    row.point[k] = point[k];
    row.normal[k] = contact.normal[k];
    row.force[k] = force[k];
  }
  row.gap = contact.gap;
  return row;
}

/// Contacts of the present state with the force that they had in the last step; those that carried a force and are no
/// longer near follow, so that no force is lost.
py::array_t<ContactRow> make_contacts(const Core& core) {
  core.check_idle();
  const Simulation& simulation = core.simulation();
  const auto forces = simulation.contact_forces();
  std::vector<char> used(forces.size(), 0);
  std::vector<ContactRow> rows;
  for (const Contact& contact : simulation.contacts()) {
    Vec3 force = Vec3::Zero();
    for (std::size_t k = 0; k < forces.size(); ++k) {
      if (used[k] || forces[k].contact.limit >= 0 || forces[k].contact.key != contact.key) continue;
      force += forces[k].force;
      used[k] = 1;
    }
    rows.push_back(make_row(contact, force));
  }
  for (std::size_t k = 0; k < forces.size(); ++k)
    if (!used[k] && forces[k].contact.limit < 0) rows.push_back(make_row(forces[k].contact, forces[k].force));
  return py::array_t<ContactRow>(static_cast<py::ssize_t>(rows.size()), rows.data());
}

py::dict as_dict(const EnergyLedger& ledger) {
  py::dict made;
  made["change"] = ledger.change;
  made["load"] = ledger.load;
  made["kinematic"] = ledger.kinematic;
  made["motor"] = ledger.motor;
  made["damping"] = ledger.damping;
  made["friction"] = ledger.friction;
  made["impact"] = ledger.impact;
  made["numerical"] = ledger.numerical;
  made["correction"] = ledger.correction;
  return made;
}

py::dict as_dict(const PhaseTimes& seconds) {
  py::dict made;
  made["collision"] = seconds.collision;
  made["assemble"] = seconds.assemble;
  made["solve"] = seconds.solve;
  made["advance"] = seconds.advance;
  return made;
}

void bind_report(py::module_* module) {
  py::class_<StepReport>(*module, "StepReport")
      .def_readonly("certified", &StepReport::certified)
      .def_property_readonly("residual", [](const StepReport& r) { return r.certificate.residual.natural; })
      .def_property_readonly("relative_residual", [](const StepReport& r) { return r.certificate.residual.relative; })
      .def_property_readonly("penetration", [](const StepReport& r) { return r.certificate.penetration; })
      .def_property_readonly("joint_error", [](const StepReport& r) { return r.certificate.joint_error; })
      .def_property_readonly("ledger", [](const StepReport& r) { return as_dict(r.certificate.ledger); })
      .def_property_readonly("seconds", [](const StepReport& r) { return as_dict(r.seconds); })
      .def_readonly("failed", &StepReport::failed)
      .def_readonly("heap", &StepReport::heap)
      .def_readonly("iterations", &StepReport::iterations)
      .def_readonly("escalations", &StepReport::escalations)
      .def_readonly("events", &StepReport::events)
      .def_readonly("contacts", &StepReport::contacts)
      .def_readonly("rows", &StepReport::rows)
      .def_readonly("islands", &StepReport::islands)
      .def_property_readonly("note", [](const StepReport& r) { return std::string(r.note); })
      .def("__repr__", [](const StepReport& r) {
        return std::string("<slipstick.StepReport ") + (r.certified ? "certified" : "not certified") + ", residual " +
               py::str(py::float_(r.certificate.residual.natural)).cast<std::string>() + " m/s, " +
               std::to_string(r.contacts) + " contacts" + (r.note.empty() ? "" : ", " + std::string(r.note)) + ">";
      });
}

py::tuple read_axes(const Core& core, int joint) {
  core.check_idle();
  py::list made;
  for (const AxisReading& axis : core.simulation().joint(joint).axes)
    made.append(py::make_tuple(std::string(name_of(axis.freedom)), axis.position, axis.velocity, axis.motor, axis.limit,
                               axis.friction, axis.spring));
  return py::tuple(made);
}

/// What a motor is asked for in the next step: (target, max, torque or None).
py::tuple read_motor(const Core& core, std::size_t axis) {
  core.check_idle();
  const Inputs inputs = core.simulation().inputs();
  const MotorInput& scene = inputs.motors()[axis];
  const MotorGiven& given = core.given.motors[axis];
  return py::make_tuple(given.target.value_or(scene.target), given.max.value_or(scene.max), given.torque);
}

void set_motor(Core* core, std::size_t axis, const std::string& what, std::optional<double> value) {
  core->check_idle();
  const std::string& name = core->simulation().model().joints[core->simulation().model().axes[axis].joint].name;
  if (value && !std::isfinite(*value))
    raise_value_error("motor '" + name + "': " + what + " must be a finite number, not " +
                      py::str(py::float_(*value)).cast<std::string>());
  if (value && what == "max" && *value < 0) raise_value_error("motor '" + name + "': max must not be negative");
  MotorGiven& given = core->given.motors[axis];
  (what == "target" ? given.target : what == "max" ? given.max : given.torque) = value;
}

py::tuple save_inputs(const Core& core) {
  py::list motors, forces;
  for (const MotorGiven& m : core.given.motors) motors.append(py::make_tuple(m.target, m.max, m.torque));
  const auto vector = [](const Vec3& v) { return py::make_tuple(v.x(), v.y(), v.z()); };
  for (const AppliedWrench& w : core.given.forces)
    forces.append(py::make_tuple(w.body, w.frame == Frame::Body, vector(w.force), vector(w.torque),
                                 w.at ? py::object(vector(*w.at)) : py::object(py::none())));
  return py::make_tuple(motors, core.given.loads, forces);
}

void restore_inputs(Core* core, const py::tuple& saved) {
  InputsGiven made;
  for (const py::handle m : saved[0]) {
    const auto parts = m.cast<py::tuple>();
    made.motors.push_back({parts[0].cast<std::optional<double>>(), parts[1].cast<std::optional<double>>(),
                           parts[2].cast<std::optional<double>>()});
  }
  made.loads = saved[1].cast<std::vector<double>>();
  for (const py::handle f : saved[2]) {
    const auto parts = f.cast<py::tuple>();
    AppliedWrench wrench{parts[0].cast<int>(), parts[1].cast<bool>() ? Frame::Body : Frame::World,
                         as_vec3(parts[2], "force"), as_vec3(parts[3], "torque"), std::nullopt};
    if (!parts[4].is_none()) wrench.at = as_vec3(parts[4], "at");
    made.forces.push_back(wrench);
  }
  core->given = std::move(made);
}

void bind_views(py::class_<Core, std::shared_ptr<Core>>* type) {
  const auto bodies = [](const Core& core) {
    return static_cast<py::ssize_t>(core.simulation().model().bodies.size());
  };
  const auto joints = [](const Core& core) {
    return static_cast<py::ssize_t>(core.simulation().model().joints.size());
  };
  type->def("position",
            [=](Core& c) {
              return make_view(c.views, c.views->position, {bodies(c), 3});
            })
      .def("orientation",
           [=](Core& c) {
             return make_view(c.views, c.views->orientation, {bodies(c), 4});
           })
      .def("velocity",
           [=](Core& c) {
             return make_view(c.views, c.views->velocity, {bodies(c), 3});
           })
      .def("angular_velocity",
           [=](Core& c) {
             return make_view(c.views, c.views->angular_velocity, {bodies(c), 3});
           })
      .def("joint_position", [=](Core& c) { return make_view(c.views, c.views->joint_position, {joints(c)}); })
      .def("joint_velocity", [=](Core& c) { return make_view(c.views, c.views->joint_velocity, {joints(c)}); })
      .def("joint_motor_force", [=](Core& c) { return make_view(c.views, c.views->motor_force, {joints(c)}); })
      .def("joint_limit_force", [=](Core& c) { return make_view(c.views, c.views->limit_force, {joints(c)}); })
      .def("joint_reaction", [=](Core& c) {
        return make_view(c.views, c.views->reaction, {joints(c), 6});
      });
}

}  // namespace

bool InputsGiven::any() const {
  return !forces.empty() || std::any_of(motors.begin(), motors.end(), [](const MotorGiven& m) { return m.any(); }) ||
         std::any_of(loads.begin(), loads.end(), [](double scale) { return scale != 1; });
}

void update_motion(const WorldMotion& motion, std::size_t body, Views* views) {
  const Quat& q = motion.pose.orientation;
  for (int k = 0; k < 3; ++k) {
    views->position[3 * body + k] = motion.pose.position[k];
    views->velocity[3 * body + k] = motion.velocity[k];
    views->angular_velocity[3 * body + k] = motion.angular_velocity[k];
  }
  double* const orientation = views->orientation.data() + 4 * body;
  orientation[0] = q.w(), orientation[1] = q.x(), orientation[2] = q.y(), orientation[3] = q.z();
}

Core::Busy::Busy(Core* core) : core_(core) {
  if (core_->busy_.exchange(true))
    throw std::runtime_error(
        "this Simulation is making a step (in another thread, or in its own solver): wait for it, "
        "or give each thread a copy.deepcopy of it");
}

void Core::check_idle() const {
  if (busy_)
    throw std::runtime_error(
        "this Simulation is making a step (in another thread, or in its own solver): wait for it, "
        "or give each thread a copy.deepcopy of it");
}

Core::Core(std::shared_ptr<const SceneBox> from, SimulationOptions options)
    : scene(std::move(from)),
      views(std::make_shared<Views>()),
      frames_(make_frames(*scene)),
      simulation_(scene->scene.model, scene->scene.initial, std::move(options)),
      inputs_(simulation_.inputs()) {
  const Model& model = simulation_.model();
  given.motors.resize(model.axes.size());
  given.loads.assign(model.loads.size(), 1);
  const std::size_t bodies = model.bodies.size(), joints = model.joints.size();
  // One number more than there are: an empty array would have no address of its own.
  for (auto* three : {&views->position, &views->velocity, &views->angular_velocity}) three->resize(3 * bodies + 1);
  views->orientation.resize(4 * bodies + 1);
  for (auto* one : {&views->joint_position, &views->joint_velocity, &views->motor_force, &views->limit_force})
    one->resize(joints + 1);
  views->reaction.resize(6 * joints + 1);
  update_views();
}

void Core::update_views() {
  const Model& model = simulation_.model();
  const State& state = simulation_.state();
  for (std::size_t i = 0; i < model.bodies.size(); ++i)
    update_motion(calc_world_motion(model.bodies[i], state.pose[i], state.velocity[i]), i, views.get());
  for (std::size_t i = 0; i < model.joints.size(); ++i) {
    const JointReading& joint = simulation_.joint(static_cast<int>(i));
    views->joint_position[i] = joint.position;
    views->joint_velocity[i] = joint.velocity;
    views->motor_force[i] = joint.motor_force;
    views->limit_force[i] = joint.limit_force;
    for (int k = 0; k < 3; ++k) {
      views->reaction[6 * i + k] = joint.reaction_force[k];
      views->reaction[6 * i + 3 + k] = joint.reaction_moment[k];
    }
  }
}

const StepReport& Core::step_once() {
  if (!given.any()) return simulation_.step();
  simulation_.update_inputs(&inputs_);
  for (std::size_t k = 0; k < given.motors.size(); ++k) {
    const MotorGiven& motor = given.motors[k];
    if (!motor.any()) continue;
    MotorInput& input = inputs_.motor(static_cast<int>(k));
    if (motor.target) input.target = *motor.target;
    if (motor.max) input.max = *motor.max;
    if (motor.torque) input.torque = *motor.torque;
  }
  for (std::size_t k = 0; k < given.loads.size(); ++k) inputs_.load(static_cast<int>(k)).scale = given.loads[k];
  for (const AppliedWrench& push : given.forces) {
    if (!push.force.isZero(0)) {
      if (push.at) {
        inputs_.force(push.body, push.force, *push.at, push.frame);
      } else {
        inputs_.force(push.body, push.force, push.frame);
      }
    }
    if (!push.torque.isZero(0)) inputs_.torque(push.body, push.torque, push.frame);
  }
  given.forces.clear();
  return simulation_.step(inputs_);
}

StepReport Core::step(long count) {
  if (count < 1) raise_value_error("step(n): n must be 1 or more, not " + std::to_string(count));
  const Busy busy(this);
  StepReport report;
  bool interrupted = false;
  {
    const py::gil_scoped_release release;
    Clock::time_point looked;
    for (long k = 0; k < count && !report.failed && !interrupted; ++k) {
      report = step_once();
      if (k % kStepsBetweenLooks != kStepsBetweenLooks - 1) continue;
      const Clock::time_point now = Clock::now();
      if (k + 1 == kStepsBetweenLooks) looked = now;
      if (std::chrono::duration<double>(now - looked).count() < kSecondsBetweenLooks) continue;
      looked = now;
      const py::gil_scoped_acquire acquire;
      interrupted = PyErr_CheckSignals() != 0;
    }
  }
  update_views();
  if (interrupted) throw py::error_already_set();
  if (report.failed) raise_diverged(report);
  return report;
}

void raise_diverged(const StepReport& report) {
  const std::string why = report.note.empty() ? "no finite answer was found" : std::string(report.note);
  raise("Diverged", py::make_tuple("the step was not made: " + why + "; the state is the one before it", report));
}

void Core::apply(int body, const std::optional<Vec3>& force, const std::optional<Vec3>& torque,
                 const std::optional<Vec3>& at, Frame frame) {
  check_idle();
  const Body& target = simulation_.model().bodies[body];
  if (target.kind != BodyKind::Dynamic)
    raise_value_error("body '" + target.name + "' does not move under forces; name a dynamic body");
  given.forces.push_back({body, frame, force.value_or(Vec3::Zero()), torque.value_or(Vec3::Zero()), at});
}

void Core::set_state(const StateBox& box) {
  check_idle();
  if (box.frames->model_hash != scene->model_hash)
    raise_value_error("the state is of another model ('" + box.frames->model_name + "', not '" + scene->scene.name +
                      "'); take a state of this one");
  const Faults faults = simulation_.set_state(box.state);
  if (!faults.empty()) raise_value_error(faults.front().text());
  given.forces.clear();
  update_views();
}

StateBox Core::state() const {
  check_idle();
  return {simulation_.state(), frames_};
}

int Core::find_motor(const std::string& name) const {
  Inputs inputs = simulation_.inputs();
  const MotorInput* const found = &inputs.motor(name);
  if (!inputs.faults().empty()) return -1;
  return static_cast<int>(found - inputs.motors().data());
}

Scene Core::scene_as_run() const {
  Scene copy = scene->scene;
  copy.options = simulation_.options();
  return copy;
}

void bind_simulation(py::module_* module) {
  PYBIND11_NUMPY_DTYPE(ContactRow, a, b, point, normal, gap, force);
  bind_report(module);
  py::class_<Core, std::shared_ptr<Core>> type(*module, "Core");
  type.def(py::init([](const std::shared_ptr<SceneBox>& scene, const std::string& simulation,
                       const std::vector<std::string>& keys) {
        return std::make_shared<Core>(scene, make_options(*scene, simulation, keys));
      }))
      .def("step", &Core::step, py::arg("count") = 1)
      .def("time", [](const Core& c) { return c.simulation().state().time; })
      .def("step_number", [](const Core& c) { return c.simulation().state().step; })
      .def("options",
           [](const Core& c) {
             const SimulationOptions& o = c.simulation().options();
             return py::make_tuple(o.step, o.duration, o.scheme, o.solver, o.threads, o.tolerance);
           })
      .def("steps_in",
           [](const Core& c, double seconds) {
             SimulationOptions options = c.simulation().options();
             options.duration = seconds;
             return calc_step_count(options);
           })
      .def("state", &Core::state)
      .def("set_state", &Core::set_state)
      .def("contacts", &make_contacts)
      .def("energy",
           [](const Core& c) {
             c.check_idle();
             const EnergySplit energy = c.simulation().energy();
             return py::make_tuple(energy.kinetic, energy.potential);
           })
      .def("warnings",
           [](const Core& c) {
             const auto warnings = c.simulation().warnings();
             return std::vector<std::string>(warnings.begin(), warnings.end());
           })
      .def("events",
           [](const Core& c) {
             c.check_idle();
             py::list made;
             for (const Event& e : c.simulation().events())
               made.append(py::make_tuple(e.time, std::string(name_of(e.kind)), e.body_a, e.body_b,
                                          e.normal_speed_before, e.normal_speed_after));
             return made;
           })
      .def("solver_statistics",
           [](const Core& c) {
             c.check_idle();
             py::list made;
             for (const SolverStatistics& s : c.simulation().solver_statistics())
               made.append(py::make_tuple(std::string(s.solver), s.solves, s.certified, s.iterations));
             return made;
           })
      .def("axes", &read_axes)
      .def("find_motor", &Core::find_motor)
      .def("read_motor", &read_motor)
      .def("motor_force",
           [](const Core& c, std::size_t axis) {
             const Axis& wanted = c.simulation().model().axes[axis];
             for (const AxisReading& reading : c.simulation().joint(wanted.joint).axes)
               if (reading.freedom == wanted.freedom) return reading.motor;
             return std::nan("");
           })
      .def("motor_drives_position",
           [](const Core& c, std::size_t axis) { return c.simulation().model().axes[axis].motor->drives_position; })
      .def("set_motor", &set_motor)
      .def("load_scale", [](const Core& c, std::size_t k) { return c.given.loads.at(k); })
      .def("set_load",
           [](Core& c, std::size_t k, double scale) {
             c.check_idle();
             if (!std::isfinite(scale)) raise_value_error("the scale of a load must be a finite number");
             c.given.loads.at(k) = scale;
           })
      .def(
          "apply",
          [](Core& c, int body, const py::object& force, const py::object& torque, const py::object& at, bool in_body) {
            const auto read = [](const py::object& value, const char* what) {
              return value.is_none() ? std::optional<Vec3>() : as_vec3(value, what);
            };
            c.apply(body, read(force, "force"), read(torque, "torque"), read(at, "at"),
                    in_body ? Frame::Body : Frame::World);
          })
      .def("save_inputs", &save_inputs)
      .def("restore_inputs", &restore_inputs);
  bind_views(&type);
}

}  // namespace slipstick::python
