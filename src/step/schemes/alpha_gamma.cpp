// The family of [Gavrea08]; [AnitescuPotra97] is alpha = gamma = 1 (`euler`), [Potra06] alpha = gamma = 1/2
// (`trapezoid`). Unknown u = (1 - alpha) v + alpha v', [methods 3] with the corrections given there:
//
//   (M - (h/2) kappa F(vF)) u - sum J^T l = M v + alpha kt      l = alpha times the impulse; bodies that heavy loads
//                                                         swing have more inertia on both sides (geometric_stiffness.h)
//   kt = h [(1 - alpha) k(t, q) + alpha k(t + h, move(q, v, h))]   loads: linearly implicit with the exact (dk/dq) v
//   springs and dampers: compliant rows (add_spring_rows) at q*, elongations of q
//   joints:   G(q*) u + Theta(q)/h_nominal = 0 (without `stabilize`: G u = 0),    q* = move(q, v, (1 - gamma) h)
//   closed contacts: 0 <= n(q*) u + Phi(q)/h_nominal _|_ l_n >= 0, friction
//   v' = (u - (1 - alpha) v)/alpha,   q' = move(q, (1 - gamma) v + gamma v', h)
//
// With rows at this q* the impulses of a step change linear and angular momentum by what they are, to rounding:
// x' x m v' - x x m v = (x + (1 - gamma) h v) x P. omega' of a body that turns freely is what its momentum becomes in
// its new axes. F is antisymmetric: A is positive definite for every h. vF is the u of the known forces, and where
// constraints turn the body, taken again from the solution itself (`refine`): without that a constrained spinning body
// is of first order. Where joints hold at both ends (joint_ends.h) the passes after the first have the moment m(u) of
// the turn found in b, and nothing in A: of a rod that turns as far as one, u x I vF would set it spinning.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "base/se3.h"
#include "step/actuation.h"
#include "step/assemble.h"
#include "step/overlap.h"
#include "step/pair_warnings.h"
#include "step/schemes/schemes.h"

namespace slipstick {

namespace {

/// Position errors of closed contacts are corrected with at most this speed, in units of g h: with alpha < 1 a
/// correction stays in v as an oscillation.
constexpr double kCorrectionSpeed = 2;
constexpr double kLeastCorrection = 1e-3;  // of calc_slow_speed
/// A guess of vF that is off by more than this share of the change it predicted is worth a second solution.
constexpr double kSpinShare = 0.02;

/// The share kappa of a position error that G u = -kappa Theta/h takes on. With theta = Theta and x = h G v a step is
///   x' = -(kappa/alpha) theta - ((1 - alpha)/alpha) x,   theta' = (1 - gamma kappa/alpha) theta + (1 - gamma/alpha) x;
/// for gamma = alpha the error is gone in one step with kappa = 1, otherwise the share with the least spectral radius;
/// none where no share makes errors smaller: at alpha = 1/2, gamma = 1 the map has the determinant -1 with any.
double calc_correction_share(const Weights& w) {
  if (w.alpha == w.gamma) return 1;
  double best = 0, least = 1 - 1e-9;
  const double back = (1 - w.alpha) / w.alpha, ratio = w.gamma / w.alpha;
  for (int i = 1; i <= 20; ++i) {
    const double kappa = 0.05 * i, keep = 1 - ratio * kappa;
    const double trace = keep - back, det = -keep * back + kappa / w.alpha * (1 - ratio);
    const double root = trace * trace / 4 - det;
    const double radius = root < 0 ? std::sqrt(det) : std::abs(trace) / 2 + std::sqrt(root);
    if (radius >= least) continue;
    least = radius;
    best = kappa;
  }
  return best;
}

/// Spinning and rolling slower than so often what friction alone takes away in a step may end in it.
constexpr double kStopsTurning = 2;

using Place = SchemeKey::Place;
/// The first two are those of `alpha-gamma` alone.
constexpr std::array kFamilyKeys{
    SchemeKey{"alpha", [](SimulationOptions* o) -> Place { return &o->alpha_gamma.alpha; }},
    SchemeKey{"gamma", [](SimulationOptions* o) -> Place { return &o->alpha_gamma.gamma; }},
    SchemeKey{"locate", [](SimulationOptions* o) -> Place { return &o->locate; }},
    SchemeKey{"stabilize", [](SimulationOptions* o) -> Place { return &o->alpha_gamma.stabilize; }},
    SchemeKey{"event_state", [](SimulationOptions* o) -> Place { return &o->alpha_gamma.event_state; }},
};

class AlphaGamma final : public Scheme {
 public:
  AlphaGamma(std::string_view name, std::optional<Weights> weights) : name_(name), weights_(weights) {}

  std::string_view name() const override { return name_; }
  bool looks_ahead() const override { return false; }
  Weights weights(const SimulationOptions& options) const override {
    return weights_ ? *weights_ : Weights{options.alpha_gamma.alpha, options.alpha_gamma.gamma};
  }
  bool corrects_overlap(const SimulationOptions& options) const override { return options.alpha_gamma.stabilize; }
  double row_place(const SimulationOptions& options) const override { return 1 - weights(options).gamma; }
  bool splits_springs() const override { return true; }
  bool stiffens_turns() const override { return true; }
  bool closes_joints(const SimulationOptions& options) const override {
    const Weights w = weights(options);
    return options.alpha_gamma.stabilize && w.alpha == w.gamma && (w.alpha == 0.5 || w.alpha == 1);
  }
  std::span<const SchemeKey> keys() const override {
    return std::span<const SchemeKey>(kFamilyKeys).subspan(weights_ ? 2 : 0);
  }
  void find_faults(const SimulationOptions& o, std::vector<OptionFault>* faults) const override {
    if (weights_) return;
    const double alpha = o.alpha_gamma.alpha, gamma = o.alpha_gamma.gamma;
    if (!(alpha > 0 && alpha <= 1)) faults->push_back({"scheme", "alpha", "alpha must lie in (0, 1]"});
    if (!(gamma >= 0 && gamma <= 1)) faults->push_back({"scheme", "gamma", "gamma must lie in [0, 1]"});
  }
  std::vector<std::string> find_warnings(const Model&, const SimulationOptions& options) const override {
    std::vector<std::string> warnings =
        find_unused_stabilization(name_, "`stabilize: false` leaves position errors alone", options);
    if (weights(options).alpha < 0.5)
      warnings.push_back("alpha below 1/2: what a constraint stops grows by (1 - alpha)/alpha in every step");
    return warnings;
  }

  void discretize(const StepInput& input, const Equations& equations, bool again, StepProblem* made) override;
  bool refine(const StepInput& input, const StepProblem& made, const Solution& solution) override;
  void advance(const StepInput& input, const StepProblem& made, const Solution& solution, State* next) const override;
  Vec3 calc_inertial_impulse(const StepInput& input, const StepProblem& made, const Solution& solution,
                             const State& next, int body) const override;

 private:
  Weights weights_of(const StepInput& input) const { return input.backward ? Weights{1, 1} : weights(*input.options); }
  void update_poses(const StepInput& input, const Weights& w);
  void update_rows(const StepInput& input, const Weights& w, const Equations& at_start, const StepProblem& made);
  void update_springs(const StepInput& input, const Weights& w, const Equations& at_start);
  void add_columns(const StepInput& input, const Weights& w, bool again, StepProblem* made);
  Mat3 calc_gyroscopic(const StepInput& input, const Weights& w, std::span<const char> turning, std::size_t body) const;
  Vec3 calc_torque(const StepInput& input, const StepProblem& made, const Vec3& u, std::size_t body) const;
  void add_contacts(const StepInput& input, const Weights& w, double share, StepProblem* made);
  void stop_turning(const StepInput& input, const Weights& w, StepProblem* made) const;

  std::string_view name_;
  std::optional<Weights> weights_;
  // Scratch.
  Equations equations_;           ///< forces at both ends; rows at q*, values at q
  std::vector<AxisRow> rotors_;   ///< rows at q*, or at q where they act at both ends
  std::vector<Twist> velocity_;   ///< of the state, with prescribed motions in place
  std::vector<Pose> pose_star_;   ///< q*: where the rows are taken
  std::vector<Pose> pose_end_;    ///< move(q, v, h)
  std::vector<Vec6> load_end_;    ///< loads there
  std::vector<Vec3> spin_;        ///< omega at which the gyroscopic matrix is taken
  std::vector<Vec3> spin_found_;  ///< the same from a solution (`refine`)
  std::vector<Vec3> moment_;      ///< what b has of the turn that joints have found (joint_ends.h), N m s
  std::vector<char> knows_;       ///< per body: it has that, and A nothing
};

/// v with prescribed motions in place, q* and move(q, v, h).
void AlphaGamma::update_poses(const StepInput& input, const Weights& w) {
  const State& state = *input.state;
  const std::size_t count = state.pose.size();
  velocity_.resize(count);
  pose_star_.resize(count);
  pose_end_.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const BodyKind kind = input.model->bodies[i].kind;
    const Twist& v = kind == BodyKind::Kinematic ? input.prescribed[i] : state.velocity[i];
    velocity_[i] = v;
    pose_star_[i] = kind == BodyKind::Fixed ? state.pose[i] : move(state.pose[i], v, (1 - w.gamma) * input.h);
    pose_end_[i] = kind == BodyKind::Fixed ? state.pose[i] : move(state.pose[i], v, input.h);
  }
}

/// Rows at q*, elongations of q. The three components of a spring without length are those that d would have at q if it
/// had turned with its bodies to q*.
void AlphaGamma::update_springs(const StepInput& input, const Weights& w, const Equations& at_start) {
  std::vector<SpringRows>& springs = equations_.springs;
  if (w.gamma == 1) {
    springs = at_start.springs;
    return;
  }
  update_spring_rows(*input.model, pose_star_, input.state->axis, &springs);
  const double ahead = (1 - w.gamma) * input.h;
  for (std::size_t i = 0; i < springs.size(); ++i) {
    SpringRows& spring = springs[i];
    if (spring.count == 1) spring.value = at_start.springs[i].value;
    for (int r = 0; r < spring.count && spring.count > 1; ++r)
      spring.value[r] -= ahead * calc_pair_speed(velocity_, spring.body_a, spring.body_b, spring.row[r]);
  }
}

void AlphaGamma::update_rows(const StepInput& input, const Weights& w, const Equations& at_start,
                             const StepProblem& made) {
  const Model& model = *input.model;
  const State& state = *input.state;
  Equations& eq = equations_;
  eq.gravity = at_start.gravity;
  eq.load = at_start.load;
  update_springs(input, w, at_start);
  if (!model.loads.empty() || input.drive) {
    update_loads(model, input.drive, pose_end_, state.time + input.h, &load_end_);
    for (std::size_t i = 0; i < eq.load.size(); ++i)  // what flies has those of the start first (flight.h)
      if (!(made.kick[i].before < input.h)) eq.load[i] = (1 - w.alpha) * eq.load[i] + w.alpha * load_end_[i];
  }
  update_joint_rows(model, pose_star_, &eq.joints);
  for (std::size_t i = 0; i < eq.joints.size(); ++i) {
    if (eq.joints[i].count > 0 && made.joint_end.split[model.joints[i].first_row])
      eq.joints[i] = at_start.joints[i];  // its impulses act at both ends
    else
      eq.joints[i].value = at_start.joints[i].value;
  }
  // Rows at q*, values at q: the factors of a polynomial gear are of its rows.
  update_axis_rows(model, pose_star_, state.axis, &eq.axes);
  update_coupling_rows(model, eq.axes, &eq.couplings);
  for (std::size_t i = 0; i < eq.axes.size(); ++i) eq.axes[i].value = at_start.axes[i].value;
  for (std::size_t i = 0; i < eq.couplings.size(); ++i) eq.couplings[i].value = at_start.couplings[i].value;
  rotors_ = eq.axes;
  for (std::size_t i = 0; i < rotors_.size(); ++i)
    if (const int slot = model.axes[i].armature_row; slot >= 0 && made.joint_end.split[slot])
      rotors_[i] = at_start.axes[i];
  if (input.middle == nullptr || w.gamma == 1) {
    eq.contacts = at_start.contacts;
    return;
  }
  update_contact_rows(model, pose_star_, *input.middle, &eq.contacts, input.state->time, input.state->velocity);
  for (std::size_t i = 0; i < eq.contacts.size(); ++i) eq.contacts[i].gap = input.contacts->contacts[i].gap;
}

/// What is taken off the inertia: (h/2) kappa [I vF]_x; alpha h [I vF]_x where momentum is not carried along.
Mat3 AlphaGamma::calc_gyroscopic(const StepInput& input, const Weights& w, std::span<const char> turning,
                                 std::size_t i) const {
  const Body& body = input.model->bodies[i];
  if (count_free_rotations(body) < 2) return Mat3::Zero();
  const double factor = turning[i] ? 0.5 * calc_turn_factor(spin_[i], input.h) : w.alpha;
  return factor * input.h * skew(body.inertia * spin_[i]);
}

void AlphaGamma::add_columns(const StepInput& input, const Weights& w, bool again, StepProblem* made) {
  const Model& model = *input.model;
  const double h = input.h;
  spin_.resize(model.bodies.size());
  moment_.resize(model.bodies.size());
  knows_.assign(model.bodies.size(), 0);
  update_turning(input, made->map, &made->turning);
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    if (made->map.column_of_body[i] < 0) continue;
    const Body& body = model.bodies[i];
    const Twist& v = velocity_[i];
    const Vec6 force = equations_.gravity[i] + equations_.load[i];
    Vec6 momentum = w.alpha * made->kick[i].before * force;
    momentum.head<3>() += body.mass * v.linear;
    momentum.tail<3>() += body.inertia * v.angular;
    if (!again) {
      const Vec3 torque = force.tail<3>() + (body.inertia * v.angular).cross(v.angular);
      spin_[i] = made->turning[i] ? calc_free_turn(body, momentum.tail<3>(), h)
                                  : Vec3(v.angular + 0.5 * h * (body.inertia_inverse * torque));
    }
    knows_[i] = made->turning[i] && !made->bent_spin.empty() && made->bent_spin[i];
    Mat3 less = Mat3::Zero();
    if (knows_[i]) {
      moment_[i] = calc_turn_moment(body, *made->bent_spin[i], h);
      momentum.tail<3>() -= moment_[i];
    } else {
      less = calc_gyroscopic(input, w, made->turning, i);
    }
    const bool spins = !(less * spin_[i]).isZero(0), heavy = !made->added_inertia.empty();
    if (spins) made->problem.symmetric = false;
    if (heavy) {
      less -= made->added_inertia[i];
      momentum.tail<3>() += made->added_inertia[i] * v.angular;
    }
    add_body_column(body, momentum, spins || heavy ? &less : nullptr, &made->problem);
  }
}

void AlphaGamma::add_contacts(const StepInput& input, const Weights& w, double share, StepProblem* made) {
  const std::vector<ContactRows>& rows = equations_.contacts;
  const double fall = kCorrectionSpeed * input.model->gravity.norm() * input.h_nominal;
  made->restitution.assign(rows.size(), 0.0);
  made->offset.assign(rows.size(), 0.0);
  if (share > 0)
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Contact& contact = input.contacts->contacts[rows[i].contact];
      const double limit = std::max(kLeastCorrection * calc_slow_speed(*input.model, input.h_nominal, contact), fall);
      made->offset[i] = std::clamp(share * calc_row_gap(input, contact) / input.h_nominal, -limit, limit);
    }
  // Rows on the way of centres are about places: q' = q + h ((1 - r) v + r u), r = gamma/alpha.
  const double r = w.alpha == w.gamma || !(w.gamma > 0) ? 1 : w.gamma / w.alpha;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Contact& contact = input.contacts->contacts[rows[i].contact];
    if (!contact.central) continue;
    const double speed = calc_pair_speed(velocity_, rows[i].body_a, rows[i].body_b, rows[i].row[0]);
    made->offset[i] = (contact.gap / input.h + (1 - r) * speed) / r;
  }
  add_contact_rows(input, rows, made->offset, &made->problem, &made->map);
  stop_turning(input, w, made);
}

/// Spinning and rolling that friction may end in this step has its limit at the speed of the step's end, as joint
/// friction has: of what only u = 0 stops, v keeps -(1 - alpha)/alpha for ever. Before that it is at u, which has the
/// direction that second order asks for. Friction is that of the normal force of the last step.
void AlphaGamma::stop_turning(const StepInput& input, const Weights& w, StepProblem* made) const {
  if (w.alpha == 1) return;
  const std::vector<ContactMemory>& memory = input.state->contact_memory;
  std::size_t m = 0;
  for (std::size_t i = 0; i < equations_.contacts.size(); ++i) {
    const ContactRows& rows = equations_.contacts[i];
    const int row = made->map.contact_row[i];
    if (rows.extra == 0 || row < 0) continue;
    const ContactKey& key = input.contacts->contacts[rows.contact].key;
    while (m < memory.size() && memory[m].key < key) ++m;
    if (m == memory.size() || memory[m].key != key) continue;
    const double limit = rows.friction * memory[m].normal_force * input.h;
    const int last = rows.count + rows.extra;
    for (int first = rows.count; first < last;) {
      const int end = first + ((last - first) % 2 == 1 ? 1 : 2);  // spinning is one row, rolling two; in the plane one
      double speed = 0, most = 0;
      for (int k = first; k < end; ++k) {
        speed = std::hypot(speed, calc_pair_speed(velocity_, rows.body_a, rows.body_b, rows.at(k)));
        most = std::max(most, limit * calc_pair_mobility(*input.model, rows.body_a, rows.body_b, rows.at(k)));
      }
      for (int k = first; k < end && speed < kStopsTurning * most; ++k)
        made->problem.c[row + k] -= (1 - w.alpha) * calc_pair_speed(velocity_, rows.body_a, rows.body_b, rows.at(k));
      first = end;
    }
  }
}

void AlphaGamma::discretize(const StepInput& input, const Equations& equations, bool again, StepProblem* made) {
  const Weights w = weights_of(input);
  made->equations = &equations_;
  made->impulse_scale = 1 / w.alpha;
  update_poses(input, w);
  made->pose = pose_star_;
  update_rows(input, w, equations, *made);
  begin_problem(*input.model, &made->problem, &made->map);
  add_columns(input, w, again, made);
  const double share = input.options->alpha_gamma.stabilize ? calc_correction_share(w) : 0.0;
  add_joint_rows(input, w, equations_.joints, share, &made->problem, &made->map);
  add_axis_rows(input, w, equations_, share, &made->problem, &made->map, {}, rotors_);
  add_spring_rows(input, w, equations_.springs, made->spring_before, &made->problem, &made->map);
  add_contacts(input, w, share, made);
}

/// Only alpha = 1/2 has an order to lose here: there u is the velocity at mid-step, where F belongs.
bool AlphaGamma::refine(const StepInput& input, const StepProblem& made, const Solution& solution) {
  if (std::abs(weights_of(input).alpha - 0.5) > 1e-12) return false;
  bool wanted = false;
  spin_found_ = spin_;
  for (std::size_t i = 0; i < input.model->bodies.size(); ++i) {
    const Body& body = input.model->bodies[i];
    if (made.map.column_of_body[i] < 0 || count_free_rotations(body) < 2) continue;
    const Vec3 u = calc_body_twist(input, made.map, made.problem, solution.v, static_cast<int>(i)).angular;
    const Vec3 change = body.inertia * (u - spin_[i]);
    const Vec3 predicted = body.inertia * (spin_[i] - velocity_[i].angular);
    const double size = (body.inertia * u).norm();
    // F(vF) u changes by change x u: nothing for a ball, which turns about any axis alike.
    const double effect = change.cross(u).norm(), most = std::max(predicted.norm(), 1e-9 * size) * u.norm();
    wanted = wanted || effect > kSpinShare * most;
    spin_found_[i] = u;
  }
  if (wanted) std::swap(spin_, spin_found_);
  return wanted;
}

void AlphaGamma::advance(const StepInput& input, const StepProblem& made, const Solution& solution, State* next) const {
  const Weights w = weights_of(input);
  for (std::size_t i = 0; i < input.model->bodies.size(); ++i) {
    const Body& body = input.model->bodies[i];
    const Pose& q = input.state->pose[i];
    if (body.kind == BodyKind::Fixed) {
      next->velocity[i] = {};
      next->pose[i] = q;
      continue;
    }
    if (body.kind == BodyKind::Kinematic) {
      next->pose[i] = move(q, input.prescribed[i], input.h);
      next->velocity[i] = calc_kinematic_twist(body, next->pose[i], input.state->time + input.h, input.h_nominal);
      continue;
    }
    const Twist u = calc_body_twist(input, made.map, made.problem, solution.v, static_cast<int>(i));
    const Twist& v = input.state->velocity[i];
    Twist& v1 = next->velocity[i];
    v1.linear = v.linear + (u.linear - v.linear) / w.alpha;
    v1.angular = v.angular + (u.angular - v.angular) / w.alpha;
    Twist mean{v.linear + w.gamma * (v1.linear - v.linear), v.angular + w.gamma * (v1.angular - v.angular)};
    if (made.turning[i]) {
      const Vec3 p = body.inertia * v.angular;
      if (w.alpha == w.gamma) {
        mean.angular = u.angular;
      } else {
        const Vec3 free = calc_free_turn(body, p, input.h);
        mean.angular = free + w.gamma / w.alpha * (u.angular - free);
      }
      const Vec3 torque =
          q.orientation.conjugate() * (pose_star_[i].orientation * calc_torque(input, made, u.angular, i));
      v1.angular = calc_carried_spin(body, p + torque, mean.angular, input.h);
    }
    next->pose[i] = move(q, mean, input.h);
  }
}

/// The impulse of all torques of the step, in the body axes of q*, less what inertia that is added takes of it.
Vec3 AlphaGamma::calc_torque(const StepInput& input, const StepProblem& made, const Vec3& u, std::size_t i) const {
  const Body& body = input.model->bodies[i];
  const Weights w = weights_of(input);
  if (knows_[i]) return (body.inertia * (u - velocity_[i].angular) + moment_[i]) / w.alpha;
  const Mat3 gyroscopic = calc_gyroscopic(input, w, made.turning, i);
  return (body.inertia * (u - velocity_[i].angular) - gyroscopic * u) / w.alpha;
}

/// What is left of the change of I omega beside the torques.
Vec3 AlphaGamma::calc_inertial_impulse(const StepInput& input, const StepProblem& made, const Solution& solution,
                                       const State& next, int body) const {
  const Vec3 u = calc_body_twist(input, made.map, made.problem, solution.v, body).angular;
  Vec3 torque = calc_torque(input, made, u, static_cast<std::size_t>(body));
  if (!made.added_inertia.empty())
    torque += made.impulse_scale * (made.added_inertia[body] * (u - velocity_[body].angular));
  const Kick& kick = made.kick[body];
  Vec6 others = kick.after * kick.load + kick.spring;
  if (made.joint_end.active) others += made.joint_end.body[body] - made.joint_end.once[body];
  return input.model->bodies[body].inertia * (next.velocity[body].angular - velocity_[body].angular) - torque -
         others.tail<3>();
}

}  // namespace

std::unique_ptr<Scheme> make_euler() { return std::make_unique<AlphaGamma>("euler", Weights{1, 1}); }
std::unique_ptr<Scheme> make_trapezoid() { return std::make_unique<AlphaGamma>("trapezoid", Weights{0.5, 0.5}); }
std::unique_ptr<Scheme> make_alpha_gamma() { return std::make_unique<AlphaGamma>("alpha-gamma", std::nullopt); }

}  // namespace slipstick
