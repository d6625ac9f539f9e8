// The three grades of a step, by what the judge found of it.
#include <gtest/gtest.h>

#include "support/simulate.h"

namespace slipstick {
namespace {

/// A ball swings into blocks: in some steps single contacts would cost more than the answer is worth, and
/// are left at 1e-7. Which steps these are nobody promises.
TEST(Grades, WhatIsFinishedShortOfTheToleranceIsAsGoodAsAHeap) {
  int heaps = 0, failed = 0;
  for (const int rate : {101, 103, 105, 107, 109, 113}) {
    const Scene scene = test::shipped_scene("wrecking_ball.yaml");
    Simulation simulation = test::simulation_of(scene, 1.0 / rate);
    while (simulation.state().time < 4) {
      const StepReport& report = simulation.step();
      const double verdict = report.certificate.residual.verdict();
      EXPECT_TRUE(report.certified) << simulation.state().time << ": " << report.note;
      EXPECT_EQ(report.grade(), verdict <= 1e-8 ? Grade::Exact : Grade::Heap) << simulation.state().time;
      EXPECT_LE(verdict, scene.options.heap_tolerance);
      heaps += report.grade() == Grade::Heap;
    }
    // Who asks for no second grade gets none.
    SimulationOptions strict = scene.options;
    strict.step = 1.0 / rate;
    strict.heap_tolerance = 0;
    Simulation again(scene.model, scene.initial, strict);
    while (again.state().time < 4) failed += again.step().grade() == Grade::None;
  }
  EXPECT_GT(heaps, 0) << "else this test says nothing";
  EXPECT_GT(failed, 0);
}

}  // namespace
}  // namespace slipstick
