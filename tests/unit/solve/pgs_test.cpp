// pgs: every local solver on hand-solved contacts, then whole problems by the judge.
#include <gtest/gtest.h>
#include <slipstick/solver.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "solve/mass_blocks.h"
#include "support/random_problem.h"
#include "support/scene_problems.h"

namespace slipstick {
namespace {

using namespace test_support;
using test::make_random_problem;
using test::make_varied_options;
using test::RandomProblemOptions;

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

/// q = J A^-1 b + c and row velocities from one unit impulse, through the judge's own arithmetic.
VecX velocity_of(const Problem& problem, const VecX& lambda) {
  MassBlocks masses;
  VecX v, w;
  masses.update(problem);
  update_velocity(problem, masses, lambda, &v);
  update_row_velocity(problem, v, lambda, &w);
  return w;
}
VecX offset_of(const Problem& problem) { return velocity_of(problem, VecX::Zero(problem.rows())); }
VecX respond(const Problem& problem, int row) {
  return velocity_of(problem, VecX::Unit(problem.rows(), row)) - offset_of(problem);
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
    constexpr int kCount = 200;
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

// `separate` turns the friction of a body that resists unequally: it must not call that a solution.
TEST(Pgs, SeparateIsHonestAboutTheCone) {
  Problem p = make_point({3, -4, -2}, 0.5);
  p.mass[0] = 4;  // the tangents' mobilities differ
  p.b[0] = 12;
  Solution answer;
  EXPECT_EQ(make_solver("pgs", with(LocalSolver::Separate))->solve(p, 1e-8, &answer).status, SolveStatus::NotConverged);
  EXPECT_EQ(make_solver("pgs", with(LocalSolver::BlockTangents))->solve(p, 1e-8, &answer).status, SolveStatus::Solved);
  EXPECT_EQ(make_solver("pgs", with(LocalSolver::Cone))->solve(p, 1e-8, &answer).status, SolveStatus::Solved);
}

TEST(Pgs, RefusesWhatHasNoAdmissibleImpulse) {
  Problem p = make_point({3, -4, -2}, 0.5);
  const int row = p.add_block(LawKind::Box, 1).row;
  p.lower[row] = 1;
  p.upper[row] = -1;
  for (const char* name : {"pgs", "split"}) {
    Solution answer;
    const SolverReport report = make_solver(name)->solve(p, 1e-8, &answer);
    EXPECT_EQ(report.status, SolveStatus::Unsupported);
    EXPECT_EQ(report.note, "a box row has no admissible impulse");
  }
}

Problem make_heap() {
  RandomOptions o;
  o.bodies = 100;
  o.contacts = 600;
  o.joints = 20;
  o.all_laws = true;
  o.mu_max = 0.8;
  return random_problem(11, o);
}

TEST(Pgs, ThreadsDoNotChangeABit) {
  const Problem problem = make_heap();
  for (const char* name : {"pgs", "split"}) {
    for (const SweepOrder order : {SweepOrder::Natural, SweepOrder::Coloured}) {
      for (const bool symmetric : {false, true}) {
        Solution one;
        SolverOptions options;
        options.max_iterations = name[0] == 'p' ? 40 : 1;
        options.order = order;
        options.symmetric = symmetric;
        make_solver(name, options)->solve(problem, 1e-10, &one);
        for (const int threads : {2, 5}) {
          Solution many;
          options.threads = threads;
          make_solver(name, options)->solve(problem, 1e-10, &many);
          EXPECT_EQ(many.lambda, one.lambda) << name << ", " << threads << " threads";
          EXPECT_EQ(many.v, one.v);
        }
      }
    }
  }
}

TEST(Pgs, WarmStartFromTheSolutionIsFree) {
  for (const Problem& problem : {stack(3), disks(4), wall(2, 2)}) {
    const auto pgs = make_solver("pgs");
    Solution answer;
    const SolverReport cold = pgs->solve(problem, 1e-8, &answer);
    ASSERT_EQ(cold.status, SolveStatus::Solved) << cold.note;
    EXPECT_GT(cold.iterations, 10);
    const SolverReport again = pgs->solve(problem, 1e-8, &answer);
    EXPECT_EQ(again.status, SolveStatus::Solved);
    EXPECT_EQ(again.iterations, 0);
    answer.lambda *= 1 + 1e-7;
    EXPECT_LE(pgs->solve(problem, 1e-7, &answer).iterations, 2);
  }
}

// Frictionless and symmetric, Gauss-Seidel descends on a convex quadratic: each sweep lowers its energy; relaxation
// within (0, 2) keeps that. The residual itself need not fall, the last one must be far below the first.
TEST(Pgs, HistoryIsOfTheSweeps) {
  RandomOptions o;
  o.bodies = 20;
  o.contacts = 30;
  o.mu_max = 0;
  const Problem problem = random_problem(3, o);
  for (const double relaxation : {0.7, 1.0, 1.3}) {
    SolverOptions options;
    options.record_history = true;
    options.relaxation = relaxation;
    const auto pgs = make_solver("pgs", options);
    double energy = 0;
    for (const int sweeps : {1, 2, 3, 5, 8, 13, 21, 34, 55}) {  // a cold start each: the iterates of one course
      options.max_iterations = sweeps;
      Solution answer;
      const auto part = make_solver("pgs", options);
      const SolverReport report = part->solve(problem, 1e-15, &answer);
      ASSERT_NE(part->history(), nullptr);
      EXPECT_EQ(static_cast<int>(part->history()->residual.size()), report.iterations);
      EXPECT_EQ(part->history()->residual.size(), part->history()->changes.size());
      const double now = 0.5 * answer.lambda.dot(answer.w + offset_of(problem));  // x . D x / 2 + q . x
      EXPECT_LE(now, energy + 1e-12 * std::abs(energy)) << sweeps;
      energy = now;
    }
    Solution answer;
    pgs->solve(problem, 1e-10, &answer);
    const SolverHistory& h = *pgs->history();
    EXPECT_LT(h.residual.back(), 1e-9);
    EXPECT_GT(h.changes.front(), 0);
    EXPECT_EQ(h.changes.back(), 0);
  }
  EXPECT_EQ(make_solver("pgs")->history(), nullptr);
  EXPECT_EQ(make_solver("newton")->history(), nullptr);
}

TEST(Pgs, KeepsToItsBudget) {
  const Problem problem = stack(20);
  SolverOptions options;
  options.max_iterations = 7;
  Solution answer;
  SolverReport report = make_solver("pgs", options)->solve(problem, 1e-12, &answer);
  EXPECT_EQ(report.iterations, 7);
  EXPECT_EQ(report.status, SolveStatus::NotConverged);
  EXPECT_EQ(report.note, "iteration limit");
  options.max_iterations = 100000000;
  options.time_limit = 0.01;
  report = make_solver("pgs", options)->solve(problem, 1e-15, &answer);
  EXPECT_EQ(report.note, "time limit");
}

// Local form: the same contacts with the Delassus matrix as W and no columns have the same impulses.
TEST(Pgs, LocalFormIsTheSameProblem) {
  Problem problem = disks(3);
  problem.blocks.back().mu = 0.4;
  Solution expected;
  ASSERT_EQ(make_solver("pgs")->solve(problem, 1e-9, &expected).status, SolveStatus::Solved);
  Problem local;
  MatX w = MatX::Zero(problem.rows(), problem.rows());
  for (int r = 0; r < problem.rows(); ++r) w.col(r) = respond(problem, r);
  for (const RowBlock& block : problem.blocks) {
    RowBlock& copy = local.add_block(block.law, block.size);
    copy.mu = block.mu;
  }
  const VecX q = offset_of(problem);
  local.c.assign(q.data(), q.data() + q.size());
  local.coupling.start.push_back(0);
  for (int r = 0; r < problem.rows(); ++r) {
    for (int k = 0; k < problem.rows(); ++k) {
      if (w(r, k) == 0) continue;
      local.coupling.column.push_back(k);
      local.coupling.value.push_back(w(r, k));
    }
    local.coupling.start.push_back(static_cast<int>(local.coupling.column.size()));
  }
  for (const char* name : {"pgs", "split"}) {
    Solution answer;
    const SolverReport report = make_solver(name)->solve(local, 1e-9, &answer);
    EXPECT_EQ(report.status == SolveStatus::Solved, certify(local, answer).within(1e-9));
    if (name[0] == 'p') {
      EXPECT_EQ(report.status, SolveStatus::Solved);
      EXPECT_LE((answer.lambda - expected.lambda).norm(), 1e-6 * expected.lambda.norm());
    }
  }
}

// split: joints and normals hold to rounding whatever the tangents do, and what it calls solved is.
TEST(Split, LeavesErrorOnlyInTheTangents) {
  Judge judge;
  int certified = 0, others = 0;
  for (int seed = 0; seed < 150; ++seed) {
    RandomProblemOptions o = make_varied_options(seed);
    o.friction = FrictionModel::Cone;
    o.contacts = std::min(o.contacts, 20);
    const Problem problem = make_random_problem(seed, o);
    Solution answer;
    const SolverReport report = make_solver("split")->solve(problem, 1e-8, &answer);
    const Residuals residuals = judge.certify(problem, answer);
    EXPECT_EQ(report.status == SolveStatus::Solved, residuals.within(1e-8)) << "seed " << seed;
    EXPECT_EQ(report.note.empty(), report.status == SolveStatus::Solved);
    certified += residuals.within(1e-8);
    double worst = 0;
    for (const RowBlock& block : problem.blocks) {
      if (block.law == LawKind::Equality)
        worst = std::max(worst, answer.w.segment(block.row, block.size).cwiseAbs().maxCoeff());
      if (block.law == LawKind::Friction) worst = std::max(worst, -answer.w[block.row]);
    }
    others += worst > 1e-9 * (1 + residuals.scale);
  }
  std::printf("split: %d of 150 certified, direct part missed in %d\n", certified, others);
  EXPECT_LE(others, 3);
  EXPECT_GE(certified, 50);
}

// A column of cubes, heavy above light, at rest: the direct part alone does it.
TEST(Split, HeavyOnLightStands) {
  const Problem problem = cube_column({1, 1, 1, 1000});
  Solution answer;
  const SolverReport report = make_solver("split")->solve(problem, 1e-8, &answer);
  EXPECT_EQ(report.status, SolveStatus::Solved) << report.note;
  EXPECT_EQ(report.iterations, 0);
}

}  // namespace
}  // namespace slipstick
