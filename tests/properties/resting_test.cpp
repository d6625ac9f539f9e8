// Options for bodies at rest: fewer contacts, and islands that keep their impulses.
#include <algorithm>
#include <cmath>
#include <string>

#include "support/simulate.h"

namespace slipstick::test {
namespace {

/// Boxes turned against each other: eight points a manifold.
constexpr const char* kTwistedStack = R"(
bodies:
  - {name: floor, fixed: true, shapes: [{box: {size: [4, 4, 1]}, position: [0, 0, -0.5]}]}
  - {repeat: {i: 6}, name: "cube_{i}", mass: 1, position: [0, 0, 0.5 + i],
     orientation: {axis: [0, 0, 1], angle_deg: 45*((i + 1) % 2) + 3}, shapes: [{box: {size: [1, 1, 1]}}]}
simulation: {duration: 2, step: 1/60}
)";

constexpr const char* kCoin = R"(
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {name: drum, mass: 2, position: [0, 0, 0.5], shapes: [{cylinder: {radius: 0.4, length: 1}}]}
simulation: {duration: 2, step: 1/60}
)";

struct Course {
  State state;
  double found = 0, kept = 0, penetration = 0;
  long islands = 0, held = 0, uncertified = 0;
};

Course follow(const Scene& scene) {
  Simulation simulation = simulation_of(scene);
  Course course;
  const long steps = std::lround(scene.options.duration / scene.options.step);
  for (long k = 0; k < steps; ++k) {
    const StepReport& report = simulation.step();
    course.found += report.contacts_found;
    course.kept += report.contacts;
    course.penetration = std::max(course.penetration, report.certificate.penetration);
    course.islands += report.islands;
    course.held += report.held;
    course.uncertified += !report.certified;
  }
  course.state = simulation.state();
  return course;
}

double calc_distance(const State& a, const State& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.pose.size(); ++i) {
    most = std::max(most, (a.pose[i].position - b.pose[i].position).norm());
    most = std::max(most, a.pose[i].orientation.angularDistance(b.pose[i].orientation));
  }
  return most;
}

// ---------------------------------------------------------------- reduce_contacts

TEST(ReducedContacts, AStackStandsOnFourPointsACube) {
  Scene scene = scene_of(kTwistedStack);
  const Course full = follow(scene);
  EXPECT_EQ(full.kept, full.found);
  scene.options.reduce_contacts = true;
  const Course reduced = follow(scene);
  EXPECT_EQ(reduced.kept, 120 * 6 * 4);
  EXPECT_GT(reduced.found, 1.5 * reduced.kept);
  EXPECT_EQ(reduced.uncertified, 0);
  EXPECT_LT(reduced.penetration, 1e-6);
  EXPECT_LT(calc_distance(reduced.state, scene.initial), 1e-6);
  EXPECT_LT(calc_distance(reduced.state, full.state), 1e-6);
  EXPECT_EQ(hash(follow(scene).state), hash(reduced.state)) << "the same bits again";
}

TEST(ReducedContacts, ADrumStandsStill) {
  Scene scene = scene_of(kCoin);
  scene.options.reduce_contacts = true;
  const Course course = follow(scene);
  EXPECT_EQ(course.kept, 120 * 4);
  EXPECT_GE(course.found, 120 * 8);
  EXPECT_EQ(course.uncertified, 0);
  EXPECT_LT(calc_distance(course.state, scene.initial), 1e-9);
}

/// A box that is dropped askew lands, rocks and comes to rest as well as with all of its points.
TEST(ReducedContacts, ABoxLandsAskew) {
  Scene scene = scene_of(R"(
bodies:
  - {name: table, fixed: true, shapes: [{box: {size: [2, 2, 1]}, position: [0, 0, -0.5]}]}
  - {name: box, mass: 1, position: [0, 0, 1], orientation: {rpy_deg: [5, 8, 40]}, shapes: [{box: {size: [3, 1, 0.4]}}]}
simulation: {duration: 6, step: 1/120, reduce_contacts: true}
)");
  const Course course = follow(scene);
  EXPECT_EQ(course.uncertified, 0);
  EXPECT_LT(course.kept, course.found);
  EXPECT_NEAR(course.state.pose[1].position.z(), 0.2, 1e-5);
  EXPECT_LT(course.state.velocity[1].linear.norm() + course.state.velocity[1].angular.norm(), 1e-6);
}

TEST(ReducedContacts, NotBetweenEvents) {
  SimulationOptions options;
  options.reduce_contacts = true;
  EXPECT_TRUE(find_option_faults(options).empty());
  options.scheme = "trapezoid";
  ASSERT_EQ(find_option_faults(options).size(), 1u);
  EXPECT_NE(find_option_faults(options)[0].message.find("reduce_contacts needs fixed steps"), std::string::npos);
}

/// Corners on flush sides keep their contact: bricks at rest have the same rows in every step, and a guess that fits
/// them.
TEST(RestingContacts, AWallAtRestIsHardlySolved) {
  SceneLoadOptions options;
  options.set = {{"hit", "1000"}, {"columns", "8"}, {"rows", "6"}};
  Simulation simulation = simulation_of(shipped_scene("wall.yaml", options));
  const auto rows = simulation.step().contacts;
  int iterations = 0;
  for (int k = 0; k < 60; ++k) {
    const StepReport& report = simulation.step();
    EXPECT_TRUE(report.certified);
    EXPECT_EQ(report.contacts, rows);
    iterations += report.iterations;
  }
  EXPECT_LE(iterations, 2 * 60) << "ten a step where corners come and go";
}

/// Contacts begin with the last step's impulses, with fixed steps and between events.
TEST(WarmStart, IsCounted) {
  for (const char* scheme : {"stabilized", "spook", "trapezoid", "euler"}) {
    Scene scene = scene_of(kTwistedStack);
    scene.options.scheme = scheme;
    Simulation simulation = simulation_of(scene);
    EXPECT_EQ(simulation.step().warm_contacts, 0) << scheme;
    for (int k = 0; k < 10; ++k) simulation.step();
    const StepReport& report = simulation.step();
    EXPECT_GT(report.warm_contacts, 24) << scheme;
    EXPECT_LE(report.warm_contacts, report.contacts) << scheme;
  }
}

// ---------------------------------------------------------------- hold_resting

TEST(HeldIslands, StacksAtRestAreNotSolvedAgain) {
  Scene scene = scene_of(R"(
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {repeat: {i: 8, j: 3}, name: "cube_{i}_{j}", mass: 1 + j, position: [3*j, 0, 0.5 + i], shapes: [{box: {size: [1, 1, 1]}}]}
simulation: {duration: 5, step: 1/60}
)");
  const Course full = follow(scene);
  EXPECT_EQ(full.held, 0);
  scene.options.hold_resting = true;
  const Course held = follow(scene);
  EXPECT_EQ(held.islands, full.islands);
  EXPECT_GT(held.held, 0.98 * held.islands);
  EXPECT_EQ(held.uncertified, full.uncertified);
  EXPECT_EQ(held.uncertified, 0);
  EXPECT_LT(calc_distance(held.state, full.state), 1e-9);
}

/// Of two stacks one is hit: it moves as it would, and the other is held all the while.
TEST(HeldIslands, AHitIsFelt) {
  Scene scene = scene_of(R"(
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {repeat: {i: 4, j: 2}, name: "cube_{i}_{j}", mass: 1, position: [4*j, 0, 0.5 + i], shapes: [{box: {size: [1, 1, 1]}}]}
  - {name: ball, mass: 2, position: [-5, 0, 3.4], velocity: [6, 0, 4], shapes: [{sphere: {radius: 0.3}}]}
simulation: {duration: 1.2, step: 1/60}
)");
  const Course full = follow(scene);
  scene.options.hold_resting = true;
  const Course held = follow(scene);
  EXPECT_EQ(held.uncertified, 0);
  EXPECT_GT(calc_distance(full.state, scene.initial), 0.1) << "something fell";
  EXPECT_GT(held.held, 60);
  EXPECT_LT(held.held, held.islands - 20);
  EXPECT_LT(calc_distance(held.state, full.state), 1e-5) << "impacts make much of little";
}

/// On a slope just below the friction angle nothing may creep.
TEST(HeldIslands, NothingCreeps) {
  Scene scene = shipped_scene("incline.yaml");
  scene.options.hold_resting = true;
  const Course held = follow(scene);
  EXPECT_EQ(held.uncertified, 0);
  EXPECT_GT(held.held, 1000);
  const auto distance = [&](const char* name) {
    const int i = *scene.model.find_body(name);
    return (held.state.pose[i].position - scene.initial.pose[i].position).norm();
  };
  EXPECT_LT(distance("stick_axis"), 1e-9);
  EXPECT_LT(distance("stick_diagonal"), 1e-9);
  EXPECT_GT(distance("slide_axis"), 1);
}

/// A load that grows slowly: each step's impulses are a little more than the last one's.
TEST(HeldIslands, ASlowLoadIsCarried) {
  Scene scene = scene_of(R"(
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {name: cube, mass: 1, position: [0, 0, 0.5], shapes: [{box: {size: [1, 1, 1]}}]}
forces:
  - load: {body: cube, force: ["1e-6*t", 0, "-1e-3*t"]}
simulation: {duration: 5, step: 1/60, hold_resting: true}
)");
  Simulation simulation = simulation_of(scene);
  for (int k = 0; k < 300; ++k) ASSERT_TRUE(simulation.step().certified);
  double weight = 0;
  for (const ContactForce& force : simulation.contact_forces()) weight += force.force.z();
  EXPECT_NEAR(weight, 9.81 + 5e-3, 1e-4);
  EXPECT_LT(calc_distance(simulation.state(), scene.initial), 1e-8);
}

// ---------------------------------------------------------------- what rests costs little, and rests

constexpr int kColumns = 8, kRows = 6;

std::string wall_text(const std::string& more) {
  return "let: {columns: " + std::to_string(kColumns) + ", rows: " + std::to_string(kRows) + R"(}
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}, material: floor}]}
  - {repeat: {j: rows, i: columns}, name: "brick_{j}_{i}", mass: 25, position: [i - 0.5*(j % 2), 0, 0.5*j + 0.25],
     shapes: [{box: {size: [1, 0.5, 0.5]}}]}
simulation: {duration: 10, step: 1/60}
)" + more;
}

struct Repose {
  int factored = 0, most = 0;  ///< steps with a factorization, and the most in one; after the first step
  double speed = 0, penetration = 0;
};

Repose rest(const Scene& scene, int steps) {
  Simulation simulation = simulation_of(scene);
  Repose repose;
  for (int k = 0; k < steps; ++k) {
    const StepReport& report = simulation.step();
    EXPECT_TRUE(report.certified) << k;
    if (k == 0) continue;
    const int factorizations = report.iterations + report.choices;
    repose.factored += factorizations > 0;
    repose.most = std::max(repose.most, factorizations);
    repose.penetration = std::max(repose.penetration, report.certificate.penetration);
    for (const Twist& twist : simulation.state().velocity)
      repose.speed = std::max({repose.speed, twist.linear.norm(), twist.angular.norm()});
  }
  return repose;
}

/// What is left of an answer adds up, and the step that undoes it leaves a guess that is no good for the next two
/// (decisions 82 and 97). A stack must not go round in that circle for ever.
TEST(Repose, AStackIsSolvedNowAndThen) {
  for (const int count : {8, 20, 30, 38, 40}) {
    const Scene scene =
        scene_of(R"(
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {repeat: {i: )" +
                 std::to_string(count) +
                 R"(}, name: "cube_{i}", mass: 1, position: [0, 0, 0.5 + i], shapes: [{box: {size: [1, 1, 1]}}]}
simulation: {duration: 10, step: 1/60}
)");
    const Repose repose = rest(scene, 600);
    EXPECT_LT(repose.factored, 90) << count;
    EXPECT_LT(repose.penetration, 1e-12) << count;
    EXPECT_LT(repose.speed, 1e-10) << count;
  }
}

/// A wall, whose redundant corners cannot all be met, for a long time: one factor at most, and nothing sinks.
TEST(Repose, AWallIsStoppedNotSolved) {
  const Repose repose = rest(scene_of(wall_text("materials: {floor: {friction: 0.5}}\n")), 3000);
  EXPECT_EQ(repose.most, 1);
  EXPECT_LT(repose.factored, 900);
  EXPECT_LT(repose.penetration, 2e-12);
  EXPECT_LT(repose.speed, 1e-10);
}

/// And no load is too small to move it: a wall on ice, in a wind of a billionth of its weight.
TEST(Repose, AWallOnIceIsMovedByABreath) {
  const Scene scene = scene_of(wall_text(R"(
materials: {floor: {friction: 0}}
material_pairs: [{between: [default, floor], friction: 0}]
forces: [{load: {repeat: {i: columns}, name: "wind_{i}", body: "brick_0_{i}", force: [1.5e-6, 0, 0]}}]
)"));
  Simulation simulation = simulation_of(scene);
  for (int k = 0; k < 600; ++k) ASSERT_TRUE(simulation.step().certified) << k;
  const double expected = kColumns * 1.5e-6 / (kColumns * kRows * 25) * 10;
  for (std::size_t i = 1; i < simulation.state().velocity.size(); ++i)
    EXPECT_NEAR(simulation.state().velocity[i].linear.x(), expected, 0.01 * expected) << i;
}

}  // namespace
}  // namespace slipstick::test
