#include "mechanics/equations.h"

#include <cmath>

#include "mechanics/drive.h"
#include "mechanics/rows.h"

namespace slipstick {
namespace {

/// Of a step: so near to an instant lie the two points that give the velocity of a path there.
constexpr double kPathShare = 1e-3;

Vec3 calc_at(const std::array<Expression, 3>& formula, double t, std::span<const double> readings = {}) {
  return {formula[0].at(t, readings), formula[1].at(t, readings), formula[2].at(t, readings)};
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
    const std::span<const double> readings = drive ? drive->readings : std::span<const double>();
    const Quat& to_world = pose[given.body].orientation;
    const Quat to_body = to_world.conjugate();
    const Vec3 force = scale * calc_at(given.force, t, readings), torque = scale * calc_at(given.torque, t, readings);
    Vec6& sum = (*load)[given.body];
    if (given.turns) {
      sum.head<3>() += to_world * force;
      sum.tail<3>() += torque + given.at.cross(force);
      continue;
    }
    sum.head<3>() += force;
    sum.tail<3>() += to_body * torque + given.at.cross(to_body * force);
  }
  if (drive) add_wrenches(*drive, pose, load);
}

void update_equations(const Model& model, const Drive* drive, const State& state, const ContactSet& contacts,
                      Equations* equations, const ThreadTeam* team) {
  update_gravity(model, &equations->gravity);
  update_loads(model, drive, state.pose, state.time, &equations->load);
  update_joint_rows(model, state.pose, &equations->joints);
  update_axis_rows(model, state.pose, state.axis, &equations->axes);
  update_coupling_rows(model, equations->axes, &equations->couplings);
  update_spring_rows(model, state.pose, state.axis, &equations->springs);
  update_contact_rows(model, state.pose, contacts, &equations->contacts, state.time, state.velocity, team);
}

Twist calc_kinematic_twist(const Body& body, const Pose& pose, double t, double h) {
  const KinematicMotion& motion = *body.motion;
  Twist twist{calc_at(motion.velocity, t), pose.orientation.conjugate() * calc_at(motion.angular_velocity, t)};
  const double near = kPathShare * h;
  const KinematicPath& path = motion.path;
  if (path.has_position)
    twist.linear = (calc_at(path.position, t + near) - calc_at(path.position, t - near)) / (2 * near);
  if (path.has_angle)
    twist.angular =
        (path.angle.at(t + near) - path.angle.at(t - near)) / (2 * near) * (pose.orientation.conjugate() * path.axis);
  return twist;
}

Twist calc_kinematic_mean(const Body& body, const Pose& pose, double t, double h) {
  const KinematicMotion& motion = *body.motion;
  Twist twist{calc_at(motion.velocity, t + h / 2),
              pose.orientation.conjugate() * calc_at(motion.angular_velocity, t + h / 2)};
  const KinematicPath& path = motion.path;
  if (!path.has_position && !path.has_angle) return twist;
  const Pose target = calc_path_pose(path, pose, t + h);
  if (path.has_position) twist.linear = (target.position - pose.position) / h;
  if (!path.has_angle) return twist;
  Quat turn = pose.orientation.conjugate() * target.orientation;
  if (turn.w() < 0) turn.coeffs() = -turn.coeffs();
  const double sine = turn.vec().norm();
  twist.angular = sine > 0 ? Vec3(2 * std::atan2(sine, turn.w()) / (sine * h) * turn.vec()) : Vec3(2 / h * turn.vec());
  return twist;
}

}  // namespace slipstick
