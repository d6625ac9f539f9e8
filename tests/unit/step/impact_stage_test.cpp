// The impact stage of SPOOK: kinetic energy never grows, whatever meets.
#include "step/impact_stage.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>
#include <string>

namespace slipstick {
namespace {

/// A few bodies, some of them jointed, and a floor.
struct ImpactWorld {
  Model model;
  State state;
  SimulationOptions options;
};

class ImpactWorlds {
 public:
  ImpactWorld make() {
    ModelDescription d;
    BodyDescription floor;
    floor.name = "floor";
    floor.kind = BodyKind::Fixed;
    d.bodies.push_back(floor);
    const int count = 1 + whole(5);
    for (int i = 0; i < count; ++i) d.bodies.push_back(make_body(i));
    for (int i = 1; i < count; ++i)
      if (chance(0.4)) d.joints.push_back(make_joint(i));
    Material material;
    material.name = "default";
    material.friction = chance(0.3) ? 0 : 1.5 * unit();
    material.restitution = chance(0.2) ? 1 : unit();
    material.tangential_restitution = chance(0.2) ? unit() : 0;
    d.materials.push_back(material);
    ImpactWorld world;
    CompiledModel compiled = compile(d, &world.state);
    EXPECT_TRUE(compiled.faults.empty());
    world.model = std::move(compiled.model);
    world.options.scheme = "spook";
    world.options.impact = static_cast<ImpactLaw>(whole(4));
    world.options.restitution_threshold = 0;
    return world;
  }

  ContactSet make_contacts(const ImpactWorld& world) {
    ContactSet set;
    const int bodies = static_cast<int>(world.model.bodies.size()), count = 1 + whole(6);
    for (int i = 0; i < count; ++i) {
      Contact contact;
      contact.key.feature = static_cast<std::uint32_t>(i);
      contact.body_b = 1 + whole(bodies - 1);
      contact.body_a = whole(contact.body_b);
      contact.normal = vector().normalized();
      contact.point_a = contact.point_b = world.state.pose[contact.body_b].position + 0.5 * vector();
      contact.gap = -1e-4 * unit();
      set.contacts.push_back(contact);
    }
    return set;
  }

 private:
  BodyDescription make_body(int i) {
    BodyDescription body;
    body.name = "b" + std::to_string(i);
    body.mass = std::pow(10, 4 * unit() - 2);
    body.inertia = *body.mass * 0.1 *
                   Vec3(0.5 + 0.5 * unit(), 0.5 + 0.5 * unit(), 0.5 + 0.5 * unit()).asDiagonal().toDenseMatrix();
    body.pose.position = vector();
    body.velocity = 3 * vector();
    body.angular_velocity = 3 * vector();
    return body;
  }
  JointDescription make_joint(int i) {
    JointDescription joint;
    joint.kind = chance(0.5) ? JointKind::Ball : JointKind::Hinge;
    joint.a = "b" + std::to_string(i - 1);
    joint.b = "b" + std::to_string(i);
    joint.at = vector();
    joint.axis = vector().normalized();
    joint.compliance = chance(0.3) ? std::pow(10, -8 * unit()) : 0;
    return joint;
  }
  double unit() { return std::uniform_real_distribution<double>(0, 1)(random_); }
  bool chance(double p) { return unit() < p; }
  int whole(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
  Vec3 vector() { return {2 * unit() - 1, 2 * unit() - 1, 2 * unit() - 1}; }
  std::mt19937_64 random_{11};
};

/// SLIPSTICK_RANDOM says how many; a million runs with the slow tests.
TEST(ImpactStage, KineticEnergyNeverGrows) {
  const char* wanted = std::getenv("SLIPSTICK_RANDOM");
  const long count = wanted != nullptr ? std::atol(wanted) : 1000;
  ImpactWorlds worlds;
  const std::unique_ptr<Scheme> scheme = make_scheme("spook");
  SimulationOptions options;
  options.effort = Effort::Exact;
  StepSolver ladder(options);
  ImpactStage stage;
  State after;
  long happened = 0, certified = 0, guarded = 0;
  for (long k = 0; k < count; ++k) {
    const ImpactWorld world = worlds.make();
    const ContactSet contacts = worlds.make_contacts(world);
    const std::vector<Twist> prescribed(world.model.bodies.size());
    StepInput input;
    input.model = &world.model;
    input.options = &world.options;
    input.state = &world.state;
    input.contacts = &contacts;
    input.prescribed = prescribed;
    input.h = input.h_nominal = world.options.step;
    if (!stage.run(input, *scheme, false, &ladder, &after)) continue;
    ++happened;
    bool all = true, any_guard = false;
    double change = 0;
    for (const ImpactStage::Pass& pass : stage.passes()) {
      all = all && pass.result.solve.certified;
      any_guard = any_guard || pass.result.guarded;
      change += pass.result.energy_change;
    }
    certified += all;
    guarded += any_guard;
    const double before = calc_kinetic(world.model, world.state.velocity);
    ASSERT_LE(calc_kinetic(world.model, after.velocity), before * (1 + 1e-9)) << "impact " << k;
    ASSERT_NEAR(calc_kinetic(world.model, after.velocity) - before, change, 1e-9 * before);
  }
  EXPECT_GT(happened, count / 3);
  EXPECT_GE(certified, happened - happened / 1000);
  EXPECT_LT(guarded, happened / 2);
}

/// Nothing to do where nothing closes, or nothing rebounds.
TEST(ImpactStage, PlasticContactsNeedNone) {
  ModelDescription d;
  BodyDescription ball;
  ball.name = "ball";
  ball.mass = 1;
  ball.inertia = Mat3::Identity();
  ball.velocity = Vec3(0, 0, -2);
  d.bodies.push_back(ball);
  const std::unique_ptr<Scheme> scheme = make_scheme("spook");
  for (const double e : {0.0, 0.5}) {
    Material material;
    material.name = "default";
    material.restitution = e;
    d.materials = {material};
    State state, after;
    const CompiledModel compiled = compile(d, &state);
    ASSERT_TRUE(compiled.faults.empty());
    ContactSet contacts;
    contacts.contacts.emplace_back();
    contacts.contacts[0].body_b = 0;
    const std::vector<Twist> prescribed(1);
    SimulationOptions options;
    StepInput input;
    input.model = &compiled.model;
    input.options = &options;
    input.state = &state;
    input.contacts = &contacts;
    input.prescribed = prescribed;
    input.h = input.h_nominal = options.step;
    StepSolver ladder(options);
    ImpactStage stage;
    EXPECT_EQ(stage.run(input, *scheme, false, &ladder, &after), e > 0);
    if (e > 0) {
      EXPECT_NEAR(after.velocity[0].linear.z(), 1, 1e-9);
      ASSERT_EQ(stage.events().size(), 1u);
      EXPECT_EQ(stage.events()[0].kind, EventKind::Impact);
    }
    contacts.contacts[0].gap = 1e-3;
    EXPECT_FALSE(stage.run(input, *scheme, false, &ladder, &after));
  }
}

/// A paddle with prescribed motion strikes a ball at rest in every scheme that has impacts: it does the work m u^2 (1 +
/// e), and the impact takes m u^2 (1 - e^2) / 2 of it.
TEST(Impacts, WorkOfPrescribedMotionIsBooked) {
  constexpr double kSpeed = 2, kRestitution = 0.5, kMass = 3;
  for (const char* const scheme : {"stabilized", "spook", "euler", "trapezoid", "alpha-gamma"}) {
    ModelDescription d;
    d.gravity.setZero();
    Material material;
    material.name = "default";
    material.restitution = kRestitution;
    d.materials = {material};
    BodyDescription paddle, ball;
    paddle.name = "paddle";
    paddle.kind = BodyKind::Kinematic;
    paddle.kinematic_velocity[0] = kSpeed;
    ShapeDescription shape;
    shape.kind = ShapeKind::Box;
    shape.size = {0.2, 1, 1};
    paddle.shapes = {shape};
    ball.name = "ball";
    ball.mass = kMass;
    ball.pose.position = {0.2 + 0.0331, 0, 0};
    shape.kind = ShapeKind::Sphere;
    shape.radius = 0.1;
    ball.shapes = {shape};
    d.bodies = {paddle, ball};
    State initial;
    const CompiledModel compiled = compile(d, &initial);
    ASSERT_TRUE(compiled.faults.empty());
    SimulationOptions options;
    options.scheme = scheme;
    options.step = 0.01;
    if (options.scheme == "stabilized") options.locate = true;
    Simulation simulation(compiled.model, initial, options);
    EnergyLedger sum;
    for (int k = 0; k < 10; ++k) sum.add(simulation.step().certificate.ledger);
    EXPECT_NEAR(simulation.state().velocity[1].linear.x(), (1 + kRestitution) * kSpeed, 1e-6) << scheme;
    const double energy = kMass * kSpeed * kSpeed;
    EXPECT_NEAR(sum.kinematic, (1 + kRestitution) * energy, 1e-5 * energy) << scheme;
    EXPECT_NEAR(sum.impact, -(1 - kRestitution * kRestitution) / 2 * energy, 1e-5 * energy) << scheme;
    EXPECT_NEAR(sum.numerical, 0, 1e-9 * energy) << scheme;
  }
}

}  // namespace
}  // namespace slipstick
