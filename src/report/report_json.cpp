#include <slipstick/version.h>

#include "base/peak_memory.h"
#include "report/json_text.h"
#include "report/part_json.h"
#include "report/report_statistics.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace slipstick {

namespace {

void add_resumed(const RunFigures& s, JsonText* json) {
  json->key("resumed");
  if (!s.resumed) return json->null();
  json->begin_object(true);
  json->field("from", s.resumed->file);
  json->field("step", s.resumed->step);
  json->field("time", s.resumed->time);
  json->end_object();
}

void add_timing(const RunFigures& s, JsonText* json) {
  const TimeFigures times = calc_time_figures(s.step_seconds);
  json->key("ms_per_step");
  json->begin_object(true);
  json->field("mean", 1e3 * times.mean);
  json->field("median", 1e3 * times.median);
  json->field("p99", 1e3 * times.p99);
  json->field("max", 1e3 * times.max);
  json->end_object();
  const double scale = 1e3 / std::max<double>(1, static_cast<double>(s.steps));
  json->key("phase_ms");
  json->begin_object(true);
  json->field("collision", scale * s.phases.collision);
  json->field("broad_phase", scale * s.phases.broad_phase);
  json->field("narrow_phase", scale * (s.phases.collision - s.phases.broad_phase));
  json->field("assemble", scale * s.phases.assemble);
  json->field("solve", scale * s.phases.solve);
  json->field("certify", scale * s.phases.certify);
  json->field("advance", scale * s.phases.advance);
  json->field("audit", scale * s.phases.audit);
  json->field("record", scale * s.record_seconds);
  json->end_object();
}

void add_sizes(const RunFigures& s, JsonText* json) {
  const double steps = std::max<double>(1, static_cast<double>(s.steps));
  json->key("contacts");
  json->begin_object(true);
  json->field("mean", s.contacts_sum / steps);
  json->field("max", s.contacts_max);
  json->field("found", s.found_contacts_sum / steps);
  json->field("warm", s.contacts_sum > 0 ? s.warm_contacts_sum / s.contacts_sum : 0.0);
  json->end_object();
  json->key("problem");
  json->begin_object(true);
  json->field("rows_mean", s.rows_sum / steps);
  json->field("rows_max", s.rows_max);
  json->end_object();
  json->key("islands");
  json->begin_object(true);
  json->field("mean", static_cast<double>(s.islands) / steps);
  json->field("held", s.islands > 0 ? static_cast<double>(s.held) / static_cast<double>(s.islands) : 0.0);
  json->end_object();
  json->key("unique_forces");
  json->begin_object(true);
  json->field("not_unique_mean", static_cast<double>(s.not_unique) / steps);
  json->field("arbitrary_mean", static_cast<double>(s.arbitrary) / steps);
  json->field("factorizations", s.choices);
  json->end_object();
  json->field("iterations", s.iterations);
  json->field("reach_repeats", s.reach_repeats);
  json->field("late_repeats", s.late_repeats);
  json->field("core_rows", s.core_rows);
  json->field("divisions", s.divisions);
  json->key("corrections");
  json->begin_object(true);
  json->field("steps", s.corrections);
  json->field("largest", s.corrected_max);
  json->end_object();
  json->field("open_joints", s.open_joints_max);
}

void add_coupling_figures(const SolverStatistics& split, JsonText* json) {
  const double solves = std::max<double>(1, static_cast<double>(split.solves));
  json->field("couplings", split.couplings);
  json->field("direct_residual_mean", split.direct_residual_sum / solves);
  json->field("direct_residual_max", split.direct_residual_max);
  json->field("iterative_residual_mean", split.iterative_residual_sum / solves);
  json->field("iterative_residual_max", split.iterative_residual_max);
}

void add_solver_statistics(const Simulation& simulation, JsonText* json) {
  json->key("solver_statistics");
  json->begin_object();
  for (const SolverStatistics& each : simulation.solver_statistics()) {
    json->key(each.solver);
    json->begin_object(true);
    json->field("solves", each.solves);
    json->field("certified", each.certified);
    json->field("warm_hits", each.warm_hits);
    json->field("iterations", each.iterations);
    if (each.solver == "split") add_coupling_figures(each, json);
    json->end_object();
  }
  json->end_object();
}

void add_worst(const WorstFigure& worst, JsonText* json) {
  json->key("worst");
  if (worst.step < 0) return json->null();
  json->begin_object(true);
  json->field("step", worst.step);
  json->field("time", worst.time);
  json->field("island", worst.part.island);
  json->key("bodies");
  json->begin_array(true);
  for (const std::string& name : worst.bodies) json->value(std::string_view(name));
  json->end_array();
  add_part(worst.part, json);
  json->end_object();
}

void add_first(const char* key, const FirstStep& first, JsonText* json) {
  json->key(key);
  if (first.step < 0) return json->null();
  json->begin_object(true);
  json->field("step", first.step);
  json->field("time", first.time);
  json->field("note", first.note);
  json->end_object();
}

void add_certificate(const RunFigures& s, const SimulationOptions& options, JsonText* json) {
  json->key("certificate");
  json->begin_object();
  json->field("residual_max", s.residual_max.natural);
  json->field("residual_mean", s.residual_sum / std::max<double>(1, static_cast<double>(s.steps)));
  json->field("relative_max", s.residual_max.relative);
  json->field("dynamics_max", s.residual_max.dynamics);
  json->field("tolerance", options.tolerance);
  json->field("heap_tolerance", options.heap_tolerance);
  json->field("heap_steps", s.heap_steps);
  json->field("uncertified_steps", s.uncertified);
  json->field("certified_to", s.residual_max.verdict());
  json->field("settled_steps", s.settled_steps);
  add_first("first_uncertified", s.first_uncertified, json);
  json->field("relaxed_steps", s.relaxed_steps);
  add_first("first_relaxed", s.first_relaxed, json);
  add_worst(s.worst, json);
  json->field("missed_contacts", s.world.missed);
  json->field("escalations", s.escalations);
  json->field("penetration_max", s.penetration_max);
  json->field("penetration_final", s.penetration_final);
  json->field("joint_error_max", s.joint_error_max);
  json->field("joint_error_final", s.joint_error_final);
  json->field("cone_violation_max", s.residual_max.cone);
  json->field("friction_dissipation_violation_max", s.residual_max.dissipation);
  json->end_object();
}

/// How steps that choose themselves were divided.
void add_accuracy(const RunFigures& s, const SimulationOptions& options, JsonText* json) {
  json->key("accuracy");
  if (!(options.accuracy > 0)) return json->null();
  json->begin_object(true);
  json->field("asked", options.accuracy);
  json->field("parts", s.pace.parts);
  json->field("rejected", s.pace.rejected);
  json->field("coarse", s.pace.coarse);
  json->field("shortest", s.pace.shortest);
  json->field("estimated_error", s.pace.error);
  json->end_object();
}

/// Row operations of the solvers, and what they were allowed.
void add_work(const RunFigures& s, const SimulationOptions& options, JsonText* json) {
  json->key("work");
  json->begin_object(true);
  json->field("effort", effort_names()[static_cast<std::size_t>(options.effort)]);
  json->field("budget", options.budget);
  json->field("spent_mean", s.work_sum / std::max<double>(1, static_cast<double>(s.steps)));
  json->field("spent_max", s.work_max);
  json->field("exhausted_steps", s.exhausted_steps);
  json->end_object();
}

void add_world_verdict(const RunFigures& s, const Simulation& simulation, JsonText* json) {
  const auto place = [&](const MissedContact& missed) {
    json->begin_object(true);
    json->key("bodies");
    json->begin_array(true);
    json->value(body_name(simulation.model(), missed.body_a));
    json->value(body_name(simulation.model(), missed.body_b));
    json->end_array();
    json->field("depth", missed.depth);
    json->field("reported", missed.reported);
    json->field("time", missed.time);
    json->end_object();
  };
  json->key("world");
  json->begin_object();
  json->field("audit", name_of(simulation.options().audit));
  json->field("pairs_checked", s.world.pairs);
  json->field("overlap_max", s.world.overlap);
  json->field("missed_contacts", s.world.missed);
  json->field("crossed", s.world.crossed);
  json->key("first_crossed");
  if (s.world.crossed > 0) {
    const CrossedPair& crossed = s.world.first_crossed;
    json->begin_object(true);
    json->key("bodies");
    json->begin_array(true);
    json->value(body_name(simulation.model(), crossed.body_a));
    json->value(body_name(simulation.model(), crossed.body_b));
    json->end_array();
    json->field("time", crossed.time);
    json->end_object();
  } else {
    json->null();
  }
  json->key("worst_missed");
  if (s.world.missed > 0) {
    place(s.world.worst);
  } else {
    json->null();
  }
  json->end_object();
}

void add_energy(const RunFigures& s, const EnergySplit& final, JsonText* json) {
  json->key("energy");
  json->begin_object();
  json->field("initial", s.initial_energy.kinetic + s.initial_energy.potential);
  json->field("final", final.kinetic + final.potential);
  json->field("kinetic_final", final.kinetic);
  json->field("potential_final", final.potential);
  json->field("ledger_remainder_max", s.remainder_max);
  json->field("increase_max", s.increase_max);
  json->field("increase_steps", s.increase_steps);
  json->field("impact_guards", s.impact_guards);
  json->key("ledger");
  json->begin_object();
  json->field("change", s.ledger.change);
  json->field("load", s.ledger.load);
  json->field("kinematic", s.ledger.kinematic);
  json->field("motor", s.ledger.motor);
  json->field("damping", s.ledger.damping);
  json->field("friction", s.ledger.friction);
  json->field("impact", s.ledger.impact);
  json->field("correction", s.ledger.correction);
  json->field("numerical", s.ledger.numerical);
  json->end_object();
  json->end_object();
}

void add_health(const HealthMonitor& health, JsonText* json) {
  json->key("health");
  json->begin_object();
  json->field("ok", health.alarms().empty());
  json->field("beyond_repair", health.beyond_repair());
  json->field("energy_created", health.energy_created());
  json->key("alarms");
  json->begin_array();
  for (const HealthAlarm& alarm : health.alarms()) {
    json->begin_object(true);
    json->field("kind", name_of(alarm.kind));
    json->field("what", alarm.what);
    json->field("step", alarm.step);
    json->field("time", alarm.time);
    json->field("value", alarm.value);
    json->field("limit", alarm.limit);
    json->end_object();
  }
  json->end_array();
  json->end_object();
}

void add_events(const RunFigures& s, const Model& model, JsonText* json) {
  json->key("events");
  json->begin_array();
  for (const Event& event : s.events) {
    json->begin_object(true);
    json->field("time", event.time);
    json->field("kind", name_of(event.kind));
    json->key("bodies");
    json->begin_array(true);
    json->value(body_name(model, event.body_a));
    json->value(body_name(model, event.body_b));
    json->end_array();
    json->field("normal_speed_before", event.normal_speed_before);
    json->field("normal_speed_after", event.normal_speed_after);
    json->end_object();
  }
  json->end_array();
}

void add_contact_forces(const Simulation& simulation, JsonText* json) {
  json->key("contact_forces_final");
  json->begin_array();
  for (const ContactForce& force : simulation.contact_forces()) {
    const Contact& contact = force.contact;
    json->begin_object(true);
    json->field("a", body_name(simulation.model(), contact.body_a));
    json->field("b", body_name(simulation.model(), contact.body_b));
    json->field("point", Vec3((contact.point_a + contact.point_b) / 2));
    json->field("normal", contact.normal);
    json->field("force_on_b", force.force);
    json->field("gap", contact.gap);
    json->key("unique");
    if (force.uniqueness == Uniqueness::Unknown)
      json->null();
    else
      json->value(force.uniqueness == Uniqueness::Unique);
    json->field("arbitrary", force.uniqueness == Uniqueness::Arbitrary);
    json->end_object();
  }
  json->end_array();
}

void add_realtime(const RealtimeFigures& r, JsonText* json) {
  json->key("realtime");
  json->begin_object();
  json->field("rate", r.rate);
  json->field("budget", r.budget);
  json->field("missed_deadlines", r.missed);
  json->field("hurried_steps", r.hurried);
  json->field("worst_lateness_s", r.worst_lateness);
  json->field("final_lateness_s", r.final_lateness);
  json->end_object();
}

/// One number, or a list of them, by name; nothing in a scene without sensors.
void add_sensors(const Simulation& simulation, JsonText* json) {
  const Model& model = simulation.model();
  if (static_cast<int>(model.sensors.size()) == model.readings) return;
  json->key("sensors");
  json->begin_object();
  for (std::size_t i = model.readings; i < model.sensors.size(); ++i) {
    const SensorReading reading = simulation.sensor(static_cast<int>(i) - model.readings);
    if (reading.values.size() == 1) {
      json->field(model.sensors[i].name, reading.values[0]);
    } else {
      json->field(model.sensors[i].name, reading.values);
    }
  }
  json->end_object();
}

void add_final(const Simulation& simulation, JsonText* json) {
  const Model& model = simulation.model();
  const State& state = simulation.state();
  json->key("final");
  json->begin_object();
  json->key("bodies");
  json->begin_object();
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    const WorldMotion motion = calc_world_motion(model.bodies[i], state.pose[i], state.velocity[i]);
    json->key(model.bodies[i].name);
    json->begin_object(true);
    json->field("position", motion.pose.position);
    json->field("orientation", motion.pose.orientation);
    json->field("velocity", motion.velocity);
    json->field("angular_velocity", motion.angular_velocity);
    json->end_object();
  }
  json->end_object();
  json->key("joints");
  json->begin_object();
  for (const JointReading& joint : simulation.joints()) {
    json->key(model.joints[static_cast<std::size_t>(joint.joint)].name);
    json->begin_object(true);
    json->field("position", joint.position);
    json->field("velocity", joint.velocity);
    json->field("motor", joint.motor_force);
    json->field("force_on_b", joint.reaction_force);
    json->field("moment_on_b", joint.reaction_moment);
    json->end_object();
  }
  json->end_object();
  add_sensors(simulation, json);
  json->end_object();
}

}  // namespace

std::string RunStatistics::json(const Simulation& simulation, double wall_s) const {
  const Impl& s = *impl_;
  const Model& model = simulation.model();
  const SimulationOptions& options = simulation.options();
  char hash_text[17];
  std::snprintf(hash_text, sizeof hash_text, "%016llx", static_cast<unsigned long long>(hash(simulation.state())));
  JsonText json;
  json.begin_object();
  json.field("version", version());
  json.field("scene", s.scene_path);
  json.field("name", s.scene_name);
  json.field("ended", name_of(s.end));
  json.field("interrupted", s.end == RunEnd::Interrupted);
  add_resumed(s, &json);
  json.field("scheme", options.scheme);
  json.field("solver", make_solver_text(options));
  json.field("step", options.step);
  json.field("steps", s.steps);
  json.field("time", simulation.state().time);
  json.field("bodies", model.bodies.size());
  json.field("dof", model.dof);
  json.field("joints", model.joints.size());
  json.field("wall_s", wall_s);
  json.field("realtime_factor", wall_s > 0 ? (simulation.state().time - s.start_time) / wall_s : 0.0);
  json.field("threads", options.threads);
  json.field("memory_mb", calc_peak_memory());
  json.key("warnings");
  json.begin_array();
  for (const std::string& warning : simulation.warnings()) json.value(std::string_view(warning));
  json.end_array();
  add_timing(s, &json);
  if (s.realtime) add_realtime(*s.realtime, &json);
  add_sizes(s, &json);
  add_accuracy(s, options, &json);
  add_solver_statistics(simulation, &json);
  add_certificate(s, options, &json);
  add_work(s, options, &json);
  add_world_verdict(s, simulation, &json);
  add_energy(s, simulation.energy(), &json);
  add_health(s.health, &json);
  add_events(s, model, &json);
  add_contact_forces(simulation, &json);
  add_final(simulation, &json);
  json.field("state_hash", std::string_view(hash_text));
  json.end_object();
  return json.text() + "\n";
}

}  // namespace slipstick
