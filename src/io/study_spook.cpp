// SPOOK on single bodies and mechanisms. The paper shows curves and no tables: figures here are held against closed
// forms of the discrete scheme, and against runs of it in a second implementation where there is none.
#include "io/study_spook.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "io/print_text.h"

namespace slipstick {

namespace {

constexpr const char* kSpookPaper = "Lacoursiere and Linde 2011, ";
constexpr double kPi = std::numbers::pi;

Result<Scene> make_scene(const std::string& text) { return parse_scene("slipstick: 1\n" + text, "experiment"); }

std::string make_oscillator(double omega, const std::string& scheme, double damping) {
  return "planar: true\ngravity: [0, 0]\nbodies:\n  - {name: mass, mass: 1, position: [1, 0], lock: [rotation]}\n" +
         print_text(
             "forces:\n  - spring: {between: [world, mass], at: [[0, 0], [1, 0]], rest_length: 0, "
             "stiffness: %.17g, damping: %.17g}\n",
             omega * omega, damping) +
         "simulation: {step: 1/60, duration: 10, scheme: " + scheme + "}\n";
}

double x_of(const Simulation& simulation) { return simulation.state().pose[0].position.x(); }

double energy_of(const Simulation& simulation) {
  const EnergySplit energy = simulation.energy();
  return energy.kinetic + energy.potential;
}

/// The angle a step from x_{k+1} + x_{k-1} = 2 cos(angle) x_k where |x_k| is largest.
double calc_frequency(const std::vector<double>& x, double h) {
  std::size_t best = 1;
  for (std::size_t k = 1; k + 1 < x.size(); ++k)
    if (std::abs(x[k]) > std::abs(x[best])) best = k;
  return std::acos(std::clamp((x[best + 1] + x[best - 1]) / (2 * x[best]), -1.0, 1.0)) / h;
}

/// x over time under one scheme; its energy at the end over that at the start in `kept`.
Result<PlotLine> follow_oscillator(double omega, const std::string& scheme, double damping, const std::string& label,
                                   double* kept, long* uncertified) {
  const Result<Scene> scene = make_scene(make_oscillator(omega, scheme, damping));
  if (!scene) return scene.faults();
  PlotLine line{label, {}, {}, false, false, false};
  double first = 0;
  const Faults faults = follow_experiment(
      *scene,
      [&](const Simulation& simulation) {
        if (line.x.empty()) first = energy_of(simulation);
        line.x.push_back(simulation.state().time);
        line.y.push_back(x_of(simulation));
        *kept = energy_of(simulation) / first;
      },
      uncertified);
  if (!faults.empty()) return faults;
  return line;
}

PlotLine cut_at(PlotLine line, double time) {
  std::size_t n = 0;
  while (n < line.x.size() && line.x[n] <= time) ++n;
  line.x.resize(n);
  line.y.resize(n);
  return line;
}

}  // namespace

Faults follow_experiment(const Scene& scene, const std::function<void(const Simulation&)>& look, long* uncertified) {
  Simulation simulation(scene.model, scene.initial, scene.simulation);
  look(simulation);
  const long steps = static_cast<long>(std::ceil(scene.simulation.duration / scene.simulation.step - 1e-6));
  for (long k = 0; k < steps; ++k) {
    const StepReport& report = simulation.step();
    if (report.failed)
      return {Fault{{scene.path, 0, 0},
                    print_text("failed at t = %g s: ", simulation.state().time) + std::string(report.note)}};
    *uncertified += !report.certified;
    look(simulation);
  }
  return {};
}

/// An undamped row is the implicit midpoint rule, tan(angle/2) = omega h/2; implicit Euler keeps 1/(1 + omega^2 h^2) of
/// the energy a step.
Result<Reproduction> reproduce_spook_oscillator(const std::string&) {
  Reproduction result{
      "spook-oscillator",
      std::string(kSpookPaper) + "figure 4",
      "A mass on a spring at 60 steps a second. As a row with compliance and no damping it keeps its energy and "
      "has the frequency of the implicit midpoint rule; implicit Euler loses nearly all. A spring far too fast "
      "for the step is damped away in a few steps with a damping time of two steps, and rings on for ever with "
      "the midpoint rule.",
      {},
      {},
      0};
  const double h = 1.0 / 60;
  Plot slow{"omega = 2 pi", {"time, s", false, {}, {}}, {"position, m", false, {}, {}}, {}};
  Plot fast{"omega = 600 pi", {"time, s", false, {}, {}}, {"position, m", false, {}, {}}, {}};
  double kept = 0;
  for (const double omega : {2 * kPi, 10 * kPi, 60 * kPi}) {
    const Result<PlotLine> line = follow_oscillator(omega, "spook", 0, "spook", &kept, &result.uncertified);
    if (!line) return line.faults();
    result.figures.push_back({result.name, print_text("frequency, rad/s, omega = %g pi", omega / kPi),
                              2 / h * std::atan(omega * h / 2), calc_frequency(line->y, h), 1e-9});
    if (omega < 7) slow.lines.push_back(cut_at(*line, 3));
  }
  for (const auto& [scheme, label] :
       {std::pair{"euler", "implicit Euler"}, std::pair{"trapezoid", "implicit midpoint"}}) {
    const Result<PlotLine> line = follow_oscillator(2 * kPi, scheme, 0, label, &kept, &result.uncertified);
    if (!line) return line.faults();
    if (std::string(scheme) == "euler")
      result.figures.push_back({result.name, "energy kept by implicit Euler in 10 s",
                                std::pow(1 + 4 * kPi * kPi * h * h, -600), kept, 1e-6});
    slow.lines.push_back(cut_at(*line, 3));
  }
  const double stiff = 600 * kPi;
  for (const char* scheme : {"spook", "euler", "trapezoid"}) {
    const double damping = std::string(scheme) == "spook" ? 2 * h * stiff * stiff : 0;
    const Result<PlotLine> line = follow_oscillator(stiff, scheme, damping, "", &kept, &result.uncertified);
    if (!line) return line.faults();
    fast.lines.push_back(cut_at(*line, 0.5));
    fast.lines.back().label = slow.lines[fast.lines.size() - 1].label;
  }
  result.panels = {std::move(slow), std::move(fast)};
  return result;
}

namespace {

/// A rod, or a spring of the same length that stands for it.
std::string make_swing(bool spring, const std::string& scheme, int per_second) {
  const std::string ends = "between: [world, bob], at: [[0, 0], [-1, 0]]";
  return "planar: true\nbodies:\n  - {name: bob, mass: 1, position: [-1, 0], lock: [rotation]}\n" +
         (spring ? "forces:\n  - spring: {" + ends + ", stiffness: 1e6}\n" : "joints:\n  - rod: {" + ends + "}\n") +
         print_text("simulation: {step: 1/%d, duration: 10, scheme: ", per_second) + scheme + "}\n";
}

struct SwingCourse {
  PlotLine height, energy;
  double error = 0;  ///< largest | |x| - 1 |
};

Result<SwingCourse> follow_swing(bool spring, const std::string& scheme, int per_second, const std::string& label,
                                 long* uncertified) {
  const Result<Scene> scene = make_scene(make_swing(spring, scheme, per_second));
  if (!scene) return scene.faults();
  SwingCourse course;
  course.height.label = course.energy.label = label;
  Simulation simulation(scene->model, scene->initial, scene->simulation);
  while (simulation.state().time < scene->simulation.duration - 1e-9) {
    const StepReport& report = simulation.step();
    const Vec3& p = simulation.state().pose[0].position;
    if (report.failed || !(p.norm() < 3)) break;  // the midpoint penalty may blow up: that is what is shown
    *uncertified += !report.certified;
    course.error = std::max(course.error, std::abs(p.norm() - 1));
    course.height.x.push_back(simulation.state().time);
    course.height.y.push_back(p.y());
    course.energy.x.push_back(simulation.state().time);
    course.energy.y.push_back(energy_of(simulation));
  }
  return course;
}

}  // namespace

Result<Reproduction> reproduce_spook_pendulum(const std::string&) {
  Reproduction result{
      "spook-pendulum",
      std::string(kSpookPaper) + "figure 5",
      "A pendulum from the horizontal, 60 steps a second: as a constraint, as a stiff spring under implicit "
      "Euler and the implicit midpoint rule, and by projection of the positions. Rod errors fall with the square "
      "of the step, and with its cube where the curvature of the rod is taken into account.",
      {},
      {},
      0};
  // Largest rod error in 10 s, epsilon = 1e-8, tau = 2 h, without the curvature: a second implementation.
  constexpr std::array<double, 3> kErrors{6.718e-3, 1.697e-3, 4.254e-4};
  for (std::size_t k = 0; k < kErrors.size(); ++k) {
    const int rate = 60 << k;
    const Result<SwingCourse> plain =
        follow_swing(false, "{spook: {compliance: 1e-8, hessian: false}}", rate, "", &result.uncertified);
    if (!plain) return plain.faults();
    result.figures.push_back(
        {result.name, print_text("rod error without curvature, m, h = 1/%d", rate), kErrors[k], plain->error, 0.02});
  }
  Plot height{"height", {"time, s", false, {}, {}}, {"m", false, -1.5, 1.0}, {}};
  Plot energy{"energy", {"time, s", false, {}, {}}, {"J", false, -10.0, 10.0}, {}};
  struct Line {
    bool spring;
    const char *scheme, *label;
  };
  for (const Line& line :
       {Line{false, "spook", "spook"}, Line{true, "euler", "spring, implicit Euler"},
        Line{true, "trapezoid", "spring, implicit midpoint"}, Line{false, "stabilized", "projection"}}) {
    long not_counted = 0;  // a spring that blows up is not a fault of ours
    Result<SwingCourse> course = follow_swing(line.spring, line.scheme, 60, line.label, &not_counted);
    if (!course) return course.faults();
    height.lines.push_back(std::move(course->height));
    energy.lines.push_back(std::move(course->energy));
  }
  result.panels = {std::move(height), std::move(energy)};
  return result;
}

Result<Reproduction> reproduce_spook_ball(const std::string&) {
  Reproduction result{
      "spook-ball",
      std::string(kSpookPaper) + "figure 6",
      "A ball dropped from 1 m. The impact stage never gains energy; each elastic bounce loses h g |v|, because "
      "the impact is found after it has happened. As in the paper, contacts are not anticipated and have a "
      "damping time of two steps.",
      {},
      {},
      0};
  // Heights of the peaks, epsilon = 1e-8, tau = 2 h, h = 1/60: a second implementation.
  struct Line {
    double e;
    std::vector<double> peaks;
  };
  const std::array<Line, 2> table{
      {{1, {0.92636379, 0.85545248, 0.78727525, 0.72182276}}, {0.5, {0.20018954, 0.02063897}}}};
  Plot plot{"bouncing ball", {"time, s", false, {}, {}}, {"height, m", false, {}, {}}, {}};
  for (const Line& line : table) {
    const Result<Scene> scene = make_scene(
        print_text("materials: {default: {friction: 0, restitution: %g}}\n", line.e) +
        "bodies:\n  - {name: ball, mass: 1, position: [0, 0, 1.1], shapes: [{sphere: {radius: 0.1}}]}\n"
        "  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1]}}]}\n"
        "simulation: {step: 1/60, duration: 8, scheme: {spook: {contact_compliance: 1e-8, contact_damping_time: 2/60, "
        "anticipate: false}}}\n");
    if (!scene) return scene.faults();
    PlotLine course{print_text("e = %g", line.e), {}, {}, false, false, false};
    const Faults faults = follow_experiment(
        *scene,
        [&](const Simulation& simulation) {
          course.x.push_back(simulation.state().time);
          course.y.push_back(simulation.state().pose[0].position.z() - 0.1);
        },
        &result.uncertified);
    if (!faults.empty()) return faults;
    std::size_t peak = 0;
    for (std::size_t k = 1; k + 1 < course.y.size() && peak < line.peaks.size(); ++k) {
      if (!(course.y[k] > course.y[k - 1] && course.y[k] >= course.y[k + 1])) continue;
      result.figures.push_back(
          {result.name, print_text("peak %zu, m, e = %g", peak + 1, line.e), line.peaks[peak], course.y[k], 5e-3});
      ++peak;
    }
    plot.lines.push_back(std::move(course));
  }
  result.panels.push_back(std::move(plot));
  return result;
}

/// Errors fall with h^2, and with h^3 where the curvature counts, through all degenerate poses.
Result<Reproduction> reproduce_spook_crank(const std::string& scenes) {
  Reproduction result{
      "spook-slider-crank",
      std::string(kSpookPaper) + "figure 1",
      "A slider-crank with crank and rod of one length passes poses in which its constraints lose a rank twice a "
      "turn. The mean joint error falls with the square of the step; with the curvature of the joints it is a "
      "hundred times smaller.",
      {},
      {},
      0};
  Plot plot{"slider-crank: mean joint error", {"step, s", true, {}, {}}, {"m", true, {}, {}}, {}};
  for (const bool hessian : {false, true}) {
    PlotLine line{hessian ? "with curvature" : "without", {}, {}, false, true, false};
    for (const int rate : {240, 480, 960, 1920}) {
      Result<Scene> scene = load_scene(scenes + "/slider_crank.yaml");
      if (!scene) return scene.faults();
      scene->simulation.step = 1.0 / rate;
      scene->simulation.spook.hessian = hessian;
      Simulation simulation(scene->model, scene->initial, scene->simulation);
      double sum = 0;
      const long steps = std::lround(scene->simulation.duration * rate);
      for (long k = 0; k < steps; ++k) {
        const StepReport& report = simulation.step();
        if (report.failed) return Fault{{scene->path, 0, 0}, "a step failed: " + std::string(report.note)};
        result.uncertified += !report.certified;
        sum += report.certificate.joint_error;
      }
      line.x.push_back(1.0 / rate);
      line.y.push_back(sum / static_cast<double>(steps));
    }
    const std::size_t last = line.y.size() - 1;
    if (!hessian)
      result.figures.push_back({result.name, "order of the joint error without curvature", 2.0,
                                std::log2(line.y[last - 1] / line.y[last]), 0.1});
    plot.lines.push_back(std::move(line));
  }
  result.panels.push_back(std::move(plot));
  return result;
}

}  // namespace slipstick
