#include <slipstick/app/recording_series.h>

#include "record/record_reader.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace slipstick {

namespace {

struct Source {
  const RecordReader* reader = nullptr;
  std::size_t body = 0;
  std::vector<double> pose, velocity;  ///< of the body: frames x 7, frames x 6
  std::size_t joint = 0;
  RecordJoints joints;              ///< of all
  std::vector<std::string> chosen;  ///< names of sensors' numbers; empty: all
};

struct Series {
  const char* name;
  const char* label;  ///< of the y axis
  bool log;
  enum class About { All, Body, Joint } about;
  std::function<std::vector<PlotLine>(const Source&)> make;
};

/// Column `k` of a table with `width` columns.
std::vector<double> take_column(const std::vector<double>& table, std::size_t width, std::size_t k) {
  std::vector<double> column;
  for (std::size_t i = k; i < table.size(); i += width) column.push_back(table[i]);
  return column;
}

PlotLine make_line(const Source& source, const char* label, std::vector<double> values) {
  PlotLine line;
  line.label = label;
  line.x = source.reader->series().time;
  line.x.resize(std::min(line.x.size(), values.size()));
  line.y = std::move(values);
  return line;
}

std::vector<PlotLine> make_energy(const Source& source) {
  const std::vector<double>& e = source.reader->series().energy;
  std::vector<double> kinetic = take_column(e, 3, 0), potential = take_column(e, 3, 1), total = kinetic;
  for (std::size_t i = 0; i < total.size(); ++i) total[i] += potential[i];
  return {make_line(source, "kinetic", kinetic), make_line(source, "potential", potential),
          make_line(source, "total", total)};
}

std::vector<PlotLine> make_ledger(const Source& source) {
  const std::vector<double>& e = source.reader->series().energy;
  const std::vector<double> dissipated = take_column(e, 3, 2);
  std::vector<double> change, put_in;
  for (std::size_t i = 0; i < dissipated.size(); ++i) {
    change.push_back(e[3 * i] + e[3 * i + 1] - e[0] - e[1]);
    put_in.push_back(change.back() + dissipated[i]);
  }
  return {make_line(source, "change", change), make_line(source, "dissipated", dissipated),
          make_line(source, "put in", put_in)};
}

std::vector<PlotLine> make_contacts(const Source& source) {
  const std::vector<std::int64_t>& offset = source.reader->series().contact_offset;
  std::vector<double> counts;
  for (std::size_t k = 0; k + 1 < offset.size(); ++k) counts.push_back(static_cast<double>(offset[k + 1] - offset[k]));
  return {make_line(source, "contacts", counts)};
}

std::vector<PlotLine> make_axes(const Source& source, const std::vector<double>& table, std::size_t width) {
  const char* const names[] = {"x", "y", "z"};
  std::vector<PlotLine> lines;
  for (std::size_t k = 0; k < 3; ++k) lines.push_back(make_line(source, names[k], take_column(table, width, k)));
  return lines;
}

std::vector<PlotLine> make_norm(const Source& source, const char* label, std::size_t first) {
  std::vector<double> values;
  for (std::size_t i = first; i + 2 < source.velocity.size(); i += 6)
    values.push_back(std::hypot(source.velocity[i], source.velocity[i + 1], source.velocity[i + 2]));
  return {make_line(source, label, values)};
}

/// Numbers first to first + 2 of the joint's `width`, or the only one.
std::vector<PlotLine> make_joint(const Source& source, const std::vector<double>& table, std::size_t width,
                                 std::size_t first, const char* label) {
  const std::size_t all = source.reader->header().joints.size() * width, from = source.joint * width + first;
  if (width == 1) return {make_line(source, label, take_column(table, all, from))};
  const char* const names[] = {"x", "y", "z"};
  std::vector<PlotLine> lines;
  for (std::size_t k = 0; k < 3; ++k) lines.push_back(make_line(source, names[k], take_column(table, all, from + k)));
  return lines;
}

/// A line for each number of the sensors that are asked for.
std::vector<PlotLine> make_sensors(const Source& source) {
  const std::vector<std::string>& names = source.reader->header().sensors;
  const auto table = source.reader->read_sensors(0, source.reader->frames(), 1);
  std::vector<PlotLine> lines;
  for (std::size_t k = 0; table && k < names.size(); ++k) {
    const auto is_part = [&](const std::string& each) { return names[k] == each || names[k].starts_with(each + "."); };
    if (source.chosen.empty() || std::any_of(source.chosen.begin(), source.chosen.end(), is_part))
      lines.push_back(make_line(source, names[k].c_str(), take_column(*table, names.size(), k)));
  }
  return lines;
}

template <class T>
std::vector<PlotLine> make_one(const Source& source, const char* label, const std::vector<T>& values) {
  return {make_line(source, label, std::vector<double>(values.begin(), values.end()))};
}

/// The table of all series: a new one is one row.
const std::vector<Series>& all_series() {
  using About = Series::About;
  static const std::vector<Series> table{
      {"energy", "energy, J", false, About::All, make_energy},
      {"ledger", "energy, J", false, About::All, make_ledger},
      {"residual", "residual, m/s", true, About::All,
       [](const Source& s) { return make_one(s, "natural map", s.reader->series().residual); }},
      {"relative", "relative residual", true, About::All,
       [](const Source& s) { return make_one(s, "relative", s.reader->series().relative); }},
      {"penetration", "penetration, m", false, About::All,
       [](const Source& s) { return make_one(s, "deepest", s.reader->series().penetration); }},
      {"joint_error", "joint error, m or rad", false, About::All,
       [](const Source& s) { return make_one(s, "largest", s.reader->series().joint_error); }},
      {"iterations", "iterations", false, About::All,
       [](const Source& s) { return make_one(s, "iterations", s.reader->series().iterations); }},
      {"contacts", "contacts", false, About::All, make_contacts},
      {"sensors", "sensors, SI units", false, About::All, make_sensors},
      {"position", "position, m", false, About::Body, [](const Source& s) { return make_axes(s, s.pose, 7); }},
      {"velocity", "velocity, m/s", false, About::Body, [](const Source& s) { return make_axes(s, s.velocity, 6); }},
      {"speed", "speed, m/s", false, About::Body, [](const Source& s) { return make_norm(s, "speed", 0); }},
      {"spin", "angular speed, rad/s", false, About::Body,
       [](const Source& s) { return make_norm(s, "angular speed", 3); }},
      {"joint_position", "position, m or rad", false, About::Joint,
       [](const Source& s) { return make_joint(s, s.joints.position, 1, 0, "position"); }},
      {"joint_velocity", "velocity, m/s or rad/s", false, About::Joint,
       [](const Source& s) { return make_joint(s, s.joints.velocity, 1, 0, "velocity"); }},
      {"joint_motor", "motor, N or N m", false, About::Joint,
       [](const Source& s) { return make_joint(s, s.joints.motor, 1, 0, "motor"); }},
      {"joint_force", "reaction on b, N", false, About::Joint,
       [](const Source& s) { return make_joint(s, s.joints.reaction, 6, 0, ""); }},
      {"joint_moment", "reaction on b, N m", false, About::Joint,
       [](const Source& s) { return make_joint(s, s.joints.reaction, 6, 3, ""); }}};
  return table;
}

/// Reads one body's motion, a block of frames at a time.
bool read_motion(Source* source) {
  constexpr std::size_t kBlock = 256;
  const RecordReader& reader = *source->reader;
  const std::size_t bodies = reader.header().bodies.size();
  for (std::size_t first = 0; first < reader.frames(); first += kBlock) {
    const std::size_t count = std::min(kBlock, reader.frames() - first);
    const auto pose = reader.read_poses(first, count, 1), velocity = reader.read_velocities(first, count, 1);
    if (!pose || !velocity) return false;
    for (std::size_t k = 0; k < count; ++k) {
      const double* q = pose->data() + (k * bodies + source->body) * 7;
      const double* v = velocity->data() + (k * bodies + source->body) * 6;
      source->pose.insert(source->pose.end(), q, q + 7);
      source->velocity.insert(source->velocity.end(), v, v + 6);
    }
  }
  return true;
}

/// The place of a name; else why there is none.
std::string find_subject(const std::string& name, const std::vector<std::string>& names, const char* what,
                         std::size_t* place) {
  if (name.empty()) return std::string("which ") + what + "? Name it with --" + what + " NAME";
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::string("has no ") + what + " '" + name + "'";
  *place = static_cast<std::size_t>(found - names.begin());
  return {};
}

/// "tip,gap": the sensors, or numbers of them, that are wanted.
std::string find_sensors(const std::string& text, const std::vector<std::string>& names,
                         std::vector<std::string>* chosen) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    chosen->push_back(text.substr(at, end - at));
    at = end + 1;
    const std::string& wanted = chosen->back();
    const bool known = std::any_of(names.begin(), names.end(), [&](const std::string& each) {
      return each == wanted || each.starts_with(wanted + ".");
    });
    if (!known) return "has no sensor '" + wanted + "'";
  }
  return {};
}

}  // namespace

std::vector<std::string> plot_series_names() {
  std::vector<std::string> names;
  for (const Series& series : all_series()) names.emplace_back(series.name);
  return names;
}

Result<std::vector<Plot>> make_plots(const std::string& recording, const std::vector<std::string>& names,
                                     const PlotSubject& subject) {
  const auto reader = RecordReader::open(recording);
  if (!reader) return reader.faults();
  Source source;
  source.reader = &*reader;
  std::vector<const Series*> chosen;
  bool of_body = false, of_joint = false;
  for (const std::string& name : names) {
    const auto found =
        std::find_if(all_series().begin(), all_series().end(), [&](const Series& s) { return s.name == name; });
    if (found == all_series().end()) return Fault{{}, "no series is called '" + name + "'"};
    chosen.push_back(&*found);
    of_body = of_body || found->about == Series::About::Body;
    of_joint = of_joint || found->about == Series::About::Joint;
  }
  std::string fault;
  if (of_body) fault = find_subject(subject.body, reader->header().bodies, "body", &source.body);
  if (of_joint && fault.empty()) fault = find_subject(subject.joint, reader->header().joints, "joint", &source.joint);
  if (fault.empty()) fault = find_sensors(subject.sensor, reader->header().sensors, &source.chosen);
  if (!fault.empty()) return Fault{{recording, 0, 0}, fault};
  if (of_joint) {
    auto joints = reader->read_joints(0, reader->frames(), 1);
    if (!joints) return Fault{{recording, 0, 0}, "cannot be read to its end"};
    source.joints = std::move(*joints);
  }
  if (of_body && !read_motion(&source)) return Fault{{recording, 0, 0}, "cannot be read to its end"};
  std::vector<Plot> panels;
  for (const Series* series : chosen) {
    Plot panel;
    panel.title = series->about == Series::About::Body    ? subject.body
                  : series->about == Series::About::Joint ? subject.joint
                                                          : reader->header().name;
    panel.x.label = "time, s";
    panel.y.label = series->label;
    panel.y.log = series->log;
    panel.lines = series->make(source);
    panels.push_back(std::move(panel));
  }
  return panels;
}

}  // namespace slipstick
