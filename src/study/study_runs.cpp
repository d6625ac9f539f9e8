#include "study/study_runs.h"

#include <algorithm>
#include <cmath>

#include "report/print_text.h"

namespace slipstick {
namespace {

/// What rounding may add to the energy in one step, in units of the larger of 1 J and the run's energy at the start.
constexpr double kEnergyRounding = 1e-11;

constexpr std::array<const char*, 3> kEnergyRows{"energy inequality: steps that break it",
                                                 "energy inequality over an impact: steps that break it",
                                                 "energy from contacts, stabilized joints: steps with some"};

}  // namespace

Vec3 position_of(const Simulation& simulation, const char* body) {
  return simulation.state().pose[*simulation.model().find_body(body)].position;
}

double energy_of(const Simulation& simulation) {
  const EnergySplit energy = simulation.energy();
  return energy.kinetic + energy.potential;
}

std::string as_power(double x) {
  std::string text = print_text("%g", x);
  for (const char* sign : {"e+0", "e+"})
    if (const std::size_t at = text.find(sign); at != std::string::npos)
      text.replace(at, std::string(sign).size(), "e");
  if (const std::size_t at = text.find("e-0"); at != std::string::npos) text.replace(at, 3, "e-");
  return text;
}

std::optional<Scene> StudyRuns::load(const ScenePlan& plan) {
  if (!faults_.empty()) return std::nullopt;
  SceneLoadOptions options;
  options.set = plan.set;
  Result<Scene> scene = load_scene(scenes_ + "/" + plan.file, options);
  if (!scene) {
    faults_ = scene.faults();
    return std::nullopt;
  }
  scene->options.effort = Effort::Exact;  // figures of papers are held against every digit, whatever a step costs
  if (plan.change) plan.change(&scene.value());
  return std::move(scene).value();
}

std::optional<Scene> StudyRuns::parse(const std::string& text, const std::string& name,
                                      const std::vector<std::pair<std::string, std::string>>& set) {
  if (!faults_.empty()) return std::nullopt;
  SceneLoadOptions options;
  options.set = set;
  Result<Scene> scene = parse_scene(text, name, options);
  if (!scene) {
    faults_ = scene.faults();
    return std::nullopt;
  }
  scene->options.effort = Effort::Exact;
  return std::move(scene).value();
}

void StudyRuns::look_at_energy(const StepReport& report, EnergyRule rule, double scale, double* last) {
  const EnergyLedger& ledger = report.certificate.ledger;
  // What gravity does until a landing, and overlap taken away, is no energy of the step's (docs/certificate.md).
  const double growth = ledger.change - ledger.load - ledger.kinematic - ledger.correction;
  double excess = growth;
  if (rule == EnergyRule::EveryImpact) excess = growth + std::min(0.0, *last);
  if (rule == EnergyRule::Contacts) excess = ledger.damping + ledger.friction + ledger.impact;
  *last = growth;
  if (rule == EnergyRule::Free) return;
  ++held_[static_cast<std::size_t>(rule)];
  broken_[static_cast<std::size_t>(rule)] += excess > kEnergyRounding * scale;
}

const StepReport* StudyRuns::step(const std::string& run, double share, Simulation* simulation, Problem* problem,
                                  Solution* guess) {
  const StepReport& report = problem != nullptr ? simulation->step_and_keep(problem, guess) : simulation->step();
  if (report.failed) {
    result_.failure =
        run + ": failed at t = " + as_number(simulation->state().time) + " s: " + std::string(report.note);
    return nullptr;
  }
  ++result_.steps;
  result_.uncertified += !report.certified;
  if (!monitor_ || monitor_(result_.name + ", " + run, share)) return &report;
  faults_ = {Fault{{}, "interrupted"}};
  return nullptr;
}

bool StudyRuns::follow(const Scene& scene, const std::string& run, EnergyRule rule, const Look& look) {
  if (!faults_.empty() || !result_.failure.empty()) return false;
  Simulation simulation(scene.model, scene.initial, scene.options);
  look(simulation, nullptr);
  const double scale = std::max(1.0, std::abs(energy_of(simulation)));
  const long steps = calc_step_count(scene.options);
  double last_growth = 0;
  for (long k = 0; k < steps; ++k) {
    const StepReport* report = step(run, static_cast<double>(k + 1) / static_cast<double>(steps), &simulation);
    if (report == nullptr) return false;
    look_at_energy(*report, rule, scale, &last_growth);
    look(simulation, report);
  }
  return true;
}

void StudyRuns::add(std::string quantity, double published, double ours, double tolerance, FigureRule rule,
                    FigureSource source) {
  result_.figures.push_back({result_.name, std::move(quantity), published, ours, tolerance, rule, source});
}

Result<Reproduction> StudyRuns::finish() {
  if (!faults_.empty()) return faults_;
  for (std::size_t i = 0; i < kEnergyRows.size(); ++i)
    if (held_[i] > 0)
      add(kEnergyRows[i] + (" (of " + std::to_string(held_[i]) + ")"), 0, static_cast<double>(broken_[i]), 0,
          FigureRule::AtMost, FigureSource::Theorem);
  return std::move(result_);
}

}  // namespace slipstick
