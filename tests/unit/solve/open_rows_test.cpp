// Contacts that are left out because they seem to stay open, rightly and wrongly.
#include "solve/open_rows.h"

#include <gtest/gtest.h>
#include <slipstick/solver.h>
#include <slipstick/solver_ladder.h>

#include <algorithm>
#include <cmath>

#include "support/scene_problems.h"

namespace slipstick {
namespace {

using namespace test_support;

/// A guess without impulses under which bodies fly apart, the upper ones faster: those seem open.
Solution make_flying_guess(const Problem& problem) {
  Solution guess;
  guess.v.setZero(problem.unknowns());
  guess.lambda.setZero(problem.rows());
  for (int k = 0; k < problem.columns(); ++k) guess.v[problem.column_start[k] + 2] = 10.0 * (k + 1) * (k + 1);
  return guess;
}

TEST(OpenRows, WhatWasLeftOutWronglyIsTakenBack) {
  const Problem problem = stack(6);
  const Solution guess = make_flying_guess(problem);
  OpenRows open;
  MassBlocks masses;
  ASSERT_TRUE(open.find(problem, guess, &masses));
  ASSERT_GT(std::count(open.left_out().begin(), open.left_out().end(), 1), 0);
  VecX still = VecX::Zero(problem.unknowns());
  for (int k = 0; k < problem.columns(); ++k)
    still[problem.column_start[k] + 2] = -1.0 * (k + 1);  // each falls onto the one below
  EXPECT_TRUE(open.take_back(problem, still));
  VecX apart = guess.v;
  EXPECT_FALSE(open.take_back(problem, apart));
}

TEST(OpenRows, AWrongGuessDoesNotChangeTheAnswer) {
  for (const Problem& problem : {stack(6), wall(4, 4), pile(3)}) {
    LadderOptions options;
    options.cold_sweeps = false;
    SolverLadder ladder{options};
    Solution answer = make_flying_guess(problem), known;
    const LadderResult result = ladder.solve(problem, &answer);
    EXPECT_TRUE(result.certified) << result.note;
    EXPECT_TRUE(certify(problem, answer).within(1e-8));
    EXPECT_EQ(make_solver("newton")->solve(problem, 1e-10, &known).status, SolveStatus::Solved);
    EXPECT_LE((answer.v - known.v).cwiseAbs().maxCoeff(), 1e-6);
  }
}

/// Loaded contacts, and problems in local form, are never left out.
TEST(OpenRows, LoadedContactsStay) {
  const Problem problem = stack(6);
  Solution guess = make_flying_guess(problem);
  guess.lambda.setOnes();
  OpenRows open;
  MassBlocks masses;
  EXPECT_FALSE(open.find(problem, guess, &masses));
}

/// Parts may be left as far off as the whole may: their maps are its map, over a smaller scale.
TEST(OpenRows, PartsShareTheScaleOfTheWhole) {
  Problem problem = stack(6);
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) problem.c[problem.blocks[i].row] += 0.1 * (1 + i);
  OpenRows open;
  MassBlocks masses;
  ASSERT_TRUE(open.find(problem, make_flying_guess(problem), &masses));
  VecX free, q;
  update_free_velocity(problem, masses, &free);
  update_row_image(problem, free, &q);
  const auto calc_square = [&](bool all) {
    double sum = 0;
    for (std::size_t i = 0; i < problem.blocks.size(); ++i)
      for (int r = problem.blocks[i].row; r < problem.blocks[i].row + problem.blocks[i].size; ++r)
        if (all || !open.left_out()[i]) sum += q[r] * q[r];
    return sum;
  };
  const double looseness = open.calc_looseness(problem);
  EXPECT_GT(looseness, 1);
  EXPECT_NEAR(looseness, std::min(OpenRows::kMostLoose, std::sqrt(calc_square(true) / calc_square(false))), 1e-12);
  VecX down = VecX::Zero(problem.unknowns());
  for (int k = 0; k < problem.columns(); ++k) down[problem.column_start[k] + 2] = -10.0 * (k + 1);
  open.take_back(problem, down);  // all of them: nothing is left out
  EXPECT_NEAR(open.calc_looseness(problem), 1, 1e-12);
  for (RowBlock& block : problem.blocks) block.mu = 0;
  ASSERT_TRUE(open.find(problem, make_flying_guess(problem), &masses));
  EXPECT_EQ(open.calc_looseness(problem), 1);
}

}  // namespace
}  // namespace slipstick
