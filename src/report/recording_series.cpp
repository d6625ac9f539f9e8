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
};

struct Series {
  const char* name;
  const char* label;  ///< of the y axis
  bool log;
  bool of_body;
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

template <class T>
std::vector<PlotLine> make_one(const Source& source, const char* label, const std::vector<T>& values) {
  return {make_line(source, label, std::vector<double>(values.begin(), values.end()))};
}

/// The table of all series: a new one is one row.
const std::vector<Series>& all_series() {
  static const std::vector<Series> table{
      {"energy", "energy, J", false, false, make_energy},
      {"ledger", "energy, J", false, false, make_ledger},
      {"residual", "residual, m/s", true, false,
       [](const Source& s) { return make_one(s, "natural map", s.reader->series().residual); }},
      {"relative", "relative residual", true, false,
       [](const Source& s) { return make_one(s, "relative", s.reader->series().relative); }},
      {"penetration", "penetration, m", false, false,
       [](const Source& s) { return make_one(s, "deepest", s.reader->series().penetration); }},
      {"joint_error", "joint error, m or rad", false, false,
       [](const Source& s) { return make_one(s, "largest", s.reader->series().joint_error); }},
      {"iterations", "iterations", false, false,
       [](const Source& s) { return make_one(s, "iterations", s.reader->series().iterations); }},
      {"contacts", "contacts", false, false, make_contacts},
      {"position", "position, m", false, true, [](const Source& s) { return make_axes(s, s.pose, 7); }},
      {"velocity", "velocity, m/s", false, true, [](const Source& s) { return make_axes(s, s.velocity, 6); }},
      {"speed", "speed, m/s", false, true, [](const Source& s) { return make_norm(s, "speed", 0); }},
      {"spin", "angular speed, rad/s", false, true, [](const Source& s) { return make_norm(s, "angular speed", 3); }}};
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

}  // namespace

std::vector<std::string> plot_series_names() {
  std::vector<std::string> names;
  for (const Series& series : all_series()) names.emplace_back(series.name);
  return names;
}

Result<std::vector<Plot>> make_plots(const std::string& recording, const std::vector<std::string>& names,
                                     const std::string& body) {
  const auto reader = RecordReader::open(recording);
  if (!reader) return reader.faults();
  Source source;
  source.reader = &*reader;
  std::vector<const Series*> chosen;
  bool of_body = false;
  for (const std::string& name : names) {
    const auto found =
        std::find_if(all_series().begin(), all_series().end(), [&](const Series& s) { return s.name == name; });
    if (found == all_series().end()) return Fault{{}, "no series is called '" + name + "'"};
    chosen.push_back(&*found);
    of_body = of_body || found->of_body;
  }
  if (of_body) {
    const auto& bodies = reader->header().bodies;
    const auto found = std::find(bodies.begin(), bodies.end(), body);
    if (body.empty()) return Fault{{}, "which body? Name it with --body NAME"};
    if (found == bodies.end()) return Fault{{recording, 0, 0}, "has no body '" + body + "'"};
    source.body = static_cast<std::size_t>(found - bodies.begin());
    if (!read_motion(&source)) return Fault{{recording, 0, 0}, "cannot be read to its end"};
  }
  std::vector<Plot> panels;
  for (const Series* series : chosen) {
    Plot panel;
    panel.title = series->of_body ? body : reader->header().name;
    panel.x.label = "time, s";
    panel.y.label = series->label;
    panel.y.log = series->log;
    panel.lines = series->make(source);
    panels.push_back(std::move(panel));
  }
  return panels;
}

}  // namespace slipstick
