// Rows of spring-dampers: the elongation along the line of the ends, or the three world components of p_B - p_A when
// the rest length is zero (there the line has no direction, but the force -k (p_B - p_A) does not need one).
#include "mechanics/equations.h"
#include "mechanics/rows.h"

namespace slipstick {
namespace {

/// Where the ends of a spring with a rest length (almost) coincide, it pushes B along world x: any fixed direction is
/// as right as any other, and x is free in planar models too.
Vec3 calc_direction(const Vec3& d, double distance, double rest_length) {
  return distance > 1e-12 * rest_length ? Vec3(d / distance) : Vec3(Vec3::UnitX());
}

/// Velocity of one side in world axes.
struct SideVelocity {
  Vec3 linear = Vec3::Zero(), angular = Vec3::Zero();

  SideVelocity(const Side& side, std::span<const Twist> velocity, int body) {
    if (!side.moves) return;
    linear = velocity[body].linear;
    angular = side.rotation * velocity[body].angular;
  }
  Vec3 at(const Vec3& arm) const { return linear + angular.cross(arm); }
};

/// d/dt (e, R^T (arm x e)) = (edot, R^T (arm x (edot - omega x e))) for an arm that turns with the body.
Vec6 calc_half_rate(const Side& side, const SideVelocity& v, const Vec3& arm, const Vec3& e, const Vec3& e_dot) {
  Vec6 rate = Vec6::Zero();
  if (!side.moves) return rate;
  rate.head<3>() = e_dot;
  rate.tail<3>() = side.rotation.transpose() * arm.cross(e_dot - v.angular.cross(e));
  return rate;
}

/// Springs on the coordinates of joints: suspensions, torsion springs.
void add_axis_springs(const Model& model, std::span<const Pose> pose, std::span<const double> near,
                      std::vector<SpringRows>* rows) {
  for (std::size_t k = 0; k < model.axes.size(); ++k) {
    const Axis& axis = model.axes[k];
    if (!has_spring(axis)) continue;
    const AxisRow row = calc_axis_row(model, pose, static_cast<int>(k), k < near.size() ? near[k] : 0.0);
    SpringRows& out = rows->emplace_back();
    out.spring = static_cast<int>(rows->size()) - 1;
    out.body_a = row.body_a;
    out.body_b = row.body_b;
    out.count = 1;
    out.row[0] = row.row;
    out.value = {row.value - axis.rest, 0, 0};
    out.stiffness = axis.stiffness;
    out.damping = axis.damping;
  }
}

}  // namespace

void update_spring_rates(const Model& model, std::span<const Pose> pose, std::span<const Twist> velocity,
                         std::vector<std::array<PairRow, 3>>* rates) {
  rates->resize(model.springs.size());
  for (std::size_t i = 0; i < model.springs.size(); ++i) {
    const Spring& spring = model.springs[i];
    const Side a(pose, spring.a), b(pose, spring.b);
    const SideVelocity va(a, velocity, spring.a), vb(b, velocity, spring.b);
    const Vec3 arm_a = a.rotation * spring.anchor_a, arm_b = b.rotation * spring.anchor_b;
    const auto rate = [&](const Vec3& e, const Vec3& e_dot) {
      return PairRow{-calc_half_rate(a, va, arm_a, e, e_dot), calc_half_rate(b, vb, arm_b, e, e_dot)};
    };
    std::array<PairRow, 3>& out = (*rates)[i];
    out = {};
    if (spring.rest_length > 0) {
      const Vec3 d = b.position + arm_b - a.position - arm_a;
      const double distance = d.norm();
      const Vec3 e = calc_direction(d, distance, spring.rest_length);
      const Vec3 w = vb.at(arm_b) - va.at(arm_a);
      const Vec3 e_dot = distance > 1e-12 * spring.rest_length ? Vec3((w - e.dot(w) * e) / distance) : Vec3::Zero();
      out[0] = rate(e, e_dot);
    } else {
      for (int k = 0; k < (model.planar ? 2 : 3); ++k) out[k] = rate(Vec3::Unit(k), Vec3::Zero());
    }
  }
}

void update_spring_rows(const Model& model, std::span<const Pose> pose, std::span<const double> near,
                        std::vector<SpringRows>* rows) {
  rows->resize(model.springs.size());
  for (std::size_t i = 0; i < model.springs.size(); ++i) {
    const Spring& spring = model.springs[i];
    SpringRows& out = (*rows)[i];
    out.spring = static_cast<int>(i);
    out.body_a = spring.a;
    out.body_b = spring.b;
    out.stiffness = spring.stiffness;
    out.damping = spring.damping;
    const Side a(pose, spring.a), b(pose, spring.b);
    const Vec3 point_a = a.position + a.rotation * spring.anchor_a;
    const Vec3 point_b = b.position + b.rotation * spring.anchor_b;
    const Vec3 d = point_b - point_a;
    if (spring.rest_length > 0) {
      const double distance = d.norm();
      out.count = 1;
      out.row[0] = calc_world_row(a, b, point_a, point_b, calc_direction(d, distance, spring.rest_length));
      out.value = {distance - spring.rest_length, 0, 0};
    } else {
      out.count = model.planar ? 2 : 3;
      out.value = {d.x(), d.y(), d.z()};
      for (int k = 0; k < out.count; ++k) out.row[k] = calc_world_row(a, b, point_a, point_b, Vec3::Unit(k));
    }
    for (int k = out.count; k < 3; ++k) out.row[k] = PairRow{};
  }
  add_axis_springs(model, pose, near, rows);
}

}  // namespace slipstick
