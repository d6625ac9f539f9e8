// Shared by the schemes: columns and rows of a Problem from a model and its equations.
#pragma once

#include "step/scheme.h"

namespace slipstick {

/// One column a dynamic body with free directions: A = S^T (M - gyroscopic) S, b = S^T momentum.
/// `gyroscopic` (body angular block, or null) is subtracted from the inertia; see the schemes.
void add_body_column(const Body& body, const Vec6& momentum, const Mat3* gyroscopic, Problem* problem);

/// Starts a problem: clears it and numbers the columns of all bodies with unknowns.
void begin_problem(const Model& model, Problem* problem, RowMap* map);

/// Adds the Jacobian of rows [0, count) to the last row block, and the velocity of prescribed bodies to c.
void add_pair_entries(const StepInput& input, const RowMap& map, int body_a, int body_b, std::span<const PairRow> rows,
                      Problem* problem);

/// Equality rows of all joints; rows that no freedom can move are left out (planar scenes, locked directions).
/// A rigid row's offset is stabilization * error / h_nominal; one with compliance is a spring (below). In an impact
/// (h = 0) there are no offsets, and compliant joints take no part.
void add_joint_rows(const StepInput& input, const Weights& weights, const std::vector<JointRows>& joints,
                    double stabilization, Problem* problem, RowMap* map);

/// Springs and dampers as compliant equality rows, [methods 7.1]:
///   g^T u + C l + C alpha h [k phi + (alpha - gamma) k h g^T v] = 0,  C = 1/(alpha gamma h^2 k + alpha h d).
/// No entry grows with k: k -> infinity is the rigid link. A spring with 1/C = 0 (gamma = 0, d = 0) is an explicit
/// force.
void add_spring_rows(const StepInput& input, const Weights& weights, const std::vector<SpringRows>& springs,
                     Problem* problem, RowMap* map);

/// Whether any freedom of the two bodies can move the row.
bool is_row_movable(const StepInput& input, const RowMap& map, int body_a, int body_b, const PairRow& row);

/// Adds row^T impulse of a pair to b.
void add_pair_impulse(const StepInput& input, const RowMap& map, int body_a, int body_b, const PairRow& row,
                      double impulse, Problem* problem);

/// row . v of the given velocities; the world's side is zero.
double calc_pair_speed(std::span<const Twist> velocity, int body_a, int body_b, const PairRow& row);

/// row M^-1 row^T over the free directions of the pair: what a unit impulse changes, without joints.
double calc_pair_mobility(const Model& model, int body_a, int body_b, const PairRow& row);

/// Directions about which the body may turn.
int count_free_rotations(const Body& body);

/// Contacts: normal offset c_n[i] in m/s, one entry per contact; an infinite offset leaves the contact out.
void add_contact_rows(const StepInput& input, const std::vector<ContactRows>& contacts, std::span<const double> offset,
                      Problem* problem, RowMap* map);

/// Body velocity of column data: v = S eta; prescribed bodies keep their own.
Twist calc_body_twist(const StepInput& input, const RowMap& map, const Problem& problem, const VecX& v, int body);

/// Angular velocity after a torque-free step, respecting locked rotations (kinetic energy kept).
Vec3 calc_gyroscopic_turn(const Body& body, const Vec3& omega, double h);

}  // namespace slipstick
