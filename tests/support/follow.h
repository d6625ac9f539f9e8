// Shorthand for tests of schemes and events.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "support/simulate.h"

namespace slipstick::test {

/// The scene under a scheme given as in scene files: "trapezoid", or "{alpha-gamma: {alpha: 0.7}}".
inline Scene scene_under(const std::string& name, const std::string& scheme, const std::vector<std::string>& set = {}) {
  SceneLoadOptions load;
  for (const std::string& each : set) {
    const std::size_t at = each.find('=');
    load.set.push_back({each.substr(0, at), each.substr(at + 1)});
  }
  Scene scene = shipped_scene(name, load);
  const Scene other = scene_of("bodies: []\nsimulation: {scheme: " + scheme + "}\n");
  scene.options.scheme = other.options.scheme;
  scene.options.alpha_gamma = other.options.alpha_gamma;
  scene.options.locate = other.options.locate;
  scene.options.spook = other.options.spook;
  return scene;
}

struct Course {
  std::vector<Event> events;
  double increase = 0;  ///< largest growth of energy in a step that nobody paid for
  double joint_error = 0;
  int guards = 0;
};

/// Steps until t; every step must be certified.
inline Course follow(double t, Simulation* simulation) {
  Course run;
  while (simulation->state().time < t - 1e-9) {
    const StepReport& report = simulation->step();
    EXPECT_TRUE(report.certified) << "t = " << simulation->state().time << ": " << report.note;
    if (report.failed) break;
    const EnergyLedger& ledger = report.certificate.ledger;
    run.increase = std::max(run.increase, ledger.change - ledger.load - ledger.kinematic);
    run.joint_error = std::max(run.joint_error, report.certificate.joint_error);
    run.guards += report.impact_guards;
    run.events.insert(run.events.end(), simulation->events().begin(), simulation->events().end());
  }
  return run;
}

inline std::vector<Event> of_kind(const std::vector<Event>& events, EventKind kind) {
  std::vector<Event> out;
  for (const Event& event : events)
    if (event.kind == kind) out.push_back(event);
  return out;
}

}  // namespace slipstick::test
