// Projected Gauss-Seidel at the speed of the memory, for contacts alone: four pairs of columns at a time, eight in
// single precision. swept_pairs.h has the numbers, pair_order.h who is visited with whom: the order is that of the
// island alone, on any number of threads.
#pragma once

#include <slipstick/problem.h>

#include <atomic>
#include <vector>

#include "solve/presolve.h"
#include "solve/solvers/swept_pairs.h"

namespace slipstick {

class ThreadTeam;

/// Single: half of the memory and twice as many lanes, for what is to be known to four or five digits. Velocities
/// follow from impulses in double precision, whatever the sweeps have.
enum class SweepPrecision : char { Double, Single };

class PairSweeps {
 public:
  /// Contacts with true cones of two or three rows, and single one-sided rows, of one or two columns; A symmetric.
  static bool takes(const Problem& problem);
  static bool takes(const RowBlock& block);
  /// Whether it can sweep what rows of a problem it takes.
  static bool takes_columns(const Problem& problem);

  /// Whether most of its pairs meet in one contact: a heap of round bodies, whose impulses sweeps find soon to what can
  /// be seen, and nobody soon to the last digit. Walls, logs and stacks meet in faces and edges.
  static bool is_loose(const Problem& problem, std::span<const int> blocks);
  static bool is_loose(const Problem& problem);

  /// Sweeps that such a heap is worth where work is limited, if it has not come near before.
  static constexpr int kLooseSweeps = 240;

  /// Who helps; null: nobody.
  void set_team(const ThreadTeam* team);
  /// Reads the problem and begins at zero impulses. What depends on which columns touch is kept while they are the
  /// same.
  void start(const Problem& problem, SweepPrecision precision = SweepPrecision::Double);
  /// The same with a part of it, kept by reference. Impulses are always those of the whole problem; those of other
  /// parts are neither read nor written. The bits are those of the part as a problem of its own.
  void start(const Problem& problem, const ProblemPart& part, SweepPrecision precision = SweepPrecision::Double);
  /// Whether there is any, after `start`.
  bool has_friction() const;
  /// After `start`: b in place of the problem's, with impulses that are not swept. Impulses are to be set anew.
  void set_forces(std::span<const double> b);
  /// Goes to other impulses as they are; y follows.
  void set_impulses(const VecX& impulses);
  /// Goes to the multiple of a guess, from none to all of it, at which half of y^T y + lambda^T C lambda + 2 c^T
  /// lambda, what impulses without friction would minimize, is least: a bad guess counts as little as it is worth.
  void set_guess(const VecX& impulses);
  /// So many sweeps, the last one plain: its impulses are admissible. `radius`: the estimate of their spectral radius
  /// that Chebyshev's weights have once they have run in; more is quicker and less safe. Fewer, and of no use, once
  /// `stop` is true.
  static constexpr double kSafeRadius = SweptPairs<double>::kSafeRadius;
  void run(int sweeps, double radius = kSafeRadius, const std::atomic<bool>* stop = nullptr);
  /// Row operations (WorkMeter) of so many sweeps and a row.
  static double calc_work(int sweeps, SweepPrecision precision) {
    return (precision == SweepPrecision::Double ? 0.4 : 0.15) * sweeps;
  }
  SweepPrecision precision() const { return precision_; }
  void update_impulses(VecX* impulses) const;
  /// v of the columns: A^-1 (b + J^T lambda) to rounding.
  void update_velocity(VecX* v);
  /// After update_velocity: how far the velocities that the sweeps went by are from that, over the largest of them or
  /// of those without impulses. Zero in double precision.
  double calc_drift() const;
  /// What a visit of all contacts at once would change, as speeds, over what the speeds of the rows would be without
  /// impulses: zero at a solution, and of the size of the relative natural map elsewhere. No verdict.
  double calc_change() const;

 private:
  /// f(the pairs of the precision at hand).
  template <class F>
  auto with(const F& f) {
    return precision_ == SweepPrecision::Double ? f(double_) : f(single_);
  }
  template <class F>
  auto with(const F& f) const {
    return precision_ == SweepPrecision::Double ? f(double_) : f(single_);
  }

  SweepPrecision precision_ = SweepPrecision::Double;
  SweptPairs<double> double_;
  SweptPairs<float> single_;
  std::vector<int> all_blocks_, all_columns_;  ///< the part that is the whole
};

}  // namespace slipstick
