// Shared by the schemes: columns and rows of a Problem from a model and its equations.
#pragma once

#include "base/se3.h"
#include "base/thread_team.h"
#include "step/scheme.h"

namespace slipstick {

/// One column a dynamic body with free directions: A = S^T (M - gyroscopic) S, b = S^T momentum.
/// `gyroscopic` (body angular block, or null) is subtracted from the inertia; see the schemes.
void add_body_column(const Body& body, const Vec6& momentum, const Mat3* gyroscopic, Problem* problem);

/// The same for all of them in two steps, so that many can fill in their numbers at the same time: first the columns.
void add_body_columns(const Model& model, const RowMap& map, Problem* problem);
void fill_body_column(const Body& body, const Vec6& momentum, const Mat3* gyroscopic, int column, Problem* problem);

/// Starts a problem: clears it and numbers the columns of all bodies with unknowns. `taking_part`, per body: only
/// those; empty: all.
void begin_problem(const Model& model, Problem* problem, RowMap* map, std::span<const char> taking_part = {});

/// Adds the Jacobian of rows [0, count) to the last row block, and the velocity of prescribed bodies to c.
void add_pair_entries(const StepInput& input, const RowMap& map, int body_a, int body_b, std::span<const PairRow> rows,
                      Problem* problem);

/// The same in two steps: the entries of the last row block, and the numbers of its rows from `first` on.
void add_pair_columns(const RowMap& map, int body_a, int body_b, Problem* problem);
void fill_pair_entries(const StepInput& input, const RowMap& map, int body_a, int body_b, int first,
                       std::span<const PairRow> rows, const RowBlock& block, Problem* problem);

/// Contacts and bodies that a thread takes at a time.
inline constexpr std::size_t kContactPortion = 512, kBodyPortion = 256;

/// Makes room for so many more row blocks of a pair of bodies, with so many rows each.
void reserve_rows(std::size_t blocks, std::size_t rows, Problem* problem);

/// Equality rows of all joints; rows that no freedom can move are left out (planar scenes, locked directions).
/// A rigid row's offset is stabilization * error / h_nominal; one with compliance is a spring (below). In an impact
/// (h = 0) there are no offsets, and compliant joints take no part.
void add_joint_rows(const StepInput& input, const Weights& weights, const std::vector<JointRows>& joints,
                    double stabilization, Problem* problem, RowMap* map);

/// Springs and dampers as compliant equality rows, [methods 7.1]:
///   g^T u + C l + C alpha h [k phi + (alpha - gamma) k h g^T v] = 0,  C = 1/(alpha gamma h^2 k + alpha h d).
/// No entry grows with k: k -> infinity is the rigid link. A spring with 1/C = 0 (gamma = 0, d = 0) is an explicit
/// force. `before`: one that flies is a force for so long, s, and its damper a row (alpha = gamma = 1; flight.h).
void add_spring_rows(const StepInput& input, const Weights& weights, const std::vector<SpringRows>& springs,
                     std::span<const double> before, Problem* problem, RowMap* map);

/// Whether any freedom of the two bodies can move the row.
bool is_row_movable(const StepInput& input, const RowMap& map, int body_a, int body_b, const PairRow& row);

/// Adds row^T impulse of a pair to b.
void add_pair_impulse(const StepInput& input, const RowMap& map, int body_a, int body_b, const PairRow& row,
                      double impulse, Problem* problem);

/// row M^-1 row^T over the free directions of the pair: what a unit impulse changes, without joints.
double calc_pair_mobility(const Model& model, int body_a, int body_b, const PairRow& row);

/// Directions about which the body may turn.
int count_free_rotations(const Body& body);

/// Contacts: normal offset c_n[i] in m/s, one entry per contact; an infinite offset leaves the contact out.
void add_contact_rows(const StepInput& input, const std::vector<ContactRows>& contacts, std::span<const double> offset,
                      Problem* problem, RowMap* map);

/// The largest normal lambda of all contacts.
double calc_largest_normal(const StepProblem& made, const Solution& solution);

/// Body velocity of column data: v = S eta; prescribed bodies keep their own.
Twist calc_body_twist(const StepInput& input, const RowMap& map, const Problem& problem, const VecX& v, int body);

/// Which bodies have their momentum carried from the old body axes into the new ones (calc_carried_spin): all rotations
/// are free.
void update_turning(const StepInput& input, const RowMap& map, std::vector<char>* turning);

/// The angular momentum that A = I starts from, for a body that turns from `omega` under the torque impulse `torque`, N
/// m s. `turning`: the unknown is the velocity u with which the pose moves, and `moment` what I u leaves out of the
/// momentum (calc_turn_moment). Otherwise it is the velocity at the end.
Vec3 calc_turning_momentum(const Body& body, bool turning, const Vec3& omega, const Vec3& torque, double h,
                           Vec3* moment);

/// omega after a turn with `u`, in its own body axes, of a body that has the momentum p in those before it: momentum
/// stays where it is in the world. A body that turns by more than calc_resolved_turn allows keeps energy and the size
/// of its momentum instead.
inline Vec3 calc_carried_spin(const Body& body, const Vec3& p, const Vec3& u, double h) {
  return body.inertia_inverse * (exp_rotation(-calc_resolved_turn(u, h)) * p);
}

}  // namespace slipstick
