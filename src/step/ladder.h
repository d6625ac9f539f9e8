// Solves a step's problem with the chosen solver and, if the judge is not content, climbs a declared ladder.
//
//   rung 1..k  the solvers of the choice, in order (auto: newton, then lemke while the island is not too large), for
//   each island by itself, in parallel where threads are given: an island's answer depends on nothing but the island;
//   then the problem itself is relaxed, as [METHODS 1] proves to be always solvable: restitution dropped, and last the
//   normal offsets clipped at zero. Each rung climbed is counted; nothing is relaxed in silence.
#pragma once

#include <slipstick/simulation.h>

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "solve/presolve.h"

namespace slipstick {

/// "auto" and the names of all solvers.
std::vector<std::string_view> solver_choices();

/// A normal contact row and the restitution term that is part of its offset.
struct NormalOffset {
  int row = 0;
  double restitution = 0;  ///< Lambda_j <= 0, m/s
};

struct LadderResult {
  Residuals residual;  ///< of the problem as it stands on return (relaxed or not)
  bool certified = false;
  int iterations = 0;
  int escalations = 0;
  std::string_view note;
};

class Ladder {
 public:
  explicit Ladder(const SimulationOptions& options);
  ~Ladder();
  /// `solution` holds the warm start; `problem` changes only if it is relaxed.
  LadderResult solve(std::span<const NormalOffset> normals, Problem* problem, Solution* solution);
  std::span<const SolverStatistics> statistics() const { return statistics_; }

 private:
  struct Rung {
    std::string_view solver;
    int max_pairs;  ///< larger islands skip this rung
  };
  /// Everything one island needs, kept from step to step: scratch only.
  struct Slot {
    Problem problem;
    Solution solution, guess, trial;
    std::vector<std::unique_ptr<Solver>> solvers;  ///< one a rung
    Judge judge;
    LadderResult result;
    std::vector<SolverStatistics> counts;  ///< of the last solve, one a rung
  };
  bool climb(const Problem& problem, Solution* solution, LadderResult* result);
  void solve_islands(const Problem& problem, Solution* solution);
  void solve_part(const Problem& problem, Solution* solution, Slot* slot) const;

  double tolerance_;
  int threads_;
  std::vector<Rung> rungs_;
  std::vector<SolverStatistics> statistics_;
  Islands islands_;
  std::vector<std::unique_ptr<Slot>> slots_;
  Judge judge_;
};

}  // namespace slipstick
