#include "step/readings.h"

#include <algorithm>
#include <limits>

#include "mechanics/rows.h"
#include "step/assemble.h"

namespace slipstick {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

}  // namespace

Readings::Readings(const Model& model)
    : model_(model),
      main_(model.joints.size(), -1),
      joints_(model.joints.size()),
      springs_(model.springs.size()),
      bodies_(model.bodies.size()) {
  std::vector<std::array<Source, kFreedoms>> found(model.joints.size());
  const auto slot = [&](const Axis& axis) -> Source& {
    return found[axis.joint][static_cast<std::size_t>(axis.freedom)];
  };
  for (std::size_t k = 0; k < model.axes.size(); ++k) slot(model.axes[k]).axis = static_cast<int>(k);
  for (std::size_t k = 0; k < model.idle_axes.size(); ++k) slot(model.idle_axes[k]).idle = static_cast<int>(k);
  std::vector<int> first;
  for (std::size_t j = 0; j < model.joints.size(); ++j) {
    first.push_back(static_cast<int>(axes_.size()));
    const auto known_for = main_freedom(model.joints[j].kind);
    for (int f = 0; f < kFreedoms; ++f) {
      const Source& source = found[j][f];
      if (source.axis < 0 && source.idle < 0) continue;
      if (main_[j] < 0 || static_cast<Freedom>(f) == known_for) main_[j] = static_cast<int>(axes_.size());
      sources_.push_back(source);
      axes_.emplace_back().freedom = static_cast<Freedom>(f);
    }
    names_.emplace_back(model.joints[j].name, static_cast<int>(j));
  }
  first.push_back(static_cast<int>(axes_.size()));
  for (std::size_t j = 0; j < joints_.size(); ++j) {
    joints_[j].joint = static_cast<int>(j);
    joints_[j].axes = {axes_.data() + first[j], static_cast<std::size_t>(first[j + 1] - first[j])};
    if (main_[j] < 0) joints_[j].position = joints_[j].velocity = kNone;
  }
  std::sort(names_.begin(), names_.end());
  none_.position = none_.velocity = none_.motor_force = none_.limit_force = none_.friction_force = kNone;
  none_.coupling_force = kNone;
  none_.reaction_force.setConstant(kNone);
  none_.reaction_moment.setConstant(kNone);
}

void Readings::update_axis(const State& state, const StepImpulses* impulses, double h, std::size_t k) {
  const Source& source = sources_[k];
  const bool acts = source.axis >= 0;
  const Axis& axis = acts ? model_.axes[source.axis] : model_.idle_axes[source.idle];
  const std::vector<double>& known = acts ? state.axis : state.idle_axis;
  const auto index = static_cast<std::size_t>(acts ? source.axis : source.idle);
  const AxisRow row = calc_axis_row(model_, state.pose, axis, index < known.size() ? known[index] : 0.0);
  AxisReading& out = axes_[k];
  out.position = row.value;
  out.velocity = calc_pair_speed(state.velocity, row.body_a, row.body_b, row.row);
  if (!acts) return;
  const StepImpulses::AxisImpulse sum = impulses ? impulses->axes()[index] : StepImpulses::AxisImpulse{};
  out.motor = sum.motor / h;
  out.limit = sum.limit / h;
  out.friction = sum.friction / h;
  out.spring = sum.spring / h;
}

void Readings::update(const State& state, const StepImpulses* impulses, double h) {
  update_joints(state, impulses, h);
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    const StepImpulses::BodyImpulse sum = impulses ? impulses->bodies()[i] : StepImpulses::BodyImpulse{};
    const auto wrench = [&](const Vec6& impulse) { return Wrench{impulse.head<3>() / h, impulse.tail<3>() / h}; };
    bodies_[i] = {wrench(sum.gravity), wrench(sum.load),    wrench(sum.joint),
                  wrench(sum.spring),  wrench(sum.contact), wrench(sum.inertia)};
  }
}

void Readings::update_joints(const State& state, const StepImpulses* impulses, double h) {
  for (std::size_t k = 0; k < axes_.size(); ++k) update_axis(state, impulses, h, k);
  for (std::size_t j = 0; j < joints_.size(); ++j) {
    JointReading& out = joints_[j];
    const StepImpulses::JointImpulse sum = impulses ? impulses->joints()[j] : StepImpulses::JointImpulse{};
    out.reaction_force = sum.force / h;
    out.reaction_moment = sum.moment / h;
    out.coupling_force = sum.coupling / h;
    if (main_[j] < 0) continue;
    const AxisReading& axis = axes_[main_[j]];
    out.position = axis.position;
    out.velocity = axis.velocity;
    out.motor_force = axis.motor;
    out.limit_force = axis.limit;
    out.friction_force = axis.friction;
  }
  for (std::size_t i = 0; i < springs_.size(); ++i) {
    const Spring& spring = model_.springs[i];
    const Side a(state.pose, spring.a), b(state.pose, spring.b);
    springs_[i].length = (b.position + b.rotation * spring.anchor_b - a.position - a.rotation * spring.anchor_a).norm();
    springs_[i].force = impulses ? Vec3(impulses->springs()[i] / h) : Vec3::Zero();
  }
}

const JointReading& Readings::joint(int index) const {
  return index >= 0 && index < static_cast<int>(joints_.size()) ? joints_[index] : none_;
}

const JointReading& Readings::joint(std::string_view name) const {
  const auto found = std::lower_bound(names_.begin(), names_.end(), name,
                                      [](const auto& entry, std::string_view wanted) { return entry.first < wanted; });
  return found == names_.end() || found->first != name ? none_ : joints_[found->second];
}

}  // namespace slipstick
