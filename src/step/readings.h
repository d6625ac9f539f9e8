// What the last step did, for those who ask (slipstick/readings.h).
#pragma once

#include <slipstick/model.h>
#include <slipstick/readings.h>
#include <slipstick/state.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "step/impulses.h"

namespace slipstick {

class Readings {
 public:
  explicit Readings(const Model& model);  ///< keeps a reference
  Readings(const Readings&) = delete;
  Readings& operator=(const Readings&) = delete;

  /// After a step of length h to `state`; no forces where `impulses` is null.
  void update(const State& state, const StepImpulses* impulses, double h);
  /// The same of joints and springs alone, after bodies were moved: what acted on bodies is what it was.
  void update_joints(const State& state, const StepImpulses* impulses, double h);

  std::span<const JointReading> joints() const { return joints_; }
  std::span<const SpringReading> springs() const { return springs_; }
  std::span<const BodyForces> bodies() const { return bodies_; }
  const JointReading& joint(int index) const;
  const JointReading& joint(std::string_view name) const;

 private:
  struct Source {
    int axis = -1, idle = -1;  ///< one of the two
  };
  void update_axis(const State& state, const StepImpulses* impulses, double h, std::size_t k);

  const Model& model_;
  std::vector<std::pair<std::string, int>> names_;  ///< sorted
  std::vector<Source> sources_;                     ///< beside axes_
  std::vector<AxisReading> axes_;                   ///< joint by joint
  std::vector<int> main_;                           ///< per joint: index into axes_, -1: none
  std::vector<JointReading> joints_;
  std::vector<SpringReading> springs_;
  std::vector<BodyForces> bodies_;
  JointReading none_;
};

}  // namespace slipstick
