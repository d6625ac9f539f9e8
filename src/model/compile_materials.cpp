// Materials and how each pair of them meets.
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/friction_bound.h"
#include "model/compile_parts.h"

namespace slipstick {
namespace {

void add_material(const Material& material, Compilation* c) {
  c->material_index.emplace(material.name, static_cast<int>(c->model.materials.size()));
  c->material_names.push_back(material.name);
  c->model.materials.push_back(material);
}

void check_friction(std::string_view what, double friction, ItemCheck* check) {
  if (!check->not_negative(what, friction) || friction <= kMaxFriction) return;
  check->fail(what, std::string(what) + " must be at most " + as_text(kMaxFriction) + ", not " + as_text(friction) +
                        "; what never slips has 1000 or a joint");
}

void check_law(std::optional<double> friction, std::optional<double> restitution, std::optional<double> tangential,
               ItemCheck* check) {
  if (friction) check_friction("friction", *friction, check);
  if (restitution) check->within("restitution", *restitution, 0, 1);
  if (tangential) check->within("tangential_restitution", *tangential, 0, 1);
}

void check_slip(double peak, const std::optional<FrictionBySlip>& slip, ItemCheck* check) {
  if (!slip) return;
  check_friction("sliding", slip->sliding, check);
  check->positive("slip_speed", slip->slip_speed);
  if (slip->sliding > peak)
    check->fail("sliding", "sliding must be at most the peak, " + as_text(peak) + ", not " + as_text(slip->sliding));
}

void check_arms(std::optional<double> rolling, std::optional<double> spinning, ItemCheck* check) {
  if (rolling) check->not_negative("rolling_friction", *rolling);
  if (spinning) check->not_negative("spinning_friction", *spinning);
}

void check_anisotropy(const Material& material, ItemCheck* check) {
  if (!material.friction_across) return;
  check_friction("friction_across", *material.friction_across, check);
  if (material.friction == 0 || *material.friction_across == 0)
    check->fail("friction_across", "friction_across needs friction above zero in both directions");
  if (!(material.friction_axis.norm() > 0)) check->fail("friction_axis", "friction_axis is zero; give it a direction");
}

std::optional<int> find_material(const std::string& name, std::string_view key, ItemCheck* check, Compilation* c) {
  const auto found = c->material_index.find(name);
  if (found != c->material_index.end()) return found->second;
  check->fail_unknown(key, "material", name, c->material_names);
  return std::nullopt;
}

/// Where both materials say, the mode that does more directly.
SolveMode calc_pair_mode(std::optional<SolveMode> a, std::optional<SolveMode> b) {
  for (const SolveMode mode : {SolveMode::Direct, SolveMode::Split, SolveMode::Iterative})
    if (a == mode || b == mode) return mode;
  return PairLaw().solve;
}

/// The mean of two coefficients. The root of a square is exact, but the product of tiny or huge numbers need not be:
/// equal ones stay equal.
double calc_mean(double a, double b) { return a == b ? a : std::sqrt(a * b); }

/// Peak and sliding value are each the mean of the materials', the slip speed is the larger one.
std::optional<FrictionBySlip> calc_pair_slip(const Material& a, const Material& b) {
  if (!a.by_slip && !b.by_slip) return std::nullopt;
  const FrictionBySlip of_a = a.by_slip.value_or(FrictionBySlip{a.friction, 0});
  const FrictionBySlip of_b = b.by_slip.value_or(FrictionBySlip{b.friction, 0});
  return FrictionBySlip{calc_mean(of_a.sliding, of_b.sliding), std::max(of_a.slip_speed, of_b.slip_speed)};
}

/// What the pairs say wins, field by field, over the combine rule.
void apply_pairs(Compilation* c) {
  std::set<std::pair<int, int>> seen;
  const std::size_t count = c->model.materials.size();
  for (const MaterialPairDescription& pair : c->description.material_pairs) {
    ItemCheck check(pair.source, "material pair " + as_quoted(pair.a) + " and " + as_quoted(pair.b), &c->faults);
    check_law(pair.friction, pair.restitution, pair.tangential_restitution, &check);
    check_arms(pair.rolling_friction, pair.spinning_friction, &check);
    if (pair.friction) check_slip(*pair.friction, pair.by_slip, &check);
    const auto a = find_material(pair.a, "a", &check, c), b = find_material(pair.b, "b", &check, c);
    if (!a || !b) continue;
    if (!seen.insert(std::minmax(*a, *b)).second) check.fail("", "this pair is given twice; keep one of them");
    for (const std::size_t at : {*a * count + *b, *b * count + *a}) {
      if (pair.friction) c->model.pair_laws[at].friction = *pair.friction;
      if (pair.friction) c->model.pair_laws[at].by_slip = pair.by_slip;
      if (pair.restitution) c->model.pair_laws[at].restitution = *pair.restitution;
      if (pair.tangential_restitution) c->model.pair_laws[at].tangential_restitution = *pair.tangential_restitution;
      if (pair.rolling_friction) c->model.pair_laws[at].rolling_friction = *pair.rolling_friction;
      if (pair.spinning_friction) c->model.pair_laws[at].spinning_friction = *pair.spinning_friction;
      if (pair.impact) c->model.pair_laws[at].impact = *pair.impact;
      if (pair.solve) c->model.pair_laws[at].solve = *pair.solve;
    }
  }
}

}  // namespace

double calc_friction(const PairLaw& law, double slip) {
  if (!law.by_slip) return law.friction;
  const auto [sliding, slip_speed] = *law.by_slip;
  return sliding + (law.friction - sliding) * std::exp(-slip / slip_speed);
}

void compile_materials(Compilation* c) {
  bool has_default = false;
  for (const Material& material : c->description.materials) has_default |= material.name == "default";
  if (!has_default) add_material({"default", 0.5, 0}, c);
  for (const Material& material : c->description.materials) {
    ItemCheck check(material.source, "material " + as_quoted(material.name), &c->faults);
    if (material.name.empty()) check.fail("name", "has no name; give it one");
    if (c->material_index.count(material.name)) check.fail("name", "another material has this name; names must differ");
    check_law(material.friction, material.restitution, material.tangential_restitution, &check);
    check_slip(material.friction, material.by_slip, &check);
    check_arms(material.rolling_friction, material.spinning_friction, &check);
    check_anisotropy(material, &check);
    add_material(material, c);
  }
  for (const Material& a : c->model.materials) {
    for (const Material& b : c->model.materials) {
      c->model.pair_laws.push_back({calc_mean(a.friction, b.friction), std::max(a.restitution, b.restitution),
                                    std::max(a.tangential_restitution, b.tangential_restitution),
                                    std::max(a.rolling_friction, b.rolling_friction),
                                    std::max(a.spinning_friction, b.spinning_friction), std::nullopt,
                                    calc_pair_mode(a.solve, b.solve), calc_pair_slip(a, b)});
    }
  }
  apply_pairs(c);
}

}  // namespace slipstick
