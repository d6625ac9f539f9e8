// Fixed steps: one trial from the state to the end of the step. It is repeated if a body leaves it faster than stage 3
// assumed, if a centre went into something on the way, or if its end shows contacts that had no row.
#include "step/core_rows.h"
#include "step/drivers/driver.h"
#include "step/impact_stage.h"
#include "step/late_contacts.h"

namespace slipstick {

namespace {

class FixedDriver final : public Driver {
 public:
  explicit FixedDriver(Pipe* pipe)
      : Driver(pipe), late_(pipe->model), cores_(pipe->model), gamma_(pipe->scheme.weights(pipe->options).gamma) {}

  void begin() override {
    begin_trials();
    pipe_.input.state = &pipe_.state;
    pipe_.input.h = pipe_.options.step;
  }
  void prepare() override;
  bool accept() override;
  bool commit() override;

 private:
  void begin_trials();
  bool find_cores();
  bool find_late();
  void remember();

  LateContacts late_;
  CoreRows cores_;
  double gamma_;
  int core_repeats_ = 0;
  bool is_extended_ = false;  ///< the trial has `extended_` instead of what was found
  ContactSet extended_;       ///< what was found, and what the ends of trials and the ways to them have shown
  ImpactStage impacts_;
  bool rebounded_ = false;
  State restarted_;  ///< the state with the velocities after the impact stage
};

/// What has closed rebounds, and the trial begins with the velocities after that.
void FixedDriver::prepare() {
  StepInput& input = pipe_.input;
  input.state = &pipe_.state;
  input.contacts = is_extended_ ? &extended_ : &pipe_.found;
  rebounded_ = false;
  if (!pipe_.scheme.has_impact_stage()) return;
  const Stopwatch watch(&pipe_.report.seconds.solve);
  rebounded_ = impacts_.run(input, pipe_.scheme, &pipe_.solver, &restarted_);
  if (rebounded_) input.state = &restarted_;
}

/// Nothing is known yet of what the set found does not have.
void FixedDriver::begin_trials() {
  is_extended_ = false;
  core_repeats_ = 0;
  cores_.begin();
}

bool FixedDriver::accept() {
  pipe_.report.contacts = static_cast<int>(pipe_.without_limits(*pipe_.input.contacts).size());
  pipe_.report.contacts_found = pipe_.found_count;
  if (!pipe_.covers_end()) {
    pipe_.input.state = &pipe_.state;
    begin_trials();
    return false;
  }
  // Ways first: the end of one that goes through something says nothing of the contacts that there should be.
  const Stopwatch watch(&pipe_.report.seconds.collision);
  return !find_cores() && !find_late();
}

/// Does the centre of anything go into something? Again, with a row against that.
bool FixedDriver::find_cores() {
  if (core_repeats_ >= kMaxCoreRepeats) return false;
  FastPairs& fast = pipe_.world.fast();
  fast.find(pipe_.state, pipe_.end, pipe_.options.step, gamma_, 1, pipe_.found.contacts);
  if (!cores_.find(pipe_.state, &fast, &pipe_.finder)) return false;
  ++core_repeats_;
  ++pipe_.report.core_repeats;
  if (!is_extended_) extended_ = pipe_.found;
  is_extended_ = true;
  cores_.put_into(&extended_);
  return true;
}

bool FixedDriver::find_late() {
  const double h = pipe_.options.step;
  if (pipe_.report.late_repeats >= kMaxLateRepeats ||
      !late_.find(pipe_.state, pipe_.end, h, pipe_.reach.lengths(h), *pipe_.input.contacts, &pipe_.finder, &extended_))
    return false;
  ++pipe_.report.late_repeats;
  is_extended_ = true;
  return true;
}

bool FixedDriver::commit() {
  if (rebounded_) {
    pipe_.book(impacts_.result());
    pipe_.events = impacts_.events();
    StepInput at = pipe_.input;
    at.contacts = &impacts_.contacts();
    pipe_.add_impulses(at, impacts_.scratch());
  }
  remember();
  pipe_.weighted = pipe_.end.velocity;
  pipe_.commit(&pipe_.end);
  return true;
}

/// What the next step must know of this one's contacts and joints.
void FixedDriver::remember() {
  const StepProblem& made = pipe_.trial.made();
  const VecX& lambda = pipe_.trial.solution().lambda;
  const std::vector<ContactMemory>& last = pipe_.state.contact_memory;
  State& end = pipe_.end;
  end.contact_memory.clear();
  const double largest = pipe_.trial.calc_largest_normal();
  std::size_t m = 0;
  for (std::size_t i = 0; i < made.equations->contacts.size(); ++i) {
    const int row = made.map.contact_row[i];
    if (row < 0 || !(lambda[row] > kLoaded * largest)) continue;
    const Contact& contact = pipe_.input.contacts->contacts[made.equations->contacts[i].contact];
    if (contact.central) {
      ++pipe_.report.core_rows;
      pipe_.add_force(contact, pipe_.trial.calc_contact_impulse(i, made.impulse_scale));
      continue;
    }
    ContactMemory memory;
    memory.key = contact.key;
    memory.impulse = pipe_.trial.calc_contact_impulse(i, made.impulse_scale);
    memory.loaded = true;
    while (m < last.size() && last[m].key < contact.key) ++m;
    const bool was_loaded = m < last.size() && last[m].key == contact.key && last[m].loaded;
    memory.collided = !was_loaded && made.restitution[i] == 0;
    end.contact_memory.push_back(memory);
    pipe_.add_force(contact, memory.impulse);
  }
  end.joint_impulse.resize(pipe_.model.joint_rows);
  for (int r = 0; r < pipe_.model.joint_rows; ++r)
    end.joint_impulse[r] = made.map.joint_row[r] < 0 ? 0.0 : lambda[made.map.joint_row[r]];
}

}  // namespace

std::unique_ptr<Driver> make_fixed_driver(Pipe* pipe) { return std::make_unique<FixedDriver>(pipe); }

std::unique_ptr<Driver> make_driver(Pipe* pipe) {
  const bool fixed = pipe->scheme.looks_ahead() && !pipe->scheme.locates(pipe->options);
  return fixed ? make_fixed_driver(pipe) : make_event_driver(pipe);
}

}  // namespace slipstick
