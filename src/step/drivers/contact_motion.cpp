#include "step/drivers/contact_motion.h"

#include <algorithm>
#include <cmath>

#include "base/se3.h"
#include "mechanics/equations.h"
#include "step/assemble.h"
#include "step/overlap.h"

namespace slipstick {

namespace {

constexpr double kNearEvent = 0.05;  // of what gravity does in a step

}  // namespace

/// Velocity of B's point over A's, world.
Vec3 ContactMotion::calc_relative(const Contact& contact, const State& state) const {
  const auto velocity = [&](int body, const Vec3& point) -> Vec3 {
    if (body == kWorld) return Vec3::Zero();
    const Pose& q = state.pose[body];
    return point_velocity(q, state.velocity[body], q.orientation.conjugate() * (point - q.position));
  };
  return velocity(contact.body_b, contact.point_b) - velocity(contact.body_a, contact.point_a);
}

Gap ContactMotion::calc_gap(const Contact& contact, const State& state) const {
  if (contact.limit >= 0) {
    const Limit& limit = model_.limits[contact.limit];
    const AxisRow axis = calc_axis_row(model_, state.pose, limit.axis, 0);
    const double rate = calc_pair_speed(state.velocity, axis.body_a, axis.body_b, axis.row);
    return {contact.gap, limit.upper ? -rate : rate, &contact};
  }
  return {contact.gap, contact.normal.dot(calc_relative(contact, state)), &contact};
}

Vec3 ContactMotion::calc_slip(const Contact& contact, const State& state) const {
  if (contact.limit >= 0) return Vec3::Zero();
  const Vec3 relative = calc_relative(contact, state);
  return relative - contact.normal.dot(relative) * contact.normal +
         calc_belt_slip(model_, state.pose, contact, state.time);
}

double ContactMotion::touching(const Contact& contact) const { return kTouching * calc_touch_length(model_, contact); }

double ContactMotion::rest_speed(const Contact& contact, const State& state) const {
  double speed = calc_slow_speed(model_, input_.h_nominal, contact);
  for (const int body : {contact.body_a, contact.body_b})
    if (body != kWorld)
      speed = std::max(speed, state.velocity[body].linear.norm() +
                                  state.velocity[body].angular.norm() * model_.bodies[body].reach_radius);
  return kRest * speed;
}

double ContactMotion::near_speed() const { return kNearEvent * model_.gravity.norm() * input_.h_nominal; }

bool ContactMotion::is_near(const Contact& contact, const State& state) const {
  return contact.gap <= std::max(touching(contact), near_speed() * input_.h_nominal) &&
         std::abs(calc_gap(contact, state).rate) <= std::max(rest_speed(contact, state), near_speed());
}

}  // namespace slipstick
