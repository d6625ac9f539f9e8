#include "step/impulses.h"

#include <algorithm>

#include "step/actuation.h"
#include "step/assemble.h"

namespace slipstick {

namespace {

/// Whether the law leaves the impulse of a row open. `unit`: N s per unit of lambda. Motors with a compliance have the
/// impulse that their spring has; that of joints is the one that `spook` gives to all of them.
JointShares::Open find_open(const StepProblem& made, const Solution& solution, int row, bool of_axis, double unit) {
  const Problem& p = made.problem;
  const auto after = std::upper_bound(p.blocks.begin(), p.blocks.end(), row,
                                      [](int r, const RowBlock& block) { return r < block.row; });
  const RowBlock& block = *std::prev(after);
  if (of_axis && p.compliance[row] > 0) return {};
  if (block.law == LawKind::Equality) return {true};
  const bool held = p.lower[row] < solution.lambda[row] && solution.lambda[row] < p.upper[row];
  return {held, unit * p.lower[row], unit * p.upper[row]};
}

}  // namespace

StepImpulses::StepImpulses(const Model& model, PartLog* log)
    : model_(model),
      log_(*log),
      joints_(model.joints.size()),
      axes_(model.axes.size()),
      springs_(model.springs.size()),
      bodies_(model.bodies.size()),
      shares_(model),
      slots_(model.joint_rows) {
  for (std::size_t k = 0; k < model.axes.size(); ++k)
    if (has_spring(model.axes[k])) axis_of_spring_.push_back(static_cast<int>(k));
}

void StepImpulses::clear() {
  std::fill(joints_.begin(), joints_.end(), JointImpulse{});
  std::fill(axes_.begin(), axes_.end(), AxisImpulse{});
  std::fill(springs_.begin(), springs_.end(), Vec3(Vec3::Zero()));
  std::fill(bodies_.begin(), bodies_.end(), BodyImpulse{});
  shares_.clear();
}

void StepImpulses::add_to_body(int body, const Vec6& impulse, Vec6 BodyImpulse::*what) {
  if (body >= 0) bodies_[body].*what += impulse;
}

/// What a row does to B, as a force and a moment about the anchor. The world's side of a row is zero: there it is what
/// A does to the world.
void StepImpulses::add_to_joint(int joint, std::span<const Pose> pose, const PairRow& row, double impulse) {
  if (impulse == 0) return;
  const Joint& made = model_.joints[joint];
  log_.add_link(joint, made.a, made.b, {impulse * row.a, impulse * row.b}, pose);
  add_to_body(made.a, impulse * row.a, &BodyImpulse::joint);
  add_to_body(made.b, impulse * row.b, &BodyImpulse::joint);
  const Reaction reaction = calc_reaction(made, pose, {impulse * row.a, impulse * row.b});
  joints_[joint].force += reaction.force;
  joints_[joint].moment += reaction.moment;
}

void StepImpulses::add_joints(const Equations& equations, std::span<const Pose> pose, std::span<const double> slots) {
  for (const JointRows& joint : equations.joints)
    for (int r = 0; r < joint.count; ++r)
      add_to_joint(joint.joint, pose, joint.row[r], slots[model_.joints[joint.joint].first_row + r]);
}

void StepImpulses::add_axes(const Equations& equations, std::span<const Pose> pose, std::span<const double> slots) {
  for (std::size_t k = 0; k < equations.axes.size(); ++k) {
    const Axis& axis = model_.axes[k];
    const double motor = axis.motor_row < 0 ? 0 : slots[axis.motor_row];
    const double friction = axis.friction_row < 0 ? 0 : slots[axis.friction_row];
    axes_[k].motor += motor;
    axes_[k].friction += friction;
    const double rotor = axis.armature_row < 0 ? 0 : slots[axis.armature_row];
    add_to_joint(axis.joint, pose, equations.axes[k].row, motor + friction + rotor);
  }
  for (std::size_t k = 0; k < model_.couplings.size(); ++k) {
    const Coupling& coupling = model_.couplings[k];
    joints_[coupling.joint].coupling += slots[coupling.row];
    for (int i = 0; i < coupling.count; ++i) {
      const int axis = coupling.term[i].axis;
      add_to_joint(model_.axes[axis].joint, pose, equations.axes[axis].row,
                   equations.couplings[k].factor[i] * slots[coupling.row]);
    }
  }
}

void StepImpulses::add_spring(const Equations& equations, std::span<const Pose> pose, std::size_t i, const Vec6& on_a,
                              const Vec6& on_b) {
  const SpringRows& spring = equations.springs[i];
  if (i >= model_.springs.size()) {
    const int axis = axis_of_spring_[i - model_.springs.size()];
    add_to_joint(model_.axes[axis].joint, pose, {on_a, on_b}, 1);
    return;
  }
  log_.add_link(static_cast<int>(model_.joints.size() + i), spring.body_a, spring.body_b, {on_a, on_b}, pose);
  springs_[i] += spring.body_b != kWorld ? Vec3(on_b.head<3>()) : Vec3(-on_a.head<3>());
  add_to_body(spring.body_a, on_a, &BodyImpulse::spring);
  add_to_body(spring.body_b, on_b, &BodyImpulse::spring);
}

void StepImpulses::add_contact(const StepInput& input, const ContactRows& rows, std::span<const Pose> pose,
                               std::span<const double> impulse, bool at_end) {
  const int limit = input.contacts->contacts[rows.contact].limit;
  if (limit < 0) log_.add_contact(input, rows, pose, impulse, at_end);
  for (std::size_t k = 0; k < impulse.size(); ++k) {
    if (impulse[k] == 0) continue;
    if (limit >= 0) {
      const Limit& end = model_.limits[limit];
      axes_[end.axis].limit += end.upper ? -impulse[k] : impulse[k];
      add_to_joint(model_.axes[end.axis].joint, pose, rows.at(static_cast<int>(k)), impulse[k]);
    } else {
      const PairRow& row = rows.at(static_cast<int>(k));
      add_to_body(rows.body_a, impulse[k] * row.a, &BodyImpulse::contact);
      add_to_body(rows.body_b, impulse[k] * row.b, &BodyImpulse::contact);
    }
  }
}

void StepImpulses::add_range_ends(const StepInput& input, const StepProblem& made, std::span<const Pose> pose,
                                  double share) {
  for (std::size_t i = 0; i < made.joint_end.ranges.size(); ++i) {
    const RangeEnd& range = made.joint_end.ranges[i];
    if (range.impulse == 0) continue;
    const Limit& end = model_.limits[input.contacts->contacts[made.equations->contacts[i].contact].limit];
    axes_[end.axis].limit += (end.upper ? -share : share) * range.impulse;
    add_to_joint(model_.axes[end.axis].joint, pose, range.row, share * range.impulse);
  }
}

void StepImpulses::add_known(const StepInput& input, const Scheme& scheme, const StepProblem& made,
                             const Solution& solution, const State& next, double share) {
  const auto add_one = [&](std::size_t i) {
    if (made.map.column_of_body[i] < 0) return;
    const Kick& kick = made.kick[i];
    const double before = kick.early + kick.before;
    bodies_[i].gravity += share * (before + kick.after) * made.equations->gravity[i];
    bodies_[i].load += share * (before * made.equations->load[i] + kick.after * kick.load);
    const auto body = static_cast<int>(i);
    const Vec6 &gravity = made.equations->gravity[i], &load = made.equations->load[i];
    if (log_.on()) log_.add_added(body, share * scheme.calc_added_moment(input, made, solution, body));
    log_.add_early(body, share * kick.early * gravity, share * kick.early * load);
    log_.add_known(body, share * kick.before * gravity, share * kick.before * load, made.pose[i]);
    log_.add_known(body, share * kick.after * gravity, share * kick.after * kick.load, next.pose[i]);
    bodies_[i].inertia.tail<3>() +=
        share * scheme.calc_inertial_impulse(input, made, solution, next, static_cast<int>(i));
  };
  for_portions(input.team, bodies_.size(), kBodyPortion, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) add_one(i);
  });
}

void StepImpulses::add(const StepInput& input, const Scheme& scheme, const StepProblem& made, const Solution& solution,
                       const State& next, double share) {
  add_known(input, scheme, made, solution, next, share);
  const std::span<const Pose> pose = made.pose;
  const Equations& equations = *made.equations;
  const double scale = share * made.impulse_scale;
  const JointEnd& end = made.joint_end;
  const auto lambda = [&](int r) {
    return made.map.joint_row[r] < 0 ? 0.0 : share * made.joint_unit(r) * solution.lambda[made.map.joint_row[r]];
  };
  const auto open = [&](int r, bool of_axis) {
    const int row = made.map.joint_row[r];
    if (row < 0 || (end.active && end.split[r])) return JointShares::Open{};
    return find_open(made, solution, row, of_axis, share * made.joint_unit(r));
  };
  if (end.active) {  // rows at the start and at the end; others are where the scheme has them
    for (int r = 0; r < model_.joint_rows; ++r) slots_[r] = end.split[r] ? lambda(r) : 0;
    add_joints(*end.start, input.state->pose, slots_);
    add_axes(*end.start, input.state->pose, slots_);
    const auto split = [&](int r, bool) { return JointShares::Open{made.map.joint_row[r] >= 0 && end.split[r] != 0}; };
    if (shares_.any()) shares_.add(*end.start, input.state->pose, slots_, split);
    for (int r = 0; r < model_.joint_rows; ++r) slots_[r] = share * end.impulse[r];
    add_joints(end.equations, next.pose, slots_);
    add_axes(end.equations, next.pose, slots_);
    // Where rotors alone act at the end there are no joints to share with.
    if (shares_.any() && !end.equations.joints.empty()) shares_.add(end.equations, next.pose, slots_, split);
    add_range_ends(input, made, next.pose, share);
  }
  for (int r = 0; r < model_.joint_rows; ++r) slots_[r] = end.active && end.split[r] ? 0 : lambda(r);
  for (std::size_t k = 0; k < model_.axes.size(); ++k)
    if (const auto source = calc_source_torque(input, 1 / made.impulse_scale, k))
      slots_[model_.axes[k].motor_row] = share * input.h * *source;
  add_joints(equations, pose, slots_);
  add_axes(equations, pose, slots_);
  if (shares_.any()) shares_.add(equations, pose, slots_, open);
  for (std::size_t i = 0; i < equations.springs.size(); ++i) {
    const SpringRows& spring = equations.springs[i];
    const int row = made.map.spring_row[i];
    PairRow sum;
    for (int r = 0; r < spring.count; ++r) {
      const double impulse = (row >= 0 ? solution.lambda[row + r] : 0) + made.map.spring_known[i][r];
      sum.a += impulse * spring.row[r].a;
      sum.b += impulse * spring.row[r].b;
      if (i >= model_.springs.size()) axes_[axis_of_spring_[i - model_.springs.size()]].spring += scale * impulse;
    }
    add_spring(equations, pose, i, scale * sum.a, scale * sum.b);
  }
  for (std::size_t i = 0; i < made.spring_end.size(); ++i) {
    PairRow sum;
    for (int r = 0; r < made.spring_end[i].count; ++r) {
      sum.a += made.spring_impulse[i][r] * made.spring_end[i].row[r].a;
      sum.b += made.spring_impulse[i][r] * made.spring_end[i].row[r].b;
      if (i >= model_.springs.size())
        axes_[axis_of_spring_[i - model_.springs.size()]].spring += share * made.spring_impulse[i][r];
    }
    add_spring(equations, next.pose, i, share * sum.a, share * sum.b);
  }
  for (std::size_t i = 0; i < equations.contacts.size(); ++i) {
    const ContactRows& rows = equations.contacts[i];
    const int row = made.map.contact_row[i], count = rows.friction == 0 ? 1 : rows.count + rows.extra;
    if (row < 0) continue;
    std::array<double, 6> impulse{};
    for (int k = 0; k < count; ++k) impulse[k] = scale * solution.lambda[row + k];
    add_contact(input, rows, pose, {impulse.data(), static_cast<std::size_t>(count)});
  }
  StepInput at_end = input;
  at_end.contacts = &made.contact_end.contacts;
  for (std::size_t e = 0; made.contact_end.active && e < made.contact_end.rows.size(); ++e) {
    std::array<double, 6> impulse = made.contact_end.impulse[e];
    for (double& each : impulse) each *= share;
    const ContactRows& rows = made.contact_end.rows[e];
    const int count = rows.friction == 0 ? 1 : rows.count + rows.extra;
    add_contact(at_end, rows, next.pose, {impulse.data(), static_cast<std::size_t>(count)}, true);
  }
}

void StepImpulses::add_impact(const StepInput& input, const ImpactScratch& scratch) {
  const Equations& equations = scratch.equations;
  add_joints(equations, input.state->pose, scratch.joint_impulse);
  add_axes(equations, input.state->pose, scratch.joint_impulse);
  const auto open = [&](int r, bool) { return JointShares::Open{scratch.map.joint_row[r] >= 0}; };
  if (shares_.any()) shares_.add(equations, input.state->pose, scratch.joint_impulse, open);
  for (std::size_t i = 0; i < equations.contacts.size(); ++i)
    add_contact(input, equations.contacts[i], input.state->pose, scratch.contact_impulse[i]);
}

bool StepImpulses::add_turn(std::span<const Twist> before, std::span<const Twist> after) {
  bool any = false;
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    const Body& body = model_.bodies[i];
    const bool same = after[i].linear == before[i].linear && after[i].angular == before[i].angular;
    if (same || body.kind != BodyKind::Dynamic) continue;
    bodies_[i].inertia.head<3>() += body.mass * (after[i].linear - before[i].linear);
    bodies_[i].inertia.tail<3>() += body.inertia * (after[i].angular - before[i].angular);
    any = true;
  }
  return any;
}

void StepImpulses::share_joints() {
  shares_.share([&](const JointShares::Row& row, std::span<const JointShares::Part> parts, double change) {
    for (const JointShares::Part& part : parts) {
      const Joint& joint = model_.joints[part.joint];
      joints_[part.joint].force += change * part.reaction.force;
      joints_[part.joint].moment += change * part.reaction.moment;
      // What moves keeps the sum that it has.
      if (joint.a >= 0 && model_.bodies[joint.a].kind != BodyKind::Dynamic)
        bodies_[joint.a].joint += change * part.row.a;
      if (joint.b >= 0 && model_.bodies[joint.b].kind != BodyKind::Dynamic)
        bodies_[joint.b].joint += change * part.row.b;
    }
    if (row.coupling >= 0) joints_[model_.couplings[row.coupling].joint].coupling += change;
    if (row.axis < 0) return;
    (row.slot == model_.axes[row.axis].motor_row ? axes_[row.axis].motor : axes_[row.axis].friction) += change;
  });
  shares_.clear();
}

double StepImpulses::calc_work_on_given(std::span<const Twist> velocity) const {
  double work = 0;
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    if (model_.bodies[i].kind != BodyKind::Kinematic) continue;
    const Vec6 impulse = bodies_[i].contact + bodies_[i].joint;
    work += impulse.head<3>().dot(velocity[i].linear) + impulse.tail<3>().dot(velocity[i].angular);
  }
  return work;
}

}  // namespace slipstick
