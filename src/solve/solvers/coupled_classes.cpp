#include "solve/solvers/coupled_classes.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace slipstick {

namespace {

constexpr int kMostClassRows = 6;         // of a node of the factorization
constexpr int kLargestGroup = 64;         // blocks; larger ones are no pair of bodies
constexpr double kNegligible = 1e-13;     // entry of W over the largest diagonal entry that is taken for a rounded zero
constexpr double kRankTolerance = 1e-11;  // pivot over the group's largest diagonal entry

}  // namespace

void CoupledClasses::update(const Problem& problem) {
  problem_ = &problem;
  const int blocks = static_cast<int>(problem.blocks.size());
  block_of_.resize(problem.rows());
  for (int i = 0; i < blocks; ++i) std::fill_n(block_of_.begin() + problem.blocks[i].row, problem.blocks[i].size, i);
  find_block_graph();
  find_groups();
  size_.clear();
  member_.clear();
  member_start_.assign(1, 0);
  factor_.clear();
  factor_start_.assign(blocks, 0);
  pivot_class_.assign(problem.rows(), -1);
  pivot_index_.assign(problem.rows(), -1);
  for (std::size_t k = 0; k + 1 < group_start_.size(); ++k) {
    const std::span<const int> group(order_.data() + group_start_[k],
                                     static_cast<std::size_t>(group_start_[k + 1] - group_start_[k]));
    if (group.size() > 1 && add_reduced_class(group)) continue;
    for (const int block : group) add_single_class(block);
  }
  find_reduced_matrix();
}

void CoupledClasses::find_block_graph() {
  const SparseRows& w = problem_->coupling;
  const int blocks = static_cast<int>(problem_->blocks.size());
  double largest = 0;
  for (int r = 0; r < problem_->rows(); ++r)
    for (int k = w.start[r]; k < w.start[r + 1]; ++k)
      if (w.column[k] == r) largest = std::max(largest, std::abs(w.value[k]));
  graph_start_.assign(1, 0);
  graph_.clear();
  mark_.assign(blocks, -1);
  for (int i = 0; i < blocks; ++i) {
    const RowBlock& block = problem_->blocks[i];
    mark_[i] = i;
    graph_.push_back(i);
    for (int k = w.start[block.row]; k < w.start[block.row + block.size]; ++k) {
      const int j = block_of_[w.column[k]];
      if (mark_[j] == i || std::abs(w.value[k]) <= kNegligible * largest) continue;
      mark_[j] = i;
      graph_.push_back(j);
    }
    std::sort(graph_.begin() + graph_start_[i], graph_.end());
    graph_start_.push_back(static_cast<int>(graph_.size()));
  }
}

/// Blocks with the very same neighbours, in the order of their first member.
void CoupledClasses::find_groups() {
  const int blocks = static_cast<int>(problem_->blocks.size());
  order_.resize(blocks);
  std::iota(order_.begin(), order_.end(), 0);
  const auto compare = [this](int a, int b) {
    const auto la = span(graph_, graph_start_, a), lb = span(graph_, graph_start_, b);
    return std::lexicographical_compare_three_way(la.begin(), la.end(), lb.begin(), lb.end());
  };
  const auto special = [this](int a) { return problem_->blocks[a].law == LawKind::Equality; };
  std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) { return compare(a, b) < 0; });
  group_start_.clear();
  for (int k = 0; k < blocks; ++k) {
    const bool joins =
        k > 0 && !special(order_[k]) && !special(order_[k - 1]) && compare(order_[k - 1], order_[k]) == 0;
    if (!joins) group_start_.push_back(k);
  }
  group_start_.push_back(blocks);
}

void CoupledClasses::add_class(std::span<const int> blocks, int size) {
  size_.push_back(size);
  member_.insert(member_.end(), blocks.begin(), blocks.end());
  member_start_.push_back(static_cast<int>(member_.size()));
}

void CoupledClasses::add_single_class(int block) {
  const RowBlock& rows = problem_->blocks[block];
  factor_start_[block] = static_cast<int>(factor_.size());
  for (int r = 0; r < rows.size; ++r) {
    for (int k = 0; k < rows.size; ++k) factor_.push_back(r == k);
    pivot_class_[rows.row + r] = count();
    pivot_index_[rows.row + r] = r;
  }
  add_class({&block, 1}, rows.size);
}

/// The group's rows into row_, and its diagonal block of W into dense_.
void CoupledClasses::gather(std::span<const int> blocks) {
  const SparseRows& w = problem_->coupling;
  row_.clear();
  local_.assign(problem_->rows(), -1);
  for (const int i : blocks) {
    for (int r = problem_->blocks[i].row; r < problem_->blocks[i].row + problem_->blocks[i].size; ++r) {
      local_[r] = static_cast<int>(row_.size());
      row_.push_back(r);
    }
  }
  const int n = static_cast<int>(row_.size());
  dense_.setZero(n, n);
  for (int a = 0; a < n; ++a)
    for (int k = w.start[row_[a]]; k < w.start[row_[a] + 1]; ++k)
      if (local_[w.column[k]] >= 0) dense_(a, local_[w.column[k]]) = w.value[k];
}

/// False if the rows do not depend on six numbers.
bool CoupledClasses::add_reduced_class(std::span<const int> blocks) {
  if (static_cast<int>(blocks.size()) > kLargestGroup) return false;
  gather(blocks);
  const int n = static_cast<int>(row_.size());
  elimination_.factor(dense_, kRankTolerance * dense_.diagonal().cwiseAbs().maxCoeff());
  const int rank = elimination_.rank();
  if (rank > kMostClassRows || rank == 0) return false;
  // W_{P R} = T W_{R R}, so T^T = W_RR^-T W_{P R}^T.
  right_.resize(rank, n);
  for (int a = 0; a < n; ++a)
    for (int k = 0; k < rank; ++k) right_(k, a) = dense_(a, elimination_.pivot(k));
  elimination_.solve_transposed_in_place(right_);
  for (int k = 0; k < rank; ++k) {
    right_.col(elimination_.pivot(k)).setZero();
    right_(k, elimination_.pivot(k)) = 1;
  }
  int a = 0;
  for (const int i : blocks) {
    factor_start_[i] = static_cast<int>(factor_.size());
    for (int r = 0; r < problem_->blocks[i].size; ++r, ++a)
      for (int k = 0; k < rank; ++k) factor_.push_back(right_(k, a));
  }
  for (int k = 0; k < rank; ++k) {
    pivot_class_[row_[elimination_.pivot(k)]] = count();
    pivot_index_[row_[elimination_.pivot(k)]] = k;
  }
  add_class(blocks, rank);
  return true;
}

void CoupledClasses::find_reduced_matrix() {
  const SparseRows& w = problem_->coupling;
  neighbour_.clear();
  neighbour_start_.assign(1, 0);
  value_.clear();
  mark_.assign(count(), -1);
  for (int k = 0; k < count(); ++k) {
    const int first = static_cast<int>(neighbour_.size());
    for (const int i : members(k)) {
      const RowBlock& block = problem_->blocks[i];
      for (int r = block.row; r < block.row + block.size; ++r) {
        if (pivot_class_[r] != k) continue;
        for (int e = w.start[r]; e < w.start[r + 1]; ++e) {
          const int j = pivot_class_[w.column[e]];
          // Only what the graph keeps: a negligible entry must not cost a block.
          if (j < 0) continue;
          if (mark_[j] < first) {
            const auto near = span(graph_, graph_start_, i);
            if (!std::binary_search(near.begin(), near.end(), block_of_[w.column[e]])) continue;
            mark_[j] = static_cast<int>(neighbour_.size());
            neighbour_.push_back({j, static_cast<int>(value_.size())});
            value_.insert(value_.end(), static_cast<std::size_t>(size_[k] * size_[j]), 0.0);
          }
          value_[neighbour_[mark_[j]].offset + pivot_index_[r] * size_[j] + pivot_index_[w.column[e]]] = w.value[e];
        }
      }
    }
    neighbour_start_.push_back(static_cast<int>(neighbour_.size()));
  }
}

}  // namespace slipstick
