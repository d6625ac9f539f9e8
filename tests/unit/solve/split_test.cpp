// split: which half a row block belongs to (RowBlock::mode), and what is said about both halves.
#include <gtest/gtest.h>
#include <slipstick/solver.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "support/random_problem.h"
#include "support/scene_problems.h"

namespace slipstick {
namespace {

using namespace test_support;

/// Few contacts, little friction, no two alike: one answer, and couplings that settle.
Problem make_mild_problem(int seed, bool planar) {
  test::RandomProblemOptions o;
  o.contacts = 6;
  o.bodies = 6;
  o.planar = planar;
  o.mu_max = 0.2;
  o.mass_ratio_exponent = 1;
  o.duplicate_chance = 0;
  o.joint_chance = 0.5;
  o.compliance_chance = 1;
  o.friction = FrictionModel::Cone;
  return test::make_random_problem(static_cast<std::uint64_t>(seed), o);
}

void set_modes(SolveMode mode, Problem* problem) {
  for (RowBlock& block : problem->blocks) block.mode = mode;
}

void set_random_modes(int seed, Problem* problem) {
  test::Random random(static_cast<std::uint64_t>(seed) + 77);
  for (RowBlock& block : problem->blocks) block.mode = static_cast<SolveMode>(random.below(3));
}

/// Largest speed of an equality row.
double calc_joint_speed(const Problem& problem, const Solution& answer) {
  double worst = 0;
  for (const RowBlock& block : problem.blocks)
    if (block.law == LawKind::Equality)
      worst = std::max(worst, answer.w.segment(block.row, block.size).cwiseAbs().maxCoeff());
  return worst;
}

TEST(SplitModes, EqualitiesAreDirectAndTheRestIsSplit) {
  Problem p;
  EXPECT_EQ(p.add_block(LawKind::Equality, 2).mode, SolveMode::Direct);
  EXPECT_EQ(p.add_block(LawKind::Box, 1).mode, SolveMode::Split);
  EXPECT_EQ(p.add_block(LawKind::Friction, 3).mode, SolveMode::Split);
}

// All direct is newton: no sweep, whatever the problem.
TEST(SplitModes, AllDirectNeedsNoSweeps) {
  int certified = 0;
  for (int seed = 0; seed < 60; ++seed) {
    test::RandomProblemOptions o = test::make_varied_options(static_cast<std::uint64_t>(seed));
    o.friction = FrictionModel::Cone;
    o.contacts = std::min(o.contacts, 20);
    Problem problem = test::make_random_problem(static_cast<std::uint64_t>(seed), o);
    set_modes(SolveMode::Direct, &problem);
    Solution answer, newton;
    const SolverReport report = make_solver("split")->solve(problem, 1e-8, &answer);
    EXPECT_EQ(report.iterations, 0) << "seed " << seed;
    EXPECT_EQ(report.couplings, 0);
    const bool solved = certify(problem, answer).within(1e-8);
    EXPECT_EQ(report.status == SolveStatus::Solved, solved);
    certified += solved;
    if (make_solver("newton")->solve(problem, 1e-8, &newton).status == SolveStatus::Solved) {
      EXPECT_TRUE(solved) << "seed " << seed << ": " << report.note;
    }
  }
  EXPECT_GE(certified, 58);
}

// Any mix of modes that comes to an end has come to newton's velocities.
TEST(SplitModes, MixedModesHaveTheAnswerOfNewton) {
  int certified = 0;
  for (int seed = 0; seed < 120; ++seed) {
    Problem problem = make_mild_problem(seed, seed % 3 == 0);
    if (seed >= 20) set_random_modes(seed, &problem);
    SolverOptions options;
    options.max_iterations = 200;
    Solution answer, newton;
    const SolverReport report = make_solver("split", options)->solve(problem, 1e-9, &answer);
    ASSERT_EQ(make_solver("newton")->solve(problem, 1e-11, &newton).status, SolveStatus::Solved) << "seed " << seed;
    EXPECT_EQ(report.status == SolveStatus::Solved, certify(problem, answer).within(1e-9));
    if (report.status != SolveStatus::Solved) continue;
    ++certified;
    EXPECT_LE((answer.v - newton.v).norm(), 1e-6 * (1 + newton.v.norm())) << "seed " << seed;
    EXPECT_LE(report.direct_residual, 1e-9);
  }
  std::printf("split: %d of 120 with mixed modes certified\n", certified);
  EXPECT_GE(certified, 100);
}

// With one sweep only, what is direct holds to rounding, and what is iterative does not.
TEST(SplitModes, OnlyDirectRowsHoldAfterOneSweep) {
  int loose = 0;
  for (int seed = 0; seed < 20; ++seed) {
    Problem problem = make_mild_problem(seed, false);
    SolverOptions options;
    options.max_iterations = 1;
    options.sweeps = 1;
    for (const SolveMode mode : {SolveMode::Direct, SolveMode::Split, SolveMode::Iterative}) {
      for (RowBlock& block : problem.blocks)
        if (block.law == LawKind::Equality) block.mode = mode;
      Solution answer;
      make_solver("split", options)->solve(problem, 1e-12, &answer);
      const double speed = calc_joint_speed(problem, answer);
      if (mode != SolveMode::Iterative)
        EXPECT_LE(speed, 1e-9) << "seed " << seed;
      else
        loose += speed > 1e-6;
    }
  }
  EXPECT_GE(loose, 10);
}

// Contacts that are iterative may be left closing; split and direct ones never are.
TEST(SplitModes, OnlyIterativeNormalsMayClose) {
  for (const SolveMode mode : {SolveMode::Direct, SolveMode::Split, SolveMode::Iterative}) {
    Problem problem = cube_column({1, 1, 1, 1000});
    set_modes(mode, &problem);
    SolverOptions options;
    options.max_iterations = 1;
    Solution answer;
    make_solver("split", options)->solve(problem, 1e-12, &answer);
    double closing = 0;
    for (const RowBlock& block : problem.blocks) closing = std::max(closing, -answer.w[block.row]);
    EXPECT_EQ(closing > 1e-6, mode == SolveMode::Iterative) << closing;
  }
}

// Friction in the direct half of a problem in local form: the held rows act through W.
TEST(SplitModes, LocalFormWithDirectFriction) {
  Problem local;
  for (int i = 0; i < 2; ++i) {
    RowBlock& block = local.add_block(LawKind::Friction, 3);
    block.mu = 0.3;
    block.mode = i == 0 ? SolveMode::Direct : SolveMode::Iterative;
  }
  local.c = {-1, 0.4, 0.1, -2, -0.3, 0.9};
  local.coupling.start.push_back(0);
  for (int r = 0; r < 6; ++r) {
    for (int k = 0; k < 6; ++k) {
      local.coupling.column.push_back(k);
      local.coupling.value.push_back(r == k ? 2.0 : (r + k) % 2 == 0 ? 0.3 : 0.1);
    }
    local.coupling.start.push_back(6 * (r + 1));
  }
  Solution answer, newton;
  const SolverReport report = make_solver("split")->solve(local, 1e-10, &answer);
  EXPECT_EQ(report.status, SolveStatus::Solved) << report.note;
  EXPECT_GT(report.couplings, 1);
  ASSERT_EQ(make_solver("newton")->solve(local, 1e-10, &newton).status, SolveStatus::Solved);
  EXPECT_LE((answer.lambda - newton.lambda).norm(), 1e-8);
}

TEST(SplitModes, OtherSolversIgnoreThem) {
  Problem problem = make_mild_problem(4, false), other = problem;
  set_random_modes(4, &other);
  for (const std::string_view name : solver_names()) {
    if (name == "split") continue;
    Solution one, two;
    make_solver(name)->solve(problem, 1e-8, &one);
    make_solver(name)->solve(other, 1e-8, &two);
    EXPECT_EQ(one.lambda, two.lambda) << name;
  }
}

// The history of the couplings is that of the answer: one entry a coupling after the first direct solve.
TEST(SplitHistory, HasBothHalvesOfEachCoupling) {
  const Problem problem = make_mild_problem(11, false);  // one island: its residual is that of the whole
  SolverOptions options;
  options.record_history = true;
  const auto split = make_solver("split", options);
  Solution answer;
  const SolverReport report = split->solve(problem, 1e-9, &answer);
  ASSERT_EQ(report.status, SolveStatus::Solved) << report.note;
  const SolverHistory& history = *split->history();
  ASSERT_EQ(history.couplings.size(), static_cast<std::size_t>(report.couplings) + 1);
  EXPECT_EQ(history.residual.size(), static_cast<std::size_t>(report.iterations));
  EXPECT_EQ(report.iterations, report.couplings * options.sweeps);
  const CouplingResidual &first = history.couplings.front(), &last = history.couplings.back();
  EXPECT_NEAR(last.all, certify(problem, answer).relative, 1e-12);
  EXPECT_LE(last.direct, 1e-10);
  EXPECT_GT(first.iterative, 0.1);  // sweeps had something to do
  EXPECT_LT(last.iterative, 1e-9);
  EXPECT_EQ(report.direct_residual, last.direct);
  EXPECT_EQ(report.iterative_residual, last.iterative);
}

}  // namespace
}  // namespace slipstick
