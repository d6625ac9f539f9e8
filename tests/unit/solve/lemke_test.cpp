// Lemke on problems with answers known by hand.
#include <gtest/gtest.h>
#include <slipstick/solver.h>

#include "solve/linalg/dense_lu.h"
#include "solve/solvers/solvers.h"
#include "support/random_problem.h"

namespace slipstick {
namespace {

using test::make_random_problem;
using test::RandomProblemOptions;

/// A point mass with velocity u above the plane z = 0, `copies` identical contacts.
Problem make_sliding_block(double m, const Vec3& u, double mu, FrictionModel model, int facets = 8, int copies = 1) {
  Problem p;
  BlockMap a = p.add_column(3);
  a.setIdentity();
  a *= m;
  for (int k = 0; k < 3; ++k) p.b[k] = m * u[k];
  for (int i = 0; i < copies; ++i) {
    RowBlock& block = p.add_block(LawKind::Friction, 3);
    block.mu = mu;
    block.friction = model;
    block.facets = facets;
    p.add_entry(0) << 0, 0, 1, 1, 0, 0, 0, 1, 0;
  }
  return p;
}

Solution solve(const Problem& p, double certified = 1e-12) {
  Solution s;
  const SolverReport report = make_lemke()->solve(p, 1e-8, &s);
  EXPECT_EQ(report.status, SolveStatus::Solved) << report.note;
  EXPECT_TRUE(certify(p, s).within(certified)) << certify(p, s).relative;
  return s;
}

TEST(DenseLu, SolvesAndInverts) {
  test::Random random(1);
  for (const int n : {1, 2, 31, 32, 33, 97}) {
    MatX a(n, n), inverse(n + 2, n + 2);
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) a(i, j) = random.normal();
    VecX x(n);
    for (double& value : x) value = random.normal();
    DenseLu lu;
    ASSERT_TRUE(lu.factor(a));
    VecX y = a * x;
    lu.solve_in_place(y);
    EXPECT_LE((y - x).norm(), 1e-9 * x.norm());
    lu.update_inverse(inverse);
    EXPECT_LE((inverse.topLeftCorner(n, n) * a - MatX::Identity(n, n)).norm(), 1e-8);
  }
  DenseLu lu;
  EXPECT_FALSE(lu.factor(MatX::Zero(3, 3)));
}

TEST(DenseLu, EliminationFindsTheRank) {
  test::Random random(2);
  for (int rank = 0; rank <= 6; ++rank) {
    MatX j(9, rank), skew(rank, rank);
    for (double& value : j.reshaped()) value = random.normal();
    for (double& value : skew.reshaped()) value = random.normal();
    const MatX a = MatX::Identity(rank, rank) + 0.3 * (skew - skew.transpose());
    const MatX s = j * a * j.transpose();
    PivotedElimination elimination;
    elimination.factor(s, 1e-11);
    EXPECT_EQ(elimination.rank(), rank);
    MatX x(rank, 1), y(rank, 1);
    for (int i = 0; i < rank; ++i) x(i, 0) = y(i, 0) = i + 1;
    elimination.solve_in_place(x);
    elimination.solve_transposed_in_place(y);
    MatX minor(rank, rank);
    for (int b = 0; b < rank; ++b)
      for (int c = 0; c < rank; ++c) minor(b, c) = s(elimination.pivot(b), elimination.pivot(c));
    const MatX rx = minor * x, ry = minor.transpose() * y;
    for (int i = 0; i < rank; ++i) {
      EXPECT_NEAR(rx(i, 0), i + 1, 1e-8);
      EXPECT_NEAR(ry(i, 0), i + 1, 1e-8);
    }
  }
}

TEST(Lemke, BlockSlides) {
  for (const FrictionModel model : {FrictionModel::Cone, FrictionModel::Pyramid, FrictionModel::Box}) {
    const Solution s = solve(make_sliding_block(2, Vec3(3, 0, -1), 0.5, model));
    EXPECT_NEAR(s.lambda[0], 2, 1e-14);
    EXPECT_NEAR(s.lambda[1], -1, 1e-14);
    EXPECT_NEAR(s.lambda[2], 0, 1e-14);
    EXPECT_NEAR(s.v[0], 2.5, 1e-14);
    EXPECT_NEAR(s.v[2], 0, 1e-15);
  }
}

TEST(Lemke, BlockSticks) {
  for (const FrictionModel model : {FrictionModel::Cone, FrictionModel::Pyramid, FrictionModel::Box}) {
    const Solution s = solve(make_sliding_block(2, Vec3(0.3, -0.2, -1), 0.5, model));
    EXPECT_NEAR(s.lambda[0], 2, 1e-14);
    EXPECT_NEAR(s.lambda[1], -0.6, 1e-14);
    EXPECT_NEAR(s.lambda[2], 0.4, 1e-14);
    EXPECT_LE(s.v.norm(), 1e-15);
  }
}

TEST(Lemke, BlockLeaves) {
  const Solution s = solve(make_sliding_block(1, Vec3(1, 1, 0.5), 0.5, FrictionModel::Pyramid));
  EXPECT_EQ(s.lambda.norm(), 0);
  EXPECT_EQ(s.v, VecX(Vec3(1, 1, 0.5)));
}

// Obliquely on each model: the cone's friction is opposite to the motion, the square's at its corner.
TEST(Lemke, FrictionModelsDiffer) {
  const Vec3 u(3, 4, -1);
  EXPECT_TRUE(solve(make_sliding_block(1, u, 0.5, FrictionModel::Cone)).lambda.isApprox(Vec3(1, -0.3, -0.4), 1e-14));
  EXPECT_TRUE(solve(make_sliding_block(1, u, 0.5, FrictionModel::Box)).lambda.isApprox(Vec3(1, -0.5, -0.5), 1e-14));
  EXPECT_TRUE(solve(make_sliding_block(1, u, 0.5, FrictionModel::Pyramid, 4)).lambda.isApprox(Vec3(1, 0, -0.5), 1e-14));
}

TEST(Lemke, IdenticalContactsShareTheLoad) {
  for (const int copies : {2, 4, 16, 64}) {
    for (const FrictionModel model : {FrictionModel::Cone, FrictionModel::Pyramid}) {
      const Solution s = solve(make_sliding_block(1, Vec3(0.1, 0.7, -1), 0.4, model, 8, copies));
      double sum = 0;
      for (int i = 0; i < copies; ++i) sum += s.lambda[3 * i];
      EXPECT_NEAR(sum, 1, 1e-13);
      EXPECT_NEAR(s.v[2], 0, 1e-14);
    }
  }
}

// A beam on two supports left and right of its centre and a third, redundant one: the loads balance force and moment.
TEST(Lemke, RedundantSupports) {
  Problem p;
  BlockMap a = p.add_column(3);  // x, y, angle
  a.diagonal() << 2, 2, 0.5;
  p.b = {0, -2, 0};
  for (const double x : {-1.0, 2.0, 0.5}) {
    RowBlock& block = p.add_block(LawKind::Friction, 2);
    block.mu = 0.3;
    p.add_entry(0) << 0, 1, x, 1, 0, 0;
  }
  const Solution s = solve(p);
  EXPECT_LE(s.v.norm(), 1e-14);
  EXPECT_NEAR(s.lambda[0] + s.lambda[2] + s.lambda[4], 2, 1e-13);
  EXPECT_NEAR(-s.lambda[0] + 2 * s.lambda[2] + 0.5 * s.lambda[4], 0, 1e-13);
}

// Painleve's rod, sliding, where the accelerations have no solution: the impulse without collision (half length 1/2,
// 60 degrees, mu = 2) makes the end stick.
TEST(Lemke, PainleveRod) {
  const double c = 0.5 * std::cos(std::numbers::pi / 3), s = 0.5 * std::sin(std::numbers::pi / 3);
  Problem p;
  BlockMap a = p.add_column(3);
  a.diagonal() << 1, 1, 1.0 / 12;
  const double h = 1e-9;
  p.b = {-1, -9.81 * h, 0};
  RowBlock& block = p.add_block(LawKind::Friction, 2);
  block.mu = 2;
  p.add_entry(0) << 0, 1, -c, 1, 0, s;
  const Solution rod = solve(p);
  EXPECT_NEAR(rod.lambda[0], 0.324759526419, 1e-7);
  EXPECT_NEAR(rod.lambda[1], 0.4375, 1e-7);
  EXPECT_NEAR(rod.v[0], -0.5625, 1e-7);
  EXPECT_NEAR(rod.v[1], 0.324759526419, 1e-7);
  EXPECT_NEAR(rod.v[2], 1.299038105677, 1e-6);
  EXPECT_NEAR(rod.w.norm(), 0, 1e-14);
}

// A mass driven to 1 m/s by a motor of limited impulse against a stop; bounds of every kind.
TEST(Lemke, BoxRows) {
  const auto run = [](double lo, double hi, double c) {
    Problem p;
    p.add_column(1)(0, 0) = 2;
    p.b[0] = 2;  // q = 1 + c
    p.add_block(LawKind::Box, 1);
    p.add_entry(0)(0, 0) = 1;
    p.lower[0] = lo;
    p.upper[0] = hi;
    p.c[0] = c;
    return solve(p, 1e-14).lambda[0];
  };
  EXPECT_DOUBLE_EQ(run(-0.5, 0.5, 0), -0.5);
  EXPECT_DOUBLE_EQ(run(-5, 0.5, 0), -2);
  EXPECT_DOUBLE_EQ(run(-0.5, 0.5, -3), 0.5);
  EXPECT_DOUBLE_EQ(run(0.25, 0.75, 0), 0.25);
  EXPECT_DOUBLE_EQ(run(-kInfinity, 0.5, 0), -2);
  EXPECT_DOUBLE_EQ(run(-kInfinity, -3, 0), -3);
  EXPECT_DOUBLE_EQ(run(-1, kInfinity, 0), -1);
  EXPECT_DOUBLE_EQ(run(-1, kInfinity, -7), 12);
  EXPECT_DOUBLE_EQ(run(-kInfinity, kInfinity, 0), -2);
  EXPECT_DOUBLE_EQ(run(0.3, 0.3, 0), 0.3);
}

// The local form of problem files: no columns, w = W lambda + q.
TEST(Lemke, LocalForm) {
  Problem p;
  RowBlock& block = p.add_block(LawKind::Friction, 3);
  block.mu = 0.5;
  p.c = {-1, 3, 4};
  p.coupling.start = {0, 1, 2, 3};
  p.coupling.column = {0, 1, 2};
  p.coupling.value = {0.5, 0.5, 0.5};
  EXPECT_TRUE(solve(p).lambda.isApprox(Vec3(2, -0.6, -0.8), 1e-13));
}

TEST(Lemke, NothingToDo) {
  Problem p;
  solve(p);
  p.add_column(3).setIdentity();
  p.b = {1, 2, 3};
  EXPECT_EQ(solve(p).v, VecX(Vec3(1, 2, 3)));
}

// Two stops that close on a mass from both sides: no solution exists, and none is claimed.
TEST(Lemke, InfeasibleIsSaid) {
  Problem p;
  p.add_column(1)(0, 0) = 1;
  for (const double side : {1.0, -1.0}) {
    p.add_block(LawKind::Nonnegative, 1);
    p.add_entry(0)(0, 0) = side;
    p.c.back() = -1;
  }
  Solution s;
  const SolverReport report = make_lemke()->solve(p, 1e-8, &s);
  EXPECT_EQ(report.status, SolveStatus::NotConverged);
  EXPECT_NE(report.note.find("ray"), std::string_view::npos);
  EXPECT_TRUE(s.v.allFinite() && s.lambda.allFinite() && s.v.size() == 1 && s.lambda.size() == 2);
}

TEST(Lemke, WarmStartNeedsNoPivots) {
  const auto lemke = make_lemke();
  for (int seed = 0; seed < 40; ++seed) {
    RandomProblemOptions o = test::make_varied_options(seed);
    o.contacts = 15;
    o.bodies = 5;
    Problem p = make_random_problem(seed, o);
    Solution s;
    ASSERT_EQ(lemke->solve(p, 1e-8, &s).status, SolveStatus::Solved);
    const SolverReport again = lemke->solve(p, 1e-8, &s);
    EXPECT_EQ(again.iterations, 0) << seed;
    for (double& b : p.b) b *= 1 + 1e-9;  // and from a near guess the same states serve
    EXPECT_EQ(lemke->solve(p, 1e-8, &s).status, SolveStatus::Solved);
    EXPECT_LE(certify(p, s).relative, 1e-8);
  }
}

TEST(Lemke, WildGuessesDoNoHarm) {
  const auto lemke = make_lemke();
  test::Random random(11);
  for (int seed = 0; seed < 40; ++seed) {
    RandomProblemOptions o = test::make_varied_options(seed);
    o.contacts = 10;
    const Problem p = make_random_problem(seed, o);
    Solution s;
    s.lambda.resize(p.rows());
    for (double& value : s.lambda) value = 100 * random.normal();
    if (seed % 5 == 0) s.lambda[0] = std::nan("");
    EXPECT_EQ(lemke->solve(p, 1e-8, &s).status, SolveStatus::Solved) << seed;
    EXPECT_TRUE(certify(p, s).within(1e-8)) << seed;
  }
}

TEST(Lemke, SameInputSameBits) {
  RandomProblemOptions o;
  o.contacts = 20;
  o.bodies = 6;
  const Problem p = make_random_problem(3, o), other = make_random_problem(4, o);
  const auto used = make_lemke();
  Solution a, b;
  used->solve(other, 1e-8, &a);
  a = Solution{};
  used->solve(p, 1e-8, &a);
  make_lemke()->solve(p, 1e-8, &b);
  EXPECT_EQ(a.lambda, b.lambda);
  EXPECT_EQ(a.v, b.v);
}

TEST(Lemke, LargeFriction) {
  const auto lemke = make_lemke();
  for (int seed = 0; seed < 100; ++seed) {
    RandomProblemOptions o = test::make_varied_options(seed);
    o.contacts = 1 + seed % 20;
    o.mu_max = 10;
    const Problem p = make_random_problem(seed, o);
    Solution s;
    EXPECT_EQ(lemke->solve(p, 1e-8, &s).status, SolveStatus::Solved) << seed;
    EXPECT_TRUE(certify(p, s).within(1e-8)) << seed;
  }
}

TEST(Lemke, WarmStartHitsWhereTheBasisHoldsAndPivotsLessWhereItDoesNot) {
  const auto lemke = make_lemke();
  int hits = 0, misses = 0, cold_pivots = 0, warm_pivots = 0;
  for (int seed = 0; seed < 60; ++seed) {
    RandomProblemOptions o = test::make_varied_options(seed);
    o.contacts = 5 + seed % 15;
    Problem p = make_random_problem(seed, o);
    Solution warm, cold;
    EXPECT_FALSE(lemke->solve(p, 1e-8, &warm).warm_hit) << "without a guess there is nothing to hit";
    if (warm.lambda.isZero(0)) continue;
    test::Random random(seed + 77);
    for (double& b : p.b) b *= 1 + 0.05 * random.normal();
    const SolverReport from_nothing = lemke->solve(p, 1e-8, &cold), from_last = lemke->solve(p, 1e-8, &warm);
    EXPECT_EQ(from_last.status, SolveStatus::Solved) << seed;
    EXPECT_TRUE(certify(p, warm).within(1e-8)) << seed;
    if (from_last.warm_hit) {
      ++hits;
      EXPECT_EQ(from_last.iterations, 0) << seed;
    } else {
      ++misses;
      cold_pivots += from_nothing.iterations;
      warm_pivots += from_last.iterations;
    }
  }
  EXPECT_GT(hits, misses);
  EXPECT_LE(warm_pivots, cold_pivots);
}

}  // namespace
}  // namespace slipstick
