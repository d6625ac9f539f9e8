// Blades, rolling joints and tops: nothing of this takes energy, whatever the step.
#include <algorithm>
#include <cmath>

#include "support/simulate.h"

namespace slipstick::test {
namespace {

Simulation roll_with(const Scene& scene, double h, const char* scheme) {
  SimulationOptions options = scene.options;
  options.scheme = scheme;
  options.step = h;
  return {scene.model, scene.initial, options};
}

double calc_rolling_energy(const Simulation& simulation) {
  const EnergySplit energy = simulation.energy();
  return energy.kinetic + energy.potential;
}

/// The largest change of the energy until time t, J; every step must be certified.
double calc_energy_swing(double t, Simulation* simulation) {
  const double start = calc_rolling_energy(*simulation);
  double swing = 0;
  while (simulation->state().time < t - 1e-9) {
    const StepReport& report = simulation->step();
    EXPECT_TRUE(report.certified) << "t = " << simulation->state().time << ": " << report.note;
    swing = std::max(swing, std::abs(calc_rolling_energy(*simulation) - start));
  }
  return swing;
}

const char* const kBlade = R"yaml(
bodies: [{name: sled, mass: 1, inertia: [0.02, 0.03, 0.04], position: [0.1, 0, 0], velocity: [1.2, -0.34, 0.25], angular_velocity: [-1.1, -0.9, -3.4]}]
joints: [{knife_edge: {between: [world, sled], at: [0, 0, 0], axis: [0, 1, 0]}}]
)yaml";

TEST(Rolling, ABladeInSpaceKeepsItsEnergy) {
  // The row of the start alone slows down what turns: 0.8 J in the first second, 12 J in the fourth.
  for (const char* scheme : {"stabilized", "euler"}) {
    double swing[2];
    for (int k = 0; k < 2; ++k) {
      Simulation simulation = roll_with(scene_of(kBlade), k ? 0.005 : 0.01, scheme);
      simulation.step();  // the velocities given are not quite those that the blade allows
      swing[k] = calc_energy_swing(4, &simulation);
    }
    EXPECT_LT(swing[0], 0.1) << scheme;
    EXPECT_GT(swing[0] / swing[1], 3.4) << scheme;
  }
}

TEST(Rolling, ADiskThatLeansKeepsItsEnergy) {
  const Scene scene = scene_of(R"yaml(
let: {lean: 25*deg}
bodies: [{name: disk, mass: 1, inertia: [0.02, 0.04, 0.02], position: [0, 0, 0.3*cos(lean)], orientation: {axis: [1, 0, 0], angle_deg: 25},
  velocity: [3.5157233146440134, -0.014830491060599638, -0.006915571555756728], angular_velocity: [0.054545454545452905, 12.572854621528254, 0.7671264970281116]}]
joints: [{rolling: {between: [world, disk], normal: [0, 0, 1], radius: 0.3, axle: [0, cos(lean), sin(lean)]}}]
)yaml");
  for (const char* scheme : {"stabilized", "euler"}) {
    Simulation simulation = roll_with(scene, 0.01, scheme);
    EXPECT_LT(calc_energy_swing(5, &simulation), 6e-3) << scheme;  // of 9.1 J; 0.022 J were gone
  }
  // And does not drift.
  Simulation simulation = roll_with(scene, 0.01, "stabilized");
  EXPECT_LT(calc_energy_swing(30, &simulation), 6e-3);
}

TEST(Rolling, AFastTopDoesNotDrift) {
  // The turn within a step is that of the velocity that the joint leaves: with the one of a free body 0.07 J of 150 J
  // went in 20 s.
  const Scene scene = scene_of(R"yaml(
let: {lean: 30*deg}
bodies: [{name: top, mass: 1, inertia: [0.02, 0.02, 0.03], position: [0.3*sin(lean), 0, 0.3*cos(lean)], orientation: {axis: [0, 1, 0], angle_deg: 30},
  angular_velocity: [100*sin(lean), 0, 100*cos(lean)]}]
joints: [{ball: {between: [world, top], at: [0, 0, 0]}}]
)yaml");
  Simulation simulation = roll_with(scene, 0.01, "stabilized");
  EXPECT_LT(calc_energy_swing(20, &simulation), 0.03);
}

}  // namespace
}  // namespace slipstick::test
