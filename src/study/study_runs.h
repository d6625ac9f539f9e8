// What the experiments of `reproduce` share: reading scenes, following runs, collecting rows. The first thing that goes
// wrong is kept; what is asked for afterwards does nothing, so an experiment need not look at every answer.
#pragma once

#include <slipstick/app/reproduce.h>
#include <slipstick/scene.h>

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace slipstick {

/// What a run's energy has to do, E the total energy less the work of loads and prescribed motions.
enum class EnergyRule : std::uint8_t {
  /// E grows in no step: [Potra06] theorems 8.1 and 9.1, and [AnitescuPotra97] theorem 2.3 in the stronger form of its
  /// (2.20). For velocities without stabilization, and for plastic contacts with it (docs/studies.md).
  EveryStep,
  /// An impact of the scheme `stabilized` takes two steps, compression and restitution: E does not exceed what it was
  /// before the step or before the one before it.
  EveryImpact,
  /// Stabilized joints do work of their own; what contacts, friction and dampers do is never positive.
  Contacts,
  Free  ///< nothing is proved for this run
};

struct ScenePlan {
  std::string file;
  std::vector<std::pair<std::string, std::string>> set;
  std::function<void(Scene*)> change;
};

class StudyRuns {
 public:
  /// Sees every state; the report is null before the first step.
  using Look = std::function<void(const Simulation& simulation, const StepReport* report)>;

  StudyRuns(Reproduction header, std::string scenes, const StudyMonitor& monitor)
      : result_(std::move(header)), scenes_(std::move(scenes)), monitor_(monitor) {}

  std::optional<Scene> load(const ScenePlan& plan);
  std::optional<Scene> parse(const std::string& text, const std::string& name,
                             const std::vector<std::pair<std::string, std::string>>& set = {});
  /// Steps to the end of the scene; false if that could not be done.
  bool follow(const Scene& scene, const std::string& run, EnergyRule rule, const Look& look);

  /// One step, which may leave its problem and guess behind; null if it failed or the run is to end.
  const StepReport* step(const std::string& run, double share, Simulation* simulation, Problem* problem = nullptr,
                         Solution* guess = nullptr);

  void add(std::string quantity, double published, double ours, double tolerance, FigureRule rule, FigureSource source);
  void add_panel(Plot plot) { result_.panels.push_back(std::move(plot)); }
  /// Rows that count the steps against the rules of energy, and the result or the faults.
  Result<Reproduction> finish();

 private:
  void look_at_energy(const StepReport& report, EnergyRule rule, double scale, double* last);

  Reproduction result_;
  std::string scenes_;
  const StudyMonitor& monitor_;
  Faults faults_;
  std::array<long, 3> held_{}, broken_{};  ///< steps under each rule, and those that broke it
};

/// Position of a body's centre of mass.
Vec3 position_of(const Simulation& simulation, const char* body);
double energy_of(const Simulation& simulation);
/// "1e+06" as "1e6".
std::string as_power(double x);

Result<Reproduction> reproduce_pendulum(const std::string& scenes, const StudyMonitor& monitor);
Result<Reproduction> reproduce_carts(const std::string& scenes, const StudyMonitor& monitor);
Result<Reproduction> reproduce_ball(const std::string& scenes, const StudyMonitor& monitor);
Result<Reproduction> reproduce_cannonball(const std::string& scenes, const StudyMonitor& monitor);
Result<Reproduction> reproduce_simple_joint(const std::string& scenes, const StudyMonitor& monitor);
Result<Reproduction> reproduce_stick_slip(const std::string& scenes, const StudyMonitor& monitor);
Result<Reproduction> reproduce_painleve(const std::string& scenes, const StudyMonitor& monitor);

}  // namespace slipstick
