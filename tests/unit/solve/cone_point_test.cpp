// Do forces within friction cones cancel, and how large can they be?
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "solve/cone_point.h"

namespace slipstick {
namespace {

constexpr double kAngle = 20 * std::numbers::pi / 180;

/// A point in a groove whose walls stand at the angle a to the vertical.
std::vector<ForceCone> make_groove(double a, double mu) {
  std::vector<ForceCone> cones(2);
  for (const int side : {0, 1}) {
    const double sign = side ? -1 : 1;
    cones[side].normal = Vec2(sign * std::cos(a), std::sin(a));
    cones[side].tangents = Vec2(-sign * std::sin(a), std::cos(a));
    cones[side].mu = mu;
  }
  return cones;
}

TEST(ConePoint, GrooveHasItsClosedForm) {
  for (const double share : {0.0, 0.5, 0.9, 0.999}) {
    const double mu = share * std::tan(kAngle);
    const ConePoint point = find_cone_point(make_groove(kAngle, mu), {1, 1});
    EXPECT_TRUE(point.found);
    const double exact = std::sin(kAngle) - mu * std::cos(kAngle);
    EXPECT_NEAR(point.distance / exact, 1, 1e-9) << "mu = " << share << " tan a";
  }
  EXPECT_NEAR(1 / find_cone_point(make_groove(kAngle, 0), {1, 1}).distance, 2.923804, 1e-6);
}

TEST(ConePoint, SteepFrictionCancels) {
  for (const double share : {1.0, 1.001, 2.0, 10.0}) {
    const ConePoint point = find_cone_point(make_groove(kAngle, share * std::tan(kAngle)), {1, 1});
    EXPECT_LT(point.distance, 1e-8) << share;
    EXPECT_NEAR(point.x.sum(), 1, 1e-6);
    EXPECT_GT(point.x.minCoeff(), 0.01);  // both sides take part
  }
}

TEST(ConePoint, OpposedWallsCancelWithoutFriction) {
  const ConePoint point = find_cone_point(make_groove(0, 0), {1, 1});
  EXPECT_EQ(point.distance, 0);
  // A third force that takes no part is not blamed, and if only it is counted nothing cancels.
  std::vector<ForceCone> cones = make_groove(0, 0);
  cones.push_back({Vec2(0, 1), MatX(2, 0), 0});
  EXPECT_EQ(find_cone_point(cones, {1, 1, 1}).x[2], 0);
  EXPECT_NEAR(find_cone_point(cones, {0, 0, 1}).distance, 1, 1e-12);
}

TEST(ConePoint, RoundFunnel) {
  // n walls around a point in space, with round cones: the same closed form, not that of a polygon.
  for (const int n : {2, 3, 5, 8}) {
    const double mu = 0.7 * std::tan(kAngle);
    std::vector<ForceCone> cones;
    for (int i = 0; i < n; ++i) {
      const double turn = 0.3 + 2 * std::numbers::pi * i / n;
      const Vec3 out(std::cos(turn), std::sin(turn), 0), side(-std::sin(turn), std::cos(turn), 0);
      MatX tangents(3, 2);
      tangents << side, std::cos(kAngle) * Vec3::UnitZ() - std::sin(kAngle) * out;
      cones.push_back({std::cos(kAngle) * out + std::sin(kAngle) * Vec3::UnitZ(), tangents, mu});
    }
    const ConePoint point = find_cone_point(cones, std::vector<char>(cones.size(), 1));
    EXPECT_TRUE(point.found);
    EXPECT_NEAR(point.distance / (std::sin(kAngle) - mu * std::cos(kAngle)), 1, 1e-8) << n;
  }
}

TEST(ConePoint, NoForceIsNearerThanTheNearest) {
  std::mt19937 rng(5);
  std::uniform_real_distribution<double> unit(0, 1), both(-1, 1);
  int apart = 0;
  for (int round = 0; round < 200; ++round) {
    const int rows = 2 + round % 7, count = 2 + round % 5;
    std::vector<ForceCone> cones;
    for (int j = 0; j < count; ++j) {
      ForceCone cone{VecX(rows), MatX(rows, 2), unit(rng)};
      for (double& x : cone.normal.reshaped()) x = both(rng);
      for (double& x : cone.tangents.reshaped()) x = both(rng);
      cones.push_back(cone);
    }
    const ConePoint point = find_cone_point(cones, std::vector<char>(cones.size(), 1));
    ASSERT_TRUE(point.found);
    apart += point.distance > 0;
    for (int k = 0; k < 200; ++k) {
      VecX force = VecX::Zero(rows);
      double sum = 0;
      for (const ForceCone& cone : cones) {
        const double x = -std::log(unit(rng) + 1e-12), turn = 2 * std::numbers::pi * unit(rng);
        force += x * (cone.normal + cone.mu * cone.tangents * Vec2(std::cos(turn), std::sin(turn)));
        sum += x;
      }
      EXPECT_GE(force.norm() / sum, point.distance * (1 - 1e-9));
    }
  }
  EXPECT_GT(apart, 50);
}

}  // namespace
}  // namespace slipstick
