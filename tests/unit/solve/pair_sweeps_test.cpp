// Sweeps over pairs of columns: they go where the law is, whatever the order and the sizes, and begin no worse than
// from nothing.
#include "solve/solvers/pair_sweeps.h"

#include <gtest/gtest.h>
#include <slipstick/solver.h>

#include "solve/mass_blocks.h"
#include "support/random_problem.h"

namespace slipstick {
namespace {

/// `columns` bodies of one to six unknowns in a ring and on the ground, with all kinds of rows that the sweeps take.
Problem make_ring(int columns, unsigned seed) {
  test::Random random(seed);
  Problem p;
  for (int k = 0; k < columns; ++k) {
    const int n = 3 + k % 4;
    MatX root(n, n);
    for (int i = 0; i < n * n; ++i) root.data()[i] = random.uniform(-0.4, 0.4);
    p.add_column(n) = MatX::Identity(n, n) * random.uniform(0.5, 2) + root * root.transpose();
    for (int i = 0; i < n; ++i) p.b[p.column_start[k] + i] = random.uniform(-1, 1);
  }
  for (int k = 0; k < columns; ++k) {
    for (int point = 0; point < 1 + k % 6; ++point) {
      const bool rubs = (k + point) % 3 != 0;
      RowBlock& block = p.add_block(rubs ? LawKind::Friction : LawKind::Nonnegative, rubs ? 2 + point % 2 : 1);
      block.mu = 0.3;
      const int size = block.size, row = block.row, other = (k + 1 + point / 4) % columns;
      for (const int column : {k, other}) {
        if (column == other && (other == k || point == 1)) continue;  // the ground
        BlockMap j = p.add_entry(column);
        for (int r = 0; r < size; ++r)
          for (int c = 0; c < j.cols(); ++c) j(r, c) = random.uniform(-1, 1);
      }
      p.c[row] = random.uniform(-0.2, 0.2);
      p.compliance[row] = point == 2 ? 0.1 : 0;
    }
  }
  return p;
}

VecX sweep(const Problem& problem, const VecX& from, int sweeps, PairSweeps* pairs) {
  pairs->start(problem);
  pairs->set_guess(from);
  pairs->run(sweeps);
  VecX impulses;
  pairs->update_impulses(&impulses);
  return impulses;
}

Residuals judge(const Problem& problem, const VecX& impulses) {
  Solution answer;
  answer.lambda = impulses;
  MassBlocks masses;
  masses.update(problem);
  update_velocity(problem, masses, impulses, &answer.v);
  return certify(problem, answer);
}

TEST(PairSweeps, EndWhereTheLawHolds) {
  for (const unsigned seed : {1U, 2U, 3U, 4U, 5U}) {
    const Problem problem = make_ring(7 + static_cast<int>(seed), seed);
    ASSERT_TRUE(PairSweeps::takes(problem));
    PairSweeps pairs;
    const VecX zero = VecX::Zero(problem.rows());
    EXPECT_LE(judge(problem, sweep(problem, zero, 4000, &pairs)).verdict(), 1e-6) << seed;
    EXPECT_GT(judge(problem, sweep(problem, zero, 3, &pairs)).verdict(), 1e-3) << seed;
  }
}

/// What was swept before leaves no trace, even where the same columns touch and everything else is different.
TEST(PairSweeps, RememberNothing) {
  const Problem first = make_ring(12, 7);
  Problem second = first;
  for (double& value : second.jacobian) value *= 1.3;
  for (double& value : second.c) value -= 0.1;
  const VecX zero = VecX::Zero(first.rows());
  PairSweeps used, fresh;
  sweep(first, zero, 20, &used);
  EXPECT_EQ(sweep(second, zero, 20, &used), sweep(second, zero, 20, &fresh));
  sweep(make_ring(5, 8), VecX::Zero(make_ring(5, 8).rows()), 20, &used);
  EXPECT_EQ(sweep(first, zero, 20, &used), sweep(first, zero, 20, &fresh));
}

TEST(PairSweeps, AWrongGuessIsWorthNothingAndARightOneAll) {
  const Problem problem = make_ring(9, 11);
  const VecX zero = VecX::Zero(problem.rows());
  PairSweeps pairs;
  const VecX answer = sweep(problem, zero, 4000, &pairs);
  EXPECT_LE(judge(problem, sweep(problem, answer, 1, &pairs)).relative, 1e-6);
  EXPECT_EQ(sweep(problem, -answer, 20, &pairs), sweep(problem, zero, 20, &pairs));
  // Ten times too much is scaled back: after the same sweeps not farther off than from nothing, by far.
  EXPECT_LE(judge(problem, sweep(problem, 10 * answer, 10, &pairs)).relative,
            2 * judge(problem, sweep(problem, zero, 10, &pairs)).relative);
}

/// Of half a million contacts one sweep takes long: whoever has pressed Ctrl-C does not wait for two hundred.
TEST(PairSweeps, EndWhenTheyAreStopped) {
  const Problem problem = make_ring(12, 7);
  const std::atomic<bool> stop = true;
  PairSweeps pairs;
  pairs.start(problem);
  VecX before, after;
  pairs.update_impulses(&before);
  pairs.run(10, PairSweeps::kSafeRadius, &stop);
  pairs.update_impulses(&after);
  EXPECT_EQ(before, after);
  pairs.run(10);
  pairs.update_impulses(&after);
  EXPECT_NE(before, after);
}

TEST(PairSweeps, RefuseWhatTheyCannotTake) {
  Problem joint = make_ring(4, 1);
  joint.add_block(LawKind::Equality, 1);
  joint.add_entry(0).setOnes();
  EXPECT_FALSE(PairSweeps::takes(joint));
  Problem turning = make_ring(4, 1);
  turning.symmetric = false;
  EXPECT_FALSE(PairSweeps::takes(turning));
  Problem facets = make_ring(4, 1);
  for (RowBlock& block : facets.blocks) block.friction = FrictionModel::Pyramid;
  EXPECT_FALSE(PairSweeps::takes(facets));
}

}  // namespace
}  // namespace slipstick
