// A tree of boxes that do not move: triangles of a surface, fixed shapes. Built once, asked often.
#pragma once

#include <slipstick/types.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "collision/broad_phase.h"

namespace slipstick {

class BoxTree {
 public:
  /// Splits at the median of the centres along the widest axis: the shape of the tree depends on the boxes alone.
  void build(std::span<const Bounds> boxes);
  bool empty() const { return nodes_.empty(); }
  const Bounds& bounds() const { return nodes_.front().box; }  ///< of everything; not of an empty tree

  /// Calls visit(index) for each box that overlaps or touches `box`, in an order that depends on the tree alone.
  template <class Visit>
  void find(const Bounds& box, Visit&& visit) const {
    walk([&](const Bounds& node) { return overlap(node, box); }, visit);
  }

  /// Calls visit(index) for each box that `enter` lets pass; enter(box of a node) is asked from the top.
  template <class Enter, class Visit>
  void walk(Enter&& enter, Visit&& visit) const {
    if (nodes_.empty()) return;
    std::array<std::int32_t, 64> stack;  // the depth is that of a balanced tree
    int depth = 0;
    stack[depth++] = 0;
    while (depth > 0) {
      const Node& node = nodes_[stack[--depth]];
      if (!enter(node.box)) continue;
      if (node.count > 0) {
        for (std::int32_t k = node.first; k < node.first + node.count; ++k) {
          if (enter(boxes_[k])) visit(order_[k]);
        }
        continue;
      }
      stack[depth++] = node.first + 1;
      stack[depth++] = node.first;
    }
  }

  static bool overlap(const Bounds& a, const Bounds& b) {
    return (a.low.array() <= b.high.array()).all() && (b.low.array() <= a.high.array()).all();
  }

 private:
  struct Node {
    Bounds box;
    std::int32_t first = 0;  ///< leaf: into order_; otherwise the first of two children
    std::int32_t count = 0;  ///< leaf: how many; 0 otherwise
  };

  void split(std::int32_t node, std::int32_t first, std::int32_t count, std::span<const Bounds> boxes);

  std::vector<Node> nodes_;
  std::vector<std::int32_t> order_;
  std::vector<Bounds> boxes_;  ///< in the order of order_
};

}  // namespace slipstick
