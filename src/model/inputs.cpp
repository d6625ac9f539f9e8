#include <slipstick/inputs.h>

#include <algorithm>
#include <cmath>

#include "base/as_quoted.h"

namespace slipstick {

struct InputNames {
  using Table = std::vector<std::pair<std::string, int>>;  ///< sorted by name
  Table bodies, motors, loads;
  std::vector<std::string> body_names;  ///< by index
  std::vector<char> is_dynamic;         ///< by body
  std::vector<char> has_motor;          ///< by axis
};

namespace {

void sort_names(InputNames::Table* table) { std::sort(table->begin(), table->end()); }

std::optional<int> find_name(const InputNames::Table& table, std::string_view name) {
  const auto found = std::lower_bound(table.begin(), table.end(), name,
                                      [](const auto& entry, std::string_view wanted) { return entry.first < wanted; });
  if (found == table.end() || found->first != name) return std::nullopt;
  return found->second;
}

/// "; there is 'a', 'b'", a few of them.
std::string list_names(const InputNames::Table& table) {
  constexpr std::size_t kMost = 8;
  if (table.empty()) return "; there is none";
  std::string text = "; there is ";
  for (std::size_t i = 0; i < std::min(kMost, table.size()); ++i) {
    if (i > 0) text += ", ";
    text += as_quoted(table[i].first);
  }
  return table.size() > kMost ? text + ", ..." : text;
}

/// All names by which the motor of an axis may be called: the joint's if it has no other motor, and joint.axis.
void add_motor_names(const Model& model, InputNames* names) {
  std::vector<int> motors_of(model.joints.size(), 0);
  for (const Axis& axis : model.axes) motors_of[axis.joint] += axis.motor ? 1 : 0;
  for (std::size_t k = 0; k < model.axes.size(); ++k) {
    const Axis& axis = model.axes[k];
    names->has_motor.push_back(axis.motor ? 1 : 0);
    if (axis.motor && motors_of[axis.joint] == 1)
      names->motors.emplace_back(model.joints[axis.joint].name, static_cast<int>(k));
    if (axis.motor)
      names->motors.emplace_back(model.joints[axis.joint].name + "." + std::string(name_of(axis.freedom)),
                                 static_cast<int>(k));
  }
}

}  // namespace

std::shared_ptr<const InputNames> make_input_names(const Model& model) {
  auto names = std::make_shared<InputNames>();
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    names->bodies.emplace_back(model.bodies[i].name, static_cast<int>(i));
    names->body_names.push_back(model.bodies[i].name);
    names->is_dynamic.push_back(model.bodies[i].kind == BodyKind::Dynamic ? 1 : 0);
  }
  add_motor_names(model, names.get());
  for (std::size_t i = 0; i < model.loads.size(); ++i)
    names->loads.emplace_back(model.loads[i].name, static_cast<int>(i));
  sort_names(&names->bodies);
  sort_names(&names->motors);
  sort_names(&names->loads);
  return names;
}

void update_inputs(const Model& model, double t, std::span<const double> readings, Inputs* inputs) {
  inputs->wrenches_.clear();
  inputs->faults_.clear();
  inputs->loads_.assign(model.loads.size(), {});
  inputs->motors_.resize(model.axes.size());
  for (std::size_t k = 0; k < model.axes.size(); ++k) {
    inputs->motors_[k] = {};
    if (!model.axes[k].motor) continue;
    inputs->motors_[k].target = Setting(model.axes[k].motor->target.at(t, readings));
    inputs->motors_[k].max = Setting(calc_bound(model.axes[k].motor->max, t, readings));
  }
}

void Inputs::add_fault(std::string message) { faults_.push_back({{}, std::move(message)}); }

void Inputs::apply(BodyRef body, const AppliedWrench& wrench) {
  if (!names_) return add_fault("inputs of no model; take them from Simulation::inputs()");
  const std::optional<int> index = body.index() ? body.index() : find_name(names_->bodies, body.name());
  if (!index) return add_fault("unknown body " + as_quoted(body.name()) + list_names(names_->bodies));
  if (*index < 0 || *index >= static_cast<int>(names_->body_names.size()))
    return add_fault("there is no body " + std::to_string(*index) + "; bodies count from 0 to " +
                     std::to_string(static_cast<int>(names_->body_names.size()) - 1));
  if (!names_->is_dynamic[*index])
    return add_fault("body " + as_quoted(names_->body_names[*index]) +
                     " does not move under forces; name a dynamic body");
  if (!wrench.force.allFinite() || !wrench.torque.allFinite() || (wrench.at && !wrench.at->allFinite()))
    return add_fault("a force on body " + as_quoted(names_->body_names[*index]) + " is not a number");
  wrenches_.push_back(wrench);
  wrenches_.back().body = *index;
}

Inputs& Inputs::force(BodyRef body, const Vec3& force, Frame frame) {
  apply(body, {0, frame, force, Vec3::Zero(), std::nullopt});
  return *this;
}

Inputs& Inputs::force(BodyRef body, const Vec3& force, const Vec3& at, Frame frame) {
  apply(body, {0, frame, force, Vec3::Zero(), at});
  return *this;
}

Inputs& Inputs::torque(BodyRef body, const Vec3& torque, Frame frame) {
  apply(body, {0, frame, Vec3::Zero(), torque, std::nullopt});
  return *this;
}

MotorInput& Inputs::motor(int axis) {
  if (names_ && axis >= 0 && axis < static_cast<int>(motors_.size()) && names_->has_motor[axis]) return motors_[axis];
  add_fault("axis " + std::to_string(axis) + " has no motor");
  return no_motor_ = {};
}

MotorInput& Inputs::motor(std::string_view name) {
  const auto find = [&]() -> std::optional<int> {
    if (!names_) return std::nullopt;
    if (const auto found = find_name(names_->motors, name)) return found;
    const std::size_t dot = name.rfind('.');  // other words for an axis: "arm.slide" for "arm.z"
    if (dot == std::string_view::npos) return std::nullopt;
    const auto freedom = find_freedom(name.substr(dot + 1));
    if (!freedom) return std::nullopt;
    return find_name(names_->motors, std::string(name.substr(0, dot + 1)) + std::string(name_of(*freedom)));
  };
  if (const auto axis = find()) return motors_[*axis];
  add_fault("unknown motor " + as_quoted(name) + (names_ ? list_names(names_->motors) : ""));
  return no_motor_ = {};
}

LoadInput& Inputs::load(int index) {
  if (index >= 0 && index < static_cast<int>(loads_.size())) return loads_[index];
  add_fault("there is no load " + std::to_string(index));
  return no_load_ = {};
}

LoadInput& Inputs::load(std::string_view name) {
  const auto index = names_ ? find_name(names_->loads, name) : std::nullopt;
  if (index) return loads_[*index];
  add_fault("unknown load " + as_quoted(name) + (names_ ? list_names(names_->loads) : ""));
  return no_load_ = {};
}

std::string_view find_input_fault(const Inputs& inputs, const std::shared_ptr<const InputNames>& names) {
  if (!inputs.faults().empty()) return "the inputs have faults (Inputs::faults)";
  if (!inputs.names()) return "the inputs are of no model; take them from Simulation::inputs";
  if (inputs.names() != names &&
      (inputs.names()->body_names != names->body_names || inputs.names()->is_dynamic != names->is_dynamic ||
       inputs.names()->motors != names->motors || inputs.names()->has_motor != names->has_motor ||
       inputs.names()->loads != names->loads))
    return "the inputs are of another model; take them from Simulation::inputs";
  for (const MotorInput& motor : inputs.motors()) {
    if (!std::isfinite(motor.target) || !std::isfinite(motor.torque) || std::isnan(double(motor.max)))
      return "a motor's input is not a number";
    if (motor.max < 0) return "a motor's bound is negative";
  }
  for (const LoadInput& load : inputs.loads())
    if (!std::isfinite(load.scale)) return "a load's scale is not a number";
  return {};
}

}  // namespace slipstick
