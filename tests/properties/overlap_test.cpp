// Overlap is taken away in positions alone: whatever starts inside something else comes out without speed, and joints
// that start open are put together, or held as they stand.
#include <slipstick/assembly.h>

#include <cmath>
#include <numbers>
#include <random>
#include <string>

#include "support/simulate.h"

namespace slipstick::test {
namespace {

constexpr double kGravity = 9.81;

std::string overlap_number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

std::vector<std::string> all_schemes() {
  std::vector<std::string> names;
  for (const std::string_view name : scheme_names()) names.emplace_back(name);
  return names;
}

struct OverlapCourse {
  double kinetic = 0;  ///< the largest
  double penetration = 0;
  double energy = 0, correction = 0, corrected = 0;
  int corrections = 0, uncertified = 0;
};

OverlapCourse follow_overlap(double t, Simulation* simulation) {
  OverlapCourse course;
  while (simulation->state().time < t - 1e-9) {
    const StepReport& report = simulation->step();
    EXPECT_FALSE(report.failed) << report.note;
    if (report.failed) break;
    course.kinetic = std::max(course.kinetic, simulation->energy().kinetic);
    course.penetration = report.certificate.penetration;
    course.correction += report.certificate.ledger.correction;
    course.corrected = std::max(course.corrected, report.corrected);
    course.corrections += report.corrections;
    course.uncertified += !report.certified;
  }
  return course;
}

struct FlatShape {
  std::string text;
  double height;  ///< of the centre when it stands on the floor
};

std::vector<FlatShape> flat_shapes() {
  return {{"box: {size: [0.2, 0.3, 0.2]}", 0.1},
          {"sphere: {radius: 0.15}", 0.15},
          {"cylinder: {radius: 0.15, length: 0.2}", 0.1},
          {"hull: {points: [[-0.1,-0.1,-0.1],[0.1,-0.1,-0.1],[-0.1,0.1,-0.1],[0.1,0.1,-0.1],[-0.1,-0.1,0.1],"
           "[0.1,-0.1,0.1],[-0.1,0.1,0.1],[0.1,0.1,0.1]]}",
           0.1}};
}

std::string on_floor(const FlatShape& shape, double depth, const std::string& floor, const std::string& more,
                     const std::string& scheme, double h) {
  return "bodies:\n  - {name: floor, fixed: true, shapes: [" + floor +
         "]}\n  - {name: b, mass: 2, position: [0.01, 0.02, " + overlap_number(shape.height - depth) + "], " + more +
         "shapes: [{" + shape.text + "}]}\nsimulation: {duration: 1, step: " + overlap_number(h) +
         ", scheme: " + scheme + "}\n";
}

const char* const kPlane = "{plane: {normal: [0, 0, 1], offset: 0}}";
const char* const kSlab = "{box: {size: [4, 4, 2]}, position: [0, 0, -1]}";

// ---------------------------------------------------------------- bodies in the floor

TEST(Overlap, BodiesInTheFloorComeOutAtRest) {
  for (const std::string& scheme : all_schemes())
    for (const FlatShape& shape : flat_shapes())
      for (const char* floor : {kPlane, kSlab})
        for (const double depth : {1e-3, 1e-2, 5e-2})
          for (const double h : {1.0 / 500, 1.0 / 60}) {
            SCOPED_TRACE(scheme + ", " + shape.text + ", " + floor + ", depth " + overlap_number(depth) + ", h " +
                         overlap_number(h));
            const Scene scene = scene_of(on_floor(shape, depth, floor, "", scheme, h));
            Simulation simulation = simulation_of(scene);
            const OverlapCourse course = follow_overlap(0.8, &simulation);
            EXPECT_LE(course.kinetic, 1e-6 * 2 * kGravity * depth);
            EXPECT_LE(course.penetration, 1e-7);
            const Vec3 place = motion_of(simulation, "b").pose.position;
            EXPECT_NEAR(place.z(), shape.height, 1e-6);
            EXPECT_NEAR(place.x(), 0.01, 1e-6);
            EXPECT_NEAR(place.y(), 0.02, 1e-6);
            EXPECT_NEAR(course.correction, 2 * kGravity * depth, 1e-4 * 2 * kGravity * depth + 1e-5);
            EXPECT_EQ(course.uncertified, 0);
          }
}

TEST(Overlap, TheSpeedOfTheCorrectionIsLimited) {
  const FlatShape box = flat_shapes()[0];
  const Scene scene = scene_of(on_floor(box, 5, kPlane, "", "stabilized", 0.01));
  Simulation simulation = simulation_of(scene);
  const OverlapCourse course = follow_overlap(6, &simulation);
  EXPECT_LE(course.corrected, 0.01 * 10 * 0.25);  // 10 sizes per second; the reach radius is 0.206
  EXPECT_GT(course.corrections, 20);
  EXPECT_LE(course.kinetic, 1e-6 * 2 * kGravity * 5);
  EXPECT_NEAR(motion_of(simulation, "b").pose.position.z(), 0.1, 1e-6);
}

/// Restitution acts on the speed of approach, and there is none.
TEST(Overlap, RestitutionDoesNotThrowThemOut) {
  for (const std::string& scheme : all_schemes()) {
    SCOPED_TRACE(scheme);
    const Scene scene = scene_of("materials: {default: {friction: 0.5, restitution: 0.9}}\n" +
                                 on_floor(flat_shapes()[0], 0.01, kPlane, "", scheme, 1.0 / 250));
    Simulation simulation = simulation_of(scene);
    EXPECT_LE(follow_overlap(0.8, &simulation).kinetic, 1e-6 * 2 * kGravity * 0.01);
  }
}

/// A body that slides keeps its speed, and gains none upwards.
TEST(Overlap, SlidingBodiesKeepTheirSpeed) {
  for (const std::string& scheme : all_schemes()) {
    SCOPED_TRACE(scheme);
    const Scene scene = scene_of("materials: {default: {friction: 0}}\n" +
                                 on_floor(flat_shapes()[0], 0.01, kPlane, "velocity: [3, 0, 0], ", scheme, 1.0 / 250));
    Simulation simulation = simulation_of(scene);
    EXPECT_LE(follow_overlap(0.8, &simulation).kinetic, 9 + 1e-6 * 2 * kGravity * 0.01);
    EXPECT_NEAR(motion_of(simulation, "b").velocity.x(), 3, 1e-9);
    EXPECT_NEAR(motion_of(simulation, "b").pose.position.z(), 0.1, 1e-6);
  }
}

// ---------------------------------------------------------------- bodies in each other

std::string random_shape(std::mt19937* random, int kind) {
  std::uniform_real_distribution<double> size(0.2, 0.6);
  const auto next = [&] { return overlap_number(size(*random)); };
  switch (kind % 5) {
    case 0:
      return "box: {size: [" + next() + ", " + next() + ", " + next() + "]}";
    case 1:
      return "sphere: {radius: " + next() + "}";
    case 2:
      return "capsule: {radius: " + next() + ", length: " + next() + "}";
    case 3:
      return "cylinder: {radius: " + next() + ", length: " + next() + "}";
    default:
      return "hull: {random: {points: 20, size: [0.5, 0.4, 0.3], seed: " + std::to_string(kind) + "}}";
  }
}

/// Without weight nothing may begin to move, and what moves two bodies apart cannot move their centre.
TEST(Overlap, PairsWithoutWeightComeApartWithoutSpeed) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> part(-1, 1), mass(0.5, 50);
  const std::vector<std::string> schemes = all_schemes();
  for (int k = 0; k < 60; ++k) {
    const std::string scheme = schemes[k % schemes.size()];
    std::string text = "gravity: [0, 0, 0]\nbodies:\n";
    for (const char* name : {"a", "b"}) {
      text += std::string("  - {name: ") + name + ", mass: " + overlap_number(mass(random)) + ", position: [" +
              overlap_number(0.25 * part(random)) + ", " + overlap_number(0.25 * part(random)) + ", " +
              overlap_number(0.25 * part(random)) + "], orientation: {axis: [" + overlap_number(part(random)) + ", " +
              overlap_number(part(random)) + ", 1], angle_deg: " + overlap_number(180 * part(random)) +
              "}, shapes: [{" + random_shape(&random, k + (name[0] == 'b' ? k / 5 : 0)) + "}]}\n";
    }
    text += "simulation: {duration: 3, step: 0.01, scheme: " + scheme + "}\n";
    SCOPED_TRACE(text);
    const Scene scene = scene_of(text);
    Simulation simulation = simulation_of(scene);
    const auto centre = [&] {
      Vec3 sum = Vec3::Zero();
      for (std::size_t i = 0; i < 2; ++i) sum += scene.model.bodies[i].mass * simulation.state().pose[i].position;
      return sum;
    };
    const Vec3 before = centre();
    const OverlapCourse course = follow_overlap(3, &simulation);
    EXPECT_LE(course.kinetic, 1e-16);
    EXPECT_LE(course.penetration, 1e-6);
    EXPECT_LE((centre() - before).norm(), 1e-9);
  }
}

/// Several in one place, some of them joined by a joint that starts open: put together first, then freed. No speed
/// comes of either, and nothing overlaps in the end.
TEST(Overlap, RandomHeapsWithOpenJointsComeApart) {
  std::mt19937 random(23);
  std::uniform_real_distribution<double> part(-1, 1), mass(0.5, 20);
  const std::vector<std::string> schemes = all_schemes();
  for (int k = 0; k < 15; ++k) {
    const auto next = [&](double scale) { return overlap_number(scale * part(random)); };
    std::string text = "gravity: [0, 0, 0]\nbodies:\n";
    const int count = 3 + k % 4;
    for (int i = 0; i < count; ++i)
      text += "  - {name: b" + std::to_string(i) + ", mass: " + overlap_number(mass(random)) + ", position: [" +
              next(0.5) + ", " + next(0.5) + ", " + next(0.5) + "], orientation: {axis: [" + next(1) + ", " + next(1) +
              ", 1], angle_deg: " + next(180) + "}, shapes: [{" + random_shape(&random, k + i) + "}]}\n";
    const bool joined = k % 2 == 1;
    if (joined)
      text += "joints:\n  - rod: {between: [b0, b1], at: [[0, 0, 0], [0.4, 0, 0]], length: " +
              overlap_number(0.4 + 0.02 * part(random)) + "}\n";
    text += "simulation: {duration: 4, step: 0.01, scheme: " + schemes[k % schemes.size()] + "}\n";
    SCOPED_TRACE(text);
    Scene scene = scene_of(text);
    const Assembly made = assemble(scene.model, scene.options, scene.initial);
    EXPECT_EQ(made.needed, joined);
    EXPECT_EQ(made.closed, joined);
    scene.initial = made.state;
    Simulation simulation = simulation_of(scene);
    double all = 0, depth = 0;
    for (const Body& body : scene.model.bodies) all += body.mass;
    for (const Contact& contact : simulation.contacts()) depth = std::max(depth, -contact.gap);
    const OverlapCourse course = follow_overlap(4, &simulation);
    // Rows may take 1e-7 of a body away in a step; joints have the second order of the moves left over.
    EXPECT_LE(course.kinetic, joined ? 1e-6 * all * kGravity * depth : all * std::pow(1e-7 / scene.options.step, 2));
    EXPECT_LE(course.penetration, 1e-6);
  }
}

/// A tower one of whose boxes starts in the floor, and another in its neighbour: all come up together, at rest.
TEST(Overlap, AStackIsLiftedAsAWhole) {
  for (const std::string& scheme : all_schemes()) {
    SCOPED_TRACE(scheme);
    const Scene scene = scene_of(
        "bodies:\n  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
        "  - {name: a, mass: 1, position: [0, 0, 0.48], shapes: [{box: {size: [1, 1, 1]}}]}\n"
        "  - {name: b, mass: 3, position: [0.1, 0, 1.48], shapes: [{box: {size: [1, 1, 1]}}]}\n"
        "  - {name: c, mass: 2, position: [0, 0.1, 2.45], shapes: [{box: {size: [1, 1, 1]}}]}\n"
        "simulation: {duration: 1, step: 1/200, scheme: " +
        scheme + "}\n");
    Simulation simulation = simulation_of(scene);
    const OverlapCourse course = follow_overlap(1, &simulation);
    EXPECT_LE(course.kinetic, 1e-6 * 6 * kGravity * 0.02);
    EXPECT_NEAR(motion_of(simulation, "a").pose.position.z(), 0.5, 1e-6);
    EXPECT_NEAR(motion_of(simulation, "b").pose.position.z(), 1.5, 1e-6);
    EXPECT_NEAR(motion_of(simulation, "c").pose.position.z(), 2.5, 1e-6);
  }
}

/// Between walls that are nearer than the body is wide nothing can be done: it says so, and stays.
TEST(Overlap, WhatCannotBeRemovedIsSaid) {
  const Scene scene = scene_of(
      "gravity: [0, 0, 0]\nbodies:\n"
      "  - {name: left, fixed: true, shapes: [{plane: {normal: [1, 0, 0], offset: -0.4}}]}\n"
      "  - {name: right, fixed: true, shapes: [{plane: {normal: [-1, 0, 0], offset: -0.4}}]}\n"
      "  - {name: b, mass: 1, position: [0.05, 0, 0], shapes: [{box: {size: [1, 1, 1]}}]}\n"
      "simulation: {duration: 1, step: 0.01}\n");
  Simulation simulation = simulation_of(scene);
  const OverlapCourse course = follow_overlap(1, &simulation);
  EXPECT_LE(course.kinetic, 1e-12);
  EXPECT_GT(course.penetration, 0.05);
  EXPECT_LT(motion_of(simulation, "b").pose.position.norm(), 0.2);
}

TEST(Overlap, NothingIsCorrectedWhereNothingOverlaps) {
  for (const std::string& scheme : all_schemes()) {
    SCOPED_TRACE(scheme);
    const Scene scene = scene_of(on_floor(flat_shapes()[0], 0, kPlane, "velocity: [1, 0, 0], ", scheme, 0.01));
    Simulation simulation = simulation_of(scene);
    EXPECT_EQ(follow_overlap(1, &simulation).corrections, 0);
  }
}

// ---------------------------------------------------------------- joints

/// An arm on a hinge whose end starts in the floor is turned out of it; the hinge holds.
TEST(Overlap, JointsHoldWhileOverlapIsCorrected) {
  for (const std::string& scheme : all_schemes()) {
    SCOPED_TRACE(scheme);
    const Scene scene = scene_of(
        "bodies:\n  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
        "  - {name: arm, mass: 1, position: [0.5, 0, 0.03], shapes: [{box: {size: [1, 0.2, 0.1]}}]}\n"
        "joints:\n  - hinge: {between: [world, arm], at: [-0.5, 0, 0.08], axis: [0, 1, 0]}\n"
        "simulation: {duration: 1, step: 1/250, scheme: " +
        scheme + "}\n");
    Simulation simulation = simulation_of(scene);
    const OverlapCourse course = follow_overlap(1, &simulation);
    EXPECT_LE(course.kinetic, 1e-6 * kGravity * 0.02);
    EXPECT_LE(course.penetration, 1e-6);
    double error = 0;
    for (const JointReading& joint : simulation.joints()) error = std::max(error, std::abs(joint.velocity));
    EXPECT_LE(error, 1e-4);
  }
}

std::string triangle_of_rods(double third) {
  return "gravity: [0, 0, 0]\nbodies:\n"
         "  - {name: a, mass: 1, position: [0, 0, 3], shapes: [{sphere: {radius: 0.1}}]}\n"
         "  - {name: b, mass: 2, position: [1, 0, 3], shapes: [{sphere: {radius: 0.1}}]}\n"
         "  - {name: c, mass: 3, position: [0, 1, 3], shapes: [{sphere: {radius: 0.1}}]}\n"
         "joints:\n  - rod: {between: [a, b], at: [[0,0,3],[1,0,3]], length: 1}\n"
         "  - rod: {between: [b, c], at: [[1,0,3],[0,1,3]], length: 1.41421356237309505}\n"
         "  - rod: {between: [c, a], at: [[0,1,3],[0,0,3]], length: " +
         overlap_number(third) + "}\nsimulation: {duration: 1, step: 1/100}\n";
}

TEST(Assembly, ClosesWhatCanBeClosed) {
  const Scene scene = scene_of(triangle_of_rods(1.1));
  const Assembly made = assemble(scene.model, scene.options, scene.initial);
  ASSERT_TRUE(made.needed && made.closed);
  EXPECT_NEAR(made.error, 0.1, 1e-12);
  const auto distance = [&](int i, int j) {
    return (made.state.pose[i].position - made.state.pose[j].position).norm();
  };
  EXPECT_NEAR(distance(0, 1), 1, 1e-8);
  EXPECT_NEAR(distance(1, 2), std::numbers::sqrt2, 1e-8);
  EXPECT_NEAR(distance(2, 0), 1.1, 1e-8);
  Vec3 centre = Vec3::Zero();
  for (int i = 0; i < 3; ++i)
    centre += scene.model.bodies[i].mass * (made.state.pose[i].position - scene.initial.pose[i].position);
  EXPECT_LE(centre.norm(), 1e-9);
  Simulation simulation(scene.model, made.state, scene.options);
  EXPECT_LE(follow_overlap(1, &simulation).kinetic, 1e-12);
}

TEST(Assembly, ChangesNothingThatHolds) {
  const Scene scene = scene_of(triangle_of_rods(1));
  const Assembly made = assemble(scene.model, scene.options, scene.initial);
  EXPECT_FALSE(made.needed);
  EXPECT_EQ(hash(made.state), hash(scene.initial));
}

/// 1 + 1.414 < 5: it says so, leaves the state alone, and no scheme makes a speed of it; no step is certified.
TEST(Assembly, WhatCannotBeClosedIsHeldAndSaid) {
  for (const std::string& scheme : all_schemes()) {
    SCOPED_TRACE(scheme);
    Scene scene = scene_of(triangle_of_rods(5));
    scene.options.scheme = scheme;
    const Assembly made = assemble(scene.model, scene.options, scene.initial);
    EXPECT_TRUE(made.needed && !made.closed);
    EXPECT_GT(made.left, 1);
    EXPECT_EQ(hash(made.state), hash(scene.initial));
    Simulation simulation = simulation_of(scene);
    const OverlapCourse course = follow_overlap(0.5, &simulation);
    EXPECT_LE(course.kinetic, 1e-12);
    EXPECT_EQ(course.uncertified, 50);
  }
}

/// How well a small group is corrected is its own affair, also with the default effort: not that of a floor full of
/// others.
TEST(Overlap, CareDoesNotDependOnWhatTouchesElsewhere) {
  // A millimetre deep, and normals turn as they come out: one round leaves a part of it.
  const std::string few = R"yaml(
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {name: a, mass: 1, position: [0, 0, 0.499], shapes: [{sphere: {radius: 0.5}}]}
  - {name: b, mass: 2, position: [0.998, 0, 0.499], shapes: [{sphere: {radius: 0.5}}]}
  - {name: c, mass: 3, position: [0.45, 0.1, 1.355], shapes: [{sphere: {radius: 0.5}}]}
)yaml";
  // Four contacts each: many more than those.
  const std::string others = R"yaml(
  - {name: "o_{i}", repeat: {i: 100}, mass: 1, position: ["20 + mod(i, 10)", "floor(i/10)", 0.5], shapes: [{box: {size: [1, 1, 1]}}]}
)yaml";
  const std::string settings = "simulation: {step: 0.01}\n";
  Simulation alone = simulation_of(scene_of(few + settings)), beside = simulation_of(scene_of(few + others + settings));
  int corrected = 0;
  for (int k = 0; k < 100; ++k) {
    corrected += alone.step().corrections;
    beside.step();
  }
  EXPECT_GT(corrected, 0) << "else this test says nothing";
  for (const char* name : {"a", "b", "c"}) {
    EXPECT_EQ(motion_of(alone, name).pose.position, motion_of(beside, name).pose.position) << name;
    EXPECT_EQ(motion_of(alone, name).velocity, motion_of(beside, name).velocity) << name;
  }
}

/// The deepest overlap of any step.
double calc_deepest(int steps, Simulation* simulation) {
  double deepest = 0;
  for (int k = 0; k < steps; ++k) deepest = std::max(deepest, simulation->step().certificate.penetration);
  return deepest;
}

/// Bricks that a blow sets tumbling turn by tenths of a radian in a step, and straight rows leave millimetres of
/// overlap (2.6 to 4.6 in these blows before decision 98).
TEST(Overlap, BricksOfAStruckWallDoNotSink) {
  for (const double x : {0.1, -0.4}) {
    Simulation simulation = simulation_of(scene_of(R"yaml(
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {repeat: {j: 6, i: 8}, name: "brick_{j}_{i}", mass: 25, position: [i - 0.5*(j % 2) - 3.5, 0, 0.5*j + 0.25],
     shapes: [{box: {size: [1, 0.5, 0.5]}}]}
  - {name: ball, mass: 500, velocity: [0, 10, 0], shapes: [{sphere: {radius: 1}}], position: [)yaml" +
                                                   overlap_number(x) +
                                                   ", -1.3, 1.4]}\n"
                                                   "simulation: {duration: 1, step: 1/60}\n"));
    EXPECT_LT(calc_deepest(60, &simulation), 1.2e-3) << x;
  }
}

/// Tossed bricks, each by itself: less overlap than with `exact`, which leaves it to the rows, and the same energy;
/// with steps that a turn is small in, the same bits.
TEST(Overlap, TossedBricksLoseTheSameEnergy) {
  const Scene scene = scene_of(R"yaml(
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {repeat: {i: 20, j: 10}, name: "brick_{i}_{j}", mass: 1, position: [6*i, 6*j, 0.6],
     velocity: ["6*rand(i, j, 1) - 3", "6*rand(i, j, 2) - 3", "2*rand(i, j, 3) - 1"],
     angular_velocity: ["24*rand(i, j, 4) - 12", "24*rand(i, j, 5) - 12", "24*rand(i, j, 6) - 12"],
     shapes: [{box: {size: [0.5, 0.4, 0.3]}}]}
simulation: {duration: 1, step: 1/60}
)yaml");
  const auto toss = [&](Effort effort, double h) {
    SimulationOptions options = scene.options;
    options.effort = effort;
    options.step = h;
    return Simulation(scene.model, scene.initial, options);
  };
  Simulation exact = toss(Effort::Exact, 1.0 / 60), balanced = toss(Effort::Balanced, 1.0 / 60);
  const double left = calc_deepest(48, &exact);
  EXPECT_GT(left, 5e-4) << "else this test says nothing";
  EXPECT_LT(left, 1.2e-3) << "late contacts of fast bodies";
  EXPECT_LT(calc_deepest(48, &balanced), 0.9 * left);
  const auto energy = [](const Simulation& of) { return of.energy().kinetic + of.energy().potential; };
  EXPECT_NEAR(energy(balanced), energy(exact), 2e-3 * energy(exact));
  Simulation fine_exact = toss(Effort::Exact, 1.0 / 480), fine_balanced = toss(Effort::Balanced, 1.0 / 480);
  calc_deepest(200, &fine_exact);
  calc_deepest(200, &fine_balanced);
  EXPECT_EQ(hash(fine_balanced.state()), hash(fine_exact.state()));
}

}  // namespace
}  // namespace slipstick::test
