// Room: step. What contacts and joints can do to each other at one configuration: can they jam, do they hold a load
// however large it is, and are joints redundant?
#pragma once

#include <slipstick/model.h>
#include <slipstick/readings.h>
#include <slipstick/state.h>

#include <optional>
#include <span>
#include <vector>

namespace slipstick {

/// The total friction cone: all generalised forces that contacts within their friction cones and rigid joints can exert
/// together, in N; moments, about the centres of mass, count as forces at the reach of their body. It is pointed when
/// no forces but zero cancel [Potra06, section 6].
struct FrictionCone {
  int joint_rows = 0;              ///< of rigid joints
  std::optional<int> joint_rank;   ///< of them; nothing for a model too large to look at
  std::vector<int> tied_joints;    ///< joints whose forces are not unique: they can pull at each other
  std::optional<bool> jams;        ///< contact forces can cancel; nothing: too large, or not decided
  std::vector<int> jamming;        ///< the contacts that can take part in that, as indices
  std::optional<double> strength;  ///< c_FC where nothing jams: sum of normal forces <= c_FC |the force that they make|
};

FrictionCone calc_friction_cone(const Model& model, std::span<const Pose> pose, std::span<const Contact> contacts);

/// Contacts of shapes whose gap is at most this share of the smaller body, whether a step could close more or not.
std::vector<Contact> find_touching(const Model& model, const State& state, double share);

/// A load that contacts within their friction cones and rigid joints balance by themselves: as large as it may become,
/// it moves nothing. The body is jammed, or it sits where it is pressed to.
struct HeldLoad {
  int body = 0;
  std::vector<int> contacts;  ///< that carry it, as indices
};
/// `load`: of each body, as Simulation::body_forces has it; each body's by itself. Those that joints hold alone are
/// left out. Nothing for a model too large to look at.
std::optional<std::vector<HeldLoad>> find_held_loads(const Model& model, std::span<const Pose> pose,
                                                     std::span<const Contact> contacts, std::span<const Wrench> load);

}  // namespace slipstick
