#include <slipstick/state.h>

#include <algorithm>
#include <cmath>

namespace slipstick {
namespace {

constexpr std::int64_t kMostSteps = std::int64_t{1} << 53;

void check_size(std::size_t has, std::size_t wanted, const char* what, Faults* faults) {
  if (has == wanted) return;
  faults->push_back({{},
                     "the state has " + std::to_string(has) + " " + what + ", the model " + std::to_string(wanted) +
                         "; take a state of this model"});
}

bool are_finite(const std::vector<double>& numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](double x) { return std::isfinite(x); });
}

bool are_finite(const std::vector<Twist>& velocity) {
  return std::all_of(velocity.begin(), velocity.end(),
                     [](const Twist& v) { return v.linear.allFinite() && v.angular.allFinite(); });
}

bool are_finite(const std::vector<Pose>& pose) {
  constexpr double kUnit = 1e-6;
  return std::all_of(pose.begin(), pose.end(), [](const Pose& q) {
    return q.position.allFinite() && std::abs(q.orientation.norm() - 1) < kUnit;
  });
}

/// Whether the model has the shapes, or the end of a joint's range, that this contact stands for.
bool is_known(const Model& model, const ContactKey& key) {
  const auto below = [](std::int64_t index, std::size_t count) {
    return index >= 0 && index < static_cast<std::int64_t>(count);
  };
  if (key.shape_a < 0) return below(std::int64_t{key.shape_a} - kFirstLimitKey, model.limits.size());
  return below(key.shape_a, model.shapes.size()) && below(key.shape_b, model.shapes.size());
}

bool is_finite(const ContactMemory& memory) {
  return memory.impulse.allFinite() && are_finite({memory.normal_force, memory.friction_reserve, memory.force_time});
}

void check_contacts(const Model& model, const std::vector<ContactMemory>& contacts, Faults* faults) {
  const auto before = [](const ContactMemory& a, const ContactMemory& b) { return !(a.key < b.key); };
  if (std::adjacent_find(contacts.begin(), contacts.end(), before) != contacts.end())
    faults->push_back({{}, "the contacts remembered are not sorted by key"});
  const auto bad = std::find_if(contacts.begin(), contacts.end(), [&](const ContactMemory& memory) {
    return !is_known(model, memory.key) || !is_finite(memory);
  });
  if (bad == contacts.end()) return;
  const std::string what = !is_known(model, bad->key) ? "is one of shapes or limits that the model does not have"
                                                      : "has numbers that are none";
  faults->push_back({{}, "contact " + std::to_string(bad - contacts.begin()) + " of those remembered " + what});
}

}  // namespace

Faults find_state_faults(const Model& model, const State& state) {
  Faults faults;
  check_size(state.pose.size(), model.bodies.size(), "poses", &faults);
  check_size(state.velocity.size(), model.bodies.size(), "velocities", &faults);
  if (!state.previous_velocity.empty())
    check_size(state.previous_velocity.size(), model.bodies.size(), "previous velocities", &faults);
  check_size(state.joint_impulse.size(), static_cast<std::size_t>(model.joint_rows), "joint impulses", &faults);
  check_size(state.axis.size(), model.axes.size(), "coordinates of joints", &faults);
  if (!state.idle_axis.empty())
    check_size(state.idle_axis.size(), model.idle_axes.size(), "idle coordinates of joints", &faults);
  if (!state.pace.acceleration.empty())
    check_size(state.pace.acceleration.size(), model.bodies.size(), "accelerations", &faults);
  check_size(state.sensor.size(), static_cast<std::size_t>(model.sensor_memory), "numbers that sensors remember",
             &faults);
  if (!are_finite(state.sensor)) faults.push_back({{}, "what a sensor remembers is not a number"});
  if (!are_finite(state.pose)) faults.push_back({{}, "a pose is not a number, or its quaternion is no unit one"});
  if (!are_finite(state.velocity) || !are_finite(state.previous_velocity))
    faults.push_back({{}, "a velocity is not a number"});
  if (!are_finite(state.joint_impulse) || !are_finite(state.axis) || !are_finite(state.idle_axis) ||
      !std::isfinite(state.time) || state.step < 0 || state.step > kMostSteps || state.pace.next < 0 ||
      state.pace.last < 0 || !are_finite(state.pace.acceleration) ||
      !are_finite({state.pace.next, state.pace.last, state.pace.ratio}))
    faults.push_back({{}, "the time, an impulse or a coordinate is not a number"});
  check_contacts(model, state.contact_memory, &faults);
  return faults;
}

}  // namespace slipstick
