// Random problems within the existence theorem, certified by the one judge: Lemke, and every law under `auto`.
#include <gtest/gtest.h>
#include <slipstick/solver.h>
#include <slipstick/solver_ladder.h>

#include <Eigen/LU>
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "support/dense_problem.h"
#include "support/random_problem.h"

namespace slipstick::test {
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

/// Coulomb's law written out, from row velocities computed with dense matrices: what the judge must agree with.
double calc_coulomb_error(const Problem& p, const VecX& lambda) {
  const auto& [a, j] = test::DenseProblem(p);
  const VecX b = Eigen::Map<const VecX>(p.b.data(), p.unknowns());
  const VecX v = a.partialPivLu().solve(b + j.transpose() * lambda);
  const VecX w = j * v + Eigen::Map<const VecX>(p.c.data(), p.rows()) +
                 Eigen::Map<const VecX>(p.compliance.data(), p.rows()).cwiseProduct(lambda);
  double worst = 0;
  for (const RowBlock& block : p.blocks) {
    if (block.law != LawKind::Friction || block.friction != FrictionModel::Cone) continue;
    const double normal = lambda[block.row], speed = w[block.row];
    worst = std::max({worst, -normal, -speed, std::min(normal, speed)});
    for (int first = 1; first < block.size;) {
      const int size = block.size == 2 || (first == 3 && block.size != 5) ? 1 : 2;
      const VecX force = lambda.segment(block.row + first, size), slip = w.segment(block.row + first, size);
      worst = std::max(worst, force.norm() - block.mu * normal);
      // Sliding: full friction against the slip. |slip| (lambda + mu n slip / |slip|) = 0, within the cone.
      worst = std::max(worst, std::min(slip.norm(), (force + block.mu * normal * slip.normalized()).norm()));
      first += size;
    }
  }
  return worst;
}

/// Every law under `auto`: certified, or reported as what it is; never certified and wrong, never a number that is not
/// one. SLIPSTICK_RANDOM sets how many (./test --all: 100,000).
TEST(RandomProblems, EveryLawUnderAuto) {
  const char* wanted = std::getenv("SLIPSTICK_RANDOM");
  const int count = wanted ? std::atoi(wanted) : 2000;
  SolverLadder ladder({});
  int certified = 0, wrong = 0;
  for (int seed = 0; seed < count; ++seed) {
    RandomProblemOptions options = make_varied_options(seed);
    options.friction = static_cast<FrictionModel>(seed % 3);
    if (options.friction == FrictionModel::Cone && seed % 2 == 0) options.turning_chance = 0.5;
    const Problem problem = make_random_problem(seed, options);
    Solution solution;
    const LadderResult result = ladder.solve(problem, &solution);
    ASSERT_TRUE(solution.lambda.allFinite() && solution.v.allFinite()) << "seed " << seed;
    if (!result.certified) {
      std::printf("seed %d: not certified, relative residual %.2e, %s\n", seed, result.residual.relative,
                  std::string(result.note).c_str());
      continue;
    }
    ++certified;
    const double scale = 1 + result.residual.scale + solution.lambda.cwiseAbs().maxCoeff();
    if (problem.symmetric && calc_coulomb_error(problem, solution.lambda) > 1e-5 * scale) {
      ++wrong;
      std::printf("seed %d: certified, but Coulomb's law is off by %.2e\n", seed,
                  calc_coulomb_error(problem, solution.lambda));
    }
  }
  std::printf("auto certified %d of %d\n", certified, count);
  EXPECT_EQ(wrong, 0);
  EXPECT_GE(certified, count - count / 200) << "none has a proof with cones: one in 200 may be reported as not solved";
}

}  // namespace
}  // namespace slipstick::test
