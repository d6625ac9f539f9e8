#include "step/sensors.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/se3.h"

namespace slipstick {
namespace {

/// A body's own frame and how it moves, all in world axes; the world: at rest.
struct Mover {
  Vec3 origin = Vec3::Zero(), velocity = Vec3::Zero(), spin = Vec3::Zero();
  Vec3 acceleration = Vec3::Zero(), spin_rate = Vec3::Zero();
  Quat orientation = Quat::Identity();
};

/// Of the point `at` (centre-of-mass frame) of a body; accelerations are means over the step from `before`.
Mover calc_mover(const State& state, const State* before, double h, int body, const Vec3& at) {
  Mover mover;
  if (body == kWorld) return mover;
  const Pose& q = state.pose[body];
  const Twist& v = state.velocity[body];
  const Vec3 arm = q.orientation * at;
  mover.orientation = q.orientation;
  mover.origin = q.position + arm;
  mover.spin = q.orientation * v.angular;
  mover.velocity = v.linear + mover.spin.cross(arm);
  if (before == nullptr) return mover;
  const Twist& u = before->velocity[body];
  mover.spin_rate = q.orientation * ((v.angular - u.angular) / h);  // spin x spin is zero: body axes serve
  mover.acceleration = (v.linear - u.linear) / h + mover.spin_rate.cross(arm) + mover.spin.cross(mover.spin.cross(arm));
  return mover;
}

/// The vector quantities of Quantity, seen from `frame`, in world axes.
Vec3 calc_seen(Quantity quantity, const Mover& point, const Mover& frame, const Vec3& gravity) {
  Vec3 arm = point.origin - frame.origin;
  Vec3 velocity = point.velocity - frame.velocity - frame.spin.cross(arm);
  switch (quantity) {
    case Quantity::Position:
      return arm;
    case Quantity::Velocity:
    case Quantity::Speed:
      return velocity;
    case Quantity::AngularVelocity:
      return point.spin - frame.spin;
    case Quantity::Acceleration:
      return point.acceleration - frame.acceleration - frame.spin_rate.cross(arm) -
             frame.spin.cross(frame.spin.cross(arm)) - 2 * frame.spin.cross(velocity);
    case Quantity::ProperAcceleration:
      return point.acceleration - gravity;
    default:
      return Vec3::Zero();
  }
}

const AxisReading* find_reading(const JointReading& joint, Freedom freedom) {
  for (const AxisReading& axis : joint.axes)
    if (axis.freedom == freedom) return &axis;
  return nullptr;
}

/// The numbers of a vector, or the one that is wanted.
void write(const Vec3& vector, const Sensor& sensor, double* out) {
  if (sensor.part >= 0) {
    *out = vector[sensor.part];
    return;
  }
  for (int k = 0; k < 3; ++k) out[k] = vector[k];
}

}  // namespace

Sensors::Sensors(const Model& model)
    : model_(model), values_(static_cast<std::size_t>(model.sensor_values)), copies_(model.sensors.size()) {
  for (int k = 0; k < model.readings; ++k)
    if (model.sensors[k].copied >= 0) copies_[model.sensors[k].copied].push_back(k);
  const bool asks = std::any_of(model.sensors.begin(), model.sensors.end(), [](const Sensor& s) {
    return s.kind == SensorKind::Distance || s.kind == SensorKind::Ray;
  });
  if (asks) queries_.emplace(model);
}

void Sensors::restart(const Readings& readings, const State& state) {
  if (model_.sensors.empty()) return;
  update_values({readings, {}, state, nullptr, 1}, true, nullptr);
}

void Sensors::update(const Readings& readings, std::span<const ContactForce> forces, const State& before, double h,
                     State* state) {
  if (model_.sensors.empty()) return;
  state->sensor = before.sensor;
  for (const Sensor& sensor : model_.sensors) {
    if (sensor.kind != SensorKind::Integral) continue;
    double& sum = state->sensor[sensor.memory];
    // Rounded twice, as everywhere: a fused multiply-add would have other bits than the same sum in Python.
    const volatile double growth = h * sensor.value.at(before.time, this->readings());
    sum = std::clamp(sum + growth, sensor.limits[0], sensor.limits[1]);
  }
  update_values({readings, forces, *state, &before, h}, false, state);
}

void Sensors::copy_to(int sensor) {
  for (const int k : copies_[sensor]) values_[k] = values_[model_.sensors[sensor].first + model_.sensors[k].part];
}

/// Formulas last, in their order: they see all others and those above them.
void Sensors::update_values(const Now& now, bool remembered, State* keeps) {
  if (queries_) queries_->update(now.state);
  for (std::size_t i = 0; i < model_.sensors.size(); ++i) {
    const Sensor& sensor = model_.sensors[i];
    if (sensor.kind == SensorKind::Value || sensor.kind == SensorKind::Copy) continue;
    double* const out = values_.data() + sensor.first;
    const bool from_state = sensor.memory >= 0 && (remembered || sensor.kind == SensorKind::Integral);
    if (from_state) {
      std::copy_n(now.state.sensor.begin() + sensor.memory, sensor.count, out);
    } else {
      update_value(sensor, now, out);
      if (sensor.memory >= 0) std::copy_n(out, sensor.count, keeps->sensor.begin() + sensor.memory);
    }
    copy_to(static_cast<int>(i));
  }
  for (std::size_t i = 0; i < model_.sensors.size(); ++i) {
    const Sensor& sensor = model_.sensors[i];
    if (sensor.kind != SensorKind::Value) continue;
    values_[sensor.first] = sensor.value.at(now.state.time, readings());
    copy_to(static_cast<int>(i));
  }
}

void Sensors::update_value(const Sensor& sensor, const Now& now, double* out) {
  switch (sensor.kind) {
    case SensorKind::Joint:
      if (sensor.quantity == Quantity::Force)
        return write(now.readings.joint(sensor.joint).reaction_force, sensor, out);
      if (sensor.quantity == Quantity::Moment)
        return write(now.readings.joint(sensor.joint).reaction_moment, sensor, out);
      *out = calc_joint(sensor, now);
      return;
    case SensorKind::Body: {
      if (sensor.quantity == Quantity::Orientation || sensor.quantity == Quantity::Angle) {
        const Quat frame = sensor.frame == kWorld ? Quat::Identity() : now.state.pose[sensor.frame].orientation;
        const Quat q = frame.conjugate() * now.state.pose[sensor.a].orientation;
        const std::array<double, 4> parts{q.w(), q.x(), q.y(), q.z()};
        if (sensor.quantity == Quantity::Angle) {
          *out = std::remainder(2 * std::atan2(q.z(), q.w()), 2 * M_PI);
        } else {
          for (int k = 0; k < sensor.count; ++k) out[k] = parts[sensor.part >= 0 ? sensor.part : k];
        }
        return;
      }
      const Vec3 seen = calc_body(sensor, now);
      if (sensor.quantity == Quantity::Speed) {
        *out = seen.norm();
        return;
      }
      return write(seen, sensor, out);
    }
    case SensorKind::Contact: {
      if (sensor.quantity == Quantity::Force) return write(calc_contact(sensor, now), sensor, out);
      *out = calc_contact(sensor, now)[0];
      return;
    }
    case SensorKind::Distance:
      *out = calc_distance(sensor);
      return;
    case SensorKind::Ray:
      *out = calc_ray(sensor, now.state);
      return;
    default:
      return;
  }
}

double Sensors::calc_joint(const Sensor& sensor, const Now& now) const {
  const AxisReading* const axis = find_reading(now.readings.joint(sensor.joint), model_.axes[sensor.axis].freedom);
  if (axis == nullptr) return std::numeric_limits<double>::quiet_NaN();
  switch (sensor.quantity) {
    case Quantity::Position:
      return axis->position;
    case Quantity::Velocity:
      return axis->velocity;
    case Quantity::MotorForce:
      return axis->motor;
    case Quantity::LimitForce:
      return axis->limit;
    default:
      return axis->friction;
  }
}

Vec3 Sensors::calc_body(const Sensor& sensor, const Now& now) const {
  const Vec3 frame_at = sensor.frame == kWorld ? Vec3::Zero() : Vec3(-model_.bodies[sensor.frame].center_of_mass);
  const Mover point = calc_mover(now.state, now.before, now.h, sensor.a, sensor.at);
  const Mover frame = calc_mover(now.state, now.before, now.h, sensor.frame, frame_at);
  const Vec3 seen = calc_seen(sensor.quantity, point, frame, model_.gravity);
  return sensor.axes == kWorld ? seen : Vec3(now.state.pose[sensor.axes].orientation.conjugate() * seen);
}

/// Force of a on b; or in the first number the sum of normal forces, or the count of points.
Vec3 Sensors::calc_contact(const Sensor& sensor, const Now& now) const {
  Vec3 force = Vec3::Zero();
  double normal = 0, count = 0;
  for (const ContactForce& each : now.forces) {
    const Contact& contact = each.contact;
    const bool forward = contact.body_a == sensor.a && contact.body_b == sensor.b;
    if (!forward && !(contact.body_a == sensor.b && contact.body_b == sensor.a)) continue;
    force += forward ? each.force : Vec3(-each.force);
    normal += each.force.dot(contact.normal);
    ++count;
  }
  if (sensor.quantity == Quantity::Normal) return {normal, 0, 0};
  if (sensor.quantity == Quantity::Count) return {count, 0, 0};
  return force;
}

double Sensors::calc_distance(const Sensor& sensor) const {
  const Body &a = model_.bodies[sensor.a], &b = model_.bodies[sensor.b];
  double least = sensor.range;
  for (int i = a.first_shape; i < a.first_shape + a.shape_count; ++i)
    for (int j = b.first_shape; j < b.first_shape + b.shape_count; ++j)
      if (const auto gap = queries_->find_gap(i, j, least)) least = std::min(least, gap->gap);
  return least;
}

/// The body that the ray starts from does not stop it.
double Sensors::calc_ray(const Sensor& sensor, const State& state) const {
  const Pose& q = state.pose[sensor.a];
  const Vec3 direction = q.orientation * sensor.direction;
  const Vec3 origin = apply(q, sensor.at);
  double from = 0;
  for (int tries = 0; tries <= model_.bodies[sensor.a].shape_count; ++tries) {
    const auto hit = queries_->cast_ray(origin + from * direction, direction, sensor.range - from);
    if (!hit) return sensor.range;
    if (hit->body != sensor.a) return from + hit->distance;
    from += std::nextafter(hit->distance * (1 + 1e-12), kInfinity);
  }
  return sensor.range;
}

}  // namespace slipstick
