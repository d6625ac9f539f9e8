// A Scene as a scene file. Numbers are the shortest that are read back to the same bits.
#include <slipstick/app/import.h>
#include <slipstick/surface.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>

namespace slipstick {
namespace {

constexpr std::size_t kInlinePoints = 12;  // hulls with more go into a file

std::string as_number(double x) {
  if (x == 0) return "0";
  char text[40];
  const auto [end, error] = std::to_chars(text, text + sizeof text, x);
  std::string made(text, end);
  // "1e-05" is a number to the reader of scenes only with a dot or as it stands: both are.
  return made;
}

std::string as_row(std::initializer_list<double> values) {
  std::string text;
  for (const double x : values) text += (text.empty() ? "" : ", ") + as_number(x);
  return "[" + text + "]";
}
std::string as_row(const Vec3& v) { return as_row({v.x(), v.y(), v.z()}); }
std::string as_row(const Quat& q) { return as_row({q.w(), q.x(), q.y(), q.z()}); }

std::string as_name(const std::string& name) {
  std::string text = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + "\"";
}

std::string as_comment(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  return text;
}

std::string as_file_name(const std::string& name) {
  std::string text;
  for (const char c : name)
    text += std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.' ? c : '_';
  return text.empty() ? "part" : text;
}

class SceneWriter {
 public:
  SceneWriter(const Scene& scene, const ImportReport& report, const std::string& folder, SceneText* out)
      : scene_(scene), report_(report), folder_(folder), out_(*out) {}

  void write() {
    const ModelDescription& d = scene_.description;
    line("slipstick: 1");
    if (!report_.format.empty()) line("# Converted from " + report_.format + ": " + as_comment(scene_.path));
    if (!report_.ignored.empty())
      line("# " + std::to_string(report_.ignored.size()) +
           " items of the file are not modelled; 'slipstick convert --report' lists them.");
    line("name: " + as_name(scene_.name));
    line("gravity: " + as_row(d.gravity));
    write_simulation();
    write_materials();
    if (!d.bodies.empty()) line("bodies:");
    for (const BodyDescription& body : d.bodies) write_body(body);
    if (!d.joints.empty()) line("joints:");
    for (const JointDescription& joint : d.joints) write_joint(joint);
    if (!d.springs.empty()) line("forces:");
    for (const SpringDescription& s : d.springs)
      line("  - spring: {name: " + as_name(s.name) + ", between: [" + as_name(s.a) + ", " + as_name(s.b) + "], at: [" +
           as_row(s.at_a) + ", " + as_row(s.at_b) + "], stiffness: " + as_number(s.stiffness) + ", damping: " +
           as_number(s.damping) + (s.rest_length ? ", rest_length: " + as_number(*s.rest_length) : "") + "}");
    if (!d.pairs_without_contact.empty()) line("pairs_without_contact:");
    for (const auto& pair : d.pairs_without_contact) line("  - [" + as_name(pair[0]) + ", " + as_name(pair[1]) + "]");
  }

 private:
  void line(const std::string& text) { out_.text += text + "\n"; }
  void comment(const std::string& indent, SourceTag source) {
    if (source < 0 || source >= static_cast<SourceTag>(report_.sources.size())) return;
    line(indent + "# " + as_comment(report_.sources[source]));
  }

  void write_simulation() {
    const SimulationOptions& o = scene_.options;
    line("simulation: {step: " + as_number(o.step) + ", duration: " + as_number(o.duration) + ", scheme: " + o.scheme +
         ", solver: " + o.solver + (o.close_joints ? ", close_joints: true" : "") + "}");
  }

  void write_materials() {
    const ModelDescription& d = scene_.description;
    if (!d.materials.empty()) line("materials:");
    for (const Material& m : d.materials)
      line("  " + as_name(m.name) + ": {friction: " + as_number(m.friction) +
           ", restitution: " + as_number(m.restitution) + arms(m.rolling_friction, m.spinning_friction) + "}");
    if (!d.material_pairs.empty()) line("material_pairs:");
    for (const MaterialPairDescription& p : d.material_pairs)
      line("  - {between: [" + as_name(p.a) + ", " + as_name(p.b) + "]" +
           (p.friction ? ", friction: " + as_number(*p.friction) : "") +
           (p.restitution ? ", restitution: " + as_number(*p.restitution) : "") +
           (p.rolling_friction ? ", rolling_friction: " + as_number(*p.rolling_friction) : "") +
           (p.spinning_friction ? ", spinning_friction: " + as_number(*p.spinning_friction) : "") + "}");
  }
  static std::string arms(double rolling, double spinning) {
    return (rolling != 0 ? ", rolling_friction: " + as_number(rolling) : "") +
           (spinning != 0 ? ", spinning_friction: " + as_number(spinning) : "");
  }

  void write_body(const BodyDescription& b) {
    comment("  ", b.source);
    line("  - name: " + as_name(b.name));
    if (b.kind == BodyKind::Fixed) line("    fixed: true");
    if (!b.pose.position.isZero(0)) line("    position: " + as_row(b.pose.position));
    if (b.pose.orientation.coeffs() != Quat::Identity().coeffs())
      line("    orientation: " + as_row(b.pose.orientation));
    if (!b.velocity.isZero(0)) line("    velocity: " + as_row(b.velocity));
    if (!b.angular_velocity.isZero(0)) line("    angular_velocity: " + as_row(b.angular_velocity));
    if (b.mass) line("    mass: " + as_number(*b.mass));
    if (b.center_of_mass) line("    center_of_mass: " + as_row(*b.center_of_mass));
    if (b.inertia) {
      const Mat3& i = *b.inertia;
      line("    inertia: " + as_row({i(0, 0), i(1, 1), i(2, 2), i(0, 1), i(0, 2), i(1, 2)}));
    }
    if (b.gravity_scale != 1) line("    gravity_scale: " + as_number(b.gravity_scale));
    if (b.shapes.empty()) return;
    line("    shapes:");
    for (const ShapeDescription& shape : b.shapes) line("      - {" + form_of(shape, b) + rest_of(shape) + "}");
  }

  std::string form_of(const ShapeDescription& s, const BodyDescription& body) {
    const std::string round = "radius: " + as_number(s.radius), length = ", length: " + as_number(s.length);
    const std::string kind(name_of(s.kind));
    switch (s.kind) {
      case ShapeKind::Sphere:
        return kind + ": {" + round + "}";
      case ShapeKind::Capsule:
      case ShapeKind::Cylinder:
      case ShapeKind::Cone:
        return kind + ": {" + round + length + "}";
      case ShapeKind::Box:
      case ShapeKind::Ellipsoid:
        return kind + ": {size: " + as_row(s.size) + "}";
      case ShapeKind::Plane:
        return kind + ": {normal: " + as_row(s.normal) + ", offset: " + as_number(s.offset) + "}";
      case ShapeKind::Hull:
        return kind + ": {" + points_of(s, body) + "}";
      case ShapeKind::Heightfield: {
        const Vec3& corner = s.surface->vertices.front();  // of least x and y; the origin is in the middle
        return kind + ": {file: " + as_name(height_file(s, body)) + ", size: [" + as_number(-2 * corner.x()) + ", " +
               as_number(-2 * corner.y()) + "]}";
      }
      case ShapeKind::Mesh:
        return "mesh: {file: " + as_name(mesh_file(s, body)) + "}";
      default:
        return kind + ": {}";
    }
  }

  std::string rest_of(const ShapeDescription& s) const {
    std::string text;
    if (!s.pose.position.isZero(0)) text += ", position: " + as_row(s.pose.position);
    if (s.pose.orientation.coeffs() != Quat::Identity().coeffs())
      text += ", orientation: " + as_row(s.pose.orientation);
    if (s.material != "default") text += ", material: " + as_name(s.material);
    if (!s.color.empty()) text += ", color: " + as_name(s.color);
    if (s.visual_only) text += ", visual_only: true";
    if (s.contype != 1) text += ", contype: " + std::to_string(s.contype);
    if (s.conaffinity != 1) text += ", conaffinity: " + std::to_string(s.conaffinity);
    return text;
  }

  std::string add_file(const std::string& stem, const std::string& ending, std::string bytes) {
    std::string name = folder_ + "/" + stem + ending;
    for (int k = 2; files_.count(name); ++k) name = folder_ + "/" + stem + "_" + std::to_string(k) + ending;
    files_[name] = true;
    out_.files.push_back({name, std::move(bytes)});
    return name;
  }

  std::string points_of(const ShapeDescription& s, const BodyDescription& body) {
    std::string text;
    if (s.vertices.size() <= kInlinePoints) {
      for (const Vec3& p : s.vertices) text += (text.empty() ? "" : ", ") + as_row(p);
      return "points: [" + text + "]";
    }
    for (const Vec3& p : s.vertices) text += as_number(p.x()) + " " + as_number(p.y()) + " " + as_number(p.z()) + "\n";
    if (const auto known = hulls_.find(text); known != hulls_.end()) return "file: " + as_name(known->second);
    const std::string name = add_file(as_file_name(body.name) + "_hull", ".xyz", text);
    hulls_[text] = name;
    return "file: " + as_name(name);
  }

  std::string mesh_file(const ShapeDescription& s, const BodyDescription& body) {
    if (const auto known = meshes_.find(s.surface.get()); known != meshes_.end()) return known->second;
    std::string text;
    for (const Vec3& p : s.surface->vertices)
      text += "v " + as_number(p.x()) + " " + as_number(p.y()) + " " + as_number(p.z()) + "\n";
    for (const Triangle& t : s.surface->triangles)
      text += "f " + std::to_string(t[0] + 1) + " " + std::to_string(t[1] + 1) + " " + std::to_string(t[2] + 1) + "\n";
    return meshes_[s.surface.get()] = add_file(as_file_name(body.name), ".obj", std::move(text));
  }

  std::string height_file(const ShapeDescription& s, const BodyDescription& body) {
    if (const auto known = meshes_.find(s.surface.get()); known != meshes_.end()) return known->second;
    std::string text;
    const std::vector<Vec3>& points = s.surface->vertices;
    for (std::size_t k = 0; k < points.size(); ++k) {
      const bool ends = k + 1 == points.size() || points[k + 1].y() != points[k].y();
      text += as_number(points[k].z()) + (ends ? "\n" : ", ");
    }
    return meshes_[s.surface.get()] = add_file(as_file_name(body.name), ".csv", std::move(text));
  }

  static std::string as_limit(double x) { return std::isfinite(x) ? as_number(x) : "none"; }

  static std::string keys_of(const AxisDescription& a) {
    std::string text;
    const auto add = [&](const char* key, double x) {
      if (x != 0) text += std::string(", ") + key + ": " + as_number(x);
    };
    add("start", a.start);
    if (a.lock) text += ", lock: true";
    if (a.limits) text += ", limits: [" + as_limit((*a.limits)[0]) + ", " + as_limit((*a.limits)[1]) + "]";
    add("restitution", a.restitution);
    add("friction", a.friction);
    add("stiffness", a.stiffness);
    add("damping", a.damping);
    add("rest", a.rest);
    add("armature", a.armature);
    if (!a.motor) return text;
    const Motor& m = *a.motor;
    text += std::string(", motor: {") +
            (m.drives_force      ? "torque: "
             : m.drives_position ? "position: "
                                 : "speed: ") +
            as_number(m.target.constant());
    if (std::isfinite(m.max.constant())) text += ", max: " + as_number(m.max.constant());
    if (m.stiffness != 0) text += ", stiffness: " + as_number(m.stiffness);
    if (m.damping != 0) text += ", damping: " + as_number(m.damping);
    return text + "}";
  }

  void write_joint(const JointDescription& j) {
    comment("  ", j.source);
    std::string text = "  - " + std::string(name_of(j.kind)) + ": {name: " + as_name(j.name);
    if (j.kind == JointKind::Gear) {
      text += ", joints: [" + as_name(j.joints[0]) + ", " + as_name(j.joints[1]) + "], polynomial: [";
      for (std::size_t k = 0; k < j.polynomial.size(); ++k) text += (k ? ", " : "") + as_number(j.polynomial[k]);
      return line(text + "]}");
    }
    text += ", between: [" + as_name(j.a) + ", " + as_name(j.b) + "]";
    if (j.kind == JointKind::Rope) {
      text += ", at: [" + as_row(j.at) + ", " + as_row(j.at_b) + "]";
      if (j.length) text += ", length: " + as_number(*j.length);
    } else {
      text += ", at: " + as_row(j.at);
    }
    const bool axis = j.kind == JointKind::Hinge || j.kind == JointKind::Slider || j.kind == JointKind::Universal ||
                      j.kind == JointKind::Generic;
    if (axis) text += ", axis: " + as_row(j.axis);
    if (j.second_axis)
      text += std::string(j.kind == JointKind::Universal ? ", axis_b: " : ", x_axis: ") + as_row(*j.second_axis);
    if (j.second_at) text += ", second_at: " + as_row(*j.second_at);
    if (j.collide) text += ", collide: true";
    line(text + axes_of(j) + "}");
  }

  static std::string axes_of(const JointDescription& j) {
    std::string text;
    const auto map_of = [&](const AxisDescription& a) {
      const std::string keys = keys_of(a);
      return "{" + (keys.empty() ? keys : keys.substr(2)) + "}";
    };
    if (j.kind == JointKind::Generic) {
      for (const AxisDescription& a : j.axes)
        text += (text.empty() ? "" : ", ") + std::string(name_of(a.freedom)) + ": " + map_of(a);
      for (int k = 0; k < 6; ++k) {
        const auto freedom = static_cast<Freedom>(k);
        const bool said =
            std::any_of(j.axes.begin(), j.axes.end(), [&](const AxisDescription& a) { return a.freedom == freedom; });
        if (j.free[k] && !said) text += (text.empty() ? "" : ", ") + std::string(name_of(freedom)) + ": {}";
      }
      return ", free: {" + text + "}";
    }
    for (const AxisDescription& a : j.axes) {
      if (j.kind == JointKind::Universal) {
        text += std::string(", ") + (a.freedom == Freedom::TurnZ ? "first" : "second") + ": " + map_of(a);
      } else {
        text += keys_of(a);
      }
    }
    return text;
  }

  const Scene& scene_;
  const ImportReport& report_;
  const std::string& folder_;
  SceneText& out_;
  std::map<std::string, bool> files_;
  std::map<std::string, std::string> hulls_;
  std::map<const Surface*, std::string> meshes_;
};

}  // namespace

SceneText write_scene_text(const Scene& scene, const ImportReport& report, const std::string& folder) {
  SceneText out;
  SceneWriter(scene, report, folder, &out).write();
  return out;
}

}  // namespace slipstick
