// Room: solve. Solves a problem with the chosen solver or, for "auto", climbs a declared ladder of solvers until the
// judge is content: newton, then lemke while the island is not too large. Each island is solved by itself, in parallel
// where threads are given: an island's answer depends on nothing but the island.
#pragma once

#include <slipstick/problem.h>
#include <slipstick/solver.h>

#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace slipstick {

/// "auto" and the names of all solvers.
std::vector<std::string_view> solver_choices();

struct LadderOptions {
  std::string solver = "auto";
  double tolerance = 1e-8;  ///< relative residual of the judge
  int threads = 1;
  double time_limit = std::numeric_limits<double>::infinity();  ///< s; no rung is begun after it, and a solver that
                                                                ///< reads SolverOptions::time_limit ends by then
  SolverOptions solver_options;
};

struct LadderResult {
  Residuals residual;  ///< of the problem as it stands on return
  bool certified = false;
  bool unsupported = false;  ///< no rung could take the problem
  int iterations = 0;
  int escalations = 0;
  std::string_view solver;  ///< the rung that gave the worst island's answer (one island: the answer)
  std::string_view note;
};

class SolverLadder {
 public:
  /// `options.solver` must be one of solver_choices().
  explicit SolverLadder(const LadderOptions& options);
  ~SolverLadder();
  SolverLadder(SolverLadder&&) noexcept;
  SolverLadder& operator=(SolverLadder&&) noexcept;
  /// `solution` holds the warm start (ignored if its sizes are wrong) and, on return, the best answer by the judge.
  LadderResult solve(const Problem& problem, Solution* solution);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace slipstick
