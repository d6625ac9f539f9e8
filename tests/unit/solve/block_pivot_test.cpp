#include "solve/solvers/block_pivot.h"

#include <gtest/gtest.h>
#include <slipstick/solver.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "solve/solvers/solvers.h"
#include "support/random_problem.h"
#include "support/scene_problems.h"

namespace slipstick {
namespace {

using namespace test_support;

/// Nonnegative and Box rows and frictionless contacts, equalities, redundant rows: no friction.
Problem make_bounded(int seed, bool symmetric) {
  auto options = test::make_varied_options(seed);
  options.mu_max = 0;
  options.other_rows = 0.6;
  options.symmetric = symmetric;
  return test::make_random_problem(seed, options);
}

/// Two unit masses on a line, one row each.
Problem make_pair(LawKind law, double b0, double b1) {
  Problem p;
  for (const double b : {b0, b1}) {
    p.add_column(1)(0, 0) = 1;
    p.b[p.columns() - 1] = b;
    p.add_block(law, 1);
    p.add_entry(p.columns() - 1)(0, 0) = 1;
  }
  return p;
}

TEST(BlockPivot, HandSolved) {
  for (const char* name : {"block-pivot", "keller"}) {
    const auto solver = make_solver(name);
    Solution answer;
    Problem p = make_pair(LawKind::Nonnegative, -2, 3);
    EXPECT_EQ(solver->solve(p, 1e-8, &answer).status, SolveStatus::Solved) << name;
    EXPECT_NEAR(answer.lambda[0], 2, 1e-14) << name;
    EXPECT_NEAR(answer.v[0], 0, 1e-14) << name;
    EXPECT_EQ(answer.lambda[1], 0) << name;
    EXPECT_NEAR(answer.v[1], 3, 1e-14) << name;

    p = make_pair(LawKind::Box, -2, 3);  // one held, one dragged at its bound
    p.lower = {-1, -1};
    p.upper = {5, 1};
    EXPECT_EQ(solver->solve(p, 1e-8, &answer).status, SolveStatus::Solved) << name;
    EXPECT_NEAR(answer.lambda[0], 2, 1e-14) << name;
    EXPECT_EQ(answer.lambda[1], -1) << name;
    EXPECT_NEAR(answer.v[1], 2, 1e-14) << name;

    p = make_pair(LawKind::Equality, -2, 3);
    p.compliance = {0, 1};  // lambda_1 + v_1 = 0, v_1 = 3 + lambda_1
    EXPECT_EQ(solver->solve(p, 1e-8, &answer).status, SolveStatus::Solved) << name;
    EXPECT_NEAR(answer.v[0], 0, 1e-13) << name;
    EXPECT_NEAR(answer.v[1], 1.5, 1e-13) << name;
  }
}

TEST(BlockPivot, RandomBoundedProblemsMoveAsUnderLemke) {
  const auto lemke = make_lemke();
  for (const char* name : {"block-pivot", "keller"}) {
    const auto solver = make_solver(name);
    for (int seed = 0; seed < 300; ++seed) {
      const Problem problem = make_bounded(seed, seed % 3 != 0);
      Solution answer, proof;
      const SolverReport report = solver->solve(problem, 1e-8, &answer);
      EXPECT_EQ(report.status, SolveStatus::Solved) << name << " seed " << seed;
      EXPECT_TRUE(certify(problem, answer).within(1e-8)) << name << " seed " << seed;
      lemke->solve(problem, 1e-8, &proof);
      EXPECT_LE((answer.v - proof.v).cwiseAbs().maxCoeff(), 1e-7 * (1 + proof.v.cwiseAbs().maxCoeff()))
          << name << " seed " << seed;
    }
  }
}

TEST(BlockPivot, UnsupportedLawsAreNamed) {
  Problem problem = stack(1);
  for (const char* name : {"block-pivot", "keller"}) {
    const auto solver = make_solver(name);
    for (const FrictionModel model : {FrictionModel::Cone, FrictionModel::Pyramid}) {
      for (RowBlock& block : problem.blocks) block.friction = model;
      Solution answer;
      const SolverReport report = solver->solve(problem, 1e-8, &answer);
      EXPECT_EQ(report.status, SolveStatus::Unsupported) << name;
      EXPECT_FALSE(report.note.empty()) << name;
    }
  }
}

TEST(BlockPivot, FrozenRowsStayAndTheNormalsAnswerToThem) {
  const Problem problem = stack(3);
  BoundedPivot pivot;
  ASSERT_TRUE(pivot.prepare(problem));
  VecX frozen = VecX::Zero(problem.rows()), lower, upper, x;
  for (const RowBlock& block : problem.blocks) frozen[block.row + 1] = 0.01;
  update_pivot_bounds(problem, {}, frozen, &lower, &upper);
  const PivotReport report =
      pivot.solve(lower, upper, 1e-8, 1e-13, BoundedPivot::Rule::Block, BoundedPivot::Start::FromImpulses, &x);
  EXPECT_LE(report.residual, 1e-12);
  for (const RowBlock& block : problem.blocks) {
    EXPECT_EQ(x[block.row + 1], 0.01);
    EXPECT_EQ(x[block.row + 2], 0);
    EXPECT_GE(x[block.row], 0);
    EXPECT_GE(pivot.w()[block.row], -1e-14);
  }
  const PivotReport again =
      pivot.solve(lower, upper, 1e-8, 1e-13, BoundedPivot::Rule::Block, BoundedPivot::Start::FromSets, &x);
  EXPECT_EQ(again.set_changes, 0);
}

TEST(BlockPivot, RedundantRowsLeaveNoTraceInTheMotion) {
  // A cube on 4 corners, each contact three times over: the weight is carried, nothing moves, nothing creeps.
  SceneProblem scene;
  const int cube = scene.add_box(Vec3(0, 0, 0.5), 1, Vec3::Ones());
  for (int copy = 0; copy < 3; ++copy) add_face(&scene, cube, -1, -0.5, 0.5, -0.5, 0.5, 0, 0);
  for (const char* name : {"block-pivot", "keller"}) {
    Solution answer;
    EXPECT_EQ(make_solver(name)->solve(scene.problem(), 1e-8, &answer).status, SolveStatus::Solved) << name;
    EXPECT_LE(answer.v.cwiseAbs().maxCoeff(), 1e-15) << name;
    double carried = 0;
    for (const RowBlock& block : scene.problem().blocks) carried += answer.lambda[block.row];
    EXPECT_NEAR(carried, kGravity * kStep, 1e-14) << name;
  }
}

TEST(BlockPivot, CyclesAreNoticedAndFinishedBySinglePivots) {
  int cycles = 0;
  BoundedPivot pivot;
  for (int seed = 0; seed < 400; ++seed) {
    const Problem problem = make_bounded(seed, true);
    ASSERT_TRUE(pivot.prepare(problem));
    VecX zero = VecX::Zero(problem.rows()), lower, upper, x;
    update_pivot_bounds(problem, {}, zero, &lower, &upper);
    const PivotReport report =
        pivot.solve(lower, upper, 1e-8, 1e-13, BoundedPivot::Rule::Block, BoundedPivot::Start::FromImpulses, &x);
    EXPECT_LE(report.residual, 1e-8) << "seed " << seed;
    if (!report.cycled) continue;
    ++cycles;
    EXPECT_GT(report.single_pivots, 0) << "seed " << seed;
  }
  EXPECT_GE(cycles, 1) << "no problem on which block pivots alone would run for ever: the test shows nothing";
}

TEST(BlockPivot, TheAnswerIsItsOwnWarmStart) {
  for (const char* name : {"block-pivot", "keller"}) {
    const auto solver = make_solver(name);
    for (int seed = 0; seed < 50; ++seed) {
      Problem problem = make_bounded(seed, true);
      Solution answer;
      solver->solve(problem, 1e-8, &answer);
      EXPECT_LE(solver->solve(problem, 1e-8, &answer).iterations, 1) << name << " seed " << seed;
    }
    Problem problem = stack(20, 0);
    Solution answer;
    EXPECT_GT(solver->solve(problem, 1e-8, &answer).iterations, 0) << name;
    for (std::size_t i = 0; i < problem.b.size(); ++i) problem.b[i] *= 1 + 1e-3 * std::sin(static_cast<double>(i));
    const SolverReport report = solver->solve(problem, 1e-8, &answer);
    EXPECT_EQ(report.iterations, 0) << name;
    EXPECT_TRUE(report.warm_hit) << name;
  }
}

TEST(BlockPivot, BoxFrictionSticksAndSlides) {
  for (const double push : {0.3, 0.7}) {  // sideways pull over weight; mu = 0.5
    Problem problem = cube_column({1.0}, 0.5, push);
    for (RowBlock& block : problem.blocks) block.friction = FrictionModel::Box;
    for (const char* name : {"block-pivot", "keller"}) {
      Solution answer;
      EXPECT_EQ(make_solver(name)->solve(problem, 1e-8, &answer).status, SolveStatus::Solved) << name;
      EXPECT_NEAR(answer.v[0], std::max(0.0, push - 0.5) * kGravity * kStep, 1e-9) << name;
      EXPECT_NEAR(answer.v[2], 0, 1e-9) << name;
    }
  }
}

TEST(BlockPivot, NeverAWrongSolved) {
  Judge judge;
  for (const char* name : {"block-pivot", "keller"}) {
    const auto solver = make_solver(name);
    int solved = 0;
    for (int seed = 0; seed < 1000; ++seed) {
      auto options = test::make_varied_options(seed);
      options.contacts = std::min(options.contacts, 15);
      options.friction = static_cast<FrictionModel>(seed % 3);
      const Problem problem = test::make_random_problem(seed, options);
      Solution answer;
      const SolverReport report = solver->solve(problem, 1e-8, &answer);
      if (report.status != SolveStatus::Solved) continue;
      ++solved;
      EXPECT_TRUE(judge.certify(problem, answer).within(1e-8)) << name << " seed " << seed;
    }
    EXPECT_GT(solved, 300) << name;
  }
}

TEST(BlockPivot, BoundsWithoutRoomAreRefused) {
  Problem p = make_pair(LawKind::Box, 1, 1);
  p.lower = {1, 0};
  p.upper = {-1, 1};
  Solution answer;
  const SolverReport report = make_solver("block-pivot")->solve(p, 1e-8, &answer);
  EXPECT_EQ(report.status, SolveStatus::NotConverged);
  EXPECT_FALSE(report.note.empty());
}

}  // namespace
}  // namespace slipstick
