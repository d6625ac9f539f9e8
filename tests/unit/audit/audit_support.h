// Solids for the judge of overlap, random poses, and a slow way to the same answer.
#pragma once

#include <slipstick/surface.h>

#include <memory>
#include <random>
#include <vector>

#include "audit/overlap_meter.h"
#include "audit/surface_tree.h"

namespace slipstick::test {

/// A solid with what it points to.
struct Piece {
  Solid solid;
  std::shared_ptr<Hull> hull;
  std::shared_ptr<SurfaceTree> tree;
  std::shared_ptr<std::vector<Vec2>> points;

  Piece& move(const Vec3& center, const Quat& turn = Quat::Identity());
};

Piece make_ball(double radius);
Piece make_block(const Vec3& half);
Piece make_pill(double radius, double half_length);
Piece make_can(double radius, double half_length);
Piece make_hat(double radius, double half_length);
Piece make_egg(const Vec3& half);
Piece make_half_space();
Piece make_coin(double radius);
Piece make_flat(const std::vector<Vec2>& points);
Piece make_stone(const std::vector<Vec3>& points);
/// A box as a mesh, each side cut into n x n cells.
Piece make_block_mesh(const Vec3& half, int n);
Piece make_stone_mesh(const std::vector<Vec3>& points);
/// [-1, 1] x [-half, half] x [-1, 1] without the part x > 0, z > 0, n x n cells in each square of a side.
Piece make_angle_mesh(double half);
Piece make_sheet(double half);

class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}
  double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine_); }
  int index(int count) { return std::uniform_int_distribution<int>(0, count - 1)(engine_); }
  Vec3 point(double extent) { return {uniform(-extent, extent), uniform(-extent, extent), uniform(-extent, extent)}; }
  Quat turn();
  std::vector<Vec3> cloud(int count);

 private:
  std::mt19937 engine_;
};

/// Twice the largest ball by a pattern search from many points: slow, and it uses nothing but the room about a point.
double search_depth(const Solid& a, const Solid& b, Dice* dice, int starts);

}  // namespace slipstick::test
