#include "import/mjcf_tree.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "base/as_quoted.h"

namespace slipstick {
namespace {

constexpr int kMaxIncludes = 32;  // deep
constexpr std::size_t kMaxIncluded = 1000;

const KeyList kTurns{"quat", "axisangle", "xyaxes", "zaxis", "euler"};

constexpr int kMaxCopies = 10000;
constexpr std::size_t kMaxCopied = 200'000;  // elements

/// A copy whose names, and those of all in it, end in `suffix`.
std::unique_ptr<XmlElement> copy_element(const XmlElement& from, const std::string& suffix, std::size_t* count) {
  auto made = std::make_unique<XmlElement>();
  ++*count;
  made->name = from.name;
  made->file = from.file;
  made->line = from.line;
  made->column = from.column;
  made->attributes = from.attributes;
  made->text = from.text;
  for (XmlAttribute& a : made->attributes)
    if (a.name == "name") a.value += suffix;
  for (const auto& child : from.children) {
    if (*count > kMaxCopied) break;
    made->children.push_back(copy_element(*child, suffix, count));
    made->children.back()->parent = made.get();
  }
  return made;
}

void add_numbers(const char* name, std::initializer_list<double> numbers, XmlElement* to) {
  XmlAttribute made;
  made.name = name;
  made.file = to->file;
  made.line = to->line;
  made.column = to->column;
  for (const double x : numbers) {
    char text[32];
    std::snprintf(text, sizeof text, "%.17g ", x);
    made.value += text;
  }
  to->attributes.push_back(std::move(made));
}

Quat make_zaxis(const Vec3& axis) { return Quat::FromTwoVectors(Vec3::UnitZ(), axis.normalized()); }

}  // namespace

bool is_actuator(const std::string& name) {
  static const KeyList kNames{"general", "motor",    "position", "velocity", "intvelocity",
                              "damper",  "cylinder", "muscle",   "adhesion", "plugin"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

bool MjcfTree::read() {
  expand(&root_, assets_.folder(), 0);
  root_.used = true;
  check_children(root_, {"compiler", "option", "size", "visual", "statistic", "default", "custom", "extension", "asset",
                         "worldbody", "contact", "deformable", "equality", "tendon", "actuator", "sensor", "keyframe"});
  for (const auto& child : root_.children) {
    if (child->name == "compiler") read_compiler(*child);
    if (child->name == "default") read_defaults(*child, "");
  }
  for (const auto& child : root_.children)
    if (child->name == "worldbody") replicate(child.get());
  return context_.faults.empty();
}

double MjcfTree::angle() const { return compiler_.degrees ? std::numbers::pi / 180 : 1; }

/// Puts the children of included files in the place of <include>. As in MuJoCo a file is included once.
void MjcfTree::expand(XmlElement* parent, const std::filesystem::path& folder, int depth) {
  for (std::size_t k = 0; k < parent->children.size(); ++k) {
    XmlElement& child = *parent->children[k];
    if (child.name != "include") {
      expand(&child, folder, depth);
      continue;
    }
    const ImportElement include(child, &context_.faults);
    std::vector<std::unique_ptr<XmlElement>> made;
    const auto read = [&] {
      if (!include.require("file")) return;
      const XmlAttribute& at = *include.find("file");
      const auto path = assets_.find(include, at, at.value, folder);
      if (!path) return;
      if (std::find(included_.begin(), included_.end(), path->string()) != included_.end())
        return include.fault(at, "file " + as_quoted(at.value) + " is included already; once is enough");
      if (depth >= kMaxIncludes || included_.size() >= kMaxIncluded)
        return include.fault(at, "includes are too many or nested too deeply");
      included_.push_back(path->string());
      const FileBytes content = read_file_bytes(*path, 64u << 20);
      if (!content.problem.empty()) return include.fault(at, "file " + as_quoted(at.value) + ": " + content.problem);
      assets_.add_name(*path);
      const std::string shown = (std::filesystem::path(context_.faults.file_name(child.file)).parent_path() / at.value)
                                    .lexically_normal()
                                    .string();
      std::unique_ptr<XmlElement> root = parse_xml(content.bytes, context_.faults.add_file(shown), &context_.faults);
      if (!root) return;
      expand(root.get(), folder, depth + 1);
      made = std::move(root->children);
    };
    read();
    for (auto& each : made) each->parent = parent;
    parent->children.erase(parent->children.begin() + static_cast<std::ptrdiff_t>(k));
    parent->children.insert(parent->children.begin() + static_cast<std::ptrdiff_t>(k),
                            std::make_move_iterator(made.begin()), std::make_move_iterator(made.end()));
    k += made.size();
    --k;
  }
}

/// Puts copies, each in a <frame> of its own, in the place of <replicate>.
void MjcfTree::replicate(XmlElement* parent) {
  for (std::size_t k = 0; k < parent->children.size(); ++k) {
    replicate(parent->children[k].get());
    if (parent->children[k]->name != "replicate") continue;
    std::vector<std::unique_ptr<XmlElement>> made = make_copies(*parent->children[k]);
    for (auto& each : made) each->parent = parent;
    parent->children.erase(parent->children.begin() + static_cast<std::ptrdiff_t>(k));
    parent->children.insert(parent->children.begin() + static_cast<std::ptrdiff_t>(k),
                            std::make_move_iterator(made.begin()), std::make_move_iterator(made.end()));
    k += made.size();
    --k;
  }
}

/// Each frame is the one before it, moved by `offset` and turned by `euler` in its own axes.
std::vector<std::unique_ptr<XmlElement>> MjcfTree::make_copies(const XmlElement& xml) {
  const ImportElement element(xml, &context_.faults);
  element.check_names({"count", "offset", "euler", "sep", "childclass"});
  std::vector<std::unique_ptr<XmlElement>> made;
  int count = 0;
  std::string separator;
  Pose step, at;
  if (!element.require("count") || !element.integer("count", &count)) return made;
  if (count < 1 || count > kMaxCopies) {
    element.fault(*element.find("count"), "count of <replicate> must be from 1 to " + std::to_string(kMaxCopies));
    return made;
  }
  element.text("sep", &separator);
  element.vector("offset", &step.position);
  if (element.has("euler")) find_turn(element, &step.orientation);
  const std::size_t digits = std::to_string(count).size();
  for (int i = 0; i < count; ++i) {
    std::string index = std::to_string(i);
    index.insert(0, digits - index.size(), '0');
    auto frame = copy_element(xml, separator + index, &copied_);
    if (copied_ > kMaxCopied) {
      element.fault("the copies of <replicate> have more than " + std::to_string(kMaxCopied) + " elements");
      return made;
    }
    frame->name = "frame";
    std::erase_if(frame->attributes, [](const XmlAttribute& a) { return a.name != "childclass"; });
    const Quat& q = at.orientation;
    add_numbers("pos", {at.position.x(), at.position.y(), at.position.z()}, frame.get());
    add_numbers("quat", {q.w(), q.x(), q.y(), q.z()}, frame.get());
    made.push_back(std::move(frame));
    at = compose(at, step);
  }
  return made;
}

void MjcfTree::read_compiler(const XmlElement& xml) {
  const ImportElement c(xml, &context_.faults);
  c.check_names(
      {"angle",           "eulerseq",          "meshdir",        "assetdir",   "texturedir",   "autolimits",
       "inertiafromgeom", "inertiagrouprange", "balanceinertia", "boundmass",  "boundinertia", "settotalmass",
       "coordinate",      "discardvisual",     "strippath",      "fusestatic", "usethread",    "exactmeshinertia",
       "alignfree",       "convexhull",        "saveinertial",   "conflict",   "fitaabb"});
  int word = 0;
  if (c.word("angle", {"degree", "radian"}, &word)) compiler_.degrees = word == 0;
  c.text("eulerseq", &compiler_.eulerseq);
  if (compiler_.eulerseq.size() != 3 || compiler_.eulerseq.find_first_not_of("xyzXYZ") != std::string::npos)
    c.fault(*c.find("eulerseq"), "eulerseq must be three of x, y, z, X, Y, Z");
  c.text("meshdir", &compiler_.meshdir);
  c.text("assetdir", &compiler_.assetdir);
  c.flag("autolimits", &compiler_.autolimits);
  c.flag("exactmeshinertia", &compiler_.exact_mesh_inertia);
  c.flag("strippath", &compiler_.strip_path);
  c.flag("fitaabb", &compiler_.fit_aabb);
  c.flag("balanceinertia", &compiler_.balance_inertia);
  c.word("inertiafromgeom", {"false", "true", "auto"}, &compiler_.inertia_from_geom);
  std::vector<double> groups;
  if (c.numbers("inertiagrouprange", 2, 2, &groups)) compiler_.inertia_groups = {groups[0], groups[1]};
  c.number("settotalmass", &compiler_.total_mass);
  c.number("boundmass", &compiler_.least_mass);
  c.number("boundinertia", &compiler_.least_inertia);
  if (c.word("coordinate", {"local", "global"}, &word) && word == 1)
    c.fault(*c.find("coordinate"), "coordinate=\"global\" is not read; MuJoCo 2.3 and later do not either");
  for (const char* drawing : {"texturedir", "usethread"}) c.find(drawing);
}

void MjcfTree::read_defaults(const XmlElement& xml, const std::string& parent) {
  const ImportElement element(xml, &context_.faults);
  std::string name = parent.empty() ? "main" : "";
  element.text("class", &name);
  if (name.empty()) return element.fault("missing attribute 'class' in <default>");
  if (classes_.count(name) && !parent.empty()) return element.fault("class " + as_quoted(name) + " is defined twice");
  // Sections may stand several times, in included files for instance: what comes later goes before.
  Class& made = classes_[name];
  made.parent = parent;
  made.xml.insert(made.xml.begin(), &xml);
  check_children(xml, {"default",  "mesh",   "material",    "joint",    "geom",    "site",    "camera",
                       "light",    "pair",   "equality",    "tendon",   "general", "motor",   "position",
                       "velocity", "damper", "intvelocity", "cylinder", "muscle",  "adhesion"});
  for (const auto& child : xml.children)
    if (child->name == "default") read_defaults(*child, name);
}

ImportElement MjcfTree::make(const XmlElement& xml, const std::string& childclass) const {
  std::string name = childclass.empty() ? "main" : childclass;
  const XmlAttribute* given = xml.find("class");
  if (given != nullptr) {
    given->used = true;
    name = given->value;
  }
  std::vector<const XmlElement*> behind;
  const auto start = classes_.find(name);
  if (start == classes_.end() && name != "main") {
    KeyList known;
    for (const auto& [each, made] : classes_) known.push_back(each);
    const XmlElement& at = xml;
    context_.faults.add(given != nullptr ? given->file : at.file, given != nullptr ? given->line : at.line,
                        given != nullptr ? given->column : at.column,
                        "unknown class " + as_quoted(name) + as_suggestion(name, known));
  }
  const bool constrains = xml.parent != nullptr && xml.parent->name == "equality";  // its <joint> is no joint
  const std::string tag = xml.name == "fixed" || xml.name == "spatial" ? "tendon" : constrains ? "equality" : xml.name;
  for (auto at = start; at != classes_.end(); at = classes_.find(at->second.parent)) {
    for (const XmlElement* each : at->second.xml)
      for (auto child = each->children.rbegin(); child != each->children.rend(); ++child)  // the last one is nearest
        if ((*child)->name == tag || (is_actuator(tag) && is_actuator((*child)->name))) behind.push_back(child->get());
    if (at->second.parent.empty()) break;
  }
  return {xml, &context_.faults, std::move(behind)};
}

std::string MjcfTree::read_childclass(const ImportElement& element, const std::string& outer) const {
  std::string name = outer;
  if (!element.text("childclass", &name) || classes_.count(name) || name == "main") return name;
  KeyList known;
  for (const auto& [each, made] : classes_) known.push_back(each);
  element.fault(*element.find("childclass"), "unknown class " + as_quoted(name) + as_suggestion(name, known));
  return outer;
}

bool MjcfTree::find_turn(const ImportElement& level, Quat* out) const {
  std::vector<double> v;
  if (level.numbers("quat", 4, 4, &v)) {
    const Quat q(v[0], v[1], v[2], v[3]);
    if (q.norm() > 0) return *out = q.normalized(), true;
    level.fault("quat of " + level.label() + " must not be zero");
  } else if (level.numbers("axisangle", 4, 4, &v)) {
    const Vec3 axis(v[0], v[1], v[2]);
    if (axis.norm() > 0) return *out = Quat(Eigen::AngleAxisd(v[3] * angle(), axis.normalized())), true;
    level.fault("the axis in axisangle of " + level.label() + " must not be zero");
  } else if (level.numbers("xyaxes", 6, 6, &v)) {
    const Vec3 x(v[0], v[1], v[2]), given(v[3], v[4], v[5]);
    const Vec3 y = given - given.dot(x) / x.squaredNorm() * x;
    if (!(x.norm() > 0) || !(y.norm() > 0))
      return level.fault("xyaxes of " + level.label() + " are on one line"), false;
    Mat3 r;
    r << x.normalized(), y.normalized(), x.normalized().cross(y.normalized());
    return *out = Quat(r).normalized(), true;
  } else if (level.numbers("zaxis", 3, 3, &v)) {
    const Vec3 z(v[0], v[1], v[2]);
    if (z.norm() > 0) return *out = make_zaxis(z), true;
    level.fault("zaxis of " + level.label() + " must not be zero");
  } else if (level.numbers("euler", 3, 3, &v)) {
    Quat q = Quat::Identity();
    for (int k = 0; k < 3; ++k) {
      const char c = compiler_.eulerseq[k];
      const int axis = (c | 0x20) - 'x';
      const Quat turn(Eigen::AngleAxisd(v[k] * angle(), Vec3::Unit(axis)));
      q = c >= 'a' ? q * turn : turn * q;  // lower case: about axes that turn along
    }
    return *out = q.normalized(), true;
  }
  return false;
}

Pose MjcfTree::read_pose(const ImportElement& element) const {
  Pose pose;
  element.vector("pos", &pose.position);
  for (const XmlElement* level : element.chain()) {
    const bool any =
        std::any_of(kTurns.begin(), kTurns.end(), [&](std::string_view name) { return level->find(name) != nullptr; });
    if (!any) continue;
    find_turn(ImportElement(*level, &context_.faults), &pose.orientation);
    break;
  }
  for (const std::string_view name : kTurns) element.find(name);  // those that are overridden
  return pose;
}

std::vector<double> MjcfTree::overlay(const ImportElement& element, std::string_view name,
                                      std::vector<double> start) const {
  const auto& chain = element.chain();
  for (auto level = chain.rbegin(); level != chain.rend(); ++level) {
    std::vector<double> given;
    if (!ImportElement(**level, &context_.faults).numbers(name, 1, 20, &given)) continue;
    for (std::size_t k = 0; k < std::min(given.size(), start.size()); ++k) start[k] = given[k];
  }
  return start;
}

std::vector<const XmlElement*> MjcfTree::section(std::string_view name) const {
  std::vector<const XmlElement*> all;
  for (const auto& child : root_.children) {
    if (child->name != name) continue;
    child->used = true;
    for (const auto& each : child->children) all.push_back(each.get());
  }
  return all;
}

void MjcfTree::check_children(const XmlElement& parent, const KeyList& known) const {
  for (const auto& child : parent.children) {
    if (std::find(known.begin(), known.end(), child->name) != known.end()) continue;
    const std::string near = as_suggestion(child->name, known);
    context_.faults.add(child->file, child->line, child->column,
                        "unknown element <" + child->name + "> in <" + parent.name + ">" +
                            (near.empty() ? " (known: " + as_list(known) + ")" : near));
  }
}

}  // namespace slipstick
