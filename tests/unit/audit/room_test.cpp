#include <gtest/gtest.h>

#include <cmath>

#include "audit_support.h"

namespace slipstick::test {
namespace {

TEST(Room, IsTheLeastOverAllDirections) {
  Dice dice(5);
  std::vector<Piece> pieces{
      make_ball(0.8),          make_pill(0.3, 0.6),       make_can(0.7, 0.5),        make_hat(0.9, 0.6),
      make_egg({1, 0.6, 0.3}), make_block({1, 0.7, 0.4}), make_stone(dice.cloud(30))};
  for (Piece& piece : pieces) {
    for (int k = 0; k < 60; ++k) {
      piece.move(dice.point(1), dice.turn());
      Vec3 q = piece.solid.to_world(0.3 * dice.point(1));
      if (k % 3 == 0) q = piece.solid.to_world(Vec3(1e-10, 2e-10, dice.uniform(-0.3, 0.3)));  // on the axis, nearly
      const double room = calc_room(piece.solid, q);
      // No direction leaves less, and every wall is one of the solid: the room is the least of both.
      for (int trial = 0; trial < 300; ++trial) {
        const Vec3 n = dice.point(1).normalized();
        EXPECT_LE(room, calc_support(piece.solid, n) - n.dot(q) + 1e-12);
      }
      if (!piece.solid.is_round()) continue;
      for (const Vec3& from : {q, dice.point(3)}) {
        const Wall wall = find_round_wall(piece.solid, from);
        EXPECT_NEAR(wall.normal.norm(), 1, 1e-14);
        EXPECT_NEAR(wall.offset, calc_support(piece.solid, wall.normal), 1e-12);
      }
    }
  }
}

}  // namespace
}  // namespace slipstick::test
