// Problem -> linear complementarity problem  0 <= z _|_ G z + g >= 0  [AnitescuPotra97, eq. (14)-(16)], on top of
// DualForm. Friction becomes polyhedral here and nowhere else: per contact  z = (c_n, beta_1..beta_k, lambda_j),
// x_t = sum beta_k d_k,  sum beta <= mu c_n. G = P^T D P + N is never formed: P has at most two entries per column, so
// that products run over the reduced rows, and N holds the +-1 and mu of the limits.
//
//   Nonnegative row   z = x                              Box row, both bounds finite   z = (x - lo, s), s the slack's
//   price Box, one bound    z = x - lo  or  z = hi - x          mu = 0                        z = x_n alone
#pragma once

#include <slipstick/problem.h>

#include <vector>

#include "solve/as_dual.h"

namespace slipstick {

/// The friction directions of every row block: vertices of a convex polygon around 0, counterclockwise; a sliding
/// contact's impulse is mu lambda_n times one of them. Planar contacts (2 rows) use the first component.
struct FrictionDirections {
  std::vector<int> start;  ///< by row block, blocks + 1
  std::vector<Vec2> vertex;
};

/// How the true cone is replaced by a polygon inscribed in the circle: `facets` equal angles, one vertex at the block's
/// `phase` (0 when empty), and where `spread` > 0 also vertices at phase +- spread (1, 2, 4, 8).
struct ConeAlignment {
  int facets = 8;
  double spread = 0;          ///< rad; those that reach the next equal angle are left out
  std::vector<double> phase;  ///< by row block
};

/// Directions of each block's own law, of `alignment` for the true cone.
void update_directions(const Problem& problem, const ConeAlignment& alignment, FrictionDirections* directions);

/// One row or contact of the LCP: a run of variables.
struct LcpGroup {
  enum class Kind { Single, Boxed, Contact };
  Kind kind = Kind::Single;
  int block = 0;       ///< row block of the problem
  int row = 0;         ///< first reduced row
  int first = 0;       ///< first variable. Boxed: first + 1 is the slack's price. Contact: first is c_n, then beta
  int directions = 0;  ///< Contact: count of beta; variable first + 1 + directions is lambda_j
  int tangents = 0;    ///< Contact: 1 or 2
  double mu = 0;
  double sign = 1;              ///< Single: -1 where only the upper bound is finite
  double lower = 0, upper = 0;  ///< Single, Boxed: bounds of x
  int price() const { return kind == Kind::Contact ? first + 1 + directions : first + 1; }
};

class LcpForm {
 public:
  /// `dual` must outlive this form.
  void update(const Problem& problem, const DualForm& dual, const FrictionDirections& directions);

  int size() const { return static_cast<int>(group_of_.size()); }
  const VecX& offset() const { return offset_; }  ///< g
  double entry(int i, int j) const;               ///< G(i, j)
  /// w = G z.
  void multiply(const VecX& z, VecX* w);
  /// x = x_0 + P z, the scaled reduced impulses of DualForm.
  void update_impulse(const VecX& z, VecX* x) const;
  /// The pair (z, G z + g) of an impulse x with scaled velocity w: z as sparse as it can be.
  void update_variables(const VecX& x, const VecX& w, VecX* z) const;
  /// G in full, for tests and small problems.
  MatX calc_matrix() const;

  const std::vector<LcpGroup>& groups() const { return groups_; }
  const LcpGroup& group_of(int variable) const { return groups_[group_of_[variable]]; }
  /// Direction k (0 ..) of a contact.
  const Vec2& direction(const LcpGroup& contact, int k) const { return pattern_[contact.first + 1 + k]; }

 private:
  void add_block(const Problem& problem, const DualForm& dual, const FrictionDirections& directions, int index);
  double bilinear(int i, int j) const;

  const DualForm* dual_ = nullptr;
  std::vector<LcpGroup> groups_;
  std::vector<int> group_of_;
  std::vector<Vec2> pattern_;     ///< P: coefficients of the variable on its row(s)
  std::vector<int> pattern_row_;  ///< first of them; -1 for a price
  std::vector<int> pattern_size_;
  VecX base_, offset_, impulse_, velocity_;
};

}  // namespace slipstick
