// Commands from the page. They come from outside: everything is checked, nothing is trusted, and a wrong one changes
// nothing.
#include "view/live.h"

#include <algorithm>
#include <cmath>

namespace slipstick {

namespace {

constexpr std::size_t kMaxCommand = 4096;
constexpr double kFarthest = 1e6;  ///< m, of a hand
constexpr int kMaxSteps = 1000;    ///< in one command
constexpr double kLargestTarget = 1e12;
constexpr std::size_t kMaxMotorWishes = 1000;  ///< that wait

bool read_number(const Json& message, const char* key, double low, double high, double* value) {
  const auto found = message.find(key);
  if (found == message.end() || !found->is_number()) return false;
  const double number = found->get<double>();
  if (!(number >= low && number <= high)) return false;  // NaN fails too
  *value = number;
  return true;
}

bool read_vector(const Json& message, const char* key, Vec3* value) {
  const auto found = message.find(key);
  if (found == message.end() || !found->is_array() || found->size() != 3) return false;
  for (int i = 0; i < 3; ++i) {
    const Json& entry = (*found)[static_cast<std::size_t>(i)];
    if (!entry.is_number() || !(std::abs(entry.get<double>()) <= kFarthest)) return false;
    (*value)[i] = entry.get<double>();
  }
  return true;
}

}  // namespace

std::string LiveSimulation::command(std::string_view text) {
  if (text.size() > kMaxCommand) return "a command is at most 4096 bytes long";
  const Json message = Json::parse(text, nullptr, false);
  if (!message.is_object()) return "a command is a JSON object";
  std::string fault = handle(message);
  if (fault.empty()) wake_.notify_all();
  return fault;
}

std::string LiveSimulation::handle(const Json& message) {
  const auto found = message.find("do");
  const std::string what = found != message.end() && found->is_string() ? found->get<std::string>() : "";
  if (what == "set") return handle_set(message);
  if (what == "pull") return handle_pull(message);
  if (what == "motor") return handle_motor(message);
  if (what == "let") return handle_let(message);
  const std::lock_guard lock(mutex_);
  double number = 0;
  if (what == "play") {
    paused_ = false;
    endless_ = endless_ || over_;  // past the scene's duration
    over_ = false;
    wishes_.announce = true;
  } else if (what == "pause") {
    paused_ = true;
    wishes_.announce = true;
  } else if (what == "reset") {
    wishes_.reset = true;
  } else if (what == "step") {
    paused_ = true;
    wishes_.steps = std::min(wishes_.steps + 1, kMaxSteps);
  } else if (what == "release") {
    wishes_.pull_changed = true;
    wishes_.pull.reset();
  } else if (what == "speed") {
    if (!read_number(message, "speed", 1e-9, 100, &number)) return "speed is a number from 1e-9 to 100";
    speed_ = number;
  } else {
    return "unknown command";
  }
  return "";
}

std::string LiveSimulation::handle_set(const Json& message) {
  const std::lock_guard lock(mutex_);
  SimulationOptions options = wanted_options_;
  for (const auto& [key, target] : {std::pair{"scheme", &options.scheme}, std::pair{"solver", &options.solver}}) {
    const auto found = message.find(key);
    if (found == message.end()) continue;
    if (!found->is_string()) return std::string(key) + " is a name";
    *target = found->get<std::string>();
  }
  if (message.contains("solver")) {  // the scene's prototype is one of the choices
    const SimulationOptions& own = scene_->options;
    const bool prototype = own.prototype && options.solver == make_solver_text(own);
    options.prototype = prototype ? own.prototype : nullptr;
    if (prototype) options.solver = own.solver;
  }
  if (message.contains("step") && !read_number(message, "step", 1e-12, 1, &options.step))
    return "step is a number of seconds from 1e-12 to 1";
  const std::vector<OptionFault> faults = find_option_faults(options);
  if (!faults.empty()) return faults.front().message;
  wanted_options_ = options;
  wishes_.options = options;
  return "";
}

std::string LiveSimulation::handle_pull(const Json& message) {
  LivePull pull;
  double body = 0;
  const std::lock_guard lock(mutex_);
  const Model& model = scene_->model;
  const auto count = static_cast<double>(model.bodies.size());
  if (!read_number(message, "body", 0, count - 1, &body) || body != std::floor(body))
    return "body is not one of the scene";
  pull.body = static_cast<int>(body);
  if (model.bodies[static_cast<std::size_t>(pull.body)].kind != BodyKind::Dynamic)
    return "only a body that moves can be pulled";
  if (!read_vector(message, "point", &pull.point) || !read_vector(message, "target", &pull.target))
    return "point and target are lists of three numbers";
  if (message.contains("strength") && !read_number(message, "strength", 0.01, 1e6, &pull.strength))
    return "strength is a number from 0.01 to 1e6";
  if (model.planar) pull.point.z() = pull.target.z() = 0;
  wishes_.pull_changed = true;
  wishes_.pull = pull;
  return "";
}

/// {"axis": k, "target": x}, or without target: the scene's again.
std::string LiveSimulation::handle_motor(const Json& message) {
  const std::lock_guard lock(mutex_);
  const auto& axes = scene_->model.axes;
  double axis = 0, target = 0;
  if (!read_number(message, "axis", 0, static_cast<double>(axes.size()) - 1, &axis) || axis != std::floor(axis) ||
      !axes[static_cast<std::size_t>(axis)].motor)
    return "axis is not one with a motor";
  const bool given = message.contains("target");
  if (given && !read_number(message, "target", -kLargestTarget, kLargestTarget, &target)) return "target is a number";
  wishes_.motors.emplace_back(static_cast<int>(axis), given ? std::optional(target) : std::nullopt);
  if (wishes_.motors.size() > kMaxMotorWishes) wishes_.motors.erase(wishes_.motors.begin());
  return "";
}

/// {"values": {"mu": 0.3, ...}}: the scene begins again with these.
std::string LiveSimulation::handle_let(const Json& message) {
  if (!reload_) return "this scene has no variables";
  const auto values = message.find("values");
  if (values == message.end() || !values->is_object() || values->empty()) return "values is a map of numbers";
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<std::string, double>> variables;
  for (const auto& [name, value] : values->items()) {
    const auto known = std::any_of(scene_->variables.begin(), scene_->variables.end(),
                                   [&name = name](const SceneVariable& variable) { return variable.name == name; });
    if (!known) return "no such variable";
    if (!value.is_number() || !(std::abs(value.get<double>()) <= kLargestTarget)) return "a variable is a number";
    variables.emplace_back(name, value.get<double>());
  }
  wishes_.variables = std::move(variables);
  return "";
}

}  // namespace slipstick
