// The exact solve of one friction block: hand-solved cases, then thousands of random ones by the natural map.
#include "solve/solvers/one_contact.h"

#include <gtest/gtest.h>

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <string>

#include "solve/laws.h"
#include "support/random_problem.h"

namespace slipstick {
namespace {

using test::Random;

RowBlock make_block(int size, double mu, FrictionModel friction = FrictionModel::Cone, int facets = 8) {
  RowBlock block;
  block.law = LawKind::Friction;
  block.size = size;
  block.mu = mu;
  block.friction = friction;
  block.facets = facets;
  return block;
}

using SmallMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor, 3, 3>;

Vec3 solve(const RowBlock& block, const SmallMatrix& d, const Vec3& q) {
  return solve_one_contact(block, make_contact_matrix(block.size, d.data()), q);
}

/// |F| of the natural map over |q|, with what rounding of D x leaves taken off.
double calc_error(const RowBlock& block, const SmallMatrix& d, const Vec3& q, const Vec3& x, double rounding) {
  Vec3 w = q, f = Vec3::Zero();
  w.head(block.size) += d * x.head(block.size);
  const double rho = block.size / d.trace();
  const double s = de_saxce_term(block, w.data());
  for (int k = 0; k < block.size; ++k) f[k] = x[k] - rho * (w[k] + (k == 0 ? s : 0));
  const Vec3 y = f;
  project_impulse(block, nullptr, nullptr, f.data());
  for (int k = 0; k < block.size; ++k) f[k] = w[k] + (k == 0 ? s : 0) + (y[k] - f[k]) / rho;
  const double noise = rounding * d.norm() * x.norm() * (1 + block.mu);
  return std::max(0.0, f.head(block.size).norm() - noise) / q.head(block.size).norm();
}

const SmallMatrix kUnit = SmallMatrix::Identity(3, 3);

TEST(OneContact, OpensSticksAndSlides) {
  const RowBlock block = make_block(3, 0.5);
  EXPECT_EQ(solve(block, kUnit, Vec3(1, 2, 3)), Vec3::Zero());
  EXPECT_TRUE(solve(block, kUnit, Vec3(-2, 0.6, -0.8)).isApprox(Vec3(2, -0.6, 0.8), 1e-14));
  EXPECT_TRUE(solve(block, kUnit, Vec3(-2, 6, -8)).isApprox(Vec3(2, -0.6, 0.8), 1e-14));
}

TEST(OneContact, NoFrictionLeavesTheNormal) {
  SmallMatrix d = kUnit * 2;
  d(0, 1) = d(1, 0) = 0.5;
  EXPECT_EQ(solve(make_block(3, 0), d, Vec3(-2, 6, -8)), Vec3(1, 0, 0));
  EXPECT_EQ(solve(make_block(2, 0), d.topLeftCorner(2, 2), Vec3(-2, 6, 0)), Vec3(1, 0, 0));
}

// D = [2 1; 1 3], mu = 0.5, q = (-3, 10): t = -mu n, 2 n - 0.5 n = 3, n = 2, w_t = 10 + 2 - 3 = 9 > 0.
TEST(OneContact, SlidesInThePlaneWithCoupling) {
  SmallMatrix d(2, 2);
  d << 2, 1, 1, 3;
  EXPECT_TRUE(solve(make_block(2, 0.5), d, Vec3(-3, 10, 0)).isApprox(Vec3(2, -1, 0), 1e-14));
  EXPECT_TRUE(solve(make_block(2, 0.5), d, Vec3(-5, -2.5, 0)).isApprox(Vec3(2.5, 0, 0), 1e-14));  // sticks at t = 0
}

// Under a square the tangents are bounded by themselves: the corner for (6, -8), the edge for (6, -0.4).
TEST(OneContact, BoxFrictionHasCornersAndEdges) {
  const RowBlock block = make_block(3, 0.5, FrictionModel::Box);
  EXPECT_TRUE(solve(block, kUnit, Vec3(-2, 6, -8)).isApprox(Vec3(2, -1, 1), 1e-14));
  EXPECT_TRUE(solve(block, kUnit, Vec3(-2, 6, -0.4)).isApprox(Vec3(2, -1, 0.4), 1e-14));
}

// Four facets, vertices on the axes: sliding along -t1 is a vertex, along the diagonal an edge's middle.
TEST(OneContact, PyramidHasVerticesAndEdges) {
  const RowBlock block = make_block(3, 0.5, FrictionModel::Pyramid, 4);
  EXPECT_TRUE(solve(block, kUnit, Vec3(-2, 6, 0.1)).isApprox(Vec3(2, -1, 0), 1e-14));
  EXPECT_TRUE(solve(block, kUnit, Vec3(-2, 6, 6)).isApprox(Vec3(2, -0.5, -0.5), 1e-14));
}

TEST(OneContact, ImmobileRowsAreLeftAlone) {
  SmallMatrix d = SmallMatrix::Zero(3, 3);
  EXPECT_EQ(solve(make_block(3, 0.5), d, Vec3(-1, 1, 1)), Vec3::Zero());
  d(0, 0) = 1;  // tangents that no impulse moves: the law still wants the limit against the motion
  EXPECT_TRUE(solve(make_block(3, 0.5), d, Vec3(-2, 3, 4)).isApprox(Vec3(2, -0.6, -0.8), 1e-14));
  EXPECT_EQ(solve(make_block(3, 0.5), d, Vec3(-2, 0, 0)), Vec3(2, 0, 0));
  EXPECT_EQ(solve(make_block(2, 0.5), d.topLeftCorner(2, 2), Vec3(-2, 3, 0)), Vec3(2, -1, 0));
}

/// Positive definite with eigenvalues 10^-spread .. 1, a skew part on request; the size of the numbers varies too.
SmallMatrix make_matrix(int size, double spread, bool skew, Random* random) {
  Eigen::Matrix3d g;
  for (int i = 0; i < 9; ++i) g(i) = random->normal();
  const Eigen::Matrix3d r = Eigen::HouseholderQR<Eigen::Matrix3d>(g).householderQ();
  Vec3 values;
  for (int k = 0; k < 3; ++k) values[k] = std::pow(10.0, -random->uniform(0, spread));
  if (spread > 0 && random->chance(0.5)) values[random->below(3)] = std::pow(10.0, -spread);
  Eigen::Matrix3d d = r * values.asDiagonal() * r.transpose();
  d = (0.5 * (d + d.transpose())).eval();
  if (skew) {
    const double part = 0.5 * values.minCoeff();
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < i; ++j) {
        const double f = part * random->normal();
        d(i, j) += f;
        d(j, i) -= f;
      }
  }
  return std::pow(10.0, random->uniform(-6, 6)) * d.topLeftCorner(size, size);
}

struct ContactCase {
  const char* name;
  int size;
  FrictionModel friction;
  double spread;  ///< decades of eigenvalues
  bool skew;
};

class OneContactRandom : public ::testing::TestWithParam<ContactCase> {};

TEST_P(OneContactRandom, TheLawHoldsToRounding) {
  const ContactCase& c = GetParam();
  Random random(7);
  double worst = 0;
  int kinds[3] = {};
  for (int i = 0; i < 10000; ++i) {
    const double mu = random.chance(0.2) ? std::pow(10.0, random.uniform(-3, 3)) : random.uniform(0, 2);
    const RowBlock block = make_block(c.size, mu, c.friction, 4 + 2 * random.below(7));
    const SmallMatrix d = make_matrix(c.size, c.spread, c.skew, &random);
    Vec3 q(random.normal(), random.normal(), c.size == 3 ? random.normal() : 0);
    if (random.chance(0.1)) q.tail<2>() *= 1e-6;
    const Vec3 x = solve(block, d, q);
    const double error = calc_error(block, d, q, x, c.spread > 2 ? 4e-15 : 5e-16);
    ASSERT_TRUE(std::isfinite(error)) << i;
    EXPECT_LE(error, 1e-12) << "case " << i << ", mu " << mu << "\n" << d << "\nq " << q.transpose();
    if (HasFailure()) return;
    worst = std::max(worst, error);
    ++kinds[x[0] <= 0 ? 0 : cone_violation(block, Vec3(x[0] * (1 - 1e-10), x[1], x[2]).data()) > 0 ? 2 : 1];
  }
  for (const int count : kinds) EXPECT_GT(count, 500);  // all three states were met
  std::printf("%s: worst natural map %.1e (open %d, stick %d, slide %d)\n", c.name, worst, kinds[0], kinds[1],
              kinds[2]);
}

INSTANTIATE_TEST_SUITE_P(Blocks, OneContactRandom,
                         ::testing::Values(ContactCase{"cone", 3, FrictionModel::Cone, 2, false},
                                           ContactCase{"cone_nearly_singular", 3, FrictionModel::Cone, 14, false},
                                           ContactCase{"cone_skew", 3, FrictionModel::Cone, 1, true},
                                           ContactCase{"planar", 2, FrictionModel::Cone, 2, false},
                                           ContactCase{"planar_nearly_singular", 2, FrictionModel::Cone, 14, false},
                                           ContactCase{"pyramid", 3, FrictionModel::Pyramid, 2, false},
                                           ContactCase{"pyramid_nearly_singular", 3, FrictionModel::Pyramid, 14, false},
                                           ContactCase{"pyramid_skew", 3, FrictionModel::Pyramid, 1, true},
                                           ContactCase{"box", 3, FrictionModel::Box, 2, false},
                                           ContactCase{"box_nearly_singular", 3, FrictionModel::Box, 14, false}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace slipstick
