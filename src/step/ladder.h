// Solves a step's problem with the chosen solver and, if the judge is not content, climbs a declared ladder.
//
//   rung 1..k  the solvers of the choice, in order (auto: newton, then lemke while the problem is not too large);
//   then the problem itself is relaxed, as [METHODS 1] proves to be always solvable: restitution dropped, and last the
//   normal offsets clipped at zero. Each rung climbed is counted; nothing is relaxed in silence.
#pragma once

#include <slipstick/simulation.h>

#include <memory>
#include <span>
#include <string_view>
#include <vector>

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

 private:
  struct Rung {
    std::unique_ptr<Solver> solver;
    int max_rows;  ///< larger problems skip this rung
  };
  bool climb(const Problem& problem, Solution* solution, LadderResult* result);

  double tolerance_;
  std::vector<Rung> rungs_;
  Judge judge_;
  Solution guess_, trial_;
};

}  // namespace slipstick
