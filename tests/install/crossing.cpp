// What passes between a program and the library: every kind of value both ways, and a digest of what came out, which
// must not depend on the flags that this file is compiled with.
#include <slipstick/slipstick.h>

#include <cstdint>
#include <cstdio>
#include <utility>

using namespace slipstick;

namespace {

/// Scenes in code with each kind of row: joints, a motor, a limit, a spring, friction.
Scene make_scene() {
  Builder builder;
  builder.options.scheme = "trapezoid";
  builder.ground();
  builder.body("box", {0, 0, 0.15}, {make_box({0.2, 0.2, 0.2})}).mass = 2;
  builder.body("ball", {0.02, 0.01, 0.5}, {make_sphere(0.1)}).density = 800;
  builder.body("rock", {1, 0, 0.5}, {make_hull({{0, 0, 0}, {0.3, 0, 0}, {0, 0.3, 0}, {0, 0, 0.3}})}).density = 2000;
  BodyDescription& arm = builder.body("arm", {-1, 0, 1}, {make_capsule(0.05, 0.4)});
  arm.mass = 1;
  arm.pose.orientation = Quat(Eigen::AngleAxisd(0.3, Vec3(1, 2, 3).normalized()));
  JointDescription& hinge = builder.hinge("hinge", "world", "arm", {-1, 0, 1.2}, Vec3::UnitY());
  main_axis(&hinge).motor = make_speed_motor(2, 0.5);
  main_axis(&hinge).limits = {-0.5, 0.5};
  builder.spring("spring", "arm", "ball", {-1, 0, 1}, {0.02, 0.01, 0.5}, 20, 0.1);
  Result<Scene> scene = builder.compile();
  for (const Fault& fault : scene ? Faults{} : scene.faults()) std::printf("%s\n", fault.text().c_str());
  return std::move(scene).value();
}

/// Vectors that the library fills and this program frees, and the other way round. Answers are judged, not compared:
/// the last bits may depend on where this program's copy of the problem lies in memory.
bool solves_again(const Problem& problem, const Solution& guess) {
  bool good = true;
  for (const char* name : {"newton", "lemke"}) {
    Solution mine = guess;
    const Eigen::VectorXd start = Eigen::VectorXd::Zero(problem.rows());
    mine.lambda = start;
    mine.w.resize(problem.rows() + 3);
    const std::unique_ptr<Solver> solver = make_solver(name);
    solver->solve(problem, 1e-8, &mine);
    Solution moved = std::move(mine);
    good = good && certify(problem, moved).within(1e-8);
    moved.lambda.conservativeResize(moved.lambda.size() + 5);
  }
  return good;
}

}  // namespace

int main() {
  const Scene scene = make_scene();
  Simulation sim(scene.model, scene.initial, scene.options);
  bool solved = true;
  State middle;
  for (int i = 0; i < 120; ++i) {
    Problem problem;
    Solution guess;
    if (i % 40 == 7) {
      sim.step_and_keep(&problem, &guess);
      solved = solved && solves_again(problem, guess);
      middle = sim.state();
    } else {
      sim.step();
    }
  }
  Model model = sim.model();  // copied here, freed there
  Simulation other(std::move(model), middle, scene.options);
  for (int i = 0; i < 20; ++i) other.step();
  for (const std::uint64_t digest : {hash(sim.state()), hash(other.state())})
    std::printf("%016llx ", static_cast<unsigned long long>(digest));
  std::printf("%s\n", solved ? "solved" : "not solved");
  return solved ? 0 : 1;
}
