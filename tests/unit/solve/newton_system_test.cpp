#include "solve/solvers/newton_system.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <random>
#include <string>

#include "support/dense_problem.h"
#include "support/scene_problems.h"

namespace slipstick {
namespace {

using namespace test_support;

/// Random bodies in space; each pair, and some bodies with the world, have 0 to 10 contacts in a row: as many as are
/// condensed at once, more than that, and one. Rows of other laws and joints stand between them.
Problem make_pairs(int bodies, unsigned seed) {
  std::mt19937 rng(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto vector = [&] { return Vec3(uniform(rng), uniform(rng), uniform(rng)); };
  SceneProblem scene;
  for (int i = 0; i < bodies; ++i) scene.add_box(3 * vector(), 1 + 0.5 * uniform(rng), Vec3(1, 2, 3));
  for (int a = 0; a < bodies; ++a) {
    for (int b = -1; b < a; ++b) {
      const int count = static_cast<int>(rng() % 11);
      for (int k = 0; k < count; ++k) {
        // Of one pair, but named the other way round: the same bodies, their columns exchanged.
        const bool exchanged = b >= 0 && k == 5;
        scene.add_contact(exchanged ? b : a, exchanged ? a : b, vector(), vector(), 0.5);
        if (k == 3) scene.add_row(LawKind::Nonnegative, a, b, vector(), vector());
        if (k == 7 && rng() % bodies == 0) scene.add_ball(a, b, vector());
      }
    }
  }
  return scene.problem();
}

/// Maps with D of the given kind; one in five is zero, as that of an open contact.
NewtonMaps make_maps(const Problem& problem, bool symmetric, std::mt19937* rng) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  NewtonMaps maps;
  maps.resize(problem);
  maps.symmetric = symmetric;
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
    const int m = problem.blocks[i].size;
    const MatX root = MatX::NullaryExpr(m, m, [&] { return uniform(*rng); });
    MatX d = root * root.transpose() + MatX::Identity(m, m);
    if (!symmetric) d += 0.3 * MatX::NullaryExpr(m, m, [&] { return uniform(*rng); });
    maps.zero[i] = (*rng)() % 5 == 0;
    for (int r = 0; r < m; ++r)
      for (int k = 0; k < m; ++k) maps.d[maps.start[i] + r * m + k] = maps.zero[i] ? 0 : d(r, k);
  }
  maps.g = VecX::NullaryExpr(problem.rows(), [&] { return uniform(*rng); });
  maps.weight.setConstant(1e-3);
  return maps;
}

/// Holds a step against its own definition (newton_system.h), with matrices written out.
void expect_step(const Problem& problem, const NewtonMaps& maps, const std::string& what) {
  PrimalSystem system;
  system.prepare(problem);
  ASSERT_TRUE(system.factor(maps)) << what;
  VecX dx, du;
  system.solve(maps, &dx, &du);
  const test::DenseProblem dense(problem);
  // Forces of many rows cancel: what is lost is measured by what was added up.
  const MatX spread = dense.a.ldlt().solve(dense.j.transpose());
  const double sums = (dense.j.cwiseAbs() * (spread.cwiseAbs() * dx.cwiseAbs())).norm();
  EXPECT_LT((du - dense.j * (spread * dx)).norm(), 1e-13 * sums) << what;
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
    const RowBlock& block = problem.blocks[i];
    const VecX own = dx.segment(block.row, block.size), speed = du.segment(block.row, block.size);
    const VecX g = maps.g.segment(block.row, block.size);
    const Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>> d(
        maps.d.data() + maps.start[i], block.size, block.size);
    const VecX left = block.law == LawKind::Equality
                          ? VecX(speed + maps.weight.segment(block.row, block.size).cwiseProduct(own) - g)
                          : VecX(own - g + d * speed);
    EXPECT_LT(left.norm(), 1e-10) << what << ", block " << i;
  }
}

TEST(PrimalSystem, StepsOfPairsWithManyContacts) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 rng(seed);
    const Problem problem = make_pairs(1 + static_cast<int>(seed % 8), seed);
    for (const bool symmetric : {true, false})
      expect_step(problem, make_maps(problem, symmetric, &rng),
                  "seed " + std::to_string(seed) + (symmetric ? ", symmetric" : ", not symmetric"));
  }
}

/// Enough fill for panels, with and without pivots.
TEST(PrimalSystem, StepsWithHeavyFill) {
  std::mt19937 rng(3);
  const Problem problem = make_pairs(40, 5);
  for (const bool symmetric : {true, false}) expect_step(problem, make_maps(problem, symmetric, &rng), "40 bodies");
}

}  // namespace
}  // namespace slipstick
