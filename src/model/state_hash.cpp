#include <slipstick/state.h>

#include "base/hash.h"

namespace slipstick {
namespace {

void add(const Vec3& x, Digest* digest) {
  digest->add(x.x());
  digest->add(x.y());
  digest->add(x.z());
}

void add(const std::vector<Twist>& velocity, Digest* digest) {
  digest->add(static_cast<std::uint64_t>(velocity.size()));  // lengths part the fields from one another
  for (const Twist& v : velocity) {
    add(v.linear, digest);
    add(v.angular, digest);
  }
}

// Structured bindings: a member that is added does not compile until somebody has said here whether it counts.
void add(const ContactMemory& memory, Digest* digest) {
  const auto& [key, impulse, loaded, collided, closed, sticking, normal_force, friction_reserve, force_time,
               uniqueness] = memory;
  digest->add(static_cast<std::uint64_t>(static_cast<std::uint32_t>(key.shape_a)) << 32 |
              static_cast<std::uint32_t>(key.shape_b));
  digest->add(static_cast<std::uint64_t>(key.feature) << 2 | (loaded ? 2u : 0u) | (collided ? 1u : 0u));
  add(impulse, digest);
  digest->add(static_cast<std::uint64_t>((closed ? 2u : 0u) | (sticking ? 1u : 0u)));
  digest->add(normal_force);
  digest->add(friction_reserve);
  digest->add(force_time);
  digest->add(static_cast<std::uint64_t>(uniqueness));
}

}  // namespace

std::uint64_t hash(const State& state) {
  const auto& [time, step, pose, velocity, previous_velocity, contact_memory, joint_impulse, axis, idle_axis, pace,
               sensor] = state;
  (void)idle_axis;  // decides nothing
  Digest digest;
  digest.add(time);
  digest.add(static_cast<std::uint64_t>(step));
  digest.add(static_cast<std::uint64_t>(pose.size()));
  for (const Pose& q : pose) {
    add(q.position, &digest);
    for (int i = 0; i < 4; ++i) digest.add(q.orientation.coeffs()[i]);
  }
  add(velocity, &digest);
  add(previous_velocity, &digest);
  digest.add(static_cast<std::uint64_t>(contact_memory.size()));
  for (const ContactMemory& memory : contact_memory) add(memory, &digest);
  digest.add(static_cast<std::uint64_t>(joint_impulse.size()));
  for (const double impulse : joint_impulse) digest.add(impulse);
  for (const double coordinate : axis) digest.add(coordinate);  // last: no length needed
  if (pace.next > 0) {  // steps that choose themselves; others have the digest that they had before there were such
    const auto& [next, last, ratio, acceleration] = pace;
    for (const double number : {next, last, ratio}) digest.add(number);
    add(acceleration, &digest);
  }
  for (const double value : sensor) digest.add(value);
  return digest.value();
}

}  // namespace slipstick
