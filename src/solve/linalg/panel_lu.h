// Numeric factorization of a BlockPattern in panels (supernodes): neighbouring columns of like pattern are kept as one
// dense matrix, so that most of the work is large matrix products. Pays where fill is heavy: heaps, wide walls; for
// chains and stacks the block-by-block factorization (block_ldlt) is quicker. Same matrix, same conventions:
// L_ik = A_ik D_k^-1, U unscaled, D a dense square a panel: LU with row pivoting inside it, or LDL^T without.
#pragma once

#include <slipstick/types.h>

#include <vector>

#include "solve/linalg/block_pattern.h"

namespace slipstick {

class PanelLu {
 public:
  /// Finds the panels. The pattern must outlive the use.
  void analyze(const BlockPattern& pattern);
  /// Whether panels are expected to be quicker than single blocks.
  bool worthwhile() const { return worthwhile_; }

  /// Factors the matrix that is held block by block (block_ldlt.h); `upper` null: symmetric. False if singular.
  bool factor(const double* diagonal, const double* lower, const double* upper);
  /// Number of negative pivots of the last symmetric factor.
  int negative_pivots() const { return negative_; }
  /// x := A^-1 x, in the caller's numbering of the unknowns.
  void solve(double* x);

 private:
  struct Panel {
    int first = 0, last = 0;               // nodes, in elimination order
    int row_begin = 0, row_end = 0;        // into row_: the nodes below
    int start = 0, width = 0, height = 0;  // first unknown in elimination order; own unknowns, those below
    int square = 0, offset = 0;            // of its width x width square, and of its height x width matrices L and U
    int next = -1, pending = 0;  // list of panels that update the same one next; its first row that still has to
  };

  void find_panels();
  void gather_panel(const Panel& panel, const double* diagonal, const double* lower, const double* upper);
  void update_panel(int target, int source);
  bool finish_panel(int index);
  void link(int source);
  bool factor_symmetric(Eigen::Map<MatX> square);
  Eigen::Map<MatX> own(const Panel& p) { return {diagonal_.data() + p.square, p.width, p.width}; }
  Eigen::Map<MatX> lower(const Panel& p) { return {lower_.data() + p.offset, p.height, p.width}; }
  Eigen::Map<MatX> upper(const Panel& p) { return {upper_.data() + p.offset, p.height, p.width}; }

  const BlockPattern* pattern_ = nullptr;
  bool worthwhile_ = false, symmetric_ = false;
  int negative_ = 0;
  std::vector<Panel> panels_;
  std::vector<int> panel_of_;          // by node
  std::vector<int> row_, row_offset_;  // nodes below each panel, and their first row in it
  std::vector<int> unknown_;           // caller's index of each unknown in elimination order
  std::vector<int> start_;             // first unknown of each node in elimination order
  std::vector<int> swap_;              // row exchanges in the squares
  // Aligned, so that Eigen's vector loops split the same data the same way wherever memory lies: the same bits.
  std::vector<double, Eigen::aligned_allocator<double>> diagonal_, lower_, upper_, work_;
  std::vector<int> place_;  // by node: first row in the target panel (below its own unknowns), or column
  std::vector<int> head_;   // by panel: list of panels that update it next
  VecX x_;
};

}  // namespace slipstick
