#include "solve/heap_cores.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "solve/solvers/pair_sweeps.h"

namespace slipstick {

namespace {

/// Bodies of a stack that sweeps do not carry. Where they are one above the other there are few ties of a body, and few
/// bodies with a single one: walls and piles of rocks have more, and are what sweeps are for.
constexpr int kTallStack = 5, kStackEnds = 2, kBodiesOfAnEnd = 8;
constexpr double kStackTies = 1.25;
/// Multiplications of a factorization of a core: a tenth of what makes an island a heap.
constexpr double kDearCore = 2e6;

/// Whether as many contacts of a pair carry a load over an edge: three in space, two in the plane. Not where positions
/// are corrected (single rows): nothing rests on anything there.
bool is_face(int contacts, int rows) { return rows > 1 && contacts >= rows; }

}  // namespace

int HeapCores::find_root(int column) {
  while (parent_[column] != column) column = parent_[column] = parent_[parent_[column]];
  return column;
}

bool HeapCores::is_tall_stack(int root) const {
  return size_[root] >= kTallStack && ties_[root] <= kStackTies * size_[root] &&
         ends_[root] <= kStackEnds + size_[root] / kBodiesOfAnEnd;
}

void HeapCores::tie(int a, int b) {
  ++degree_[a];
  ++degree_[b];
  a = find_root(a);
  b = find_root(b);
  if (a > b) std::swap(a, b);
  ++ties_[a];
  if (a == b) return;
  parent_[b] = a;
  size_[a] += size_[b];
  ties_[a] += ties_[b];
  needed_[a] = needed_[a] || needed_[b];
}

/// Ties what joints hold together, and faces. False: there is nothing of the kind.
bool HeapCores::find_ties(const Problem& problem, const ProblemPart& island) {
  const std::size_t columns = island.columns.size();
  parent_.resize(columns);
  std::iota(parent_.begin(), parent_.end(), 0);
  size_.assign(columns, 1);
  ties_.assign(columns, 0);
  degree_.assign(columns, 0);
  needed_.assign(columns, 0);
  swept_.clear();
  held_.clear();
  bool any = false;
  int last_a = -1, last_b = -1, contacts = 0;
  for (const int i : island.blocks) {
    const RowBlock& block = problem.blocks[i];
    const JacobianEntry* entry = problem.entries.data() + block.entry;
    if (!PairSweeps::takes(block)) {
      held_.push_back(i);
      any = true;
      if (block.entries == 0) continue;
      const int a = island.local_column[entry[0].column];
      needed_[find_root(a)] = 1;
      for (int e = 1; e < block.entries; ++e) tie(a, island.local_column[entry[e].column]);
      continue;
    }
    swept_.push_back(i);
    const int a = entry[0].column, b = block.entries > 1 ? entry[1].column : -1;
    contacts = a == last_a && b == last_b ? contacts + 1 : 1;
    last_a = a, last_b = b;
    if (b < 0 || contacts != block.size || !is_face(contacts, block.size)) continue;
    tie(island.local_column[a], island.local_column[b]);
    any = true;
  }
  return any;
}

void HeapCores::list_touching(const Problem& problem, const ProblemPart& island) {
  touching_start_.assign(island.columns.size() + 1, 0);
  const auto for_ends = [&](const auto& f) {
    for (const int i : island.blocks) {
      const RowBlock& block = problem.blocks[i];
      for (int e = block.entry; e < block.entry + block.entries; ++e)
        f(i, island.local_column[problem.entries[e].column]);
    }
  };
  for_ends([&](int, int column) { ++touching_start_[column + 1]; });
  std::partial_sum(touching_start_.begin(), touching_start_.end(), touching_start_.begin());
  touching_.resize(touching_start_.back());
  for_ends([&](int i, int column) { touching_[touching_start_[column]++] = i; });
  for (std::size_t k = island.columns.size(); k > 0; --k) touching_start_[k] = touching_start_[k - 1];
  touching_start_[0] = 0;
}

void HeapCores::place(const Region& region) {
  for (const int k : placed_) place_[k] = -1;
  placed_ = region.columns;
  for (std::size_t k = 0; k < placed_.size(); ++k) place_[placed_[k]] = static_cast<int>(k);
}

CorePart HeapCores::part(const Region& region) {
  place(region);
  return {{region.blocks, region.columns, place_}, region.border};
}

/// The bodies that touch it: it then knows what gives way, and how much.
void HeapCores::add_neighbours(const Problem& problem, const ProblemPart& island, Region* region) {
  place(*region);
  const std::size_t own = region->columns.size();
  for (std::size_t k = 0; k < own; ++k) {
    for (const int i : touching(island.local_column[region->columns[k]])) {
      const RowBlock& block = problem.blocks[i];
      for (int e = block.entry; e < block.entry + block.entries; ++e) {
        const int column = problem.entries[e].column;
        if (place_[column] >= 0) continue;
        place_[column] = static_cast<int>(region->columns.size());
        region->columns.push_back(column);
        placed_.push_back(column);
      }
    }
  }
  std::sort(region->columns.begin(), region->columns.end());
}

void HeapCores::list_blocks(const Problem& problem, const ProblemPart& island, Region* region) {
  place(*region);
  region->blocks.clear();
  region->border.clear();
  for (const int k : region->columns) {
    for (const int i : touching(island.local_column[k])) {
      const RowBlock& block = problem.blocks[i];
      const JacobianEntry* entry = problem.entries.data() + block.entry;
      const auto is_inside = [&](const JacobianEntry& e) { return place_[e.column] >= 0; };
      (std::all_of(entry, entry + block.entries, is_inside) ? region->blocks : region->border).push_back(i);
    }
  }
  for (std::vector<int>* list : {&region->blocks, &region->border}) {
    std::sort(list->begin(), list->end());
    list->erase(std::unique(list->begin(), list->end()), list->end());
  }
}

/// After list_blocks.
bool HeapCores::is_cheap(const Problem& problem, const Region& region) {
  return cost_.calc(problem, {region.blocks, region.columns, place_}, std::numeric_limits<int>::max()) <= kDearCore;
}

/// From its columns alone. False: even by itself it is too dear.
bool HeapCores::complete(const Problem& problem, const ProblemPart& island, Core* core) {
  list_blocks(problem, island, &core->alone);
  if (!is_cheap(problem, core->alone)) return false;
  core->wide.columns = core->alone.columns;
  add_neighbours(problem, island, &core->wide);
  list_blocks(problem, island, &core->wide);
  if (!is_cheap(problem, core->wide)) core->wide = core->alone;
  return true;
}

/// Whether every row that cannot be swept is in a core.
bool HeapCores::holds_all(const Problem& problem) const {
  std::size_t held = 0;
  for (const Core& core : std::span(cores_).first(count_))
    for (const int i : core.alone.blocks) held += !PairSweeps::takes(problem.blocks[i]);
  return held == held_.size();
}

/// Keeps the memory of what was there before.
void HeapCores::add_core(bool is_machine) {
  if (count_ == static_cast<int>(cores_.size())) cores_.emplace_back();
  Core& core = cores_[count_++];
  core.alone.columns.clear();
  core.is_machine = is_machine;
}

bool HeapCores::list_cores(const Problem& problem, const ProblemPart& island) {
  const int columns = static_cast<int>(island.columns.size());
  core_of_.assign(columns, -1);
  ends_.assign(columns, 0);
  for (int k = 0; k < columns; ++k) ends_[find_root(k)] += degree_[k] == 1;
  for (int k = 0; k < columns; ++k) {
    if (parent_[k] != k || !(needed_[k] || is_tall_stack(k))) continue;
    core_of_[k] = count_;
    add_core(needed_[k] != 0);
  }
  if (count_ == 0) return held_.empty();
  for (int k = 0; k < columns; ++k)
    if (const int core = core_of_[find_root(k)]; core >= 0) cores_[core].alone.columns.push_back(island.columns[k]);
  list_touching(problem, island);
  place_.assign(problem.columns(), -1);
  placed_.clear();
  int kept = 0;  // in their order
  for (int k = 0; k < count_; ++k)
    if (complete(problem, island, &cores_[k])) std::swap(cores_[kept++], cores_[k]);
  count_ = kept;
  return holds_all(problem);
}

bool HeapCores::update(const Problem& problem, const ProblemPart& island) {
  count_ = 0;
  return !find_ties(problem, island) || list_cores(problem, island);
}

}  // namespace slipstick
