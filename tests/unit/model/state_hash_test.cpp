#include <gtest/gtest.h>
#include <slipstick/state.h>

#include <functional>
#include <set>
#include <vector>

namespace slipstick {
namespace {

State make_state() {
  State state;
  state.time = 0.5;
  state.step = 7;
  state.pose.resize(2);
  state.velocity.resize(2);
  state.previous_velocity.resize(2);
  state.contact_memory.resize(2);
  state.contact_memory[1].key = {1, 2, 3};
  state.joint_impulse = {0, 0};
  return state;
}

TEST(StateHash, EveryFieldCounts) {
  const double tiny = 1e-300;
  const std::vector<std::function<void(State*)>> edits{
      [](State* s) { s->time = 0.5000000000000001; },
      [](State* s) { s->step = 8; },
      [&](State* s) { s->pose[0].position.x() = tiny; },
      [&](State* s) { s->pose[1].position.x() = tiny; },
      [&](State* s) { s->pose[1].position.y() = tiny; },
      [&](State* s) { s->pose[1].position.z() = tiny; },
      [&](State* s) { s->pose[0].orientation.w() = tiny; },
      [&](State* s) { s->pose[0].orientation.x() = tiny; },
      [&](State* s) { s->pose[0].orientation.y() = tiny; },
      [&](State* s) { s->pose[0].orientation.z() = tiny; },
      [&](State* s) { s->velocity[1].linear.y() = tiny; },
      [&](State* s) { s->velocity[1].angular.z() = tiny; },
      [&](State* s) { s->previous_velocity[1].linear.y() = tiny; },
      [&](State* s) { s->previous_velocity[1].angular.z() = tiny; },
      [](State* s) { s->previous_velocity.clear(); },
      [](State* s) { s->contact_memory[0].key.shape_a = 1; },
      [](State* s) { s->contact_memory[0].key.shape_b = 1; },
      [](State* s) { s->contact_memory[0].key.feature = 1; },
      [](State* s) { s->contact_memory[0].key.feature = 0x80000000u; },
      [&](State* s) { s->contact_memory[0].impulse.z() = tiny; },
      [](State* s) { s->contact_memory[0].loaded = true; },
      [](State* s) { s->contact_memory[0].collided = true; },
      [](State* s) { s->contact_memory[0].closed = true; },
      [](State* s) { s->contact_memory[0].sticking = true; },
      [&](State* s) { s->contact_memory[0].normal_force = tiny; },
      [&](State* s) { s->contact_memory[0].friction_reserve = tiny; },
      [&](State* s) { s->contact_memory[0].force_time = tiny; },
      [](State* s) { s->contact_memory[0].uniqueness = Uniqueness::Chosen; },
      [](State* s) { s->contact_memory.pop_back(); },
      [&](State* s) { s->joint_impulse[0] = tiny; },
      [&](State* s) { s->joint_impulse[1] = tiny; },
      [](State* s) { s->joint_impulse.push_back(0); },
      [](State* s) {
        s->pose.pop_back();
        s->velocity.pop_back();
      },
  };
  std::set<std::uint64_t> seen{hash(make_state())};
  for (std::size_t i = 0; i < edits.size(); ++i) {
    State state = make_state();
    edits[i](&state);
    EXPECT_TRUE(seen.insert(hash(state)).second) << "edit " << i;
    EXPECT_EQ(hash(state), hash(State(state)));
  }
}

TEST(StateHash, SignOfZeroAndCapacityDoNotCount) {
  State a = make_state(), b = make_state();
  b.pose[0].position.x() = -0.0;
  b.joint_impulse.reserve(100);
  EXPECT_EQ(hash(a), hash(b));
}

}  // namespace
}  // namespace slipstick
