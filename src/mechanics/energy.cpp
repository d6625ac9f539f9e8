#include "mechanics/equations.h"
#include "mechanics/rows.h"

namespace slipstick {

Energy calc_energy(const Model& model, std::span<const Pose> pose, std::span<const Twist> velocity,
                   std::span<const double> near) {
  Energy energy;
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    const Body& body = model.bodies[i];
    if (body.kind != BodyKind::Dynamic) continue;
    const Twist& v = velocity[i];
    energy.kinetic += 0.5 * (body.mass * v.linear.squaredNorm() + v.angular.dot(body.inertia * v.angular));
    energy.gravity -= body.mass * body.gravity_scale * model.gravity.dot(pose[i].position);
  }
  for (const Spring& spring : model.springs) {
    const Side a(pose, spring.a), b(pose, spring.b);
    const Vec3 d = b.position + b.rotation * spring.anchor_b - (a.position + a.rotation * spring.anchor_a);
    const double elongation = d.norm() - spring.rest_length;  // rest length 0: the square is |d|^2
    energy.spring += 0.5 * spring.stiffness * elongation * elongation;
  }
  for (std::size_t k = 0; k < model.axes.size(); ++k) {
    const Axis& axis = model.axes[k];
    if (axis.stiffness == 0 && axis.armature == 0) continue;
    const double whole = k < near.size() ? near[k] : 0.0;
    const AxisRow row = calc_axis_row(model, pose, static_cast<int>(k), whole);
    const double elongation = row.value - axis.rest;
    if (axis.armature > 0) {  // of its rotor
      const auto side = [&](int i, const Vec6& part) {
        return i == kWorld ? 0 : part.head<3>().dot(velocity[i].linear) + part.tail<3>().dot(velocity[i].angular);
      };
      const double speed = side(row.body_a, row.row.a) + side(row.body_b, row.row.b);
      energy.kinetic += 0.5 * axis.armature * speed * speed;
    }
    energy.spring += 0.5 * axis.stiffness * elongation * elongation;
  }
  return energy;
}

}  // namespace slipstick
