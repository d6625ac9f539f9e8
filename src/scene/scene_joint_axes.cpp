// What is on the axes of joints: limits, motor, friction, lock, spring. A joint with one axis has these keys itself;
// one with several has a map of them for each axis.
#include <algorithm>
#include <array>
#include <limits>
#include <numbers>

#include "scene/scene_build.h"

namespace slipstick {
namespace {

struct AxisKey {
  JointKind kind;
  std::string_view key;  ///< empty: the joint's own keys
  Freedom freedom;
};

constexpr std::array kAxisKeys{
    AxisKey{JointKind::Hinge, "", Freedom::TurnZ},
    AxisKey{JointKind::Slider, "", Freedom::Z},
    AxisKey{JointKind::Rod, "", Freedom::Length},
    AxisKey{JointKind::Cylindrical, "slide", Freedom::Z},
    AxisKey{JointKind::Cylindrical, "turn", Freedom::TurnZ},
    AxisKey{JointKind::Screw, "", Freedom::TurnZ},
    AxisKey{JointKind::Screw, "slide", Freedom::Z},
    AxisKey{JointKind::Universal, "first", Freedom::TurnZ},
    AxisKey{JointKind::Universal, "second", Freedom::TurnX},
    AxisKey{JointKind::Planar, "x", Freedom::X},
    AxisKey{JointKind::Planar, "y", Freedom::Y},
    AxisKey{JointKind::Planar, "turn", Freedom::TurnZ},
    AxisKey{JointKind::Wheel, "", Freedom::TurnX},
    AxisKey{JointKind::Wheel, "suspension", Freedom::Z},
    AxisKey{JointKind::Wheel, "steer", Freedom::TurnZ},
    AxisKey{JointKind::PointOnLine, "", Freedom::Z},
};

/// The keys of one axis.
KeyList keys_of(Freedom freedom) {
  KeyList keys{"limits", "restitution", "motor", "friction", "lock", "stiffness", "damping", "rest", "armature"};
  if (freedom != Freedom::Length) keys.push_back("start");
  if (is_turn(freedom)) keys.insert(keys.end(), {"limits_deg", "limits_rad", "rest_deg", "start_deg"});
  return keys;
}

constexpr double kAxisDegree = std::numbers::pi / 180;

/// Notes where the members of one axis of a joint stand.
struct MemberNotes {
  ScenePlace* place;
  std::string part;  ///< "axes[0]"

  MemberNotes(SceneBuild* build, const JointDescription& joint, const SceneNode* node)
      : place(&build->places[joint.source]), part("axes[" + std::to_string(joint.axes.size()) + "]") {
    place->add_member(part, node);
  }
  /// `member`, if the item has the key.
  void add(const SceneItem& item, std::string_view key, const std::string& member) const {
    if (const SceneNode* node = item.find(key)) place->add_member(part + "." + member, node);
  }
};

/// [low, high]; `none` for an end that is free.
void read_limits(const SceneItem& item, std::string_view key, double unit, AxisDescription* axis) {
  const SceneNode* node = item.find(key);
  if (node == nullptr) return;
  if (axis->limits) return item.fault(*node, "limits are given twice in " + item.label());
  if (!node->is_list() || node->items.size() != 2)
    return item.expected(*node, "two numbers [low, high] ('none': no limit)", key);
  std::array<double, 2> limits{};
  for (int k = 0; k < 2; ++k) {
    const SceneNode& end = *node->items[k];
    limits[k] = (k == 0 ? -1 : 1) * std::numeric_limits<double>::infinity();
    if (end.is_scalar() && end.text == "none") continue;
    const auto value = item.as_number(end, key);
    if (!value) return;
    limits[k] = unit * *value;
  }
  axis->limits = limits;
}

void read_motor(const SceneItem& joint, SceneBuild* build, const MemberNotes& notes, AxisDescription* axis) {
  const SceneNode* node = joint.find("motor");
  if (node == nullptr) return;
  if (!node->is_map()) return joint.expected(*node, "a map {speed, position or torque, max}", "motor");
  const SceneMapPtr map = build->expander.resolve(*node, "the motor");
  if (!map) return;
  const SceneItem item(build->reading, *map, "motor of " + joint.label());
  KeyList legal{"speed", "position", "torque", "max", "max_speed", "time", "stiffness", "damping"};
  if (is_turn(axis->freedom)) legal.push_back("position_deg");
  item.check_keys(legal);
  int targets = 0;
  for (const char* key : {"speed", "position", "position_deg", "torque"}) targets += item.has(key) ? 1 : 0;
  if (targets != 1 && map->complete)
    item.fault(*node, item.label() + " needs one of speed, position" +
                          (is_turn(axis->freedom) ? " (or position_deg)" : "") + " and torque, not " +
                          std::to_string(targets));
  Motor motor;
  motor.drives_force = item.has("torque");
  motor.drives_position = !item.has("speed") && !motor.drives_force;
  item.number_of_time("torque", &motor.target);
  item.number_of_time("speed", &motor.target);
  item.number_of_time("position", &motor.target);
  if (item.number_of_time("position_deg", &motor.target)) motor.target = motor.target.times(kAxisDegree);
  // What is soft, or a force itself, needs no bound.
  const bool soft = motor.drives_force || item.has("stiffness") || item.has("damping");
  if (soft) motor.max = kInfinity;
  if (item.has("max") || (!soft && item.require("max"))) item.number_of_time("max", &motor.max);
  if (Expression most; item.number_of_time("max_speed", &most)) motor.max_speed = most;
  item.number("time", &motor.time);
  item.number("stiffness", &motor.stiffness);
  item.number("damping", &motor.damping);
  for (const std::string_view key : legal) {
    const bool is_target = key == "speed" || key == "torque" || key.starts_with("position");
    notes.add(item, key, is_target ? "motor.target" : "motor." + std::string(key));
  }
  axis->motor = motor;
}

/// Fills `axis` from the keys of `item`; says whether there were any.
bool read_axis_keys(const SceneItem& item, SceneBuild* build, const MemberNotes& notes, AxisDescription* axis) {
  bool any = false;
  for (const std::string_view key : keys_of(axis->freedom)) {
    any = any || item.has(key);
    const std::size_t unit = std::min(key.find("_deg"), key.find("_rad"));
    notes.add(item, key, std::string(key.substr(0, unit)));
  }
  read_limits(item, "limits", 1, axis);
  read_limits(item, "limits_rad", 1, axis);
  read_limits(item, "limits_deg", kAxisDegree, axis);
  item.number("restitution", &axis->restitution);
  read_motor(item, build, notes, axis);
  item.number("friction", &axis->friction);
  item.flag("lock", &axis->lock);
  item.number("stiffness", &axis->stiffness);
  item.number("damping", &axis->damping);
  item.number("rest", &axis->rest);
  item.number("armature", &axis->armature);
  if (axis->freedom != Freedom::Length) item.number("start", &axis->start);
  if (!is_turn(axis->freedom)) return any;
  if (item.has("rest") && item.has("rest_deg"))
    item.fault(*item.find("rest_deg"), "rest is given twice in " + item.label());
  if (item.number("rest_deg", &axis->rest)) axis->rest *= kAxisDegree;
  if (item.has("start") && item.has("start_deg"))
    item.fault(*item.find("start_deg"), "start is given twice in " + item.label());
  if (item.number("start_deg", &axis->start)) axis->start *= kAxisDegree;
  return any;
}

/// {limits: .., motor: ..} of one axis of a joint with several; an empty map, or nothing, leaves it free.
void read_axis_map(const SceneItem& joint, const SceneNode& node, std::string_view key, Freedom freedom,
                   SceneBuild* build, JointDescription* out) {
  AxisDescription axis;
  axis.freedom = freedom;
  if (node.kind != SceneNode::Kind::Null) {
    if (!node.is_map()) return joint.expected(node, "a map {limits, motor, friction, ...}", key);
    const SceneMapPtr map = build->expander.resolve(node, "the axis");
    if (!map) return;
    const SceneItem item(build->reading, *map, std::string(key) + " of " + joint.label());
    item.check_keys(keys_of(freedom));
    read_axis_keys(item, build, MemberNotes(build, *out, &node), &axis);
  }
  out->axes.push_back(axis);
}

std::optional<Freedom> find_generic(std::string_view name) {
  for (int k = 0; k < 6; ++k)
    if (name_of(static_cast<Freedom>(k)) == name) return static_cast<Freedom>(k);
  return std::nullopt;
}

/// free: [x, rz], or free: {x: {limits: ..}, rz: {}}
void read_free(const SceneItem& item, SceneBuild* build, JointDescription* joint) {
  if (!item.require("free")) return;
  const SceneNode& node = *item.find("free");
  const auto set_free = [&](const SceneNode& name) -> std::optional<Freedom> {
    const auto freedom = name.is_scalar() ? find_generic(name.text) : std::nullopt;
    if (!freedom) {
      item.fault(name, "unknown freedom '" + name.text + "' in " + item.label() + " (known: x, y, z, rx, ry, rz)");
      return std::nullopt;
    }
    joint->free[static_cast<std::size_t>(*freedom)] = true;
    return freedom;
  };
  if (node.is_list()) {
    for (const SceneNode* name : node.items) set_free(*name);
    return;
  }
  if (!node.is_map()) return item.expected(node, "a list of freedoms [x, y, z, rx, ry, rz], or a map of them", "free");
  const SceneMapPtr map = build->expander.resolve(node, "free");
  if (!map) return;
  for (const SceneMap::Entry& entry : map->entries) {
    const auto freedom = set_free(*entry.key);
    const bool empty = entry.value->kind == SceneNode::Kind::Null ||
                       (entry.value->is_map() && build->expander.resolve(*entry.value, "the axis")->entries.empty());
    if (freedom && !empty) read_axis_map(item, *entry.value, entry.key->text, *freedom, build, joint);
  }
}

/// velocity_motor: {speed, max, turn}
void read_velocity_motor(const SceneItem& item, SceneBuild* build, JointDescription* joint) {
  bool turn = false;
  item.flag("turn", &turn);
  AxisDescription axis;
  axis.freedom = turn ? Freedom::TurnZ : Freedom::Z;
  axis.motor.emplace();
  if (item.require("speed")) item.number_of_time("speed", &axis.motor->target);
  if (item.require("max")) item.number_of_time("max", &axis.motor->max);
  const MemberNotes notes(build, *joint, &item.node());
  notes.add(item, "speed", "motor.target");
  notes.add(item, "max", "motor.max");
  joint->axes.push_back(axis);
}

}  // namespace

KeyList axis_keys(JointKind kind) {
  KeyList keys;
  for (const AxisKey& axis : kAxisKeys) {
    if (axis.kind != kind) continue;
    if (!axis.key.empty()) keys.push_back(axis.key);
    if (axis.key.empty())
      for (const std::string_view key : keys_of(axis.freedom)) keys.push_back(key);
  }
  if (kind == JointKind::Rope) keys.push_back("restitution");
  if (kind == JointKind::Generic) keys.push_back("free");
  if (kind == JointKind::VelocityMotor) keys.insert(keys.end(), {"speed", "max", "turn"});
  return keys;
}

void read_axes(const SceneItem& item, SceneBuild* build, JointDescription* joint) {
  if (joint->kind == JointKind::Generic) return read_free(item, build, joint);
  if (joint->kind == JointKind::VelocityMotor) return read_velocity_motor(item, build, joint);
  if (joint->kind == JointKind::Rope && item.has("restitution")) {
    AxisDescription axis;
    axis.freedom = Freedom::Length;
    item.number("restitution", &axis.restitution);
    MemberNotes(build, *joint, &item.node()).add(item, "restitution", "restitution");
    joint->axes.push_back(axis);
  }
  for (const AxisKey& axis : kAxisKeys) {
    if (axis.kind != joint->kind) continue;
    if (!axis.key.empty()) {
      if (const SceneNode* node = item.find(axis.key)) read_axis_map(item, *node, axis.key, axis.freedom, build, joint);
      continue;
    }
    AxisDescription made;
    made.freedom = axis.freedom;
    const MemberNotes notes(build, *joint, &item.node());
    if (read_axis_keys(item, build, notes, &made)) joint->axes.push_back(made);
  }
}

}  // namespace slipstick
