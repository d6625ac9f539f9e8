#include "solve/redundancy.h"

namespace slipstick {

namespace {

/// Of a row's own diagonal: what elimination of the others must leave of it.
constexpr double kIndependent = 1e-6;

/// Whether the rows of a block act independently on one column: the pivots of J_e A^-1 J_e^T.
bool is_independent(const Problem& problem, const MassBlocks& masses, const RowBlock& block,
                    const JacobianEntry& entry) {
  const int m = block.size, n = problem.column_size(entry.column);
  if (m > n) return false;
  const ConstBlockMap j = problem.jacobian_block(block, entry);
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor, 6, 6> d =
      j * masses.inverse(entry.column) * j.transpose();
  for (int k = 0; k < m; ++k) {
    const double own = j.row(k) * masses.inverse(entry.column) * j.row(k).transpose();
    if (!(d(k, k) > kIndependent * own)) return false;
    for (int i = k + 1; i < m; ++i)
      for (int l = m - 1; l >= k; --l) d(i, l) -= d(i, k) / d(k, k) * d(k, l);
  }
  return true;
}

}  // namespace

void Redundancy::rule_out(const Problem& problem, const MassBlocks& masses, int column, std::vector<char>* determined) {
  if (count_[column] != 1) return;
  for (int m = start_[column]; m < start_[column + 1]; ++m) {
    const int i = member_[m];
    if ((*determined)[i]) continue;
    const RowBlock& block = problem.blocks[i];
    for (int e = block.entry; e < block.entry + block.entries; ++e)
      if (problem.entries[e].column == column && !is_independent(problem, masses, block, problem.entries[e])) return;
    (*determined)[i] = 1;
    for (int e = block.entry; e < block.entry + block.entries; ++e) {
      --count_[problem.entries[e].column];
      queue_.push_back(problem.entries[e].column);
    }
    return;
  }
}

bool Redundancy::find(const Problem& problem, const MassBlocks& masses, const std::vector<char>& idle,
                      std::vector<char>* determined) {
  const int columns = problem.columns(), blocks = static_cast<int>(problem.blocks.size());
  count_.assign(columns, 0);
  start_.assign(columns + 1, 0);
  for (int i = 0; i < blocks; ++i)
    for (int e = 0; e < problem.blocks[i].entries && !idle[i]; ++e)
      ++count_[problem.entries[problem.blocks[i].entry + e].column];
  for (int k = 0; k < columns; ++k) start_[k + 1] = start_[k] + count_[k];
  member_.resize(start_[columns]);
  for (int i = 0; i < blocks; ++i)
    for (int e = 0; e < problem.blocks[i].entries && !idle[i]; ++e)
      member_[start_[problem.entries[problem.blocks[i].entry + e].column]++] = i;
  for (int k = columns; k > 0; --k) start_[k] = start_[k - 1];
  start_[0] = 0;
  *determined = idle;
  queue_.clear();
  for (int k = 0; k < columns; ++k) queue_.push_back(k);
  for (std::size_t next = 0; next < queue_.size(); ++next) rule_out(problem, masses, queue_[next], determined);
  for (int i = 0; i < blocks; ++i)
    if (!(*determined)[i] && is_contact(problem.blocks[i])) return true;
  return false;
}

}  // namespace slipstick
