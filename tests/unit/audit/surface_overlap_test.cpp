#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "audit_support.h"

namespace slipstick::test {
namespace {

double measure_depth(const Piece& a, const Piece& b) {
  OverlapMeter meter;
  return meter.measure(a.solid, b.solid, 0).depth;
}

TEST(SurfaceTree, WindingNumberAndNearestTriangle) {
  Dice dice(11);
  for (const int n : {1, 4, 32}) {  // powers of two: the places of shared vertices must be the same to the last bit
    Piece mesh = make_block_mesh({1, 0.7, 0.4}, n), block = make_block({1, 0.7, 0.4});
    for (int k = 0; k < 3000; ++k) {
      const Vec3 q = 1.5 * dice.point(1);
      const double room = calc_room(block.solid, q), found = mesh.tree->calc_room(q);
      if (std::abs(room) < 1e-9) continue;
      EXPECT_EQ(found > 0, room > 0) << n << " " << q.transpose();
      if (room > 0) {
        EXPECT_NEAR(found, room, 1e-14);
      }
      EXPECT_NEAR(mesh.tree->calc_winding(q), room > 0 ? 1 : 0, 0.1);
    }
  }
}

TEST(SurfaceTree, NearestTriangleByAll) {
  Dice dice(12);
  const Piece stone = make_stone_mesh(dice.cloud(200));
  const SurfaceTree& tree = *stone.tree;
  for (int k = 0; k < 500; ++k) {
    const Vec3 q = 1.2 * dice.point(1);
    double least = kInfinity;
    tree.for_each_in(tree.box(),
                     [&](int t) { least = std::min(least, (find_on_triangle(q, tree.corners(t)) - q).norm()); });
    EXPECT_EQ(tree.find_nearest(q).distance, least);
  }
}

TEST(SurfaceOverlap, BoxesGivenAsMeshesKnown) {
  const Quat turn(Eigen::AngleAxisd(0.7, Vec3(1, 2, 3).normalized()));
  for (const double depth : {0.3, 1e-3, 1e-5, 1e-6, 1e-9, 0.0, -1e-9, -0.1}) {
    for (const int n : {1, 3}) {
      for (const double side : {0.2, 0.3, 0.15}) {  // 0.3: flush with a side of the larger one
        Piece a = make_block_mesh({1, 2, 0.5}, n), b = make_block({0.7, 0.4, 0.3}),
              c = make_block_mesh({0.7, 0.4, 0.3}, 2);
        a.move({3, 4, 5}, turn);
        b.move(a.solid.to_world({side, 0.1, 0.8 - depth}), turn);
        c.move(b.solid.center, turn);
        EXPECT_NEAR(measure_depth(a, b), std::max(depth, 0.0), 2e-8) << depth << " " << n << " " << side;
        EXPECT_NEAR(measure_depth(b, a), std::max(depth, 0.0), 2e-8) << depth << " " << n << " " << side;
        EXPECT_NEAR(measure_depth(a, c), std::max(depth, 0.0), 2e-8) << depth << " " << n << " " << side;
      }
    }
  }
}

TEST(SurfaceOverlap, AllInside) {
  EXPECT_NEAR(measure_depth(make_block_mesh({2, 2, 2}, 3), make_block({0.5, 0.4, 0.3})), 0.6, 1e-9);
  EXPECT_NEAR(measure_depth(make_block_mesh({2, 2, 2}, 3), make_ball(0.4)), 0.8, 1e-9);
  EXPECT_NEAR(measure_depth(make_block_mesh({2, 2, 2}, 3), make_block_mesh({0.5, 0.4, 0.3}, 2)), 0.6, 1e-9);
}

TEST(SurfaceOverlap, SheetsHaveDepthInOthersOnly) {
  Piece sheet = make_sheet(2), block = make_block({0.5, 0.4, 0.3}), other = make_sheet(1);
  block.move({0.1, 0.2, 0.1});
  EXPECT_NEAR(measure_depth(sheet, block), 0.2, 1e-9);
  block.move({0.1, 0.2, 0.3});
  EXPECT_NEAR(measure_depth(sheet, block), 0, 1e-9);
  other.move({0, 0, 0}, Quat(Eigen::AngleAxisd(1, Vec3::UnitX())));
  EXPECT_EQ(measure_depth(sheet, other), 0);
  Piece mesh = make_block_mesh({0.5, 0.4, 0.3}, 2);
  mesh.move({0.1, 0.2, 0.1});
  EXPECT_GT(measure_depth(sheet, mesh), 0.1);
}

/// Two shapes with the same place, one of them convex and one made of triangles.
struct Rate {
  int overlaps = 0, missed = 0, short_by = 0, false_ones = 0;
};

/// How the mesh version of a pair of convex solids compares with the exact program for convex ones.
Rate compare(int count, unsigned seed, const std::function<std::array<Piece, 4>(Dice*)>& make) {
  Dice dice(seed);
  OverlapMeter meter;
  Rate rate;
  for (int k = 0; k < count; ++k) {
    std::array<Piece, 4> pieces = make(&dice);  // convex a, convex b, and their twins
    const Vec3 at = dice.point(0.8);
    const Quat turn_a = dice.turn(), turn_b = dice.turn();
    for (const int i : {0, 2}) pieces[i].move(Vec3::Zero(), turn_a);
    for (const int i : {1, 3}) pieces[i].move(at, turn_b);
    const double exact = meter.measure(pieces[0].solid, pieces[1].solid, 0).depth;
    const double found = meter.measure(pieces[2].solid, pieces[3].solid, 0).depth;
    rate.false_ones += found > exact + 1e-7;
    if (!(exact > 1e-6)) continue;
    ++rate.overlaps;
    rate.missed += !(found > 0);
    rate.short_by += found < exact - 1e-6;
  }
  return rate;
}

void report(const char* name, const Rate& rate) {
  std::printf("%s: %d overlaps, %d missed, %d measured short, %d false\n", name, rate.overlaps, rate.missed,
              rate.short_by, rate.false_ones);
}

Vec3 half_of(Dice* dice) { return {dice->uniform(0.2, 1), dice->uniform(0.2, 1), dice->uniform(0.2, 1)}; }

TEST(SurfaceOverlap, RandomMeshAgainstConvex) {
  const Rate boxes = compare(1500, 21, [](Dice* dice) {
    const Vec3 a = half_of(dice), b = half_of(dice);
    return std::array{make_block(a), make_block(b), make_block_mesh(a, 2), make_block(b)};
  });
  report("mesh box against box", boxes);
  const Rate stones = compare(500, 22, [](Dice* dice) {
    const auto a = dice->cloud(30), b = dice->cloud(20);
    return std::array{make_stone(a), make_stone(b), make_stone_mesh(a), make_stone(b)};
  });
  report("mesh stone against hull", stones);
  const Rate eggs = compare(500, 23, [](Dice* dice) {
    const Vec3 a = half_of(dice), b = half_of(dice);
    return std::array{make_block(a), make_egg(b), make_block_mesh(a, 2), make_egg(b)};
  });
  report("mesh box against ellipsoid", eggs);
  for (const Rate& rate : {boxes, stones, eggs}) {
    EXPECT_EQ(rate.false_ones, 0);
    EXPECT_EQ(rate.missed, 0);
    EXPECT_LE(rate.short_by, rate.overlaps / 50);
    EXPECT_GT(rate.overlaps, 100);
  }
}

TEST(SurfaceOverlap, RandomMeshAgainstMesh) {
  const Rate boxes = compare(1000, 24, [](Dice* dice) {
    const Vec3 a = half_of(dice), b = half_of(dice);
    return std::array{make_block(a), make_block(b), make_block_mesh(a, 1), make_block_mesh(b, 2)};
  });
  report("mesh box against mesh box", boxes);
  const Rate stones = compare(200, 25, [](Dice* dice) {
    const auto a = dice->cloud(30), b = dice->cloud(20);
    return std::array{make_stone(a), make_stone(b), make_stone_mesh(a), make_stone_mesh(b)};
  });
  report("mesh stone against mesh stone", stones);
  for (const Rate& rate : {boxes, stones}) {
    EXPECT_EQ(rate.false_ones, 0);
    EXPECT_LE(rate.missed, rate.overlaps / 200);
    EXPECT_LE(rate.short_by, rate.overlaps / 20);
  }
}

/// An angle is two boxes, so what overlaps one of them overlaps the angle at least as deep; and no ball may leave it.
TEST(SurfaceOverlap, RandomAngleIsAtLeastItsParts) {
  Dice dice(26);
  OverlapMeter meter;
  int overlaps = 0, missed = 0, shorter = 0;
  for (int k = 0; k < 800; ++k) {
    Piece angle = make_angle_mesh(0.4), foot = make_block({1, 0.4, 0.5}), upright = make_block({0.5, 0.4, 1});
    Piece other = k % 2 == 0 ? make_block(half_of(&dice)) : make_block_mesh(half_of(&dice), 2);
    const Quat turn = dice.turn();
    angle.move(dice.point(1), turn);
    foot.move(angle.solid.to_world({0, 0, -0.5}), turn);
    upright.move(angle.solid.to_world({-0.5, 0, 0}), turn);
    other.move(dice.point(1), dice.turn());
    Piece convex = other;
    if (other.solid.is_surface()) convex = make_block(0.5 * (other.tree->box().high - other.tree->box().low));
    convex.solid.center = other.solid.center;
    convex.solid.frame = other.solid.frame;
    const double parts =
        std::max(meter.measure(foot.solid, convex.solid, 0).depth, meter.measure(upright.solid, convex.solid, 0).depth);
    const CommonBall found = meter.measure(angle.solid, other.solid, 0);
    overlaps += parts > 1e-6;
    missed += parts > 1e-6 && !(found.depth > 0);
    shorter += found.depth < parts - 1e-6;
    if (!(found.depth > 0)) continue;
    EXPECT_GE(calc_room(convex.solid, found.center), 0.5 * found.depth - 1e-9);
    // Points of the ball are in the foot or in the upright part.
    for (int trial = 0; trial < 20; ++trial) {
      const Vec3 p = found.center + 0.4999 * found.depth * dice.point(1).normalized();
      EXPECT_GT(std::max(calc_room(foot.solid, p), calc_room(upright.solid, p)), -1e-9);
    }
  }
  std::printf("angle: %d overlaps, %d missed, %d measured short\n", overlaps, missed, shorter);
  EXPECT_GT(overlaps, 200);
  EXPECT_LE(missed, overlaps / 200);
  EXPECT_LE(shorter, overlaps / 20);
}

}  // namespace
}  // namespace slipstick::test
