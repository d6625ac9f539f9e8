#include "report/report_statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace slipstick {

namespace {

/// Growth of energy in one step is counted from this part of the initial energy on: well above rounding.
constexpr double kIncreaseTolerance = 1e-12;

/// |T| + |V| at the start; where that is nothing, the weight of everything lifted by a metre; where there is no weight
/// either, a joule.
double calc_energy_scale(const Model& model, const EnergySplit& initial) {
  const double energy = std::abs(initial.kinetic) + std::abs(initial.potential);
  if (energy > 0) return energy;
  double mass = 0;
  for (const Body& body : model.bodies) mass += body.mass;
  const double lifted = mass * model.gravity.norm();
  return lifted > 0 ? lifted : 1;
}

}  // namespace

TimeFigures calc_time_figures(std::vector<double> times) {
  TimeFigures figures;
  if (times.empty()) return figures;
  std::sort(times.begin(), times.end());
  const std::size_t n = times.size();
  figures.mean = std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(n);
  figures.median = n % 2 ? times[n / 2] : (times[n / 2 - 1] + times[n / 2]) / 2;
  figures.p99 = times[static_cast<std::size_t>(std::ceil(0.99 * static_cast<double>(n))) - 1];
  figures.max = times.back();
  return figures;
}

RunStatistics::RunStatistics(const Scene& scene, const Simulation& simulation)
    : impl_(std::make_unique<Impl>(simulation)) {
  impl_->scene_path = scene.path;
  impl_->scene_name = scene.name;
  impl_->start_time = simulation.state().time;
  impl_->initial_energy = simulation.energy();
  impl_->energy_scale = calc_energy_scale(simulation.model(), impl_->initial_energy);
  const SimulationOptions& options = simulation.options();
  const double steps = options.duration / options.step;
  if (steps > 0 && steps < 1e7) impl_->step_seconds.reserve(static_cast<std::size_t>(steps) + 2);
}
RunStatistics::~RunStatistics() = default;
RunStatistics::RunStatistics(RunStatistics&&) noexcept = default;
RunStatistics& RunStatistics::operator=(RunStatistics&&) noexcept = default;

namespace {

/// The names of the moving bodies that a part is about: the columns of a step's problem are the bodies that can move,
/// in their order.
std::vector<std::string> find_bodies(const Model& model, const WorstPart& part) {
  std::vector<std::string> names;
  int column = 0;
  for (const Body& body : model.bodies) {
    if (body.kind != BodyKind::Dynamic || body.dof == 0) continue;
    if (column == part.column || column == part.other) names.push_back(body.name);
    ++column;
  }
  return names;
}

}  // namespace

void RunStatistics::add(const Simulation& simulation, const StepReport& report, double step_seconds,
                        double record_seconds) {
  Impl& s = *impl_;
  ++s.steps;
  s.step_seconds.push_back(step_seconds);
  s.phases.collision += report.seconds.collision;
  s.phases.broad_phase += report.seconds.broad_phase;
  s.phases.certify += report.seconds.certify;
  s.phases.assemble += report.seconds.assemble;
  s.phases.solve += report.seconds.solve;
  s.phases.advance += report.seconds.advance;
  s.phases.audit += report.seconds.audit;
  s.record_seconds += record_seconds;
  s.contacts_sum += report.contacts;
  s.found_contacts_sum += report.contacts_found;
  s.islands += report.islands;
  s.held += report.held;
  s.not_unique += report.not_unique;
  s.arbitrary += report.arbitrary;
  s.choices += report.choices;
  s.warm_contacts_sum += report.warm_contacts;
  s.contacts_max = std::max(s.contacts_max, report.contacts);
  s.rows_sum += report.rows;
  s.rows_max = std::max(s.rows_max, report.rows);
  s.iterations += report.iterations;
  s.escalations += report.escalations;
  s.reach_repeats += report.reach_repeats;
  s.late_repeats += report.late_repeats;
  s.core_rows += report.core_rows;
  s.divisions += report.divisions;
  s.pace.add(report.pace);
  s.corrections += report.corrections;
  raise_to(report.corrected, &s.corrected_max);
  s.open_joints_max = std::max(s.open_joints_max, report.open_joints);
  s.heap_steps += report.grade() == Grade::Heap;
  s.settled_steps += report.settled;
  s.exhausted_steps += report.exhausted;
  s.work_sum += report.work;
  raise_to(report.work, &s.work_max);
  s.world.add(report.world);
  s.last_certified = report.certified;
  if (!report.certified) {
    if (s.uncertified++ == 0)
      s.first_uncertified = {simulation.state().step, simulation.state().time, std::string(report.note)};
  }
  if (!report.relaxed.empty() && s.relaxed_steps++ == 0)
    s.first_relaxed = {simulation.state().step, simulation.state().time, std::string(report.relaxed)};
  const Certificate& c = report.certificate;
  raise_to(c.residual, &s.residual_max);
  if (c.residual.worst.relative > s.worst.part.relative)
    s.worst = {simulation.state().step, simulation.state().time, c.residual.worst,
               find_bodies(simulation.model(), c.residual.worst)};
  s.residual_sum += c.residual.natural;
  raise_to(c.penetration, &s.penetration_max);
  raise_to(c.joint_error, &s.joint_error_max);
  s.penetration_final = c.penetration;
  s.joint_error_final = c.joint_error;
  s.ledger.add(c.ledger);
  raise_to(std::abs(c.ledger.numerical), &s.remainder_max);
  const double unpaid = c.ledger.change - c.ledger.load - c.ledger.kinematic - c.ledger.motor - c.ledger.correction;
  raise_to(unpaid, &s.increase_max);
  if (unpaid > kIncreaseTolerance * s.energy_scale) ++s.increase_steps;
  s.impact_guards += report.impact_guards;
  s.health.update(simulation, report);
  const auto events = simulation.events();
  s.events.insert(s.events.end(), events.begin(), events.end());
}

void RunStatistics::add_world(const Simulation& simulation, const WorldVerdict& verdict) {
  Impl& s = *impl_;
  s.world.add(verdict);
  if (verdict.missed == 0 || !s.last_certified) return;
  s.last_certified = false;  // the last step had its certificate before all pairs were looked at
  if (s.uncertified++ == 0)
    s.first_uncertified = {simulation.state().step, simulation.state().time, "missed contact, found at the end"};
}
const WorldVerdict& RunStatistics::world() const { return impl_->world; }
void RunStatistics::set_realtime(const RealtimeFigures& figures) { impl_->realtime = figures; }
void RunStatistics::set_resumed(const ResumePoint& point) { impl_->resumed = point; }
void RunStatistics::set_end(RunEnd end) { impl_->end = end; }
double RunStatistics::residual_max() const { return impl_->residual_max.natural; }
const HealthMonitor& RunStatistics::health() const { return impl_->health; }
long RunStatistics::uncertified_steps() const { return impl_->uncertified; }

}  // namespace slipstick
