// Bodies thrown at thin plates, fast and spinning, in every scheme: none may be on the other side afterwards. The judge
// is the sign of the height of a point in the middle of the body over the plate, in the plate's frame, and nothing of
// the engine.
#include <gtest/gtest.h>
#include <slipstick/simulation.h>
#include <slipstick/surface.h>

#include <cmath>
#include <cstdlib>
#include <random>

namespace slipstick {
namespace {

using Random = std::mt19937_64;

double pick(Random* random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(*random);
}
int pick_of(Random* random, int count) { return std::uniform_int_distribution<int>(0, count - 1)(*random); }

Vec3 pick_direction(Random* random) {
  std::normal_distribution<double> normal;
  return Vec3(normal(*random), normal(*random), normal(*random)).normalized();
}

ShapeDescription make_box(const Vec3& size) {
  ShapeDescription shape;
  shape.kind = ShapeKind::Box;
  shape.size = size;
  return shape;
}

/// A closed surface over a polygon in the plane, as thick as `depth`.
std::shared_ptr<const Surface> make_prism(const std::vector<Vec2>& outline, const std::vector<Triangle>& cover,
                                          double depth) {
  const auto n = static_cast<std::int32_t>(outline.size());
  std::vector<Vec3> vertices;
  for (const double z : {-0.5 * depth, 0.5 * depth})
    for (const Vec2& p : outline) vertices.emplace_back(p.x(), p.y(), z);
  std::vector<Triangle> triangles;
  for (const Triangle& t : cover) {
    triangles.push_back({t[0], t[2], t[1]});
    triangles.push_back({t[0] + n, t[1] + n, t[2] + n});
  }
  for (std::int32_t k = 0; k < n; ++k) {
    const std::int32_t l = (k + 1) % n;
    triangles.push_back({k, l, l + n});
    triangles.push_back({k, l + n, k + n});
  }
  return make_surface(vertices, triangles).surface;
}

/// An L, which is concave: its centre of mass is near the inner corner.
std::shared_ptr<const Surface> make_angle(double size, double width, double depth) {
  return make_prism({{0, 0}, {size, 0}, {size, width}, {width, width}, {width, size}, {0, size}},
                    {{0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {0, 4, 5}}, depth);
}

enum class Missile { Rod, Leaf, Box, Hull, Capsule, Mesh, Angle, Compound, Count };

std::vector<ShapeDescription> make_missile(Missile kind, Random* random) {
  ShapeDescription shape;
  switch (kind) {
    case Missile::Rod:
      return {make_box({0.3, 0.02, 0.001})};
    case Missile::Leaf:
      return {make_box({0.2, 0.2, 0.001})};
    case Missile::Box:
      return {make_box({0.05, 0.04, 0.03})};
    case Missile::Hull:
      shape.kind = ShapeKind::Hull;
      for (int k = 0; k < 20; ++k)
        shape.vertices.push_back(Vec3(0.05, 0.03, 0.02).cwiseProduct(pick_direction(random)));
      return {shape};
    case Missile::Capsule:
      shape.kind = ShapeKind::Capsule;
      shape.radius = 0.005;
      shape.length = 0.2;
      return {shape};
    case Missile::Mesh:
      shape.kind = ShapeKind::Mesh;
      shape.surface =
          make_prism({{-0.05, -0.02}, {0.05, -0.02}, {0.05, 0.02}, {-0.05, 0.02}}, {{0, 1, 2}, {0, 2, 3}}, 0.01);
      return {shape};
    case Missile::Angle:
      shape.kind = ShapeKind::Mesh;
      shape.surface = make_angle(0.2, 0.03, 0.02);
      return {shape};
    default: {  // a dumbbell: nothing at its centre of mass
      ShapeDescription ball;
      ball.kind = ShapeKind::Sphere;
      ball.radius = 0.03;
      ball.pose.position = {0.1, 0, 0};
      ShapeDescription other = ball;
      other.pose.position = {-0.1, 0, 0};
      return {ball, other, make_box({0.2, 0.01, 0.01})};
    }
  }
}

struct Throw {
  ModelDescription description;
  SimulationOptions options;
  Vec3 half = Vec3::Zero();  ///< of the plate
  std::vector<Vec3> matter;  ///< points of the missile's matter, in its frame; empty: its centre of mass
  std::string name;
};

Throw make_throw(std::uint64_t seed) {
  Random random(seed);
  Throw made;
  made.description.gravity.setZero();
  const auto kind = static_cast<Missile>(pick_of(&random, static_cast<int>(Missile::Count)));
  BodyDescription plate;
  plate.name = "plate";
  plate.pose.orientation = Quat(Eigen::AngleAxisd(pick(&random, -3, 3), pick_direction(&random)));
  const int hold = pick_of(&random, 3);
  const double width = hold == 2 ? 1.0 : 10.0;
  made.half = {width / 2, width / 2, 0.0005};
  plate.shapes = {make_box(2 * made.half)};
  if (hold == 0) plate.kind = BodyKind::Fixed;
  if (hold == 1) plate.mass = 1000;
  if (hold == 2) plate.mass = 1;
  BodyDescription body;
  body.name = "missile";
  body.mass = 0.1;
  body.shapes = make_missile(kind, &random);
  if (kind == Missile::Angle)  // its centre of mass is in the open
    made.matter = {{0.015, 0.015, 0}, {0.185, 0.015, 0}, {0.015, 0.185, 0}};
  const double speed = std::pow(10, pick(&random, 0.7, 2)), height = pick(&random, 0.4, 1.5);
  const Quat& frame = plate.pose.orientation;
  Vec3 way(pick(&random, -0.5, 0.5), pick(&random, -0.5, 0.5), -1);
  way.normalize();
  Vec3 aim(pick(&random, -0.4, 0.4), pick(&random, -0.4, 0.4), 0);
  aim *= width / 2;
  body.pose.position = frame * (aim - height * way);
  body.pose.orientation = Quat(Eigen::AngleAxisd(pick(&random, -3, 3), pick_direction(&random)));
  body.velocity = frame * (speed * way);
  body.angular_velocity = pick(&random, 0, 300) * pick_direction(&random);
  if (pick_of(&random, 4) == 0) body.angular_velocity.setZero();
  Material material;
  material.name = "default";
  material.friction = pick_of(&random, 2) == 0 ? 0.0 : 0.5;
  material.restitution = pick_of(&random, 2) == 0 ? 0.0 : 0.6;
  made.description.materials = {material};
  made.description.bodies = {plate, body};
  static const char* const schemes[] = {"stabilized", "spook", "euler", "trapezoid", "alpha-gamma"};
  static const double steps[] = {1.0 / 60, 1.0 / 100, 1.0 / 250, 1.0 / 1000};
  made.options.scheme = schemes[pick_of(&random, 5)];
  made.options.step = steps[pick_of(&random, 4)];
  if (made.options.scheme == "stabilized") made.options.locate = seed % 2 == 1;
  made.options.duration = height / speed + std::min(0.1, 10 * made.options.step);
  made.name = "seed " + std::to_string(seed) + ": missile " + std::to_string(static_cast<int>(kind)) + ", " +
              made.options.scheme + ", step " + std::to_string(made.options.step) + ", speed " + std::to_string(speed) +
              ", hold " + std::to_string(hold);
  return made;
}

/// The points of the missile in the frame of the plate; that with the greatest height.
Vec3 find_highest(const Simulation& simulation, const Throw& thrown) {
  const State& state = simulation.state();
  const Vec3& center = simulation.model().bodies[1].center_of_mass;
  Vec3 highest(0, 0, -1e9);
  const auto add = [&](const Vec3& p) {
    const Vec3 point = state.pose[1].position + state.pose[1].orientation * (p - center);
    const Vec3 place = state.pose[0].orientation.conjugate() * (point - state.pose[0].position);
    if (place.z() > highest.z()) highest = place;
  };
  for (const Vec3& p : thrown.matter) add(p);
  if (thrown.matter.empty()) add(center);
  return highest;
}

struct Outcome {
  bool passed = false, certified = true;
  int core_rows = 0, divisions = 0;
  long islands = 0, solves = 0;  ///< counted by the reports, and by the solver that is asked first
};

Outcome run(const Throw& thrown) {
  Outcome outcome;
  State state;
  CompiledModel compiled = compile(thrown.description, &state);
  EXPECT_TRUE(compiled.faults.empty()) << thrown.name;
  Simulation simulation(compiled.model, state, thrown.options);
  while (simulation.state().time < thrown.options.duration) {
    const StepReport& report = simulation.step();
    outcome.certified = outcome.certified && report.certified;
    outcome.core_rows += report.core_rows;
    outcome.divisions += report.divisions;
    outcome.islands += report.islands;
    if (report.failed) break;
    const Vec3 place = find_highest(simulation, thrown);
    const bool over = std::abs(place.x()) < 0.9 * thrown.half.x() && std::abs(place.y()) < 0.9 * thrown.half.y();
    if (!over) break;  // what leaves over the rim may go where it likes
    outcome.passed = outcome.passed || place.z() < 0;
  }
  outcome.solves = simulation.solver_statistics().front().solves;
  return outcome;
}

/// Seeds of throws and boxes in which something passed, or the step had no end, before its cause was found.
constexpr std::uint64_t kOncePassed[] = {2311, 2857}, kOnceEscaped[] = {750, 914, 1295, 2194, 2834};

TEST(Throws, NonePassesAgain) {
  for (const std::uint64_t seed : kOncePassed) {
    const Throw thrown = make_throw(seed);
    EXPECT_FALSE(run(thrown).passed) << thrown.name;
  }
}

/// With restitution `spook` has no rows ahead of a contact: a mesh whose corner pierces the plate before there is one
/// would have none at all. Corners are followed both ways, and the step ends in the plate.
TEST(Throws, CornersOfMeshesDoNotPierceWithoutAContact) {
  for (const std::uint64_t seed : {1084, 1148, 1201, 1286}) {
    const Throw thrown = make_throw(seed);
    EXPECT_TRUE(run(thrown).certified) << thrown.name;
  }
}

TEST(Throws, NonePasses) {
  const char* more = std::getenv("SLIPSTICK_THROWS");
  const int count = more != nullptr ? std::atoi(more) : 1000;
  int core_rows = 0, divisions = 0, uncertified = 0, passed = 0;
  const char* first = std::getenv("SLIPSTICK_THROWS_FROM");  // a seed, to look at one alone
  const int from = first != nullptr ? std::atoi(first) : 1000;
  for (int k = 0; k < count; ++k) {
    const Throw thrown = make_throw(from + k);
    const Outcome outcome = run(thrown);
    EXPECT_FALSE(outcome.passed) << thrown.name << (outcome.certified ? ", certified" : "");
    EXPECT_EQ(outcome.islands, outcome.solves) << thrown.name;  // work that came to nothing counts
    passed += outcome.passed;
    core_rows += outcome.core_rows > 0;
    divisions += outcome.divisions > 0;
    uncertified += !outcome.certified;
  }
  RecordProperty("passed", passed);
  std::printf("%d throws: %d passed, %d with rows on ways, %d divided, %d not certified\n", count, passed, core_rows,
              divisions, uncertified);
  EXPECT_GT(core_rows, 0);  // else this test sees nothing of them
  EXPECT_GT(divisions, 0);
}

/// After 1/30 s in steps of h.
double calc_energy_after(double h, const Model& model, const State& initial, bool* certified) {
  SimulationOptions options;
  options.step = h;
  Simulation simulation(model, initial, options);
  for (int k = 0; k < std::lround(1 / (30 * h)); ++k) *certified = simulation.step().certified && *certified;
  return simulation.energy().kinetic;
}

/// Rows with the lever arms of the start lose or keep 13 % of the energy too much, on average over such rods; divided
/// steps 2 %. The truth is the same scheme with steps of 10 us.
TEST(Throws, DividedStepsMakeTheImpactRight) {
  Random random(5);
  constexpr int kCount = 30;
  double sum = 0;
  bool certified = true;
  for (int k = 0; k < kCount; ++k) {
    ModelDescription d;
    d.gravity = Vec3::Zero();
    BodyDescription plate, rod;
    plate.name = "plate";
    plate.kind = BodyKind::Fixed;
    plate.shapes = {make_box({4, 4, 0.001})};
    rod.name = "rod";
    rod.mass = 1;
    rod.shapes = {make_box({0.3, 0.02, 0.02})};
    rod.pose.position = {0, 0, pick(&random, 0.25, 0.45)};
    rod.pose.orientation = Eigen::AngleAxisd(pick(&random, -1, 1), Vec3::UnitY());
    rod.velocity = {0, 0, -pick(&random, 5, 30)};
    rod.angular_velocity = {0, pick(&random, 30, 150), 0};
    d.bodies = {plate, rod};
    State initial;
    const CompiledModel compiled = compile(d, &initial);
    ASSERT_TRUE(compiled.faults.empty());
    const Model& model = compiled.model;
    const double start = Simulation(model, initial, {}).energy().kinetic;
    const double left = calc_energy_after(1.0 / 60, model, initial, &certified);
    sum += std::abs(left - calc_energy_after(1e-5, model, initial, &certified)) / start;
  }
  EXPECT_TRUE(certified);
  EXPECT_LT(sum / kCount, 0.04);
}

/// A closed box with walls of 1 mm: six plates, or one mesh with a cavity.
std::vector<ShapeDescription> make_case(bool mesh, double half) {
  constexpr double kWall = 0.001;
  std::vector<ShapeDescription> shapes;
  if (!mesh) {
    for (int axis = 0; axis < 3; ++axis) {
      for (const double side : {-1.0, 1.0}) {
        Vec3 size = Vec3::Constant(2 * half + 2 * kWall);
        size[axis] = kWall;
        shapes.push_back(make_box(size));
        shapes.back().pose.position[axis] = side * (half + kWall / 2);
      }
    }
    return shapes;
  }
  std::vector<Vec3> vertices;
  std::vector<Triangle> triangles;
  for (const double h : {half + kWall, half}) {
    const auto base = static_cast<std::int32_t>(vertices.size());
    for (int k = 0; k < 8; ++k) vertices.emplace_back(k & 1 ? h : -h, k & 2 ? h : -h, k & 4 ? h : -h);
    for (const std::array<std::int32_t, 4>& q :
         {std::array{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}}) {
      const bool inner = base > 0;  // faces the cavity
      const Triangle one{base + q[0], base + q[1], base + q[2]}, two{base + q[0], base + q[2], base + q[3]};
      triangles.push_back(inner ? Triangle{one[0], one[2], one[1]} : one);
      triangles.push_back(inner ? Triangle{two[0], two[2], two[1]} : two);
    }
  }
  ShapeDescription shape;
  shape.kind = ShapeKind::Mesh;
  shape.surface = make_surface(vertices, triangles).surface;
  EXPECT_NE(shape.surface, nullptr);
  return {shape};
}

/// Something fast inside a closed box that flies and turns itself.
Throw make_boxed(std::uint64_t seed, double half) {
  Random random(seed);
  Throw made;
  BodyDescription box, body;
  box.name = "box";
  box.mass = 1;
  const bool mesh = pick_of(&random, 2) == 1;
  box.shapes = make_case(mesh, half);
  box.velocity = 5 * pick_direction(&random);
  box.angular_velocity = pick(&random, 0, 10) * pick_direction(&random);
  if (pick_of(&random, 4) == 0) {
    box.kind = BodyKind::Fixed;
    box.velocity.setZero();
    box.angular_velocity.setZero();
  }
  box.pose.orientation = Quat(Eigen::AngleAxisd(pick(&random, -3, 3), pick_direction(&random)));
  body.name = "body";
  body.mass = 0.01;
  ShapeDescription shape;
  const int kind = pick_of(&random, 5);
  switch (kind) {
    case 0:
      shape.kind = ShapeKind::Sphere;
      shape.radius = 0.01;
      break;
    case 1:
      shape = make_box({0.03, 0.01, 0.005});
      break;
    case 2:
      shape.kind = ShapeKind::Hull;
      for (int k = 0; k < 20; ++k)
        shape.vertices.push_back(Vec3(0.02, 0.015, 0.01).cwiseProduct(pick_direction(&random)));
      break;
    case 3:
      shape.kind = ShapeKind::Capsule;
      shape.radius = 0.005;
      shape.length = 0.04;
      break;
    default:
      shape.kind = ShapeKind::Mesh;
      shape.surface =
          make_prism({{-0.02, -0.01}, {0.02, -0.01}, {0.02, 0.01}, {-0.02, 0.01}}, {{0, 1, 2}, {0, 2, 3}}, 0.01);
  }
  body.shapes = {shape};
  body.angular_velocity = pick(&random, 0, 200) * pick_direction(&random);
  body.velocity = pick(&random, 2, 60) * pick_direction(&random);
  Material material;
  material.name = "default";
  material.friction = pick_of(&random, 2) == 0 ? 0.0 : 0.5;
  material.restitution = pick_of(&random, 2) == 0 ? 0.0 : 0.6;
  made.description.materials = {material};
  made.description.bodies = {box, body};
  static const char* const schemes[] = {"stabilized", "spook", "euler", "trapezoid", "alpha-gamma", "stabilized"};
  static const double steps[] = {1.0 / 60, 1.0 / 240, 1.0 / 1000};
  const int scheme = pick_of(&random, 6), step = pick_of(&random, 3);
  made.options.scheme = schemes[scheme];
  if (scheme == 5) made.options.locate = true;
  made.options.step = steps[step];
  made.options.duration = std::min(20 * made.options.step, 0.1);
  made.name = "seed " + std::to_string(seed) + (mesh ? ": mesh" : ": plates") + ", body " + std::to_string(kind) +
              ", " + made.options.scheme + (scheme == 5 ? " located" : "") + ", step " +
              std::to_string(made.options.step);
  return made;
}

/// `passed`: it is outside.
Outcome run_boxed(std::uint64_t seed) {
  constexpr double kHalf = 0.1;
  const Throw boxed = make_boxed(seed, kHalf);
  Outcome outcome;
  State state;
  CompiledModel compiled = compile(boxed.description, &state);
  EXPECT_TRUE(compiled.faults.empty());
  Simulation simulation(compiled.model, state, boxed.options);
  while (!outcome.passed && simulation.state().time < boxed.options.duration) {
    const StepReport& report = simulation.step();
    EXPECT_FALSE(report.failed) << boxed.name << report.note;
    if (report.failed) break;
    outcome.core_rows += report.core_rows;
    outcome.certified = outcome.certified && report.certified;
    const State& now = simulation.state();
    const Vec3 place = now.pose[0].orientation.conjugate() * (now.pose[1].position - now.pose[0].position);
    outcome.passed = !(place.lpNorm<Eigen::Infinity>() < kHalf + 0.001);
  }
  EXPECT_FALSE(outcome.passed) << boxed.name << (outcome.certified ? ", certified" : "");
  return outcome;
}

TEST(Throws, WhatIsInAClosedBoxStaysInside) {
  const char* more = std::getenv("SLIPSTICK_BOXED");
  const int count = more != nullptr ? std::atoi(more) : 60;
  const char* first = std::getenv("SLIPSTICK_THROWS_FROM");
  const int from = first != nullptr ? std::atoi(first) : 690;
  int caught = 0, uncertified = 0;
  for (int k = 0; k < count; ++k) {
    const Outcome outcome = run_boxed(from + k);
    caught += outcome.core_rows;
    uncertified += outcome.certified ? 0 : 1;
  }
  std::printf("%d in closed boxes: %d rows on ways, %d not certified\n", count, caught, uncertified);
  EXPECT_GT(caught, 0);
  for (const std::uint64_t seed : kOnceEscaped) run_boxed(seed);
}

}  // namespace
}  // namespace slipstick
