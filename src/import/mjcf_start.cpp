#include "import/mjcf_start.h"

#include <algorithm>

#include "base/as_quoted.h"

namespace slipstick {

void MjcfStart::read(const std::string& wanted) {
  std::vector<const XmlElement*> keys;
  for (const XmlElement* xml : tree_.section("keyframe"))
    if (xml->name == "key") keys.push_back(xml);
  const XmlElement* chosen = nullptr;
  for (std::size_t k = 0; k < keys.size(); ++k) {
    const XmlAttribute* name = keys[k]->find("name");
    if (!wanted.empty() && ((name != nullptr && name->value == wanted) || wanted == std::to_string(k)))
      chosen = keys[k];
  }
  if (!wanted.empty() && chosen == nullptr) {
    std::string known;
    for (const XmlElement* xml : keys)
      if (const XmlAttribute* name = xml->find("name")) known += (known.empty() ? "" : ", ") + name->value;
    return context_.faults.add_unplaced(
        0, "--key " + as_quoted(wanted) + ": no such keyframe" + (known.empty() ? "" : " (known: " + known + ")"));
  }
  if (chosen == nullptr && !keys.empty() && starts_outside()) {
    chosen = keys.front();
    const XmlAttribute* name = chosen->find("name");
    context_.note(context_.place_of(*chosen), "key " + as_quoted(name != nullptr ? name->value : "0"),
                  "is the start, for some joint's range does not hold its reference (--key chooses another)");
  }
  for (const XmlElement* xml : keys)
    if (xml != chosen) xml->used = false;
  if (chosen != nullptr) apply_key(*chosen);
}

bool MjcfStart::starts_outside() const {
  for (const RobotLink& link : robot_.links)
    for (const RobotJoint& joint : link.joints) {
      const auto& limits = joint.axis_data.limits;
      if (limits && (joint.start < (*limits)[0] - 1e-6 || joint.start > (*limits)[1] + 1e-6)) return true;
    }
  return false;
}

void MjcfStart::apply_key(const XmlElement& xml) {
  const ImportElement key(xml, &context_.faults);
  key.check_names({"name", "time", "qpos", "qvel", "act", "ctrl", "mpos", "mquat"});
  key.find("name");
  std::size_t nq = 0, nv = 0;
  for (const auto& [link, joint] : order_) {
    const bool ball = joint >= 0 && robot_.links[link].joints[joint].type == RobotJoint::Type::Ball;
    nq += joint < 0 ? 7 : ball ? 4 : 1;
    nv += joint < 0 ? 6 : ball ? 3 : 1;
  }
  std::vector<double> q, v;
  if (key.numbers("qpos", nq, nq, &q)) set_positions(q);
  if (key.numbers("qvel", nv, nv, &v)) set_speeds(v);
  key.numbers("ctrl", 0, 100000, &controls_);
}

void MjcfStart::set_positions(const std::vector<double>& q) {
  std::size_t at = 0;
  for (const auto& [index, joint] : order_) {
    RobotLink& link = robot_.links[index];
    if (joint < 0) {
      link.pose.position = Vec3(q[at], q[at + 1], q[at + 2]);
      link.pose.orientation = Quat(q[at + 3], q[at + 4], q[at + 5], q[at + 6]).normalized();
      at += 7;
    } else if (link.joints[joint].type == RobotJoint::Type::Ball) {
      link.joints[joint].turn = Quat(q[at], q[at + 1], q[at + 2], q[at + 3]).normalized();
      at += 4;
    } else {
      link.joints[joint].start = q[at++];
    }
  }
}

void MjcfStart::set_speeds(const std::vector<double>& v) {
  std::size_t at = 0;
  for (const auto& [index, joint] : order_) {
    RobotLink& link = robot_.links[index];
    if (joint < 0) {
      link.velocity = Vec3(v[at], v[at + 1], v[at + 2]);
      link.angular_velocity = link.pose.orientation * Vec3(v[at + 3], v[at + 4], v[at + 5]);
      at += 6;
    } else if (link.joints[joint].type == RobotJoint::Type::Ball) {
      link.joints[joint].spin = Vec3(v[at], v[at + 1], v[at + 2]);
      at += 3;
    } else {
      link.joints[joint].speed = v[at++];
    }
  }
}

/// Ranges that do not hold the start.
void MjcfStart::hold_ranges() {
  for (RobotLink& link : robot_.links)
    for (RobotJoint& joint : link.joints) {
      const auto& limits = joint.axis_data.limits;
      if (!limits) continue;
      const double inside = std::clamp(joint.start, (*limits)[0], (*limits)[1]);
      if (inside == joint.start) continue;
      const ImportContext::Place& at = context_.places[joint.source];
      context_.note(
          {context_.faults.file_name(at.file), at.line, at.column}, "joint " + as_quoted(joint.name),
          "starts at " + std::to_string(inside) + ", the end of its range, instead of " + std::to_string(joint.start));
      joint.start = inside;
    }
}

}  // namespace slipstick
