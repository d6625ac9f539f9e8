// Lemke's complementary pivoting on an LcpForm, without a tableau. While the method runs, the basic variables are z_i
// for i in a set alpha, the artificial z0, and w_i for all i but alpha and one index r, whose pair (z_r, w_r) holds the
// entering variable. Everything follows from the kernel
//
//   K = [ G(alpha, alpha)  d(alpha) ]       rows alpha + r,  columns alpha + z0
//       [ G(r, alpha)      d(r)     ]
//
// whose inverse is kept by rank-one updates (replace, border, delete) and rebuilt at intervals and on loss of accuracy.
// d in [1, 2] is pseudo-random: the ray g + t d then meets no two boundaries at once for t > 0, so that ties (the
// rule in hyperstatic problems under d = 1) are left to the end, where z0 is preferred. [CottlePangStone92, 4.4]
#pragma once

#include <cstdint>
#include <vector>

#include "solve/as_lcp.h"
#include "solve/linalg/dense_lu.h"
#include "solve/solvers/time_limit.h"

namespace slipstick {

struct LemkeSettings {
  std::uint32_t seed = 1;
  double pivot_tolerance = 1e-10;  ///< relative to the largest entry of the direction, range (0, 1e-6]
  double slack = 1e-12;            ///< by how much a variable may become negative in the ratio test, of max |g|
  int rebuild_every = 50;          ///< pivots between factorizations, >= 1
  double shift = 0;                ///< added to the diagonal of G: a last resort, the answer is polished without it
  int max_pivots = 0;              ///< 0: 10 n + 100
  TimeLimit* time = nullptr;
};

enum class LemkeOutcome { Complementary, Ray, PivotLimit, Breakdown };

class LemkePivots {
 public:
  /// From the all-w basis, or from the complementary basis `start` (1: z_i basic), which is left again where its kernel
  /// is singular (Breakdown).
  LemkeOutcome run(LcpForm* lcp, const LemkeSettings& settings, const std::vector<char>* start);
  const VecX& z() const { return z_; }
  const std::vector<char>& basis() const { return active_; }
  int pivots() const { return pivots_; }

 private:
  enum class Entering { Z, W };
  static constexpr int kArtificial = -1, kNone = -2;
  struct Leaving {
    int variable = kNone;  ///< index, kArtificial for z0
    bool is_w = false;
  };

  void make_covering_vector(const std::vector<char>* start);
  bool begin_cold();
  bool begin_at(const std::vector<char>& start);
  bool rebuild();
  bool update_direction(Entering entering);
  Leaving find_leaving();
  void advance(const Leaving& leaving, Entering entering);
  bool exchange(const Leaving& leaving, Entering entering);
  LemkeOutcome finish(Entering entering);

  double element(int row, int column) const;
  void reserve_kernel(int size);
  auto inverse() { return inverse_.topLeftCorner(kernel_, kernel_); }
  void replace_column(int at, int variable);
  void replace_row(int at, int variable);
  void append(int row_variable, int column_variable);
  void remove(int row_at, int column_at);

  LcpForm* lcp_ = nullptr;
  LemkeSettings settings_;
  int n_ = 0, pair_ = 0, pivots_ = 0, since_rebuild_ = 0;
  double magnitude_ = 1, z0_ = 0, dz0_ = 0, largest_ = 0;
  VecX g_, cover_, z_, w_, dz_, dw_;
  std::vector<char> active_;

  int kernel_ = 0;
  DenseX inverse_, matrix_;
  std::vector<int> kernel_rows_, kernel_columns_, row_at_, column_at_;  ///< and where an index sits, or -1
  VecX right_, solution_, border_row_, border_column_;
  DenseLu lu_;
};

}  // namespace slipstick
