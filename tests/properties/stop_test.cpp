// A step that is stopped leaves everything as it was; what follows has the bits of a run that nobody stopped.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "support/simulate.h"

namespace slipstick::test {
namespace {

/// A heap that begins with overlap: steps, impacts, events and corrections all have something to do.
Scene stopped_scene(const std::string& scheme) {
  return scene_of(
      "materials: {default: {friction: 0.4, restitution: 0.2}}\n"
      "bodies:\n  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
      "  - {name: 'b_{i}', repeat: {i: 12}, mass: 1, position: ['0.3*sin(i)', '0.3*cos(i)', '0.15+0.17*i'], "
      "shapes: [{box: {size: [0.2, 0.25, 0.2]}}]}\n"
      "simulation: {duration: 1, step: 1/100, scheme: " +
      scheme + "}\n");
}

TEST(Stop, AStoppedStepIsNone) {
  for (const std::string_view scheme : scheme_names()) {
    SCOPED_TRACE(scheme);
    Scene scene = stopped_scene(std::string(scheme));
    Simulation plain = simulation_of(scene);
    std::atomic<bool> stop = false;
    scene.options.stop = &stop;
    Simulation stopped = simulation_of(scene);
    for (int k = 0; k < 20; ++k) {
      const auto before = hash(stopped.state());
      stop = true;
      const StepReport& report = stopped.step();
      EXPECT_TRUE(report.stopped && report.failed && !report.certified);
      EXPECT_EQ(hash(stopped.state()), before);
      stop = false;
      EXPECT_FALSE(stopped.step().stopped);
      plain.step();
      ASSERT_EQ(hash(stopped.state()), hash(plain.state()));
    }
  }
}

/// Wherever in a step it comes: the step has been made, or it has not.
TEST(Stop, AtAnyTimeWithinAStep) {
  Scene scene = stopped_scene("stabilized");
  Simulation plain = simulation_of(scene);
  std::atomic<bool> stop = false;
  scene.options.stop = &stop;
  Simulation stopped = simulation_of(scene);
  int given_up = 0;
  for (int k = 0; k < 60; ++k) {
    plain.step();
    const auto before = hash(stopped.state());
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(37 * k));
      stop = true;
    });
    const bool stopped_there = stopped.step().stopped;
    other.join();
    stop = false;
    if (stopped_there) {
      ++given_up;
      EXPECT_EQ(hash(stopped.state()), before);
      stopped.step();
    }
    ASSERT_EQ(hash(stopped.state()), hash(plain.state())) << "step " << k;
  }
  RecordProperty("given_up", given_up);
}

}  // namespace
}  // namespace slipstick::test
