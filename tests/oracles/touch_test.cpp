// Impacts within a fixed step happen where the bodies touch (src/step/touch_impacts.h): spins, throws and turns as in
// closed form at every step, motion that is continuous in its start, and no energy that comes or goes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>

#include "support/simulate.h"

namespace slipstick {
namespace {

using test::scene_of;
using test::simulation_of;

const char* const kFixedSchemes[] = {"stabilized", "spook"};

std::string digits(double x) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", x);
  return text;
}

std::string vector_text(const Vec3& v) {
  return "[" + digits(v.x()) + ", " + digits(v.y()) + ", " + digits(v.z()) + "]";
}

std::string rules(double friction, double restitution, double gravity) {
  return "gravity: [0, 0, " + digits(-gravity) + "]\nmaterials: {default: {friction: " + digits(friction) +
         ", restitution: " + digits(restitution) + "}}\nbodies:\n";
}

constexpr char kFloor[] = "  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n";

std::string steps_of(double h, const std::string& scheme) {
  return "simulation: {step: " + digits(h) + ", scheme: " + scheme + "}\n";
}

double total(const Simulation& simulation) {
  const EnergySplit energy = simulation.energy();
  return energy.kinetic + energy.potential;
}

/// |I (w' - w) - h sum of torques| and the same of momenta, of the last step.
double calc_unexplained(const Simulation& simulation, std::span<const Twist> before) {
  double worst = 0;
  const double h = simulation.options().step;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const Body& body = simulation.model().bodies[i];
    if (body.kind != BodyKind::Dynamic) continue;
    const BodyForces& f = simulation.body_forces()[i];
    const Twist& v = simulation.state().velocity[i];
    const Wrench sum = f.sum();
    worst = std::max({worst, (body.mass * (v.linear - before[i].linear) - h * sum.force).norm(),
                      (body.inertia * (v.angular - before[i].angular) - h * sum.torque).norm()});
  }
  return worst;
}

/// A ball of 2 cm that hits a floor, turned in any way, at 45 degrees: it leaves without slip, m v (2/7) of friction.
TEST(Touch, SpinOfABouncedBallIsThatOfClosedFormAtEveryStep) {
  for (const char* scheme : kFixedSchemes)
    for (const Vec3& normal : {Vec3(0, 0, 1), Vec3(0.6, 0, 0.8), Vec3(2. / 7, -3. / 7, 6. / 7)})
      for (const double n : {100., 240., 333., 1000.}) {
        const Vec3 along = normal.cross(Vec3(0.1, 1, 0.2)).normalized();
        Simulation simulation = simulation_of(scene_of(
            rules(0.9, 0.8, 0) + "  - {name: floor, fixed: true, shapes: [{plane: {normal: " + vector_text(normal) +
            ", offset: 0}}]}\n  - {name: ball, mass: 1, position: " + vector_text(0.137 * normal) +
            ", velocity: " + vector_text(10 * along - 10 * normal) + ", shapes: [{sphere: {radius: 0.02}}]}\n" +
            steps_of(1 / n, scheme)));
        while (simulation.state().time < 0.03) {
          const std::vector<Twist> before = simulation.state().velocity;
          const StepReport& report = simulation.step();
          EXPECT_TRUE(report.certified);
          EXPECT_LT(calc_unexplained(simulation, before), 1e-12);
          EXPECT_NEAR(report.certificate.ledger.numerical, 0, 1e-12);
        }
        const WorldMotion motion = test::motion_of(simulation, "ball");
        EXPECT_LT((motion.velocity - 50.0 / 7 * along - 8 * normal).norm(), 1e-9) << scheme << " " << n;
        EXPECT_LT((motion.angular_velocity - 2500.0 / 7 * normal.cross(along)).norm(), 1e-7) << scheme << " " << n;
        const double t = simulation.state().time, after = t - 0.0117;
        EXPECT_LT((motion.pose.position - (0.117 + after * 50 / 7) * along - (0.02 + 8 * after) * normal).norm(),
                  1e-11);
      }
}

/// The same ball without restitution rolls at 5/7 of its speed. Its impact is one of the step's own rows (landing.h).
TEST(Touch, SpinOfABallThatStaysDownIsThatOfClosedForm) {
  for (const char* scheme : kFixedSchemes)
    for (const double n : {100., 240., 333., 1000.}) {
      Simulation simulation =
          simulation_of(scene_of(rules(0.9, 0, 0) + kFloor +
                                 "  - {name: ball, mass: 1, position: [0, 0, 0.137], velocity: [10, 0, -10], shapes: "
                                 "[{sphere: {radius: 0.02}}]}\n" +
                                 steps_of(1 / n, scheme)));
      test::run_until(0.05, &simulation);
      EXPECT_NEAR(simulation.state().velocity[1].angular.y(), 2500. / 7, 1e-6) << scheme << " " << n;
      EXPECT_NEAR(simulation.state().velocity[1].linear.x(), 50. / 7, 1e-8) << scheme << " " << n;
    }
}

/// A spinning billiard ball throws another one by the friction of their touch, which slips all the time or ends slip.
TEST(Touch, ABilliardBallIsThrownAsInClosedForm) {
  constexpr double kMass = 0.17, kRadius = 0.028, kE = 0.9;
  const Vec3 apart(0.3, 0.03, 0.005), v(5, 0.3, 0), w(0, 3, 40);
  const double b = apart.dot(v), room = apart.squaredNorm() - 4 * kRadius * kRadius;
  const double t = (b - std::sqrt(b * b - v.squaredNorm() * room)) / v.squaredNorm();
  const Vec3 normal = (apart - t * v).normalized();
  const Vec3 slip = v - normal * normal.dot(v) + w.cross(kRadius * normal);
  for (const double mu : {0.1, 0.01}) {
    const double impulse = kMass * (1 + kE) / 2 * normal.dot(v);
    const Vec3 given = impulse * normal + std::min(mu * impulse, kMass / 7 * slip.norm()) * slip.normalized();
    const Vec3 spin = w - (kRadius * normal).cross(given) / (0.4 * kMass * kRadius * kRadius);
    for (const char* scheme : kFixedSchemes)
      for (const double n : {100., 240., 1000.}) {
        Simulation simulation = simulation_of(
            scene_of(rules(mu, kE, 0) + "  - {name: a, mass: 0.17, position: [0, 0, 0], velocity: " + vector_text(v) +
                     ", angular_velocity: " + vector_text(w) + ", shapes: [{sphere: {radius: 0.028}}]}\n" +
                     "  - {name: b, mass: 0.17, position: " + vector_text(apart) +
                     ", shapes: [{sphere: {radius: 0.028}}]}\n" + steps_of(1 / n, scheme)));
        test::run_until(0.08, &simulation);
        EXPECT_LT((test::motion_of(simulation, "b").velocity - given / kMass).norm(), 1e-9) << scheme << " " << n;
        EXPECT_LT((test::motion_of(simulation, "a").velocity - v + given / kMass).norm(), 1e-9) << scheme << " " << n;
        EXPECT_LT((test::motion_of(simulation, "a").angular_velocity - spin).norm(), 1e-6) << scheme << " " << n;
      }
  }
}

/// A bar falls on its lower end: J = 2 v / (1/m + x^2/I), x from the centre to the corner along the floor.
TEST(Touch, ABarOnItsEndTurnsAsInClosedForm) {
  constexpr double kTilt = M_PI / 6, kThick = 0.05, kLong = 1, kHeight = 0.8;
  const double x = kLong / 2 * std::sin(kTilt) - kThick / 2 * std::cos(kTilt);
  const double low = kLong / 2 * std::cos(kTilt) + kThick / 2 * std::sin(kTilt);
  const double v = std::sqrt(2 * 9.81 * (kHeight - low)), inertia = (kLong * kLong + kThick * kThick) / 12;
  const double impulse = 2 * v / (1 + x * x / inertia), spin = impulse * x / inertia;
  for (const char* scheme : kFixedSchemes)
    for (const double n : {100., 240., 1000.}) {
      Simulation simulation =
          simulation_of(scene_of(rules(0, 1, 9.81) + kFloor +
                                 "  - {name: bar, mass: 1, position: [0, 0, 0.8], orientation: {axis: [0, 1, 0], "
                                 "angle_deg: 30}, shapes: [{box: {size: [0.05, 0.05, 1]}}]}\n" +
                                 steps_of(1 / n, scheme)));
      test::run_until(0.3, &simulation);
      const WorldMotion motion = test::motion_of(simulation, "bar");
      EXPECT_NEAR(motion.angular_velocity.norm(), spin, 1e-9) << scheme << " " << n;
      EXPECT_NEAR(motion.velocity.z(), impulse - v - 9.81 * (simulation.state().time - v / 9.81), 1e-9);
    }
}

/// z(T) of a ball that falls from z0 and bounces once, and how it changes with z0.
TEST(Touch, ABounceIsContinuousInItsStart) {
  constexpr double kG = 9.81, kE = 0.7;
  const auto run = [](double z0, double h, const char* scheme) {
    Simulation simulation =
        simulation_of(scene_of(rules(0, kE, kG) + kFloor + "  - {name: ball, mass: 1, position: [0, 0, " + digits(z0) +
                               "], shapes: [{sphere: {radius: 0.1}}]}\n" + steps_of(h, scheme)));
    test::run_until(0.6, &simulation);
    return simulation.state().pose[1].position.z();
  };
  for (const char* scheme : kFixedSchemes)
    for (const double h : {1e-2, 5e-3, 1e-3})
      for (const double z0 : {0.6, 0.703, 1.0}) {
        const double t = std::sqrt(2 * (z0 - 0.1) / kG), rest = 0.6 - t;
        const double dz = (1 / t) * (kE * rest - kE * t + rest), d = 1e-6;
        EXPECT_NEAR(run(z0, h, scheme), 0.1 + kE * kG * t * rest - kG / 2 * rest * rest, 1e-11);
        EXPECT_NEAR((run(z0 + d, h, scheme) - run(z0 - d, h, scheme)) / (2 * d), dz, 1e-6) << scheme << " " << h;
      }
}

/// Two balls with a gap of a micrometre: the second is hit in the step in which it hits the third.
TEST(Touch, WhoIsHitHitsTheNextOneInTheSameStep) {
  for (const char* scheme : kFixedSchemes) {
    std::string text = rules(0, 1, 0);
    for (int i = 0; i < 4; ++i)
      text += "  - {name: b" + std::to_string(i) + ", mass: 1, position: [" +
              digits(i * 0.2 + (i == 0 ? -0.013 : 1e-6 * i)) + ", 0, 0], velocity: [" + (i == 0 ? "3" : "0") +
              ", 0, 0], shapes: [{sphere: {radius: 0.1}}]}\n";
    Simulation simulation = simulation_of(scene_of(text + steps_of(0.01, scheme)));
    simulation.step();
    ASSERT_EQ(simulation.events().size(), 3U);
    double last = 0;
    for (const Event& event : simulation.events()) {
      EXPECT_GE(event.time, last);
      EXPECT_NEAR(event.time, 0.013 / 3, 2e-6);
      last = event.time;
    }
    for (int i = 0; i < 4; ++i)
      EXPECT_NEAR(simulation.state().velocity[i].linear.x(), i == 3 ? 3 : 0, 1e-12) << scheme << " " << i;
  }
}

/// A box that turns in all directions: first order at least, and the ledger explains every step.
TEST(Touch, ASpinningBoxConverges) {
  const auto run = [](double h, const char* scheme) {
    Simulation simulation =
        simulation_of(scene_of(rules(0.4, 0.8, 9.81) + kFloor +
                               "  - {name: box, mass: 1, position: [0, 0, 0.8], velocity: [1, 0, 0], "
                               "angular_velocity: [3, 5, 2], shapes: [{box: {size: [0.2, 0.3, 0.4]}}]}\n" +
                               steps_of(h, scheme)));
    while (simulation.state().time < 0.5 - 1e-9) {
      const std::vector<Twist> before = simulation.state().velocity;
      const StepReport& report = simulation.step();
      EXPECT_TRUE(report.certified);
      EXPECT_NEAR(report.certificate.ledger.numerical, 0, 1e-11);
      EXPECT_LT(calc_unexplained(simulation, before), 1e-11);
    }
    const WorldMotion motion = test::motion_of(simulation, "box");
    Eigen::Matrix<double, 9, 1> all;
    all << motion.pose.position, motion.velocity, motion.angular_velocity;
    return all;
  };
  for (const char* scheme : kFixedSchemes) {
    const auto exact = run(1e-4, scheme);
    EXPECT_LT((run(1e-2, scheme) - exact).norm(), 2e-2) << scheme;
    EXPECT_LT((run(1e-3, scheme) - exact).norm(), 2e-3) << scheme;
  }
}

/// A leg of 0.2 kg under a trunk of 2 kg, which 200 N push to the end of its range: how high their centre rises.
double calc_jump(double h, const char* scheme) {
  Simulation simulation = simulation_of(scene_of(
      "bodies:\n" + std::string(kFloor) +
      "  - {name: leg, mass: 0.2, position: [0, 0, 0.05], lock: [rotation], shapes: [{sphere: {radius: 0.05}}]}\n"
      "  - {name: trunk, mass: 2, position: [0, 0, 0.4], lock: [rotation], shapes: [{sphere: {radius: 0.1}}]}\n"
      "joints:\n  - slider: {between: [leg, trunk], axis: [0, 0, 1], limits: [0, 0.2], motor: {speed: 100, max: "
      "200}}\n" +
      steps_of(h, scheme)));
  test::run_until(0.3, &simulation);
  const State& state = simulation.state();
  const double z = (0.2 * state.pose[1].position.z() + 2 * state.pose[2].position.z()) / 2.2;
  const double v = (0.2 * state.velocity[1].linear.z() + 2 * state.velocity[2].linear.z()) / 2.2;
  return z + v * v / (2 * 9.81) - (0.2 * 0.05 + 2 * 0.4) / 2.2;
}

TEST(Touch, ALegThatComesToItsStopJumpsAsHighAsItMust) {
  const double v = 2 / 2.2 * std::sqrt(2 * 0.2 * (200 / 2. - 9.81)), exact = 0.2 * 2 / 2.2 + v * v / (2 * 9.81);
  for (const char* scheme : kFixedSchemes) {
    EXPECT_NEAR(calc_jump(1. / 200, scheme), exact, 0.08 * exact) << scheme;
    EXPECT_NEAR(calc_jump(1. / 800, scheme), exact, 0.02 * exact) << scheme;
    EXPECT_NEAR(calc_jump(1. / 3200, scheme), exact, 0.005 * exact) << scheme;
  }
  EXPECT_NEAR(calc_jump(1. / 200, "trapezoid"), exact, 1e-9 * exact);
}

/// Boxes between elastic walls, in the plane and in space: many turn while they come, some fit in flat.
TEST(Touch, ElasticBoxesKeepTheirEnergy) {
  for (const char* scheme : kFixedSchemes)
    for (const bool planar : {true, false}) {
      std::mt19937 random(planar ? 5 : 6);
      const auto number = [&](double most) { return digits(std::uniform_real_distribution<>(-most, most)(random)); };
      std::string text =
          std::string(planar ? "planar: true\ngravity: [0, 0]" : "gravity: [0, 0, 0]") +
          "\nmaterials: {default: {friction: 0, restitution: 1}}\nbodies:\n  - {name: walls, fixed: true, "
          "shapes: [";
      const int n = planar ? 6 : 3;
      const double room = n * 0.3;
      for (const char* normal : {"1, 0", "-1, 0", "0, 1", "0, -1"})
        text +=
            std::string("{plane: {normal: [") + normal + (planar ? "" : ", 0") + "], offset: " + digits(-room) + "}}, ";
      if (!planar)
        for (const char* normal : {"0, 0, 1", "0, 0, -1"})
          text += std::string("{plane: {normal: [") + normal + "], offset: " + digits(-room) + "}}, ";
      text += "]}\n";
      for (int i = 0; i < (planar ? n * n : n * n * n); ++i) {
        const auto place = [&](int k) { return digits((k - (n - 1) / 2.0) * 0.5); };
        text += "  - {name: b" + std::to_string(i) + ", mass: 1, position: [" + place(i % n) + ", " + place(i / n % n) +
                (planar ? "" : ", " + place(i / n / n)) + "], velocity: [" + number(3) + ", " + number(3) +
                (planar ? "" : ", " + number(3)) + "], angular_velocity: " +
                (planar ? number(4) : "[" + number(4) + ", " + number(4) + ", " + number(4) + "]") +
                ", shapes: [{box: {size: " + (planar ? "[0.2, 0.14]" : "[0.2, 0.14, 0.17]") + "}}]}\n";
      }
      Simulation simulation = simulation_of(scene_of(text + steps_of(0.01, scheme)));
      const double start = total(simulation);
      int impacts = 0;
      while (simulation.state().time < 10 - 1e-9) {
        ASSERT_TRUE(simulation.step().certified);
        const std::span<const Event> events = simulation.events();
        impacts += static_cast<int>(events.size());
        EXPECT_TRUE(std::is_sorted(events.begin(), events.end(),
                                   [](const Event& a, const Event& b) { return a.time < b.time; }));
      }
      EXPECT_GT(impacts, 500);
      EXPECT_NEAR(total(simulation), start, 1e-4 * start) << scheme << (planar ? " in the plane" : " in space");
    }
}

}  // namespace
}  // namespace slipstick
