// Small pieces of descriptions that the tests of this room put together.
#pragma once

#include <slipstick/model.h>

#include <initializer_list>
#include <string>

namespace slipstick::test {

inline ShapeDescription sphere(double radius) {
  ShapeDescription shape;
  shape.kind = ShapeKind::Sphere;
  shape.radius = radius;
  return shape;
}

inline ShapeDescription box(const Vec3& size) {
  ShapeDescription shape;
  shape.kind = ShapeKind::Box;
  shape.size = size;
  return shape;
}

inline ShapeDescription capsule(double radius, double length) {
  ShapeDescription shape;
  shape.kind = ShapeKind::Capsule;
  shape.radius = radius;
  shape.length = length;
  return shape;
}

inline ShapeDescription plane(const Vec3& normal, double offset) {
  ShapeDescription shape;
  shape.kind = ShapeKind::Plane;
  shape.normal = normal;
  shape.offset = offset;
  return shape;
}

inline ShapeDescription disk(double radius) {
  ShapeDescription shape;
  shape.kind = ShapeKind::Disk;
  shape.radius = radius;
  return shape;
}

inline ShapeDescription polygon(std::initializer_list<Vec2> points) {
  ShapeDescription shape;
  shape.kind = ShapeKind::Polygon;
  shape.points = points;
  return shape;
}

inline BodyDescription body(const std::string& name, double mass, std::initializer_list<ShapeDescription> shapes) {
  BodyDescription made;
  made.name = name;
  made.mass = mass;
  made.shapes = shapes;
  return made;
}

inline BodyDescription fixed(const std::string& name, std::initializer_list<ShapeDescription> shapes) {
  BodyDescription made;
  made.name = name;
  made.kind = BodyKind::Fixed;
  made.shapes = shapes;
  return made;
}

inline JointDescription joint(JointKind kind, const std::string& name, const std::string& a, const std::string& b) {
  JointDescription made;
  made.kind = kind;
  made.name = name;
  made.a = a;
  made.b = b;
  made.at_b = Vec3(0, 0, 1);
  return made;
}

inline Quat turn(const Vec3& axis, double angle) { return Quat(Eigen::AngleAxisd(angle, axis.normalized())); }

}  // namespace slipstick::test
