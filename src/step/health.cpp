#include <slipstick/health.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "mechanics/equations.h"
#include "step/world_scale.h"

namespace slipstick {

namespace {

// Limits. Healthy scenes stay far below them: tests/scenes runs every shipped one.
constexpr double kCreatedPart = 0.1;     // of the largest energy at play so far
constexpr double kRoundingPart = 1e-10;  // of all energy: a last bit in each of a million steps
constexpr double kCreatedEnd = 1000;     // times all that the scene had to give: beyond repair
constexpr double kJointPart = 0.02;      // of the larger body, or rad
constexpr double kJointEnd = 10;         // times the larger body: beyond repair
constexpr double kStartOverlap = 0.05;   // of the smaller body's radius, in the state that the run begins with
constexpr double kOverlapPart = 0.1;     // the same later, besides kOverlapMotion of the motion in a step
constexpr double kOverlapMotion = 0.1;
constexpr double kSpeedFactor = 100;  // times what the start, gravity and all work paid can explain
constexpr double kFarSizes = 1e12;    // from the origin: four digits of its place are left to tell its ends apart

std::string_view unit_of(HealthKind kind) {
  switch (kind) {
    case HealthKind::Energy:
      return "J";
    case HealthKind::Joint:
      return "m or rad";
    case HealthKind::Overlap:
    case HealthKind::Place:
      return "m";
    case HealthKind::Speed:
      return "m/s";
  }
  return "";
}

std::string pair_name(const Model& model, int a, int b) {
  return "'" + std::string(body_name(model, a)) + "' and '" + std::string(body_name(model, b)) + "'";
}

double calc_speed(const Model& model, const State& state, int body) {
  if (body == kWorld) return 0;
  return state.velocity[body].linear.norm() + state.velocity[body].angular.norm() * model.bodies[body].reach_radius;
}

}  // namespace

std::string_view name_of(HealthKind kind) {
  constexpr std::array<std::string_view, kHealthKinds> names{"energy", "joint", "overlap", "speed", "place"};
  return names[static_cast<std::size_t>(kind)];
}

std::string HealthAlarm::text() const {
  char figures[160];
  std::snprintf(figures, sizeof figures, "%.3g %s, limit %.3g, at t = %g s (step %lld)", value, unit_of(kind).data(),
                limit, time, static_cast<long long>(step));
  switch (kind) {
    case HealthKind::Energy:
      return std::string("energy has appeared that nothing paid for: ") + figures;
    case HealthKind::Joint:
      return "joint '" + what + "' is open: " + figures;
    case HealthKind::Overlap:
      return what + " overlap: " + figures;
    case HealthKind::Speed:
      return what + " is faster than anything here can explain: " + figures;
    case HealthKind::Place:
      return what + " is so far away that its size is lost in the digits of its place: " + figures;
  }
  return figures;
}

HealthMonitor::HealthMonitor(const Simulation& simulation) {
  const Model& model = simulation.model();
  const State& state = simulation.state();
  scale_ = calc_world_scale(model, state, simulation.options().duration);
  for (std::size_t i = 0; i < model.bodies.size(); ++i)
    if (model.bodies[i].kind == BodyKind::Dynamic)
      speed_start_ = std::max(speed_start_, calc_speed(model, state, static_cast<int>(i)));
  const EnergySplit energy = simulation.energy();
  kinetic_start_ = kinetic_max_ = energy.kinetic;
  potential_start_ = potential_least_ = energy.potential;
  double start_overlap = 0;
  for (const Contact& contact : simulation.contacts()) start_overlap = std::max(start_overlap, -contact.gap);
  if (start_overlap > kStartOverlap * scale_.least_size) watch_overlap(simulation, kStartOverlap);
  watch_joints(simulation);
}

void HealthMonitor::raise(const Simulation& simulation, HealthKind kind, double value, double limit, std::string what) {
  if (has(kind)) return;
  raised_[static_cast<std::size_t>(kind)] = true;
  alarms_.push_back({kind, simulation.state().step, simulation.state().time, value, limit, std::move(what)});
}

/// The larger of two bodies, m; of bodies without shapes the scene's extent.
double HealthMonitor::calc_size(const Model& model, int body_a, int body_b) const {
  double size = 0;
  for (const int body : {body_a, body_b})
    if (body != kWorld && model.bodies[body].kind == BodyKind::Dynamic)
      size = std::max(size, model.bodies[body].reach_radius);
  return size > 0 ? size : scale_.extent;
}

void HealthMonitor::update(const Simulation& simulation, const StepReport& report) {
  watch_energy(simulation, report.certificate.ledger);
  if (report.certificate.joint_error > kJointPart * std::min(scale_.least_size, 1.0)) watch_joints(simulation);
  if (!has(HealthKind::Overlap) && report.certificate.penetration > kOverlapPart * scale_.least_size)
    watch_overlap(simulation, kOverlapPart);
  if (!has(HealthKind::Speed)) watch_speed(simulation);
  if (!has(HealthKind::Place)) watch_places(simulation);
}

void HealthMonitor::watch_energy(const Simulation& simulation, const EnergyLedger& ledger) {
  const double paid = ledger.load + ledger.kinematic + ledger.motor + ledger.correction;
  account_ += ledger.change - paid;
  paid_ += paid;
  const EnergySplit energy = simulation.energy();
  paid_max_ = std::max(paid_max_, std::abs(paid_));
  released_max_ = std::max(released_max_, potential_start_ - energy.potential);
  std::copy_backward(recent_.begin(), recent_.end() - 1, recent_.end());
  recent_.front() = account_;
  energy_created_ = std::max(energy_created_, account_ - lowest_);
  // The largest of the steps just before: energy that an impact has yet to give back is not gone.
  lowest_ = std::min(lowest_, *std::max_element(recent_.begin(), recent_.end()));
  kinetic_max_ = std::max(kinetic_max_, energy.kinetic);
  potential_least_ = std::min(potential_least_, energy.potential);
  stored_max_ = std::max(stored_max_, energy.potential - potential_least_);
  // Of bodies at rest without shapes that touch only the last bits of the energy are left, which are nobody's fault.
  const double rounding = kRoundingPart * (std::abs(potential_start_) + std::abs(energy.potential) + kinetic_max_);
  const double at_play = std::max({kinetic_max_, stored_max_, scale_.weight_energy, scale_.crossing_energy});
  const double limit = std::max(kCreatedPart * at_play, rounding);
  if (!(energy_created_ <= limit)) raise(simulation, HealthKind::Energy, energy_created_, limit, "");
  const double all =
      kinetic_start_ + paid_max_ + std::max(0.0, released_max_) + scale_.weight_energy + scale_.crossing_energy;
  if (has(HealthKind::Energy) && !(energy_created_ <= kCreatedEnd * all)) beyond_repair_ = true;
}

void HealthMonitor::watch_joints(const Simulation& simulation) {
  const Model& model = simulation.model();
  const State& state = simulation.state();
  if (model.joints.empty()) return;
  std::vector<JointRows> rows;
  update_joint_rows(model, state.pose, &rows);
  for (const JointRows& joint : rows) {
    const double size = calc_size(model, joint.body_a, joint.body_b);
    // Rows are linear in a step: a body that turns far in it leaves them by the sagitta of its way.
    double turn = 0;
    for (const int body : {joint.body_a, joint.body_b})
      if (body != kWorld) turn = std::max(turn, state.velocity[body].angular.norm() * simulation.options().step);
    for (int i = 0; i < joint.count; ++i) {
      const bool angle = joint.row[i].a.head<3>().isZero(0) && joint.row[i].b.head<3>().isZero(0);
      const double scale = angle ? 1 : size, error = std::abs(joint.value[i]);
      const double limit = (kJointPart + 0.5 * turn * turn) * scale;
      if (!(error <= limit)) raise(simulation, HealthKind::Joint, error, limit, model.joints[joint.joint].name);
      if (!(error <= kJointEnd * scale)) beyond_repair_ = true;
    }
  }
}

void HealthMonitor::watch_overlap(const Simulation& simulation, double part) {
  const Model& model = simulation.model();
  const State& state = simulation.state();
  for (const Contact& contact : simulation.contacts()) {
    double size = 0, motion = 0;
    for (const int body : {contact.body_a, contact.body_b}) {
      if (body == kWorld) continue;
      motion += calc_speed(model, state, body) * simulation.options().step;
      const double radius = model.bodies[body].reach_radius;
      if (model.bodies[body].kind == BodyKind::Dynamic && radius > 0) size = size > 0 ? std::min(size, radius) : radius;
    }
    const double limit = part * (size > 0 ? size : scale_.extent) + kOverlapMotion * motion;
    if (!(-contact.gap <= limit))
      raise(simulation, HealthKind::Overlap, -contact.gap, limit, pair_name(model, contact.body_a, contact.body_b));
  }
}

void HealthMonitor::watch_speed(const Simulation& simulation) {
  const Model& model = simulation.model();
  const State& state = simulation.state();
  const double energy = kinetic_start_ + paid_max_ + std::max(0.0, released_max_);
  const double fallen = speed_start_ + model.gravity.norm() * (state.time + simulation.options().step);
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    const Body& body = model.bodies[i];
    if (body.kind != BodyKind::Dynamic) continue;
    const double limit = kSpeedFactor * (fallen + scale_.crossing_speed(body) + std::sqrt(2 * energy / body.mass));
    const double speed = state.velocity[i].linear.norm();
    if (!(speed <= limit)) return raise(simulation, HealthKind::Speed, speed, limit, "'" + body.name + "'");
  }
}

/// Nobody knows any more what touches what; whoever has paid for the way.
void HealthMonitor::watch_places(const Simulation& simulation) {
  const Model& model = simulation.model();
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    const Body& body = model.bodies[i];
    if (body.kind != BodyKind::Dynamic) continue;
    const double limit = kFarSizes * scale_.size(body), distance = simulation.state().pose[i].position.norm();
    if (distance <= limit) continue;
    beyond_repair_ = true;
    return raise(simulation, HealthKind::Place, distance, limit, "'" + body.name + "'");
  }
}

}  // namespace slipstick
