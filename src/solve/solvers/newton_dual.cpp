// Newton steps in the impulses themselves, for problems in local form: (I + D W) d x = g, block row by block row.
#include <algorithm>
#include <cmath>

#include "solve/solvers/newton_system.h"

namespace slipstick {

void DualSystem::prepare(const Problem& problem) {
  problem_ = &problem;
  const int blocks = static_cast<int>(problem.blocks.size());
  node_size_.resize(blocks);
  late_.assign(blocks, 0);
  block_of_.resize(problem.rows());
  mean_diagonal_.assign(blocks, 0);
  for (int i = 0; i < blocks; ++i) {
    const RowBlock& block = problem.blocks[i];
    node_size_[i] = block.size;
    for (int r = block.row; r < block.row + block.size; ++r) {
      block_of_[r] = i;
      mean_diagonal_[i] += problem.compliance[r] / block.size;
    }
  }
  // The blocks of W that hold an entry, by row block; the order of elimination is kept while they stay the same.
  edges_.clear();
  const SparseRows& w = problem.coupling;
  for (int r = 0; r < problem.rows(); ++r) {
    const int i = block_of_[r];
    for (int k = w.start[r]; k < w.start[r + 1]; ++k) {
      const int j = block_of_[w.column[k]];
      if (w.column[k] == r) mean_diagonal_[i] += w.value[k] / node_size_[i];
      if (i != j && (edges_.empty() || edges_.back().a != i || edges_.back().b != j)) edges_.push_back({i, j});
    }
  }
  if (node_size_ != analyzed_size_ || edges_ != analyzed_edges_) {
    pattern_.analyze(node_size_, late_, edges_);
    analyzed_size_ = node_size_;
    analyzed_edges_ = edges_;
  }
  scale_.resize(blocks);
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

/// Row block i of the matrix: E_i + F_i W with (E, F) = (I, D) for laws and (R, I) for equalities, scaled to order one.
void DualSystem::assemble_rows(int i, const NewtonMaps& maps) {
  const RowBlock& block = problem_->blocks[i];
  const int m = block.size, place = pattern_.place(i);
  const bool equality = block.law == LawKind::Equality;
  const double* d = maps.d.data() + maps.start[i];
  double largest = 0;
  for (int k = 0; k < m * m && !equality && !maps.zero[i]; ++k) largest = std::max(largest, std::abs(d[k]));
  scale_[i] = equality ? 1 / mean_diagonal_[i] : 1 / (1 + largest * mean_diagonal_[i]);
  double* diagonal = factor_.diagonal(place);
  for (int k = 0; k < m; ++k) diagonal[k * m + k] += scale_[i] * (equality ? maps.weight[block.row + k] : 1);
  if (!equality && maps.zero[i]) return;
  const SparseRows& w = problem_->coupling;
  for (int s = 0; s < m; ++s) {
    int last = -1;
    double* out = diagonal;
    bool transposed = false;
    int first = 0;
    for (int k = w.start[block.row + s]; k < w.start[block.row + s + 1]; ++k) {
      const int j = block_of_[w.column[k]];
      if (j != last) {
        last = j;
        first = problem_->blocks[j].row;
        const int other = pattern_.place(j);
        transposed = other > place;  // A(place, other) above the diagonal is kept transposed
        if (j == i)
          out = diagonal;
        else
          out = transposed ? factor_.upper(pattern_.find_block(other, place))
                           : factor_.lower(pattern_.find_block(place, other));
      }
      const int column = w.column[k] - first, n = node_size_[j];
      for (int r = 0; r < m; ++r) {
        const double weight = equality ? (r == s ? 1.0 : 0.0) : d[r * m + s];
        out[transposed ? r * n + column : column * m + r] += scale_[i] * weight * w.value[k];
      }
    }
  }
}

bool DualSystem::factor(const NewtonMaps& maps) {
  factor_.reset(pattern_, false);
  for (std::size_t i = 0; i < problem_->blocks.size(); ++i) assemble_rows(static_cast<int>(i), maps);
  return factor_.factor();
}

void DualSystem::solve(const NewtonMaps& maps, VecX* dx, VecX* du) {
  *dx = maps.g;
  for (std::size_t i = 0; i < problem_->blocks.size(); ++i)
    dx->segment(problem_->blocks[i].row, problem_->blocks[i].size) *= scale_[i];
  factor_.solve(dx->data());
  const SparseRows& w = problem_->coupling;
  du->resize(problem_->rows());
  for (int r = 0; r < problem_->rows(); ++r) {
    double sum = 0;
    for (int k = w.start[r]; k < w.start[r + 1]; ++k) sum += w.value[k] * (*dx)[w.column[k]];
    (*du)[r] = sum;
  }
}

}  // namespace slipstick
