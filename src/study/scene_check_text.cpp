#include <slipstick/app/scene_check.h>

#include "report/json_text.h"
#include "report/print_text.h"

#include <algorithm>
#include <cstdio>

namespace slipstick {

namespace {

constexpr std::size_t kOverlapsShown = 10;

void put_cone(const SceneCheck& check, JsonText* json) {
  json->key("friction_cone");
  json->begin_object();
  json->field("touching", check.touching);
  json->key("can_jam");
  if (check.can_jam) {
    json->value(*check.can_jam);
  } else {
    json->null();
  }
  json->key("strength");
  if (check.cone_strength) {
    json->value(*check.cone_strength);
  } else {
    json->null();
  }
  json->key("jams");
  json->begin_array();
  for (const Jam& jam : check.jams) {
    json->begin_object(true);
    json->field("a", jam.a);
    json->field("b", jam.b);
    json->field("contacts", jam.contacts);
    json->end_object();
  }
  json->end_array();
  json->key("held");
  json->begin_array();
  for (const HeldBody& each : check.held) {
    json->begin_object(true);
    json->field("body", each.body);
    json->key("by");
    json->begin_array();
    for (const std::string& name : each.by) json->value(name);
    json->end_array();
    json->end_object();
  }
  json->end_array();
  json->end_object();
}

/// What the contacts that touch can do to each other, in a few words.
std::string describe_cone(const SceneCheck& check) {
  if (check.touching == 0) return "nothing touches";
  const std::string count = std::to_string(check.touching) + (check.touching == 1 ? " touches, " : " touch, ");
  if (!check.held.empty()) return count + "they hold the load of '" + check.held[0].body + "' however large it is";
  if (!check.can_jam) return count + "not looked at whether they can jam";
  if (*check.can_jam) return count + "they can jam";
  if (!check.cone_strength) return count + "they cannot jam";
  return count + "they cannot jam: normal forces at most " + as_number(*check.cone_strength) + " times the load";
}

}  // namespace

std::string make_json(const SceneCheck& check) {
  JsonText json;
  json.begin_object();
  json.field("scene", check.scene);
  json.field("name", check.name);
  json.field("time", check.time);
  json.field("ok", check.remarks.empty());
  json.field("bodies", check.bodies);
  json.field("dynamic", check.dynamic);
  json.field("fixed", check.fixed);
  json.field("kinematic", check.kinematic);
  json.field("dof", check.dof);
  json.field("shapes", check.shapes);
  json.field("joints", check.joints);
  json.field("springs", check.springs);
  json.field("loads", check.loads);
  json.key("mass");
  json.begin_object();
  json.field("min", check.mass_min);
  json.field("max", check.mass_max);
  json.field("total", check.mass_total);
  json.field("ratio", check.mass_ratio);
  json.field("lightest", check.lightest);
  json.field("heaviest", check.heaviest);
  json.end_object();
  json.field("contacts", check.contacts);
  json.key("overlaps");
  json.begin_array();
  for (const Overlap& overlap : check.overlaps) {
    json.begin_object(true);
    json.field("a", overlap.a);
    json.field("b", overlap.b);
    json.field("depth", overlap.depth);
    json.end_object();
  }
  json.end_array();
  json.field("joint_error", check.joint_error);
  json.key("assembly");
  if (check.assembly.needed) {
    json.begin_object(true);
    json.field("closed", check.assembly.closed);
    json.field("left", check.assembly.left);
    json.field("moved", check.assembly.moved);
    json.field("body", check.assembly_body);
    json.field("limit", check.assembly.limit);
    json.end_object();
  } else {
    json.null();
  }
  json.field("joint_rows", check.joint_rows);
  json.key("redundant_rows");
  if (check.redundant_rows) {
    json.value(*check.redundant_rows);
  } else {
    json.null();
  }
  json.key("tied_joints");
  json.begin_array();
  for (const std::string& name : check.tied_joints) json.value(name);
  json.end_array();
  put_cone(check, &json);
  json.field("step", check.step);
  json.key("step_advised");
  if (check.step_advised) {
    json.value(*check.step_advised);
  } else {
    json.null();
  }
  json.field("step_reason", check.step_reason);
  json.key("remarks");
  json.begin_array();
  for (const std::string& remark : check.remarks) json.value(remark);
  json.end_array();
  json.end_object();
  return json.text() + "\n";
}

std::string make_text(const SceneCheck& check, bool colour) {
  const auto paint = [&](const char* style, const std::string& content) {
    return colour ? "\x1b[" + std::string(style) + "m" + content + "\x1b[0m" : content;
  };
  std::string text = paint("1", check.name.empty() ? check.scene : check.name) + "\n";
  const auto line = [&](std::string label, const std::string& content) {
    label.resize(14, ' ');
    text += "  " + paint("2", label) + content + "\n";
  };
  const auto number = [](int n) { return std::to_string(n); };
  line("bodies", number(check.bodies) + " (" + number(check.dynamic) + " dynamic, " + number(check.fixed) + " fixed, " +
                     number(check.kinematic) + " kinematic), " + number(check.shapes) + " shapes, " +
                     number(check.dof) + " degrees of freedom");
  line("connections",
       number(check.joints) + " joints, " + number(check.springs) + " springs, " + number(check.loads) + " loads");
  if (check.dynamic > 0)
    line("masses", as_number(check.mass_min) + " kg ('" + check.lightest + "') to " + as_number(check.mass_max) +
                       " kg ('" + check.heaviest + "'), ratio " + as_number(check.mass_ratio) + ", total " +
                       as_number(check.mass_total) + " kg");
  line("joint rows", number(check.joint_rows) + " rigid, " +
                         (check.redundant_rows ? number(*check.redundant_rows) + " redundant" : "rank not looked at") +
                         (check.steps == 0 ? ", error at the start " : ", error ") + as_number(check.joint_error));
  line(check.steps == 0 ? "start" : "t = " + as_number(check.time),
       number(check.contacts) + " contacts within reach, " + std::to_string(check.overlaps.size()) + " pairs overlap");
  line("contacts", describe_cone(check));
  for (std::size_t i = 0; i < std::min(kOverlapsShown, check.overlaps.size()); ++i)
    line("", check.overlaps[i].a + " in " + check.overlaps[i].b + " by " + as_number(check.overlaps[i].depth) + " m");
  if (check.overlaps.size() > kOverlapsShown)
    line("", "and " + std::to_string(check.overlaps.size() - kOverlapsShown) + " more");
  line("step", as_number(check.step) + " s" +
                   (check.step_advised
                        ? ", advised at most " + as_number(*check.step_advised) + " s (" + check.step_reason + ")"
                        : ""));
  for (const std::string& remark : check.remarks) text += paint("33", "  ! ") + remark + "\n";
  if (check.remarks.empty()) text += paint("32", check.steps == 0 ? "  ready to run" : "  nothing to remark") + "\n";
  return text;
}

}  // namespace slipstick
