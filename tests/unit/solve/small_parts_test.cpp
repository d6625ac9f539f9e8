// Parts of any size: hinges hold metres and radians in one block of rows, and what is stiff along the one may not be
// measured by the other.
#include <gtest/gtest.h>
#include <slipstick/solver.h>

#include <string>

#include "support/scene_problems.h"

namespace slipstick {
namespace {

using namespace test_support;

/// A hinge about y at `point`: three rows of metres and two of radians in one block.
void add_hinge(SceneProblem* scene, int a, int b, const Vec3& point) {
  Problem& problem = scene->problem();
  problem.add_block(LawKind::Equality, 5);
  for (const int body : {a, b}) {
    if (body < 0) continue;
    const double sign = body == a ? 1 : -1;
    const Vec3 arm = point - scene->centre(body);
    auto j = problem.add_entry(body);
    for (int k = 0; k < 3; ++k) {
      j(k, k) = sign;
      const Vec3 turn = arm.cross(Vec3::Unit(k));
      for (int i = 0; i < 3; ++i) j(k, 3 + i) = sign * turn[i];
    }
    j(3, 3) = sign;
    j(4, 5) = sign;
  }
}

/// Ten links of a chain that hangs at its left end and lies on the floor with its right one; `size`: of a link, m.
Problem make_chain(double size) {
  SceneProblem scene;
  int last = -1;
  for (int i = 0; i < 10; ++i) {
    const int link = scene.add_box(size * Vec3(i + 0.5, 0, 0), size * size * size, size * Vec3(1, 0.4, 0.3));
    add_hinge(&scene, link, last, size * Vec3(i, 0, 0));
    last = link;
  }
  scene.push(last, Vec3(0.2 * size * size * size, 0.02 * size * size * size, 0));
  for (const double x : {9.0, 10.0})
    for (const double y : {-0.2, 0.2}) scene.add_contact(last, -1, size * Vec3(x, y, -0.15), Vec3::UnitZ(), 0.3);
  return scene.problem();
}

TEST(SmallParts, CostNoMoreThanLargeOnes) {
  for (const std::string_view name : {"newton", "admm"}) {
    const auto solver = make_solver(name);
    int first = 0;
    for (const double size : {1.0, 1e-2, 1e-4, 1e-6}) {
      const Problem problem = make_chain(size);
      Solution answer;
      const SolverReport report = solver->solve(problem, 1e-8, &answer);
      EXPECT_EQ(report.status, SolveStatus::Solved) << name << ", links of " << size << " m";
      EXPECT_TRUE(certify(problem, answer).within(1e-8)) << name << ", links of " << size << " m";
      if (size == 1) first = report.iterations;
      // For links of a micrometre radians weigh 1e12 times what metres do: rounding takes a second try there.
      EXPECT_LE(report.iterations, 2 * first + (size < 1e-5 ? 20 : 10)) << name << ", links of " << size << " m";
    }
  }
}

}  // namespace
}  // namespace slipstick
