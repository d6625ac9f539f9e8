// Solves a step's problem with the ladder of solvers and, if the judge is not content, relaxes the problem as
// [METHODS 1] proves to be always solvable: restitution dropped, and last the normal offsets clipped at zero. Each rung
// climbed and each relaxation is counted; nothing is relaxed in silence.
#pragma once

#include <slipstick/simulation.h>
#include <slipstick/solver_ladder.h>

#include <span>

namespace slipstick {

/// A normal contact row and the restitution term that is part of its offset.
struct NormalOffset {
  int row = 0;
  double restitution = 0;  ///< Lambda_j <= 0, m/s
};

class Ladder {
 public:
  explicit Ladder(const SimulationOptions& options);
  /// `solution` holds the warm start; `problem` changes only if it is relaxed.
  LadderResult solve(std::span<const NormalOffset> normals, Problem* problem, Solution* solution);

 private:
  SolverLadder solvers_;
};

}  // namespace slipstick
