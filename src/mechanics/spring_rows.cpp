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

}  // namespace

void update_spring_rows(const Model& model, std::span<const Pose> pose, std::vector<SpringRows>* rows) {
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
}

}  // namespace slipstick
