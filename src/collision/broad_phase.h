// Which boxes overlap. Sweep and prune along the axis of greatest spread, in strips along the next one, so that a heap
// in space costs little more than a stack.
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
    std::int32_t index, strip;  ///< strip: the first one it is in
  };

  void choose_axes(const std::vector<Bounds>& bounds);
  void sort(const std::vector<Bounds>& bounds);
  void sweep_all(std::vector<IndexPair>* pairs) const;
  void sweep_strips(std::vector<IndexPair>* pairs);
  void distribute(int strips, double origin, double per_length);

  int axes_[3] = {-1, -1, -1};
  std::vector<std::pair<double, std::int32_t>> order_;
  std::vector<Entry> entries_;
  std::vector<std::int32_t> strip_start_, strip_fill_, strip_last_;
  std::vector<Entry> strip_entries_;
};

}  // namespace slipstick
