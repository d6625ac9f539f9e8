// Fixed steps: one trial from the state to the end of the step. It is repeated if a body leaves it faster than stage 3
// assumed, or if its end shows contacts that had no row.
#include "step/drivers/driver.h"
#include "step/impact_stage.h"
#include "step/late_contacts.h"

namespace slipstick {

namespace {

class FixedDriver final : public Driver {
 public:
  explicit FixedDriver(Pipe* pipe) : Driver(pipe), late_(pipe->model) {}

  void begin() override {
    is_late_ = false;
    pipe_.input.state = &pipe_.state;
    pipe_.input.h = pipe_.options.step;
  }
  void prepare() override;
  bool accept() override;
  bool commit() override;

 private:
  void remember();

  LateContacts late_;
  bool is_late_ = false;  ///< the trial has `with_late_` instead of what was found
  ContactSet with_late_;  ///< what was found, and what the end of a trial has shown
  ImpactStage impacts_;
  bool rebounded_ = false;
  State restarted_;  ///< the state with the velocities after the impact stage
};

/// What has closed rebounds, and the trial begins with the velocities after that.
void FixedDriver::prepare() {
  StepInput& input = pipe_.input;
  input.state = &pipe_.state;
  input.contacts = is_late_ ? &with_late_ : &pipe_.found;
  rebounded_ = false;
  if (!pipe_.scheme.has_impact_stage()) return;
  const Stopwatch watch(&pipe_.report.seconds.solve);
  rebounded_ = impacts_.run(input, pipe_.scheme, &pipe_.solver, &restarted_);
  if (rebounded_) input.state = &restarted_;
}

bool FixedDriver::accept() {
  pipe_.report.contacts = static_cast<int>(pipe_.without_limits(*pipe_.input.contacts).size());
  pipe_.report.contacts_found = pipe_.found_count;
  if (!pipe_.covers_end()) {
    pipe_.input.state = &pipe_.state;
    is_late_ = false;
    return false;
  }
  const Stopwatch watch(&pipe_.report.seconds.collision);
  const double h = pipe_.options.step;
  if (pipe_.report.late_repeats >= kMaxLateRepeats ||
      !late_.find(pipe_.state, pipe_.end, h, pipe_.reach.lengths(h), *pipe_.input.contacts, &pipe_.finder, &with_late_))
    return true;
  ++pipe_.report.late_repeats;
  is_late_ = true;
  return false;
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
