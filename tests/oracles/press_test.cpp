// A plate with prescribed motion that comes down on what stands on the floor and cannot give way: no step of that has
// a certificate, and all before it and after it have.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/simulate.h"

namespace slipstick {
namespace {

using test::motion_of;
using test::scene_of;
using test::simulation_of;

/// The plate comes down at 0.5 m/s from 0.1 m above something 1 m high, and goes up again after 0.3 s.
Scene press(const std::string& pressed, const std::string& scheme) {
  return scene_of(R"(
bodies:
  - {name: floor, fixed: true, position: [0, 0, -0.5], shapes: [{box: {size: [10, 10, 1]}}]}
  - {name: part, mass: 1, position: [0, 0, 0.5], shapes: [)" +
                  pressed + R"(]}
  - {name: plate, kinematic: {velocity: [0, 0, "t < 0.3 ? -0.5 : 0.5"]}, position: [0, 0, 1.6],
     shapes: [{box: {size: [3, 3, 1]}}]}
simulation: {step: 1/100, duration: 0.8, scheme: )" +
                  scheme + "}\n");
}

struct PressCase {
  const char* scheme;
  std::vector<const char*> parts;
  double end;  ///< s; located events try hard in each step that jams
};

class Press : public testing::TestWithParam<PressCase> {};

TEST_P(Press, IsNotCertifiedWhileThePlateCannotGoOn) {
  for (const char* part : GetParam().parts) {
    Simulation simulation = simulation_of(press(part, GetParam().scheme));
    while (simulation.state().time < GetParam().end - 1e-9) {
      const StepReport& report = simulation.step();
      const double t = simulation.state().time;
      const std::string where = std::string(part) + " at t = " + std::to_string(t) + ": " + std::string(report.note);
      // It touches at 0.2 s, and has room again when it is as high as that: at 0.4 s.
      if (t < 0.195) {
        EXPECT_TRUE(report.certified) << where;
      }
      if (t > 0.215 && t < 0.305) {
        EXPECT_FALSE(report.certified) << where;
      }
      if (t > 0.45) {
        EXPECT_TRUE(report.certified) << where;
      }
      EXPECT_FALSE(report.failed) << where;
      EXPECT_TRUE(report.relaxed.empty() || report.relaxed == "penetration not corrected") << where;
    }
    EXPECT_LT(motion_of(simulation, "part").velocity.norm(), 10) << part;
  }
}

const std::vector<const char*> kParts{"{box: {size: [1, 1, 1]}}", "{sphere: {radius: 0.5}}",
                                      "{cylinder: {radius: 0.3, length: 1}}"};
INSTANTIATE_TEST_SUITE_P(OfEveryScheme, Press,
                         testing::Values(PressCase{"stabilized", kParts, 0.6}, PressCase{"spook", kParts, 0.6},
                                         PressCase{"euler", {kParts[0]}, 0.23},
                                         PressCase{"trapezoid", {kParts[1]}, 0.23}),
                         [](const auto& info) { return std::string(info.param.scheme); });

/// With room to give way, sideways between inclined faces, nothing is wrong: the same plate pushes a ball out.
TEST(PressOut, WhatCanGiveWayIsCertified) {
  Simulation simulation = simulation_of(scene_of(R"(
materials: {default: {friction: 0}}
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {name: ball, mass: 1, position: [0.2, 0, 0.1], shapes: [{sphere: {radius: 0.1}}]}
  - {name: plate, kinematic: {velocity: [0, 0, -0.5]}, position: [0, 0, 0.7], orientation: {axis: [0, 1, 0], angle_deg: -45},
     shapes: [{box: {size: [0.6, 0.6, 0.6]}}]}
simulation: {step: 1/100, duration: 0.58}
)"));
  for (int k = 0; k < 58; ++k) {
    const StepReport& report = simulation.step();
    EXPECT_TRUE(report.certified) << simulation.state().time << ": " << report.note;
  }
  EXPECT_NEAR(motion_of(simulation, "ball").velocity.x(), 0.5, 1e-9);
}

}  // namespace
}  // namespace slipstick
