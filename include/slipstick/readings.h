// Room: step. What the last step did: coordinates and forces of joints, forces of springs, and all that acted on a
// body. Forces are impulses over the step divided by its length: exact means, summed through located events and
// impacts (docs/library.md).
#pragma once

#include <slipstick/joint.h>
#include <slipstick/types.h>

#include <limits>
#include <span>

namespace slipstick {

/// One coordinate of a joint. Forces along it are positive where they drive it up; N, or N m of a turn.
struct AxisReading {
  Freedom freedom = Freedom::TurnZ;
  double position = 0;  ///< m or rad, whole turns counted; zero at t = 0 (rod, rope: the length)
  double velocity = 0;  ///< m/s or rad/s
  double motor = 0;
  double limit = 0;     ///< of the ends of its range
  double friction = 0;  ///< dry
  double spring = 0;    ///< of the spring and damper on it
};

struct JointReading {
  int joint = -1;  ///< index into Model::joints; -1: there is no such joint, and all numbers are NaN
  explicit operator bool() const { return joint >= 0; }

  // Of the axis that the joint is known for: a hinge's turn, a slider's slide; else of its first one. NaN: it has none.
  double position = 0, velocity = 0;
  double motor_force = 0, limit_force = 0, friction_force = 0;

  /// All that the joint does to body B, motors, limits, friction, springs and gears on its axes included: world axes,
  /// moment about the joint's anchor on B.
  Vec3 reaction_force = Vec3::Zero(), reaction_moment = Vec3::Zero();
  /// Gear, rack, differential, screw: force along the coupled sum of coordinates. What it does to bodies stands in the
  /// reactions of the joints whose axes it couples.
  double coupling_force = 0;
  std::span<const AxisReading> axes;  ///< all coordinates that are free, in the order of Freedom
};

/// The numbers of a sensor of the present state; forces are means over the last step.
struct SensorReading {
  int sensor = -1;  ///< in the order of the scene; -1: there is no such sensor, and no numbers
  std::span<const double> values;
  explicit operator bool() const { return sensor >= 0; }
  /// Of a sensor with one number; NaN: it has none, or several.
  double value() const { return values.size() == 1 ? values[0] : std::numeric_limits<double>::quiet_NaN(); }
};

struct SpringReading {
  Vec3 force = Vec3::Zero();  ///< on body B, at its end, world
  double length = 0;          ///< of the present state, m
};

/// A force in WORLD axes and a torque about the centre of mass in BODY axes, as Twist.
struct Wrench {
  Vec3 force = Vec3::Zero();
  Vec3 torque = Vec3::Zero();
};

/// All that acted on a body. The sum times the step is the change of M v, to rounding, in the directions that are not
/// locked: the equation that the scheme solved.
struct BodyForces {
  Wrench gravity, load, joint, spring, contact;
  /// Gyroscopic torque; what turning joint forces do (`spook`); what keeps the angular momentum of floating groups in
  /// which overlap was corrected (no sum of forces, nor of moments that anybody else could see).
  Wrench inertia;
  Wrench sum() const {
    return {gravity.force + load.force + joint.force + spring.force + contact.force + inertia.force,
            gravity.torque + load.torque + joint.torque + spring.torque + contact.torque + inertia.torque};
  }
};

}  // namespace slipstick
