#include "solve/solvers/newton_laws.h"

#include <gtest/gtest.h>

#include <random>

#include "solve/laws.h"

namespace slipstick {
namespace {

RowBlock friction_block(FrictionModel model, int size, double mu) {
  RowBlock block;
  block.size = size;
  block.law = LawKind::Friction;
  block.friction = model;
  block.mu = mu;
  return block;
}

class NewtonLaws : public testing::TestWithParam<std::tuple<FrictionModel, int>> {};

TEST_P(NewtonLaws, ResolventInEuclidsMetricIsTheProjection) {
  const auto [model, size] = GetParam();
  const RowBlock block = friction_block(model, size, 0.7);
  const double compliance[6] = {}, weight[6] = {2, 2, 2, 2, 2, 2};
  std::mt19937 rng(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int k = 0; k < 500; ++k) {
    double y[6] = {uniform(rng), uniform(rng), uniform(rng), uniform(rng), uniform(rng), uniform(rng)}, lambda[6];
    update_resolvent({&block, nullptr, nullptr, compliance}, weight, y, lambda, nullptr);
    project_impulse(block, nullptr, nullptr, y);
    for (int i = 0; i < size; ++i) EXPECT_NEAR(lambda[i], y[i], 1e-14);
  }
}

/// x is the projection of y onto the convex K if it lies in K and (y - x) . (k - x) <= 0 for all k of K.
TEST_P(NewtonLaws, ProjectionIsTheNearestPoint) {
  const auto [model, size] = GetParam();
  const RowBlock block = friction_block(model, size, 0.7);
  std::mt19937 rng(4);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int k = 0; k < 300; ++k) {
    double y[6], x[6], other[6];
    for (int i = 0; i < size; ++i) x[i] = y[i] = uniform(rng);
    project_impulse(block, nullptr, nullptr, x);
    EXPECT_LE(cone_violation(block, x), 1e-14);
    EXPECT_GE(x[0], 0);
    for (int trial = 0; trial < 50; ++trial) {
      for (int i = 0; i < size; ++i) other[i] = 2 * uniform(rng);
      clip_impulse({&block, nullptr, nullptr, nullptr}, other);
      double product = 0;
      for (int i = 0; i < size; ++i) product += (y[i] - x[i]) * (other[i] - x[i]);
      EXPECT_LE(product, 1e-13);
    }
  }
}

TEST_P(NewtonLaws, ResolventDerivativeMatchesDifferences) {
  const auto [model, size] = GetParam();
  const RowBlock block = friction_block(model, size, 0.7);
  const double compliance[6] = {0.1, 0.3, 0.2, 0.3, 0.1, 0};
  double weight[6];
  const LawRows rows{&block, nullptr, nullptr, compliance};
  update_resolvent_weights(rows, 0.5, weight);
  std::mt19937 rng(2);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int k = 0; k < 300; ++k) {
    const double y[6] = {uniform(rng), uniform(rng), uniform(rng), uniform(rng), uniform(rng), uniform(rng)};
    double lambda[6], d[36];
    update_resolvent(rows, weight, y, lambda, d);
    for (int j = 0; j < size; ++j) {
      const double h = 1e-7;
      double above[6], below[6], moved[6];
      std::copy(y, y + 6, moved);
      moved[j] += h;
      update_resolvent(rows, weight, moved, above, nullptr);
      moved[j] -= 2 * h;
      update_resolvent(rows, weight, moved, below, nullptr);
      for (int i = 0; i < size; ++i)  // D = (dP/dy) R^-1
        EXPECT_NEAR(d[i * size + j], (above[i] - below[i]) / (2 * h) / weight[j], 1e-5);
    }
  }
}

TEST_P(NewtonLaws, ActiveMapVanishesExactlyAtSolutions) {
  // A block alone with w = u + R lambda: Coulomb's law has the closed form lambda_n = max(0, -u_n / R_n) and lambda_t
  // the point of mu lambda_n P nearest to -u_t / R_t. There, g must vanish.
  const auto [model, size] = GetParam();
  const RowBlock block = friction_block(model, size, 0.7);
  const double compliance[6] = {}, epsilon[2] = {1e-8, 1e-8};
  std::mt19937 rng(3);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int k = 0; k < 300; ++k) {
    double u[6] = {uniform(rng), uniform(rng), uniform(rng), uniform(rng), uniform(rng), uniform(rng)}, lambda[6], w[6];
    for (int i = 0; i < size; ++i) lambda[i] = -u[i];
    const LawRows rows{&block, nullptr, nullptr, compliance};
    clip_impulse(rows, lambda);
    for (int i = 0; i < size; ++i) w[i] = u[i] + lambda[i];
    double f[6];  // the judge's natural map agrees that this is a solution
    for (int i = 0; i < size; ++i) f[i] = lambda[i] - w[i];
    f[0] -= de_saxce_term(block, w);
    project_impulse(block, nullptr, nullptr, f);
    for (int i = 0; i < size; ++i) EXPECT_NEAR(f[i], lambda[i], 1e-13);
    double d[36], g[6];
    bool symmetric = false;
    update_active_map(rows, 1.0, epsilon, lambda, w, d, g, &symmetric);
    for (int i = 0; i < size; ++i) EXPECT_NEAR(g[i] * epsilon[0], 0, 1e-13);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, NewtonLaws,
                         testing::Values(std::tuple{FrictionModel::Cone, 2}, std::tuple{FrictionModel::Cone, 3},
                                         std::tuple{FrictionModel::Pyramid, 3}, std::tuple{FrictionModel::Box, 3},
                                         std::tuple{FrictionModel::Cone, 4}, std::tuple{FrictionModel::Cone, 5},
                                         std::tuple{FrictionModel::Cone, 6}));

}  // namespace
}  // namespace slipstick
