#include "scene/scene_compile.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace slipstick {
namespace {

bool is_word_part(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/// The value of a key of the item, or of the map under one of its keys ({sphere: {radius: 1}}).
const SceneNode* find_value(const ScenePlace& place, std::string_view key) {
  if (!place.map) return nullptr;
  if (const SceneMap::Entry* entry = place.map->find(key)) return entry->value;
  for (const SceneMap::Entry& entry : place.map->entries) {
    if (const SceneNode* value = entry.value->find(key)) return value;
  }
  return nullptr;
}

/// The name of a body or material that the sentence speaks of first, or null.
const SceneNode* find_reference(const ScenePlace& place, std::string_view sentence) {
  const SceneNode* found = nullptr;
  std::size_t first = std::string_view::npos;
  for (const auto& [name, node] : place.references) {
    const std::size_t at = sentence.find("'" + name + "'");
    if (at < first) {
      first = at;
      found = node;
    }
  }
  return found;
}

/// What the first word that is a key of the item stands for, or null.
const SceneNode* find_key(const ScenePlace& place, std::string_view sentence) {
  for (std::size_t at = 0; at < sentence.size();) {
    std::size_t end = at;
    while (end < sentence.size() && is_word_part(sentence[end])) ++end;
    if (const SceneNode* node = end > at ? find_value(place, sentence.substr(at, end - at)) : nullptr) return node;
    at = end + 1;
  }
  return nullptr;
}

/// The model's faults read "body 'x': shape 2 (box): size must be positive": after the names of the items comes a
/// sentence that names the key it is about. The parts are looked at from the last one to the one after the first name.
const SceneNode& find_place(const ScenePlace& place, std::string_view message) {
  constexpr std::string_view kColon = ": ";
  for (std::size_t colon = message.rfind(kColon); colon != std::string_view::npos;) {
    const std::string_view sentence = message.substr(colon + kColon.size());
    if (const SceneNode* node = find_reference(place, sentence)) return *node;
    if (const SceneNode* node = find_key(place, sentence)) return *node;
    message = message.substr(0, colon);
    colon = message.rfind(kColon);
  }
  return *place.node;
}

}  // namespace

void compile_scene(const SceneNode& root, SceneBuild* build, Scene* scene) {
  SceneFaults* faults = build->reading.faults;
  CompiledModel compiled = compile(build->description, &scene->initial);
  SourceTag last = -2;
  for (const CompileFault& fault : compiled.faults) {
    const bool unknown = fault.message.find("unknown body") != std::string::npos ||
                         fault.message.find("unknown material") != std::string::npos;
    if (unknown && build->names_missing) continue;
    if (fault.source != last) faults->begin_item();
    last = fault.source;
    if (fault.source >= 0) {
      const ScenePlace& place = build->places[fault.source];
      if (place.sound) faults->add(find_place(place, fault.message), fault.message);
    } else if (const SceneNode* node = root.find("gravity"); node != nullptr && fault.message.starts_with("gravity")) {
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
