// Room: solve. The one complementarity problem that every scheme writes and every solver reads.
//
//   A v = b + J^T lambda                    (P1)   A block-diagonal, positive definite, one block per column
//   w   = J v + C lambda + W lambda + c     (P2)   C >= 0 diagonal (compliance), W an optional sparse coupling
//   (lambda_i, w_i) in Law_i                (P3)   for each row block i
//
// lambda is an impulse, w a velocity. There are no bodies here: a "column" is a block of unknowns.
#pragma once

#include <slipstick/solve_mode.h>
#include <slipstick/types.h>
#include <slipstick/uniqueness.h>

#include <cstdint>
#include <vector>

namespace slipstick {

enum class LawKind : std::uint8_t {
  Equality,     ///< w = 0, lambda free
  Nonnegative,  ///< 0 <= w _|_ lambda >= 0, each row by itself
  Box,          ///< lo <= lambda <= hi; w = 0 inside, w >= 0 at lo, w <= 0 at hi; each row by itself
  /// Coulomb: rows (n, t1[, t2]); 0 <= w_n _|_ lambda_n >= 0 and lambda_t opposes w_t within the limit mu lambda_n.
  /// True cones may have further limits of the same size: rows (n, t1, t2, spin), (n, t1, t2, roll1, roll2) or (n, t1,
  /// t2, spin, roll1, roll2), whose rows are scaled so that each coefficient becomes mu.
  Friction
};

enum class FrictionModel : std::uint8_t {
  Cone,     ///< |lambda_t| <= mu lambda_n, the true law
  Pyramid,  ///< lambda_t in mu lambda_n times the regular polygon with `facets` vertices, a vertex on +t1
  Box       ///< |lambda_t1| <= mu lambda_n and |lambda_t2| <= mu lambda_n
};

/// One block of consecutive rows under one law.
struct RowBlock {
  int row = 0;    ///< first row (index into lambda, w, c, compliance, lower, upper)
  int size = 0;   ///< number of rows. Friction: 2 (planar: n, t), 3 (n, t1, t2), or 4 to 6 with further limits
  int entry = 0;  ///< first of its Jacobian blocks in Problem::entries
  int entries = 0;
  LawKind law = LawKind::Equality;
  FrictionModel friction = FrictionModel::Cone;
  int facets = 8;  ///< Pyramid with size 3: number of vertices, even and >= 4. Size 2 always means both directions
  double mu = 0;   ///< Friction: coefficient, >= 0
  SolveMode mode = SolveMode::Split;  ///< read by solver `split` alone
  /// Nonnegative: no contact but a part of a joint, without a spring where impulses are chosen (Uniqueness).
  bool rigid = false;
};

/// One nonzero block of J: rows of the owning RowBlock x the unknowns of one column.
struct JacobianEntry {
  int column = 0;
  int offset = 0;  ///< into Problem::jacobian; row-major, size(rows) x size(column)
};

/// Compressed sparse rows, square over the rows of the problem; empty when absent.
struct SparseRows {
  std::vector<int> start;   ///< rows + 1 offsets
  std::vector<int> column;  ///< sorted in each row
  std::vector<double> value;
  bool empty() const { return start.empty(); }
};

using ConstBlockMap = Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor, 6, 6>>;
using BlockMap = Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor, 6, 6>>;

struct Problem {
  // Columns (block unknowns). Column k owns v[column_start[k] .. column_start[k+1]), 1 to 6 of them.
  std::vector<int> column_start{0};
  std::vector<int> mass_start{0};  ///< offset of column k's square, row-major block in `mass`
  std::vector<double> mass;        ///< A
  std::vector<double> b;
  bool symmetric = true;  ///< A is symmetric (false: implicit gyroscopic terms; still x^T A x > 0)

  // Rows.
  std::vector<RowBlock> blocks;
  std::vector<JacobianEntry> entries;  ///< each block's columns are distinct
  std::vector<double> jacobian;
  std::vector<double> c;
  std::vector<double> compliance;  ///< diagonal of C, >= 0
  std::vector<double> lower;       ///< Box rows only (others ignored)
  std::vector<double> upper;
  SparseRows coupling;  ///< W: problems given in local form (u = W r + q); empty in simulations

  /// Per column, J: x^T A x of the speed x that would take it from the origin to its place within the step. c has
  /// differences of places over the step, and no digits below the last ones of these. Empty: not known.
  std::vector<double> place;

  int columns() const { return static_cast<int>(column_start.size()) - 1; }
  int unknowns() const { return column_start.back(); }
  int rows() const { return static_cast<int>(c.size()); }
  int column_size(int k) const { return column_start[k + 1] - column_start[k]; }
  ConstBlockMap mass_block(int k) const { return {mass.data() + mass_start[k], column_size(k), column_size(k)}; }
  ConstBlockMap jacobian_block(const RowBlock& block, const JacobianEntry& e) const {
    return {jacobian.data() + e.offset, block.size, column_size(e.column)};
  }

  /// Empties the problem and keeps its memory.
  void clear();
  /// Appends a column of `size` unknowns with A = 0, b = 0; fill through the returned view (valid until the next add).
  BlockMap add_column(int size);
  /// Appends a block of `size` rows with c = 0, compliance = 0 and no Jacobian entry; equalities have the mode Direct.
  RowBlock& add_block(LawKind law, int size);
  /// Appends a Jacobian block to the LAST added row block; fill through the returned view (valid until the next add).
  BlockMap add_entry(int column);
};

struct Solution {
  VecX v;       ///< unknowns()
  VecX lambda;  ///< rows(); on entry to a solver a guess (warm start) if it has the right size, else ignored
  VecX w;       ///< rows()
  /// One per row block, or empty. On entry to a ladder: what is known of the guess.
  std::vector<Uniqueness> uniqueness;
};

}  // namespace slipstick
