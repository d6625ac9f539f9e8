// Room: scene. Scenes made by a program: a Builder says what a scene file says, with the same checks (docs/library.md).
#pragma once

#include <slipstick/scene.h>

#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace slipstick {

// Shapes about the origin of their body, sizes in m. Their other members (pose, material, density, color) may be set.
ShapeDescription make_sphere(double radius);
ShapeDescription make_box(const Vec3& size);
ShapeDescription make_capsule(double radius, double length);   ///< length of the straight part, along z
ShapeDescription make_cylinder(double radius, double length);  ///< along z
ShapeDescription make_cone(double radius, double length);      ///< its tip at +z
ShapeDescription make_ellipsoid(const Vec3& size);
ShapeDescription make_plane(const Vec3& normal = Vec3::UnitZ(),
                            double offset = 0);  ///< solid below normal . p = offset
ShapeDescription make_hull(std::vector<Vec3> points);
ShapeDescription make_disk(double radius);                  ///< planar
ShapeDescription make_polygon(std::vector<Vec2> vertices);  ///< planar, convex

/// A motor with a bounded force (N, or N m of a turn). `target` in m/s or rad/s; position: m or rad.
Motor make_speed_motor(double target, double max);
Motor make_position_motor(double target, double max);

/// What is on the axis that a joint is known for (a hinge's turn, a slider's slide, a rod's length): limits, motor,
/// friction, spring. Made at the first call.
AxisDescription& main_axis(JointDescription* joint);

/// The references that its methods return stay good as long as the Builder, and all members may be changed through them
/// until `compile`. Names are free; joints and springs take bodies by name, "world" is the world.
class Builder {
 public:
  std::string name;
  Vec3 gravity{0, 0, -9.81};
  bool planar = false;
  SimulationOptions options;

  /// A dynamic body; it needs a mass, or a density (its own or its shapes').
  BodyDescription& body(std::string name, const Vec3& position, std::vector<ShapeDescription> shapes = {});
  BodyDescription& fixed(std::string name, const Vec3& position, std::vector<ShapeDescription> shapes);
  /// The solid half space below z = 0 (planar: y = 0), a fixed body "ground".
  BodyDescription& ground();

  JointDescription& ball(std::string name, std::string a, std::string b, const Vec3& at);
  JointDescription& hinge(std::string name, std::string a, std::string b, const Vec3& at, const Vec3& axis);
  JointDescription& slider(std::string name, std::string a, std::string b, const Vec3& at, const Vec3& axis);
  JointDescription& weld(std::string name, std::string a, std::string b, const Vec3& at);
  JointDescription& rod(std::string name, std::string a, std::string b, const Vec3& at_a, const Vec3& at_b);
  JointDescription& rope(std::string name, std::string a, std::string b, const Vec3& at_a, const Vec3& at_b);
  /// Any other kind; the caller sets what it needs.
  JointDescription& joint(JointKind kind, std::string name, std::string a, std::string b, const Vec3& at);

  SpringDescription& spring(std::string name, std::string a, std::string b, const Vec3& at_a, const Vec3& at_b,
                            double stiffness, double damping = 0);
  LoadDescription& load(std::string name, std::string body, const Vec3& force);
  Material& material(std::string name, double friction, double restitution = 0);
  void no_contact(std::string a, std::string b);

  /// A formula of t ("0.2*sin(t)") for targets, loads and prescribed motions. Faults of its text are `compile`'s.
  Expression formula(std::string_view text);

  /// The scene, or all that is wrong with it.
  Result<Scene> compile() const;

 private:
  std::deque<BodyDescription> bodies_;
  std::deque<JointDescription> joints_;
  std::deque<SpringDescription> springs_;
  std::deque<LoadDescription> loads_;
  std::deque<Material> materials_;
  std::vector<std::array<std::string, 2>> pairs_without_contact_;
  Faults faults_;
};

}  // namespace slipstick
