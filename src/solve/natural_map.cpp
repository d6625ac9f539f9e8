#include "solve/natural_map.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "solve/laws.h"

namespace slipstick {

namespace {

/// Of the speed x with x^T A x = Problem::place, what a column can have of it along unknown i, squared: its mass is
/// taken for diagonal here, which that of a free body is but for the anisotropy of its inertia.
double calc_place(const Problem& problem, int column, int i) {
  if (problem.place.empty()) return 0;
  return problem.place[column] / problem.mass_block(column)(i, i);
}

/// || |J| |v| + |c| ||, with places beside v: the size of the terms of which q is the sum.
double calc_term_size(const Problem& problem, const VecX& v) {
  double sum = 0;
  for (const RowBlock& block : problem.blocks) {
    for (int k = 0; k < block.size; ++k) {
      double term = std::abs(problem.c[block.row + k]);
      for (int e = block.entry; e < block.entry + block.entries; ++e) {
        const JacobianEntry& entry = problem.entries[e];
        const int n = problem.column_size(entry.column), first = problem.column_start[entry.column];
        const double* j = problem.jacobian.data() + entry.offset + k * n;
        double place = 0;
        for (int i = 0; i < n; ++i) {
          term += std::abs(j[i] * v[first + i]);
          place += j[i] * j[i] * calc_place(problem, entry.column, i);
        }
        term += std::sqrt(place);
      }
      sum += term * term;
    }
  }
  return std::sqrt(sum);
}

/// An upper bound of it that costs next to nothing: |J_r| |v| <= sqrt(6 entries) max|J| ||v||.
double bound_term_size(const Problem& problem, const VecX& v) {
  const Eigen::Map<const VecX> jacobian(problem.jacobian.data(), static_cast<int>(problem.jacobian.size()));
  const double largest = jacobian.size() > 0 ? jacobian.cwiseAbs().maxCoeff() : 0;
  int entries = 0;
  for (const RowBlock& block : problem.blocks) entries = std::max(entries, block.entries);
  double place = 0;
  for (int k = 0; k < problem.columns(); ++k)
    for (int i = 0; i < problem.column_size(k); ++i) place = std::max(place, calc_place(problem, k, i));
  const double image = std::sqrt(6.0 * entries * problem.rows()) * largest * (v.norm() + std::sqrt(entries * place));
  return image + Eigen::Map<const VecX>(problem.c.data(), problem.rows()).norm();
}

}  // namespace

void update_natural_map(const Problem& problem, const RowBlock& block, double rho, double s, const double* lambda,
                        const double* w, double* f) {
  if (block.law == LawKind::Equality) {
    std::copy(w, w + block.size, f);
    return;
  }
  // F = w + s n + (y - P(y)) / rho with y = lambda - rho (w + s n): the same number, but a huge lambda cannot swallow w
  // where y is admissible, and an impossible problem cannot look solved.
  double y[6];
  const double soft = 1 / rho;
  for (int k = 0; k < block.size; ++k) y[k] = f[k] = lambda[k] - rho * (w[k] + (k == 0 ? s : 0));
  project_impulse(block, problem.lower.data() + block.row, problem.upper.data() + block.row, f);
  for (int k = 0; k < block.size; ++k) f[k] = w[k] + (k == 0 ? s : 0) + (y[k] - f[k]) * soft;
}

double calc_residual_scale(const Problem& problem, const VecX& free_velocity, const VecX& q) {
  const double norm = q.norm();
  if (norm >= kCancelled * bound_term_size(problem, free_velocity)) return norm;
  return std::max(norm, kCancelled * calc_term_size(problem, free_velocity));
}

double calc_natural_map_norm(const Problem& problem, const std::vector<double>& rho, const VecX& x, const VecX& w,
                             const VecX* saxce) {
  double sum = 0;
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
    const RowBlock& block = problem.blocks[i];
    const double* w_i = w.data() + block.row;
    if (block.law == LawKind::Equality) {  // F is w
      for (int k = 0; k < block.size; ++k) sum += w_i[k] * w_i[k];
      continue;
    }
    double s = 0, f[6];
    if (block.law == LawKind::Friction) s = saxce ? (*saxce)[block.row] : de_saxce_term(block, w_i);
    update_natural_map(problem, block, rho[i], s, x.data() + block.row, w_i, f);
    for (int k = 0; k < block.size; ++k) sum += f[k] * f[k];
  }
  return std::sqrt(sum);
}

double calc_creep_norm(const Problem& problem, const VecX& x, const VecX& u) {
  double sum = 0;
  for (const RowBlock& block : problem.blocks) {
    if (block.law == LawKind::Box) continue;
    const int end = block.row + (block.law == LawKind::Friction ? 1 : block.size);
    for (int r = block.row; r < end; ++r) {
      if (block.law != LawKind::Equality && !(x[r] > 0)) continue;
      const double image = u[r] - problem.c[r];
      sum += image * image;
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
