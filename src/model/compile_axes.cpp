// The freedoms of joints and what is on them: limits, motors, friction, springs, and couplings between them.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "model/compile_parts.h"

namespace slipstick {
namespace {

std::size_t index_of(Freedom freedom) { return static_cast<std::size_t>(freedom); }

std::vector<Freedom> list_freedoms(const JointDescription& given) {
  using enum Freedom;
  switch (given.kind) {
    case JointKind::Hinge:
      return {TurnZ};
    case JointKind::Slider:
      return {Z};
    case JointKind::Rope:
      return {Length};
    case JointKind::Rod:
      return given.axes.empty() ? std::vector<Freedom>{} : std::vector<Freedom>{Length};
    case JointKind::Cylindrical:
    case JointKind::Screw:
    case JointKind::VelocityMotor:
      return {Z, TurnZ};
    case JointKind::Universal:
      return {TurnX, TurnZ};
    case JointKind::Planar:
      return {X, Y, TurnZ};
    case JointKind::Wheel:
      return {Z, TurnX, TurnZ};
    case JointKind::PointOnLine:
      return {Z, TurnX, TurnY, TurnZ};
    case JointKind::InPlane:
      return {X, Y, TurnX, TurnY, TurnZ};
    case JointKind::Generic: {
      std::vector<Freedom> list;
      for (int k = 0; k < 6; ++k)
        if (given.free[k]) list.push_back(static_cast<Freedom>(k));
      return list;
    }
    default:
      return {};
  }
}

/// Three free turns have no angles that are true for all attitudes (but see can_have_axis).
bool has_coordinate(const Joint& joint, Freedom freedom) {
  if (!joint.free[index_of(freedom)]) return false;
  if (!is_turn(freedom) || joint.kind == JointKind::VelocityMotor) return true;
  return std::count(joint.free.begin() + 3, joint.free.begin() + 6, true) < 3;
}

/// What asks for the angles of three free turns of a generic joint gets those about z of A, then x, then y of B; they
/// fail where the second is a right angle, as the gimbals do that they are the angles of.
bool can_have_axis(const Joint& joint, Freedom freedom) {
  const bool gimbals = joint.kind == JointKind::Generic && is_turn(freedom) && joint.free[index_of(freedom)];
  return gimbals || has_coordinate(joint, freedom);
}

/// A bound that does not change must leave some room; one that does may begin with none.
void check_bound(const char* key, const char* words, const Expression& bound, ItemCheck* check) {
  if (bound.has_readings()) return;  // known when it runs
  if (bound.is_constant()) {
    check->positive(key, bound.at(0), words);
  } else {
    check->not_negative(key, bound.at(0), words);
  }
}

void check_motor(const Motor& motor, ItemCheck* check) {
  // Without a bound: only where the force is finite by itself.
  const bool soft = motor.drives_force || motor.stiffness > 0 || motor.damping > 0;
  const bool unbounded = soft && motor.max.is_constant() && motor.max.constant() == kInfinity;
  if (!unbounded) check_bound("motor.max", "max of the motor", motor.max, check);
  if (motor.drives_force && (motor.drives_position || motor.stiffness != 0 || motor.damping != 0))
    check->fail("motor.target", "a motor that is a force has no position, stiffness or damping");
  if (!motor.target.has_readings()) check->finite("motor.target", motor.target.at(0), "target of the motor");
  check->positive("motor.time", motor.time, "time of the motor");
  check->not_negative("motor.stiffness", motor.stiffness, "stiffness of the motor");
  check->not_negative("motor.damping", motor.damping, "damping of the motor");
  if (motor.max_speed) check_bound("motor.max_speed", "max_speed of the motor", *motor.max_speed, check);
}

void check_axis(const AxisDescription& given, ItemCheck* check) {
  check->not_negative("friction", given.friction);
  check->not_negative("stiffness", given.stiffness);
  check->not_negative("damping", given.damping);
  check->finite("rest", given.rest);
  check->not_negative("armature", given.armature);
  check->finite("start", given.start);
  check->within("restitution", given.restitution, 0, 1);
  if (given.motor) check_motor(*given.motor, check);
  if (!given.limits) return;
  const auto [low, high] = *given.limits;
  if (std::isnan(low) || std::isnan(high) || !(low <= high)) {
    check->fail("limits",
                "limits must be [low, high] with low <= high, not [" + as_text(low) + ", " + as_text(high) + "]");
  }
}

double calc_start_coordinate(const JointDescription& given, Freedom freedom) {
  if (freedom == Freedom::Length) return (given.at_b - given.at).stableNorm();
  for (const AxisDescription& axis : given.axes)
    if (axis.freedom == freedom) return axis.start;
  return 0;
}

/// The axis of a joint's freedom; made if it is not there yet.
int find_axis(int joint, Freedom freedom, Compilation* c) {
  std::vector<Axis>& axes = c->model.axes;
  for (std::size_t k = 0; k < axes.size(); ++k)
    if (axes[k].joint == joint && axes[k].freedom == freedom) return static_cast<int>(k);
  Axis axis;
  axis.joint = joint;
  axis.freedom = freedom;
  if (freedom != Freedom::Length) axis.start = calc_start_coordinate(c->description.joints[joint], freedom);
  axes.push_back(axis);
  c->initial.axis.push_back(calc_start_coordinate(c->description.joints[joint], freedom));
  return static_cast<int>(axes.size()) - 1;
}

void add_limits(const AxisDescription& given, int axis, ItemCheck* check, Compilation* c) {
  constexpr double kOutside = 1e-6;
  const double start = c->initial.axis[axis], low = (*given.limits)[0], high = (*given.limits)[1];
  if (start < low - kOutside || start > high + kOutside) {
    check->fail("limits", "is " + as_text(start) + " to begin with, outside its limits [" + as_text(low) + ", " +
                              as_text(high) + "]");
  }
  for (const bool upper : {false, true}) {
    const double bound = (*given.limits)[upper ? 1 : 0];
    if (!std::isfinite(bound)) continue;
    Limit limit;
    limit.axis = axis;
    limit.upper = upper;
    limit.bound = bound;
    limit.law.restitution = given.restitution;
    limit.law.solve = c->description.joints[c->model.axes[axis].joint].solve;
    c->model.limits.push_back(limit);
  }
}

bool set_polynomial(const JointDescription& given, ItemCheck* check, Coupling* coupling) {
  if (given.polynomial.empty()) return true;
  if (given.kind != JointKind::Gear || given.polynomial.size() > coupling->polynomial.size()) {
    check->fail("polynomial", "polynomial is for a gear, and has at most " +
                                  std::to_string(coupling->polynomial.size()) + " coefficients");
    return false;
  }
  coupling->is_polynomial = true;
  for (std::size_t k = 0; k < given.polynomial.size(); ++k) {
    if (!check->finite("polynomial", given.polynomial[k])) return false;
    coupling->polynomial[k] = given.polynomial[k];
  }
  return true;
}

int find_named(const std::vector<Joint>& joints, std::string_view name) {
  for (std::size_t k = 0; k < joints.size(); ++k)
    if (joints[k].name == name) return static_cast<int>(k);
  return -1;
}

void fail_unknown_joint(const std::string& text, std::string_view key, ItemCheck* check, const Compilation& c) {
  std::vector<std::string> known;
  for (const Joint& other : c.model.joints) known.push_back(other.name);
  check->fail_unknown(key, "joint", text, known);
}

}  // namespace

int find_joint(const std::string& name, std::string_view key, ItemCheck* check, Compilation* c) {
  const int joint = find_named(c->model.joints, name);
  if (joint < 0) fail_unknown_joint(name, key, check, *c);
  return joint;
}

int find_axis_of(const std::string& text, std::string_view key, ItemCheck* check, Compilation* c) {
  const auto& joints = c->model.joints;
  const auto find = [&](std::string_view name) { return find_named(joints, name); };
  int joint = find(text);
  std::optional<Freedom> freedom;
  if (joint >= 0) {
    freedom = main_freedom(joints[joint].kind);
    if (!freedom) {
      check->fail(key, as_quoted(text) + " is a " + std::string(name_of(joints[joint].kind)) +
                           ", which has no single axis; name one, as in '" + text + ".rz'");
      return -1;
    }
  } else if (const std::size_t dot = text.rfind('.'); dot != std::string::npos) {
    joint = find(std::string_view(text).substr(0, dot));
    freedom = find_freedom(std::string_view(text).substr(dot + 1));
  }
  if (joint < 0) {
    fail_unknown_joint(text, key, check, *c);
    return -1;
  }
  if (!freedom || !can_have_axis(joints[joint], *freedom)) {
    check->fail(key, "joint " + as_quoted(joints[joint].name) + " has no axis that " + as_quoted(text) + " could mean");
    return -1;
  }
  return find_axis(joint, *freedom, c);
}

bool is_coupling(JointKind kind) {
  return kind == JointKind::Gear || kind == JointKind::Rack || kind == JointKind::Differential;
}

void set_freedoms(const JointDescription& given, Joint* joint) {
  for (const Freedom freedom : list_freedoms(given)) joint->free[index_of(freedom)] = true;
  if (given.kind == JointKind::Wheel) {  // rigid and straight unless it says how it springs and steers
    for (const Freedom freedom : {Freedom::Z, Freedom::TurnZ})
      joint->lock[index_of(freedom)] = std::none_of(given.axes.begin(), given.axes.end(),
                                                    [&](const AxisDescription& a) { return a.freedom == freedom; });
  }
  for (const AxisDescription& axis : given.axes)
    if (axis.lock) joint->lock[index_of(axis.freedom)] = joint->free[index_of(axis.freedom)];
  if (given.kind == JointKind::Rope || given.kind == JointKind::VelocityMotor) joint->lock = {};
}

void place_disk(const JointDescription& given, const Vec3& normal, ItemCheck* check, const Compilation* c,
                Joint* joint) {
  const Vec3 axle = given.second_axis->stableNormalized();
  const Vec3 up = normal - normal.dot(axle) * axle;
  if (!axle.allFinite() || !(up.norm() > 1e-6)) {
    check->fail("second_axis", "the axle of a rolling disk must not be zero, nor stand on the plane");
    return;
  }
  const Vec3 lowest = given.at - given.radius * up.normalized();
  joint->anchor_a = as_body_point(*c, joint->a, lowest);
  joint->frame_b = as_body_axes(*c, joint->b, make_frame(axle));
}

void compile_axes(const JointDescription& given, int i, ItemCheck* check, Compilation* c) {
  const Joint joint = c->model.joints[i];
  for (std::size_t at = 0; at < given.axes.size(); ++at) {
    const AxisDescription& wanted = given.axes[at];
    check->set_part("axes[" + std::to_string(at) + "].");
    check_axis(wanted, check);
    if (!can_have_axis(joint, wanted.freedom)) {
      check->fail("freedom", "a " + std::string(name_of(given.kind)) + " has no coordinate '" +
                                 std::string(name_of(wanted.freedom)) + "' to limit, drive, brake or lock");
      continue;
    }
    if (wanted.freedom == Freedom::Length && wanted.start != 0)
      check->fail("start", "a length counts from zero; leave start out");
    if (!check->good() || wanted.lock) continue;
    const int k = find_axis(i, wanted.freedom, c);
    Axis& axis = c->model.axes[k];
    axis.motor = wanted.motor;
    axis.friction = wanted.friction;
    axis.stiffness = wanted.stiffness;
    axis.damping = wanted.damping;
    axis.rest = wanted.rest;
    axis.armature = wanted.armature;
    if (axis.motor) axis.motor_row = c->model.joint_rows++;
    if (axis.friction > 0) axis.friction_row = c->model.joint_rows++;
    if (axis.armature > 0) axis.armature_row = c->model.joint_rows++;
    if (wanted.limits) add_limits(wanted, k, check, c);
  }
  check->set_part("");
  if (given.kind != JointKind::Rope || !check->good()) return;
  const double apart = calc_start_coordinate(given, Freedom::Length);
  if (apart > joint.length * (1 + 1e-9)) {
    return check->fail("length",
                       "its ends are " + as_text(apart) + " m apart, more than its length " + as_text(joint.length));
  }
  AxisDescription taut;
  taut.limits = {-std::numeric_limits<double>::infinity(), joint.length};
  for (const AxisDescription& wanted : given.axes) taut.restitution = wanted.restitution;
  add_limits(taut, find_axis(i, Freedom::Length, c), check, c);
}

void compile_couplings(const JointDescription& given, int i, ItemCheck* check, Compilation* c) {
  Coupling coupling;
  coupling.joint = i;
  const auto add = [&](int axis, double factor) { coupling.term[coupling.count++] = {axis, factor}; };
  if (given.kind == JointKind::Screw) {
    if (!c->faults.empty()) return;
    add(find_axis(i, Freedom::Z, c), 1);
    add(find_axis(i, Freedom::TurnZ, c), -given.ratio / (2 * std::numbers::pi));
  } else if (is_coupling(given.kind)) {
    const std::size_t wanted = given.kind == JointKind::Differential ? 3 : 2;
    if (given.joints.size() != wanted) {
      check->fail("joints", "'joints' must name " + std::to_string(wanted) + " joints, not " +
                                std::to_string(given.joints.size()));
      return;
    }
    if (!check->finite("ratio", given.ratio, given.kind == JointKind::Rack ? "radius" : "ratio")) return;
    if (!set_polynomial(given, check, &coupling)) return;
    if (given.ratio == 0)
      return check->fail("ratio", "a ratio of zero is a lock; leave the joint out and lock the axis");
    std::array<int, 3> axis{};
    for (std::size_t k = 0; k < wanted; ++k) {
      const std::string key = "joints[" + std::to_string(k) + "]";
      axis[k] = find_axis_of(given.joints[k], key, check, c);
      if (axis[k] < 0) return;
      for (std::size_t other = 0; other < k; ++other)
        if (axis[other] == axis[k]) return check->fail(key, "names " + as_quoted(given.joints[k]) + " twice");
    }
    // gear: q1 = ratio q2; rack: q2 = radius q1; differential: q1 = ratio (q2 + q3) / 2
    if (given.kind == JointKind::Gear) add(axis[0], 1), add(axis[1], -given.ratio);
    if (given.kind == JointKind::Rack) add(axis[1], 1), add(axis[0], -given.ratio);
    if (given.kind == JointKind::Differential) {
      add(axis[0], 1);
      for (int k = 1; k < 3; ++k) add(axis[k], -given.ratio / 2);
    }
    const auto& first = c->model.joints[c->model.axes[axis[0]].joint];
    const auto& last = c->model.joints[c->model.axes[axis[wanted - 1]].joint];
    Joint& joint = c->model.joints[i];
    joint.a = first.b;
    joint.b = last.b;
    joint.anchor_a = first.anchor_b;
    joint.anchor_b = last.anchor_b;
  } else {
    return;
  }
  for (int k = 0; k < coupling.count && !coupling.is_polynomial; ++k)
    coupling.start += coupling.term[k].factor * c->initial.axis[coupling.term[k].axis];
  coupling.row = c->model.joint_rows++;
  c->model.couplings.push_back(coupling);
}

void compile_idle_axes(Compilation* c) {
  if (!c->faults.empty()) return;
  std::vector<std::array<bool, kFreedoms>> acts(c->model.joints.size());
  for (const Axis& axis : c->model.axes) acts[axis.joint][index_of(axis.freedom)] = true;
  for (std::size_t j = 0; j < c->model.joints.size(); ++j) {
    const Joint& joint = c->model.joints[j];
    if (joint.kind == JointKind::VelocityMotor) continue;  // its turns are rates without an angle
    for (int k = 0; k < kFreedoms; ++k) {
      const auto freedom = static_cast<Freedom>(k);
      if (acts[j][k] || joint.lock[k] || !has_coordinate(joint, freedom)) continue;
      Axis axis;
      axis.joint = static_cast<int>(j);
      axis.freedom = freedom;
      if (freedom != Freedom::Length) axis.start = calc_start_coordinate(c->description.joints[j], freedom);
      c->model.idle_axes.push_back(axis);
      c->initial.idle_axis.push_back(calc_start_coordinate(c->description.joints[j], freedom));
    }
  }
}

}  // namespace slipstick
