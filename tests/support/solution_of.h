// The solution that has given impulses: velocities follow from them.
#pragma once

#include <slipstick/solver.h>

#include "solve/mass_blocks.h"

namespace slipstick::test {

inline Solution solution_of(const Problem& problem, const VecX& lambda) {
  Solution s;
  MassBlocks masses;
  masses.update(problem);
  s.lambda = lambda;
  update_velocity(problem, masses, s.lambda, &s.v);
  update_row_velocity(problem, s.v, s.lambda, &s.w);
  return s;
}

}  // namespace slipstick::test
