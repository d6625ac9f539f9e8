// What URDF and MJCF have in common: links in a tree, joints that move a link against its parent, shapes, matter. The
// readers fill it; `build_robot` makes the bodies and joints of a scene of it.
#pragma once

#include <slipstick/app/import.h>
#include <slipstick/model.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "scene/scene_faults.h"

namespace slipstick {

struct XmlElement;
struct XmlAttribute;

/// Faults, the report, and the places that tags stand for.
struct ImportContext {
  SceneFaults faults;
  ImportReport report;
  struct Place {
    int file = 0, line = 0, column = 0;
  };
  std::vector<Place> places;

  SourceTag add_place(const XmlElement& at, const std::string& label);
  SourcePlace place_of(const XmlElement& at) const;
  SourcePlace place_of(const XmlAttribute& at) const;
  SourcePlace place_of(SourceTag source) const;
  void fail(SourceTag source, const std::string& message);
  void ignore(SourcePlace place, std::string what, std::string why) {
    report.ignored.push_back({std::move(place), std::move(what), std::move(why)});
  }
  void note(SourcePlace place, std::string what, std::string why) {
    report.notes.push_back({std::move(place), std::move(what), std::move(why)});
  }
  /// Lists what nobody asked for: elements, and attributes of those that were read.
  void list_unused(const XmlElement& root,
                   std::string (*why)(const std::string& element, const std::string& attribute));
};

struct RobotJoint {
  enum class Type : std::uint8_t { Hinge, Slide, Ball };
  Type type = Type::Hinge;
  std::string name;
  Vec3 anchor = Vec3::Zero();    ///< in the link's frame
  Vec3 axis = Vec3::UnitZ();     ///< unit, in the link's frame
  double reference = 0;          ///< the coordinate where the link is at its pose
  double start = 0;              ///< the coordinate at t = 0
  Quat turn = Quat::Identity();  ///< ball: at t = 0
  double speed = 0;
  Vec3 spin = Vec3::Zero();              ///< ball: angular velocity in the link's frame
  AxisDescription axis_data;             ///< limits, motor, friction, spring, armature
  std::optional<double> actuator_bound;  ///< of all actuators together, N or N m
  SourceTag source = -1;
};

struct RobotLink {
  std::string name;
  int parent = -1;  ///< index of a link before this one; -1: the world
  Pose pose;        ///< in the parent's frame, joints at their reference
  bool free = false;
  Vec3 velocity = Vec3::Zero(), angular_velocity = Vec3::Zero();  ///< free: world
  std::vector<RobotJoint> joints;                                 ///< the first is the nearest to the parent
  MassProperties matter;                                          ///< in the link's frame
  std::vector<ShapeDescription> shapes;
  double gravity_scale = 1;
  SourceTag source = -1;
  bool is_world = false;  ///< the world's own shapes: what is jointed to it may touch it
};

/// Two links held together at a point (or altogether) in the reference configuration.
struct RobotLoop {
  bool weld = false;
  std::string name;
  int a = -1, b = -1;         ///< -1: the world
  Vec3 point = Vec3::Zero();  ///< in a's frame
  SourceTag source = -1;
};

/// joint 1 = polynomial of joint 2; an empty joint 2: a constant.
struct RobotCoupling {
  std::string name, joint1, joint2;
  std::vector<double> polynomial;
  SourceTag source = -1;
};

struct RobotRope {
  std::string name;
  int a = -1, b = -1;
  Vec3 at_a = Vec3::Zero(), at_b = Vec3::Zero();  ///< in the links' frames
  double length = 0;
  double stiffness = 0, damping = 0;
  bool is_spring = false;
  SourceTag source = -1;
};

struct Robot {
  std::string name;
  Vec3 gravity{0, 0, -9.81};
  std::vector<RobotLink> links;
  std::vector<RobotLoop> loops;
  std::vector<RobotCoupling> couplings;
  std::vector<RobotRope> ropes;
  std::vector<std::array<int, 2>> excludes;
  std::vector<Material> materials;
  std::vector<MaterialPairDescription> material_pairs;
  bool repair_inertia = false;  ///< bodies without a good inertia get one
};

Pose compose(const Pose& outer, const Pose& inner);
/// The link's frame after its first `count` joints have moved it away from `at`, where they are at their reference.
Pose move_by_joints(const RobotLink& link, Pose at, std::size_t count, bool at_start);
/// Normalized until normalizing changes no bit any more: what is written and read again stays the same.
Quat settle(const Quat& q);
/// Where the links are with joints at their reference, or at t = 0.
std::vector<Pose> calc_link_poses(const Robot& robot, bool at_start);

/// What the joint has to accelerate in the reference configuration, with all joints beyond it at rest: kg or kg m^2,
/// its armature included. `joint`: link, and index there.
double calc_axis_inertia(const Robot& robot, const std::array<int, 2>& joint);

void build_robot(const Robot& robot, ImportContext* context, ModelDescription* out);

}  // namespace slipstick
