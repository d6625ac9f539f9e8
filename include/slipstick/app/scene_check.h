// Room: study. What can be said about a scene before it runs, or at one moment of its run.
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

/// A body whose load is held by contacts however large it grows (friction_cone.h), and who carries it.
struct HeldBody {
  std::string body;
  std::vector<std::string> by;
};

struct SceneCheck {
  std::string scene, name;
  double time = 0;      ///< s: what is said of contacts and joints is said of this moment
  int steps = 0;        ///< to get there
  int uncertified = 0;  ///< of these
  std::string failure;  ///< why the run did not get there; nothing else is to be believed then
  int bodies = 0, dynamic = 0, fixed = 0, kinematic = 0;
  int dof = 0, shapes = 0, joints = 0, springs = 0, loads = 0;

  std::string lightest, heaviest;  ///< dynamic bodies; empty if there are none
  double mass_min = 0, mass_max = 0, mass_total = 0;
  double mass_ratio = 1;  ///< heaviest to lightest

  int contacts = 0;               ///< gaps within the reach of one step included
  std::vector<Overlap> overlaps;  ///< deepest first

  double joint_error = 0;                ///< m or rad
  bool joints_open = false;              ///< by more than rounding
  Assembly assembly;                     ///< of joints that start open; without its state
  std::string assembly_body;             ///< the one that it moves the farthest
  int joint_rows = 0;                    ///< rigid rows of joints
  std::optional<int> redundant_rows;     ///< joint_rows minus their rank; nothing for a system too large to look at
  std::vector<std::string> tied_joints;  ///< joints that can pull at each other: their forces are not unique
  int touching = 0;                      ///< contacts that touch
  std::optional<bool> can_jam;           ///< forces within the friction cones can cancel; nothing: too large to look at
  std::vector<Jam> jams;                 ///< which contacts, by pair of bodies
  std::optional<double> cone_strength;   ///< c_FC where nothing jams (friction_cone.h)
  std::vector<HeldBody> held;            ///< after the start: bodies that no load of the present direction can move
  double step = 0;                       ///< the scene's
  std::optional<double> step_advised;    ///< upper bound; nothing if nothing bounds it
  std::string step_reason;               ///< what bounds it
  std::vector<std::string> remarks;      ///< what deserves a look, one line each, with a remedy
};

/// `at`: the moment to look at, s; the scene runs until then, to a whole number of steps. 0: the start.
SceneCheck check_scene(const Scene& scene, double at = 0);
std::string make_json(const SceneCheck& check);
/// For a person.
std::string make_text(const SceneCheck& check, bool colour);

}  // namespace slipstick
