// pgs: every local solver on hand-solved contacts, then whole problems by the judge.
#include <gtest/gtest.h>
#include <slipstick/solver.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "support/random_problem.h"
#include "support/scene_problems.h"

namespace slipstick {
namespace {

using namespace testing_support;
using testing::make_random_problem;
using testing::make_varied_options;
using testing::RandomProblemOptions;

constexpr LocalSolver kLocals[] = {LocalSolver::Separate, LocalSolver::BlockProjection, LocalSolver::BlockTangents,
                                   LocalSolver::Cone};

SolverOptions with(LocalSolver local) {
  SolverOptions options;
  options.local = local;
  return options;
}

/// A point mass of 2 kg on the ground, with v = (vx, vy, vz) before the contact acts. With unit rows D = 1/2.
Problem make_point(const Vec3& v, double mu, FrictionModel friction = FrictionModel::Cone) {
  Problem p;
  p.add_column(3).diagonal().setConstant(2);
  for (int k = 0; k < 3; ++k) p.b[k] = 2 * v[k];
  RowBlock& block = p.add_block(LawKind::Friction, 3);
  block.mu = mu;
  block.friction = friction;
  BlockMap j = p.add_entry(0);
  j(0, 2) = j(1, 0) = j(2, 1) = 1;
  return p;
}

class PgsLocal : public ::testing::TestWithParam<LocalSolver> {
 protected:
  /// Solves, asks for `expected` impulses and for the judge's word.
  void expect(const Problem& problem, const VecX& expected) {
    Solution answer;
    const SolverReport report = make_solver("pgs", with(GetParam()))->solve(problem, 1e-12, &answer);
    EXPECT_EQ(report.status, SolveStatus::Solved) << report.note;
    EXPECT_TRUE(certify(problem, answer).within(1e-12));
    EXPECT_LE((answer.lambda - expected).cwiseAbs().maxCoeff(), 1e-11) << answer.lambda.transpose();
  }
};

TEST_P(PgsLocal, Opens) { expect(make_point({1, 2, 3}, 0.5), Vec3::Zero()); }
TEST_P(PgsLocal, Sticks) { expect(make_point({0.3, -0.4, -2}, 0.5), Vec3(4, -0.6, 0.8)); }
TEST_P(PgsLocal, Slides) { expect(make_point({3, -4, -2}, 0.5), Vec3(4, -1.2, 1.6)); }
TEST_P(PgsLocal, SlidesWithoutFriction) { expect(make_point({3, -4, -2}, 0), Vec3(4, 0, 0)); }
TEST_P(PgsLocal, SlidesIntoABoxCorner) { expect(make_point({3, -4, -2}, 0.5, FrictionModel::Box), Vec3(4, -2, 2)); }
TEST_P(PgsLocal, SlidesOnAnAxisOfThePyramid) {
  expect(make_point({3, 0, -2}, 0.5, FrictionModel::Pyramid), Vec3(4, -2, 0));
}

// A disk (m = 1, r = 1, I = 1/2) at the ground with speed 3: it slides, t = -mu n; with 0.1 it rolls, t = -v m I' with
// D_tt = 1 + 1 / I = 3.
TEST_P(PgsLocal, DiskSlidesAndRolls) {
  for (const double speed : {3.0, 0.1}) {
    SceneProblem scene(true);
    const int disk = scene.add_sphere(Vec3(0, 1, 0), 1, 1, Vec3(speed, 0, 0));
    scene.add_contact(disk, -1, Vec3::Zero(), Vec3::UnitY(), 0.5);
    const double n = kStep * kGravity;  // t1 = (-1, 0): w_t = -speed
    expect(scene.problem(), Vec2(n, std::min(0.5 * n, speed / 3)));
  }
}

// Two rows that ask for the same: any split will do, the sum is fixed.
TEST_P(PgsLocal, RedundantContactsAgree) {
  Problem p = make_point({0.3, -0.4, -2}, 0.5);
  RowBlock& block = p.add_block(LawKind::Friction, 3);
  block.mu = 0.5;
  BlockMap j = p.add_entry(0);
  j(0, 2) = j(1, 0) = j(2, 1) = 1;
  Solution answer;
  EXPECT_EQ(make_solver("pgs", with(GetParam()))->solve(p, 1e-12, &answer).status, SolveStatus::Solved);
  EXPECT_LE((answer.lambda.head(3) + answer.lambda.tail(3) - Vec3(4, -0.6, 0.8)).norm(), 1e-11);
}

INSTANTIATE_TEST_SUITE_P(All, PgsLocal, ::testing::ValuesIn(kLocals), [](const auto& info) {
  std::string name(local_solver_names()[static_cast<int>(info.param)]);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(Pgs, NeverSaysSolvedWhenTheJudgeDoesNot) {
  Judge judge;
  for (const LocalSolver local : kLocals) {
    SolverOptions options = with(local);
    options.max_iterations = 300;
    const auto pgs = make_solver("pgs", options);
    int certified = 0;
    constexpr int kCount = 400;
    for (int seed = 0; seed < kCount; ++seed) {
      RandomProblemOptions o = make_varied_options(seed);
      if (seed % 2 == 0) o.friction = FrictionModel::Cone;
      const Problem problem = make_random_problem(seed, o);
      Solution answer;
      const SolverReport report = pgs->solve(problem, 1e-8, &answer);
      const Residuals residuals = judge.certify(problem, answer);
      EXPECT_EQ(report.status == SolveStatus::Solved, residuals.within(1e-8)) << "seed " << seed;
      EXPECT_TRUE(std::isfinite(residuals.relative)) << "seed " << seed;
      EXPECT_LE(residuals.cone, 1e-12 * (1 + answer.lambda.cwiseAbs().maxCoeff())) << "seed " << seed;
      EXPECT_LE(report.iterations, 300);
      EXPECT_EQ(report.note.empty(), report.status == SolveStatus::Solved);
      certified += residuals.within(1e-8);
    }
    std::printf("%s: %d of %d within 300 sweeps\n", std::string(local_solver_names()[static_cast<int>(local)]).c_str(),
                certified, kCount);
  }
}

}  // namespace
}  // namespace slipstick
