// Plastic impacts of lone bodies with fixed steps (src/step/landing.h): Housner's block, which rocks from corner to
// corner and keeps (1 - 3/2 sin^2 alpha)^2 of its energy at each impact.
#include <gtest/gtest.h>

#include <cmath>

#include "support/simulate.h"

namespace slipstick {
namespace {

using test::scene_of;
using test::simulation_of;

constexpr double kHalfWidth = 0.15, kHalfHeight = 0.5, kTilt = 0.1, kGravity = 9.81;

struct Setting {
  double h = 1e-3;   ///< at size 1
  double size = 1;   ///< lengths times this, times and steps times its root
  double frame = 0;  ///< degrees: the whole scene turned
  const char* scheme = "stabilized";
  const char* also = "";  ///< more bodies
};

/// The block on its corner in the plane, or a box of any depth in space.
std::string block_text(const Setting& set, bool planar) {
  const double b = kHalfWidth * set.size, c = kHalfHeight * set.size, turn = set.frame * M_PI / 180;
  const double x = c * std::sin(kTilt) - b * std::cos(kTilt), y = b * std::sin(kTilt) + c * std::cos(kTilt);
  const auto number = [](double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.17g", value);
    return std::string(text);
  };
  // In space z is up and the block turns about y; the scene is turned about that axis, or in the plane.
  const auto place = [&](double along, double up) {
    const double a = along * std::cos(turn) - up * std::sin(turn), u = along * std::sin(turn) + up * std::cos(turn);
    return planar ? "[" + number(a) + ", " + number(u) + "]" : "[" + number(a) + ", 0, " + number(u) + "]";
  };
  const double degrees = (planar ? -kTilt : kTilt) * 180 / M_PI + (planar ? set.frame : -set.frame);
  const std::string angle = number(degrees);
  return std::string(planar ? "planar: true\n" : "") + "gravity: " + place(0, -kGravity) +
         "\nmaterials: {default: {friction: 3}}\nbodies:\n"
         "  - {name: floor, fixed: true, shapes: [{plane: {normal: " +
         place(0, 1) + ", offset: 0}}]}\n  - {name: block, mass: 1, position: " + place(x, y) +
         ", orientation: " + (planar ? angle : "{axis: [0, 1, 0], angle_deg: " + angle + "}") +
         ", shapes: [{box: {size: [" + number(2 * b) + ", " +
         (planar ? number(2 * c) : number(0.7 * set.size) + ", " + number(2 * c)) + "]}}]}\n" + set.also +
         "simulation: {scheme: " + set.scheme + ", step: " + number(set.h * std::sqrt(set.size)) + "}\n";
}

/// The largest error of the energies between impacts, relative, each found where the block stands highest.
double find_worst_error(const Setting& set, bool planar, int impacts) {
  Simulation simulation = simulation_of(scene_of(block_text(set, planar)));
  const double c = kHalfHeight * set.size, turn = set.frame * M_PI / 180;
  const int block = *simulation.model().find_body("block");
  const auto height = [&] {
    const Vec3& p = simulation.state().pose[block].position;
    return planar ? -p.x() * std::sin(turn) + p.y() * std::cos(turn) : -p.x() * std::sin(turn) + p.z() * std::cos(turn);
  };
  const double sine = kHalfWidth / std::hypot(kHalfWidth, kHalfHeight), kept = std::pow(1 - 1.5 * sine * sine, 2);
  double energy = height() - c, worst = 0, before = height(), now = before;
  bool rises = false;
  int found = 0;
  for (int k = 0; k < 100000 && found < impacts; ++k) {
    const StepReport& report = simulation.step();
    EXPECT_TRUE(report.certified) << report.note;
    now = height();
    if (rises && now < before) {
      energy *= kept;
      worst = std::max(worst, std::abs((before - c) / energy - 1));
      ++found;
    }
    rises = now > before;
    before = now;
  }
  EXPECT_EQ(found, impacts);
  return worst;
}

TEST(Landing, HousnersBlockKeepsWhatTheoryLeavesIt) {
  EXPECT_LT(find_worst_error({}, true, 1), 2e-4);
  EXPECT_LT(find_worst_error({}, true, 7), 1e-3);
  EXPECT_LT(find_worst_error({.h = 5e-4}, true, 7), 5e-4) << "better with half the step";
  EXPECT_LT(find_worst_error({.scheme = "spook"}, true, 7), 1e-3);
  EXPECT_LT(find_worst_error({.h = 4e-3}, true, 7), 1.2e-2) << "without landings 3e-1";
}

TEST(Landing, TheSameInSpaceInAnyFrameAndAtAnySize) {
  EXPECT_LT(find_worst_error({}, false, 6), 1e-3);
  for (const double frame : {-70.0, 23.0, 131.0}) EXPECT_LT(find_worst_error({.frame = frame}, true, 6), 1e-3) << frame;
  EXPECT_LT(find_worst_error({.frame = 41}, false, 6), 1e-3);
  EXPECT_LT(find_worst_error({.size = 1000}, true, 6), 1e-3);
  EXPECT_LT(find_worst_error({.size = 1e-2}, true, 6), 1e-3);
}

/// The account of energies closes over landings: what no force, friction or impact explains is the error of the scheme.
TEST(Landing, EnergiesAreAccountedFor) {
  Simulation simulation = simulation_of(scene_of(block_text({}, true)));
  EnergyLedger ledger;
  for (int k = 0; k < 2000; ++k) ledger.add(simulation.step().certificate.ledger);
  EXPECT_LT(ledger.impact, -0.09);
  EXPECT_LT(std::abs(ledger.numerical), 0.05 * std::abs(ledger.impact));
}

/// Bodies elsewhere, at rest or coming down in other steps, change no bit of it.
TEST(Landing, IsItsOwnAffair) {
  const char* others = R"yaml(
  - {name: rests, mass: 5, position: [9, 0.5], shapes: [{box: {size: [1, 1]}}]}
  - {name: falls, mass: 5, position: [-9, 1], orientation: 20, shapes: [{box: {size: [1, 1]}}]}
)yaml";
  Simulation alone = simulation_of(scene_of(block_text({}, true)));
  Simulation beside = simulation_of(scene_of(block_text({.also = others}, true)));
  const int block = *alone.model().find_body("block");
  for (int k = 0; k < 1500; ++k) {
    alone.step();
    beside.step();
    ASSERT_EQ(alone.state().pose[block].position, beside.state().pose[block].position) << k;
    ASSERT_EQ(alone.state().velocity[block].linear, beside.state().velocity[block].linear) << k;
  }
}

/// What comes down flat, without anything that carries it, has come to rest after it, and moved no farther than it was
/// thrown: in any direction friction stops it at once.
TEST(Landing, FlatBodiesComeToRest) {
  Simulation simulation = simulation_of(scene_of(R"yaml(
materials: {default: {friction: 2}}
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {name: box, mass: 2, position: [0, 0, 0.6031], velocity: [0.1, 0.05, 0], shapes: [{box: {size: [1, 1, 0.2]}}]}
simulation: {step: 0.01}
)yaml"));
  double worst = 0;
  for (int k = 0; k < 200; ++k) {
    const StepReport& report = simulation.step();
    ASSERT_TRUE(report.certified) << report.note;
    worst = std::max(worst, report.certificate.penetration);
  }
  const int box = *simulation.model().find_body("box");
  EXPECT_LT(simulation.state().velocity[box].linear.norm(), 1e-9);
  EXPECT_LT(worst, 1e-9);
  EXPECT_NEAR(simulation.state().pose[box].position.z(), 0.1, 1e-9);
}

}  // namespace
}  // namespace slipstick
