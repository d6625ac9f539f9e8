// Contact forces that are not unique: the same motion and the same forces in every frame, at every size, in every order
// of bodies and from every solver. SLIPSTICK_FRAMES: how many random frames.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "support/simulate.h"

namespace slipstick::test {
namespace {

std::string text_of(const Vec3& v) {
  std::ostringstream out;
  out.precision(17);
  out << '[' << v.x() << ", " << v.y() << ", " << v.z() << ']';
  return out.str();
}

std::string text_of(const Quat& q) {
  std::ostringstream out;
  out.precision(17);
  out << '[' << q.w() << ", " << q.x() << ", " << q.y() << ", " << q.z() << ']';
  return out.str();
}

std::string text_of(double x) {
  std::ostringstream out;
  out.precision(17);
  out << x;
  return out.str();
}

/// Where a scene is put: p -> turn p size + shift. Time stays what it is: gravity has the scene's size too.
struct Frame {
  Quat turn = Quat::Identity();
  Vec3 shift = Vec3::Zero();
  double size = 1;
  Vec3 point(const Vec3& p) const { return turn * (size * p) + shift; }
  Vec3 vector(const Vec3& v) const { return turn * (size * v); }
  Vec3 back(const Vec3& p) const { return turn.conjugate() * (p - shift) / size; }
};

Frame random_frame(std::mt19937* random) {
  std::normal_distribution<double> normal;
  Frame frame;
  frame.turn = Quat(normal(*random), normal(*random), normal(*random), normal(*random)).normalized();
  frame.shift = Vec3(normal(*random), normal(*random), normal(*random));
  return frame;
}

/// A box that slides and spins on a plane until it stands: its four corners share the load, and how they do decides
/// where it ends.
std::string spinning_box(const Frame& frame, const std::string& scheme, double duration) {
  const Vec3 up = frame.turn * Vec3::UnitZ();
  return "gravity: " + text_of(frame.vector({0, 0, -9.81})) +
         "\nmaterials: {default: {friction: 0.3}}\nbodies:\n  - {name: ground, fixed: true, shapes: [{plane: "
         "{normal: " +
         text_of(up) + ", offset: " + text_of(up.dot(frame.shift)) +
         "}}]}\n  - {name: box, mass: " + text_of(std::pow(frame.size, 3)) +
         ", position: " + text_of(frame.point({0, 0, 0.05})) + ", orientation: " + text_of(frame.turn) +
         ", velocity: " + text_of(frame.vector({2, 0, 0})) +
         ", angular_velocity: " + text_of(Vec3(frame.turn * Vec3(0, 0, 8))) +
         ", shapes: [{box: {size: " + text_of(Vec3(frame.size * Vec3(0.4, 0.2, 0.1))) +
         "}}]}\nsimulation: {duration: " + text_of(duration) + ", step: 0.005, scheme: " + scheme + "}\n";
}

struct End {
  Vec3 position;
  Quat turn;
};

End follow_box(const Frame& frame, const std::string& scheme, double duration = 1.2) {
  const Scene scene = scene_of(spinning_box(frame, scheme, duration));
  Simulation simulation = simulation_of(scene);
  for (long k = 0; k < calc_step_count(scene.options); ++k) {
    const StepReport& report = simulation.step();
    EXPECT_TRUE(report.certified) << scheme << ", step " << k;
    EXPECT_EQ(report.arbitrary, 0) << scheme << ", step " << k;
  }
  const WorldMotion motion = motion_of(simulation, "box");
  return {frame.back(motion.pose.position), frame.turn.conjugate() * motion.pose.orientation};
}

class Schemes : public testing::TestWithParam<const char*> {};

TEST_P(Schemes, TheSpinningBoxEndsInOnePlaceInEveryFrame) {
  const char* asked = std::getenv("SLIPSTICK_FRAMES");
  const int frames = asked != nullptr ? std::atoi(asked) : 4;
  const End plain = follow_box({}, GetParam());
  EXPECT_GT(plain.position.x(), 0.3);
  EXPECT_GT(plain.turn.angularDistance(Quat::Identity()), 0.2);
  std::mt19937 random(7);
  double place = 0, angle = 0;
  for (int k = 0; k < frames; ++k) {
    const End end = follow_box(random_frame(&random), GetParam());
    place = std::max(place, (end.position - plain.position).norm());
    angle = std::max(angle, end.turn.angularDistance(plain.turn));
  }
  std::printf("%s, %d frames: %.2g m, %.2g rad\n", GetParam(), frames, place, angle);
  EXPECT_LE(place, 1e-8 * 0.4);
  EXPECT_LE(angle, 1e-7);
}

TEST_P(Schemes, TheSpinningBoxEndsInOnePlaceAtEverySize) {
  const End plain = follow_box({}, GetParam());
  for (const double size : {1e-3, 0.03, 50.0, 1e3}) {
    Frame frame;
    frame.size = size;
    const End end = follow_box(frame, GetParam());
    EXPECT_LE((end.position - plain.position).norm(), 1e-8 * 0.4) << size;
    EXPECT_LE(end.turn.angularDistance(plain.turn), 1e-7) << size;
  }
}

INSTANTIATE_TEST_SUITE_P(UniqueForces, Schemes, testing::Values("stabilized", "spook", "trapezoid", "euler"));

/// A table with four legs on the floor, two boxes on the table; bodies in a given order.
std::string table(const std::vector<int>& order, const std::string& more = "") {
  const std::string bodies[] = {
      "{name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}",
      "{name: table, mass: 10, position: [0, 0, 0.5], shapes: [{box: {size: [1.2, 0.8, 0.1]}, position: [0, 0, 0.05]}, "
      "{box: {size: [0.1, 0.1, 0.5]}, position: [0.5, 0.3, -0.25]}, {box: {size: [0.1, 0.1, 0.5]}, position: [-0.5, "
      "0.3, -0.25]}, {box: {size: [0.1, 0.1, 0.5]}, position: [0.5, -0.3, -0.25]}, {box: {size: [0.1, 0.1, 0.5]}, "
      "position: [-0.5, -0.3, -0.25]}]}",
      "{name: near, mass: 2, position: [0.3, 0.1, 0.7], shapes: [{box: {size: [0.2, 0.2, 0.2]}}]}",
      "{name: far, mass: 5, position: [-0.2, -0.1, 0.65], orientation: {axis: [0, 0, 1], angle_deg: 20}, shapes: "
      "[{box: "
      "{size: [0.3, 0.2, 0.1]}}]}"};
  std::string text = "materials: {default: {friction: 0.4}}\nbodies:\n";
  for (const int i : order) text += "  - " + bodies[i] + "\n";
  return text + "simulation: {duration: 0.2, step: 0.01" + more + "}\n";
}

struct PlacedForce {
  Vec3 point, force;
};

/// Forces of the last step, on the upper body, sorted by place.
std::vector<PlacedForce> run_forces(const std::string& text) {
  const Scene scene = scene_of(text);
  Simulation simulation = simulation_of(scene);
  run_until(scene.options.duration, &simulation);
  std::vector<PlacedForce> forces;
  for (const ContactForce& each : simulation.contact_forces()) {
    EXPECT_EQ(each.uniqueness, Uniqueness::Chosen);
    const Contact& c = each.contact;
    forces.push_back({0.5 * (c.point_a + c.point_b), c.normal.z() > 0 ? each.force : Vec3(-each.force)});
  }
  std::sort(forces.begin(), forces.end(), [](const PlacedForce& a, const PlacedForce& b) {
    const auto rounded = [](const Vec3& p) {
      return std::array<long, 3>{std::lround(1e5 * p.z()), std::lround(1e5 * p.x()), std::lround(1e5 * p.y())};
    };
    return rounded(a.point) < rounded(b.point);
  });
  return forces;
}

void expect_same(const std::vector<PlacedForce>& a, const std::vector<PlacedForce>& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_LE((a[i].point - b[i].point).norm(), 1e-6);
    EXPECT_LE((a[i].force - b[i].force).norm(), tolerance) << a[i].force.transpose() << " | " << b[i].force.transpose();
  }
}

TEST(UniqueForces, DependOnNoOrderOfBodies) {
  const std::vector<PlacedForce> plain = run_forces(table({0, 1, 2, 3}));
  ASSERT_GE(plain.size(), 12u);
  expect_same(plain, run_forces(table({3, 2, 1, 0})), 1e-7);
  expect_same(plain, run_forces(table({2, 0, 3, 1})), 1e-7);
}

TEST(UniqueForces, DependOnNoSolver) {
  const std::vector<PlacedForce> plain = run_forces(table({0, 1, 2, 3}));
  for (const char* solver : {"newton", "pgs", "lemke", "admm"})
    expect_same(plain, run_forces(table({0, 1, 2, 3}, std::string(", solver: ") + solver)), 1e-5);
}

TEST(UniqueForces, CanBeTurnedOff) {
  const Scene scene = scene_of(table({0, 1, 2, 3}, ", unique_forces: false"));
  Simulation simulation = simulation_of(scene);
  for (int k = 0; k < 3; ++k) {
    const StepReport& report = simulation.step();
    EXPECT_EQ(report.choices, 0);
    EXPECT_EQ(report.not_unique, 0);
  }
  for (const ContactForce& each : simulation.contact_forces()) EXPECT_EQ(each.uniqueness, Uniqueness::Unknown);
}

TEST(UniqueForces, AtRestAreFoundOnceAndKept) {
  const Scene scene = scene_of(table({0, 1, 2, 3}));
  Simulation simulation = simulation_of(scene);
  int choices = 0, last = 0;
  for (int k = 0; k < 100; ++k) {
    last = simulation.step().choices;
    choices += last;
  }
  EXPECT_EQ(last, 0);
  EXPECT_LE(choices, 25);
}

/// A cart that is driven up a slope, the same left and right.
constexpr const char* kRover = R"yaml(
let: {r: 0.08}
materials: {default: {friction: 0.6}}
gravity: [-9.81*sin(10*deg), 0, -9.81*cos(10*deg)]
bodies:
  - {name: ground, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {name: chassis, mass: 10, position: [0, 0, 0.12], shapes: [{box: {size: [0.5, 0.3, 0.1]}}]}
  - repeat: {i: 2, j: 2}
    name: wheel_{i}_{j}
    mass: 0.5
    position: [-0.18 + 0.36*i, -0.2 + 0.4*j, r]
    shapes: [{cylinder: {radius: r, length: 0.05}, orientation: {axis: [1, 0, 0], angle_deg: 90}}]
joints:
  - repeat: {i: 2, j: 2}
    hinge: {name: "axle_{i}_{j}", between: [chassis, "wheel_{i}_{j}"], at: [-0.18 + 0.36*i, -0.2 + 0.4*j, r], axis: [0, 1, 0], motor: {speed: "min(6, 8*t)", max: 3}}
simulation: {duration: 1, step: 1/200}
)yaml";

TEST(UniqueForces, WheelsOfASymmetricVehicleCarryTheSame) {
  const Scene scene = scene_of(kRover);
  Simulation simulation = simulation_of(scene);
  run_until(1, &simulation);
  EXPECT_GT(motion_of(simulation, "chassis").velocity.x(), 0.2);
  const auto load = [&](const std::string& wheel) {
    double sum = 0;
    for (const ContactForce& each : simulation.contact_forces())
      if (each.contact.body_a == *simulation.model().find_body(wheel) ||
          each.contact.body_b == *simulation.model().find_body(wheel))
        sum += std::abs(each.force.z());
    return sum;
  };
  for (const char* axle : {"wheel_0_", "wheel_1_"}) {
    const double left = load(std::string(axle) + "0"), right = load(std::string(axle) + "1");
    EXPECT_GT(left, 5);
    EXPECT_LE(std::abs(left - right), 1e-6 * left) << axle << ' ' << left << ' ' << right;
  }
}

}  // namespace
}  // namespace slipstick::test
