// The verdict: each part of the law with its unit, each island and contact against its own scale.
#include <gtest/gtest.h>
#include <slipstick/solver.h>

#include "support/solution_of.h"

namespace slipstick {
namespace {

/// A point mass on the floor with velocity u: normal z, tangents x and y.
void add_point(double mass, const Vec3& u, double mu, Problem* p) {
  BlockMap a = p->add_column(3);
  a.setIdentity();
  a *= mass;
  const int column = p->columns() - 1;
  for (int k = 0; k < 3; ++k) p->b[p->column_start[column] + k] = mass * u[k];
  p->add_block(LawKind::Friction, 3).mu = mu;
  p->add_entry(column) << 0, 0, 1, 1, 0, 0, 0, 1, 0;
}

Residuals judge_impulses(const Problem& problem, const VecX& lambda) {
  return certify(problem, test::solution_of(problem, lambda));
}

Residuals judge_point(double mass, const Vec3& u, double mu, const Vec3& impulse) {
  Problem p;
  add_point(mass, u, mu, &p);
  return judge_impulses(p, impulse);
}

TEST(LawParts, EachIsNamedWithItsUnit) {
  const Vec3 fall(0, 0, -1), slide(2, 0, -1);
  struct Case {
    Vec3 velocity, impulse;
    LawPart part;
    double value;
  };
  const Case cases[] = {
      {fall, {1.5, 0, 0}, LawPart::Approach, 0.25},              // a quarter of the impulse is missing
      {{0, 0, 1}, {-0.5, 0, 0}, LawPart::NegativeImpulse, 0.5},  // pulls
      {fall, {2.5, 0, 0}, LawPart::Complementarity, 0.25},       // pushes it off
      {slide, {2, -1.5, 0}, LawPart::Cone, 0.5},                 // friction of 1.5 where 1 is the limit
      {slide, {2, 1, 0}, LawPart::Slip, 1},                      // friction that drives: mu lambda_n / m twice
  };
  for (const Case& c : cases) {
    const Residuals r = judge_point(2, c.velocity, 0.5, c.impulse);
    EXPECT_EQ(r.worst.part, c.part) << name_of(r.worst.part);
    EXPECT_NEAR(r.worst.value, c.value, 1e-14) << name_of(c.part);
    EXPECT_FALSE(r.within(1e-2));
    EXPECT_EQ(r.worst.block, 0);
    EXPECT_EQ(r.worst.column, 0);
    EXPECT_EQ(unit_of(r.worst.part), c.part == LawPart::Cone || c.part == LawPart::NegativeImpulse ? "N s" : "m/s");
  }
  EXPECT_TRUE(judge_point(2, slide, 0.5, {2, -1, 0}).within(1e-14));
}

// At mu = 1e7 the natural map divides an approach of 0.1 m/s by mu.
TEST(LawParts, NoCoefficientDividesAnErrorAway) {
  for (const double mu : {1.0, 1e4, 1e7, 1e15}) {
    // Sticks by friction alone, and goes on falling at a tenth.
    const Residuals r = judge_point(1, Vec3(1, 0, -1), mu, Vec3(0.9, -std::min(0.9 * mu, 1.0), 0));
    EXPECT_FALSE(r.within(1e-3)) << mu;
    EXPECT_GE(r.law, 0.05) << mu;
  }
}

// A normal impulse of next to nothing allows friction on an open contact where mu is large: the whole impulse counts.
TEST(LawParts, AnOpenContactHasNoFriction) {
  const Residuals r = judge_point(1, Vec3(-1, 0, 1), 1e4, Vec3(1e-9, 1e-5, 0));
  EXPECT_EQ(r.worst.part, LawPart::Complementarity);
  EXPECT_FALSE(r.within(1e-6));
}

TEST(LawParts, AFastIslandHidesNothing) {
  for (const double speed : {0.0, 1e3, 1e10}) {
    Problem p;
    add_point(1, Vec3(0, 0, -1), 0.5, &p);
    add_point(1e9, Vec3(speed, 0, -1), 0, &p);
    VecX lambda = VecX::Zero(6);
    lambda << 0.999, 0, 0, 1e9, 0, 0;
    const Residuals r = judge_impulses(p, lambda);
    EXPECT_EQ(r.worst.island, 0);
    EXPECT_EQ(r.worst.block, 0);
    EXPECT_EQ(r.worst.part, LawPart::Approach);
    EXPECT_NEAR(r.verdict(), 1e-3, 1e-6);
  }
}

// A slow contact in the island of a fast body: the map's norm is blind to it, the contact's own scale is not.
TEST(LawParts, AFastContactOfTheSameIslandHidesNothing) {
  Problem p;
  add_point(1, Vec3(0, 0, -1), 0.5, &p);
  add_point(1, Vec3(0, 0, -1e6), 0.5, &p);
  p.add_block(LawKind::Nonnegative, 1);  // ties them, and stays open
  p.add_entry(0) << 1, 0, 0;
  p.add_entry(1) << -1, 0, 0;
  p.c[6] = 1;
  VecX lambda = VecX::Zero(7);
  lambda << 1 - 1e-4, 0, 0, 1e6, 0, 0, 0;
  const Residuals r = judge_impulses(p, lambda);
  EXPECT_LE(r.relative, 1e-9);
  EXPECT_EQ(r.worst.part, LawPart::Approach);
  EXPECT_NEAR(r.worst.value, 1e-4, 1e-12);
  EXPECT_FALSE(r.within(1e-5));
}

// The verdict does not depend on the units of mass, the frame, or a common motion of everything.
TEST(LawParts, TheVerdictIsThatOfEveryObserver) {
  Problem p;
  add_point(1, Vec3(1, 0, -1), 0.3, &p);
  VecX lambda = VecX::Zero(3);
  lambda << 1, -0.29, 0;
  const double verdict = judge_impulses(p, lambda).verdict();
  EXPECT_NEAR(judge_point(1e-6, Vec3(1, 0, -1), 0.3, 1e-6 * lambda).verdict(), verdict, 1e-12);
  EXPECT_NEAR(judge_point(1, Vec3(0.6, 0.8, -1), 0.3, Vec3(1, -0.29 * 0.6, -0.29 * 0.8)).verdict(), verdict, 1e-12);
  // Two bodies that touch each other at 1000 m/s, as at rest.
  const auto pair = [](double common) {
    Problem both;
    for (int k = 0; k < 2; ++k) {
      both.add_column(3).setIdentity();
      both.b[3 * k + 2] = common + (k == 0 ? -1 : 1);
    }
    both.add_block(LawKind::Friction, 3).mu = 0.3;
    both.add_entry(0) << 0, 0, 1, 1, 0, 0, 0, 1, 0;
    both.add_entry(1) << 0, 0, -1, -1, 0, 0, 0, -1, 0;
    return judge_impulses(both, Vec3(0.99, 0, 0)).verdict();
  };
  EXPECT_NEAR(pair(1000), pair(0), 1e-9);
}

// A heavy body on a light one: v is summed with so many digits that rounding neither hides nor makes an error.
TEST(LawParts, DigitsThatCancelAreSeen) {
  const auto judge_stack = [](double ratio) {
    Problem p;
    for (const double mass : {1.0, ratio}) {
      p.add_column(1)(0, 0) = mass;
      p.b.back() = -0.1 * mass;
    }
    p.add_block(LawKind::Nonnegative, 1);
    p.add_entry(0)(0, 0) = 1;
    p.add_block(LawKind::Nonnegative, 1);
    p.add_entry(0)(0, 0) = -1;
    p.add_entry(1)(0, 0) = 1;
    return judge_impulses(p, Eigen::Vector2d(0.1 * (1 + ratio), 0.1 * ratio));
  };
  EXPECT_TRUE(judge_stack(1e6).within(1e-8));
  EXPECT_FALSE(judge_stack(1e12).within(1e-8));
}

// Held between two impulses a body that nothing else moves has no speeds of its own: the last bits of the impulses are
// no error, more is.
TEST(LawParts, ASqueezedBodyIsJudgedByWhatSqueezesIt) {
  const auto judge_squeezed = [](double error) {
    Problem p;
    for (const double speed : {-0.7, 0.0}) {
      p.add_column(1)(0, 0) = speed == 0 ? 0.3 : 3;
      p.b.back() = 3 * speed;
    }
    p.add_block(LawKind::Nonnegative, 1);
    p.add_entry(0)(0, 0) = 1;
    p.add_entry(1)(0, 0) = -1;
    p.add_block(LawKind::Equality, 1);
    p.add_entry(1)(0, 0) = 1;
    return judge_impulses(p, Eigen::Vector2d(2.1, 2.1 * (1 + error)));
  };
  EXPECT_TRUE(judge_squeezed(0).within(1e-8));
  EXPECT_TRUE(judge_squeezed(2e-16).within(1e-8));
  EXPECT_FALSE(judge_squeezed(1e-12).within(1e-8));
}

TEST(LawParts, MomentumOfEachColumn) {
  Problem p;
  add_point(1, Vec3(0, 0, -1), 0.5, &p);
  p.add_column(3).setIdentity();  // touches nothing, and is fast
  p.b[3] = 1e9;
  Solution s;
  s.lambda = Vec3(1, 0, 0);
  s.v = VecX::Zero(6);
  s.v[3] = 1e9;
  EXPECT_TRUE(certify(p, s).within(1e-12));
  s.v[0] = 1e-4;
  const Residuals r = certify(p, s);
  EXPECT_EQ(r.worst.part, LawPart::Momentum);
  EXPECT_EQ(r.worst.column, 0);
  EXPECT_FALSE(r.within(1e-6));
}

}  // namespace
}  // namespace slipstick
