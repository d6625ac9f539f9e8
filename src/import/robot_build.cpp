// Links to bodies; loops, couplings and ropes to joints and springs.
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "base/as_quoted.h"
#include "import/robot_joints.h"
#include "model/mass_properties.h"

namespace slipstick {
namespace {

/// No zero has a sign: a scene file would not keep it.
void clear_sign(Vec3* v) { *v = (v->array() + 0.0).matrix(); }
void clear_sign(Pose* p) {
  clear_sign(&p->position);
  p->orientation.coeffs() = (p->orientation.coeffs().array() + 0.0).matrix();
}

void clear_signs(BodyDescription* body) {
  clear_sign(&body->pose);
  clear_sign(&body->velocity);
  clear_sign(&body->angular_velocity);
  if (body->center_of_mass) clear_sign(&*body->center_of_mass);
  if (body->inertia) *body->inertia = (body->inertia->array() + 0.0).matrix();
  for (ShapeDescription& shape : body->shapes) {
    clear_sign(&shape.pose);
    for (Vec3& p : shape.vertices) clear_sign(&p);
  }
}

void clear_signs(JointDescription* joint) {
  for (Vec3* v : {&joint->at, &joint->at_b, &joint->axis}) clear_sign(v);
  if (joint->second_axis) clear_sign(&*joint->second_axis);
  if (joint->second_at) clear_sign(&*joint->second_at);
  for (double& p : joint->polynomial) p += 0.0;
  for (AxisDescription& axis : joint->axes) {
    axis.start += 0.0;
    axis.rest += 0.0;
    if (axis.limits)
      for (double& end : *axis.limits) end += 0.0;
    if (axis.motor) axis.motor->target = Expression(axis.motor->target.constant() + 0.0);
  }
}

/// A body can have these moments: none is zero, and none above the sum of the others.
bool is_physical(const Mat3& inertia) {
  const Vec3 moments = Eigen::SelfAdjointEigenSolver<Mat3>(inertia).eigenvalues();
  return moments[0] > 1e-12 * moments[2] && moments[0] > 0 && moments[0] + moments[1] >= moments[2] * (1 - 1e-9);
}

class RobotBuild {
 public:
  RobotBuild(const Robot& robot, ImportContext* context, ModelDescription* out)
      : robot_(robot), context_(*context), out_(*out), layout_(robot) {}

  void run() {
    add_bodies();
    if (!context_.faults.empty()) return;
    axes_ = add_link_joints(layout_, &context_, &joint_names_, &out_);
    add_loops();
    add_couplings();
    for (const RobotRope& rope : robot_.ropes) add_rope(rope);
    for (const auto& pair : robot_.excludes) exclude(layout_.body_of(pair[0]), layout_.body_of(pair[1]));
    out_.name = robot_.name;
    out_.gravity = robot_.gravity;
    out_.materials = robot_.materials;
    out_.material_pairs = robot_.material_pairs;
    for (BodyDescription& body : out_.bodies) clear_signs(&body);
    for (JointDescription& joint : out_.joints) clear_signs(&joint);
    clear_sign(&out_.gravity);
  }

 private:
  void add_bodies() {
    velocity_.assign(robot_.links.size(), {});
    for (std::size_t i = 0; i < robot_.links.size(); ++i) {
      update_velocity(i);
      if (layout_.owner[i] != static_cast<int>(i)) {
        layout_.body[i] = layout_.body[layout_.owner[i]];
      } else if (layout_.moves[i] || !robot_.links[i].shapes.empty()) {
        add_body(i);
      }
    }
  }

  void add_body(std::size_t i) {
    const RobotLink& link = robot_.links[i];
    BodyDescription body;
    body.name = layout_.body[i] = body_names_.make(link.name, "link");
    body.source = link.source;
    body.pose = {layout_.pose[i].position, settle(layout_.pose[i].orientation)};
    body.gravity_scale = link.gravity_scale;
    MassProperties matter;
    for (std::size_t k = i; k < robot_.links.size(); ++k)
      if (layout_.owner[k] == static_cast<int>(i)) add_part(i, k, &body, &matter);
    if (!layout_.moves[i]) {
      body.kind = BodyKind::Fixed;
      body.gravity_scale = 1;
    } else if (check_matter(link, &matter)) {
      body.mass = matter.mass;
      body.center_of_mass = matter.center;
      body.inertia = Mat3((matter.inertia + matter.inertia.transpose()) / 2);
      body.velocity = velocity_[i].linear;
      body.angular_velocity = velocity_[i].angular;
    }
    out_.bodies.push_back(std::move(body));
  }

  /// Link k, which is part of the body of link i.
  void add_part(std::size_t i, std::size_t k, BodyDescription* body, MassProperties* matter) {
    const RobotLink &link = robot_.links[i], &part = robot_.links[k];
    const Pose& to_world = layout_.pose[i];
    const Quat turn = to_world.orientation.conjugate();
    const Pose at = k == i ? Pose{} : compose({turn * -to_world.position, turn}, layout_.pose[k]);
    const MassProperties moved = move_matter(part.matter, at);
    if (moved.mass > 0 || !moved.inertia.isZero(0)) *matter = matter->mass > 0 ? join_matter(*matter, moved) : moved;
    for (ShapeDescription shape : part.shapes) {
      if (k != i) shape.pose = compose(at, shape.pose);
      shape.pose.orientation = settle(shape.pose.orientation);
      body->shapes.push_back(std::move(shape));
    }
    if (k == i) return;
    if (!part.name.empty())
      context_.note(context_.place_of(part.source), "link " + as_quoted(part.name),
                    "does not move against " + as_quoted(link.name) + ": one body with it");
    if (part.gravity_scale != link.gravity_scale && part.matter.mass > 0)
      context_.ignore(context_.place_of(part.source), "gravcomp of link " + as_quoted(part.name),
                      "differs from that of the body that it is part of, which is taken");
  }

  /// Missing and impossible inertias of bodies that move are said, and repaired only on request.
  bool check_matter(const RobotLink& link, MassProperties* matter) {
    const bool heavy = matter->mass > 0;
    if (heavy && is_physical(matter->inertia)) return true;
    const std::string label = "link " + as_quoted(link.name);
    if (!robot_.repair_inertia) {
      context_.fail(link.source,
                    label +
                        (heavy ? " has an inertia that is not that of any body (singular, or one principal moment "
                                 "above the sum of the others)"
                               : " moves but has no mass") +
                        "; correct it, or let --repair-inertia do so");
      return false;
    }
    if (!heavy) matter->mass = 1e-3;
    const double mean = std::max(matter->inertia.trace() / 3, 0.0);
    const double moment = std::max({mean, 1e-4 * matter->mass, 1e-9});
    matter->inertia = moment * Mat3::Identity();
    context_.note(context_.place_of(link.source), label,
                  "its inertia was repaired: mass " + std::to_string(matter->mass) + " kg, " + std::to_string(moment) +
                      " kg m^2 about every axis");
    return true;
  }

  /// World velocity of the link's origin, from those of the joints.
  void update_velocity(std::size_t i) {
    const RobotLink& link = robot_.links[i];
    Twist v;
    if (link.parent >= 0) {
      const Twist& p = velocity_[link.parent];
      v = {p.linear + p.angular.cross(layout_.pose[i].position - layout_.pose[link.parent].position), p.angular};
    }
    if (link.free) v = {link.velocity, link.angular_velocity};
    for (std::size_t j = 0; j < link.joints.size(); ++j) {
      const RobotJoint& joint = link.joints[j];
      const bool ball = joint.type == RobotJoint::Type::Ball;
      if (ball ? joint.spin.isZero(0) : joint.speed == 0) continue;
      const Vec3 axis =
          ball ? Vec3(layout_.pose[i].orientation * joint.spin) : Vec3(joint.speed * layout_.calc_axis(i, j));
      if (joint.type == RobotJoint::Type::Slide) {
        v.linear += axis;
      } else {
        v.angular += axis;
        v.linear += axis.cross(layout_.pose[i].position - layout_.calc_anchor(i, j));
      }
    }
    velocity_[i] = v;
  }

  void exclude(const std::string& a, const std::string& b) {
    if (a != b && a != "world" && b != "world") out_.pairs_without_contact.push_back({a, b});
  }

  void add_loops() {
    for (const RobotLoop& loop : robot_.loops) {
      const std::string &a = layout_.body_of(loop.a), &b = layout_.body_of(loop.b);
      if (a == b) {
        context_.fail(loop.source,
                      "both ends of this constraint are on " + as_quoted(a) + "; name two bodies that move");
        continue;
      }
      JointDescription made =
          begin_joint(loop.name, loop.weld ? JointKind::Fixed : JointKind::Ball, a, b, loop.source, &joint_names_);
      made.at = layout_.calc_point(loop.a, loop.point);
      made.collide = true;
      out_.joints.push_back(std::move(made));
      note_opening(loop);
    }
  }

  /// The constraint is closed in the reference configuration; a start elsewhere may open it.
  void note_opening(const RobotLoop& loop) {
    const auto at = [&](const std::vector<Pose>& poses, int link) { return link < 0 ? Pose{} : poses[link]; };
    const Pose ra = at(layout_.reference, loop.a), rb = at(layout_.reference, loop.b);
    const Vec3 on_b = rb.orientation.conjugate() * (ra.position + ra.orientation * loop.point - rb.position);
    const double open = (layout_.calc_point(loop.b, on_b) - layout_.calc_point(loop.a, loop.point)).norm();
    if (open < 1e-6) return;
    context_.note(context_.place_of(loop.source), "equality",
                  "the start opens it by " + std::to_string(open * 1000) + " mm; it is closed where the first body is");
  }

  void add_couplings() {
    for (const RobotCoupling& given : robot_.couplings) {
      JointDescription made = begin_joint(given.name, JointKind::Gear, "", "", given.source, &joint_names_);
      made.polynomial = given.polynomial;
      std::vector<double> signs;
      for (const std::string& name : {given.joint1, given.joint2}) {
        const auto found = axes_.find(name);
        if (found == axes_.end()) {
          context_.fail(given.source, "joint " + as_quoted(name) + " has no coordinate that can be coupled");
          continue;
        }
        made.joints.push_back(found->second.name);
        signs.push_back(found->second.sign);
      }
      if (made.joints.size() != 2) continue;
      if (signs[1] < 0)  // p(-q)
        for (std::size_t k = 1; k < made.polynomial.size(); k += 2) made.polynomial[k] = -made.polynomial[k];
      if (signs[0] < 0)
        for (double& p : made.polynomial) p = -p;
      out_.joints.push_back(std::move(made));
    }
  }

  void add_rope(const RobotRope& rope) {
    const std::string &a = layout_.body_of(rope.a), &b = layout_.body_of(rope.b);
    const Vec3 at_a = layout_.calc_point(rope.a, rope.at_a), at_b = layout_.calc_point(rope.b, rope.at_b);
    if (a == b) {
      context_.ignore(context_.place_of(rope.source), "tendon " + as_quoted(rope.name),
                      "both of its ends are on one body");
    } else if (rope.is_spring) {
      SpringDescription spring;
      spring.name = rope.name;
      spring.a = a;
      spring.b = b;
      spring.at_a = at_a;
      spring.at_b = at_b;
      spring.stiffness = rope.stiffness;
      spring.damping = rope.damping;
      spring.rest_length = rope.length;
      spring.source = rope.source;
      out_.springs.push_back(std::move(spring));
    } else {
      JointDescription made = begin_joint(rope.name, JointKind::Rope, a, b, rope.source, &joint_names_);
      made.at = at_a;
      made.at_b = at_b;
      made.length = std::max(rope.length, (at_b - at_a).norm());
      if (*made.length > rope.length)
        context_.note(context_.place_of(rope.source), "tendon " + as_quoted(rope.name),
                      "starts " + std::to_string(*made.length) + " m long, more than its range: that is its length");
      made.collide = true;
      out_.joints.push_back(std::move(made));
    }
  }

  const Robot& robot_;
  ImportContext& context_;
  ModelDescription& out_;
  RobotLayout layout_;
  UniqueNames body_names_, joint_names_;
  JointAxes axes_;
  std::vector<Twist> velocity_;  ///< world
};

}  // namespace

void build_robot(const Robot& robot, ImportContext* context, ModelDescription* out) {
  RobotBuild(robot, context, out).run();
}

}  // namespace slipstick
