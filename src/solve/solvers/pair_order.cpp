#include "solve/solvers/pair_order.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace slipstick {

namespace {

constexpr int kMostColours = 64;
/// Contacts of a part, and the most parts that a large island is cut into: parts of less are not worth the wait for
/// each other, and their colours do not fill the lanes.
constexpr int kPartPoints = 512, kMostParts = 64;

}  // namespace

bool PairOrder::update(const Problem& problem, const ProblemPart& part) {
  const int columns = static_cast<int>(part.columns.size());
  find_runs(problem, part);
  if (columns_ == columns && new_runs_ == runs_) return false;
  columns_ = columns;
  std::swap(runs_, new_runs_);
  has_friction_ = std::any_of(runs_.begin(), runs_.end(), [](const Run& run) { return !run.smooth; });
  divide_runs(static_cast<int>(part.blocks.size()));
  colour_runs();
  sort_runs();
  pack_runs(part.blocks.size());
  list_groups();
  return true;
}

/// Row blocks that follow each other and touch the same columns; a contact with what does not move has the dummy.
void PairOrder::find_runs(const Problem& problem, const ProblemPart& part) {
  std::vector<Run>& runs = new_runs_;
  runs.clear();
  for (int i = 0; i < static_cast<int>(part.blocks.size()); ++i) {
    const RowBlock& block = problem.blocks[part.blocks[i]];
    const JacobianEntry* entry = problem.entries.data() + block.entry;
    const int a = part.local_column[entry[0].column];
    const int b = block.entries > 1 ? part.local_column[entry[1].column] : static_cast<int>(part.columns.size());
    if (!runs.empty() && runs.back().a == a && runs.back().b == b && runs.back().count < kMostPoints) {
      ++runs.back().count;
      runs.back().smooth = runs.back().smooth && block.size == 1;
    } else {
      runs.push_back({a, b, i, 1, block.size == 1});
    }
  }
}

/// Into groups: a part with its seam to the next one. Groups 0, 2, ... touch no column twice, nor do groups 1, 3, ...
void PairOrder::divide_runs(int points) {
  group_.assign(runs_.size(), 0);
  phase_group_ = {0, 1, 1};
  const int pairs = std::min(points / (2 * kPartPoints), kMostParts / 2);
  if (pairs == 0) return;
  edges_.resize(runs_.size());
  for (std::size_t k = 0; k < runs_.size(); ++k) edges_[k] = {runs_[k].a, runs_[k].b, runs_[k].count};
  layers_.update(columns_, edges_, 2 * pairs);
  const int parts = layers_.parts(), first = (parts + 1) / 2;
  phase_group_ = {0, first, parts};
  for (std::size_t k = 0; k < runs_.size(); ++k) {
    const int a = layers_.part_of(runs_[k].a);
    const int part = runs_[k].b < columns_ ? std::min(a, layers_.part_of(runs_[k].b)) : a;
    group_[k] = part % 2 == 0 ? part / 2 : first + part / 2;
  }
}

/// First fit in each group; what finds no free colour has one of its own.
void PairOrder::colour_runs() {
  const int stride = columns_ + 1;
  used_.assign(kPhases * static_cast<std::size_t>(stride), 0);
  colour_.resize(runs_.size());
  std::vector<int>& count = start_;  // of colours in each group
  count.assign(groups() + 1, 0);
  for (std::size_t k = 0; k < runs_.size(); ++k) {
    const int g = group_[k], phase = g < phase_group_[1] ? 0 : 1;
    std::uint64_t* used = used_.data() + static_cast<std::size_t>(phase) * stride;
    std::uint64_t& a = used[runs_[k].a];
    std::uint64_t fixed = 0;
    std::uint64_t& b = runs_[k].b < columns_ ? used[runs_[k].b] : fixed;
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
void PairOrder::sort_runs() {
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

/// Runs of one colour, as many at a time as there are lanes.
void PairOrder::pack_runs(std::size_t blocks) {
  pairs_.clear();
  group_pair_.assign(1, 0);
  place_.resize(blocks);
  points_ = smooth_ = numbers_ = 0;
  int lane = lanes_, colour = -1;
  for (const int k : order_) {
    const int group = group_[k];
    const Run& run = runs_[k];
    while (static_cast<int>(group_pair_.size()) <= group) group_pair_.push_back(static_cast<int>(pairs_.size()));
    if (lane == lanes_ || colour_[k] != colour || run.smooth != pairs_.back().smooth) {
      begin_pair(run, group);
      lane = 0;
      colour = colour_[k];
    }
    Pair& pair = pairs_.back();
    pair.a[lane] = run.a;
    pair.b[lane] = run.b < columns_ ? run.b : columns_ + group;
    for (int i = 0; i < run.count; ++i)
      place_[run.first + i] = {(pair.first + i) * lanes_ + lane, run.smooth,
                               (pair.x + i * pair.rows()) * lanes_ + lane};
    ++lane;
  }
  group_pair_.resize(groups() + 1, static_cast<int>(pairs_.size()));
}

void PairOrder::list_groups() {
  group_run_.assign(groups() + 1, 0);
  for (const int group : group_) ++group_run_[group + 1];
  std::partial_sum(group_run_.begin(), group_run_.end(), group_run_.begin());
  by_group_.resize(runs_.size());
  start_.assign(group_run_.begin(), group_run_.end() - 1);
  for (std::size_t k = 0; k < runs_.size(); ++k) by_group_[start_[group_[k]]++] = static_cast<int>(k);
}

/// One with room for runs like this one, all lanes empty.
void PairOrder::begin_pair(const Run& run, int group) {
  Pair pair{};
  std::fill_n(pair.a, kMostLanes, columns_ + group);
  std::fill_n(pair.b, kMostLanes, columns_ + group);
  pair.first = run.smooth ? smooth_ : points_;
  pair.count = run.count;
  pair.smooth = run.smooth;
  pair.x = numbers_;
  (run.smooth ? smooth_ : points_) += run.count;
  numbers_ += pair.rows() * run.count;
  pairs_.push_back(pair);
}

}  // namespace slipstick
