#include "collision/broad_phase.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace slipstick {
namespace {

constexpr int kStripThreshold = 200;  // below this one sweep is quicker
constexpr int kMaxStrips = 1024;

bool overlap(double low_a, double high_a, double low_b, double high_b) { return low_a <= high_b && low_b <= high_a; }

IndexPair make_pair(std::int32_t i, std::int32_t j) { return i < j ? IndexPair{i, j} : IndexPair{j, i}; }

/// Number of the strip that x is in; anything that is no number goes to the first one.
int strip_at(double x, double origin, double per_length, int strips) {
  const double s = (x - origin) * per_length;
  if (!(s > 0)) return 0;
  return s < strips ? static_cast<int>(s) : strips - 1;
}

}  // namespace

void BroadPhase::find(const std::vector<Bounds>& bounds, std::vector<IndexPair>* pairs) {
  if (bounds.size() < 2) return;
  choose_axes(bounds);
  sort(bounds);
  if (static_cast<int>(bounds.size()) < kStripThreshold) {
    sweep_all(pairs);
  } else {
    sweep_strips(pairs);
  }
}

/// Axes in the order of the spread (variance) of the boxes' centres.
void BroadPhase::choose_axes(const std::vector<Bounds>& bounds) {
  const Vec3 origin = bounds.front().low + bounds.front().high;
  Vec3 sum = Vec3::Zero(), sum_sq = Vec3::Zero();
  for (const Bounds& b : bounds) {
    const Vec3 x = b.low + b.high - origin;
    sum += x;
    sum_sq += x.cwiseAbs2();
  }
  const Vec3 spread = sum_sq - sum.cwiseAbs2() / static_cast<double>(bounds.size());
  int axes[3] = {0, 1, 2};
  if (spread[axes[1]] > spread[axes[0]]) std::swap(axes[0], axes[1]);
  if (spread[axes[2]] > spread[axes[0]]) std::swap(axes[0], axes[2]);
  if (spread[axes[2]] > spread[axes[1]]) std::swap(axes[1], axes[2]);
  if (axes[0] != axes_[0]) order_.clear();  // the last order says nothing about this axis
  std::copy(axes, axes + 3, axes_);
}

/// By (low, index): the order is unique whatever it started from. Insertion from the last order, unless that is long.
void BroadPhase::sort(const std::vector<Bounds>& bounds) {
  const int n = static_cast<int>(bounds.size());
  const bool fresh = static_cast<int>(order_.size()) != n;
  if (fresh) {
    order_.resize(n);
    for (int k = 0; k < n; ++k) order_[k].second = k;
  }
  for (auto& [low, index] : order_) {
    const double x = bounds[index].low[axes_[0]];
    low = x == x ? x : -std::numeric_limits<double>::infinity();  // not a number: would break the order
  }
  std::int64_t budget = fresh ? 0 : 8 * static_cast<std::int64_t>(n);
  for (int i = 1; i < n && budget >= 0; ++i) {
    const auto moved = order_[i];
    int j = i;
    for (; j > 0 && moved < order_[j - 1]; --j) order_[j] = order_[j - 1];
    order_[j] = moved;
    budget -= i - j;
  }
  if (budget < 0 || fresh) std::sort(order_.begin(), order_.end());
  entries_.resize(n);
  for (int k = 0; k < n; ++k) {
    const Bounds& b = bounds[order_[k].second];
    entries_[k] = {order_[k].first, b.high[axes_[0]], b.low[axes_[1]],  b.high[axes_[1]],
                   b.low[axes_[2]], b.high[axes_[2]], order_[k].second, 0};
  }
}

void BroadPhase::sweep_all(std::vector<IndexPair>* pairs) const {
  const std::size_t n = entries_.size();
  for (std::size_t i = 0; i < n; ++i) {
    const Entry& a = entries_[i];
    for (std::size_t j = i + 1; j < n && entries_[j].low0 <= a.high0; ++j) {
      const Entry& b = entries_[j];
      if (overlap(a.low1, a.high1, b.low1, b.high1) && overlap(a.low2, a.high2, b.low2, b.high2)) {
        pairs->push_back(make_pair(a.index, b.index));
      }
    }
  }
}

/// Copies the entries, still sorted, into each strip that they are in.
void BroadPhase::distribute(int strips, double origin, double per_length) {
  strip_start_.assign(strips + 1, 0);
  strip_last_.resize(entries_.size());
  for (std::size_t k = 0; k < entries_.size(); ++k) {
    Entry& e = entries_[k];
    e.strip = strip_at(e.low1, origin, per_length, strips);
    strip_last_[k] = std::max(e.strip, strip_at(e.high1, origin, per_length, strips));
    for (int s = e.strip; s <= strip_last_[k]; ++s) ++strip_start_[s + 1];
  }
  for (int s = 0; s < strips; ++s) strip_start_[s + 1] += strip_start_[s];
  strip_entries_.resize(strip_start_[strips]);
  strip_fill_.assign(strip_start_.begin(), strip_start_.end() - 1);
  for (std::size_t k = 0; k < entries_.size(); ++k) {
    for (int s = entries_[k].strip; s <= strip_last_[k]; ++s) strip_entries_[strip_fill_[s]++] = entries_[k];
  }
}

void BroadPhase::sweep_strips(std::vector<IndexPair>* pairs) {
  double low = std::numeric_limits<double>::infinity(), high = -low, width = 0;
  for (const Entry& e : entries_) {
    low = std::min(low, e.low1);
    high = std::max(high, e.low1);
    width += e.high1 - e.low1;
  }
  width = 2 * width / static_cast<double>(entries_.size());
  const double wanted = (high - low) / width;
  const int strips = wanted > 1 ? static_cast<int>(std::min<double>(wanted + 1, kMaxStrips)) : 1;
  distribute(strips, low, strips > 1 ? strips / (high - low) : 0);
  for (int s = 0; s < strips; ++s) {
    const Entry* const end = strip_entries_.data() + strip_start_[s + 1];
    for (const Entry* a = strip_entries_.data() + strip_start_[s]; a < end; ++a) {
      for (const Entry* b = a + 1; b < end && b->low0 <= a->high0; ++b) {
        // A pair that shares several strips is counted in the first of them.
        if (std::max(a->strip, b->strip) != s) continue;
        if (overlap(a->low1, a->high1, b->low1, b->high1) && overlap(a->low2, a->high2, b->low2, b->high2)) {
          pairs->push_back(make_pair(a->index, b->index));
        }
      }
    }
  }
}

}  // namespace slipstick
