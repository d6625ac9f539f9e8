// Islands: the connected components of rows and columns, each a Problem of its own. Columns tie the rows that touch
// them (fixed bodies are no columns, so the ground merges nothing); coupling W ties rows directly.
#pragma once

#include <slipstick/problem.h>

#include <span>
#include <vector>

namespace slipstick {

/// Some row blocks of a problem with all columns that they touch, both ascending, where they stand: nothing is copied.
struct ProblemPart {
  std::span<const int> blocks, columns;
  std::span<const int> local_column;  ///< of each column of the problem: its place in `columns`
};

/// The part as a problem; keeps the memory of `copy`. Without coupling.
void extract_part(const Problem& problem, const ProblemPart& part, Problem* copy);
/// Its share of a whole solution, as a guess.
void gather_part(const Problem& problem, const ProblemPart& part, const Solution& whole, Solution* share);
/// Puts its solution into the whole, whose vectors have the right sizes.
void scatter_part(const Problem& problem, const ProblemPart& part, const Solution& share, Solution* whole);

/// Islands in the order of their first row block; blocks and columns of each in ascending order.
class Islands {
 public:
  void update(const Problem& problem);
  /// The groups through which impulses pass: blocks whose lambda is zero tie nothing, and are islands by themselves.
  void update(const Problem& problem, const VecX& lambda) { update(problem, &lambda, {}); }
  /// Without the blocks that are marked: they tie nothing and are in no island.
  void update(const Problem& problem, std::span<const char> left_out) { update(problem, nullptr, left_out); }

  int count() const { return block_start_.empty() ? 0 : static_cast<int>(block_start_.size()) - 1; }
  std::span<const int> blocks(int island) const { return part(blocks_, block_start_, island); }
  std::span<const int> columns(int island) const { return part(columns_, column_start_, island); }
  ProblemPart part(int island) const { return {blocks(island), columns(island), local_column_}; }
  /// Columns that no row touches: v = A^-1 b.
  std::span<const int> free_columns() const { return free_columns_; }

  /// The island as a problem; keeps the memory of `part`.
  void extract(const Problem& problem, int island, Problem* part) const;
  /// The island's share of a whole solution, as a guess.
  void gather(const Problem& problem, int island, const Solution& whole, Solution* share) const;
  /// Puts an island's solution into the whole, whose vectors have the right sizes.
  void scatter(const Problem& problem, int island, const Solution& share, Solution* whole) const;
  /// Solves the columns that no row touches.
  void solve_free_columns(const Problem& problem, Solution* whole) const;

 private:
  static std::span<const int> part(const std::vector<int>& list, const std::vector<int>& start, int island) {
    return {list.data() + start[island], static_cast<std::size_t>(start[island + 1] - start[island])};
  }
  void update(const Problem& problem, const VecX* lambda, std::span<const char> left_out);
  static bool is_tied_at_once(const Problem& problem);
  void set_one(const Problem& problem);
  int find_root(int node);
  int unite(int a, int b);
  template <typename F>
  void unite_coupled(const Problem& problem, int i, const F& ties);
  void number_islands(const Problem& problem, std::span<const char> left_out);

  std::vector<int> parent_;  ///< columns first, then row blocks
  std::vector<int> island_of_, block_of_row_, local_column_, local_row_;
  std::vector<int> block_start_, blocks_, column_start_, columns_, free_columns_;
};

}  // namespace slipstick
