// Room: step. Is a run still physics? Energy that nothing paid for, open joints, overlap and speeds, each against a
// limit of the scene's own scale (docs/certificate.md). A certificate judges one step; this judges what the steps add
// up to.
#pragma once

#include <slipstick/simulation.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace slipstick {

enum class HealthKind : std::uint8_t { Energy, Joint, Overlap, Speed, Place };
inline constexpr int kHealthKinds = 5;
std::string_view name_of(HealthKind kind);  ///< "energy", "joint", "overlap", "speed", "place"

/// What is large in a world, and by that what is nothing in it (step/world_scale.h).
struct WorldScale {
  double extent = 1;           ///< m: of the scene; for bodies without shapes
  double least_size = 0;       ///< m: of its smallest body
  double time = 0;             ///< s, at play: how long the run is to last
  double weight_energy = 0;    ///< J: of every body's weight times its size
  double crossing_energy = 0;  ///< J: of every body at the speed that takes it across itself in the time at play

  double size(const Body& body) const { return body.reach_radius > 0 ? body.reach_radius : extent; }  ///< m
  double crossing_speed(const Body& body) const { return time > 0 ? size(body) / time : 0; }          ///< m/s
};

/// The first time that a limit was passed.
struct HealthAlarm {
  HealthKind kind = HealthKind::Energy;
  std::int64_t step = 0;
  double time = 0;   ///< s
  double value = 0;  ///< J, m or rad, m, m/s
  double limit = 0;  ///< in the same unit
  std::string what;  ///< who: a joint, a body or two; empty for energy
  std::string text() const;
};

/// Follows a run; one alarm per kind, raised once.
class HealthMonitor {
 public:
  /// The state that the run begins with counts: a starting overlap or an open joint is an alarm at once.
  explicit HealthMonitor(const Simulation& simulation);

  /// After each step that did not fail.
  void update(const Simulation& simulation, const StepReport& report);

  std::span<const HealthAlarm> alarms() const { return alarms_; }
  /// So much energy has appeared, or a joint is so far open, that what follows means nothing.
  bool beyond_repair() const { return beyond_repair_; }
  /// J: the most that has appeared without anything to pay for it, over the lowest that the account stood at before.
  double energy_created() const { return energy_created_; }

 private:
  void watch_energy(const Simulation& simulation, const EnergyLedger& ledger);
  void watch_joints(const Simulation& simulation);
  void watch_overlap(const Simulation& simulation, double part);
  void watch_speed(const Simulation& simulation);
  bool has(HealthKind kind) const { return raised_[static_cast<std::size_t>(kind)]; }
  void raise(const Simulation& simulation, HealthKind kind, double value, double limit, std::string what);
  void watch_places(const Simulation& simulation);
  double calc_size(const Model& model, int body_a, int body_b) const;

  std::vector<HealthAlarm> alarms_;
  std::array<bool, kHealthKinds> raised_{};
  bool beyond_repair_ = false;
  WorldScale scale_;
  // Energy, J. The account is E - E(start) less the work of loads, motors and prescribed motions: it may only fall, but
  // for the steps of an impact with restitution, which takes in one step and gives back in the next ones.
  double account_ = 0;
  std::array<double, 4> recent_{};               ///< the last accounts
  double lowest_ = 0;                            ///< the lowest of max(recent_)
  double potential_least_ = 0, stored_max_ = 0;  ///< what was in springs and heights beyond the least there has been
  double kinetic_start_ = 0, potential_start_ = 0, kinetic_max_ = 0, released_max_ = 0, paid_ = 0, paid_max_ = 0;
  double energy_created_ = 0;
  double speed_start_ = 0;  ///< m/s, the fastest at the start
};

}  // namespace slipstick
