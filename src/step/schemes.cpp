// The table of schemes, and what they have in common.
#include <array>

#include "base/se3.h"
#include "step/assemble.h"
#include "step/scheme.h"
#include "step/schemes/schemes.h"

namespace slipstick {

namespace {

struct Registered {
  std::string_view name;
  std::unique_ptr<Scheme> (*make)();
};

constexpr std::array kSchemes{
    Registered{"stabilized", make_stabilized}, Registered{"euler", make_euler},
    Registered{"trapezoid", make_trapezoid},   Registered{"alpha-gamma", make_alpha_gamma},
    Registered{"spook", make_spook},
};

}  // namespace

void Scheme::advance(const StepInput& input, const StepProblem& made, const Solution& solution, State* next) const {
  const auto move_one = [&](std::size_t i) {
    const Body& body = input.model->bodies[i];
    const Twist u = calc_body_twist(input, made.map, made.problem, solution.v, static_cast<int>(i));
    next->velocity[i] = u;
    next->pose[i] = body.kind == BodyKind::Fixed ? input.state->pose[i] : move(input.state->pose[i], u, input.h);
    if (made.turning.empty() || !made.turning[i]) return;
    next->velocity[i].angular = calc_carried_spin(body, body.inertia * u.angular + made.turn[i], u.angular, input.h);
  };
  for_portions(input.team, input.model->bodies.size(), kBodyPortion, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) move_one(i);
  });
}

Vec3 Scheme::calc_inertial_impulse(const StepInput& input, const StepProblem& made, const Solution& solution,
                                   const State& next, int body) const {
  const Body& b = input.model->bodies[body];
  if (made.turning.empty()) return Vec3::Zero();
  const Vec3 u = calc_body_twist(input, made.map, made.problem, solution.v, body).angular;
  const Vec3& omega = input.state->velocity[body].angular;
  const Kick& kick = made.kick[body];
  Vec6 others = kick.after * kick.load + kick.spring;
  if (made.joint_end.active) others += made.joint_end.body[body];
  if (made.contact_end.active) others += made.contact_end.body[body];
  const bool adds = !made.added_inertia.empty();
  const Vec3 added = adds ? Vec3(made.added_inertia[body] * (omega - u)) : Vec3(Vec3::Zero());
  const Vec3 after = b.inertia * (next.velocity[body].angular - u) - others.tail<3>() + added;
  if (made.turning[body]) return after - made.turn[body];
  Vec3 moment;
  const Vec3 turned = calc_turning_momentum(b, false, omega, Vec3::Zero(), input.h, &moment) - b.inertia * omega;
  return adds ? Vec3(turned + after) : turned;
}

Vec3 Scheme::calc_added_moment(const StepInput& input, const StepProblem& made, const Solution& solution,
                               int body) const {
  if (made.added_inertia.empty()) return Vec3::Zero();
  const Vec3 u = calc_body_twist(input, made.map, made.problem, solution.v, body).angular;
  return made.impulse_scale * (made.added_inertia[body] * (input.state->velocity[body].angular - u));
}

void Scheme::add_impact_joints(const StepInput& input, const std::vector<JointRows>& joints, Problem* problem,
                               RowMap* map) const {
  add_joint_rows(input, {}, joints, 0, problem, map);
}

std::vector<std::string_view> scheme_names() {
  std::vector<std::string_view> names;
  for (const Registered& entry : kSchemes) names.push_back(entry.name);
  return names;
}

double calc_alpha(const SimulationOptions& options) {
  const auto scheme = make_scheme(options.scheme);
  return scheme ? scheme->weights(options).alpha : 1;
}

std::unique_ptr<Scheme> make_scheme(std::string_view name) {
  for (const Registered& entry : kSchemes)
    if (entry.name == name) return entry.make();
  return nullptr;
}

}  // namespace slipstick
