// The judge's residual (certify.cpp) for a solver's own use, from impulses and row velocities that the solver keeps:
// cheap enough for every iteration. `certify` still has the last word.
#pragma once

#include <slipstick/problem.h>

#include <vector>

namespace slipstick {

/// The denominator of the relative residual: ||q||, or the judge's floor where q is what rounding left of larger terms.
/// free_velocity = A^-1 b, q = J A^-1 b + c.
double calc_residual_scale(const Problem& problem, const VecX& free_velocity, const VecX& q);

/// ||F||_2 of the natural map. rho: 1 / mean Delassus diagonal of each block; w: with compliance and coupling.
double calc_natural_map_norm(const Problem& problem, const std::vector<double>& rho, const VecX& x, const VecX& w);

/// norm / scale with 0 / 0 = 0, infinite where it is not finite.
double calc_relative(double norm, double scale);

}  // namespace slipstick
