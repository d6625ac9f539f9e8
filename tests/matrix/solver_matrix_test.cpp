// Each registered solver on each problem class: it certifies, or says Unsupported or NotConverged with a finite
// residual; never a wrong "solved". New solvers are picked up by themselves. SLIPSTICK_DATA names a folder with more
// problem files; SLIPSTICK_MATRIX=all adds the large ones.
#include "matrix/problem_classes.h"

#include <gtest/gtest.h>
#include <slipstick/app/problem_file.h>
#include <slipstick/app/solve_profile.h>
#include <slipstick/solver_ladder.h>

#include <cmath>
#include <cstdlib>
#include <iostream>

namespace slipstick {
namespace {

constexpr double kTolerance = 1e-8;
constexpr double kWrong = 100;  // a "solved" that misses the tolerance by this factor is a lie

/// What the matrix says of one solver on one class.
struct Count {
  int problems = 0, certified = 0, unsupported = 0, honest_failures = 0;
};

void check(std::string_view solver_name, const NamedProblem& named, Count* count) {
  SolverOptions options;
  options.time_limit = 1;
  const std::unique_ptr<Solver> solver = make_solver(solver_name, options);
  ASSERT_TRUE(solver);
  const Problem before = named.problem;
  Solution answer;
  const SolverReport report = solver->solve(named.problem, kTolerance, &answer);
  ++count->problems;
  const std::string where = std::string(solver_name) + " on " + named.name;
  EXPECT_EQ(before.c, named.problem.c) << where << " changed the problem";
  if (report.status == SolveStatus::Unsupported) {
    EXPECT_FALSE(report.note.empty()) << where << ": unsupported without a reason";
    ++count->unsupported;
    return;
  }
  const Residuals residual = certify(named.problem, answer);
  EXPECT_TRUE(std::isfinite(residual.relative)) << where << ": " << report.note;
  EXPECT_GE(report.iterations, 0) << where;
  if (report.status == SolveStatus::Solved) {
    EXPECT_TRUE(residual.within(kWrong * kTolerance))
        << where << " says solved; the judge says " << residual.relative << ", dynamics " << residual.dynamics;
  }
  if (residual.within(kTolerance)) {
    ++count->certified;
  } else {
    EXPECT_NE(report.status == SolveStatus::NotConverged && report.note.empty(), true) << where << ": no reason given";
    ++count->honest_failures;
  }
}

class SolverMatrix : public ::testing::TestWithParam<std::string> {};

TEST_P(SolverMatrix, NeverAWrongSolved) {
  const ProblemClass& problems = problem_class(GetParam());
  if (problems.empty()) GTEST_SKIP() << "SLIPSTICK_DATA names no folder with problem files";
  for (const std::string_view name : solver_names()) {
    Count count;
    for (const NamedProblem& problem : problems) check(name, problem, &count);
    std::cout << GetParam() << ": " << name << " certifies " << count.certified << " of " << count.problems << ", not "
              << count.honest_failures << ", unsupported " << count.unsupported << "\n";
  }
}

/// The ladder solves everything that has a solution by the existence theorem, and never hides a failure.
TEST_P(SolverMatrix, AutoSolvesAll) {
  if (problem_class(GetParam()).empty()) GTEST_SKIP() << "SLIPSTICK_DATA names no folder with problem files";
  for (const NamedProblem& named : problem_class(GetParam())) {
    SolverLadder ladder({});
    Solution answer;
    const LadderResult result = ladder.solve(named.problem, &answer);
    EXPECT_EQ(result.certified, certify(named.problem, answer).within(kTolerance)) << named.name;
    if (named.solvable) {
      EXPECT_TRUE(result.certified) << named.name << ": " << result.residual.relative << " " << result.note;
    } else {
      EXPECT_FALSE(result.certified) << named.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Classes, SolverMatrix, ::testing::ValuesIn(problem_class_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace slipstick
