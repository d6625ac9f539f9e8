// [Gavrea08] section 9: the velocity v oscillates where the weighted one does not.
#include "study/study_runs.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace slipstick {
namespace {

/// A velocity component and its weighted twin over a run, with their total variations.
struct TwoVelocities {
  PlotLine v{"v", {}, {}, true, false, false}, weighted{"v weighted", {}, {}, true, false, false};
  double variation = 0, variation_weighted = 0, weighted_max = 0;

  void look(const Simulation& simulation, int body) {
    const double a = simulation.state().velocity[body].linear.x();
    const double b = simulation.weighted_velocity()[body].linear.x();
    const bool first = v.y.empty();
    if (!first) {
      variation += std::abs(a - v.y.back());
      variation_weighted += std::abs(b - weighted.y.back());
      weighted_max = std::max(weighted_max, std::abs(b));
    }
    v.x.push_back(simulation.state().time);
    v.y.push_back(a);
    weighted.x.push_back(simulation.state().time);
    weighted.y.push_back(b);
  }
};

constexpr const char* kSimpleJoint = R"yaml(
slipstick: 1
name: simple joint
planar: true
gravity: [0, 0]
bodies: [{name: body, mass: 1, velocity: [1e-3, 0], lock: [rotation]}]
joints: [{fixed: {between: [world, body], at: [0, 0]}}]
simulation: {duration: 1, scheme: {trapezoid: {locate: false, stabilize: false}}}
)yaml";

/// As in the paper: alpha = gamma = 1/2, h = 0.01, nothing located.
bool add_published_block(StudyRuns* bench) {
  const std::optional<Scene> scene =
      bench->load({"stick_slip_block.yaml", {}, [](Scene* s) { s->options.locate = false; }});
  if (!scene) return false;
  TwoVelocities velocities;
  PlotLine position{"", {}, {}, false, false, false};
  const int block = *scene->model.find_body("block");
  const auto look = [&](const Simulation& simulation, const StepReport*) {
    velocities.look(simulation, block);
    position.x.push_back(simulation.state().time);
    position.y.push_back(simulation.state().pose[block].position.x());
  };
  if (!bench->follow(*scene, "as published", EnergyRule::EveryStep, look)) return false;
  const auto add = [bench](const char* quantity, double reference, double ours, double tolerance) {
    bench->add(quantity, reference, ours, tolerance, FigureRule::Absolute, FigureSource::Computed);
  };
  add("x(10), m, as published", 2.9912529546, position.y.back(), 1e-9);
  add("|v(10)|, m/s, as published", 1.845754e-3, std::abs(velocities.v.y.back()), 1e-8);
  bench->add("weighted v(10), m/s, as published", 0, velocities.weighted.y.back(), 1e-12, FigureRule::Absolute,
             FigureSource::Paper);
  add("total variation of v, m/s, as published", 2.1576, velocities.variation, 1e-3);
  add("total variation of weighted v, m/s, as published", 0.27998, velocities.variation_weighted, 1e-4);
  bench->add_panel({"position (figure 9.1, left)", {"time, s", false, {}, {}}, {"x, m", false, {}, {}}, {position}});
  bench->add_panel(
      {"weighted velocity (right, top)", {"time, s", false, {}, {}}, {"v, m/s", false, {}, {}}, {velocities.weighted}});
  bench->add_panel({"velocity (right, bottom)", {"time, s", false, {}, {}}, {"v, m/s", false, {}, {}}, {velocities.v}});
  return true;
}

/// Ours: sticks and slips located; the exact motion is in closed form.
bool add_located_block(StudyRuns* bench) {
  constexpr std::array<double, 4> kSticks{0.338608184672, 3.532834608887, 6.674427262477, 9.816019916067};
  constexpr std::array<double, 3> kSlips{2.946346791224, 6.087939444814, 9.229532098403};
  std::vector<double> errors;
  for (const double h : {0.01, 0.005, 0.0025}) {
    const std::optional<Scene> scene =
        bench->load({"stick_slip_block.yaml", {}, [h](Scene* s) { s->options.step = h; }});
    if (!scene) return false;
    std::vector<double> sticks, slips;
    double end = 0;
    const auto look = [&](const Simulation& simulation, const StepReport* report) {
      end = position_of(simulation, "block").x();
      if (report == nullptr) return;
      for (const Event& event : simulation.events()) {
        if (event.kind == EventKind::Stick) sticks.push_back(event.time);
        if (event.kind == EventKind::Slip) slips.push_back(event.time);
      }
    };
    const std::string label = "located, h = " + as_power(h);
    if (!bench->follow(*scene, label, EnergyRule::EveryStep, look)) return false;
    errors.push_back(std::abs(end - 2.991302833115));
    if (h < 0.0025 || h > 0.0025) continue;
    bench->add("number of sticks, " + label, 4, static_cast<double>(sticks.size()), 0, FigureRule::Absolute,
               FigureSource::ClosedForm);
    bench->add("number of slips, " + label, 3, static_cast<double>(slips.size()), 0, FigureRule::Absolute,
               FigureSource::ClosedForm);
    for (std::size_t i = 0; i < std::min(sticks.size(), kSticks.size()); ++i)
      bench->add("sticks at, s, " + label, kSticks[i], sticks[i], 2 * h * h, FigureRule::Absolute,
                 FigureSource::ClosedForm);
    for (std::size_t i = 0; i < std::min(slips.size(), kSlips.size()); ++i)
      bench->add("slips at, s, " + label, kSlips[i], slips[i], 20 * h * h, FigureRule::Absolute,
                 FigureSource::ClosedForm);
  }
  for (std::size_t k = 1; k < errors.size(); ++k)
    bench->add("error of x(10): ratio when h is halved, located (" + std::to_string(k) + ")", 4,
               errors[k - 1] / errors[k], 0.4, FigureRule::Absolute, FigureSource::Theorem);
  return true;
}

}  // namespace

Result<Reproduction> reproduce_simple_joint(const std::string& scenes, const StudyMonitor& monitor) {
  StudyRuns bench({"simple-joint",
                   "Gavrea, Anitescu, Potra 2008",
                   "section 9.1",
                   "A body that a joint holds starts with a velocity of 1 mm/s by mistake. With alpha = 1/2 the "
                   "velocity changes sign for ever, and its total variation grows as 1/h; the weighted velocity is "
                   "zero, and the body stays.",
                   {},
                   {},
                   0,
                   0,
                   {}},
                  scenes, monitor);
  for (const double h : {0.01, 0.005, 0.0025}) {
    std::optional<Scene> scene = bench.parse(kSimpleJoint, "simple joint");
    if (!scene) return bench.finish();
    scene->options.step = h;
    // At its first step the event driver would take the wrong velocity for an impact and end it: this is a state on the
    // way, as the paper has it.
    scene->initial.step = 1;
    scene->initial.time = h;
    TwoVelocities velocities;
    double farthest = 0;
    const auto look = [&](const Simulation& simulation, const StepReport*) {
      velocities.look(simulation, 0);
      farthest = std::max(farthest, simulation.state().pose[0].position.norm());
    };
    const std::string label = "h = " + as_power(h);
    if (!bench.follow(*scene, label, EnergyRule::EveryStep, look)) return bench.finish();
    bench.add("total variation of v, m/s, " + label, 2e-3 / h, velocities.variation, 1e-9, FigureRule::Relative,
              FigureSource::Paper);
    bench.add("largest weighted v, m/s, " + label, 0, velocities.weighted_max, 1e-15, FigureRule::AtMost,
              FigureSource::Paper);
    bench.add("farthest from the joint, m, " + label, 0, farthest, 1e-15, FigureRule::AtMost, FigureSource::Paper);
    if (h != 0.01) continue;
    for (PlotLine* line : {&velocities.v, &velocities.weighted}) {
      line->x.resize(21);
      line->y.resize(21);
    }
    bench.add_panel({"the first twenty steps, h = 0.01",
                     {"time, s", false, {}, {}},
                     {"velocity, m/s", false, {}, {}},
                     {velocities.v, velocities.weighted}});
  }
  std::optional<Scene> scene = bench.parse(kSimpleJoint, "simple joint");
  if (!scene) return bench.finish();
  scene->options.step = scene->options.duration = 0.01;
  double speed = 0;
  const auto look = [&](const Simulation& simulation, const StepReport*) {
    speed = simulation.state().velocity[0].linear.norm();
  };
  if (bench.follow(*scene, "from the start", EnergyRule::EveryStep, look))
    bench.add("our default, whose first step is an impact: v after it, m/s", 0, speed, 1e-15, FigureRule::AtMost,
              FigureSource::ClosedForm);
  return bench.finish();
}

Result<Reproduction> reproduce_stick_slip(const std::string& scenes, const StudyMonitor& monitor) {
  StudyRuns bench({"stick-slip",
                   "Gavrea, Anitescu, Potra 2008",
                   "section 9.2, figure 9.1",
                   "A block on a rough table is pushed with 8 cos t newtons and slips for half a second at a time. "
                   "Once it sticks, v oscillates and the weighted velocity is zero. The paper shows curves; the "
                   "figures beside ours are a separate program's for the same method, and the exact motion's where "
                   "we locate the events.",
                   {},
                   {},
                   0,
                   0,
                   {}},
                  scenes, monitor);
  if (add_published_block(&bench)) add_located_block(&bench);
  return bench.finish();
}

}  // namespace slipstick
