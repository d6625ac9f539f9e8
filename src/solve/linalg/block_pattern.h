// The symbolic half of a block-sparse factorization: an elimination order that keeps fill small, the pattern of the
// factor, and the lists that a left-looking numeric factorization walks. Nodes are blocks of 1 to 6 unknowns.
#pragma once

#include <span>
#include <vector>

namespace slipstick {

/// An off-diagonal block that may be nonzero, named by its two nodes in any order.
struct BlockEdge {
  int a = 0;
  int b = 0;
  bool operator==(const BlockEdge&) const = default;
};

class BlockPattern {
 public:
  /// Orders and fills. `sizes[i]` is node i's size. A node with `late[i]` is a row block of a quasi-definite matrix,
  /// whose own diagonal is tiny: it is eliminated after at least one of its neighbours, so that no pivot is a bare
  /// regularization. `edges` may repeat themselves.
  void analyze(std::span<const int> sizes, std::span<const char> late, std::span<const BlockEdge> edges);

  /// Changes with each analyze().
  int version() const { return version_; }
  int nodes() const { return static_cast<int>(size_.size()); }
  int unknowns() const { return unknowns_; }
  int blocks() const { return static_cast<int>(row_.size()); }  ///< off-diagonal blocks of the factor
  /// Number of doubles in the off-diagonal blocks, and in the square diagonal ones.
  int off_values() const { return off_values_; }
  int diagonal_values() const { return diagonal_values_; }

  /// Multiplications of one factorization.
  double multiplications() const { return multiplications_; }

  // Everything below but place() counts nodes in elimination order.
  int place(int node) const { return place_[node]; }  ///< elimination index of a node
  int node(int k) const { return node_[k]; }
  int size(int k) const { return size_[k]; }
  int start(int k) const { return start_[k]; }  ///< first unknown in the caller's numbering (nodes in order)
  int diagonal(int k) const { return diagonal_[k]; }
  int column_begin(int k) const { return column_begin_[k]; }
  int column_end(int k) const { return column_begin_[k + 1]; }
  int row(int block) const { return row_[block]; }
  int column(int block) const { return column_[block]; }
  int offset(int block) const { return offset_[block]; }
  /// Blocks of row k, by increasing column.
  std::span<const int> row_blocks(int k) const {
    return {row_block_.data() + row_begin_[k], static_cast<std::size_t>(row_begin_[k + 1] - row_begin_[k])};
  }
  /// What a solution with the factor goes through, as it lies in memory.
  struct Lists {
    const int *size, *start, *diagonal, *column_begin, *row, *offset;
  };
  Lists lists() const {
    return {size_.data(), start_.data(), diagonal_.data(), column_begin_.data(), row_.data(), offset_.data()};
  }
  /// The block in (row, column), elimination indices with row > column; -1 if the pattern lacks it.
  int find_block(int row, int column) const;

 private:
  void order(std::span<const char> late, std::span<const BlockEdge> edges);
  void delay_late_nodes(std::span<const char> late);
  void fill();
  void link_rows();
  double calc_multiplications() const;

  int version_ = 0, unknowns_ = 0, off_values_ = 0, diagonal_values_ = 0;
  double multiplications_ = 0;
  std::vector<int> place_, node_, size_, start_, diagonal_;
  std::vector<int> column_begin_, row_, column_, offset_;
  std::vector<int> row_begin_, row_block_;
  // Scratch of analyze(): the graph in the caller's numbering, and elimination-tree children.
  std::vector<int> graph_begin_, graph_, mark_, first_child_, next_child_, merged_, node_size_, node_start_, list_;
};

}  // namespace slipstick
