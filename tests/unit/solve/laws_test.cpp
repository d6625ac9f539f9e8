// The laws as sets: projections are the nearest points, the De Saxce term is the largest dissipation.
#include "solve/laws.h"

#include <gtest/gtest.h>

#include "support/random_problem.h"

namespace slipstick {
namespace {

using test::Random;

RowBlock make_friction(FrictionModel model, int size, double mu, int facets = 8) {
  RowBlock block;
  block.law = LawKind::Friction;
  block.size = size;
  block.friction = model;
  block.mu = mu;
  block.facets = facets;
  return block;
}

std::vector<RowBlock> make_all_friction() {
  std::vector<RowBlock> blocks;
  for (const double mu : {0.0, 0.1, 0.7, 3.0}) {
    blocks.push_back(make_friction(FrictionModel::Cone, 2, mu));
    blocks.push_back(make_friction(FrictionModel::Cone, 3, mu));
    blocks.push_back(make_friction(FrictionModel::Box, 3, mu));
    for (const int facets : {4, 6, 8, 16}) blocks.push_back(make_friction(FrictionModel::Pyramid, 3, mu, facets));
  }
  return blocks;
}

/// A random member of the block's set of impulses, from its own definition.
Vec3 make_member(const RowBlock& block, Random* random) {
  const double n = std::pow(10.0, random->uniform(-2, 1));
  if (block.size == 2) return {n, block.mu * n * random->uniform(-1, 1), 0};
  if (block.friction == FrictionModel::Box)
    return {n, block.mu * n * random->uniform(-1, 1), block.mu * n * random->uniform(-1, 1)};
  if (block.friction == FrictionModel::Cone) {
    const double angle = random->uniform(0, 2 * std::numbers::pi), r = block.mu * n * std::sqrt(random->uniform());
    return {n, r * std::cos(angle), r * std::sin(angle)};
  }
  Vec3 x(n, 0, 0);
  double rest = block.mu * n;
  for (int k = 0; k < 3; ++k) {
    const double angle = 2 * std::numbers::pi * random->below(block.facets) / block.facets;
    const double part = rest * random->uniform();
    rest -= part;
    x += Vec3(0, part * std::cos(angle), part * std::sin(angle));
  }
  return x;
}

// y -> p is the projection onto a cone K exactly when p in K, (y - p) . p = 0 and (y - p) . k <= 0 for all k in K.
TEST(Laws, FrictionProjectionIsNearestPoint) {
  Random random(1);
  for (const RowBlock& block : make_all_friction()) {
    for (int trial = 0; trial < 200; ++trial) {
      Vec3 y(2 * random.normal(), 2 * random.normal(), block.size == 3 ? 2 * random.normal() : 0.0);
      Vec3 p = y;
      project_impulse(block, nullptr, nullptr, p.data());
      ASSERT_LE(cone_violation(block, p.data()), 1e-14);
      ASSERT_GE(p[0], 0);
      ASSERT_NEAR((y - p).dot(p), 0, 1e-13 * (1 + y.squaredNorm()));
      for (int k = 0; k < 40; ++k) {
        const Vec3 member = make_member(block, &random);
        ASSERT_LE((y - p).dot(member), 1e-12 * (1 + y.norm()) * member.norm());
      }
    }
  }
}

TEST(Laws, MembersStayWhereTheyAre) {
  Random random(2);
  for (const RowBlock& block : make_all_friction()) {
    for (int trial = 0; trial < 100; ++trial) {
      const Vec3 member = make_member(block, &random);
      EXPECT_LE(cone_violation(block, member.data()), 1e-13 * (1 + block.mu) * member[0]);
      Vec3 p = member;
      project_impulse(block, nullptr, nullptr, p.data());
      EXPECT_NEAR((p - member).norm(), 0, 1e-13 * (1 + member.norm()));
    }
  }
}

TEST(Laws, ConeViolationSeesOutside) {
  for (const RowBlock& block : make_all_friction()) {
    const double x[3] = {1, 2 * block.mu + 0.5, 0};
    EXPECT_GE(cone_violation(block, x), 0.5 * (block.size == 2 ? 1 : std::cos(std::numbers::pi / 4)));
  }
}

TEST(Laws, DeSaxceTermIsTheLargestDissipation) {
  Random random(3);
  for (const RowBlock& block : make_all_friction()) {
    for (int trial = 0; trial < 20; ++trial) {
      const double w[3] = {random.normal(), random.normal(), block.size == 3 ? random.normal() : 0.0};
      const double term = de_saxce_term(block, w);
      double largest = 0;
      for (int k = 0; k < 800; ++k) {
        Vec3 x = make_member(block, &random);
        x /= x[0];
        largest = std::max(largest, -(x[1] * w[1] + x[2] * w[2]));
      }
      ASSERT_LE(largest, term + 1e-13);
      ASSERT_GE(largest, 0.7 * term);
    }
  }
}

TEST(Laws, BoundsAreClamped) {
  RowBlock block;
  block.size = 2;
  block.law = LawKind::Box;
  const double infinity = std::numeric_limits<double>::infinity();
  const double lo[2] = {-infinity, 1}, hi[2] = {2, infinity};
  double x[2] = {5, -3};
  project_impulse(block, lo, hi, x);
  EXPECT_EQ(x[0], 2);
  EXPECT_EQ(x[1], 1);
  block.law = LawKind::Nonnegative;
  double y[2] = {-1, 4};
  project_impulse(block, lo, hi, y);
  EXPECT_EQ(y[0], 0);
  EXPECT_EQ(y[1], 4);
}

}  // namespace
}  // namespace slipstick
