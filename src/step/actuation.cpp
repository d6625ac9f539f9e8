#include "step/actuation.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/se3.h"
#include "mechanics/drive.h"
#include "step/assemble.h"

namespace slipstick {

namespace {

/// A motor with stiffness but no damping needs gamma > 0 (as compliant joints do, assemble.cpp).
constexpr double kLeastMotorGamma = 1e-3;

Vec6 as_motion(const Twist& v) {
  Vec6 u;
  u << v.linear, v.angular;
  return u;
}

bool moves_freely(const RowMap& map, int body) { return body >= 0 && map.column_of_body[body] >= 0; }

/// A Box row on one axis; `offset` and `compliance` as in (P2), the bound in N s.
void add_box_row(const StepInput& input, const AxisRow& axis, SolveMode mode, int slot, double offset,
                 double compliance, double bound, Problem* problem, RowMap* map) {
  if (!moves_freely(*map, axis.body_a) && !moves_freely(*map, axis.body_b)) return;
  RowBlock& block = problem->add_block(std::isfinite(bound) ? LawKind::Box : LawKind::Equality, 1);
  block.mode = mode;
  const int row = block.row;
  map->joint_row[slot] = row;
  problem->c[row] = offset;
  problem->compliance[row] = compliance;
  if (std::isfinite(bound)) {
    problem->lower[row] = -bound;
    problem->upper[row] = bound;
  }
  add_pair_entries(input, *map, axis.body_a, axis.body_b, {&axis.row, 1}, problem);
}

/// The speed that a motor without stiffness asks for at the end of the step, `speed` being that at its start. How far
/// it has to go is taken at the start for alpha = 1, and for 1/2 at the end, where the coordinate is the present one
/// and h times the mean of both speeds.
double calc_motor_speed(const DrivenMotor& driven, double alpha, double coordinate, double speed, double t, double h) {
  const Motor& motor = driven.motor;
  const double target = driven.target(t + h);
  if (!motor.drives_position) return target;
  const double part = (1 - alpha) * h, most = driven.max_speed(t + h);
  return std::clamp((target - coordinate - part * speed) / (std::max(motor.time, h) + part), -most, most);
}

/// Mean force of a source over the step, as that of loads.
double calc_mean_torque(const DrivenMotor& driven, double alpha, double t, double h) {
  const double end = alpha * driven.torque(t + h);
  return alpha < 1 ? (1 - alpha) * driven.torque(t) + end : end;
}

void add_motor_row(const StepInput& input, const Weights& w, std::size_t k, const AxisRow& at, Problem* problem,
                   RowMap* map) {
  const Axis& axis = input.model->axes[k];
  const DrivenMotor driven(axis, input.drive, k);
  const Motor& motor = driven.motor;
  const SolveMode mode = input.model->joints[axis.joint].solve;
  const double h = input.h, t = input.state->time;
  if (driven.is_source()) {
    add_pair_impulse(input, *map, at.body_a, at.body_b, at.row, w.alpha * h * calc_mean_torque(driven, w.alpha, t, h),
                     problem);
    return;
  }
  const double bound = w.alpha * h * driven.max(t + w.alpha * h);
  const double speed = calc_pair_speed(input.state->velocity, at.body_a, at.body_b, at.row);
  if (!motor.drives_position || (motor.stiffness == 0 && motor.damping == 0)) {
    if (motor.damping > 0) {  // to a speed: u is that at t + alpha h
      const double target = driven.target(t + w.alpha * h);
      add_box_row(input, at, mode, axis.motor_row, -target, 1 / (w.alpha * h * motor.damping), bound, problem, map);
      return;
    }
    const double target = calc_motor_speed(driven, w.alpha, at.value, speed, t, h);
    add_box_row(input, at, mode, axis.motor_row, -(1 - w.alpha) * speed - w.alpha * target, 0, bound, problem, map);
    return;
  }
  const double gamma = std::max(w.gamma, kLeastMotorGamma);
  const double s = w.alpha * h * (gamma * h * motor.stiffness + motor.damping);
  const double elongation = at.value - driven.target(t + w.alpha * h) + (w.alpha - gamma) * h * speed;
  add_box_row(input, at, mode, axis.motor_row, w.alpha * h * motor.stiffness * elongation / s, 1 / s, bound, problem,
              map);
}

/// What the row's own speed gains in the step by the row's turning alone, velocities being as they are: the rotor of a
/// slide on a turning arm is thrown outwards with the slide.
double calc_row_drift(const StepInput& input, const Axis& axis, const AxisRow& at, std::span<const Twist> velocity) {
  if (!(input.h > 0)) return 0;
  thread_local std::vector<Pose> moved;  // two of them are looked at
  moved.resize(input.state->pose.size());
  const auto speed_at = [&](double h) {
    for (const int body : {at.body_a, at.body_b})
      if (body >= 0) moved[body] = move(input.state->pose[body], velocity[body], h);
    const AxisRow row = calc_axis_row(*input.model, moved, axis, at.value);
    return calc_pair_speed(velocity, at.body_a, at.body_b, row.row);
  };
  return speed_at(input.h) - speed_at(0);
}

/// Mean speed of one side over the step; for prescribed bodies what was prescribed.
double calc_mean_speed(const StepInput& input, const State& next, int body, const Vec6& part, bool* given) {
  *given = false;
  if (body < 0) return 0;
  *given = input.model->bodies[body].kind == BodyKind::Kinematic;
  if (*given) return part.dot(as_motion(input.prescribed[body]));
  return 0.5 * part.dot(as_motion(input.state->velocity[body]) + as_motion(next.velocity[body]));
}

}  // namespace

void add_coupling_row(const StepInput& input, const CouplingRow& coupling, const Coupling& made, double offset,
                      Problem* problem, RowMap* map) {
  bool any = false;
  for (int k = 0; k < coupling.count; ++k) any = any || moves_freely(*map, coupling.body[k]);
  if (!any) return;
  RowBlock& block = problem->add_block(LawKind::Equality, 1);
  block.mode = input.model->joints[made.joint].solve;
  const int row = block.row;
  map->joint_row[made.row] = row;
  problem->c[row] = offset;
  for (int k = 0; k < coupling.count; ++k) {
    const int i = coupling.body[k];
    const Body& body = input.model->bodies[i];
    if (moves_freely(*map, i)) {
      BlockMap entry = problem->add_entry(map->column_of_body[i]);
      for (int j = 0; j < body.dof; ++j) entry(0, j) = coupling.row[k].dot(body.free_basis().col(j));
    } else if (body.kind == BodyKind::Kinematic) {
      problem->c[row] += coupling.row[k].dot(as_motion(input.prescribed[i]));
    }
  }
}

void add_rotor_row(const StepInput& input, const Axis& axis, const AxisRow& at, double offset, Problem* problem,
                   RowMap* map) {
  if (!moves_freely(*map, at.body_a) && !moves_freely(*map, at.body_b)) return;
  RowBlock& block = problem->add_block(LawKind::Equality, 1);
  block.mode = input.model->joints[axis.joint].solve;
  const int row = block.row;
  map->joint_row[axis.armature_row] = row;
  problem->c[row] = offset;
  problem->compliance[row] = 1 / axis.armature;
  add_pair_entries(input, *map, at.body_a, at.body_b, {&at.row, 1}, problem);
}

void add_axis_rows(const StepInput& input, const Weights& weights, const Equations& equations, double stabilization,
                   Problem* problem, RowMap* map, std::span<const Twist> velocity, std::span<const AxisRow> rotors) {
  const Model& model = *input.model;
  if (velocity.empty()) velocity = input.state->velocity;
  for (std::size_t k = 0; k < equations.couplings.size(); ++k) {
    const CouplingRow& coupling = equations.couplings[k];
    const double offset = input.h > 0 ? stabilization * coupling.value / input.h_nominal : 0;
    add_coupling_row(input, coupling, model.couplings[k], offset, problem, map);
  }
  for (std::size_t k = 0; k < equations.axes.size(); ++k) {
    if (!(model.axes[k].armature > 0)) continue;
    const AxisRow& at = rotors.empty() ? equations.axes[k] : rotors[k];
    const double before = calc_pair_speed(velocity, at.body_a, at.body_b, at.row);
    const double offset = 0.5 * calc_row_drift(input, model.axes[k], at, velocity) - before;
    add_rotor_row(input, model.axes[k], at, offset, problem, map);
  }
  if (!(input.h > 0)) return;
  for (std::size_t k = 0; k < equations.axes.size(); ++k) {
    const Axis& axis = model.axes[k];
    const AxisRow& at = equations.axes[k];
    if (axis.motor) add_motor_row(input, weights, k, at, problem, map);
    if (!(axis.friction > 0)) continue;
    const double speed = calc_pair_speed(input.state->velocity, at.body_a, at.body_b, at.row);
    add_box_row(input, at, model.joints[axis.joint].solve, axis.friction_row, -(1 - weights.alpha) * speed, 0,
                weights.alpha * input.h * axis.friction, problem, map);
  }
}

std::optional<double> calc_source_torque(const StepInput& input, double alpha, std::size_t axis) {
  const Axis& made = input.model->axes[axis];
  if (!made.motor) return std::nullopt;
  const DrivenMotor driven(made, input.drive, axis);
  if (!driven.is_source()) return std::nullopt;
  return calc_mean_torque(driven, alpha, input.state->time, input.h);
}

void add_axis_work(const StepInput& input, const StepProblem& made, const Solution& solution, const State& next,
                   EnergyLedger* ledger) {
  const Model& model = *input.model;
  const Equations& eq = *made.equations;
  const auto impulse = [&](int slot) { return slot < 0 ? 0.0 : made.calc_joint_impulse(slot, solution); };
  bool given = false;
  for (std::size_t k = 0; k < eq.axes.size(); ++k) {
    const auto source = calc_source_torque(input, 1 / made.impulse_scale, k);
    const double motor = source ? input.h * *source : impulse(model.axes[k].motor_row);
    const double friction = impulse(model.axes[k].friction_row), rotor = impulse(model.axes[k].armature_row);
    if (motor == 0 && friction == 0 && rotor == 0) continue;
    for (const bool of_b : {false, true}) {
      const AxisRow& axis = eq.axes[k];
      const double speed =
          calc_mean_speed(input, next, of_b ? axis.body_b : axis.body_a, of_b ? axis.row.b : axis.row.a, &given);
      ledger->motor += motor * speed;
      ledger->friction += friction * speed;
      if (given) ledger->kinematic -= (motor + friction + rotor) * speed;
    }
  }
  for (std::size_t k = 0; k < eq.couplings.size(); ++k) {
    const double held = impulse(model.couplings[k].row);
    for (int i = 0; i < eq.couplings[k].count; ++i) {
      const double speed = calc_mean_speed(input, next, eq.couplings[k].body[i], eq.couplings[k].row[i], &given);
      if (given) ledger->kinematic -= held * speed;
    }
  }
}

}  // namespace slipstick
