#include "collision/broad_phase.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace slipstick {
namespace {

constexpr int kColumnThreshold = 200;  // below this one sweep is quicker

bool overlap(double low_a, double high_a, double low_b, double high_b) { return low_a <= high_b && low_b <= high_a; }

IndexPair make_pair(std::int32_t i, std::int32_t j) { return i < j ? IndexPair{i, j} : IndexPair{j, i}; }

}  // namespace

void BroadPhase::find(const std::vector<Bounds>& bounds, std::vector<IndexPair>* pairs) {
  if (bounds.size() < 2) return;
  choose_axes(bounds);
  sort(bounds);
  if (static_cast<int>(bounds.size()) < kColumnThreshold) {
    sweep_all(pairs);
  } else {
    sweep_columns(pairs);
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
    entries_[k] = {order_[k].first,
                   b.high[axes_[0]],
                   b.low[axes_[1]],
                   b.high[axes_[1]],
                   b.low[axes_[2]],
                   b.high[axes_[2]],
                   order_[k].second,
                   0,
                   0,
                   0,
                   0};
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

/// Number of the column that x is in; anything that is no number goes to the first one.
int BroadPhase::Scale::at(double x) const {
  const double s = (x - origin) * per_length;
  if (!(s > 0)) return 0;
  return s < count ? static_cast<int>(s) : count - 1;
}

/// Columns twice as wide as the mean box, and no more of them than the square root of the number of boxes.
BroadPhase::Scale BroadPhase::make_scale(double Entry::*low, double Entry::*high) const {
  double least = std::numeric_limits<double>::infinity(), greatest = -least, width = 0;
  for (const Entry& e : entries_) {
    least = std::min(least, e.*low);
    greatest = std::max(greatest, e.*low);
    width += e.*high - e.*low;
  }
  const double wanted = (greatest - least) / (2 * width) * static_cast<double>(entries_.size());
  const double most = std::sqrt(static_cast<double>(entries_.size()));
  if (!(wanted > 1)) return {};
  const int count = static_cast<int>(std::min(wanted + 1, most));
  return {least, count / (greatest - least), count};
}

/// Copies the entries, still sorted, into each column that they are in.
void BroadPhase::distribute(const Scale& scale1, const Scale& scale2) {
  const auto for_columns = [&](const Entry& e, auto&& act) {
    for (int i = e.first1; i <= e.last1; ++i) {
      for (int j = e.first2; j <= e.last2; ++j) act(i * scale2.count + j);
    }
  };
  const int columns = scale1.count * scale2.count;
  column_start_.assign(columns + 1, 0);
  for (Entry& e : entries_) {
    e.first1 = scale1.at(e.low1);
    e.last1 = std::max(e.first1, scale1.at(e.high1));
    e.first2 = scale2.at(e.low2);
    e.last2 = std::max(e.first2, scale2.at(e.high2));
    for_columns(e, [&](int column) { ++column_start_[column + 1]; });
  }
  for (int c = 0; c < columns; ++c) column_start_[c + 1] += column_start_[c];
  column_entries_.resize(column_start_[columns]);
  column_fill_.assign(column_start_.begin(), column_start_.end() - 1);
  for (const Entry& e : entries_) {
    for_columns(e, [&](int column) { column_entries_[column_fill_[column]++] = e; });
  }
}

void BroadPhase::sweep_columns(std::vector<IndexPair>* pairs) {
  const Scale scale1 = make_scale(&Entry::low1, &Entry::high1), scale2 = make_scale(&Entry::low2, &Entry::high2);
  distribute(scale1, scale2);
  for (int column = 0; column < scale1.count * scale2.count; ++column) {
    const int column1 = column / scale2.count, column2 = column % scale2.count;
    const Entry* const end = column_entries_.data() + column_start_[column + 1];
    for (const Entry* a = column_entries_.data() + column_start_[column]; a < end; ++a) {
      for (const Entry* b = a + 1; b < end && b->low0 <= a->high0; ++b) {
        if (!overlap(a->low1, a->high1, b->low1, b->high1) || !overlap(a->low2, a->high2, b->low2, b->high2)) continue;
        // A pair that shares several columns is counted in the first of them.
        const bool first = std::max(a->first1, b->first1) == column1 && std::max(a->first2, b->first2) == column2;
        if (first) pairs->push_back(make_pair(a->index, b->index));
      }
    }
  }
}

}  // namespace slipstick
