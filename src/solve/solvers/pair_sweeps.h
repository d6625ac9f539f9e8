// Projected Gauss-Seidel at the speed of the memory, for contacts alone: four pairs of columns at a time. In the
// velocities y = L^T v, with A = L L^T, one J' = J L^-T serves both halves of a visit,
//
//   w = J' y + C lambda + c,   lambda <- local solution,   y += J'^T (change of lambda).
//
// Pairs that share no column have one colour and are visited in any order, or at once: the bits are the same. The local
// solution is a cheap one (normal first, then one projected step of the tangents) with the law's own fixed point; per
// sweep it comes as far as the exact one. Chebyshev's acceleration works on impulses and velocities alike.
#pragma once

#include <slipstick/problem.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "solve/presolve.h"

namespace slipstick {

class PairSweeps {
 public:
  /// Contacts with true cones of two or three rows, and single one-sided rows, of one or two columns; A symmetric.
  static bool takes(const Problem& problem);
  static bool takes(const Problem& problem, const ProblemPart& part);

  /// Reads the problem and begins at zero impulses. What depends on which columns touch is kept while they are the
  /// same.
  void start(const Problem& problem);
  /// The same with a part of it, kept by reference. Impulses are always those of the whole problem; those of other
  /// parts are neither read nor written. The bits are those of the part as a problem of its own.
  void start(const Problem& problem, const ProblemPart& part);
  /// Whether there is any, after `start`.
  bool has_friction() const { return has_friction_; }
  /// Goes to other impulses as they are; y follows.
  void set_impulses(const VecX& impulses);
  /// Goes to the multiple of a guess, from none to all of it, at which half of y^T y + lambda^T C lambda + 2 c^T
  /// lambda, what impulses without friction would minimize, is least: a bad guess counts as little as it is worth.
  void set_guess(const VecX& impulses);
  /// So many sweeps, the last one plain: its impulses are admissible. `radius`: the estimate of their spectral radius
  /// that Chebyshev's weights have once they have run in; more is quicker and less safe. Fewer, and of no use, once
  /// `stop` is true.
  static constexpr double kSafeRadius = 0.95;
  void run(int sweeps, double radius = kSafeRadius, const std::atomic<bool>* stop = nullptr);
  /// Row operations (WorkMeter) of a sweep and a row.
  static constexpr double kWork = 0.4;
  void update_impulses(VecX* impulses) const;
  /// What a visit of all contacts at once would change, as speeds, over what the speeds of the rows would be without
  /// impulses: zero at a solution, and of the size of the relative natural map elsewhere. No verdict.
  double calc_change() const;

 private:
  static constexpr int kLanes = 4, kMostPoints = 4;
  using Lanes = double __attribute__((vector_size(kLanes * sizeof(double))));
  /// The same where numbers of a column lie.
  using Loose = double __attribute__((vector_size(kLanes * sizeof(double)), aligned(sizeof(double)), may_alias));
  /// One contact in each lane.
  struct Point {
    // What the normal needs comes first: of an open contact nothing else is read.
    Lanes c[3], compliance[3], inverse_n;
    Lanes j[3][2][6];  ///< rows n, t1, t2, of both columns
    Lanes tn[2], inverse_t, mu;
  };
  struct Impulse {
    Lanes x[3];
  };
  /// A pair of columns in each lane, with up to kMostPoints contacts.
  struct Pair {
    int a[kLanes], b[kLanes];
    int first, count;  ///< points
    bool smooth;       ///< single rows: no contact of it rubs
  };
  struct Run {
    int a, b, first, count;  ///< columns, row blocks of the part that follow each other
    bool smooth;             ///< all of them single rows
  };

  int columns() const { return static_cast<int>(part_.columns.size()); }
  int local_column(const JacobianEntry& entry) const { return part_.local_column[entry.column]; }
  void find_runs();
  void colour_runs();
  void sort_runs(int colours);
  void pack_runs();
  void clear_gaps();
  void update_bodies();
  void update_point(int block, Point* point, int lane);
  void visit(const Pair& pair);
  void visit_smooth(const Pair& pair);
  void sweep();
  const Loose* numbers_of(int column) const { return reinterpret_cast<const Loose*>(y_[column].data()); }
  void load(const int* column, Lanes* y) const;
  void store(const int* column, const Lanes* y);

  const Problem* problem_ = nullptr;
  ProblemPart part_;
  std::vector<int> all_blocks_, all_columns_;  ///< the part that is the whole
  bool has_friction_ = false;
  std::vector<Run> runs_, known_runs_;
  std::vector<int> colour_, order_, start_;
  std::vector<char> filled_;   ///< lanes of each point
  std::vector<char> is_body_;  ///< of each column: A = diag(m I_3, B)
  std::vector<std::uint64_t> used_;
  std::vector<Pair> pairs_;
  std::vector<int> place_;  ///< of each block of the part: point * kLanes + lane
  std::vector<Point> points_;
  std::vector<Impulse> x_, x_before_, x_kept_;
  std::vector<std::array<double, 36>> root_;                         ///< L^-1 of each column, lower rows first
  std::vector<std::array<double, 8>> y_, y_before_, y_kept_, free_;  ///< the last one: of what does not move
};

}  // namespace slipstick
