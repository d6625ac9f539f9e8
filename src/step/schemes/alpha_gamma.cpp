// The family of [Gavrea08]; [AnitescuPotra97] is alpha = gamma = 1 (`euler`), [Potra06] alpha = gamma = 1/2
// (`trapezoid`). Unknown u = (1 - alpha) v + alpha v', [methods 3] with the corrections given there:
//
//   (M - alpha h F(vF)) u - sum J^T l = M v + alpha kt          l = alpha times the impulse
//   kt = h [(1 - alpha) k(t, q) + alpha k(t + h, move(q, v, h))]   loads: linearly implicit with the exact (dk/dq) v
//   springs and dampers: compliant rows (add_spring_rows), and the curvature of the exact (dk/dq) v in kt
//   joints:   G(q*) u + Theta(q)/h_nominal = 0 (without `stabilize`: G u = 0),    q* = move(q, v, h/2)
//   closed contacts: 0 <= n(q*) u + Phi(q)/h_nominal _|_ l_n >= 0, friction
//   v' = (u - (1 - alpha) v)/alpha,   q' = move(q, (1 - gamma) v + gamma v', h)
//
// F(vF) v is in kt and F(vF) in A; with the right side M v both together are h F(vF) u. F is antisymmetric: A is
// positive definite for every h. vF is half a step ahead under the known forces, and where constraints turn the body,
// taken again from the solution itself (`refine`): without that a constrained spinning body is of first order.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "base/se3.h"
#include "step/actuation.h"
#include "step/assemble.h"
#include "step/overlap.h"
#include "step/pair_warnings.h"
#include "step/schemes/schemes.h"

namespace slipstick {

namespace {

/// The exact Jacobian of a spring is used while its geometric part, alpha gamma h^2 (k |phi| + d |phidot|) / length, is
/// below this share of the mass that it moves; stiffer springs away from equilibrium get Gauss-Newton alone, which is
/// stable for every h but of first order ([Potra06] section 9).
constexpr double kGeometricShare = 0.25;
/// Position errors of closed contacts are corrected with at most this speed, in units of g h: with alpha < 1 a
/// correction stays in v as an oscillation.
constexpr double kCorrectionSpeed = 2;
constexpr double kLeastCorrection = 1e-3;  // m/s
/// A guess of vF that is off by more than this share of the change it predicted is worth a second solution.
constexpr double kSpinShare = 0.02;

/// The share kappa of a position error that G u = -kappa Theta/h takes on. With theta = Theta and x = h G v a step is
///   x' = -(kappa/alpha) theta - ((1 - alpha)/alpha) x,   theta' = (1 - gamma kappa/alpha) theta + (1 - gamma/alpha) x;
/// for gamma = alpha the error is gone in one step with kappa = 1, otherwise the share with the least spectral radius.
double calc_correction_share(const Weights& w) {
  if (w.alpha == w.gamma) return 1;
  double best = 1, least = std::numeric_limits<double>::infinity();
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

bool is_gyroscopic(const Body& body, const Mat3& gyroscopic, const Vec3& omega) {
  return count_free_rotations(body) >= 2 && !(gyroscopic * omega).isZero(0);
}

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
  bool rows_at_middle() const override { return true; }
  bool corrects_overlap(const SimulationOptions& options) const override { return options.alpha_gamma.stabilize; }
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
    return find_unused_stabilization(name_, "`stabilize: false` leaves position errors alone", options);
  }

  void discretize(const StepInput& input, const Equations& equations, bool again, StepProblem* made) override;
  bool refine(const StepInput& input, const StepProblem& made, const Solution& solution) override;
  void advance(const StepInput& input, const StepProblem& made, const Solution& solution, State* next) const override;
  Vec3 calc_inertial_impulse(const StepInput& input, const State& next, int body) const override;

 private:
  Weights weights_of(const StepInput& input) const { return input.backward ? Weights{1, 1} : weights(*input.options); }
  void update_poses(const StepInput& input);
  void update_rows(const StepInput& input, const Weights& w, const Equations& at_start);
  void add_columns(const StepInput& input, const Weights& w, bool again, StepProblem* made);
  void add_curvature(const StepInput& input, const Weights& w, StepProblem* made);
  void add_contacts(const StepInput& input, double share, StepProblem* made);

  std::string_view name_;
  std::optional<Weights> weights_;
  // Scratch.
  Equations equations_;                        ///< forces at both ends; rows at q*, values at q
  std::vector<Twist> velocity_;                ///< of the state, with prescribed motions in place
  std::vector<Pose> pose_star_;                ///< q*: where the rows are taken
  std::vector<Pose> pose_end_;                 ///< move(q, v, h)
  std::vector<Vec6> load_end_;                 ///< loads there
  std::vector<std::array<PairRow, 3>> rates_;  ///< of the springs' rows
  std::vector<Vec3> spin_;                     ///< omega at which the gyroscopic matrix is taken
  std::vector<Vec3> spin_found_;               ///< the same from a solution (`refine`)
  std::vector<double> offset_;                 ///< of the normal row of each contact, m/s
};

/// v with prescribed motions in place, q* and move(q, v, h).
void AlphaGamma::update_poses(const StepInput& input) {
  const State& state = *input.state;
  const std::size_t count = state.pose.size();
  velocity_.resize(count);
  pose_star_.resize(count);
  pose_end_.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const BodyKind kind = input.model->bodies[i].kind;
    const Twist& v = kind == BodyKind::Kinematic ? input.prescribed[i] : state.velocity[i];
    velocity_[i] = v;
    pose_star_[i] = kind == BodyKind::Fixed ? state.pose[i] : move(state.pose[i], v, input.h / 2);
    pose_end_[i] = kind == BodyKind::Fixed ? state.pose[i] : move(state.pose[i], v, input.h);
  }
}

void AlphaGamma::update_rows(const StepInput& input, const Weights& w, const Equations& at_start) {
  const Model& model = *input.model;
  const State& state = *input.state;
  Equations& eq = equations_;
  eq.gravity = at_start.gravity;
  eq.load = at_start.load;
  eq.springs = at_start.springs;
  if (!model.loads.empty() || input.drive) {
    update_loads(model, input.drive, pose_end_, state.time + input.h, &load_end_);
    for (std::size_t i = 0; i < eq.load.size(); ++i) eq.load[i] = (1 - w.alpha) * eq.load[i] + w.alpha * load_end_[i];
  }
  update_joint_rows(model, pose_star_, &eq.joints);
  for (std::size_t i = 0; i < eq.joints.size(); ++i) eq.joints[i].value = at_start.joints[i].value;
  update_axis_rows(model, pose_star_, state.axis, &eq.axes);
  for (std::size_t i = 0; i < eq.axes.size(); ++i) eq.axes[i].value = at_start.axes[i].value;
  // Rows at q*, values at q: a coupling's value is a sum of values.
  update_coupling_rows(model, eq.axes, &eq.couplings);
  if (input.middle == nullptr) {
    eq.contacts = at_start.contacts;
    return;
  }
  update_contact_rows(model, pose_star_, *input.middle, &eq.contacts);
  for (std::size_t i = 0; i < eq.contacts.size(); ++i) eq.contacts[i].gap = input.contacts->contacts[i].gap;
}

void AlphaGamma::add_columns(const StepInput& input, const Weights& w, bool again, StepProblem* made) {
  const Model& model = *input.model;
  const double h = input.h;
  spin_.resize(model.bodies.size());
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    if (made->map.column_of_body[i] < 0) continue;
    const Body& body = model.bodies[i];
    const Twist& v = velocity_[i];
    const Vec6 force = equations_.gravity[i] + equations_.load[i];
    Vec6 momentum = w.alpha * h * force;
    momentum.head<3>() += body.mass * v.linear;
    momentum.tail<3>() += body.inertia * v.angular;
    if (!again) {
      const Vec3 torque = force.tail<3>() + (body.inertia * v.angular).cross(v.angular);
      spin_[i] = v.angular + 0.5 * h * (body.inertia_inverse * torque);
    }
    const Mat3 gyroscopic = w.alpha * h * skew(body.inertia * spin_[i]);
    const bool spins = is_gyroscopic(body, gyroscopic, v.angular);
    add_body_column(body, momentum, spins ? &gyroscopic : nullptr, &made->problem);
    if (spins) made->problem.symmetric = false;
  }
}

/// The part of alpha h^2 (dk/dq) v that the compliant rows do not hold, for k = -(k phi + d g v) g:
///   -alpha h^2 [ k phi gdot + d (gdot v) g + d (g v) gdot ].
void AlphaGamma::add_curvature(const StepInput& input, const Weights& w, StepProblem* made) {
  const Model& model = *input.model;
  made->spring_bend.assign(model.springs.size(), {});
  if (model.springs.empty()) return;
  update_spring_rates(model, input.state->pose, velocity_, &rates_);
  const double h = input.h;
  for (std::size_t i = 0; i < model.springs.size(); ++i) {
    const SpringRows& spring = equations_.springs[i];
    for (int r = 0; r < spring.count; ++r) {
      const PairRow &g = spring.row[r], &rate = rates_[i][r];
      const double speed = calc_pair_speed(velocity_, spring.body_a, spring.body_b, g);
      const double bend = calc_pair_speed(velocity_, spring.body_a, spring.body_b, rate);
      const double along = spring.stiffness * spring.value[r] + spring.damping * speed;
      const double size = spring.stiffness * std::abs(spring.value[r]) + spring.damping * std::abs(speed);
      const double mobility = calc_pair_mobility(model, spring.body_a, spring.body_b, g);
      const double length = std::max(spring.value[r] + model.springs[spring.spring].rest_length, 0.0);
      if (!(w.alpha * h * h * size * mobility <= kGeometricShare * length)) continue;
      const double factor = -w.alpha * w.alpha * h * h, turned = factor * along,
                   damped = factor * spring.damping * bend;
      add_pair_impulse(input, made->map, spring.body_a, spring.body_b, rate, turned, &made->problem);
      add_pair_impulse(input, made->map, spring.body_a, spring.body_b, g, damped, &made->problem);
      made->spring_bend[i].a += turned * rate.a + damped * g.a;
      made->spring_bend[i].b += turned * rate.b + damped * g.b;
    }
  }
}

void AlphaGamma::add_contacts(const StepInput& input, double share, StepProblem* made) {
  const std::vector<ContactRows>& rows = equations_.contacts;
  const double limit = std::max(kLeastCorrection, kCorrectionSpeed * input.model->gravity.norm() * input.h_nominal);
  made->restitution.assign(rows.size(), 0.0);
  offset_.assign(rows.size(), 0.0);
  if (share > 0)
    for (std::size_t i = 0; i < rows.size(); ++i)
      offset_[i] = std::clamp(share * calc_row_gap(input, input.contacts->contacts[rows[i].contact]) / input.h_nominal,
                              -limit, limit);
  add_contact_rows(input, rows, offset_, &made->problem, &made->map);
}

void AlphaGamma::discretize(const StepInput& input, const Equations& equations, bool again, StepProblem* made) {
  const Weights w = weights_of(input);
  made->equations = &equations_;
  made->impulse_scale = 1 / w.alpha;
  update_poses(input);
  made->pose = pose_star_;
  update_rows(input, w, equations);
  begin_problem(*input.model, &made->problem, &made->map);
  add_columns(input, w, again, made);
  add_curvature(input, w, made);
  const double share = input.options->alpha_gamma.stabilize ? calc_correction_share(w) : 0.0;
  add_joint_rows(input, w, equations_.joints, share, &made->problem, &made->map);
  add_axis_rows(input, w, equations_, share, &made->problem, &made->map);
  add_spring_rows(input, w, equations_.springs, &made->problem, &made->map);
  add_contacts(input, share, made);
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
      next->velocity[i] = calc_kinematic_twist(body, next->pose[i], input.state->time + input.h);
      continue;
    }
    const Twist u = calc_body_twist(input, made.map, made.problem, solution.v, static_cast<int>(i));
    const Twist& v = input.state->velocity[i];
    Twist& v1 = next->velocity[i];
    v1.linear = v.linear + (u.linear - v.linear) / w.alpha;
    v1.angular = v.angular + (u.angular - v.angular) / w.alpha;
    const Twist mean{v.linear + w.gamma * (v1.linear - v.linear), v.angular + w.gamma * (v1.angular - v.angular)};
    next->pose[i] = move(q, mean, input.h);
  }
}

/// h F(vF) u.
Vec3 AlphaGamma::calc_inertial_impulse(const StepInput& input, const State& next, int body) const {
  const double alpha = weights_of(input).alpha;
  const Mat3 gyroscopic = input.h * skew(input.model->bodies[body].inertia * spin_[body]);
  const Vec3& omega = velocity_[body].angular;
  if (!is_gyroscopic(input.model->bodies[body], alpha * gyroscopic, omega)) return Vec3::Zero();
  return gyroscopic * (omega + alpha * (next.velocity[body].angular - omega));
}

}  // namespace

std::unique_ptr<Scheme> make_euler() { return std::make_unique<AlphaGamma>("euler", Weights{1, 1}); }
std::unique_ptr<Scheme> make_trapezoid() { return std::make_unique<AlphaGamma>("trapezoid", Weights{0.5, 0.5}); }
std::unique_ptr<Scheme> make_alpha_gamma() { return std::make_unique<AlphaGamma>("alpha-gamma", std::nullopt); }

}  // namespace slipstick
