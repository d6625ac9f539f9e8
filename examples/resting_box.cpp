// A box falls on the ground and comes to rest; its contact forces then carry its weight.
#include <slipstick/slipstick.h>

#include <cmath>
#include <cstdio>

using namespace slipstick;

int main() {
  Builder builder;
  builder.material("rubber", 0.8, 0.3);
  builder.ground();
  ShapeDescription cube = make_box({0.2, 0.2, 0.2});
  cube.material = "rubber";
  BodyDescription& box = builder.body("box", {0, 0, 0.5}, {cube});
  box.density = 500;
  box.angular_velocity = {1, 2, 0};

  const Result<Scene> scene = builder.compile();
  if (!scene) {
    for (const Fault& fault : scene.faults()) std::fprintf(stderr, "%s\n", fault.text().c_str());
    return 1;
  }
  Simulation sim(*scene);
  while (sim.state().time < 4) {
    const StepReport& report = sim.step();
    if (!report.certified)
      std::printf("t = %.2f: not certified, residual %.1e\n", sim.state().time, report.certificate.residual.relative);
  }

  Vec3 force = Vec3::Zero();  // on the box: it is body B of its contacts with the ground, or body A
  const int index = *scene->model.find_body("box");
  for (const ContactForce& each : sim.contact_forces())
    force += each.contact.body_b == index ? each.force : Vec3(-each.force);
  const double weight = 9.81 * scene->model.bodies[index].mass;
  std::printf("%zu contacts carry %.6f N of %.6f N\n", sim.contact_forces().size(), force.z(), weight);
  return std::abs(force.z() - weight) < 1e-6 * weight ? 0 : 1;
}
