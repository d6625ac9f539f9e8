#include "scene/scene_expand.h"

#include <algorithm>
#include <cmath>

namespace slipstick {
namespace {

constexpr std::size_t kMaxLoops = 8;
constexpr std::int64_t kMaxTurns = 10000000;  // turns of outer loops while counting, those without copies included

void set_entry(const SceneMap::Entry& entry, SceneMap* map) {
  const auto it = std::find_if(map->entries.begin(), map->entries.end(),
                               [&](const SceneMap::Entry& e) { return e.key->text == entry.key->text; });
  if (it == map->entries.end()) {
    map->entries.push_back(entry);
  } else {
    *it = entry;
  }
}

}  // namespace

void SceneExpander::define(const SceneNode& name, const SceneNode& value) {
  if (!name.is_scalar()) return;
  if (!value.is_map()) {
    faults_->add(value, "expected a map for '" + name.text + "' in defaults, got " + describe(value));
  }
  sets_.try_emplace(name.text, Set{&value, nullptr, false, false});
}

SceneMapPtr SceneExpander::find_set(const SceneNode& name) {
  if (!name.is_scalar()) {
    faults_->add(name, "expected a name of 'defaults' for 'like', got " + describe(name));
    return nullptr;
  }
  const auto it = sets_.find(name.text);
  if (it == sets_.end()) {
    KeyList known;
    for (const auto& [key, set] : sets_) known.push_back(key);
    std::sort(known.begin(), known.end());
    faults_->add(name, "unknown name '" + name.text + "' for 'like'; " +
                           (known.empty() ? "the scene has no 'defaults'" : "'defaults' has " + as_list(known)) +
                           as_suggestion(name.text, known));
    return nullptr;
  }
  Set& set = it->second;
  set.used = true;
  if (set.busy) {
    faults_->add(name, "'like' goes in a circle at '" + name.text + "'");
    return nullptr;
  }
  if (!set.map && set.node->is_map()) {
    set.busy = true;
    SceneMapPtr map = resolve(*set.node, name.text);
    set.busy = false;
    set.map = std::move(map);
  }
  return set.map;
}

void SceneExpander::pull(const SceneNode& like, SceneMap* map) {
  const std::vector<const SceneNode*> single{&like};
  for (const SceneNode* name : like.is_list() ? like.items : single) {
    const SceneMapPtr set = find_set(*name);
    map->complete &= set && set->complete;
    if (!set) continue;
    for (const SceneMap::Entry& entry : set->entries) set_entry(entry, map);
  }
}

SceneMapPtr SceneExpander::resolve(const SceneNode& node, std::string_view what) {
  if (!node.is_map()) {
    faults_->add(node, "expected a map for " + std::string(what) + ", got " + describe(node));
    return nullptr;
  }
  auto map = std::make_shared<SceneMap>();
  map->node = &node;
  if (const SceneNode* like = node.find("like")) pull(*like, map.get());
  for (std::size_t i = 0; i + 1 < node.items.size(); i += 2) {
    if (node.items[i]->is_scalar() && node.items[i]->text != "like") {
      set_entry({node.items[i], node.items[i + 1]}, map.get());
    }
  }
  return map;
}

bool SceneExpander::read_loops(const SceneNode& node, std::vector<Loop>* loops) {
  if (!node.is_map() || node.items.empty()) {
    faults_->add(
        node, "expected a map such as {i: 10} for 'repeat', got " + (node.is_map() ? "an empty one" : describe(node)));
    return false;
  }
  if (node.items.size() / 2 > kMaxLoops) {
    faults_->add(node, "'repeat' has more than " + std::to_string(kMaxLoops) + " indices");
    return false;
  }
  bool good = true;
  for (std::size_t i = 0; i + 1 < node.items.size(); i += 2) {
    good &= scope_->is_free_name(*node.items[i]);
    loops->push_back({node.items[i], node.items[i + 1]});
  }
  return good;
}

bool SceneExpander::read_count(const Loop& loop, std::int64_t* count) {
  if (!loop.count->is_scalar()) {
    faults_->add(*loop.count,
                 "expected a number for '" + loop.name->text + "' in repeat, got " + describe(*loop.count));
    return false;
  }
  const auto result = scope_->compile(*loop.count, loop.count->text, 0, false);
  if (!result) return false;
  const double value = result->at(0);
  const double rounded = std::round(value);
  if (!(std::abs(value - rounded) <= 1e-9) || rounded < 0 || rounded > 1e15) {
    faults_->add(*loop.count,
                 "'" + loop.name->text + "' in repeat must be a whole number, zero or more, of a sensible size");
    return false;
  }
  *count = static_cast<std::int64_t>(rounded);
  return true;
}

bool SceneExpander::count_copies(const std::vector<Loop>& loops, std::size_t level, std::int64_t limit,
                                 std::int64_t* copies, std::int64_t* turns) {
  std::int64_t count = 0;
  if (!read_count(loops[level], &count)) return false;
  if (level + 1 == loops.size()) {
    *copies += count;
    return true;
  }
  scope_->push_index(loops[level].name->text, 0);
  bool good = true;
  for (std::int64_t i = 0; good && i < count && *copies <= limit; ++i) {
    if (++*turns > kMaxTurns) {
      *copies = limit + 1;
      break;
    }
    scope_->set_index(static_cast<double>(i));
    good = count_copies(loops, level + 1, limit, copies, turns);
  }
  scope_->pop_index();
  return good;
}

void SceneExpander::run(const std::vector<Loop>& loops, std::size_t level, const std::function<void()>& visit) {
  if (level == loops.size()) return visit();
  std::int64_t count = 0;
  if (!read_count(loops[level], &count)) return;
  scope_->push_index(loops[level].name->text, 0);
  for (std::int64_t i = 0; i < count; ++i) {
    scope_->set_index(static_cast<double>(i));
    run(loops, level + 1, visit);
  }
  scope_->pop_index();
}

bool SceneExpander::repeat(const SceneMap& map, SceneBudget* budget, const std::function<void(std::int64_t)>& visit) {
  faults_->begin_item();
  const SceneMap::Entry* entry = map.find("repeat");
  std::vector<Loop> loops;
  std::int64_t copies = 1, turns = 0;
  const std::int64_t left = budget->limit - budget->used;
  if (entry != nullptr) {
    copies = 0;
    if (!read_loops(*entry->value, &loops) || !count_copies(loops, 0, left, &copies, &turns)) return false;
  }
  if (copies > left) {
    if (!budget->exceeded) {
      faults_->add(entry != nullptr ? *entry->value : *map.node,
                   "more than " + std::to_string(budget->limit) + " " + budget->what + budget->remedy);
    }
    faults_->note_consequence();
    budget->exceeded = true;
    return false;
  }
  budget->used += copies;
  run(loops, 0, [&] {
    faults_->begin_item();
    visit(copies);
  });
  return true;
}

void SceneExpander::check_unused(const KeyList& legal_anywhere) {
  for (auto& [name, set] : sets_) {
    if (set.used || !set.node->is_map()) continue;
    faults_->begin_item();
    if (const SceneMapPtr map = resolve(*set.node, name)) {
      SceneItem({faults_, scope_, false}, *map, "defaults '" + name + "'").check_keys(legal_anywhere);
    }
  }
}

}  // namespace slipstick
