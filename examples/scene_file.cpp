// Loads a scene file (or the text below), runs it and prints where everything ended.
#include <slipstick/slipstick.h>

#include <algorithm>
#include <cstdio>

using namespace slipstick;

static const char* const kText = R"yaml(
slipstick: 1
bodies:
  - {name: ground, fixed: true, shapes: [{plane: {}}]}
  - {name: ball, mass: 1, position: [0, 0, 0.5], velocity: [1, 0, 0], shapes: [{sphere: {radius: 0.1}}]}
materials: {default: {friction: 0.4, restitution: 0.5}}
simulation: {step: 1/200, duration: 3}
)yaml";

int main(int argc, char** argv) {
  const Result<Scene> scene = argc > 1 ? load_scene(argv[1]) : parse_scene(kText, "example");
  if (!scene) {
    for (const Fault& fault : scene.faults()) std::fprintf(stderr, "%s\n", fault.text().c_str());
    return 1;
  }
  Simulation sim(*scene);
  double penetration = 0;
  for (long i = calc_step_count(scene->options); i > 0; --i) {
    const StepReport& report = sim.step();
    if (report.failed) {
      std::fprintf(stderr, "t = %g: the step failed\n", sim.state().time);
      return 1;
    }
    penetration = std::max(penetration, report.certificate.penetration);
  }
  for (std::size_t i = 0; i < sim.model().bodies.size(); ++i) {
    const WorldMotion motion = calc_world_motion(sim.model().bodies[i], sim.state().pose[i], sim.state().velocity[i]);
    const Vec3& at = motion.pose.position;
    std::printf("%-8s (%.4f, %.4f, %.4f) m\n", sim.model().bodies[i].name.c_str(), at.x(), at.y(), at.z());
  }
  std::printf("deepest penetration %.1e m\n", penetration);
  return penetration < 1e-3 ? 0 : 1;
}
