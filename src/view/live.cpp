#include "view/live.h"

#include "view/clip.h"
#include "view/live_motors.h"
#include "view/pull.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace slipstick {

namespace {

constexpr std::size_t kMaxWatchers = 4;
constexpr std::size_t kMaxEntries = 64;
constexpr auto kFramePeriod = std::chrono::microseconds(16000);

std::vector<float> make_joint_row(const RecordFrame& frame) {
  std::vector<float> row;
  for (std::size_t j = 0; j < frame.joint_position.size(); ++j) {
    for (const auto& column : {frame.joint_position, frame.joint_velocity, frame.joint_motor})
      row.push_back(static_cast<float>(column[j]));
    for (const double value : frame.joint_reaction.subspan(6 * j, 6)) row.push_back(static_cast<float>(value));
  }
  return row;
}

}  // namespace

void LiveInbox::put(Message message, bool may_be_dropped) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    if (entries_.size() >= kMaxEntries) {
      const auto old = std::find_if(entries_.begin(), entries_.end(), [](const Entry& e) { return e.may_be_dropped; });
      if (old == entries_.end()) return;
      entries_.erase(old);
    }
    entries_.push_back({std::move(message), may_be_dropped});
  }
  changed_.notify_one();
}

LiveInbox::Message LiveInbox::take(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, timeout, [&] { return closed_ || !entries_.empty(); });
  if (closed_ || entries_.empty()) return nullptr;
  Message message = std::move(entries_.front().message);
  entries_.pop_front();
  return message;
}

void LiveInbox::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

bool LiveInbox::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

double calc_first_speed(double duration) {
  constexpr double kShort = 0.5, kShownAtLeast = 2;  // s
  if (!(duration > 0) || duration >= kShort) return 1;
  return std::pow(10.0, std::floor(std::log10(duration / kShownAtLeast)));
}

LiveSimulation::LiveSimulation(Scene scene, const ViewOptions& options)
    : reload_(options.reload),
      options_(scene.options),
      record_(options.record),
      scene_(std::make_shared<const Scene>(std::move(scene))),
      speed_(calc_first_speed(options_.duration)),
      wanted_options_(options_) {
  restart(scene_->initial);
  record_fault_ = record_.error();
  frames_.update_frame(*simulation_);
  last_frame_ = std::make_shared<const std::string>(make_frame_packet());
  thread_ = std::thread([this] { loop(); });
}

LiveSimulation::~LiveSimulation() {
  end();
  thread_.join();
  record_.end(RunEnd::Interrupted);
}

std::shared_ptr<const Scene> LiveSimulation::scene() const {
  const std::lock_guard lock(mutex_);
  return scene_;
}

void LiveSimulation::end() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    for (const auto& inbox : inboxes_) inbox->close();
  }
  wake_.notify_all();
}

std::shared_ptr<LiveInbox> LiveSimulation::watch() {
  std::shared_ptr<const Scene> described = scene();
  auto first = std::make_shared<const std::string>(make_first_packet(*described, reload_ != nullptr));
  const std::lock_guard lock(mutex_);
  if (described != scene_)  // changed meanwhile: description and frame are to be of the same scene
    first = std::make_shared<const std::string>(make_first_packet(*scene_, reload_ != nullptr));
  if (stop_ || inboxes_.size() >= kMaxWatchers) return nullptr;
  auto inbox = std::make_shared<LiveInbox>();
  inbox->put(std::move(first), false);
  inbox->put(last_frame_, true);
  inboxes_.push_back(inbox);
  watched_ = true;
  wake_.notify_all();
  return inbox;
}

void LiveSimulation::leave(const std::shared_ptr<LiveInbox>& inbox) {
  const std::lock_guard lock(mutex_);
  if (std::erase(inboxes_, inbox) == 0) return;
  wishes_.pull_changed = true;  // a hand that has gone lets go
  wishes_.pull.reset();
  wake_.notify_all();
}

/// A simulation is cheap to make anew and continues from any state with the same bits: that is how the scheme, the
/// solver and the step change while it runs.
void LiveSimulation::restart(const State& state) {
  simulation_ = std::make_unique<Simulation>(scene_->model, state, options_);
  held_.resize(scene_->model.axes.size());
  record_.begin(*scene_, *simulation_);
}

/// The same scene with other values of its variables, from its beginning. What the page has chosen stays.
void LiveSimulation::reload(const std::vector<std::pair<std::string, double>>& variables) {
  auto all = variables_;
  all.insert(all.end(), variables.begin(), variables.end());  // the last value of a name counts
  auto loaded = reload_(all);
  if (!loaded) {
    note_ = loaded.faults().front().text();
    return;
  }
  std::erase_if(variables_, [&](const auto& old) {
    return std::any_of(variables.begin(), variables.end(), [&](const auto& given) { return given.first == old.first; });
  });
  variables_.insert(variables_.end(), variables.begin(), variables.end());
  SimulationOptions options = loaded->options;
  if (options_.scheme != scene_->options.scheme) options.scheme = options_.scheme;
  if (options_.step != scene_->options.step) options.step = options_.step;
  if (options_.solver != scene_->options.solver) {
    options.solver = options_.solver;
    options.solver_options = options_.solver_options;
  }
  options_ = options;
  held_.clear();
  inputs_ = {};
  {
    const std::lock_guard lock(mutex_);
    scene_ = std::make_shared<const Scene>(std::move(loaded).value());
    wanted_options_ = options_;
    wishes_.pull.reset();  // these were for the bodies and motors that have gone
    wishes_.motors.clear();
  }
  send(make_first_packet(*scene_, true), false);
}

/// True when there is a step to make or a wish to fulfil; false at the end.
bool LiveSimulation::wait_for_work(Wishes* wishes) {
  std::unique_lock lock(mutex_);
  const auto wanted = [&] { return stop_ || wishes_.any(); };
  if (paused_ || !watched_) {
    wake_.wait(lock, [&] { return wanted() || (!paused_ && watched_); });
    due_ = Clock::now();
  } else {
    wake_.wait_until(lock, due_, [&] { return wanted(); });
  }
  if (stop_) return false;
  *wishes = std::exchange(wishes_, {});
  return true;
}

void LiveSimulation::apply(const Wishes& wishes) {
  if (wishes.options) options_ = *wishes.options;
  if (wishes.pull_changed) pull_ = wishes.pull;
  for (const auto& [axis, target] : wishes.motors) held_[static_cast<std::size_t>(axis)] = target;
  if (wishes.reset || !wishes.variables.empty()) {
    pull_.reset();
    frames_ = {};
    note_.clear();
    if (!wishes.variables.empty()) reload(wishes.variables);
    {
      const std::lock_guard lock(mutex_);
      over_ = endless_ = false;
    }
    restart(scene_->initial);  // with the options that were set meanwhile
    send(Packet(0).bytes({{"part", "reset"}}), false);
    publish();
    return;
  }
  if (wishes.options) restart(State(simulation_->state()));
  if (wishes.options || wishes.announce) note_.clear();
  if (wishes.options || wishes.announce || !wishes.motors.empty()) publish();
}

void LiveSimulation::pause(const std::string& note) {
  const std::lock_guard lock(mutex_);
  paused_ = true;
  note_ = note;
}

/// One step; false when the run has to wait.
bool LiveSimulation::advance(double speed) {
  const double step = options_.step, end = scene_->options.duration;
  const bool last = simulation_->state().time < end - step / 2 && simulation_->state().time >= end - 1.5 * step;
  if (record_.wanted() && !record_.active() && record_.error().empty()) record_.begin(*scene_, *simulation_);
  simulation_->update_inputs(&inputs_);
  hold_motors(held_, &inputs_);
  if (pull_) {
    pull_->speed = std::min(speed, 1.0);
    apply_pull(*simulation_, *pull_, &inputs_);
  }
  const StepReport& report = simulation_->step(inputs_);
  if (report.failed) {
    pause("The step failed: " + std::string(report.note) + ". Try a smaller step or another solver, or reset.");
    record_.end(RunEnd::Failed);
    return false;
  }
  frames_.add_step(*simulation_, report);
  record_.append(*simulation_, report);
  if (!last) return true;
  bool goes_on = false;
  {
    const std::lock_guard lock(mutex_);
    goes_on = endless_;
    over_ = !goes_on;
  }
  if (goes_on) return true;
  record_.end(RunEnd::Complete);
  char text[120];
  std::snprintf(text, sizeof text, "The scene's duration of %.4g s is over: R starts again, play goes on.", end);
  pause(text);
  return false;
}

void LiveSimulation::loop() {
  due_ = Clock::now();
  Wishes wishes;
  while (wait_for_work(&wishes)) {
    apply(wishes);
    bool paused = false;
    double speed = 1;  // simulated seconds a second
    {
      const std::lock_guard lock(mutex_);
      paused = paused_;
      speed = speed_;
    }
    const auto now = Clock::now();
    if (paused) {
      for (int i = 0; i < wishes.steps && advance(speed); ++i) {
      }
      if (wishes.steps > 0) publish();
      continue;
    }
    if (now < due_) continue;  // woken by a wish
    const bool goes_on = advance(speed);
    const auto done = Clock::now();
    const double used = std::chrono::duration<double>(done - std::min(due_, now)).count();
    due_ += std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.step / speed));
    if (due_ < done) due_ = done;  // too slow for real time: as fast as it goes, without a debt
    realtime_ += 0.05 * (options_.step / std::max(used, options_.step / speed) - realtime_);
    if (!goes_on || done - last_publish_ >= kFramePeriod) publish();
  }
}

void LiveSimulation::publish() {
  last_publish_ = Clock::now();
  frames_.update_frame(*simulation_);
  send(make_frame_packet(), true);
  frames_.clear();
}

void LiveSimulation::send(std::string bytes, bool may_be_dropped) {
  auto message = std::make_shared<const std::string>(std::move(bytes));
  const std::lock_guard lock(mutex_);
  if (may_be_dropped) last_frame_ = message;
  for (const auto& inbox : inboxes_) inbox->put(message, may_be_dropped);
}

std::string LiveSimulation::make_first_packet(const Scene& scene, bool reloads) {
  Json json = make_description(make_record_header(scene, "slipstick view --live"), true);
  json["part"] = "clip";
  json["live"] = true;
  json["frames"] = 0;
  json["duration"] = scene.options.duration;
  json["schemes"] = scheme_names();
  json["solvers"] = solver_choices();
  if (scene.options.prototype) json["solvers"].insert(json["solvers"].begin(), make_solver_text(scene.options));
  json["event_kinds"] = {"impact", "takeoff", "stick", "slip"};
  json["motors"] = describe_motors(scene);
  json["variables"] = reloads ? describe_variables(scene) : Json::array();
  return Packet(0).bytes(std::move(json));
}

/// Targets of all motors as they are now, by their axes.
std::vector<double> LiveSimulation::find_targets() {
  Inputs now = simulation_->inputs();
  hold_motors(held_, &now);
  std::vector<double> targets;
  for (std::size_t k = 0; k < scene_->model.axes.size(); ++k)
    if (scene_->model.axes[k].motor) targets.push_back(now.motors()[k].target);
  return targets;
}

std::string LiveSimulation::make_frame_packet() {
  const RecordFrame& f = frames_.frame;
  const std::size_t nb = scene_->model.bodies.size();
  std::vector<float> position, orientation, velocity(f.velocity.begin(), f.velocity.end());
  for (std::size_t i = 0; i < nb; ++i)
    for (std::size_t k = 0; k < 7; ++k)
      (k < 3 ? position : orientation).push_back(static_cast<float>(f.pose[7 * i + k]));
  std::vector<ClipContact> contacts;
  for (const RecordContact& contact : f.contacts)
    contacts.push_back(make_contact(contact, options_.step, f.pose, f.velocity));
  std::vector<double> events;
  for (const RecordEvent& e : f.events)
    events.insert(events.end(), {e.time, double(e.kind), double(e.a), double(e.b), e.before, e.after});
  Packet packet(0);
  const double row[] = {f.time,
                        f.energy[0],
                        f.energy[1],
                        f.energy[2],
                        f.residual,
                        f.relative,
                        f.penetration,
                        f.joint_error,
                        double(f.iterations),
                        double(f.escalations),
                        double(f.grade),
                        double(contacts.size())};
  packet.add("series", row, 12);
  packet.add("position", position, 3 * nb);
  packet.add("orientation", orientation, 4 * nb);
  packet.add("velocity", velocity, 6 * nb);
  if (!f.joint_position.empty()) packet.add("joints", make_joint_row(f), f.joint_position.size() * kJointNumbers);
  if (!f.sensor.empty()) packet.add("sensors", std::vector<double>(f.sensor.begin(), f.sensor.end()), f.sensor.size());
  const double counts[] = {double(contacts.size())};
  add_contacts(counts, contacts, nullptr, 0, &packet);
  packet.add("events", events, 6);
  packet.add("motors", find_targets(), 1);
  Json held = Json::array();
  for (std::size_t k = 0; k < held_.size(); ++k)
    if (held_[k]) held.push_back(k);
  const std::lock_guard lock(mutex_);
  return packet.bytes({{"part", "frame"},
                       {"paused", paused_},
                       {"speed", speed_},
                       {"realtime", realtime_},
                       {"scheme", options_.scheme},
                       {"solver", make_solver_text(options_)},
                       {"step", options_.step},
                       {"held", held},
                       {"recording", record_.active() ? record_.file() : ""},
                       {"over", over_},
                       {"note", record_.error().empty() ? note_ : "Nothing more is recorded: " + record_.error()}});
}

}  // namespace slipstick
