// The `bodies` of a scene.
#include <algorithm>
#include <numbers>

#include "scene/scene_build.h"

namespace slipstick {
namespace {

const KeyList& legal_keys() {
  static const KeyList kKeys{"name",           "like",     "repeat",           "fixed", "kinematic", "position",
                             "orientation",    "velocity", "angular_velocity", "mass",  "density",   "inertia",
                             "center_of_mass", "lock",     "material",         "color", "shapes",    "group",
                             "gravity_scale"};
  return kKeys;
}

/// [Ixx, Iyy, Izz(, Ixy, Ixz, Iyz)], entries of the matrix; in a planar scene one number, about z, will do.
void read_inertia(const SceneItem& item, std::optional<Mat3>* out) {
  const SceneNode* node = item.find("inertia");
  if (node == nullptr) return;
  if (item.reading().planar && !node->is_list()) {
    if (const auto value = item.as_number(*node, "inertia")) *out = *value * Mat3::Identity();
    return;
  }
  const auto i = item.as_numbers(*node, "inertia", {3, 6});
  if (!i) return;
  Mat3 matrix = Mat3::Zero();
  for (int k = 0; k < 3; ++k) matrix(k, k) = (*i)[k];
  if (i->size() == 6) {
    matrix(0, 1) = matrix(1, 0) = (*i)[3];
    matrix(0, 2) = matrix(2, 0) = (*i)[4];
    matrix(1, 2) = matrix(2, 1) = (*i)[5];
  }
  *out = matrix;
}

void read_lock(const SceneItem& item, std::array<bool, 6>* lock) {
  static const KeyList kNames{"x", "y", "z", "rx", "ry", "rz", "translation", "rotation"};
  const SceneNode* node = item.find("lock");
  if (node == nullptr) return;
  const std::vector<const SceneNode*> single{node};
  for (const SceneNode* entry : node->is_list() ? node->items : single) {
    const auto it = entry->is_scalar() ? std::find(kNames.begin(), kNames.end(), entry->text) : kNames.end();
    if (it == kNames.end()) {
      const std::string near = entry->is_scalar() ? as_suggestion(entry->text, kNames) : "";
      item.fault(*entry, "unknown degree of freedom " + describe(*entry) + " for 'lock' in " + item.label() +
                             (near.empty() ? " (known: " + as_list(kNames) + ")" : near));
      continue;
    }
    const auto k = it - kNames.begin();
    if (k < 6) {
      (*lock)[k] = true;
    } else {
      for (int j = 0; j < 3; ++j) (*lock)[(k == 6 ? 0 : 3) + j] = true;
    }
  }
}

/// kinematic: {position: [..], angle_deg: .., axis: [..]}: where it is, instead of how fast it moves.
void read_path(const SceneItem& item, const SceneItem& inner, BodyDescription* body) {
  const auto twice = [&](const char* one, const SceneItem& where, const char* other) {
    if (!inner.has(one) || !where.has(other)) return false;
    inner.fault(*inner.find(one), std::string("'") + one + "' in " + inner.label() + " leaves no room for '" + other +
                                      "'; give one of them");
    return true;
  };
  KinematicPath& path = body->path;
  twice("position", inner, "velocity");
  twice("position", item, "position");
  twice("angle", inner, "angle_deg");
  for (const char* angle : {"angle", "angle_deg"}) twice(angle, inner, "angular_velocity");
  path.has_position = inner.vector_of_time("position", &path.position);
  path.has_angle = inner.number_of_time("angle", &path.angle);
  if (inner.number_of_time("angle_deg", &path.angle)) {
    path.angle = path.angle.times(std::numbers::pi / 180);
    path.has_angle = true;
  }
  if (path.has_angle && !item.reading().planar) inner.require("axis");
  inner.vector("axis", &path.axis);
}

void read_kind(const SceneItem& item, SceneBuild* build, BodyDescription* body) {
  bool fixed = false;
  item.flag("fixed", &fixed);
  if (fixed) body->kind = BodyKind::Fixed;
  const SceneNode* node = item.find("kinematic");
  if (node == nullptr) return;
  if (fixed) {
    item.fault(*node, item.label() + " is either 'fixed' or 'kinematic', not both");
    return;
  }
  body->kind = BodyKind::Kinematic;
  const SceneMapPtr map = build->expander.resolve(*node, "'kinematic' in " + item.label());
  if (!map) return;
  const SceneItem inner(build->reading, *map, "kinematic of " + item.label());
  ScenePlace& place = build->places[body->source];
  for (const char* key : {"velocity", "angular_velocity", "position", "angle", "axis"}) {
    const SceneNode* const at = inner.find(key);
    place.add_member(std::string("kinematic_") + key, at != nullptr ? at : node);
  }
  inner.check_keys({"velocity", "angular_velocity", "position", "angle", "angle_deg", "axis", "like"});
  inner.vector_of_time("velocity", &body->kinematic_velocity);
  inner.axial_of_time("angular_velocity", &body->kinematic_angular_velocity);
  read_path(item, inner, body);
}

/// "prescribed motion, instead of mass": a body that no force moves has none of these.
void check_massless(const SceneItem& item, const BodyDescription& body) {
  if (body.kind != BodyKind::Kinematic) return;
  for (const char* key : {"mass", "density", "inertia", "center_of_mass", "lock"}) {
    if (const SceneMap::Entry* entry = item.map().find(key)) {
      item.fault(*entry->key, std::string("'") + key + "' has no meaning in " + item.label() +
                                  ", whose motion is prescribed; leave it out");
    }
  }
}

void read_name(SceneItem* item, std::int64_t copies, SceneBuild* build, BodyDescription* body) {
  std::string name;
  if (!item->text("name", &name)) {
    if (item->has("name")) build->names_missing = true;
    return;
  }
  const SceneNode& node = *item->find("name");
  if (copies > 1 && node.text.find('{') == std::string::npos) {
    item->fault(node, "all " + std::to_string(copies) + " copies are called '" + name +
                          "'; put an index of 'repeat' into the name, as in '" + name + "_{i}'");
  }
  if (name == "world") item->fault(node, "'world' is the world itself; choose another name");
  body->name = build->prefix + name;
  item->set_label("body '" + body->name + "'");
}

void read_body(const SceneMapPtr& map, std::int64_t copies, SceneBuild* build) {
  const std::size_t faults_before = build->reading.faults->raised();
  BodyDescription body;
  body.source = build->add_place(*map->node, map);
  SceneItem item(build->reading, *map, "body");
  read_name(&item, copies, build, &body);
  item.check_keys(legal_keys());
  read_kind(item, build, &body);
  check_massless(item, body);
  item.vector("position", &body.pose.position);
  item.orientation("orientation", &body.pose.orientation);
  item.vector("velocity", &body.velocity);
  item.axial("angular_velocity", &body.angular_velocity);
  item.number("mass", &body.mass);
  item.number("density", &body.density);
  read_inertia(item, &body.inertia);
  item.vector("center_of_mass", &body.center_of_mass);
  read_lock(item, &body.lock);
  item.number("gravity_scale", &body.gravity_scale);
  if (item.text("group", &body.group) && !body.group.empty()) body.group = build->prefix + body.group;
  if (const SceneNode* shapes = item.find("shapes")) read_shapes(*shapes, item, build, &body);
  build->places[body.source].sound = map->complete && build->reading.faults->raised() == faults_before;
  build->body_index.try_emplace(body.name, build->description.bodies.size());
  build->description.bodies.push_back(std::move(body));
}

}  // namespace

KeyList body_keys() { return legal_keys(); }

void read_bodies(const SceneNode& list, SceneBuild* build) {
  const bool all =
      build->for_each_item(list, "a body", &build->bodies,
                           [build](const SceneMapPtr& map, std::int64_t copies) { read_body(map, copies, build); });
  if (!all) build->names_missing = true;
}

}  // namespace slipstick
