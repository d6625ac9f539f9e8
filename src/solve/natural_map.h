// The judge's residual block by block, for the judge and for solvers that watch their own progress by its formula.
#pragma once

#include <slipstick/problem.h>

#include <algorithm>
#include <cmath>

#include "solve/laws.h"

namespace slipstick {

/// q below this part of its terms has no 9 digits left: the relative residual then refers to the terms (certify.cpp).
inline constexpr double kCancelledPart = 1e-7;

/// || |J| |v| + |c| ||, the size of the terms of which q is the sum.
inline double calc_term_size(const Problem& problem, const VecX& v) {
  double sum = 0;
  for (const RowBlock& block : problem.blocks) {
    for (int k = 0; k < block.size; ++k) {
      double term = std::abs(problem.c[block.row + k]);
      for (int e = block.entry; e < block.entry + block.entries; ++e) {
        const JacobianEntry& entry = problem.entries[e];
        const int n = problem.column_size(entry.column), first = problem.column_start[entry.column];
        const double* j = problem.jacobian.data() + entry.offset + k * n;
        for (int i = 0; i < n; ++i) term += std::abs(j[i] * v[first + i]);
      }
      sum += term * term;
    }
  }
  return std::sqrt(sum);
}

/// The block's part of the natural map into f (block.size entries).
inline void update_natural_map(const Problem& problem, const RowBlock& block, double rho, const double* lambda,
                               const double* w, double* f) {
  if (block.law == LawKind::Equality) {
    std::copy(w, w + block.size, f);
    return;
  }
  // F = w + s n + (y - P(y)) / rho with y = lambda - rho (w + s n): the same number, but a huge lambda cannot swallow w
  // where y is admissible, and an impossible problem cannot look solved.
  const double s = block.law == LawKind::Friction ? de_saxce_term(block, w) : 0;
  double y[6];
  for (int k = 0; k < block.size; ++k) y[k] = f[k] = lambda[k] - rho * (w[k] + (k == 0 ? s : 0));
  project_impulse(block, problem.lower.data() + block.row, problem.upper.data() + block.row, f);
  for (int k = 0; k < block.size; ++k) f[k] = w[k] + (k == 0 ? s : 0) + (y[k] - f[k]) / rho;
}

}  // namespace slipstick
