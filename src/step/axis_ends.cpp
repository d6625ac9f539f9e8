#include "step/axis_ends.h"

#include <algorithm>
#include <cmath>

#include "step/actuation.h"
#include "step/overlap.h"

namespace slipstick {

namespace {

/// What is left for a rotor at the end is rounding below this share of the speeds that its rate is made of, and of what
/// gravity changes them by in the step: what rests has no others.
constexpr double kRateRounding = 1e-12;

double calc_axis_size(const Model& model, const Axis& axis) {
  return is_turn(axis.freedom) ? 1 : calc_joint_size(model, model.joints[axis.joint]);
}

double calc_part(const Vec6& part, const Twist& v) {
  return part.head<3>().dot(v.linear) + part.tail<3>().dot(v.angular);
}

CouplingRow as_coupling(const AxisRow& axis) {
  CouplingRow out;
  out.count = 0;
  out.factor = {1, 0, 0};
  out.value = axis.value;
  for (const bool of_b : {false, true}) {
    const int body = of_b ? axis.body_b : axis.body_a;
    if (body == kWorld) continue;
    out.body[out.count] = body;
    out.row[out.count++] = of_b ? axis.row.b : axis.row.a;
  }
  return out;
}

}  // namespace

void AxisEnds::clear(const Model& model) {
  holds_.clear();
  acting_.clear();
  has_rotors_ =
      std::any_of(model.axes.begin(), model.axes.end(), [](const Axis& axis) { return axis.armature_row >= 0; });
}

void AxisEnds::begin(const StepInput& input, bool two_sided, bool closes, const Flight& flight,
                     const Equations& equations, JointEnd* end) {
  const Model& model = *input.model;
  clear(model);
  for (std::size_t k = 0; k < model.axes.size() && has_rotors_; ++k) {
    const Axis& axis = model.axes[k];
    const AxisRow& at = equations.axes[k];
    if (axis.armature_row < 0 || !has_place(model, axis)) continue;
    if (!two_sided && !flight.flies_joined(at.body_a) && !flight.flies_joined(at.body_b)) continue;
    Hold hold{.slot = axis.armature_row,
              .axis = static_cast<int>(k),
              .size = calc_axis_size(model, axis),
              .row = as_coupling(at)};
    hold.start = at.value;
    hold.kept = at.value + input.h * calc_pair_speed(input.state->velocity, at.body_a, at.body_b, at.row);
    end->split[hold.slot] = 1;
    holds_.push_back(hold);
  }
  for (std::size_t k = 0; k < model.couplings.size() && closes; ++k) {
    const Coupling& coupling = model.couplings[k];
    if (!has_place(model, coupling)) continue;
    Hold hold{.slot = coupling.row, .coupling = static_cast<int>(k), .row = equations.couplings[k]};
    hold.size = calc_axis_size(model, model.axes[coupling.term[0].axis]);
    hold.start = hold.row.value;
    hold.kept = std::max(0.0, 1 - input.h / input.h_nominal) * hold.start;
    holds_.push_back(hold);
  }
  if (!holds_.empty()) start_ = equations.axes;
}

void AxisEnds::reach(const StepInput& input, std::span<const Twist> way, std::span<const Pose> pose_end) {
  if (holds_.empty()) return;
  update_expected_axes(start_, way, input.h, &near_);
  update_axis_rows(*input.model, pose_end, near_, &axes_);
  update_coupling_rows(*input.model, axes_, &couplings_);
  for (Hold& hold : holds_) hold.reached = hold.axis >= 0 ? axes_[hold.axis].value : couplings_[hold.coupling].value;
}

void AxisEnds::apply(const StepInput& input, std::span<const Twist> way, bool linear, StepProblem* made) const {
  for (const Hold& hold : holds_) {
    const int row = made->map.joint_row[hold.slot];
    if (row < 0) continue;
    double before = 0, given = 0;  // what prescribed bodies do is in the value reached
    for (int i = 0; i < hold.row.count; ++i) {
      const int body = hold.row.body[i];
      const bool prescribed = input.model->bodies[body].kind == BodyKind::Kinematic;
      (prescribed ? given : before) += calc_part(hold.row.row[i], way[body]);
    }
    made->problem.c[row] =
        linear ? given + (hold.start - hold.kept) / input.h : (hold.reached - hold.kept) / input.h - before;
  }
}

void AxisEnds::add_first(const StepProblem& made, const Solution& solution, std::vector<Vec6>* sum) const {
  for (const Hold& hold : holds_) {
    const int row = made.map.joint_row[hold.slot];
    if (row < 0 || !made.joint_end.split[hold.slot]) continue;
    for (int i = 0; i < hold.row.count; ++i) (*sum)[hold.row.body[i]] += solution.lambda[row] * hold.row.row[i];
  }
}

// ---------------------------------------------------------------- the end

void AxisEnds::find_acting(const StepInput& input, const StepProblem& made, const Solution& solution, const State& next,
                           std::span<const AxisRow> axes, bool all) {
  acting_.clear();
  const Model& model = *input.model;
  for (std::size_t k = 0; k < model.axes.size() && has_rotors_; ++k) {
    const Axis& axis = model.axes[k];
    if (axis.armature_row < 0 || made.map.joint_row[axis.armature_row] < 0) continue;
    const AxisRow& start = made.joint_end.start->axes[k];
    const double impulse = made.joint_unit(axis.armature_row) * solution.lambda[made.map.joint_row[axis.armature_row]];
    const double rate =
        calc_pair_speed(input.state->velocity, start.body_a, start.body_b, start.row) - impulse / axis.armature;
    double left = -rate;
    double sum = std::abs(rate) + input.h * model.gravity.norm() * calc_axis_size(model, axis) /
                                      calc_joint_size(model, model.joints[axis.joint]);
    for (const bool of_b : {false, true}) {
      const int body = of_b ? axes[k].body_b : axes[k].body_a;
      if (body == kWorld) continue;
      const Vec6& part = of_b ? axes[k].row.b : axes[k].row.a;
      left += calc_part(part, next.velocity[body]);
      sum += part.head<3>().norm() * next.velocity[body].linear.norm() +
             part.tail<3>().norm() * next.velocity[body].angular.norm();
    }
    if (all || made.joint_end.split[axis.armature_row] || std::abs(left) > kRateRounding * sum)
      acting_.push_back({static_cast<int>(k), rate});
  }
}

std::span<const char> AxisEnds::find_moved(const Model& model, std::span<const AxisRow> axes) {
  moved_.assign(model.bodies.size(), 0);
  for (const Acting& acting : acting_)
    for (const int body : {axes[acting.axis].body_a, axes[acting.axis].body_b})
      if (body >= 0) moved_[body] = 1;
  return moved_;
}

void AxisEnds::add_rows(const StepInput& at_end, std::span<const AxisRow> axes, Problem* problem, RowMap* map) const {
  for (const Acting& acting : acting_)
    add_rotor_row(at_end, at_end.model->axes[acting.axis], axes[acting.axis], -acting.rate, problem, map);
}

void AxisEnds::add_last(const Model& model, std::span<const AxisRow> axes, std::span<const double> impulse,
                        std::vector<Vec6>* sum) const {
  for (const Acting& acting : acting_) {
    const AxisRow& at = axes[acting.axis];
    const double size = impulse[model.axes[acting.axis].armature_row];
    if (at.body_a >= 0) (*sum)[at.body_a] += size * at.row.a;
    if (at.body_b >= 0) (*sum)[at.body_b] += size * at.row.b;
  }
}

}  // namespace slipstick
