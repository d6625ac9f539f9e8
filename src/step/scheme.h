// A scheme turns equations into a problem and its solution into motion: the only place where the time step enters.
#pragma once

#include <slipstick/simulation.h>

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "mechanics/equations.h"

namespace slipstick {

/// Where the rows of each element sit in the problem: first row, or -1 where the element has none.
struct RowMap {
  std::vector<int> column_of_body;  ///< -1: no unknowns
  std::vector<int> joint_row;       ///< per entry of State::joint_impulse: row in the problem, or -1 (no freedom)
  std::vector<int> spring_row;      ///< per Equations::springs
  std::vector<std::array<double, 3>> spring_known;  ///< lambda of those that are explicit forces and have no row
  std::vector<int> contact_row;                     ///< per Equations::contacts
  std::vector<int> contact_block;                   ///< per Equations::contacts: of Problem::blocks, or -1
};

/// The weights of [Gavrea08]: the problem's unknown is u = (1 - alpha) v + alpha v', and
/// q' = move(q, (1 - gamma) v + gamma v', h).
struct Weights {
  double alpha = 1, gamma = 1;
};

/// A body that comes down within the step (landing.h). Its velocity at the start of the trial is that at the touch.
struct Landing {
  double share = -1;  ///< of the trial, at which it touches; below 0: it does not
  double acted = 0;   ///< how long forces have acted on that velocity since it was the state's, s
};

/// What a scheme reads. Nothing in here is written by `discretize`.
struct StepInput {
  const Model* model = nullptr;
  const SimulationOptions* options = nullptr;
  const State* state = nullptr;
  const ContactSet* contacts = nullptr;
  const Drive* drive = nullptr;       ///< what is applied beside what the scene says; null: nothing
  std::span<const Twist> prescribed;  ///< velocities of kinematic bodies in this step; zero for the others
  double h = 0;                       ///< the length of this step; 0: an impact
  double h_nominal = 0;  ///< the step without events: position errors are divided by this, however short h is
  const ContactSet* middle = nullptr;  ///< the same contacts, in the same order, at Scheme::row_place; null: not known
  bool backward = false;  ///< the family: take this step with alpha = gamma = 1 (an impulse without collision)
  bool closed = false;    ///< the contacts are the closed ones; what is open is left to the event driver
  std::span<const Landing> landing;  ///< per body; empty: none comes down
  std::span<const char> rolling;     ///< per body: what carries it acts at both ends (contact_ends.h); empty: none does
  const ThreadTeam* team = nullptr;  ///< who helps; null: nobody
};

/// For how long the forces at both ends of a step act on a body (flight.h), s.
struct Kick {
  double early = 0;            ///< those of the start, before the trial (Landing::acted)
  double before = 0;           ///< those of the start, before the problem
  double after = 0;            ///< those of the end, after it
  Vec6 load = Vec6::Zero();    ///< the loads of the end
  Vec6 spring = Vec6::Zero();  ///< impulses of springs at the end, N s
};

/// The end of a joint's range that is held at both ends of a trial (range_ends.h).
struct RangeEnd {
  bool held = false, pushes = false;  ///< pushes: it carries load at the start, and may do so at the end
  PairRow row;                        ///< at the end
  double impulse = 0;                 ///< there, N s
};

/// Joints and rotors that act at both ends of a trial (joint_ends.h), by entries of State::joint_impulse.
struct JointEnd {
  std::vector<char> split;      ///< lambda of the problem is its impulse at the start, and another one acts at the end
  std::vector<double> impulse;  ///< that one, N s
  const Equations* start = nullptr;  ///< those of the start
  bool active = false;               ///< there are such impulses
  Equations equations;               ///< joints, axes and couplings at the end
  std::vector<Vec6> body;            ///< what they do to each body there
  std::vector<RangeEnd> ranges;      ///< per Equations::contacts, up to the last that is held
  std::vector<Vec6> once;  ///< alpha = 1/2: impulses on each body at the start that the scheme has given twice
};

/// Contacts that act at both ends of a trial (contact_ends.h).
struct ContactEnd {
  bool active = false;                         ///< there are such impulses
  std::vector<char> held;                      ///< per Equations::contacts: lambda is its impulse at the start alone
  std::vector<int> of;                         ///< per contact at the end: which of Equations::contacts it is
  ContactSet contacts;                         ///< at the end
  std::vector<ContactRows> rows;               ///< theirs
  std::vector<std::array<double, 6>> impulse;  ///< of each row, N s
  std::vector<Vec6> body;                      ///< what they do to each body there
  std::vector<Twist> way;                      ///< u of the trial, between both
};

/// What stage 5 makes: a problem, and where everything sits in it.
struct StepProblem {
  const Equations* equations = nullptr;  ///< whose rows these are: those of stage 4, or the scheme's own
  std::span<const Pose> pose;            ///< where the rows are taken
  std::vector<Kick> kick;                ///< per body; `discretize` reads it
  std::vector<double> spring_before;     ///< per Equations::springs: how long it is a force, s; 0: it is a row
  std::vector<SpringRows> spring_end;    ///< those of Model::springs at the end of the trial; empty: nobody asked
  std::vector<std::array<double, 3>> spring_impulse;  ///< what they did there, N s
  /// Per Equations::springs: mean rates of elongation of those that are taken at the end of their way (joint_ends.h),
  /// m/s; nothing: those of the rows count. Empty: all are so.
  std::vector<std::array<std::optional<double>, 3>> spring_rate;
  std::vector<double> last_impulse;  ///< State::joint_impulse, or in a first step what its first pass found, N s
  JointEnd joint_end;
  ContactEnd contact_end;
  std::vector<char> turning;  ///< per body: its momentum is carried along (update_turning); may be empty
  /// Per body, added to its inertia on both sides (geometric_stiffness.h), kg m^2; empty: none has any.
  std::vector<Mat3> added_inertia;
  /// Per body, in a further pass: the spin of the one before, where constraints at both ends bend the turn. Empty:
  /// none.
  std::vector<std::optional<Vec3>> bent_spin;
  std::vector<Vec3> turn;           ///< per body: what of I omega b leaves out (calc_turning_momentum)
  std::vector<double> restitution;  ///< Lambda_j of [Anitescu03], per contact row block, m/s (<= 0)
  /// Of the normal row of each contact, m/s: restitution and the gap's share, without what prescribed bodies add to c.
  std::vector<double> offset;
  double impulse_scale = 1;  ///< 1/alpha: physical impulses are this times lambda
  RowMap map;
  Problem problem;

  /// N s per unit of lambda of an entry of State::joint_impulse.
  double joint_unit(int slot) const { return joint_end.split[slot] ? 1 : impulse_scale; }
  /// Contact i of the equations as the end of a range that is held at both ends of the trial; null: it is none.
  const RangeEnd* find_range(std::size_t i) const {
    return i < joint_end.ranges.size() && joint_end.ranges[i].held ? &joint_end.ranges[i] : nullptr;
  }
  /// All that it did in the trial, N s.
  double calc_joint_impulse(int slot, const Solution& solution) const {
    const double end = joint_end.active ? joint_end.impulse[slot] : 0;
    return map.joint_row[slot] < 0 ? end : joint_unit(slot) * solution.lambda[map.joint_row[slot]] + end;
  }
};

/// An option of a scheme as scene files name it, and where it is kept.
struct SchemeKey {
  using Place = std::variant<double*, std::optional<double>*, bool*, std::optional<bool>*, EventState*>;
  std::string_view key;
  Place (*place)(SimulationOptions*);
};

/// Which contacts rebound before a step.
enum class ImpactsBefore : std::uint8_t { None, Closed, Ahead };  ///< Ahead: those too that will close within it

/// A scheme belongs to one simulation and keeps its own scratch; forgetting that between steps changes nothing.
class Scheme {
 public:
  virtual ~Scheme() = default;
  virtual std::string_view name() const = 0;
  /// True: contacts that may close within the step belong to the active set; false: only those that touch.
  virtual bool looks_ahead() const = 0;
  virtual Weights weights(const SimulationOptions&) const { return {}; }
  /// Events inside the step are looked for.
  virtual bool locates(const SimulationOptions& options) const { return options.locate.value_or(!looks_ahead()); }
  /// Where in the step contact rows are wanted, as a share of it; above 0 StepInput::middle is filled.
  virtual double row_place(const SimulationOptions&) const { return 0; }
  /// Contacts go through an impact before the step (step/impact_stage.h), with fixed steps.
  virtual ImpactsBefore impacts_before(const SimulationOptions&) const { return ImpactsBefore::None; }
  /// Rigid joints hold at both ends of a trial (joint_ends.h).
  virtual bool closes_joints(const SimulationOptions&) const { return false; }
  /// Bodies that heavy loads hold have more inertia (StepProblem::added_inertia).
  virtual bool stiffens_turns() const { return false; }
  /// Springs of bodies in flight act at both ends of the step (flight.h).
  virtual bool splits_springs() const { return false; }
  /// Overlap is taken away in positions (step/correction.h): not where it is elastic, or nobody asks for it.
  virtual bool corrects_overlap(const SimulationOptions&) const { return true; }
  /// Joint rows of an impact: h = 0, no offsets. Default: compliant joints take no part.
  virtual void add_impact_joints(const StepInput& input, const std::vector<JointRows>& joints, Problem* problem,
                                 RowMap* map) const;
  /// The options that scene files may give beside its name: `scheme: {NAME: {key: value}}`.
  virtual std::span<const SchemeKey> keys() const { return {}; }
  /// Adds what is wrong with the ranges of its own options, one line each; also where another scheme is chosen.
  virtual void find_faults(const SimulationOptions&, std::vector<OptionFault>*) const {}
  /// What a user should know about the parameters chosen, one line each.
  virtual std::vector<std::string> find_warnings(const Model&, const SimulationOptions&) const { return {}; }
  /// Stage 5. `again`: `refine` has asked for it, and the problem is to be built with what that has found.
  virtual void discretize(const StepInput& input, const Equations& equations, bool again, StepProblem* made) = 0;
  /// After the solution of a first `discretize`: true if a second one is worth its price.
  virtual bool refine(const StepInput&, const StepProblem&, const Solution&) { return false; }
  /// The impulse beside all forces that changes I omega of a body in the trial just made, which ends at `next`, N m s,
  /// body axes. Default: that of the turn.
  virtual Vec3 calc_inertial_impulse(const StepInput& input, const StepProblem& made, const Solution& solution,
                                     const State& next, int body) const;
  /// The share of it that added inertia is the cause of (StepProblem::added_inertia): what the scheme takes from the
  /// angular momentum of a body on purpose, in its axes at the rows.
  virtual Vec3 calc_added_moment(const StepInput& input, const StepProblem& made, const Solution& solution,
                                 int body) const;
  /// Stage 9: poses and velocities at t + h. Default: the problem's unknown u moves the pose, q' = move(q, u, h), and
  /// is the velocity at its end; omega of bodies that turn freely is what their momentum becomes there.
  virtual void advance(const StepInput& input, const StepProblem& made, const Solution& solution, State* next) const;
};

/// A new scheme, or null for an unknown name.
std::unique_ptr<Scheme> make_scheme(std::string_view name);

}  // namespace slipstick
