// The pipe. Simulation::step is the list of stages of docs/step.md, with the same names and numbers.
#include <slipstick/simulation.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/se3.h"
#include "collision/contact_finder.h"
#include "mechanics/equations.h"
#include "step/assemble.h"
#include "step/audit.h"
#include "step/impact.h"
#include "step/ladder.h"
#include "step/scheme.h"

namespace slipstick {

namespace {

using Clock = std::chrono::steady_clock;

/// Adds the time from construction to destruction to a counter.
class Stopwatch {
 public:
  explicit Stopwatch(double* seconds) : seconds_(seconds) {}
  ~Stopwatch() { *seconds_ += std::chrono::duration<double>(Clock::now() - start_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double* seconds_;
  Clock::time_point start_ = Clock::now();
};

/// How much faster than now a body may leave a step before its active set is looked at again (stage 10).
constexpr double kSpeedMargin = 1.25;
constexpr int kMaxReachRepeats = 8;
/// A contact "touches" for schemes that do not look ahead when its gap is below this, m per metre of body size.
constexpr double kTouching = 1e-9;
/// An impulse below this fraction of the step's largest is rounding, not load.
constexpr double kLoaded = 1e-11;
/// Closing speed below which a touching contact is at rest and not an impact, m/s.
constexpr double kImpactSpeed = 1e-9;

bool is_finite(const State& state) {
  for (const Pose& q : state.pose)
    if (!q.position.allFinite() || !q.orientation.coeffs().allFinite()) return false;
  for (const Twist& v : state.velocity)
    if (!v.linear.allFinite() || !v.angular.allFinite()) return false;
  return true;
}

double calc_speed(const Body& body, const Twist& v) { return v.linear.norm() + v.angular.norm() * body.reach_radius; }

}  // namespace

struct Simulation::Impl {
  Impl(Model m, State initial, SimulationOptions o)
      : model(std::move(m)),
        options(std::move(o)),
        state(std::move(initial)),
        next(state),
        scheme(make_scheme(options.scheme)),
        ladder(options),
        finder(model) {
    prescribed.resize(model.bodies.size());
    speed.resize(model.bodies.size());
    reach.resize(model.bodies.size());
    assume_speeds();
    find_contacts();
  }

  const StepReport& step();

  // The stages.
  bool check_state();
  void update_kinematics();
  void find_contacts();
  void discretize();
  void warm_start();
  void solve_and_certify();
  void advance();
  bool accept();
  void audit();
  void commit();

  void assume_speeds();
  void apply_impacts();
  void remember_contacts();
  StepInput input() const { return {&model, &options, start, &contacts, prescribed, options.step}; }

  Model model;
  SimulationOptions options;
  State state, next, after_impact;
  const State* start = nullptr;  ///< the state that this step starts from: `state`, or `after_impact`
  std::unique_ptr<Scheme> scheme;
  Ladder ladder;
  ContactFinder finder;

  std::vector<Twist> prescribed;
  std::vector<double> speed;  ///< assumed bound on each body's surface speed in the coming step, m/s
  std::vector<double> reach;
  ContactSet contacts;
  StepScratch scratch;
  ImpactScratch impact_scratch;
  std::vector<NormalOffset> normals;
  std::vector<JointRows> joint_scratch;
  Solution solution;
  LadderResult outcome;
  std::vector<ContactForce> forces;
  std::vector<ImpactEvent> impacts;
  StepReport report;
  Problem* kept_problem = nullptr;  ///< step_and_keep
  Solution* kept_guess = nullptr;
};

const StepReport& Simulation::Impl::step() {
  report = {};
  impacts.clear();
  start = &state;
  if (!check_state()) return report;  // 1
  update_kinematics();                // 2
  for (;;) {
    if (report.reach_repeats > 0) find_contacts();  // 3 (the first time: found when the last step was audited)
    if (!scheme->looks_ahead()) apply_impacts();
    discretize();         // 4 equations, 5 scheme.discretize
    warm_start();         // 6
    solve_and_certify();  // 7, 8
    advance();            // 9
    if (accept()) break;  // 10
  }
  if (!is_finite(next)) {
    report.failed = true;
    report.certified = false;
    report.note = "no finite solution";
    return report;
  }
  audit();   // 11
  commit();  // 12
  return report;
}

bool Simulation::Impl::check_state() {
  if (is_finite(state)) return true;
  report.failed = true;
  report.note = "the state is not finite";
  return false;
}

void Simulation::Impl::update_kinematics() {
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    if (model.bodies[i].kind != BodyKind::Kinematic) continue;
    // The prescribed velocity at mid-step moves the body with second order.
    prescribed[i] = calc_kinematic_twist(model.bodies[i], state.pose[i], state.time + options.step / 2);
  }
}

/// Bounds each body's speed in the coming step, for the active set ([Anitescu03], [METHODS 3]: reach = speed times h).
void Simulation::Impl::assume_speeds() {
  update_kinematics();
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    const Body& body = model.bodies[i];
    if (body.kind == BodyKind::Fixed) speed[i] = 0;
    if (body.kind == BodyKind::Kinematic) speed[i] = calc_speed(body, prescribed[i]);
    if (body.kind != BodyKind::Dynamic) continue;
    // A body that has just been stopped may rebound: what it did one step ago counts too.
    double now = calc_speed(body, state.velocity[i]);
    if (!state.previous_velocity.empty()) now = std::max(now, calc_speed(body, state.previous_velocity[i]));
    speed[i] = kSpeedMargin * (now + 2 * options.step * model.gravity.norm());
  }
}

void Simulation::Impl::find_contacts() {
  const Stopwatch watch(&report.seconds.collision);
  for (std::size_t i = 0; i < model.bodies.size(); ++i)
    reach[i] =
        scheme->looks_ahead() ? speed[i] * options.step : kTouching * std::max(1.0, model.bodies[i].reach_radius);
  finder.find(state, reach, &contacts);
}

void Simulation::Impl::apply_impacts() {
  after_impact = state;
  start = &after_impact;
  const StepInput in = input();
  const ImpactResult result =
      apply_impact(in, kImpactSpeed, &ladder, &impact_scratch, &after_impact.velocity, &impacts);
  if (!result.happened) return;
  report.iterations += result.solve.iterations;
  report.escalations += result.solve.escalations;
}

void Simulation::Impl::discretize() {
  const Stopwatch watch(&report.seconds.assemble);
  scheme->discretize(input(), &scratch);
}

/// The last step's impulses by key, and the present velocities, are the guess.
void Simulation::Impl::warm_start() {
  const Stopwatch watch(&report.seconds.assemble);
  const Problem& problem = scratch.problem;
  solution.v.resize(problem.unknowns());
  solution.lambda.setZero(problem.rows());
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    const int column = scratch.map.column_of_body[i];
    if (column < 0) continue;
    Vec6 v;
    v << start->velocity[i].linear, start->velocity[i].angular;
    for (int k = 0; k < model.bodies[i].dof; ++k)
      solution.v[problem.column_start[column] + k] = model.bodies[i].free_basis.col(k).dot(v);
  }
  for (int r = 0; r < model.joint_rows; ++r)
    if (scratch.map.joint_row[r] >= 0) solution.lambda[scratch.map.joint_row[r]] = state.joint_impulse[r];
  normals.clear();
  std::size_t m = 0;
  for (std::size_t i = 0; i < scratch.equations.contacts.size(); ++i) {
    const ContactRows& contact = scratch.equations.contacts[i];
    const int row = scratch.map.contact_row[i];
    if (row < 0) continue;
    normals.push_back({row, scratch.restitution[i]});
    const ContactKey& key = contacts.contacts[contact.contact].key;
    while (m < state.contact_memory.size() && state.contact_memory[m].key < key) ++m;
    if (m == state.contact_memory.size() || state.contact_memory[m].key != key) continue;
    for (int k = 0; k < (contact.friction == 0 ? 1 : contact.count); ++k)
      solution.lambda[row + k] = contact.direction[k].dot(state.contact_memory[m].impulse);
  }
}

void Simulation::Impl::solve_and_certify() {
  const Stopwatch watch(&report.seconds.solve);
  if (kept_problem) {
    *kept_problem = scratch.problem;
    *kept_guess = solution;
  }
  outcome = ladder.solve(normals, &scratch.problem, &solution);
  report.certificate.residual = outcome.residual;
  report.certified = outcome.certified;
  report.iterations += outcome.iterations;
  report.escalations += outcome.escalations;
  report.note = outcome.note;
  report.rows = scratch.problem.rows();
  report.contacts = static_cast<int>(contacts.contacts.size());
}

void Simulation::Impl::advance() {
  const Stopwatch watch(&report.seconds.advance);
  scheme->advance(input(), scratch, solution, &next);
  next.step = state.step + 1;
  next.time = static_cast<double>(next.step) * options.step;
}

/// A body that leaves the step faster than assumed could have met something outside the active set: look again.
bool Simulation::Impl::accept() {
  if (!scheme->looks_ahead() || report.reach_repeats >= kMaxReachRepeats || !is_finite(next)) return true;
  bool good = true;
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    const double needed = calc_speed(model.bodies[i], next.velocity[i]);
    if (needed <= speed[i] || model.bodies[i].kind != BodyKind::Dynamic) continue;
    speed[i] = kSpeedMargin * needed;
    good = good && model.bodies[i].shape_count == 0;
  }
  if (!good) ++report.reach_repeats;
  return good;
}

void Simulation::Impl::audit() {
  const Stopwatch watch(&report.seconds.advance);
  const double before = calc_energy(model, state.pose, state.velocity).total();
  const double after = calc_energy(model, next.pose, next.velocity).total();
  report.certificate.ledger = calc_ledger(input(), scratch, solution, next, before, after);
  report.certificate.joint_error = calc_joint_error(model, next.pose, &joint_scratch);
}

/// What the next step must know of this one's contacts, and the forces for whoever asks.
void Simulation::Impl::remember_contacts() {
  next.contact_memory.clear();
  forces.clear();
  double largest = 0;
  for (const NormalOffset& normal : normals) largest = std::max(largest, solution.lambda[normal.row]);
  std::size_t m = 0;
  for (std::size_t i = 0; i < scratch.equations.contacts.size(); ++i) {
    const ContactRows& rows = scratch.equations.contacts[i];
    const int row = scratch.map.contact_row[i];
    if (row < 0 || !(solution.lambda[row] > kLoaded * largest)) continue;
    const Contact& contact = contacts.contacts[rows.contact];
    ContactMemory memory;
    memory.key = contact.key;
    for (int k = 0; k < (rows.friction == 0 ? 1 : rows.count); ++k)
      memory.impulse += solution.lambda[row + k] * rows.direction[k];
    memory.loaded = true;
    while (m < state.contact_memory.size() && state.contact_memory[m].key < contact.key) ++m;
    const bool was_loaded =
        m < state.contact_memory.size() && state.contact_memory[m].key == contact.key && state.contact_memory[m].loaded;
    memory.collided = !was_loaded && scratch.restitution[i] == 0;
    next.contact_memory.push_back(memory);
    forces.push_back({contact, memory.impulse / options.step});
  }
  for (int r = 0; r < model.joint_rows; ++r)
    next.joint_impulse[r] = scratch.map.joint_row[r] < 0 ? 0.0 : solution.lambda[scratch.map.joint_row[r]];
}

void Simulation::Impl::commit() {
  {
    const Stopwatch watch(&report.seconds.advance);
    remember_contacts();
    next.previous_velocity = state.velocity;
    std::swap(state, next);
    next.joint_impulse.resize(state.joint_impulse.size());
    next.pose.resize(state.pose.size());
    next.velocity.resize(state.velocity.size());
  }
  start = &state;
  assume_speeds();
  find_contacts();
  double deepest = 0;
  for (const Contact& contact : contacts.contacts) deepest = std::max(deepest, -contact.gap);
  report.certificate.penetration = deepest;
}

Simulation::Simulation(Model model, State initial, SimulationOptions options)
    : impl_(std::make_unique<Impl>(std::move(model), std::move(initial), std::move(options))) {}
Simulation::~Simulation() = default;
Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;

const StepReport& Simulation::step() { return impl_->step(); }
const StepReport& Simulation::step_and_keep(Problem* problem, Solution* guess) {
  impl_->kept_problem = problem;
  impl_->kept_guess = guess;
  const StepReport& report = impl_->step();
  impl_->kept_problem = nullptr;
  return report;
}
const Model& Simulation::model() const { return impl_->model; }
const State& Simulation::state() const { return impl_->state; }
const SimulationOptions& Simulation::options() const { return impl_->options; }
std::span<const Contact> Simulation::contacts() const { return impl_->contacts.contacts; }
std::span<const ContactForce> Simulation::contact_forces() const { return impl_->forces; }
const Problem& Simulation::problem() const { return impl_->scratch.problem; }
std::span<const ImpactEvent> Simulation::impacts() const { return impl_->impacts; }

EnergySplit Simulation::energy() const {
  const Energy energy = calc_energy(impl_->model, impl_->state.pose, impl_->state.velocity);
  return {energy.kinetic, energy.potential()};
}

WorldMotion calc_world_motion(const Body& body, const Pose& pose, const Twist& velocity) {
  WorldMotion motion;
  motion.pose.orientation = pose.orientation;
  motion.pose.position = apply(pose, -body.center_of_mass);
  motion.velocity = point_velocity(pose, velocity, -body.center_of_mass);
  motion.angular_velocity = pose.orientation * velocity.angular;
  return motion;
}

}  // namespace slipstick
