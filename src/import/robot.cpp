#include "import/robot.h"

#include "base/as_quoted.h"
#include "import/xml_document.h"
#include "model/mass_properties.h"

namespace slipstick {

SourceTag ImportContext::add_place(const XmlElement& at, const std::string& label) {
  places.push_back({at.file, at.line, at.column});
  report.sources.push_back(label + ", " + faults.file_name(at.file) + ":" + std::to_string(at.line));
  return static_cast<SourceTag>(places.size()) - 1;
}

SourcePlace ImportContext::place_of(const XmlElement& at) const {
  return {faults.file_name(at.file), at.line, at.column};
}
SourcePlace ImportContext::place_of(const XmlAttribute& at) const {
  return {faults.file_name(at.file), at.line, at.column};
}

SourcePlace ImportContext::place_of(SourceTag source) const {
  if (source < 0) return {};
  return {faults.file_name(places[source].file), places[source].line, places[source].column};
}

void ImportContext::fail(SourceTag source, const std::string& message) {
  const Place at = source < 0 ? Place{} : places[source];
  faults.add(at.file, at.line, at.column, message);
}

void ImportContext::list_unused(const XmlElement& root,
                                std::string (*why)(const std::string& element, const std::string& attribute)) {
  const XmlAttribute* named = root.find("name");
  const std::string label = root.name + (named != nullptr ? " " + as_quoted(named->value) : "");
  if (!root.used) {
    const std::string rest = root.children.empty() ? "" : " and what is in it";
    return ignore(place_of(root), "element " + label + rest, why(root.name, ""));
  }
  for (const XmlAttribute& a : root.attributes)
    if (!a.used) ignore(place_of(a), "attribute " + as_quoted(a.name) + " of " + label, why(root.name, a.name));
  for (const auto& child : root.children) list_unused(*child, why);
}

Pose compose(const Pose& outer, const Pose& inner) {
  return {outer.position + outer.orientation * inner.position, (outer.orientation * inner.orientation).normalized()};
}

Quat settle(const Quat& q) {
  Quat now = q.normalized();
  for (int k = 0; k < 10; ++k) {
    const Quat next = now.normalized();
    if (next.coeffs() == now.coeffs()) break;
    now = next;
  }
  return now;
}

Pose move_by_joints(const RobotLink& link, Pose at, std::size_t count, bool at_start) {
  for (std::size_t j = 0; j < count; ++j) {
    const RobotJoint& joint = link.joints[j];
    const double by = at_start ? joint.start - joint.reference : 0;
    if (joint.type == RobotJoint::Type::Slide) {
      at.position += by * (at.orientation * joint.axis);
      continue;
    }
    const Vec3 anchor = at.position + at.orientation * joint.anchor;
    const bool ball = joint.type == RobotJoint::Type::Ball;
    if (!ball && by == 0) continue;
    const Quat turn = ball ? (at_start ? joint.turn : Quat::Identity()) : Quat(Eigen::AngleAxisd(by, joint.axis));
    at.orientation = (at.orientation * turn).normalized();
    at.position = anchor - at.orientation * joint.anchor;
  }
  return at;
}

std::vector<Pose> calc_link_poses(const Robot& robot, bool at_start) {
  std::vector<Pose> poses;
  for (const RobotLink& link : robot.links) {
    const Pose parent = link.parent >= 0 ? poses[link.parent] : Pose{};
    poses.push_back(move_by_joints(link, compose(parent, link.pose), link.joints.size(), at_start));
  }
  return poses;
}

double calc_axis_inertia(const Robot& robot, const std::array<int, 2>& joint) {
  const RobotJoint& given = robot.links[joint[0]].joints[joint[1]];
  const std::vector<Pose> poses = calc_link_poses(robot, false);
  const Pose& at = poses[joint[0]];
  const Vec3 axis = at.orientation * given.axis, anchor = at.position + at.orientation * given.anchor;
  double sum = given.axis_data.armature;
  std::vector<char> beyond(robot.links.size(), 0);
  for (std::size_t i = 0; i < robot.links.size(); ++i) {
    const RobotLink& link = robot.links[i];
    beyond[i] = static_cast<int>(i) == joint[0] || (link.parent >= 0 && beyond[link.parent] != 0) ? 1 : 0;
    if (beyond[i] == 0) continue;
    const MassProperties matter = move_matter(link.matter, poses[i]);
    const Vec3 arm = axis.cross(matter.center - anchor);
    sum += given.type == RobotJoint::Type::Slide ? matter.mass
                                                 : axis.dot(matter.inertia * axis) + matter.mass * arm.squaredNorm();
  }
  return sum;
}

}  // namespace slipstick
