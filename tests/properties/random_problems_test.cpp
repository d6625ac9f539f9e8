// Lemke on random problems within the existence theorem: all of them, certified by the one judge.
#include <gtest/gtest.h>
#include <slipstick/solver.h>

#include <algorithm>
#include <cstdio>

#include "support/random_problem.h"

namespace slipstick::testing {
namespace {

struct Tally {
  int certified = 0, retries = 0;
  double worst = 0;
};

Tally solve_all(int count, bool cone) {
  Tally tally;
  const auto lemke = make_solver("lemke");
  Judge judge;
  for (int seed = 0; seed < count; ++seed) {
    RandomProblemOptions options = make_varied_options(seed);
    if (cone) {
      options.friction = FrictionModel::Cone;
      options.planar = false;
    }
    const Problem problem = make_random_problem(seed, options);
    Solution solution;
    const SolverReport report = lemke->solve(problem, 1e-8, &solution);
    const Residuals residuals = judge.certify(problem, solution);
    const bool certified = residuals.within(1e-8);
    EXPECT_EQ(certified, report.status == SolveStatus::Solved) << "seed " << seed;  // it does not deceive itself
    if (!certified) std::printf("seed %d: relative residual %.2e\n", seed, residuals.relative);
    tally.certified += certified;
    tally.retries += certified && !report.note.empty();
    tally.worst = std::max(tally.worst, residuals.relative);
  }
  return tally;
}

TEST(RandomProblems, LemkeCertifiesAll) {
  constexpr int kCount = 10000;
  const Tally tally = solve_all(kCount, false);
  std::printf("lemke certified %d of %d (retries: %d, max relative residual %.2e)\n", tally.certified, kCount,
              tally.retries, tally.worst);
  EXPECT_EQ(tally.certified, kCount);
  EXPECT_LE(tally.retries, kCount / 100);
}

// The cone has no proof of convergence: all 4000 tried so far were certified, the bar leaves 1 in 200.
TEST(RandomProblems, LemkeCertifiesCones) {
  constexpr int kCount = 1000;
  const Tally tally = solve_all(kCount, true);
  std::printf("lemke certified %d of %d cones (realigned: %d, max relative residual %.2e)\n", tally.certified, kCount,
              tally.retries, tally.worst);
  EXPECT_GE(tally.certified, kCount - kCount / 200);
}

}  // namespace
}  // namespace slipstick::testing
