// Materials, pairs, `simulation` and `record`.
#include <algorithm>
#include <array>

#include "scene/scene_build.h"
#include "step/scheme.h"

namespace slipstick {
namespace {

std::optional<FrictionModel> find_friction_model(const std::string& name) {
  if (name == "cone") return FrictionModel::Cone;
  if (name == "pyramid") return FrictionModel::Pyramid;
  if (name == "box") return FrictionModel::Box;
  return std::nullopt;
}

void read_friction_model(const SceneItem& item, const SceneNode& node, SimulationOptions* options) {
  const auto name = item.as_text(node, "friction");
  if (!name) return;
  if (const auto model = find_friction_model(*name)) {
    options->friction = *model;
    return;
  }
  const KeyList known{"cone", "pyramid", "box"};
  const std::string near = as_suggestion(*name, known);
  item.fault(node,
             "unknown friction model '" + *name + "'" + (near.empty() ? " (known: " + as_list(known) + ")" : near));
}

/// friction: cone, or friction: {model: pyramid, facets: 8}
void read_friction(const SceneItem& item, SceneBuild* build, SimulationOptions* options) {
  const SceneNode* node = item.find("friction");
  if (node == nullptr) return;
  if (!node->is_map()) return read_friction_model(item, *node, options);
  const SceneMapPtr map = build->expander.resolve(*node, "friction");
  const SceneItem inner(build->reading, *map, "friction of simulation");
  inner.check_keys({"model", "facets"});
  if (const SceneNode* model = inner.find("model")) read_friction_model(inner, *model, options);
  inner.integer("facets", &options->facets);
}

/// One of a few names: a fault that lists them, or the index of the one given; -1: absent or wrong.
int read_name(const SceneItem& item, std::string_view key, const KeyList& known) {
  const SceneNode* node = item.find(key);
  if (node == nullptr) return -1;
  const auto name = item.as_text(*node, key);
  if (!name) return -1;
  const auto found = std::find(known.begin(), known.end(), *name);
  if (found != known.end()) return static_cast<int>(found - known.begin());
  const std::string near = as_suggestion(*name, known);
  item.fault(*node, "unknown '" + std::string(key) + "' '" + *name + "' in " + item.label() +
                        (near.empty() ? " (known: " + as_list(known) + ")" : near));
  return -1;
}

/// impact: poisson | newton | simplified | moreau, of a pair of materials or of the simulation.
std::optional<ImpactLaw> read_impact(const SceneItem& item) {
  const int law = read_name(item, "impact", {"poisson", "newton", "simplified", "moreau"});
  if (law < 0) return std::nullopt;
  return static_cast<ImpactLaw>(law);
}

/// Options that belong to one scheme: those of its own table.
void read_scheme_option(const SceneItem& item, const std::string& scheme, SimulationOptions* options) {
  const std::unique_ptr<Scheme> made = make_scheme(scheme);
  const std::span<const SchemeKey> keys = made ? made->keys() : std::span<const SchemeKey>();
  KeyList legal;
  for (const SchemeKey& each : keys) legal.push_back(each.key);
  for (const SceneMap::Entry& entry : item.map().entries) {
    if (std::find(legal.begin(), legal.end(), entry.key->text) != legal.end()) continue;
    item.fault(*entry.key, item.label() + " has no option '" + entry.key->text + "' in this version" +
                               (legal.empty() ? "" : " (known: " + as_list(legal) + ")"));
  }
  for (const SchemeKey& each : keys) {
    const auto read = [&](auto* place) {
      using Value = std::remove_pointer_t<decltype(place)>;
      if constexpr (std::is_same_v<Value, EventState>) {
        const int state = read_name(item, each.key, {"restep", "hermite"});
        if (state >= 0) *place = static_cast<EventState>(state);
      } else if constexpr (std::is_same_v<Value, std::optional<bool>>) {
        bool value = false;
        if (item.flag(each.key, &value)) *place = value;
      } else if constexpr (std::is_same_v<Value, bool>) {
        item.flag(each.key, place);
      } else {
        item.number(each.key, place);
      }
    };
    std::visit(read, each.place(options));
  }
}

/// The enumerator whose name stands at `key`; names in the order of the enumerators.
template <typename Enum>
void read_enumerator(const SceneItem& item, const char* key, const KeyList& names, Enum* out) {
  const SceneNode* node = item.find(key);
  if (node == nullptr) return;
  const auto name = item.as_text(*node, key);
  if (!name) return;
  const auto at = std::find(names.begin(), names.end(), *name);
  if (at != names.end()) {
    *out = static_cast<Enum>(at - names.begin());
    return;
  }
  const std::string near = as_suggestion(*name, names);
  item.fault(*node, std::string("unknown value '") + *name + "' for '" + key + "' in " + item.label() +
                        (near.empty() ? " (known: " + as_list(names) + ")" : near));
}

void read_solver_option(const SceneItem& item, const std::string& solver, SolverOptions* options) {
  const KeyList names = solver_names(), legal = solver_option_names(solver);
  if (solver != "auto" && std::find(names.begin(), names.end(), solver) == names.end()) return;  // a fault by itself
  if (!legal.empty()) {
    item.check_keys(legal);
  } else {
    for (const SceneMap::Entry& entry : item.map().entries)
      item.fault(*entry.key, item.label() + " has no option '" + entry.key->text + "' in this version");
  }
  read_enumerator(item, "local", local_solver_names(), &options->local);
  read_enumerator(item, "order", sweep_order_names(), &options->order);
  item.number("relaxation", &options->relaxation);
  item.number("time_limit", &options->time_limit);
  item.integer("iterations", &options->max_iterations);
  item.integer("mixing", &options->mixing);
  item.integer("coupling", &options->max_iterations);
  item.integer("sweeps", &options->sweeps);
  item.integer("threads", &options->threads);
  item.flag("symmetric", &options->symmetric);
}

/// scheme: NAME, or scheme: {NAME: {options}}; the same for solver.
void read_choice(const SceneItem& item, const char* key, SceneBuild* build, std::string* out,
                 SimulationOptions* options) {
  const SceneNode* node = item.find(key);
  if (node == nullptr) return;
  if (!node->is_map()) {
    if (const auto name = item.as_text(*node, key)) *out = *name;
    return;
  }
  if (node->items.size() != 2 || !node->items[0]->is_scalar()) {
    return item.expected(*node, "a name or a map {name: {options}}", key);
  }
  *out = node->items[0]->text;
  if (node->items[1]->kind == SceneNode::Kind::Null) return;
  const std::string label = std::string(key) + " '" + *out + "'";
  const SceneMapPtr map = build->expander.resolve(*node->items[1], "the options of " + label);
  if (!map) return;
  const SceneItem inner(build->reading, *map, label);
  if (key == std::string_view("solver")) return read_solver_option(inner, *out, &options->solver_options);
  read_scheme_option(inner, *out, options);
}

const KeyList& simulation_keys() {
  static const KeyList kKeys{"like",     "scheme",          "solver",        "step",
                             "duration", "friction",        "tolerance",     "heap_tolerance",
                             "effort",   "budget",          "stabilization", "restitution_threshold",
                             "impact",   "reduce_contacts", "close_joints",  "hold_resting",
                             "threads",  "accuracy",        "unique_forces"};
  return kKeys;
}

/// What an option fault is about; one of the simulation's own that is not there may be among those of the scheme.
const SceneNode& find_option(const SceneItem& item, const OptionFault& fault) {
  for (const std::string_view key :
       {std::string_view(fault.item.empty() ? fault.key : fault.item), std::string_view("scheme")}) {
    if (const SceneNode* node = item.find(key)) return *node;
  }
  return item.node();
}

/// friction: 0.5, or friction: {peak: 0.9, sliding: 0.6, slip_speed: 0.1}, of a material or a pair. True if it is
/// there.
bool read_coefficient(const SceneItem& item, SourceTag source, SceneBuild* build, double* friction,
                      std::optional<FrictionBySlip>* by_slip) {
  const SceneNode* node = item.find("friction");
  if (node == nullptr || !node->is_map()) return item.number("friction", friction);
  const SceneMapPtr map = build->expander.resolve(*node, "friction of " + item.label());
  if (!map) return false;
  const SceneItem inner(build->reading, *map, "friction of " + item.label());
  inner.check_keys({"peak", "sliding", "slip_speed", "like"});
  bool complete = true;
  for (const std::string_view key : {"peak", "sliding", "slip_speed"}) complete = inner.require(key) && complete;
  if (!complete) return false;
  FrictionBySlip slip;
  complete = inner.number("peak", friction) & inner.number("sliding", &slip.sliding) &
             inner.number("slip_speed", &slip.slip_speed);
  ScenePlace& place = build->places[source];
  place.add_member("friction", inner.find("peak"));
  place.add_member("sliding", inner.find("sliding"));
  place.add_member("slip_speed", inner.find("slip_speed"));
  *by_slip = slip;
  return complete;
}

}  // namespace

std::optional<SolveMode> read_solve_mode(const SceneItem& item) {
  const int mode = read_name(item, "solve", {"direct", "iterative", "split"});
  if (mode < 0) return std::nullopt;
  return static_cast<SolveMode>(mode);
}

KeyList material_keys() {
  return {"friction",          "restitution",   "tangential_restitution",
          "friction_across",   "friction_axis", "rolling_friction",
          "spinning_friction", "solve",         "like"};
}

void read_material(const SceneNode& name, const SceneNode& node, SceneBuild* build) {
  build->reading.faults->begin_item();
  const std::size_t faults_before = build->reading.faults->raised();
  const std::string label = "material '" + name.text + "'";
  Material material;
  material.name = name.text;
  if (const SceneMapPtr map = build->expander.resolve(node, label)) {
    material.source = build->add_place(node, map);
    const SceneItem item(build->reading, *map, label);
    item.check_keys(material_keys());
    read_coefficient(item, material.source, build, &material.friction, &material.by_slip);
    item.number("restitution", &material.restitution);
    item.number("rolling_friction", &material.rolling_friction);
    item.number("spinning_friction", &material.spinning_friction);
    item.number("friction_across", &material.friction_across);
    item.vector("friction_axis", &material.friction_axis);
    item.number("tangential_restitution", &material.tangential_restitution);
    material.solve = read_solve_mode(item);
    build->places[material.source].sound = build->reading.faults->raised() == faults_before;
  }
  build->description.materials.push_back(std::move(material));
}

void read_material_pairs(const SceneNode& list, SceneBuild* build) {
  SceneBudget budget = build->pairs;
  budget.what = "material_pairs";
  build->for_each_item(list, "a pair of materials", &budget, [build](const SceneMapPtr& map, std::int64_t) {
    const std::size_t faults_before = build->reading.faults->raised();
    MaterialPairDescription pair;
    pair.source = build->add_place(*map->node, map);
    const SceneItem item(build->reading, *map, "material pair");
    item.check_keys({"between", "friction", "restitution", "tangential_restitution", "impact", "rolling_friction",
                     "spinning_friction", "solve", "like", "repeat"});
    build->read_between(item, false, &pair.a, &pair.b, pair.source);
    if (double friction = 0; read_coefficient(item, pair.source, build, &friction, &pair.by_slip))
      pair.friction = friction;
    item.number("restitution", &pair.restitution);
    item.number("rolling_friction", &pair.rolling_friction);
    item.number("spinning_friction", &pair.spinning_friction);
    item.number("tangential_restitution", &pair.tangential_restitution);
    pair.impact = read_impact(item);
    pair.solve = read_solve_mode(item);
    if (build->reading.faults->raised() == faults_before) build->description.material_pairs.push_back(std::move(pair));
  });
}

void read_contact_pairs(const SceneNode& list, SceneBuild* build) {
  SceneFaults* faults = build->reading.faults;
  faults->begin_item();
  if (list.kind == SceneNode::Kind::Null) return;
  if (!list.is_list()) {
    return faults->add(list, "expected a list for 'pairs_without_contact', got " + describe(list));
  }
  const auto add = [build](const SceneItem& item, SourceTag tag) {
    std::array<std::string, 2> pair;
    if (!build->read_between(item, true, &pair[0], &pair[1], tag)) return;
    build->description.pairs_without_contact.push_back(pair);
    build->description.pairs_without_contact_source.resize(build->description.pairs_without_contact.size(), -1);
    build->description.pairs_without_contact_source.back() = tag;
  };
  const SceneNode between{.kind = SceneNode::Kind::Scalar, .text = "between", .items = {}};
  for (const SceneNode* node : list.items) {
    faults->begin_item();
    if (node->is_list()) {  // [a, b] is short for {between: [a, b]}
      const SceneMap map{node, {{&between, node}}};
      add(SceneItem(build->reading, map, "pairs_without_contact"), build->add_place(*node, nullptr));
      continue;
    }
    const SceneMapPtr map = build->expander.resolve(*node, "an entry [a, b] of 'pairs_without_contact'");
    if (!map) continue;
    const SceneItem item(build->reading, *map, "pairs_without_contact");
    item.check_keys({"between", "repeat", "like"});
    build->expander.repeat(*map, &build->pairs, [&](std::int64_t) { add(item, build->add_place(*node, map)); });
  }
}

void read_simulation(const SceneNode& node, SceneBuild* build, SimulationOptions* options) {
  SceneFaults* faults = build->reading.faults;
  faults->begin_item();
  if (node.kind == SceneNode::Kind::Null) return;
  const SceneMapPtr map = build->expander.resolve(node, "'simulation'");
  if (!map) return;
  const SceneItem item(build->reading, *map, "simulation");
  item.check_keys(simulation_keys());
  item.number("duration", &options->duration);
  item.number("step", &options->step);
  item.number("stabilization", &options->stabilization);
  item.number("restitution_threshold", &options->restitution_threshold);
  item.number("tolerance", &options->tolerance);
  item.number("heap_tolerance", &options->heap_tolerance);
  item.integer("budget", &options->budget);
  item.integer("threads", &options->threads);
  item.flag("reduce_contacts", &options->reduce_contacts);
  item.flag("close_joints", &options->close_joints);
  item.flag("hold_resting", &options->hold_resting);
  item.flag("unique_forces", &options->unique_forces);
  read_choice(item, "scheme", build, &options->scheme, options);
  read_choice(item, "solver", build, &options->solver, options);
  double accuracy = 0;
  if (item.number("accuracy", &accuracy)) {
    options->accuracy = accuracy;
    if (item.find("scheme") == nullptr) set_accuracy(accuracy, options);
  }
  read_friction(item, build, options);
  if (const auto law = read_impact(item)) options->impact = *law;
  if (const int effort = read_name(item, "effort", {"exact", "balanced", "swift"}); effort >= 0)
    options->effort = static_cast<Effort>(effort);
  for (const OptionFault& fault : find_option_faults(*options)) faults->add(find_option(item, fault), fault.message);
}

void read_record(const SceneNode& node, SceneBuild* build, RecordOptions* options) {
  build->reading.faults->begin_item();
  if (node.kind == SceneNode::Kind::Null) return;
  const SceneMapPtr map = build->expander.resolve(node, "'record'");
  if (!map) return;
  const SceneItem item(build->reading, *map, "record");
  item.check_keys({"every", "contacts", "like"});
  if (item.integer("every", &options->every) && options->every < 1) {
    item.fault(*item.find("every"), "'every' in record must be 1 or more");
  }
  item.flag("contacts", &options->contacts);
}

}  // namespace slipstick
