// How dear a factorization of an island's matrix would be, before anybody orders or factors it.
#pragma once

#include <slipstick/problem.h>

#include <vector>

#include "solve/linalg/block_pattern.h"

namespace slipstick {

class FactorCost {
 public:
  /// Multiplications of one factorization in the velocities (newton_system.h): 0 where it is cheap for certain,
  /// infinity where even its elimination order would take long.
  double calc(const Problem& problem);

 private:
  BlockPattern pattern_;
  std::vector<BlockEdge> edges_, known_edges_;  ///< the graph, and the last one that was ordered, with its cost
  std::vector<int> sizes_, known_sizes_;
  std::vector<char> late_;
  double known_ = 0;
};

}  // namespace slipstick
