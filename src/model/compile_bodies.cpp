// Bodies: mass, locks, and where they start.
#include <slipstick/surface.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <span>

#include "model/compile_parts.h"
#include "model/mass_properties.h"

namespace slipstick {
namespace {

// A rotation counts as one about z, and a speed as none, up to the rounding of what a person can write.
constexpr double kTurnTolerance = 1e-9;
constexpr double kSpeedTolerance = 1e-12;
constexpr std::array<const char*, 6> kLockNames{"x", "y", "z", "rx", "ry", "rz"};

/// The body's frame at t = 0, with the quaternion a unit one; in a plane exactly one about z.
Pose calc_frame(const BodyDescription& given, bool planar, ItemCheck* check) {
  Pose frame;
  if (check->finite("position", given.pose.position)) {
    frame.position = given.pose.position;
    if (planar) check->in_plane("position", frame.position);
  }
  const Quat& q = given.pose.orientation;
  if (!q.coeffs().allFinite() || !(q.norm() > 0)) {
    check->fail("orientation", "orientation must be a quaternion other than zero");
    return frame;
  }
  frame.orientation = q.normalized();
  if (!planar) return frame;
  if (std::hypot(frame.orientation.x(), frame.orientation.y()) > kTurnTolerance) {
    check->fail("orientation", "orientation must be a turn about z in a planar model");
  }
  frame.orientation = Quat(frame.orientation.w(), 0, 0, frame.orientation.z()).normalized();
  return frame;
}

/// Where a kinematic body is prescribed to be.
void check_path(const BodyDescription& given, bool planar, ItemCheck* check) {
  const KinematicPath& path = given.path;
  const auto free = [&](const char* key, std::span<const Expression> formulas) {
    for (const Expression& each : formulas)
      if (each.has_readings()) return check->fail(key, "a prescribed motion may depend on t, not on sensors");
  };
  free("kinematic_velocity", given.kinematic_velocity);
  free("kinematic_angular_velocity", given.kinematic_angular_velocity);
  free("kinematic_position", path.position);
  free("kinematic_angle", {&path.angle, 1});
  if (path.has_position) {
    check->finite("kinematic_position", path.position, "kinematic position");
    if (planar && path.position[2].at(0) != 0)
      check->fail("kinematic_position", "its kinematic motion leaves the x-y plane of a planar model");
  }
  if (!path.has_angle) return;
  check->finite("kinematic_angle", path.angle.at(0), "kinematic angle");
  if (!(path.axis.stableNorm() > 0) || !path.axis.allFinite())
    check->fail("kinematic_axis", "the axis of a kinematic turn must not be zero");
  if (planar && (path.axis.x() != 0 || path.axis.y() != 0))
    check->fail("kinematic_axis", "a turn in a planar model is about z");
}

void check_motion(const BodyDescription& given, bool planar, ItemCheck* check) {
  const bool good =
      check->finite("velocity", given.velocity) & check->finite("angular_velocity", given.angular_velocity);
  if (!good) return;
  const bool moves = !given.velocity.isZero(0) || !given.angular_velocity.isZero(0);
  const char* moving = given.velocity.isZero(0) ? "angular_velocity" : "velocity";
  if (moves && given.kind == BodyKind::Fixed) {
    check->fail(moving, "a fixed body has no velocity; leave it out, or make the body kinematic");
  }
  if (moves && given.kind == BodyKind::Kinematic) {
    check->fail(moving, "the velocity of a kinematic body is the one under `kinematic`; leave the other out");
  }
  if (given.kind == BodyKind::Kinematic) {
    check_path(given, planar, check);
    check->finite("kinematic_velocity", given.kinematic_velocity, "kinematic velocity");
    check->finite("kinematic_angular_velocity", given.kinematic_angular_velocity, "kinematic angular_velocity");
    const bool leaves = given.kinematic_velocity[2].at(0) != 0 || given.kinematic_angular_velocity[0].at(0) != 0 ||
                        given.kinematic_angular_velocity[1].at(0) != 0;
    if (planar && leaves)
      check->fail("kinematic_velocity", "its kinematic motion leaves the x-y plane of a planar model");
  }
  if (planar && (given.velocity.z() != 0 || given.angular_velocity.x() != 0 || given.angular_velocity.y() != 0)) {
    check->fail(given.velocity.z() != 0 ? "velocity" : "angular_velocity",
                "its velocity leaves the x-y plane of a planar model");
  }
}

/// Columns: the free directions. Translations along world axes; rotations about the axes that world has in the body at
/// t = 0. Without a locked rotation the body's own axes serve as well, and are exact.
void update_free_basis(const std::array<bool, 6>& lock, const Quat& orientation, Body* body) {
  body->dof = static_cast<int>(std::count(lock.begin(), lock.end(), false));
  if (body->dof == 6) return;
  Mat6 basis = Mat6::Zero();
  int column = 0;
  for (int i = 0; i < 3; ++i) {
    if (!lock[i]) basis(i, column++) = 1;
  }
  const bool any = lock[3] || lock[4] || lock[5];
  const Mat3 axes = any ? orientation.conjugate().toRotationMatrix() : Mat3(Mat3::Identity());
  for (int i = 0; i < 3; ++i) {
    if (!lock[3 + i]) basis.col(column++).tail<3>() = axes.col(i);
  }
  body->locked_basis = std::make_shared<const Mat6>(basis);
}

/// Bodies of a planar scene have all the same one.
void share_basis(std::span<const Body> others, Body* body) {
  if (others.empty() || !body->locked_basis || !others.back().locked_basis) return;
  if (*body->locked_basis == *others.back().locked_basis) body->locked_basis = others.back().locked_basis;
}

/// Velocity of the centre of mass and body angular velocity; no part of it along a lock.
Twist calc_start(const BodyDescription& given, const std::array<bool, 6>& lock, const Pose& frame, const Body& body,
                 ItemCheck* check) {
  const Vec3 arm = frame.orientation * body.center_of_mass;
  const Vec3 linear = given.velocity + given.angular_velocity.cross(arm);
  const double largest = std::max(given.velocity.norm() + given.angular_velocity.norm() * arm.norm(), 1e-300);
  const double fastest = std::max(given.angular_velocity.norm(), 1e-300);
  Vec6 v;
  for (int i = 0; i < 6; ++i) {
    const double speed = i < 3 ? linear[i] : given.angular_velocity[i - 3];
    if (!lock[i] || std::abs(speed) <= kSpeedTolerance * (i < 3 ? largest : fastest)) continue;
    check->fail(i < 3 && !given.velocity.isZero(0) ? "velocity" : "angular_velocity",
                std::string("moves along its locked ") + kLockNames[i] + " at " + as_text(speed) +
                    "; make that velocity zero, or remove the lock");
  }
  v.head<3>() = linear;
  v.tail<3>() = frame.orientation.conjugate() * given.angular_velocity;
  if (body.dof < 6) v = body.free_basis() * (body.free_basis().transpose() * v);
  return {v.head<3>(), v.tail<3>()};
}

void set_mass(const MassProperties& matter, Body* body) {
  body->mass = matter.mass;
  body->center_of_mass = matter.center;
  body->inertia = matter.inertia;
  if (matter.inertia.isZero(0)) return;  // a point mass: its rotation is locked
  const Mat3 inverse = matter.inertia.inverse();
  body->inertia_inverse = (inverse + inverse.transpose()) / 2;
}

/// Farthest point of a shape from the centre of mass.
double calc_reach(const Model& model, const Shape& shape) {
  const Vec3& p = shape.pose.position;
  double far = 0;
  switch (shape.kind) {
    case ShapeKind::Sphere:
    case ShapeKind::Disk:
      return p.norm() + shape.radius;
    case ShapeKind::Capsule: {
      const Vec3 end = shape.pose.orientation * Vec3(0, 0, shape.half_length);
      return std::max((p + end).norm(), (p - end).norm()) + shape.radius;
    }
    case ShapeKind::Box: {  // the corner away from the centre on every axis
      const Vec3 own = shape.pose.orientation.conjugate() * p;
      return (own.cwiseAbs() + shape.half_size).norm();
    }
    case ShapeKind::Polygon:
      for (int k = 0; k < shape.point_count; ++k) {
        const Vec2& corner = model.points[shape.first_point + k];
        far = std::max(far, (p + shape.pose.orientation * Vec3(corner.x(), corner.y(), 0)).norm());
      }
      return far;
    case ShapeKind::Cylinder:
    case ShapeKind::Cone: {
      const Vec3 own = shape.pose.orientation.conjugate() * p;
      return std::hypot(own.head<2>().norm() + shape.radius, std::abs(own.z()) + shape.half_length);
    }
    case ShapeKind::Ellipsoid:
      return p.norm() + shape.half_size.maxCoeff();
    case ShapeKind::Hull:
      for (const Vec3& corner : model.hulls[shape.hull].vertices) {
        far = std::max(far, (p + shape.pose.orientation * corner).norm());
      }
      return far;
    case ShapeKind::Mesh:
    case ShapeKind::Heightfield:
      for (const Vec3& v : model.surfaces[shape.surface]->vertices) {
        far = std::max(far, (p + shape.pose.orientation * v).norm());
      }
      return far;
    case ShapeKind::Plane:
      break;
  }
  return 0;
}

/// Moves the body's shapes from the frame of the description to the centre of mass.
void centre_shapes(Body* body, Model* model) {
  bool bounded = true;
  for (int k = body->first_shape; k < body->first_shape + body->shape_count; ++k) {
    Shape& shape = model->shapes[k];
    shape.pose.position -= body->center_of_mass;
    bounded &= shape.kind != ShapeKind::Plane;
    body->reach_radius = std::max(body->reach_radius, calc_reach(*model, shape));
  }
  if (!bounded) body->reach_radius = 0;
}

std::array<bool, 6> calc_locks(const BodyDescription& given, bool planar) {
  std::array<bool, 6> lock = given.lock;
  if (planar) lock[2] = lock[3] = lock[4] = true;
  return lock;
}

void compile_body(int i, Compilation* c) {
  const BodyDescription& given = c->description.bodies[i];
  const bool planar = c->model.planar;
  ItemCheck check(given.source, "body " + as_quoted(c->body_names[i]), &c->faults);
  Body body;
  body.name = c->body_names[i];
  body.kind = given.kind;
  if (!given.group.empty()) {
    body.group = c->group_index.try_emplace(given.group, static_cast<int>(c->group_index.size())).first->second;
  }
  check.finite("gravity_scale", given.gravity_scale);
  body.gravity_scale = given.gravity_scale;
  const Pose frame = calc_frame(given, planar, &check);
  check_motion(given, planar, &check);
  body.first_shape = static_cast<int>(c->model.shapes.size());
  const bool shapes_good = compile_shapes(i, &check, c);
  body.shape_count = static_cast<int>(c->model.shapes.size()) - body.first_shape;

  Pose pose = frame;
  Twist start;
  if (given.kind == BodyKind::Dynamic) {
    const std::array<bool, 6> lock = calc_locks(given, planar);
    if (shapes_good) {
      if (const auto matter = calc_body_mass(given, lock, planar, &check)) set_mass(*matter, &body);
    }
    update_free_basis(lock, frame.orientation, &body);
    if (check.good()) start = calc_start(given, lock, frame, body, &check);
    pose.position += frame.orientation * body.center_of_mass;
  } else {  // its frame serves as its centre of mass: prescribed motion is that of the frame
    body.dof = 0;
    body.locked_basis = std::make_shared<const Mat6>(Mat6::Zero());
    if (given.kind == BodyKind::Kinematic) {
      KinematicMotion motion{given.kinematic_velocity, given.kinematic_angular_velocity, given.path};
      for (int k = 0; k < 3; ++k) {
        start.linear[k] = given.kinematic_velocity[k].at(0);
        start.angular[k] = given.kinematic_angular_velocity[k].at(0);
      }
      start.angular = frame.orientation.conjugate() * start.angular;
      motion.path.axis = given.path.axis.stableNormalized();
      motion.path.start = frame.orientation;
      pose = calc_path_pose(motion.path, frame, 0);
      body.motion = std::make_shared<const KinematicMotion>(std::move(motion));
    }
  }
  share_basis(c->model.bodies, &body);
  centre_shapes(&body, &c->model);
  c->model.dof += body.dof;
  c->model.bodies.push_back(std::move(body));
  c->initial.pose.push_back(pose);
  c->initial.velocity.push_back(start);
}

}  // namespace

void compile_bodies(Compilation* c) {
  c->model.bodies.reserve(c->description.bodies.size());
  for (std::size_t i = 0; i < c->description.bodies.size(); ++i) compile_body(static_cast<int>(i), c);
}

}  // namespace slipstick
