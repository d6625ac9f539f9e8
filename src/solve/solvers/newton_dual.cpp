// Newton steps in the impulses themselves, for problems in local form.
#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "solve/solvers/newton_system.h"

namespace slipstick {

void DualSystem::prepare(const Problem& problem) {
  problem_ = &problem;
  const SparseRows& w = problem.coupling;
  update_joint_diagonals(problem, MassBlocks());  // there are no columns
  mean_diagonal_.assign(problem.blocks.size(), 0);
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
    const RowBlock& block = problem.blocks[i];
    for (int r = block.row; r < block.row + block.size; ++r) {
      double diagonal = problem.compliance[r];
      for (int k = w.start[r]; k < w.start[r + 1]; ++k)
        if (w.column[k] == r) diagonal += w.value[k];
      mean_diagonal_[i] += diagonal / block.size;
    }
  }
  classes_.update(problem);
  // The order of elimination is kept while the graph of the classes stays the same.
  edges_.clear();
  for (int k = 0; k < classes_.count(); ++k)
    for (const auto& near : classes_.neighbours(k))
      if (near.other != k) edges_.push_back({k, near.other});
  start_.assign(1, 0);
  for (const int size : classes_.sizes()) start_.push_back(start_.back() + size);
  if (classes_.sizes() != analyzed_size_ || edges_ != analyzed_edges_) {
    late_.assign(classes_.count(), 0);
    pattern_.analyze(classes_.sizes(), late_, edges_);
    analyzed_size_ = classes_.sizes();
    analyzed_edges_ = edges_;
  }
  scale_.resize(classes_.count());
  class_map_.resize(36 * classes_.count());
}

void DualSystem::update_state(const VecX& x, VecX* v, VecX* u) {
  const SparseRows& w = problem_->coupling;
  v->resize(0);
  u->resize(problem_->rows());
  for (int r = 0; r < problem_->rows(); ++r) {
    double sum = problem_->c[r];
    for (int k = w.start[r]; k < w.start[r + 1]; ++k) sum += w.value[k] * x[w.column[k]];
    (*u)[r] = sum;
  }
}

bool DualSystem::is_equality(int k) const { return problem_->blocks[classes_.members(k)[0]].law == LawKind::Equality; }

/// e = T^T D T of a class (row-major), or the unit matrix for equalities, whose rows read R dx + du = g.
void DualSystem::update_class_map(int k, const NewtonMaps& maps, double* e) const {
  const int n = classes_.sizes()[k];
  std::fill_n(e, n * n, 0.0);
  if (is_equality(k)) {
    for (int r = 0; r < n; ++r) e[r * n + r] = 1;
    return;
  }
  for (const int i : classes_.members(k)) {
    if (maps.zero[i]) continue;
    const int m = problem_->blocks[i].size;
    const double* d = maps.d.data() + maps.start[i];
    const double* t = classes_.factor(i);
    for (int r = 0; r < m; ++r) {
      double row[6] = {};  // row r of D T
      for (int s = 0; s < m; ++s)
        for (int c = 0; c < n; ++c) row[c] += d[r * m + s] * t[s * n + c];
      for (int a = 0; a < n; ++a)
        for (int c = 0; c < n; ++c) e[a * n + c] += t[r * n + a] * row[c];
    }
  }
}

/// Rows of class k of the matrix: I + E W_R, or R + W_R for equalities, scaled to order one.
void DualSystem::assemble_class(int k, const NewtonMaps& maps) {
  const int n = classes_.sizes()[k], place = pattern_.place(k);
  double* e = class_map_.data() + 36 * k;
  update_class_map(k, maps, e);
  const bool equality = is_equality(k);
  const int first = classes_.members(k)[0];
  double largest = 0;
  for (int i = 0; i < n * n; ++i) largest = std::max(largest, std::abs(e[i]));
  scale_[k] = equality ? 1 / mean_diagonal_[first] : 1 / (1 + largest * mean_diagonal_[first]);
  double* diagonal = factor_.diagonal(place);
  const int row = problem_->blocks[first].row;
  for (int i = 0; i < n; ++i) diagonal[i * n + i] += scale_[k] * (equality ? maps.weight[row + i] : 1);
  if (largest == 0) return;
  for (const auto& near : classes_.neighbours(k)) {
    const int m = classes_.sizes()[near.other], other = pattern_.place(near.other);
    const double* w = classes_.values(near);
    const bool transposed = other > place;  // A(place, other) above the diagonal is kept transposed
    double* out = diagonal;
    if (near.other != k)
      out = transposed ? factor_.upper(pattern_.find_block(other, place))
                       : factor_.lower(pattern_.find_block(place, other));
    for (int i = 0; i < n; ++i) {
      for (int s = 0; s < n; ++s) {
        const double weight = scale_[k] * e[i * n + s];
        if (weight == 0) continue;
        for (int c = 0; c < m; ++c) out[transposed ? i * m + c : c * n + i] += weight * w[s * m + c];
      }
    }
  }
}

bool DualSystem::factor(const NewtonMaps& maps) {
  factor_.reset(pattern_, false);
  for (int k = 0; k < classes_.count(); ++k) assemble_class(k, maps);
  return factor_.factor();
}

void DualSystem::solve(const NewtonMaps& maps, VecX* dx, VecX* du) {
  const Problem& p = *problem_;
  y_.setZero(start_.back());
  image_.setZero(start_.back());
  for (int k = 0; k < classes_.count(); ++k) {
    const int n = classes_.sizes()[k];
    double* y = y_.data() + start_[k];
    for (const int i : classes_.members(k)) {
      const double* t = classes_.factor(i);
      for (int r = 0; r < p.blocks[i].size; ++r)
        for (int c = 0; c < n; ++c) y[c] += scale_[k] * t[r * n + c] * maps.g[p.blocks[i].row + r];
    }
  }
  factor_.solve(y_.data());
  for (int k = 0; k < classes_.count(); ++k) {
    const int n = classes_.sizes()[k];
    for (const auto& near : classes_.neighbours(k)) {
      const int m = classes_.sizes()[near.other];
      const double* w = classes_.values(near);
      for (int i = 0; i < n; ++i)
        for (int c = 0; c < m; ++c) image_[start_[k] + i] += w[i * m + c] * y_[start_[near.other] + c];
    }
  }
  dx->resize(p.rows());
  du->resize(p.rows());
  for (int k = 0; k < classes_.count(); ++k) {
    update_members(k, maps, dx, du);
    if (classes_.members(k).size() == 1) continue;
    correct_image(k, *dx);
    update_members(k, maps, dx, du);
  }
}

/// d u = T z and d x = g - D d u of a class's rows, z = W_R y; d x is y itself where T is the unit matrix.
void DualSystem::update_members(int k, const NewtonMaps& maps, VecX* dx, VecX* du) const {
  const int n = classes_.sizes()[k];
  const bool single = classes_.members(k).size() == 1;
  for (const int i : classes_.members(k)) {
    const int m = problem_->blocks[i].size, row = problem_->blocks[i].row;
    const double* t = classes_.factor(i);
    for (int r = 0; r < m; ++r) {
      double sum = 0;
      for (int c = 0; c < n; ++c) sum += t[r * n + c] * image_[start_[k] + c];
      (*du)[row + r] = sum;
      (*dx)[row + r] = single ? y_[start_[k] + r] : maps.g[row + r];
    }
    if (single || maps.zero[i]) continue;
    const double* d = maps.d.data() + maps.start[i];
    for (int r = 0; r < m; ++r)
      for (int c = 0; c < m; ++c) (*dx)[row + r] -= d[r * m + c] * (*du)[row + c];
  }
}

/// z is the small difference of great impulses, and stiff maps D magnify what rounding left in it: the rows' impulses
/// would no longer add up to y = T^T d x, which is known better. (E + kappa) dz = T^T d x - y moves z so that they do,
/// where E is stiff enough to matter.
void DualSystem::correct_image(int k, const VecX& dx) {
  using Small = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor, 6, 6>;
  using SmallVector = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 6, 1>;
  const int n = classes_.sizes()[k];
  SmallVector excess = -y_.segment(start_[k], n);
  for (const int i : classes_.members(k)) {
    const double* t = classes_.factor(i);
    for (int r = 0; r < problem_->blocks[i].size; ++r)
      for (int c = 0; c < n; ++c) excess[c] += t[r * n + c] * dx[problem_->blocks[i].row + r];
  }
  Small matrix = ConstBlockMap(class_map_.data() + 36 * k, n, n);
  matrix.diagonal().array() += 1 / mean_diagonal_[classes_.members(k)[0]];
  const SmallVector shift = Eigen::PartialPivLU<Small>(matrix).solve(excess);
  image_.segment(start_[k], n) += shift;
}

}  // namespace slipstick
