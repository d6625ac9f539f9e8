// Which boxes overlap. Sweep and prune along the axis of greatest spread; many boxes are swept column by column of a
// grid over the other two axes, so that a heap in space costs little more than a stack.
#pragma once

#include <slipstick/types.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace slipstick {

struct Bounds {
  Vec3 low, high;
};

struct IndexPair {
  std::int32_t a, b;  ///< a < b
};

class BroadPhase {
 public:
  /// Appends every pair of boxes that overlap or touch, each once, in no particular order. The set of pairs depends on
  /// the bounds alone; the order of the last call only makes the sorting quick.
  void find(const std::vector<Bounds>& bounds, std::vector<IndexPair>* pairs);

 private:
  struct Entry {
    double low0, high0;  ///< along the sweep axis
    double low1, high1, low2, high2;
    std::int32_t index;
    std::int32_t first1, first2;  ///< the first column it is in, along each of the other axes
    std::int32_t last1, last2;
  };
  /// Columns along one axis.
  struct Scale {
    double origin = 0, per_length = 0;
    int count = 1;
    int at(double x) const;
  };

  void choose_axes(const std::vector<Bounds>& bounds);
  void sort(const std::vector<Bounds>& bounds);
  void sweep_all(std::vector<IndexPair>* pairs) const;
  void sweep_columns(std::vector<IndexPair>* pairs);
  Scale make_scale(double Entry::*low, double Entry::*high) const;
  void distribute(const Scale& scale1, const Scale& scale2);

  int axes_[3] = {-1, -1, -1};
  std::vector<std::pair<double, std::int32_t>> order_;
  std::vector<Entry> entries_;
  std::vector<std::int32_t> column_start_, column_fill_;
  std::vector<Entry> column_entries_;
};

}  // namespace slipstick
