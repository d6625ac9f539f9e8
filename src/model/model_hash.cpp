// The digest of a Model. Each struct is taken apart by a structured binding: a member that is added does not compile
// until somebody has said here whether it counts.
#include <slipstick/surface.h>

#include "base/hash.h"

#include <type_traits>

namespace slipstick {
namespace {

const KinematicMotion kNoMotion;

class ModelDigest {
 public:
  std::uint64_t value() const { return digest_.value(); }

  template <class T>
  requires(std::is_integral_v<T> || std::is_enum_v<T>) void add(T x) { digest_.add(static_cast<std::uint64_t>(x)); }
  void add(double x) { digest_.add(x); }
  void add(const std::string& text) { digest_.add(std::string_view(text)); }
  template <int Rows, int Columns>
  void add(const Eigen::Matrix<double, Rows, Columns>& x) {
    for (Eigen::Index i = 0; i < x.size(); ++i) digest_.add(x.data()[i]);
  }
  void add(const Pose& pose) {
    add(pose.position);
    for (int i = 0; i < 4; ++i) digest_.add(pose.orientation.coeffs()[i]);
  }
  void add(const Expression& expression) {
    add(expression.constant());
    add(expression.code());
    for (const auto& table : expression.tables()) add_all(table->x, table->y);
  }
  void add(const Expression::Op& op) { add_all(op.code, op.arity, op.value); }
  template <class T>
  void add(const std::optional<T>& x) {
    add(x.has_value());
    if (x) add(*x);
  }
  template <class T>
  void add(const std::vector<T>& list) {
    add(list.size());
    for (const T& each : list) add(each);
  }
  template <class T, std::size_t n>
  void add(const std::array<T, n>& list) {
    for (const T& each : list) add(each);
  }
  template <class T>
  void add(const std::shared_ptr<T>& x) {
    add(x != nullptr);
    if (x) add(*x);
  }

  void add(const Material& material) {
    const auto& [name, friction, restitution, source, tangential, rolling, spinning, across, axis, solve, by_slip] =
        material;
    (void)source;   // a place in a file
    (void)by_slip;  // in the laws of pairs
    add_all(name, friction, restitution, tangential, rolling, spinning, across, axis, solve);
  }
  void add(const PairLaw& law) {
    const auto& [friction, restitution, tangential, rolling, spinning, impact, solve, by_slip] = law;
    add_all(friction, restitution, tangential, rolling, spinning, impact, solve);
    if (by_slip) add_all(by_slip->sliding, by_slip->slip_speed);
  }
  void add(const Body& body) {
    const auto& [kind, dof, first_shape, shapes, group, mass, reach, gravity_scale, inertia, inverse, center, name,
                 basis, motion] = body;
    (void)basis;  // with those that are the identity
    const auto& [velocity, angular_velocity, path] = motion ? *motion : kNoMotion;
    add_all(name, kind, mass, inertia, inverse, center, dof, body.free_basis(), first_shape, shapes, group, reach,
            velocity, angular_velocity, gravity_scale);
    const auto& [has_position, has_angle, position, axis, angle, start] = path;
    if (has_position) add(position);
    if (has_angle) add_all(axis, angle, Pose{Vec3::Zero(), start});
  }
  void add(const Shape& shape) {
    const auto& [kind, body, material, pose, radius, half_length, half_size, first, count, hull, surface, bound,
                 contype, conaffinity, belt, first_corner] = shape;
    add_all(kind, body, material, pose, radius, half_length, half_size, first, count, hull, surface, bound, contype,
            conaffinity);
    if (belt) add(*belt);
    if (first_corner >= 0) add(first_corner);
  }
  void add(const OutlineCorner& corner) {
    const auto& [inner, hollow, before, after] = corner;
    add_all(inner, hollow, before, after);
  }
  void add(const HullFace& face) {
    const auto& [normal, offset, first, count] = face;
    add_all(normal, offset, first, count);
  }
  void add(const Hull& hull) {
    const auto& [vertices, faces, loops, loop_edges, edges] = hull;
    add_all(vertices, faces, loops, loop_edges, edges);
  }
  void add(const Surface& surface) {
    const auto& [vertices, triangles, closed, one_sided, volume, dropped, turned, cell, rolling] = surface;
    (void)dropped, (void)turned;  // of the file that it was read from
    add_all(vertices, triangles, closed, one_sided, volume, cell);
    if (!rolling.values.empty()) add_all(rolling.values, rolling.columns);
  }
  void add(const Joint& joint) {
    const auto& [kind, name, a, b, anchor_a, anchor_b, frame_a, frame_b, length, compliance, damping_time, collide, row,
                 free, lock, radius, is_disk, link, solve, floats] = joint;
    (void)floats;  // follows from all joints
    add_all(kind, name, a, b, anchor_a, anchor_b, frame_a, frame_b, length, compliance, damping_time, collide, row,
            free, lock, radius, is_disk, link, solve);
  }
  void add(const Motor& motor) {
    const auto& [drives_position, target, max, time, max_speed, stiffness, damping, drives_force] = motor;
    add_all(drives_position, target, max, time, max_speed, stiffness, damping, drives_force);
  }
  void add(const Axis& axis) {
    const auto& [joint, freedom, motor, friction, stiffness, damping, rest, motor_row, friction_row, armature, start,
                 armature_row] = axis;
    add_all(joint, freedom, motor, friction, stiffness, damping, rest, motor_row, friction_row, armature, start,
            armature_row);
  }
  void add(const Limit& limit) {
    const auto& [axis, upper, bound, law] = limit;
    add_all(axis, upper, bound, law);
  }
  void add(const Coupling::Term& term) {
    const auto& [axis, factor] = term;
    add_all(axis, factor);
  }
  void add(const Coupling& coupling) {
    const auto& [joint, term, count, start, row, is_polynomial, polynomial] = coupling;
    add_all(joint, term, count, start, row, is_polynomial, polynomial);
  }
  void add(const Spring& spring) {
    const auto& [name, a, b, anchor_a, anchor_b, stiffness, damping, rest_length] = spring;
    add_all(name, a, b, anchor_a, anchor_b, stiffness, damping, rest_length);
  }
  void add(const Load& load) {
    const auto& [name, body, at, force, torque, turns] = load;
    add_all(name, body, at, force, torque);
    if (turns) add(turns);
  }
  void add(const Sensor& sensor) {
    const auto& [name, kind, quantity, joint, axis, a, b, frame, axes, at, direction, range, value, start, limits,
                 copied, part, first, count, memory] = sensor;
    add_all(name, kind, quantity, joint, axis, a, b, frame, axes, at, direction, range, value, start, limits, copied,
            part, first, count, memory);
  }
  void add(const Model& model) {
    const auto& [name, gravity, planar, materials, pair_laws, bodies, shapes, points, corners, hulls, surfaces, joints,
                 axes, idle_axes, limits, couplings, springs, loads, pairs_without_contact, joint_rows, dof, sensors,
                 readings, sensor_values, sensor_memory, has_belts, has_rolling_maps] = model;
    (void)name, (void)idle_axes;  // decide nothing
    (void)readings, (void)sensor_values, (void)sensor_memory, (void)has_belts,
        (void)has_rolling_maps;  // follow from the rest
    add_all(gravity, planar, materials, pair_laws, bodies, shapes, points, hulls, surfaces, joints, axes, limits,
            couplings, springs, loads, pairs_without_contact, joint_rows, dof);
    if (!sensors.empty()) add(sensors);
    if (!corners.empty()) add(corners);
  }

 private:
  template <class... T>
  void add_all(const T&... x) {
    (add(x), ...);
  }

  Digest digest_;
};

}  // namespace

std::uint64_t hash(const Model& model) {
  ModelDigest digest;
  digest.add(model);
  return digest.value();
}

}  // namespace slipstick
