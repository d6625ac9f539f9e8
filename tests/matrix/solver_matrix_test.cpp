// Each registered solver on each problem class: it certifies, or says Unsupported or NotConverged with a finite
// residual; never a wrong "solved", and as many of each as the table below says. New solvers are picked up by
// themselves and ask for their column. SLIPSTICK_DATA names a folder with more problem files (../shared/data if
// it is there); SLIPSTICK_MATRIX=all adds the large ones.
#include "matrix/problem_classes.h"

#include <gtest/gtest.h>
#include <slipstick/app/problem_file.h>
#include <slipstick/app/solve_profile.h>
#include <slipstick/solver_ladder.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "support/law_judge.h"

namespace slipstick {
namespace {

constexpr double kTolerance = 1e-8;
constexpr std::string_view kNoFiles =
    "there is no ../shared/data, and SLIPSTICK_DATA names no folder with problem files";
constexpr double kWrong = 1e-6;  // by the definition of the law, which has another scale than the judge

/// What is called solved is so by the definition too, not by the engine's judge alone.
void expect_law(const Problem& problem, const Solution& answer, const std::string& where) {
  const test::LawFinding finding = test::find_law_error(problem, answer);
  EXPECT_LE(finding.worst, kWrong) << where << ": block " << finding.block << " " << finding.part;
}

/// What the matrix says of one solver on one class.
struct Count {
  int problems = 0, certified = 0, unsupported = 0, honest_failures = 0;
};

struct Expected {
  int certified = 0, honest_failures = 0;
};
constexpr std::array<std::string_view, 8> kColumns{"lemke", "newton", "block-pivot", "keller",
                                                   "pgs",   "split",  "admm",        "apgd"};
struct Row {
  std::string_view problems;
  int count;
  std::array<Expected, kColumns.size()> by_solver;
};
// The rest of each class is unsupported. A solver that gets better, or worse, changes its entry in the same commit.
// clang-format off
constexpr std::array kTable{
    Row{"hand_solved",    15, {{{15, 0}, {15, 0}, {6, 0},  {6, 0},  {14, 1}, {14, 1}, {15, 0}, {15, 0}}}},
    Row{"lcp",            12, {{{12, 0}, {12, 0}, {12, 0}, {12, 0}, {12, 0}, {12, 0}, {12, 0}, {12, 0}}}},
    Row{"random_cone",    12, {{{12, 0}, {12, 0}, {3, 0},  {3, 0},  {10, 2}, {10, 2}, {12, 0}, {12, 0}}}},
    Row{"random_pyramid", 12, {{{12, 0}, {12, 0}, {3, 0},  {3, 0},  {10, 2}, {10, 2}, {12, 0}, {12, 0}}}},
    Row{"random_box",     12, {{{12, 0}, {12, 0}, {12, 0}, {12, 0}, {10, 2}, {10, 2}, {12, 0}, {12, 0}}}},
    Row{"degenerate",     5,  {{{5, 0},  {5, 0},  {1, 0},  {1, 0},  {3, 2},  {3, 2},  {5, 0},  {5, 0}}}},
    Row{"hyperstatic",    4,  {{{4, 0},  {4, 0},  {1, 0},  {1, 0},  {3, 1},  {3, 1},  {4, 0},  {4, 0}}}},
    Row{"ill_scaled",     6,  {{{6, 0},  {6, 0},  {1, 0},  {1, 0},  {4, 2},  {6, 0},  {6, 0},  {4, 2}}}},
    Row{"scenes",         8,  {{{8, 0},  {8, 0},  {2, 1},  {2, 1},  {5, 3},  {7, 1},  {8, 0},  {7, 1}}}},
    Row{"local_form",     27, {{{27, 0}, {27, 0}, {9, 0},  {9, 0},  {24, 3}, {24, 3}, {27, 0}, {27, 0}}}},
    Row{"impossible",     2,  {{{0, 2},  {0, 2},  {0, 2},  {0, 2},  {0, 2},  {0, 2},  {0, 2},  {0, 2}}}},
};
// clang-format on

/// With the large problems a class has more of everything, and solvers that ask the clock find more or less of it.
bool has_large_problems() {
  const char* const wanted = std::getenv("SLIPSTICK_MATRIX");
  return wanted != nullptr && std::string_view(wanted) == "all";
}

/// The table is of the instruction set that everybody has (docs/decisions/0014). With other last bits an iteration that
/// ends near the tolerance may end on its other side; direct solvers do not.
bool has_bits_of_the_table(std::string_view solver) {
#if defined(__AVX2__) && defined(__FMA__) && !defined(SLIPSTICK_SANITIZED)
  return !solver.empty();
#else
  return solver == "lemke" || solver == "newton" || solver == "block-pivot" || solver == "keller";
#endif
}

void expect_counts(std::string_view problems, std::string_view solver, const Count& count) {
  const auto* const column = std::find(kColumns.begin(), kColumns.end(), solver);
  ASSERT_NE(column, kColumns.end()) << "give " << solver << " a column of the table";
  const auto* const row =
      std::find_if(kTable.begin(), kTable.end(), [&](const Row& r) { return r.problems == problems; });
  ASSERT_NE(row, kTable.end()) << "give " << problems << " a row of the table";
  const Expected& expected = row->by_solver[column - kColumns.begin()];
  const std::string where = std::string(solver) + " on " + std::string(problems);
  if (has_large_problems()) {
    EXPECT_GE(count.certified, expected.certified) << where;
    return;
  }
  EXPECT_EQ(count.problems, row->count) << where;
  if (has_bits_of_the_table(solver)) {
    EXPECT_EQ(count.certified, expected.certified) << where;
  }
  EXPECT_EQ(count.certified + count.honest_failures, expected.certified + expected.honest_failures) << where;
  EXPECT_EQ(count.unsupported, row->count - expected.certified - expected.honest_failures) << where;
}

void check(std::string_view solver_name, const NamedProblem& named, Count* count) {
  SolverOptions options;
  if (has_large_problems()) options.time_limit = 1;
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
    EXPECT_TRUE(residual.within(kTolerance))
        << where << " says solved; the judge says " << residual.relative << ", dynamics " << residual.dynamics;
    expect_law(named.problem, answer, where);
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
  if (problems.empty()) GTEST_SKIP() << kNoFiles;
  for (const std::string_view name : solver_names()) {
    Count count;
    for (const NamedProblem& problem : problems) check(name, problem, &count);
    if (GetParam() != "files") expect_counts(GetParam(), name, count);  // of files nobody knows what they hold
  }
}

/// The ladder solves everything that has a solution by the existence theorem, and never hides a failure.
TEST_P(SolverMatrix, AutoSolvesAll) {
  if (problem_class(GetParam()).empty()) GTEST_SKIP() << kNoFiles;
  for (const NamedProblem& named : problem_class(GetParam())) {
    SolverLadder ladder({});
    Solution answer;
    const LadderResult result = ladder.solve(named.problem, &answer);
    EXPECT_EQ(result.certified, certify(named.problem, answer).within(kTolerance)) << named.name;
    if (result.certified) expect_law(named.problem, answer, "auto on " + named.name);
    if (named.solvable) {
      EXPECT_TRUE(result.certified) << named.name << ": " << result.residual.relative << " " << result.note;
    } else {
      EXPECT_FALSE(result.certified) << named.name;
    }
  }
}

/// What a solver has solved before leaves nothing in its next answer: one that has been through everything gives the
/// bits of a new one. Large and small problems in turn, so that whatever is left of one does not fit the next.
TEST(UsedSolvers, AnswersDependOnTheProblemAlone) {
  std::vector<const NamedProblem*> problems;
  for (const char* name : {"hand_solved", "random_cone", "random_pyramid", "degenerate", "hyperstatic", "local_form"})
    for (const NamedProblem& named : problem_class(name)) problems.push_back(&named);
  std::sort(problems.begin(), problems.end(),
            [](const auto* a, const auto* b) { return a->problem.rows() < b->problem.rows(); });
  const std::size_t count = problems.size();
  for (const std::string_view name : solver_names()) {
    const std::unique_ptr<Solver> used = make_solver(name);
    for (std::size_t i = 0; i < count; ++i) {
      const NamedProblem& named = *problems[i % 2 == 0 ? count - 1 - i / 2 : i / 2];
      Solution answer, fresh;
      const SolverReport report = used->solve(named.problem, kTolerance, &answer);
      const SolverReport alone = make_solver(name)->solve(named.problem, kTolerance, &fresh);
      EXPECT_EQ(report.status, alone.status) << name << " on " << named.name;
      EXPECT_EQ(answer.lambda, fresh.lambda) << name << " on " << named.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Classes, SolverMatrix, ::testing::ValuesIn(problem_class_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace slipstick
