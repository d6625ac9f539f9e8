// Newton steps in the impulses themselves where they are few: dense, with pivots, without a look at the structure of W.
#include <algorithm>
#include <cmath>

#include "solve/coupling_rows.h"
#include "solve/linalg/block_kernels.h"
#include "solve/solvers/newton_system.h"

namespace slipstick {

void SmallSystem::prepare(const Problem& problem) {
  problem_ = &problem;
  update_joint_diagonals(problem, MassBlocks());  // there are no columns
  const SparseRows& w = problem.coupling;
  const int n = problem.rows();
  std::fill_n(w_.begin(), n * n, 0.0);
  for (int r = 0; r < n; ++r)
    for (int k = w.start[r]; k < w.start[r + 1]; ++k) w_[r * n + w.column[k]] += w.value[k];
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
    const RowBlock& block = problem.blocks[i];
    mean_diagonal_[i] = 0;
    for (int r = block.row; r < block.row + block.size; ++r)
      mean_diagonal_[i] += (problem.compliance[r] + w_[r * n + r]) / block.size;
  }
}

void SmallSystem::update_state(const VecX& x, VecX* v, VecX* u) {
  v->resize(0);
  *u = Eigen::Map<const VecX>(problem_->c.data(), problem_->rows());
  add_coupled(problem_->coupling, 0, problem_->rows(), x.data(), u->data());
}

double SmallSystem::calc_step_work() const {
  const double n = problem_->rows();
  return NewtonSystem::calc_step_work(n * n * n / 3, *problem_);
}

/// I + D W, or R + W for equalities, rows scaled to order one.
bool SmallSystem::factor(const NewtonMaps& maps) {
  const int n = problem_->rows();
  for (std::size_t i = 0; i < problem_->blocks.size(); ++i) {
    const RowBlock& block = problem_->blocks[i];
    const int m = block.size;
    const bool equality = block.law == LawKind::Equality, zero = !equality && maps.zero[i];
    const double* d = maps.d.data() + maps.start[i];
    double largest = 0;
    for (int k = 0; !equality && !zero && k < m * m; ++k) largest = std::max(largest, std::abs(d[k]));
    const double mean = mean_diagonal_[i];
    const double scale = equality ? (mean > 0 ? 1 / mean : 1) : 1 / (1 + largest * std::max(mean, 0.0));
    for (int k = 0; k < m; ++k) {
      const int r = block.row + k;
      scale_[r] = scale;
      double sum[kMostRows] = {};
      if (equality) std::copy_n(w_.data() + r * n, n, sum);
      for (int j = 0; !equality && !zero && j < m; ++j) {
        const double weight = d[k * m + j], *row = w_.data() + (block.row + j) * n;
        for (int c = 0; c < n; ++c) sum[c] += weight * row[c];
      }
      for (int c = 0; c < n; ++c) factor_[c * n + r] = scale * sum[c];
      factor_[r * n + r] += scale * (equality ? maps.weight[r] : 1);
    }
  }
  if (n == 6) return kernels::factor_lu<6>(n, factor_.data(), pivot_.data());
  if (n == 4) return kernels::factor_lu<4>(n, factor_.data(), pivot_.data());
  return kernels::factor_lu<kernels::kAny>(n, factor_.data(), pivot_.data());
}

void SmallSystem::solve(const NewtonMaps& maps, VecX* dx, VecX* du) {
  const int n = problem_->rows();
  dx->resize(n);
  for (int r = 0; r < n; ++r) (*dx)[r] = scale_[r] * maps.g[r];
  kernels::solve_lu<kernels::kAny>(n, factor_.data(), pivot_.data(), dx->data());
  if (du == nullptr) return;
  du->setZero(n);
  for (int r = 0; r < n; ++r)
    for (int c = 0; c < n; ++c) (*du)[r] += w_[r * n + c] * (*dx)[c];
}

}  // namespace slipstick
