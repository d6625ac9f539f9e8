// Problems in local form, u = W x + c, seen through their few independent rows. Contacts with the same neighbours in W
// mostly join the same two bodies, and then their rows depend on six numbers. For W = J A^-1 J^T with x^T A x > 0 a
// null vector of a diagonal block of W is one of all W, so that each class P of such contacts has
//
//     W = T W_R T^T      T block-diagonal, T_P (rows x size), W_R the rows and columns of W that PivotedElimination
//     chose.
#pragma once

#include <slipstick/problem.h>

#include <span>
#include <vector>

#include "solve/linalg/dense_lu.h"

namespace slipstick {

class CoupledClasses {
 public:
  void update(const Problem& problem);

  int count() const { return static_cast<int>(size_.size()); }
  const std::vector<int>& sizes() const { return size_; }  ///< independent rows of each class, at most 6
  /// The row blocks of a class, and the rows of T of one of them (block.size x size, row-major).
  std::span<const int> members(int k) const { return span(member_, member_start_, k); }
  const double* factor(int block) const { return factor_.data() + factor_start_[block]; }

  /// The nonzero blocks of W_R in the rows of class k: neighbours (k among them) and values, size(k) x size(j),
  /// row-major.
  struct Neighbour {
    int other = 0;
    int offset = 0;
  };
  std::span<const Neighbour> neighbours(int k) const { return span(neighbour_, neighbour_start_, k); }
  const double* values(const Neighbour& n) const { return value_.data() + n.offset; }

 private:
  template <typename T>
  static std::span<const T> span(const std::vector<T>& list, const std::vector<int>& start, int k) {
    return {list.data() + start[k], static_cast<std::size_t>(start[k + 1] - start[k])};
  }
  void find_block_graph();
  void find_groups();
  void add_class(std::span<const int> blocks, int size);
  bool add_reduced_class(std::span<const int> blocks);
  void add_single_class(int block);
  void gather(std::span<const int> blocks);
  void find_reduced_matrix();

  const Problem* problem_ = nullptr;
  std::vector<int> block_of_;             // of each row
  std::vector<int> graph_start_, graph_;  // blocks that share an entry of W with a block, itself included, sorted
  std::vector<int> order_, group_start_;  // blocks by group
  std::vector<int> size_, member_start_, member_;
  std::vector<int> factor_start_;  // by block
  std::vector<double> factor_;
  std::vector<int> pivot_class_, pivot_index_;  // by row: the class it is a pivot of and its index there, or -1
  std::vector<int> neighbour_start_;
  std::vector<Neighbour> neighbour_;
  std::vector<double> value_;
  // Scratch.
  std::vector<int> mark_, row_, local_;
  DenseX dense_, right_;
  PivotedElimination elimination_;
};

}  // namespace slipstick
