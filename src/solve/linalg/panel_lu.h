// Numeric factorization of a BlockPattern in panels (supernodes): neighbouring columns of like pattern are kept as one
// dense matrix, so that most of the work is large matrix products. Pays where fill is heavy: heaps, wide walls; for
// chains and stacks the block-by-block factorization (block_ldlt) is quicker. The squares on the diagonal are P^-1 L U
// with row pivoting inside them, or L D L^T without. Below them: A (P^-1 L U)^-1, with the rows of U as they are; or
// A L^-T D^-1 of the symmetric matrix, with A L^-T beside it while others are updated. Kernels: panel_kernels.h.
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
  bool worthwhile(bool symmetric) const;

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
    int side = 0, rows = 0;                // distance of columns in its square, and in what is below: room for vectors
    int square = 0, offset = 0;            // of its width x width square, and of its height x width matrices L and U
    int next = -1, pending = 0;  // list of panels that update the same one next; its first row that still has to
  };

  void find_panels();
  void gather_panel(const Panel& panel, const double* diagonal, const double* lower, const double* upper);
  void update_panel(int target, int source);
  bool finish_panel(int index);
  bool finish_symmetric(const Panel& panel);
  void link(int source);
  void solve_square(const Panel& panel, double* x) const;
  void solve_down();
  void solve_up();
  double* own(const Panel& p, int row = 0, int column = 0) {
    return diagonal_.data() + p.square + row + column * p.side;
  }
  double* lower(const Panel& p, int row = 0, int column = 0) {
    return lower_.data() + p.offset + row + column * p.rows;
  }
  double* upper(const Panel& p, int row = 0, int column = 0) {
    return upper_.data() + p.offset + row + column * p.rows;
  }

  const BlockPattern* pattern_ = nullptr;
  bool symmetric_ = false;
  double height_ = 0;  // of the columns in the mean, weighted by work
  int negative_ = 0;
  std::vector<Panel> panels_;
  std::vector<int> panel_of_;          // by node
  std::vector<int> row_, row_offset_;  // nodes below each panel, and their first row in it
  std::vector<int> unknown_;           // caller's index of each unknown in elimination order
  std::vector<int> start_;             // first unknown of each node in elimination order
  std::vector<int> swap_;              // row exchanges in the squares
  std::vector<double> diagonal_, lower_, upper_, work_;
  std::vector<double> inverse_;  // reciprocals of the pivots, by unknown in elimination order
  std::vector<int> place_;       // by node: first row in the target panel (below its own unknowns), or column
  std::vector<int> head_;        // by panel: list of panels that update it next
  VecX x_;
};

}  // namespace slipstick
