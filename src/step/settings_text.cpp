// The options that decide the motion, as text. Each struct is taken apart by a structured binding: an option that is
// added does not compile until somebody has said here whether it counts.
#include <slipstick/state_file.h>

#include <charconv>
#include <sstream>
#include <type_traits>

namespace slipstick {
namespace {

class SettingsText {
 public:
  void add(const char* name, const std::string& value) { text_ += std::string(name) + " " + value + "\n"; }
  void add(const char* name, double value) {
    char digits[32];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;  // the shortest that reads back exactly
    add(name, std::string(digits, end));
  }
  void add(const char* name, bool value) { add(name, std::string(value ? "true" : "false")); }
  void add(const char* name, FrictionModel value) {
    const char* const names[] = {"cone", "pyramid", "box"};
    add(name, std::string(names[static_cast<int>(value)]));
  }
  void add(const char* name, Effort value) { add(name, std::string(effort_names()[static_cast<std::size_t>(value)])); }
  void add(const char* name, ImpactLaw value) { add(name, std::string(name_of(value))); }
  template <class T>
  requires(std::is_integral_v<T> || std::is_enum_v<T>) void add(const char* name, T value) {
    add(name, std::to_string(static_cast<long>(value)));
  }
  template <class T>
  void add(const char* name, const std::optional<T>& value) {
    if (value) {
      add(name, *value);
    } else {
      add(name, std::string("default"));
    }
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

void add_solver(const SolverOptions& options, SettingsText* text) {
  const auto& [local, relaxation, max_iterations, sweeps, mixing, time_limit, symmetric, order, threads, history, stop,
               work, team, settle] = options;
  (void)work, (void)settle;                              // set by the ladder
  (void)threads, (void)history, (void)stop, (void)team;  // the same answer
  text->add("solver.local", std::string(local_solver_names()[static_cast<std::size_t>(local)]));
  text->add("solver.relaxation", relaxation);
  text->add("solver.iterations", max_iterations);
  text->add("solver.sweeps", sweeps);
  text->add("solver.mixing", mixing);
  text->add("solver.time_limit", time_limit);
  text->add("solver.symmetric", symmetric);
  text->add("solver.order", std::string(sweep_order_names()[static_cast<std::size_t>(order)]));
}

void add_alpha_gamma(const AlphaGammaOptions& options, SettingsText* text) {
  const auto& [alpha, gamma, stabilize, event_state] = options;
  text->add("alpha", alpha);
  text->add("gamma", gamma);
  text->add("stabilize", stabilize);
  text->add("event_state", std::string(event_state == EventState::Restep ? "restep" : "hermite"));
}

void add_spook(const SpookOptions& options, SettingsText* text) {
  const auto& [compliance, damping_steps, contact_compliance, contact_damping_time, slip_compliance, hessian, geometric,
               anticipate] = options;
  text->add("spook.compliance", compliance);
  text->add("spook.damping_steps", damping_steps);
  text->add("spook.contact_compliance", contact_compliance);
  text->add("spook.contact_damping_time", contact_damping_time);
  text->add("spook.slip_compliance", slip_compliance);
  text->add("spook.hessian", hessian);
  text->add("spook.geometric", geometric);
  text->add("spook.anticipate", anticipate);
}

}  // namespace

std::string make_settings_text(const SimulationOptions& options) {
  const auto& [step, accuracy, duration, scheme, solver, solver_options, friction, facets, tolerance, heap_tolerance,
               effort, budget, stabilization, impact_stage, restitution_threshold, locate, impact, threads, alpha_gamma,
               spook, reduce_contacts, close_joints, hold_resting, unique_forces, audit, stop, prototype] = options;
  (void)duration, (void)threads, (void)audit, (void)stop;  // how far, how fast, and who looks on
  (void)solver, (void)prototype;                           // below, as one
  SettingsText text;
  text.add("step", step);
  text.add("accuracy", accuracy);
  text.add("scheme", scheme);
  text.add("solver", make_solver_text(options));
  add_solver(solver_options, &text);
  text.add("friction", friction);
  text.add("facets", facets);
  text.add("tolerance", tolerance);
  text.add("heap_tolerance", heap_tolerance);
  text.add("effort", effort);
  text.add("budget", budget);
  text.add("stabilization", stabilization);
  text.add("impact_stage", impact_stage);
  text.add("restitution_threshold", restitution_threshold);
  text.add("locate", locate);
  text.add("impact", impact);
  add_alpha_gamma(alpha_gamma, &text);
  add_spook(spook, &text);
  text.add("reduce_contacts", reduce_contacts);
  text.add("close_joints", close_joints);
  text.add("hold_resting", hold_resting);
  text.add("unique_forces", unique_forces);
  return text.text();
}

std::string find_settings_fault(const StateFile& file, const SimulationOptions& options) {
  std::istringstream then(file.settings), now(make_settings_text(options));
  for (;;) {
    std::string was, is;
    const bool more_then = static_cast<bool>(std::getline(then, was));
    const bool more_now = static_cast<bool>(std::getline(now, is));
    if (!more_then && !more_now) return {};
    if (was == is && more_then == more_now) continue;
    const std::size_t space = was.find(' ');
    const bool same_name = space != std::string::npos && is.compare(0, space + 1, was, 0, space + 1) == 0;
    if (!same_name) return "the options of another version of this program";
    return was + ", not " + is.substr(space + 1);
  }
}

}  // namespace slipstick
