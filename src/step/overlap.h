// Which position errors the velocities of a step may undo. A row with gap/h takes away what rounding and the
// linearization of a turn have left; a real overlap divided by h would be a speed that nothing paid for, so it is left
// to the correction (correction.h), and a joint that stands wide open is held as it stands.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "step/scheme.h"

namespace slipstick {

/// The bodies of a contact, or of the joint whose limit it is; kWorld where there is none.
std::array<int, 2> bodies_of(const Model& model, const Contact& contact);

/// The reach radius of the smaller body that has one; of limits the size of the joint, or 1 (rad).
double calc_contact_size(const Model& model, const Contact& contact);

/// What touching is a small share of, m: the larger body, or far from the origin a thousandth of the distance; of
/// limits as above. And what rest is a small share of, m/s (rad/s of turns): the speed that gravity gives over that
/// length; without gravity a hundredth of it in a step. No metre and no second is in them, so that scenes in
/// millimetres and microseconds do as those in metres and seconds (docs/decisions/0077).
double calc_touch_length(const Model& model, const Contact& contact);
double calc_slow_speed(const Model& model, double h, const Contact& contact);

/// How thick each body is, m: its least radius of gyration, 0.63 of a sphere's radius. Infinite for what does not move.
std::vector<double> calc_thicknesses(const Model& model);
/// That of the thinner body of a contact that is no limit.
double calc_thickness(std::span<const double> thicknesses, const Contact& contact);

/// The overlap, m or rad, up to which it is the row's: 1e-7 of the smaller body, and what a turn of the bodies within
/// the step makes of a linear gap, (omega h)^2 R.
double calc_slop(const Model& model, double h, std::span<const Twist> velocity, const Contact& contact);

/// The gap as the normal row reads it: zero where the overlap is real.
double calc_row_gap(const StepInput& input, const Contact& contact);

/// The length by which errors of a joint are measured: its own, its arms and its bodies, m.
double calc_joint_size(const Model& model, const Joint& joint);

/// Farther apart than 2 % of the joint's size, m, or 0.1 rad for a row that only turns, and than what a linear row
/// leaves after a step in which the bodies turn: the square of that turn.
bool stands_open(const Model& model, double h, std::span<const Twist> velocity, const JointRows& joint, int row);

/// The error as the row of the joint reads it: zero where the joint stands open.
double calc_row_error(const StepInput& input, const JointRows& joint, int row);

/// Joints that have come apart by more than half of their size, or half a radian, however fast their bodies turn, and
/// couplings by as much at each of their axes: what the step made of them is no motion of theirs.
bool has_torn(const Model& model, const State& state, std::span<const JointRows> joints);

/// Whether a body is so far from the origin that the last digit of its place is more of it than rounding may be.
bool is_blurred(const Body& body, const Vec3& position);

/// Joints that stand open.
int count_open_joints(const Model& model, double h, std::span<const Twist> velocity, std::span<const JointRows> joints);

}  // namespace slipstick
