#include <slipstick/model.h>

#include <algorithm>

namespace slipstick {

Pose calc_path_pose(const KinematicPath& path, const Pose& otherwise, double t) {
  Pose pose = otherwise;
  if (path.has_position) pose.position = Vec3(path.position[0].at(t), path.position[1].at(t), path.position[2].at(t));
  if (path.has_angle)
    pose.orientation = (Quat(Eigen::AngleAxisd(path.angle.at(t), path.axis)) * path.start).normalized();
  return pose;
}

std::string_view name_of(ShapeKind kind) {
  switch (kind) {
    case ShapeKind::Sphere:
      return "sphere";
    case ShapeKind::Box:
      return "box";
    case ShapeKind::Capsule:
      return "capsule";
    case ShapeKind::Plane:
      return "plane";
    case ShapeKind::Disk:
      return "disk";
    case ShapeKind::Polygon:
      return "polygon";
    case ShapeKind::Cylinder:
      return "cylinder";
    case ShapeKind::Cone:
      return "cone";
    case ShapeKind::Ellipsoid:
      return "ellipsoid";
    case ShapeKind::Hull:
      return "hull";
    case ShapeKind::Mesh:
      return "mesh";
    case ShapeKind::Heightfield:
      return "heightfield";
  }
  return "shape";
}

std::string_view name_of(ImpactLaw law) {
  switch (law) {
    case ImpactLaw::Poisson:
      return "poisson";
    case ImpactLaw::Newton:
      return "newton";
    case ImpactLaw::Simplified:
      return "simplified";
    case ImpactLaw::Moreau:
      return "moreau";
  }
  return "impact";
}

std::string_view name_of(JointKind kind) {
  constexpr std::array<std::string_view, kJointKinds> kNames{
      "ball",          "hinge",    "slider",  "fixed",   "rod",        "cylindrical",   "universal",
      "planar",        "rope",     "screw",   "gear",    "rack",       "differential",  "wheel",
      "point_on_line", "in_plane", "generic", "rolling", "knife_edge", "velocity_motor"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view name_of(Freedom freedom) {
  constexpr std::array<std::string_view, kFreedoms> kNames{"x", "y", "z", "rx", "ry", "rz", "length"};
  return kNames[static_cast<std::size_t>(freedom)];
}

std::optional<Freedom> find_freedom(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, Freedom>, 14> kNames{{{"slide", Freedom::Z},
                                                                         {"turn", Freedom::TurnZ},
                                                                         {"spin", Freedom::TurnX},
                                                                         {"steer", Freedom::TurnZ},
                                                                         {"travel", Freedom::Z},
                                                                         {"first", Freedom::TurnZ},
                                                                         {"second", Freedom::TurnX},
                                                                         {"length", Freedom::Length},
                                                                         {"x", Freedom::X},
                                                                         {"y", Freedom::Y},
                                                                         {"z", Freedom::Z},
                                                                         {"rx", Freedom::TurnX},
                                                                         {"ry", Freedom::TurnY},
                                                                         {"rz", Freedom::TurnZ}}};
  for (const auto& [known, freedom] : kNames)
    if (known == name) return freedom;
  return std::nullopt;
}

std::optional<Freedom> main_freedom(JointKind kind) {
  switch (kind) {
    case JointKind::Hinge:
    case JointKind::Cylindrical:
    case JointKind::Screw:
    case JointKind::Planar:
      return Freedom::TurnZ;
    case JointKind::Slider:
    case JointKind::PointOnLine:
      return Freedom::Z;
    case JointKind::Wheel:
      return Freedom::TurnX;
    case JointKind::Rod:
      return Freedom::Length;
    default:
      return std::nullopt;
  }
}

int row_count(const Joint& joint) {
  const auto locks = static_cast<int>(std::count(joint.lock.begin(), joint.lock.end(), true));
  switch (joint.kind) {
    case JointKind::Ball:
    case JointKind::Rolling:
      return 3;
    case JointKind::Hinge:
    case JointKind::Slider:
      return 5 + locks;
    case JointKind::Fixed:
      return 6;
    case JointKind::Rod:
      return joint.free[static_cast<std::size_t>(Freedom::Length)] ? locks : 1;
    case JointKind::KnifeEdge:
      return 1;
    case JointKind::Rope:
    case JointKind::Gear:
    case JointKind::Rack:
    case JointKind::Differential:
    case JointKind::VelocityMotor:
      return 0;
    default:
      return 6 - static_cast<int>(std::count(joint.free.begin(), joint.free.begin() + 6, true)) + locks;
  }
}

std::optional<int> Model::find_body(std::string_view wanted) const {
  if (wanted == "world") return kWorld;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    if (bodies[i].name == wanted) return static_cast<int>(i);
  }
  return std::nullopt;
}

std::string_view body_name(const Model& model, int body) {
  return body == kWorld ? std::string_view("world") : std::string_view(model.bodies[body].name);
}

}  // namespace slipstick
