// The experiments. Published numbers are data here, with their source.
#include <slipstick/reproduce.h>
#include <slipstick/scene.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "io/study_spook.h"

namespace slipstick {
namespace {

struct ScenePlan {
  std::string file;
  std::vector<std::pair<std::string, std::string>> set;
  std::function<void(SimulationOptions*)> change;
};

Result<Scene> read_scene(const std::string& folder, const ScenePlan& plan) {
  SceneLoadOptions options;
  options.set = plan.set;
  Result<Scene> scene = load_scene(folder + "/" + plan.file, options);
  if (scene && plan.change) plan.change(&scene->simulation);
  return scene;
}

/// Steps to the end of the scene; `look` sees every state, the first one too.
Faults follow_scene(const Scene& scene, const std::function<void(const Simulation&)>& look, long* uncertified) {
  Simulation simulation(scene.model, scene.initial, scene.simulation);
  look(simulation);
  const long steps = static_cast<long>(std::ceil(scene.simulation.duration / scene.simulation.step - 1e-6));
  for (long k = 0; k < steps; ++k) {
    const StepReport& report = simulation.step();
    if (report.failed)
      return {Fault{{scene.path, 0, 0},
                    "failed at t = " + std::to_string(simulation.state().time) + " s: " + std::string(report.note)}};
    *uncertified += !report.certified;
    look(simulation);
  }
  return {};
}

Vec3 position_of(const Simulation& simulation, const char* body) {
  return simulation.state().pose[*simulation.model().find_body(body)].position;
}

// ---------------------------------------------------------------- double pendulum

/// [Potra06] table 10.1: step 2^-k, error of the final positions, |errors of both joints| (squared lengths).
struct PendulumLine {
  int k;
  std::array<double, 3> published;
};
constexpr std::array<PendulumLine, 7> kPendulumTable{{{5, {2.38e-3, 1.27e-3, 3.18e-3}},
                                                      {6, {6.14e-4, 3.14e-4, 8.29e-4}},
                                                      {7, {1.54e-4, 7.82e-5, 2.14e-4}},
                                                      {8, {3.95e-5, 1.95e-5, 5.48e-5}},
                                                      {9, {1.01e-5, 4.88e-6, 1.37e-5}},
                                                      {10, {2.42e-6, 1.22e-6, 3.44e-6}},
                                                      {11, {6.15e-7, 3.05e-7, 8.60e-7}}}};
constexpr std::array<const char*, 3> kPendulumNames{"position error", "joint error 1", "joint error 2"};

/// Where the masses really are at t = 2.5: the equations of motion integrated from impact to impact, to 12 digits. (The
/// paper takes its own method with a step of 2^-20 for it.)
const std::array<Vec3, 2> kPendulumEnd{Vec3(0.021962117695, -0.999758803605, 0),
                                       Vec3(0.023769486774, -1.999757170312, 0)};

Result<std::array<double, 3>> calc_pendulum_errors(const Scene& scene, long* uncertified) {
  std::array<double, 3> errors{};
  const Faults faults = follow_scene(
      scene,
      [&errors](const Simulation& simulation) {
        const Vec3 p = position_of(simulation, "mass_1"), q = position_of(simulation, "mass_2");
        errors = {std::hypot((p - kPendulumEnd[0]).norm(), (q - kPendulumEnd[1]).norm()), std::abs(p.squaredNorm() - 1),
                  std::abs((p - q).squaredNorm() - 1)};
      },
      uncertified);
  if (!faults.empty()) return faults;
  return errors;
}

Result<Reproduction> reproduce_pendulum(const std::string& scenes) {
  Reproduction result{"double-pendulum",
                      "Potra, Anitescu, Gavrea, Trinkle 2006, table 10.1",
                      "Two masses on rods hit a wall five times. Errors at t = 2.5 s fall by four with each halving of "
                      "the step. Without stabilization and with the state at an impact from a cubic, as in the paper.",
                      {},
                      {},
                      0};
  Plot plot{"double pendulum: errors at t = 2.5 s", {"step, s", true, {}, {}}, {"error", true, {}, {}}, {}};
  for (const char* name : kPendulumNames)
    plot.lines.push_back({std::string(name) + ", ours", {}, {}, false, true, false});
  for (const char* name : kPendulumNames)
    plot.lines.push_back({std::string(name) + ", published", {}, {}, false, false, true});
  for (const PendulumLine& line : kPendulumTable) {
    const double h = std::ldexp(1.0, -line.k);
    const Result<Scene> scene = read_scene(scenes, {"double_pendulum.yaml", {}, [h](SimulationOptions* options) {
                                                      options->scheme = "trapezoid";
                                                      options->stabilize = false;
                                                      options->event_state = EventState::Hermite;
                                                      options->step = h;
                                                    }});
    if (!scene) return scene.faults();
    const Result<std::array<double, 3>> errors = calc_pendulum_errors(*scene, &result.uncertified);
    if (!errors) return errors.faults();
    for (std::size_t i = 0; i < 3; ++i) {
      result.figures.push_back({result.name, std::string(kPendulumNames[i]) + ", h = 2^-" + std::to_string(line.k),
                                line.published[i], (*errors)[i], 0.01});
      plot.lines[i].x.push_back(h);
      plot.lines[i].y.push_back((*errors)[i]);
      plot.lines[i + 3].x.push_back(h);
      plot.lines[i + 3].y.push_back(line.published[i]);
    }
  }
  result.panels.push_back(std::move(plot));
  return result;
}

// ---------------------------------------------------------------- ball and wall

/// [Anitescu03] section on restitution, figure 1: the corrected scheme gives the rebound speed e for every step.
Result<Reproduction> reproduce_ball(const std::string& scenes) {
  Reproduction result{"ball-and-wall",
                      "Anitescu 2003, figure 1",
                      "A ball flies at 1 m/s into a wall with e = 1 and must leave it at 1 m/s, whatever the step, "
                      "though the scheme never looks for the instant of the impact.",
                      {},
                      {},
                      0};
  Plot plot{"ball and wall: velocity", {"time, s", false, {}, {}}, {"velocity, m/s", false, {}, {}}, {}};
  for (const char* step : {"0.3", "0.07", "0.03", "0.017", "0.007", "0.0013"}) {
    const double h = std::stod(step);
    const Result<Scene> scene = read_scene(scenes, {"ball_and_wall.yaml", {}, [h](SimulationOptions* options) {
                                                      options->scheme = "stabilized";
                                                      options->step = h;
                                                    }});
    if (!scene) return scene.faults();
    PlotLine line{std::string("h = ") + step, {}, {}, true, false, false};
    const int ball = *scene->model.find_body("ball");
    const Faults faults = follow_scene(
        *scene,
        [&](const Simulation& simulation) {
          line.x.push_back(simulation.state().time);
          line.y.push_back(simulation.state().velocity[ball].linear.x());
        },
        &result.uncertified);
    if (!faults.empty()) return faults;
    result.figures.push_back(
        {result.name, std::string("velocity after the impact, m/s, h = ") + step, -1, line.y.back(), 1e-9});
    plot.lines.push_back(std::move(line));
  }
  result.panels.push_back(std::move(plot));
  return result;
}

struct Experiment {
  const char* name;
  Result<Reproduction> (*run)(const std::string& scenes);
};
constexpr std::array kExperiments{
    Experiment{"double-pendulum", reproduce_pendulum},
    Experiment{"ball-and-wall", reproduce_ball},
    Experiment{"spook-oscillator", reproduce_spook_oscillator},
    Experiment{"spook-pendulum", reproduce_spook_pendulum},
    Experiment{"spook-ball", reproduce_spook_ball},
    Experiment{"spook-slider-crank", reproduce_spook_crank},
    Experiment{"spook-logs", reproduce_spook_logs},
    Experiment{"spook-walls", reproduce_spook_walls},
    Experiment{"spook-squeezed-box", reproduce_spook_box},
};

}  // namespace

bool ReproducedFigure::ok() const { return std::abs(ratio() - 1) <= tolerance; }

std::vector<std::string> experiment_names() {
  std::vector<std::string> names;
  for (const Experiment& experiment : kExperiments) names.emplace_back(experiment.name);
  return names;
}

Result<Reproduction> reproduce_experiment(const std::string& name, const std::string& scenes) {
  for (const Experiment& experiment : kExperiments)
    if (name == experiment.name) return experiment.run(scenes);
  return Fault{{}, "no experiment is called '" + name + "'"};
}

}  // namespace slipstick
