// The same scene under halved steps, against a run with a smaller one.
#include <slipstick/app/study.h>
#include <slipstick/joint_errors.h>

#include <algorithm>
#include <cmath>

#include "report/print_text.h"

namespace slipstick {
namespace {

/// Poses of all bodies at the times that all runs have in common, and the joints' errors.
struct StudyRun {
  std::vector<std::vector<Pose>> poses;
  std::vector<double> joint_end, joint_max;
  long uncertified = 0;
};

/// `ratio` if it is a whole number but for rounding, else 0.
long as_whole(double ratio) {
  const double whole = std::round(ratio);
  return whole >= 1 && whole < 1e9 && std::abs(ratio - whole) <= 1e-9 * whole ? static_cast<long>(whole) : 0;
}

/// One run of the study: `steps` of length h, poses kept at each `every`-th.
struct RunPlan {
  double h;
  long steps, every;
};

Result<StudyRun> follow_scene(const Scene& scene, const RunPlan& plan, const StudyMonitor& monitor) {
  const auto [h, steps, every] = plan;
  SimulationOptions options = scene.options;
  options.step = h;
  Simulation simulation(scene.model, scene.initial, options);
  StudyRun run;
  run.joint_max.resize(scene.model.joints.size());
  for (long k = 1; k <= steps; ++k) {
    const StepReport& report = simulation.step();
    if (report.failed)
      return Fault{{scene.path, 0, 0},
                   "with step " + std::to_string(h) + " s the run failed at t = " +
                       std::to_string(simulation.state().time) + " s: " + std::string(report.note)};
    run.uncertified += !report.certified;
    run.joint_end = calc_joint_errors(scene.model, simulation.state());
    for (std::size_t i = 0; i < run.joint_end.size(); ++i)
      run.joint_max[i] = std::max(run.joint_max[i], run.joint_end[i]);
    if (k % every == 0) run.poses.push_back(simulation.state().pose);
    if (monitor && !monitor("step " + print_text("%.6g s", h), static_cast<double>(k) / static_cast<double>(steps)))
      return Fault{{scene.path, 0, 0}, "interrupted"};
  }
  return run;
}

double calc_angle(const Pose& a, const Pose& b) {
  const Quat turn = a.orientation.conjugate() * b.orientation;
  return 2 * std::atan2(turn.vec().norm(), std::abs(turn.w()));
}

/// End and maximum of one figure of two courses of poses.
template <class Figure>
void append_errors(const StudyRun& run, const StudyRun& reference, const Figure& figure, StudyQuantity* quantity) {
  double end = 0, max = 0;
  for (std::size_t k = 0; k < run.poses.size(); ++k) {
    end = figure(run.poses[k], reference.poses[k]);
    max = std::max(max, end);
  }
  quantity->end.push_back(end);
  quantity->max.push_back(max);
}

/// Position and angle of every body that moves, and all positions together.
void add_bodies(const Scene& scene, const std::vector<StudyRun>& runs, const StudyRun& reference,
                std::vector<StudyQuantity>* quantities) {
  using Poses = std::vector<Pose>;
  const auto add = [&](const std::string& name, const char* kind, const auto& figure) {
    StudyQuantity quantity{name, kind, {}, {}};
    for (const StudyRun& run : runs) append_errors(run, reference, figure, &quantity);
    const bool any = std::any_of(quantity.max.begin(), quantity.max.end(), [](double x) { return x > 0; });
    if (any) quantities->push_back(std::move(quantity));
  };
  add("all bodies", "position", [](const Poses& a, const Poses& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i].position - b[i].position).squaredNorm();
    return std::sqrt(sum);
  });
  for (std::size_t i = 0; i < scene.model.bodies.size(); ++i) {
    const std::string& name = scene.model.bodies[i].name;
    add(name, "position", [i](const Poses& a, const Poses& b) { return (a[i].position - b[i].position).norm(); });
    add(name, "angle", [i](const Poses& a, const Poses& b) { return calc_angle(a[i], b[i]); });
  }
}

void add_joints(const Scene& scene, const std::vector<StudyRun>& runs, std::vector<StudyQuantity>* quantities) {
  for (std::size_t i = 0; i < scene.model.joints.size(); ++i) {
    StudyQuantity quantity{scene.model.joints[i].name, "joint", {}, {}};
    if (quantity.name.empty()) quantity.name = "joint " + std::to_string(i + 1);
    for (const StudyRun& run : runs) {
      quantity.end.push_back(run.joint_end[i]);
      quantity.max.push_back(run.joint_max[i]);
    }
    quantities->push_back(std::move(quantity));
  }
}

/// The steps from the first to the last, each half of the one before.
Result<std::vector<double>> make_steps(const StepRange& range) {
  if (!(range.first > 0 && range.last > 0 && std::isfinite(range.first)))
    return Fault{{}, "--steps: both ends must be positive times in seconds"};
  std::vector<double> steps{range.first};
  while (steps.back() > range.last * (1 + 1e-9) && steps.size() < 40) steps.push_back(steps.back() / 2);
  if (steps.size() < 2 || !as_whole(steps.back() / range.last))
    return Fault{{}, "--steps: halving the first step must lead to the last, as in 2^-5..2^-9 or 0.04..0.005"};
  return steps;
}

}  // namespace

Result<ConvergenceStudy> calc_convergence(const Scene& scene, const StepRange& range, const StudyMonitor& monitor) {
  const Result<std::vector<double>> steps = make_steps(range);
  if (!steps) return steps.faults();
  ConvergenceStudy study{scene.path, scene.options.scheme, scene.options.solver, 0, 0, *steps, {}, 0, {}};
  study.reference = range.reference > 0 ? range.reference : steps->back() / 2;
  const long finer = as_whole(range.first / study.reference);
  if (!finer || study.reference > steps->back() * (1 - 1e-9))
    return Fault{
        {},
        "--reference: must be smaller than all steps and divide the first one, " + std::to_string(range.first) + " s"};
  const long coarse = std::max(1L, static_cast<long>(std::ceil(scene.options.duration / range.first - 1e-6)));
  study.time = static_cast<double>(coarse) * range.first;
  const Result<StudyRun> reference = follow_scene(scene, {study.reference, coarse * finer, finer}, monitor);
  if (!reference) return reference.faults();
  study.reference_uncertified = reference->uncertified;
  std::vector<StudyRun> runs;
  for (std::size_t k = 0; k < steps->size(); ++k) {
    Result<StudyRun> run = follow_scene(scene, {(*steps)[k], coarse << k, 1L << k}, monitor);
    if (!run) return run.faults();
    study.uncertified.push_back(run->uncertified);
    runs.push_back(std::move(run).value());
  }
  add_bodies(scene, runs, *reference, &study.quantities);
  add_joints(scene, runs, &study.quantities);
  return study;
}

}  // namespace slipstick
