// Rows between and on the coordinates of joints: couplings, motors, dry friction. [methods 7.2]
#pragma once

#include <optional>
#include <span>

#include "step/scheme.h"

namespace slipstick {

/// After add_joint_rows, which prepares the map. Couplings are equality rows, c = stabilization * error / h_nominal.
/// Motors and friction are Box rows on the speed at the END of the step, which for alpha < 1 does not swing about its
/// target as the weighted one does:
///   row . u - (1 - alpha) row . v - alpha target,  |l| <= alpha h max.
/// A motor that is a source of force (MotorInput::torque) has no row: its impulse is in b, that of the mean (1 - alpha)
/// f(t) + alpha f(t + h). A motor that is a damper to a speed is one to that of t + alpha h.
/// A motor with stiffness is a spring and damper to its target (add_spring_rows) under the same bound.
/// A rotor (Axis::armature) of inertia J changes its speed as the coordinate does, l = -J (row . u - row . v + alpha h
/// d(row)/dt . v): a row with the compliance 1/J; the rest of what it does is at the end of the trial (axis_ends.h). In
/// an impact (h = 0) bounded forces do nothing: couplings and rotors alone are left; `velocity` is then the one before
/// it (empty: the state's). `rotors`: the rows of rotors, per axis, where they are not those of `equations` (empty:
/// they are).
void add_axis_rows(const StepInput& input, const Weights& weights, const Equations& equations, double stabilization,
                   Problem* problem, RowMap* map, std::span<const Twist> velocity = {},
                   std::span<const AxisRow> rotors = {});
/// row . u + offset = 0.
void add_coupling_row(const StepInput& input, const CouplingRow& coupling, const Coupling& made, double offset,
                      Problem* problem, RowMap* map);
/// row . u + offset + l/J = 0.
void add_rotor_row(const StepInput& input, const Axis& axis, const AxisRow& at, double offset, Problem* problem,
                   RowMap* map);

/// N or N m, over the step, of a motor that is nothing but a force (MotorInput::torque); nothing for other axes.
std::optional<double> calc_source_torque(const StepInput& input, double alpha, std::size_t axis);

/// Work of motors, of joint friction, and of prescribed bodies through all these rows.
void add_axis_work(const StepInput& input, const StepProblem& made, const Solution& solution, const State& next,
                   EnergyLedger* ledger);

}  // namespace slipstick
