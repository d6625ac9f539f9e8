// [Anitescu03]: fixed step, no collision detection, constraints stabilized by linearization, Newton restitution.
//
//   M u - sum J^T c = M v + h (k(t,q) + gyroscopic)        all gradients at q_l; bodies in flight: h/2 (flight.h)
//   joints:    G u + gamma Theta(q)/h = 0
//   contacts:  0 <= n^T u + gamma Phi(q)/h + Lambda _|_ c_n >= 0, friction
//   q' = move(q, u, h),   v' = u; in flight u + (h/2) M^-1 k(t',q')
//
// Departure: the gyroscopic term is not h F(v) v at the old velocity, which feeds energy into a spinning body, but that
// of a free turn, which keeps energy and momentum (docs/decisions/0003): A stays M, symmetric and constant.
#include <array>
#include <cmath>

#include "base/se3.h"
#include "step/actuation.h"
#include "step/assemble.h"
#include "step/flight.h"
#include "step/overlap.h"
#include "step/pair_warnings.h"
#include "step/schemes/schemes.h"

namespace slipstick {

namespace {

/// TOL of [Anitescu03]: below this approach speed a collision is plastic; smaller values let resting contacts bounce.
double calc_restitution_threshold(const StepInput& input) {
  if (input.options->restitution_threshold) return *input.options->restitution_threshold;
  return std::max(1e-3, 2 * input.model->gravity.norm() * input.h_nominal);
}

/// Without `impact_stage`, as the paper has it:
/// Lambda_j = e_j n_j(q_l)^T v_{l-1} for contacts that collided in the last step (the velocity BEFORE that step), else
/// 0.
/// The rebound begins at q_l, and the row's unknown is the velocity of the middle of the step: half a step of forces
/// later.
void update_restitution(const StepInput& input, const Equations& eq, std::vector<double>* lambda) {
  const std::vector<ContactRows>& rows = eq.contacts;
  lambda->assign(rows.size(), 0.0);
  const State& state = *input.state;
  // Closed: impacts are the event driver's.
  if (input.options->impact_stage || state.previous_velocity.empty() || input.closed) return;
  const double threshold = calc_restitution_threshold(input);
  std::size_t m = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ContactKey& key = input.contacts->contacts[rows[i].contact].key;
    while (m < state.contact_memory.size() && state.contact_memory[m].key < key) ++m;
    if (m == state.contact_memory.size()) break;
    if (state.contact_memory[m].key != key || !state.contact_memory[m].collided || rows[i].restitution == 0) continue;
    double vn = 0, gained = 0;
    const auto side = [&](int body, const Vec6& row) {
      if (body < 0) return;
      const Twist& v = state.previous_velocity[body];
      vn += row.head<3>().dot(v.linear) + row.tail<3>().dot(v.angular);
      if (input.model->bodies[body].dof == 0) return;
      const Twist kick = calc_kick(input.model->bodies[body], 0.5 * input.h * (eq.gravity[body] + eq.load[body]));
      gained += row.head<3>().dot(kick.linear) + row.tail<3>().dot(kick.angular);
    };
    side(rows[i].body_a, rows[i].row[0].a);
    side(rows[i].body_b, rows[i].row[0].b);
    if (vn < -threshold) (*lambda)[i] = std::min(0.0, rows[i].restitution * vn - gained);
  }
}

using Place = SchemeKey::Place;
constexpr std::array kStabilizedKeys{
    SchemeKey{"stabilization", [](SimulationOptions* o) -> Place { return &o->stabilization; }},
    SchemeKey{"restitution_threshold", [](SimulationOptions* o) -> Place { return &o->restitution_threshold; }},
    SchemeKey{"impact_stage", [](SimulationOptions* o) -> Place { return &o->impact_stage; }},
    SchemeKey{"locate", [](SimulationOptions* o) -> Place { return &o->locate; }},
};

/// Without `impact_stage` restitution is Newton's law alone, one step after the collision.
std::vector<std::string> find_ignored_impacts(const Model& model, const SimulationOptions& options) {
  std::vector<std::string> warnings;
  for_each_pair(model, [&](const std::string& pair, const PairLaw& law) {
    const std::string remedy = "; `locate: true` and the other schemes do";
    const bool given = law.impact || options.impact != SimulationOptions().impact;
    if (law.restitution > 0 && given && law.impact.value_or(options.impact) != ImpactLaw::Newton)
      warnings.push_back(
          pair + ": scheme stabilized without `impact_stage` rebounds by Newton's law and does not use `impact`" +
          remedy);
    if (law.tangential_restitution > 0)
      warnings.push_back(pair + ": scheme stabilized does not use tangential_restitution without `impact_stage`" +
                         remedy);
  });
  return warnings;
}

class Stabilized final : public Scheme {
 public:
  std::string_view name() const override { return "stabilized"; }
  bool looks_ahead() const override { return true; }
  bool locates(const SimulationOptions& options) const override { return options.locate.value_or(false); }
  bool splits_springs() const override { return true; }
  ImpactsBefore impacts_before(const SimulationOptions& options) const override {
    return options.impact_stage ? ImpactsBefore::Ahead : ImpactsBefore::None;
  }
  bool closes_joints(const SimulationOptions& options) const override { return options.stabilization == 1; }
  bool stiffens_turns() const override { return true; }
  std::span<const SchemeKey> keys() const override { return kStabilizedKeys; }
  void find_faults(const SimulationOptions& o, std::vector<OptionFault>* faults) const override {
    if (!(o.stabilization > 0 && o.stabilization <= 1))
      faults->push_back({"", "stabilization", "stabilization must lie in (0, 1]"});
  }
  std::vector<std::string> find_warnings(const Model& model, const SimulationOptions& options) const override {
    if (locates(options) || options.impact_stage) return {};
    return find_ignored_impacts(model, options);
  }

  void discretize(const StepInput& input, const Equations& eq, bool, StepProblem* made) override {
    const Model& model = *input.model;
    const State& state = *input.state;
    made->equations = &eq;
    made->pose = state.pose;
    made->turn.assign(model.bodies.size(), Vec3::Zero());
    begin_problem(model, &made->problem, &made->map);
    update_turning(input, made->map, &made->turning);
    add_body_columns(model, made->map, &made->problem);
    for_portions(input.team, model.bodies.size(), kBodyPortion, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) fill_column(input, eq, i, made);
    });
    const double gamma = input.options->stabilization;
    add_joint_rows(input, {}, eq.joints, gamma, &made->problem, &made->map);
    add_axis_rows(input, {}, eq, gamma, &made->problem, &made->map);
    add_spring_rows(input, {}, eq.springs, made->spring_before, &made->problem, &made->map);
    update_restitution(input, eq, &made->restitution);
    made->offset.resize(eq.contacts.size());
    for_portions(input.team, made->offset.size(), kContactPortion, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) {
        const Contact& contact = input.contacts->contacts[eq.contacts[i].contact];
        // What is open may close within the part, however short that is; what overlaps comes apart as in a whole step.
        const double time = !input.closed && contact.gap > 0 ? input.h : input.h_nominal;
        made->offset[i] = contact.central ? contact.gap / input.h
                                          : gamma * calc_row_gap(input, contact) / time + made->restitution[i];
      }
    });
    add_contact_rows(input, eq.contacts, made->offset, &made->problem, &made->map);
  }

 private:
  static void fill_column(const StepInput& input, const Equations& eq, std::size_t i, StepProblem* made) {
    const int column = made->map.column_of_body[i];
    if (column < 0) return;
    const Body& body = input.model->bodies[i];
    const Twist& velocity = input.state->velocity[i];
    Vec6 momentum = made->kick[i].before * (eq.gravity[i] + eq.load[i]);
    momentum.head<3>() += body.mass * velocity.linear;
    const Vec3 torque = momentum.tail<3>();
    if (made->turning[i] && !made->bent_spin.empty() && made->bent_spin[i]) {
      made->turn[i] = calc_turn_moment(body, *made->bent_spin[i], input.h);
      momentum.tail<3>() = body.inertia * velocity.angular + torque - made->turn[i];
    } else {
      momentum.tail<3>() =
          calc_turning_momentum(body, made->turning[i], velocity.angular, torque, input.h, &made->turn[i]);
    }
    const bool adds = !made->added_inertia.empty();
    const Mat3 less = adds ? Mat3(-made->added_inertia[i]) : Mat3(Mat3::Zero());
    if (adds) momentum.tail<3>() += made->added_inertia[i] * velocity.angular;
    fill_body_column(body, momentum, adds ? &less : nullptr, column, &made->problem);
  }
};

}  // namespace

std::unique_ptr<Scheme> make_stabilized() { return std::make_unique<Stabilized>(); }

}  // namespace slipstick
