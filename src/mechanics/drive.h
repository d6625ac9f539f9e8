// What drives the world in one step: Inputs, checked, with the points where forces act carried into their bodies once
// and for all parts of the step.
#pragma once

#include <slipstick/inputs.h>
#include <slipstick/model.h>

#include <algorithm>
#include <span>
#include <vector>

namespace slipstick {

struct Drive {
  struct Push {
    int body = 0;
    bool turns = false;  ///< force and torque are in body axes
    Vec3 force = Vec3::Zero(), torque = Vec3::Zero();
    Vec3 at = Vec3::Zero();  ///< centre-of-mass frame, body axes
  };
  std::vector<Push> pushes;
  std::vector<MotorInput> motors;    ///< per Model::axes
  std::vector<LoadInput> loads;      ///< per Model::loads
  std::span<const double> readings;  ///< what formulas see: of the beginning of the step
};

/// Nothing but what the scene says, which depends on readings.
void clear_drive(const Model& model, Drive* drive);
/// `pose` is where the step begins.
void update_drive(const Model& model, const Inputs& inputs, std::span<const Pose> pose, Drive* drive);

/// Adds the pushes at `pose`, as generalised forces.
void add_wrenches(const Drive& drive, std::span<const Pose> pose, std::vector<Vec6>* load);

/// A motor of the model as the inputs, if there are any, have set it.
struct DrivenMotor {
  const Motor& motor;
  const MotorInput* input = nullptr;  ///< null: as the scene says
  std::span<const double> readings;

  DrivenMotor(const Axis& axis, const Drive* drive, std::size_t k)
      : motor(*axis.motor), input(drive ? &drive->motors[k] : nullptr) {
    if (drive) readings = drive->readings;
  }
  double target(double t) const {
    return input && input->target.given() ? double(input->target) : motor.target.at(t, readings);
  }
  double max(double t) const {
    return input && input->max.given() ? double(input->max) : calc_bound(motor.max, t, readings);
  }
  /// Of a motor to a position; infinite where there is none.
  double max_speed(double t) const { return motor.max_speed ? calc_bound(*motor.max_speed, t, readings) : kInfinity; }
  /// The motor is a source of force and has no target.
  bool is_source() const { return motor.drives_force || (input && input->torque.given()); }
  double torque(double t) const {
    const bool given = input && input->torque.given();
    return std::clamp(given ? double(input->torque) : target(t), -max(t), max(t));
  }
};

}  // namespace slipstick
