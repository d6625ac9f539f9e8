// Islands that are answered by their guess, and those that must not be.
#include <gtest/gtest.h>
#include <slipstick/solver.h>
#include <slipstick/solver_ladder.h>

#include <algorithm>
#include <utility>

#include "support/scene_problems.h"

namespace slipstick {
namespace {

using namespace test_support;

SolverLadder make_ladder() {
  LadderOptions options;
  options.cold_sweeps = false;
  return SolverLadder{options};
}

Solution solve_cold(const Problem& problem) {
  Solution answer;
  EXPECT_TRUE(make_ladder().solve(problem, &answer).certified);
  return answer;
}

/// Both side by side, as islands of one problem.
Problem join(const Problem& a, const Problem& b) {
  Problem both;
  for (const Problem* part : {&a, &b}) {
    const int columns = both.columns();
    for (int k = 0; k < part->columns(); ++k) {
      both.add_column(part->column_size(k)) = part->mass_block(k);
      std::copy_n(part->b.begin() + part->column_start[k], part->column_size(k),
                  both.b.begin() + both.column_start[both.columns() - 1]);
    }
    for (const RowBlock& block : part->blocks) {
      RowBlock& copy = both.add_block(block.law, block.size);
      const int row = copy.row, entry = copy.entry;
      copy = block;
      copy.row = row;
      copy.entry = entry;
      copy.entries = 0;
      for (int k = 0; k < block.size; ++k) both.c[row + k] = part->c[block.row + k];
      for (int e = block.entry; e < block.entry + block.entries; ++e)
        both.add_entry(columns + part->entries[e].column) = part->jacobian_block(block, part->entries[e]);
    }
  }
  return both;
}

/// The uppermost body is lifted by a little more than the solvers leave.
void disturb(double share, Problem* problem) {
  const int last = problem->column_start[problem->columns() - 1];
  problem->b[last + 2] *= 1 - share;
}

TEST(Still, WhatRestsKeepsItsImpulses) {
  for (const Problem& problem : {stack(6), wall(4, 4)}) {
    const Solution known = solve_cold(problem);
    Solution answer = known;
    const LadderResult result = make_ladder().solve(problem, &answer);
    EXPECT_TRUE(result.certified);
    EXPECT_EQ(result.iterations, 0);
    EXPECT_EQ(result.solver, "newton");
    EXPECT_EQ(answer.lambda, known.lambda);
    const Residuals judged = certify(problem, answer);
    EXPECT_LE(judged.verdict(), 1e-9);
    EXPECT_EQ(result.residual.verdict(), judged.verdict());
    EXPECT_LE(judged.dynamics, 1e-15);  // the velocities are those of the impulses
  }
}

/// Another pass: what has its answer keeps it, moving or not; what has none, or a wrong one, is solved.
TEST(Still, WhatIsAnsweredIsKept) {
  const Problem part = stack(3);
  for (const bool wrong : {false, true}) {
    Problem both = join(part, part);
    for (int i = 0; i < both.unknowns(); i += 6) both.b[i] += 0.7;  // everything slides
    const Solution known = solve_cold(both);
    disturb(1e-3, &both);  // the second stack
    if (wrong) both.b[2] *= 0.9;
    std::vector<char> answered(both.columns(), 0);
    std::fill_n(answered.begin(), part.columns(), 1);
    Solution answer = known;
    SolverLadder ladder = make_ladder();
    const LadderResult result = ladder.solve(both, answered, &answer);
    EXPECT_TRUE(result.certified);
    EXPECT_LE(certify(both, answer).verdict(), 1e-8);
    EXPECT_EQ(ladder.statistics()[0].solves, wrong ? 2 : 1);
    const int rows = part.rows(), unknowns = part.unknowns();
    EXPECT_EQ(answer.lambda.head(rows) == known.lambda.head(rows), !wrong);
    EXPECT_EQ(answer.v.head(unknowns) == known.v.head(unknowns), !wrong);
    EXPECT_NE(answer.lambda.tail(rows), known.lambda.tail(rows));
    EXPECT_EQ(ladder.solve(both, &answer).islands, 2);  // forgotten by the next one
  }
}

/// However small, what the judge would see is not overlooked; and nothing is certified that is not solved.
TEST(Still, WhatIsDisturbedIsSolved) {
  for (const double share : {1e-3, 1e-6, 1e-7}) {
    Problem problem = stack(6);
    const Solution known = solve_cold(problem);
    disturb(share, &problem);
    ASSERT_GT(certify(problem, known).verdict(), 1e-9);
    Solution answer = known;
    const LadderResult result = make_ladder().solve(problem, &answer);
    EXPECT_TRUE(result.certified);
    EXPECT_GT(result.iterations, 0) << share;
    EXPECT_LE(certify(problem, answer).verdict(), 1e-9) << share;
  }
}

/// A body that falls onto nothing, or through what it rests on, is not at rest though it stands still.
TEST(Still, ImpulsesThatAreMissingAreFound) {
  const Problem problem = stack(6);
  Solution answer;
  answer.v.setZero(problem.unknowns());
  answer.lambda.setZero(problem.rows());
  const LadderResult result = make_ladder().solve(problem, &answer);
  EXPECT_TRUE(result.certified);
  EXPECT_GT(answer.lambda.maxCoeff(), 0);
}

/// Forces that were looked at and found to be arbitrary are not looked at again while nothing moves and the load is the
/// same; where it is another one, or nobody has looked, they are.
TEST(Still, ArbitraryForcesStaySoUnderTheSameLoad) {
  LadderOptions options;
  options.cold_sweeps = false;
  options.unique_forces = true;
  const Problem problem = stack(6);
  Solution known = solve_cold(problem);
  known.uniqueness.assign(problem.blocks.size(), Uniqueness::Arbitrary);
  const auto solve = [&](double lift, Uniqueness name) {
    Problem other = problem;
    disturb(lift, &other);
    Solution answer = known;
    answer.uniqueness.assign(problem.blocks.size(), name);
    const LadderResult result = SolverLadder(options).solve(other, &answer);
    EXPECT_TRUE(result.certified);
    EXPECT_EQ(result.unchosen, answer.uniqueness[0] == Uniqueness::Arbitrary ? 1 : 0);
    return std::pair(result.choices > 0, answer.uniqueness[0]);
  };
  EXPECT_EQ(solve(0, Uniqueness::Arbitrary), std::pair(false, Uniqueness::Arbitrary));
  EXPECT_EQ(solve(3e-9, Uniqueness::Arbitrary), std::pair(false, Uniqueness::Arbitrary));  // newton has something to do
  EXPECT_EQ(solve(1e-3, Uniqueness::Arbitrary), std::pair(true, Uniqueness::Chosen));
  EXPECT_EQ(solve(0, Uniqueness::Unknown), std::pair(true, Uniqueness::Chosen));
}

TEST(Still, IslandsDoNotDependOnEachOther) {
  const Problem resting = stack(6);
  Problem disturbed = stack(4);
  const Solution first = solve_cold(resting), second = solve_cold(disturbed);
  disturb(1e-3, &disturbed);
  const Problem both = join(resting, disturbed);
  Solution answer, alone = second;
  answer.v.resize(both.unknowns());
  answer.lambda.resize(both.rows());
  answer.v << first.v, second.v;
  answer.lambda << first.lambda, second.lambda;
  const LadderResult result = make_ladder().solve(both, &answer);
  EXPECT_TRUE(make_ladder().solve(disturbed, &alone).certified);
  EXPECT_TRUE(result.certified);
  EXPECT_EQ(answer.lambda.head(resting.rows()), first.lambda);
  EXPECT_EQ(answer.lambda.tail(disturbed.rows()), alone.lambda);
  EXPECT_EQ(answer.v.tail(disturbed.unknowns()), alone.v);
  EXPECT_LE(certify(both, answer).verdict(), 1e-9);
}

}  // namespace
}  // namespace slipstick
