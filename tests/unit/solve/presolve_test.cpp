#include "solve/presolve.h"

#include <gtest/gtest.h>
#include <slipstick/solver.h>

#include <set>

#include "solve/mass_blocks.h"
#include "solve/solvers/solvers.h"
#include "support/random_problem.h"

namespace slipstick {
namespace {

/// n unit masses on a line; rows between the pairs given (-1: the ground).
Problem make_line(int n, const std::vector<std::pair<int, int>>& pairs) {
  Problem p;
  for (int k = 0; k < n; ++k) {
    p.add_column(1)(0, 0) = 1 + k;
    p.b[k] = -1;
  }
  for (const auto& [a, b] : pairs) {
    p.add_block(LawKind::Nonnegative, 1);
    p.add_entry(a)(0, 0) = 1;
    if (b >= 0) p.add_entry(b)(0, 0) = -1;
  }
  return p;
}

std::vector<int> list(std::span<const int> s) { return {s.begin(), s.end()}; }

TEST(Presolve, GroundDoesNotMergeIslands) {
  const Problem p = make_line(6, {{4, -1}, {0, -1}, {1, 0}, {5, 4}, {3, -1}});
  Islands islands;
  islands.update(p);
  ASSERT_EQ(islands.count(), 3);
  EXPECT_EQ(list(islands.blocks(0)), (std::vector<int>{0, 3}));
  EXPECT_EQ(list(islands.columns(0)), (std::vector<int>{4, 5}));
  EXPECT_EQ(list(islands.blocks(1)), (std::vector<int>{1, 2}));
  EXPECT_EQ(list(islands.columns(1)), (std::vector<int>{0, 1}));
  EXPECT_EQ(list(islands.blocks(2)), (std::vector<int>{4}));
  EXPECT_EQ(list(islands.free_columns()), (std::vector<int>{2}));
}

TEST(Presolve, CouplingTiesRows) {
  Problem p = make_line(4, {{0, -1}, {1, -1}, {2, -1}, {3, -1}});
  p.coupling.start = {0, 1, 1, 2, 2};
  p.coupling.column = {3, 2};
  p.coupling.value = {0.5, 1};
  Islands islands;
  islands.update(p);
  ASSERT_EQ(islands.count(), 3);
  EXPECT_EQ(list(islands.blocks(0)), (std::vector<int>{0, 3}));
  Problem part;
  islands.extract(p, 0, &part);
  EXPECT_EQ(part.coupling.start, (std::vector<int>{0, 1, 1}));
  EXPECT_EQ(part.coupling.column, (std::vector<int>{1}));
  islands.extract(p, 2, &part);  // and the memory of the part holds nothing of the last one
  EXPECT_EQ(part.coupling.column, (std::vector<int>{0}));
  EXPECT_EQ(part.coupling.value, (std::vector<double>{1}));
}

// Where the first row of W ties everything nothing is looked for; the islands are what the search finds.
TEST(Presolve, ARowThatTiesAllIsOneIsland) {
  for (const bool full : {true, false}) {
    Problem p;
    for (int i = 0; i < 4; ++i) p.add_block(LawKind::Friction, 3).mu = 0.5;
    p.coupling.start = {0};
    for (int r = 0; r < p.rows(); ++r) {
      for (int c = 0; c < p.rows(); ++c)
        if (c == r || (r == 0 && (full || c < 9))) p.coupling.column.push_back(c);
      p.coupling.start.push_back(static_cast<int>(p.coupling.column.size()));
    }
    p.coupling.value.assign(p.coupling.column.size(), 1.0);
    Islands at_once, searched;
    at_once.update(make_line(3, {{0, -1}, {1, 2}}));  // whatever was there before
    at_once.update(p);
    searched.update(p, std::span<const char>());
    ASSERT_EQ(at_once.count(), full ? 1 : 2);
    ASSERT_EQ(searched.count(), at_once.count());
    EXPECT_EQ(list(at_once.blocks(0)), list(searched.blocks(0)));
    EXPECT_TRUE(at_once.columns(0).empty());
    EXPECT_TRUE(at_once.free_columns().empty());
    Problem part, other;
    at_once.extract(p, 0, &part);
    searched.extract(p, 0, &other);
    EXPECT_EQ(part.coupling.column, other.coupling.column);
    EXPECT_EQ(part.coupling.start, other.coupling.start);
  }
}

TEST(Presolve, EmptyProblems) {
  Islands islands;
  islands.update(Problem{});
  EXPECT_EQ(islands.count(), 0);
  islands.update(make_line(2, {}));
  EXPECT_EQ(islands.count(), 0);
  EXPECT_EQ(islands.free_columns().size(), 2u);
}

// Every block and column is in exactly one place, and the parts' solutions together are a solution of the whole.
TEST(Presolve, PartsSolveTheWhole) {
  const auto lemke = make_lemke();
  Islands islands;
  Problem part;
  Solution share;
  int several = 0;
  for (int seed = 0; seed < 60; ++seed) {
    test::RandomProblemOptions o;
    o.contacts = 12;
    o.bodies = 14;
    o.planar = seed % 2;
    o.symmetric = seed % 3;
    const Problem p = test::make_random_problem(seed, o);
    islands.update(p);
    several += islands.count() > 1;
    Solution whole;
    whole.v.setConstant(p.unknowns(), std::nan(""));
    whole.lambda.setConstant(p.rows(), std::nan(""));
    whole.w = whole.lambda;
    std::set<int> blocks, columns(islands.free_columns().begin(), islands.free_columns().end());
    std::size_t listed = columns.size();
    for (int i = 0; i < islands.count(); ++i) {
      blocks.insert(islands.blocks(i).begin(), islands.blocks(i).end());
      columns.insert(islands.columns(i).begin(), islands.columns(i).end());
      listed += islands.columns(i).size();
      islands.extract(p, i, &part);
      share = Solution{};
      ASSERT_EQ(lemke->solve(part, 1e-8, &share).status, SolveStatus::Solved) << seed;
      islands.scatter(p, i, share, &whole);
      Solution again;
      islands.gather(p, i, whole, &again);
      EXPECT_EQ(again.lambda, share.lambda);
      EXPECT_EQ(again.v, share.v);
      EXPECT_EQ(again.w, share.w);
    }
    islands.solve_free_columns(p, &whole);
    EXPECT_EQ(blocks.size(), p.blocks.size());
    EXPECT_EQ(columns.size(), static_cast<std::size_t>(p.columns()));
    EXPECT_EQ(listed, columns.size());
    EXPECT_TRUE(certify(p, whole).within(1e-8)) << seed;
  }
  EXPECT_GT(several, 30);
}

}  // namespace
}  // namespace slipstick
