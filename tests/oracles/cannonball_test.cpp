// The collapse of 66 disks: early energies of the discrete method, which independent implementations reproduce.
#include "support/simulate.h"

namespace slipstick::test {
namespace {

TEST(Cannonball, EarlyEnergies) {
  const Scene scene = shipped_scene("cannonball.yaml");
  Simulation simulation = simulation_of(scene);
  const auto energy = [&] { return simulation.energy().kinetic + simulation.energy().potential; };
  EXPECT_NEAR(energy(), 13156.7161586855, 1e-9 * 13156);
  run_until(0.05, &simulation);
  EXPECT_NEAR(energy(), 13155.9215, 1e-3);
  run_until(0.5, &simulation);
  EXPECT_NEAR(energy(), 13132.35, 0.05);
  run_until(1, &simulation);
  EXPECT_NEAR(energy(), 13069.46, 0.05);
  run_until(2, &simulation);
  EXPECT_NEAR(energy(), 12820.1, 1);
}

}  // namespace
}  // namespace slipstick::test
