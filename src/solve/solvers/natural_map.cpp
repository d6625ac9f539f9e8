#include "solve/solvers/natural_map.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "solve/laws.h"

namespace slipstick {

double calc_residual_scale(const Problem& p, const VecX& free_velocity, const VecX& q) {
  constexpr double kCancelled = 1e-7;  // as in certify.cpp
  double sum = 0;
  for (const RowBlock& block : p.blocks) {
    for (int k = 0; k < block.size; ++k) {
      double term = std::abs(p.c[block.row + k]);
      for (int e = block.entry; e < block.entry + block.entries; ++e) {
        const int n = p.column_size(p.entries[e].column), first = p.column_start[p.entries[e].column];
        const double* j = p.jacobian.data() + p.entries[e].offset + k * n;
        for (int i = 0; i < n; ++i) term += std::abs(j[i] * free_velocity[first + i]);
      }
      sum += term * term;
    }
  }
  return std::max(q.norm(), kCancelled * std::sqrt(sum));
}

double calc_natural_map_norm(const Problem& p, const std::vector<double>& rho, const VecX& x, const VecX& w) {
  double sum = 0;
  for (std::size_t i = 0; i < p.blocks.size(); ++i) {
    const RowBlock& block = p.blocks[i];
    const double* wi = w.data() + block.row;
    if (block.law == LawKind::Equality) {
      for (int k = 0; k < block.size; ++k) sum += wi[k] * wi[k];
      continue;
    }
    const double* xi = x.data() + block.row;
    const double s = block.law == LawKind::Friction ? de_saxce_term(block, wi) : 0;
    double f[6], y[6];
    for (int k = 0; k < block.size; ++k) y[k] = f[k] = xi[k] - rho[i] * (wi[k] + (k == 0 ? s : 0));
    project_impulse(block, p.lower.data() + block.row, p.upper.data() + block.row, f);
    for (int k = 0; k < block.size; ++k) {
      const double part = wi[k] + (k == 0 ? s : 0) + (y[k] - f[k]) / rho[i];
      sum += part * part;
    }
  }
  return std::sqrt(sum);
}

double calc_relative(double norm, double scale) {
  if (norm == 0) return 0;
  const double relative = norm / scale;
  return std::isfinite(relative) ? relative : std::numeric_limits<double>::infinity();
}

}  // namespace slipstick
