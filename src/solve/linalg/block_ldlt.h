// Numeric block-sparse factorization on a BlockPattern: LDL^T of a symmetric quasi-definite matrix, or LU of a matrix
// with the same (symmetric) pattern and unequal halves. Left-looking, by dense blocks, or by panels (panel_lu.h) where
// fill is heavy; no pivoting between blocks.
#pragma once

#include <vector>

#include "solve/linalg/block_pattern.h"
#include "solve/linalg/panel_lu.h"

namespace slipstick {

class BlockLdlt {
 public:
  /// Takes a pattern (which must outlive the use) and sets the matrix to zero. `symmetric`: only diagonal and lower
  /// blocks are read.
  void reset(const BlockPattern& pattern, bool symmetric);

  // Assembly, by elimination index. Blocks are column-major: lower(block) is A(row, column), size(row) x size(column);
  // upper(block) is the TRANSPOSE of A(column, row), so it has the same shape.
  double* diagonal(int k) { return diagonal_.data() + pattern_->diagonal(k); }
  double* lower(int block) { return lower_.data() + pattern_->offset(block); }
  double* upper(int block) { return upper_.data() + pattern_->offset(block); }

  /// False if a pivot vanished or is not finite.
  bool factor();
  bool symmetric() const { return symmetric_; }
  /// Number of negative pivots of the last symmetric factor (the inertia check of quasi-definite matrices).
  int negative_pivots() const { return panels_.worthwhile(symmetric_) ? panels_.negative_pivots() : negative_; }
  /// x := A^-1 x, in the caller's numbering of the unknowns.
  void solve(double* x);

 private:
  template <bool Symmetric>
  bool factor_columns();
  template <bool Symmetric>
  void update_column(int k);
  template <bool Symmetric>
  bool finish_column(int k);

  const BlockPattern* pattern_ = nullptr;
  int version_ = -1;  // of the pattern that the panels are made for
  PanelLu panels_;
  bool symmetric_ = true;
  int negative_ = 0;
  std::vector<double> diagonal_, lower_, upper_;
  std::vector<int> pivot_;     // 6 a node, LU only
  std::vector<int> position_;  // scratch: block in the current column, by row
};

}  // namespace slipstick
