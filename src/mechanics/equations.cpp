#include "mechanics/equations.h"

#include "mechanics/drive.h"
#include "mechanics/rows.h"

namespace slipstick {
namespace {

Vec3 calc_at(const std::array<Expression, 3>& formula, double t) {
  return {formula[0].at(t), formula[1].at(t), formula[2].at(t)};
}

void update_gravity(const Model& model, std::vector<Vec6>* gravity) {
  gravity->resize(model.bodies.size());
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    (*gravity)[i].head<3>() =
        model.bodies[i].mass * model.bodies[i].gravity_scale * model.gravity;  // mass 0 unless dynamic
    (*gravity)[i].tail<3>().setZero();
  }
}

}  // namespace

PairRow calc_point_row(const Pose& pose_a, const Pose& pose_b, const Vec3& anchor_a, const Vec3& anchor_b,
                       const Vec3& e) {
  PairRow row;
  row.a.head<3>() = -e;
  row.a.tail<3>() = -anchor_a.cross(pose_a.orientation.conjugate() * e);
  row.b.head<3>() = e;
  row.b.tail<3>() = anchor_b.cross(pose_b.orientation.conjugate() * e);
  return row;
}

void update_loads(const Model& model, const Drive* drive, std::span<const Pose> pose, double t,
                  std::vector<Vec6>* load) {
  load->assign(model.bodies.size(), Vec6::Zero());
  for (std::size_t i = 0; i < model.loads.size(); ++i) {
    const Load& given = model.loads[i];
    const double scale = drive ? drive->loads[i].scale : 1.0;
    const Quat to_body = pose[given.body].orientation.conjugate();
    const Vec3 force = scale * calc_at(given.force, t);
    Vec6& sum = (*load)[given.body];
    sum.head<3>() += force;
    sum.tail<3>() += to_body * (scale * calc_at(given.torque, t)) + given.at.cross(to_body * force);
  }
  if (drive) add_wrenches(*drive, pose, load);
}

void update_equations(const Model& model, const Drive* drive, const State& state, const ContactSet& contacts,
                      Equations* equations) {
  update_gravity(model, &equations->gravity);
  update_loads(model, drive, state.pose, state.time, &equations->load);
  update_joint_rows(model, state.pose, &equations->joints);
  update_axis_rows(model, state.pose, state.axis, &equations->axes);
  update_coupling_rows(model, equations->axes, &equations->couplings);
  update_spring_rows(model, state.pose, state.axis, &equations->springs);
  update_contact_rows(model, state.pose, contacts, &equations->contacts);
}

Twist calc_kinematic_twist(const Body& body, const Pose& pose, double t) {
  return {calc_at(body.kinematic_velocity, t),
          pose.orientation.conjugate() * calc_at(body.kinematic_angular_velocity, t)};
}

}  // namespace slipstick
