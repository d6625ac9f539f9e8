// SPOOK against closed forms and its own discrete outputs ([LacoursiereLinde11] with corrected signs and factors).
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <random>

#include "support/follow.h"

namespace slipstick::test {
namespace {

// ---------------------------------------------------------------- stability

/// Point masses with ball joints between them and to the world; `joints` of them, some twice. Rows are linear in x.
std::string make_random_net(int bodies, int joints, bool redundant, std::mt19937* random) {
  std::uniform_real_distribution<double> mass(0.1, 10);
  std::uniform_int_distribution<int> pick(-1, bodies - 1);
  std::string text = "gravity: [0, 0, 0]\nbodies:\n";
  for (int i = 0; i < bodies; ++i)
    text += "  - {name: m" + std::to_string(i) + ", mass: " + std::to_string(mass(*random)) +
            ", lock: [rotation], position: [" + std::to_string(i) + ", 0, 0]}\n";
  text += "joints:\n";
  const auto name = [](int i) { return i < 0 ? std::string("world") : "m" + std::to_string(i); };
  for (int k = 0; k < joints; ++k) {
    int a = pick(*random), b = pick(*random);
    if (a == b) b = a < 0 ? 0 : -1;
    const std::string line = "  - ball: {between: [" + name(a) + ", " + name(b) + "], at: [0, 0, 0]}\n";
    text += line;
    if (redundant && k % 2 == 0) text += line;
  }
  return text;
}

/// The matrix of one step on (x, h v): exact, because the step is linear here.
MatX calc_update(const Scene& scene) {
  const double h = scene.simulation.step;
  const int n = static_cast<int>(scene.model.bodies.size()) * 3;
  const double size = 1e-3;
  MatX update(2 * n, 2 * n);
  for (int column = 0; column < 2 * n; ++column) {
    State state = scene.initial;
    const int body = column % n / 3, axis = column % 3;
    if (column < n) {
      state.pose[body].position[axis] += size;
    } else {
      state.velocity[body].linear[axis] += size / h;
    }
    Simulation simulation(scene.model, state, scene.simulation);
    EXPECT_TRUE(simulation.step().certified);
    for (int i = 0; i < n; ++i) {
      const State& next = simulation.state();
      update(i, column) = (next.pose[i / 3].position[i % 3] - scene.initial.pose[i / 3].position[i % 3]) / size;
      update(n + i, column) = h * next.velocity[i / 3].linear[i % 3] / size;
    }
  }
  return update;
}

/// Largest modulus of the eigenvalues that are not 1 (free motion: 1, twice for each direction).
double calc_radius(const MatX& update, int* constrained) {
  const Eigen::VectorXcd values = Eigen::EigenSolver<MatX>(update, false).eigenvalues();
  double radius = 0;
  *constrained = 0;
  for (const std::complex<double>& value : values) {
    if (std::abs(value - 1.0) < 1e-5) continue;
    radius = std::max(radius, std::abs(value));
    ++*constrained;
  }
  return radius;
}

TEST(SpookStability, EigenvaluesOfRandomConstraintSets) {
  struct Line {
    double steps, radius;
  };
  const std::array<Line, 6> table{{{0.1, 0.8451542547},
                                   {0.5, 0.5773502692},
                                   {1, 0.4472135955},
                                   {2, 1.0 / 3},
                                   {3, 0.6510847396},
                                   {10, 0.8997205810}}};
  std::mt19937 random(7);
  for (const Line& line : table) {
    for (const bool redundant : {false, true}) {
      const std::string net = make_random_net(4, 4, redundant, &random);
      const Scene scene =
          scene_of(net + "simulation: {step: 1/60, scheme: {spook: {damping_steps: " + std::to_string(line.steps) +
                   ", compliance: 1e-13}}}\n");
      int constrained = 0;
      const double radius = calc_radius(calc_update(scene), &constrained);
      EXPECT_GT(constrained, 0);
      EXPECT_EQ(constrained % 6, 0);  // three rows a joint, each with two eigenvalues
      // A double eigenvalue splits by the root of the perturbation.
      EXPECT_NEAR(radius, line.radius, line.steps == 2 ? 1e-3 : 1e-6) << "tau/h = " << line.steps << net;
    }
  }
}

TEST(SpookStability, WarningsNameWhatIsBelowTheBounds) {
  const Scene scene = scene_of(R"(bodies:
  - {name: a, mass: 1, position: [1, 0, 0], shapes: [{sphere: {radius: 0.1}}]}
  - {name: b, mass: 1, position: [2, 0, 0], shapes: [{sphere: {radius: 0.1}}]}
joints:
  - ball: {name: first, between: [world, a], at: [0, 0, 0], damping_time: 0.01}
  - ball: {name: second, between: [a, b], at: [1.5, 0, 0], compliance: 1e-14}
  - ball: {name: third, between: [b, world], at: [3, 0, 0]}
forces:
  - spring: {name: stiff, between: [world, b], at: [[2, 0, 1], [2, 0, 0]], stiffness: 1e6}
simulation: {step: 1/60, scheme: spook}
)");
  const Simulation simulation = simulation_of(scene);
  std::string all;
  for (const std::string& warning : simulation.warnings()) all += warning + "\n";
  EXPECT_EQ(simulation.warnings().size(), 4u) << all;
  EXPECT_NE(all.find("joint 'first': damping_time 0.01 s is below twice the step"), std::string::npos) << all;
  EXPECT_NE(all.find("joint 'second': compliance 1e-14 is below"), std::string::npos) << all;
  EXPECT_NE(all.find("differ in a loop of joints"), std::string::npos) << all;
  EXPECT_NE(all.find("spring 'stiff': omega h ="), std::string::npos) << all;
}

TEST(SpookStability, NoWarningsForDefaults) {
  for (const char* name : {"chain.yaml", "double_pendulum.yaml", "stack.yaml", "wrecking_ball.yaml"}) {
    const Simulation simulation = simulation_of(scene_under(name, "spook"));
    for (const std::string& warning : simulation.warnings()) ADD_FAILURE() << name << ": " << warning;
  }
}

// ---------------------------------------------------------------- smooth motion

/// An undamped spring row is exactly the implicit midpoint rule: tan(theta/2) = omega h/2.
TEST(SpookMotion, OscillatorHasTheMidpointFrequency) {
  struct Line {
    double omega, found;
  };
  const std::array<Line, 3> table{{{2 * std::numbers::pi, 6.2774528307},
                                   {10 * std::numbers::pi, 30.7263323977},
                                   {60 * std::numbers::pi, 120.4661786225}}};
  for (const Line& line : table) {
    const Scene scene = scene_of(
        "planar: true\ngravity: [0, 0]\nbodies:\n  - {name: m, mass: 1, position: [1, 0], lock: [rotation]}\n"
        "forces:\n  - spring: {between: [world, m], at: [[0, 0], [1, 0]], rest_length: 0, stiffness: " +
        std::to_string(line.omega * line.omega) + "}\nsimulation: {step: 1/60, scheme: spook}\n");
    Simulation simulation = simulation_of(scene);
    const double cosine = std::cos(line.found / 60);
    double before = 0, now = 1;
    for (int k = 0; k < 600; ++k) {
      ASSERT_TRUE(simulation.step().certified);
      const double next = motion_of(simulation, "m").pose.position.x();
      if (k > 0) {
        EXPECT_NEAR(next, 2 * cosine * now - before, 1e-7) << "omega = " << line.omega << ", step " << k;
      }
      before = now;
      now = next;
    }
  }
}

std::string make_rod(double speed, double gravity) {
  return "planar: true\ngravity: [0, " + std::to_string(-gravity) +
         "]\nbodies:\n  - {name: m, mass: 1, position: [1, 0], velocity: [0, " + std::to_string(speed) +
         "], lock: [rotation]}\njoints:\n  - rod: {between: [world, m], at: [[0, 0], [1, 0]]}\n";
}

double follow_rod(double speed, double gravity, double h, double time, bool hessian, bool largest) {
  const Scene scene = scene_of(make_rod(speed, gravity) +
                               "simulation: {scheme: {spook: {compliance: " + (gravity > 0 ? "1e-8" : "1e-14") +
                               ", hessian: " + (hessian ? "true" : "false") + "}}}\n");
  Simulation simulation = simulation_of(scene, h);
  double error = 0;
  while (simulation.state().time < time - 1e-9) {
    const StepReport& report = simulation.step();
    EXPECT_TRUE(report.certified);
    error = largest ? std::max(error, report.certificate.joint_error) : report.certificate.joint_error;
  }
  return error;
}

/// Without the Hessian term g = h^2 (1 + phi)/(8 phi) v^2/L.
TEST(SpookMotion, SteadyRotation) {
  const std::array<double, 4> table{7.795472e-4, 1.952058e-4, 4.882145e-5, 1.220661e-5};
  for (int k = 0; k < 4; ++k) {
    const double h = 1.0 / (60 << k);
    EXPECT_NEAR(follow_rod(1.5, 0, h, 4, false, false) / table[k], 1, 1e-3) << "h = 1/" << (60 << k);
  }
  double previous = 0;
  for (int k = 0; k < 3; ++k) {
    const double error = follow_rod(1.5, 0, 1.0 / (60 << k), 4, true, false);
    EXPECT_LT(error, 2e-7 * std::pow(0.125, k));
    if (k > 0) {
      EXPECT_GT(previous / error, 7.5);
    }
    previous = error;
  }
}

TEST(SpookMotion, PendulumFromTheHorizontal) {
  const std::array<double, 3> plain{6.718e-3, 1.697e-3, 4.254e-4}, hessian{2.85e-4, 3.53e-5, 4.40e-6};
  for (int k = 0; k < 3; ++k) {
    const double h = 1.0 / (60 << k);
    EXPECT_NEAR(follow_rod(0, 9.81, h, 10, false, true) / plain[k], 1, 0.02);
    EXPECT_LT(follow_rod(0, 9.81, h, 10, true, true), hessian[k] * 1.05);
  }
}

/// Positions are of first order (the velocity is that of the half step before), joint errors of second or third.
TEST(SpookMotion, Orders) {
  const auto end = [](double h) {
    Simulation simulation = simulation_of(scene_of(make_rod(0, 9.81) + "simulation: {scheme: spook}\n"), h);
    run_until(1, &simulation);
    return motion_of(simulation, "m").pose.position;
  };
  const Vec3 a = end(1.0 / 64), b = end(1.0 / 128), c = end(1.0 / 256), d = end(1.0 / 512);
  EXPECT_NEAR((a - b).norm() / (b - c).norm(), 2, 0.2);
  EXPECT_NEAR((b - c).norm() / (c - d).norm(), 2, 0.1);
}

// ---------------------------------------------------------------- machines

/// Two hinges on one axis and a lid welded on twice: rows that say the same thing twice.
TEST(SpookMachines, RedundantJoints) {
  Simulation simulation = simulation_of(scene_of(R"(bodies:
  - {name: door, mass: 20, position: [0.5, 0, 0], angular_velocity: [0, 0, 3], shapes: [{box: {size: [1, 0.05, 2]}}]}
  - {name: knob, mass: 0.2, position: [0.9, 0.1, 0], velocity: [-0.3, 2.7, 0], angular_velocity: [0, 0, 3], shapes: [{sphere: {radius: 0.05}}]}
joints:
  - hinge: {between: [world, door], at: [0, 0, 0.8], axis: [0, 0, 1]}
  - hinge: {between: [world, door], at: [0, 0, -0.8], axis: [0, 0, 1]}
  - fixed: {between: [door, knob], at: [0.9, 0.05, 0]}
  - fixed: {between: [door, knob], at: [0.9, 0.05, 0]}
simulation: {step: 1/60, scheme: spook}
)"));
  const Course run = follow(3, &simulation);
  EXPECT_LT(run.joint_error, 1e-5);
  EXPECT_NEAR(motion_of(simulation, "door").angular_velocity.z(), 3, 1e-3);
}

/// 50 links of 1 kg with 1000 kg at their end, let go from the horizontal: joints within 0.1 mm at 60 Hz, energy never
/// grows, and less than 5 % of what was turned into motion is lost in 5 s.
TEST(SpookMachines, ChainWithAThousandKilograms) {
  Simulation simulation = simulation_of(scene_under("chain.yaml", "spook"), 1.0 / 60);
  const EnergySplit start = simulation.energy();
  const Course run = follow(5, &simulation);
  const EnergySplit end = simulation.energy();
  const double turned = 1000 * 9.81 * 10.3 + 50 * 9.81 * 5;
  EXPECT_LT(run.joint_error, 1e-4);
  EXPECT_LE(run.increase, 1e-9 * turned);
  EXPECT_GT(end.kinetic + end.potential - start.kinetic - start.potential, -0.05 * turned);
}

// ---------------------------------------------------------------- contacts

/// Heights of the peaks after each bounce of a ball dropped from 1 m.
std::vector<double> calc_peaks(double e, const std::string& options, std::size_t count) {
  const Scene scene =
      scene_of("materials: {default: {friction: 0, restitution: " + std::to_string(e) + "}}\n" + R"(bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1]}}]}
  - {name: ball, mass: 1, position: [0, 0, 1.1], shapes: [{sphere: {radius: 0.1}}]}
simulation: {step: 1/60, scheme: {spook: {)" +
               options + "}}}\n");
  Simulation simulation = simulation_of(scene);
  std::vector<double> peaks;
  double before = 1, now = 1;
  while (peaks.size() < count && simulation.state().time < 10) {
    EXPECT_TRUE(simulation.step().certified);
    const double next = motion_of(simulation, "ball").pose.position.z() - 0.1;
    if (now > before && now >= next) peaks.push_back(now);
    before = now;
    now = next;
  }
  peaks.resize(count, -1);
  return peaks;
}

TEST(SpookContact, BouncingBallAsInThePaper) {
  const std::string paper = "compliance: 1e-8, contact_damping_time: 2/60, anticipate: false";
  const std::vector<double> elastic = calc_peaks(1, paper, 4), half = calc_peaks(0.5, paper, 2);
  const std::array<double, 4> expected{0.92636379, 0.85545248, 0.78727525, 0.72182276};
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(elastic[i], expected[i], 1e-6) << i;
  EXPECT_NEAR(half[0], 0.20018954, 1e-6);
  EXPECT_NEAR(half[1], 0.02063897, 1e-6);
  EXPECT_NEAR(calc_peaks(0, paper, 1)[0], 0.00947584, 1e-6);
}

/// A plastic impact that was seen coming throws nothing out.
TEST(SpookContact, PlasticImpactsAreAnticipated) {
  EXPECT_EQ(calc_peaks(0, "", 1)[0], -1);
  const std::vector<double> half = calc_peaks(0.5, "", 1);
  EXPECT_GT(half[0], 0.15);
  EXPECT_LT(half[0], 0.25);
}

TEST(SpookContact, DeflectionCreepAndStoppingDistance) {
  const std::string world = R"(bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1]}}]}
)";
  const std::string options = "simulation: {step: 1/60, scheme: {spook: {compliance: 1e-8}}}\n";
  Simulation ball = simulation_of(scene_of(
      world + "  - {name: ball, mass: 1, position: [0, 0, 0.1], shapes: [{sphere: {radius: 0.1}}]}\n" + options));
  run_until(2, &ball);
  EXPECT_NEAR(0.1 - motion_of(ball, "ball").pose.position.z(), 9.81e-8, 1e-12);

  const std::string block = "  - {name: block, mass: 1, position: [0, 0, 0.05], shapes: [{box: {size: [1, 1, 0.1]}}]";
  Simulation slope =
      simulation_of(scene_of("gravity: [9.81*sin(20*deg), 0, -9.81*cos(20*deg)]\n" + world + block + "}\n" + options));
  run_until(1, &slope);
  // Each of the four contacts carries a quarter: a quarter of the creep of one.
  EXPECT_NEAR(motion_of(slope, "block").velocity.x(), 3.35522e-8 / 4, 1e-12);

  Simulation slide = simulation_of(scene_of(world + block + ", velocity: [3, 0, 0]}\n" + options));
  run_until(2, &slide);
  EXPECT_NEAR(motion_of(slide, "block").pose.position.x(), 0.8925750, 1e-5);
}

}  // namespace
}  // namespace slipstick::test
