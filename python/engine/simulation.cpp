// A simulation with the inputs of its next step, and the arrays that show it.
#include <algorithm>
#include <chrono>
#include <cmath>

#include "boxes.h"
#include "python_solver.h"

namespace slipstick::python {

namespace {

using Clock = std::chrono::steady_clock;
constexpr long kStepsBetweenLooks = 16;       // at the clock
constexpr double kSecondsBetweenLooks = 0.1;  // for Ctrl-C

/// A NumPy array over numbers that `views` owns a share of.
py::array_t<double> make_view(const std::shared_ptr<Views>& views, const std::vector<double>& numbers,
                              std::vector<py::ssize_t> shape) {
  const py::capsule owner(new std::shared_ptr<Views>(views),
                          [](void* p) { delete static_cast<std::shared_ptr<Views>*>(p); });
  py::array_t<double> made(std::move(shape), numbers.data(), owner);
  py::detail::array_proxy(made.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return made;
}

Quat as_quat(const py::handle& value) {
  const auto array = py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(value);
  if (!array) PyErr_Clear();
  if (!array || array.ndim() != 1 || array.size() != 4)
    raise_value_error("orientation must be a quaternion of four numbers, w x y z");
  const double* const x = array.data();
  const Quat made(x[0], x[1], x[2], x[3]);
  if (!made.coeffs().allFinite() || !(made.norm() > 1e-6))
    raise_value_error("orientation must be a quaternion other than zero, of finite numbers");
  return made.normalized();
}

using AxisTuple = std::tuple<std::string, double, double, double, double, double, double>;

std::vector<AxisTuple> read_axes(const Core& core, int joint) {
  core.check_idle();
  std::vector<AxisTuple> made;
  for (const AxisReading& axis : core.simulation().joint(joint).axes)
    made.emplace_back(name_of(axis.freedom), axis.position, axis.velocity, axis.motor, axis.limit, axis.friction,
                      axis.spring);
  return made;
}

/// What a motor is asked for in the next step: (target, max, torque or None).
std::tuple<double, double, std::optional<double>> read_motor(const Core& core, std::size_t axis) {
  core.check_idle();
  const Inputs inputs = core.simulation().inputs();
  const MotorInput& scene = inputs.motors()[axis];
  const MotorGiven& given = core.given.motors[axis];
  return {given.target.value_or(scene.target), given.max.value_or(scene.max), given.torque};
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

void bind_views(CoreClass* type) {
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
      .def("joint_reaction",
           [=](Core& c) {
             return make_view(c.views, c.views->reaction, {joints(c), 6});
           })
      .def("sensors", [](Core& c) {
        return make_view(c.views, c.views->sensors, {static_cast<py::ssize_t>(c.simulation().sensors().size())});
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

Core::Core(std::shared_ptr<const SceneBox> from, SimulationOptions options, std::shared_ptr<PythonSolver> tried)
    : scene(std::move(from)),
      prototype(std::move(tried)),
      views(std::make_shared<Views>()),
      frames_(make_frames(*scene)),
      simulation_(scene->scene.model, scene->scene.initial,
                  [&] {
                    options.prototype = prototype;
                    return std::move(options);
                  }()),
      inputs_(simulation_.inputs()) {
  const Model& model = simulation_.model();
  clear_inputs();
  const std::size_t bodies = model.bodies.size(), joints = model.joints.size();
  // One number more than there are: an empty array would have no address of its own.
  for (auto* three : {&views->position, &views->velocity, &views->angular_velocity}) three->resize(3 * bodies + 1);
  views->orientation.resize(4 * bodies + 1);
  for (auto* one : {&views->joint_position, &views->joint_velocity, &views->motor_force, &views->limit_force})
    one->resize(joints + 1);
  views->reaction.resize(6 * joints + 1);
  views->sensors.resize(simulation_.sensors().size() + 1);
  update_views();
}

void Core::clear_inputs() {
  given.motors.assign(simulation_.model().axes.size(), {});
  given.loads.assign(simulation_.model().loads.size(), 1);
  given.forces.clear();
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
  std::copy(simulation_.sensors().begin(), simulation_.sensors().end(), views->sensors.begin());
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
      if (prototype && prototype->is_pending()) break;
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
  if (prototype) prototype->rethrow();
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

void Core::set_motion(int body, const std::optional<Vec3>& position, const std::optional<Quat>& orientation,
                      const std::optional<Vec3>& velocity, const std::optional<Vec3>& angular_velocity) {
  check_idle();
  const Model& model = simulation_.model();
  const Body& target = model.bodies[body];
  if (target.kind != BodyKind::Dynamic)
    raise_value_error("body '" + target.name + "' is where the scene says at all times; set a dynamic one");
  State state = simulation_.state();
  WorldMotion motion = calc_world_motion(target, state.pose[body], state.velocity[body]);
  if (position) motion.pose.position = *position;
  if (orientation) motion.pose.orientation = *orientation;
  if (velocity) motion.velocity = *velocity;
  if (angular_velocity) motion.angular_velocity = *angular_velocity;
  const Quat& q = motion.pose.orientation;
  if (model.planar && (motion.pose.position.z() != 0 || q.x() != 0 || q.y() != 0))
    raise_value_error("body '" + target.name + "': a planar scene has z = 0 and turns about z alone");
  const Vec3 arm = q * target.center_of_mass;
  state.pose[body] = {motion.pose.position + arm, q};
  Twist& twist = state.velocity[body];
  twist.linear = motion.velocity + motion.angular_velocity.cross(arm);
  twist.angular = q.conjugate() * motion.angular_velocity;
  Eigen::Matrix<double, 6, 1> asked, free;
  asked << twist.linear, twist.angular;
  const auto basis = target.free_basis().leftCols(target.dof);
  free = basis * (basis.transpose() * asked);
  if ((free - asked).norm() > 1e-9 * asked.norm())
    raise_value_error("body '" + target.name + "' cannot move like that: the scene locks some of its freedoms");
  if (!state.previous_velocity.empty()) state.previous_velocity[body] = twist;
  // What its contacts remember is of where it was.
  const auto is_of = [&](std::int32_t shape) {
    return shape >= target.first_shape && shape < target.first_shape + target.shape_count;
  };
  std::erase_if(state.contact_memory,
                [&](const ContactMemory& m) { return is_of(m.key.shape_a) || is_of(m.key.shape_b); });
  const Faults faults = simulation_.set_state(state);
  if (!faults.empty()) raise_value_error(faults.front().text());
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
  py::class_<InputsGiven>(*module, "InputsGiven");
  CoreClass type(*module, "Core");
  type.def(py::init([](const std::shared_ptr<SceneBox>& scene, const std::string& simulation,
                       const std::vector<std::string>& keys, const py::object& prototype) {
        return std::make_shared<Core>(scene, make_options(*scene, simulation, keys), make_python_solver(prototype));
      }))
      .def("step", &Core::step, py::arg("count") = 1)
      .def("time", [](const Core& c) { return c.simulation().state().time; })
      .def("step_number", [](const Core& c) { return c.simulation().state().step; })
      .def("options",
           [](const Core& c) {
             const SimulationOptions& o = c.simulation().options();
             return std::make_tuple(o.step, o.duration, o.scheme, make_solver_text(o), o.threads, o.tolerance);
           })
      .def("steps_in",
           [](const Core& c, double seconds) {
             SimulationOptions options = c.simulation().options();
             options.duration = seconds;
             return calc_step_count(options);
           })
      .def("state", &Core::state)
      .def("set_state", &Core::set_state)
      .def("set_motion",
           [](Core& c, int body, const py::object& position, const py::object& orientation, const py::object& velocity,
              const py::object& angular_velocity) {
             const auto read = [](const py::object& value, const char* what) {
               return value.is_none() ? std::optional<Vec3>() : as_vec3(value, what);
             };
             c.set_motion(body, read(position, "position"),
                          orientation.is_none() ? std::optional<Quat>() : as_quat(orientation),
                          read(velocity, "velocity"), read(angular_velocity, "angular_velocity"));
           })
      .def("clear_inputs",
           [](Core& c) {
             c.check_idle();
             c.clear_inputs();
           })
      .def("problem",
           [](const Core& c) {
             c.check_idle();
             return std::make_shared<ProblemBox>(ProblemBox{std::make_shared<const Problem>(c.simulation().problem())});
           })
      .def("solver_failures",
           [](const Core& c) {
             return c.prototype ? std::make_tuple(c.prototype->failures(), c.prototype->last_failure())
                                : std::make_tuple(0L, std::string());
           })
      .def("energy",
           [](const Core& c) {
             c.check_idle();
             const EnergySplit energy = c.simulation().energy();
             return std::make_tuple(energy.kinetic, energy.potential);
           })
      .def("warnings",
           [](const Core& c) {
             const auto warnings = c.simulation().warnings();
             return std::vector<std::string>(warnings.begin(), warnings.end());
           })
      .def("events",
           [](const Core& c) {
             c.check_idle();
             std::vector<std::tuple<double, std::string, int, int, double, double>> made;
             for (const Event& e : c.simulation().events())
               made.emplace_back(e.time, name_of(e.kind), e.body_a, e.body_b, e.normal_speed_before,
                                 e.normal_speed_after);
             return made;
           })
      .def("solver_statistics",
           [](const Core& c) {
             c.check_idle();
             std::vector<std::tuple<std::string, long, long, long>> made;
             for (const SolverStatistics& s : c.simulation().solver_statistics())
               made.emplace_back(s.solver, s.solves, s.certified, s.iterations);
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
  bind_contacts(&type);
  type.def("inputs", [](const Core& c) { return c.given; });
  type.def("set_inputs", [](Core& c, const InputsGiven& given) { c.given = given; });
}

}  // namespace slipstick::python
