#include "import/robot_joints.h"

#include <algorithm>
#include <cmath>

#include "base/as_quoted.h"

namespace slipstick {
namespace {

class LinkJoints {
 public:
  LinkJoints(const RobotLayout& layout, ImportContext* context, UniqueNames* names, ModelDescription* out)
      : layout_(layout), context_(*context), names_(*names), out_(*out) {}

  JointAxes run() {
    for (std::size_t i = 0; i < layout_.robot.links.size(); ++i) {
      const RobotLink& link = layout_.robot.links[i];
      if (link.joints.empty() || layout_.body[i] == "world") continue;
      const bool on_world = link.parent < 0 || layout_.robot.links[link.parent].is_world;
      const std::string parent = on_world ? "world" : layout_.body[link.parent];
      if (link.joints.size() == 1) {
        add_single(i, 0, parent, layout_.body[i]);
      } else if (!add_universal(i, parent) && !add_generic(i, parent)) {
        add_carriers(i, parent);
      }
    }
    return std::move(axes_);
  }

 private:
  static AxisDescription make_axis(const RobotJoint& joint, Freedom freedom, double sign) {
    AxisDescription axis = joint.axis_data;
    axis.freedom = freedom;
    axis.start = joint.start;
    if (sign > 0) return axis;
    axis.start = -axis.start;
    axis.rest = -axis.rest;
    if (axis.limits) axis.limits = {-(*axis.limits)[1], -(*axis.limits)[0]};
    if (axis.motor) axis.motor->target = axis.motor->target.times(-1);
    return axis;
  }

  static bool says_something(const AxisDescription& axis) {
    return axis.limits || axis.motor || axis.friction != 0 || axis.stiffness != 0 || axis.damping != 0 ||
           axis.armature != 0 || axis.start != 0 || axis.lock;
  }

  void add_single(std::size_t i, std::size_t j, const std::string& a, const std::string& b) {
    const RobotJoint& joint = layout_.robot.links[i].joints[j];
    const bool hinge = joint.type == RobotJoint::Type::Hinge, ball = joint.type == RobotJoint::Type::Ball;
    JointDescription made = begin(joint.name,
                                  ball    ? JointKind::Ball
                                  : hinge ? JointKind::Hinge
                                          : JointKind::Slider,
                                  a, b, joint.source);
    made.at = layout_.calc_anchor(i, j);
    if (!ball) {
      made.axis = layout_.calc_axis(i, j);
      const AxisDescription axis = make_axis(joint, hinge ? Freedom::TurnZ : Freedom::Z, 1);
      if (says_something(axis)) made.axes.push_back(axis);
    }
    axes_[joint.name] = {made.name, 1};
    out_.joints.push_back(std::move(made));
  }

  void add_axis(std::size_t i, std::size_t j, Freedom freedom, double sign, JointDescription* made) {
    const RobotJoint& joint = layout_.robot.links[i].joints[j];
    const AxisDescription axis = make_axis(joint, freedom, sign);
    if (says_something(axis)) made->axes.push_back(axis);
    axes_[joint.name] = {made->name + "." + std::string(name_of(freedom)), sign};
    context_.note(context_.place_of(joint.source), "joint " + as_quoted(joint.name),
                  "is the axis " + as_quoted(name_of(freedom)) + " of joint " + as_quoted(made->name) +
                      (sign < 0 ? ", with the opposite sign" : ""));
  }

  /// Two hinges at right angles, wherever they pass.
  bool add_universal(std::size_t i, const std::string& parent) {
    const RobotLink& link = layout_.robot.links[i];
    if (link.joints.size() != 2) return false;
    for (const RobotJoint& joint : link.joints)
      if (joint.type != RobotJoint::Type::Hinge) return false;
    const Vec3 first = layout_.calc_axis(i, 0), second = layout_.calc_axis(i, 1);
    if (std::abs(first.dot(second)) > kRight) return false;
    JointDescription made = begin(link.name, JointKind::Universal, parent, layout_.body[i], link.joints[0].source);
    made.at = layout_.calc_anchor(i, 0);
    made.axis = first;
    made.second_axis = second;
    const Vec3 at = layout_.calc_anchor(i, 1);
    if ((at - made.at).norm() > 1e-12) made.second_at = at;
    add_axis(i, 0, Freedom::TurnZ, 1, &made);
    add_axis(i, 1, Freedom::TurnX, 1, &made);
    out_.joints.push_back(std::move(made));
    return true;
  }

  /// Slides along the axes of one frame, then hinges about z, x and y of it through one point.
  bool add_generic(std::size_t i, const std::string& parent) {
    const RobotLink& link = layout_.robot.links[i];
    Rows rows;
    if (!find_rows(i, &rows)) return false;
    const Vec3 z = rows.hinges.empty() ? rows.axes[rows.slides[0]] : rows.axes[rows.hinges[0]];
    Vec3 x = Vec3::Zero();
    for (std::size_t k = 0; k < rows.axes.size() && x.isZero(0); ++k) {
      const std::size_t j = rows.hinges.size() > 1 ? rows.hinges[1] : k;
      if (std::abs(rows.axes[j].dot(z)) < kRight) x = rows.axes[j];
    }
    if (x.isZero(0)) return false;
    x = (x - x.dot(z) * z).normalized();
    std::array<bool, 6> free{};
    if (!place_rows(link, {x, z.cross(x), z}, &rows, &free)) return false;
    JointDescription made = begin(link.name, JointKind::Generic, parent, layout_.body[i], link.joints[0].source);
    made.at = rows.at;
    made.axis = z;
    made.second_axis = x;
    made.free = free;
    for (std::size_t j = 0; j < rows.axes.size(); ++j)
      add_axis(i, j, static_cast<Freedom>(rows.place[j].first), rows.place[j].second, &made);
    out_.joints.push_back(std::move(made));
    return true;
  }

  /// The joints of a link that may be one generic joint.
  struct Rows {
    std::vector<Vec3> axes;
    std::vector<std::size_t> hinges, slides;
    Vec3 at = Vec3::Zero();
    std::vector<std::pair<int, double>> place;  ///< of each axis: its freedom and sign
  };
  bool find_rows(std::size_t i, Rows* out) const {
    const RobotLink& link = layout_.robot.links[i];
    for (std::size_t j = 0; j < link.joints.size(); ++j) {
      out->axes.push_back(layout_.calc_axis(i, j));
      if (link.joints[j].type == RobotJoint::Type::Ball) return false;
      const bool hinge = link.joints[j].type == RobotJoint::Type::Hinge;
      if (!hinge && !out->hinges.empty()) return false;
      (hinge ? out->hinges : out->slides).push_back(j);
    }
    if (out->hinges.size() > 3 || out->slides.size() > 3) return false;
    // The generic joint's three angles are zero at the start; a middle one that is not would turn the last axis.
    if (out->hinges.size() == 3 && link.joints[out->hinges[1]].start != link.joints[out->hinges[1]].reference)
      return false;
    out->at = layout_.pose[i].position;
    for (const std::size_t j : out->hinges) {
      const Vec3 anchor = layout_.calc_anchor(i, j);
      if (j != out->hinges[0] && (anchor - out->at).norm() > 1e-9) return false;
      out->at = anchor;
    }
    return true;
  }
  static bool place_rows(const RobotLink& link, const std::array<Vec3, 3>& frame, Rows* rows,
                         std::array<bool, 6>* free) {
    constexpr std::array<int, 3> kOrder{2, 0, 1};  // of the turns
    for (std::size_t j = 0; j < rows->axes.size(); ++j) {
      const bool turn = link.joints[j].type == RobotJoint::Type::Hinge;
      int along = -1;
      for (int k = 0; k < 3; ++k)
        if (std::abs(rows->axes[j].dot(frame[k])) > 1 - kRight) along = k;
      if (along < 0 || (turn && along != kOrder[j - rows->hinges[0]])) return false;
      const int freedom = (turn ? 3 : 0) + along;
      if ((*free)[freedom]) return false;
      (*free)[freedom] = true;
      rows->place.push_back({freedom, rows->axes[j].dot(frame[along]) > 0 ? 1.0 : -1.0});
    }
    return true;
  }

  /// Joints that no joint of ours is: light bodies between them.
  void add_carriers(std::size_t i, const std::string& parent) {
    const RobotLink& link = layout_.robot.links[i];
    const auto own = std::find_if(out_.bodies.begin(), out_.bodies.end(),
                                  [&](const BodyDescription& b) { return b.name == layout_.body[i]; });
    if (own == out_.bodies.end()) return;
    const double mass = kCarrierShare * *own->mass;
    const Mat3 inertia = kCarrierShare * own->inertia->trace() / 3 * Mat3::Identity();
    std::string last = parent;
    for (std::size_t j = 0; j < link.joints.size(); ++j) {
      const bool end = j + 1 == link.joints.size();
      const std::string next = end ? layout_.body[i] : layout_.body[i] + "_carrier_" + std::to_string(j + 1);
      if (!end) {
        BodyDescription carrier;
        carrier.name = next;
        carrier.source = link.joints[j].source;
        carrier.pose.position = layout_.calc_anchor(i, j);
        carrier.mass = mass;
        carrier.center_of_mass = Vec3::Zero();
        carrier.inertia = inertia;
        out_.bodies.push_back(std::move(carrier));
      }
      add_single(i, j, last, next);
      last = next;
    }
    if (parent != "world") out_.pairs_without_contact.push_back({parent, layout_.body[i]});
    context_.note(context_.place_of(link.source), "link " + as_quoted(link.name),
                  "has joints in a row that no joint of the engine is: light bodies of " +
                      std::to_string(kCarrierShare) + " of its mass carry them");
  }

  JointDescription begin(const std::string& name, JointKind kind, const std::string& a, const std::string& b,
                         SourceTag source) {
    return begin_joint(name, kind, a, b, source, &names_);
  }

  static constexpr double kRight = 1e-6;  // cosine
  static constexpr double kCarrierShare = 1e-3;
  const RobotLayout& layout_;
  ImportContext& context_;
  UniqueNames& names_;
  ModelDescription& out_;
  JointAxes axes_;
};

}  // namespace

JointDescription begin_joint(const std::string& name, JointKind kind, const std::string& a, const std::string& b,
                             SourceTag source, UniqueNames* names) {
  JointDescription made;
  made.kind = kind;
  made.name = names->make(name, "joint");
  made.a = a;
  made.b = b;
  made.source = source;
  return made;
}

JointAxes add_link_joints(const RobotLayout& layout, ImportContext* context, UniqueNames* names,
                          ModelDescription* out) {
  return LinkJoints(layout, context, names, out).run();
}

}  // namespace slipstick
