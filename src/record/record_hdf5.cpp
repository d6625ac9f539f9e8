#include "record/record_hdf5.h"

#include <algorithm>

namespace slipstick {

namespace {

constexpr std::size_t kChunkBytes = 128u << 10;
constexpr std::size_t kMaxChunkRows = 16384;
/// Up to here no block of a dataset's index is longer than a page of memory, so that no kill can tear one.
constexpr std::size_t kMaxChunks = 8000;
constexpr std::size_t kMaxWaitingBytes = 8u << 20;  ///< beyond this, rows go to the file between two flushes
constexpr std::chrono::duration<double> kFlushPeriod{0.8};
constexpr std::chrono::duration<double> kStatePeriod{5};  ///< between two whole states: they are larger than frames

void add_root(const RecordHeader& header, Hdf5File* file) {
  file->add_attribute("/", "format", std::string("slipstick recording"));
  file->add_attribute("/", "version", std::int64_t{2});
  file->add_attribute("/", "software", header.software);
  file->add_attribute("/", "scene_text", header.scene_text);
  file->add_attribute("/", "scene_hash", header.scene_hash);
  file->add_attribute("/", "command", header.command);
  file->add_attribute("/", "name", header.name);
  file->add_attribute("/", "scheme", header.scheme);
  file->add_attribute("/", "solver", header.solver);
  file->add_attribute("/", "step", header.step);
  file->add_attribute("/", "duration", header.duration);
  file->add_attribute("/", "gravity", std::span<const double>(header.gravity));
  file->add_attribute("/", "planar", static_cast<std::int64_t>(header.planar));
  file->add_attribute("/", "every", static_cast<std::int64_t>(header.every));
  file->add_attribute("/", "start_step", header.start_step);
  file->add_attribute("/", "resumed_from", header.resumed_from);
  file->add_group("/names");
  file->add_texts("/names/bodies", header.bodies);
  file->add_texts("/names/joints", header.joints);
  if (!header.sensors.empty()) file->add_texts("/names/sensors", header.sensors);
  file->add_table<std::int8_t>("/names/body_kinds", {header.body_kinds.size()}, header.body_kinds);
  file->add_attribute("/names/body_kinds", "kinds", std::vector<std::string>{"dynamic", "fixed", "kinematic"});
}

void add_bodies(const RecordHeader& header, Hdf5File* file) {
  std::vector<double> center;
  for (const auto& point : header.centers_of_mass) center.insert(center.end(), point.begin(), point.end());
  file->add_group("/bodies");
  file->add_table<double>("/bodies/mass", {header.masses.size()}, header.masses);
  file->add_table<double>("/bodies/center_of_mass", {header.centers_of_mass.size(), 3}, center);
}

/// Corners and triangles of hulls, meshes and heightfields; left out when no shape has any.
void add_surfaces(const RecordHeader& header, Hdf5File* file) {
  std::vector<double> vertices;
  std::vector<std::int32_t> triangles;
  std::vector<std::int64_t> first_vertex{0}, first_triangle{0};
  for (const RecordShape& shape : header.shapes) {
    for (const auto& vertex : shape.vertices) vertices.insert(vertices.end(), vertex.begin(), vertex.end());
    for (const auto& triangle : shape.triangles) triangles.insert(triangles.end(), triangle.begin(), triangle.end());
    first_vertex.push_back(static_cast<std::int64_t>(vertices.size() / 3));
    first_triangle.push_back(static_cast<std::int64_t>(triangles.size() / 3));
  }
  if (vertices.empty()) return;
  file->add_table<std::int64_t>("/shapes/vertices_offset", {first_vertex.size()}, first_vertex);
  file->add_table<double>("/shapes/vertices", {vertices.size() / 3, 3}, vertices);
  file->add_table<std::int64_t>("/shapes/triangles_offset", {first_triangle.size()}, first_triangle);
  file->add_table<std::int32_t>("/shapes/triangles", {triangles.size() / 3, 3}, triangles);
}

/// One array per property, so that a reader needs no parser.
void add_shapes(const RecordHeader& header, Hdf5File* file) {
  std::vector<std::int32_t> body;
  std::vector<std::int8_t> kind, visual_only;
  std::vector<double> pose, size, radius, length, points;
  std::vector<std::int64_t> offset{0};
  std::vector<std::string> color;
  for (const RecordShape& shape : header.shapes) {
    body.push_back(shape.body);
    kind.push_back(static_cast<std::int8_t>(shape.kind));
    visual_only.push_back(shape.visual_only);
    pose.insert(pose.end(), shape.pose.begin(), shape.pose.end());
    size.insert(size.end(), shape.size.begin(), shape.size.end());
    radius.push_back(shape.radius);
    length.push_back(shape.length);
    for (const auto& point : shape.points) points.insert(points.end(), point.begin(), point.end());
    offset.push_back(static_cast<std::int64_t>(points.size() / 2));
    color.push_back(shape.color);
  }
  const std::size_t n = header.shapes.size();
  file->add_group("/shapes");
  file->add_attribute("/shapes", "kinds", header.shape_kinds);
  file->add_table<std::int32_t>("/shapes/body", {n}, body);
  file->add_table<std::int8_t>("/shapes/kind", {n}, kind);
  file->add_table<double>("/shapes/pose", {n, 7}, pose);
  file->add_table<double>("/shapes/size", {n, 3}, size);
  file->add_table<double>("/shapes/radius", {n}, radius);
  file->add_table<double>("/shapes/length", {n}, length);
  file->add_table<std::int64_t>("/shapes/points_offset", {n + 1}, offset);
  file->add_table<double>("/shapes/points", {points.size() / 2, 2}, points);
  file->add_texts("/shapes/color", color);
  file->add_table<std::int8_t>("/shapes/visual_only", {n}, visual_only);
}

void add_links(const RecordHeader& header, Hdf5File* file) {
  std::vector<std::int8_t> kind, motor;
  std::vector<std::int32_t> a, b, couples;
  std::vector<double> anchor_a, anchor_b, axis, factors;
  std::vector<std::string> name;
  for (const RecordLink& link : header.links) {
    kind.push_back(static_cast<std::int8_t>(link.kind));
    a.push_back(link.a);
    b.push_back(link.b);
    anchor_a.insert(anchor_a.end(), link.anchor_a.begin(), link.anchor_a.end());
    anchor_b.insert(anchor_b.end(), link.anchor_b.begin(), link.anchor_b.end());
    axis.insert(axis.end(), link.axis.begin(), link.axis.end());
    motor.push_back(static_cast<std::int8_t>(link.motor));
    couples.insert(couples.end(), link.couples.begin(), link.couples.end());
    factors.insert(factors.end(), link.factors.begin(), link.factors.end());
    name.push_back(link.name);
  }
  const std::size_t n = header.links.size();
  file->add_group("/links");
  file->add_attribute("/links", "kinds", header.link_kinds);
  file->add_texts("/links/name", name);
  file->add_table<std::int8_t>("/links/kind", {n}, kind);
  file->add_table<std::int32_t>("/links/a", {n}, a);
  file->add_table<std::int32_t>("/links/b", {n}, b);
  file->add_table<double>("/links/anchor_a", {n, 3}, anchor_a);
  file->add_table<double>("/links/anchor_b", {n, 3}, anchor_b);
  file->add_table<double>("/links/axis", {n, 3}, axis);
  file->add_table<std::int8_t>("/links/motor", {n}, motor);
  file->add_table<std::int32_t>("/links/couples", {n, 3}, couples);
  file->add_table<double>("/links/factors", {n, 3}, factors);
}

}  // namespace

std::size_t calc_chunk_rows(std::size_t row_bytes, std::size_t expected_rows) {
  std::size_t rows = std::min(kMaxChunkRows, kChunkBytes / std::max<std::size_t>(row_bytes, 1));
  rows = std::clamp<std::size_t>(rows, 1, std::max<std::size_t>(expected_rows, 1));
  return std::max(rows, 2 * expected_rows / kMaxChunks);
}

Result<RecordWriter> RecordWriter::create(const std::string& path, const RecordHeader& header) {
  auto file = Hdf5File::create(path);
  if (!file) return file.faults();
  RecordWriter writer;
  writer.file_ = std::move(file).value();
  writer.contacts_ = header.contacts;
  writer.weighted_ = header.weighted;
  add_root(header, writer.file_.get());
  add_bodies(header, writer.file_.get());
  add_shapes(header, writer.file_.get());
  add_surfaces(header, writer.file_.get());
  add_links(header, writer.file_.get());
  if (header.parts) add_check_data(header, writer.file_.get());
  writer.add_columns(header);
  writer.contact_offset_.push(0);
  writer.contact_offset_.write(writer.file_.get());
  writer.state_offset_.push(0);
  writer.state_offset_.write(writer.file_.get());
  if (!writer.file_->publish()) return Fault{{}, writer.error()};
  return writer;
}

void RecordWriter::add_columns(const RecordHeader& header) {
  Hdf5File* f = file_.get();
  const std::size_t nb = header.bodies.size();
  const std::size_t n = header.expected_frames;
  const std::size_t scalar = calc_chunk_rows(8, n);
  const std::size_t contact = std::clamp<std::size_t>(16 * n, 64, kMaxChunkRows);
  const std::size_t event = calc_chunk_rows(8, 256);
  pose_.open("/pose", {nb, 7}, calc_chunk_rows(nb * 56, n), f);
  velocity_.open("/velocity", {nb, 6}, calc_chunk_rows(nb * 48, n), f);
  if (weighted_) velocity_weighted_.open("/velocity_weighted", {nb, 6}, calc_chunk_rows(nb * 48, n), f);
  energy_.open("/energy", {3}, calc_chunk_rows(24, n), f);
  const std::size_t nj = header.joints.size();
  f->add_group("/joint");
  joint_position_.open("/joint/position", {nj}, calc_chunk_rows(nj * 8, n), f);
  joint_velocity_.open("/joint/velocity", {nj}, calc_chunk_rows(nj * 8, n), f);
  joint_motor_.open("/joint/motor", {nj}, calc_chunk_rows(nj * 8, n), f);
  joint_reaction_.open("/joint/reaction", {nj, 6}, calc_chunk_rows(nj * 48, n), f);
  senses_ = !header.sensors.empty();
  if (senses_) sensor_.open("/sensor", {header.sensors.size()}, calc_chunk_rows(header.sensors.size() * 8, n), f);
  f->add_group("/certificate");
  residual_.open("/certificate/residual", {}, scalar, f);
  relative_.open("/certificate/relative", {}, scalar, f);
  penetration_.open("/certificate/penetration", {}, scalar, f);
  joint_error_.open("/certificate/joint_error", {}, scalar, f);
  iterations_.open("/certificate/iterations", {}, scalar, f);
  escalations_.open("/certificate/escalations", {}, scalar, f);
  certified_.open("/certificate/certified", {}, scalar, f);
  grade_.open("/certificate/grade", {}, scalar, f);
  f->add_group("/contacts");
  contact_offset_.open("/contacts/offset", {}, scalar, f);
  contact_a_.open("/contacts/a", {}, contact, f);
  contact_b_.open("/contacts/b", {}, contact, f);
  contact_point_.open("/contacts/point", {3}, contact, f);
  contact_normal_.open("/contacts/normal", {3}, contact, f);
  contact_gap_.open("/contacts/gap", {}, contact, f);
  contact_impulse_.open("/contacts/impulse", {3}, contact, f);
  contact_friction_.open("/contacts/friction", {}, contact, f);
  contact_unique_.open("/contacts/unique", {}, contact, f);
  f->add_attribute(
      "/contacts", "unique_kinds",
      std::vector<std::string>{"not known", "unique", "not unique: equal springs", "not unique: arbitrary"});
  f->add_group("/events");
  f->add_attribute("/events", "kinds", std::vector<std::string>{"impact", "takeoff", "stick", "slip"});
  event_time_.open("/events/time", {}, event, f);
  event_kind_.open("/events/kind", {}, event, f);
  event_a_.open("/events/a", {}, event, f);
  event_b_.open("/events/b", {}, event, f);
  event_before_.open("/events/before", {}, event, f);
  event_after_.open("/events/after", {}, event, f);
  has_parts_ = header.parts;
  if (has_parts_) parts_.open(header, f);
  f->add_group("/state");
  state_frame_.open("/state/frame", {}, event, f);
  state_offset_.open("/state/offset", {}, event, f);
  state_bytes_.open("/state/bytes", {}, std::clamp<std::size_t>(nb * 400, 4096, 1u << 20), f);
  time_.open("/time", {}, scalar, f);
  f->write_last(time_.dataset());
}

bool RecordWriter::append(const RecordFrame& frame, Clock::time_point now) {
  if (!file_->ok()) return false;
  if (!anything_waiting_) oldest_waiting_ = now;
  time_.push(frame.time);
  pose_.push(frame.pose);
  velocity_.push(frame.velocity);
  if (weighted_) velocity_weighted_.push(frame.velocity_weighted);
  joint_position_.push(frame.joint_position);
  joint_velocity_.push(frame.joint_velocity);
  joint_motor_.push(frame.joint_motor);
  joint_reaction_.push(frame.joint_reaction);
  if (senses_) sensor_.push(frame.sensor);
  energy_.push(std::span<const double>(frame.energy));
  residual_.push(frame.residual);
  relative_.push(frame.relative);
  penetration_.push(frame.penetration);
  joint_error_.push(frame.joint_error);
  iterations_.push(frame.iterations);
  escalations_.push(frame.escalations);
  certified_.push(frame.grade != Grade::None ? 1 : 0);
  grade_.push(static_cast<std::int8_t>(frame.grade));
  push_contacts(contacts_ ? frame.contacts : std::span<const RecordContact>());
  push_events(frame.events);
  if (has_parts_) parts_.push(frame.parts);
  if (frame.state) {
    latest_state_ = *frame.state;
    latest_state_frame_ = frames_total_;
  }
  ++frames_total_;
  ++frames_waiting_;
  anything_waiting_ = true;
  if (is_flush_due(now)) {
    if (stored_state_frame_ < 0 || now - state_stored_ >= kStatePeriod) {
      push_state();
      state_stored_ = now;
    }
    flush();
  } else if (waiting_bytes() > kMaxWaitingBytes) {
    write_columns();
  }
  last_append_ = now;
  return file_->ok();
}

/// The first frame goes out at once. Later on: would a waiting frame be too old at the next append, if that takes as
/// long to come as this one took?
bool RecordWriter::is_flush_due(Clock::time_point now) const {
  return last_append_ == Clock::time_point() || (now - oldest_waiting_) + (now - last_append_) >= kFlushPeriod;
}

void RecordWriter::push_contacts(std::span<const RecordContact> contacts) {
  for (const RecordContact& contact : contacts) {
    contact_a_.push(contact.a);
    contact_b_.push(contact.b);
    contact_point_.push(std::span<const double>(contact.point));
    contact_normal_.push(std::span<const double>(contact.normal));
    contact_gap_.push(contact.gap);
    contact_impulse_.push(std::span<const double>(contact.impulse));
    contact_friction_.push(contact.friction);
    contact_unique_.push(static_cast<std::int8_t>(contact.unique));
  }
  contacts_total_ += static_cast<std::int64_t>(contacts.size());
  contact_offset_.push(contacts_total_);
}

void RecordWriter::push_events(std::span<const RecordEvent> events) {
  for (const RecordEvent& event : events) {
    event_time_.push(event.time);
    event_kind_.push(static_cast<std::int8_t>(event.kind));
    event_a_.push(event.a);
    event_b_.push(event.b);
    event_before_.push(event.before);
    event_after_.push(event.after);
  }
}

/// The last frame's, unless it is there already.
void RecordWriter::push_state() {
  if (latest_state_frame_ <= stored_state_frame_) return;
  const std::string bytes = make_file_bytes(latest_state_);
  for (const char c : bytes) state_bytes_.push(static_cast<std::int8_t>(c));
  state_bytes_total_ += static_cast<std::int64_t>(bytes.size());
  state_offset_.push(state_bytes_total_);
  state_frame_.push(latest_state_frame_);
  stored_state_frame_ = latest_state_frame_;
}

std::size_t RecordWriter::waiting_bytes() const {
  return pose_.bytes() + velocity_.bytes() + joint_reaction_.bytes() * 2 + energy_.bytes() +
         contact_point_.bytes() * 4 + time_.bytes() * 8 + parts_.bytes();
}

void RecordWriter::write_columns() {
  Hdf5File* f = file_.get();
  pose_.write(frames_waiting_, f);
  velocity_.write(frames_waiting_, f);
  if (weighted_) velocity_weighted_.write(frames_waiting_, f);
  for (auto* column : {&joint_position_, &joint_velocity_, &joint_motor_, &joint_reaction_})
    column->write(frames_waiting_, f);
  if (senses_) sensor_.write(frames_waiting_, f);
  energy_.write(f);
  for (auto* column : {&residual_, &relative_, &penetration_, &joint_error_}) column->write(f);
  for (auto* column : {&iterations_, &escalations_, &contact_a_, &contact_b_, &event_a_, &event_b_}) column->write(f);
  certified_.write(f);
  grade_.write(f);
  for (auto* column : {&contact_point_, &contact_normal_, &contact_gap_, &contact_impulse_, &contact_friction_})
    column->write(f);
  contact_unique_.write(f);
  contact_offset_.write(f);
  for (auto* column : {&event_time_, &event_before_, &event_after_}) column->write(f);
  event_kind_.write(f);
  if (has_parts_) parts_.write(f);
  state_bytes_.write(f);
  state_offset_.write(f);
  state_frame_.write(f);
  time_.write(f);
  frames_waiting_ = 0;
}

bool RecordWriter::flush() {
  write_columns();
  anything_waiting_ = false;
  return file_->flush();
}

void RecordWriter::close_columns() {
  for (auto* column : {&time_,
                       &pose_,
                       &velocity_,
                       &energy_,
                       &residual_,
                       &relative_,
                       &penetration_,
                       &joint_error_,
                       &contact_point_,
                       &contact_normal_,
                       &contact_gap_,
                       &contact_impulse_,
                       &contact_friction_,
                       &event_time_,
                       &event_before_,
                       &event_after_,
                       &joint_position_,
                       &joint_velocity_,
                       &joint_motor_,
                       &joint_reaction_})
    column->close();
  for (auto* column : {&iterations_, &escalations_, &contact_a_, &contact_b_, &event_a_, &event_b_}) column->close();
  if (weighted_) velocity_weighted_.close();
  if (senses_) sensor_.close();
  if (has_parts_) parts_.close();
  certified_.close();
  grade_.close();
  contact_unique_.close();
  event_kind_.close();
  for (auto* column : {&contact_offset_, &state_frame_, &state_offset_}) column->close();
  state_bytes_.close();
}

bool RecordWriter::close(const std::string& ended) {
  if (closed_) return file_->ok();
  closed_ = true;
  push_state();
  write_columns();
  close_columns();
  if (!ended.empty() && file_->flush()) {  // all frames are in the file before it says that it has ended
    file_->add_texts("/ended", {ended}, true);
    file_->add_attribute("/", "ended", ended);
  }
  return file_->close();
}

}  // namespace slipstick
