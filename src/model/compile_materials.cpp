// Materials and how each pair of them meets.
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "model/compile_parts.h"

namespace slipstick {
namespace {

void add_material(const Material& material, Compilation* c) {
  c->material_index.emplace(material.name, static_cast<int>(c->model.materials.size()));
  c->material_names.push_back(material.name);
  c->model.materials.push_back(material);
}

void check_law(std::optional<double> friction, std::optional<double> restitution, std::optional<double> tangential,
               ItemCheck* check) {
  if (friction) check->not_negative("friction", *friction);
  if (restitution) check->within("restitution", *restitution, 0, 1);
  if (tangential) check->within("tangential_restitution", *tangential, 0, 1);
}

std::optional<int> find_material(const std::string& name, ItemCheck* check, Compilation* c) {
  const auto found = c->material_index.find(name);
  if (found != c->material_index.end()) return found->second;
  check->fail(c->faults.as_unknown_name("material", name, c->material_names));
  return std::nullopt;
}

/// What the pairs say wins, field by field, over the combine rule.
void apply_pairs(Compilation* c) {
  std::set<std::pair<int, int>> seen;
  const std::size_t count = c->model.materials.size();
  for (const MaterialPairDescription& pair : c->description.material_pairs) {
    ItemCheck check(pair.source, "material pair " + as_quoted(pair.a) + " and " + as_quoted(pair.b), &c->faults);
    check_law(pair.friction, pair.restitution, pair.tangential_restitution, &check);
    const auto a = find_material(pair.a, &check, c), b = find_material(pair.b, &check, c);
    if (!a || !b) continue;
    if (!seen.insert(std::minmax(*a, *b)).second) check.fail("this pair is given twice; keep one of them");
    for (const std::size_t at : {*a * count + *b, *b * count + *a}) {
      if (pair.friction) c->model.pair_laws[at].friction = *pair.friction;
      if (pair.restitution) c->model.pair_laws[at].restitution = *pair.restitution;
      if (pair.tangential_restitution) c->model.pair_laws[at].tangential_restitution = *pair.tangential_restitution;
      if (pair.impact) c->model.pair_laws[at].impact = *pair.impact;
    }
  }
}

}  // namespace

void compile_materials(Compilation* c) {
  bool has_default = false;
  for (const Material& material : c->description.materials) has_default |= material.name == "default";
  if (!has_default) add_material({"default", 0.5, 0}, c);
  for (const Material& material : c->description.materials) {
    ItemCheck check(material.source, "material " + as_quoted(material.name), &c->faults);
    if (material.name.empty()) check.fail("has no name; give it one");
    if (c->material_index.count(material.name)) check.fail("another material has this name; names must differ");
    check_law(material.friction, material.restitution, material.tangential_restitution, &check);
    add_material(material, c);
  }
  for (const Material& a : c->model.materials) {
    for (const Material& b : c->model.materials) {
      const double product = a.friction * b.friction;
      // The root of a square is exact, but the product of tiny or huge numbers need not be: equal ones stay equal.
      const double friction = a.friction == b.friction ? a.friction : std::sqrt(product);
      c->model.pair_laws.push_back({friction, std::max(a.restitution, b.restitution),
                                    std::max(a.tangential_restitution, b.tangential_restitution), std::nullopt});
    }
  }
  apply_pairs(c);
}

}  // namespace slipstick
