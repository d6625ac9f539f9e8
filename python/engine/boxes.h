// Room: python. What Python holds of the engine: scenes and states as values, a simulation with the inputs of its next
// step. Everything that a person sees is of the body's own frame, in world axes, quaternions w x y z.
#pragma once

#include <slipstick/app/recording.h>
#include <slipstick/app/report.h>
#include <slipstick/slipstick.h>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace slipstick::python {

namespace py = pybind11;

/// Names and numbers, in the order in which they were put in.
struct NumberDict : py::dict {
  using py::dict::dict;
};

/// A class of slipstick._errors, raised with these arguments.
[[noreturn]] void raise(const char* type, const py::args& arguments);
[[noreturn]] void raise_scene_error(const Faults& faults);
[[noreturn]] void raise_value_error(const std::string& message);

/// The parts of a pickle as bytes with a checksum, and back: what was damaged on the way is refused before it is used.
py::tuple seal(const py::tuple& parts);
py::tuple unseal(const py::tuple& sealed, const char* what);

/// A scene and what is asked of it again and again; never changed once made.
struct SceneBox {
  Scene scene;
  std::uint64_t model_hash = 0;
  explicit SceneBox(Scene made) : scene(std::move(made)), model_hash(hash(scene.model)) {}
};

/// What makes a State readable without its model.
struct StateFrames {
  std::uint64_t model_hash = 0;
  std::string model_name;
  std::vector<Vec3> centers;  ///< of mass, in the body's frame
};

struct StateBox {
  State state;
  std::shared_ptr<const StateFrames> frames;
};
std::shared_ptr<const StateFrames> make_frames(const SceneBox& box);

/// The numbers behind the views that Python keeps: arrays hold a share of them, so that they outlive the simulation.
struct Views {
  std::vector<double> position, orientation, velocity, angular_velocity;
  std::vector<double> joint_position, joint_velocity, motor_force, limit_force, reaction;
  std::vector<double> sensors;
};
void update_motion(const WorldMotion& motion, std::size_t body, Views* views);

/// What somebody gave a motor in place of the scene's; nothing: as the scene says.
struct MotorGiven {
  std::optional<double> target, max, torque;
  bool any() const { return target || max || torque; }
};

/// What drives the next step, beyond the scene. Motors and loads stay until they are changed, forces are for one step.
struct InputsGiven {
  std::vector<MotorGiven> motors;  ///< per Model::axes
  std::vector<double> loads;       ///< scales, per Model::loads
  std::vector<AppliedWrench> forces;
  bool any() const;
};

class PythonSolver;

class Core {
 public:
  /// prototype: asked before the options' solver; null: none.
  Core(std::shared_ptr<const SceneBox> scene, SimulationOptions options, std::shared_ptr<PythonSolver> prototype);

  /// So many steps with the GIL released. Raises ss.Diverged where one has no finite answer.
  StepReport step(long count);
  /// One step, nothing else: for those who hold the GIL no more.
  const StepReport& step_once();
  void update_views();

  void apply(int body, const std::optional<Vec3>& force, const std::optional<Vec3>& torque,
             const std::optional<Vec3>& at, Frame frame);
  void set_state(const StateBox& box);
  /// Puts a body elsewhere: of its own frame, in world axes; what is not given stays.
  void set_motion(int body, const std::optional<Vec3>& position, const std::optional<Quat>& orientation,
                  const std::optional<Vec3>& velocity, const std::optional<Vec3>& angular_velocity);
  StateBox state() const;
  void clear_inputs();                            ///< as the scene says
  int find_motor(const std::string& name) const;  ///< index into Model::axes; -1: there is none

  const Simulation& simulation() const { return simulation_; }
  /// The scene as this simulation runs it, for recordings and reports.
  Scene scene_as_run() const;

  std::shared_ptr<const SceneBox> scene;
  std::shared_ptr<PythonSolver> prototype;
  std::shared_ptr<Views> views;
  InputsGiven given;

  /// Held while a step is made: a second thread gets a clear error instead of a race.
  class Busy {
   public:
    explicit Busy(Core* core);
    ~Busy() { core_->busy_ = false; }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

   private:
    Core* core_;
  };
  void check_idle() const;

 private:
  std::shared_ptr<const StateFrames> frames_;
  Simulation simulation_;
  Inputs inputs_;
  std::atomic<bool> busy_ = false;
};

/// Options of a scene with those that Python names, as the `simulation` part of a scene file, in their place.
SimulationOptions make_options(const SceneBox& box, const std::string& simulation,
                               const std::vector<std::string>& keys);

/// Raises ss.Diverged.
[[noreturn]] void raise_diverged(const StepReport& report);

Vec3 as_vec3(const py::handle& value, const char* what);

void bind_scene(py::module_* module);
void bind_report(py::module_* module);
void bind_simulation(py::module_* module);
using CoreClass = py::class_<Core, std::shared_ptr<Core>>;
void bind_contacts(CoreClass* type);
void bind_run(py::module_* module);
void bind_rollout(py::module_* module);
void bind_problem(py::module_* module);

}  // namespace slipstick::python

/// What signatures, and with them the stubs (tools/make_stubs), say of it.
template <>
struct pybind11::detail::handle_type_name<slipstick::python::NumberDict> {
  static constexpr auto name = const_name("Dict[str, float]");
};
