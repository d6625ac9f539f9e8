// The ways of writing an orientation.
#include <cmath>
#include <numbers>

#include "scene/scene_item.h"

namespace slipstick {
namespace {

constexpr double kDegree = std::numbers::pi / 180;

/// A turn by `angle` about a unit axis.
Quat make_turn(double angle, const Vec3& axis) {
  const double s = std::sin(angle / 2);
  return {std::cos(angle / 2), s * axis.x(), s * axis.y(), s * axis.z()};
}

/// KEY_deg or KEY_rad, whichever is there, as the factor to radians; 0 and a fault if neither or both are.
double find_unit(const SceneItem& item, const std::string& key, const SceneNode** node) {
  const SceneNode* degrees = item.find(key + "_deg");
  const SceneNode* radians = item.find(key + "_rad");
  if ((degrees != nullptr) == (radians != nullptr)) {
    item.fault(item.node(), degrees != nullptr
                                ? "give '" + key + "_deg' or '" + key + "_rad' in " + item.label() + ", not both"
                                : "missing key '" + key + "_deg' in " + item.label());
    return 0;
  }
  *node = degrees != nullptr ? degrees : radians;
  return degrees != nullptr ? kDegree : 1;
}

std::optional<Quat> read_axis_angle(const SceneItem& item, bool planar) {
  item.check_keys({"axis", "angle_deg", "angle_rad"});
  const SceneNode* node = nullptr;
  const double unit = find_unit(item, "angle", &node);
  Vec3 axis = Vec3::UnitZ();
  if (const SceneNode* given = item.find("axis")) {
    const auto values = item.as_numbers(*given, "axis", {3});
    if (!values) return std::nullopt;
    axis = Vec3((*values)[0], (*values)[1], (*values)[2]);
    if (!(axis.norm() > 0)) {
      item.fault(*given, "'axis' in " + item.label() + " must not be zero");
      return std::nullopt;
    }
  } else if (!planar && !item.require("axis")) {
    return std::nullopt;
  }
  const auto angle = node != nullptr ? item.as_number(*node, "angle") : std::nullopt;
  if (!angle) return std::nullopt;
  return make_turn(*angle * unit, axis.normalized());
}

/// Roll, pitch, yaw about the fixed x, y, z axes in turn: R = Rz(yaw) Ry(pitch) Rx(roll).
std::optional<Quat> read_rpy(const SceneItem& item) {
  item.check_keys({"rpy_deg", "rpy_rad"});
  const SceneNode* node = nullptr;
  const double unit = find_unit(item, "rpy", &node);
  const auto angles = node != nullptr ? item.as_numbers(*node, "rpy", {3}) : std::nullopt;
  if (!angles) return std::nullopt;
  return make_turn((*angles)[2] * unit, Vec3::UnitZ()) * make_turn((*angles)[1] * unit, Vec3::UnitY()) *
         make_turn((*angles)[0] * unit, Vec3::UnitX());
}

std::optional<Quat> read_quaternion(const SceneItem& item, const SceneNode& node) {
  const auto q = item.as_numbers(node, "orientation", {4});
  if (!q) return std::nullopt;
  const Quat result((*q)[0], (*q)[1], (*q)[2], (*q)[3]);
  if (result.norm() > 0) return result.normalized();
  item.fault(node, "'orientation' in " + item.label() + " must be a quaternion other than zero");
  return std::nullopt;
}

}  // namespace

bool SceneItem::orientation(std::string_view key, Quat* out) const {
  const SceneNode* node = find(key);
  if (node == nullptr) return false;
  std::optional<Quat> result;
  if (node->is_list()) {
    result = read_quaternion(*this, *node);
  } else if (node->is_map()) {
    SceneMap map{node, {}};
    for (std::size_t i = 0; i + 1 < node->items.size(); i += 2) {
      map.entries.push_back({node->items[i], node->items[i + 1]});
    }
    const SceneItem inner(reading_, map, "orientation of " + label_);
    result = inner.has("rpy_deg") || inner.has("rpy_rad") ? read_rpy(inner) : read_axis_angle(inner, reading_.planar);
  } else if (reading_.planar) {
    if (const auto angle = as_number(*node, key)) result = make_turn(*angle * kDegree, Vec3::UnitZ());
  } else {
    expected(*node, "[w, x, y, z], {axis, angle_deg} or {rpy_deg}", key);
  }
  if (result) *out = *result;
  return result.has_value();
}

}  // namespace slipstick
