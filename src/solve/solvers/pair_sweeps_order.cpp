// Pair sweeps: who is visited with whom, and in which order. All of it follows from the island's own rows.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "solve/solvers/pair_sweeps.h"

namespace slipstick {

namespace {

constexpr int kMostColours = 64;
/// Contacts of a part, and the most parts that a large island is cut into: parts of less are not worth the wait for
/// each other, and their colours do not fill the lanes.
constexpr int kPartPoints = 512, kMostParts = 64;

/// Of its contacts: pairs of a loose heap.
constexpr double kLoosePairs = 0.9;

bool takes_block(const RowBlock& block) {
  if (block.entries < 1 || block.entries > 2) return false;
  if (block.law == LawKind::Nonnegative) return block.size == 1;
  return block.law == LawKind::Friction && block.size <= 3 && block.mu >= 0 && std::isfinite(block.mu) &&
         (block.size == 2 || block.friction == FrictionModel::Cone);
}

}  // namespace

bool PairSweeps::takes(const Problem& problem) {
  if (!problem.symmetric || !problem.coupling.empty() || problem.columns() == 0) return false;
  return std::all_of(problem.blocks.begin(), problem.blocks.end(), takes_block);
}

bool PairSweeps::takes(const Problem& problem, const ProblemPart& part) {
  if (!problem.symmetric || !problem.coupling.empty() || part.columns.empty()) return false;
  return std::all_of(part.blocks.begin(), part.blocks.end(), [&](int i) { return takes_block(problem.blocks[i]); });
}

namespace {

/// `block_at(k)`: the k-th of `count` row blocks.
template <class F>
bool meets_in_single_contacts(const Problem& problem, std::size_t count, const F& block_at) {
  std::size_t alone = 0;
  int last_a = -1, last_b = -1;
  for (std::size_t k = 0; k < count; ++k) {
    const RowBlock& block = block_at(k);
    const int a = problem.entries[block.entry].column;
    const int b = block.entries > 1 ? problem.entries[block.entry + 1].column : -1;
    alone += a != last_a || b != last_b;
    last_a = a, last_b = b;
  }
  return static_cast<double>(alone) >= kLoosePairs * static_cast<double>(count);
}

}  // namespace

bool PairSweeps::is_loose(const Problem& problem, std::span<const int> blocks) {
  return meets_in_single_contacts(problem, blocks.size(),
                                  [&](std::size_t k) -> const RowBlock& { return problem.blocks[blocks[k]]; });
}

bool PairSweeps::is_loose(const Problem& problem) {
  return meets_in_single_contacts(problem, problem.blocks.size(),
                                  [&](std::size_t k) -> const RowBlock& { return problem.blocks[k]; });
}

/// Row blocks that follow each other and touch the same columns; a contact with what does not move has the dummy.
void PairSweeps::find_runs(std::vector<Run>* runs) const {
  const Problem& p = *problem_;
  runs->clear();
  for (int i = 0; i < static_cast<int>(part_.blocks.size()); ++i) {
    const RowBlock& block = p.blocks[part_.blocks[i]];
    const int a = local_column(p.entries[block.entry]);
    const int b = block.entries > 1 ? local_column(p.entries[block.entry + 1]) : columns();
    if (!runs->empty() && runs->back().a == a && runs->back().b == b && runs->back().count < kMostPoints) {
      ++runs->back().count;
      runs->back().smooth = runs->back().smooth && block.size == 1;
    } else {
      runs->push_back({a, b, i, 1, block.size == 1});
    }
  }
}

/// Into groups: a part with its seam to the next one. Groups 0, 2, ... touch no column twice, nor do groups 1, 3, ...
void PairSweeps::divide_runs() {
  group_.assign(runs_.size(), 0);
  phase_group_ = {0, 1, 1};
  const int points = static_cast<int>(part_.blocks.size()),
            pairs = std::min(points / (2 * kPartPoints), kMostParts / 2);
  if (pairs == 0) return;
  edges_.resize(runs_.size());
  for (std::size_t k = 0; k < runs_.size(); ++k) edges_[k] = {runs_[k].a, runs_[k].b, runs_[k].count};
  layers_.update(columns(), edges_, 2 * pairs);
  const int parts = layers_.parts(), first = (parts + 1) / 2;
  phase_group_ = {0, first, parts};
  for (std::size_t k = 0; k < runs_.size(); ++k) {
    const int a = layers_.part_of(runs_[k].a);
    const int part = runs_[k].b < columns() ? std::min(a, layers_.part_of(runs_[k].b)) : a;
    group_[k] = part % 2 == 0 ? part / 2 : first + part / 2;
  }
}

/// First fit in each group; what finds no free colour has one of its own.
void PairSweeps::colour_runs() {
  const int stride = columns() + 1;
  used_.assign(kGroupPhases * static_cast<std::size_t>(stride), 0);
  colour_.resize(runs_.size());
  std::vector<int>& count = start_;  // of colours in each group
  count.assign(groups() + 1, 0);
  for (std::size_t k = 0; k < runs_.size(); ++k) {
    const int g = group_[k], phase = g < phase_group_[1] ? 0 : 1;
    std::uint64_t* used = used_.data() + static_cast<std::size_t>(phase) * stride;
    std::uint64_t& a = used[runs_[k].a];
    std::uint64_t fixed = 0;
    std::uint64_t& b = runs_[k].b < columns() ? used[runs_[k].b] : fixed;
    const std::uint64_t open = ~(a | b);
    if (open == 0) {
      colour_[k] = count[g + 1] = std::max(count[g + 1], kMostColours) + 1;
      --colour_[k];
      continue;
    }
    const std::uint64_t lowest = open & (~open + 1);
    colour_[k] = std::countr_zero(open);
    count[g + 1] = std::max(count[g + 1], colour_[k] + 1);
    a |= lowest;
    b |= lowest;
  }
  std::partial_sum(count.begin(), count.end(), count.begin());
  for (std::size_t k = 0; k < runs_.size(); ++k) colour_[k] += count[group_[k]];
}

/// By colour, in each colour those that rub first, in each of both the longest first: a counting sort.
void PairSweeps::sort_runs() {
  const auto rank = [&](std::size_t k) {
    return (2 * colour_[k] + (runs_[k].smooth ? 1 : 0)) * kMostPoints + kMostPoints - runs_[k].count;
  };
  const int colours = start_.back();
  start_.assign(2 * static_cast<std::size_t>(colours) * kMostPoints + 1, 0);
  for (std::size_t k = 0; k < runs_.size(); ++k) ++start_[rank(k) + 1];
  std::partial_sum(start_.begin(), start_.end(), start_.begin());
  order_.resize(runs_.size());
  for (std::size_t k = 0; k < runs_.size(); ++k) order_[start_[rank(k)]++] = static_cast<int>(k);
}

/// Runs of one colour, four at a time.
void PairSweeps::pack_runs() {
  const int none = columns();
  pairs_.clear();
  group_pair_.assign(1, 0);
  place_.resize(part_.blocks.size());
  int points = 0, smooth = 0, x = 0, lane = kLanes, colour = -1;
  for (const int k : order_) {
    const Run& run = runs_[k];
    while (static_cast<int>(group_pair_.size()) <= group_[k]) group_pair_.push_back(static_cast<int>(pairs_.size()));
    if (lane == kLanes || colour_[k] != colour || run.smooth != pairs_.back().smooth) {
      Pair pair{};
      std::fill_n(pair.a, kLanes, none + group_[k]);
      std::fill_n(pair.b, kLanes, none + group_[k]);
      pair.first = run.smooth ? smooth : points;
      pair.count = run.count;
      pair.smooth = run.smooth;
      pair.x = x;
      (run.smooth ? smooth : points) += run.count;
      x += count_rows(pair) * run.count;
      pairs_.push_back(pair);
      lane = 0;
      colour = colour_[k];
    }
    Pair& pair = pairs_.back();
    pair.a[lane] = run.a;
    pair.b[lane] = run.b < none ? run.b : none + group_[k];
    for (int i = 0; i < run.count; ++i) {
      const int point = (pair.first + i) * kLanes + lane, number = (pair.x + i * count_rows(pair)) * kLanes + lane;
      place_[run.first + i] = {point, run.smooth, number};
    }
    ++lane;
  }
  group_pair_.resize(groups() + 1, static_cast<int>(pairs_.size()));
  points_.resize(points);
  smooth_.resize(smooth);
  x_.resize(x);
  clear_gaps();
}

/// Lanes that nobody fills do nothing.
void PairSweeps::clear_gaps() {
  filled_.assign(points_.size() + smooth_.size(), 0);
  for (const Place& place : place_) ++filled_[place.point / kLanes + (place.smooth ? points_.size() : 0)];
  for (std::size_t i = 0; i < points_.size(); ++i)
    if (filled_[i] < kLanes) points_[i] = Point{};
  for (std::size_t i = 0; i < smooth_.size(); ++i)
    if (filled_[points_.size() + i] < kLanes) smooth_[i] = SmoothPoint{};
}

}  // namespace slipstick
