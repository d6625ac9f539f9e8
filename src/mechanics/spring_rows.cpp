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

bool is_dynamic(const Model& model, int body) { return body != kWorld && model.bodies[body].kind == BodyKind::Dynamic; }

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
      // Between two bodies at one point, so that what damps, or is implicit, makes no angular momentum: the row is the
      // rate of d as seen by the mean of both turns. The force -k d itself is the same at any point of its line.
      const bool pair = is_dynamic(model, spring.a) && is_dynamic(model, spring.b);
      const Vec3 shift = pair ? Vec3(0.5 * d) : Vec3::Zero();
      for (int k = 0; k < out.count; ++k)
        out.row[k] = calc_world_row(a, b, point_a + shift, point_b - shift, Vec3::Unit(k));
    }
    for (int k = out.count; k < 3; ++k) out.row[k] = PairRow{};
  }
  add_axis_springs(model, pose, near, rows);
}

}  // namespace slipstick
