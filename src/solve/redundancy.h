// Can impulses be told apart by what they do? A quick answer without any factorization: where it is yes, contact forces
// are unique and nobody has to choose.
#pragma once

#include <slipstick/problem.h>

#include <vector>

#include "solve/mass_blocks.h"

namespace slipstick {

/// Impulses lambda with J^T lambda = 0 (self-stresses) are ruled out block by block: the only block that acts on a
/// column, with independent rows there, has none in it, and without it the next block may be the only one.
class Redundancy {
 public:
  /// Blocks that carry nothing (`idle`) take no part. Marks blocks that no self-stress reaches; true: there are others
  /// among the contacts (neither equalities nor rigid).
  bool find(const Problem& problem, const MassBlocks& masses, const std::vector<char>& idle,
            std::vector<char>* determined);

 private:
  void rule_out(const Problem& problem, const MassBlocks& masses, int column, std::vector<char>* determined);

  std::vector<int> start_, member_, count_, queue_;  // row blocks of each column, and how many of them are left
};

/// A contact: a row block whose impulses are chosen where they are not unique.
inline bool is_contact(const RowBlock& block) {
  return !block.rigid && (block.law == LawKind::Friction || block.law == LawKind::Nonnegative);
}

}  // namespace slipstick
