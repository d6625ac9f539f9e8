// What saves searches must not change what is found: the farthest corner four at a time, and points that are left out
// because they are above all that they may be near to.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "collision/hull_lookup.h"
#include "collision/near_triangles.h"

namespace slipstick {
namespace {

std::vector<Vec3> make_points(int count, std::mt19937* random) {
  std::uniform_real_distribution<double> along(-1, 1);
  std::vector<Vec3> points;
  for (int k = 0; k < count; ++k) points.emplace_back(along(*random), along(*random), along(*random));
  return points;
}

TEST(HullLookup, TheFarthestFourAtATimeIsTheFarthest) {
  std::mt19937 random(1);
  for (int count = 1; count <= 70; ++count) {
    const std::vector<Vec3> points = make_points(count, &random);
    FarthestOfFour four;
    four.set(points);
    for (const Vec3& m : make_points(50, &random)) EXPECT_EQ(four.find(m), find_farthest(points, m)) << count;
  }
}

TEST(HullLookup, OfEqualOnesTheFirstCounts) {
  const Vec3 low(0, 0, 0), high(0, 0, 1);
  for (int count = 2; count <= 12; ++count) {
    for (int first = 0; first < count; ++first) {
      std::vector<Vec3> points(count, low);
      std::fill(points.begin() + first, points.end(), high);
      FarthestOfFour four;
      four.set(points);
      EXPECT_EQ(four.find(Vec3::UnitZ()), first) << count;
      EXPECT_EQ(find_farthest(points, Vec3::UnitZ()), first) << count;
    }
  }
}

TEST(HullLookup, EdgesOfACorner) {
  const Hull hull = make_box_hull(Vec3(1, 2, 3));
  const HullLookup lookup(hull);
  for (int v = 0; v < 8; ++v) {
    std::vector<int> expected;
    for (int e = 0; e < 12; ++e)
      if (hull.edges[e][0] == v || hull.edges[e][1] == v) expected.push_back(e);
    const auto found = lookup.edges_of(v);
    EXPECT_TRUE(std::equal(found.begin(), found.end(), expected.begin(), expected.end())) << v;
  }
}

/// Hills of half a metre, one a metre.
std::shared_ptr<const Surface> make_hills() {
  auto surface = std::make_shared<Surface>();
  constexpr int kSide = 21;
  constexpr double kTurn = 2 * std::numbers::pi;
  const auto height = [](double x, double y) { return 0.25 * std::sin(kTurn * x) * std::cos(kTurn * y); };
  for (int j = 0; j < kSide; ++j)
    for (int i = 0; i < kSide; ++i) surface->vertices.emplace_back(0.2 * i, 0.2 * j, height(0.2 * i, 0.2 * j));
  for (int j = 0; j + 1 < kSide; ++j) {
    for (int i = 0; i + 1 < kSide; ++i) {
      const int k = j * kSide + i;
      surface->triangles.push_back({k, k + 1, k + kSide + 1});
      surface->triangles.push_back({k, k + kSide + 1, k + kSide});
    }
  }
  surface->one_sided = true;
  return surface;
}

TEST(NearTriangles, WhatIsClearIsFarAndAbove) {
  const SurfaceIndex index(make_hills());
  std::mt19937 random(2);
  std::uniform_real_distribution<double> across(1, 3), up(-0.5, 1), size(0.05, 0.4);
  NearTriangles near;
  int clear_count = 0, other_count = 0;
  for (int trial = 0; trial < 500; ++trial) {
    const Vec3 at(across(random), across(random), up(random));
    std::vector<Vec3> points = make_points(9, &random);
    Bounds box{at, at};
    const double body = size(random), within = 0.3, margin = 0.05;
    for (Vec3& p : points) {
      p = at + body * p;
      box = {box.low.cwiseMin(p), box.high.cwiseMax(p)};
    }
    const Vec3 wide = Vec3::Constant(within);
    near.update(index, points, {box.low - wide, box.high + wide});
    for (int i = 0; i < static_cast<int>(points.size()); ++i) {
      double nearest = kInfinity, above = 0, least = kInfinity;
      for (int t = 0; t < static_cast<int>(index.surface().triangles.size()); ++t) {
        const Triangle& c = index.triangle(t);
        const TrianglePoint to = find_nearest(points[i], index.vertex(c[0]), index.vertex(c[1]), index.vertex(c[2]));
        if (std::sqrt(to.distance_sq) >= nearest) continue;
        nearest = std::sqrt(to.distance_sq);
        above = index.normal(t).dot(points[i] - to.point);
      }
      for (int k = 0; k < near.count(); ++k) {
        const int t = near.triangle(k);
        const double height = index.normal(t).dot(points[i] - index.vertex(index.triangle(t)[0]));
        EXPECT_NEAR(near.height(k, i), height, 1e-14);
        EXPECT_GE(near.height(k, i), near.lowest_point(k));
        least = std::min(least, near.height(k, i));
      }
      EXPECT_EQ(near.least_height(i), least);
      const bool clear = near.is_clear(i, within, margin);
      ++(clear ? clear_count : other_count);
      EXPECT_TRUE(!clear || nearest > margin);
      EXPECT_TRUE(!clear || nearest > within || above > 0);
    }
  }
  EXPECT_GT(clear_count, 500);
  EXPECT_GT(other_count, 500);
}

}  // namespace
}  // namespace slipstick
