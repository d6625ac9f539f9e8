// Heaps: what is too dear to factor, and what `auto` does with it.
#include <gtest/gtest.h>
#include <slipstick/solver_ladder.h>

#include <cmath>

#include "solve/factor_cost.h"
#include "support/random_problem.h"

namespace slipstick {
namespace {

void add_touch(Problem* p, int upper, int lower, const Vec3& normal) {
  RowBlock& block = p->add_block(LawKind::Friction, 3);
  block.mu = 0.5;
  const Vec3 tangent = normal.unitOrthogonal();
  const Vec3 directions[3] = {normal, tangent, normal.cross(tangent)};
  for (int side = 0; side < (lower < 0 ? 1 : 2); ++side) {
    BlockMap j = p->add_entry(side == 0 ? upper : lower);
    const Vec3 arm = (side == 0 ? -0.1 : 0.1) * normal;
    for (int k = 0; k < 3; ++k) {
      const Vec3 e = side == 0 ? directions[k] : Vec3(-directions[k]);
      j.row(k).head<3>() = e.transpose();
      j.row(k).tail<3>() = arm.cross(e).transpose();
    }
  }
}

/// Balls of a box of x * y * z that touch along the axes and on the ground, each with a push of its own.
Problem make_packing(int nx, int ny, int nz) {
  test::Random random(5);
  Problem p;
  for (int k = 0; k < nx * ny * nz; ++k) {
    BlockMap mass = p.add_column(6);
    for (int i = 0; i < 6; ++i) mass(i, i) = i < 3 ? 1 : 4e-3;
    p.b[6 * k] = random.uniform(-0.03, 0.03);
    p.b[6 * k + 1] = random.uniform(-0.03, 0.03);
    p.b[6 * k + 2] = -0.1;
  }
  const auto ball = [&](int x, int y, int z) { return (z * ny + y) * nx + x; };
  for (int z = 0; z < nz; ++z) {
    for (int y = 0; y < ny; ++y) {
      for (int x = 0; x < nx; ++x) {
        add_touch(&p, ball(x, y, z), z > 0 ? ball(x, y, z - 1) : -1, Vec3::UnitZ());
        if (x > 0) add_touch(&p, ball(x, y, z), ball(x - 1, y, z), Vec3::UnitX());
        if (y > 0) add_touch(&p, ball(x, y, z), ball(x, y - 1, z), Vec3::UnitY());
      }
    }
  }
  return p;
}

TEST(Heaps, CostTellsHeapsFromChains) {
  FactorCost cost;
  EXPECT_EQ(cost.calc(make_packing(5, 5, 5)), 0);       // few bodies
  EXPECT_EQ(cost.calc(make_packing(1, 1, 5000)), 0);    // a column
  EXPECT_GT(cost.calc(make_packing(10, 10, 10)), 1e8);  // a cube
  EXPECT_TRUE(std::isinf(cost.calc(make_packing(15, 15, 15))));
  const double wall = cost.calc(make_packing(20, 1, 20));
  EXPECT_GT(wall, 0);
  EXPECT_LT(wall, 2e7);
}

/// Against a count by hand: a ring of n blocks of 6 eliminates n - 2 blocks with two neighbours left, then one, then
/// none, whatever the order.
TEST(Heaps, CostCountsMultiplications) {
  const int n = 400;
  Problem p;
  for (int k = 0; k < n; ++k) p.add_column(6).setIdentity();
  for (int k = 0; k < n; ++k) add_touch(&p, k, (k + 1) % n, Vec3::UnitX());
  FactorCost cost;
  EXPECT_EQ(cost.calc(p), 0);                                                // one edge a body: like a tree
  for (int k = 0; k < n; ++k) add_touch(&p, k, (k + 1) % n, Vec3::UnitZ());  // the same edges, but two rows per body
  EXPECT_EQ(cost.calc(p), 6 * ((n - 2) * 18.0 * 18 + 12.0 * 12 + 6.0 * 6));
}

TEST(Heaps, AutoSweepsThemByTheirOwnTolerance) {
  const Problem problem = make_packing(9, 9, 9);
  LadderOptions options;
  options.heap_tolerance = 1e-2;
  options.cold_sweeps = false;
  SolverLadder ladder(options);
  Solution answer;
  const LadderResult result = ladder.solve(problem, &answer);
  EXPECT_EQ(result.solver, "pgs");
  EXPECT_EQ(result.tolerance, 1e-2);
  EXPECT_TRUE(result.certified);
  EXPECT_LE(certify(problem, answer).relative, 1e-2);
  EXPECT_GT(certify(problem, answer).relative, 1e-8);  // else this test says nothing
  EXPECT_EQ(ladder.statistics().back().solver, "pgs");
  EXPECT_EQ(ladder.statistics().back().solves, 1);

  options.heap_tolerance = 1e-7;  // out of reach of so few sweeps: said, not hidden
  SolverLadder strict(options);
  Solution other;
  const LadderResult late = strict.solve(problem, &other);
  EXPECT_FALSE(late.certified);
  EXPECT_EQ(late.residual.relative, certify(problem, other).relative);
  EXPECT_EQ(late.note, "iteration limit");
}

/// `other` beside `one`, untouched by it.
Problem put_beside(const Problem& one, const Problem& other) {
  Problem two = one;
  for (int k = 0; k < other.columns(); ++k) {
    two.add_column(6) = other.mass_block(k);
    for (int i = 0; i < 6; ++i) two.b[6 * (one.columns() + k) + i] = other.b[6 * k + i];
  }
  for (const RowBlock& block : other.blocks) {
    two.add_block(block.law, block.size).mu = block.mu;
    for (int e = block.entry; e < block.entry + block.entries; ++e)
      two.add_entry(one.columns() + other.entries[e].column) = other.jacobian_block(block, other.entries[e]);
  }
  return two;
}

/// Heaps are swept where they stand in the problem: each as if it were alone, the small island beside them by newton,
/// and the certificate is the judge's of the whole.
TEST(Heaps, AreSweptWhereTheyStand) {
  const Problem heap = make_packing(9, 9, 9), slab = make_packing(14, 14, 4), small = make_packing(2, 2, 2);
  Problem all = put_beside(put_beside(small, heap), slab);
  all.add_column(6).setIdentity();  // touches nothing
  for (const int sweeps : {0, 30, 60}) {
    LadderOptions options;
    options.heap_tolerance = 1e-4;
    options.cold_sweeps = false;
    options.heap_sweeps = sweeps;
    Solution answer, alone, unjudged;
    SolverLadder ladder(options);
    const LadderResult result = ladder.solve(all, &answer);
    EXPECT_EQ(result.islands, 3);
    EXPECT_EQ(result.tolerance, 1e-4);
    EXPECT_EQ(result.residual.verdict(), certify(all, answer).verdict());
    EXPECT_EQ(ladder.statistics().back().solves, 2);
    EXPECT_LE(ladder.island_results()[0].relative, 1e-8);
    const Residuals own = certify(all, answer);
    EXPECT_EQ(std::max({ladder.island_results()[0].relative, ladder.island_results()[1].relative,
                        ladder.island_results()[2].relative}),
              own.relative);
    SolverLadder(options).solve(heap, &alone);
    EXPECT_EQ(answer.lambda.segment(small.rows(), heap.rows()), alone.lambda);
    EXPECT_EQ(answer.v.segment(small.unknowns(), heap.unknowns()), alone.v);
    // Nobody asks how good it is: nothing is certified.
    const LadderResult blind = SolverLadder(options).solve_unjudged(all, &unjudged);
    EXPECT_FALSE(blind.certified);
    EXPECT_TRUE(std::isinf(blind.residual.relative));
    if (sweeps == 0) {
      EXPECT_EQ(unjudged.lambda, answer.lambda);
    }
  }
}

/// Few sweeps are made again while a visit would change much, but not for ever.
TEST(Heaps, FewSweepsAreMadeAgainWhereTheyAreTooFew) {
  const Problem problem = make_packing(9, 9, 9);
  LadderOptions options;
  options.heap_tolerance = 1e-4;
  options.cold_sweeps = false;
  options.few_sweeps = true;
  int made = 0;
  for (const int sweeps : {1, 100}) {
    options.heap_sweeps = sweeps;
    Solution answer;
    const LadderResult result = SolverLadder(options).solve(problem, &answer);
    EXPECT_EQ(result.residual.relative, certify(problem, answer).relative);
    made = result.iterations;
    if (sweeps > 1) break;
    EXPECT_GT(made, 1);
    EXPECT_LE(made, 8);
  }
  EXPECT_LE(made, 100);
}

TEST(Heaps, SmallIslandsKeepTheTolerance) {
  const Problem problem = make_packing(3, 3, 3);
  LadderOptions options;
  options.heap_tolerance = 1e-4;
  SolverLadder ladder(options);
  Solution answer;
  const LadderResult result = ladder.solve(problem, &answer);
  EXPECT_EQ(result.tolerance, options.tolerance);
  EXPECT_TRUE(result.certified);
  EXPECT_LE(result.residual.relative, 1e-8);
}

LadderResult solve_with(const Problem& problem, double work, double sweeps, double settle, Solution* answer) {
  LadderOptions options;
  options.cold_sweeps = false;
  options.work = work;
  options.sweeps = sweeps;
  options.settle = settle;
  SolverLadder ladder(options);
  return ladder.solve(problem, answer);
}

TEST(Budget, NoSolverPassesItAndTheAnswerSaysSo) {
  const Problem problem = make_packing(4, 4, 4);
  Solution exact;
  const LadderResult all = solve_with(problem, kInfinity, 0, 0, &exact);
  ASSERT_TRUE(all.certified);
  ASSERT_GT(all.work, 0);
  EXPECT_FALSE(all.exhausted);
  for (const double share : {0.0, 0.1, 0.3, 0.9}) {
    Solution answer;
    const LadderResult result = solve_with(problem, share * all.work, 0, 0, &answer);
    EXPECT_LE(result.work, share * all.work);
    EXPECT_FALSE(result.certified) << share;
    EXPECT_TRUE(result.exhausted) << share;
    EXPECT_EQ(result.note, "work budget");
    EXPECT_EQ(result.residual.verdict(), certify(problem, answer).verdict());
  }
  Solution same;
  const LadderResult enough = solve_with(problem, all.work, 0, 0, &same);
  EXPECT_TRUE(enough.certified);
  EXPECT_EQ(same.lambda, exact.lambda);  // a limit that is not met changes no bit
}

TEST(Budget, WhatIsTooDearIsSettledOnRecord) {
  const Problem problem = make_packing(5, 5, 5);
  Solution exact, settled, again;
  const LadderResult all = solve_with(problem, kInfinity, 0, 1e-4, &exact);
  ASSERT_TRUE(all.certified);
  EXPECT_FALSE(all.settled);  // without a limit there is no reason to
  const LadderResult result = solve_with(problem, 0, 20000, 1e-4, &settled);
  EXPECT_TRUE(result.certified != result.settled);
  EXPECT_LE(result.work, 20000.0 * problem.rows());
  EXPECT_LE(certify(problem, settled).verdict(), 1e-4);
  solve_with(problem, 0, 20000, 1e-4, &again);
  EXPECT_EQ(settled.lambda, again.lambda);
}

/// Where the whole ladder is quick a limit, and leave to settle for less, change no bit; nor does the size of the
/// limit.
TEST(Budget, WhatIsQuickHasTheBitsOfUnlimitedWork) {
  const Problem problem = make_packing(3, 3, 3);
  Solution exact, balanced, more;
  ASSERT_TRUE(solve_with(problem, kInfinity, 0, 0, &exact).certified);
  const LadderResult result = solve_with(problem, 8e6, 1000, 1e-4, &balanced);
  EXPECT_TRUE(result.certified);
  EXPECT_FALSE(result.settled);
  EXPECT_EQ(balanced.lambda, exact.lambda);
  solve_with(problem, 8e7, 1000, 1e-4, &more);
  EXPECT_EQ(more.lambda, exact.lambda);
}

/// What is dear is swept until it may settle, within its limit however small that is, and says how far it came.
TEST(Budget, SweepsSettleWithinTheLimit) {
  const Problem problem = make_packing(8, 8, 8);
  double before = kInfinity;
  for (const double sweeps : {20.0, 100.0, 1000.0}) {
    Solution answer;
    const LadderResult result = solve_with(problem, 0, sweeps, 1e-4, &answer);
    EXPECT_LE(result.work, sweeps * problem.rows());
    const Residuals judged = certify(problem, answer);
    EXPECT_EQ(result.residual.relative, judged.relative);
    EXPECT_EQ(result.settled || result.certified, judged.relative <= 1e-4) << sweeps;
    EXPECT_TRUE(result.settled || result.certified || result.exhausted);
    EXPECT_LE(judged.relative, before);
    before = judged.relative;
  }
  EXPECT_LE(before, 1e-4);
}

/// The problems of a step have one limit, and islands share it by their rows whatever the others do with theirs.
TEST(Budget, IsSharedByProblemsAndIslands) {
  const Problem one = make_packing(4, 4, 4);
  Solution answer;
  const double all = solve_with(one, kInfinity, 0, 0, &answer).work;
  LadderOptions options;
  options.cold_sweeps = false;
  options.work = all;
  SolverLadder ladder(options);
  const auto solve_after = [&](double spent) {
    ladder.set_spent(spent);
    Solution fresh;
    return ladder.solve(one, &fresh);
  };
  EXPECT_TRUE(solve_after(0).certified);
  const LadderResult later = solve_after(0.3 * all);
  EXPECT_GT(later.work, 0);
  EXPECT_LE(later.work, 0.7 * all);
  EXPECT_TRUE(later.exhausted);
  EXPECT_LE(solve_after(100 * all).work, 0.2 * all);  // a little is left in any case

  // Two packings side by side: each has half, and the answer of half.
  Problem two = one;
  for (int k = 0; k < one.columns(); ++k) {
    two.add_column(6) = one.mass_block(k);
    for (int i = 0; i < 6; ++i) two.b[6 * (one.columns() + k) + i] = one.b[6 * k + i];
  }
  for (const RowBlock& block : one.blocks) {
    two.add_block(block.law, block.size).mu = block.mu;
    for (int e = block.entry; e < block.entry + block.entries; ++e)
      two.add_entry(one.columns() + one.entries[e].column) = one.jacobian_block(block, one.entries[e]);
  }
  ladder.set_spent(0);
  Solution pair, half;
  EXPECT_LE(ladder.solve(two, &pair).work, all);
  EXPECT_TRUE(solve_with(one, all / 2, 0, 0, &half).exhausted);
  EXPECT_EQ(pair.lambda.head(one.rows()), half.lambda);
  EXPECT_EQ(pair.lambda.tail(one.rows()), half.lambda);
}

/// Small islands are solved with whatever scratch is free: what it served for before changes no bit.
TEST(Ladder, ScratchOfOthersChangesNothing) {
  LadderOptions options;
  options.heap_tolerance = 1e-4;
  options.settle = 1e-4;
  options.work = 1e6;
  options.unique_forces = true;
  test::Random random(8);
  const auto make_islands = [&](int count) {
    Problem all;
    for (int k = 0; k < count; ++k) {
      const int first = all.columns(), columns = 1 + random.below(12);
      for (int i = 0; i < columns; ++i) {
        BlockMap mass = all.add_column(6);
        for (int r = 0; r < 6; ++r) mass(r, r) = r < 3 ? 1 : 4e-3;
        for (int r = 0; r < 6; ++r) all.b[all.unknowns() - 6 + r] = random.uniform(-0.1, 0.1);
      }
      for (int i = 0; i < columns; ++i) {
        add_touch(&all, first + i, i > 0 ? first + random.below(i) : -1, random.direction());
        if (random.chance(0.5)) add_touch(&all, first + i, -1, random.direction());
      }
    }
    return all;
  };
  LadderOptions threads = options;
  threads.threads = 2;
  SolverLadder used(options), shared(threads);
  for (int round = 0; round < 12; ++round) {
    const Problem problem = make_islands(5 + random.below(60));
    Solution expected, answer, other;
    SolverLadder(options).solve(problem, &expected);
    used.solve(problem, &answer);
    shared.solve(problem, &other);
    EXPECT_EQ(answer.lambda, expected.lambda) << round;
    EXPECT_EQ(answer.v, expected.v) << round;
    EXPECT_EQ(other.lambda, expected.lambda) << round;
    EXPECT_EQ(other.v, expected.v) << round;
  }
}

TEST(Heaps, MixingSavesSweepsAndIsDeterministic) {
  const Problem problem = make_packing(6, 6, 6);
  SolverOptions options;
  options.max_iterations = 5000;
  Solution plain, mixed, again;
  const SolverReport slow = make_solver("pgs", options)->solve(problem, 1e-6, &plain);
  options.mixing = 5;
  options.relaxation = 0.8;
  const SolverReport quick = make_solver("pgs", options)->solve(problem, 1e-6, &mixed);
  make_solver("pgs", options)->solve(problem, 1e-6, &again);
  ASSERT_EQ(slow.status, SolveStatus::Solved);
  ASSERT_EQ(quick.status, SolveStatus::Solved);
  EXPECT_LT(quick.iterations, slow.iterations);
  EXPECT_EQ(mixed.lambda, again.lambda);
}

}  // namespace
}  // namespace slipstick
