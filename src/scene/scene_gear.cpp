// `gear: {teeth: 25, module: 2e-3}` of polygons and extrusions.
#include "model/gear.h"

#include "scene/scene_outlines.h"

namespace slipstick {
namespace {

constexpr double kBacklash = 0.05, kRim = 2.5, kTolerance = 0.005;  ///< in modules, where nobody says

bool read_form(const SceneItem& item, GearForm* form) {
  const bool complete = item.require("teeth") & item.require("module");
  if (!complete || !item.integer("teeth", &form->teeth) || !item.number("module", &form->module)) return false;
  const auto optional = [&](const char* key, double* out) { return !item.has(key) || item.number(key, out); };
  double degrees = 20;
  form->backlash = kBacklash * form->module;
  form->rim = kRim * form->module;
  const bool good = optional("pressure_angle_deg", &degrees) & optional("addendum", &form->addendum) &
                    optional("dedendum", &form->dedendum) & optional("profile_shift", &form->profile_shift) &
                    optional("backlash", &form->backlash) & optional("rim", &form->rim) &
                    optional("bore", &form->bore) & (!item.has("internal") || item.flag("internal", &form->internal));
  form->pressure_angle = degrees * std::numbers::pi / 180;
  return good;
}

}  // namespace

bool read_gear(const SceneItem& outer, double tolerance, Outline* outline) {
  const SceneNode& node = *outer.find("gear");
  if (!node.is_map()) {
    outer.expected(node, "a map such as {teeth: 25, module: 2e-3}", "gear");
    return false;
  }
  SceneMap map{&node, {}};
  for (std::size_t i = 0; i + 1 < node.items.size(); i += 2) map.entries.push_back({node.items[i], node.items[i + 1]});
  const SceneItem item(outer.reading(), map, "gear of " + outer.label());
  item.check_keys({"teeth", "module", "pressure_angle_deg", "addendum", "dedendum", "profile_shift", "backlash",
                   "internal", "rim", "bore"});
  GearForm form;
  if (!read_form(item, &form)) return false;
  if (const char* idle = form.internal ? "bore" : "rim"; item.has(idle)) {
    item.fault(*item.find(idle),
               std::string("'") + idle + "' is for " + (form.internal ? "external" : "internal") + " gears");
    return false;
  }
  if (const auto fault = find_gear_fault(form)) {
    const SceneNode* place = item.find(fault->key);
    item.fault(place != nullptr ? *place : node, "'" + fault->key + "' " + fault->message + ", in " + item.label());
    return false;
  }
  *outline = make_gear_outline(form, tolerance > 0 ? tolerance : kTolerance * form.module);
  return true;
}

}  // namespace slipstick
