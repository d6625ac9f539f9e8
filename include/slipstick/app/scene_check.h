// Room: study. What can be said about a scene before it runs.
#pragma once

#include <slipstick/assembly.h>
#include <slipstick/scene.h>

#include <optional>
#include <string>
#include <vector>

namespace slipstick {

/// Two bodies that start inside each other, at their deepest point.
struct Overlap {
  std::string a, b;
  double depth = 0;  ///< m
};

/// Two bodies whose contacts can take part in forces that cancel: they can jam.
struct Jam {
  std::string a, b;
  int contacts = 0;
};

struct SceneCheck {
  std::string scene, name;
  int bodies = 0, dynamic = 0, fixed = 0, kinematic = 0;
  int dof = 0, shapes = 0, joints = 0, springs = 0, loads = 0;

  std::string lightest, heaviest;  ///< dynamic bodies; empty if there are none
  double mass_min = 0, mass_max = 0, mass_total = 0;
  double mass_ratio = 1;  ///< heaviest to lightest

  int contacts = 0;               ///< at the start, gaps within the reach of one step included
  std::vector<Overlap> overlaps;  ///< deepest first

  double joint_error = 0;                ///< at the start, m or rad
  Assembly assembly;                     ///< of joints that start open; without its state
  std::string assembly_body;             ///< the one that it moves the farthest
  int joint_rows = 0;                    ///< rigid rows of joints
  std::optional<int> redundant_rows;     ///< joint_rows minus their rank; nothing for a system too large to look at
  std::vector<std::string> tied_joints;  ///< joints that can pull at each other: their forces are not unique
  int touching = 0;                      ///< contacts that touch at the start
  std::optional<bool> can_jam;           ///< forces within the friction cones can cancel; nothing: too large to look at
  std::vector<Jam> jams;                 ///< which contacts, by pair of bodies
  std::optional<double> cone_strength;   ///< c_FC where nothing jams (friction_cone.h)
  double step = 0;                       ///< the scene's
  std::optional<double> step_advised;    ///< upper bound; nothing if nothing bounds it
  std::string step_reason;               ///< what bounds it
  std::vector<std::string> remarks;      ///< what deserves a look, one line each, with a remedy
};

SceneCheck check_scene(const Scene& scene);
std::string make_json(const SceneCheck& check);
/// For a person.
std::string make_text(const SceneCheck& check, bool colour);

}  // namespace slipstick
