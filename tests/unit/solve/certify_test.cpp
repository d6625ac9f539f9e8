// The judge: zero at solutions, the stated formula elsewhere, and no mercy for what it cannot read.
#include <gtest/gtest.h>
#include <slipstick/solver.h>

#include "support/random_problem.h"
#include "support/solution_of.h"

namespace slipstick {
namespace {

using test::solution_of;

/// A point mass m on a plane z = 0 with velocity u, one friction contact (normal z).
Problem make_block(double m, const Vec3& u, double mu, FrictionModel model = FrictionModel::Cone) {
  Problem p;
  BlockMap a = p.add_column(3);
  a.setIdentity();
  a *= m;
  for (int k = 0; k < 3; ++k) p.b[k] = m * u[k];
  RowBlock& block = p.add_block(LawKind::Friction, 3);
  block.mu = mu;
  block.friction = model;
  BlockMap j = p.add_entry(0);
  j << 0, 0, 1, 1, 0, 0, 0, 1, 0;
  return p;
}

TEST(Certify, SlidingBlockByHand) {
  const Problem p = make_block(2, Vec3(3, 4, -1), 0.5);  // friction impulse mu m against (3, 4)/5
  const Residuals r = certify(p, solution_of(p, Vec3(2, -0.6, -0.8)));
  EXPECT_LE(r.relative, 1e-16);
  EXPECT_LE(r.natural, 1e-15);
  EXPECT_EQ(r.dynamics, 0);
  EXPECT_LE(r.cone, 1e-15);
  EXPECT_EQ(r.dissipation, 0);
  EXPECT_TRUE(r.within(1e-12));
}

TEST(Certify, NaturalMapInMetresPerSecond) {
  const Problem p = make_block(2, Vec3(0, 0, -1), 0.5);
  // Half of the impulse that stops the block: w_n = -1/2 = F_n for every mass.
  for (const double m : {1e-3, 2.0, 1e5}) {
    const Problem q = make_block(m, Vec3(0, 0, -1), 0.5);
    const Residuals r = certify(q, solution_of(q, Vec3(0.5 * m, 0, 0)));
    EXPECT_NEAR(r.natural, 0.5, 1e-12);
    EXPECT_NEAR(r.relative, 0.5, 1e-12);
    EXPECT_NEAR(r.scale, 1, 1e-15);
  }
}

TEST(Certify, WrongFrictionIsSeen) {
  const Problem p = make_block(1, Vec3(2, 0, -1), 0.5);
  EXPECT_GT(certify(p, solution_of(p, Vec3(1, 0.5, 0))).dissipation, 0.4);  // drives
  EXPECT_GT(certify(p, solution_of(p, Vec3(1, -0.9, 0))).cone, 0.39);       // too strong
  EXPECT_GT(certify(p, solution_of(p, Vec3(1, -0.2, 0))).relative, 0.1);    // too weak
  EXPECT_GT(certify(p, solution_of(p, Vec3(1, 0, -0.5))).relative, 0.1);    // across
  EXPECT_LT(certify(p, solution_of(p, Vec3(1, -0.5, 0))).relative, 1e-15);
}

TEST(Certify, VelocityIsRecomputed) {
  const Problem p = make_block(1, Vec3(0, 0, -1), 0.5);
  Solution s = solution_of(p, Vec3(1, 0, 0));
  s.v[0] += 0.25;
  s.w.setConstant(99);  // never read
  const Residuals r = certify(p, s);
  EXPECT_NEAR(r.dynamics, 0.25, 1e-15);
  EXPECT_LE(r.relative, 1e-15);
  EXPECT_FALSE(r.within(1e-8));
}

TEST(Certify, NonFiniteOrMissizedIsInfinite) {
  const Problem p = make_block(1, Vec3(0, 0, -1), 0.5);
  Solution s = solution_of(p, Vec3(1, 0, 0));
  s.lambda[1] = std::nan("");
  EXPECT_EQ(certify(p, s).relative, std::numeric_limits<double>::infinity());
  EXPECT_EQ(certify(p, Solution{}).natural, std::numeric_limits<double>::infinity());
}

TEST(Certify, PyramidSolutionIsNoConeSolution) {
  const Vec3 u(1, 0.3, -1);
  Problem p = make_block(1, u, 0.2, FrictionModel::Pyramid);
  p.blocks[0].facets = 4;
  const Solution s = solution_of(p, Vec3(1, -0.2, 0));  // a vertex: the most dissipative of the square
  EXPECT_LE(certify(p, s).relative, 1e-15);
  p.blocks[0].friction = FrictionModel::Cone;
  EXPECT_GT(certify(p, s).relative, 0.01);
}

TEST(Certify, BoxRows) {
  Problem p;
  p.add_column(1)(0, 0) = 2;
  p.b[0] = 2;
  const RowBlock block = p.add_block(LawKind::Box, 1);
  p.add_entry(0)(0, 0) = 1;
  p.lower[block.row] = -0.5;
  p.upper[block.row] = 0.5;
  EXPECT_LE(certify(p, solution_of(p, VecX::Constant(1, -0.5))).relative, 1e-15);  // w = 3/4 > 0 at the lower bound
  EXPECT_NEAR(certify(p, solution_of(p, VecX::Constant(1, 0.5))).natural, 0.5,
              1e-14);  // (0.5 - P(0.5 - 2 w)) / 2, w = 5/4
  p.lower[block.row] = -4;
  EXPECT_LE(certify(p, solution_of(p, VecX::Constant(1, -2))).relative, 1e-15);  // w = 0 inside
}

// Bodies that fall together: q is what rounding left of J v, and no impulse is better than none.
TEST(Certify, CancelledOffsetIsNotHeldAgainstTheSolution) {
  Problem p;
  for (int k = 0; k < 2; ++k) {
    p.add_column(3).setIdentity();
    for (int i = 0; i < 3; ++i) p.b[3 * k + i] = (i + 1) / 7.0;
  }
  p.b[5] = std::nextafter(p.b[5], 1.0);  // approaching by one bit
  RowBlock& block = p.add_block(LawKind::Friction, 3);
  block.mu = 0.5;
  p.add_entry(0) << 0, 0, 1, 1, 0, 0, 0, 1, 0;
  p.add_entry(1) << 0, 0, -1, -1, 0, 0, 0, -1, 0;
  const Residuals r = certify(p, solution_of(p, Vec3::Zero()));
  EXPECT_GT(r.natural, 0);
  EXPECT_LE(r.relative, 1e-8);
  p.b[5] += 1e-9;  // real approach is still seen
  EXPECT_GT(certify(p, solution_of(p, Vec3::Zero())).relative, 1e-3);
}

/// c is a difference of places over the step: 1e-13 m/s is nothing where the body is a metre from the origin and the
/// step a millisecond, and an error where nobody says so.
TEST(Certify, DifferencesOfPlacesHaveNoMoreDigitsThanPlaces) {
  for (const LawKind law : {LawKind::Equality, LawKind::Box, LawKind::Nonnegative}) {
    Problem p;
    p.add_column(1)(0, 0) = 2;
    const RowBlock& block = p.add_block(law, 1);
    p.c[block.row] = -1e-13;
    p.lower[block.row] = -1;
    p.upper[block.row] = 1;
    p.add_entry(0)(0, 0) = 1;
    const Solution untouched = solution_of(p, VecX::Zero(1));
    EXPECT_FALSE(certify(p, untouched).within(1e-8));
    p.place = {2 * 1.0 / (1e-3 * 1e-3)};
    EXPECT_TRUE(certify(p, untouched).within(1e-8));
    p.c[block.row] = -1e-9;  // a speed that is one is still seen
    EXPECT_FALSE(certify(p, untouched).within(1e-8));
  }
}

}  // namespace
}  // namespace slipstick
