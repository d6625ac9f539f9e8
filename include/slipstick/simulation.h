// Room: step. The pipe from Model + State to the next State with its Certificate (docs/step.md has the twelve stages).
#pragma once

#include <slipstick/audit.h>
#include <slipstick/inputs.h>
#include <slipstick/model.h>
#include <slipstick/problem.h>
#include <slipstick/readings.h>
#include <slipstick/result.h>
#include <slipstick/solver_ladder.h>
#include <slipstick/state.h>

#include <atomic>
#include <concepts>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace slipstick {

/// Where the state at a located event comes from.
enum class EventState : std::uint8_t {
  Restep,  ///< from a step of just that length: right for stiff forces too
  Hermite  ///< from the cubic through both ends of the step, as in [Potra06]
};

/// Schemes `euler`, `trapezoid` and `alpha-gamma` [Gavrea08].
struct AlphaGammaOptions {
  double alpha = 0.5, gamma = 0.5;  ///< alpha-gamma alone: alpha in (0, 1], gamma in [0, 1]
  bool stabilize = true;            ///< joint and closed-contact errors enter the rows as error/h
  EventState event_state = EventState::Restep;
};

/// Scheme `spook` [LacoursiereLinde11]; joints may have values of their own.
struct SpookOptions {
  double compliance = 1e-10;  ///< m/N or rad/(N m): epsilon of joints
  double damping_steps = 2;   ///< tau / h
  /// m/N: epsilon of contacts. Where there are more contacts than freedoms a little of it makes their forces unique,
  /// and many times harder to find.
  double contact_compliance = 0;
  std::optional<double> contact_damping_time;  ///< s; default tau, and at least 0.1 s for pairs with restitution
  double slip_compliance = 0;                  ///< (m/s)/N: gamma of friction
  bool hessian = true;                         ///< the curvature of the joints' rows
  bool geometric = true;                       ///< joint forces turn with their bodies within the step
  bool anticipate = true;                      ///< gaps that would close within the step are kept open or just closed
};

/// What a step's problem is worth under solver "auto" (docs/solvers.md).
enum class Effort : std::uint8_t {
  Exact,     ///< the whole ladder, however long it takes
  Balanced,  ///< the tolerance where that is quick; about 1e-4, on record, where it is not
  Swift      ///< a small share of the same work
};
/// In the order of the enumerators.
std::vector<std::string_view> effort_names();

struct SimulationOptions {
  double step = 0.01;  ///< s; with `accuracy` the time between frames
  /// m per second of motion: the error that parts of steps may make, which are as short as that asks for (second order
  /// with located events only, docs/schemes.md); 0: steps are fixed.
  double accuracy = 0;
  double duration = 10;  ///< s
  std::string scheme = "stabilized";
  std::string solver = "auto";
  SolverOptions solver_options;  ///< of `solver`; not used by "auto"
  FrictionModel friction = FrictionModel::Cone;
  int facets = 8;                    ///< pyramid only
  double tolerance = 1e-8;           ///< relative residual above which a step is not certified
  double heap_tolerance = 1e-4;      ///< and of heaps under "auto": islands too large to factor (docs/solvers.md)
  Effort effort = Effort::Balanced;  ///< solver "auto"
  int budget = 0;                    ///< "auto": work per problem, in sweeps over its rows; 0: as the effort says
  double stabilization = 1;          ///< stabilized: gamma in (0, 1] on gap and joint errors [Anitescu03]
  bool impact_stage = true;  ///< stabilized: rebounds before a step; false: one step after the collision [Anitescu03]
  std::optional<double> restitution_threshold;  ///< m/s, TOL of [Anitescu03]; default max(1e-3, 2 |g| h)
  std::optional<bool> locate;                   ///< events inside a step; default: all schemes but stabilized
  ImpactLaw impact = ImpactLaw::Poisson;        ///< where a pair of materials does not say
  int threads = 1;
  AlphaGammaOptions alpha_gamma;
  SpookOptions spook;
  bool reduce_contacts = false;  ///< fixed steps: at most four points of a flat manifold (docs/step.md)
  bool close_joints = false;     ///< joints that a step has opened are closed in positions (docs/step.md)
  bool hold_resting = false;     ///< islands whose last impulses still solve their problem keep them (docs/step.md)
  /// Where contact forces are not unique, those of equal springs at all contacts (docs/certificate.md).
  bool unique_forces = true;
  AuditMode audit = AuditMode::Share;  ///< how many pairs the second judge of geometry looks at (docs/certificate.md)
  /// True: the step in progress is given up as soon as it can be, and leaves everything as it was
  /// (StepReport::stopped). Null: nobody stops it. Must outlive the simulation.
  const std::atomic<bool>* stop = nullptr;
  /// Asked before `solver`, which answers where the judge is not content (LadderOptions::prototype). Null: none.
  std::shared_ptr<PrototypeSolver> prototype;
};

/// Whether its scheme is of second order and locates events, so that an accuracy can be asked of it.
bool can_choose_steps(const SimulationOptions& options);
/// Sets the accuracy. A scheme that cannot keep to one gives way to `trapezoid`.
void set_accuracy(double accuracy, SimulationOptions* options);

/// The solver as reports name it: "NAME before auto" where there is a prototype.
std::string make_solver_text(const SimulationOptions& options);

/// Checks ranges and names; empty when good.
std::vector<OptionFault> find_option_faults(const SimulationOptions& options);

/// Steps from the start to `duration`; a last one that rounding alone asks for is none.
long calc_step_count(const SimulationOptions& options);

std::vector<std::string_view> scheme_names();

/// alpha of the scheme that the options ask for: 1 outside the alpha-gamma family, and for an unknown name.
double calc_alpha(const SimulationOptions& options);

/// d(T + V) of one step, term by term; `numerical` is the remainder of all the others.
struct EnergyLedger {
  double change = 0;     ///< E' - E
  double load = 0;       ///< work of loads
  double kinematic = 0;  ///< work done by bodies with prescribed motion
  double motor = 0;      ///< work of motors on joints
  double damping = 0;    ///< work of dampers (<= 0)
  double friction = 0;   ///< work of tangential contact impulses and of dry friction in joints
  double impact = 0;     ///< work of normal contact impulses and of joint limits
  double numerical = 0;
  double correction = 0;  ///< energy that corrections of positions have changed (docs/step.md)

  void add(const EnergyLedger& part);
};

/// What a step says about itself. No tolerances here: judging is for whoever reads it.
struct Certificate {
  Residuals residual;
  double penetration = 0;  ///< at the end of the step, from the geometry, m
  double joint_error = 0;  ///< at the end of the step, m or rad
  EnergyLedger ledger;
};

struct PhaseTimes {
  double collision = 0, assemble = 0, solve = 0, advance = 0;  ///< seconds
  double broad_phase = 0;                                      ///< part of collision: which shapes are near each other
  double certify = 0;                                          ///< part of solve: the judge's last word
  double audit = 0;                                            ///< the world's certificate
};

enum class EventKind : std::uint8_t { Impact, Takeoff, Stick, Slip };
std::string_view name_of(EventKind kind);

struct Event {
  EventKind kind = EventKind::Impact;
  double time = 0;
  int body_a = kWorld, body_b = kWorld;
  double normal_speed_before = 0, normal_speed_after = 0;
};

/// How a step was divided to keep to SimulationOptions::accuracy.
struct PaceReport {
  int parts = 0, rejected = 0;
  int coarse = 0;       ///< parts as short as can be, and still not good enough
  double error = 0;     ///< m: the sum of what they are estimated to add to the error of the worst body
  double shortest = 0;  ///< s

  void add(const PaceReport& step);
};

/// How good a step's answer is (docs/certificate.md).
enum class Grade : std::uint8_t {
  None,  ///< not certified
  Heap,  ///< to SimulationOptions::heap_tolerance: heaps, and islands that were finished short of the tolerance
  Exact  ///< to SimulationOptions::tolerance
};
std::string_view name_of(Grade grade);  ///< "not certified", "heap", "exact"

struct StepReport {
  Certificate certificate;
  bool certified = false;
  bool heap = false;     ///< a part of it was judged by SimulationOptions::heap_tolerance
  bool failed = false;   ///< no finite answer was found, or `stopped`: the state did not change
  bool stopped = false;  ///< SimulationOptions::stop came true within the step
  int iterations = 0;
  int escalations = 0;     ///< rungs climbed on the ladder of solvers, or relaxations of the problem, in this step
  double work = 0;         ///< row operations (WorkMeter), in all problems of the step
  bool settled = false;    ///< finished short of the tolerance, at certificate.residual.verdict()
  bool exhausted = false;  ///< the work was used up before the tolerance was met
  int reach_repeats = 0;   ///< the step was redone because a contact without a row had closed
  int late_repeats = 0;    ///< and with rows for contacts that only its end showed (docs/step.md)
  int core_repeats = 0;    ///< and with rows on the way of centres that would have gone into something (docs/step.md)
  int core_rows = 0;       ///< such rows in the trials that were accepted
  int divisions = 0;       ///< parts of the step that end because something fast is near (docs/step.md)
  PaceReport pace;
  int corrections = 0;    ///< 1: overlap was corrected after the step, in positions alone (docs/step.md)
  double corrected = 0;   ///< m: the farthest that a point of a body was moved by that
  int open_joints = 0;    ///< joints too far apart to be closed by speed: held as they stand (docs/step.md)
  int events = 0;         ///< impacts, take-offs, sticks and slips in this step
  int impact_guards = 0;  ///< impacts whose law would have gained energy and gave way to the simplified one
  int contacts = 0;
  int contacts_found = 0;  ///< before reduction (SimulationOptions::reduce_contacts)
  int warm_contacts = 0;   ///< of these, known from the last step: they begin with its impulse
  int rows = 0;
  int islands = 0;        ///< solved, in all problems of the step
  int held = 0;           ///< of these, answered by the last step's impulses (SimulationOptions::hold_resting)
  int not_unique = 0;     ///< contacts of the last step that carry a force which is not the only one possible
  int arbitrary = 0;      ///< of these: not those of equal springs either (docs/certificate.md)
  int choices = 0;        ///< factorizations for the choice of forces that are not unique
  WorldVerdict world;     ///< of the pairs that were looked at after this step
  std::string_view note;  ///< why it is not certified
  PhaseTimes seconds;
  std::string_view relaxed;  ///< what was left out of the law to find an answer; empty: nothing (docs/certificate.md)

  Grade grade() const { return !certified ? Grade::None : heap ? Grade::Heap : Grade::Exact; }
};

/// A contact of the last step with its mean force on body B over the step, N, world.
struct ContactForce {
  Contact contact;
  Vec3 force = Vec3::Zero();
  Uniqueness uniqueness = Uniqueness::Unknown;  ///< of several parts of a step: the worst
  double friction = 0;  ///< the coefficient that bounded it; by slip, of several parts of a step: that of the last
};

struct EnergySplit {
  double kinetic = 0, potential = 0;
};

/// What holds a model, its initial state and options: a Scene (scene.h).
template <class T>
concept SceneLike = requires(const T& scene) {
  { scene.model } -> std::convertible_to<const Model&>;
  { scene.initial } -> std::convertible_to<const State&>;
  { scene.options } -> std::convertible_to<const SimulationOptions&>;
};

struct StepPart;  // parts.h

class Simulation {
 public:
  /// Options must be free of faults (find_option_faults).
  Simulation(Model model, State initial, SimulationOptions options);
  explicit Simulation(const SceneLike auto& scene) : Simulation(scene.model, scene.initial, scene.options) {}
  ~Simulation();
  Simulation(Simulation&&) noexcept;
  Simulation& operator=(Simulation&&) noexcept;

  /// One step. A numerical failure is reported, not thrown; the state then holds the best answer that there is.
  const StepReport& step();
  /// The same with other inputs than the scene's; they hold for the whole step, through all events in it. step() is
  /// step(inputs()). Inputs with faults, or of another model, make no step: StepReport::failed.
  const StepReport& step(const Inputs& inputs);
  /// The same step; also its last problem and its warm start as they were before solving (and before any relaxation).
  const StepReport& step_and_keep(Problem* problem, Solution* guess);

  /// Loads and motor targets as the scene says for the coming step.
  Inputs inputs() const;
  void update_inputs(Inputs* inputs) const;  ///< the same without new memory
  /// Continues from a state of this model. Exact: with the same inputs the next steps have the same bits as they had.
  /// Faults (sizes of another model, numbers that are none): the present state stays.
  Faults set_state(const State& state);

  /// From the next step on `pgs` with at most so many sweeps per problem, whatever the options say; 0: as they say
  /// again. What a step with a budget reached is judged and reported like any other.
  void set_budget(int sweeps);

  const Model& model() const;
  const State& state() const;
  const SimulationOptions& options() const;
  /// Contacts of the present state within reach of the next step, sorted by key.
  std::span<const Contact> contacts() const;
  /// The contacts that carried a force in the last step (empty before the first step).
  std::span<const ContactForce> contact_forces() const;
  /// Coordinates and speeds of the present state, forces of the last step (zero before the first and after set_state).
  /// References stay good as long as the simulation, and are of the latest step. Unknown: JointReading::joint is -1.
  const JointReading& joint(std::string_view name) const;
  const JointReading& joint(int index) const;
  std::span<const JointReading> joints() const;    ///< one per Model::joints
  std::span<const SpringReading> springs() const;  ///< one per Model::springs
  /// A sensor of the scene by name or by its place there. Its span stays good as long as the simulation.
  SensorReading sensor(std::string_view name) const;
  SensorReading sensor(int index) const;
  std::span<const double> sensors() const;          ///< the numbers of all, one after the other
  std::span<const BodyForces> body_forces() const;  ///< one per body
  /// From the next step on: what a step was made of is kept until the next one. No bit of the motion depends on it.
  void keep_parts(bool keep);
  /// Of the last step, in their order (parts.h); empty where nobody asked for them before it.
  std::span<const StepPart> parts() const;
  /// The problem that the last step solved.
  const Problem& problem() const;
  /// The world's certificate of the present state: every near pair of shapes, whatever the options say.
  WorldVerdict check_world();
  EnergySplit energy() const;
  std::span<const Event> events() const;  ///< of the last step, in the order of time
  /// (1 - alpha) v + alpha v' of the last step: what constraints hold for, and free of the oscillation that v has
  /// for alpha < 1 ([Gavrea08]); the velocity itself for other schemes and before the first step.
  std::span<const Twist> weighted_velocity() const;
  /// What a user should know about the choice of parameters; found once, before the first step.
  std::span<const std::string> warnings() const;
  /// One entry per rung of the ladder, in its order, the prototype first.
  std::span<const SolverStatistics> solver_statistics() const;

 private:
  struct Impl;
  Impl& impl() const;
  std::unique_ptr<Impl> impl_;
};

/// The pose and velocity a person asks about: of the body's own frame (not the centre of mass), all in world axes.
struct WorldMotion {
  Pose pose;
  Vec3 velocity = Vec3::Zero();
  Vec3 angular_velocity = Vec3::Zero();
};
WorldMotion calc_world_motion(const Body& body, const Pose& pose, const Twist& velocity);

}  // namespace slipstick
