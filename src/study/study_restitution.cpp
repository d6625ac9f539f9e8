// [Anitescu03]: fixed steps with restitution, one ball and sixty-six disks.
#include "study/study_runs.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "report/print_text.h"

namespace slipstick {
namespace {

constexpr double kCannonEnergy = 13156.7161586855;  ///< 9.81 (198 + 660 sqrt 3) J

struct CannonRun {
  std::vector<double> time, energy, penetration, active, loaded, milliseconds;
  long growths = 0;         ///< steps in which energy grows
  double growth_max = 0;    ///< J in one step
  double contacts_max = 0;  ///< largest growth of the number of active contacts in one step
};

/// Contacts in the problem and those that bear load, and the growth of the first number against the step before.
void look_at_contacts(const Simulation& simulation, const StepReport* report, CannonRun* run) {
  double loaded = 0;
  for (const ContactForce& each : simulation.contact_forces()) loaded += each.force.norm() > 1e-9;
  run->loaded.push_back(loaded);
  const double active = report ? report->contacts : static_cast<double>(simulation.contacts().size());
  if (run->active.size() > 1) run->contacts_max = std::max(run->contacts_max, active - run->active.back());
  run->active.push_back(active);
}

std::optional<CannonRun> run_cannonball(const std::string& restitution, EnergyRule rule, StudyRuns* bench) {
  const std::optional<Scene> scene = bench->load(
      {"cannonball.yaml", {{"e", restitution}}, [](Scene* s) { s->options.impact_stage = false; }});  // as published
  if (!scene) return std::nullopt;
  CannonRun run;
  const auto look = [&run](const Simulation& simulation, const StepReport* report) {
    run.time.push_back(simulation.state().time);
    run.energy.push_back(energy_of(simulation));
    run.penetration.push_back(report ? report->certificate.penetration : 0);
    run.milliseconds.push_back(report ? 1e3 * report->seconds.solve : 0);
    look_at_contacts(simulation, report, &run);
    if (report == nullptr) return;
    const double growth = report->certificate.ledger.change;
    run.growths += growth > 1e-9 * kCannonEnergy;
    run.growth_max = std::max(run.growth_max, growth);
  };
  if (!bench->follow(*scene, "e = " + restitution, rule, look)) return std::nullopt;
  return run;
}

double energy_at(const CannonRun& run, double t) { return run.energy[static_cast<std::size_t>(std::lround(t / 0.05))]; }

void add_cannon_rows(const CannonRun& run, StudyRuns* bench) {
  struct Early {
    double time, energy, tolerance;
  };
  bench->add("energy at the start, J", kCannonEnergy, run.energy[0], 1e-9, FigureRule::Relative,
             FigureSource::ClosedForm);
  for (const Early& early : std::initializer_list<Early>{
           {0.05, 13155.9215, 1e-3}, {0.5, 13132.35, 0.05}, {1, 13069.46, 0.05}, {2, 12820.1, 1}})
    bench->add("energy at t = " + as_number(early.time) + " s, J", early.energy, energy_at(run, early.time),
               early.tolerance, FigureRule::Absolute, FigureSource::Computed);
  bench->add("energy at the end / at the start", 8800 / kCannonEnergy, run.energy.back() / run.energy[0], 0,
             FigureRule::AtMost, FigureSource::Computed);
  bench->add("active contacts: largest growth in a step (paper: 7)", 12, run.contacts_max, 0, FigureRule::AtMost,
             FigureSource::Computed);
  bench->add("deepest penetration, m", 0.08, *std::max_element(run.penetration.begin(), run.penetration.end()), 0,
             FigureRule::AtMost, FigureSource::Paper);
  bench->add("steps in which energy grows, e = 0.4", 8, static_cast<double>(run.growths), 0, FigureRule::AtMost,
             FigureSource::Computed);
  bench->add("most that it grows in one of them, J", 5.4, run.growth_max, 0, FigureRule::AtMost,
             FigureSource::Computed);
}

}  // namespace

Result<Reproduction> reproduce_ball(const std::string& scenes, const StudyMonitor& monitor) {
  StudyRuns bench({"ball-and-wall",
                   "Anitescu 2003",
                   "figure 1",
                   "A ball flies at 1 m/s into a wall with e = 1 and must leave it at 1 m/s, whatever the step, "
                   "though the scheme never looks for the instant of the impact.",
                   {},
                   {},
                   0,
                   0,
                   {}},
                  scenes, monitor);
  Plot plot{"velocity", {"time, s", false, {}, {}}, {"velocity, m/s", false, {}, {}}, {}};
  for (const char* step : {"0.3", "0.07", "0.03", "0.017", "0.007", "0.0013"}) {
    const double h = std::stod(step);
    const std::optional<Scene> scene = bench.load({"ball_and_wall.yaml", {}, [h](Scene* s) {
                                                     s->options.scheme = "stabilized";
                                                     s->options.impact_stage = false;
                                                     s->options.step = h;
                                                   }});
    if (!scene) return bench.finish();
    PlotLine line{std::string("h = ") + step, {}, {}, true, false, false};
    const int ball = *scene->model.find_body("ball");
    const auto look = [&](const Simulation& simulation, const StepReport*) {
      line.x.push_back(simulation.state().time);
      line.y.push_back(simulation.state().velocity[ball].linear.x());
    };
    if (!bench.follow(*scene, std::string("h = ") + step, EnergyRule::EveryImpact, look)) return bench.finish();
    bench.add(std::string("velocity after the impact, m/s, h = ") + step, -1, line.y.back(), 1e-9, FigureRule::Relative,
              FigureSource::Paper);
    plot.lines.push_back(std::move(line));
  }
  bench.add_panel(std::move(plot));
  return bench.finish();
}

Result<Reproduction> reproduce_cannonball(const std::string& scenes, const StudyMonitor& monitor) {
  StudyRuns bench({"cannonball",
                   "Anitescu 2003",
                   "figures 2 and 3",
                   "Sixty-six disks, stacked like cannonballs between slanted walls, collapse: 400 steps of 0.05 s, "
                   "no events located. The paper reports 8 cm of penetration for disks of 3 m and an energy that "
                   "decreases steadily; with e = 0 it proves that it never grows. Early energies against a separate "
                   "program for the same method (later the motion is chaotic).",
                   {},
                   {},
                   0,
                   0,
                   {}},
                  scenes, monitor);
  const std::optional<CannonRun> run = run_cannonball("0.4", EnergyRule::Free, &bench);
  const std::optional<CannonRun> plastic = run_cannonball("0", EnergyRule::EveryStep, &bench);
  if (!run || !plastic) return bench.finish();
  add_cannon_rows(*run, &bench);
  bench.add("deepest penetration, m, e = 0", 0.08,
            *std::max_element(plastic->penetration.begin(), plastic->penetration.end()), 0, FigureRule::AtMost,
            FigureSource::Paper);
  const PlotAxis time{"time, s", false, {}, {}};
  bench.add_panel({"contacts (figure 2)",
                   time,
                   {"number", false, {}, {}},
                   {{"within reach", run->time, run->active, false, false, false},
                    {"bearing load", run->time, run->loaded, false, false, false}}});
  bench.add_panel({"time to solve (figure 2)",
                   time,
                   {"ms per step", false, {}, {}},
                   {{"", run->time, run->milliseconds, false, false, false}}});
  bench.add_panel({"total energy (figure 3)",
                   time,
                   {"energy, J", false, {}, {}},
                   {{"e = 0.4", run->time, run->energy, false, false, false},
                    {"e = 0", plastic->time, plastic->energy, false, false, false}}});
  bench.add_panel({"penetration (figure 3)",
                   time,
                   {"depth, m", true, {}, {}},
                   {{"e = 0.4", run->time, run->penetration, false, false, false},
                    {"e = 0", plastic->time, plastic->penetration, false, false, false}}});
  return bench.finish();
}

}  // namespace slipstick
