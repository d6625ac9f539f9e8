#include "collision/broad_phase.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/thread_team.h"

namespace slipstick {
namespace {

constexpr double kBoundless = std::numeric_limits<double>::infinity();

constexpr std::size_t kGridThreshold = 150;                 // below this one sweep is quicker
constexpr std::int32_t kFewBoxes = 8;                       // a grid of no more than this is asked box by box
constexpr std::int64_t kMostCells = std::int64_t{1} << 20;  // along one axis: three numbers of cells fit into a key
/// Cells along x are this much shorter than the boxes: a row of them is nearly a sweep.
constexpr int kCellsPerBox = 4;
/// Boxes that are flat all alike still have cells of some height: a box of another grid must not reach through too
/// many.
constexpr double kMostCellsPerBox = 32;
/// Cells are longer than the widest box by more than the rounding of a cell's number (kMostCells times 2^-52).
constexpr double kCellMargin = 1 + 1e-8;

/// Boxes that a thread takes at a time.
constexpr std::size_t kBoxPortion = 512;

/// Classes of size: exponents of the doubles, a first one for boxes without size, a last one for those without end.
constexpr int kLeastExponent = -1074, kClasses = 1024 + 1074 + 2;

bool boxes_overlap(const Vec3& low_a, const Vec3& high_a, const Vec3& low_b, const Vec3& high_b) {
  // All six without a branch: what comes next is hard to foresee.
  return (low_a[0] <= high_b[0]) & (low_b[0] <= high_a[0]) & (low_a[1] <= high_b[1]) & (low_b[1] <= high_a[1]) &
         (low_a[2] <= high_b[2]) & (low_b[2] <= high_a[2]);
}

IndexPair make_pair(std::int32_t i, std::int32_t j) { return i < j ? IndexPair{i, j} : IndexPair{j, i}; }

/// Of greatest spread (variance) of the boxes' centres.
int find_widest_axis(const std::vector<Bounds>& bounds) {
  const Vec3 origin = bounds.front().low + bounds.front().high;
  Vec3 sum = Vec3::Zero(), sum_sq = Vec3::Zero();
  for (const Bounds& b : bounds) {
    const Vec3 x = b.low + b.high - origin;
    sum += x;
    sum_sq += x.cwiseAbs2();
  }
  const Vec3 spread = sum_sq - sum.cwiseAbs2() / static_cast<double>(bounds.size());
  int axis = 0;
  if (spread[1] > spread[axis]) axis = 1;
  if (spread[2] > spread[axis]) axis = 2;
  return axis;
}

}  // namespace

void BroadPhase::find(const std::vector<Bounds>& bounds, std::vector<IndexPair>* pairs) {
  if (bounds.size() < 2) return;
  entries_.resize(bounds.size());
  if (bounds.size() < kGridThreshold) return sweep(bounds, pairs);
  classify(bounds);
  make_grids();
  for (Grid& grid : grids_) fill(bounds, &grid);
  for (std::size_t k = 0; k < grids_.size(); ++k) {
    find_within(grids_[k], pairs);
    for (std::size_t coarse = k + 1; coarse < grids_.size(); ++coarse) find_between(grids_[k], grids_[coarse], pairs);
  }
}

/// By (low, index): the order is unique whatever it started from. Insertion from the last order, unless that is long.
void BroadPhase::sort_along_axis(const std::vector<Bounds>& bounds) {
  const int n = static_cast<int>(bounds.size()), axis = find_widest_axis(bounds);
  const bool fresh = static_cast<int>(order_.size()) != n || axis != axis_;
  axis_ = axis;
  if (fresh) {
    order_.resize(n);
    for (int k = 0; k < n; ++k) order_[k].second = k;
  }
  for (auto& [low, index] : order_) {
    const double x = bounds[index].low[axis];
    low = x == x ? x : -kBoundless;  // not a number: would break the order
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
}

void BroadPhase::sweep(const std::vector<Bounds>& bounds, std::vector<IndexPair>* pairs) {
  sort_along_axis(bounds);
  const std::size_t n = bounds.size();
  for (std::size_t k = 0; k < n; ++k) entries_[k] = make_entry(bounds[order_[k].second], order_[k].second);
  for (std::size_t i = 0; i < n; ++i) {
    const Entry& a = entries_[i];
    for (std::size_t j = i + 1; j < n && entries_[j].low[axis_] <= a.high[axis_]; ++j) {
      const Entry& b = entries_[j];
      if (boxes_overlap(a.low, a.high, b.low, b.high)) pairs->push_back(make_pair(a.index, b.index));
    }
  }
}

BroadPhase::Entry BroadPhase::make_entry(const Bounds& box, std::int32_t index) {
  Entry entry{box.low, box.high, index};
  for (int k = 0; k < 3; ++k) {
    if (std::isnan(entry.low[k])) entry.low[k] = -kBoundless;
    if (std::isnan(entry.high[k])) entry.high[k] = kBoundless;
  }
  return entry;
}

/// The exponent of each box's greatest extent.
void BroadPhase::classify(const std::vector<Bounds>& bounds) {
  class_of_.resize(bounds.size());
  class_count_.assign(kClasses, 0);
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    const Vec3 extent = bounds[i].high - bounds[i].low;
    int c = 0;
    if (!extent.allFinite()) {
      c = kClasses - 1;
    } else if (extent.maxCoeff() > 0) {
      c = std::ilogb(extent.maxCoeff()) - kLeastExponent + 1;
    }
    class_of_[i] = c;
    ++class_count_[c];
  }
}

void BroadPhase::add_grid(int first_class, int last_class) {
  Grid grid;
  for (int c = first_class; c <= last_class; ++c) {
    grid.last += class_count_[c];
    grid_of_class_[c] = static_cast<std::int32_t>(grids_.size());
  }
  grid.bounded = last_class < kClasses - 1;
  if (grid.last > 0) grids_.push_back(grid);
}

/// Two neighbouring classes a grid, so that the sizes in it differ by less than 4. The pair with the most boxes is one
/// grid, that like bodies are not torn apart; the others are paired from there.
void BroadPhase::make_grids() {
  constexpr int kLast = kClasses - 2;
  int low = 0, high = kLast;  // the classes between them are all that there are
  while (low < kLast && class_count_[low] == 0) ++low;
  while (high > low && class_count_[high] == 0) --high;
  int middle = low;
  for (int c = low; c < high; ++c) {
    const auto count = [&](int k) { return class_count_[k] + class_count_[k + 1]; };
    if (count(c) > count(middle)) middle = c;
  }
  grids_.clear();
  grid_of_class_.resize(kClasses);
  if ((middle - low) % 2 == 1) add_grid(low, low);
  for (int c = low + (middle - low) % 2; c <= high; c += 2) add_grid(c, std::min(c + 1, kLast));
  add_grid(kClasses - 1, kClasses - 1);
  std::int32_t first = 0;
  for (Grid& grid : grids_) {  // `last` holds the number of boxes
    const std::int32_t count = grid.last;
    grid.first = grid.last = first;
    first += count;
  }
  by_size_.resize(class_of_.size());
  for (std::size_t i = 0; i < class_of_.size(); ++i) {
    by_size_[grids_[grid_of_class_[class_of_[i]]].last++] = static_cast<std::int32_t>(i);
  }
}

/// Number of the cell that x is in. Monotone, and two neighbours stay neighbours where the scale ends.
std::int64_t BroadPhase::Scale::at(double x) const {
  const double s = (x - origin) * per_length;
  if (!(s > 0)) return 0;
  return s < static_cast<double>(count) ? static_cast<std::int64_t>(s) : count - 1;
}

std::uint64_t BroadPhase::Grid::key(std::int64_t x, std::int64_t y, std::int64_t z) const {
  // One empty cell before the first in y and z: the row before the first is not the last one of another layer.
  const auto column = static_cast<std::uint64_t>(x), row = static_cast<std::uint64_t>(y + 1),
             layer = static_cast<std::uint64_t>(z + 1);
  return (layer << (scale[0].bits + scale[1].bits)) | (row << scale[0].bits) | column;
}

double BroadPhase::calc_middle(const std::vector<Bounds>& bounds, const Grid& grid, int axis) {
  middle_.clear();
  for (std::int32_t k = grid.first; k < grid.last; ++k) middle_.push_back(bounds[by_size_[k]].low[axis]);
  const auto half = middle_.begin() + static_cast<std::ptrdiff_t>(middle_.size() / 2);
  std::nth_element(middle_.begin(), half, middle_.end());
  return *half;
}

void BroadPhase::update_scales(const std::vector<Bounds>& bounds, Grid* grid) {
  Vec3 least = Vec3::Constant(kBoundless), greatest = -least, widest = Vec3::Zero();
  for (std::int32_t k = grid->first; k < grid->last; ++k) {
    const Bounds& b = bounds[by_size_[k]];
    least = least.cwiseMin(b.low);
    greatest = greatest.cwiseMax(b.low);
    widest = widest.cwiseMax(b.high - b.low);
  }
  for (int axis = 0; axis < 3; ++axis) {
    const double range = greatest[axis] - least[axis];
    double cell = std::max(widest[axis], widest.maxCoeff() / kMostCellsPerBox) * kCellMargin;
    if (axis == 0) cell /= kCellsPerBox;
    if (!(cell > 0)) cell = range > 0 ? range / static_cast<double>(kMostCells) : 1;
    Scale scale{least[axis], 1 / cell, kMostCells, 0};
    if (range / cell + 1 < static_cast<double>(kMostCells)) {
      scale.count = static_cast<std::int64_t>(range / cell) + 1;
    } else {  // a few bodies far away must not make the cells of all others large: those at the ends share cells
      scale.origin = calc_middle(bounds, *grid, axis) - cell * static_cast<double>(kMostCells / 2);
    }
    scale.bits = std::bit_width(static_cast<std::uint64_t>(scale.count) + 1);
    grid->scale[axis] = scale;
  }
}

/// Puts the boxes of a grid in the order of their cells.
void BroadPhase::fill(const std::vector<Bounds>& bounds, Grid* grid) {
  if (!grid->bounded) {
    for (std::int32_t k = grid->first; k < grid->last; ++k) {
      entries_[k] = make_entry(bounds[by_size_[k]], by_size_[k]);
    }
    return;
  }
  update_scales(bounds, grid);
  keys_.resize(bounds.size());
  const auto& scale = grid->scale;
  const auto size = static_cast<std::size_t>(grid->last - grid->first);
  for_portions(team_, size, kBoxPortion, [&](std::size_t from, std::size_t to) {
    for (std::size_t k = grid->first + from; k < grid->first + to; ++k) {
      const Vec3& low = bounds[by_size_[k]].low;
      keys_[k] = {grid->key(scale[0].at(low[0]), scale[1].at(low[1]), scale[2].at(low[2])), by_size_[k]};
    }
  });
  sort_keys({keys_.data() + grid->first, size}, scale[0].bits + scale[1].bits + scale[2].bits);
  constexpr std::size_t kAhead = 16;  // the boxes lie anywhere in memory: asked for before they are needed
  for_portions(team_, size, kBoxPortion, [&](std::size_t from, std::size_t to) {
    const std::size_t last = grid->first + to;
    for (std::size_t k = grid->first + from; k < last; ++k) {
      if (k + kAhead < last) __builtin_prefetch(&bounds[keys_[k + kAhead].index]);
      const Bounds& b = bounds[keys_[k].index];
      entries_[k] = {b.low, b.high, keys_[k].index};
    }
  });
}

/// By (key, index): radix sort from the lowest digit, stable, and the indices come in ascending.
void BroadPhase::sort_keys(std::span<Keyed> keys, int bits) {
  const int most_digit_bits = std::clamp(static_cast<int>(std::bit_width(keys.size())), 6, 11);
  const int passes = (bits + most_digit_bits - 1) / most_digit_bits, digit_bits = (bits + passes - 1) / passes;
  const std::uint64_t mask = (std::uint64_t{1} << digit_bits) - 1;
  other_keys_.resize(keys.size());
  std::span<Keyed> from = keys, to = other_keys_;
  for (int pass = 0; pass < passes; ++pass) {
    const int shift = pass * digit_bits;
    digit_count_.assign(mask + 2, 0);
    for (const Keyed& k : from) ++digit_count_[((k.key >> shift) & mask) + 1];
    std::partial_sum(digit_count_.begin(), digit_count_.end(), digit_count_.begin());
    for (const Keyed& k : from) to[digit_count_[(k.key >> shift) & mask]++] = k;
    std::swap(from, to);
  }
  if (from.data() != keys.data()) std::copy(from.begin(), from.end(), keys.begin());
}

void BroadPhase::find_among_all(std::int32_t box, std::int32_t first, std::int32_t last,
                                std::vector<IndexPair>* pairs) const {
  const Entry& a = entries_[box];
  for (std::int32_t j = first; j < last; ++j) {
    const Entry& b = entries_[j];
    if (boxes_overlap(a.low, a.high, b.low, b.high)) pairs->push_back(make_pair(a.index, b.index));
  }
}

void BroadPhase::find_within(const Grid& grid, std::vector<IndexPair>* pairs) {
  if (!grid.bounded) {
    for (std::int32_t i = grid.first; i < grid.last; ++i) find_among_all(i, i + 1, grid.last, pairs);
    return;
  }
  const auto look = [&](std::size_t first, std::size_t last, std::vector<IndexPair>* found) {
    find_within(grid, grid.first + static_cast<std::int32_t>(first), grid.first + static_cast<std::int32_t>(last),
                found);
  };
  gather_portions(team_, static_cast<std::size_t>(grid.last - grid.first), kBoxPortion, look, &portions_, pairs);
}

/// Boxes that overlap begin in neighbouring cells of y and z. For each of the boxes [first, last) the row it begins in
/// and the four that come later are looked through, from as far back in x as the widest box reaches to its own end. As
/// the boxes come in the order of the keys, the places where to begin in the rows only move forward.
void BroadPhase::find_within(const Grid& grid, std::int32_t first, std::int32_t last,
                             std::vector<IndexPair>* pairs) const {
  const int x_bits = grid.scale[0].bits, y_bits = grid.scale[1].bits;
  const std::uint64_t row = std::uint64_t{1} << x_bits, layer = std::uint64_t{1} << (x_bits + y_bits);
  const std::array<std::uint64_t, 4> later = {row, layer - row, layer, layer + row};
  // The key from which on box i is looked for in one of the later rows.
  const auto begins = [&](std::int32_t i, int r) {
    const std::uint64_t x = keys_[i].key & (row - 1);
    return keys_[i].key - x + later[r] + (x > kCellsPerBox ? x - kCellsPerBox : 0);
  };
  std::array<std::int32_t, 4> begin;
  for (int r = 0; r < 4 && first < last; ++r)
    begin[r] =
        static_cast<std::int32_t>(std::lower_bound(keys_.begin() + first, keys_.begin() + grid.last, begins(first, r),
                                                   [](const Keyed& k, std::uint64_t key) { return k.key < key; }) -
                                  keys_.begin());
  for (std::int32_t i = first; i < last; ++i) {
    const Entry& a = entries_[i];
    const auto scan = [&](std::int32_t j, std::uint64_t end) {
      for (; j < grid.last && keys_[j].key <= end; ++j) {
        const Entry& b = entries_[j];
        if (boxes_overlap(a.low, a.high, b.low, b.high)) pairs->push_back(make_pair(a.index, b.index));
      }
    };
    const std::uint64_t here = keys_[i].key & ~(row - 1);
    const auto x_end = static_cast<std::uint64_t>(grid.scale[0].at(a.high[0]));
    scan(i + 1, here + x_end);
    for (int r = 0; r < 4; ++r) {
      const std::uint64_t key = begins(i, r);
      while (begin[r] < grid.last && keys_[begin[r]].key < key) ++begin[r];
      scan(begin[r], here + later[r] + x_end);
    }
  }
}

/// The cells of the coarse grid in which a box that overlaps may begin: the same rule, each row found by bisection.
void BroadPhase::find_between(const Grid& fine, const Grid& coarse, std::vector<IndexPair>* pairs) const {
  if (!coarse.bounded || coarse.last - coarse.first <= kFewBoxes) {
    for (std::int32_t i = coarse.first; i < coarse.last; ++i) find_among_all(i, fine.first, fine.last, pairs);
    return;
  }
  const auto& scale = coarse.scale;
  const auto first = keys_.begin() + coarse.first, last = keys_.begin() + coarse.last;
  for (std::int32_t i = fine.first; i < fine.last; ++i) {
    const Entry& a = entries_[i];
    const std::int64_t x_begin = std::max<std::int64_t>(scale[0].at(a.low[0]) - kCellsPerBox, 0);
    const std::int64_t x_end = scale[0].at(a.high[0]), y_end = scale[1].at(a.high[1]), z_end = scale[2].at(a.high[2]);
    for (std::int64_t z = scale[2].at(a.low[2]) - 1; z <= z_end; ++z) {
      for (std::int64_t y = scale[1].at(a.low[1]) - 1; y <= y_end; ++y) {
        const std::uint64_t end = coarse.key(x_end, y, z);
        auto it = std::lower_bound(first, last, coarse.key(x_begin, y, z),
                                   [](const Keyed& k, std::uint64_t key) { return k.key < key; });
        for (; it != last && it->key <= end; ++it) {
          const Entry& b = entries_[it - keys_.begin()];
          if (boxes_overlap(a.low, a.high, b.low, b.high)) pairs->push_back(make_pair(a.index, b.index));
        }
      }
    }
  }
}

}  // namespace slipstick
