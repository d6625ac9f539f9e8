#include "solve/presolve.h"

#include <Eigen/LU>
#include <algorithm>
#include <numeric>

namespace slipstick {

int Islands::find_root(int node) {
  while (parent_[node] != node) {
    parent_[node] = parent_[parent_[node]];
    node = parent_[node];
  }
  return node;
}

/// The root of both. A parent comes before its children: number_islands relies on it.
int Islands::unite(int a, int b) {
  a = find_root(a);
  b = find_root(b);
  return parent_[std::max(a, b)] = std::min(a, b);
}

/// A row block with all that its rows of W reach.
template <typename F>
void Islands::unite_coupled(const Problem& problem, int i, const F& ties) {
  const SparseRows& w = problem.coupling;
  const RowBlock& block = problem.blocks[i];
  const int columns = problem.columns();
  int root = find_root(columns + i);
  for (int r = block.row; r < block.row + block.size; ++r) {
    const auto first = w.column.begin() + w.start[r], last = w.column.begin() + w.start[r + 1];
    // The rows of a contact mostly reach the same ones.
    if (r > block.row && std::equal(first, last, w.column.begin() + w.start[r - 1], first)) continue;
    int before = -1;
    for (auto column = first; column != last; ++column) {
      const int other = block_of_row_[*column];
      if (other == before) continue;
      before = other;
      if (parent_[columns + other] == root) continue;
      // Straight under the root: the next row, and the other's own rows, meet it again.
      if (ties(problem.blocks[other])) parent_[columns + other] = root = unite(root, columns + other);
    }
  }
}

/// Whether the first row of W alone ties all rows, as in most small problems in local form.
bool Islands::is_tied_at_once(const Problem& problem) {
  const SparseRows& w = problem.coupling;
  if (problem.columns() > 0 || w.empty() || w.start[1] - w.start[0] != problem.rows()) return false;
  for (int r = 0; r < problem.rows(); ++r)
    if (w.column[w.start[0] + r] != r) return false;
  return true;
}

void Islands::set_one(const Problem& problem) {
  block_start_.assign({0, static_cast<int>(problem.blocks.size())});
  blocks_.resize(problem.blocks.size());
  std::iota(blocks_.begin(), blocks_.end(), 0);
  column_start_.assign(2, 0);
  columns_.clear();
  free_columns_.clear();
  local_column_.clear();
  local_row_.resize(problem.rows());
  int row = 0;
  for (const RowBlock& block : problem.blocks)
    for (int k = 0; k < block.size; ++k) local_row_[block.row + k] = row++;
}

void Islands::update(const Problem& problem) {
  if (is_tied_at_once(problem)) return set_one(problem);
  update(problem, nullptr, {});
}

void Islands::update(const Problem& problem, const VecX* lambda, std::span<const char> left_out) {
  const auto ties = [&](const RowBlock& block) {
    return lambda == nullptr || !lambda->segment(block.row, block.size).isZero(0);
  };
  const int columns = problem.columns(), blocks = static_cast<int>(problem.blocks.size());
  parent_.resize(columns + blocks);
  std::iota(parent_.begin(), parent_.end(), 0);
  for (int i = 0; i < blocks; ++i) {
    const RowBlock& block = problem.blocks[i];
    if (block.entries == 0 || !ties(block) || (!left_out.empty() && left_out[i])) continue;
    const JacobianEntry* entry = problem.entries.data() + block.entry;
    int root = entry->column;
    for (int e = 1; e < block.entries; ++e) root = unite(root, entry[e].column);
    parent_[columns + i] = root;
  }
  if (!problem.coupling.empty()) {
    block_of_row_.resize(problem.rows());
    for (int i = 0; i < blocks; ++i)
      std::fill_n(block_of_row_.begin() + problem.blocks[i].row, problem.blocks[i].size, i);
    for (int i = 0; i < blocks; ++i)
      if (ties(problem.blocks[i])) unite_coupled(problem, i, ties);
  }
  number_islands(problem, left_out);
}

void Islands::number_islands(const Problem& problem, std::span<const char> left_out) {
  const int columns = problem.columns(), blocks = static_cast<int>(problem.blocks.size());
  for (int i = 0; i < columns + blocks; ++i) parent_[i] = parent_[parent_[i]];  // roots: parents come first
  island_of_.assign(columns + blocks, -1);                                      // by root
  int count = 0;
  for (int i = 0; i < blocks; ++i) {
    if (!left_out.empty() && left_out[i]) continue;
    int& island = island_of_[parent_[columns + i]];
    if (island < 0) island = count++;
  }
  // Counting sort of blocks and of columns by island keeps both in ascending order.
  const auto sort = [&](int first, int size, std::vector<int>* start, std::vector<int>* list) {
    start->assign(count + 1, 0);
    int listed = 0;
    for (int i = 0; i < size; ++i) {
      const int island = island_of_[parent_[first + i]];
      if (island < 0) continue;
      ++(*start)[island + 1];
      ++listed;
    }
    for (int k = 0; k < count; ++k) (*start)[k + 1] += (*start)[k];
    list->resize(listed);
    for (int i = 0; i < size; ++i) {
      const int island = island_of_[parent_[first + i]];
      if (island >= 0) (*list)[(*start)[island]++] = i;
    }
    for (int k = count; k > 0; --k) (*start)[k] = (*start)[k - 1];
    (*start)[0] = 0;
  };
  sort(columns, blocks, &block_start_, &blocks_);
  sort(0, columns, &column_start_, &columns_);
  free_columns_.clear();
  for (int k = 0; k < columns; ++k)
    if (island_of_[parent_[k]] < 0) free_columns_.push_back(k);
  local_column_.assign(columns, -1);
  for (int island = 0; island < count; ++island) {
    int column = 0;
    for (const int k : this->columns(island)) local_column_[k] = column++;
  }
  if (problem.coupling.empty()) return;
  local_row_.resize(problem.rows());
  for (int island = 0; island < count; ++island) {
    int row = 0;
    for (const int i : this->blocks(island))
      for (int k = 0; k < problem.blocks[i].size; ++k) local_row_[problem.blocks[i].row + k] = row++;
  }
}

void extract_part(const Problem& problem, const ProblemPart& part, Problem* copy) {
  copy->clear();
  copy->symmetric = problem.symmetric;
  for (const int k : part.columns) {
    copy->add_column(problem.column_size(k)) = problem.mass_block(k);
    std::copy_n(problem.b.begin() + problem.column_start[k], problem.column_size(k),
                copy->b.begin() + copy->column_start[copy->columns() - 1]);
    if (!problem.place.empty()) copy->place.push_back(problem.place[k]);
  }
  for (const int i : part.blocks) {
    const RowBlock& block = problem.blocks[i];
    RowBlock& added = copy->add_block(block.law, block.size);
    const int row = added.row, entry = added.entry;
    added = block;
    added.row = row;
    added.entry = entry;
    added.entries = 0;
    for (int k = 0; k < block.size; ++k) {
      copy->c[row + k] = problem.c[block.row + k];
      copy->compliance[row + k] = problem.compliance[block.row + k];
      copy->lower[row + k] = problem.lower[block.row + k];
      copy->upper[row + k] = problem.upper[block.row + k];
    }
    for (int e = block.entry; e < block.entry + block.entries; ++e)
      copy->add_entry(part.local_column[problem.entries[e].column]) = problem.jacobian_block(block, problem.entries[e]);
  }
}

void Islands::extract(const Problem& problem, int island, Problem* part) const {
  extract_part(problem, this->part(island), part);
  if (problem.coupling.empty()) return;
  part->coupling.start.assign(1, 0);
  for (const int i : blocks(island)) {
    const RowBlock& block = problem.blocks[i];
    for (int r = block.row; r < block.row + block.size; ++r) {
      for (int k = problem.coupling.start[r]; k < problem.coupling.start[r + 1]; ++k) {
        part->coupling.column.push_back(local_row_[problem.coupling.column[k]]);
        part->coupling.value.push_back(problem.coupling.value[k]);
      }
      part->coupling.start.push_back(static_cast<int>(part->coupling.column.size()));
    }
  }
}

void gather_part(const Problem& problem, const ProblemPart& part, const Solution& whole, Solution* share) {
  int rows = 0, unknowns = 0;
  for (const int i : part.blocks) rows += problem.blocks[i].size;
  for (const int k : part.columns) unknowns += problem.column_size(k);
  share->lambda.resize(rows);
  share->w.resize(rows);
  share->v.resize(unknowns);
  rows = unknowns = 0;
  for (const int i : part.blocks) {
    const RowBlock& block = problem.blocks[i];
    share->lambda.segment(rows, block.size) = whole.lambda.segment(block.row, block.size);
    share->w.segment(rows, block.size) = whole.w.segment(block.row, block.size);
    rows += block.size;
  }
  share->uniqueness.clear();
  if (!whole.uniqueness.empty())
    for (const int i : part.blocks) share->uniqueness.push_back(whole.uniqueness[i]);
  for (const int k : part.columns) {
    const int n = problem.column_size(k);
    share->v.segment(unknowns, n) = whole.v.segment(problem.column_start[k], n);
    unknowns += n;
  }
}

void Islands::gather(const Problem& problem, int island, const Solution& whole, Solution* share) const {
  gather_part(problem, part(island), whole, share);
}

void scatter_part(const Problem& problem, const ProblemPart& part, const Solution& share, Solution* whole) {
  int row = 0, unknown = 0;
  for (const int i : part.blocks) {
    const RowBlock& block = problem.blocks[i];
    whole->lambda.segment(block.row, block.size) = share.lambda.segment(row, block.size);
    whole->w.segment(block.row, block.size) = share.w.segment(row, block.size);
    row += block.size;
  }
  if (!whole->uniqueness.empty() && !share.uniqueness.empty()) {
    std::size_t next = 0;
    for (const int i : part.blocks) whole->uniqueness[i] = share.uniqueness[next++];
  }
  for (const int k : part.columns) {
    const int n = problem.column_size(k);
    whole->v.segment(problem.column_start[k], n) = share.v.segment(unknown, n);
    unknown += n;
  }
}

void Islands::scatter(const Problem& problem, int island, const Solution& share, Solution* whole) const {
  scatter_part(problem, part(island), share, whole);
}

void Islands::solve_free_columns(const Problem& problem, Solution* whole) const {
  for (const int k : free_columns_) {
    const int n = problem.column_size(k), first = problem.column_start[k];
    const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor, 6, 6> a = problem.mass_block(k);
    const Eigen::Matrix<double, Eigen::Dynamic, 1, Eigen::ColMajor, 6, 1> b =
        Eigen::Map<const VecX>(problem.b.data() + first, n);
    whole->v.segment(first, n) = a.partialPivLu().solve(b);
  }
}

}  // namespace slipstick
