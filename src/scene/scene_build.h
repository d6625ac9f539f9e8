// What the readers of a scene's sections share, and the sections.
#pragma once

#include <slipstick/model.h>
#include <slipstick/scene.h>

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "scene/scene_expand.h"
#include "scene/scene_item.h"

namespace slipstick {

/// Where a piece of the description comes from, so that a fault of `compile` can point at the file.
struct ScenePlace {
  const SceneNode* node = nullptr;
  SceneMapPtr map;    ///< its keys; may be null
  bool sound = true;  ///< nothing was wrong while it was read
  int offset = 0;     ///< columns to the right of the node: a name within a formula
  /// Where a member of the description stands that has no key of its own name; null: nowhere, the item has a default.
  std::vector<std::pair<std::string, const SceneNode*>> members;

  void add_member(std::string member, const SceneNode* at) { members.emplace_back(std::move(member), at); }
};

struct SceneBuild {
  SceneBuild(SceneFaults* faults, SceneScope* scope, int max_bodies);

  SceneReading reading;
  SceneExpander expander;
  std::deque<ScenePlace> places;  ///< stay where they are: a formula adds places while its item notes its own
  std::string prefix;             ///< of the names of the file that is being read
  ModelDescription description;
  std::unordered_map<std::string, std::size_t> body_index;  ///< of the bodies read so far, by full name
  SceneBudget bodies, shapes, joints, forces, pairs, sensors;
  bool names_missing = false;  ///< a fault hides names of bodies or materials: an unknown one proves nothing

  SourceTag add_place(const SceneNode& node, SceneMapPtr map);
  /// The full name of a body that the present file calls `name`.
  std::string full_name(const std::string& name) const { return name == "world" ? name : prefix + name; }
  /// `between: [a, b]`: two names of bodies (with the prefix) or materials.
  bool read_between(const SceneItem& item, bool of_bodies, std::string* a, std::string* b, SourceTag tag);
  /// The place among the description's readings of one that a formula at `node` asks for.
  std::variant<int, ExpressionFault> add_reading(const SceneNode& node, int offset, const ReadingRequest& request);
  /// Reads each item of a list, `like` and `repeat` written out. False and a fault if not all could be visited.
  bool for_each_item(const SceneNode& list, std::string_view what, SceneBudget* budget,
                     const std::function<void(const SceneMapPtr&, std::int64_t copies)>& read);
};

/// Limits, motor, friction, lock and spring of the axes of a joint; the keys that say so.
KeyList axis_keys(JointKind kind);
/// Each axis is noted among the members of the joint's place.
void read_axes(const SceneItem& item, SceneBuild* build, JointDescription* joint);

/// The one key of an item that says what it is: `hinge` in {hinge: {...}}. Null and a fault if there is none or two.
const SceneMap::Entry* find_kind(const SceneItem& item, std::string_view what, const KeyList& kinds,
                                 const KeyList& others);

/// Reads a list of {kind: {...}}; `like` and `repeat` may stand beside the kind or inside it.
void read_kinds(const SceneNode& list, const char* what, const KeyList& kinds, SceneBudget* budget, SceneBuild* build,
                const std::function<void(std::size_t, const SceneMapPtr&)>& read);

void read_bodies(const SceneNode& list, SceneBuild* build);
void read_sensors(const SceneNode& list, SceneBuild* build);
/// A table of the scene, for formulas to call by its name.
void read_table(const SceneNode& name, const SceneNode& node, SceneBuild* build);
void read_shapes(const SceneNode& list, const SceneItem& body, SceneBuild* build, BodyDescription* out);
void read_joints(const SceneNode& list, SceneBuild* build);
void read_forces(const SceneNode& list, SceneBuild* build);
void read_material(const SceneNode& name, const SceneNode& node, SceneBuild* build);
void read_material_pairs(const SceneNode& list, SceneBuild* build);
void read_contact_pairs(const SceneNode& list, SceneBuild* build);
void read_simulation(const SceneNode& node, SceneBuild* build, SimulationOptions* options);
void read_record(const SceneNode& node, SceneBuild* build, RecordOptions* options);

/// All keys that an item of some list may have.
KeyList item_keys();
KeyList material_keys();
/// solve: direct | iterative | split, of a material, a pair of them or a joint.
std::optional<SolveMode> read_solve_mode(const SceneItem& item);
KeyList body_keys();
KeyList shape_keys();
KeyList joint_keys();
KeyList force_keys();
KeyList sensor_keys();

}  // namespace slipstick
