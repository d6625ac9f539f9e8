// Problems in local form: what is solved where it stands, by dense steps or by sums of three rows must be what the law
// says, and what the way by copies of islands finds.
#include <gtest/gtest.h>
#include <slipstick/solver.h>
#include <slipstick/solver_ladder.h>

#include <random>

#include "solve/coupling_rows.h"
#include "solve/presolve.h"
#include "support/law_judge.h"

namespace slipstick {
namespace {

using Random = std::mt19937_64;

double draw(Random* random) { return std::uniform_real_distribution<double>(-1, 1)(*random); }
int draw_below(Random* random, int count) { return static_cast<int>((*random)() % static_cast<unsigned>(count)); }

/// Groups of contacts with W = G G^T each, of full rank or (redundant) not; contacts of all groups in a mixed order.
Problem make_local(Random* random, bool redundant) {
  Problem problem;
  const int contacts = 1 + draw_below(random, 7), groups = 1 + draw_below(random, 3), size = 2 + draw_below(random, 2);
  std::vector<int> group;
  for (int i = 0; i < contacts; ++i) {
    RowBlock& block = problem.add_block(LawKind::Friction, size);
    block.mu = draw_below(random, 5) == 0 ? 0 : 0.5 + 0.4 * draw(random);
    group.push_back(draw_below(random, groups));
    for (int k = 0; k < size; ++k) problem.c[problem.rows() - size + k] = draw(random);
  }
  const int rows = problem.rows(), depth = redundant ? 6 : rows + 3;
  MatX g = MatX::NullaryExpr(rows, depth, [&] { return draw(random); });
  MatX w = g * g.transpose() / depth;
  problem.coupling.start = {0};
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < rows; ++c) {
      if (group[r / size] != group[c / size]) continue;
      problem.coupling.column.push_back(c);
      problem.coupling.value.push_back(w(r, c));
    }
    problem.coupling.start.push_back(static_cast<int>(problem.coupling.column.size()));
  }
  // An offset that something can meet: redundant contacts could otherwise ask for the impossible.
  if (redundant) {
    const VecX v = VecX::NullaryExpr(depth, [&] { return draw(random); });
    Eigen::Map<VecX>(problem.c.data(), rows) = g * v;
  }
  return problem;
}

LadderResult solve(const Problem& problem, bool by_copies, Solution* solution) {
  LadderOptions options;
  if (by_copies) options.work = 1e300;  // limited, however little: islands are copied, and metered one by one
  return SolverLadder(options).solve(problem, solution);
}

TEST(SmallProblemsTest, AThousandAreSolvedAsTheLawSaysAndAsByCopies) {
  Random random(7);
  int loaded = 0, several = 0;
  for (int k = 0; k < 1000; ++k) {
    const Problem problem = make_local(&random, false);
    Solution here, copied;
    const LadderResult result = solve(problem, false, &here);
    ASSERT_TRUE(result.certified) << k << " " << result.note;
    ASSERT_TRUE(solve(problem, true, &copied).certified) << k;
    ASSERT_LE(test::LawJudge(problem, here).finding().worst, 1e-6) << k;
    ASSERT_LE(certify(problem, here).verdict(), 1e-8) << k;
    ASSERT_LE((here.lambda - copied.lambda).norm(), 1e-5 * (1 + copied.lambda.norm())) << k;
    ASSERT_LE((here.w - copied.w).norm(), 1e-6) << k;
    loaded += !here.lambda.isZero(0);
    several += result.islands > 1;
  }
  EXPECT_GT(loaded, 700);
  EXPECT_GT(several, 300);
}

TEST(SmallProblemsTest, AThousandRedundantOnesAreSolvedAsTheLawSays) {
  Random random(8);
  for (int k = 0; k < 1000; ++k) {
    const Problem problem = make_local(&random, true);
    Solution here;
    const LadderResult result = solve(problem, false, &here);
    ASSERT_TRUE(result.certified) << k << " " << result.note;
    ASSERT_LE(test::LawJudge(problem, here).finding().worst, 1e-6) << k;
  }
}

TEST(SmallProblemsTest, AWrongImpulseIsFoundByTheJudgeWithIslandsOfOthers) {
  Random random(9);
  for (int k = 0; k < 300; ++k) {
    const Problem problem = make_local(&random, false);
    Solution solution;
    solve(problem, false, &solution);
    solution.lambda[draw_below(&random, problem.rows())] += 1e-3;
    Islands islands;
    islands.update(problem);
    Judge judge;
    const Residuals given = judge.certify(problem, solution, islands), own = certify(problem, solution);
    EXPECT_FALSE(given.within(1e-8)) << k;
    EXPECT_EQ(given.verdict(), own.verdict()) << k;
    EXPECT_EQ(given.natural, own.natural) << k;
  }
}

// A dense step costs no more than a sweep, and has all digits at once.
TEST(SmallProblemsTest, OneSmallIslandIsSolvedByDenseStepsAlone) {
  Random random(12);
  int seen = 0;
  for (int k = 0; k < 500; ++k) {
    const Problem problem = make_local(&random, false);
    Solution solution;
    const LadderResult result = solve(problem, false, &solution);
    if (problem.rows() > 12 || result.islands > 1) continue;
    ++seen;
    EXPECT_EQ(result.solver, "newton") << k;
    EXPECT_LE(result.residual.relative, 1e-12) << k;
  }
  EXPECT_GT(seen, 80);
}

TEST(SmallProblemsTest, ALadderThatHasSolvedOthersGivesTheSameBits) {
  Random random(10);
  SolverLadder kept{LadderOptions{}};
  for (int k = 0; k < 200; ++k) {
    const Problem problem = make_local(&random, k % 2 == 0);
    Solution fresh, again;
    solve(problem, false, &fresh);
    kept.solve(problem, &again);
    EXPECT_EQ(fresh.lambda, again.lambda) << k;
  }
}

TEST(SmallProblemsTest, SumsOfThreeRowsHaveTheBitsOfEachByItself) {
  Random random(11);
  for (int k = 0; k < 200; ++k) {
    SparseRows w;
    const int rows = 1 + draw_below(&random, 11);
    w.start = {0};
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < rows; ++c) {
        if (draw_below(&random, 3) == 0) continue;
        w.column.push_back(c);
        w.value.push_back(draw(&random));
      }
      w.start.push_back(static_cast<int>(w.column.size()));
    }
    VecX x = VecX::NullaryExpr(rows, [&] { return draw(&random); }), y = VecX::Zero(rows);
    add_coupled(w, 0, rows, x.data(), y.data());
    for (int r = 0; r < rows; ++r) {
      double sum = 0, diagonal = 0;
      for (int i = w.start[r]; i < w.start[r + 1]; ++i) {
        sum += w.value[i] * x[w.column[i]];
        if (w.column[i] == r) diagonal = w.value[i];
      }
      EXPECT_EQ(y[r], sum);
      EXPECT_EQ(coupled_diagonal(w, r), diagonal);
    }
  }
}

}  // namespace
}  // namespace slipstick
