#include "collision/box_tree.h"

#include <algorithm>
#include <numeric>

namespace slipstick {
namespace {

constexpr std::int32_t kLeafSize = 4;

Bounds join_boxes(const Bounds& a, const Bounds& b) { return {a.low.cwiseMin(b.low), a.high.cwiseMax(b.high)}; }

}  // namespace

void BoxTree::build(std::span<const Bounds> boxes) {
  nodes_.clear();
  order_.resize(boxes.size());
  std::iota(order_.begin(), order_.end(), 0);
  boxes_.clear();
  if (boxes.empty()) return;
  nodes_.reserve(boxes.size());
  nodes_.emplace_back();
  split(0, 0, static_cast<std::int32_t>(boxes.size()), boxes);
  for (const std::int32_t k : order_) boxes_.push_back(boxes[k]);
}

void BoxTree::split(std::int32_t node, std::int32_t first, std::int32_t count, std::span<const Bounds> boxes) {
  Bounds box = boxes[order_[first]];
  Bounds centers{box.low + box.high, box.low + box.high};
  for (std::int32_t k = first + 1; k < first + count; ++k) {
    const Bounds& b = boxes[order_[k]];
    const Vec3 center = b.low + b.high;
    box = join_boxes(box, b);
    centers = join_boxes(centers, {center, center});
  }
  nodes_[node].box = box;
  if (count <= kLeafSize) {
    nodes_[node].first = first;
    nodes_[node].count = count;
    return;
  }
  int axis = 0;
  (centers.high - centers.low).maxCoeff(&axis);
  const std::int32_t half = count / 2;
  std::nth_element(order_.begin() + first, order_.begin() + first + half, order_.begin() + first + count,
                   [&](std::int32_t a, std::int32_t b) {
                     const double x = boxes[a].low[axis] + boxes[a].high[axis];
                     const double y = boxes[b].low[axis] + boxes[b].high[axis];
                     return x != y ? x < y : a < b;
                   });
  const auto children = static_cast<std::int32_t>(nodes_.size());
  nodes_[node].first = children;
  nodes_.emplace_back();
  nodes_.emplace_back();
  split(children, first, half, boxes);
  split(children + 1, first + half, count - half, boxes);
}

}  // namespace slipstick
