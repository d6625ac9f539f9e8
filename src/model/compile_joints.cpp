// Joints, springs and loads: names become indices, world placements become body frames.
#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "model/compile_parts.h"

namespace slipstick {
namespace {

/// "joint 'hook'", or "joint 3 (ball)" for one without a name.
std::string make_label(const char* what, const std::string& name, std::size_t i, std::string_view kind) {
  if (!name.empty()) return std::string(what) + " " + as_quoted(name);
  return std::string(what) + " " + std::to_string(i + 1) + (kind.empty() ? "" : " (" + std::string(kind) + ")");
}

/// The names of one kind of item: all different, unnamed ones numbered.
class ItemNames {
 public:
  template <class Items>
  ItemNames(const char* what, const Items& items) : what_(what) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (!items[i].name.empty()) first_.emplace(items[i].name, static_cast<int>(i));
    }
  }
  std::string make(const std::string& given, std::size_t i, ItemCheck* check) {
    const auto found = first_.find(given);
    if (found != first_.end() && found->second != static_cast<int>(i)) {
      check->fail("name", std::string("another ") + what_ + " has this name; names must differ");
    }
    return make_name(given, what_, i, first_);
  }

 private:
  const char* what_;
  std::unordered_map<std::string, int> first_;
};

bool check_point(const char* key, const Vec3& point, bool planar, ItemCheck* check, const char* words = "") {
  return check->finite(key, point, words) && (!planar || check->in_plane(key, point, words));
}

bool is_one_of(JointKind kind, std::initializer_list<JointKind> kinds) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

bool has_two_ends(JointKind kind) { return kind == JointKind::Rod || kind == JointKind::Rope; }

/// A unit vector, or nothing and a fault.
std::optional<Vec3> make_unit(const char* key, const char* words, const Vec3& given, ItemCheck* check) {
  if (!check->finite(key, given, words)) return std::nullopt;
  if (given.stableNorm() > 0) return given.stableNormalized();
  check->fail(key, std::string(words) + " must not be zero");
  return std::nullopt;
}

/// Frame with the unit vector z; x is `second`, which must be at a right angle to z, or any.
Mat3 calc_joint_frame(const JointDescription& given, const Vec3& z, ItemCheck* check) {
  constexpr double kRightAngle = 1e-6;
  if (!given.second_axis) return make_frame(z);
  const auto x = make_unit("second_axis", "the second axis", *given.second_axis, check);
  if (!x) return Mat3::Identity();
  if (std::abs(x->dot(z)) > kRightAngle) {
    check->fail("second_axis", "its two axes " + as_text(z) + " and " + as_text(*x) + " must be at right angles");
    return Mat3::Identity();
  }
  Mat3 frame;
  frame.col(2) = z;
  frame.col(0) = (*x - x->dot(z) * z).normalized();
  frame.col(1) = z.cross(frame.col(0));
  return frame;
}

/// The joint's frame in the world at t = 0: z is its axis, a rod's its own line. Identity for those without an axis.
Mat3 calc_world_frame(const JointDescription& given, bool planar, ItemCheck* check) {
  if (is_one_of(given.kind, {JointKind::Ball, JointKind::Fixed})) return Mat3::Identity();
  if (has_two_ends(given.kind)) {
    const Vec3 line = given.at_b - given.at;
    return check->good() ? make_frame(line.stableNormalized()) : Mat3(Mat3::Identity());
  }
  const auto axis = make_unit("axis", "axis", given.axis, check);
  if (!axis) return Mat3::Identity();
  if (planar && given.kind == JointKind::Hinge && std::hypot(axis->x(), axis->y()) > 1e-9) {
    check->fail("axis", "a hinge of a planar model turns about z; leave its axis out, or make it [0, 0, 1]");
  }
  if (planar && is_one_of(given.kind, {JointKind::Slider, JointKind::PointOnLine, JointKind::KnifeEdge}) &&
      axis->z() != 0) {
    check->fail("axis", "a " + std::string(name_of(given.kind)) +
                            " of a planar model needs an axis in the x-y plane, not " + as_text(given.axis));
  }
  // A rolling disk's axle may lean: x is only near it (Joint::is_disk keeps the axle itself in frame_b).
  if (given.kind == JointKind::Rolling) return make_frame(*axis);
  return calc_joint_frame(given, *axis, check);
}

void check_ends(const JointDescription& given, bool planar, ItemCheck* check) {
  if (given.length) check->positive("length", *given.length);
  if (!check_point("at_b", given.at_b, planar, check) || !given.at.allFinite()) return;
  if (!((given.at_b - given.at).stableNorm() > 0)) {
    check->fail("at", "its two ends are at one point; place them apart, or use a ball joint");
  }
}

void check_joint_kind(const JointDescription& given, bool planar, ItemCheck* check) {
  using enum JointKind;
  if (planar && is_one_of(given.kind, {Cylindrical, Universal, Planar, Screw, Wheel, Rolling})) {
    check->fail("kind", std::string(name_of(given.kind)) + " has no meaning in a planar model");
  }
  if (given.kind == Rolling) check->positive("radius", given.radius);
  if (given.kind == Screw && check->finite("ratio", given.ratio, "pitch") && given.ratio == 0) {
    check->fail("ratio", "pitch must not be zero; a screw without pitch is a hinge");
  }
}

Joint compile_joint(const JointDescription& given, ItemCheck* check, Compilation* c) {
  const bool planar = c->model.planar, ends = has_two_ends(given.kind);
  check_point("at", given.at, planar, check);
  if (ends) check_ends(given, planar, check);
  check_joint_kind(given, planar, check);
  check->not_negative("compliance", given.compliance);
  check->not_negative("damping_time", given.damping_time);
  const Mat3 frame = calc_world_frame(given, planar, check);
  Joint joint;
  joint.kind = given.kind;
  joint.collide = given.collide;
  joint.solve = given.solve;
  set_freedoms(given, &joint);
  if (is_coupling(given.kind)) {  // its ends are those of other joints (compile_couplings)
    joint.collide = true;
    return joint;
  }
  if (!find_ends(given.a, given.b, check, c, &joint.a, &joint.b)) return joint;
  joint.anchor_a = as_body_point(*c, joint.a, given.at);
  joint.anchor_b = as_body_point(*c, joint.b, ends ? given.at_b : given.at);
  joint.frame_a = as_body_axes(*c, joint.a, frame);
  joint.frame_b = as_body_axes(*c, joint.b, frame);
  if (given.second_at) {
    if (given.kind != JointKind::Universal) check->fail("second_at", "only a universal joint has a second point");
    if (check->finite("second_at", *given.second_at)) {
      joint.link = frame.transpose() * (*given.second_at - given.at);
      joint.anchor_b = as_body_point(*c, joint.b, *given.second_at);
    }
  }
  if (ends) joint.length = given.length.value_or((given.at_b - given.at).stableNorm());
  if (given.kind == JointKind::Rolling) {
    joint.anchor_a = as_body_point(*c, joint.a, given.at - given.radius * frame.col(2));
    joint.radius = given.radius;
    joint.is_disk = given.second_axis.has_value();
    if (joint.is_disk) place_disk(given, frame.col(2), check, c, &joint);
  }
  joint.compliance = given.compliance;
  joint.damping_time = given.damping_time;
  return joint;
}

Spring compile_spring(const SpringDescription& given, ItemCheck* check, Compilation* c) {
  const bool planar = c->model.planar;
  check_point("at_a", given.at_a, planar, check, "at (first)");
  check_point("at_b", given.at_b, planar, check, "at (second)");
  const bool stiff = check->not_negative("stiffness", given.stiffness);
  const bool damped = check->not_negative("damping", given.damping);
  if (stiff && damped && given.stiffness == 0 && given.damping == 0) {
    check->fail("stiffness", "has neither stiffness nor damping; give one, or remove the spring");
  }
  if (given.rest_length) check->not_negative("rest_length", *given.rest_length);
  Spring spring;
  if (!find_ends(given.a, given.b, check, c, &spring.a, &spring.b)) return spring;
  spring.anchor_a = as_body_point(*c, spring.a, given.at_a);
  spring.anchor_b = as_body_point(*c, spring.b, given.at_b);
  spring.stiffness = given.stiffness;
  spring.damping = given.damping;
  spring.rest_length = given.rest_length.value_or((given.at_b - given.at_a).stableNorm());
  return spring;
}

Load compile_load(const LoadDescription& given, ItemCheck* check, Compilation* c) {
  const bool planar = c->model.planar;
  const bool force = check->finite("force", given.force), torque = check->finite("torque", given.torque);
  if (planar && force && given.force[2].at(0) != 0 && !given.force[2].has_readings())
    check->fail("force", "force leaves the x-y plane of a planar model");
  if (planar && torque && (given.torque[0].at(0) != 0 || given.torque[1].at(0) != 0)) {
    check->fail("torque", "torque must be about z in a planar model");
  }
  if (given.at) check_point("at", *given.at, planar, check);
  Load load;
  const auto body = find_body(given.body, "body", check, c);
  if (!body) return load;
  if (*body == kWorld || c->description.bodies[*body].kind != BodyKind::Dynamic) {
    check->fail("body", as_quoted(given.body) + " does not move under forces; a load needs a dynamic body");
    return load;
  }
  load.body = *body;
  load.force = given.force;
  load.torque = given.torque;
  load.turns = given.turns;
  if (given.at) load.at = *given.at - c->model.bodies[*body].center_of_mass;
  return load;
}

/// Joints::floats: what is connected to a fixed or driven body is found by going along the joints from there.
void mark_floating(Model* model) {
  std::vector<char> held(model->bodies.size());
  for (std::size_t i = 0; i < held.size(); ++i) held[i] = model->bodies[i].kind != BodyKind::Dynamic;
  const auto is_held = [&](int body) { return body == kWorld || held[body]; };
  for (bool again = true; again;) {
    again = false;
    for (const Joint& joint : model->joints) {
      if (is_held(joint.a) == is_held(joint.b)) continue;
      held[is_held(joint.a) ? joint.b : joint.a] = 1;
      again = true;
    }
  }
  for (Joint& joint : model->joints) joint.floats = !is_held(joint.a) && !is_held(joint.b);
}

}  // namespace

void compile_joints(Compilation* c) {
  const auto& list = c->description.joints;
  ItemNames names("joint", list);
  for (std::size_t i = 0; i < list.size(); ++i) {
    ItemCheck check(list[i].source, make_label("joint", list[i].name, i, name_of(list[i].kind)), &c->faults);
    Joint joint = compile_joint(list[i], &check, c);
    joint.name = names.make(list[i].name, i, &check);
    joint.first_row = c->model.joint_rows;
    c->model.joint_rows += row_count(joint);
    c->model.joints.push_back(std::move(joint));
    compile_axes(list[i], static_cast<int>(i), &check, c);
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    ItemCheck check(list[i].source, make_label("joint", list[i].name, i, name_of(list[i].kind)), &c->faults);
    compile_couplings(list[i], static_cast<int>(i), &check, c);
  }
  mark_floating(&c->model);
}

void compile_springs(Compilation* c) {
  const auto& list = c->description.springs;
  ItemNames names("spring", list);
  for (std::size_t i = 0; i < list.size(); ++i) {
    ItemCheck check(list[i].source, make_label("spring", list[i].name, i, ""), &c->faults);
    Spring spring = compile_spring(list[i], &check, c);
    spring.name = names.make(list[i].name, i, &check);
    c->model.springs.push_back(std::move(spring));
  }
}

void compile_loads(Compilation* c) {
  const auto& list = c->description.loads;
  ItemNames names("load", list);
  for (std::size_t i = 0; i < list.size(); ++i) {
    ItemCheck check(list[i].source, make_label("load", list[i].name, i, ""), &c->faults);
    Load load = compile_load(list[i], &check, c);
    load.name = names.make(list[i].name, i, &check);
    c->model.loads.push_back(std::move(load));
  }
}

}  // namespace slipstick
