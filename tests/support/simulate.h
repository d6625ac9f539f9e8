// Shorthand for tests that run a scene written in the test itself.
#pragma once

#include <gtest/gtest.h>
#include <slipstick/scene.h>
#include <slipstick/simulation.h>

#include <string>

namespace slipstick::test {

/// The scene, or a failed test that prints its faults.
inline Scene scene_of(const std::string& text, const SceneLoadOptions& options = {}) {
  Result<Scene> scene = parse_scene("slipstick: 1\n" + text, "test.yaml", options);
  if (scene) return std::move(scene).value();
  for (const Fault& fault : scene.faults()) ADD_FAILURE() << fault.text();
  return {};
}

inline Scene shipped_scene(const std::string& name, const SceneLoadOptions& options = {}) {
  Result<Scene> scene = load_scene(std::string(SLIPSTICK_SOURCE_DIR) + "/scenes/" + name, options);
  if (scene) return std::move(scene).value();
  for (const Fault& fault : scene.faults()) ADD_FAILURE() << fault.text();
  return {};
}

inline Simulation simulation_of(const Scene& scene) { return {scene.model, scene.initial, scene.options}; }

inline Simulation simulation_of(const Scene& scene, double h) {
  SimulationOptions options = scene.options;
  options.step = h;
  return {scene.model, scene.initial, options};
}

/// Steps until time t; every step must be certified.
inline void run_until(double t, Simulation* simulation) {
  while (simulation->state().time < t - 1e-9) {
    const StepReport& report = simulation->step();
    ASSERT_TRUE(report.certified) << "t = " << simulation->state().time << ", relative residual "
                                  << report.certificate.residual.relative << ": " << report.note;
  }
}

inline WorldMotion motion_of(const Simulation& simulation, const std::string& body) {
  const int i = *simulation.model().find_body(body);
  return calc_world_motion(simulation.model().bodies[i], simulation.state().pose[i], simulation.state().velocity[i]);
}

}  // namespace slipstick::test
