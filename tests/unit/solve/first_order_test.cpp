// admm and apgd: the methods for large problems, on small ones.
#include <gtest/gtest.h>
#include <slipstick/solver.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "solve/mass_blocks.h"
#include "solve/solvers/solvers.h"
#include "support/random_problem.h"
#include "support/scene_problems.h"

namespace slipstick {
namespace {

using namespace test_support;

constexpr const char* kNames[] = {"admm", "apgd"};

TEST(FirstOrder, CubeSlidesWithoutLifting) {
  // The associated relaxation would lift a sliding cube by mu times its speed; Coulomb's law does not.
  for (const char* name : kNames) {
    for (const FrictionModel model : {FrictionModel::Cone, FrictionModel::Pyramid, FrictionModel::Box}) {
      for (const double push : {0.3, 0.49, 0.51, 1.0}) {
        Problem problem = cube_column({1.0}, 0.5, push);
        for (RowBlock& block : problem.blocks) {
          block.friction = model;
          block.facets =
              4;  // axis-aligned: the push lies on a vertex of the pyramid and on an edge's middle of the box
        }
        Solution answer;
        EXPECT_EQ(make_solver(name)->solve(problem, 1e-8, &answer).status, SolveStatus::Solved) << name << " " << push;
        EXPECT_NEAR(answer.v[0], std::max(0.0, push - 0.5) * kGravity * kStep, 1e-7) << name << " " << push;
        EXPECT_NEAR(answer.v[2], 0, 1e-7) << name << " " << push;
      }
    }
  }
}

TEST(FirstOrder, Scenes) {
  for (const char* name : kNames) {
    const auto solver = make_solver(name);
    for (const Problem& problem : {stack(10), wall(4, 5), pile(3), disks(6), chain(20)}) {
      Solution answer;
      const SolverReport report = solver->solve(problem, 1e-6, &answer);
      EXPECT_EQ(report.status, SolveStatus::Solved) << name << " rows " << problem.rows();
      EXPECT_TRUE(certify(problem, answer).within(1e-6)) << name << " rows " << problem.rows();
      EXPECT_EQ(solver->solve(problem, 1e-6, &answer).iterations, 0) << "the answer itself needs no work";
    }
  }
}

TEST(FirstOrder, BoundedProblemsMoveAsUnderLemke) {
  const auto lemke = make_lemke();
  for (const char* name : kNames) {
    const auto solver = make_solver(name);
    int solved = 0;
    for (int seed = 0; seed < 60; ++seed) {
      auto options = test::make_varied_options(seed);
      options.contacts = std::min(options.contacts, 10);
      options.mu_max = 0;
      options.symmetric = true;
      options.mass_ratio_exponent = 1;
      const Problem problem = test::make_random_problem(seed, options);
      Solution answer, proof;
      if (solver->solve(problem, 1e-9, &answer).status != SolveStatus::Solved) continue;
      ++solved;
      lemke->solve(problem, 1e-9, &proof);
      EXPECT_LE((answer.v - proof.v).cwiseAbs().maxCoeff(), 1e-5 * (1 + proof.v.cwiseAbs().maxCoeff()))
          << name << " seed " << seed;
    }
    EXPECT_GE(solved, 55) << name;
  }
}

TEST(FirstOrder, NeverAWrongSolved) {
  Judge judge;
  for (const char* name : kNames) {
    const auto solver = make_solver(name);
    int solved = 0, supported = 0;
    for (int seed = 0; seed < 1000; ++seed) {
      auto options = test::make_varied_options(seed);
      options.contacts = std::min(options.contacts, 8);
      options.friction = static_cast<FrictionModel>(seed % 3);
      const Problem problem = test::make_random_problem(seed, options);
      Solution answer;
      const SolverReport report = solver->solve(problem, 1e-6, &answer);
      supported += report.status != SolveStatus::Unsupported;
      if (report.status != SolveStatus::Solved) continue;
      ++solved;
      EXPECT_TRUE(judge.certify(problem, answer).within(1e-6)) << name << " seed " << seed;
    }
    EXPECT_GE(solved, supported * 9 / 10) << name;
  }
}

/// The same problem in local form: w = (J A^-1 J^T) lambda + q, no columns.
Problem make_local(const Problem& problem) {
  MassBlocks masses;
  masses.update(problem);
  const int rows = problem.rows();
  VecX unit = VecX::Zero(rows), v, q, w;
  update_velocity(problem, masses, unit, &v);
  update_row_velocity(problem, v, unit, &q);
  Problem local = problem;
  local.column_start = {0};
  local.mass_start = {0};
  for (auto* list : {&local.mass, &local.b, &local.jacobian}) list->clear();
  local.entries.clear();
  for (RowBlock& block : local.blocks) block.entry = block.entries = 0;
  local.coupling.start.assign(1, 0);
  MatX matrix(rows, rows);
  for (int k = 0; k < rows; ++k) {
    unit.setZero();
    unit[k] = 1;
    update_velocity(problem, masses, unit, &v);
    update_row_velocity(problem, v, unit, &w);
    matrix.col(k) = w - q;
    matrix(k, k) -= problem.compliance[k];
    local.c[k] = q[k];
  }
  for (int r = 0; r < rows; ++r) {
    for (int k = 0; k < rows; ++k) {
      if (std::abs(matrix(r, k)) < 1e-15) continue;
      local.coupling.column.push_back(k);
      local.coupling.value.push_back(matrix(r, k));
    }
    local.coupling.start.push_back(static_cast<int>(local.coupling.column.size()));
  }
  return local;
}

TEST(FirstOrder, LocalForm) {
  Problem problem = make_local(cube_column({1.0, 2.0}, 0.5, 0.6));
  for (const char* name : {"admm", "apgd", "block-pivot", "keller"}) {
    const bool pivots = std::string(name).find("admm") != 0 && std::string(name) != "apgd";
    for (RowBlock& block : problem.blocks) block.friction = pivots ? FrictionModel::Box : FrictionModel::Cone;
    Solution answer;
    EXPECT_EQ(make_solver(name)->solve(problem, 1e-8, &answer).status, SolveStatus::Solved) << name;
    EXPECT_TRUE(certify(problem, answer).within(1e-8)) << name;
  }
}

TEST(FirstOrder, GradientsNeedASymmetricMatrix) {
  test::RandomProblemOptions options;
  options.symmetric = false;
  Solution answer;
  const SolverReport report = make_solver("apgd")->solve(test::make_random_problem(1, options), 1e-8, &answer);
  EXPECT_EQ(report.status, SolveStatus::Unsupported);
  EXPECT_FALSE(report.note.empty());
}

}  // namespace
}  // namespace slipstick
