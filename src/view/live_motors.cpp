#include "view/live_motors.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace slipstick {

namespace {

/// The least and the largest of a function of time, by looking at it often.
std::pair<double, double> find_range(const Expression& function, double duration) {
  constexpr int kLooks = 200;
  double low = INFINITY, high = -INFINITY;
  for (int k = 0; k <= kLooks; ++k) {
    const double value = function.at(duration * k / kLooks);
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  return low <= high ? std::pair{low, high} : std::pair{0.0, 0.0};
}

/// Limits of an axis where it has them; infinite where not.
std::pair<double, double> find_limits(const Model& model, int axis) {
  std::pair<double, double> range{-INFINITY, INFINITY};
  for (const Limit& limit : model.limits)
    if (limit.axis == axis) (limit.upper ? range.second : range.first) = limit.bound;
  return range;
}

/// What a slider covers: beyond what the scene asks for, and a sensible span where it asks for nothing.
std::pair<double, double> choose_span(const Scene& scene, int axis) {
  const Axis& driven = scene.model.axes[static_cast<std::size_t>(axis)];
  const bool turn = is_turn(driven.freedom);
  auto [low, high] = find_range(driven.motor->target, scene.options.duration);
  if (!driven.motor->drives_position) {
    const double most = std::max({std::abs(low), std::abs(high), 1e-9});
    const double span = most > 1e-6 ? 2 * most : driven.motor->drives_force ? 10.0 : turn ? 5.0 : 1.0;
    return {-span, span};
  }
  const double margin = std::max(0.5 * (high - low), turn ? std::numbers::pi / 2 : 0.25);
  const auto [least, most] = find_limits(scene.model, axis);
  return {std::isfinite(least) ? least : low - margin, std::isfinite(most) ? most : high + margin};
}

}  // namespace

Json describe_motors(const Scene& scene) {
  const Model& model = scene.model;
  std::vector<int> count(model.joints.size(), 0);
  for (const Axis& axis : model.axes) count[static_cast<std::size_t>(axis.joint)] += axis.motor ? 1 : 0;
  Json motors = Json::array();
  for (std::size_t k = 0; k < model.axes.size(); ++k) {
    const Axis& axis = model.axes[k];
    if (!axis.motor) continue;
    const auto joint = static_cast<std::size_t>(axis.joint);
    const auto [low, high] = choose_span(scene, static_cast<int>(k));
    const std::string other = count[joint] > 1 ? "." + std::string(name_of(axis.freedom)) : "";
    motors.push_back({{"name", model.joints[joint].name + other},
                      {"axis", k},
                      {"kind", axis.motor->drives_force      ? "force"
                               : axis.motor->drives_position ? "position"
                                                             : "speed"},
                      {"turn", is_turn(axis.freedom)},
                      {"low", low},
                      {"high", high}});
  }
  return motors;
}

Json describe_variables(const Scene& scene) {
  Json variables = Json::array();
  for (const SceneVariable& variable : scene.variables)
    if (!variable.derived) variables.push_back({{"name", variable.name}, {"value", variable.value}});
  return variables;
}

void hold_motors(const std::vector<std::optional<double>>& targets, Inputs* inputs) {
  for (std::size_t k = 0; k < targets.size(); ++k)
    if (targets[k]) inputs->motor(static_cast<int>(k)).target = *targets[k];
}

}  // namespace slipstick
