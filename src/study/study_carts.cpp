// [Potra06] section 10.2: two carts, a stiff damper between them, a stiff spring at one of them.
#include "study/study_runs.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace slipstick {
namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

struct CartsRun {
  double variation = 0;  ///< of the carts' distance from 5 m
  double away = 0;       ///< of the left cart from the spring's equilibrium
  double energy_share = 0;
  PlotLine distance, energy;
};

struct CartsPlan {
  Settings set;
  double duration;
  bool located;
  bool by_distance;  ///< the line to draw: the carts' distance, or the left cart's from equilibrium
};

std::optional<CartsRun> run_carts(const CartsPlan& plan, const std::string& label, StudyRuns* bench) {
  const std::optional<Scene> scene = bench->load({"two_carts.yaml", plan.set, [&plan](Scene* s) {
                                                    s->options.duration = plan.duration;
                                                    s->options.locate = plan.located;
                                                  }});
  if (!scene) return std::nullopt;
  CartsRun run;
  run.distance.label = run.energy.label = label;
  double start = 0;
  const auto look = [&](const Simulation& simulation, const StepReport* report) {
    const double left = position_of(simulation, "left").x(), right = position_of(simulation, "right").x();
    const double energy = energy_of(simulation), t = simulation.state().time;
    if (report == nullptr) start = energy;
    run.variation = std::max(run.variation, std::abs(right - left - 5));
    run.away = std::max(run.away, std::abs(left - 0.2));
    run.energy_share = std::max(run.energy_share, energy / start);
    run.distance.x.push_back(t);
    run.distance.y.push_back(plan.by_distance ? right - left : left - 0.2);
    run.energy.x.push_back(t);
    run.energy.y.push_back(energy);
  };
  if (!bench->follow(*scene, label, EnergyRule::EveryStep, look)) return std::nullopt;
  return run;
}

void add_energy_row(const std::string& label, const CartsRun& run, StudyRuns* bench) {
  bench->add("largest energy / energy at the start, " + label, 1, run.energy_share, 1e-12, FigureRule::AtMost,
             FigureSource::Theorem);
}

/// Figure 4: the damper stiffens. The impulse that it passes on decides by how much the distance varies: 3.5 N s over
/// delta, from the exact motion between events and from a separate program for the same method.
bool add_stiff_damper(StudyRuns* bench) {
  Plot distance{"carts' distance (figure 4, left)", {"time, s", false, {}, {}}, {"x2 - x1, m", false, {}, {}}, {}};
  Plot energy{"total energy (figure 4, right)", {"time, s", false, {}, {}}, {"energy, J", false, {}, {}}, {}};
  for (const double damping : {1e2, 1e3, 1e6}) {
    const std::string label = "delta = " + as_power(damping);
    std::optional<CartsRun> run = run_carts({{{"damping", as_power(damping)}}, 4, true, true}, label, bench);
    if (!run) return false;
    bench->add("distance varies by, m, " + label, 3.5 / damping, run->variation, 0.05, FigureRule::Relative,
               FigureSource::Computed);
    add_energy_row(label, *run, bench);
    distance.lines.push_back(std::move(run->distance));
    energy.lines.push_back(std::move(run->energy));
  }
  bench->add_panel(std::move(distance));
  bench->add_panel(std::move(energy));
  return true;
}

/// Figure 5: the spring stiffens. Our figures beside those of a separate program for the same method; the
/// exact motion of the softest one is farthest at 0.1950743 m.
bool add_stiff_spring(StudyRuns* bench) {
  Plot distance{"left cart (figure 5, left)", {"time, s", false, {}, {}}, {"x1 - 0.2, m", false, {}, {}}, {}};
  Plot energy{"total energy (figure 5, right)", {"time, s", false, {}, {}}, {"energy, J", false, {}, {}}, {}};
  constexpr std::array<std::pair<double, double>, 3> kAway{{{1e2, 1.95081e-1}, {1e4, 3.01151e-2}, {1e6, 2.95462e-3}}};
  for (const auto& [stiffness, away] : kAway) {
    const std::string label = "gamma = " + as_power(stiffness);
    // Only the softest lets the cart reach its stopper; the others have friction reversals alone, which the paper does
    // not look for.
    std::optional<CartsRun> run =
        run_carts({{{"stiffness", as_power(stiffness)}, {"damping", "10"}, {"start", "0.2"}, {"speed", "3"}},
                   2,
                   stiffness < 1e3,
                   false},
                  label, bench);
    if (!run) return false;
    bench->add("farthest from equilibrium, m, " + label, away, run->away, 1e-4, FigureRule::Relative,
               FigureSource::Computed);
    add_energy_row(label, *run, bench);
    distance.lines.push_back(std::move(run->distance));
    energy.lines.push_back(std::move(run->energy));
  }
  bench->add_panel(std::move(distance));
  bench->add_panel(std::move(energy));
  return true;
}

/// One step from q = (0.2, 5.2), v = (-2, -1), with h = 0.01: the unknowns u = (v + v')/2 of two kilograms that slide
/// left against friction 0.05 * 9.8 N, s_k = h^2 k/4 and s_d = h d/2 the shares of spring and damper,
///   (1 + s_k) u1 - s_d (u2 - u1) = -2 + h f/2,   u2 + s_d (u2 - u1) = -1 + h f/2,
/// in the limit of one of them: u1 = u2, or u1 = 0.
struct CartsLimit {
  double left, right;  ///< v' of the rigid link
};
CartsLimit calc_link_limit(double stiffness) {
  const double h = 0.01, push = h * 0.05 * 9.8 / 2, u = (-3 + 2 * push) / (2 + h * h * stiffness / 4);
  return {2 * u + 2, 2 * u + 1};
}
CartsLimit calc_anchor_limit(double damping) {
  const double h = 0.01, push = h * 0.05 * 9.8 / 2, u = (-1 + push) / (1 + h * damping / 2);
  return {2, 2 * u + 1};
}

std::optional<double> calc_step_distance(double stiffness, double damping, const CartsLimit& limit,
                                         const std::string& label, StudyRuns* bench) {
  const std::optional<Scene> scene = bench->load(
      {"two_carts.yaml",
       {{"stiffness", as_power(stiffness)}, {"damping", as_power(damping)}, {"start", "0.2"}, {"speed", "2"}},
       [](Scene* s) {
         s->initial.velocity[*s->model.find_body("right")].linear.x() = -1;
         s->options.duration = s->options.step = 0.01;
         s->options.locate = false;
       }});
  if (!scene) return std::nullopt;
  double distance = 0;
  const auto look = [&](const Simulation& simulation, const StepReport*) {
    const auto speed = [&](const char* body) {
      return simulation.state().velocity[*simulation.model().find_body(body)].linear.x();
    };
    distance = std::max(std::abs(speed("left") - limit.left), std::abs(speed("right") - limit.right));
  };
  if (!bench->follow(*scene, "one step, " + label, EnergyRule::EveryStep, look)) return std::nullopt;
  return distance;
}

/// Theorem 9.3: one step goes to that of the rigid link as 1/stiffness. The constants follow from the equations above
/// to first order in 1/s_d and 1/s_k.
bool add_limits(StudyRuns* bench) {
  Plot plot{"one step: distance to the rigid link (theorem 9.3)",
            {"stiffness", true, {}, {}},
            {"distance, m/s", true, {}, {}},
            {{"damper, N s/m", {}, {}, false, true, false}, {"spring, N/m", {}, {}, false, true, false}}};
  const auto add = [&](double stiff, double distance, double constant, double tolerance, const std::string& label,
                       std::size_t line) {
    bench->add("one step to the rigid link, m/s, " + label, constant / stiff, distance, tolerance, FigureRule::Relative,
               FigureSource::ClosedForm);
    plot.lines[line].x.push_back(stiff);
    plot.lines[line].y.push_back(distance);
  };
  const double h = 0.01, push = h * 0.05 * 9.8 / 2;
  const CartsLimit link = calc_link_limit(100), anchor = calc_anchor_limit(10);
  // With u1 = u + a/s_d, u2 = u + b/s_d and s_d (u2 - u1) = -1 + push - u: b - a = that; the sum gives (1+s_k) a + b =
  // 0.
  const double shift = h * h * 100 / 4, apart = -1 + push - (link.right - 1) / 2, a = -apart / (2 + shift);
  const double link_constant = 2 * std::max(std::abs(a), std::abs(a + apart)) / (h / 2);
  for (const double damping : {1e6, 1e8, 1e10, 1e11, 1e12}) {
    const std::string label = "delta = " + as_power(damping);
    const std::optional<double> distance = calc_step_distance(100, damping, link, label, bench);
    if (!distance) return false;
    add(damping, *distance, link_constant, 0.01, label, 0);
  }
  // s_k u1 = -2 + push + s_d u2, u2 the limit's; the right cart follows by s_d/(1 + s_d) of it.
  const double u2 = (anchor.right - 1) / 2, anchor_constant = 2 * std::abs(-2 + push + h * 10 / 2 * u2) / (h * h / 4);
  for (const double stiffness : {1e8, 1e10, 1e12}) {
    const std::string label = "gamma = " + as_power(stiffness);
    const std::optional<double> distance = calc_step_distance(stiffness, 10, anchor, label, bench);
    if (!distance) return false;
    add(stiffness, *distance, anchor_constant, 0.01, label, 1);
  }
  bench->add_panel(std::move(plot));
  return true;
}

}  // namespace

Result<Reproduction> reproduce_carts(const std::string& scenes, const StudyMonitor& monitor) {
  StudyRuns bench({"two-carts",
                   "Potra, Anitescu, Gavrea, Trinkle 2006",
                   "figures 4 and 5, theorems 9.1 and 9.3",
                   "Two carts rub on a floor; one hangs on a spring and hits a stopper, a damper couples the other to "
                   "it. With a step of 0.01 s both may be as stiff as one likes: energy stays below its start, the "
                   "motion goes to that of a rigid link. The paper shows curves without numbers; held against the "
                   "closed form and a separate program for the same method.",
                   {},
                   {},
                   0,
                   0,
                   {}},
                  scenes, monitor);
  if (add_stiff_damper(&bench) && add_stiff_spring(&bench)) add_limits(&bench);
  return bench.finish();
}

}  // namespace slipstick
