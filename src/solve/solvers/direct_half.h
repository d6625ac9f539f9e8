// The direct half of `split`: the rows whose mode is Direct or Split, with all others held where they are. Contacts
// with the mode Split have their normals here and their tangents held; those with the mode Direct are here whole.
//
// Without friction among its own rows it is a problem of bounds, solved by block pivoting [LacoursiereLinde11, 96 and
// algorithm 21.2]. With it, bounds follow from normals that are not known yet: the half is then a problem by itself,
// given to `newton`, whose active set is the same method for the law of friction (pivots are Newton steps on a
// nonsmooth map, section 16 there), with the same factorization.
#pragma once

#include <slipstick/solver.h>

#include <memory>
#include <vector>

#include "solve/solvers/block_pivot.h"

namespace slipstick {

class DirectHalf {
 public:
  DirectHalf();

  /// Reads the problem, which must stay as it is until the next call. False: columns and a coupling in one problem.
  /// `tolerance`: of the whole problem.
  bool prepare(const Problem& problem, double tolerance);
  /// x: all impulses; those of the half are replaced by its solution. What is left of it, relative to `scale`, m/s.
  double solve(double scale, VecX* x);
  /// Whether other rows are swept, so that one solve is not all.
  bool has_other_half() const { return swept_; }

 private:
  double solve_bounds(VecX* x);
  double solve_friction(double scale, VecX* x);
  int count_rows(int block) const;
  void make_part();
  void hold_others(const VecX& x);

  const Problem* problem_ = nullptr;
  double tolerance_ = 0;
  bool swept_ = false, friction_ = false;
  std::vector<char> takes_part_;
  BoundedPivot pivot_;
  VecX lower_, upper_;
  // With friction: the half as a problem.
  std::unique_ptr<Solver> newton_;
  Judge judge_;
  Problem part_;
  std::vector<int> part_row_;   ///< of each row of the problem; -1: held
  std::vector<double> offset_;  ///< the part's c without the held rows' share
  Solution answer_;
};

}  // namespace slipstick
