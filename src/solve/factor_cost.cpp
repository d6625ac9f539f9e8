#include "solve/factor_cost.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace slipstick {

namespace {

constexpr std::size_t kCheapColumns = 150;  // fewer bodies: never dear
constexpr int kOrderedColumns = 3000;       // more: the order itself costs more than what it would tell
constexpr double kTreelike = 1.25;          // edges a body of chains, stacks and machines, which fill little

}  // namespace

double FactorCost::calc(const Problem& problem) {
  const int columns = problem.columns();
  if (static_cast<std::size_t>(columns) <= kCheapColumns) return 0;
  edges_.clear();
  for (const RowBlock& block : problem.blocks) {
    for (int e = block.entry + 1; e < block.entry + block.entries; ++e) {
      const BlockEdge edge{problem.entries[block.entry].column, problem.entries[e].column};
      if (edges_.empty() || !(edges_.back() == edge)) edges_.push_back(edge);  // the points of a pair come in a row
    }
  }
  all_.resize(columns);
  std::iota(all_.begin(), all_.end(), 0);
  return calc(problem, all_, kOrderedColumns);
}

double FactorCost::calc(const Problem& problem, const ProblemPart& part, int ordered) {
  if (part.columns.size() <= kCheapColumns) return 0;
  edges_.clear();
  for (const int i : part.blocks) {
    const RowBlock& block = problem.blocks[i];
    for (int e = block.entry + 1; e < block.entry + block.entries; ++e) {
      const BlockEdge edge{part.local_column[problem.entries[block.entry].column],
                           part.local_column[problem.entries[e].column]};
      if (edges_.empty() || !(edges_.back() == edge)) edges_.push_back(edge);
    }
  }
  return calc(problem, part.columns, ordered);
}

/// Of the graph of edges_ between these columns.
double FactorCost::calc(const Problem& problem, std::span<const int> part, int ordered) {
  const int columns = static_cast<int>(part.size());
  if (static_cast<double>(edges_.size()) <= kTreelike * columns) return 0;
  if (columns > std::min(ordered, kOrderedColumns)) return std::numeric_limits<double>::infinity();
  sizes_.resize(columns);
  for (int k = 0; k < columns; ++k) sizes_[k] = problem.column_size(part[k]);
  if (edges_ == known_edges_ && sizes_ == known_sizes_) return known_;
  late_.assign(columns, 0);
  pattern_.analyze(sizes_, late_, edges_);
  known_edges_ = edges_;
  known_sizes_ = sizes_;
  known_ = pattern_.multiplications();
  return known_;
}

}  // namespace slipstick
