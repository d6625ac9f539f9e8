#include "scene/scene_build.h"

#include <algorithm>

namespace slipstick {
namespace {

constexpr std::int64_t kItemsPerBody = 8;  // shapes, joints, ... that a scene may have for each body of its limit

bool contains(const KeyList& list, std::string_view key) {
  return std::find(list.begin(), list.end(), key) != list.end();
}

}  // namespace

SceneBuild::SceneBuild(SceneFaults* faults, SceneScope* scope, int max_bodies)
    : reading{faults, scope, false, nullptr}, expander(faults, scope) {
  const std::string remedy = "; raise --max-bodies if that is meant";
  const std::int64_t limit = std::max(max_bodies, 0);
  bodies = {"bodies", limit, 0, false, remedy};
  shapes = {"shapes", kItemsPerBody * limit, 0, false, remedy};
  joints = {"joints", kItemsPerBody * limit, 0, false, remedy};
  forces = {"forces", kItemsPerBody * limit, 0, false, remedy};
  pairs = {"pairs", kItemsPerBody * limit, 0, false, remedy};
  sensors = {"sensors", kItemsPerBody * limit, 0, false, remedy};
  scope->set_reading([this](const SceneNode& node, int offset, const ReadingRequest& request) {
    return add_reading(node, offset, request);
  });
}

SourceTag SceneBuild::add_place(const SceneNode& node, SceneMapPtr map) {
  places.push_back({&node, std::move(map), true, 0, {}});
  return static_cast<SourceTag>(places.size()) - 1;
}

bool SceneBuild::read_between(const SceneItem& item, bool of_bodies, std::string* a, std::string* b, SourceTag tag) {
  if (!item.require("between")) return false;
  const SceneNode& node = *item.find("between");
  const std::string wanted = of_bodies ? "a list of two bodies" : "a list of two materials";
  if (!node.is_list()) {
    item.expected(node, wanted, "between");
    return false;
  }
  if (node.items.size() != 2) {
    item.fault(node, "expected " + wanted + " for 'between' in " + item.label() + ", got " +
                         std::to_string(node.items.size()));
    return false;
  }
  bool good = true;
  for (int k = 0; k < 2; ++k) {
    const auto name = item.as_text(*node.items[k], "between");
    good &= name.has_value();
    if (!name) continue;
    std::string& out = *(k == 0 ? a : b);
    out = of_bodies ? full_name(*name) : *name;
    places[tag].add_member(k == 0 ? "a" : "b", node.items[k]);
  }
  return good;
}

bool SceneBuild::for_each_item(const SceneNode& list, std::string_view what, SceneBudget* budget,
                               const std::function<void(const SceneMapPtr&, std::int64_t)>& read) {
  reading.faults->begin_item();
  if (list.kind == SceneNode::Kind::Null) return true;  // "joints:" with all its items commented out
  if (!list.is_list()) {
    reading.faults->add(list, "expected a list for '" + budget->what + "', got " + describe(list));
    return false;
  }
  bool all = true;
  for (const SceneNode* node : list.items) {
    if (budget->exceeded) return false;
    reading.faults->begin_item();
    const SceneMapPtr map = expander.resolve(*node, what);
    all &= map && expander.repeat(*map, budget, [&](std::int64_t copies) { read(map, copies); });
  }
  return all;
}

const SceneMap::Entry* find_kind(const SceneItem& item, std::string_view what, const KeyList& kinds,
                                 const KeyList& others) {
  const SceneMap::Entry* found = nullptr;
  bool good = true;
  for (const SceneMap::Entry& entry : item.map().entries) {
    const std::string& key = entry.key->text;
    if (contains(others, key)) continue;
    if (!contains(kinds, key)) {
      KeyList legal = kinds;
      legal.insert(legal.end(), others.begin(), others.end());
      const std::string near = as_suggestion(key, legal);
      item.fault(*entry.key, "unknown key '" + key + "' in " + item.label() +
                                 (near.empty() ? " (" + std::string(what) + "s: " + as_list(kinds) + ")" : near));
      good = false;
    } else if (found != nullptr) {
      item.fault(*entry.key,
                 "one item holds one " + std::string(what) + ", not '" + found->key->text + "' and '" + key + "'");
      good = false;
    } else {
      found = &entry;
    }
  }
  if (good && found == nullptr && item.map().complete) {
    item.fault(item.node(), "the " + std::string(what) + " does not say what it is (one of " + as_list(kinds) + ")");
  }
  return good ? found : nullptr;
}

KeyList item_keys() {
  KeyList all = material_keys();
  for (const KeyList& keys : {body_keys(), shape_keys(), joint_keys(), force_keys(), sensor_keys()}) {
    all.insert(all.end(), keys.begin(), keys.end());
  }
  return all;
}

}  // namespace slipstick
