#include "unit/collision/collision_support.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numbers>

namespace slipstick::test {

int calc_poses(int usual) {
  const char* const asked = std::getenv("SLIPSTICK_POSES");
  return asked ? std::atoi(asked) : usual;
}

int World::add_body(BodyKind kind, const Pose& pose, double body_reach) {
  Body body;
  body.kind = kind;
  body.mass = kind == BodyKind::Dynamic ? 1 : 0;
  body.dof = kind == BodyKind::Dynamic ? 6 : 0;
  model.bodies.push_back(body);
  state.pose.push_back(pose);
  state.velocity.emplace_back();
  reach.push_back(body_reach);
  return static_cast<int>(model.bodies.size()) - 1;
}

int World::add_shape(int body, Shape shape, const std::vector<Vec2>& points, const Hull& hull) {
  shape.body = body;
  shape.first_point = static_cast<int>(model.points.size());
  shape.point_count = static_cast<int>(points.size());
  model.points.insert(model.points.end(), points.begin(), points.end());
  switch (shape.kind) {
    case ShapeKind::Sphere:
    case ShapeKind::Disk:
      shape.bound = shape.radius;
      break;
    case ShapeKind::Box:
      shape.bound = shape.half_size.norm();
      break;
    case ShapeKind::Capsule:
      shape.bound = shape.radius + shape.half_length;
      break;
    case ShapeKind::Plane:
      shape.bound = std::numeric_limits<double>::infinity();
      break;
    case ShapeKind::Polygon:
      for (const Vec2& p : points) shape.bound = std::max(shape.bound, p.norm());
      break;
    case ShapeKind::Cylinder:
    case ShapeKind::Cone:
      shape.bound = std::hypot(shape.radius, shape.half_length);
      break;
    case ShapeKind::Ellipsoid:
      shape.bound = shape.half_size.maxCoeff();
      break;
    case ShapeKind::Hull:
      for (const Vec3& p : hull.vertices) shape.bound = std::max(shape.bound, p.norm());
      shape.hull = static_cast<int>(model.hulls.size());
      model.hulls.push_back(hull);
      break;
    default:
      break;  // surfaces: add_surface
  }
  model.planar = model.planar || shape.kind == ShapeKind::Disk || shape.kind == ShapeKind::Polygon;
  model.shapes.push_back(shape);
  return static_cast<int>(model.shapes.size()) - 1;
}

int World::add_surface(int body, const std::shared_ptr<const Surface>& surface, bool field) {
  Shape shape;
  shape.kind = field ? ShapeKind::Heightfield : ShapeKind::Mesh;
  shape.surface = static_cast<int>(model.surfaces.size());
  model.surfaces.push_back(surface);
  const int s = add_shape(body, shape);
  for (const Vec3& p : surface->vertices) model.shapes[s].bound = std::max(model.shapes[s].bound, p.norm());
  return s;
}

Solid make_sphere(double radius) {
  Solid s;
  s.shape.kind = ShapeKind::Sphere;
  s.shape.radius = radius;
  return s;
}

Solid make_box(const Vec3& half_size) {
  Solid s;
  s.shape.kind = ShapeKind::Box;
  s.shape.half_size = half_size;
  return s;
}

Solid make_capsule(double radius, double half_length) {
  Solid s;
  s.shape.kind = ShapeKind::Capsule;
  s.shape.radius = radius;
  s.shape.half_length = half_length;
  return s;
}

Solid make_plane() {
  Solid s;
  s.shape.kind = ShapeKind::Plane;
  return s;
}

Solid make_disk(double radius) {
  Solid s = make_sphere(radius);
  s.shape.kind = ShapeKind::Disk;
  return s;
}

Solid make_cylinder(double radius, double half_length) {
  Solid s = make_capsule(radius, half_length);
  s.shape.kind = ShapeKind::Cylinder;
  return s;
}

Solid make_cone(double radius, double half_length) {
  Solid s = make_capsule(radius, half_length);
  s.shape.kind = ShapeKind::Cone;
  return s;
}

Solid make_ellipsoid(const Vec3& half_size) {
  Solid s = make_box(half_size);
  s.shape.kind = ShapeKind::Ellipsoid;
  return s;
}

Solid make_hull_solid(const std::vector<Vec3>& points) {
  Solid s;
  s.shape.kind = ShapeKind::Hull;
  s.hull = make_hull(points).hull;
  return s;
}

Solid make_polygon(const std::vector<Vec2>& points) {
  Solid s;
  s.shape.kind = ShapeKind::Polygon;
  s.points = points;
  return s;
}

Solid make_rectangle(double x, double y) { return make_polygon({Vec2(-x, -y), Vec2(x, -y), Vec2(x, y), Vec2(-x, y)}); }

World make_pair_world(const Solid& a, const Pose& pose_a, const Solid& b, const Pose& pose_b, double reach) {
  World world;
  const auto add = [&](const Solid& solid, const Pose& pose) {
    const bool plane = solid.shape.kind == ShapeKind::Plane;
    const int body = world.add_body(plane ? BodyKind::Fixed : BodyKind::Dynamic, pose, reach / 2);
    if (solid.surface) {
      world.add_surface(body, solid.surface, solid.shape.kind == ShapeKind::Heightfield);
    } else {
      world.add_shape(body, solid.shape, solid.points, solid.hull);
    }
  };
  add(a, pose_a);
  add(b, pose_b);
  return world;
}

std::vector<Contact> find_contacts(const World& world) {
  ContactFinder finder(world.model);
  ContactSet set;
  finder.find(world.state, world.reach, &set);
  return set.contacts;
}

const Contact& least(const std::vector<Contact>& contacts) {
  return *std::min_element(contacts.begin(), contacts.end(),
                           [](const Contact& x, const Contact& y) { return x.gap < y.gap; });
}

GapRate calc_gap_rate(const World& world, const Contact& c, const std::array<Vec3, 2>& linear,
                      const std::array<Vec3, 2>& angular, double h) {
  GapRate rate;
  for (int body = 0; body < 2; ++body) {
    const Vec3& p = body ? c.point_b : c.point_a;
    rate.predicted +=
        (body ? 1 : -1) * c.normal.dot(linear[body] + angular[body].cross(p - world.state.pose[body].position));
  }
  for (const int side : {-1, 1}) {
    World moved = world;
    for (int body = 0; body < 2; ++body) {
      Pose& pose = moved.state.pose[body];
      pose.position += side * h * linear[body];
      pose.orientation =
          Quat(Eigen::AngleAxisd(side * h * angular[body].norm(), angular[body].normalized())) * pose.orientation;
    }
    const std::vector<Contact> there = find_contacts(moved);
    if (there.empty()) return {std::nan(""), rate.predicted, true};
    const Contact& d = least(there);
    rate.same = rate.same && d.key == c.key && (d.normal - c.normal).norm() < 1e-3;
    rate.measured += side * d.gap / (2 * h);
  }
  return rate;
}

// ---------------------------------------------------------------- randomness

Vec3 Random::direction(bool planar) {
  if (planar) {
    const double angle = uniform(0, 2 * std::numbers::pi);
    return {std::cos(angle), std::sin(angle), 0};
  }
  std::normal_distribution<double> normal;
  Vec3 d;
  do {
    d = Vec3(normal(engine_), normal(engine_), normal(engine_));
  } while (d.norm() < 1e-3);
  return d.normalized();
}

Quat Random::rotation(bool planar) {
  if (planar) return Quat(Eigen::AngleAxisd(uniform(0, 2 * std::numbers::pi), Vec3::UnitZ()));
  std::normal_distribution<double> normal;
  return Quat(normal(engine_), normal(engine_), normal(engine_), normal(engine_)).normalized();
}

Solid Random::solid(ShapeKind kind) {
  switch (kind) {
    case ShapeKind::Sphere:
      return make_sphere(uniform(0.2, 1));
    case ShapeKind::Box:
      return make_box({uniform(0.1, 1), uniform(0.1, 1), uniform(0.1, 1)});
    case ShapeKind::Capsule:
      return make_capsule(uniform(0.1, 0.5), uniform(0.1, 1));
    case ShapeKind::Plane:
      return make_plane();
    case ShapeKind::Disk:
      return make_disk(uniform(0.2, 1));
    case ShapeKind::Cylinder:
      return make_cylinder(uniform(0.1, 0.7), uniform(0.05, 0.8));
    case ShapeKind::Cone:
      return make_cone(uniform(0.1, 0.7), uniform(0.1, 0.8));
    case ShapeKind::Ellipsoid:
      return make_ellipsoid({uniform(0.2, 1), uniform(0.2, 1), uniform(0.2, 1)});
    case ShapeKind::Hull: {
      std::vector<Vec3> corners;
      const Vec3 size(uniform(0.3, 1), uniform(0.3, 1), uniform(0.3, 1));
      const int count = 4 + index(30);
      for (int k = 0; k < count; ++k) corners.push_back(size.cwiseProduct(direction()));
      return make_hull_solid(corners);
    }
    case ShapeKind::Polygon:
      break;
    default:
      break;  // surfaces: surface_test.cpp
  }
  // Points of an ellipse at angles at least 0.3 apart on average: convex, counter-clockwise.
  const int count = 3 + index(6);
  const double a = uniform(0.3, 1), b = uniform(0.3, 1);
  std::vector<Vec2> points;
  for (int k = 0; k < count; ++k) {
    const double angle = 2 * std::numbers::pi * (k + uniform(-0.3, 0.3)) / count;
    points.emplace_back(a * std::cos(angle), b * std::sin(angle));
  }
  return make_polygon(points);
}

Pose Random::pose(ShapeKind kind, bool planar, double distance) {
  Pose pose;
  pose.position = uniform(0, distance) * direction(planar);
  pose.orientation = rotation(planar);
  if (planar && kind == ShapeKind::Plane) {
    pose.orientation = Quat::FromTwoVectors(Vec3::UnitZ(), pose.orientation * Vec3::UnitX());
  }
  return pose;
}

Solid Random::lattice_solid(ShapeKind kind) {
  const auto quarter = [&] { return 0.25 * (1 + index(4)); };
  switch (kind) {
    case ShapeKind::Box:
      return make_box({quarter(), quarter(), quarter()});
    case ShapeKind::Capsule:
      return make_capsule(0.25, quarter());
    case ShapeKind::Polygon:
      return make_rectangle(quarter(), quarter());
    case ShapeKind::Cylinder:
      return make_cylinder(quarter(), quarter());
    case ShapeKind::Cone:
      return make_cone(quarter(), quarter());
    case ShapeKind::Ellipsoid:
      return make_ellipsoid({quarter(), quarter(), quarter()});
    case ShapeKind::Hull: {
      Solid box;
      box.shape.kind = ShapeKind::Hull;
      box.hull = make_box_hull({quarter(), quarter(), quarter()});
      return box;
    }
    case ShapeKind::Sphere:
    case ShapeKind::Disk:
    case ShapeKind::Plane:
      break;
    default:
      break;  // surfaces: surface_test.cpp
  }
  Solid solid = this->solid(kind);
  solid.shape.radius = 0.25;
  return solid;
}

Pose Random::lattice_pose(bool planar) {
  Pose pose;
  for (int k = 0; k < (planar ? 2 : 3); ++k) pose.position[k] = 0.25 * (index(13) - 6);
  for (int turns = 0; turns < 3; ++turns) {
    const double angle = std::numbers::pi / (index(3) ? 2 : 4) * index(4);
    pose.orientation *= Quat(Eigen::AngleAxisd(angle, Vec3::Unit(planar ? 2 : index(3))));
  }
  const double noise = index(3) ? std::pow(10.0, -uniform(3, 17)) : 0;
  pose.position += noise * direction(planar);
  const Vec3 axis = planar ? Vec3(Vec3::UnitZ()) : direction();
  pose.orientation = (Quat(Eigen::AngleAxisd(noise * uniform(-2, 2), axis)) * pose.orientation).normalized();
  return pose;
}

}  // namespace slipstick::test
