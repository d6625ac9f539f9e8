// What a spring at a contact may carry, one row block at a time, for the choice among impulses (unique_forces.h):
//
//   still:   x = P_K(y)                                        y the impulse that the spring alone would have
//   slides:  x_n = max(0, y_n), x_t = P(y_t) on the disk of radius mu x_n; y_t is far outside, against the slip.
//            Polygons: x_t follows x_n in a direction that is given.
#pragma once

#include <cmath>

#include "solve/solvers/newton_laws.h"

namespace slipstick {

/// Friction whose limit is a polygon.
inline bool has_polygon(const RowBlock& block) { return block.size == 3 && block.friction != FrictionModel::Cone; }

/// Of a friction block's x or w.
inline double tangent_length(const RowBlock& block, const double* x) {
  double sum = 0;
  for (int k = 1; k < block.size; ++k) sum += x[k] * x[k];
  return std::sqrt(sum);
}

/// x and, unless null, D = (dx/dy) R^-1, row-major; not for equalities. weight: R of each row, one value for all
/// tangents. follow: x_t / x_n of polygons that slide, by the block's rows. *symmetric: whether D is.
void update_spring_law(const LawRows& rows, bool slides, const double* follow, const double* weight, const double* y,
                       double* x, double* d, bool* symmetric);

/// Where y lies: equal codes, the same linear piece (but for the curvature of the cone). x is that of y.
int find_spring_code(const RowBlock& block, bool slides, const double* y, const double* x);

}  // namespace slipstick
