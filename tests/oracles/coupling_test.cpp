// Gears over a long time: energies and orders.
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
