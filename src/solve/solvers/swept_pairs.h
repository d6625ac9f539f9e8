// The numbers of pair_sweeps.h, in double or in single precision: as many pairs of columns at a time as a vector has
// lanes, four or eight. In the velocities y = L^T v, with A = L L^T, one J' = J L^-T serves both halves of a visit,
//
//   w = J' y + C lambda + c,   lambda <- local solution,   y += J'^T (change of lambda).
//
// The local solution is a cheap one (normal first, then one projected step of the tangents) with the law's own fixed
// point; per sweep it comes as far as the exact one. Chebyshev's acceleration works on impulses and velocities alike.
// In single precision everything is held in units of the island, powers of two, so that squares of what is small in SI
// stay numbers.
#pragma once

#include <slipstick/problem.h>

#include <array>
#include <atomic>
#include <vector>

#include "solve/presolve.h"
#include "solve/solvers/pair_order.h"
#include "solve/solvers/swept_columns.h"

namespace slipstick {

class ThreadTeam;

template <class Number>
struct LanesOf;
template <>
struct LanesOf<double> {
  using Type = double __attribute__((vector_size(32)));
};
template <>
struct LanesOf<float> {
  using Type = float __attribute__((vector_size(32)));
};

/// PairSweeps (pair_sweeps.h) says what its functions do.
template <class Number>
class SweptPairs {
 public:
  static constexpr double kSafeRadius = 0.95;

  void set_team(const ThreadTeam* team) { team_ = team; }
  void start(const Problem& problem, const ProblemPart& part);
  void set_forces(std::span<const double> b);
  bool has_friction() const { return order_.has_friction(); }
  void set_impulses(const VecX& impulses);
  void set_guess(const VecX& impulses);
  void run(int sweeps, double radius, const std::atomic<bool>* stop);
  void update_impulses(VecX* impulses) const;
  void update_velocity(VecX* v);
  double calc_change() const;
  /// After update_velocity: the y of the sweeps against that of their impulses, as speeds over the largest one: what
  /// rounding has added up to.
  double calc_drift() const;

 private:
  static constexpr int kLanes = 32 / sizeof(Number);
  using Lanes = typename LanesOf<Number>::Type;
  /// One contact in each lane.
  struct Point {
    // What the normal needs comes first: of an open contact nothing else is read.
    Lanes c[3], compliance[3], inverse_n;
    Lanes j[3][2][6];  ///< rows n, t1, t2, of both columns
    Lanes tn[2], inverse_t, mu;
  };
  /// One single row in each lane.
  struct SmoothPoint {
    Lanes c, compliance, inverse_n;
    Lanes j[2][6];
  };
  using Pair = PairOrder::Pair;
  /// Chebyshev's step after a sweep: its weight, 0 for none, and the impulses before the last sweep but one, in whose
  /// place come the new ones. Null: it is the last sweep.
  struct Acceleration {
    Number weight;
    Lanes* impulses;
  };
  struct alignas(8 * sizeof(Number)) Column {
    Number n[8];
  };

  int columns() const { return static_cast<int>(part_.columns.size()); }
  // Numbers.
  void clear_gaps();
  void update_units();
  void update_free();
  void update_exact();
  void update_y(const std::vector<Lanes>& of, std::vector<Column>* y) const;
  void update_points();
  void update_point(int block, Point* point, int lane) const;
  void update_point(int block, SmoothPoint* point, int lane) const;
  template <class F>
  void for_blocks(const F& f) const;
  // Sweeps.
  void add_impulses(const Pair& pair, const std::vector<Lanes>& of, std::vector<Column>* y) const;
  void add_change(const Pair& pair, Lanes* sums) const;
  void add_change_smooth(const Pair& pair, Lanes* sums) const;
  void accelerate(const Acceleration& by, int rows, int place);
  void visit(const Pair& pair, const Acceleration& by);
  void visit_smooth(const Pair& pair, const Acceleration& by);
  template <class F>
  void run_groups(const F& f) const;
  template <class F>
  void run_group(int group, const F& f) const;
  void run_portion(int first, int last, const std::atomic<bool>* stop);
  void accelerate_columns(Number weight, int kept, int portion);
  void load(const std::vector<Column>& of, const int* column, Lanes* y) const;
  void store(const int* column, const Lanes* y, std::vector<Column>* to) const;

  const ThreadTeam* team_ = nullptr;
  const Problem* problem_ = nullptr;
  ProblemPart part_;
  PairOrder order_{kLanes};
  SweptColumns bodies_;
  std::vector<char> filled_;  ///< lanes of each point
  std::vector<Point> points_;
  std::vector<SmoothPoint> smooth_;
  std::vector<Lanes> x_;
  std::array<std::vector<Lanes>, 2> x_kept_;  ///< before the last two sweeps
  double y_unit_ = 1, row_unit_ = 1;          ///< of y and of J'; impulses have y_unit_ / row_unit_, w their product
  std::vector<std::array<double, 6>> exact_;  ///< after update_velocity: y of the impulses in double precision
  std::vector<Column> y_, free_;              ///< after all columns: of what does not move, one for each group
  std::array<std::vector<Column>, 2> y_kept_;
  std::vector<double> weights_;  ///< of a run: Chebyshev's, after each sweep; 0: plain
};

}  // namespace slipstick
