// SPOOK against closed forms and the outputs of a second implementation ([LacoursiereLinde11], signs and factors
// corrected).
#include <gtest/gtest.h>
#include <slipstick/joint_errors.h>
#include <slipstick/simulation.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <string>

namespace slipstick {
namespace {

constexpr double kWeight = 9.81;

struct World {
  ModelDescription description;
  SimulationOptions options;

  World() {
    options.scheme = "spook";
    options.step = 1.0 / 60;
    description.materials.push_back(Material{});
    description.materials.back().name = "default";
  }
  BodyDescription& add(const std::string& name, double mass, const Vec3& position) {
    BodyDescription& body = description.bodies.emplace_back();
    body.name = name;
    body.mass = mass;
    body.inertia = mass * Mat3::Identity();
    body.pose.position = position;
    return body;
  }
  BodyDescription& add_point(const std::string& name, double mass, const Vec3& position) {
    BodyDescription& body = add(name, mass, position);
    body.lock = {false, false, false, true, true, true};
    return body;
  }
  void add_floor() {
    BodyDescription& floor = description.bodies.emplace_back();
    floor.name = "floor";
    floor.kind = BodyKind::Fixed;
    floor.shapes.emplace_back().kind = ShapeKind::Plane;
  }
  JointDescription& join(JointKind kind, const std::string& a, const std::string& b, const Vec3& at) {
    JointDescription& joint = description.joints.emplace_back();
    joint.kind = kind;
    joint.a = a;
    joint.b = b;
    joint.at = joint.at_b = at;
    return joint;
  }
  Simulation make() const {
    State state;
    CompiledModel compiled = compile(description, &state);
    for (const CompileFault& fault : compiled.faults) ADD_FAILURE() << fault.message;
    return {std::move(compiled.model), std::move(state), options};
  }
};

struct SpookCourse {
  double joint_error = 0, increase = -1e300;
};

/// Steps until t; every step must be certified.
SpookCourse follow(double t, Simulation* simulation) {
  SpookCourse course;
  while (simulation->state().time < t - 1e-9) {
    const StepReport& report = simulation->step();
    EXPECT_TRUE(report.certified) << "t = " << simulation->state().time << ": " << report.note << ", relative residual "
                                  << report.certificate.residual.relative;
    if (report.failed) break;
    course.joint_error = std::max(course.joint_error, report.certificate.joint_error);
    course.increase = std::max(course.increase, report.certificate.ledger.change);
  }
  return course;
}

const Vec3& position_of(const Simulation& simulation, std::string_view body) {
  return simulation.state().pose[*simulation.model().find_body(body)].position;
}

// ---------------------------------------------------------------- stability

/// Point masses with ball joints between them and to the world, some twice: rows that are linear in the positions.
World make_net(int bodies, int joints, bool redundant, std::mt19937* random) {
  std::uniform_real_distribution<double> mass(0.1, 10);
  std::uniform_int_distribution<int> pick(-1, bodies - 1);
  World world;
  world.description.gravity.setZero();
  for (int i = 0; i < bodies; ++i) world.add_point("m" + std::to_string(i), mass(*random), Vec3(i, 0, 0));
  const auto name = [](int i) { return i < 0 ? std::string("world") : "m" + std::to_string(i); };
  for (int k = 0; k < joints; ++k) {
    const int a = pick(*random);
    int b = pick(*random);
    if (a == b) b = a < 0 ? 0 : -1;
    for (int twice = 0; twice < (redundant && k % 2 == 0 ? 2 : 1); ++twice)
      world.join(JointKind::Ball, name(a), name(b), Vec3::Zero());
  }
  return world;
}

/// The matrix of one step on (x, h v): exact, because the step is linear here.
MatX calc_update(const World& world) {
  State start;
  const CompiledModel compiled = compile(world.description, &start);
  const double h = world.options.step, size = 1e-3;
  const int n = static_cast<int>(start.pose.size()) * 3;
  MatX update(2 * n, 2 * n);
  for (int column = 0; column < 2 * n; ++column) {
    State state = start;
    const int body = column % n / 3, axis = column % 3;
    if (column < n) {
      state.pose[body].position[axis] += size;
    } else {
      state.velocity[body].linear[axis] += size / h;
    }
    Simulation simulation(compiled.model, state, world.options);
    EXPECT_TRUE(simulation.step().certified);
    const State& next = simulation.state();
    for (int i = 0; i < n; ++i) {
      update(i, column) = (next.pose[i / 3].position[i % 3] - start.pose[i / 3].position[i % 3]) / size;
      update(n + i, column) = h * next.velocity[i / 3].linear[i % 3] / size;
    }
  }
  return update;
}

/// The largest modulus of those eigenvalues that are not 1 (free motion: 1, twice for each direction).
double calc_radius(const MatX& update, int* constrained) {
  const Eigen::VectorXcd values = Eigen::EigenSolver<MatX>(update, false).eigenvalues();
  double radius = 0;
  *constrained = 0;
  for (Eigen::Index i = 0; i < values.size(); ++i) {
    if (std::abs(values[i] - 1.0) < 1e-4) continue;
    radius = std::max(radius, std::abs(values[i]));
    ++*constrained;
  }
  return radius;
}

TEST(Spook, EigenvaluesOfRandomConstraintSets) {
  const std::array<std::array<double, 2>, 6> table{{{0.1, 0.8451542547},
                                                    {0.5, 0.5773502692},
                                                    {1, 0.4472135955},
                                                    {2, 1.0 / 3},
                                                    {3, 0.6510847396},
                                                    {10, 0.8997205810}}};
  std::mt19937 random(7);
  for (const auto& [steps, expected] : table) {
    for (const bool redundant : {false, true}) {
      World world = make_net(4, 4, redundant, &random);
      world.options.spook.damping_steps = steps;
      world.options.spook.compliance = 1e-13;
      int constrained = 0;
      const double radius = calc_radius(calc_update(world), &constrained);
      EXPECT_GT(constrained, 0);
      EXPECT_EQ(constrained % 6, 0) << "three rows per joint, two eigenvalues per row";
      // A double eigenvalue splits by the root of what perturbs it.
      EXPECT_NEAR(radius, expected, steps == 2 ? 1e-3 : 1e-6) << "tau/h = " << steps << ", redundant " << redundant;
    }
  }
}

TEST(Spook, WarningsNameWhatIsBelowTheBounds) {
  World world;
  world.add("a", 1, Vec3(1, 0, 0));
  world.add("b", 1, Vec3(2, 0, 0));
  world.join(JointKind::Ball, "world", "a", Vec3::Zero());
  EXPECT_TRUE(world.make().warnings().empty());
  world.description.joints[0].name = "first";
  world.description.joints[0].damping_time = 0.01;
  JointDescription& second = world.join(JointKind::Ball, "a", "b", Vec3(1.5, 0, 0));
  second.name = "second";
  second.compliance = 1e-14;
  world.join(JointKind::Ball, "b", "world", Vec3(3, 0, 0)).name = "third";
  SpringDescription spring;
  spring.name = "stiff";
  spring.a = "world";
  spring.b = "b";
  spring.at_a = Vec3(2, 0, 1);
  spring.at_b = Vec3(2, 0, 0);
  spring.stiffness = 1e6;
  world.description.springs.push_back(spring);
  const Simulation simulation = world.make();
  std::string all;
  for (const std::string& warning : simulation.warnings()) all += warning + "\n";
  EXPECT_EQ(simulation.warnings().size(), 4u) << all;
  EXPECT_NE(all.find("joint 'first': damping_time 0.01 s is below twice the step"), std::string::npos) << all;
  EXPECT_NE(all.find("joint 'second': compliance 1e-14 is below"), std::string::npos) << all;
  EXPECT_NE(all.find("differ in a loop of joints: joint 'second'"), std::string::npos) << all;
  EXPECT_NE(all.find("spring 'stiff': omega h ="), std::string::npos) << all;
}

// ---------------------------------------------------------------- smooth motion

/// An undamped spring row is exactly the implicit midpoint rule: tan(theta/2) = omega h/2.
TEST(Spook, OscillatorHasTheMidpointFrequency) {
  for (const double turns : {1.0, 5.0, 30.0}) {
    const double omega = 2 * std::numbers::pi * turns, h = 1.0 / 60;
    World world;
    world.description.gravity.setZero();
    world.add_point("m", 1, Vec3(1, 0, 0));
    SpringDescription spring;
    spring.a = "world";
    spring.b = "m";
    spring.at_b = Vec3(1, 0, 0);
    spring.stiffness = omega * omega;
    spring.rest_length = 0;
    world.description.springs.push_back(spring);
    Simulation simulation = world.make();
    const double cosine = std::cos(2 * std::atan(omega * h / 2));
    double before = 0, now = 1;
    for (int k = 0; k < 600; ++k) {
      ASSERT_TRUE(simulation.step().certified);
      const double next = position_of(simulation, "m").x();
      if (k > 0) {
        ASSERT_NEAR(next, 2 * cosine * now - before, 1e-7) << "omega = " << omega << ", step " << k;
      }
      before = now;
      now = next;
    }
  }
}

World make_rod(double speed, double gravity) {
  World world;
  world.description.gravity = Vec3(0, -gravity, 0);
  world.add_point("m", 1, Vec3(1, 0, 0)).velocity = Vec3(0, speed, 0);
  JointDescription& rod = world.join(JointKind::Rod, "world", "m", Vec3::Zero());
  rod.at_b = Vec3(1, 0, 0);
  return world;
}

/// Without the curvature g = h^2 (1 + phi)/(8 phi) v^2/L.
TEST(Spook, SteadyRotation) {
  const std::array<double, 3> plain{7.795472e-4, 1.952058e-4, 4.882145e-5};
  double previous = 0;
  for (int k = 0; k < 3; ++k) {
    for (const bool hessian : {false, true}) {
      World world = make_rod(1.5, 0);
      world.options.step = 1.0 / (60 << k);
      world.options.spook.compliance = 1e-14;
      world.options.spook.hessian = hessian;
      Simulation simulation = world.make();
      follow(4, &simulation);
      const double error = std::abs(position_of(simulation, "m").norm() - 1);
      if (!hessian) {
        EXPECT_NEAR(error / plain[k], 1, 2e-3) << k;
        continue;
      }
      EXPECT_LT(error, 9e-7 * std::pow(0.07, k));
      if (k > 0) {
        EXPECT_GT(previous / error, 14) << "fourth order on a circle";
      }
      previous = error;
    }
  }
}

TEST(Spook, PendulumFromTheHorizontal) {
  const std::array<double, 2> plain{6.718e-3, 1.697e-3}, curved{2.85e-4, 3.53e-5};
  for (int k = 0; k < 2; ++k) {
    for (const bool hessian : {false, true}) {
      World world = make_rod(0, kWeight);
      world.options.step = 1.0 / (60 << k);
      world.options.spook.compliance = 1e-8;
      world.options.spook.hessian = hessian;
      Simulation simulation = world.make();
      const double error = follow(10, &simulation).joint_error;
      if (hessian) {
        EXPECT_LT(error, 1.05 * curved[k]);
      } else {
        EXPECT_NEAR(error / plain[k], 1, 0.02);
      }
    }
  }
}

/// A double pendulum from the horizontal: joint errors fall with the cube of the step from coarse steps to fine ones,
/// without a break where the bend found is no longer far enough from the bend expected for a second solution.
TEST(Spook, JointErrorsAreOfThirdOrder) {
  struct Errors {
    double largest = 0, last = 0;
  };
  const auto errors = [](double h) {
    World world;
    world.options.step = h;
    world.options.spook.compliance = 1e-14;
    world.options.spook.geometric = false;
    for (const auto& [name, x] : {std::pair{"first", 0.5}, std::pair{"second", 1.5}}) {
      world.add(name, 1, Vec3(x, 0, 0)).inertia = Mat3(Mat3::Identity() / 12);
      const bool second = x > 1;
      world.join(JointKind::Hinge, second ? "first" : "world", name, Vec3(second ? 1 : 0, 0, 0)).axis = Vec3::UnitY();
    }
    Simulation simulation = world.make();
    Errors found;
    found.largest = follow(1, &simulation).joint_error;
    for (const double error : calc_joint_errors(simulation.model(), simulation.state()))
      found.last = std::max(found.last, error);
    return found;
  };
  const Errors first = errors(1.0 / 60);
  Errors before = first;
  for (int rate = 120; rate <= 960; rate *= 2) {
    const Errors now = errors(1.0 / rate);
    EXPECT_GT(before.last / now.last, 7) << "h = 1/" << rate << ": " << before.last << " -> " << now.last;
    before = now;
  }
  EXPECT_GT(std::log2(first.largest / before.largest) / 4, 2.8) << first.largest << " -> " << before.largest;
}

/// Positions are of first order: the velocity is that of the half step before.
TEST(Spook, PositionsAreOfFirstOrder) {
  const auto end = [](double h) {
    World world = make_rod(0, kWeight);
    world.options.step = h;
    Simulation simulation = world.make();
    follow(1, &simulation);
    return Vec3(position_of(simulation, "m"));
  };
  const Vec3 a = end(1.0 / 64), b = end(1.0 / 128), c = end(1.0 / 256);
  EXPECT_NEAR((a - b).norm() / (b - c).norm(), 2, 0.2);
}

// ---------------------------------------------------------------- machines

/// Two hinges on one axis and a knob welded on twice: rows that say the same thing twice.
TEST(Spook, RedundantJoints) {
  World world;
  world.add("door", 20, Vec3(0.5, 0, 0)).velocity = Vec3(0, 1.5, 0);
  world.add("knob", 0.2, Vec3(0.9, 0.1, 0)).velocity = Vec3(-0.3, 2.7, 0);
  for (BodyDescription& body : world.description.bodies) body.angular_velocity = Vec3(0, 0, 3);
  world.join(JointKind::Hinge, "world", "door", Vec3(0, 0, 0.8));
  world.join(JointKind::Hinge, "world", "door", Vec3(0, 0, -0.8));
  for (int twice = 0; twice < 2; ++twice) world.join(JointKind::Fixed, "door", "knob", Vec3(0.9, 0.05, 0));
  Simulation simulation = world.make();
  EXPECT_LT(follow(3, &simulation).joint_error, 2e-5);
  EXPECT_NEAR(simulation.state().velocity[0].angular.z(), 3, 0.02);
}

World make_chain(int links, double load) {
  World world;
  for (int i = 0; i < links; ++i)
    world.add("l" + std::to_string(i), 1, Vec3(0.2 * i + 0.1, 0, 0)).inertia =
        Vec3(0.0002, 0.0035, 0.0035).asDiagonal();
  world.add("ball", load, Vec3(0.2 * links + 0.3, 0, 0)).inertia = 0.4 * load * 0.09 * Mat3::Identity();
  for (int i = 0; i <= links; ++i)
    world.join(JointKind::Ball, i == 0 ? "world" : "l" + std::to_string(i - 1),
               i == links ? "ball" : "l" + std::to_string(i), Vec3(0.2 * i, 0, 0));
  return world;
}

/// 50 links of 1 kg with 1000 kg at their end, let go from the horizontal, 60 steps a second: joints within 0.1 mm,
/// energy never grows, and less than 5 % of what was turned into motion is lost in 5 s.
TEST(Spook, ChainWithAThousandKilograms) {
  Simulation simulation = make_chain(50, 1000).make();
  const EnergySplit start = simulation.energy();
  const SpookCourse course = follow(5, &simulation);
  const EnergySplit end = simulation.energy();
  const double turned = kWeight * (1000 * 10.3 + 50 * 5);
  const double lost = (start.kinetic + start.potential - end.kinetic - end.potential) / turned;
  EXPECT_LT(course.joint_error, 1e-4);
  EXPECT_LE(course.increase, 1e-9 * turned);
  EXPECT_LT(lost, 0.05);
  RecordProperty("joint_error", std::to_string(course.joint_error));
  RecordProperty("lost", std::to_string(lost));
}

/// With 10 kg the end whips round: harder, because the forces change from step to step. It must not blow up.
TEST(Spook, ChainThatWhips) {
  Simulation simulation = make_chain(50, 10).make();
  const SpookCourse course = follow(5, &simulation);
  EXPECT_LT(course.joint_error, 0.2);
  EXPECT_LT(simulation.energy().kinetic + simulation.energy().potential, 0);
}

// ---------------------------------------------------------------- contacts

World make_ball(double e) {
  World world;
  world.description.materials[0].friction = 0;
  world.description.materials[0].restitution = e;
  world.add_floor();
  ShapeDescription& shape = world.add("ball", 1, Vec3(0, 0, 1.1)).shapes.emplace_back();
  shape.kind = ShapeKind::Sphere;
  shape.radius = 0.1;
  return world;
}

/// Heights of the peaks after each bounce of a ball dropped from 1 m.
std::vector<double> calc_peaks(const World& world, std::size_t count) {
  Simulation simulation = world.make();
  std::vector<double> peaks;
  double before = 1, now = 1;
  while (peaks.size() < count && simulation.state().time < 10) {
    EXPECT_TRUE(simulation.step().certified);
    const double next = position_of(simulation, "ball").z() - 0.1;
    if (now > before + 1e-9 && now >= next) peaks.push_back(now);
    before = now;
    now = next;
  }
  peaks.resize(count, -1);
  return peaks;
}

/// Flight is the exact parabola, so the impact is found at z = 1 - g t^2/2 of the first step below zero, at the depth
/// d, with the speed g t. The stage reverses that speed there: the ball comes back to its height for e = 1, to e^2 (1 +
/// d) - d otherwise. Without a stage (e = 0) the rows throw it out of d with 4 phi d/h, as the paper's do.
TEST(Spook, BouncingBallAsInThePaper) {
  const auto peaks = [](double e, std::size_t count) {
    World world = make_ball(e);
    world.options.spook.contact_compliance = 1e-8;
    world.options.spook.contact_damping_time = 2 * world.options.step;
    world.options.spook.anticipate = false;
    return calc_peaks(world, count);
  };
  const std::vector<double> elastic = peaks(1, 4), half = peaks(0.5, 1);
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(elastic[i], 1, 1e-9) << i;
  const double h = 1.0 / 60, g = 9.81;
  const double depth = g * (28 * h) * (28 * h) / 2 - 1;  // 28 steps: the speed of the rebound is 14 g h
  EXPECT_NEAR(half[0], 0.25 * (1 + depth) - depth, 1e-9);
  const double thrown = 4.0 / 9 * depth / h;
  double height = -depth + h * thrown, peak = height;  // and then it flies: half a step of gravity before each u
  for (double u = thrown - g * h / 2; u > 0; u -= g * h) peak = height += h * u;
  EXPECT_NEAR(peaks(0, 1)[0], peak, 1e-4);
}

/// A plastic impact that was seen coming throws nothing out.
TEST(Spook, PlasticImpactsAreAnticipated) {
  EXPECT_EQ(calc_peaks(make_ball(0), 1)[0], -1);
  const double half = calc_peaks(make_ball(0.5), 1)[0];
  EXPECT_GT(half, 0.15);
  EXPECT_LT(half, 0.25);
}

TEST(Spook, DeflectionCreepAndStoppingDistance) {
  World world = make_ball(0);
  world.description.bodies[1].pose.position.z() = 0.1;
  world.options.spook.contact_compliance = world.options.spook.slip_compliance = 1e-8;
  Simulation ball = world.make();
  follow(2, &ball);
  EXPECT_NEAR(0.1 - position_of(ball, "ball").z(), kWeight * 1e-8, 1e-12);

  world.description.materials[0].friction = 0.5;
  BodyDescription& block = world.description.bodies[1];
  block.name = "block";
  block.pose.position.z() = 0.05;
  block.shapes[0].kind = ShapeKind::Box;
  block.shapes[0].size = Vec3(1, 1, 0.1);
  const double slope = 20 * std::numbers::pi / 180;
  world.description.gravity = kWeight * Vec3(std::sin(slope), 0, -std::cos(slope));
  Simulation creeping = world.make();
  follow(1, &creeping);
  // Each of the four contacts carries a quarter of the force: a quarter of the creep of one.
  EXPECT_NEAR(creeping.state().velocity[1].linear.x(), 1e-8 * kWeight * std::sin(slope) / 4, 1e-11);

  world.description.gravity = Vec3(0, 0, -kWeight);
  block.velocity = Vec3(3, 0, 0);
  Simulation sliding = world.make();
  follow(2, &sliding);
  EXPECT_NEAR(position_of(sliding, "block").x(), 0.8925750, 1e-5);
}

}  // namespace
}  // namespace slipstick
