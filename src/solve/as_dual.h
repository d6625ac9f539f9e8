// Problem -> w = D x + q over the rows that carry an inequality: v is eliminated through A^-1, then the equality rows
// through their Schur complement, then rows whose impulse is known. The inverse map is `complete`.
//
// Rows are scaled by s = 1 / sqrt(mean Delassus diagonal of the block): lambda = s x, scaled velocity = s w, so that
// masses of any ratio meet the solver with entries near 1 and a friction block keeps its shape.
#pragma once

#include <slipstick/problem.h>

#include <string_view>
#include <vector>

#include "solve/linalg/dense_lu.h"
#include "solve/mass_blocks.h"

namespace slipstick {

class DualForm {
 public:
  /// False when the problem is malformed; fault() says why.
  bool update(const Problem& problem);
  std::string_view fault() const { return fault_; }

  int size() const { return static_cast<int>(kept_.size()); }
  int problem_row(int i) const { return kept_[i]; }
  /// Reduced row of a problem row, or -1 where it was eliminated.
  int reduced_row(int row) const { return reduced_[row]; }
  double scale(int row) const { return scale_[row]; }
  const DenseX& matrix() const { return matrix_; }  ///< D, scaled
  const VecX& offset() const { return offset_; }    ///< q, scaled

  /// Equality rows (free Box rows among them) and how many of them depend on the others. Dependent rows carry no
  /// impulse; where they contradict the others the least-squares velocity is taken and certify shows the rest.
  int equalities() const { return static_cast<int>(equal_.size()); }
  int dependent() const { return equalities() - elimination_.rank(); }

  /// From the scaled reduced impulses to lambda, v, w; equality rows refined once against the problem's own data.
  void complete(const Problem& problem, const VecX& x, Solution* solution);

 private:
  bool sort_rows(const Problem& problem);
  void index_columns(const Problem& problem);
  void update_delassus(const Problem& problem);
  void update_scales(const Problem& problem);
  void eliminate(const Problem& problem);
  void resolve_conflicts();

  std::string_view fault_;
  MassBlocks masses_;
  std::vector<int> kept_, equal_, reduced_;
  std::vector<double> scale_, fixed_;
  std::vector<int> touch_start_, touch_block_, touch_entry_;  ///< row blocks by column
  std::vector<double> image_;                                 ///< J A^-1, laid out like Problem::jacobian
  DenseX full_, equal_matrix_, response_;                     ///< response_ = S^-1 D_ek
  DenseX transfer_;
  PivotedElimination elimination_;
  DenseLu small_;
  VecX known_, free_, free_velocity_, response_offset_, shift_, conflict_, residual_;
  DenseX matrix_;
  VecX offset_;
};

}  // namespace slipstick
