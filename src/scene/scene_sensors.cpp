// The `sensors` and `tables` of a scene, and the readings of the running world that formulas may use.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <span>

#include "base/as_quoted.h"
#include "base/closest_name.h"
#include "scene/scene_build.h"
#include "scene/scene_files.h"

namespace slipstick {
namespace {

struct QuantityName {
  std::string_view name;
  Quantity quantity;
  int size;  ///< 1, or the numbers of a vector
};

constexpr std::array kJointQuantities{
    QuantityName{"position", Quantity::Position, 1},      QuantityName{"angle", Quantity::Position, 1},
    QuantityName{"velocity", Quantity::Velocity, 1},      QuantityName{"speed", Quantity::Velocity, 1},
    QuantityName{"motor", Quantity::MotorForce, 1},       QuantityName{"limit", Quantity::LimitForce, 1},
    QuantityName{"friction", Quantity::FrictionForce, 1}, QuantityName{"force", Quantity::Force, 3},
    QuantityName{"moment", Quantity::Moment, 3},
};
constexpr std::array kBodyQuantities{
    QuantityName{"position", Quantity::Position, 3},
    QuantityName{"velocity", Quantity::Velocity, 3},
    QuantityName{"acceleration", Quantity::Acceleration, 3},
    QuantityName{"proper_acceleration", Quantity::ProperAcceleration, 3},
    QuantityName{"angular_velocity", Quantity::AngularVelocity, 3},
    QuantityName{"orientation", Quantity::Orientation, 4},
    QuantityName{"angle", Quantity::Angle, 1},
    QuantityName{"speed", Quantity::Speed, 1},
};
constexpr std::array kContactQuantities{
    QuantityName{"force", Quantity::Force, 3},
    QuantityName{"normal", Quantity::Normal, 1},
    QuantityName{"count", Quantity::Count, 1},
};

/// What each kind of sensor says. Those with a reading may stand in formulas: joint('elbow').angle.
struct SensorType {
  std::string_view name;
  SensorKind kind;
  std::span<const QuantityName> quantities;
  int bodies;  ///< that a reading names: 1 or 2; 0: none; -1: it names a joint
  bool is_reading;
};
constexpr std::array kSensors{
    SensorType{"joint", SensorKind::Joint, kJointQuantities, -1, true},
    SensorType{"body", SensorKind::Body, kBodyQuantities, 1, true},
    SensorType{"contact", SensorKind::Contact, kContactQuantities, 2, true},
    SensorType{"distance", SensorKind::Distance, {}, 2, true},
    SensorType{"ray", SensorKind::Ray, {}, 1, false},
    SensorType{"value", SensorKind::Value, {}, 0, false},
    SensorType{"integral", SensorKind::Integral, {}, 0, false},
};

KeyList sensor_kind_names() {
  KeyList names;
  for (const SensorType& type : kSensors) names.push_back(type.name);
  return names;
}

KeyList names_of(std::span<const QuantityName> quantities) {
  KeyList names;
  for (const QuantityName& each : quantities) names.push_back(each.name);
  return names;
}

KeyList legal_sensor_keys(const SensorType& type) {
  KeyList keys{"name", "like", "repeat"};
  if (!type.quantities.empty()) keys.push_back("quantity");
  switch (type.kind) {
    case SensorKind::Joint:
      keys.push_back("joint");
      break;
    case SensorKind::Body:
      keys.insert(keys.end(), {"body", "at", "frame", "axes"});
      break;
    case SensorKind::Ray:
      keys.insert(keys.end(), {"body", "at", "direction", "range"});
      break;
    case SensorKind::Distance:
      keys.push_back("range");
      [[fallthrough]];
    case SensorKind::Contact:
      keys.push_back("between");
      break;
    case SensorKind::Integral:
      keys.insert(keys.end(), {"start", "limits"});
      [[fallthrough]];
    default:
      keys.push_back("of");
  }
  return keys;
}

void read_quantity(const SceneItem& item, const SensorType& type, SensorDescription* sensor) {
  if (type.quantities.empty()) return;
  sensor->quantity = type.quantities[0].quantity;
  std::string text;
  if (!item.text("quantity", &text)) return;
  const auto found = std::find_if(type.quantities.begin(), type.quantities.end(),
                                  [&](const QuantityName& each) { return each.name == text; });
  if (found != type.quantities.end()) {
    sensor->quantity = found->quantity;
    return;
  }
  const KeyList known = names_of(type.quantities);
  const std::string near = as_suggestion(text, known);
  item.fault(*item.find("quantity"), "unknown quantity " + as_quoted(text) + " in " + item.label() +
                                         (near.empty() ? " (known: " + as_list(known) + ")" : near));
}

void read_body_name(const SceneItem& item, std::string_view key, SceneBuild* build, std::string* out) {
  if (item.text(key, out)) *out = build->full_name(*out);
}

void read_integral_limits(const SceneItem& item, SensorDescription* sensor) {
  const SceneNode* node = item.find("limits");
  if (node == nullptr) return;
  if (const auto limits = item.as_numbers(*node, "limits", {2})) sensor->limits = {(*limits)[0], (*limits)[1]};
}

void read_sensor(const SensorType& type, const SceneMapPtr& map, SceneBuild* build) {
  const std::size_t faults_before = build->reading.faults->raised();
  SensorDescription sensor;
  sensor.kind = type.kind;
  sensor.source = build->add_place(*map->node, map);
  SceneItem item(build->reading, *map, std::string(type.name));
  if (item.require("name") && item.text("name", &sensor.name)) {
    sensor.name = build->prefix + sensor.name;
    item.set_label("sensor " + as_quoted(sensor.name));
  }
  item.check_keys(legal_sensor_keys(type));
  read_quantity(item, type, &sensor);
  if (type.kind == SensorKind::Joint && item.require("joint") && item.text("joint", &sensor.joint))
    sensor.joint = build->prefix + sensor.joint;
  if (type.bodies == 1 && item.require("body")) read_body_name(item, "body", build, &sensor.a);
  if (type.bodies == 2) build->read_between(item, true, &sensor.a, &sensor.b, sensor.source);
  read_body_name(item, "frame", build, &sensor.frame);
  read_body_name(item, "axes", build, &sensor.axes);
  item.vector("at", &sensor.at);
  if (type.kind == SensorKind::Ray && item.require("direction")) item.vector("direction", &sensor.direction);
  item.number("range", &sensor.range);
  if (type.bodies == 0 && item.require("of")) item.number_of_time("of", &sensor.value);
  build->places[sensor.source].add_member("value", item.find("of"));
  item.number("start", &sensor.start);
  read_integral_limits(item, &sensor);
  if (build->reading.faults->raised() == faults_before) build->description.sensors.push_back(std::move(sensor));
}

/// "velocity.x", or the short form of recordings, "vx": quantity and part.
bool find_part(std::span<const QuantityName> quantities, bool of_body, std::string_view text,
               SensorDescription* reading) {
  constexpr std::string_view kAxes = "xyz";
  const auto axis = [&](char c) { return static_cast<int>(kAxes.find(c)); };
  if (of_body && !text.empty() && text.size() <= 2 && kAxes.find(text.back()) != std::string_view::npos) {
    if (text.size() == 2 && text[0] != 'v' && text[0] != 'w') return false;
    reading->quantity = text.size() == 1 ? Quantity::Position
                        : text[0] == 'v' ? Quantity::Velocity
                                         : Quantity::AngularVelocity;
    reading->part = axis(text.back());
    return true;
  }
  const std::size_t dot = text.find('.');
  const std::string_view name = text.substr(0, dot), part = dot == std::string_view::npos ? "" : text.substr(dot + 1);
  for (const QuantityName& each : quantities) {
    if (each.name != name) continue;
    reading->quantity = each.quantity;
    if (each.size == 1) return part.empty();
    const std::string_view letters = each.size == 4 ? "wxyz" : kAxes;
    if (part.size() != 1 || letters.find(part[0]) == std::string_view::npos) return false;
    reading->part = static_cast<int>(letters.find(part[0]));
    return true;
  }
  return false;
}

/// All that may stand after the dot.
std::vector<std::string> list_parts(std::span<const QuantityName> quantities, bool of_body) {
  std::vector<std::string> parts;
  for (const QuantityName& each : quantities) {
    if (each.size == 1) parts.emplace_back(each.name);
    const std::string_view letters = each.size == 4 ? "wxyz" : each.size == 3 ? "xyz" : "";
    for (const char letter : letters) parts.push_back(std::string(each.name) + "." + letter);
  }
  if (of_body)
    for (const char* shorter : {"x", "y", "z", "vx", "vy", "vz", "wx", "wy", "wz"}) parts.emplace_back(shorter);
  return parts;
}

ExpressionFault fail_part(const ReadingRequest& request, const std::vector<std::string>& parts) {
  const std::string call = std::string(request.function) + "('" + std::string(request.names[0]) + "')";
  std::string message = request.part.empty() ? call + " needs a quantity, as in " + call + "." + parts[0]
                                             : "unknown quantity " + as_quoted(request.part) + " of " + call;
  if (const auto near = closest_name(std::string(request.part), parts); near && !request.part.empty()) {
    message += "; did you mean " + as_quoted(*near) + "?";
  } else {
    message += " (known:";
    for (const std::string& part : parts) message += " " + part;
    message += ")";
  }
  return {request.part_column, message};
}

bool is_same(const SensorDescription& a, const SensorDescription& b) {
  return a.kind == b.kind && a.quantity == b.quantity && a.joint == b.joint && a.a == b.a && a.b == b.b &&
         a.sensor == b.sensor && a.part_name == b.part_name && a.part == b.part;
}

/// A CSV file with an optional line of names: x is the first column, y the one that is asked for.
class TableText {
 public:
  TableText(std::string_view text, const std::string& column) : text_(text), wanted_(column) {}

  /// Why it is no table, or nothing.
  std::string read(ExpressionTable* out) {
    for (int number = 1; !text_.empty(); ++number) {
      const std::size_t end = std::min(text_.find('\n'), text_.size());
      const std::string problem = read_line(text_.substr(0, end), out);
      if (!problem.empty()) return "line " + std::to_string(number) + ": " + problem;
      text_.remove_prefix(std::min(end + 1, text_.size()));
    }
    return out->x.size() < 2 ? "has fewer than two rows" : "";
  }

 private:
  static std::vector<std::string_view> split(std::string_view line) {
    std::vector<std::string_view> cells;
    for (;;) {
      const std::size_t end = std::min(line.find_first_of(",;\t"), line.size());
      std::string_view cell = line.substr(0, end);
      while (!cell.empty() && (cell.front() == ' ' || cell.front() == '"')) cell.remove_prefix(1);
      while (!cell.empty() && (cell.back() == ' ' || cell.back() == '\r' || cell.back() == '"')) cell.remove_suffix(1);
      cells.push_back(cell);
      if (end == line.size()) return cells;
      line.remove_prefix(end + 1);
    }
  }
  static std::optional<double> as_value(std::string_view cell) {
    double value = 0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error != std::errc() || end != cell.data() + cell.size() || !std::isfinite(value)) return std::nullopt;
    return value;
  }
  std::string choose(const std::vector<std::string_view>& cells, bool names) {
    if (wanted_.empty()) column_ = 1;
    if (const auto number = as_value(wanted_); number && *number >= 1 && *number == std::floor(*number))
      column_ = static_cast<std::size_t>(*number) - 1;
    for (std::size_t k = 0; names && k < cells.size(); ++k)
      if (cells[k] == wanted_) column_ = k;
    if (column_ && *column_ < cells.size()) return "";
    if (!wanted_.empty()) return "has no column " + as_quoted(wanted_);
    return "has one column; a table needs two";
  }
  std::string read_line(std::string_view line, ExpressionTable* out) {
    line = line.substr(0, line.find('#'));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) return "";
    const std::vector<std::string_view> cells = split(line);
    const bool names = !seen_ && !as_value(cells[0]);
    if (!seen_) {
      seen_ = true;
      if (std::string problem = choose(cells, names); !problem.empty()) return problem;
    }
    if (names) return "";
    if (cells.size() <= *column_) return "has no column " + std::to_string(*column_ + 1);
    const auto x = as_value(cells[0]), y = as_value(cells[*column_]);
    if (!x || !y) return as_quoted(x ? cells[*column_] : cells[0]) + " is not a number";
    if (!out->x.empty() && !(*x > out->x.back())) return "the first column must grow from row to row";
    out->x.push_back(*x);
    out->y.push_back(*y);
    return "";
  }

  std::string_view text_;
  std::string wanted_;
  std::optional<std::size_t> column_;
  bool seen_ = false;
};

/// data: [[x, y], ...]
void read_table_data(const SceneItem& item, const SceneNode& node, ExpressionTable* out) {
  if (!node.is_list() || node.items.size() < 2)
    return item.expected(node, "a list of two points [x, y] or more", "data");
  for (const SceneNode* row : node.items) {
    const auto point = item.as_numbers(*row, "data", {2});
    if (!point) return;
    if (!out->x.empty() && !((*point)[0] > out->x.back()))
      return item.fault(
          *row, "the first number of each point must be larger than that of the point before in " + item.label());
    out->x.push_back((*point)[0]);
    out->y.push_back((*point)[1]);
  }
}

}  // namespace

std::variant<int, ExpressionFault> SceneBuild::add_reading(const SceneNode& node, int offset,
                                                           const ReadingRequest& request) {
  SensorDescription made;
  std::vector<std::string> names;
  for (std::size_t k = 0; k < request.names.size(); ++k) {
    const auto name = reading.scope->expand(request.names[k]);
    if (!name) return ExpressionFault{request.columns[k], "what stands in {} is not a whole number"};
    names.push_back(*name);
  }
  const auto* const type = std::find_if(kSensors.begin(), kSensors.end(), [&](const SensorType& each) {
    return each.is_reading && each.name == request.function;
  });
  const bool of_sensor = request.function == "sensor" || request.function.empty();
  if (!of_sensor && type == kSensors.end()) {
    const std::vector<std::string> known{"joint", "body", "contact", "distance", "sensor"};
    const auto near = closest_name(std::string(request.function), known);
    return ExpressionFault{request.column, "unknown reading " + as_quoted(request.function) +
                                               (near ? "; did you mean " + as_quoted(*near) + "?"
                                                     : " (known: joint, body, contact, distance, sensor)")};
  }
  const std::size_t wanted = !of_sensor && type->bodies == 2 ? 2 : 1;
  if (names.size() != wanted)
    return ExpressionFault{request.column, as_quoted(request.function) + " takes " + std::to_string(wanted) +
                                               (wanted == 1 ? " name" : " names") + ", got " +
                                               std::to_string(names.size())};
  if (of_sensor) {
    made.kind = SensorKind::Copy;
    made.sensor = prefix + names[0];
    made.part_name = std::string(request.part);
  } else {
    made.kind = type->kind;
    made.joint = type->bodies < 0 ? prefix + names[0] : "";
    if (type->bodies > 0) made.a = full_name(names[0]);
    if (type->bodies > 1) made.b = full_name(names[1]);
    const bool of_body = type->kind == SensorKind::Body;
    if (type->quantities.empty() ? !request.part.empty() : !find_part(type->quantities, of_body, request.part, &made))
      return fail_part(request,
                       type->quantities.empty() ? std::vector<std::string>{""} : list_parts(type->quantities, of_body));
  }
  auto& list = description.readings;
  const auto known = std::find_if(list.begin(), list.end(), [&](const auto& each) { return is_same(each, made); });
  if (known != list.end()) return static_cast<int>(known - list.begin());
  made.source = add_place(node, nullptr);
  places.back().offset = offset + request.columns[0];
  list.push_back(std::move(made));
  return static_cast<int>(list.size()) - 1;
}

KeyList sensor_keys() {
  KeyList keys = sensor_kind_names();
  for (const SensorType& type : kSensors)
    for (const std::string_view key : legal_sensor_keys(type))
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
  return keys;
}

void read_sensors(const SceneNode& list, SceneBuild* build) {
  static const KeyList kNames = sensor_kind_names();
  read_kinds(list, "sensor", kNames, &build->sensors, build,
             [build](std::size_t i, const SceneMapPtr& map) { read_sensor(kSensors[i], map, build); });
}

void read_table(const SceneNode& name, const SceneNode& node, SceneBuild* build) {
  SceneScope* const scope = build->reading.scope;
  if (!scope->is_free_name(name)) return;
  const std::string label = "table " + as_quoted(name.text);
  auto table = std::make_shared<ExpressionTable>();
  scope->define_table(name.text, nullptr);  // known, also where it is faulty
  if (node.is_list()) {
    const SceneMap none{&node, {}};
    read_table_data(SceneItem(build->reading, none, label), node, table.get());
  } else {
    const SceneMapPtr map = build->expander.resolve(node, label);
    if (!map) return;
    const SceneItem item(build->reading, *map, label);
    item.check_keys({"file", "column", "data"});
    std::string file, column;
    item.text("column", &column);
    if (item.has("file") == item.has("data")) return item.fault(node, label + " needs either 'file' or 'data'");
    if (const SceneNode* data = item.find("data")) read_table_data(item, *data, table.get());
    if (item.text("file", &file)) {
      const std::string* const text = build->reading.files->read_data(*item.find("file"), file);
      if (text == nullptr) return;
      const std::string problem = TableText(*text, column).read(table.get());
      if (!problem.empty()) return item.fault(*item.find("file"), as_quoted(file) + ": " + problem);
    }
  }
  if (table->x.size() >= 2) scope->define_table(name.text, std::move(table));
}

}  // namespace slipstick
