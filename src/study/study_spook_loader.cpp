// The wheel loader of [LacoursiereLinde11]: constraint errors over time and over the step, and what both halves of the
// direct-iterative splitting leave.
#include <slipstick/joint_errors.h>

#include <algorithm>
#include <cmath>

#include "report/print_text.h"
#include "study/study_spook.h"

namespace slipstick {

namespace {

constexpr double kPlotFloor = 1e-16;  // zero has no place on a logarithmic axis

/// Root of the mean square over the joints, each with the largest of its rows.
double calc_error_rms(const Simulation& simulation) {
  const std::vector<double> errors = calc_joint_errors(simulation.model(), simulation.state());
  double sum = 0;
  for (const double error : errors) sum += error * error;
  return std::sqrt(sum / static_cast<double>(std::max<std::size_t>(errors.size(), 1)));
}

/// The paper's parameters: h = 1/60, epsilon = 1e-8, tau = 2 h, no curvature; a direct solve, fifteen sweeps, and a
/// second direct solve.
void set_as_in_paper(Scene* scene) {
  SimulationOptions& o = scene->options;
  o.scheme = "spook";
  o.spook.compliance = o.spook.contact_compliance = o.spook.slip_compliance = 1e-8;
  o.spook.hessian = o.spook.geometric = o.spook.anticipate = false;
  o.solver = "split";
  o.solver_options.max_iterations = 1;
}

void set_as_by_default(Scene* scene) { scene->options.scheme = "spook"; }

struct LoaderCourse {
  PlotLine error, direct, iterative;
};

std::optional<LoaderCourse> follow_loader(const std::string& label, void (*change)(Scene*), StudyRuns* bench) {
  const std::optional<Scene> scene = bench->load({"wheel_loader.yaml", {}, change});
  if (!scene) return std::nullopt;
  LoaderCourse course;
  course.error.label = label;
  course.direct.label = "direct half";
  course.iterative.label = "iterative half";
  SolverStatistics last;
  const auto look = [&](const Simulation& simulation, const StepReport* report) {
    if (report == nullptr) return;
    const double time = simulation.state().time;
    course.error.x.push_back(time);
    course.error.y.push_back(std::max(calc_error_rms(simulation), kPlotFloor));
    const SolverStatistics& now = simulation.solver_statistics()[0];
    const double solves = static_cast<double>(now.solves - last.solves);
    if (now.couplings > last.couplings && solves > 0) {
      course.direct.x.push_back(time);
      course.direct.y.push_back(std::max((now.direct_residual_sum - last.direct_residual_sum) / solves, kPlotFloor));
      course.iterative.x.push_back(time);
      course.iterative.y.push_back((now.iterative_residual_sum - last.iterative_residual_sum) / solves);
    }
    last = now;
  };
  if (!bench->follow(*scene, label, EnergyRule::Free, look)) return std::nullopt;
  return course;
}

/// Root of the mean square over the whole run for each step, of the machine alone: among rocks no two runs are alike.
std::optional<PlotLine> follow_steps(bool hessian, double compliance, StudyRuns* bench) {
  PlotLine line{print_text("%s, epsilon %s", hessian ? "with curvature" : "without", as_power(compliance).c_str()),
                {},
                {},
                false,
                true,
                false};
  for (const int rate : {30, 60, 120, 240, 480}) {
    const auto change = [&](Scene* scene) {
      set_as_by_default(scene);
      scene->options.step = 1.0 / rate;
      scene->options.spook.hessian = hessian;
      scene->options.spook.compliance = compliance;
    };
    const std::optional<Scene> scene = bench->load({"wheel_loader.yaml", {{"rocks", "0"}}, change});
    if (!scene) return std::nullopt;
    double sum = 0;
    long steps = 0;
    const auto look = [&](const Simulation& simulation, const StepReport* report) {
      if (report == nullptr) return;
      const double error = calc_error_rms(simulation);
      sum += error * error;
      ++steps;
    };
    if (!bench->follow(*scene, line.label + print_text(", h = 1/%d", rate), EnergyRule::Free, look))
      return std::nullopt;
    line.x.push_back(1.0 / rate);
    line.y.push_back(std::sqrt(sum / static_cast<double>(steps)));
  }
  return line;
}

/// From the first step to the one so many halvings later.
double calc_order(const PlotLine& line, std::size_t halvings) {
  return std::log2(line.y[0] / line.y[halvings]) / static_cast<double>(halvings);
}

}  // namespace

Result<Reproduction> reproduce_spook_loader(const std::string& scenes, const StudyMonitor& monitor) {
  StudyRuns bench(
      {"spook-loader",
       kLacoursiere,
       "figures 12 to 14",
       "A wheel loader drives into rocks, lifts and turns: 164 bodies, 60 steps a second. Left: the root mean "
       "square of the joint errors with the paper's parameters (epsilon 1e-8) and solver, and with ours (epsilon "
       "1e-10, the curvature of joints, `auto`), in both cases near epsilon times the forces. Middle: what the direct "
       "half of the splitting leaves of its rows, and the sweeps of theirs, with the paper's one coupling of fifteen "
       "sweeps, which certifies no step. Right: joint errors of the machine without rocks over the step, down to "
       "the plateau that the compliance gives.",
       {},
       {},
       0,
       0,
       {}},
      scenes, monitor);
  Plot errors{"joint errors", {"time, s", false, {}, {}}, {"root mean square, m or rad", true, {}, 1e-2}, {}};
  Plot halves{"split: both halves", {"time, s", false, {}, {}}, {"relative residual", true, kPlotFloor, 10}, {}};
  struct Line {
    const char* label;
    void (*change)(Scene*);
    double bound;  // of the paper; ours: epsilon times the weight of the machine, 1e5 N
    FigureSource source;
  };
  for (const Line& line : {Line{"as in the paper", set_as_in_paper, 1e-3, FigureSource::Paper},
                           Line{"epsilon 1e-10, curvature", set_as_by_default, 1e-5, FigureSource::ClosedForm}}) {
    auto course = follow_loader(line.label, line.change, &bench);
    if (!course) return bench.finish();
    double sum = 0;
    for (const double error : course->error.y) sum += error * error;
    bench.add(print_text("rms joint error, %s", line.label), line.bound,
              std::sqrt(sum / static_cast<double>(course->error.y.size())), 0, FigureRule::AtMost, line.source);
    errors.lines.push_back(std::move(course->error));
    if (course->direct.x.empty()) continue;
    halves.lines.push_back(std::move(course->iterative));
    halves.lines.push_back(std::move(course->direct));
  }
  Plot orders{"joint errors, no rocks", {"step, s", true, {}, {}}, {"root mean square, m or rad", true, {}, 0.1}, {}};
  for (const auto& [hessian, compliance] : {std::pair{false, 1e-10}, std::pair{true, 1e-10}, std::pair{true, 1e-13}}) {
    std::optional<PlotLine> line = follow_steps(hessian, compliance, &bench);
    if (!line) return bench.finish();
    if (!hessian)
      bench.add("order of the joint error without curvature", 2, calc_order(*line, 2), 0.1, FigureRule::Relative,
                FigureSource::Paper);
    else if (compliance < 1e-10)
      bench.add("order of the joint error with curvature", 3, calc_order(*line, 4), 0.15, FigureRule::Relative,
                FigureSource::Theorem);
    orders.lines.push_back(std::move(*line));
  }
  bench.add_panel(std::move(errors));
  bench.add_panel(std::move(halves));
  bench.add_panel(std::move(orders));
  return bench.finish();
}

}  // namespace slipstick
