// [LacoursiereLinde11] eqs. 53-56 and 71, with the corrections of [methods 6]: a compliance epsilon and a damping time
// tau on every row, phi = 1/(1 + 4 tau/h), T = 4 epsilon phi/h^2, all gradients at q.
//
//   (M + a h^2 K) v' - sum J^T c = (M + b h^2 K) v + h (k(t,q) + gyroscopic)
//   joints:             G v' + T c = -(4/h) phi g + phi G v - (1 + phi) bend/h;   springs: without bend
//   couplings:          the same with T = 0
//   closed contacts:    0 <= N v' + T c_n + (4/h) phi Phi - phi max(N v, 0) _|_ c_n >= 0,   Phi <= 0
//   contacts ahead:     0 <= N v' + T c_n + Phi/h _|_ c_n >= 0                              Phi > 0
//   friction:           D v' + (gamma/h) c_t = slip, within the cone
//   q' = move(q, v', h);   bodies in flight: flight.h
//
// bend = g(move(q, v, h)) - g(q) - h G v = (h^2/2) v^T g'' v + O(h^3): without it joints in steady motion are off by
// h^2 (1 + phi)/(8 phi) v^T g'' v; with it by O(h^3). Taken from the values themselves and not from g'' it is bounded
// however fast a body turns.
// The part with 1 is that of v', expected to be 2 v - (the v before) where the motion is smooth, off by O(h^2), which
// puts the bend off by O(h^4); where it differs too much from that of the v' that came out, the step is solved again
// with the latter (`refine`). Taken at v it would be off by O(h^3), and the order of the error would break where
// `refine` sets in.
//
// K: geometric_stiffness.h, where loads are heavy for the step.
// The end of a joint's range that carried load in the last two steps, a taut rope, has the row of a joint, bend and
// all, with c_n >= 0. An approaching closed contact with restitution has been through the impact stage; for the others
// max(N v, 0) is what a plastic impact before the step would leave. Contacts ahead are left out by the paper, and
// bodies enter each other by |v| h; they are left out here too where a rebound is due, which needs the speed of the
// approach.
#include "step/schemes/spook.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/se3.h"
#include "step/actuation.h"
#include "step/assemble.h"
#include "step/geometric_stiffness.h"
#include "step/impact_stage.h"
#include "step/overlap.h"
#include "step/schemes/schemes.h"

namespace slipstick {

namespace {

/// tau of contacts that rebound: with tau = 2 h the depth h |v| at which an impact is found would be thrown out with
/// (4/9) |v|, whatever e is ([methods 6.3]).
constexpr double kReboundDamping = 0.1, kReboundSteps = 100;  // s, but no more than so many steps

/// A bend that differs by more than this, m or rad, from the one that was expected is worth a second solution.
constexpr double kBendTolerance = 1e-6;
/// A bend that changes by more than this, m or rad, from one step to the next is not smooth: what two steps say about a
/// third is worse than nothing then, and a chain that whips blows up.
constexpr double kBendChange = 1e-5;
/// Ends of ranges farther than this (m or rad), and than the axis comes in so many steps, have no rows.
constexpr double kFarLimit = 0.2, kFarSteps = 20;

double calc_largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t r = 0; r < a.size(); ++r) largest = std::max(largest, std::abs(a[r] - b[r]));
  return largest;
}

using Place = SchemeKey::Place;
constexpr std::array kSpookKeys{
    SchemeKey{"compliance", [](SimulationOptions* o) -> Place { return &o->spook.compliance; }},
    SchemeKey{"damping_steps", [](SimulationOptions* o) -> Place { return &o->spook.damping_steps; }},
    SchemeKey{"contact_compliance", [](SimulationOptions* o) -> Place { return &o->spook.contact_compliance; }},
    SchemeKey{"contact_damping_time", [](SimulationOptions* o) -> Place { return &o->spook.contact_damping_time; }},
    SchemeKey{"slip_compliance", [](SimulationOptions* o) -> Place { return &o->spook.slip_compliance; }},
    SchemeKey{"hessian", [](SimulationOptions* o) -> Place { return &o->spook.hessian; }},
    SchemeKey{"geometric", [](SimulationOptions* o) -> Place { return &o->spook.geometric; }},
    SchemeKey{"anticipate", [](SimulationOptions* o) -> Place { return &o->spook.anticipate; }},
    SchemeKey{"restitution_threshold", [](SimulationOptions* o) -> Place { return &o->restitution_threshold; }},
};

class Spook final : public Scheme {
 public:
  std::string_view name() const override { return "spook"; }
  bool looks_ahead() const override { return true; }
  bool locates(const SimulationOptions&) const override { return false; }
  ImpactsBefore impacts_before(const SimulationOptions& options) const override {
    return options.spook.anticipate ? ImpactsBefore::Ahead : ImpactsBefore::Closed;
  }
  bool corrects_overlap(const SimulationOptions& options) const override {
    return options.spook.contact_compliance == 0;
  }

  std::span<const SchemeKey> keys() const override { return kSpookKeys; }
  void find_faults(const SimulationOptions& options, std::vector<OptionFault>* faults) const override {
    find_spook_faults(options.spook, faults);
  }
  void add_impact_joints(const StepInput& input, const std::vector<JointRows>& joints, Problem* problem,
                         RowMap* map) const override {
    add_joints(input, joints, {}, {}, {}, problem, map);
  }
  std::vector<std::string> find_warnings(const Model& model, const SimulationOptions& options) const override {
    return find_spook_warnings(model, options);
  }
  void discretize(const StepInput& input, const Equations& equations, bool again, StepProblem* made) override;
  bool refine(const StepInput& input, const StepProblem& made, const Solution& solution) override;
  Vec3 calc_inertial_impulse(const StepInput& input, const StepProblem& made, const Solution& solution,
                             const State& next, int body) const override;
  Vec3 calc_added_moment(const StepInput& input, const StepProblem& made, const Solution& solution,
                         int body) const override;

 private:
  void discretize_again(const StepInput& input, StepProblem* made);
  void update_velocity(const StepInput& input, bool ahead);
  void update_bend(const StepInput& input, const Equations& equations, std::vector<double>* bend);
  void add_couplings(const StepInput& input, const Equations& equations, StepProblem* made) const;
  void add_columns(const StepInput& input, StepProblem* made);
  static void add_joints(const StepInput& input, const std::vector<JointRows>& joints, std::span<const Twist> velocity,
                         std::span<const double> bend, std::span<const double> bend_end, Problem* problem, RowMap* map);
  void add_springs(const StepInput& input, StepProblem* made) const;
  void update_taut(const StepInput& input);
  void update_range_bend(const StepInput& input, std::vector<double>* bend) const;
  double calc_taut_offset(const StepInput& input, const ContactRows& rows, const Contact& contact) const;
  void update_offsets(const StepInput& input, const std::vector<ContactRows>& rows, std::vector<double>* offset) const;
  void add_contacts(const StepInput& input, StepProblem* made);

  // Scratch.
  std::vector<Twist> velocity_;          ///< of which the bends are taken
  std::vector<Pose> pose_ahead_;         ///< move(q, velocity_, h)
  std::vector<JointRows> joints_ahead_;  ///< there, values alone
  std::vector<double> near_;             ///< coordinates expected there: a shaft may turn by more than half a turn
  std::vector<AxisRow> axes_ahead_;
  std::vector<CouplingRow> couplings_ahead_;
  /// What each joint value gains there beyond h G v, m or rad; after those of joints the gaps of ranges.
  std::vector<double> bend_;
  std::vector<double> bend_end_;    ///< the same for the velocities expected at the end of the step
  std::vector<double> bend_found_;  ///< the same for those that came out (`refine`)
  std::vector<double> bend_used_;   ///< bend_end_ as the problem has it
  std::vector<char> taut_;          ///< per Model::limits: it carried load in the last two steps
  bool has_taut_ = false;
  GeometricStiffness stiffness_;
};

/// v, with prescribed motions in place; `ahead`: as it is expected at the end of the step.
void Spook::update_velocity(const StepInput& input, bool ahead) {
  const Model& model = *input.model;
  const std::vector<Twist>& past = input.state->previous_velocity;
  velocity_ = input.state->velocity;
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    if (model.bodies[i].kind == BodyKind::Kinematic) velocity_[i] = input.prescribed[i];
    if (model.bodies[i].kind != BodyKind::Dynamic || !ahead || past.empty()) continue;
    velocity_[i].linear += velocity_[i].linear - past[i].linear;
    velocity_[i].angular += velocity_[i].angular - past[i].angular;
  }
}

/// What has just run into its end has a speed to lose, which is no motion of a joint.
void Spook::update_taut(const StepInput& input) {
  has_taut_ = false;
  taut_.assign(input.model->limits.size(), 0);
  for (const ContactMemory& memory : input.state->contact_memory)
    if (memory.key.shape_a < 0 && memory.loaded && !memory.collided)
      taut_[memory.key.shape_a - kFirstLimitKey] = has_taut_ = true;
}

/// The same for the gaps of ranges at `pose_ahead_`.
void Spook::update_range_bend(const StepInput& input, std::vector<double>* bend) const {
  const Model& model = *input.model;
  for (std::size_t k = 0; k < taut_.size(); ++k) {
    if (!taut_[k]) continue;
    const Limit& limit = model.limits[k];
    const double near =
        static_cast<std::size_t>(limit.axis) < input.state->axis.size() ? input.state->axis[limit.axis] : 0;
    const AxisRow now = calc_axis_row(model, input.state->pose, limit.axis, near);
    const AxisRow ahead = calc_axis_row(model, pose_ahead_, limit.axis, near);
    const double gained =
        ahead.value - now.value - input.h * calc_pair_speed(velocity_, now.body_a, now.body_b, now.row);
    (*bend)[model.joint_rows + k] = limit.upper ? -gained : gained;
  }
}

/// One entry per row of State::joint_impulse and per limit, for a step with `velocity_`.
void Spook::update_bend(const StepInput& input, const Equations& equations, std::vector<double>* bend) {
  const Model& model = *input.model;
  bend->assign(model.joint_rows + model.limits.size(), 0.0);
  if (!input.options->spook.hessian || model.joints.empty()) return;
  pose_ahead_.resize(model.bodies.size());
  for (std::size_t i = 0; i < model.bodies.size(); ++i)
    pose_ahead_[i] = model.bodies[i].kind == BodyKind::Fixed ? input.state->pose[i]
                                                             : move(input.state->pose[i], velocity_[i], input.h);
  update_joint_values(model, pose_ahead_, &joints_ahead_);
  for (std::size_t j = 0; j < model.joints.size(); ++j) {
    const JointRows &now = equations.joints[j], &ahead = joints_ahead_[j];
    for (int r = 0; r < now.count; ++r)
      (*bend)[model.joints[j].first_row + r] =
          ahead.value[r] - now.value[r] - input.h * calc_pair_speed(velocity_, now.body_a, now.body_b, now.row[r]);
  }
  if (has_taut_) update_range_bend(input, bend);
  if (model.couplings.empty()) return;
  update_expected_axes(equations.axes, velocity_, input.h, &near_);
  update_axis_rows(model, pose_ahead_, near_, &axes_ahead_);
  update_coupling_rows(model, axes_ahead_, &couplings_ahead_);
  for (std::size_t k = 0; k < model.couplings.size(); ++k)
    if (has_place(model, model.couplings[k]))
      (*bend)[model.couplings[k].row] = couplings_ahead_[k].value - equations.couplings[k].value -
                                        input.h * calc_coupling_speed(velocity_, equations.couplings[k]);
}

/// What the velocities found bend the joints by. `velocity_` is overwritten.
bool Spook::refine(const StepInput& input, const StepProblem& made, const Solution& solution) {
  if (!input.options->spook.hessian || input.model->joints.empty()) return false;
  for (std::size_t i = 0; i < input.model->bodies.size(); ++i)
    velocity_[i] = calc_body_twist(input, made.map, made.problem, solution.v, static_cast<int>(i));
  update_bend(input, *made.equations, &bend_found_);
  if (!(calc_largest_difference(bend_found_, bend_end_) > kBendTolerance)) return false;
  std::swap(bend_end_, bend_found_);
  return true;
}

/// With h = 0 the rows of eq. 71, their right side zero instead of G v: what v has of it would do work.
void Spook::add_joints(const StepInput& input, const std::vector<JointRows>& joints, std::span<const Twist> velocity,
                       std::span<const double> bend, std::span<const double> bend_end, Problem* problem, RowMap* map) {
  map->joint_row.assign(input.model->joint_rows, -1);
  const double h = input.h_nominal;
  // A velocity without a past (a start, an impact) is one of this instant, not of the half step before.
  const bool fresh = input.state->previous_velocity.empty();
  for (const JointRows& joint : joints) {
    const Joint& made = input.model->joints[joint.joint];
    const SpookRow row =
        make_spook_row(calc_spook_compliance(made, *input.options), calc_spook_damping(made, *input.options), h);
    std::array<PairRow, 6> kept;
    std::array<double, 6> offset{};
    int count = 0;
    const int first_row = problem->rows();
    for (int r = 0; r < joint.count; ++r) {
      if (!is_row_movable(input, *map, joint.body_a, joint.body_b, joint.row[r])) continue;
      map->joint_row[made.first_row + r] = first_row + count;
      if (input.h > 0)
        offset[count] = 4 / h * row.phi * calc_row_error(input, joint, r) -
                        row.phi * calc_pair_speed(velocity, joint.body_a, joint.body_b, joint.row[r]) +
                        (bend_end[made.first_row + r] + (fresh ? 0 : row.phi) * bend[made.first_row + r]) / h;
      kept[count++] = joint.row[r];
    }
    if (count == 0) continue;
    problem->add_block(LawKind::Equality, count).mode = made.solve;
    for (int r = 0; r < count; ++r) {
      problem->c[first_row + r] = offset[r];
      problem->compliance[first_row + r] = row.T;
    }
    add_pair_entries(input, *map, joint.body_a, joint.body_b, {kept.data(), static_cast<std::size_t>(count)}, problem);
  }
}

/// The rows of joints without compliance.
void Spook::add_couplings(const StepInput& input, const Equations& equations, StepProblem* made) const {
  const double h = input.h_nominal;
  const double phi = make_spook_row(0, input.options->spook.damping_steps * h, h).phi;
  const bool fresh = input.state->previous_velocity.empty();
  for (std::size_t k = 0; k < equations.couplings.size(); ++k) {
    const int slot = input.model->couplings[k].row, row = made->map.joint_row[slot];
    if (row < 0 || !has_place(*input.model, input.model->couplings[k])) continue;
    const CouplingRow& coupling = equations.couplings[k];
    made->problem.c[row] += phi * (4 / h * coupling.value - calc_coupling_speed(velocity_, coupling)) +
                            (bend_end_[slot] + (fresh ? 0 : phi) * bend_[slot]) / h;
  }
}

void Spook::add_springs(const StepInput& input, StepProblem* s) const {
  const std::vector<SpringRows>& springs = s->equations->springs;
  s->map.spring_row.assign(springs.size(), -1);
  s->map.spring_known.assign(springs.size(), {});
  for (std::size_t i = 0; i < springs.size(); ++i) {
    const SpringRows& spring = springs[i];
    if (!(spring.stiffness > 0) && !(spring.damping > 0)) continue;
    const SpookRow made = make_spook_spring(spring.stiffness, spring.damping, input.h);
    s->problem.add_block(LawKind::Equality, spring.count);
    const int row = s->problem.blocks.back().row;
    s->map.spring_row[i] = row;
    for (int r = 0; r < spring.count; ++r) {
      const double speed = calc_pair_speed(velocity_, spring.body_a, spring.body_b, spring.row[r]);
      s->problem.compliance[row + r] = made.T;
      s->problem.c[row + r] = made.phi * (4 / input.h * spring.value[r] - speed);
    }
    add_pair_entries(input, s->map, spring.body_a, spring.body_b,
                     {spring.row.data(), static_cast<std::size_t>(spring.count)}, &s->problem);
  }
}

/// The row of the end of a range that pushes: as stiff as contacts are, if its joint says nothing else.
SpookRow make_range_row(const StepInput& input, const Contact& contact) {
  const Model& model = *input.model;
  const Joint& joint = model.joints[model.axes[model.limits[contact.limit].axis].joint];
  const double compliance = joint.compliance > 0 ? joint.compliance : input.options->spook.contact_compliance;
  return make_spook_row(compliance, calc_spook_damping(joint, *input.options), input.h_nominal);
}

/// As `add_joints` has it.
double Spook::calc_taut_offset(const StepInput& input, const ContactRows& rows, const Contact& contact) const {
  const double h = input.h_nominal;
  const bool fresh = input.state->previous_velocity.empty();
  const double phi = make_range_row(input, contact).phi;
  const std::size_t slot = input.model->joint_rows + contact.limit;
  return phi * (4 / h * calc_row_gap(input, contact) -
                calc_pair_speed(velocity_, rows.body_a, rows.body_b, rows.row[0])) +
         (bend_end_[slot] + (fresh ? 0 : phi) * bend_[slot]) / h;
}

void Spook::update_offsets(const StepInput& input, const std::vector<ContactRows>& rows,
                           std::vector<double>* offset) const {
  const SimulationOptions& options = *input.options;
  const double plastic = options.restitution_threshold.value_or(calc_plastic_speed(*input.model, input.h_nominal));
  offset->assign(rows.size(), kInfinity);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Contact& contact = input.contacts->contacts[rows[i].contact];
    const PairLaw& law = law_of(*input.model, contact);
    const double speed = calc_pair_speed(velocity_, rows[i].body_a, rows[i].body_b, rows[i].row[0]);
    if (contact.central) {
      (*offset)[i] = contact.gap / input.h;
      continue;
    }
    if (contact.limit >= 0 && taut_[contact.limit] && !(law.restitution > 0 && speed < -plastic)) {
      (*offset)[i] = calc_taut_offset(input, rows[i], contact);
      continue;
    }
    if (contact.gap > 0) {
      const bool rebounds = speed < -plastic && (law.restitution > 0 || law.tangential_restitution > 0);
      // An end of a range that is far away only blurs the scale of all rows (gap/h = 1000 rad/s); should it be passed
      // all the same, close_joints brings the joint back.
      const bool far =
          options.close_joints && contact.limit >= 0 && contact.gap > kFarLimit + kFarSteps * input.h * std::abs(speed);
      if (options.spook.anticipate && !rebounds && !far) (*offset)[i] = contact.gap / input.h;
      continue;
    }
    const SpookRow row = make_spook_row(options.spook.contact_compliance, calc_spook_damping(law, options), input.h);
    const double gap = corrects_overlap(options) ? calc_row_gap(input, contact) : contact.gap;
    (*offset)[i] = row.phi * (4 / input.h * gap - std::max(speed, 0.0));
  }
}

void Spook::add_contacts(const StepInput& input, StepProblem* s) {
  const std::vector<ContactRows>& rows = s->equations->contacts;
  const SimulationOptions& options = *input.options;
  s->restitution.assign(rows.size(), 0.0);
  update_offsets(input, rows, &s->offset);
  add_contact_rows(input, rows, s->offset, &s->problem, &s->map);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (s->map.contact_row[i] < 0) continue;
    const Contact& contact = input.contacts->contacts[rows[i].contact];
    if (contact.central) continue;
    const PairLaw& law = law_of(*input.model, contact);
    double* compliance = s->problem.compliance.data() + s->map.contact_row[i];
    compliance[0] = contact.limit >= 0 && taut_[contact.limit]
                        ? make_range_row(input, contact).T
                        : make_spook_row(options.spook.contact_compliance, calc_spook_damping(law, options), input.h).T;
    if (rows[i].friction == 0) continue;
    for (int k = 1; k < rows[i].count + rows[i].extra; ++k) compliance[k] = options.spook.slip_compliance / input.h;
  }
}

void Spook::add_columns(const StepInput& input, StepProblem* s) {
  const Model& model = *input.model;
  s->turn.assign(model.bodies.size(), Vec3::Zero());
  update_turning(input, s->map, &s->turning);
  const double h = input.h;
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    if (s->map.column_of_body[i] < 0) continue;
    const Body& body = model.bodies[i];
    const Twist& v = input.state->velocity[i];
    Vec6 momentum = s->kick[i].before * (s->equations->gravity[i] + s->equations->load[i]);
    momentum.head<3>() += body.mass * v.linear;
    momentum.tail<3>() = calc_turning_momentum(body, s->turning[i], v.angular, momentum.tail<3>(), h, &s->turn[i]);
    if (!stiffness_.has(static_cast<int>(i))) {
      add_body_column(body, momentum, nullptr, &s->problem);
      continue;
    }
    momentum.tail<3>() += stiffness_.calc_before(static_cast<int>(i)) * v.angular;
    const Mat3 less = -stiffness_.calc_after(static_cast<int>(i));
    add_body_column(body, momentum, &less, &s->problem);
  }
}

/// M (v' - v) is all impulses and -h^2 K (a v' - b v) (see above).
Vec3 Spook::calc_inertial_impulse(const StepInput& input, const StepProblem& made, const Solution& solution,
                                  const State& next, int body) const {
  const Vec3 turn = Scheme::calc_inertial_impulse(input, made, solution, next, body);
  if (!stiffness_.has(body)) return turn;
  const Vec3 u = calc_body_twist(input, made.map, made.problem, solution.v, body).angular;
  return turn - stiffness_.calc_after(body) * u + stiffness_.calc_before(body) * input.state->velocity[body].angular;
}

Vec3 Spook::calc_added_moment(const StepInput& input, const StepProblem& made, const Solution& solution,
                              int body) const {
  if (!stiffness_.has(body)) return Vec3::Zero();
  const Vec3 u = calc_body_twist(input, made.map, made.problem, solution.v, body).angular;
  return stiffness_.calc_before(body) * input.state->velocity[body].angular - stiffness_.calc_after(body) * u;
}

/// A second pass has other bends at the end, and the problem of the first one but for that.
void Spook::discretize_again(const StepInput& input, StepProblem* made) {
  for (int slot = 0; slot < input.model->joint_rows; ++slot) {
    const int row = made->map.joint_row[slot];
    if (row >= 0) made->problem.c[row] += (bend_end_[slot] - bend_used_[slot]) / input.h_nominal;
  }
  for (std::size_t i = 0; i < made->map.contact_row.size() && has_taut_; ++i) {
    const int limit = input.contacts->contacts[made->equations->contacts[i].contact].limit;
    const int row = made->map.contact_row[i];
    if (limit < 0 || row < 0 || !taut_[limit]) continue;
    const std::size_t slot = input.model->joint_rows + limit;
    made->problem.c[row] += (bend_end_[slot] - bend_used_[slot]) / input.h_nominal;
  }
  bend_used_ = bend_end_;
}

void Spook::discretize(const StepInput& input, const Equations& equations, bool again, StepProblem* made) {
  if (again) return discretize_again(input, made);
  made->equations = &equations;
  made->pose = input.state->pose;
  begin_problem(*input.model, &made->problem, &made->map);
  if (input.options->spook.geometric) {
    stiffness_.update(input, input.state->joint_impulse, equations.joints, false);
  } else {
    stiffness_.clear(*input.model);
  }
  add_columns(input, made);
  update_taut(input);
  update_velocity(input, true);
  update_bend(input, equations, &bend_end_);
  update_velocity(input, false);
  update_bend(input, equations, &bend_);
  if (calc_largest_difference(bend_, bend_end_) > kBendChange) bend_end_ = bend_;
  bend_used_ = bend_end_;
  add_joints(input, equations.joints, velocity_, bend_, bend_end_, &made->problem, &made->map);
  add_axis_rows(input, {}, equations, 0, &made->problem, &made->map);
  add_couplings(input, equations, made);
  add_springs(input, made);
  add_contacts(input, made);
}

}  // namespace

SpookRow make_spook_row(double compliance, double damping_time, double h) {
  const double phi = 1 / (1 + 4 * damping_time / h);
  return {phi, 4 * compliance * phi / (h * h)};
}

SpookRow make_spook_spring(double stiffness, double damping, double h) {
  const double stiff = stiffness * h + 4 * damping;
  return {stiffness * h / stiff, 4 / (h * stiff)};
}

double calc_spook_compliance(const Joint& joint, const SimulationOptions& options) {
  return joint.compliance > 0 ? joint.compliance : options.spook.compliance;
}

double calc_spook_damping(const Joint& joint, const SimulationOptions& options) {
  return joint.damping_time > 0 ? joint.damping_time : options.spook.damping_steps * options.step;
}

double calc_spook_damping(const PairLaw& law, const SimulationOptions& options) {
  if (options.spook.contact_damping_time) return *options.spook.contact_damping_time;
  const double tau = options.spook.damping_steps * options.step;
  return law.restitution > 0 ? std::max(tau, std::min(kReboundDamping, kReboundSteps * options.step)) : tau;
}

std::unique_ptr<Scheme> make_spook() { return std::make_unique<Spook>(); }

}  // namespace slipstick
