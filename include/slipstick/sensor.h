// Room: model. Sensors: named quantities of the running world, and the readings that formulas of motors and loads use.
#pragma once

#include <slipstick/expression.h>
#include <slipstick/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipstick {

enum class SensorKind : std::uint8_t {
  Joint,     ///< of a joint's coordinate, or what the joint does
  Body,      ///< how a point of a body moves
  Contact,   ///< the force of one body on another
  Distance,  ///< from the shapes of one body to those of another
  Ray,       ///< how far a ray from a body goes
  Value,     ///< a formula
  Integral,  ///< of a formula over time
  Copy       ///< one number of another sensor
};
std::string_view name_of(SensorKind kind);

/// What of it. Each kind knows some of them.
enum class Quantity : std::uint8_t {
  Position,            ///< joint: its coordinate; body: of a point
  Velocity,            ///< joint: of its coordinate; body: of a point
  MotorForce,          ///< joint; forces are means over the last step
  LimitForce,          ///< joint
  FrictionForce,       ///< joint: dry friction
  Force,               ///< joint: on body b; contact: on body b
  Moment,              ///< joint: on body b about the anchor
  Acceleration,        ///< body: of a point, mean over the last step
  ProperAcceleration,  ///< body: acceleration less gravity, what an accelerometer shows
  Orientation,         ///< body: quaternion w x y z
  AngularVelocity,     ///< body
  Angle,               ///< body: turn about z, -pi to pi
  Speed,               ///< body: length of the velocity of a point
  Normal,              ///< contact: sum of normal forces, N
  Count,               ///< contact: points that carry a force
  Only                 ///< kinds with one quantity
};
std::string_view name_of(Quantity quantity);

/// What a person says.
struct SensorDescription {
  std::string name;
  SensorKind kind = SensorKind::Value;
  Quantity quantity = Quantity::Only;
  std::string joint;                            ///< joint: "name", or "name.axis"
  std::string a, b;                             ///< body, ray: a; contact, distance: both
  std::string frame = "world";                  ///< body: who looks; what moves with it stands still
  std::string axes;                             ///< body: along whose axes; empty: those of `frame`
  Vec3 at = Vec3::Zero();                       ///< body, ray: a point of a, in its frame
  Vec3 direction = Vec3::UnitX();               ///< ray: in the frame of a
  double range = kInfinity;                     ///< ray, distance: what is farther counts as this far
  Expression value;                             ///< value, integral
  double start = 0;                             ///< integral
  std::optional<std::array<double, 2>> limits;  ///< integral: it stays within
  std::string sensor, part_name;                ///< copy: whose, and which of its numbers
  int part = -1;                                ///< of a vector: one number of it; -1: all
  int source = -1;                              ///< SourceTag
};

/// In the model: places instead of names.
struct Sensor {
  std::string name;  ///< empty: a reading that only formulas use
  SensorKind kind = SensorKind::Value;
  Quantity quantity = Quantity::Only;
  int joint = -1, axis = -1;  ///< Model::joints, Model::axes
  int a = -1, b = -1;         ///< bodies
  int frame = -1, axes = -1;  ///< bodies, -1: the world
  Vec3 at = Vec3::Zero();     ///< centre-of-mass frame of a
  Vec3 direction = Vec3::UnitX();
  double range = kInfinity;
  Expression value;
  double start = 0;
  std::array<double, 2> limits{-kInfinity, kInfinity};
  int copied = -1;  ///< copy: index into Model::sensors
  int part = -1;
  int first = 0, count = 1;  ///< its numbers among those of all sensors
  int memory = -1;           ///< where they are kept in State::sensor; -1: they follow from the rest of the state
};

/// "x", "fz", "": what the numbers of a sensor are called, after its name and a dot.
std::vector<std::string> sensor_parts(const Sensor& sensor);

}  // namespace slipstick
