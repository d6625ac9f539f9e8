// Projected Gauss-Seidel at the speed of the memory, for contacts alone: four pairs of columns at a time. In the
// velocities y = L^T v, with A = L L^T, one J' = J L^-T serves both halves of a visit,
//
//   w = J' y + C lambda + c,   lambda <- local solution,   y += J'^T (change of lambda).
//
// Pairs that share no column have one colour and are visited in any order, or at once: the bits are the same. Large
// islands are divided into parts that lie in a row (column_layers.h). A part and its seam with the next one are a
// group: every other group at once, then the others, each in its colours. The order is that of the island alone, on any
// number of threads. The local solution is a cheap one (normal first, then one projected step of the tangents) with the
// law's own fixed point; per sweep it comes as far as the exact one. Chebyshev's acceleration works on impulses and
// velocities alike.
#pragma once

#include <slipstick/problem.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "solve/presolve.h"
#include "solve/solvers/column_layers.h"

namespace slipstick {

class ThreadTeam;

class PairSweeps {
 public:
  /// Contacts with true cones of two or three rows, and single one-sided rows, of one or two columns; A symmetric.
  static bool takes(const Problem& problem);
  static bool takes(const Problem& problem, const ProblemPart& part);

  /// Whether most of its pairs meet in one contact: a heap of round bodies, whose impulses sweeps find soon to what can
  /// be seen, and nobody soon to the last digit. Walls, logs and stacks meet in faces and edges.
  static bool is_loose(const Problem& problem, std::span<const int> blocks);
  static bool is_loose(const Problem& problem);

  /// Sweeps that such a heap is worth where work is limited, if it has not come near before.
  static constexpr int kLooseSweeps = 240;

  /// Who helps; null: nobody.
  void set_team(const ThreadTeam* team) { team_ = team; }
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
  /// v of the columns, as the sweeps have it: A^-1 (b + J^T lambda) to rounding.
  void update_velocity(VecX* v) const;
  /// What a visit of all contacts at once would change, as speeds, over what the speeds of the rows would be without
  /// impulses: zero at a solution, and of the size of the relative natural map elsewhere. No verdict.
  double calc_change() const;

 private:
  static constexpr int kLanes = 4, kMostPoints = 4, kGroupPhases = 2;
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
  /// One single row in each lane.
  struct SmoothPoint {
    Lanes c, compliance, inverse_n;
    Lanes j[2][6];
  };
  /// A pair of columns in each lane, with up to kMostPoints contacts.
  struct Pair {
    int a[kLanes], b[kLanes];  ///< of y_
    int first, count;          ///< of points_, or of smooth_
    int x;                     ///< of x_: three numbers of each lane for a point, one for a smooth one
    bool smooth;               ///< single rows: no contact of it rubs
  };
  struct Run {
    int a, b, first, count;  ///< columns, row blocks of the part that follow each other
    bool smooth;             ///< all of them single rows
    bool operator==(const Run&) const = default;
  };
  /// Of a row block.
  struct Place {
    int point : 31;  ///< of points_ or of smooth_, times kLanes, and the lane
    bool smooth : 1;
    int x;  ///< of its first row in x_, in numbers; the next row is kLanes farther
  };
  /// Chebyshev's step after a sweep: its weight, 0 for none, and the impulses before the last sweep but one, in whose
  /// place come the new ones. Null: it is the last sweep.
  struct Acceleration {
    double weight;
    Lanes* impulses;
  };
  struct alignas(64) Column {
    double n[8];
  };

  int columns() const { return static_cast<int>(part_.columns.size()); }
  int groups() const { return phase_group_.back(); }
  int local_column(const JacobianEntry& entry) const { return part_.local_column[entry.column]; }
  // Who is visited with whom (pair_sweeps_order.cpp).
  void find_runs(std::vector<Run>* runs) const;
  void divide_runs();
  void colour_runs();
  void sort_runs();
  void pack_runs();
  void clear_gaps();
  // Numbers.
  void update_bodies();
  void update_rows(int block, double (*j)[18], double (*d)[3]) const;
  void update_points();
  void update_point(int block, Point* point, int lane) const;
  void update_point(int block, SmoothPoint* point, int lane) const;
  template <class F>
  void for_blocks(const F& f) const;
  // Sweeps.
  static int count_rows(const Pair& pair) { return pair.smooth ? 1 : 3; }
  void add_impulses(const Pair& pair);
  void add_change(const Pair& pair, Lanes* sums) const;
  void add_change_smooth(const Pair& pair, Lanes* sums) const;
  void accelerate(const Acceleration& by, int rows, int place);
  void visit(const Pair& pair, const Acceleration& by);
  void visit_smooth(const Pair& pair, const Acceleration& by);
  template <class F>
  void run_groups(const F& f) const;
  template <class F>
  void run_group(int group, const F& f) const;
  void accelerate_columns(double weight, int kept, int portion);
  void load(const std::vector<Column>& of, const int* column, Lanes* y) const;
  void store(const int* column, const Lanes* y);

  const ThreadTeam* team_ = nullptr;
  const Problem* problem_ = nullptr;
  ProblemPart part_;
  std::vector<int> all_blocks_, all_columns_;  ///< the part that is the whole
  bool has_friction_ = false;
  std::vector<Run> runs_, new_runs_;
  int known_columns_ = -1;  ///< of runs_
  ColumnLayers layers_;
  std::vector<ColumnLayers::Edge> edges_;
  std::vector<int> group_, colour_;                  ///< of each run; colours of later groups are higher
  std::vector<int> order_, start_;                   ///< of runs; scratch of their sorting
  std::vector<int> group_pair_;                      ///< first of pairs_, of each group
  std::array<int, kGroupPhases + 1> phase_group_{};  ///< first group of each phase, and how many there are
  std::vector<std::uint64_t> used_;
  std::vector<Pair> pairs_;
  std::vector<Place> place_;  ///< of each row block of the part
  std::vector<char> filled_;  ///< lanes of each point
  std::vector<Point> points_;
  std::vector<SmoothPoint> smooth_;
  std::vector<Lanes> x_;
  std::array<std::vector<Lanes>, 2> x_kept_;  ///< before the last two sweeps
  std::vector<char> is_body_;                 ///< of each column: A = diag(m I_3, B)
  std::vector<std::array<double, 36>> root_;  ///< L^-1 of each column, lower rows first
  std::vector<Column> y_, free_;              ///< after all columns: of what does not move, one for each group
  std::array<std::vector<Column>, 2> y_kept_;
  std::vector<double> weights_;  ///< of a run: after each sweep; 0: plain
};

}  // namespace slipstick
