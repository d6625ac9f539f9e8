// Solvers that somebody tries out: asked first, judged like all others, and without a trace where they fail.
#include <gtest/gtest.h>
#include <slipstick/solver_ladder.h>

#include <functional>
#include <limits>

namespace slipstick {
namespace {

class Prototype : public PrototypeSolver {
 public:
  using Function = std::function<bool(const Problem&, double, VecX*)>;
  explicit Prototype(Function function) : function_(std::move(function)) {}
  std::string_view name() const override { return "mine"; }
  bool solve(const Problem& problem, double tolerance, VecX* lambda) override {
    ++asked;
    return function_(problem, tolerance, lambda);
  }
  int asked = 0;

 private:
  Function function_;
};

/// Two bodies on the ground that do not touch each other, and one that nothing touches: two islands.
Problem make_two_islands() {
  Problem p;
  for (int k = 0; k < 3; ++k) {
    BlockMap mass = p.add_column(3);
    mass.setIdentity();
    mass *= 1 + k;
    p.b[3 * k] = 0.3 * k;
    p.b[3 * k + 2] = -1;
  }
  for (int k = 0; k < 2; ++k) {
    RowBlock& block = p.add_block(LawKind::Friction, 3);
    block.mu = 0.2;
    BlockMap j = p.add_entry(k);
    j.row(0) << 0, 0, 1;
    j.row(1) << 1, 0, 0;
    j.row(2) << 0, 1, 0;
  }
  return p;
}

LadderResult solve_with(const std::shared_ptr<Prototype>& prototype, const Problem& problem, Solution* solution,
                        std::vector<SolverStatistics>* statistics) {
  LadderOptions options;
  options.prototype = prototype;
  SolverLadder ladder(options);
  const LadderResult result = ladder.solve(problem, solution);
  statistics->assign(ladder.statistics().begin(), ladder.statistics().end());
  return result;
}

TEST(Prototype, AnswersWhereTheJudgeIsContent) {
  const Problem problem = make_two_islands();
  const auto mine = std::make_shared<Prototype>([](const Problem& p, double tolerance, VecX* lambda) {
    Solution s;
    const SolverReport report = make_solver("lemke")->solve(p, tolerance, &s);
    *lambda = s.lambda;
    return report.status == SolveStatus::Solved;
  });
  Solution solution, wanted;
  std::vector<SolverStatistics> statistics;
  const LadderResult result = solve_with(mine, problem, &solution, &statistics);
  EXPECT_TRUE(result.certified);
  EXPECT_EQ(result.solver, "mine");
  EXPECT_EQ(result.escalations, 0);
  EXPECT_EQ(mine->asked, 2);  // once per island
  ASSERT_EQ(statistics.size(), 3U);
  EXPECT_EQ(statistics[0].solver, "mine");
  EXPECT_EQ(statistics[0].solves, 2);
  EXPECT_EQ(statistics[0].certified, 2);
  EXPECT_EQ(statistics[1].solves, 0);
  SolverLadder({}).solve(problem, &wanted);
  EXPECT_LT((solution.v - wanted.v).norm(), 1e-12);
  EXPECT_LT((solution.w - wanted.w).norm(), 1e-12);
  EXPECT_LT((solution.lambda - wanted.lambda).norm(), 1e-12);
}

TEST(Prototype, LeavesNoTraceWhereItFails) {
  const Problem problem = make_two_islands();
  Solution wanted;
  const LadderResult reference = SolverLadder({}).solve(problem, &wanted);
  const Prototype::Function failures[] = {
      [](const Problem&, double, VecX*) { return false; },
      [](const Problem&, double, VecX* lambda) {
        lambda->setConstant(7);
        return false;
      },
      [](const Problem&, double, VecX* lambda) {
        lambda->setConstant(0.3);  // wrong
        return true;
      },
      [](const Problem&, double, VecX* lambda) {
        lambda->setConstant(std::numeric_limits<double>::quiet_NaN());
        return true;
      },
      [](const Problem&, double, VecX* lambda) {
        lambda->setZero(lambda->size() + 1);
        return true;
      },
  };
  for (const Prototype::Function& failure : failures) {
    Solution solution;
    std::vector<SolverStatistics> statistics;
    const LadderResult result = solve_with(std::make_shared<Prototype>(failure), problem, &solution, &statistics);
    EXPECT_TRUE(result.certified);
    EXPECT_EQ(result.solver, reference.solver);
    EXPECT_EQ(result.escalations, 2);  // on record, once per island
    EXPECT_EQ(statistics[0].solves, 2);
    EXPECT_EQ(statistics[0].certified, 0);
    EXPECT_EQ((solution.v - wanted.v).norm(), 0);
    EXPECT_EQ((solution.lambda - wanted.lambda).norm(), 0);
  }
}

TEST(Prototype, HasTheGuess) {
  const Problem problem = make_two_islands();
  Solution first, second;
  SolverLadder({}).solve(problem, &first);
  second = first;
  const auto mine =
      std::make_shared<Prototype>([](const Problem&, double, VecX*) { return true; });  // the guess itself
  std::vector<SolverStatistics> statistics;
  EXPECT_EQ(solve_with(mine, problem, &second, &statistics).solver, "mine");
  EXPECT_EQ((second.lambda - first.lambda).norm(), 0);
}

}  // namespace
}  // namespace slipstick
