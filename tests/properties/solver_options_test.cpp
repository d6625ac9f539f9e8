// Solver options reach the solver of every step, and a budget that is used up is reported, not hidden.
#include "support/simulate.h"

namespace slipstick::test {
namespace {

constexpr const char* kColumn =
    "materials: {default: {friction: 0.5}}\n"
    "bodies:\n"
    "  - {name: ground, fixed: true, shapes: [plane: {normal: [0, 0, 1]}]}\n"
    "  - {name: a, mass: 1, position: [0, 0, 0.5], shapes: [box: {size: [1, 1, 1]}]}\n"
    "  - {name: b, mass: 1, position: [0, 0, 1.5], shapes: [box: {size: [1, 1, 1]}]}\n";

Simulation column_with(const std::string& solver) {
  return simulation_of(scene_of(kColumn + std::string("simulation: {solver: ") + solver + "}\n"));
}

TEST(SolverOptionsInScenes, ABudgetIsKeptAndReported) {
  Simulation simulation = column_with("{pgs: {iterations: 3}}");
  const StepReport& report = simulation.step();
  EXPECT_EQ(report.iterations, 3);
  EXPECT_FALSE(report.certified);
  EXPECT_FALSE(report.failed);
  EXPECT_EQ(report.escalations, 0);  // the problem is not relaxed because the budget was small
  EXPECT_EQ(report.note, "iteration limit");
}

TEST(SolverOptionsInScenes, SweepsInSimulationAreTheSameForAnyThreads) {
  Simulation one = column_with("{pgs: {iterations: 9, order: coloured}}");
  Simulation many = column_with("{pgs: {iterations: 9, order: coloured, threads: 4}}");
  for (int i = 0; i < 20; ++i) {
    one.step();
    many.step();
  }
  EXPECT_EQ(motion_of(one, "b").pose.position, motion_of(many, "b").pose.position);
  EXPECT_EQ(motion_of(one, "b").velocity, motion_of(many, "b").velocity);
}

TEST(SolverOptionsInScenes, SplitHoldsAColumn) {
  Simulation simulation = column_with("{split: {sweeps: 5}}");
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(simulation.step().certified);
}

// What a scene says about modes reaches the rows, and the halves of every solve are on record.
TEST(SolverOptionsInScenes, ModesReachTheRows) {
  Simulation simulation = simulation_of(scene_of(
      "materials: {default: {friction: 0.5, solve: iterative}, hard: {solve: direct}}\n"
      "bodies:\n"
      "  - {name: ground, fixed: true, shapes: [plane: {normal: [0, 0, 1]}]}\n"
      "  - {name: a, mass: 1, position: [0, 0, 0.5], shapes: [box: {size: [1, 1, 1]}]}\n"
      "  - {name: b, mass: 1, position: [3, 0, 0.5], material: hard, shapes: [sphere: {radius: 0.5}]}\n"
      "joints:\n"
      "  - hinge: {between: [world, b], at: [3, 0, 0.5], axis: [0, 1, 0], motor: {speed: 1, max: 5}, solve: split}\n"
      "simulation: {solver: {split: {coupling: 4}}}\n"));
  simulation.step();
  int iterative = 0, direct = 0, split = 0;
  for (const RowBlock& block : simulation.problem().blocks) {
    const bool contact = block.law == LawKind::Friction;
    iterative += contact && block.mode == SolveMode::Iterative;
    direct += contact && block.mode == SolveMode::Direct;
    split += !contact && block.mode == SolveMode::Split;
  }
  EXPECT_EQ(iterative, 4);
  EXPECT_EQ(direct, 1);
  EXPECT_EQ(split, 2);  // the hinge and its motor
  ASSERT_EQ(simulation.solver_statistics().size(), 1u);
  const SolverStatistics& statistics = simulation.solver_statistics()[0];
  EXPECT_GT(statistics.couplings, 0);
  EXPECT_LE(statistics.couplings, 4 * statistics.solves);
  EXPECT_GT(statistics.iterative_residual_max, 0);
  EXPECT_LE(statistics.direct_residual_max, 1e-8);
}

}  // namespace
}  // namespace slipstick::test
