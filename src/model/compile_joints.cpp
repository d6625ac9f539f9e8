// Joints, springs and loads: names become indices, world placements become body frames.
#include <cmath>

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
      check->fail(std::string("another ") + what_ + " has this name; names must differ");
    }
    return make_name(given, what_, i, first_);
  }

 private:
  const char* what_;
  std::unordered_map<std::string, int> first_;
};

bool check_point(const char* what, const Vec3& point, bool planar, ItemCheck* check) {
  return check->finite(what, point) && (!planar || check->in_plane(what, point));
}

/// World axis of a hinge or slider as a unit vector; a rod's is its own line. Identity for the others.
Mat3 calc_world_frame(const JointDescription& given, bool planar, ItemCheck* check) {
  if (given.kind == JointKind::Ball || given.kind == JointKind::Fixed) return Mat3::Identity();
  if (given.kind == JointKind::Rod) {
    const Vec3 line = given.at_b - given.at;
    return check->good() ? make_frame(line.stableNormalized()) : Mat3(Mat3::Identity());
  }
  if (!check->finite("axis", given.axis)) return Mat3::Identity();
  if (!(given.axis.stableNorm() > 0)) {
    check->fail("axis must not be zero");
    return Mat3::Identity();
  }
  const Vec3 axis = given.axis.stableNormalized();
  if (planar && given.kind == JointKind::Hinge && std::hypot(axis.x(), axis.y()) > 1e-9) {
    check->fail("a hinge of a planar model turns about z; leave its axis out, or make it [0, 0, 1]");
  }
  if (planar && given.kind == JointKind::Slider && axis.z() != 0) {
    check->fail("a slider of a planar model needs an axis in the x-y plane, not " + as_text(given.axis));
  }
  return make_frame(axis);
}

void check_rod(const JointDescription& given, bool planar, ItemCheck* check) {
  if (given.length) check->positive("length", *given.length);
  if (!check_point("at_b", given.at_b, planar, check) || !given.at.allFinite()) return;
  if (!((given.at_b - given.at).stableNorm() > 0)) {
    check->fail("its two ends are at one point; place them apart, or use a ball joint");
  }
}

Joint compile_joint(const JointDescription& given, ItemCheck* check, Compilation* c) {
  const bool planar = c->model.planar, rod = given.kind == JointKind::Rod;
  check_point("at", given.at, planar, check);
  if (rod) check_rod(given, planar, check);
  check->not_negative("compliance", given.compliance);
  check->not_negative("damping_time", given.damping_time);
  const Mat3 frame = calc_world_frame(given, planar, check);
  Joint joint;
  joint.kind = given.kind;
  if (!find_ends(given.a, given.b, check, c, &joint.a, &joint.b)) return joint;
  joint.anchor_a = as_body_point(*c, joint.a, given.at);
  joint.anchor_b = as_body_point(*c, joint.b, rod ? given.at_b : given.at);
  joint.frame_a = as_body_axes(*c, joint.a, frame);
  joint.frame_b = as_body_axes(*c, joint.b, frame);
  if (rod) joint.length = given.length.value_or((given.at_b - given.at).stableNorm());
  joint.compliance = given.compliance;
  joint.damping_time = given.damping_time;
  joint.collide = given.collide;
  return joint;
}

Spring compile_spring(const SpringDescription& given, ItemCheck* check, Compilation* c) {
  const bool planar = c->model.planar;
  check_point("at (first)", given.at_a, planar, check);
  check_point("at (second)", given.at_b, planar, check);
  const bool stiff = check->not_negative("stiffness", given.stiffness);
  const bool damped = check->not_negative("damping", given.damping);
  if (stiff && damped && given.stiffness == 0 && given.damping == 0) {
    check->fail("has neither stiffness nor damping; give one, or remove the spring");
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
  if (planar && force && given.force[2].at(0) != 0) check->fail("force leaves the x-y plane of a planar model");
  if (planar && torque && (given.torque[0].at(0) != 0 || given.torque[1].at(0) != 0)) {
    check->fail("torque must be about z in a planar model");
  }
  if (given.at) check_point("at", *given.at, planar, check);
  Load load;
  const auto body = find_body(given.body, check, c);
  if (!body) return load;
  if (*body == kWorld || c->description.bodies[*body].kind != BodyKind::Dynamic) {
    check->fail(as_quoted(given.body) + " does not move under forces; a load needs a dynamic body");
    return load;
  }
  load.body = *body;
  load.force = given.force;
  load.torque = given.torque;
  if (given.at) load.at = *given.at - c->model.bodies[*body].center_of_mass;
  return load;
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
    c->model.joint_rows += row_count(joint.kind);
    c->model.joints.push_back(std::move(joint));
  }
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
