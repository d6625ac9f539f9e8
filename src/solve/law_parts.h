// The parts of a row block's law, each with its unit and measured against the block's own scale: what the judge says
// beside the natural map. The map sums everything up and divides the normal velocity by the coefficient of friction
// where that is large; here nothing is divided but by the Delassus diagonal that turns an impulse into the speed it
// causes at this very place.
#pragma once

#include <slipstick/solver.h>

namespace slipstick {

/// Of one row: the diagonal of its Delassus block (what an impulse of 1 N s does to the row's own speed) and the square
/// of the speed against which its errors are measured.
struct RowScale {
  double diagonal = 0;
  double square = 0;
  double floor = 0;  ///< m/s: the last bits of what the row's speed is the sum of; no error is below it
};

/// Raises `worst` to the worst part of the block's law. lambda, w and rows point to the block's own.
void find_worst_part(const Problem& problem, const RowBlock& block, const RowScale* rows, const double* lambda,
                     const double* w, WorstPart* worst);

/// value / sqrt(square) with 0 / 0 = 0, infinite where it is not finite.
double calc_share(double value, double square);

}  // namespace slipstick
