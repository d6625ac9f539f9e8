#include "solve/spring_law.h"

#include <algorithm>
#include <cmath>

#include "solve/laws.h"

namespace slipstick {

namespace {

/// The disk (interval) of radius mu x_n for one limit.
void update_limit(const FrictionLimit& limit, double mu, int m, const double* weight, const double* y, double* x,
                  double* d) {
  const double length = limit_length(limit, y), radius = mu * x[0];
  const bool inside = length <= radius;
  for (int k = limit.first; k < limit.first + limit.size; ++k) {
    x[k] = inside ? y[k] : y[k] * (radius / length);
    if (d == nullptr) continue;
    if (inside) {
      d[k * m + k] = 1 / weight[k];
      continue;
    }
    d[k * m] = mu * y[k] / length * d[0];
    for (int l = limit.first; l < limit.first + limit.size && limit.size > 1; ++l)
      d[k * m + l] = radius / length * ((k == l) - y[k] * y[l] / (length * length)) / weight[l];
  }
}

}  // namespace

void update_spring_law(const LawRows& rows, bool slides, const double* follow, const double* weight, const double* y,
                       double* x, double* d, bool* symmetric) {
  const RowBlock& block = *rows.block;
  const int m = block.size;
  *symmetric = true;
  if (!slides) return update_resolvent(rows, weight, y, x, d);
  if (d != nullptr) std::fill(d, d + m * m, 0.0);
  std::fill(x, x + m, 0.0);
  if (!(y[0] > 0)) return;
  *symmetric = false;
  x[0] = y[0];
  if (d != nullptr) d[0] = 1 / weight[0];
  if (has_polygon(block)) {
    for (int k = 1; k < m; ++k) {
      x[k] = follow[k] * x[0];
      if (d != nullptr) d[k * m] = follow[k] * d[0];
    }
    return;
  }
  FrictionLimit limit[kMostLimits];
  const int count = friction_limits(block, limit);
  for (int i = 0; i < count; ++i) update_limit(limit[i], block.mu, m, weight, y, x, d);
}

int find_spring_code(const RowBlock& block, bool slides, const double* y, const double* x) {
  if (block.law != LawKind::Friction) {
    int code = 0;
    for (int k = 0; k < block.size; ++k) code = 2 * code + (x[k] == y[k]);
    return code;
  }
  if (!(x[0] > 0)) return 0;
  if (slides) return 3;
  double off = 0;
  for (int k = 0; k < block.size; ++k) off = std::max(off, std::abs(x[k] - y[k]));
  return off <= 1e-12 * x[0] ? 1 : 2;
}

}  // namespace slipstick
