#include <gtest/gtest.h>

#include "solve/solvers/solvers.h"
#include "support/count_allocations.h"
#include "support/scene_problems.h"

namespace slipstick {
namespace {

using namespace test_support;

TEST(NewtonAllocation, NoneAfterWarmUp) {
  if (!test::kCountsAllocations) GTEST_SKIP() << "the sanitizer owns malloc";
  const auto solver = make_newton();
  for (const Problem& problem : {stack(10), wall(3, 3), disks(5), chain(20), cube_column({1, 1, 1}, 0.5, 0.6)}) {
    Solution answer, cold;
    solver->solve(problem, 1e-8, &answer);
    cold = answer;
    const long before = test::allocation_count.load();
    for (const double guess : {1.001, 0.0}) {  // from nearby, and from zero through all phases
      cold.lambda = guess * answer.lambda;
      solver->solve(problem, 1e-8, &cold);
    }
    EXPECT_EQ(test::allocation_count.load() - before, 0);
  }
}

TEST(PgsAllocation, NoneAfterWarmUp) {
  if (!test::kCountsAllocations) GTEST_SKIP() << "the sanitizer owns malloc";
  SolverOptions options;
  options.max_iterations = 10;
  options.record_history = true;
  for (const auto& solver : {make_pgs(options), make_split(options)}) {
    for (const Problem& problem : {stack(10), wall(3, 3), disks(5), chain(20), cube_column({1, 1, 1}, 0.5, 0.6)}) {
      Solution answer;
      solver->solve(problem, 1e-12, &answer);
      solver->solve(problem, 1e-12, &answer);
      const long before = test::allocation_count.load();
      for (const double guess : {1.001, 0.0}) {
        answer.lambda *= guess;
        solver->solve(problem, 1e-12, &answer);
      }
      EXPECT_EQ(test::allocation_count.load() - before, 0) << solver->traits().name;
    }
  }
}

// Every third contact direct: the direct half is a problem by itself then.
TEST(SplitAllocation, NoneAfterWarmUpWithFrictionInTheDirectHalf) {
  if (!test::kCountsAllocations) GTEST_SKIP() << "the sanitizer owns malloc";
  SolverOptions options;
  options.max_iterations = 3;
  const auto solver = make_split(options);
  for (Problem problem : {stack(10), wall(3, 3), disks(5), chain(20)}) {
    for (std::size_t i = 0; i < problem.blocks.size(); ++i) problem.blocks[i].mode = static_cast<SolveMode>(i % 3);
    long before = 0;
    for (int round = 0; round < 2; ++round) {  // the same solves twice: all phases of the direct half have run then
      Solution answer;
      solver->solve(problem, 1e-8, &answer);
      const Solution solved = answer;
      before = test::allocation_count.load();
      for (const double guess : {1.001, 0.0}) {
        answer.lambda = guess * solved.lambda;
        solver->solve(problem, 1e-8, &answer);
      }
    }
    EXPECT_EQ(test::allocation_count.load() - before, 0);
  }
}

TEST(OtherSolversAllocation, NoneAfterWarmUp) {
  if (!test::kCountsAllocations) GTEST_SKIP() << "the sanitizer owns malloc";
  for (const char* name : {"admm", "apgd", "block-pivot", "keller"}) {
    const auto solver = make_solver(name);
    for (Problem problem : {stack(10), wall(3, 3), disks(5)}) {
      for (RowBlock& block : problem.blocks) block.friction = FrictionModel::Box;
      Solution answer;
      solver->solve(problem, 1e-6, &answer);
      const VecX solved = answer.lambda;
      solver->solve(problem, 1e-6, &answer);
      const long before = test::allocation_count.load();
      for (const double guess : {1.001, 0.0}) {  // from nearby, and from zero
        answer.lambda = guess * solved;
        solver->solve(problem, 1e-6, &answer);
      }
      EXPECT_EQ(test::allocation_count.load() - before, 0) << name;
    }
  }
}

}  // namespace
}  // namespace slipstick
