// Room: model. Where the world is NOW. A State is a value: copying it is rollback, hashing it is identity.
#pragma once

#include <slipstick/model.h>
#include <slipstick/result.h>
#include <slipstick/types.h>
#include <slipstick/uniqueness.h>

#include <compare>
#include <cstdint>
#include <vector>

namespace slipstick {

/// Names a contact from one step to the next: which two shapes, and which features of them.
struct ContactKey {
  std::int32_t shape_a = 0;
  std::int32_t shape_b = 0;
  std::uint32_t feature = 0;
  // clang-tidy takes the 0 with which < is rewritten for a pointer.
  auto operator<=>(const ContactKey&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// One point where two shapes touch or may touch within the step.
struct Contact {
  ContactKey key;
  int body_a = kWorld, body_b = kWorld;
  Vec3 point_a = Vec3::Zero();  ///< on A's surface, world
  Vec3 point_b = Vec3::Zero();  ///< on B's surface, world; point_b - point_a = gap * normal
  Vec3 normal = Vec3::UnitZ();  ///< unit, from A to B, world
  double gap = 0;               ///< positive: apart
  int material_a = 0, material_b = 0;
  /// A row on the way of the centres of mass, without lever arms and without friction: the last resort against a body
  /// that would go through another within the step (docs/step.md).
  bool central = false;
  int limit = -1;  ///< an end of a joint's range (Model::limits) rather than two shapes: gap in m or rad, no points
};

/// Keys of limits come before those of all shapes.
inline constexpr std::int32_t kFirstLimitKey = -(1 << 30);

/// How the two sides of a contact meet.
inline const PairLaw& law_of(const Model& model, const Contact& contact) {
  return contact.limit >= 0 ? model.limits[contact.limit].law : model.pair_law(contact.material_a, contact.material_b);
}

/// All contacts of one configuration, sorted by key.
struct ContactSet {
  std::vector<Contact> contacts;
};

/// What a contact remembers: its last impulse (warm start) and what the restitution rule of [Anitescu03] needs.
struct ContactMemory {
  ContactKey key;
  Vec3 impulse =
      Vec3::Zero();       ///< last step's impulse on B, world, N s (of a part of a step: as if it were a whole one)
  bool loaded = false;    ///< carried a normal impulse in the last step
  bool collided = false;  ///< began to carry it there: its restitution is due in the next step
  // What the event driver needs (docs/schemes.md); with fixed steps `closed` and `force_time` say that a lone body has
  // landed here in the last step, and when (docs/decisions/0087).
  bool closed = false;                          ///< a member of the closed set
  bool sticking = false;                        ///< did not slip in the last step
  double normal_force = 0;                      ///< mean over the last step, N
  double friction_reserve = 0;                  ///< mean of mu N - |T| over the last step, N
  double force_time = 0;                        ///< the time at which these means count, s
  Uniqueness uniqueness = Uniqueness::Unknown;  ///< of the impulse
};

/// What the choice of the next length remembers (SimulationOptions::accuracy); with fixed steps it stays empty.
struct Pace {
  double next = 0;                  ///< s: the length that is wanted next; 0: nothing is known yet
  double last = 0;                  ///< s: that of the last part
  double ratio = 0;                 ///< its error by the error allowed
  std::vector<Twist> acceleration;  ///< in it, one per body; empty: an event came after it
};

struct State {
  double time = 0;
  std::int64_t step = 0;
  std::vector<Pose> pose;  ///< of the centre of mass, one per body
  std::vector<Twist> velocity;
  std::vector<Twist>
      previous_velocity;  ///< one step earlier (restitution of [Anitescu03]); empty before the first step
  std::vector<ContactMemory> contact_memory;  ///< sorted by key
  std::vector<double> joint_impulse;          ///< Model::joint_rows
  std::vector<double> axis;                   ///< coordinates of Model::axes, whole turns counted
  std::vector<double> idle_axis;              ///< of Model::idle_axes; they decide nothing, and are not in the hash
  Pace pace;
  std::vector<double> sensor;  ///< what sensors remember: integrals, and forces of the last step
};

/// Why this is no state of the model: sizes that do not fit, numbers that are none. Empty when good. `idle_axis` may be
/// left out.
Faults find_state_faults(const Model& model, const State& state);

/// 64-bit digest of all bits of the state that decide its future.
std::uint64_t hash(const State& state);

}  // namespace slipstick
