// Many independent runs of one scene at a time, arrays in and arrays out.
#include "boxes.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>

namespace slipstick::python {

namespace {

using Array = py::array_t<double, py::array::c_style | py::array::forcecast>;

/// Where the numbers of one step of one run go.
struct RolloutArrays {
  py::ssize_t runs = 0, steps = 0, bodies = 0, joints = 0, motors = 0;
  const double* controls = nullptr;  ///< null: motors as the scene says
  double *position = nullptr, *orientation = nullptr, *velocity = nullptr, *angular_velocity = nullptr;
  double *joint_position = nullptr, *joint_velocity = nullptr, *time = nullptr, *residual = nullptr;
  bool* certified = nullptr;
};

void write_step(const Simulation& simulation, const StepReport& report, py::ssize_t at, const RolloutArrays& to) {
  const Model& model = simulation.model();
  const State& state = simulation.state();
  for (py::ssize_t i = 0; i < to.bodies; ++i) {
    const WorldMotion motion = calc_world_motion(model.bodies[i], state.pose[i], state.velocity[i]);
    const py::ssize_t row = at * to.bodies + i;
    const Quat& q = motion.pose.orientation;
    for (int k = 0; k < 3; ++k) {
      to.position[3 * row + k] = motion.pose.position[k];
      to.velocity[3 * row + k] = motion.velocity[k];
      to.angular_velocity[3 * row + k] = motion.angular_velocity[k];
    }
    to.orientation[4 * row] = q.w();
    for (int k = 0; k < 3; ++k) to.orientation[4 * row + 1 + k] = q.vec()[k];
  }
  for (py::ssize_t i = 0; i < to.joints; ++i) {
    const JointReading& joint = simulation.joint(static_cast<int>(i));
    to.joint_position[at * to.joints + i] = joint.position;
    to.joint_velocity[at * to.joints + i] = joint.velocity;
  }
  to.time[at] = state.time;
  to.residual[at] = report.certificate.residual.natural;
  to.certified[at] = report.certified;
}

/// One run; what comes after a step without a finite answer stays NaN.
std::string make_run(const State& from, const std::vector<int>& axes, bool torque, py::ssize_t run,
                     const RolloutArrays& to, Simulation* simulation) {
  const Faults faults = simulation->set_state(from);
  if (!faults.empty()) return faults.front().text();
  Inputs inputs = simulation->inputs();
  for (py::ssize_t k = 0; k < to.steps; ++k) {
    const py::ssize_t at = run * to.steps + k;
    const StepReport* report = nullptr;
    if (to.controls) {
      simulation->update_inputs(&inputs);
      for (py::ssize_t m = 0; m < to.motors; ++m) {
        MotorInput& motor = inputs.motor(axes[m]);
        (torque ? motor.torque : motor.target) = to.controls[at * to.motors + m];
      }
      report = &simulation->step(inputs);
    } else {
      report = &simulation->step();
    }
    if (report->failed) return "step " + std::to_string(k) + ": " + std::string(report->note);
    write_step(*simulation, *report, at, to);
  }
  return {};
}

template <class T>
py::array_t<T> make_filled(std::vector<py::ssize_t> shape, T value) {
  py::array_t<T> made(std::move(shape));
  std::fill_n(made.mutable_data(), made.size(), value);
  return made;
}

py::tuple rollout(const std::shared_ptr<SceneBox>& box, const std::string& simulation,
                  const std::vector<std::string>& keys, const std::vector<StateBox>& states,
                  const std::optional<Array>& controls, py::ssize_t steps, bool torque, int threads) {
  SimulationOptions options = make_options(*box, simulation, keys);
  options.threads = 1;
  const Model& model = box->scene.model;
  std::vector<int> axes;
  for (std::size_t k = 0; k < model.axes.size(); ++k)
    if (model.axes[k].motor) axes.push_back(static_cast<int>(k));
  RolloutArrays to;
  to.runs = static_cast<py::ssize_t>(states.size());
  to.steps = steps;
  to.bodies = static_cast<py::ssize_t>(model.bodies.size());
  to.joints = static_cast<py::ssize_t>(model.joints.size());
  to.motors = static_cast<py::ssize_t>(axes.size());
  if (controls) {
    to.controls = controls->data();
    if (!std::all_of(to.controls, to.controls + controls->size(), [](double x) { return std::isfinite(x); }))
      raise_value_error("controls hold a number that is not finite");
  }
  for (const StateBox& state : states)
    if (state.frames->model_hash != box->model_hash) raise_value_error("a state is of another model than the scene");

  const double nan = std::nan("");
  auto position = make_filled<double>({to.runs, steps, to.bodies, 3}, nan);
  auto orientation = make_filled<double>({to.runs, steps, to.bodies, 4}, nan);
  auto velocity = make_filled<double>({to.runs, steps, to.bodies, 3}, nan);
  auto angular_velocity = make_filled<double>({to.runs, steps, to.bodies, 3}, nan);
  auto joint_position = make_filled<double>({to.runs, steps, to.joints}, nan);
  auto joint_velocity = make_filled<double>({to.runs, steps, to.joints}, nan);
  auto time = make_filled<double>({to.runs, steps}, nan);
  auto residual = make_filled<double>({to.runs, steps}, nan);
  auto certified = make_filled<bool>({to.runs, steps}, false);
  to.position = position.mutable_data();
  to.orientation = orientation.mutable_data();
  to.velocity = velocity.mutable_data();
  to.angular_velocity = angular_velocity.mutable_data();
  to.joint_position = joint_position.mutable_data();
  to.joint_velocity = joint_velocity.mutable_data();
  to.time = time.mutable_data();
  to.residual = residual.mutable_data();
  to.certified = certified.mutable_data();

  std::vector<std::string> notes(states.size());
  std::vector<StateBox> final_states(states.size(),
                                     StateBox{{}, states.empty() ? make_frames(*box) : states[0].frames});
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> stop = false;
  const auto work = [&] {
    Simulation simulation(model, box->scene.initial, options);
    for (std::size_t run = next++; run < states.size() && !stop; run = next++) {
      notes[run] = make_run(states[run].state, axes, torque, static_cast<py::ssize_t>(run), to, &simulation);
      final_states[run].state = simulation.state();
    }
  };
  bool interrupted = false;
  {
    const py::gil_scoped_release release;
    std::atomic<int> running = 0;
    std::vector<std::thread> workers;
    for (int k = 0; k < std::clamp(threads, 1, std::max<int>(1, static_cast<int>(states.size()))); ++k) {
      ++running;
      workers.emplace_back([&] {
        work();
        --running;
      });
    }
    for (int round = 0; running > 0; ++round) {  // Ctrl-C is heard by the main thread alone
      std::this_thread::sleep_for(std::chrono::microseconds(round < 1000 ? 200 : 20000));
      if (round % 100 != 99) continue;
      const py::gil_scoped_acquire acquire;
      if (PyErr_CheckSignals() == 0) continue;
      interrupted = stop = true;
      break;
    }
    for (std::thread& worker : workers) worker.join();
  }
  if (interrupted) throw py::error_already_set();
  return py::make_tuple(time, position, orientation, velocity, angular_velocity, joint_position, joint_velocity,
                        certified, residual, final_states, notes);
}

}  // namespace

void bind_rollout(py::module_* module) { module->def("rollout", &rollout); }

}  // namespace slipstick::python
