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
void add_joint_rows(const StepInput& input, const std::vector<JointRows>& joints, double stabilization,
                    Problem* problem, RowMap* map);

/// Springs and dampers as compliant equality rows (alpha = gamma = 1), [METHODS 7]:
///   g^T u + C l + C h k phi = 0,  C = 1/(h^2 k + h d).
void add_spring_rows(const StepInput& input, const std::vector<SpringRows>& springs, Problem* problem, RowMap* map);

/// Contacts: normal offset c_n[i] in m/s, one entry a contact; an infinite offset leaves the contact out.
void add_contact_rows(const StepInput& input, const std::vector<ContactRows>& contacts, std::span<const double> offset,
                      Problem* problem, RowMap* map);

/// Body velocity of column data: v = S eta; prescribed bodies keep their own.
Twist calc_body_twist(const StepInput& input, const RowMap& map, const Problem& problem, const VecX& v, int body);

/// Angular velocity after a torque-free step, respecting locked rotations (kinetic energy kept).
Vec3 calc_gyroscopic_turn(const Body& body, const Vec3& omega, double h);

}  // namespace slipstick
