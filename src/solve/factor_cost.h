// How dear a factorization of an island's matrix would be, before anybody orders or factors it.
#pragma once

#include <slipstick/problem.h>

#include <span>
#include <vector>

#include "solve/linalg/block_pattern.h"
#include "solve/presolve.h"

namespace slipstick {

class FactorCost {
 public:
  /// Multiplications of one factorization in the velocities (newton_system.h): 0 where it is cheap for certain,
  /// infinity where even its elimination order would take long.
  double calc(const Problem& problem);
  /// Of a part of it; infinity also where it has more than `ordered` columns and is no chain, stack or machine.
  double calc(const Problem& problem, const ProblemPart& part, int ordered);

 private:
  double calc(const Problem& problem, std::span<const int> columns, int ordered);
  BlockPattern pattern_;
  std::vector<BlockEdge> edges_, known_edges_;  ///< the graph, and the last one that was ordered, with its cost
  std::vector<int> sizes_, known_sizes_, all_;
  std::vector<char> late_;
  double known_ = 0;
};

}  // namespace slipstick
