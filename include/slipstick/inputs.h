// Room: model. What drives the world in the coming step: forces on bodies, targets of motors. A value, made by
// Simulation::inputs, changed by whoever controls, and given to Simulation::step.
#pragma once

#include <slipstick/model.h>
#include <slipstick/result.h>
#include <slipstick/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace slipstick {

/// A number that the scene gives until somebody else does. What the scene gives may depend on t within the step; what
/// is assigned holds for the whole of it.
class Setting {
 public:
  Setting() = default;
  explicit Setting(double scene) : value_(scene) {}
  Setting& operator=(double value) {
    value_ = value;
    given_ = true;
    return *this;
  }
  operator double() const { return value_; }  // NOLINT(google-explicit-constructor)
  bool given() const { return given_; }

 private:
  double value_ = 0;
  bool given_ = false;
};

struct MotorInput {
  Setting target;  ///< m/s or rad/s, or m or rad, as the motor drives speed or position; the scene's: at the step's end
  Setting max;     ///< N or N m, the bound of the motor's force; not negative
  Setting torque;  ///< N or N m: once given, the motor is nothing but this force (within +-max) and has no target
};

struct LoadInput {
  double scale = 1;  ///< of a load of the scene; 0: none
};

/// In which axes a force is given, and its point. World: both in the world, the point being that of the body's matter
/// which is there when the step begins. Body: both in the body's own frame, and the force turns with the body.
enum class Frame : std::uint8_t { World, Body };

/// A force and a torque on one body through the coming step.
struct AppliedWrench {
  int body = 0;
  Frame frame = Frame::World;
  Vec3 force = Vec3::Zero(), torque = Vec3::Zero();  ///< N, N m
  std::optional<Vec3> at;                            ///< where the force acts; default: the centre of mass
};

/// A body by its index in Model::bodies or by its name.
class BodyRef {
 public:
  BodyRef(int index) : index_(index) {}              // NOLINT(google-explicit-constructor)
  BodyRef(const char* name) : name_(name) {}         // NOLINT(google-explicit-constructor)
  BodyRef(std::string_view name) : name_(name) {}    // NOLINT(google-explicit-constructor)
  BodyRef(const std::string& name) : name_(name) {}  // NOLINT(google-explicit-constructor)
  std::optional<int> index() const { return index_; }
  std::string_view name() const { return name_; }

 private:
  std::optional<int> index_;
  std::string_view name_;
};

struct InputNames;  ///< what Inputs know of their model

/// All methods take unknown names and numbers that are none safely: nothing is applied, a fault is kept, and a step
/// with faulty inputs is not made (StepReport::failed says so, the state stays).
class Inputs {
 public:
  Inputs() = default;  ///< of no model: no step takes them
  explicit Inputs(std::shared_ptr<const InputNames> names) : names_(std::move(names)) {}

  /// Forces add up, on top of gravity and of the scene's loads.
  Inputs& force(BodyRef body, const Vec3& force, Frame frame = Frame::World);
  Inputs& force(BodyRef body, const Vec3& force, const Vec3& at, Frame frame = Frame::World);
  Inputs& torque(BodyRef body, const Vec3& torque, Frame frame = Frame::World);
  /// Takes back all forces and torques applied so far (not the scene's loads).
  void clear_forces() { wrenches_.clear(); }

  /// By the name of its joint ("elbow"), or of joint and axis where a joint has several motors ("arm.slide"). For an
  /// unknown name: a motor that drives nothing, and a fault.
  MotorInput& motor(std::string_view name);
  /// By the index of its axis in Model::axes.
  MotorInput& motor(int axis);
  /// A load of the scene by name or index in Model::loads.
  LoadInput& load(std::string_view name);
  LoadInput& load(int index);

  std::span<const AppliedWrench> wrenches() const { return wrenches_; }
  std::span<const MotorInput> motors() const { return motors_; }  ///< one per Model::axes; not all have a motor
  std::span<const LoadInput> loads() const { return loads_; }     ///< one per Model::loads
  const Faults& faults() const { return faults_; }
  const std::shared_ptr<const InputNames>& names() const { return names_; }

 private:
  friend void update_inputs(const Model& model, double t, std::span<const double> readings, Inputs* inputs);
  void apply(BodyRef body, const AppliedWrench& wrench);
  void add_fault(std::string message);

  std::shared_ptr<const InputNames> names_;
  std::vector<AppliedWrench> wrenches_;
  std::vector<MotorInput> motors_;
  std::vector<LoadInput> loads_;
  Faults faults_;
  MotorInput no_motor_;
  LoadInput no_load_;
};

/// Names of bodies, motors and loads; shared by all Inputs of a simulation.
std::shared_ptr<const InputNames> make_input_names(const Model& model);
/// Inputs as the scene says for a step that ends at t; keeps the memory of `inputs`, which have the model's names.
/// `readings` are what formulas see.
void update_inputs(const Model& model, double t, std::span<const double> readings, Inputs* inputs);
/// Why a step of `model` cannot take these inputs (static text), or nothing. `names` are those of the model.
std::string_view find_input_fault(const Inputs& inputs, const std::shared_ptr<const InputNames>& names);

}  // namespace slipstick
