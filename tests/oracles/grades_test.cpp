// The three grades of a step, by what the judge found of it.
#include <gtest/gtest.h>

#include "support/simulate.h"

namespace slipstick {
namespace {

/// A struck wall: in some steps single contacts would cost more than the answer is worth, and are left at 1e-7.
TEST(Grades, WhatIsFinishedShortOfTheToleranceIsAsGoodAsAHeap) {
  for (const int rate : {110, 117}) {
    const Scene scene = test::shipped_scene("wrecking_ball.yaml");
    Simulation simulation = test::simulation_of(scene, 1.0 / rate);
    int heaps = 0;
    while (simulation.state().time < 1.2) {
      const StepReport& report = simulation.step();
      const double verdict = report.certificate.residual.verdict();
      EXPECT_TRUE(report.certified) << simulation.state().time << ": " << report.note;
      EXPECT_EQ(report.grade(), verdict <= 1e-8 ? Grade::Exact : Grade::Heap) << simulation.state().time;
      EXPECT_LE(verdict, scene.options.heap_tolerance);
      heaps += report.grade() == Grade::Heap;
    }
    EXPECT_GT(heaps, 0) << rate;
    // Who asks for no second grade gets none.
    SimulationOptions strict = scene.options;
    strict.step = 1.0 / rate;
    strict.heap_tolerance = 0;
    Simulation again(scene.model, scene.initial, strict);
    int failed = 0;
    while (again.state().time < 1.2) failed += again.step().grade() == Grade::None;
    EXPECT_GT(failed, 0) << rate;
  }
}

}  // namespace
}  // namespace slipstick
