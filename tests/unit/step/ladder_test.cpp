#include "step/step_solver.h"

#include <gtest/gtest.h>

namespace slipstick {
namespace {

/// A body of one kilogram and one freedom, with a unilateral row of direction `sign` and offset c.
void add_row(int column, double sign, double c, Problem* problem) {
  const RowBlock& block = problem->add_block(LawKind::Nonnegative, 1);
  problem->c[block.row] = c;
  problem->add_entry(column)(0, 0) = sign;
}

Problem make_bodies(int count) {
  Problem problem;
  for (int i = 0; i < count; ++i) problem.add_column(1)(0, 0) = 1;
  for (int i = 0; i < count; ++i) problem.b[i] = -1.0 - i;
  return problem;
}

TEST(StepSolver, SolvesIslandsAndFreeColumns) {
  for (const int threads : {1, 3}) {
    Problem problem = make_bodies(4);
    add_row(0, 1, 0, &problem);
    add_row(2, 1, 0.5, &problem);
    add_row(2, 1, 1.5, &problem);  // column 1 and 3 are free
    SimulationOptions options;
    options.threads = threads;
    StepSolver ladder(options);
    Relaxed relaxed;
    Solution solution;
    const LadderResult result = ladder.solve({}, problem, &relaxed, &solution);
    EXPECT_TRUE(result.certified);
    EXPECT_EQ(result.escalations, 0);
    EXPECT_NEAR(solution.v[0], 0, 1e-12);
    EXPECT_NEAR(solution.v[1], -2, 1e-12);
    EXPECT_NEAR(solution.v[2], -0.5, 1e-12);
    EXPECT_NEAR(solution.v[3], -4, 1e-12);
  }
}

TEST(StepSolver, DropsRestitutionOnRecordWhenThereIsNoSolution) {
  // Two walls ask for v >= 0.5 and v <= 0.2: impossible; without the restitution of the first, v = 0 is an answer.
  Problem problem = make_bodies(1);
  add_row(0, 1, -0.5, &problem);
  add_row(0, -1, 0.2, &problem);
  const std::vector<NormalOffset> normals{{0, -0.5, 0}, {1, 0, 0}};
  StepSolver ladder({});
  Relaxed relaxed;
  Solution solution;
  const LadderResult result = ladder.solve(normals, problem, &relaxed, &solution);
  EXPECT_TRUE(result.certified);
  EXPECT_GE(result.escalations, 1);
  EXPECT_EQ(result.relaxed, "restitution dropped");
  EXPECT_TRUE(result.note.empty());
  EXPECT_NEAR(solution.v[0], 0, 1e-9);
  // The relaxation is a problem of its own; the given one is as it was.
  EXPECT_TRUE(relaxed.taken);
  EXPECT_EQ(relaxed.problem.c[0], 0);
  EXPECT_EQ(problem.c[0], -0.5);
}

TEST(StepSolver, LeavesAPenetrationWhenItCannotBeCorrected) {
  // Squeezed between two walls that overlap it: both ask to move away.
  Problem problem = make_bodies(1);
  add_row(0, 1, -0.3, &problem);
  add_row(0, -1, -0.3, &problem);
  const std::vector<NormalOffset> normals{{0, 0, -0.3}, {1, 0, -0.3}};
  StepSolver ladder({});
  Relaxed relaxed;
  Solution solution;
  const LadderResult result = ladder.solve(normals, problem, &relaxed, &solution);
  EXPECT_TRUE(result.certified);
  EXPECT_EQ(result.relaxed, "penetration not corrected");
  EXPECT_TRUE(relaxed.taken);
  EXPECT_EQ(relaxed.problem.c[1], 0);
  EXPECT_EQ(problem.c[1], -0.3);
  EXPECT_NEAR(solution.v[0], 0, 1e-9);
}

TEST(StepSolver, NeverLeavesOutWhatAPrescribedBodyDoes) {
  // Both walls overlap the body. The one below goes away at 0.25 m/s and asks for 0.3 m/s more than that; the one above
  // comes on at 0.2 m/s and asks for 0.1 m/s more.
  Problem problem = make_bodies(1);
  add_row(0, 1, -0.05, &problem);
  add_row(0, -1, -0.3, &problem);
  const std::vector<NormalOffset> normals{{0, 0, -0.3}, {1, 0, -0.1}};
  StepSolver ladder({});
  Relaxed relaxed;
  Solution solution;
  const LadderResult result = ladder.solve(normals, problem, &relaxed, &solution);
  EXPECT_TRUE(result.certified);
  EXPECT_EQ(result.relaxed, "penetration not corrected");
  EXPECT_NEAR(relaxed.problem.c[1], -0.2, 1e-15);
  EXPECT_NEAR(relaxed.problem.c[0], 0.25, 1e-15);
  EXPECT_NEAR(solution.v[0], -0.25, 1e-9);  // it gives way, and falls faster than it must
  // The wall below stands still and does not overlap: it cannot.
  problem.c[0] = 0;
  const LadderResult jammed =
      ladder.solve(std::vector<NormalOffset>{{0, 0, 0}, {1, 0, -0.1}}, problem, &relaxed, &solution);
  EXPECT_FALSE(jammed.certified);
  EXPECT_FALSE(relaxed.taken);
  EXPECT_TRUE(jammed.relaxed.empty());
  EXPECT_EQ(jammed.note, "a prescribed motion closes in on what does not give way");
}

TEST(StepSolver, SaysWhenNothingHelps) {
  // Two joints that contradict each other.
  Problem problem = make_bodies(1);
  for (const double c : {0.1, -0.2}) {
    const RowBlock& block = problem.add_block(LawKind::Equality, 1);
    problem.c[block.row] = c;
    problem.add_entry(0)(0, 0) = 1;
  }
  StepSolver ladder({});
  Relaxed relaxed;
  Solution solution;
  const LadderResult result = ladder.solve({}, problem, &relaxed, &solution);
  EXPECT_FALSE(result.certified);
  EXPECT_FALSE(relaxed.taken);
  EXPECT_FALSE(result.note.empty());
  EXPECT_GT(result.residual.relative, 0.1);
}

/// The report's count of islands and the solver's own agree, also where an island is asked for a second time after
/// sweeps, and where a relaxed problem takes the place of one that has no solution.
TEST(StepSolver, CountsEveryIslandOnceHoweverOftenItIsTried) {
  Problem problem = make_bodies(3);
  add_row(0, 1, -0.3, &problem);  // squeezed: the ladder tries all it has, then relaxes
  add_row(0, -1, -0.3, &problem);
  add_row(1, 1, 0, &problem);
  const std::vector<NormalOffset> normals{{0, 0, -0.3}, {1, 0, -0.3}, {2, 0, 0}};
  StepSolver ladder({});
  StepReport report;
  ladder.begin(&report);
  Relaxed relaxed;
  Solution solution;
  const LadderResult result = ladder.solve(normals, problem, &relaxed, &solution);
  EXPECT_TRUE(relaxed.taken);
  EXPECT_GE(result.escalations, 3);  // lemke, the second time of the first rung, the relaxation
  EXPECT_EQ(report.islands, 4);      // two, and two again with the relaxed problem
  EXPECT_EQ(ladder.statistics().front().solves, 4);
  EXPECT_EQ(ladder.statistics().front().certified, 3);
  EXPECT_GT(report.work, 0);
}

TEST(Options, FaultsNameTheirKey) {
  struct Case {
    void (*spoil)(SimulationOptions*);
    std::string item, key;
  };
  const std::vector<Case> cases{
      {[](SimulationOptions* o) { o->step = 0; }, "", "step"},
      {[](SimulationOptions* o) { o->step = 1e-13; }, "", "step"},
      {[](SimulationOptions* o) { o->duration = 1e13; }, "", "duration"},
      {[](SimulationOptions* o) { o->heap_tolerance = 1; }, "", "heap_tolerance"},
      {[](SimulationOptions* o) { o->restitution_threshold = -1; }, "", "restitution_threshold"},
      {[](SimulationOptions* o) { o->scheme = "alpha-gamma", o->alpha_gamma.alpha = 0; }, "scheme", "alpha"},
      {[](SimulationOptions* o) { o->scheme = "spook", o->spook.damping_steps = 0; }, "scheme", "damping_steps"},
      {[](SimulationOptions* o) { o->facets = 5; }, "friction", "facets"},
      {[](SimulationOptions* o) { o->solver_options.relaxation = 2; }, "solver", "relaxation"},
      {[](SimulationOptions* o) { o->solver_options.threads = 0; }, "solver", "threads"},
      {[](SimulationOptions* o) { o->threads = 0; }, "", "threads"},
      {[](SimulationOptions* o) { o->scheme = "x"; }, "", "scheme"},
      {[](SimulationOptions* o) { o->solver = "keller"; }, "", "solver"},
  };
  for (const Case& one : cases) {
    SimulationOptions options;
    one.spoil(&options);
    const std::vector<OptionFault> faults = find_option_faults(options);
    ASSERT_EQ(faults.size(), 1u) << one.key;
    EXPECT_EQ(faults[0].item, one.item) << faults[0].message;
    EXPECT_EQ(faults[0].key, one.key) << faults[0].message;
  }
}

TEST(Options, EveryFaultIsNamed) {
  const auto faults = [](auto change) {
    SimulationOptions options;
    change(&options);
    return find_option_faults(options);
  };
  EXPECT_TRUE(faults([](SimulationOptions*) {}).empty());
  EXPECT_EQ(faults([](SimulationOptions* o) { o->step = 0; }).size(), 1u);
  EXPECT_EQ(faults([](SimulationOptions* o) { o->duration = -1; }).size(), 1u);
  EXPECT_EQ(faults([](SimulationOptions* o) { o->stabilization = 1.5; }).size(), 1u);
  EXPECT_EQ(faults([](SimulationOptions* o) { o->facets = 5; }).size(), 1u);
  EXPECT_EQ(faults([](SimulationOptions* o) { o->threads = 0; }).size(), 1u);
  EXPECT_EQ(faults([](SimulationOptions* o) { o->tolerance = 0; }).size(), 1u);
  const auto scheme = faults([](SimulationOptions* o) { o->scheme = "stabilised"; });
  ASSERT_EQ(scheme.size(), 1u);
  EXPECT_EQ(scheme[0].message, "unknown scheme 'stabilised'; did you mean 'stabilized'?");
  EXPECT_EQ(faults([](SimulationOptions* o) { o->solver = "lemk"; })[0].message,
            "unknown solver 'lemk'; did you mean 'lemke'?");
}

}  // namespace
}  // namespace slipstick
