// Problem -> dual form -> LCP and back.
#include "solve/as_lcp.h"

#include <gtest/gtest.h>
#include <slipstick/solver.h>

#include <Eigen/LU>
#include <memory>
#include <vector>

#include "solve/solvers/lemke_polish.h"
#include "solve/solvers/solvers.h"
#include "support/dense_problem.h"
#include "support/random_problem.h"

namespace slipstick {
namespace {

using test::make_random_problem;
using test::RandomProblemOptions;

/// The whole of J, A and D by the definition, dense.
struct Dense : test::DenseProblem {
  MatX d;
  VecX q;
  explicit Dense(const Problem& p) : DenseProblem(p) {
    const MatX inverse = a.inverse();
    d = j * inverse * j.transpose();
    d.diagonal() += Eigen::Map<const VecX>(p.compliance.data(), p.rows());
    q = j * (inverse * Eigen::Map<const VecX>(p.b.data(), p.unknowns())) + Eigen::Map<const VecX>(p.c.data(), p.rows());
    for (int r = 0; r < p.rows() && !p.coupling.empty(); ++r)
      for (int k = p.coupling.start[r]; k < p.coupling.start[r + 1]; ++k)
        d(r, p.coupling.column[k]) += p.coupling.value[k];
  }
};

RandomProblemOptions make_options(int seed) {
  RandomProblemOptions o = test::make_varied_options(seed);
  o.contacts = 1 + seed % 8;
  o.bodies = 1 + seed % 4;
  o.other_rows = 0.8;
  o.mass_ratio_exponent = 2;
  return o;
}

// For any reduced impulses, what `complete` returns satisfies (P1), (P2) and the equality rows, and its other
// velocities are those of the reduced matrix.
TEST(AsDual, CompleteAgreesWithTheReducedMatrix) {
  test::Random random(5);
  for (int seed = 0; seed < 80; ++seed) {
    const Problem p = make_random_problem(seed, make_options(seed));
    const Dense dense(p);
    DualForm dual;
    ASSERT_TRUE(dual.update(p));
    VecX x(dual.size());
    for (double& value : x) value = random.normal();
    Solution s;
    dual.complete(p, x, &s);
    const double size = 1 + dense.q.cwiseAbs().maxCoeff() + (dense.d.cwiseAbs() * s.lambda.cwiseAbs()).maxCoeff();
    EXPECT_LE((dense.d * s.lambda + dense.q - s.w).cwiseAbs().maxCoeff(), 1e-12 * size) << seed;
    VecX w;
    update_scaled_velocity(dual, s.w, &w);
    const VecX reduced = dual.matrix() * x + dual.offset();
    for (int i = 0; i < dual.size(); ++i) EXPECT_NEAR(w[i], reduced[i], 1e-9 * size) << seed;
    for (const RowBlock& b : p.blocks)
      for (int r = b.row; r < b.row + b.size && b.law == LawKind::Equality; ++r)
        EXPECT_NEAR(s.w[r], 0, 1e-10 * size) << seed;
  }
}

TEST(AsDual, DuplicatedJointsAreDependentAndHarmless) {
  Problem p;
  p.add_column(3).setIdentity();
  p.b = {1, 2, 3};
  for (int copy = 0; copy < 3; ++copy) {
    p.add_block(LawKind::Equality, 2);
    p.add_entry(0) << 1, 0, 0, 0, 1, 1;
  }
  DualForm dual;
  ASSERT_TRUE(dual.update(p));
  EXPECT_EQ(dual.equalities(), 6);
  EXPECT_EQ(dual.dependent(), 4);
  Solution s;
  dual.complete(p, VecX(0), &s);
  EXPECT_TRUE(s.v.isApprox(Vec3(0, -0.5, 0.5), 1e-15));
  EXPECT_LE(certify(p, s).relative, 1e-15);
}

// The same row asked for 0, 0 and 3 m/s: least squares takes 1, and the judge reports the rest.
TEST(AsDual, ContradictingJointsAreLeastSquares) {
  Problem p;
  p.add_column(1)(0, 0) = 2;
  for (const double c : {0.0, 0.0, -3.0}) {
    p.add_block(LawKind::Equality, 1);
    p.add_entry(0)(0, 0) = 1;
    p.c.back() = c;
  }
  DualForm dual;
  ASSERT_TRUE(dual.update(p));
  Solution s;
  dual.complete(p, VecX(0), &s);
  EXPECT_NEAR(s.v[0], 1, 1e-14);
  EXPECT_NEAR(certify(p, s).natural, 2, 1e-13);
}

TEST(AsDual, MalformedProblemsAreRefused) {
  Problem p;
  p.add_column(1)(0, 0) = 1;
  p.add_block(LawKind::Box, 1);
  p.add_entry(0)(0, 0) = 1;
  p.lower[0] = 1;
  p.upper[0] = -1;
  DualForm dual;
  EXPECT_FALSE(dual.update(p));
  EXPECT_FALSE(dual.fault().empty());
  Solution s;
  const SolverReport report = make_lemke()->solve(p, 1e-8, &s);
  EXPECT_EQ(report.status, SolveStatus::NotConverged);
  EXPECT_FALSE(report.note.empty());
  p.upper[0] = 2;
  p.b[0] = std::nan("");
  EXPECT_FALSE(dual.update(p));
  p.b[0] = 0;
  EXPECT_TRUE(dual.update(p));
}

TEST(AsLcp, MultiplyIsTheMatrix) {
  test::Random random(7);
  for (int seed = 0; seed < 40; ++seed) {
    const Problem p = make_random_problem(seed, make_options(seed));
    DualForm dual;
    ASSERT_TRUE(dual.update(p));
    FrictionDirections directions;
    update_directions(p, {}, &directions);
    LcpForm lcp;
    lcp.update(p, dual, directions);
    VecX z(lcp.size()), w;
    for (double& value : z) value = random.normal();
    lcp.multiply(z, &w);
    EXPECT_LE((lcp.calc_matrix() * z - w).cwiseAbs().sum(), 1e-12 * (1 + w.cwiseAbs().sum()));
  }
}

// G and g of one contact against [AnitescuPotra97]'s blocks, with the unscaled data by hand.
TEST(AsLcp, OneContactByHand) {
  Problem p;
  BlockMap a = p.add_column(3);
  a.setIdentity();
  p.b = {1, 2, -3};
  RowBlock& block = p.add_block(LawKind::Friction, 3);
  block.friction = FrictionModel::Pyramid;
  block.facets = 4;
  block.mu = 0.5;
  p.add_entry(0) << 0, 0, 1, 1, 0, 0, 0, 1, 0;
  DualForm dual;
  ASSERT_TRUE(dual.update(p));  // the Delassus matrix is the identity: scales are 1
  FrictionDirections directions;
  update_directions(p, {}, &directions);
  LcpForm lcp;
  lcp.update(p, dual, directions);
  MatX expected(6, 6);
  expected << 1, 0, 0, 0, 0, 0,  //
      0, 1, 0, -1, 0, 1,         //
      0, 0, 1, 0, -1, 1,         //
      0, -1, 0, 1, 0, 1,         //
      0, 0, -1, 0, 1, 1,         //
      0.5, -1, -1, -1, -1, 0;
  EXPECT_LE((lcp.calc_matrix() - expected).cwiseAbs().maxCoeff(), 1e-15);
  VecX g(6);
  g << -3, 1, 2, -1, -2, 0;
  EXPECT_LE((lcp.offset() - g).cwiseAbs().maxCoeff(), 1e-15);
}

// A solution of the problem, sent to the LCP, satisfies it; and sent back it is the same solution.
TEST(AsLcp, RoundTrip) {
  const auto lemke = make_lemke();
  for (int seed = 0; seed < 120; ++seed) {
    const Problem p = make_random_problem(seed, make_options(seed));
    Solution s;
    ASSERT_EQ(lemke->solve(p, 1e-10, &s).status, SolveStatus::Solved) << seed;
    DualForm dual;
    ASSERT_TRUE(dual.update(p));
    FrictionDirections directions;
    update_directions(p, {}, &directions);
    LcpForm lcp;
    lcp.update(p, dual, directions);
    VecX x, w, z, slack, back;
    update_scaled_impulse(dual, s.lambda, &x);
    update_scaled_velocity(dual, s.w, &w);
    lcp.update_variables(x, w, &z);
    lcp.multiply(z, &slack);
    slack += lcp.offset();
    if (z.size() > 0) {
      const double size = 1 + z.cwiseAbs().maxCoeff() + lcp.offset().cwiseAbs().maxCoeff();
      EXPECT_LE(z.cwiseMin(slack).cwiseAbs().maxCoeff(), 1e-9 * size) << seed;
    }
    lcp.update_impulse(z, &back);
    EXPECT_LE((back - x).cwiseAbs().sum(), 1e-12 * (1 + x.cwiseAbs().sum())) << seed;
    Solution again;
    dual.complete(p, back, &again);
    EXPECT_LE((again.v - s.v).cwiseAbs().sum(), 1e-9 * (1 + s.v.cwiseAbs().sum())) << seed;
    EXPECT_LE(certify(p, again).relative, 1e-10) << seed;
  }
}

TEST(AsLcp, SizesByLaw) {
  Problem p;
  p.add_column(3).setIdentity();
  const auto add = [&p](LawKind law, double lo, double hi) {
    const RowBlock block = p.add_block(law, 1);
    p.add_entry(0) << 1, 0, 0;
    p.lower[block.row] = lo;
    p.upper[block.row] = hi;
  };
  const auto size = [&p] {
    DualForm dual;
    EXPECT_TRUE(dual.update(p));
    FrictionDirections directions;
    update_directions(p, {}, &directions);
    LcpForm lcp;
    lcp.update(p, dual, directions);
    return lcp.size();
  };
  add(LawKind::Equality, 0, 0);
  EXPECT_EQ(size(), 0);
  add(LawKind::Nonnegative, 0, 0);
  EXPECT_EQ(size(), 1);
  add(LawKind::Box, -1, 1);
  EXPECT_EQ(size(), 3);
  add(LawKind::Box, -kInfinity, 1);
  EXPECT_EQ(size(), 4);
  add(LawKind::Box, 0.5, kInfinity);
  EXPECT_EQ(size(), 5);
  add(LawKind::Box, -kInfinity, kInfinity);  // an equality
  add(LawKind::Box, 0.3, 0.3);               // known
  EXPECT_EQ(size(), 5);
  RowBlock& contact = p.add_block(LawKind::Friction, 3);
  p.add_entry(0).setIdentity();
  contact.mu = 0;
  EXPECT_EQ(size(), 6);
  p.blocks.back().mu = 0.5;
  EXPECT_EQ(size(), 5 + 1 + 8 + 1);  // the default cone: 8 directions
  p.blocks.back().friction = FrictionModel::Pyramid;
  p.blocks.back().facets = 4;
  EXPECT_EQ(size(), 5 + 6);
  p.blocks.back().friction = FrictionModel::Box;
  EXPECT_EQ(size(), 5 + 6);
}

TEST(AsLcp, DirectionsSurroundZero) {
  Problem p;
  p.add_column(3).setIdentity();
  RowBlock& block = p.add_block(LawKind::Friction, 3);
  block.mu = 1;
  for (const double spread : {0.0, 1e-6, 0.08, 0.3}) {
    FrictionDirections d;
    update_directions(p, {8, spread, {0.4}}, &d);
    EXPECT_NEAR(std::atan2(d.vertex[0].y(), d.vertex[0].x()), 0.4, 1e-15);
    double turn = 0;
    for (std::size_t k = 0; k < d.vertex.size(); ++k) {
      const Vec2 a = d.vertex[k], b = d.vertex[(k + 1) % d.vertex.size()];
      EXPECT_NEAR(a.norm(), 1, 1e-15);
      const double angle = std::atan2(a.x() * b.y() - a.y() * b.x(), a.dot(b));
      EXPECT_GT(angle, 0);
      turn += angle;
    }
    EXPECT_NEAR(turn, 2 * std::numbers::pi, 1e-12);
  }
}

/// Eigen's packets begin where an address is a multiple of theirs: with other things in memory before it, the same
/// problem had other last bits.
TEST(DualForm, WhereMemoryLiesChangesNoBit) {
  for (int seed = 0; seed < 40; ++seed) {
    const Problem problem = make_random_problem(seed, make_options(seed));
    DualForm first;
    ASSERT_TRUE(first.update(problem));
    std::vector<std::unique_ptr<char[]>> before;
    for (int run = 0; run < 8; ++run) {
      before.push_back(std::make_unique<char[]>(40));  // takes 48 bytes: what follows lies 16 bytes farther
      auto again = std::make_unique<DualForm>();
      ASSERT_TRUE(again->update(problem));
      EXPECT_TRUE(again->matrix() == first.matrix()) << "seed " << seed << ", run " << run;
      before.push_back(std::make_unique<char[]>(1000 + 16 * run));
    }
  }
}

}  // namespace
}  // namespace slipstick
