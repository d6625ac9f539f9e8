// Room: model. Joints: what they are called, what they leave free, and what drives, limits or brakes the free motion.
#pragma once

#include <slipstick/expression.h>
#include <slipstick/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace slipstick {

enum class JointKind : std::uint8_t {
  Ball,
  Hinge,
  Slider,
  Fixed,
  Rod,            ///< keeps the distance of two points; with a motor, limits or friction it is an actuator
  Cylindrical,    ///< slides along and turns about one axis
  Universal,      ///< turns about an axis of A and about a perpendicular one of B
  Planar,         ///< slides in a plane and turns about its normal
  Rope,           ///< the distance of two points has an upper limit
  Screw,          ///< cylindrical, slide and turn tied by the pitch
  Gear,           ///< two axes of other joints, one turns in proportion to the other
  Rack,           ///< a turn and a slide of other joints
  Differential,   ///< an axis turns as the mean of two others
  Wheel,          ///< turns about its axle, moves along and steers about the suspension's axis
  PointOnLine,    ///< a point of B stays on a line of A
  InPlane,        ///< a point of B stays in a plane of A
  Generic,        ///< any of the six freedoms
  Rolling,        ///< a sphere or disk of B rolls on a plane of A
  KnifeEdge,      ///< a point of B does not move along an axis of B
  VelocityMotor,  ///< no constraint: a motor between two bodies
};
inline constexpr int kJointKinds = 20;
std::string_view name_of(JointKind kind);

/// How B may move against A: along or about an axis of the joint's frame, or the distance of the two ends.
enum class Freedom : std::uint8_t { X, Y, Z, TurnX, TurnY, TurnZ, Length };
inline constexpr int kFreedoms = 7;
std::string_view name_of(Freedom freedom);
/// "x", "rz", "length", or what a joint's axis is called: "slide", "turn", "spin", "steer", "travel", "first",
/// "second".
std::optional<Freedom> find_freedom(std::string_view name);
/// The freedom that a joint of this kind is known for, or nothing.
std::optional<Freedom> main_freedom(JointKind kind);
inline bool is_turn(Freedom f) { return f >= Freedom::TurnX && f <= Freedom::TurnZ; }

/// A motor's bound at a time; below zero it is none. (What is no number stays so, for the judge to find.)
inline double calc_bound(const Expression& bound, double t, std::span<const double> readings = {}) {
  const double value = bound.at(t, readings);
  return value < 0 ? 0 : value;
}

/// Drives one freedom with a bounded force or torque.
struct Motor {
  bool drives_position = false;
  Expression target;  ///< m/s or rad/s; position: m or rad (a rod's: its length), functions of t
  Expression max;     ///< N or N m; where it is below zero the motor has no force
  double time = 0.1;  ///< position without stiffness: the speed asked for is what is missing over this time, s
  std::optional<Expression> max_speed;  ///< position without stiffness: the largest speed asked for; not below zero
  double stiffness = 0, damping = 0;    ///< position: a spring and damper to the target instead, N/m or N m/rad
                                        ///< speed: a damper to the target instead
  bool drives_force = false;            ///< `target` is the force itself, N or N m
};

/// What a person asks of one freedom of a joint. Coordinates are `start` at t = 0; a rod's and rope's is its length.
struct AxisDescription {
  Freedom freedom = Freedom::TurnZ;
  std::optional<std::array<double, 2>> limits;  ///< m or rad; infinite: none on that side
  double restitution = 0;                       ///< of the limits
  std::optional<Motor> motor;
  double friction = 0;                          ///< dry, N or N m
  bool lock = false;                            ///< held where it is at t = 0
  double stiffness = 0, damping = 0, rest = 0;  ///< a spring and damper
  double armature = 0;                          ///< inertia of a rotor that turns with the coordinate, kg m^2 or kg
  double start = 0;                             ///< what the coordinate counts from: its value at t = 0, m or rad
};

/// A freedom with something on it, in the model; its coordinate is State::axis.
struct Axis {
  int joint = 0;
  Freedom freedom = Freedom::TurnZ;
  std::optional<Motor> motor;
  double friction = 0;
  double stiffness = 0, damping = 0, rest = 0;
  int motor_row = -1, friction_row = -1;  ///< offsets into State::joint_impulse; -1: none
  double armature = 0, start = 0;
  int armature_row = -1;
};

/// Relation of coordinates: sum factor_k (q_k - q_k(0)) = 0, or q_0 = p(q_1) with a polynomial p.
struct Coupling {
  struct Term {
    int axis = 0;
    double factor = 1;
  };
  int joint = 0;
  std::array<Term, 3> term;
  int count = 0;
  double start = 0;  ///< the sum at t = 0
  int row = 0;       ///< offset into State::joint_impulse
  bool is_polynomial = false;
  std::array<double, 5> polynomial{};  ///< p, from the constant on; the factor of term 1 is then -p'
};

}  // namespace slipstick
