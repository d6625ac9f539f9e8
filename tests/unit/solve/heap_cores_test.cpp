// What must not be swept in a heap: machines and tall stacks are found, walls and piles are not.
#include "solve/heap_cores.h"

#include <gtest/gtest.h>
#include <slipstick/solver_ladder.h>

#include <algorithm>
#include <array>

namespace slipstick {
namespace {

constexpr double kHalf = 0.1;

/// One contact at `point` with the lower body's centre at `lower_at`, in the plane of a face.
void add_contact(Problem* p, int upper, const Vec3& upper_at, int lower, const Vec3& lower_at, const Vec3& point,
                 const Vec3& normal) {
  RowBlock& block = p->add_block(LawKind::Friction, 3);
  block.mu = 0.5;
  const Vec3 tangent = normal.unitOrthogonal();
  const std::array<Vec3, 3> directions = {normal, tangent, normal.cross(tangent)};
  for (int side = 0; side < (lower < 0 ? 1 : 2); ++side) {
    BlockMap j = p->add_entry(side == 0 ? upper : lower);
    const Vec3 arm = point - (side == 0 ? upper_at : lower_at);
    for (int k = 0; k < 3; ++k) {
      const Vec3 e = side == 0 ? directions[k] : Vec3(-directions[k]);
      j.row(k).head<3>() = e.transpose();
      j.row(k).tail<3>() = arm.cross(e).transpose();
    }
  }
}

/// Cubes on a grid, and balls.
struct Packing {
  Problem problem;
  std::vector<Vec3> at;

  int add(const Vec3& position) {
    BlockMap mass = problem.add_column(6);
    for (int i = 0; i < 6; ++i) mass(i, i) = i < 3 ? 1 : 6.7e-3;
    problem.b[problem.unknowns() - 4] = -0.1;
    at.push_back(position);
    return static_cast<int>(at.size()) - 1;
  }
  void touch(int a, int b) {
    const Vec3 normal = b < 0 ? Vec3::UnitZ() : Vec3((at[a] - at[b]).normalized());
    add_contact(&problem, a, at[a], b, b < 0 ? Vec3::Zero() : at[b], at[a] - kHalf * normal, normal);
  }
  void lie_on(int a, int b, const Vec3& normal = Vec3::UnitZ()) {
    const Vec3 side = normal.unitOrthogonal(), other = normal.cross(side);
    for (const double s : {-1, 1})
      for (const double t : {-1, 1})
        add_contact(&problem, a, at[a], b, b < 0 ? Vec3::Zero() : at[b],
                    at[a] + kHalf * (s * side + t * other - normal), normal);
  }
  void weld(int a, int b) {
    problem.add_block(LawKind::Equality, 3);
    const Vec3 point = 0.5 * (at[a] + at[b]);
    for (const int side : {0, 1}) {
      BlockMap j = problem.add_entry(side == 0 ? a : b);
      const double sign = side == 0 ? 1 : -1;
      const Vec3 arm = point - at[side == 0 ? a : b];
      for (int k = 0; k < 3; ++k) {
        j.row(k).head<3>() = sign * Vec3::Unit(k).transpose();
        j.row(k).tail<3>() = sign * arm.cross(Vec3::Unit(k)).transpose();
      }
    }
  }
  /// Layers of 9 x 9 balls around a hole in the middle, and a stack of cubes in it.
  std::vector<int> fill_around_stack(int layers) {
    std::vector<int> stack;
    std::vector<int> index(81 * layers, -1);
    for (int z = 0; z < layers; ++z)
      for (int k = 0; k < 81; ++k) {
        index[81 * z + k] = add({0.2 * (k % 9), 0.2 * (k / 9), 0.1 + 0.2 * z});
        if (k == 40) stack.push_back(index[81 * z + k]);
      }
    for (int z = 0; z < layers; ++z)
      for (int k = 0; k < 81; ++k) {
        const int i = index[81 * z + k], below = z > 0 ? index[81 * (z - 1) + k] : -1;
        if (k == 40)
          lie_on(i, below);
        else
          touch(i, below);
        if (k % 9 > 0) touch(i, index[81 * z + k - 1]);
        if (k >= 9) touch(i, index[81 * z + k - 9]);
      }
    return stack;
  }
};

HeapCores cores_of(const Problem& problem, bool expected = true) {
  Islands islands;
  islands.update(problem);
  EXPECT_EQ(islands.count(), 1);
  HeapCores cores;
  EXPECT_EQ(cores.update(problem, islands.part(0)), expected);
  return cores;
}

TEST(HeapCores, AStackAmongBallsIsFoundWithWhatTouchesIt) {
  Packing packing;
  const std::vector<int> stack = packing.fill_around_stack(8);
  HeapCores cores = cores_of(packing.problem);
  ASSERT_EQ(cores.count(), 1);
  EXPECT_FALSE(cores.is_machine(0));
  EXPECT_TRUE(cores.held().empty());
  EXPECT_EQ(cores.swept().size(), packing.problem.blocks.size());
  const CorePart alone = cores.alone(0);
  EXPECT_EQ(std::vector<int>(alone.part.columns.begin(), alone.part.columns.end()), stack);
  EXPECT_EQ(alone.part.blocks.size(), 8 * 4);
  EXPECT_EQ(alone.border.size(), 8 * 4);
  const CorePart wide = cores.with_neighbours(0);
  EXPECT_EQ(wide.part.columns.size(), 8 + 8 * 4);
  // Every row of those bodies is inside or on the border, once.
  for (const int i : wide.border) {
    const RowBlock& block = packing.problem.blocks[i];
    int inside = 0;
    for (int e = block.entry; e < block.entry + block.entries; ++e)
      inside += wide.part.local_column[packing.problem.entries[e].column] >= 0;
    EXPECT_EQ(inside, 1);
  }
}

TEST(HeapCores, LowStacksWallsAndPilesAreSwept) {
  Packing low;
  low.fill_around_stack(4);
  EXPECT_EQ(cores_of(low.problem).count(), 0);
  Packing wall;  // cubes that lie on and beside each other
  for (int k = 0; k < 36; ++k) wall.add({0.2 * (k % 6), 0, 0.1 + 0.2 * (k / 6)});
  for (int k = 0; k < 36; ++k) {
    wall.lie_on(k, k >= 6 ? k - 6 : -1);
    if (k % 6 > 0) wall.lie_on(k, k - 1, Vec3::UnitX());
  }
  EXPECT_EQ(cores_of(wall.problem).count(), 0);
  Packing comb;  // a plank with six cubes on it: nothing is tall
  for (int k = 0; k < 7; ++k) comb.add({0.2 * k, 0, 0.1});
  comb.lie_on(0, -1);
  for (int k = 1; k < 7; ++k) comb.lie_on(k, 0);
  EXPECT_EQ(cores_of(comb.problem).count(), 0);
}

TEST(HeapCores, AMachineIsHeldAndADearOneIsRefused) {
  Packing packing;
  const std::vector<int> stack = packing.fill_around_stack(3);
  packing.weld(stack[1], stack[0]);
  HeapCores cores = cores_of(packing.problem);
  ASSERT_EQ(cores.count(), 1);
  EXPECT_TRUE(cores.is_machine(0));
  EXPECT_EQ(cores.held().size(), 1u);
  EXPECT_EQ(cores.swept().size() + 1, packing.problem.blocks.size());

  Packing dear;  // joints between all neighbours of a large block
  dear.fill_around_stack(8);
  for (int k = 1; k < 81 * 8; ++k)
    if (k % 9 > 0) dear.weld(k, k - 1);
  for (int k = 9; k < 81 * 8; ++k)
    if (k % 81 >= 9) dear.weld(k, k - 9);
  for (int k = 81; k < 81 * 8; ++k) dear.weld(k, k - 81);
  cores_of(dear.problem, false);
}

/// What was found in other problems, larger ones among them, changes nothing.
TEST(HeapCores, ServeOneProblemAfterTheOther) {
  HeapCores used;
  for (const int layers : {8, 5, 9, 6}) {
    Packing packing;
    const std::vector<int> stack = packing.fill_around_stack(layers);
    if (layers % 2 == 0) packing.weld(stack[1], stack[0]);
    Islands islands;
    islands.update(packing.problem);
    HeapCores fresh;
    EXPECT_EQ(used.update(packing.problem, islands.part(0)), fresh.update(packing.problem, islands.part(0)));
    ASSERT_EQ(used.count(), 1);
    ASSERT_EQ(fresh.count(), 1);
    EXPECT_EQ(used.is_machine(0), fresh.is_machine(0));
    for (const bool wide : {false, true}) {
      const CorePart a = wide ? used.with_neighbours(0) : used.alone(0);
      const CorePart b = wide ? fresh.with_neighbours(0) : fresh.alone(0);
      EXPECT_TRUE(std::ranges::equal(a.part.columns, b.part.columns));
      EXPECT_TRUE(std::ranges::equal(a.part.blocks, b.part.blocks));
      EXPECT_TRUE(std::ranges::equal(a.part.local_column, b.part.local_column));
      EXPECT_TRUE(std::ranges::equal(a.border, b.border));
    }
  }
}

LadderOptions swift_options(double work) {
  LadderOptions options;
  options.heap_tolerance = 1e-4;
  options.heap_sweeps = 30;
  options.few_sweeps = true;
  options.settle = 1e-3;
  options.cold_sweeps = false;
  options.work = work;
  return options;
}

/// A push at the top of the stack, away from the balls beside it, that it stands.
TEST(HeapCores, AStackIsSolvedWhereSweepsAreFew) {
  Packing packing;
  const std::vector<int> stack = packing.fill_around_stack(20);
  Solution answer;
  SolverLadder ladder(swift_options(kInfinity));
  ladder.solve(packing.problem, &answer);
  double fastest = 0;
  for (const int k : stack) fastest = std::max(fastest, answer.v.segment<6>(6 * k).cwiseAbs().maxCoeff());
  EXPECT_LT(fastest, 2e-3);  // of 0.1 that gravity gives; 30 sweeps alone leave 0.05
}

/// Rows that cannot be swept are met to the last digit, whatever the rest is like, and the work is within its limit.
TEST(HeapCores, JointsHoldAndTheWorkIsWithinItsLimit) {
  Packing packing;
  const std::vector<int> stack = packing.fill_around_stack(8);
  const int first = packing.problem.rows();
  packing.weld(stack[6], stack[5]);
  packing.weld(stack[7], stack[6]);
  packing.problem.b[6 * stack[7]] = 0.5;
  for (const double a_row : {25.0, 40.0, 100.0, 1000.0}) {
    Solution answer;
    const double limit = a_row * packing.problem.rows();
    LadderOptions options = swift_options(limit);
    options.settle = 0;  // no least work beyond the limit
    const LadderResult result = SolverLadder(options).solve(packing.problem, &answer);
    EXPECT_EQ(result.residual.verdict(), certify(packing.problem, answer).verdict());
    EXPECT_LE(result.work, limit);
    if (a_row < 100) continue;
    EXPECT_LT(answer.w.segment(first, 6).cwiseAbs().maxCoeff(), 1e-9);
  }
}

}  // namespace
}  // namespace slipstick
