// Which pairs of columns are visited with whom, and in which order: all of it follows from the island's own rows.
//
// Row blocks that follow each other and touch the same columns are a run. Pairs that share no column have one colour
// and are visited in any order, or at once. Large islands are divided into parts that lie in a row (column_layers.h): a
// part and its seam with the next one are a group; every other group at once, then the others, each in its colours.
#pragma once

#include <slipstick/problem.h>

#include <array>
#include <cstdint>
#include <vector>

#include "solve/presolve.h"
#include "solve/solvers/column_layers.h"

namespace slipstick {

class PairOrder {
 public:
  static constexpr int kMostPoints = 4, kMostLanes = 8, kPhases = 2;
  struct Run {
    int a, b, first, count;  ///< columns, row blocks of the part that follow each other
    bool smooth;             ///< all of them single rows
    bool operator==(const Run&) const = default;
  };

  /// A pair of columns in each lane, with up to kMostPoints contacts.
  struct Pair {
    int a[kMostLanes], b[kMostLanes];  ///< columns; beyond the last one those of what does not move, one for each group
    int first, count;                  ///< of the points, or of the smooth ones
    int x;                             ///< of the impulses' vectors: one for each row of a point
    bool smooth;                       ///< single rows: no contact of it rubs
    int rows() const { return smooth ? 1 : 3; }
  };
  /// Of a row block.
  struct Place {
    int point : 31;  ///< of the points or of the smooth ones, times the lanes, and the lane
    bool smooth : 1;
    int x;  ///< of its first row in the impulses, in numbers; the next row is as many lanes farther
  };

  explicit PairOrder(int lanes) : lanes_(lanes) {}

  /// Of this part of a problem. False: nothing has changed.
  bool update(const Problem& problem, const ProblemPart& part);

  bool has_friction() const { return has_friction_; }
  /// Group by group, in each as they follow each other in the problem.
  const Run& run(int at) const { return runs_[by_group_[at]]; }
  int groups() const { return phase_group_.back(); }
  int phase_group(int phase) const { return phase_group_[phase]; }  ///< its first group; of phase kPhases: how many
  int group_run(int group) const { return group_run_[group]; }      ///< its first run
  int group_pair(int group) const { return group_pair_[group]; }    ///< and its first pair
  const std::vector<Pair>& pairs() const { return pairs_; }
  const Place& place(std::size_t block) const { return place_[block]; }  ///< of a row block of the part
  int points() const { return points_; }
  int smooth_points() const { return smooth_; }
  int numbers() const { return numbers_; }  ///< vectors of impulses

 private:
  void find_runs(const Problem& problem, const ProblemPart& part);
  void divide_runs(int points);
  void colour_runs();
  void sort_runs();
  void pack_runs(std::size_t blocks);
  void list_groups();
  void begin_pair(const Run& run, int group);

  int lanes_;
  int columns_ = -1;
  std::vector<Run> runs_, new_runs_;
  bool has_friction_ = false;
  ColumnLayers layers_;
  std::vector<ColumnLayers::Edge> edges_;
  std::vector<int> group_, colour_;  ///< of each run; colours of later groups are higher
  std::vector<int> order_, start_;   ///< start_: scratch of sorting
  std::array<int, kPhases + 1> phase_group_{};
  std::vector<std::uint64_t> used_;
  std::vector<int> group_pair_, group_run_, by_group_;
  std::vector<Pair> pairs_;
  std::vector<Place> place_;
  int points_ = 0, smooth_ = 0, numbers_ = 0;
};

}  // namespace slipstick
