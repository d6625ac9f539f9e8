#include "solve/linalg/block_pattern.h"

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>
#include <algorithm>
#include <numeric>

namespace slipstick {

void BlockPattern::analyze(std::span<const int> sizes, std::span<const char> late, std::span<const BlockEdge> edges) {
  ++version_;
  const int n = static_cast<int>(sizes.size());
  node_size_.assign(sizes.begin(), sizes.end());
  node_start_.resize(n);
  unknowns_ = 0;
  for (int i = 0; i < n; ++i) {
    node_start_[i] = unknowns_;
    unknowns_ += sizes[i];
  }
  order(late, edges);
  size_.resize(n);
  start_.resize(n);
  diagonal_.resize(n);
  diagonal_values_ = 0;
  for (int k = 0; k < n; ++k) {
    size_[k] = node_size_[node_[k]];
    start_[k] = node_start_[node_[k]];
    diagonal_[k] = diagonal_values_;
    diagonal_values_ += size_[k] * size_[k];
  }
  fill();
  link_rows();
  multiplications_ = calc_multiplications();
}

void BlockPattern::order(std::span<const char> late, std::span<const BlockEdge> edges) {
  const int n = static_cast<int>(node_size_.size());
  graph_begin_.assign(n + 1, 0);
  for (const BlockEdge& e : edges) {
    ++graph_begin_[e.a + 1];
    ++graph_begin_[e.b + 1];
  }
  std::partial_sum(graph_begin_.begin(), graph_begin_.end(), graph_begin_.begin());
  graph_.resize(2 * edges.size());
  list_.assign(graph_begin_.begin(), graph_begin_.end());
  for (const BlockEdge& e : edges) {
    graph_[list_[e.a]++] = e.b;
    graph_[list_[e.b]++] = e.a;
  }
  // Sorted lists without repetition, so that equal graphs give equal orders whatever the order of their edges.
  int kept = 0;
  for (int i = 0; i < n; ++i) {
    const auto begin = graph_.begin() + graph_begin_[i], end = graph_.begin() + graph_begin_[i + 1];
    std::sort(begin, end);
    const int count = static_cast<int>(std::unique(begin, end) - begin);
    std::copy(begin, begin + count, graph_.begin() + kept);
    graph_begin_[i] = kept;
    kept += count;
  }
  graph_begin_[n] = kept;
  graph_.resize(kept);

  // With the diagonal: without it Eigen's minimum degree takes every node for a dense one and keeps the order given.
  Eigen::SparseMatrix<double, Eigen::ColMajor, int> matrix(n, n);
  matrix.resizeNonZeros(kept + n);
  int at = 0;
  for (int i = 0; i < n; ++i) {
    matrix.outerIndexPtr()[i] = at;
    bool placed = false;
    for (int e = graph_begin_[i]; e < graph_begin_[i + 1]; ++e) {
      if (!placed && graph_[e] > i) {
        matrix.innerIndexPtr()[at++] = i;
        placed = true;
      }
      matrix.innerIndexPtr()[at++] = graph_[e];
    }
    if (!placed) matrix.innerIndexPtr()[at++] = i;
  }
  matrix.outerIndexPtr()[n] = at;
  std::fill(matrix.valuePtr(), matrix.valuePtr() + at, 1.0);
  Eigen::AMDOrdering<int>::PermutationType permutation;
  if (n > 0) Eigen::AMDOrdering<int>()(matrix, permutation);
  node_.resize(n);
  for (int k = 0; k < n; ++k) node_[k] = permutation.indices()[k];
  delay_late_nodes(late);
}

void BlockPattern::delay_late_nodes(std::span<const char> late) {
  const int n = static_cast<int>(node_.size());
  place_.resize(n);
  for (int k = 0; k < n; ++k) place_[node_[k]] = k;
  // A late node waits for its first early neighbour and follows it at once; others keep their place. Key: (place of the
  // one it waits for, own place), sorted stably through a list a place.
  first_child_.assign(n, -1);
  next_child_.assign(n, -1);
  mark_.assign(n, 0);
  list_.clear();
  for (int k = n - 1; k >= 0; --k) {
    const int i = node_[k];
    if (!late[i]) continue;
    int first = n;
    for (int e = graph_begin_[i]; e < graph_begin_[i + 1]; ++e)
      if (!late[graph_[e]]) first = std::min(first, place_[graph_[e]]);
    if (first == n || first < k) continue;
    next_child_[k] = first_child_[first];
    first_child_[first] = k;
    mark_[k] = 1;
  }
  for (int k = 0; k < n; ++k) {
    if (mark_[k]) continue;
    list_.push_back(node_[k]);
    for (int c = first_child_[k]; c >= 0; c = next_child_[c]) list_.push_back(node_[c]);
  }
  node_.assign(list_.begin(), list_.end());
  for (int k = 0; k < n; ++k) place_[node_[k]] = k;
}

void BlockPattern::fill() {
  // Column k of the factor: the original entries below k and the columns of its elimination-tree children without k.
  const int n = static_cast<int>(node_.size());
  column_begin_.assign(n + 1, 0);
  row_.clear();
  column_.clear();
  mark_.assign(n, -1);
  first_child_.assign(n, -1);
  next_child_.assign(n, -1);
  for (int k = 0; k < n; ++k) {
    column_begin_[k] = static_cast<int>(row_.size());
    merged_.clear();
    mark_[k] = k;
    const auto take = [&](int r) {
      if (r <= k || mark_[r] == k) return;
      mark_[r] = k;
      merged_.push_back(r);
    };
    const int i = node_[k];
    for (int e = graph_begin_[i]; e < graph_begin_[i + 1]; ++e) take(place_[graph_[e]]);
    for (int c = first_child_[k]; c >= 0; c = next_child_[c])
      for (int e = column_begin_[c]; e < column_begin_[c + 1]; ++e) take(row_[e]);
    std::sort(merged_.begin(), merged_.end());
    row_.insert(row_.end(), merged_.begin(), merged_.end());
    column_.insert(column_.end(), merged_.size(), k);
    column_begin_[k + 1] = static_cast<int>(row_.size());
    if (merged_.empty()) continue;
    next_child_[k] = first_child_[merged_.front()];
    first_child_[merged_.front()] = k;
  }
  offset_.resize(row_.size());
  off_values_ = 0;
  for (std::size_t e = 0; e < row_.size(); ++e) {
    offset_[e] = off_values_;
    off_values_ += size_[row_[e]] * size_[column_[e]];
  }
}

void BlockPattern::link_rows() {
  const int n = static_cast<int>(node_.size());
  row_begin_.assign(n + 1, 0);
  for (const int r : row_) ++row_begin_[r + 1];
  std::partial_sum(row_begin_.begin(), row_begin_.end(), row_begin_.begin());
  row_block_.resize(row_.size());
  list_.assign(row_begin_.begin(), row_begin_.end());
  for (std::size_t e = 0; e < row_.size(); ++e) row_block_[list_[row_[e]]++] = static_cast<int>(e);
}

double BlockPattern::calc_multiplications() const {
  double sum = 0;
  for (int k = 0; k < nodes(); ++k) {
    double height = size(k);
    for (int b = column_begin(k); b < column_end(k); ++b) height += size(row(b));
    sum += size(k) * height * height;
  }
  return sum;
}

int BlockPattern::find_block(int row, int column) const {
  const auto begin = row_.begin() + column_begin_[column], end = row_.begin() + column_begin_[column + 1];
  const auto at = std::lower_bound(begin, end, row);
  return at != end && *at == row ? static_cast<int>(at - row_.begin()) : -1;
}

}  // namespace slipstick
