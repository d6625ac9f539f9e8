#include "step/overlap.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>

namespace slipstick {

namespace {

constexpr double kSlop = 1e-7;       // of the smaller body
constexpr double kLimitSlop = 1e-6;  // of the joint, or rad, ends of its range
constexpr double kOpenShare = 0.02;  // of the size of a joint
constexpr double kOpenAngle = 0.1;   // rad
constexpr double kTornShare = 0.5;   // of the size of a joint, or rad
constexpr double kFarShare = 1e-3;   // of the distance from the origin, where places are rounded
constexpr double kSlowShare = 0.01;  // of the size in a step

const Axis& axis_of(const Model& model, const Contact& limit) { return model.axes[model.limits[limit.limit].axis]; }

/// By which overshoot of a limit is measured: m, or 1 for rad.
double calc_limit_size(const Model& model, const Contact& limit) {
  const Axis& axis = axis_of(model, limit);
  return is_turn(axis.freedom) ? 1 : calc_joint_size(model, model.joints[axis.joint]);
}

bool turns_only(const PairRow& row) { return row.a.head<3>().isZero(0) && row.b.head<3>().isZero(0); }

}  // namespace

double calc_touch_length(const Model& model, const Contact& contact) {
  if (contact.limit >= 0) return calc_limit_size(model, contact);
  double size = kFarShare * contact.point_b.norm();
  for (const int body : {contact.body_a, contact.body_b})
    if (body != kWorld) size = std::max(size, model.bodies[body].reach_radius);
  return size;
}

double calc_slow_speed(const Model& model, double h, const Contact& contact) {
  const bool turns = contact.limit >= 0 && is_turn(axis_of(model, contact).freedom);
  const double length =
      turns ? calc_joint_size(model, model.joints[axis_of(model, contact).joint]) : calc_touch_length(model, contact);
  const double gravity = model.gravity.norm();
  const double speed = gravity > 0 ? std::sqrt(gravity * length) : kSlowShare * length / h;
  return turns ? speed / length : speed;
}

std::array<int, 2> bodies_of(const Model& model, const Contact& contact) {
  if (contact.limit < 0) return {contact.body_a, contact.body_b};
  const Joint& joint = model.joints[model.axes[model.limits[contact.limit].axis].joint];
  return {joint.a, joint.b};
}

double calc_contact_size(const Model& model, const Contact& contact) {
  if (contact.limit >= 0) return calc_limit_size(model, contact);
  double size = kInfinity;
  for (const int body : {contact.body_a, contact.body_b})
    if (body != kWorld && model.bodies[body].reach_radius > 0) size = std::min(size, model.bodies[body].reach_radius);
  return std::isfinite(size) ? size : 1;
}

std::vector<double> calc_thicknesses(const Model& model) {
  std::vector<double> made(model.bodies.size(), kInfinity);
  for (std::size_t i = 0; i < made.size(); ++i) {
    const Body& body = model.bodies[i];
    if (body.kind != BodyKind::Dynamic || !(body.mass > 0)) continue;
    const double least = Eigen::SelfAdjointEigenSolver<Mat3>(body.inertia, Eigen::EigenvaluesOnly).eigenvalues()[0];
    made[i] = least > 0 ? std::sqrt(least / body.mass) : body.reach_radius;
  }
  return made;
}

double calc_thickness(std::span<const double> thicknesses, const Contact& contact) {
  double least = kInfinity;
  for (const int body : {contact.body_a, contact.body_b})
    if (body != kWorld) least = std::min(least, thicknesses[body]);
  return std::isfinite(least) ? least : 1;
}

double calc_slop(const Model& model, double h, std::span<const Twist> velocity, const Contact& contact) {
  double turned = 0;
  for (const int body : bodies_of(model, contact)) {
    if (body == kWorld) continue;
    const double turn = velocity[body].angular.norm() * h;
    turned += turn * turn * (contact.limit >= 0 ? calc_contact_size(model, contact) : model.bodies[body].reach_radius);
  }
  return (contact.limit >= 0 ? kLimitSlop : kSlop) * calc_contact_size(model, contact) + turned;
}

double calc_row_gap(const StepInput& input, const Contact& contact) {
  if (contact.gap >= 0) return contact.gap;
  const double slop = calc_slop(*input.model, input.h_nominal, input.state->velocity, contact);
  return contact.gap < -slop ? 0.0 : contact.gap;
}

double calc_joint_size(const Model& model, const Joint& joint) {
  double size = joint.length;
  const auto side = [&](int body, const Vec3& anchor) {
    if (body != kWorld) size += anchor.norm() + model.bodies[body].reach_radius;
  };
  side(joint.a, joint.anchor_a);
  side(joint.b, joint.anchor_b);
  return size > 0 ? size : 1;
}

bool stands_open(const Model& model, double h, std::span<const Twist> velocity, const JointRows& joint, int row) {
  const double error = std::abs(joint.value[row]);
  const double size = calc_joint_size(model, model.joints[joint.joint]);
  const double scale = turns_only(joint.row[row]) ? 1 : size;
  const double limit = turns_only(joint.row[row]) ? kOpenAngle : kOpenShare * size;
  if (error <= limit) return false;
  Vec3 apart = Vec3::Zero();
  double turn = 0;
  const auto side = [&](int body, double sign) {
    if (body == kWorld) return;
    apart += sign * velocity[body].linear;
    turn += velocity[body].angular.norm() * h;
  };
  side(joint.body_a, -1);
  side(joint.body_b, 1);
  turn += apart.norm() * h / size;
  return error > limit + turn * turn * scale;
}

double calc_row_error(const StepInput& input, const JointRows& joint, int row) {
  const bool open = stands_open(*input.model, input.h_nominal, input.state->velocity, joint, row);
  return open ? 0.0 : joint.value[row];
}

namespace {

bool is_torn(const Model& model, const Coupling& coupling, std::span<const double> coordinates) {
  double error = -coupling.start;
  const auto value = [&](int i) { return coordinates[coupling.term[i].axis]; };
  double slope = 0;  // of a polynomial at its argument
  if (coupling.is_polynomial) {
    const auto& p = coupling.polynomial;
    const double q = value(1);
    error = value(0) - (p[0] + q * (p[1] + q * (p[2] + q * (p[3] + q * p[4]))));
    slope = p[1] + q * (2 * p[2] + q * (3 * p[3] + q * 4 * p[4]));
  } else {
    for (int i = 0; i < coupling.count; ++i) error += coupling.term[i].factor * value(i);
  }
  for (int i = 0; i < coupling.count; ++i) {
    const Axis& axis = model.axes[coupling.term[i].axis];
    const double factor = !coupling.is_polynomial || i == 0 ? coupling.term[i].factor : slope;
    const double size = is_turn(axis.freedom) ? 1 : calc_joint_size(model, model.joints[axis.joint]);
    if (!(std::abs(error) > kTornShare * size * std::abs(factor))) return false;
  }
  return coupling.count > 0;
}

}  // namespace

bool has_torn(const Model& model, const State& state, std::span<const JointRows> joints) {
  for (const JointRows& joint : joints) {
    if (joint.compliance > 0) continue;
    const double size = calc_joint_size(model, model.joints[joint.joint]);
    for (int r = 0; r < joint.count; ++r)
      if (!(std::abs(joint.value[r]) <= kTornShare * (turns_only(joint.row[r]) ? 1 : size))) return true;
  }
  return std::any_of(model.couplings.begin(), model.couplings.end(),
                     [&](const Coupling& coupling) { return is_torn(model, coupling, state.axis); });
}

bool is_blurred(const Body& body, const Vec3& position) {
  return body.kind == BodyKind::Dynamic &&
         position.cwiseAbs().maxCoeff() * std::numeric_limits<double>::epsilon() > kSlop * body.reach_radius &&
         body.reach_radius > 0;
}

int count_open_joints(const Model& model, double h, std::span<const Twist> velocity,
                      std::span<const JointRows> joints) {
  int count = 0;
  for (const JointRows& joint : joints) {
    bool open = false;
    for (int r = 0; r < joint.count && joint.compliance == 0; ++r)
      open = open || stands_open(model, h, velocity, joint, r);
    count += open ? 1 : 0;
  }
  return count;
}

}  // namespace slipstick
