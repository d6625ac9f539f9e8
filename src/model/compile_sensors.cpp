// Sensors and the readings of formulas: names become indices, and each gets its place among the numbers of all.
#include <algorithm>

#include "model/compile_parts.h"

namespace slipstick {
namespace {

int count_numbers(const Sensor& sensor) {
  if (sensor.kind == SensorKind::Copy || sensor.part >= 0) return 1;
  switch (sensor.quantity) {
    case Quantity::Orientation:
      return 4;
    case Quantity::Position:
    case Quantity::Velocity:
      return sensor.kind == SensorKind::Joint ? 1 : 3;
    case Quantity::Acceleration:
    case Quantity::ProperAcceleration:
    case Quantity::AngularVelocity:
    case Quantity::Force:
    case Quantity::Moment:
      return 3;
    default:
      return 1;
  }
}

/// Whether the numbers of a sensor follow from where everything is and how it moves.
bool must_remember(const Sensor& sensor) {
  switch (sensor.kind) {
    case SensorKind::Joint:
      return sensor.quantity != Quantity::Position && sensor.quantity != Quantity::Velocity;
    case SensorKind::Body:
      return sensor.quantity == Quantity::Acceleration || sensor.quantity == Quantity::ProperAcceleration;
    case SensorKind::Contact:
    case SensorKind::Integral:
      return true;
    default:
      return false;
  }
}

/// A body that is none of the world.
int find_some_body(const std::string& name, std::string_view key, ItemCheck* check, Compilation* c) {
  const auto found = find_body(name, key, check, c);
  if (found && *found == kWorld) check->fail(key, "the world is no body to look at; name one");
  return found.value_or(kWorld);
}

void compile_joint_sensor(const SensorDescription& given, ItemCheck* check, Compilation* c, Sensor* sensor) {
  if (sensor->quantity == Quantity::Force || sensor->quantity == Quantity::Moment) {
    sensor->joint = find_joint(given.joint, "joint", check, c);
    return;
  }
  sensor->axis = find_axis_of(given.joint, "joint", check, c);
  if (sensor->axis >= 0) sensor->joint = c->model.axes[sensor->axis].joint;
}

void check_shapes(const std::string& name, int body, std::string_view key, ItemCheck* check, const Compilation& c) {
  if (body == kWorld || body >= static_cast<int>(c.model.bodies.size()) || c.model.bodies[body].shape_count > 0) return;
  check->fail(key, as_quoted(name) + " has no shapes to measure from");
}

void compile_body_sensor(const SensorDescription& given, ItemCheck* check, Compilation* c, Sensor* sensor) {
  sensor->a = find_some_body(given.a, "body", check, c);
  sensor->frame = find_body(given.frame, "frame", check, c).value_or(kWorld);
  sensor->axes = given.axes.empty() ? sensor->frame : find_body(given.axes, "axes", check, c).value_or(kWorld);
  if (check->finite("at", given.at) && sensor->a >= 0 && sensor->a < static_cast<int>(c->model.bodies.size()))
    sensor->at = given.at - c->model.bodies[sensor->a].center_of_mass;
}

void compile_pair_sensor(const SensorDescription& given, ItemCheck* check, Compilation* c, Sensor* sensor) {
  sensor->a = find_some_body(given.a, "a", check, c);
  sensor->b = find_some_body(given.b, "b", check, c);
  if (check->good() && sensor->a == sensor->b) check->fail("a", "names " + as_quoted(given.a) + " twice");
  check_shapes(given.a, sensor->a, "a", check, *c);
  check_shapes(given.b, sensor->b, "b", check, *c);
}

Sensor compile_sensor(const SensorDescription& given, ItemCheck* check, Compilation* c) {
  Sensor sensor;
  sensor.name = given.name;
  sensor.kind = given.kind;
  sensor.quantity = given.quantity;
  sensor.part = given.part;
  if (!(given.range > 0)) check->positive("range", given.range);
  sensor.range = given.range;
  switch (given.kind) {
    case SensorKind::Joint:
      compile_joint_sensor(given, check, c, &sensor);
      break;
    case SensorKind::Ray:
      compile_body_sensor(given, check, c, &sensor);
      if (check->finite("direction", given.direction) && !(given.direction.stableNorm() > 0))
        check->fail("direction", "direction must not be zero");
      sensor.direction = given.direction.stableNormalized();
      break;
    case SensorKind::Body:
      compile_body_sensor(given, check, c, &sensor);
      break;
    case SensorKind::Contact:
    case SensorKind::Distance:
      compile_pair_sensor(given, check, c, &sensor);
      break;
    case SensorKind::Value:
    case SensorKind::Integral:
      sensor.value = given.value;
      check->finite("start", given.start);
      sensor.start = given.start;
      sensor.limits = given.limits.value_or(sensor.limits);
      if (!(sensor.limits[0] <= sensor.start && sensor.start <= sensor.limits[1]))
        check->fail("limits", "limits must be [low, high] with its start, " + as_text(sensor.start) + ", between them");
      break;
    case SensorKind::Copy:
      break;  // after all others
  }
  sensor.count = count_numbers(sensor);
  return sensor;
}

std::string make_sensor_label(const SensorDescription& given, std::size_t i) {
  return given.name.empty() ? "sensor " + std::to_string(i + 1) : "sensor " + as_quoted(given.name);
}

/// sensor('tip').x: which number of which.
void compile_copy(const SensorDescription& given, const std::vector<Sensor>& named, ItemCheck* check, Sensor* sensor) {
  const auto found = std::find_if(named.begin(), named.end(), [&](const Sensor& s) { return s.name == given.sensor; });
  if (found == named.end()) {
    std::vector<std::string> known;
    for (const Sensor& each : named) known.push_back(each.name);
    return check->fail_unknown("sensor", "sensor", given.sensor, known);
  }
  sensor->copied = static_cast<int>(found - named.begin());
  const std::vector<std::string> parts = sensor_parts(*found);
  const auto part = std::find(parts.begin(), parts.end(), given.part_name);
  sensor->part = static_cast<int>(part - parts.begin());
  if (part != parts.end()) return;
  std::string list;
  for (const std::string& each : parts) list += (list.empty() ? "." : ", .") + each;
  check->fail("part", "sensor " + as_quoted(given.sensor) +
                          (parts.size() == 1 ? " is one number and has no part " + as_quoted("." + given.part_name)
                           : given.part_name.empty()
                               ? " has " + std::to_string(parts.size()) + " numbers; say which: " + list
                               : " has no part " + as_quoted("." + given.part_name) + " (it has " + list + ")"));
}

/// A formula sees the values of sensors above it.
void check_order(const std::vector<Sensor>& named, std::size_t i, ItemCheck* check,
                 const std::vector<Sensor>& readings) {
  for (const int place : named[i].value.readings()) {
    const Sensor& reading = readings[static_cast<std::size_t>(place)];
    if (reading.kind != SensorKind::Copy || reading.copied < static_cast<int>(i)) continue;
    if (reading.copied >= 0 && named[reading.copied].kind == SensorKind::Value)
      check->fail("value", "uses sensor " + as_quoted(named[reading.copied].name) +
                               ", which is a formula that does not stand above it; move it up");
  }
}

}  // namespace

void compile_sensors(Compilation* c) {
  const auto& given = c->description.sensors;
  std::vector<Sensor> named, readings;
  for (std::size_t i = 0; i < given.size(); ++i) {
    ItemCheck check(given[i].source, make_sensor_label(given[i], i), &c->faults);
    if (given[i].name.empty()) check.fail("name", "needs a name");
    for (std::size_t j = 0; j < i; ++j)
      if (given[j].name == given[i].name) check.fail("name", "another sensor has this name; names must differ");
    named.push_back(compile_sensor(given[i], &check, c));
  }
  for (const SensorDescription& reading : c->description.readings) {
    ItemCheck check(reading.source, "formula", &c->faults);
    readings.push_back(compile_sensor(reading, &check, c));
    if (reading.kind == SensorKind::Copy) compile_copy(reading, named, &check, &readings.back());
  }
  for (std::size_t i = 0; i < named.size() && c->faults.empty(); ++i) {
    ItemCheck check(given[i].source, make_sensor_label(given[i], i), &c->faults);
    if (named[i].kind == SensorKind::Value) check_order(named, i, &check, readings);
  }
  Model& model = c->model;
  model.readings = static_cast<int>(readings.size());
  model.sensors = std::move(readings);
  model.sensors.insert(model.sensors.end(), named.begin(), named.end());
  for (Sensor& sensor : model.sensors) {
    if (sensor.copied >= 0) sensor.copied += model.readings;
    sensor.first = model.sensor_values;
    model.sensor_values += sensor.count;
    if (!must_remember(sensor)) continue;
    sensor.memory = model.sensor_memory;
    model.sensor_memory += sensor.count;
    for (int k = 0; k < sensor.count; ++k)
      c->initial.sensor.push_back(sensor.kind == SensorKind::Integral ? sensor.start : 0.0);
  }
}

std::vector<std::string> sensor_parts(const Sensor& sensor) {
  if (sensor.count == 4) return {"w", "x", "y", "z"};
  if (sensor.count == 3) return {"x", "y", "z"};
  return {""};
}

std::string_view name_of(SensorKind kind) {
  switch (kind) {
    case SensorKind::Joint:
      return "joint";
    case SensorKind::Body:
      return "body";
    case SensorKind::Contact:
      return "contact";
    case SensorKind::Distance:
      return "distance";
    case SensorKind::Ray:
      return "ray";
    case SensorKind::Value:
      return "value";
    case SensorKind::Integral:
      return "integral";
    case SensorKind::Copy:
      return "sensor";
  }
  return "sensor";
}

std::string_view name_of(Quantity quantity) {
  switch (quantity) {
    case Quantity::Position:
      return "position";
    case Quantity::Velocity:
      return "velocity";
    case Quantity::MotorForce:
      return "motor";
    case Quantity::LimitForce:
      return "limit";
    case Quantity::FrictionForce:
      return "friction";
    case Quantity::Force:
      return "force";
    case Quantity::Moment:
      return "moment";
    case Quantity::Acceleration:
      return "acceleration";
    case Quantity::ProperAcceleration:
      return "proper_acceleration";
    case Quantity::Orientation:
      return "orientation";
    case Quantity::AngularVelocity:
      return "angular_velocity";
    case Quantity::Angle:
      return "angle";
    case Quantity::Speed:
      return "speed";
    case Quantity::Normal:
      return "normal";
    case Quantity::Count:
      return "count";
    case Quantity::Only:
      break;
  }
  return "value";
}

}  // namespace slipstick
