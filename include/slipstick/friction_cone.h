// Room: step. What contacts and joints can do to each other at one configuration: can they jam, and are joints
// redundant?
#pragma once

#include <slipstick/model.h>
#include <slipstick/state.h>

#include <optional>
#include <span>
#include <vector>

namespace slipstick {

/// The total friction cone: all generalised forces (N and N m, about the centres of mass) that contacts within their
/// friction cones and rigid joints can exert together. It is pointed when no forces but zero cancel [Potra06, section
/// 6].
struct FrictionCone {
  int joint_rows = 0;              ///< of rigid joints
  std::optional<int> joint_rank;   ///< of them; nothing for a model too large to look at
  std::vector<int> tied_joints;    ///< joints whose forces are not unique: they can pull at each other
  std::optional<bool> jams;        ///< contact forces can cancel; nothing: too large, or not decided
  std::vector<int> jamming;        ///< the contacts that can take part in that, as indices
  std::optional<double> strength;  ///< c_FC where nothing jams: sum of normal forces <= c_FC |the force that they make|
};

FrictionCone calc_friction_cone(const Model& model, std::span<const Pose> pose, std::span<const Contact> contacts);

}  // namespace slipstick
