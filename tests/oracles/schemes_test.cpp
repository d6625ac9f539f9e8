// The alpha-gamma family against published tables, closed forms and its own discrete outputs.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>

#include "support/follow.h"

namespace slipstick::test {
namespace {

// ---------------------------------------------------------------- double pendulum, [Potra06] table 10.1

constexpr std::array<double, 4> kPendulumEnd{0.021962117695, -0.999758803605, 0.023769486774, -1.999757170312};
constexpr std::array<double, 5> kPendulumImpacts{0.545508051442, 0.707932699996, 1.284726645955, 2.097739454881,
                                                 2.131640284304};

struct PendulumErrors {
  double position, theta_1, theta_2;
};

PendulumErrors calc_errors(const Simulation& simulation) {
  const Vec3 p = motion_of(simulation, "mass_1").pose.position, q = motion_of(simulation, "mass_2").pose.position;
  const double error = std::hypot(std::hypot(p.x() - kPendulumEnd[0], p.y() - kPendulumEnd[1]),
                                  std::hypot(q.x() - kPendulumEnd[2], q.y() - kPendulumEnd[3]));
  return {error, p.squaredNorm() - 1, (p - q).squaredNorm() - 1};
}

TEST(DoublePendulum, TableOfThePaper) {
  struct Line {
    int k;
    double position, theta_1, theta_2;
  };
  const std::array<Line, 7> table{{{5, 2.3822e-3, 1.2674e-3, 3.1835e-3},
                                   {6, 6.1373e-4, 3.1379e-4, 8.2851e-4},
                                   {7, 1.5445e-4, 7.8220e-5, 2.1371e-4},
                                   {8, 3.9452e-5, 1.9536e-5, 5.4761e-5},
                                   {9, 1.0066e-5, 4.8828e-6, 1.3714e-5},
                                   {10, 2.4159e-6, 1.2213e-6, 3.4379e-6},
                                   {11, 6.1574e-7, 3.0490e-7, 8.5998e-7}}};
  const Scene scene = scene_under("double_pendulum.yaml", "{trapezoid: {stabilize: false, event_state: hermite}}");
  for (const Line& line : table) {
    Simulation simulation = simulation_of(scene, std::ldexp(1, -line.k));
    const Course run = follow(2.5, &simulation);
    const PendulumErrors errors = calc_errors(simulation);
    EXPECT_NEAR(errors.position / line.position, 1, 1e-3) << "h = 2^-" << line.k;
    EXPECT_NEAR(errors.theta_1 / line.theta_1, 1, 1e-3);
    EXPECT_NEAR(errors.theta_2 / line.theta_2, 1, 1e-3);
    EXPECT_EQ(of_kind(run.events, EventKind::Impact).size(), 5u);
    EXPECT_LE(run.increase, 1e-12) << "[AnitescuPotra97] theorem 2.3";
  }
}

/// Joints that hold at both ends of a step (docs/decisions/0046) cost a third of what is gained on the paper here, and
/// are what keeps energies for hours.
TEST(DoublePendulum, DefaultsBeatThePaper) {
  const std::array<double, 5> paper{2.38e-3, 6.14e-4, 1.54e-4, 3.95e-5, 1.01e-5};
  const Scene scene = shipped_scene("double_pendulum.yaml");
  double previous = 0;
  for (int k = 5; k <= 9; ++k) {
    Simulation simulation = simulation_of(scene, std::ldexp(1, -k));
    const Course run = follow(2.5, &simulation);
    const double error = calc_errors(simulation).position;
    EXPECT_LT(error, 0.36 * paper[k - 5]);
    if (previous > 0) {
      EXPECT_NEAR(previous / error, 4, 0.5);
    }
    previous = error;
    const double h = std::ldexp(1, -k);
    EXPECT_LT(run.joint_error, 1e-8);
    ASSERT_EQ(run.events.size(), 5u);
    for (int i = 0; i < 5; ++i) EXPECT_NEAR(run.events[i].time, kPendulumImpacts[i], 7 * h * h) << i;
  }
}

TEST(DoublePendulum, WithoutLocationItIsOfFirstOrder) {
  const Scene scene = scene_under("double_pendulum.yaml", "{trapezoid: {locate: false}}");
  Simulation coarse = simulation_of(scene, std::ldexp(1, -6)), fine = simulation_of(scene, std::ldexp(1, -11));
  follow(2.5, &coarse);
  follow(2.5, &fine);
  const double order = std::log2(calc_errors(coarse).position / calc_errors(fine).position) / 5;
  EXPECT_GT(order, 0.5);
  EXPECT_LT(order, 1.5);
}

// ---------------------------------------------------------------- two carts, [Potra06] figures 4 and 5

struct Carts {
  double left, right, variation, away, energy;
  Course run;
};

Carts run_carts(const std::vector<std::string>& set, double t) {
  Simulation simulation = simulation_of(scene_under("two_carts.yaml", "trapezoid", set));
  Carts carts{};
  const double start = simulation.energy().kinetic + simulation.energy().potential;
  double low = 5, high = 5;
  while (simulation.state().time < t - 1e-9) {
    const StepReport& report = simulation.step();
    EXPECT_TRUE(report.certified) << report.note;
    carts.left = motion_of(simulation, "left").pose.position.x();
    carts.right = motion_of(simulation, "right").pose.position.x();
    low = std::min(low, carts.right - carts.left);
    high = std::max(high, carts.right - carts.left);
    carts.away = std::max(carts.away, std::abs(carts.left - 0.2));
    carts.run.events.insert(carts.run.events.end(), simulation.events().begin(), simulation.events().end());
    carts.energy = simulation.energy().kinetic + simulation.energy().potential;
    EXPECT_LE(carts.energy, start * (1 + 1e-12)) << "[Potra06] theorem 9.1";
  }
  carts.variation = std::max(high - 5, 5 - low);
  return carts;
}

TEST(TwoCarts, DistanceVariesByThreeAndAHalfOverTheDamping) {
  for (const double d : {1e3, 1e4, 1e5, 1e6, 1e8}) {
    const Carts carts = run_carts({"damping=" + std::to_string(d)}, 4);
    EXPECT_NEAR(carts.variation * d, 3.5, 0.05 * 3.5) << "d = " << d;
  }
  const Carts soft = run_carts({"damping=100"}, 4);
  EXPECT_NEAR(soft.variation, 3.364435e-2, 1e-4);
  EXPECT_NEAR(soft.left, 0.1981283669, 1e-3);
  EXPECT_NEAR(soft.right, 5.1785326099, 1e-3);
  const auto impacts = of_kind(soft.run.events, EventKind::Impact);
  ASSERT_FALSE(impacts.empty());
  EXPECT_NEAR(impacts[0].time, 0.0568355533, 5e-5);
  EXPECT_NEAR(impacts[0].normal_speed_before, -1.49111674, 1e-4);
  const Carts middle = run_carts({"damping=1000"}, 4);
  EXPECT_NEAR(middle.left, 0.2158577697, 1e-3);
  EXPECT_NEAR(middle.right, 5.2136193835, 1e-3);
}

TEST(TwoCarts, StiffSpringHoldsTheLeftCart) {
  const std::vector<std::string> start{"damping=10", "start=0.2", "speed=3"};
  for (const auto& [k, away] : std::vector<std::pair<double, double>>{
           {1e2, 1.95081e-1}, {1e4, 3.01151e-2}, {1e6, 2.95462e-3}, {1e8, 2.99508e-4}}) {
    std::vector<std::string> set = start;
    set.push_back("stiffness=" + std::to_string(k));
    const Carts carts = run_carts(set, 2);
    EXPECT_NEAR(carts.away / away, 1, 0.1) << "k = " << k;
  }
}

/// One step without collision against the rigid link ([Potra06] theorem 9.3).
double calc_distance_to_rigid(const std::string& scheme, double stiffness, double damping, const Vec2& rigid) {
  const Scene scene = scene_under(
      "two_carts.yaml", scheme,
      {"stiffness=" + std::to_string(stiffness), "damping=" + std::to_string(damping), "start=0.2", "speed=2"});
  Scene start = scene;
  start.initial.velocity[*scene.model.find_body("right")].linear.x() = -1;
  Simulation simulation = simulation_of(start, 0.01);
  EXPECT_TRUE(simulation.step().certified);
  const Vec2 v(motion_of(simulation, "left").velocity.x(), motion_of(simulation, "right").velocity.x());
  return (v - rigid).cwiseAbs().maxCoeff();
}

TEST(TwoCarts, OneStepGoesToTheRigidLinkAsOneOverStiffness) {
  const Vec2 link(-0.9913608, -1.9913608), spring(2, -0.90009524);
  for (const auto& [d, far] : std::vector<std::pair<double, double>>{{1e4, 9.876e-3}, {1e6, 9.974e-5}, {1e8, 9.976e-7}})
    EXPECT_NEAR(calc_distance_to_rigid("{trapezoid: {locate: false}}", 100, d, link) / far, 1, d < 1e7 ? 1e-3 : 0.1);
  for (const auto& [k, far] :
       std::vector<std::pair<double, double>>{{1e6, 1.570e-1}, {1e8, 1.635e-3}, {1e10, 1.636e-5}})
    EXPECT_NEAR(calc_distance_to_rigid("{trapezoid: {locate: false}}", k, 10, spring) / far, 1, 1e-3);
}

TEST(Stiff, SpringsAndDampersFromSoftToRigid) {
  // A pendulum on a spring instead of a rod: stable at h = 0.01 for every stiffness. (With the energy of the spring
  // itself nothing is to be bounded: k/2 times the square of the O(h^2) by which a step leaves the circle.)
  for (const char* scheme : {"trapezoid", "euler", "stabilized"})
    for (int power = 0; power <= 12; ++power) {
      const Scene scene =
          scene_of(R"yaml(
planar: true
bodies: [{name: bob, mass: 1, position: [0.6, -0.8], velocity: [0.8, 0.6], lock: [rotation]}]
forces: [{spring: {between: [world, bob], at: [[0, 0], [0.6, -0.8]], rest_length: 1, damping: 0.1, stiffness: )yaml" +
                   std::to_string(std::pow(10.0, power)) + "}}]\nsimulation: {step: 0.01, scheme: " + scheme + "}\n");
      Simulation simulation = simulation_of(scene);
      double fastest = 0, farthest = 0;
      for (int i = 0; i < 500; ++i) {
        ASSERT_TRUE(simulation.step().certified);
        fastest = std::max(fastest, simulation.weighted_velocity()[0].linear.norm());
        farthest = std::max(farthest, motion_of(simulation, "bob").pose.position.norm());
      }
      EXPECT_LT(fastest, 14) << scheme << " k = 1e" << power;
      EXPECT_LT(farthest, power < 4 ? 25 : 1.05) << scheme << " k = 1e" << power;
    }
}

/// [Potra06] theorem 9.3, of the paper's own rows.
void expect_rod_of_stiff_spring(const std::string& scheme, int first_power, double limit) {
  const auto velocity = [&](const std::string& link) {
    const Scene scene = scene_of(
        "planar: true\nbodies: [{name: bob, mass: 1, position: [0.6, -0.8], velocity: [0.8, 0.6], "
        "lock: [rotation]}]\n" +
        link + "simulation: {step: 0.01, scheme: {" + scheme + ": {stabilize: false}}}\n");
    Simulation simulation = simulation_of(scene);
    EXPECT_TRUE(simulation.step().certified);
    return motion_of(simulation, "bob").velocity;
  };
  const Vec3 rigid = velocity("joints: [{rod: {between: [world, bob], at: [[0, 0], [0.6, -0.8]]}}]\n");
  double previous = 0;
  for (int power = first_power; power <= 12; ++power) {
    const double distance =
        (velocity("forces: [{spring: {between: [world, bob], at: [[0, 0], [0.6, -0.8]], rest_length: 1, "
                  "stiffness: " +
                  std::to_string(std::pow(10.0, power)) + "}}]\n") -
         rigid)
            .norm();
    if (previous > 0) {
      EXPECT_NEAR(previous / distance, 10, 1) << scheme << " k = 1e" << power;
    }
    previous = distance;
  }
  EXPECT_LT(previous, limit) << scheme;
}

TEST(Stiff, OneStepIsTheRodsAsOneOverStiffness) {
  expect_rod_of_stiff_spring("euler", 5, 2e-9);
  expect_rod_of_stiff_spring("trapezoid", 7, 8e-9);  // at mid-step a spring is four times softer
}

// ---------------------------------------------------------------- smooth motion

/// Error ratios of a final state when h is halved, against a run with a much smaller step.
void expect_order(const Scene& scene, double t, double h, int order, double tolerance,
                  const std::function<VecX(const Simulation&)>& state) {
  const auto at = [&](double step) {
    Simulation simulation = simulation_of(scene, step);
    follow(t, &simulation);
    return state(simulation);
  };
  const VecX reference = at(h / 64);
  const double coarse = (at(h) - reference).norm(), middle = (at(h / 2) - reference).norm(),
               fine = (at(h / 4) - reference).norm();
  EXPECT_NEAR(std::log2(coarse / middle), order, tolerance);
  EXPECT_NEAR(std::log2(middle / fine), order, tolerance);
}

VecX orientation_of(const Simulation& simulation, const std::string& body) {
  const Quat q = motion_of(simulation, body).pose.orientation;
  VecX x(4);
  x << q.w(), q.x(), q.y(), q.z();
  return x;
}

TEST(Smooth, FreeTopIsOfSecondOrderAndKeepsItsEnergy) {
  const auto state = [](const Simulation& s) { return orientation_of(s, "top"); };
  for (const std::string_view scheme : scheme_names()) {
    expect_order(scene_under("free_top.yaml", std::string(scheme)), 1, 0.02, 2, 0.15, state);
    Simulation simulation = simulation_of(scene_under("free_top.yaml", std::string(scheme)), 0.05);
    const double energy = simulation.energy().kinetic;
    follow(2, &simulation);
    EXPECT_NEAR(simulation.energy().kinetic / energy, 1, 1e-12) << scheme;
  }
}

TEST(Smooth, HeavyTopOnAJointIsOfSecondOrder) {
  // Heavy top, published value: com(1) = (0.173343964098, 0.64008859207, -0.748490791134).
  const Scene scene = scene_of(R"yaml(
bodies:
  - {name: top, mass: 15, inertia: [0.234375, 0.46875, 0.234375], center_of_mass: [0, 1, 0], angular_velocity: [0, 150, -4.61538],
     velocity: [0, 0, 0]}
joints: [{ball: {between: [world, top], at: [0, 0, 0]}}]
simulation: {scheme: trapezoid}
)yaml");
  const Vec3 exact(0.173343964098, 0.64008859207, -0.748490791134);
  const auto error = [&](double h) {
    Simulation simulation = simulation_of(scene, h);
    follow(1, &simulation);
    const Quat q = motion_of(simulation, "top").pose.orientation;
    return (q * Vec3(0, 1, 0) - exact).norm();
  };
  const double coarse = error(5e-4), fine = error(2.5e-4);
  EXPECT_NEAR(coarse / fine, 4, 0.5);
  EXPECT_LT(fine, 1e-2);
}

TEST(Smooth, CurvedSpringsAreOfSecondOrder) {
  // A bar on two springs and a damper whose lines turn: only the exact (dk/dq) v keeps the order.
  const Scene scene = scene_of(R"yaml(
bodies:
  - {name: bar, mass: 2, inertia: [0.1, 0.2, 0.3], velocity: [1, 0.5, 0], angular_velocity: [1, 2, 0.5]}
forces:
  - spring: {between: [world, bar], at: [[0, 0, 2], [0.5, 0, 0]], stiffness: 60, damping: 0.5, rest_length: 1.2}
  - spring: {between: [world, bar], at: [[1, 1, 1], [-0.5, 0.2, 0]], stiffness: 40, rest_length: 0.7}
  - damper: {between: [world, bar], at: [[-1, 0, 1], [0, 0.3, 0]], damping: 1.5}
simulation: {scheme: trapezoid}
)yaml");
  const auto state = [](const Simulation& s) {
    VecX x(7);
    x << motion_of(s, "bar").pose.position, orientation_of(s, "bar");
    return x;
  };
  expect_order(scene, 1, 0.01, 2, 0.2, state);
  Scene first = scene;
  first.options.scheme = "euler";
  expect_order(first, 1, 0.0025, 2, 0.2, state);
}

TEST(Smooth, LoadsInTheBodyFrameAreOfSecondOrder) {
  const Scene scene = scene_of(R"yaml(
gravity: [0, 0, 0]
bodies: [{name: body, mass: 1, inertia: [0.2, 0.3, 0.4], angular_velocity: [1, 2, 3]}]
forces: [{load: {body: body, force: ["cos(3*t)", 1, "t"], torque: [0.3, 0, "sin(t)"], at: [0.2, 0.1, 0]}}]
simulation: {scheme: trapezoid}
)yaml");
  expect_order(scene, 1, 0.01, 2, 0.2, [](const Simulation& s) { return orientation_of(s, "body"); });
}

TEST(Smooth, LadderLeavesItsWall) {
  // While both ends touch: thetadot^2 = 3 g/(2 l) (sin theta_0 - sin theta); the wall lets go at sin theta = 2/3 sin
  // theta_0, at t = 0.5975278060334 for 70 degrees.
  const auto end = [](const Simulation& s) {
    VecX x(4);
    x << motion_of(s, "ladder").pose.position.head<2>(), motion_of(s, "ladder").velocity.head<2>();
    return x;
  };
  Simulation simulation = simulation_of(shipped_scene("ladder.yaml"), 0.0025);
  const Course run = follow(0.7, &simulation);
  const auto takeoffs = of_kind(run.events, EventKind::Takeoff);
  ASSERT_FALSE(takeoffs.empty());
  EXPECT_NEAR(takeoffs[0].time, 0.5975278060334, 2.5e-3);
  const auto at = [&](const std::string& scheme, double h) {
    Simulation s = simulation_of(scene_under("ladder.yaml", scheme), h);
    follow(0.8, &s);
    return end(s);
  };
  const VecX reference = at("trapezoid", 0.02 / 64);
  const double coarse = (at("trapezoid", 0.02) - reference).norm(), fine = (at("trapezoid", 0.0025) - reference).norm();
  EXPECT_NEAR(std::log2(coarse / fine) / 3, 2, 0.35);
  const double first = (at("euler", 0.02) - reference).norm(), second = (at("euler", 0.0025) - reference).norm();
  EXPECT_NEAR(std::log2(first / second) / 3, 1, 0.25);
}

TEST(Family, AnyAlphaAndGammaRuns) {
  for (const double alpha : {0.5, 0.6, 0.8, 1.0})
    for (const double gamma : {0.0, 0.3, 0.5, 1.0}) {
      const std::string scheme =
          "{alpha-gamma: {alpha: " + std::to_string(alpha) + ", gamma: " + std::to_string(gamma) + "}}";
      Simulation simulation = simulation_of(scene_under("double_pendulum.yaml", scheme), std::ldexp(1, -9));
      const Course run = follow(0.6, &simulation);
      ASSERT_FALSE(run.events.empty()) << scheme;
      EXPECT_NEAR(run.events[0].time, kPendulumImpacts[0], 2e-2) << scheme;
    }
}

TEST(Family, NoPairOfWeightsMakesAJointBlowUp) {
  for (const double gamma : {0.0, 0.25, 0.75, 1.0}) {
    Simulation simulation = simulation_of(scene_of(R"yaml(
bodies:
  - {name: a, mass: 1, inertia: [0.02, 0.03, 0.04], position: [0.5, 0, 0]}
  - {name: b, mass: 0.7, inertia: [0.01, 0.02, 0.015], position: [0.8, 0.3, 0.1]}
joints:
  - hinge: {between: [world, a], at: [0, 0, 0], axis: [0, 1, 0.5]}
  - fixed: {between: [a, b], at: [0.7, 0.1, 0]}
simulation: {step: 1/400, scheme: {alpha-gamma: {alpha: 0.5, gamma: )yaml" +
                                                   std::to_string(gamma) + "}}}\n"));
    const auto energy = [&] { return simulation.energy().kinetic + simulation.energy().potential; };
    const double start = energy();
    for (int k = 0; k < 800; ++k) {
      const StepReport& report = simulation.step();
      ASSERT_LT(report.certificate.joint_error, 0.02) << gamma << ", step " << k;
      ASSERT_NEAR(energy(), start, 0.2) << gamma << ", step " << k;
    }
  }
}

TEST(Family, CompliantRowEqualsTheMatrixForm) {
  // [methods 7.1]: one step with kq = -k g g^T and kv = -d g g^T inside M~ on one body and one direction.
  const double m = 2, phi = 0.1, v = 0.7, h = 0.01, d = 3;
  for (const double k : {1.0, 1e2, 1e5})
    for (const auto& [alpha, gamma] :
         std::vector<std::pair<double, double>>{{0.5, 0.5}, {1, 1}, {0.7, 0.4}, {0.6, 0}}) {
      const Scene scene = scene_of("gravity: [0, 0, 0]\nlet: {k: " + std::to_string(k) +
                                   ", a: " + std::to_string(alpha) + ", c: " + std::to_string(gamma) + R"yaml(}
bodies: [{name: mass, mass: 2, position: [1.1, 0, 0], velocity: [0.7, 0, 0], lock: [rotation]}]
forces: [{spring: {between: [world, mass], at: [[0, 0, 0], [1.1, 0, 0]], stiffness: k, damping: 3, rest_length: 1}}]
simulation: {scheme: {alpha-gamma: {alpha: a, gamma: c}}}
)yaml");
      Simulation simulation = simulation_of(scene, h);
      ASSERT_TRUE(simulation.step().certified);
      const double mt = m + alpha * h * d + alpha * gamma * h * h * k;
      const double kt = -h * (k * phi + d * v) - alpha * h * h * k * v;
      const double u = v + alpha * kt / mt;
      if (alpha == 1 && gamma == 1 && k < 1e4) {  // the step can follow it: the leapfrog (src/step/flight.h)
        const double half = (m * v - 0.5 * h * k * phi) / (m + 0.5 * h * d);
        const double end = half - 0.5 * h / m * (k * (phi + h * half) + d * half);
        EXPECT_NEAR(motion_of(simulation, "mass").velocity.x(), end, 1e-12);
        continue;
      }
      EXPECT_NEAR(motion_of(simulation, "mass").velocity.x(), (u - (1 - alpha) * v) / alpha, 1e-12);
    }
}

}  // namespace
}  // namespace slipstick::test
