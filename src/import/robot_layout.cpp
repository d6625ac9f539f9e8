#include "import/robot_layout.h"

namespace slipstick {

std::string UniqueNames::make(std::string name, const char* kind) {
  for (char& c : name) c = c == '{' ? '(' : c == '}' ? ')' : c;
  if (name.empty() || name == "world") name = name.empty() ? kind : name + "_link";
  std::string unique = name;
  for (int k = 2; !taken_.insert(unique).second; ++k) unique = name + "_" + std::to_string(k);
  return unique;
}

RobotLayout::RobotLayout(const Robot& given)
    : robot(given),
      pose(calc_link_poses(given, true)),
      reference(calc_link_poses(given, false)),
      owner(given.links.size()),
      moves(given.links.size(), false),
      body(given.links.size(), "world") {
  for (std::size_t i = 0; i < robot.links.size(); ++i) {
    const RobotLink& link = robot.links[i];
    const bool own = link.free || !link.joints.empty();
    const bool parent_moves = link.parent >= 0 && moves[owner[link.parent]];
    owner[i] = own || !parent_moves ? static_cast<int>(i) : owner[link.parent];
    moves[i] = own || parent_moves;
  }
}

Vec3 RobotLayout::calc_axis(std::size_t i, std::size_t j) const {
  const RobotLink& link = robot.links[i];
  const Pose parent = link.parent >= 0 ? pose[link.parent] : Pose{};
  const Pose before = move_by_joints(link, compose(parent, link.pose), j, true);
  return (before.orientation * link.joints[j].axis).normalized();
}

Vec3 RobotLayout::calc_anchor(std::size_t i, std::size_t j) const {
  const RobotLink& link = robot.links[i];
  const RobotJoint& joint = link.joints[j];
  const Pose parent = link.parent >= 0 ? pose[link.parent] : Pose{};
  const Pose before = move_by_joints(link, compose(parent, link.pose), j, true);
  const double by = joint.type == RobotJoint::Type::Slide ? joint.start - joint.reference : 0;
  return before.position + before.orientation * (joint.anchor + by * joint.axis);
}

Vec3 RobotLayout::calc_point(int link, const Vec3& p) const {
  return link < 0 ? p : Vec3(pose[link].position + pose[link].orientation * p);
}

const std::string& RobotLayout::body_of(int link) const {
  static const std::string kNowhere = "world";
  return link < 0 ? kNowhere : body[link];
}

}  // namespace slipstick
