// The choice among impulses that are not unique, against what elastic supports carry in closed form.
#include "solve/unique_forces.h"

#include <gtest/gtest.h>
#include <slipstick/solver_ladder.h>

#include <cmath>
#include <vector>

#include "support/solution_of.h"

namespace slipstick::test {
namespace {

constexpr double kWeight = 3, kTolerance = 1e-8;

/// A body of z, two tilts, with legs at given places (x, y) and a weight at (ex, ey).
Problem make_table(const std::vector<Vec2>& legs, const Vec2& load) {
  Problem p;
  p.add_column(3) = Vec3(2, 0.7, 0.3).asDiagonal();
  p.b = {-kWeight, -kWeight * load.y(), kWeight * load.x()};
  for (const Vec2& leg : legs) {
    p.add_block(LawKind::Nonnegative, 1);
    p.add_entry(0) = Vec3(1, leg.y(), -leg.x()).transpose();
  }
  return p;
}

struct Choice {
  Solution solution;
  UniqueForces::Outcome outcome;
};

Choice choose(const Problem& problem, const VecX& start, double tolerance = kTolerance) {
  Choice made;
  made.solution = solution_of(problem, start);
  EXPECT_LE(certify(problem, made.solution).verdict(), kTolerance) << "the start must be a solution";
  UniqueForces forces;
  Judge judge;
  WorkMeter work;
  made.outcome = forces.choose(problem, tolerance, &work, &judge, &made.solution);
  return made;
}

VecX solve(const Problem& problem) {
  Solution answer;
  EXPECT_EQ(make_solver("newton")->solve(problem, 1e-10, &answer).status, SolveStatus::Solved);
  return answer.lambda;
}

void expect_near(const VecX& a, const VecX& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  EXPECT_LE((a - b).cwiseAbs().maxCoeff(), tolerance) << a.transpose() << "\nnot\n" << b.transpose();
}

TEST(UniqueForces, BeamOnThreeSupportsIsThatOnElasticLegs) {
  const Problem beam = make_table({{-1, 0}, {0, 0}, {2, 0}, {2, 1}, {2, -1}}, {0.4, 0});
  // Another solution: the outer legs at y = +-1 relieve the one between them.
  VecX other(5);
  other << 0.6, 1.5, 0, 0.45, 0.45;
  ASSERT_NEAR(-other[0] + 2 * (other[3] + other[4]), 0.4 * kWeight, 1e-12);
  const Choice made = choose(beam, other);
  ASSERT_TRUE(made.outcome.chosen);
  // f = a + b x: 5 a + 5 b = P, 5 a + 13 b = P e.
  const double b = kWeight * (0.4 - 1) / 8, a = kWeight / 5 - b;
  VecX legs(5);
  legs << a - b, a, a + 2 * b, a + 2 * b, a + 2 * b;
  expect_near(made.solution.lambda, legs, 1e-10);
  EXPECT_LT(made.solution.lambda.norm(), other.norm() - 0.1);  // the start would not have passed for it
  for (const Uniqueness each : made.solution.uniqueness) EXPECT_EQ(each, Uniqueness::Chosen);
  EXPECT_LE(made.outcome.factorizations, 2);
}

TEST(UniqueForces, LegsThatWouldPullAreLifted) {
  const double e = 1.9;  // f(-1) = a - b would be negative
  const Problem beam = make_table({{-1, 0}, {0, 0}, {2, 1}, {2, -1}}, {e, 0});
  VecX other(4);
  const double s = 0.05;
  other << s, kWeight - s - (kWeight * e + s) / 2, (kWeight * e + s) / 4, (kWeight * e + s) / 4;
  const Choice made = choose(beam, other);
  ASSERT_TRUE(made.outcome.chosen);
  VecX legs(4);
  legs << 0, kWeight * (1 - e / 2), kWeight * e / 4, kWeight * e / 4;
  expect_near(made.solution.lambda, legs, 1e-10);
  EXPECT_EQ(made.solution.uniqueness[1], Uniqueness::Chosen);  // the lifted leg touches and could carry
}

TEST(UniqueForces, TableOfFourLegs) {
  const double a = 0.6, b = 0.4;
  const Vec2 load(0.1, -0.05);
  const std::vector<Vec2> places{{a, b}, {-a, b}, {-a, -b}, {a, -b}};
  const Problem table = make_table(places, load);
  VecX legs(4), twist(4);
  for (int i = 0; i < 4; ++i)
    legs[i] = kWeight / 4 * (1 + places[i].x() * load.x() / (a * a) + places[i].y() * load.y() / (b * b));
  twist << 1, -1, 1, -1;
  for (const double share : {-0.2, 0.0, 0.3}) {
    const Choice made = choose(table, legs + share * twist);
    ASSERT_TRUE(made.outcome.chosen);
    expect_near(made.solution.lambda, legs, 1e-11);
    for (const Uniqueness each : made.solution.uniqueness) EXPECT_EQ(each, Uniqueness::Chosen);
  }
}

TEST(UniqueForces, ThreeLegsNeedNoChoice) {
  const Problem stool = make_table({{1, 0}, {-1, 1}, {-1, -1}}, {0, 0.1});
  const VecX legs = solve(stool);
  const Choice made = choose(stool, legs);
  expect_near(made.solution.lambda, legs, 1e-9);
  for (const Uniqueness each : made.solution.uniqueness) EXPECT_EQ(each, Uniqueness::Unique);
}

/// A wedge of x, y and a turn in a groove whose flanks stand at 45 degrees, friction mu.
Problem make_wedge(double mu) {
  Problem p;
  p.add_column(3) = Vec3(1, 1, 0.1).asDiagonal();
  p.b = {0, -kWeight, 0};
  const double s = std::sqrt(0.5);
  for (const double side : {1.0, -1.0}) {
    RowBlock& block = p.add_block(LawKind::Friction, 2);
    block.mu = mu;
    auto j = p.add_entry(0);
    j.row(0) << -side * s, s, 0;
    j.row(1) << side * s, s, 0;
  }
  return p;
}

TEST(UniqueForces, BlockBetweenWallsIsNotClamped) {
  // Springs along and across the flanks are equally stiff: with enough friction each flank carries half, straight up.
  const double s = std::sqrt(0.5), half = kWeight / 2;
  const Problem rough = make_wedge(1.5);
  VecX clamped(4), fair(4);
  fair << half * s, half * s, half * s, half * s;
  clamped = fair;
  for (const int k : {0, 2}) clamped[k] += 1;
  for (const int k : {1, 3}) clamped[k] -= 1;  // the flanks press against each other with sqrt(2)
  const Choice made = choose(rough, clamped);
  ASSERT_TRUE(made.outcome.chosen);
  expect_near(made.solution.lambda, fair, 1e-10);
  // With less friction the springs slide until the cone is met: x_t = mu x_n.
  const double mu = 0.5, n = half / (s * (1 + mu));
  const Problem smooth = make_wedge(mu);
  VecX met(4), tight(4);
  met << n, mu * n, n, mu * n;
  const double more = 0.4;
  tight << n + more, mu * n - more, n + more, mu * n - more;
  const Choice second = choose(smooth, tight);
  ASSERT_TRUE(second.outcome.chosen);
  expect_near(second.solution.lambda, met, 1e-9);
  for (const Uniqueness each : second.solution.uniqueness) EXPECT_EQ(each, Uniqueness::Chosen);
}

TEST(UniqueForces, SledSlidesOnWhatItsSpringsCarry) {
  // Four runners below the centre of mass by `height`: friction tilts the load forward, x_n = a + b x.
  const double mu = 0.3, height = 0.2, length = 0.5, width = 0.3, speed = 4;
  Problem p;
  p.add_column(6) = (Eigen::Matrix<double, 6, 1>() << 1, 1, 1, 0.05, 0.1, 0.08).finished().asDiagonal();
  p.b = {speed, 0, -kWeight, 0, 0, 0};
  std::vector<Vec3> places;
  for (const double x : {length, -length})
    for (const double y : {width, -width}) places.push_back({x, y, -height});
  for (const Vec3& r : places) {
    RowBlock& block = p.add_block(LawKind::Friction, 3);
    block.mu = mu;
    auto j = p.add_entry(0);
    const Vec3 direction[3] = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}};
    for (int k = 0; k < 3; ++k) j.row(k) << direction[k].transpose(), r.cross(direction[k]).transpose();
  }
  VecX runners = VecX::Zero(12);
  // sum n x = mu P height
  for (int i = 0; i < 4; ++i) {
    const double n = kWeight / 4 * (1 + places[i].x() * mu * height / (length * length));
    runners[3 * i] = n;
    runners[3 * i + 1] = -mu * n;
  }
  const Choice fixed = choose(p, runners);
  ASSERT_TRUE(fixed.outcome.chosen);
  expect_near(fixed.solution.lambda, runners, 1e-10);
  VecX start = solve(p);
  const Choice made = choose(p, start);
  ASSERT_TRUE(made.outcome.chosen);
  expect_near(made.solution.lambda, runners, 1e-9);
  for (const Uniqueness each : made.solution.uniqueness) EXPECT_EQ(each, Uniqueness::Chosen);
}

/// A sledge of x and z on two equal feet, and a flywheel that a motor of at most 1 N s drags along from it; `more` is
/// what the flywheel has beyond that.
Problem make_dragged(double more) {
  Problem p;
  p.add_column(2) = Vec2(1, 1).asDiagonal();
  p.add_column(1)(0, 0) = 0.5;
  p.b = {0, -kWeight, 1 + more};
  for (int foot = 0; foot < 2; ++foot) {
    RowBlock& block = p.add_block(LawKind::Friction, 2);
    block.mu = 0.9;
    p.add_entry(0) = (Eigen::Matrix2d() << 0, 1, 1, 0).finished();
  }
  p.add_block(LawKind::Box, 1);
  p.add_entry(0) = Vec2(-1, 0).transpose();
  p.add_entry(1)(0, 0) = 1;
  p.lower.back() = -1;
  p.upper.back() = 1;
  return p;
}

TEST(UniqueForces, AMotorThatSlipsSlowlyGoesOnToSlip) {
  // Springs of the first round give way faster than the motor slips: they say nothing about who slips.
  for (const double more : {1e-1, 1e-3, 1e-5, 1e-7, 1e-9}) {
    const Problem problem = make_dragged(more);
    VecX other(5), fair(5);
    other << 0.7 * kWeight, -0.8, 0.3 * kWeight, -0.2, -1;
    fair << 0.5 * kWeight, -0.5, 0.5 * kWeight, -0.5, -1;
    const Choice made = choose(problem, other);
    ASSERT_TRUE(made.outcome.chosen) << more;
    expect_near(made.solution.lambda, fair, 1e-9);
    EXPECT_LE(made.outcome.factorizations, 3) << more;
    // The next step, as it begins: what the flywheel has is a little more, and the choice is still that.
    const Problem next = make_dragged(more * 1.01);
    Solution guess = solution_of(next, made.solution.lambda);
    guess.uniqueness = made.solution.uniqueness;
    UniqueForces forces;
    Judge judge;
    WorkMeter work;
    ASSERT_TRUE(forces.follow(next, kTolerance, &work, &judge, &guess).chosen) << more;
    expect_near(guess.lambda, fair, 1e-9);
  }
}

TEST(UniqueForces, AHeldMotorCarriesWhatItMust) {
  const Problem problem = make_dragged(-0.2);  // less than the motor could
  VecX other(5), fair(5);
  other << 0.7 * kWeight, -0.7, 0.3 * kWeight, -0.1, -0.8;
  fair << 0.5 * kWeight, -0.4, 0.5 * kWeight, -0.4, -0.8;
  const Choice made = choose(problem, other);
  ASSERT_TRUE(made.outcome.chosen);
  expect_near(made.solution.lambda, fair, 1e-9);
}

TEST(UniqueForces, WhatTheJudgeRefusesIsNotTaken) {
  const Problem table = make_table({{1, 1}, {-1, 1}, {-1, -1}, {1, -1}}, {0.1, 0.2});
  VecX twist(4);
  twist << 0.2, -0.2, 0.2, -0.2;
  const VecX start = solve(table) + twist;
  const Choice made = choose(table, start, 0);  // nothing is within a tolerance of zero, or all is exact
  if (made.outcome.chosen) GTEST_SKIP() << "exact to the last bit";
  EXPECT_TRUE((made.solution.lambda.array() == start.array()).all());
  for (const Uniqueness each : made.solution.uniqueness) EXPECT_EQ(each, Uniqueness::Arbitrary);
}

TEST(UniqueForces, NoWorkNoChoice) {
  const Problem table = make_table({{1, 1}, {-1, 1}, {-1, -1}, {1, -1}}, {0.1, 0.2});
  Solution solution = solution_of(table, solve(table));
  const VecX before = solution.lambda;
  UniqueForces forces;
  Judge judge;
  WorkMeter work;
  work.limit = 1;
  EXPECT_FALSE(forces.choose(table, kTolerance, &work, &judge, &solution).chosen);
  EXPECT_TRUE((solution.lambda.array() == before.array()).all());
  for (const Uniqueness each : solution.uniqueness) EXPECT_EQ(each, Uniqueness::Unknown);
}

TEST(UniqueForces, LadderKeepsAChoiceThatStillHolds) {
  const Problem table = make_table({{1, 1}, {-1, 1}, {-1, -1}, {1, -1}}, {0.1, 0.2});
  LadderOptions options;
  options.unique_forces = true;
  SolverLadder ladder(options);
  Solution solution;
  EXPECT_EQ(ladder.solve(table, &solution).choices, 1);
  const VecX first = solution.lambda;
  EXPECT_EQ(ladder.solve(table, &solution).choices, 0);
  EXPECT_TRUE((solution.lambda.array() == first.array()).all());
  solution.uniqueness.clear();  // nobody says that it was one
  EXPECT_EQ(ladder.solve(table, &solution).choices, 1);
  expect_near(solution.lambda, first, 1e-12);
}

}  // namespace
}  // namespace slipstick::test
