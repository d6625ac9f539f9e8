// Principal pivoting on mixed bounds: find x with  l <= x <= u  and, row by row,
//
//     w = H x + q :   w = 0 where l < x < u,   w >= 0 at l,   w <= 0 at u          H = J A^-1 J^T + C (+ W)
//
// [LacoursiereLinde11, algorithm 21.2, corrected: the bounds' share of w_beta, and gamma_l, gamma_u taken from the rows
// at bounds]. l = -inf, u = inf is an equality; l = u freezes a row. Each row is free, at its lower or at its upper
// bound; a pivot moves every row that has the wrong sign to where it belongs, and one sparse factorization with the
// free rows follows. Index sets that come again (found by hashing) end the block pivots; then one row at a time:
//
//  * A symmetric: Keller's rule. x stays within its bounds, one row enters, rows that meet a bound on the way leave;
//  the
//    energy falls with each entering row, so that no sets come again: finite for every symmetric H >= 0.
//  * A not symmetric: Murty's least index, finite for P-matrices, with block pivots between (Judice and Pires).
//
// H is singular where rows are redundant. Every pivot therefore works on the proximal problem H + delta (P-matrix,
// unique answer) around a centre, delta ~ 1e-9 of the diagonal, and the centre follows the answer until the residual of
// the problem itself is at rounding: no regularization stays in the answer. [Rockafellar76]
#pragma once

#include <slipstick/problem.h>

#include <cstdint>
#include <span>
#include <vector>

#include "solve/solvers/newton_system.h"

namespace slipstick {

/// Bounds of the rows of `problem` by law: equalities free, Nonnegative [0, inf), Box its own, friction normals
/// [0, inf); tangents and all rows of blocks with takes_part[i] == 0 frozen at `frozen` (rows() long). An empty
/// `takes_part` means all blocks.
void update_pivot_bounds(const Problem& problem, std::span<const char> takes_part, const VecX& frozen, VecX* lower,
                         VecX* upper);

struct PivotReport {
  double residual = 0;     ///< relative: ||natural map for the bounds|| over the judge's scale
  int factorizations = 0;  ///< linear systems factored
  int block_pivots = 0;    ///< of whole sets
  int single_pivots = 0;   ///< of one row (Keller, Murty)
  int set_changes = 0;     ///< rows that changed their set, all pivots together
  bool cycled = false;     ///< block pivots met index sets they had seen
};

class BoundedPivot {
 public:
  enum class Rule { Block, Single };            ///< Single: never a block pivot
  enum class Start { FromImpulses, FromSets };  ///< sets of the guess, or those of the last solve() as they are

  /// Reads the problem, which must stay as it is until the next call. False: columns and a coupling in one problem.
  bool prepare(const Problem& problem);
  /// x: a guess on entry, the answer on return. Stops at `goal`, or at `tolerance` once no digit is gained.
  PivotReport solve(const VecX& lower, const VecX& upper, double tolerance, double goal, Rule rule, Start start,
                    VecX* x);
  /// v and w of the impulses x.
  void evaluate(const VecX& x);
  const VecX& v() const { return v_; }  ///< of the last answer or evaluate()
  const VecX& w() const { return w_; }

 private:
  enum class Set : char { Free, Lower, Upper, Fixed };

  void begin(const VecX& guess, Start start);
  void set_row(int row, Set set);
  void sort_row(int row);  // its set by where x lies
  bool is_free(int row) const { return sets_[row] == Set::Free; }
  void refresh();
  double calc_residual() const;
  void update_ties();
  void set_shift(double shift);
  bool factor_sets();
  bool move_to_minimum();
  double violation(int row) const;  // > 0: by how much the row's sign is wrong, in units of the tie
  void flip(int row);
  std::uint64_t calc_hash() const;
  bool run_block();
  bool run_keller();
  bool run_murty(bool blocks);
  bool leave_at_bounds(int entered);
  bool run_pivots(Rule rule);

  const Problem* problem_ = nullptr;
  NewtonSystem* system_ = nullptr;
  PrimalSystem primal_;
  DualSystem dual_;
  NewtonMaps maps_;
  PivotReport report_;
  double scale_ = 0, speed_ = 0, tie_ = 0, shift_ = 0;
  VecX lower_, upper_, x_, v_, u_, w_, centre_, delta_, diagonal_, start_, dx_, du_, q_, best_;
  std::vector<Set> sets_, factored_;
  std::vector<char> ignored_;
  std::vector<std::uint64_t> seen_;
};

}  // namespace slipstick
