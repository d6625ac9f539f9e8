// Sweeps over pairs of columns: they go where the law is, whatever the order and the sizes, and begin no worse than
// from nothing.
#include "solve/solvers/pair_sweeps.h"

#include <gtest/gtest.h>
#include <slipstick/solver.h>

#include "base/thread_team.h"
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

VecX sweep(const Problem& problem, const VecX& from, int sweeps, PairSweeps* pairs,
           SweepPrecision precision = SweepPrecision::Double) {
  pairs->start(problem, precision);
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

/// Two rings in one problem, whose columns and blocks alternate.
Problem make_two_rings(const Problem& a, const Problem& b) {
  Problem p;
  const auto add_column = [&](const Problem& from, int k) {
    p.add_column(from.column_size(k)) = from.mass_block(k);
    std::copy_n(from.b.begin() + from.column_start[k], from.column_size(k), p.b.end() - from.column_size(k));
  };
  std::vector<int> first(a.columns()), second(b.columns());
  for (int k = 0; k < std::max(a.columns(), b.columns()); ++k) {
    if (k < a.columns()) first[k] = p.columns(), add_column(a, k);
    if (k < b.columns()) second[k] = p.columns(), add_column(b, k);
  }
  const auto add_block = [&](const Problem& from, std::size_t i, const std::vector<int>& columns) {
    const RowBlock& block = from.blocks[i];
    RowBlock& made = p.add_block(block.law, block.size);
    made.mu = block.mu;
    const int row = made.row;
    for (int r = 0; r < block.size; ++r) {
      p.c[row + r] = from.c[block.row + r];
      p.compliance[row + r] = from.compliance[block.row + r];
    }
    for (int e = block.entry; e < block.entry + block.entries; ++e)
      p.add_entry(columns[from.entries[e].column]) = from.jacobian_block(block, from.entries[e]);
  };
  for (std::size_t i = 0; i < std::max(a.blocks.size(), b.blocks.size()); ++i) {
    if (i < a.blocks.size()) add_block(a, i, first);
    if (i < b.blocks.size()) add_block(b, i, second);
  }
  return p;
}

/// An island is swept where it stands, with the bits that it has by itself, and nothing else is touched.
TEST(PairSweeps, APartHasTheBitsOfAProblemOfItsOwn) {
  const Problem a = make_ring(11, 3), b = make_ring(8, 4), both = make_two_rings(a, b);
  Islands islands;
  islands.update(both);
  ASSERT_EQ(islands.count(), 2);
  PairSweeps pairs, alone;
  VecX impulses = VecX::Constant(both.rows(), 0.25);
  pairs.start(both, islands.part(0));
  pairs.set_guess(impulses);
  pairs.run(25);
  EXPECT_GT(pairs.calc_change(), 0);
  pairs.update_impulses(&impulses);
  const VecX own = sweep(a, VecX::Constant(a.rows(), 0.25), 25, &alone);
  Solution whole, part;
  whole.lambda = impulses;
  whole.w.setZero(both.rows());
  whole.v.setZero(both.unknowns());
  islands.gather(both, 0, whole, &part);
  EXPECT_EQ(part.lambda, own);
  islands.gather(both, 1, whole, &part);
  EXPECT_EQ(part.lambda, VecX::Constant(b.rows(), 0.25));

  // The velocities of a part, too.
  MassBlocks masses;
  masses.update(both);
  VecX all, some = VecX::Constant(both.unknowns(), 7), w = VecX::Constant(both.rows(), 7), all_w;
  update_velocity(both, masses, impulses, &all);
  update_row_velocity(both, all, impulses, &all_w);
  pairs.update_velocity(&some);
  update_row_velocity(both, islands.part(0), all, impulses, &w, nullptr);
  for (const int k : islands.columns(0))
    for (int i = both.column_start[k]; i < both.column_start[k + 1]; ++i) EXPECT_NEAR(some[i], all[i], 1e-13);
  for (const int k : islands.columns(1)) EXPECT_EQ(some[both.column_start[k]], 7);
  for (const int i : islands.blocks(0)) EXPECT_EQ(w[both.blocks[i].row], all_w[both.blocks[i].row]);
  for (const int i : islands.blocks(1)) EXPECT_EQ(w[both.blocks[i].row], 7);
}

/// Large islands are swept in parts. The answer is the same, and its bits on any number of threads.
TEST(PairSweeps, PartsEndWhereTheLawHoldsWithTheSameBitsOnAnyNumberOfThreads) {
  const Problem problem = make_ring(700, 5);
  ASSERT_GT(problem.blocks.size(), 2000U);
  const VecX zero = VecX::Zero(problem.rows());
  const ThreadTeam two(2);
  PairSweeps alone, helped;
  helped.set_team(&two);
  const VecX answer = sweep(problem, zero, 4000, &alone);
  EXPECT_LE(judge(problem, answer).verdict(), 1e-6);
  for (const int sweeps : {1, 3, 30}) {
    const VecX guess = 0.5 * answer;
    EXPECT_EQ(sweep(problem, guess, sweeps, &alone), sweep(problem, guess, sweeps, &helped));
    EXPECT_EQ(alone.calc_change(), helped.calc_change());
    VecX v = VecX::Zero(problem.unknowns()), w = v, exact;
    alone.update_velocity(&v);
    helped.update_velocity(&w);
    EXPECT_EQ(v, w);
    MassBlocks masses;
    masses.update(problem);
    VecX impulses;
    helped.update_impulses(&impulses);
    update_velocity(problem, masses, impulses, &exact);
    EXPECT_LE((v - exact).cwiseAbs().maxCoeff(), 1e-12);
  }
}

/// The judge says the same to the last bit, and names the same place, whoever helps.
TEST(Judge, SaysTheSameOnAnyNumberOfThreads) {
  const Problem problem = make_ring(700, 9);
  const ThreadTeam two(2);
  PairSweeps pairs;
  for (const int sweeps : {1, 5, 50}) {
    Solution answer;
    answer.lambda = sweep(problem, VecX::Zero(problem.rows()), sweeps, &pairs);
    answer.v = VecX::Zero(problem.unknowns());
    pairs.update_velocity(&answer.v);
    Judge alone, helped;
    helped.set_team(&two);
    const Residuals a = alone.certify(problem, answer), b = helped.certify(problem, answer);
    EXPECT_GT(a.verdict(), 0);
    for (const double Residuals::*number :
         {&Residuals::natural, &Residuals::relative, &Residuals::law, &Residuals::momentum, &Residuals::dynamics,
          &Residuals::cone, &Residuals::dissipation, &Residuals::scale, &Residuals::speed})
      EXPECT_EQ(a.*number, b.*number);
    EXPECT_EQ(a.worst.part, b.worst.part);
    EXPECT_EQ(a.worst.block, b.worst.block);
    EXPECT_EQ(a.worst.column, b.worst.column);
    EXPECT_EQ(a.worst.value, b.worst.value);
    EXPECT_EQ(a.worst.relative, b.worst.relative);
    ASSERT_EQ(alone.islands().size(), helped.islands().size());
  }
}

/// No verdict, but of its size, and zero where the judge finds nothing.
TEST(PairSweeps, TheChangeOfAVisitTellsHowFarItIs) {
  const Problem problem = make_ring(10, 6);
  PairSweeps pairs;
  for (const int sweeps : {3, 10, 30, 100, 4000}) {
    const Residuals judged = judge(problem, sweep(problem, VecX::Zero(problem.rows()), sweeps, &pairs));
    EXPECT_LE(pairs.calc_change(), 10 * judged.relative + 1e-12) << sweeps;
    EXPECT_GE(pairs.calc_change(), 0.05 * judged.relative - 1e-12) << sweeps;
  }
}

/// Half of the digits, whatever the units: masses of picograms and lengths of micrometres have the same ones. Cones are
/// met to the last digit, and velocities are those of the impulses.
TEST(PairSweeps, SinglePrecisionHasItsDigitsInAnyUnits) {
  for (const unsigned seed : {1U, 2U, 3U, 4U, 5U}) {
    const Problem problem = make_ring(7 + static_cast<int>(seed), seed);
    PairSweeps pairs;
    const VecX zero = VecX::Zero(problem.rows());
    const VecX answer = sweep(problem, zero, 4000, &pairs, SweepPrecision::Single);
    const Residuals judged = judge(problem, answer);
    EXPECT_LE(judged.relative, 1e-5) << seed;
    EXPECT_LE(judged.cone, 1e-15) << seed;
    VecX v = VecX::Zero(problem.unknowns()), exact;
    MassBlocks masses;
    masses.update(problem);
    update_velocity(problem, masses, answer, &exact);
    pairs.update_velocity(&v);
    EXPECT_LE((v - exact).cwiseAbs().maxCoeff(), 1e-12) << seed;
    EXPECT_GT(pairs.calc_drift(), 0) << seed;
    EXPECT_LE(pairs.calc_drift(), 1e-5) << seed;
    // Masses by 2^-50 and speeds by 2^-30: impulses by 2^-80, whose squares are no numbers of single precision.
    Problem small = problem;
    for (double& x : small.mass) x = std::ldexp(x, -50);
    for (double& x : small.b) x = std::ldexp(x, -80);
    for (double& x : small.c) x = std::ldexp(x, -30);
    for (double& x : small.compliance) x = std::ldexp(x, 50);
    VecX scaled = sweep(small, zero, 4000, &pairs, SweepPrecision::Single);
    for (double& x : scaled) x = std::ldexp(x, 80);
    EXPECT_EQ(scaled, answer) << seed;
  }
}

TEST(PairSweeps, SinglePrecisionHasTheSameBitsOnAnyNumberOfThreadsAndByItself) {
  const Problem problem = make_ring(700, 5);
  const ThreadTeam two(2);
  PairSweeps alone, helped;
  helped.set_team(&two);
  const VecX guess = VecX::Constant(problem.rows(), 0.1);
  const VecX answer = sweep(problem, guess, 30, &alone, SweepPrecision::Single);
  EXPECT_EQ(answer, sweep(problem, guess, 30, &helped, SweepPrecision::Single));
  VecX v = VecX::Zero(problem.unknowns()), w = v;
  alone.update_velocity(&v);
  helped.update_velocity(&w);
  EXPECT_EQ(v, w);
  EXPECT_EQ(alone.calc_drift(), helped.calc_drift());
  EXPECT_EQ(alone.calc_change(), helped.calc_change());

  const Problem a = make_ring(11, 3), both = make_two_rings(a, make_ring(8, 4));
  Islands islands;
  islands.update(both);
  VecX impulses = VecX::Zero(both.rows());
  alone.start(both, islands.part(0), SweepPrecision::Single);
  alone.run(25);
  alone.update_impulses(&impulses);
  Solution whole, part;
  whole.lambda = impulses;
  whole.w.setZero(both.rows());
  whole.v.setZero(both.unknowns());
  islands.gather(both, 0, whole, &part);
  EXPECT_EQ(part.lambda, sweep(a, VecX::Zero(a.rows()), 25, &helped, SweepPrecision::Single));
}

/// A load of many tonnes on grams: rounding is seen.
TEST(PairSweeps, DriftTellsOfRounding) {
  Problem problem;
  const double heavy = 1e9;
  for (const double mass : {1.0, heavy}) {
    problem.add_column(3) = mass * MatX::Identity(3, 3);
    problem.b.back() = -mass;  // weight
  }
  for (int k = 0; k < 2; ++k) {
    const int row = problem.add_block(LawKind::Nonnegative, 1).row;
    problem.add_entry(k) << 0, 0, 1;
    if (k == 1) problem.add_entry(0) << 0, 0, -1;
    problem.c[row] = 0;
  }
  PairSweeps pairs;
  VecX v = VecX::Zero(problem.unknowns());
  pairs.start(problem, SweepPrecision::Single);
  VecX carried(2);
  carried << 1 + heavy * 1.1, heavy * 1.1;
  pairs.set_impulses(carried);
  pairs.update_velocity(&v);
  EXPECT_GT(pairs.calc_drift(), 1e-2);
  // What is too large for single precision is no small drift either.
  pairs.set_impulses(1e40 * carried);
  pairs.update_velocity(&v);
  EXPECT_FALSE(pairs.calc_drift() <= 1e-2);
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
