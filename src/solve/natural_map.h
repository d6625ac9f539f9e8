// The natural map, which is zero exactly at solutions. [methods 8.1]:
//
//   F_i = ( lambda_i - P_{K_i}( lambda_i - rho_i (w_i + s_i n) ) ) / rho_i,   rho_i = 1 / mean(diag of the Delassus
//   block)
//
// s_i the De Saxce term (laws.h); equality rows: F_i = w_i. The judge's relative residual is ||F|| over the scale
// below.
#pragma once

#include <slipstick/problem.h>

#include <vector>

namespace slipstick {

/// An offset q below this part of the terms of which it is the sum has no 9 digits left.
inline constexpr double kCancelled = 1e-7;
/// A map relative to kCancelled ||T|| has no digits below this: the last one of T.
inline constexpr double kLastDigit = 0x1p-52 / kCancelled;

/// The block's part of F into f; lambda and w point to the block's own rows, s is its De Saxce term.
void update_natural_map(const Problem& problem, const RowBlock& block, double rho, double s, const double* lambda,
                        const double* w, double* f);

/// max(||q||, kCancelled ||T||), T_r = |J_r| (|A^-1 b| + |x|) + |c_r|, x as in Problem::place: where q is what rounding
/// left of larger terms (bodies that fall or drift together) no impulse could make F smaller than the last bits of T.
/// free_velocity = A^-1 b, q = J A^-1 b + c.
double calc_residual_scale(const Problem& problem, const VecX& free_velocity, const VecX& q);

/// ||F||_2 for a solver's own use; `certify` still has the last word. rho of each block; w: with compliance and
/// coupling; `saxce`: De Saxce's terms on the normal rows where they are frozen, null: those of w.
double calc_natural_map_norm(const Problem& problem, const std::vector<double>& rho, const VecX& x, const VecX& w,
                             const VecX* saxce = nullptr);
/// || J v || of the rows that push, or hold, from u = J v + c: how fast bodies go into each other, or come apart, by
/// their velocities alone.
double calc_creep_norm(const Problem& problem, const VecX& x, const VecX& u);
/// norm / scale with 0 / 0 = 0, infinite where it is not finite.
double calc_relative(double norm, double scale);

}  // namespace slipstick
