#include "view/clip.h"

#include <slipstick/types.h>

#include <algorithm>
#include <cmath>

namespace slipstick {

namespace {

constexpr std::size_t kMaxEvents = 20000;
constexpr std::size_t kForceSamples = 24;  ///< frames that a typical force is taken from

std::size_t divide_up(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

/// Half the extent of a shape; 0 for a plane.
double calc_extent(const RecordShape& shape) {
  double extent = std::max(shape.radius, shape.radius + shape.length / 2);
  for (const double s : shape.size) extent = std::max(extent, s / 2);
  for (const auto& p : shape.points) extent = std::max(extent, std::hypot(p[0], p[1]));
  for (const auto& p : shape.vertices) extent = std::max(extent, std::hypot(p[0], p[1], p[2]));
  return extent;
}

double calc_body_size(const RecordHeader& header) {
  double smallest = 0;
  for (const RecordShape& shape : header.shapes) {
    const double extent = calc_extent(shape);
    if (shape.body >= 0 && header.body_kinds[static_cast<std::size_t>(shape.body)] == 0 && extent > 0)
      smallest = smallest == 0 ? extent : std::min(smallest, extent);
  }
  return smallest == 0 ? 1 : smallest;
}

/// Frame k of the clip stands for the recording's frames after the one before it, up to its own.
template <class T, class Fold>
std::vector<double> fold(const std::vector<T>& values, const Clip& clip, Fold fold_two) {
  std::vector<double> folded;
  if (values.empty()) return folded;
  for (std::size_t k = 0; k < clip.frames(); ++k) {
    const std::size_t last = clip.index(k);
    double value = static_cast<double>(values[last]);
    for (std::size_t i = k == 0 ? last : clip.index(k - 1) + 1; i < last; ++i)
      value = fold_two(value, static_cast<double>(values[i]));
    folded.push_back(value);
  }
  return folded;
}

void append(const std::vector<double>& more, std::vector<double>* rows) {
  rows->insert(rows->end(), more.begin(), more.end());
}
void append(const RecordContacts& more, RecordContacts* rows) {
  for (std::size_t k = 1; k < more.offset.size(); ++k) rows->offset.push_back(rows->contacts.size() + more.offset[k]);
  rows->contacts.insert(rows->contacts.end(), more.contacts.begin(), more.contacts.end());
}
void append(const RecordJoints& more, RecordJoints* rows) {
  append(more.position, &rows->position);
  append(more.velocity, &rows->velocity);
  append(more.motor, &rows->motor);
  append(more.reaction, &rows->reaction);
}

/// Keeps so many of a number's binary digits that the rest compresses.
float shorten(double value, int digits) {
  if (digits <= 0 || !std::isfinite(value) || value == 0) return static_cast<float>(value);
  int exponent = 0;
  const double part = std::frexp(value, &exponent);
  return static_cast<float>(std::ldexp(std::round(std::ldexp(part, digits)), exponent - digits));
}

double larger(double a, double b) { return std::max(a, b); }
double smaller(double a, double b) { return std::min(a, b); }
double sum(double a, double b) { return a + b; }

Vec3 as_vector(const std::array<double, 3>& v) { return {v[0], v[1], v[2]}; }

/// Velocity of the material point of a body that is at `point`.
Vec3 calc_point_velocity(int body, const Vec3& point, std::span<const double> pose, std::span<const double> velocity) {
  if (body < 0) return Vec3::Zero();
  const double* q = pose.data() + static_cast<std::size_t>(body) * 7;
  const double* v = velocity.data() + static_cast<std::size_t>(body) * 6;
  return Vec3(v[0], v[1], v[2]) + Vec3(v[3], v[4], v[5]).cross(point - Vec3(q[0], q[1], q[2]));
}

}  // namespace

ClipContact make_contact(const RecordContact& contact, double step, std::span<const double> pose,
                         std::span<const double> velocity) {
  ClipContact made{contact, contact.impulse, 0};
  for (double& f : made.force) f = step > 0 ? f / step : 0;
  const Vec3 point = as_vector(contact.point), normal = as_vector(contact.normal);
  const Vec3 relative =
      calc_point_velocity(contact.b, point, pose, velocity) - calc_point_velocity(contact.a, point, pose, velocity);
  made.slip = (relative - relative.dot(normal) * normal).norm();
  return made;
}

Clip::Clip(RecordReader reader, std::size_t max_frames, std::size_t max_poses) : reader_(std::move(reader)) {
  const std::size_t all = reader_.frames(), nb = std::max<std::size_t>(bodies(), 1);
  stride_ = std::max(divide_up(all, std::max<std::size_t>(max_frames, 2)),
                     divide_up(all * nb, std::max<std::size_t>(max_poses, 2 * nb)));
  stride_ = std::max<std::size_t>(stride_, 1);
  frames_ = divide_up(all - 1, stride_) + 1;  // the last of the recording is always one of them
  body_size_ = calc_body_size(reader_.header());
  typical_force_ = calc_typical_force();
}

double Clip::calc_typical_force() const {
  std::vector<double> forces;
  const double step = reader_.header().step;
  for (std::size_t k = 0; k < kForceSamples && step > 0; ++k) {
    const std::size_t frame = (reader_.frames() - 1) * k / (kForceSamples - 1);
    if (const auto found = reader_.read_contacts(frame, 1, 1))
      for (const RecordContact& contact : found->contacts) forces.push_back(as_vector(contact.impulse).norm() / step);
  }
  std::erase_if(forces, [](double f) { return !(f > 0) || !std::isfinite(f); });
  if (forces.empty()) return 0;
  const auto ninth = forces.begin() + static_cast<std::ptrdiff_t>(forces.size() * 9 / 10);
  std::nth_element(forces.begin(), ninth, forces.end());
  return *ninth;
}

std::string Clip::make_clip_packet(int level, const Json& extra) const {
  Packet packet(level);
  const RecordSeries& s = reader_.series();
  std::vector<double> energy, counts;
  std::vector<std::int64_t> contacts;
  for (std::size_t k = 0; k < reader_.frames(); ++k) contacts.push_back(s.contact_offset[k + 1] - s.contact_offset[k]);
  if (!s.energy.empty())
    for (std::size_t k = 0; k < frames_; ++k)
      for (std::size_t i = 0; i < 3; ++i) energy.push_back(s.energy[3 * index(k) + i]);
  for (std::size_t k = 0; k < frames_; ++k) counts.push_back(static_cast<double>(contacts[index(k)]));
  std::vector<double> time;
  for (std::size_t k = 0; k < frames_; ++k) time.push_back(s.time[index(k)]);
  packet.add("time", time, 1);
  packet.add("energy", energy, 3);
  packet.add("residual", fold(s.residual, *this, larger), 1);
  packet.add("relative", fold(s.relative, *this, larger), 1);
  packet.add("penetration", fold(s.penetration, *this, larger), 1);
  packet.add("joint_error", fold(s.joint_error, *this, larger), 1);
  packet.add("iterations", fold(s.iterations, *this, sum), 1);
  packet.add("escalations", fold(s.escalations, *this, sum), 1);
  packet.add("grade", fold(s.grade, *this, smaller), 1);
  packet.add("contact_count", counts, 1);
  const auto& events = reader_.events();
  const std::size_t thin = divide_up(std::max<std::size_t>(events.size(), 1), kMaxEvents);
  std::vector<double> rows;
  for (std::size_t i = 0; i < events.size(); i += thin) {
    const RecordEvent& e = events[i];
    rows.insert(rows.end(), {e.time, double(e.kind), double(e.a), double(e.b), e.before, e.after});
  }
  packet.add("events", rows, 6);
  Json json = make_description(reader_.header(), reader_.has_friction());
  json["frames"] = frames_;
  json["stride"] = stride_;
  json["recorded_frames"] = reader_.frames();
  json["event_kinds"] = reader_.event_kinds();
  json["typical_force"] = typical_force_;
  if (extra.is_object()) json.update(extra);
  return packet.bytes(std::move(json));
}

std::string Clip::make_frames_packet(std::size_t first, std::size_t count, const ClipPrecision& precision) const {
  const std::size_t nb = bodies();
  const auto pose = read(&RecordReader::read_poses, first, count, 1);
  if (!pose) return "";
  std::vector<double> position, orientation;
  position.reserve(count * nb * 3);
  orientation.reserve(count * nb * 4);
  for (std::size_t row = 0; row < count * nb; ++row) {
    const double* p = pose->data() + row * 7;
    position.insert(position.end(), p, p + 3);
    // q and -q are the same: take the one near the frame before, so that differences are small.
    double sign = 1;
    if (row >= nb) {
      const double* before = orientation.data() + (row - nb) * 4;
      if (before[0] * p[3] + before[1] * p[4] + before[2] * p[5] + before[3] * p[6] < 0) sign = -1;
    }
    for (int i = 3; i < 7; ++i) orientation.push_back(sign * p[i]);
  }
  Packet packet(precision.level);
  packet.add_packed("position", position, nb * 3, precision.position);
  packet.add_packed("orientation", orientation, nb * 4, precision.orientation);
  return packet.bytes({{"first", first}, {"count", count}});
}

template <class Rows>
std::optional<Rows> Clip::read(std::optional<Rows> (RecordReader::*read_rows)(std::size_t, std::size_t, std::size_t)
                                   const,
                               std::size_t first, std::size_t count, std::size_t every) const {
  const std::size_t rows = divide_up(count, every), last = first + (rows - 1) * every;
  const bool odd = index(last) != last * stride_;  // the recording's last frame may come sooner than a stride
  auto found = (reader_.*read_rows)(first * stride_, odd ? rows - 1 : rows, stride_ * every);
  if (!odd || !found) return found;
  const auto end = (reader_.*read_rows)(index(last), 1, 1);
  if (!end) return std::nullopt;
  append(*end, &*found);
  return found;
}

std::optional<std::vector<double>> Clip::read_poses(std::size_t first, std::size_t count) const {
  return read(&RecordReader::read_poses, first, count, 1);
}

std::optional<Clip::ContactTable> Clip::read_contacts(std::size_t first, std::size_t count, std::size_t every) const {
  const std::size_t rows = divide_up(count, every), nb = bodies();
  const auto found = read(&RecordReader::read_contacts, first, count, every);
  const auto pose = read(&RecordReader::read_poses, first, count, every);
  const auto velocity = read(&RecordReader::read_velocities, first, count, every);
  if (!found || !pose || !velocity) return std::nullopt;
  ContactTable table;
  table.contacts.reserve(found->contacts.size());
  for (std::size_t k = 0; k < rows; ++k) {
    const std::span<const double> q(pose->data() + k * nb * 7, nb * 7), v(velocity->data() + k * nb * 6, nb * 6);
    for (std::size_t i = found->offset[k]; i < found->offset[k + 1]; ++i)
      table.contacts.push_back(make_contact(found->contacts[i], reader_.header().step, q, v));
    table.counts.push_back(static_cast<double>(found->offset[k + 1] - found->offset[k]));
  }
  return table;
}

std::string Clip::make_contacts_packet(std::size_t first, std::size_t count, std::size_t every,
                                       const ClipPrecision& precision) const {
  const auto table = read_contacts(first, count, every);
  if (!table) return "";
  Packet packet(precision.level);
  add_contacts(table->counts, table->contacts, &precision, typical_force_, &packet);
  return packet.bytes({{"first", first}, {"count", count}, {"every", every}});
}

std::string Clip::make_joints_packet(std::size_t first, std::size_t count, std::size_t every, int level,
                                     int digits) const {
  const auto found = read(&RecordReader::read_joints, first, count, every);
  if (!found || found->position.size() != joints() * divide_up(count, every)) return "";
  std::vector<float> rows;
  rows.reserve(found->position.size() * kJointNumbers);
  for (std::size_t i = 0; i < found->position.size(); ++i) {
    for (const auto* column : {&found->position, &found->velocity, &found->motor})
      rows.push_back(shorten((*column)[i], digits));
    for (std::size_t k = 0; k < 6; ++k) rows.push_back(shorten(found->reaction[6 * i + k], digits));
  }
  Packet packet(level);
  if (joints() > 0) packet.add("joints", rows, joints() * kJointNumbers);
  if (sensors() > 0) {
    const auto readings = read(&RecordReader::read_sensors, first, count, every);
    if (!readings || readings->size() != sensors() * divide_up(count, every)) return "";
    std::vector<float> numbers;
    for (const double value : *readings) numbers.push_back(shorten(value, digits));
    packet.add("sensors", numbers, sensors());
  }
  return packet.bytes({{"first", first}, {"count", count}, {"every", every}});
}

std::string Clip::make_body_packet(std::size_t body) const {
  constexpr std::size_t kBlock = 256;
  std::vector<double> pose, velocity;
  const std::size_t nb = bodies();
  for (std::size_t first = 0; first < frames_; first += kBlock) {
    const std::size_t count = std::min(kBlock, frames_ - first);
    const auto q = read(&RecordReader::read_poses, first, count, 1);
    const auto v = read(&RecordReader::read_velocities, first, count, 1);
    if (!q || !v) return "";
    for (std::size_t k = 0; k < count; ++k) {
      const double* row = q->data() + (k * nb + body) * 7;
      pose.insert(pose.end(), row, row + 7);
      const double* twist = v->data() + (k * nb + body) * 6;
      velocity.insert(velocity.end(), twist, twist + 6);
    }
  }
  Packet packet(0);
  packet.add("pose", pose, 7);
  packet.add("velocity", velocity, 6);
  return packet.bytes({{"body", body}});
}

}  // namespace slipstick
