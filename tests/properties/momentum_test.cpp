// What acted on a body in a step is what changed its momentum: gravity, loads, joints, springs and contacts, through
// events and impacts, for every scheme.
#include <gtest/gtest.h>
#include <slipstick/simulation.h>

#include <array>
#include <cmath>
#include <string>

#include "base/se3.h"
#include "support/simulate.h"

namespace slipstick {
namespace {

using test::scene_of;
using test::shipped_scene;

constexpr double kTolerance = 1e-9;
const std::array<const char*, 5> kSchemes{"stabilized", "euler", "trapezoid", "alpha-gamma", "spook"};

/// Largest momenta and impulses of the body, as a scale for errors.
double calc_scale(const Model& model, const State& state, double h) {
  double scale = 1e-3;
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    const Body& body = model.bodies[i];
    scale = std::max({scale, body.mass * (state.velocity[i].linear.norm() + h * model.gravity.norm()),
                      (body.inertia * state.velocity[i].angular).norm()});
  }
  return scale;
}

/// |S^T (M (v' - v) - h sum)|, largest over all bodies.
double calc_imbalance(const Simulation& simulation, const State& before) {
  const double h = simulation.options().step;
  double worst = 0;
  for (std::size_t i = 0; i < simulation.model().bodies.size(); ++i) {
    const Body& body = simulation.model().bodies[i];
    if (body.kind != BodyKind::Dynamic) continue;
    const Wrench sum = simulation.body_forces()[i].sum();
    const Twist &u = before.velocity[i], &v = simulation.state().velocity[i];
    Vec6 rest;
    rest << body.mass * (v.linear - u.linear) - h * sum.force, body.inertia * (v.angular - u.angular) - h * sum.torque;
    for (int k = 0; k < body.dof; ++k) worst = std::max(worst, std::abs(body.free_basis().col(k).dot(rest)));
  }
  return worst;
}

/// Forces by the public readings of joints, springs and (`contacts`) contacts against those of the bodies, N s.
double calc_disagreement(const Simulation& simulation, bool contacts) {
  const Model& model = simulation.model();
  std::vector<Vec3> joint(model.bodies.size(), Vec3::Zero()), spring = joint, contact = joint;
  const auto add = [](int a, int b, const Vec3& force, std::vector<Vec3>* sums) {
    if (a != kWorld) (*sums)[a] -= force;
    if (b != kWorld) (*sums)[b] += force;
  };
  for (const JointReading& reading : simulation.joints())
    add(model.joints[reading.joint].a, model.joints[reading.joint].b, reading.reaction_force, &joint);
  for (std::size_t i = 0; i < model.springs.size(); ++i)
    add(model.springs[i].a, model.springs[i].b, simulation.springs()[i].force, &spring);
  for (const ContactForce& force : simulation.contact_forces())
    add(force.contact.body_a, force.contact.body_b, force.force, &contact);
  double worst = 0;
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    const BodyForces& forces = simulation.body_forces()[i];
    worst = std::max({worst, (forces.joint.force - joint[i]).norm(), (forces.spring.force - spring[i]).norm()});
    if (contacts) worst = std::max(worst, (forces.contact.force - contact[i]).norm());
  }
  return worst * simulation.options().step;
}

/// Moments by the readings of joints, taken to the centres of mass, against those of the bodies, N m s. Where the two
/// anchors of a joint part, A's share is off by that: only B's side is looked at, in bodies that are A of no joint.
/// What acts at the start, in the middle and at the end of a step has its moment in the axes of that instant: with
/// joints that hold at both ends the sum is that of any of them to the turn within a step.
double calc_moment_disagreement(const Simulation& simulation, const State& before) {
  const Model& model = simulation.model();
  const double h = simulation.options().step;
  const SimulationOptions& options = simulation.options();  // rows are taken at (1 - gamma) h
  const double share = options.scheme == "trapezoid"     ? 0.5
                       : options.scheme == "alpha-gamma" ? 1 - options.alpha_gamma.gamma
                                                         : 0;
  std::vector<Vec3> torque(model.bodies.size(), Vec3::Zero());
  std::vector<char> is_a(model.bodies.size(), 0);
  for (const JointReading& reading : simulation.joints()) {
    const Joint& joint = model.joints[reading.joint];
    if (joint.a != kWorld) is_a[joint.a] = 1;
    const Pose& start = before.pose[joint.b];
    const Quat turn = share > 0 ? move(start, before.velocity[joint.b], share * h).orientation : start.orientation;
    const Vec3 moment = reading.reaction_moment + (turn * joint.anchor_b).cross(reading.reaction_force);
    torque[joint.b] += turn.conjugate() * moment;
  }
  double worst = 0;
  for (std::size_t i = 0; i < model.bodies.size(); ++i)
    if (!is_a[i]) worst = std::max(worst, h * (simulation.body_forces()[i].joint.torque - torque[i]).norm());
  return worst;
}

TEST(Momentum, MomentsOfJointsAreAboutTheirAnchors) {
  for (const char* name : {"motor_arm.yaml", "double_pendulum.yaml", "slider_crank.yaml"}) {
    const Scene scene = shipped_scene(name);
    for (const char* scheme : kSchemes) {
      SimulationOptions options = scene.options;
      options.scheme = scheme;
      Simulation simulation(scene.model, scene.initial, options);
      simulation.step();  // a start may be an impact
      for (int k = 0; k < 60; ++k) {
        const State before = simulation.state();
        if (simulation.step().events > 0) continue;
        double turn = 0;
        for (const Twist& v : before.velocity) turn = std::max(turn, options.step * v.angular.norm());
        const bool both_ends = std::string_view(scheme) != "spook";
        ASSERT_LE(calc_moment_disagreement(simulation, before),
                  (1e-9 + (both_ends ? turn : 0)) * calc_scale(scene.model, before, options.step))
            << name << " " << scheme << " " << k;
      }
    }
  }
}

void expect_balance(const Scene& scene, const std::string& scheme, int steps) {
  SimulationOptions options = scene.options;
  options.scheme = scheme;
  if (!find_option_faults(options).empty()) return;
  Simulation simulation(scene.model, scene.initial, options);
  int events = 0;
  for (int k = 0; k < steps; ++k) {
    const State before = simulation.state();
    const StepReport& report = simulation.step();
    if (report.failed) break;
    events += report.events;
    const double scale =
        calc_scale(scene.model, before, options.step) + calc_scale(scene.model, simulation.state(), options.step);
    ASSERT_LE(calc_imbalance(simulation, before), kTolerance * scale)
        << scheme << ", step " << k << ", events " << report.events << ", certified " << report.certified;
    ASSERT_LE(calc_disagreement(simulation, scheme == "stabilized"), kTolerance * scale) << scheme << ", step " << k;
  }
  ::testing::Test::RecordProperty("events_" + scheme, events);
}

struct Case {
  const char* file;
  int steps;
};

class Momentum : public ::testing::TestWithParam<Case> {};

TEST_P(Momentum, IsChangedByWhatTheReadingsSay) {
  const Scene scene = shipped_scene(GetParam().file);
  for (const char* scheme : kSchemes) expect_balance(scene, scheme, GetParam().steps);
}

INSTANTIATE_TEST_SUITE_P(Shipped, Momentum,
                         ::testing::Values(Case{"wheel_loader.yaml", 9}, Case{"slider_crank.yaml", 200},
                                           Case{"newtons_cradle.yaml", 1500}, Case{"bouncing_ball.yaml", 1500},
                                           Case{"winch.yaml", 100}, Case{"motor_arm.yaml", 200},
                                           Case{"excavator.yaml", 12}, Case{"chain.yaml", 30}, Case{"stack.yaml", 60},
                                           Case{"two_carts.yaml", 200}, Case{"tumbling_body.yaml", 100},
                                           Case{"painleve_rod.yaml", 200}, Case{"coin.yaml", 60},
                                           Case{"stick_slip_block.yaml", 200}),
                         [](const auto& info) {
                           const std::string file = info.param.file;
                           return file.substr(0, file.find('.'));
                         });

}  // namespace
}  // namespace slipstick
