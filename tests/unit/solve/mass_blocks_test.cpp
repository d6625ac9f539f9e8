#include "solve/mass_blocks.h"

#include <gtest/gtest.h>

#include <random>

namespace slipstick {
namespace {

/// Columns of 1, 3 and 6 unknowns; of the bodies among them every other one has a mass that couples all six.
Problem make_columns(int count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Problem problem;
  for (int k = 0; k < count; ++k) {
    const int n = k % 4 == 0 ? 1 : k % 4 == 1 ? 3 : 6;
    const MatX half = MatX::NullaryExpr(n, n, [&] { return uniform(random); });
    MatX mass = half * half.transpose() + MatX::Identity(n, n);
    if (k % 4 == 2) {
      mass.topLeftCorner(3, 3) = (2 + uniform(random)) * Mat3::Identity();
      mass.topRightCorner(3, 3).setZero();
      mass.bottomLeftCorner(3, 3).setZero();
    }
    problem.add_column(n) = mass;
    for (int i = 0; i < n; ++i) problem.b[problem.column_start[k] + i] = uniform(random);
  }
  return problem;
}

void expect_inverses(const Problem& problem, const MassBlocks& masses) {
  VecX v;
  update_free_velocity(problem, masses, &v);
  for (int k = 0; k < problem.columns(); ++k) {
    const int n = problem.column_size(k), first = problem.column_start[k];
    const MatX mass = problem.mass_block(k);
    EXPECT_LT((mass * masses.inverse(k) - MatX::Identity(n, n)).norm(), 1e-13) << k;
    EXPECT_EQ(masses.is_body(k), k % 4 == 2) << k;
    const Eigen::Map<const VecX> b(problem.b.data() + first, n);
    EXPECT_LT((mass * v.segment(first, n) - b).norm(), 1e-13) << k;
  }
}

TEST(MassBlocks, WhatIsKeptIsWhatWouldBeMade) {
  MassBlocks kept;
  Problem problem = make_columns(12, 1);
  for (int k = 0; k < 12; ++k) {  // one column after the other has another mass
    problem.mass[problem.mass_start[k]] += 0.5;
    if (k % 4 == 2)
      for (int i = 1; i < 3; ++i) problem.mass[problem.mass_start[k] + 7 * i] += 0.5;
    kept.update(problem);
    expect_inverses(problem, kept);
    MassBlocks fresh;
    fresh.update(problem);
    for (int c = 0; c < 12; ++c) EXPECT_EQ(MatX(kept.inverse(c)), MatX(fresh.inverse(c))) << c;
  }
  problem = make_columns(9, 2);  // as many columns and others
  kept.update(problem);
  expect_inverses(problem, kept);
}

}  // namespace
}  // namespace slipstick
