#include <slipstick/problem.h>

#include <cassert>

namespace slipstick {

void Problem::clear() {
  column_start.assign(1, 0);
  mass_start.assign(1, 0);
  mass.clear();
  b.clear();
  place.clear();
  symmetric = true;
  blocks.clear();
  entries.clear();
  jacobian.clear();
  c.clear();
  compliance.clear();
  lower.clear();
  upper.clear();
  coupling.start.clear();
  coupling.column.clear();
  coupling.value.clear();
}

BlockMap Problem::add_column(int size) {
  assert(size >= 1 && size <= 6);
  const int offset = mass_start.back();
  column_start.push_back(column_start.back() + size);
  mass_start.push_back(offset + size * size);
  mass.resize(mass_start.back(), 0.0);
  b.resize(column_start.back(), 0.0);
  return {mass.data() + offset, size, size};
}

RowBlock& Problem::add_block(LawKind law, int size) {
  assert(size >= 1 && size <= 6);
  RowBlock block;
  block.row = rows();
  block.size = size;
  block.entry = static_cast<int>(entries.size());
  block.law = law;
  if (law == LawKind::Equality) block.mode = SolveMode::Direct;
  const std::size_t count = c.size() + size;
  c.resize(count, 0.0);
  compliance.resize(count, 0.0);
  lower.resize(count, 0.0);
  upper.resize(count, 0.0);
  blocks.push_back(block);
  return blocks.back();
}

BlockMap Problem::add_entry(int column) {
  RowBlock& block = blocks.back();
  const int size = block.size * column_size(column);
  const int offset = static_cast<int>(jacobian.size());
  jacobian.resize(jacobian.size() + size, 0.0);
  entries.push_back({column, offset});
  ++block.entries;
  return {jacobian.data() + offset, block.size, column_size(column)};
}

}  // namespace slipstick
