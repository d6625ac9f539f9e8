#include <slipstick/app/table.h>

#include "record/record_reader.h"

#include <algorithm>
#include <charconv>

namespace slipstick {

namespace {

constexpr std::size_t kBlock = 256;  ///< frames read at a time

/// One line of CSV (RFC 4180, lines end in a single newline).
class CsvLine {
 public:
  void add(const std::string& text) {
    separate();
    if (text.find_first_of(",\"\r\n") == std::string::npos) {
      text_ += text;
      return;
    }
    text_ += '"';
    for (const char c : text) text_ += c == '"' ? std::string("\"\"") : std::string(1, c);
    text_ += '"';
  }
  /// The shortest text that reads back as the same number.
  void add(double x) {
    separate();
    char digits[32];
    text_.append(digits, std::to_chars(digits, digits + sizeof digits, x).ptr);
  }
  void add(std::int64_t x) {
    separate();
    text_ += std::to_string(x);
  }
  std::string finish() {
    std::string line = std::move(text_) + "\n";
    text_.clear();
    first_ = true;
    return line;
  }

 private:
  void separate() {
    if (!first_) text_ += ',';
    first_ = false;
  }
  std::string text_;
  bool first_ = true;
};

/// The frames that are being written, with what was read of them.
struct TableBlock {
  const RecordReader* reader = nullptr;
  std::vector<std::size_t> bodies, joints;
  std::size_t first = 0;
  std::vector<double> pose, velocity;  ///< frames x bodies x 7 and 6
  RecordJoints joint;
  std::vector<double> sensor;  ///< frames x their numbers
};

/// A series with one row for each frame.
struct FrameSeries {
  const char* name;
  const char* about;
  enum class About { All, Bodies, Joints, Sensors } about_what;
  void (*add_names)(const TableBlock& block, CsvLine* line);
  void (*add_values)(const TableBlock& block, std::size_t frame, CsvLine* line);
};

void add_body_names(const TableBlock& block, std::initializer_list<const char*> parts, CsvLine* line) {
  for (const std::size_t body : block.bodies)
    for (const char* part : parts) line->add(block.reader->header().bodies[body] + "." + part);
}

void add_joint_names(const TableBlock& block, std::initializer_list<const char*> parts, CsvLine* line) {
  for (const std::size_t joint : block.joints)
    for (const char* part : parts) line->add(block.reader->header().joints[joint] + "." + part);
}

void add_joint_values(const TableBlock& block, const std::vector<double>& table, std::size_t frame, std::size_t width,
                      CsvLine* line) {
  const std::size_t all = block.reader->header().joints.size();
  for (const std::size_t joint : block.joints)
    for (std::size_t k = 0; k < width; ++k) line->add(table[((frame - block.first) * all + joint) * width + k]);
}

/// Numbers first to first + count - 1 of each body's `width`.
void add_body_values(const TableBlock& block, const std::vector<double>& table, std::size_t frame, std::size_t width,
                     std::size_t first, std::size_t count, CsvLine* line) {
  const std::size_t all = block.reader->header().bodies.size();
  for (const std::size_t body : block.bodies)
    for (std::size_t k = 0; k < count; ++k) line->add(table[((frame - block.first) * all + body) * width + first + k]);
}

template <class T>
void add_or_nothing(const std::vector<T>& values, std::size_t frame, CsvLine* line) {
  if (frame < values.size()) {
    line->add(values[frame]);
  } else {
    line->add(std::string());  // a recording of another version lacks it
  }
}

void add_energy_values(const TableBlock& block, std::size_t frame, CsvLine* line) {
  const std::vector<double>& e = block.reader->series().energy;
  if (e.size() < 3 * frame + 3) {
    for (int i = 0; i < 4; ++i) line->add(std::string());
    return;
  }
  for (std::size_t i = 0; i < 3; ++i) line->add(e[3 * frame + i]);
  line->add(e[3 * frame] + e[3 * frame + 1]);
}

/// The table of all series with a row for each frame: a new one is one entry.
const std::vector<FrameSeries>& frame_series() {
  using Block = const TableBlock&;
  using About = FrameSeries::About;
  static const std::vector<FrameSeries> table{
      {"position", "x y z of a body's frame, m", About::Bodies,
       [](Block b, CsvLine* l) {
         add_body_names(b, {"x", "y", "z"}, l);
       },
       [](Block b, std::size_t f, CsvLine* l) { add_body_values(b, b.pose, f, 7, 0, 3, l); }},
      {"orientation", "its quaternion w x y z", About::Bodies,
       [](Block b, CsvLine* l) {
         add_body_names(b, {"qw", "qx", "qy", "qz"}, l);
       },
       [](Block b, std::size_t f, CsvLine* l) { add_body_values(b, b.pose, f, 7, 3, 4, l); }},
      {"pose", "position and orientation", About::Bodies,
       [](Block b, CsvLine* l) {
         add_body_names(b, {"x", "y", "z", "qw", "qx", "qy", "qz"}, l);
       },
       [](Block b, std::size_t f, CsvLine* l) { add_body_values(b, b.pose, f, 7, 0, 7, l); }},
      {"velocity", "of its origin, world, m/s", About::Bodies,
       [](Block b, CsvLine* l) {
         add_body_names(b, {"vx", "vy", "vz"}, l);
       },
       [](Block b, std::size_t f, CsvLine* l) { add_body_values(b, b.velocity, f, 6, 0, 3, l); }},
      {"angular_velocity", "world, rad/s", About::Bodies,
       [](Block b, CsvLine* l) {
         add_body_names(b, {"wx", "wy", "wz"}, l);
       },
       [](Block b, std::size_t f, CsvLine* l) { add_body_values(b, b.velocity, f, 6, 3, 3, l); }},
      {"joint_position", "coordinate that the joint is known for, m or rad (empty axis: nan)", About::Joints,
       [](Block b, CsvLine* l) { add_joint_names(b, {"position"}, l); },
       [](Block b, std::size_t f, CsvLine* l) { add_joint_values(b, b.joint.position, f, 1, l); }},
      {"joint_velocity", "its speed, m/s or rad/s", About::Joints,
       [](Block b, CsvLine* l) { add_joint_names(b, {"velocity"}, l); },
       [](Block b, std::size_t f, CsvLine* l) { add_joint_values(b, b.joint.velocity, f, 1, l); }},
      {"joint_motor", "force of its motor, N or N m, mean over the last step", About::Joints,
       [](Block b, CsvLine* l) { add_joint_names(b, {"motor"}, l); },
       [](Block b, std::size_t f, CsvLine* l) { add_joint_values(b, b.joint.motor, f, 1, l); }},
      {"joint_reaction", "force and moment on b, world, at its anchor, mean over the last step", About::Joints,
       [](Block b, CsvLine* l) {
         add_joint_names(b, {"fx", "fy", "fz", "mx", "my", "mz"}, l);
       },
       [](Block b, std::size_t f, CsvLine* l) { add_joint_values(b, b.joint.reaction, f, 6, l); }},
      {"energy", "kinetic, potential, dissipated so far, and the sum of the first two, J", About::All,
       [](Block, CsvLine* l) {
         for (const char* name : {"kinetic", "potential", "dissipated", "total"}) l->add(std::string(name));
       },
       add_energy_values},
      {"residual", "natural-map residual, m/s: the worst since the frame before", About::All,
       [](Block, CsvLine* l) { l->add(std::string("residual")); },
       [](Block b, std::size_t f, CsvLine* l) { add_or_nothing(b.reader->series().residual, f, l); }},
      {"relative", "relative residual", About::All, [](Block, CsvLine* l) { l->add(std::string("relative")); },
       [](Block b, std::size_t f, CsvLine* l) { add_or_nothing(b.reader->series().relative, f, l); }},
      {"penetration", "the deepest, m", About::All, [](Block, CsvLine* l) { l->add(std::string("penetration")); },
       [](Block b, std::size_t f, CsvLine* l) { add_or_nothing(b.reader->series().penetration, f, l); }},
      {"joint_error", "the largest, m or rad", About::All,
       [](Block, CsvLine* l) { l->add(std::string("joint_error")); },
       [](Block b, std::size_t f, CsvLine* l) { add_or_nothing(b.reader->series().joint_error, f, l); }},
      {"iterations", "since the frame before", About::All, [](Block, CsvLine* l) { l->add(std::string("iterations")); },
       [](Block b, std::size_t f, CsvLine* l) { add_or_nothing(b.reader->series().iterations, f, l); }},
      {"escalations", "since the frame before", About::All,
       [](Block, CsvLine* l) { l->add(std::string("escalations")); },
       [](Block b, std::size_t f, CsvLine* l) { add_or_nothing(b.reader->series().escalations, f, l); }},
      {"certified", "1: all steps since the frame before", About::All,
       [](Block, CsvLine* l) { l->add(std::string("certified")); },
       [](Block b, std::size_t f, CsvLine* l) { add_or_nothing(b.reader->series().certified, f, l); }},
      {"grade", "the worst since the frame before: 2 exact, 1 to the heap tolerance, 0 not certified", About::All,
       [](Block, CsvLine* l) { l->add(std::string("grade")); },
       [](Block b, std::size_t f, CsvLine* l) { add_or_nothing(b.reader->series().grade, f, l); }},
      {"sensors", "the numbers of all sensors of the scene", About::Sensors,
       [](Block b, CsvLine* l) {
         for (const std::string& name : b.reader->header().sensors) l->add(name);
       },
       [](Block b, std::size_t f, CsvLine* l) {
         const std::size_t all = b.reader->header().sensors.size();
         for (std::size_t k = 0; k < all; ++k) l->add(b.sensor[(f - b.first) * all + k]);
       }},
      {"contact_count", "contacts that carried a force", About::All,
       [](Block, CsvLine* l) { l->add(std::string("contact_count")); },
       [](Block b, std::size_t f, CsvLine* l) {
         const std::vector<std::int64_t>& offset = b.reader->series().contact_offset;
         l->add(offset[f + 1] - offset[f]);
       }}};
  return table;
}

/// Short names for several series.
struct SeriesGroup {
  const char* name;
  const char* about;
  std::vector<const char*> members;
};
const std::vector<SeriesGroup>& series_groups() {
  static const std::vector<SeriesGroup> groups{
      {"certificate",
       "residual to grade, all of them",
       {"residual", "relative", "penetration", "joint_error", "iterations", "escalations", "certified", "grade"}},
      {"joints",
       "joint_position to joint_reaction, all of them",
       {"joint_position", "joint_velocity", "joint_motor", "joint_reaction"}}};
  return groups;
}

const std::string& body_text(const RecordReader& reader, int body) {
  static const std::string world = "world";
  return body < 0 ? world : reader.header().bodies[static_cast<std::size_t>(body)];
}

using Write = std::function<bool(const std::string&)>;

bool write_contacts(const RecordReader& reader, const Write& write) {
  if (!write("time,frame,a,b,x,y,z,nx,ny,nz,gap,impulse_x,impulse_y,impulse_z,friction\n")) return true;
  CsvLine line;
  for (std::size_t first = 0; first < reader.frames(); first += kBlock) {
    const std::size_t count = std::min(kBlock, reader.frames() - first);
    const auto found = reader.read_contacts(first, count, 1);
    if (!found) return false;
    for (std::size_t k = 0; k < count; ++k)
      for (std::size_t i = found->offset[k]; i < found->offset[k + 1]; ++i) {
        const RecordContact& contact = found->contacts[i];
        line.add(reader.series().time[first + k]);
        line.add(static_cast<std::int64_t>(first + k));
        line.add(body_text(reader, contact.a));
        line.add(body_text(reader, contact.b));
        for (const double x : contact.point) line.add(x);
        for (const double x : contact.normal) line.add(x);
        line.add(contact.gap);
        for (const double x : contact.impulse) line.add(x);
        line.add(contact.friction);
        if (!write(line.finish())) return true;
      }
  }
  return true;
}

bool write_events(const RecordReader& reader, const Write& write) {
  if (!write("time,kind,a,b,normal_speed_before,normal_speed_after\n")) return true;
  CsvLine line;
  for (const RecordEvent& event : reader.events()) {
    line.add(event.time);
    line.add(reader.event_kinds()[static_cast<std::size_t>(event.kind)]);
    line.add(body_text(reader, event.a));
    line.add(body_text(reader, event.b));
    line.add(event.before);
    line.add(event.after);
    if (!write(line.finish())) return true;
  }
  return true;
}

/// A table whose rows are not frames.
struct OwnTable {
  const char* name;
  const char* about;
  bool (*write)(const RecordReader& reader, const Write& write);  ///< false: the file cannot be read to its end
};
const std::vector<OwnTable>& own_tables() {
  static const std::vector<OwnTable> tables{
      {"contacts", "a row for each contact of each frame: bodies, point, normal, gap, impulse on b (stands alone)",
       write_contacts},
      {"events", "a row for each located event (stands alone)", write_events}};
  return tables;
}

bool write_frames(const std::vector<const FrameSeries*>& chosen, TableBlock block, const Write& write) {
  const RecordReader& reader = *block.reader;
  CsvLine line;
  line.add(std::string("time"));
  for (const FrameSeries* series : chosen) series->add_names(block, &line);
  if (!write(line.finish())) return true;
  const auto wants = [&](FrameSeries::About what) {
    return std::any_of(chosen.begin(), chosen.end(), [&](const FrameSeries* each) { return each->about_what == what; });
  };
  const bool moving = wants(FrameSeries::About::Bodies), jointed = wants(FrameSeries::About::Joints);
  const bool sensing = wants(FrameSeries::About::Sensors);
  for (; block.first < reader.frames(); block.first += kBlock) {
    const std::size_t count = std::min(kBlock, reader.frames() - block.first);
    if (moving) {
      auto pose = reader.read_poses(block.first, count, 1), velocity = reader.read_velocities(block.first, count, 1);
      if (!pose || !velocity) return false;
      block.pose = std::move(*pose);
      block.velocity = std::move(*velocity);
    }
    if (jointed) {
      auto joint = reader.read_joints(block.first, count, 1);
      if (!joint) return false;
      block.joint = std::move(*joint);
    }
    if (sensing) {
      auto sensor = reader.read_sensors(block.first, count, 1);
      if (!sensor) return false;
      block.sensor = std::move(*sensor);
    }
    for (std::size_t k = block.first; k < block.first + count; ++k) {
      line.add(reader.series().time[k]);
      for (const FrameSeries* series : chosen) series->add_values(block, k, &line);
      if (!write(line.finish())) return true;
    }
  }
  return true;
}

/// The places of `wanted` among `names`, all of them if nothing is wanted; says what is not there.
std::string choose_columns(const std::vector<std::string>& wanted, const std::vector<std::string>& names,
                           const char* what, std::vector<std::size_t>* places) {
  for (std::size_t i = 0; wanted.empty() && i < names.size(); ++i) places->push_back(i);
  for (const std::string& name : wanted) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) return std::string("has no ") + what + " '" + name + "'";
    places->push_back(static_cast<std::size_t>(found - names.begin()));
  }
  return {};
}

/// The series of one name, or several for a group; nothing for an unknown one.
std::vector<const FrameSeries*> find_series(const std::string& name) {
  std::vector<const FrameSeries*> found;
  for (const SeriesGroup& group : series_groups())
    if (group.name == name)
      for (const char* member : group.members)
        for (const FrameSeries* series : find_series(member)) found.push_back(series);
  for (const FrameSeries& series : frame_series())
    if (series.name == name) found.push_back(&series);
  return found;
}

}  // namespace

std::vector<TableSeries> table_series() {
  std::vector<TableSeries> all;
  for (const FrameSeries& series : frame_series()) all.push_back({series.name, series.about});
  for (const SeriesGroup& group : series_groups()) all.push_back({group.name, group.about});
  for (const OwnTable& table : own_tables()) all.push_back({table.name, table.about});
  return all;
}

Result<TableNames> read_table_names(const std::string& recording) {
  const auto reader = RecordReader::open(recording);
  if (!reader) return reader.faults();
  return TableNames{reader->header().bodies, reader->header().joints};
}

Faults write_table(const TableRequest& request, const Write& write) {
  const auto reader = RecordReader::open(request.recording);
  if (!reader) return reader.faults();
  const Fault unreadable{{request.recording, 0, 0}, "cannot be read to its end"};
  TableBlock block;
  block.reader = &*reader;
  std::string missing = choose_columns(request.bodies, reader->header().bodies, "body", &block.bodies);
  if (missing.empty()) missing = choose_columns(request.joints, reader->header().joints, "joint", &block.joints);
  if (!missing.empty()) return {Fault{{request.recording, 0, 0}, missing}};
  std::vector<const FrameSeries*> chosen;
  for (const std::string& name : request.what) {
    for (const OwnTable& table : own_tables()) {
      if (table.name != name) continue;
      if (request.what.size() > 1) return {Fault{{}, "'" + name + "' has rows of its own: ask for it alone"}};
      if (!table.write(*reader, write)) return {unreadable};
      return {};
    }
    const std::vector<const FrameSeries*> found = find_series(name);
    if (found.empty()) return {Fault{{}, "nothing is called '" + name + "'"}};
    chosen.insert(chosen.end(), found.begin(), found.end());
  }
  if (!write_frames(chosen, std::move(block), write)) return {unreadable};
  return {};
}

}  // namespace slipstick
