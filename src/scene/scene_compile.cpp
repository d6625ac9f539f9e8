#include "scene/scene_compile.h"

#include <string_view>
#include <utility>

namespace slipstick {
namespace {

/// The value of a key of the item, or of the map under one of its keys ({sphere: {radius: 1}}).
const SceneNode* find_value(const ScenePlace& place, std::string_view key) {
  if (!place.map) return nullptr;
  if (const SceneMap::Entry* entry = place.map->find(key)) return entry->value;
  for (const SceneMap::Entry& entry : place.map->entries) {
    if (const SceneNode* value = entry.value->find(key)) return value;
  }
  return nullptr;
}

/// Where a member of the item's description stands; one of a part ("axes[0].rest") that is not written is where the
/// part is. The last one noted counts: a shape's own material wins over its body's.
const SceneNode* find_member(const ScenePlace& place, std::string_view member) {
  for (auto known = place.members.rbegin(); known != place.members.rend(); ++known) {
    if (known->first == member) return known->second;
  }
  const std::size_t dot = member.rfind('.');
  return dot == std::string_view::npos ? find_value(place, member) : find_member(place, member.substr(0, dot));
}

}  // namespace

void compile_scene(const SceneNode& root, SceneBuild* build, Scene* scene) {
  SceneFaults* faults = build->reading.faults;
  CompiledModel compiled = compile(build->description, &scene->initial);
  SourceTag last = -2;
  for (const CompileFault& fault : compiled.faults) {
    if (fault.unknown_name && build->names_missing) continue;
    if (fault.source != last) faults->begin_item();
    last = fault.source;
    if (fault.source >= 0) {
      const ScenePlace& place = build->places[fault.source];
      const SceneNode* node = find_member(place, fault.key);
      if (place.sound)
        faults->add(node != nullptr ? *node : *place.node, fault.message, node != nullptr ? 0 : place.offset);
    } else if (const SceneNode* node = root.find(fault.key)) {  // of the model itself: gravity
      faults->add(*node, fault.message);
    } else {
      faults->add_unplaced(root.file, fault.message);
    }
  }
  if (!compiled.faults.empty()) faults->note_consequence();
  scene->model = std::move(compiled.model);
  scene->description = std::move(build->description);
}

}  // namespace slipstick
