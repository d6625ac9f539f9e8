// Dense factorizations that keep their memory: LU with row pivoting, and a rank-revealing one with diagonal pivots.
#pragma once

#include "solve/linalg/dense_matrix.h"

#include <vector>

namespace slipstick {

/// P A = L U with row pivoting, in panels so that most of the work is matrix products.
class DenseLu {
 public:
  /// False when A is singular to the last bit or not finite.
  bool factor(const Eigen::Ref<const MatX>& a);
  int size() const { return size_; }
  void solve_in_place(Eigen::Ref<VecX> x) const;
  /// The columns of the inverse into the leading corner of `inverse`, which is at least size() wide.
  void update_inverse(Eigen::Ref<MatX> inverse) const;

 private:
  using View = Eigen::Map<MatX>;
  using ConstView = Eigen::Map<const MatX>;
  bool factor_panel(int first, int width);
  View lu() { return {data_.data(), size_, size_}; }
  ConstView lu() const { return {data_.data(), size_, size_}; }

  int size_ = 0;
  VecX data_;
  std::vector<int> swap_;  ///< row k was exchanged with swap_[k]
};

/// Elimination with the largest remaining diagonal entry as pivot, until none exceeds a threshold. For S = J A^-1 J^T +
/// C with x^T A x > 0 this finds a maximal independent set of rows: S x = 0 exactly where J^T x = 0, symmetric or not.
class PivotedElimination {
 public:
  void factor(const Eigen::Ref<const MatX>& s, double threshold);
  int size() const { return size_; }
  int rank() const { return rank_; }
  /// Original index of the k-th pivot; from rank() on the dependent rows.
  int pivot(int k) const { return order_[k]; }
  /// Solves with the independent rows and columns, in pivot order; x has rank() rows.
  void solve_in_place(Eigen::Ref<MatX> x) const;
  void solve_transposed_in_place(Eigen::Ref<MatX> x) const;

 private:
  int size_ = 0, rank_ = 0;
  VecX data_;
  std::vector<int> order_;
};

}  // namespace slipstick
