// A State as bytes. One function lists what a state is made of, for writing and for reading alike; it takes each struct
// apart by a structured binding, so that a member that is added does not compile until it is listed here.
#include <slipstick/state_file.h>

#include "base/byte_stream.h"

#include <algorithm>

namespace slipstick {
namespace {

constexpr std::uint32_t kStateVersion = 3;  ///< goes up with every change of the list below
constexpr std::uint32_t kPlainVersion = 2;  ///< of a state without sensors: as it was before there were any

class StateWriter {
 public:
  template <class T>
  void item(const T& x) {
    writer_.add(x);
  }
  template <class T, class Visit>
  void list(const std::vector<T>& items, std::size_t, Visit visit) {
    writer_.add(static_cast<std::uint64_t>(items.size()));
    for (const T& each : items) visit(*this, each);
  }
  const std::string& bytes() const { return writer_.bytes(); }

 private:
  ByteWriter writer_;
};

class StateReader {
 public:
  explicit StateReader(std::string_view bytes) : reader_(bytes) {}
  template <class T>
  void item(T& x) {
    reader_.get(&x);
  }
  /// `size`: the fewest bytes that an item takes.
  template <class T, class Visit>
  void list(std::vector<T>& items, std::size_t size, Visit visit) {
    items.resize(reader_.get_count(size));
    for (T& each : items) visit(*this, each);
  }
  const ByteReader& reader() const { return reader_; }

 private:
  ByteReader reader_;
};

template <class Archive, class Numbers>
void visit_numbers(Archive& archive, Numbers& numbers, int count) {
  for (int i = 0; i < count; ++i) archive.item(numbers[i]);
}

template <class Archive, class Twists>
void visit_twists(Archive& archive, Twists& twists) {
  archive.list(twists, 48, [](Archive& a, auto& twist) {
    auto& [linear, angular] = twist;
    visit_numbers(a, linear, 3);
    visit_numbers(a, angular, 3);
  });
}

template <class Archive, class Memory>
void visit_memory(Archive& archive, Memory& memory) {
  auto& [key, impulse, loaded, collided, closed, sticking, normal_force, friction_reserve, force_time, uniqueness] =
      memory;
  auto& [shape_a, shape_b, feature] = key;
  archive.item(shape_a);
  archive.item(shape_b);
  archive.item(feature);
  visit_numbers(archive, impulse, 3);
  archive.item(loaded);
  archive.item(collided);
  archive.item(closed);
  archive.item(sticking);
  archive.item(normal_force);
  archive.item(friction_reserve);
  archive.item(force_time);
  archive.item(uniqueness);
}

/// `Any` is State or const State.
template <class Archive, class Any>
void visit_state(Archive& archive, std::uint32_t version, Any& state) {
  auto& [time, step, pose, velocity, previous_velocity, contact_memory, joint_impulse, axis, idle_axis, pace, sensor] =
      state;
  archive.item(time);
  archive.item(step);
  archive.list(pose, 56, [](Archive& a, auto& q) {
    auto& [position, orientation] = q;
    visit_numbers(a, position, 3);
    visit_numbers(a, orientation.coeffs(), 4);
  });
  visit_twists(archive, velocity);
  visit_twists(archive, previous_velocity);
  archive.list(contact_memory, 65, [](Archive& a, auto& memory) { visit_memory(a, memory); });
  archive.list(joint_impulse, 8, [](Archive& a, auto& impulse) { a.item(impulse); });
  for (auto* coordinates : {&axis, &idle_axis})
    archive.list(*coordinates, 8, [](Archive& a, auto& coordinate) { a.item(coordinate); });
  auto& [next, last, ratio, acceleration] = pace;
  archive.item(next);
  archive.item(last);
  archive.item(ratio);
  visit_twists(archive, acceleration);
  if (version > kPlainVersion) archive.list(sensor, 8, [](Archive& a, auto& value) { a.item(value); });
}

}  // namespace

std::string make_state_bytes(const State& state) {
  StateWriter writer;
  const std::uint32_t version = state.sensor.empty() ? kPlainVersion : kStateVersion;
  writer.item(version);
  visit_state(writer, version, state);
  return writer.bytes();
}

Result<State> read_state_bytes(std::string_view bytes) {
  StateReader reader(bytes);
  std::uint32_t version = 0;
  reader.item(version);
  if (reader.reader().good() && version != kStateVersion && version != kPlainVersion)
    return Fault{{},
                 "a state of version " + std::to_string(version) + "; this program reads version " +
                     std::to_string(kStateVersion)};
  State state;
  visit_state(reader, version, state);
  const bool sorted = std::is_sorted(state.contact_memory.begin(), state.contact_memory.end(),
                                     [](const ContactMemory& a, const ContactMemory& b) { return a.key < b.key; });
  if (!reader.reader().good() || !reader.reader().at_end() || !sorted || state.velocity.size() != state.pose.size() ||
      (!state.previous_velocity.empty() && state.previous_velocity.size() != state.pose.size()))
    return Fault{{}, "not a state: damaged, or cut off"};
  return state;
}

}  // namespace slipstick
