// What the stages of a step hand to each other, and the stages that all drivers share. Each member is written by one
// stage (its number is given) and read by the later ones.
#pragma once

#include <slipstick/simulation.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/thread_team.h"
#include "collision/contact_finder.h"
#include "collision/reduce_contacts.h"
#include "step/correction.h"
#include "step/impact.h"
#include "step/impulses.h"
#include "step/part_log.h"
#include "step/reach.h"
#include "step/readings.h"
#include "step/sensors.h"
#include "step/trial.h"
#include "step/world_check.h"

namespace slipstick {

struct Pipe {
  /// Keeps references. The contacts of `initial` are known after this.
  Pipe(const Model& model, const SimulationOptions& options, State initial, Scheme* scheme);

  bool check_state();        ///< 1: false, and the report says why, if a number of the state is none
  void update_kinematics();  ///< 2: velocities of kinematic bodies in the middle of the trial
  void find_contacts();      ///< 3: at the start of the trial, if nobody has looked there yet
  void audit();              ///< 11: of a trial that is accepted; several in a step are summed up
  /// 12: `reached` becomes the state, its contacts are looked for, and overlap is corrected. `reached` is scratch after
  /// this. StepReport::stopped: the state is the one before. `before`: the velocities that rebounds of the next step
  /// answer, those before the step or before its last part.
  void commit(std::span<const Twist> before, State* reached);

  /// Before stage 2: nothing has happened in this step yet.
  void begin();
  /// The same for a step that is taken again as a whole: what its first trials have cost stays in the report.
  void begin_again();
  /// The step leaves everything as it was, and the report says why.
  const StepReport& fail(std::string_view note);
  /// The same for a value that is no number: the report names the formula that it came from, or says `otherwise`.
  const StepReport& fail_for_value(std::string_view otherwise);
  /// SimulationOptions::stop: what was made since the last look may be incomplete.
  bool is_stopped() const { return options.stop != nullptr && options.stop->load(std::memory_order_relaxed); }
  /// The step is given up: everything is as before it.
  const StepReport& discard();
  /// The next trial starts at `start`, which is kept by reference: stage 3 of it is done.
  void look_from(const State& start);
  /// All contacts of `state` within reach, and the limits of joints before them.
  void find(const State& state, ContactSet* contacts);
  /// False if the trial has ended faster than stage 3 assumed; the next stage 3 then looks farther. At most so many
  /// times in a row.
  bool covers_end();
  /// Reach and contacts of `start` again, for a trial from there that has ended faster than stage 3 assumed.
  void look_farther(const State& start);
  /// What an impact or a projection of velocities did goes to the report. `kinematic`: of add_impulses.
  void book(const ImpactResult& impact, double kinematic);
  void book(const LadderResult& solved);
  /// Adds their impulses to those of the step; `at` is what they were given. The work of bodies with prescribed motion.
  /// `places`, of all bodies then; empty: those of `at`.
  double add_impulses(const StepInput& at, const ImpactScratch& scratch, PartKind kind = PartKind::Impact,
                      std::span<const Pose> places = {});
  /// Adds to the mean force of a contact over the step, N s on body B.
  void add_force(const Contact& contact, double friction, const Vec3& impulse, Uniqueness uniqueness);
  /// `end` knows what joints carry in a whole step: what `start` knew of them, for the part of it that the accepted
  /// trial did not see, and what they did in that. Times as many as such trials there are in a step, the speed that
  /// closes a joint would count as a load: it is given at once, however short the trial.
  void remember_joints(const State& start);
  /// The share of the accepted trial that counts: 1, or less where its end was interpolated.
  double calc_share() const { return input.h / trial.h(); }
  /// Before anybody reads joints, or what they do to bodies: reactions that are not unique are chosen, in this step at
  /// once and in later ones as they end. Nothing is spent on that where nobody reads.
  const Readings& read();
  /// Everything that is not in the state is found from it: as after construction.
  void restart(State from);
  /// Limits of joints come first in a set; they are no contacts to those who ask for them.
  std::span<const Contact> without_limits(const ContactSet& set) const;

  const Model& model;
  const SimulationOptions& options;
  Scheme& scheme;
  ThreadTeam team;
  StepSolver solver, end_solver;
  ContactFinder finder;
  Reach reach;
  WorldCheck world;
  Trial trial;  ///< 4 to 9

  State state;      ///< 12
  StepInput input;  ///< what the trial is given: by the driver
  const ContactSet* taken =
      nullptr;  ///< the contacts that it was made with, where the driver changes those of `input` later
  std::vector<Twist> prescribed;  ///< 2
  bool has_motions = true;        ///< 2: all of them are numbers; those that are not stand still
  ContactSet found;               ///< 3, at input.state
  int found_count = 0;            ///< 3: contacts before reduction
  double found_depth = 0;         ///< 3: the deepest of them
  State end;                      ///< 9
  StepReport report;
  std::vector<Event> events;
  std::vector<ContactForce> forces;  ///< sorted by key; impulses, N s, until stage 12
  PartLog log;                       ///< of all that the step did, where somebody wants it
  StepImpulses impulses;             ///< 11: of all parts
  Readings readings;                 ///< 12: see read()
  Sensors sensors;                   ///< 12
  std::vector<Twist> weighted;       ///< Simulation::weighted_velocity

 private:
  std::string value_fault_;  ///< what the report's note points to
  std::mutex reading_;
  std::atomic<bool> read_ = false;          ///< of this step: joints have been shared, or need not be
  std::atomic<bool> reads_joints_ = false;  ///< somebody has asked
  void look_around();
  void correct();
  void update_joint_error(const State& at);
  void search(const State& at, ContactSet* contacts);
  void look_again(std::span<const char> bodies);
  void take_found();

  Correction correction_;
  State uncorrected_;  ///< its motion, before a correction
  ContactReducer reducer_;
  ContactSet part_;                  ///< of look_again
  std::vector<std::size_t> places_;  ///< of these
  std::vector<char> changed_;        ///< bodies that a correction has moved
  std::vector<JointRows> joint_scratch_;
  bool known_ = false;  ///< `found` is of this trial's start and reach
  int repeats_ = 0;     ///< of the trial, for its reach
};

}  // namespace slipstick
