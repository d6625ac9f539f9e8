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

void add(const ContactMemory& memory, Digest* digest) {
  digest->add(static_cast<std::uint64_t>(static_cast<std::uint32_t>(memory.key.shape_a)) << 32 |
              static_cast<std::uint32_t>(memory.key.shape_b));
  digest->add(static_cast<std::uint64_t>(memory.key.feature) << 2 | (memory.loaded ? 2u : 0u) |
              (memory.collided ? 1u : 0u));
  add(memory.impulse, digest);
  digest->add(static_cast<std::uint64_t>((memory.closed ? 2u : 0u) | (memory.sticking ? 1u : 0u)));
  digest->add(memory.normal_force);
  digest->add(memory.friction_reserve);
  digest->add(memory.force_time);
}

}  // namespace

std::uint64_t hash(const State& state) {
  Digest digest;
  digest.add(state.time);
  digest.add(static_cast<std::uint64_t>(state.step));
  digest.add(static_cast<std::uint64_t>(state.pose.size()));
  for (const Pose& q : state.pose) {
    add(q.position, &digest);
    for (int i = 0; i < 4; ++i) digest.add(q.orientation.coeffs()[i]);
  }
  add(state.velocity, &digest);
  add(state.previous_velocity, &digest);
  digest.add(static_cast<std::uint64_t>(state.contact_memory.size()));
  for (const ContactMemory& memory : state.contact_memory) add(memory, &digest);
  digest.add(static_cast<std::uint64_t>(state.joint_impulse.size()));
  for (const double impulse : state.joint_impulse) digest.add(impulse);
  for (const double coordinate : state.axis) digest.add(coordinate);  // last: no length needed
  return digest.value();
}

}  // namespace slipstick
