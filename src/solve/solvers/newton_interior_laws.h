// The laws of row blocks for the interior-point phase: strictly admissible impulses x, a strictly dual slack for each,
// and the linearised central path  x o slack = tau  as a map  d x = g - D d u  (newton_laws.h).
//
//   Nonnegative  slack z = w > 0                         x z = tau
//   Box          slacks z_l - z_u = w                    (x - lo) z_l = (hi - x) z_u = tau
//   cone         slack in K*, = w + s n                  Nesterov and Todd's direction [NesterovTodd98]
//   pyramid      x = sum beta_k r_k over its rays r_k    beta_k (r_k . slack) = tau
#pragma once

#include <slipstick/problem.h>

#include "solve/solvers/newton_laws.h"

namespace slipstick {

/// Number of doubles a block keeps in its slack, and of complementarity products it has.
int interior_size(const RowBlock& block);
int interior_products(const LawRows& rows);

/// A well-centred start: impulses of size `impulse`, slacks of size `speed`.
void start_interior(const LawRows& rows, double impulse, double speed, double* x, double* slack);

/// Sum of x_k slack_k.
double calc_complementarity(const LawRows& rows, const double* x, const double* slack);

/// Everything a block's step needs beside its own state.
struct InteriorTarget {
  double tau = 0;        ///< wanted product
  double smoothing = 0;  ///< of |w_t| in the De Saxce term, m/s
  bool follow_saxce = false;  ///< s moves with w_t in the linearization
  const double* dx = nullptr;      ///< predictor step for the second-order correction, or null
  const double* dslack = nullptr;  ///< the same for the slack
};

/// The local map at (x, slack, w).
void update_interior_map(const LawRows& rows, const InteriorTarget& target, const double* x, const double* slack,
                         const double* w, double* d, double* g);
/// The slack's step that belongs to dx and du.
void update_interior_slack(const LawRows& rows, const InteriorTarget& target, const double* x, const double* slack,
                           const double* w, const double* dx, const double* du, double* dslack);
/// Largest step in [0, limit] that keeps x and slack admissible.
double find_interior_step(const LawRows& rows, const double* x, const double* slack, const double* dx,
                          const double* dslack, double limit);

}  // namespace slipstick
