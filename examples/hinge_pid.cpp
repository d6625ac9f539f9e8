// A controller between steps: PID on a hinge lifts an arm and holds it at 45 degrees; then the forces in the hinge.
#include <slipstick/slipstick.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>

using namespace slipstick;

int main() {
  Builder builder;
  builder.options.step = 0.002;
  builder.body("arm", {0.5, 0, 0}, {make_box({1, 0.1, 0.1})}).mass = 2;
  JointDescription& hinge = builder.hinge("elbow", "world", "arm", {0, 0, 0}, -Vec3::UnitY());
  main_axis(&hinge).motor = make_speed_motor(0, 60);  // at most 60 N m
  const Result<Scene> scene = builder.compile();
  if (!scene) {
    for (const Fault& fault : scene.faults()) std::fprintf(stderr, "%s\n", fault.text().c_str());
    return 1;
  }

  Simulation sim(*scene);
  const double goal = std::numbers::pi / 4, h = scene->options.step;
  double integral = 0, worst = 0;
  while (sim.state().time < 4) {
    const JointReading& elbow = sim.joint("elbow");
    const double error = goal - elbow.position;
    integral += error * h;
    Inputs in = sim.inputs();
    in.motor("elbow").torque = 120 * error + 150 * integral - 25 * elbow.velocity;
    if (!sim.step(in).certified) return 1;
    if (sim.state().time > 3) worst = std::max(worst, std::abs(goal - elbow.position));
  }

  const JointReading& elbow = sim.joint("elbow");
  const Vec3& force = elbow.reaction_force;
  std::printf("held at %.6f rad of %.6f, torque %.4f N m, reaction (%.4f, %.4f, %.4f) N\n", elbow.position, goal,
              elbow.motor_force, force.x(), force.y(), force.z());
  const double weight = 2 * 9.81, torque = weight * 0.5 * std::cos(goal);
  return worst < 0.01 && std::abs(elbow.motor_force - torque) < 0.05 && std::abs(force.z() - weight) < 0.05 ? 0 : 1;
}
