// The numbers of all sensors of the present state (slipstick/sensor.h), and the readings that formulas use.
#pragma once

#include <slipstick/model.h>
#include <slipstick/queries.h>
#include <slipstick/simulation.h>
#include <slipstick/state.h>

#include <optional>
#include <span>
#include <vector>

#include "step/readings.h"

namespace slipstick {

class Sensors {
 public:
  explicit Sensors(const Model& model);  ///< keeps a reference
  Sensors(const Sensors&) = delete;
  Sensors& operator=(const Sensors&) = delete;

  /// Of a state that somebody gave: forces and integrals are as it remembers them.
  void restart(const Readings& readings, const State& state);
  /// After a step of length h from `before` to `state`, which gets what it is to remember.
  void update(const Readings& readings, std::span<const ContactForce> forces, const State& before, double h,
              State* state);

  std::span<const double> values() const { return values_; }
  /// What formulas see: those of the beginning of a step.
  std::span<const double> readings() const {
    return std::span<const double>(values_).first(static_cast<std::size_t>(model_.readings));
  }

 private:
  struct Now {  ///< what the numbers are made from
    const Readings& readings;
    std::span<const ContactForce> forces;
    const State& state;
    const State* before;
    double h;
  };
  void update_values(const Now& now, bool remembered, State* keeps);
  void update_value(const Sensor& sensor, const Now& now, double* out);
  void copy_to(int sensor);
  double calc_joint(const Sensor& sensor, const Now& now) const;
  Vec3 calc_body(const Sensor& sensor, const Now& now) const;
  Vec3 calc_contact(const Sensor& sensor, const Now& now) const;
  double calc_distance(const Sensor& sensor) const;
  double calc_ray(const Sensor& sensor, const State& state) const;

  const Model& model_;
  std::vector<double> values_;
  std::vector<std::vector<int>> copies_;  ///< per sensor: the readings that are one of its numbers
  std::optional<Queries> queries_;        ///< where a distance or a ray is asked for
};

}  // namespace slipstick
