// The `joints` and `forces` of a scene. A new joint is one row of kJoints, a new force one of kForces.
#include <algorithm>
#include <array>

#include "scene/scene_build.h"

namespace slipstick {
namespace {

/// What a kind of joint says beside its axes' keys (scene_joint_axes.cpp).
struct JointType {
  std::string_view name;
  JointKind kind;
  std::string_view axis;    ///< the key of its axis; empty: none
  std::string_view second;  ///< the key of its second axis; empty: none
  bool needs_axis = false;
  bool has_length = false;
  bool needs_anchor = false;     ///< otherwise it is at the moving body if `at` is missing
  std::string_view number = {};  ///< a number of its own: "pitch", "ratio", "radius"
};

constexpr std::array kJoints{
    JointType{"ball", JointKind::Ball, "", "", false, false, true},
    JointType{"hinge", JointKind::Hinge, "axis", "", true, false, true},
    JointType{"slider", JointKind::Slider, "axis", "", true, false, false},
    JointType{"fixed", JointKind::Fixed, "", "", false, false, false},
    JointType{"rod", JointKind::Rod, "", "", false, true, false},
    JointType{"distance", JointKind::Rod, "", "", false, true, false},
    JointType{"cylindrical", JointKind::Cylindrical, "axis", "", true, false, true},
    JointType{"universal", JointKind::Universal, "axis", "axis_b", true, false, true},
    JointType{"planar", JointKind::Planar, "normal", "x_axis", true, false, false},
    JointType{"rope", JointKind::Rope, "", "", false, true, false},
    JointType{"screw", JointKind::Screw, "axis", "", true, false, true, "pitch"},
    JointType{"gear", JointKind::Gear, "", "", false, false, false, "ratio"},
    JointType{"rack", JointKind::Rack, "", "", false, false, false, "radius"},
    JointType{"differential", JointKind::Differential, "", "", false, false, false, "ratio"},
    JointType{"wheel", JointKind::Wheel, "up", "axis", false, false, false},
    JointType{"point_on_line", JointKind::PointOnLine, "axis", "", true, false, true},
    JointType{"in_plane", JointKind::InPlane, "normal", "", true, false, true},
    JointType{"generic", JointKind::Generic, "axis", "x_axis", false, false, true},
    JointType{"rolling", JointKind::Rolling, "normal", "axle", false, false, false, "radius"},
    JointType{"knife_edge", JointKind::KnifeEdge, "axis", "", true, false, true},
    JointType{"velocity_motor", JointKind::VelocityMotor, "axis", "", true, false, false},
};

const KeyList& joint_names() {
  static const KeyList kNames = [] {
    KeyList names;
    for (const JointType& type : kJoints) names.push_back(type.name);
    return names;
  }();
  return kNames;
}

const KeyList& wrapper_keys() {  // beside the kind
  static const KeyList kKeys{"like", "repeat"};
  return kKeys;
}

const BodyDescription* find_described(const SceneBuild& build, const std::string& body) {
  const auto it = build.body_index.find(body);
  return it == build.body_index.end() ? nullptr : &build.description.bodies[it->second];
}

/// The body that a joint without `at` is at: b, unless forces cannot move it. A frame, a rail or the ground may have
/// its origin anywhere, and reactions and errors would be those at a far point.
const BodyDescription* find_moving(const SceneBuild& build, const JointDescription& joint) {
  const BodyDescription* const b = find_described(build, joint.b);
  if (b != nullptr && b->kind == BodyKind::Dynamic) return b;
  const BodyDescription* const a = find_described(build, joint.a);
  return a != nullptr ? a : b;
}

/// Two points `at: [[..], [..]]`, one on each body; without `at`, the origins of the bodies' frames.
void read_ends(const SceneItem& item, const SceneBuild& build, const std::string& a, const std::string& b, Vec3* at_a,
               Vec3* at_b) {
  if (const SceneNode* node = item.find("at")) {
    if (!node->is_list() || node->items.size() != 2 || !node->items[0]->is_list()) {
      item.expected(*node, "two points [[..], [..]]", "at");
      return;
    }
    if (const auto p = item.as_vector(*node->items[0], "at")) *at_a = *p;
    if (const auto p = item.as_vector(*node->items[1], "at")) *at_b = *p;
    return;
  }
  if (a == "world" || b == "world") {
    item.require("at");
    return;
  }
  const BodyDescription *body_a = find_described(build, a), *body_b = find_described(build, b);
  if (body_a != nullptr && body_b != nullptr) {
    *at_a = body_a->pose.position;
    *at_b = body_b->pose.position;
  }
}

void read_anchor(const SceneItem& item, const JointType& type, const SceneBuild& build, JointDescription* joint) {
  if (type.has_length) return read_ends(item, build, joint->a, joint->b, &joint->at, &joint->at_b);
  if (item.has("at")) {
    item.vector("at", &joint->at);
  } else if (type.needs_anchor) {
    item.require("at");
  } else if (const BodyDescription* body = find_moving(build, *joint)) {
    joint->at = body->pose.position;
  }
}

void read_axis(const SceneItem& item, const JointType& type, JointDescription* joint) {
  const bool planar_hinge = item.reading().planar && type.kind == JointKind::Hinge;
  if (type.needs_axis && !planar_hinge && !item.require(type.axis)) return;
  item.vector(type.axis, &joint->axis);
  if (type.second.empty()) return;
  const bool needed = type.kind == JointKind::Universal || type.kind == JointKind::Wheel;
  if (needed && !item.require(type.second)) return;
  item.vector(type.second, &joint->second_axis);
  // Without more said, the axes of a generic or planar joint are those of the world.
  const bool world = type.second == "x_axis" && joint->axis.isApprox(Vec3::UnitZ());
  if (world && !joint->second_axis) joint->second_axis = Vec3::UnitX();
}

bool couples_joints(JointKind kind) {
  return kind == JointKind::Gear || kind == JointKind::Rack || kind == JointKind::Differential;
}

/// `joints: [a, b]`: what a gear, rack or differential ties together.
void read_coupled(const SceneItem& item, SceneBuild* build, JointDescription* joint) {
  if (!item.require("joints")) return;
  const SceneNode& node = *item.find("joints");
  if (!node.is_list()) return item.expected(node, "a list of joints", "joints");
  for (const SceneNode* name : node.items) {
    build->places[joint->source].add_member("joints[" + std::to_string(joint->joints.size()) + "]", name);
    if (const auto text = item.as_text(*name, "joints")) joint->joints.push_back(build->prefix + *text);
  }
}

/// gear: {joints: [a, b], polynomial: [0, 2, 0.1]}: a = 2 b + 0.1 b^2.
void read_polynomial(const SceneItem& item, JointDescription* joint) {
  const SceneNode* node = joint->kind == JointKind::Gear ? item.find("polynomial") : nullptr;
  if (node == nullptr) return;
  if (item.has("ratio")) return item.fault(*node, "give 'ratio' or 'polynomial' in " + item.label() + ", not both");
  if (const auto values = item.as_numbers(*node, "polynomial", {1, 2, 3, 4, 5})) joint->polynomial = *values;
}

/// A joint's keys for its axes, its number and its ends are not called as in the description.
void add_members(const SceneItem& item, const JointType& type, ScenePlace* place) {
  if (!type.axis.empty()) place->add_member("axis", item.find(type.axis));
  if (!type.second.empty()) place->add_member("second_axis", item.find(type.second));
  if (!type.number.empty() && type.kind != JointKind::Rolling) place->add_member("ratio", item.find(type.number));
  if (type.has_length) place->add_member("at_b", item.find("at"));
}

/// The item's name with the file's prefix; the label then carries it.
void read_name(SceneItem* item, std::string_view kind, const SceneBuild& build, std::string* name) {
  if (!item->text("name", name)) return;
  *name = build.prefix + *name;
  item->set_label(std::string(kind) + " '" + *name + "'");
}

KeyList legal_joint_keys(const JointType& type) {
  KeyList legal{"name", "solve", "like", "repeat"};
  if (couples_joints(type.kind)) {
    legal.insert(legal.end(), {"joints", type.number});
    if (type.kind == JointKind::Gear) legal.push_back("polynomial");
    return legal;
  }
  legal.insert(legal.end(), {"between", "at", "collide", "compliance", "damping_time"});
  for (const std::string_view key : {type.axis, type.second, type.number})
    if (!key.empty()) legal.push_back(key);
  if (type.has_length) legal.push_back("length");
  if (type.kind == JointKind::Universal) legal.push_back("second_at");
  for (const std::string_view key : axis_keys(type.kind)) legal.push_back(key);
  return legal;
}

void read_joint(const JointType& type, const SceneMapPtr& map, SceneBuild* build) {
  const std::size_t faults_before = build->reading.faults->raised();
  JointDescription joint;
  joint.kind = type.kind;
  joint.source = build->add_place(*map->node, map);
  SceneItem item(build->reading, *map, std::string(type.name));
  read_name(&item, type.name, *build, &joint.name);
  item.check_keys(legal_joint_keys(type));
  add_members(item, type, &build->places[joint.source]);
  if (couples_joints(type.kind)) {
    read_coupled(item, build, &joint);
  } else {
    build->read_between(item, true, &joint.a, &joint.b, joint.source);
    read_anchor(item, type, *build, &joint);
  }
  if (!type.axis.empty()) read_axis(item, type, &joint);
  if (type.has_length) item.number("length", &joint.length);
  read_polynomial(item, &joint);
  if (type.kind == JointKind::Universal) item.vector("second_at", &joint.second_at);
  if (!type.number.empty() && joint.polynomial.empty() && item.require(type.number))
    item.number(type.number, type.kind == JointKind::Rolling ? &joint.radius : &joint.ratio);
  read_axes(item, build, &joint);
  item.number("compliance", &joint.compliance);
  item.number("damping_time", &joint.damping_time);
  item.flag("collide", &joint.collide);
  joint.solve = read_solve_mode(item).value_or(joint.solve);
  if (build->reading.faults->raised() == faults_before) build->description.joints.push_back(std::move(joint));
}

void read_spring_like(SceneItem* item, bool is_spring, SceneBuild* build) {
  SpringDescription spring;
  spring.source = build->add_place(item->node(), std::make_shared<SceneMap>(item->map()));
  read_name(item, is_spring ? "spring" : "damper", *build, &spring.name);
  KeyList legal{"name", "between", "at", "damping", "like", "repeat"};
  if (is_spring) legal.insert(legal.end(), {"stiffness", "rest_length"});
  item->check_keys(legal);
  build->read_between(*item, true, &spring.a, &spring.b, spring.source);
  read_ends(*item, *build, spring.a, spring.b, &spring.at_a, &spring.at_b);
  for (const char* end : {"at_a", "at_b"}) build->places[spring.source].add_member(end, item->find("at"));
  item->require(is_spring ? "stiffness" : "damping");
  item->number("stiffness", &spring.stiffness);
  item->number("damping", &spring.damping);
  item->number("rest_length", &spring.rest_length);
  build->description.springs.push_back(std::move(spring));
}

void read_spring(SceneItem* item, SceneBuild* build) { read_spring_like(item, true, build); }
void read_damper(SceneItem* item, SceneBuild* build) { read_spring_like(item, false, build); }

void read_load(SceneItem* item, SceneBuild* build) {
  LoadDescription load;
  load.source = build->add_place(item->node(), std::make_shared<SceneMap>(item->map()));
  read_name(item, "load", *build, &load.name);
  item->check_keys({"name", "body", "force", "torque", "at", "frame", "like", "repeat"});
  if (item->require("body") && item->text("body", &load.body)) {
    load.body = build->full_name(load.body);
  }
  if (!item->has("force") && !item->has("torque") && item->map().complete) {
    item->fault(item->node(), "missing key 'force' or 'torque' in " + item->label());
  }
  item->vector_of_time("force", &load.force);
  item->axial_of_time("torque", &load.torque);
  item->vector("at", &load.at);
  if (std::string frame; item->text("frame", &frame)) {
    load.turns = frame == "body";
    if (frame != "body" && frame != "world") item->expected(*item->find("frame"), "world or body", "frame");
  }
  build->description.loads.push_back(std::move(load));
}

struct ForceType {
  std::string_view name;
  void (*read)(SceneItem*, SceneBuild*);
};
constexpr std::array kForces{ForceType{"spring", read_spring}, ForceType{"damper", read_damper},
                             ForceType{"load", read_load}};

void read_force(const ForceType& type, const SceneMapPtr& map, SceneBuild* build) {
  const std::size_t faults_before = build->reading.faults->raised();
  const std::size_t springs = build->description.springs.size(), loads = build->description.loads.size();
  SceneItem item(build->reading, *map, std::string(type.name));
  type.read(&item, build);
  if (build->reading.faults->raised() == faults_before) return;
  build->description.springs.resize(springs);  // half a force is none
  build->description.loads.resize(loads);
}

}  // namespace

void read_kinds(const SceneNode& list, const char* what, const KeyList& kinds, SceneBudget* budget, SceneBuild* build,
                const std::function<void(std::size_t, const SceneMapPtr&)>& read) {
  build->for_each_item(list, std::string("a ") + what, budget, [&](const SceneMapPtr& outer, std::int64_t) {
    const SceneItem item(build->reading, *outer, what);
    const SceneMap::Entry* kind = find_kind(item, what, kinds, wrapper_keys());
    if (kind == nullptr) return;
    const SceneMapPtr inner = build->expander.resolve(*kind->value, "the " + kind->key->text);
    if (!inner) return;
    const auto index = static_cast<std::size_t>(std::find(kinds.begin(), kinds.end(), kind->key->text) - kinds.begin());
    if (!inner->find("repeat")) return read(index, inner);
    build->expander.repeat(*inner, budget, [&](std::int64_t) { read(index, inner); });
  });
}

KeyList joint_keys() {
  KeyList keys = joint_names();
  for (const JointType& type : kJoints)
    for (const std::string_view key : legal_joint_keys(type))
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
  return keys;
}

KeyList force_keys() {
  return {"spring", "damper", "load", "stiffness", "damping", "rest_length", "body", "force", "torque", "frame"};
}

void read_joints(const SceneNode& list, SceneBuild* build) {
  read_kinds(list, "joint", joint_names(), &build->joints, build,
             [build](std::size_t i, const SceneMapPtr& map) { read_joint(kJoints[i], map, build); });
}

void read_forces(const SceneNode& list, SceneBuild* build) {
  static const KeyList kNames{kForces[0].name, kForces[1].name, kForces[2].name};
  read_kinds(list, "force", kNames, &build->forces, build,
             [build](std::size_t i, const SceneMapPtr& map) { read_force(kForces[i], map, build); });
}

}  // namespace slipstick
