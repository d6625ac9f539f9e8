#include "solve/solvers/sweep_schedule.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace slipstick {

namespace {

constexpr int kNaturalBlocks = 500;  // SweepOrder::Auto, include/slipstick/solver.h
constexpr int kNone = -1;

}  // namespace

/// Number of colours; blocks that find none keep kNone.
int SweepSchedule::colour_blocks(const Problem& problem) {
  used_.assign(problem.columns(), 0);
  int colours = 0;
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
    const RowBlock& block = problem.blocks[i];
    std::uint64_t used = 0;
    for (int e = block.entry; e < block.entry + block.entries; ++e) used |= used_[problem.entries[e].column];
    if (used == ~std::uint64_t{0}) continue;
    const int colour = std::countr_one(used);
    for (int e = block.entry; e < block.entry + block.entries; ++e)
      used_[problem.entries[e].column] |= std::uint64_t{1} << colour;
    stage_of_[i] = colour;
    colours = std::max(colours, colour + 1);
  }
  return colours;
}

/// Stages from `first` on for the blocks that have none yet; returns the number of all stages.
int SweepSchedule::level_blocks(const Problem& problem, int first) {
  level_.assign(problem.columns(), first);  // the first stage that a column's next block may have
  int stages = first;
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
    if (stage_of_[i] != kNone) continue;
    const RowBlock& block = problem.blocks[i];
    int stage = first;
    for (int e = block.entry; e < block.entry + block.entries; ++e)
      stage = std::max(stage, level_[problem.entries[e].column]);
    for (int e = block.entry; e < block.entry + block.entries; ++e) level_[problem.entries[e].column] = stage + 1;
    stage_of_[i] = stage;
    stages = std::max(stages, stage + 1);
  }
  return stages;
}

void SweepSchedule::update(const Problem& problem, SweepOrder order) {
  const int count = static_cast<int>(problem.blocks.size());
  if (!problem.coupling.empty()) {
    start_.resize(count + 1);
    blocks_.resize(count);
    std::iota(start_.begin(), start_.end(), 0);
    std::iota(blocks_.begin(), blocks_.end(), 0);
    return;
  }
  stage_of_.assign(count, kNone);
  const bool coloured = order == SweepOrder::Coloured || (order == SweepOrder::Auto && count > kNaturalBlocks);
  const int stages = level_blocks(problem, coloured ? colour_blocks(problem) : 0);
  start_.assign(stages + 1, 0);
  for (const int stage : stage_of_) ++start_[stage + 1];
  std::partial_sum(start_.begin(), start_.end(), start_.begin());
  blocks_.resize(count);
  for (int i = 0; i < count; ++i) blocks_[start_[stage_of_[i]]++] = i;
  for (int k = stages; k > 0; --k) start_[k] = start_[k - 1];
  start_[0] = 0;
}

}  // namespace slipstick
