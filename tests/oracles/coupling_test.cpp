// Gears, racks and springs on axes over a long time: energies, with `close_joints` and without, and orders.
#include <algorithm>
#include <cmath>

#include "support/simulate.h"

namespace slipstick::test {
namespace {

double sum_energy(const Simulation& simulation) {
  const EnergySplit energy = simulation.energy();
  return energy.kinetic + energy.potential;
}

/// Two arms on hinges to the world, the second one 2 m aside, and what couples them.
Scene arms(const std::string& coupling, const std::string& options) {
  return scene_of(R"yaml(
bodies:
  - {name: a, mass: 1, inertia: [0.02, 0.03, 0.04], position: [0.5, 0, 0]}
  - {name: b, mass: 0.7, inertia: [0.01, 0.02, 0.015], position: [2.4, 0, 0.3]}
joints:
  - hinge: {name: j0, between: [world, a], at: [0, 0, 0], axis: [0, 1, 0]}
  - hinge: {name: j1, between: [world, b], at: [2, 0, 0], axis: [0, 1, 0]}
  - )yaml" + coupling +
                  "\nsimulation: {" + options + "}\n");
}

/// A base on a ball joint, and two arms on it.
Scene swinging(const std::string& more, const std::string& options) {
  return scene_of(R"yaml(
bodies:
  - {name: base, mass: 2, inertia: [0.1, 0.1, 0.15], position: [0.4, 0, 0.1]}
  - {name: a, mass: 1, inertia: [0.02, 0.03, 0.04], position: [0.5, 0, 0]}
  - {name: b, mass: 0.7, inertia: [0.01, 0.02, 0.015], position: [1.2, 0, 0]}
joints:
  - ball: {name: pin, between: [world, base], at: [0, 0, 0]}
)yaml" + more + "simulation: {" +
                  options + "}\n");
}

const std::string kGeared = R"yaml(
  - hinge: {name: j0, between: [base, a], at: [0.1, 0, 0], axis: [0, 1, 0]}
  - hinge: {name: j1, between: [base, b], at: [0.8, 0, 0], axis: [0, 0.6, 0.8]}
  - gear: {name: g, joints: [j0, j1], ratio: 2}
)yaml";
const std::string kCurved = R"yaml(
  - hinge: {name: j0, between: [base, a], at: [0.1, 0, 0], axis: [0, 1, 0]}
  - hinge: {name: j1, between: [base, b], at: [0.8, 0, 0], axis: [0, 0.6, 0.8]}
  - gear: {name: g, joints: [j0, j1], polynomial: [0, 0.5, 0.3]}
)yaml";
const std::string kRubbed = R"yaml(
  - hinge: {name: j0, between: [base, a], at: [0.1, 0, 0], axis: [0, 1, 0]}
  - hinge: {name: j1, between: [base, b], at: [0.8, 0, 0], axis: [0, 0.6, 0.8], friction: 1e-9}
)yaml";
const std::string kSprung = R"yaml(
  - hinge: {name: j0, between: [base, a], at: [0.1, 0, 0], axis: [0, 1, 0], stiffness: 4}
  - hinge: {name: j1, between: [base, b], at: [0.8, 0, 0], axis: [0, 0.6, 0.8], motor: {torque: 0.1}}
)yaml";

double lose(const Scene& scene, double duration) {
  Simulation simulation = simulation_of(scene, 0.005);
  const double start = sum_energy(simulation);
  double worst = 0;
  while (simulation.state().time < duration - 1e-9) {
    const StepReport& report = simulation.step();
    EXPECT_TRUE(report.certified);
    worst = std::max(worst, std::abs(sum_energy(simulation) - start));
    if (!report.certified) break;
  }
  return worst;
}

TEST(Coupling, APolynomialGearOfTrapezoidIsOfSecondOrder) {
  // Its rows are at q*, and so must be the slope of its curve.
  const auto run = [](double h) {
    Simulation simulation =
        simulation_of(arms("gear: {joints: [j0, j1], polynomial: [0, 0.5, 0.3]}", "scheme: trapezoid"), h);
    run_until(1, &simulation);
    return motion_of(simulation, "a").pose.position;
  };
  const Vec3 known = run(1.0 / 1600);
  const double coarse = (run(1.0 / 50) - known).norm(), fine = (run(1.0 / 200) - known).norm();
  EXPECT_GT(std::log2(coarse / fine) / 2, 1.8) << coarse << " " << fine;
}

TEST(Coupling, APolynomialGearOfTrapezoidKeepsTheEnergy) {
  EXPECT_LT(lose(arms("gear: {joints: [j0, j1], polynomial: [0, 1, 0.2, -0.1]}", "scheme: trapezoid"), 10), 0.01);
}

/// Energy after five seconds, the mean of the last one.
double end_at(const std::string& more, const std::string& options, double h = 0.005) {
  Simulation simulation = simulation_of(swinging(more, options), h);
  double mean = 0;
  const int second = static_cast<int>(std::lround(1 / h));
  for (int k = 0; k < 5 * second; ++k) {
    const StepReport& report = simulation.step();
    EXPECT_TRUE(report.certified) << options << more;
    if (k >= 4 * second) mean += sum_energy(simulation) / second;
  }
  return mean;
}

TEST(Coupling, ClosedJointsLoseNoEnergy) {
  // 1 J and more was lost where positions were closed after a step whose rows did not know of it.
  for (const std::string scheme : {"stabilized", "euler", "spook"})
    for (const std::string& more : {kGeared, kCurved, kRubbed}) {
      const double start = sum_energy(simulation_of(swinging(more, ""), 0.005));
      EXPECT_NEAR(end_at(more, "close_joints: true, scheme: " + scheme), start, 0.15) << scheme << more;
    }
}

/// A motor that pulls a swinging machine with a spring: with `close_joints` the energy is at least as near to that of
/// short steps as without. (What a motor drives is of first order; close_joints takes some of that away.)
TEST(Coupling, ClosedJointsAreNoWorseForSpringsAndMotors) {
  const double known = end_at(kSprung, "scheme: trapezoid", 0.005 / 8);
  for (const std::string scheme : {"stabilized", "euler", "spook"}) {
    const double open = std::abs(end_at(kSprung, "scheme: " + scheme) - known),
                 closed = std::abs(end_at(kSprung, "close_joints: true, scheme: " + scheme) - known);
    EXPECT_LT(closed, std::max(open, 0.05)) << scheme;
  }
}

TEST(Coupling, ClosedJointsAreClosedByTheStepItself) {
  // Nothing is left that a projection would have to take away.
  for (const std::string& more : {kGeared, kCurved, kRubbed, kSprung}) {
    Simulation simulation = simulation_of(swinging(more, "close_joints: true"), 0.005);
    for (int k = 0; k < 400; ++k) {
      const StepReport& report = simulation.step();
      ASSERT_TRUE(report.certified);
      ASSERT_EQ(report.certificate.ledger.correction, 0) << more << simulation.state().time;
    }
  }
}

TEST(Coupling, ACurvedGearOfSpookIsAsTightAsItsJoints) {
  Simulation simulation =
      simulation_of(arms("gear: {joints: [j0, j1], polynomial: [0, 1, 0.2, -0.1]}", "scheme: spook"), 0.005);
  double worst = 0;
  for (int k = 0; k < 400; ++k) {
    ASSERT_TRUE(simulation.step().certified);
    const double q = simulation.joint("j1").position;
    const double error = simulation.joint("j0").position - (q + 0.2 * q * q - 0.1 * q * q * q);
    worst = std::max(worst, std::abs(error));
  }
  EXPECT_LT(worst, 2e-5);
}

}  // namespace
}  // namespace slipstick::test
