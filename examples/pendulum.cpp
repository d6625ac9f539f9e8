// A pendulum built in code: 1000 steps of second order, its energy, and the time that they took.
#include <slipstick/slipstick.h>

#include <chrono>
#include <cmath>
#include <cstdio>

using namespace slipstick;

int main() {
  Builder builder;
  builder.options.scheme = "trapezoid";
  builder.options.step = 0.001;
  BodyDescription& bob = builder.body("bob", {1, 0, 0}, {make_sphere(0.05)});
  bob.mass = 1;
  builder.hinge("pivot", "world", "bob", {0, 0, 0}, Vec3::UnitY());

  const Result<Scene> scene = builder.compile();
  if (!scene) {
    for (const Fault& fault : scene.faults()) std::fprintf(stderr, "%s\n", fault.text().c_str());
    return 1;
  }
  Simulation sim(*scene);

  const EnergySplit start = sim.energy();
  const auto clock = std::chrono::steady_clock::now();
  int uncertified = 0;
  for (int i = 0; i < 1000; ++i) uncertified += sim.step().certified ? 0 : 1;
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - clock;

  const EnergySplit end = sim.energy();
  const double drift = end.kinetic + end.potential - start.kinetic - start.potential;
  const Vec3& at = sim.state().pose[0].position;
  std::printf("1000 steps in %.1f ms, %d not certified\n", time.count(), uncertified);
  std::printf("bob at (%.6f, %.6f, %.6f), energy drift %.1e J\n", at.x(), at.y(), at.z(), drift);
  return uncertified == 0 && std::abs(drift) < 1e-4 && std::abs(at.norm() - 1) < 1e-6 ? 0 : 1;
}
