// Contacts that are left out because they seem to stay open, rightly and wrongly.
#include "solve/open_rows.h"

#include <gtest/gtest.h>
#include <slipstick/solver.h>
#include <slipstick/solver_ladder.h>

#include <algorithm>

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

}  // namespace
}  // namespace slipstick
