// The list of benchmarks, their runs, and the judge.
#include <slipstick/app/benchmark.h>

#include <algorithm>
#include <chrono>

#include "base/cpu_time.h"
#include "base/se3.h"
#include "report/report_statistics.h"
#include "step/trial.h"

namespace slipstick {
namespace {

constexpr long kSamples = 50;  ///< a run, about

double calc_anchor_distance(const Joint& joint, const State& state) {
  const auto place = [&](int body, const Vec3& anchor) -> Vec3 {
    return body == kWorld ? anchor : apply(state.pose[body], anchor);
  };
  return (place(joint.a, joint.anchor_a) - place(joint.b, joint.anchor_b)).norm();
}

}  // namespace

std::string_view name_of(BenchmarkError error) {
  switch (error) {
    case BenchmarkError::Depth:
      return "depth";
    case BenchmarkError::Joints:
      return "joints";
    case BenchmarkError::Drift:
      return "drift";
  }
  return "";
}

double error_of(const BenchmarkFigures& figures, BenchmarkError error) {
  return error == BenchmarkError::Depth    ? figures.penetration_max
         : error == BenchmarkError::Joints ? figures.joint_error_max
                                           : figures.displacement;
}

/// The dear ones last: what they leave undone in a limited time is theirs.
std::vector<Benchmark> benchmarks() {
  using enum BenchmarkError;
  return {{"stack-10", "a column of ten cubes", "stack.yaml", {{"n", "10"}}, {Drift, Depth}},
          {"stack-20", "a column of twenty cubes", "stack.yaml", {{"n", "20"}}, {Drift, Depth}},
          {"stack-40", "a column of forty cubes", "stack.yaml", {{"n", "40"}}, {Drift, Depth}},
          {"heavy", "ten tonnes on one kilogram", "heavy_stack.yaml", {}, {Drift, Depth}},
          {"chain", "a tonne on fifty links", "chain.yaml", {}, {Joints}},
          {"chain-240", "the same at 240 Hz", "chain.yaml", {{"rate", "240"}}, {Joints}},
          {"chain-10kg", "ten kilograms on fifty links", "chain.yaml", {{"load", "10"}}, {Joints}},
          {"incline", "cubes that stick at 95 % of the friction angle", "incline.yaml", {{"slide", "0.95"}}, {Drift}},
          {"cannonball", "66 disks between slanted walls", "cannonball.yaml", {}},
          {"wheel-loader", "a machine and a heap of rocks", "wheel_loader.yaml", {}},
          {"logs-100", "100 logs on a slope", "logs.yaml", {{"n", "100"}}},
          {"wall", "200 bricks, hit by a ball", "wall.yaml", {}},
          {"heap-1000", "1000 spheres in a bin", "heap.yaml", {{"n", "1000"}}},
          {"heap-5000", "5000 spheres in a bin", "heap.yaml", {{"n", "5000"}}},
          {"castle", "5000 bricks, hit by a ball", "castle.yaml", {}, {Depth}, false}};
}

Result<Scene> load_benchmark(const Benchmark& benchmark, const std::string& scenes) {
  SceneLoadOptions options;
  options.set = benchmark.set;
  return load_scene(scenes + "/" + std::string(benchmark.file), options);
}

long calc_sample_interval(const Scene& scene) { return std::max(1L, calc_step_count(scene.options) / kSamples); }

BenchmarkRun run_benchmark(const Scene& scene, const StudyMonitor& monitor, double limit) {
  BenchmarkRun run;
  run.engine = "slipstick";
  run.uncertified = 0;
  const long steps = calc_step_count(scene.options), interval = calc_sample_interval(scene);
  run.seconds.reserve(static_cast<std::size_t>(steps));
  Simulation simulation(scene.model, scene.initial, scene.options);
  const auto begin = std::chrono::steady_clock::now();
  for (long k = 1; k <= steps && !run.cut; ++k) {
    const double start = read_cpu_seconds();
    const StepReport& report = simulation.step();
    run.seconds.push_back(read_cpu_seconds() - start);
    if (report.failed) {
      run.failure = "failed at t = " + std::to_string(simulation.state().time) + " s: " + std::string(report.note);
      break;
    }
    run.uncertified += !report.certified;
    run.cut = k < steps && std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() > limit;
    if (k % interval == 0 || k == steps || run.cut) run.samples.push_back(simulation.state());
    if (monitor && !monitor(scene.name, static_cast<double>(k) / static_cast<double>(steps))) {
      run.failure = "interrupted";
      break;
    }
  }
  return run;
}

BenchmarkFigures judge(const Scene& scene, const BenchmarkRun& run) {
  BenchmarkFigures figures;
  figures.engine = run.engine;
  figures.failure = run.failure;
  figures.steps = static_cast<long>(run.seconds.size());
  figures.uncertified = run.uncertified;
  if (run.cut) figures.cut_at = static_cast<double>(figures.steps) * scene.options.step;
  const TimeFigures times = calc_time_figures(run.seconds);
  figures.ms_mean = 1e3 * times.mean;
  figures.ms_median = 1e3 * times.median;
  figures.ms_p99 = 1e3 * times.p99;
  figures.ms_max = 1e3 * times.max;
  SimulationOptions plain;  // of the probe below, which never steps
  plain.step = scene.options.step;
  const auto energy_of = [](const Simulation& probe) { return probe.energy().kinetic + probe.energy().potential; };
  double least = energy_of(Simulation(scene.model, scene.initial, plain));
  for (const State& state : run.samples) {
    if (!is_finite(state)) {
      if (figures.failure.empty()) figures.failure = "a state is not finite";
      break;
    }
    const Simulation probe(scene.model, state, plain);
    figures.penetration_final = 0;
    for (const Contact& contact : probe.contacts())
      figures.penetration_final = std::max(figures.penetration_final, -contact.gap);
    figures.penetration_max = std::max(figures.penetration_max, figures.penetration_final);
    for (const Joint& joint : scene.model.joints)
      if (joint.kind == JointKind::Ball)
        figures.joint_error_max = std::max(figures.joint_error_max, calc_anchor_distance(joint, state));
    const double energy = energy_of(probe);
    figures.energy_rise = std::max(figures.energy_rise, energy - least);
    least = std::min(least, energy);
    figures.displacement = 0;
    for (std::size_t i = 0; i < state.pose.size(); ++i)
      figures.displacement =
          std::max(figures.displacement, (state.pose[i].position - scene.initial.pose[i].position).norm());
  }
  return figures;
}

BenchmarkFigures combine(const BenchmarkFigures& one, const BenchmarkFigures& other) {
  BenchmarkFigures both = other.ms_median < one.ms_median ? other : one;
  both.failure = one.failure.empty() ? other.failure : one.failure;
  both.cut_at =
      one.cut_at == 0 || other.cut_at == 0 ? std::max(one.cut_at, other.cut_at) : std::min(one.cut_at, other.cut_at);
  both.uncertified = std::max(one.uncertified, other.uncertified);
  both.penetration_max = std::max(one.penetration_max, other.penetration_max);
  both.penetration_final = std::max(one.penetration_final, other.penetration_final);
  both.joint_error_max = std::max(one.joint_error_max, other.joint_error_max);
  both.energy_rise = std::max(one.energy_rise, other.energy_rise);
  both.displacement = std::max(one.displacement, other.displacement);
  return both;
}

}  // namespace slipstick
