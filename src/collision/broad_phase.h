// Which boxes overlap. Few boxes are swept along the axis of greatest spread. Many go into grids, one for each class of
// sizes, kept as sorted lists of cells: neighbours in space are neighbours in memory, and the time is linear in the
// number of boxes and of pairs however large the heap is.
#pragma once

#include <slipstick/types.h>

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace slipstick {

struct Bounds {
  Vec3 low, high;
};

struct IndexPair {
  std::int32_t a, b;  ///< a < b
};

class ThreadTeam;

class BroadPhase {
 public:
  /// Who helps; null: nobody.
  void set_team(const ThreadTeam* team) { team_ = team; }
  /// Appends every pair of boxes that overlap or touch, each once, in no particular order. The set of pairs depends on
  /// the bounds alone. A limit that is not a number is taken for infinite.
  void find(const std::vector<Bounds>& bounds, std::vector<IndexPair>* pairs);

 private:
  /// A box in the order of the sweep or of the cells.
  struct alignas(64) Entry {
    Vec3 low, high;
    std::int32_t index;
  };
  struct Keyed {
    std::uint64_t key;
    std::int32_t index;
  };
  /// Cells along one axis. A box is in the cell of its lower limit.
  struct Scale {
    double origin = 0, per_length = 0;
    std::int64_t count = 1;
    int bits = 1;  ///< of a cell's number and one cell to either side
    std::int64_t at(double x) const;
  };
  /// Boxes of like size.
  struct Grid {
    std::int32_t first = 0, last = 0;  ///< in by_size_, keys_ and entries_
    bool bounded = false;              ///< false: boxes without end, which have no cells
    std::array<Scale, 3> scale;
    std::uint64_t key(std::int64_t x, std::int64_t y, std::int64_t z) const;
  };

  static Entry make_entry(const Bounds& box, std::int32_t index);
  void sort_along_axis(const std::vector<Bounds>& bounds);
  void sweep(const std::vector<Bounds>& bounds, std::vector<IndexPair>* pairs);
  void classify(const std::vector<Bounds>& bounds);
  void make_grids();
  void add_grid(int first_class, int last_class);
  void update_scales(const std::vector<Bounds>& bounds, Grid* grid);
  double calc_middle(const std::vector<Bounds>& bounds, const Grid& grid, int axis);
  void fill(const std::vector<Bounds>& bounds, Grid* grid);
  void sort_keys(std::span<Keyed> keys, int bits);
  void find_within(const Grid& grid, std::vector<IndexPair>* pairs);
  void find_within(const Grid& grid, std::int32_t first, std::int32_t last, std::vector<IndexPair>* pairs) const;
  void find_between(const Grid& fine, const Grid& coarse, std::vector<IndexPair>* pairs) const;
  void find_among_all(std::int32_t box, std::int32_t first, std::int32_t last, std::vector<IndexPair>* pairs) const;

  const ThreadTeam* team_ = nullptr;
  int axis_ = -1;                                       ///< of the sweep
  std::vector<std::pair<double, std::int32_t>> order_;  ///< along it; that of the last call makes the sorting quick
  std::vector<Entry> entries_;
  std::vector<std::int32_t> by_size_;  ///< boxes, those of one grid together
  std::vector<std::int32_t> class_of_, class_count_, grid_of_class_;
  std::vector<Grid> grids_;  ///< from fine to coarse, boxes without end last
  std::vector<Keyed> keys_, other_keys_;
  std::vector<std::int32_t> digit_count_;
  std::vector<double> middle_;
  std::vector<std::vector<IndexPair>> portions_;  ///< of find_within
};

}  // namespace slipstick
