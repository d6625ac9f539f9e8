// One row block when all others are held: the local problems of projected Gauss-Seidel [LacoursiereLinde11, 21.1].
#pragma once

#include <slipstick/solver.h>

#include "solve/solvers/one_contact.h"

namespace slipstick {

/// The data of a block's local problem.
struct LocalRows {
  const RowBlock* block = nullptr;
  const double* lower = nullptr;  ///< the block's own rows
  const double* upper = nullptr;
  const double* delassus = nullptr;        ///< D = J A^-1 J^T + C + W of the block, row-major
  const double* inverse = nullptr;         ///< Equality: the pseudo-inverse of D, row-major
  const ContactMatrix* contact = nullptr;  ///< Friction
};

/// New impulses x of the block from its old ones and their velocities w; `relaxation` scales the correction. x is
/// admissible: within the bounds, or the friction limit of its own normal impulse.
void solve_local(LocalSolver local, double relaxation, const LocalRows& rows, const double* w, const double* old,
                 double* x);

/// A code of the block's state: open, sticking or sliding; for other laws which rows are at a bound.
int calc_local_state(const LocalRows& rows, const double* x);

}  // namespace slipstick
