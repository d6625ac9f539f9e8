#include <algorithm>
#include <cmath>
#include <utility>

#include "model/compile_parts.h"

namespace slipstick {
namespace {

bool is_dynamic(const Compilation& c, int body) {
  return body != kWorld && c.description.bodies[body].kind == BodyKind::Dynamic;
}

void check_gravity(Compilation* c) {
  ItemCheck check(-1, "gravity", &c->faults);
  if (!check.finite("gravity", c->model.gravity, "it")) return;
  if (c->model.planar && c->model.gravity.z() != 0) {
    check.fail("gravity", "must lie in the x-y plane of a planar model, as [0, -9.81, 0] does; it is " +
                              as_text(c->model.gravity));
  }
}

void add_pair(int a, int b, Compilation* c) {
  if (a == b || a == kWorld || b == kWorld) return;  // parts of one body never touch; the world has no shapes
  c->model.pairs_without_contact.push_back({std::min(a, b), std::max(a, b)});
}

}  // namespace

CompiledModel compile(const ModelDescription& description, State* initial) {
  Compilation c(description);
  c.model.name = description.name;
  c.model.gravity = description.gravity;
  c.model.planar = description.planar;
  check_gravity(&c);
  compile_materials(&c);
  compile_names(&c);
  compile_bodies(&c);
  compile_joints(&c);
  compile_sensors(&c);
  compile_idle_axes(&c);
  compile_springs(&c);
  compile_loads(&c);
  compile_contact_pairs(&c);

  CompiledModel compiled;
  if (!c.faults.empty()) {  // half a model is no model
    compiled.faults = c.faults.take();
    return compiled;
  }
  c.initial.joint_impulse.assign(c.model.joint_rows, 0.0);
  compiled.model = std::move(c.model);
  if (initial) *initial = std::move(c.initial);
  return compiled;
}

void compile_names(Compilation* c) {
  c->body_index.emplace("world", kWorld);
  const auto& bodies = c->description.bodies;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const std::string& name = bodies[i].name;
    if (name.empty()) continue;
    ItemCheck check(bodies[i].source, "body " + as_quoted(name), &c->faults);
    if (name == "world") {
      check.fail("name", "this name means the world itself; choose another");
    } else if (!c->body_index.emplace(name, static_cast<int>(i)).second) {
      check.fail("name", "another body has this name; names must differ");
    }
  }
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const std::string name = make_name(bodies[i].name, "body", i, c->body_index);
    if (bodies[i].name.empty()) c->body_index.emplace(name, static_cast<int>(i));
    c->body_names.push_back(name);
  }
  c->body_names.push_back("world");
}

void compile_contact_pairs(Compilation* c) {
  const auto& pairs = c->description.pairs_without_contact;
  const auto& sources = c->description.pairs_without_contact_source;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    ItemCheck check(i < sources.size() ? sources[i] : -1, "pairs_without_contact", &c->faults);
    const auto a = find_body(pairs[i][0], "a", &check, c), b = find_body(pairs[i][1], "b", &check, c);
    if (a && b) add_pair(*a, *b, c);
  }
  for (const Joint& joint : c->model.joints) {
    if (!joint.collide) add_pair(joint.a, joint.b, c);
  }
  auto& list = c->model.pairs_without_contact;
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

std::optional<int> find_body(const std::string& name, std::string_view key, ItemCheck* item, Compilation* c) {
  const auto found = c->body_index.find(name);
  if (found != c->body_index.end()) return found->second;
  item->fail_unknown(key, "body", name, c->body_names);
  return std::nullopt;
}

bool find_ends(const std::string& a, const std::string& b, ItemCheck* item, Compilation* c, int* index_a,
               int* index_b) {
  const auto found_a = find_body(a, "a", item, c), found_b = find_body(b, "b", item, c);
  if (!found_a || !found_b) return false;
  if (*found_a == *found_b) {
    item->fail("a", "joins " + as_quoted(a) + " to itself; name two different bodies");
    return false;
  }
  if (!is_dynamic(*c, *found_a) && !is_dynamic(*c, *found_b)) {
    item->fail("a", "neither " + as_quoted(a) + " nor " + as_quoted(b) + " can move freely; one must be dynamic");
    return false;
  }
  *index_a = *found_a;
  *index_b = *found_b;
  return true;
}

Vec3 as_body_point(const Compilation& c, int body, const Vec3& world) {
  if (body == kWorld) return world;
  const Pose& q = c.initial.pose[body];
  return q.orientation.conjugate() * (world - q.position);
}

Mat3 as_body_axes(const Compilation& c, int body, const Mat3& world) {
  if (body == kWorld) return world;
  return c.initial.pose[body].orientation.conjugate().toRotationMatrix() * world;
}

std::string make_name(const std::string& given, const char* kind, std::size_t i,
                      const std::unordered_map<std::string, int>& taken) {
  if (!given.empty()) return given;
  std::string name = std::string(kind) + "_" + std::to_string(i);
  while (taken.count(name)) name += "_";
  return name;
}

Mat3 make_frame(const Vec3& axis) {
  constexpr double kCos25 = 0.90630778703664996;
  const Vec3 other = std::abs(axis.z()) < kCos25 ? Vec3::UnitZ() : Vec3::UnitX();
  Mat3 frame;
  frame.col(0) = other.cross(axis).normalized();
  frame.col(1) = axis.cross(frame.col(0));
  frame.col(2) = axis;
  return frame;
}

Quat make_turn_from_z(const Vec3& normal) {
  if (normal.z() >= 0) return Quat(1 + normal.z(), -normal.y(), normal.x(), 0).normalized();
  const Quat half_turn(0, 1, 0, 0);
  return Quat(1 - normal.z(), normal.y(), -normal.x(), 0).normalized() * half_turn;
}

}  // namespace slipstick
