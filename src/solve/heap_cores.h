// What must not be swept in an island that is: machines (everything that is no contact) and tall stacks. Sweeps carry a
// load from body to body, one a sweep, and never know a joint to rounding; such a core is small and cheap to factor. It
// is solved with the impulses of the heap given, in turn with the sweeps (decision 106).
#pragma once

#include <slipstick/problem.h>

#include <span>
#include <vector>

#include "solve/factor_cost.h"
#include "solve/presolve.h"

namespace slipstick {

/// A part of an island with the row blocks between its columns and others: their impulses are forces to it.
struct CorePart {
  ProblemPart part;
  std::span<const int> border;
};

class HeapCores {
 public:
  /// Looks for them in an island. False: it has rows that cannot be swept, in a core that is too dear to factor.
  bool update(const Problem& problem, const ProblemPart& island);
  int count() const { return count_; }
  /// The island's row blocks that can be swept, those within cores among them, and the others: their impulses are
  /// forces to the sweeps.
  std::span<const int> swept() const { return swept_; }
  std::span<const int> held() const { return held_; }
  /// With the bodies of the heap that touch it, and all rows between these. Good until the next call of these two.
  CorePart with_neighbours(int core) { return part(cores_[core].wide); }
  /// By itself.
  CorePart alone(int core) { return part(cores_[core].alone); }
  /// Whether it has rows that cannot be swept.
  bool is_machine(int core) const { return cores_[core].is_machine; }

 private:
  struct Region {
    std::vector<int> columns, blocks, border;
  };
  struct Core {
    Region alone, wide;
    bool is_machine = false;
  };
  bool find_ties(const Problem& problem, const ProblemPart& island);
  void tie(int a, int b);
  int find_root(int column);
  bool is_tall_stack(int root) const;
  void list_touching(const Problem& problem, const ProblemPart& island);
  std::span<const int> touching(int column) const {
    return {touching_.data() + touching_start_[column],
            static_cast<std::size_t>(touching_start_[column + 1] - touching_start_[column])};
  }
  void add_core(bool is_machine);
  bool list_cores(const Problem& problem, const ProblemPart& island);
  bool complete(const Problem& problem, const ProblemPart& island, Core* core);
  void add_neighbours(const Problem& problem, const ProblemPart& island, Region* region);
  void list_blocks(const Problem& problem, const ProblemPart& island, Region* region);
  bool is_cheap(const Problem& problem, const Region& region);
  bool holds_all(const Problem& problem) const;
  void place(const Region& region);
  CorePart part(const Region& region);

  std::vector<int> swept_, held_;
  // By the island's columns. Of roots: bodies, ties, bodies with one tie, and whether there are rows that cannot be
  // swept.
  std::vector<int> parent_, degree_, size_, ties_, ends_, core_of_;
  std::vector<char> needed_;
  std::vector<int> touching_start_, touching_;  ///< row blocks of each of the island's columns
  std::vector<Core> cores_;                     ///< the first `count_` of them
  int count_ = 0;
  std::vector<int> place_;   ///< by the problem's columns: in the part at hand, or -1
  std::vector<int> placed_;  ///< the columns of that
  FactorCost cost_;
};

}  // namespace slipstick
