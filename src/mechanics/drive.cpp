#include "mechanics/drive.h"

namespace slipstick {

void clear_drive(const Model& model, Drive* drive) {
  drive->pushes.clear();
  drive->motors.assign(model.axes.size(), {});
  drive->loads.assign(model.loads.size(), {});
}

void update_drive(const Model& model, const Inputs& inputs, std::span<const Pose> pose, Drive* drive) {
  drive->motors.assign(inputs.motors().begin(), inputs.motors().end());
  drive->loads.assign(inputs.loads().begin(), inputs.loads().end());
  drive->pushes.clear();
  for (const AppliedWrench& given : inputs.wrenches()) {
    const Pose& q = pose[given.body];
    Drive::Push& push = drive->pushes.emplace_back();
    push.body = given.body;
    push.turns = given.frame == Frame::Body;
    push.force = given.force;
    push.torque = given.torque;
    if (!given.at) continue;
    push.at = push.turns ? Vec3(*given.at - model.bodies[given.body].center_of_mass)
                         : Vec3(q.orientation.conjugate() * (*given.at - q.position));
  }
}

void add_wrenches(const Drive& drive, std::span<const Pose> pose, std::vector<Vec6>* load) {
  for (const Drive::Push& push : drive.pushes) {
    const Quat& to_world = pose[push.body].orientation;
    const Vec3 force = push.turns ? push.force : Vec3(to_world.conjugate() * push.force);  // body axes
    const Vec3 torque = push.turns ? push.torque : Vec3(to_world.conjugate() * push.torque);
    Vec6& sum = (*load)[push.body];
    sum.head<3>() += push.turns ? Vec3(to_world * push.force) : push.force;
    sum.tail<3>() += torque + push.at.cross(force);
  }
}

}  // namespace slipstick
