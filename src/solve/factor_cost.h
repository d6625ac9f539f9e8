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
  std::vector<BlockEdge> edges_;
  std::vector<int> sizes_;
  std::vector<char> late_;
};

}  // namespace slipstick
