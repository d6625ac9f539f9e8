// From the files of a scene to a checked Scene: definitions first, then the lists, then `compile`.
#include <slipstick/scene.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "scene/scene_build.h"
#include "scene/scene_compile.h"
#include "scene/scene_faults.h"
#include "scene/scene_files.h"

namespace slipstick {
namespace {

constexpr int kFormatVersion = 1;
constexpr int kMaxVisits = 10000;  // files read, counting each inclusion: a file may be included many times

const KeyList& top_keys() {
  static const KeyList kKeys{
      "slipstick",      "name",     "let",     "gravity", "planar", "seed",   "materials",
      "material_pairs", "defaults", "include", "bodies",  "joints", "forces", "pairs_without_contact",
      "simulation",     "record",   "sensors", "tables"};
  return kKeys;
}

/// `prefix: left` makes left/wheel; a prefix that ends in a sign of its own (`left_`, `left/`) is put in front as it
/// is.
std::string as_prefix(const std::string& text) {
  const char last = text.empty() ? '/' : text.back();
  const bool joins = (last >= '0' && last <= '9') || (last >= 'a' && last <= 'z') || (last >= 'A' && last <= 'Z');
  return joins ? text + "/" : text;
}

class SceneLoader {
 public:
  explicit SceneLoader(const SceneLoadOptions& options)
      : options_(options), scope_(&faults_), files_(options, &faults_), build_(&faults_, &scope_, options.max_bodies) {
    build_.reading.files = &files_;
  }

  Result<Scene> load(const std::string& path) { return finish(files_.load(path), path); }
  Result<Scene> parse(const std::string& text, const std::string& name) {
    return finish(files_.parse(text, name), name);
  }

 private:
  /// Where a name of `let`, `materials` or `defaults` was first defined.
  struct Definition {
    const SceneNode* key;
    const SceneNode* value;
  };
  using Definitions = std::vector<std::pair<std::string, Definition>>;

  Result<Scene> finish(const SceneFile* main, const std::string& path);
  void check_top(const SceneFile& file);
  void collect(const SceneFile& file);
  void collect_sensors(const SceneFile& file);
  void collect_section(const SceneFile& file, const char* section, Definitions* definitions);
  void evaluate_names(const SceneItem& top);
  void read_globals(const SceneItem& top, Scene* scene);
  void read_lists(const SceneFile& file);
  void read_included(const SceneFile::Include& include);

  const SceneLoadOptions& options_;
  SceneFaults faults_;
  SceneScope scope_;
  SceneFiles files_;
  SceneBuild build_;
  Definitions lets_, materials_, defaults_, tables_;
  std::vector<const SceneFile*> collected_;
  std::vector<int> path_;  ///< files from the main one to the one being collected
  int visits_ = 0;
};

SceneMap as_map(const SceneNode& node) {
  SceneMap map{&node, {}};
  for (std::size_t i = 0; i + 1 < node.items.size(); i += 2) {
    if (node.items[i]->is_scalar()) map.entries.push_back({node.items[i], node.items[i + 1]});
  }
  return map;
}

void SceneLoader::check_top(const SceneFile& file) {
  const SceneNode& root = *file.document.root;
  const SceneMap map = as_map(root);
  SceneItem(build_.reading, map, "the scene").check_keys(top_keys());
  const SceneNode* version = root.find("slipstick");
  if (version == nullptr) {
    faults_.add(root, "missing key 'slipstick'; a scene begins with 'slipstick: 1', the version of the format");
  } else if (!version->is_scalar() || version->text != std::to_string(kFormatVersion)) {
    faults_.add(*version, "version " + describe(*version) + " of the scene format is not supported (supported: " +
                              std::to_string(kFormatVersion) + ")");
  }
}

void SceneLoader::collect_section(const SceneFile& file, const char* section, Definitions* definitions) {
  const SceneNode* node = file.document.root->find(section);
  if (node == nullptr || node->kind == SceneNode::Kind::Null) return;
  if (!node->is_map()) {
    build_.names_missing = true;
    return faults_.add(*node, std::string("expected a map for '") + section + "', got " + describe(*node));
  }
  for (std::size_t i = 0; i + 1 < node->items.size(); i += 2) {
    const SceneNode &key = *node->items[i], &value = *node->items[i + 1];
    if (!key.is_scalar()) continue;  // a fault already
    const auto it = std::find_if(definitions->begin(), definitions->end(),
                                 [&](const auto& each) { return each.first == key.text; });
    if (it == definitions->end()) {
      definitions->push_back({key.text, {&key, &value}});
      continue;
    }
    // The file that includes wins over the one that is included. Of two others neither can win in silence.
    const SceneNode& first = *it->second.key;
    const bool above = first.file != file.index && std::find(path_.begin(), path_.end(), first.file) != path_.end();
    if (above || first.file == file.index || same_content(*it->second.value, value)) continue;
    faults_.add(key, "'" + key.text + "' in " + section + " differs from that in " + faults_.file_name(first.file) +
                         "; define it in the file that includes both");
  }
}

/// Formulas of motors may use sensors that stand below them: their names are wanted first.
void SceneLoader::collect_sensors(const SceneFile& file) {
  const SceneNode* node = file.document.root->find("sensors");
  if (node == nullptr || !node->is_list()) return;
  for (const SceneNode* item : node->items)
    for (std::size_t i = 0; item->is_map() && i + 1 < item->items.size(); i += 2)
      if (const SceneNode* name = item->items[i + 1]->find("name"); name != nullptr && name->is_scalar())
        scope_.define_sensor(name->text);
}

void SceneLoader::collect(const SceneFile& file) {
  if (std::find(collected_.begin(), collected_.end(), &file) != collected_.end()) return;
  collected_.push_back(&file);
  path_.push_back(file.index);
  check_top(file);
  collect_section(file, "let", &lets_);
  collect_section(file, "materials", &materials_);
  collect_section(file, "defaults", &defaults_);
  collect_section(file, "tables", &tables_);
  collect_sensors(file);
  for (const SceneFile::Include& include : file.includes) collect(*include.file);
  path_.pop_back();
}

void SceneLoader::evaluate_names(const SceneItem& top) {
  for (const auto& [name, definition] : lets_) scope_.define(*definition.key, *definition.value);
  for (const auto& [name, text] : options_.set) scope_.override_value(name, text);
  double seed = 1;
  if (top.number("seed", &seed)) {
    if (seed >= 0 && seed <= 0x1p53 && seed == std::round(seed)) {
      scope_.set_seed(static_cast<std::uint64_t>(seed));
    } else {
      top.expected(*top.find("seed"), "a whole number, zero or more,", "seed");
    }
  }
  scope_.evaluate_lets();
}

void SceneLoader::read_globals(const SceneItem& top, Scene* scene) {
  bool planar = false;
  top.flag("planar", &planar);
  build_.reading.planar = planar;
  ModelDescription& description = build_.description;
  description.planar = planar;
  if (planar) description.gravity = Vec3(0, -9.81, 0);
  SceneItem(build_.reading, top.map(), "the scene").vector("gravity", &description.gravity);
  if (!top.text("name", &scene->name)) scene->name = std::filesystem::path(scene->path).stem().string();
  description.name = scene->name;
  for (const auto& [name, definition] : defaults_) build_.expander.define(*definition.key, *definition.value);
  for (const auto& [name, definition] : tables_) read_table(*definition.key, *definition.value, &build_);
  for (const auto& [name, definition] : materials_) read_material(*definition.key, *definition.value, &build_);
  for (const SceneFile* file : collected_) {  // once each, however often the file is included
    if (const SceneNode* node = file->document.root->find("material_pairs")) read_material_pairs(*node, &build_);
  }
  if (const SceneNode* node = top.find("simulation")) read_simulation(*node, &build_, &scene->options);
  if (const SceneNode* node = top.find("record")) read_record(*node, &build_, &scene->record);
}

void SceneLoader::read_included(const SceneFile::Include& include) {
  const std::string outer = build_.prefix;
  const SceneMap map = as_map(*include.node);
  SceneBudget budget{"inclusions", kMaxVisits, visits_, false, ""};
  const bool all = build_.expander.repeat(map, &budget, [&](std::int64_t) {
    const SceneItem item(build_.reading, map, "include");
    std::string prefix;
    if (include.prefix != nullptr && !item.text("prefix", &prefix)) {
      build_.names_missing = true;
      return;
    }
    build_.prefix = outer + as_prefix(prefix);
    if (prefix.empty()) build_.prefix = outer;
    read_lists(*include.file);
  });
  if (!all) build_.names_missing = true;
  build_.prefix = outer;
}

void SceneLoader::read_lists(const SceneFile& file) {
  if (++visits_ > kMaxVisits) {
    faults_.add_unplaced(file.index, "included more than " + std::to_string(kMaxVisits) + " times in all");
    build_.names_missing = true;
    return;
  }
  for (const SceneFile::Include& include : file.includes) {
    if (visits_ <= kMaxVisits) read_included(include);
  }
  const SceneNode& root = *file.document.root;
  bool planar = build_.reading.planar;
  const SceneMap map = as_map(root);
  if (SceneItem(build_.reading, map, "the scene").flag("planar", &planar) && planar != build_.reading.planar) {
    faults_.add(*root.find("planar"),
                std::string("the scene that includes this file is ") + (planar ? "not planar" : "planar"));
  }
  struct Section {
    const char* key;
    void (*read)(const SceneNode&, SceneBuild*);
  };
  for (const Section& section :
       {Section{"bodies", read_bodies}, Section{"joints", read_joints}, Section{"forces", read_forces},
        Section{"pairs_without_contact", read_contact_pairs}, Section{"sensors", read_sensors}}) {
    if (const SceneNode* node = root.find(section.key)) section.read(*node, &build_);
  }
}

Result<Scene> SceneLoader::finish(const SceneFile* main, const std::string& path) {
  if (main == nullptr) return faults_.list();
  if (!files_.complete()) build_.names_missing = true;
  Scene scene;
  scene.path = path;
  scene.text = main->text;
  const SceneNode& root = *main->document.root;
  collect(*main);
  if (const SceneNode* version = root.find("slipstick");
      version != nullptr && version->text != std::to_string(kFormatVersion)) {
    return faults_.list();  // another format: no more can be said about the rest
  }
  const SceneMap map = as_map(root);
  const SceneItem top(build_.reading, map, "the scene");
  evaluate_names(top);
  read_globals(top, &scene);
  read_lists(*main);
  build_.expander.check_unused(item_keys());
  if (!scope_.has_few_corners()) return faults_.list();  // that it is too much has been said: no work is begun
  compile_scene(root, &build_, &scene);
  if (!faults_.empty()) return faults_.list();
  scene.files = files_.names();
  scene.variables = scope_.variables();
  return scene;
}

}  // namespace

Result<Scene> load_scene(const std::string& path, const SceneLoadOptions& options) {
  return SceneLoader(options).load(path);
}

Result<Scene> parse_scene(const std::string& text, const std::string& name, const SceneLoadOptions& options) {
  return SceneLoader(options).parse(text, name);
}

}  // namespace slipstick
