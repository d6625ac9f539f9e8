// The alpha-gamma family and the event driver against published tables, closed forms and their own discrete outputs.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>

#include "support/simulate.h"

namespace slipstick::testing {
namespace {

/// The scene under a scheme given as in scene files: "trapezoid", or "{alpha-gamma: {alpha: 0.7}}".
Scene scene_under(const std::string& name, const std::string& scheme, const std::vector<std::string>& set = {}) {
  SceneLoadOptions load;
  for (const std::string& each : set) {
    const std::size_t at = each.find('=');
    load.set.push_back({each.substr(0, at), each.substr(at + 1)});
  }
  Scene scene = shipped_scene(name, load);
  const Scene other = scene_of("bodies: []\nsimulation: {scheme: " + scheme + "}\n");
  scene.simulation.scheme = other.simulation.scheme;
  scene.simulation.alpha = other.simulation.alpha;
  scene.simulation.gamma = other.simulation.gamma;
  scene.simulation.locate = other.simulation.locate;
  scene.simulation.stabilize = other.simulation.stabilize;
  scene.simulation.event_state = other.simulation.event_state;
  return scene;
}

struct Course {
  std::vector<Event> events;
  double increase = 0;  ///< largest growth of energy in a step that nobody paid for
  double joint_error = 0;
  int guards = 0;
};

/// Steps until t; every step must be certified.
Course follow(double t, Simulation* simulation) {
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

std::vector<Event> of_kind(const std::vector<Event>& events, EventKind kind) {
  std::vector<Event> out;
  for (const Event& event : events)
    if (event.kind == kind) out.push_back(event);
  return out;
}

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

TEST(DoublePendulum, DefaultsBeatThePaper) {
  const std::array<double, 5> paper{2.38e-3, 6.14e-4, 1.54e-4, 3.95e-5, 1.01e-5};
  const Scene scene = shipped_scene("double_pendulum.yaml");
  double previous = 0;
  for (int k = 5; k <= 9; ++k) {
    Simulation simulation = simulation_of(scene, std::ldexp(1, -k));
    const Course run = follow(2.5, &simulation);
    const double error = calc_errors(simulation).position;
    EXPECT_LT(error, 0.2 * paper[k - 5]);
    if (previous > 0) {
      EXPECT_NEAR(previous / error, 4, 0.3);
    }
    previous = error;
    const double h = std::ldexp(1, -k);
    EXPECT_LT(run.joint_error, 20 * h * h * h);
    ASSERT_EQ(run.events.size(), 5u);
    for (int i = 0; i < 5; ++i) EXPECT_NEAR(run.events[i].time, kPendulumImpacts[i], 2 * h * h) << i;
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

TEST(Stiff, OneStepIsTheRodsAsOneOverStiffness) {
  const auto velocity = [](const std::string& link) {
    const Scene scene = scene_of(
        "planar: true\nbodies: [{name: bob, mass: 1, position: [0.6, -0.8], velocity: [0.8, 0.6], "
        "lock: [rotation]}]\n" +
        link + "simulation: {step: 0.01}\n");
    Simulation simulation = simulation_of(scene);
    EXPECT_TRUE(simulation.step().certified);
    return motion_of(simulation, "bob").velocity;
  };
  const Vec3 rigid = velocity("joints: [{rod: {between: [world, bob], at: [[0, 0], [0.6, -0.8]]}}]\n");
  double previous = 0;
  for (int power = 5; power <= 12; ++power) {
    const double distance =
        (velocity("forces: [{spring: {between: [world, bob], at: [[0, 0], [0.6, -0.8]], rest_length: 1, "
                  "stiffness: " +
                  std::to_string(std::pow(10.0, power)) + "}}]\n") -
         rigid)
            .norm();
    if (previous > 0) {
      EXPECT_NEAR(previous / distance, 10, 1) << "k = 1e" << power;
    }
    previous = distance;
  }
  EXPECT_LT(previous, 2e-9);
}

// ---------------------------------------------------------------- stick and slip

TEST(StickSlip, OutputsOfThePaper) {
  // [Gavrea08]: alpha = gamma = 1/2, h = 0.01, nothing located. v^h oscillates, v^{h,alpha} does not.
  Simulation simulation = simulation_of(scene_under("stick_slip_block.yaml", "{trapezoid: {locate: false}}"));
  const int block = *simulation.model().find_body("block");
  double v = 0, u = 0, variation_v = 0, variation_u = 0;
  while (simulation.state().time < 10 - 1e-9) {
    simulation.step();
    const double v1 = simulation.state().velocity[block].linear.x();
    const double u1 = simulation.weighted_velocity()[block].linear.x();
    variation_v += std::abs(v1 - v);
    variation_u += std::abs(u1 - u);
    v = v1;
    u = u1;
  }
  EXPECT_NEAR(motion_of(simulation, "block").pose.position.x(), 2.9912529546, 1e-9);
  EXPECT_NEAR(std::abs(v), 1.845754e-3, 1e-8);
  EXPECT_NEAR(u, 0, 1e-12);
  EXPECT_NEAR(variation_v, 2.1576, 1e-3);
  EXPECT_NEAR(variation_u, 0.27998, 1e-4);
}

TEST(StickSlip, SecondOrderWhenLocatedFirstOrderWhenNot) {
  const double exact = 2.991302833115;
  const auto error = [&](const std::string& scheme, double h) {
    Simulation simulation = simulation_of(scene_under("stick_slip_block.yaml", scheme), h);
    follow(10, &simulation);
    return std::abs(motion_of(simulation, "block").pose.position.x() - exact);
  };
  for (const double h : {0.01, 0.005, 0.0025}) {
    EXPECT_NEAR(error("trapezoid", h) / error("trapezoid", h / 2), 4, 0.4);
    EXPECT_NEAR(error("euler", h) / error("euler", h / 2), 2, 0.2);
    EXPECT_NEAR(error("{euler: {locate: false}}", h) / error("{euler: {locate: false}}", h / 2), 2, 0.2);
  }
}

TEST(StickSlip, EventsComeWhenTheyShould) {
  Simulation simulation = simulation_of(shipped_scene("stick_slip_block.yaml"), 0.002);
  const Course run = follow(10, &simulation);
  const std::array<double, 4> sticks{0.338608184672, 3.532834608887, 6.674427262477, 9.816019916067};
  const std::array<double, 3> slips{2.946346791224, 6.087939444814, 9.229532098403};
  const auto stick = of_kind(run.events, EventKind::Stick), slip = of_kind(run.events, EventKind::Slip);
  ASSERT_EQ(stick.size(), 4u);
  ASSERT_EQ(slip.size(), 3u);
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(stick[i].time, sticks[i], 1e-5);
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(slip[i].time, slips[i], 1e-4);
}

TEST(StickSlip, SphereRollsFromTheRightInstantOn) {
  Simulation simulation = simulation_of(shipped_scene("sliding_sphere.yaml"), 0.01);
  const Course run = follow(1.2, &simulation);
  ASSERT_EQ(run.events.size(), 1u);
  EXPECT_EQ(run.events[0].kind, EventKind::Stick);
  EXPECT_NEAR(run.events[0].time, 1.01936799185, 1e-9);
  EXPECT_NEAR(motion_of(simulation, "ball").pose.position.x(), 6.11620795107 + 5 * (1.2 - 1.01936799185), 1e-9);
  EXPECT_NEAR(motion_of(simulation, "ball").velocity.x(), 5, 1e-12);
}

// ---------------------------------------------------------------- impacts

TEST(Impacts, BallLeavesTheWallAtETimesItsSpeedAtTheRightInstant) {
  for (const double h : {0.3, 0.1, 0.07, 0.05, 0.03, 0.017})
    for (const char* scheme :
         {"trapezoid", "euler", "{alpha-gamma: {alpha: 0.7, gamma: 0.6}}", "{stabilized: {locate: true}}"}) {
      Simulation simulation = simulation_of(scene_under("ball_and_wall.yaml", scheme, {"e=0.8"}), h);
      const Course run = follow(2, &simulation);
      ASSERT_EQ(run.events.size(), 1u) << scheme << " h = " << h;
      EXPECT_NEAR(run.events[0].time, 1, 1e-12);
      EXPECT_NEAR(run.events[0].normal_speed_before, -1, 1e-12);
      EXPECT_NEAR(run.events[0].normal_speed_after, 0.8, 1e-12);
      EXPECT_NEAR(motion_of(simulation, "ball").pose.position.x(), 1 - 0.8 * (simulation.state().time - 1), 1e-11);
    }
}

TEST(Impacts, BouncingBallComesToRestAfterFinitelyManyEvents) {
  Scene scene = shipped_scene("bouncing_ball.yaml");
  scene.simulation.scheme = "trapezoid";
  scene.simulation.restitution_threshold.reset();
  for (const double h : {0.02, 0.005, 0.001}) {
    Simulation simulation = simulation_of(scene, h);
    const Course run = follow(1.6, &simulation);
    ASSERT_GE(run.events.size(), 5u);
    EXPECT_LE(run.events.size(), 20u);
    EXPECT_NEAR(run.events[0].time, 0.451523640986, 1e-11);
    EXPECT_NEAR(run.events[1].time, 0.903047281971, 1e-11);
    EXPECT_NEAR(run.events[2].time, 1.12880910246, 1e-10);
    EXPECT_NEAR(run.events.back().time, 1.35457092296, 2 * h);
    EXPECT_NEAR(motion_of(simulation, "ball").pose.position.z(), 0.1, 1e-12);
    EXPECT_NEAR(motion_of(simulation, "ball").velocity.norm(), 0, 1e-12);
    EXPECT_LE(run.increase, 1e-12);
  }
}

TEST(Impacts, NearlyElasticBallDoesNotLoopForEver) {
  Scene scene = shipped_scene("bouncing_ball.yaml", {.set = {{"e", "0.98"}}});
  scene.simulation.scheme = "trapezoid";
  scene.simulation.restitution_threshold.reset();
  Simulation simulation = simulation_of(scene, 0.05);
  follow(60, &simulation);  // sum of all flights: 2 sqrt(2/g) e/(1 - e) + sqrt(2/g) = 44.7 s
  EXPECT_NEAR(motion_of(simulation, "ball").pose.position.z(), 0.1, 1e-9);
  EXPECT_NEAR(motion_of(simulation, "ball").velocity.norm(), 0, 1e-9);
}

Scene spinning_ball(const std::string& law, const std::string& more = "") {
  return scene_of(R"yaml(
gravity: [0, 0, 0]
materials: {default: {friction: 0.3, restitution: 0.6)yaml" +
                  more + R"yaml(}}
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {name: ball, mass: 0.2, position: [0, 0, 0.0515], velocity: [2, 0, -3], angular_velocity: [0, -40, 0], shapes: [{sphere: {radius: 0.05}}]}
simulation: {scheme: trapezoid, step: 0.01, impact: )yaml" +
                  law + "}\n");
}

TEST(Impacts, FrictionIsBoundedOverTheWholeImpulse) {
  // Compression alone (0.6 N s) would leave a slip: mu 0.6 = 0.18 < 0.2286; with decompression 0.288 suffice to stop
  // it.
  for (const char* law : {"poisson", "newton"}) {
    Simulation simulation = simulation_of(spinning_ball(law));
    const Course run = follow(0.02, &simulation);
    const WorldMotion ball = motion_of(simulation, "ball");
    EXPECT_NEAR(ball.velocity.z(), 1.8, 1e-10) << law;
    EXPECT_NEAR(ball.velocity.x(), 0.857142857143, 1e-10) << law;
    EXPECT_NEAR(ball.angular_velocity.y(), 17.1428571429, 1e-8) << law;
    EXPECT_EQ(run.guards, 0);
  }
  // v+ = 1.6 vc - 0.6 v-, where friction has done 0.18 in compression.
  Simulation simulation = simulation_of(spinning_ball("simplified"));
  follow(0.02, &simulation);
  EXPECT_NEAR(motion_of(simulation, "ball").velocity.z(), 1.8, 1e-10);
  EXPECT_NEAR(motion_of(simulation, "ball").velocity.x(), 2 - 1.6 * 0.18 / 0.2, 1e-10);
}

TEST(Impacts, SuperballReturnsItsSpin) {
  Scene scene = scene_of(R"yaml(
gravity: [0, 0, 0]
materials: {default: {friction: 2, restitution: 1, tangential_restitution: 1}}
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {name: ball, mass: 0.2, position: [0, 0, 0.0515], velocity: [2, 0, -3], shapes: [{sphere: {radius: 0.05}}]}
simulation: {scheme: trapezoid, step: 0.01}
)yaml");
  Simulation simulation = simulation_of(scene);
  const double before = simulation.energy().kinetic;
  follow(0.02, &simulation);
  const WorldMotion ball = motion_of(simulation, "ball");
  const double slip = ball.velocity.x() - 0.05 * ball.angular_velocity.y();
  EXPECT_NEAR(slip, -2, 1e-9) << "the slip is reversed";
  EXPECT_NEAR(simulation.energy().kinetic / before, 1, 1e-10) << "and no energy lost";
}

TEST(Impacts, NoLawGainsEnergy) {
  // Boxes thrown at the floor and at each other, several frictional contacts at a time: where Poisson's or Newton's law
  // would gain, the simplified one takes over, and says so.
  int guards = 0;
  for (const char* law : {"poisson", "newton", "simplified"})
    for (int seed = 1; seed <= 12; ++seed) {
      std::mt19937 random(seed);
      std::uniform_real_distribution<double> uniform(-1, 1);
      const auto number = [&](double size) { return std::to_string(size * uniform(random)); };
      std::string text =
          "materials: {default: {friction: 0.9, restitution: 0.8}}\nbodies:\n"
          "  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n";
      for (int i = 0; i < 2; ++i)
        text += "  - {name: b" + std::to_string(i) + ", mass: 1, position: [" + number(0.1) + ", " + number(0.1) +
                ", " + std::to_string(1 + 1.5 * i) + "], velocity: [" + number(2) + ", " + number(2) +
                ", -4], angular_velocity: [" + number(5) + ", " + number(5) + ", " + number(5) +
                "], shapes: [{box: {size: [1, 0.4, 0.3]}}]}\n";
      text += "simulation: {step: 0.005, scheme: {trapezoid: {stabilize: false}}, impact: " + std::string(law) + "}\n";
      Simulation simulation = simulation_of(scene_of(text));
      const Course run = follow(0.6, &simulation);
      EXPECT_LE(run.increase, 1e-8) << law << " seed " << seed;
      EXPECT_FALSE(run.events.empty());
      guards += run.guards;
    }
  EXPECT_GT(guards, 0) << "the guard is not idle";
}

TEST(Impacts, StartThatViolatesContactAndJointIsAnImpactAtZero) {
  const Scene scene = scene_of(R"yaml(
planar: true
gravity: [0, 0]
materials: {default: {friction: 0, restitution: 0.5}}
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 1], offset: 0}}]}
  - {name: ball, mass: 1, position: [0, 0.1], velocity: [0, -2], lock: [rotation], shapes: [{disk: {radius: 0.1}}]}
  - {name: bob, mass: 1, position: [5, 4], velocity: [1, 1], lock: [rotation]}
joints: [{rod: {between: [world, bob], at: [[5, 5], [5, 4]]}}]
simulation: {scheme: trapezoid, step: 0.01}
)yaml");
  Simulation simulation = simulation_of(scene);
  ASSERT_TRUE(simulation.step().certified);
  ASSERT_EQ(simulation.events().size(), 2u);
  for (const Event& event : simulation.events()) {
    EXPECT_EQ(event.kind, EventKind::Impact);
    EXPECT_EQ(event.time, 0);
  }
  EXPECT_NEAR(motion_of(simulation, "ball").velocity.y(), 1, 1e-12);
  EXPECT_NEAR(motion_of(simulation, "bob").velocity.norm(), 1, 1e-9) << "the radial part is gone";
}

TEST(Impacts, GrazingInsideAStepIsSeen) {
  // A ball on a parabola dips 1 mm into the floor in the middle of a step, above it at both ends.
  const Scene scene = scene_of(R"yaml(
gravity: [0, 0, 20]
materials: {default: {friction: 0, restitution: 1}}
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {name: ball, mass: 1, position: [0, 0, 0.1 + 0.024], velocity: [0, 0, -1], shapes: [{sphere: {radius: 0.1}}]}
simulation: {scheme: trapezoid, step: 0.1}
)yaml");
  Simulation simulation = simulation_of(scene);
  ASSERT_TRUE(simulation.step().certified);
  ASSERT_EQ(simulation.events().size(), 1u);
  EXPECT_NEAR(simulation.events()[0].normal_speed_before, -std::sqrt(1 - 2 * 20 * 0.024), 1e-9);
}

TEST(Impacts, SimultaneousOnesAreOneProblem) {
  // Three balls in a row hit a wall of three others at the same instant.
  const Scene scene = scene_of(R"yaml(
gravity: [0, 0, 0]
materials: {default: {friction: 0, restitution: 1}}
bodies:
  - {name: "a_{i}", repeat: {i: 3}, mass: 1, position: [0, i, 0], velocity: [1, 0, 0], shapes: [{sphere: {radius: 0.1}}]}
  - {name: "b_{i}", repeat: {i: 3}, mass: 1, position: [0.7, i, 0], shapes: [{sphere: {radius: 0.1}}]}
simulation: {scheme: trapezoid, step: 0.2}
)yaml");
  Simulation simulation = simulation_of(scene);
  const Course run = follow(1, &simulation);
  ASSERT_EQ(run.events.size(), 3u);
  for (const Event& event : run.events) EXPECT_NEAR(event.time, 0.5, 1e-12);
  EXPECT_NEAR(motion_of(simulation, "b_1").velocity.x(), 1, 1e-12);
  EXPECT_NEAR(motion_of(simulation, "a_1").velocity.x(), 0, 1e-12);
}

// ---------------------------------------------------------------- Painleve

TEST(Painleve, ImpulseWithoutCollisionAtAnyStep) {
  // m = 1, half length 1/2, 60 degrees, mu = 2: in the limit v+ = (-0.5625, 0.324759526419), omega = 1.299038105677.
  for (const char* scheme : {"trapezoid", "euler"}) {
    double previous = 0;
    for (const double h : {1e-1, 1e-2, 1e-3, 1e-4}) {
      Simulation simulation = simulation_of(scene_under("painleve_rod.yaml", scheme), h);
      ASSERT_TRUE(simulation.step().certified);
      const auto impacts = of_kind({simulation.events().begin(), simulation.events().end()}, EventKind::Impact);
      EXPECT_EQ(impacts.size(), 1u);
      const WorldMotion rod = motion_of(simulation, "rod");
      const double error = (rod.velocity - Vec3(-0.5625, 0.324759526419, 0)).norm() +
                           std::abs(rod.angular_velocity.z() - 1.299038105677);
      if (h < 5e-2 && previous > 0) {
        EXPECT_NEAR(previous / error, 10, 3) << scheme << " h = " << h;
      }
      previous = error;
    }
    EXPECT_LT(previous, 1e-2);
  }
}

TEST(Painleve, SecondOrderAfterwards) {
  // Pivoting on the tip: theta(0.2) = 1.176525042713 from the vertical... the angle to the floor.
  const auto error = [](double h) {
    Simulation simulation = simulation_of(scene_under("painleve_rod.yaml", "trapezoid"), h);
    const Course run = follow(0.2, &simulation);
    EXPECT_EQ(of_kind(run.events, EventKind::Impact).size(), 1u) << h;
    const Quat q = motion_of(simulation, "rod").pose.orientation;
    return std::abs(60 * std::numbers::pi / 180 + 2 * std::atan2(q.z(), q.w()) - 1.176525042713);
  };
  const double coarse = error(0.01), middle = error(0.005), fine = error(0.0025);
  EXPECT_LT(coarse, 2e-3);
  EXPECT_NEAR(coarse / middle, 4, 0.8);
  EXPECT_NEAR(middle / fine, 4, 0.8);
}

TEST(Painleve, OtherInconsistentStart) {
  // Half length 1, mu = 5/3, g = 10: P_N = 0.324759526419, P_T = -0.4375; after it (0.5625, 0.324759526419),
  // 0.649519052838.
  const Scene scene = scene_of(R"yaml(
planar: true
gravity: [0, -10]
let: {l: 1, a: 60*deg}
materials: {default: {friction: 5/3}}
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 1], offset: 0}}]}
  - {name: rod, mass: 1, inertia: [1, 1, l^2/3], center_of_mass: [0, 0], position: [-l*cos(a), l*sin(a)], velocity: [1, 0],
     shapes: [{disk: {radius: 1e-9}, position: [l*cos(a), 1e-9 - l*sin(a)]}]}
simulation: {scheme: trapezoid}
)yaml");
  for (const double h : {1e-2, 1e-3, 1e-4}) {
    Simulation simulation = simulation_of(scene, h);
    ASSERT_TRUE(simulation.step().certified);
    const WorldMotion rod = motion_of(simulation, "rod");
    EXPECT_NEAR(rod.velocity.x(), 0.5625, 12 * h);
    EXPECT_NEAR(rod.velocity.y(), 0.324759526419, 12 * h);
    EXPECT_NEAR(std::abs(rod.angular_velocity.z()), 0.649519052838, 12 * h);
  }
}

TEST(Painleve, ConsistentStartJustSlides) {
  Simulation simulation = simulation_of(scene_under("painleve_rod.yaml", "trapezoid", {"mu=1"}), 1e-3);
  ASSERT_TRUE(simulation.step().certified);
  EXPECT_TRUE(of_kind({simulation.events().begin(), simulation.events().end()}, EventKind::Impact).empty());
  // Acceleration of the sliding rod: A_nn + mu A_nt = 1.75 - 1.299 = 0.451 > 0, N = g/0.451.
  const double normal = 9.81 / (1.75 - 1.299038105677);
  ASSERT_EQ(simulation.contact_forces().size(), 1u);
  EXPECT_NEAR(simulation.contact_forces()[0].force.y() / normal, 1, 0.02);
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
  expect_order(shipped_scene("free_top.yaml"), 1, 0.02, 2, 0.15, state);
  expect_order(scene_under("free_top.yaml", "euler"), 1, 0.005, 1, 0.15, state);
  Simulation simulation = simulation_of(shipped_scene("free_top.yaml"), 0.05);
  const double energy = simulation.energy().kinetic;
  follow(2, &simulation);
  EXPECT_NEAR(simulation.energy().kinetic / energy, 1, 1e-12);
}

TEST(Smooth, HeavyTopOnAJointIsOfSecondOrder) {
  // [VERIFICATION] heavy top: com(1) = (0.173343964098, 0.64008859207, -0.748490791134).
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
  first.simulation.scheme = "euler";
  expect_order(first, 1, 0.0025, 1, 0.2, state);
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

TEST(Family, CompliantRowEqualsTheMatrixForm) {
  // [METHODS 7]: one step with kq = -k g g^T and kv = -d g g^T inside M~ on one body and one direction.
  const double m = 2, phi = 0.1, v = 0.7, h = 0.01, d = 3;
  for (const double k : {1.0, 1e2, 1e4})
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
      EXPECT_NEAR(motion_of(simulation, "mass").velocity.x(), (u - (1 - alpha) * v) / alpha, 1e-12);
    }
}

// ---------------------------------------------------------------- fast bodies

class Bullet : public ::testing::TestWithParam<const char*> {};

TEST_P(Bullet, NonePassesAThinPlate) {
  // 1 m/s to 1 km/s against a plate of 1 mm, from random places in random headings.
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int i = 0; i < 1000; ++i) {
    const double speed = std::pow(10.0, 3 * uniform(random));
    const double tilt = 1.2 * uniform(random), turn = 2 * std::numbers::pi * uniform(random);
    const Vec3 heading(std::sin(tilt) * std::cos(turn), std::sin(tilt) * std::sin(turn), -std::cos(tilt));
    const double away = speed * 0.01 * (0.2 + 2 * uniform(random));  // meets the plate inside the first steps
    const Vec3 start = -away * heading + Vec3(0.3 * uniform(random), 0.3 * uniform(random), 0.0105);
    const auto triple = [](const Vec3& x) {
      return "[" + std::to_string(x.x()) + ", " + std::to_string(x.y()) + ", " + std::to_string(x.z()) + "]";
    };
    const Scene scene =
        scene_of(R"yaml(
gravity: [0, 0, 0]
materials: {default: {friction: 0.3, restitution: 0.2}}
bodies:
  - {name: plate, fixed: true, shapes: [{box: {size: [400, 400, 0.001]}}]}
  - {name: bullet, mass: 0.01, position: )yaml" +
                 triple(start) + ", velocity: " + triple(speed * heading) + R"yaml(, shapes: [{sphere: {radius: 0.01}}]}
simulation: {step: 0.01, scheme: )yaml" +
                 GetParam() + "}\n");
    Simulation simulation = simulation_of(scene);
    follow(0.05, &simulation);
    EXPECT_GT(motion_of(simulation, "bullet").pose.position.z(), 0.0105 - 1e-6)
        << "speed " << speed << " heading " << heading.transpose();
  }
}
INSTANTIATE_TEST_SUITE_P(Schemes, Bullet, ::testing::Values("stabilized", "trapezoid", "euler"));

}  // namespace
}  // namespace slipstick::testing
