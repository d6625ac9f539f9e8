// Painleve's rod ([AnitescuPotra97], [Gavrea08]): sliding so steeply that no finite force can solve the equations.
#include "study/study_runs.h"

#include <array>
#include <cmath>
#include <numbers>

namespace slipstick {
namespace {

/// With m = 1, half length l, J = l^2/3, angle 60 degrees, tip sliding at 1 m/s:
///   A_nn = 1 + 3 cos^2 = 1.75,  A_nt = 3 sin cos = 1.299...,  A_tt = 1 + 3 sin^2 = 3.25,
/// the tip must stop: A_tt p_t - A_nt p_n = 1, A_nn p_n - A_nt p_t = 0, whatever l, mu and g are.
constexpr double kMixed = 0.75 * std::numbers::sqrt3;
constexpr double kTangential = 1 / (3.25 - kMixed * kMixed / 1.75);  // 0.4375
constexpr double kNormal = kMixed * kTangential / 1.75;              // 0.3247595...

struct RodStep {
  /// Impulse of the first step's problem. What then takes the rest of the slip out of v is no part of the paper's step.
  double normal = 0, tangential = 0;
  double impacts = 0;
  WorldMotion motion;
};

std::optional<RodStep> step_rod(const std::vector<std::pair<std::string, std::string>>& set, const char* scheme,
                                double h, double gravity, StudyRuns* bench) {
  const std::optional<Scene> scene = bench->load({"painleve_rod.yaml", set, [=](Scene* s) {
                                                    s->options.scheme = scheme;
                                                    s->options.alpha_gamma.stabilize = false;
                                                    s->options.step = s->options.duration = h;
                                                    s->model.gravity.y() = -gravity;
                                                  }});
  if (!scene) return std::nullopt;
  RodStep step;
  const int rod = *scene->model.find_body("rod");
  const auto look = [&](const Simulation& simulation, const StepReport* report) {
    if (report == nullptr) return;
    for (const ContactMemory& each : simulation.state().contact_memory) {
      step.normal += std::abs(each.impulse.y());
      step.tangential += std::abs(each.impulse.x());
    }
    for (const Event& event : simulation.events()) step.impacts += event.kind == EventKind::Impact;
    step.motion =
        calc_world_motion(scene->model.bodies[rod], simulation.state().pose[rod], simulation.state().velocity[rod]);
  };
  if (!bench->follow(*scene, std::string(scheme) + ", h = " + as_power(h), EnergyRule::EveryStep, look))
    return std::nullopt;
  return step;
}

/// The impulse is linear in the step, P + c h: two steps give its limit to rounding.
double calc_limit(double at_h, double at_tenth) { return (10 * at_tenth - at_h) / 9; }

bool add_inconsistent(StudyRuns* bench) {
  constexpr std::array<std::pair<double, double>, 4> kPublished{
      {{1e-1, 1.121822026}, {1e-2, 0.404465776}, {1e-3, 0.332730151}, {1e-4, 0.325556589}}};
  Plot plot{"inconsistent start: impulse of the first step",
            {"step, s", true, {}, {}},
            {"impulse less its limit, N s", true, {}, {}},
            {{"euler", {}, {}, false, true, false}, {"trapezoid", {}, {}, false, true, false}}};
  for (const char* scheme : {"euler", "trapezoid"}) {
    std::optional<RodStep> before;
    for (const double h : {1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6}) {
      const std::optional<RodStep> step = step_rod({}, scheme, h, 9.81, bench);
      if (!step) return false;
      const std::string label = std::string(", N s, ") + scheme + ", h = " + as_power(h);
      for (const auto& [size, normal] : kPublished)
        if (size == h && scheme[0] == 'e')
          bench->add("normal impulse" + label, normal, step->normal, 1e-8, FigureRule::Relative,
                     FigureSource::Computed);
      if (before && h < 2e-4) {
        bench->add("normal impulse, limit from h and 10 h" + label, kNormal, calc_limit(before->normal, step->normal),
                   1e-8, FigureRule::Absolute, FigureSource::ClosedForm);
        bench->add("tangential impulse, limit from h and 10 h" + label, kTangential,
                   calc_limit(before->tangential, step->tangential), 1e-8, FigureRule::Absolute,
                   FigureSource::ClosedForm);
      }
      plot.lines[scheme[0] == 't'].x.push_back(h);
      plot.lines[scheme[0] == 't'].y.push_back(step->normal - kNormal);
      before = step;
    }
    bench->add(std::string("tip's speed after it, m/s, ") + scheme + ", h = 1e-6", 0,
               std::abs(before->motion.velocity.x() + 0.5625) + std::abs(before->motion.velocity.y() - kNormal), 1e-4,
               FigureRule::AtMost, FigureSource::ClosedForm);
  }
  bench->add_panel(std::move(plot));
  return true;
}

/// Another rod that cannot slide on: half length 1 m, mu = 5/3, g = 10.
bool add_other_rod(StudyRuns* bench) {
  const std::vector<std::pair<std::string, std::string>> set{{"half", "1"}, {"mu", "5/3"}};
  const std::optional<RodStep> coarse = step_rod(set, "trapezoid", 1e-3, 10, bench);
  const std::optional<RodStep> fine = step_rod(set, "trapezoid", 1e-4, 10, bench);
  if (!coarse || !fine) return false;
  bench->add("normal impulse, N s, half length 1, mu = 5/3, g = 10", kNormal, calc_limit(coarse->normal, fine->normal),
             1e-8, FigureRule::Absolute, FigureSource::ClosedForm);
  bench->add("angular velocity after it, rad/s", 2 * kNormal,
             calc_limit(coarse->motion.angular_velocity.z(), fine->motion.angular_velocity.z()), 1e-4,
             FigureRule::Absolute, FigureSource::ClosedForm);
  return true;
}

/// mu = 1: the rod slides, pressed by N = g/(A_nn - mu A_nt).
bool add_consistent(StudyRuns* bench) {
  for (const double h : {1e-3, 1e-4, 1e-5}) {
    const std::optional<RodStep> step = step_rod({{"mu", "1"}}, "trapezoid", h, 9.81, bench);
    if (!step) return false;
    const std::string label = ", consistent start (mu = 1), h = " + as_power(h);
    bench->add("normal force, N" + label, 9.81 / (1.75 - kMixed), step->normal / h, 20 * h, FigureRule::Relative,
               FigureSource::ClosedForm);
    bench->add("impulses without collision" + label, 0, step->impacts, 0, FigureRule::AtMost, FigureSource::ClosedForm);
  }
  return true;
}

/// After the impulse the rod turns over its tip: theta(0.2) from the pendulum's equation.
bool add_pivoting(StudyRuns* bench) {
  Plot plot{"after the impulse the rod turns over its tip",
            {"time, s", false, {}, {}},
            {"angle to the floor, degrees", false, {}, {}},
            {}};
  std::vector<double> errors;
  for (const double h : {0.01, 0.005, 0.0025}) {
    const std::optional<Scene> scene = bench->load({"painleve_rod.yaml", {}, [h](Scene* s) {
                                                      s->options.step = h;
                                                      s->options.duration = 0.2;
                                                      s->options.alpha_gamma.stabilize = false;
                                                    }});
    if (!scene) return false;
    PlotLine line{"h = " + as_power(h), {}, {}, false, false, false};
    const int rod = *scene->model.find_body("rod");
    const auto look = [&](const Simulation& simulation, const StepReport*) {
      const Quat& q = simulation.state().pose[rod].orientation;
      line.x.push_back(simulation.state().time);
      line.y.push_back(60 + 2 * std::atan2(q.z(), q.w()) * 180 / std::numbers::pi);
    };
    if (!bench->follow(*scene, line.label, EnergyRule::EveryStep, look)) return false;
    errors.push_back(std::abs(line.y.back() * std::numbers::pi / 180 - 1.176525042713));
    plot.lines.push_back(std::move(line));
  }
  bench->add("error of the angle at t = 0.2 s, rad, h = 0.01", 1e-3, errors[0], 0, FigureRule::AtMost,
             FigureSource::Computed);
  for (std::size_t k = 1; k < errors.size(); ++k)
    bench->add("its ratio when h is halved (" + std::to_string(k) + ")", 4, errors[k - 1] / errors[k], 0.8,
               FigureRule::Absolute, FigureSource::Theorem);
  bench->add_panel(std::move(plot));
  return true;
}

}  // namespace

Result<Reproduction> reproduce_painleve(const std::string& scenes, const StudyMonitor& monitor) {
  StudyRuns bench({"painleve",
                   "Painleve 1895, in Anitescu, Potra 1997",
                   "the rod that cannot slide on",
                   "A rod slides on its tip, so steep and so rough that no finite force solves the equations of "
                   "motion. An impulse does, without any collision: the tip stops at once. Steps from 0.1 s down to a "
                   "microsecond, none fails; with less friction the same rod just slides. Held against the closed "
                   "form of the impulse.",
                   {},
                   {},
                   0,
                   0,
                   {}},
                  scenes, monitor);
  if (add_inconsistent(&bench) && add_other_rod(&bench) && add_consistent(&bench)) add_pivoting(&bench);
  return bench.finish();
}

}  // namespace slipstick
