#include "audit/box_strips.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace slipstick {

namespace {

/// Of the mean size of marked boxes: the width of a strip, and a box that is large, which is compared with all.
constexpr double kStripWidth = 1, kLarge = 4;
constexpr int kSorted = 0, kStriped = 1;  // axes

bool has_inside(const Box3& box) { return (box.low.array() <= box.high.array()).all(); }

}  // namespace

void BoxStrips::try_pair(int a, int b) {
  if ((marked_[a] || marked_[b]) && boxes_[a].meets(boxes_[b])) pairs_.push_back({a, b});
}

void BoxStrips::sort_boxes(std::span<const Box3> boxes, std::span<const std::uint8_t> marked) {
  double sum = 0, count = 0;
  origin_ = kInfinity;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    if (!has_inside(boxes[i])) continue;
    origin_ = std::min(origin_, boxes[i].low[kStriped]);
    if (!marked[i]) continue;
    sum += (boxes[i].high - boxes[i].low).maxCoeff();
    ++count;
  }
  width_ = count > 0 && sum > 0 ? kStripWidth * sum / count : 1;
  widest_ = 0;
  entries_.clear();
  large_.clear();
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const Box3& box = boxes[i];
    if (!has_inside(box)) continue;
    const Vec3 size = box.high - box.low;
    const double strip = std::floor((box.low[kStriped] - origin_) / width_);
    if (!(size.maxCoeff() <= kLarge * width_) || !(strip < 1e15)) {
      large_.push_back(static_cast<int>(i));
      continue;
    }
    widest_ = std::max(widest_, size[kSorted]);
    entries_.push_back({static_cast<std::int64_t>(strip), box.low[kSorted], box.high[kSorted], static_cast<int>(i)});
  }
  std::sort(entries_.begin(), entries_.end(), [](const Entry& x, const Entry& y) {
    if (x.strip != y.strip) return x.strip < y.strip;
    return x.low != y.low ? x.low < y.low : x.box < y.box;
  });
}

const std::vector<BoxStrips::Pair>& BoxStrips::find(std::span<const Box3> boxes, std::span<const std::uint8_t> marked) {
  boxes_ = boxes;
  marked_ = marked;
  pairs_.clear();
  sort_boxes(boxes, marked);
  const std::size_t count = entries_.size();
  std::array<std::size_t, kMostStrips> next{};  // in the strips above: what may still meet boxes of this one
  for (std::size_t i = 0; i < count; ++i) {
    const Entry& entry = entries_[i];
    if (i == 0 || entry.strip != entries_[i - 1].strip) {
      for (int k = 1; k < kMostStrips; ++k)
        next[k] = std::lower_bound(entries_.begin(), entries_.end(), entry.strip + k,
                                   [](const Entry& e, std::int64_t strip) { return e.strip < strip; }) -
                  entries_.begin();
    }
    for (std::size_t j = i + 1; j < count && entries_[j].strip == entry.strip && entries_[j].low <= entry.high; ++j)
      try_pair(entry.box, entries_[j].box);
    const double reach = std::floor((boxes[entry.box].high[kStriped] - origin_) / width_);
    const int above = static_cast<int>(std::min<double>(reach - static_cast<double>(entry.strip), kMostStrips - 1));
    for (int k = 1; k <= above; ++k) {
      const auto in_strip = [&](std::size_t j) { return j < count && entries_[j].strip == entry.strip + k; };
      while (in_strip(next[k]) && entries_[next[k]].low < entry.low - widest_) ++next[k];
      for (std::size_t j = next[k]; in_strip(j) && entries_[j].low <= entry.high; ++j)
        if (entries_[j].high >= entry.low) try_pair(entry.box, entries_[j].box);
    }
  }
  for (std::size_t l = 0; l < large_.size(); ++l) {
    for (const Entry& entry : entries_) try_pair(large_[l], entry.box);
    for (std::size_t m = l + 1; m < large_.size(); ++m) try_pair(large_[l], large_[m]);
  }
  return pairs_;
}

}  // namespace slipstick
