// The same scene under several schemes and solvers.
#include <slipstick/app/study.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace slipstick {
namespace {

double calc_energy_sum(const Simulation& simulation) {
  const EnergySplit energy = simulation.energy();
  return energy.kinetic + energy.potential;
}

ComparedRun compare_one(const Scene& scene, const SimulationOptions& options, std::vector<Pose>* end) {
  ComparedRun run;
  run.scheme = options.scheme;
  run.solver = options.solver;
  Simulation simulation(scene.model, scene.initial, options);
  const double energy = calc_energy_sum(simulation);
  const long steps = calc_step_count(options);
  double seconds = 0;
  while (run.steps < steps) {
    const auto start = std::chrono::steady_clock::now();
    const StepReport& report = simulation.step();
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (report.failed) {
      run.failed = true;
      run.note = report.note;
      break;
    }
    ++run.steps;
    run.uncertified += !report.certified;
    const Certificate& certificate = report.certificate;
    run.residual_max = std::max(run.residual_max, certificate.residual.natural);
    run.penetration_max = std::max(run.penetration_max, certificate.penetration);
    run.joint_error_max = std::max(run.joint_error_max, certificate.joint_error);
  }
  run.ms_per_step = run.steps > 0 ? 1e3 * seconds / static_cast<double>(run.steps) : 0;
  run.energy_change = calc_energy_sum(simulation) - energy;
  *end = simulation.state().pose;
  return run;
}

}  // namespace

std::vector<ComparedRun> compare_runs(const Scene& scene, const std::vector<SimulationOptions>& options) {
  std::vector<ComparedRun> runs;
  std::vector<Pose> first, end;
  for (const SimulationOptions& each : options) {
    runs.push_back(compare_one(scene, each, &end));
    if (runs.size() == 1) first = end;
    double sum = 0;
    for (std::size_t i = 0; i < end.size(); ++i) sum += (end[i].position - first[i].position).squaredNorm();
    runs.back().distance = std::sqrt(sum);
  }
  return runs;
}

}  // namespace slipstick
