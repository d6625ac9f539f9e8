#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "audit_support.h"

namespace slipstick::test {
namespace {

CommonBall measure(const Piece& a, const Piece& b, double floor = 0) {
  OverlapMeter meter;
  const CommonBall found = meter.measure(a.solid, b.solid, floor);
  EXPECT_EQ(meter.unfinished(), 0);
  return found;
}

/// Least overlap over the 15 separating axes: the depth of boxes by another book.
double calc_sat(const Solid& a, const Solid& b) {
  double least = kInfinity;
  const auto test = [&](Vec3 n) {
    if (n.norm() < 1e-6) return;
    n.normalize();
    least = std::min({least, calc_support(a, n) + calc_support(b, -n), calc_support(a, -n) + calc_support(b, n)});
  };
  for (int i = 0; i < 3; ++i) {
    test(a.frame.col(i));
    test(b.frame.col(i));
    for (int j = 0; j < 3; ++j) test(a.frame.col(i).cross(b.frame.col(j)));
  }
  return least;
}

TEST(Overlap, BoxesKnown) {
  const Quat turn(Eigen::AngleAxisd(0.7, Vec3(1, 2, 3).normalized()));
  const Vec3 far(1e3, -2e3, 5e2);
  for (const double depth : {0.3, 1e-3, 1e-6, 1e-9, 0.0, -1e-9, -0.1}) {
    Piece a = make_block({1, 2, 0.5}), b = make_block({0.7, 0.4, 0.3});
    a.move(Vec3::Zero(), turn);
    b.move(turn * Vec3(0.2, 0.1, 0.8 - depth), turn);
    EXPECT_NEAR(measure(a, b).depth, std::max(depth, 0.0), 1e-12) << depth;
    a.solid.center += far;
    b.solid.center += far;
    EXPECT_NEAR(measure(a, b).depth, std::max(depth, 0.0), 2e-12) << depth;  // the places are rounded to 4e-13
  }
}

TEST(Overlap, BoxInsideBox) {
  EXPECT_NEAR(measure(make_block({2, 2, 2}), make_block({0.5, 0.4, 0.3})).depth, 0.6, 1e-12);
  EXPECT_NEAR(measure(make_block({1, 1, 1}), make_block({1, 1, 1})).depth, 2, 1e-12);
}

TEST(Overlap, RandomBoxesNoFalseAnswer) {
  Dice dice(1);
  OverlapMeter meter;
  int overlapping = 0;
  for (int k = 0; k < 20000; ++k) {
    Piece a = make_block({dice.uniform(0.2, 1), dice.uniform(0.2, 1), dice.uniform(0.2, 1)});
    Piece b = make_block({dice.uniform(0.2, 1), dice.uniform(0.2, 1), dice.uniform(0.2, 1)});
    a.move(dice.point(0.8), dice.turn());
    b.move(dice.point(0.8), dice.turn());
    const CommonBall found = meter.measure(a.solid, b.solid, 0);
    const double sat = calc_sat(a.solid, b.solid);
    EXPECT_LE(found.depth, std::max(sat, 0.0) + 1e-12);
    EXPECT_EQ(found.depth > 1e-12, sat > 1e-12) << found.depth << " " << sat;
    // Both sides of duality: a ball that is there, and a proof that none is larger.
    EXPECT_NEAR(found.bound, found.depth, 1e-12);
    if (found.depth > 0) {
      EXPECT_LE(0.5 * found.depth,
                std::min(calc_room(a.solid, found.center), calc_room(b.solid, found.center)) + 1e-12);
    }
    overlapping += sat > 0;
  }
  EXPECT_EQ(meter.unfinished(), 0);
  EXPECT_GT(overlapping, 5000);
}

TEST(Overlap, FlushBoxesOfAllSizes) {
  Dice dice(2);
  OverlapMeter meter;
  for (int k = 0; k < 4000; ++k) {
    const Quat turn = k % 2 == 0 ? Quat::Identity() : dice.turn();
    const double size = std::pow(10, dice.index(7) - 3);
    const Vec3 half_a = size * Vec3(1 + dice.index(3), 1 + dice.index(3), 1 + dice.index(3));
    const Vec3 half_b = size * Vec3(1 + dice.index(3), 1 + dice.index(3), 1 + dice.index(3));
    const int axis = dice.index(3);
    const double depth = std::array{0.0, 1e-12, 1e-9, 1e-6, 1e-3, -1e-9}[dice.index(6)] * size;
    Vec3 offset = Vec3::Zero();
    for (int i = 0; i < 3; ++i) offset[i] = (dice.index(3) - 1) * std::abs(half_a[i] - half_b[i]);  // sides flush too
    offset[axis] = half_a[axis] + half_b[axis] - depth;
    Piece a = make_block(half_a), b = make_block(half_b);
    const Vec3 place = dice.point(10 * size);
    a.move(place, turn);
    Quat noisy = turn;
    noisy.x() += 1e-16 * dice.index(5);
    b.move(place + turn * offset, noisy.normalized());
    EXPECT_NEAR(meter.measure(a.solid, b.solid, 0).depth, std::max(depth, 0.0), 1e-13 * size);
  }
  EXPECT_EQ(meter.unfinished(), 0);
}

TEST(Overlap, RoundKnown) {
  Piece ball = make_ball(0.5);
  ball.move({0, 0, 0.9});
  Piece other = make_ball(0.7);
  EXPECT_NEAR(measure(ball, other).depth, 0.3, 1e-15);
  EXPECT_NEAR(measure(ball, make_ball(3)).depth, 1.0, 1e-15);
  Piece block = make_block({1, 1, 0.5});
  EXPECT_NEAR(measure(ball, block).depth, 0.1, 3e-9);
  ball.move({0, 0, 1});
  EXPECT_NEAR(measure(ball, block).depth, 0, 3e-9);
  Piece can = make_can(0.4, 0.5);
  can.move({0.1, 0.2, 0.99});
  EXPECT_NEAR(measure(can, block).depth, 0.01, 3e-9);
  can.move({0.1, 0.2, 0.89}, Quat(Eigen::AngleAxisd(std::numbers::pi / 2, Vec3::UnitX())));
  EXPECT_NEAR(measure(can, block).depth, 0.01, 3e-9);
  Piece pill = make_pill(0.2, 0.5);
  pill.move({0.1, 0.2, 0.699}, Quat(Eigen::AngleAxisd(std::numbers::pi / 2, Vec3::UnitY())));
  EXPECT_NEAR(measure(pill, block).depth, 0.001, 3e-9);
  Piece hat = make_hat(0.4, 0.5);
  hat.move({0, 0, 0.999});
  EXPECT_NEAR(measure(hat, block).depth, 0.001, 3e-9);
  Piece egg = make_egg({0.5, 0.4, 0.3});
  egg.move({0.1, 0.1, 0.79});
  EXPECT_NEAR(measure(egg, block).depth, 0.01, 3e-9);
  Piece coin = make_coin(0.5), flat = make_flat({{-1, -1}, {1, -1}, {1, 1}, {-1, 1}});
  coin.move({1.4, 0.2, 0});
  EXPECT_NEAR(measure(coin, flat).depth, 0.1, 3e-9);
  Piece second = flat;
  second.move({1.75, 0.3, 0});
  EXPECT_NEAR(measure(second, flat).depth, 0.25, 1e-12);
}

TEST(Overlap, HalfSpaceCountsAllThatIsBelow) {
  Piece ground = make_half_space();
  ground.move({0, 0, 1});
  for (Piece piece : {make_block({1, 1, 0.5}), make_can(1, 0.5), make_ball(0.5), make_block_mesh({1, 1, 0.5}, 2)}) {
    piece.move({3, 4, 1.4});
    EXPECT_NEAR(measure(ground, piece).depth, 0.1, 1e-14);
    piece.move({3, 4, -8.5});
    EXPECT_NEAR(measure(piece, ground).depth, 10, 1e-14);
    piece.move({3, 4, 1.5001});
    EXPECT_EQ(measure(piece, ground).depth, 0);
  }
}

TEST(Overlap, RoundPairsAgainstSearch) {
  Dice dice(3);
  OverlapMeter meter;
  const std::vector<std::function<Piece()>> makers{
      [&] { return make_ball(dice.uniform(0.3, 1)); },
      [&] { return make_pill(dice.uniform(0.1, 0.6), dice.uniform(0.1, 1)); },
      [&] { return make_can(dice.uniform(0.2, 1), dice.uniform(0.1, 1)); },
      [&] { return make_hat(dice.uniform(0.2, 1), dice.uniform(0.2, 1)); },
      [&] {
        return make_egg({dice.uniform(0.2, 1), dice.uniform(0.2, 1), dice.uniform(0.2, 1)});
      },
      [&] {
        return make_block({dice.uniform(0.2, 1), dice.uniform(0.2, 1), dice.uniform(0.2, 1)});
      },
      [&] { return make_stone(dice.cloud(20)); }};
  for (std::size_t i = 0; i < makers.size(); ++i) {
    for (std::size_t j = i; j < makers.size(); ++j) {
      for (int k = 0; k < 12; ++k) {
        Piece a = makers[i](), b = makers[j]();
        a.move(dice.point(0.6), dice.turn());
        b.move(dice.point(0.6), dice.turn());
        const CommonBall found = meter.measure(a.solid, b.solid, 0);
        const double searched = search_depth(a.solid, b.solid, &dice, 3);
        EXPECT_GE(found.depth, searched - 1e-7) << i << " " << j;
        EXPECT_GE(found.bound, searched - 1e-12) << i << " " << j;
        EXPECT_LE(found.bound - found.depth, 1e-6) << i << " " << j;
      }
    }
  }
  EXPECT_EQ(meter.unfinished(), 0);
}

TEST(Overlap, FloorEndsTheSearchWithTheSameVerdict) {
  Dice dice(4);
  OverlapMeter meter;
  for (int k = 0; k < 2000; ++k) {
    Piece a = make_can(0.5, 0.4), b = make_egg({0.7, 0.5, 0.3});
    a.move(dice.point(0.5), dice.turn());
    b.move(dice.point(0.5), dice.turn());
    const double exact = meter.measure(a.solid, b.solid, 0).depth, floor = dice.uniform(0, 0.5);
    if (std::abs(exact - floor) < 1e-6) continue;
    const CommonBall quick = meter.measure(a.solid, b.solid, floor);
    EXPECT_EQ(quick.depth > floor, exact > floor) << exact << " " << floor << " " << quick.depth << " " << quick.bound;
  }
  EXPECT_EQ(meter.unfinished(), 0);
}

}  // namespace
}  // namespace slipstick::test
