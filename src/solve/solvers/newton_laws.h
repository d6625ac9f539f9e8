// The laws as the Newton solver sees them, one row block at a time: linear maps  d lambda = g - D d u  of the change of
// the block's row velocity u (its compliance excluded), for the two nonsmooth equations the solver works with.
//
//  * resolvent: lambda = P_K^R( R^-1 (delta lambda_k - u - s n) ) with the De Saxce term s frozen, R = C + delta. It is
//    the gradient of a convex function of u, D is symmetric.
//  * active: Coulomb's law in Alart and Curnier's form, lambda_n = max(0, y_n), lambda_t = P_{mu y_n P}(y_t) with
//    y = lambda - rho w, linearised. Sliding makes D non-symmetric.
#pragma once

#include <slipstick/problem.h>

namespace slipstick {

/// The data of one row block; the pointers are to its own rows.
struct LawRows {
  const RowBlock* block = nullptr;
  const double* lower = nullptr;
  const double* upper = nullptr;
  const double* compliance = nullptr;
};
inline LawRows law_rows(const Problem& problem, const RowBlock& block) {
  return {&block, problem.lower.data() + block.row, problem.upper.data() + block.row,
          problem.compliance.data() + block.row};
}

/// Weights of the proximal resolvent: R on return (rows of one block), with R >= C + delta. Friction blocks have one
/// value for the normal and one for all tangents, so that the projection in the metric R has a closed form.
void update_resolvent_weights(const LawRows& rows, double delta, double* weight);

/// lambda = P_K^R(y) and, unless null, D = (dP/dy) R^-1 (row-major, size x size). Not for equalities.
void update_resolvent(const LawRows& rows, const double* weight, const double* y, double* lambda, double* d);

/// The code of a contact of two or three rows that carries something and sticks.
inline constexpr int kStickCode = 1;
/// The linearised law at (lambda, w): fills D (row-major) and g, returns a code of the active set (equal codes: the
/// same active set) and sets *symmetric to whether D is. rho: natural-map scale; epsilon: proximal compliance that
/// keeps D finite. Not for equalities.
int update_active_map(const LawRows& rows, double rho, const double* epsilon, const double* lambda, const double* w,
                      double* d, double* g, bool* symmetric);

/// Moves x to the nearest admissible impulse with the normal part decided first (the point Alart and Curnier's law
/// means, not the projection onto the cone).
void clip_impulse(const LawRows& rows, double* x);

/// De Saxce's term of a friction block and its gradient by w_t (size - 1 entries; zero where |w_t| = 0).
double de_saxce_term_and_gradient(const RowBlock& block, const double* w, double* gradient);

}  // namespace slipstick
