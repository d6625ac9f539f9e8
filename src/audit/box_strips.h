// Pairs of boxes that meet, in large scenes: boxes in strips of one axis, each strip sorted along another one. A single
// sorted axis would compare a body of a heap with all others of its slice; their number grows faster than the heap.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "audit/solid.h"

namespace slipstick {

class BoxStrips {
 public:
  struct Pair {
    int a, b;
  };
  /// Every pair of which one is marked, once, in an order that depends on the boxes alone. Boxes without an inside (low
  /// above high) meet nothing.
  const std::vector<Pair>& find(std::span<const Box3> boxes, std::span<const std::uint8_t> marked);

 private:
  static constexpr int kMostStrips = 6;  ///< that a box which is not large lies in
  struct Entry {
    std::int64_t strip;
    double low, high;  ///< along the sorted axis
    int box;
  };
  void sort_boxes(std::span<const Box3> boxes, std::span<const std::uint8_t> marked);
  void try_pair(int a, int b);

  std::span<const Box3> boxes_;
  std::span<const std::uint8_t> marked_;
  std::vector<Entry> entries_;
  std::vector<int> large_;
  std::vector<Pair> pairs_;
  double width_ = 1, origin_ = 0;  ///< of strips
  double widest_ = 0;              ///< along the sorted axis, of those that are not large
};

}  // namespace slipstick
