#include "import/urdf.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "base/as_quoted.h"
#include "model/mass_properties.h"

namespace slipstick {

void set_mesh(const std::shared_ptr<const ImportMesh>& mesh, MeshUse use, ShapeDescription* shape) {
  const bool triangles = mesh->surface != nullptr && (shape->visual_only || use == MeshUse::Exact);
  shape->kind = triangles ? ShapeKind::Mesh : ShapeKind::Hull;
  if (triangles) {
    shape->surface = mesh->surface;
  } else {
    shape->vertices = mesh->hull;
  }
}

Quat make_rpy(const Vec3& angles) {
  return (Eigen::AngleAxisd(angles.z(), Vec3::UnitZ()) * Eigen::AngleAxisd(angles.y(), Vec3::UnitY()) *
          Eigen::AngleAxisd(angles.x(), Vec3::UnitX()))
      .normalized();
}

std::string as_color(double r, double g, double b) {
  const auto byte = [](double x) { return static_cast<unsigned>(std::lround(255 * std::clamp(x, 0.0, 1.0))); };
  char text[8];
  std::snprintf(text, sizeof text, "#%02x%02x%02x", byte(r), byte(g), byte(b));
  return text;
}

namespace {

const KeyList kRobotElements{"link", "joint", "material", "gazebo", "transmission", "sensor", "plugin", "mujoco"};
const KeyList kLinkElements{"inertial", "visual", "collision", "contact", "sensor", "collision_checking"};
const KeyList kJointElements{"origin",      "parent",           "child", "axis", "limit", "dynamics", "mimic",
                             "calibration", "safety_controller"};
const KeyList kJointTypes{"revolute", "continuous", "prismatic", "fixed", "floating", "planar"};

class UrdfReader {
 public:
  UrdfReader(const ImportOptions& options, ImportAssets* assets, ImportContext* context, Robot* robot)
      : options_(options), assets_(*assets), context_(*context), robot_(*robot) {}

  void read(const XmlElement& root) {
    const ImportElement robot(root, faults());
    robot.text("name", &robot_.name);
    if (!check_expanded(root)) return;
    check_children(root, kRobotElements);
    if (const XmlElement* mujoco = root.child("mujoco")) read_compiler(*mujoco);
    for (const auto& child : root.children)
      if (child->name == "material") read_material(*child);
    for (const auto& child : root.children)
      if (child->name == "link") add_link(*child);
    for (const auto& child : root.children)
      if (child->name == "joint") add_joint(*child);
    if (links_.empty()) robot.fault("the robot has no link");
    arrange(robot);
  }

 private:
  struct Link {
    const XmlElement* xml = nullptr;
    RobotLink made;
    int joint = -1;  ///< that moves it
    bool placed = false;
  };
  struct Joint {
    const XmlElement* xml = nullptr;
    std::string name, parent, child;
    Pose origin;
    int type = 3;
    RobotJoint made;
    std::optional<RobotCoupling> mimic;
  };

  SceneFaults* faults() { return &context_.faults; }

  /// Elements near to a known name are typing slips; others belong to somebody else, and are listed.
  void check_children(const XmlElement& parent, const KeyList& known) {
    for (const auto& child : parent.children) {
      if (std::find(known.begin(), known.end(), child->name) != known.end()) continue;
      const std::string near = as_suggestion(child->name, known);
      if (!near.empty())
        faults()->add(child->file, child->line, child->column,
                      "unknown element <" + child->name + "> in <" + parent.name + ">" + near);
    }
  }

  /// False and one fault where the file is still a program for xacro.
  bool check_expanded(const XmlElement& xml) {
    const auto refuse = [&](int line, int column, const std::string& what) {
      faults()->add(xml.file, line, column,
                    what + " is for xacro; run 'xacro FILE -o robot.urdf' first, and load that");
      return false;
    };
    if (xml.name.starts_with("xacro:")) return refuse(xml.line, xml.column, "<" + xml.name + ">");
    for (const XmlAttribute& a : xml.attributes)
      if (a.value.find("${") != std::string::npos || a.value.find("$(") != std::string::npos)
        return refuse(a.line, a.column, as_quoted(a.value));
    const bool ours = xml.name != "gazebo" && xml.name != "plugin" && xml.name != "transmission";
    return !ours || std::all_of(xml.children.begin(), xml.children.end(),
                                [&](const auto& child) { return check_expanded(*child); });
  }

  /// MuJoCo's own words in a URDF: where its meshes are.
  void read_compiler(const XmlElement& mujoco) {
    const XmlElement* xml = mujoco.child("compiler");
    if (xml == nullptr) return;
    mujoco.used = true;
    const ImportElement compiler(*xml, faults());
    compiler.text("meshdir", &meshdir_.emplace());
    compiler.flag("strippath", &strip_path_);
  }

  void read_material(const XmlElement& xml) {
    const ImportElement material(xml, faults());
    std::string name;
    material.text("name", &name);
    if (const XmlElement* color = xml.child("color")) {
      std::vector<double> rgba;
      if (ImportElement(*color, faults()).numbers("rgba", 3, 4, &rgba))
        colors_[name] = as_color(rgba[0], rgba[1], rgba[2]);
    }
  }

  Pose read_origin(const XmlElement& parent) {
    Pose pose;
    const XmlElement* xml = parent.child("origin");
    if (xml == nullptr) return pose;
    const ImportElement origin(*xml, faults());
    origin.check_names({"xyz", "rpy"});
    origin.vector("xyz", &pose.position);
    Vec3 rpy = Vec3::Zero();
    if (origin.vector("rpy", &rpy)) pose.orientation = make_rpy(rpy);
    return pose;
  }

  void add_link(const XmlElement& xml) {
    const ImportElement element(xml, faults());
    Link link;
    link.xml = &xml;
    link.made.name = read_name(element);
    link.made.source = context_.add_place(xml, "link " + as_quoted(link.made.name));
    check_children(xml, kLinkElements);
    if (index_.count(link.made.name)) return element.fault("another link is called " + as_quoted(link.made.name));
    const std::string material = read_contact(xml, link.made.name);
    for (const auto& child : xml.children) {
      if (child->name == "visual" || child->name == "collision") add_shape(*child, material, &link.made);
    }
    if (const XmlElement* inertial = xml.child("inertial")) read_inertial(*inertial, element, &link.made);
    index_[link.made.name] = links_.size();
    links_.push_back(std::move(link));
  }

  std::string read_name(const ImportElement& element) {
    std::string name;
    if (element.require("name")) element.text("name", &name);
    if (element.has("name") && name.empty()) element.fault("the name of " + element.label() + " is empty");
    return name;
  }

  /// <contact> of Bullet: friction and restitution of a link.
  std::string read_contact(const XmlElement& link, const std::string& name) {
    const XmlElement* xml = link.child("contact");
    if (xml == nullptr) return "default";
    const ImportElement contact(*xml, faults());
    Material material;
    bool given = false;
    const auto read = [&](const char* child, double* out) {
      const XmlElement* each = xml->child(child);
      if (each != nullptr) given |= ImportElement(*each, faults()).number("value", out);
    };
    read("lateral_friction", &material.friction);
    read("restitution", &material.restitution);
    if (!given) return "default";
    for (const Material& known : robot_.materials)
      if (known.friction == material.friction && known.restitution == material.restitution) return known.name;
    material.name = "of_" + name;
    material.source = context_.add_place(*xml, "contact of link " + as_quoted(name));
    robot_.materials.push_back(material);
    return material.name;
  }

  void read_inertial(const XmlElement& xml, const ImportElement& link, RobotLink* out) {
    const ImportElement inertial(xml, faults());
    check_children(xml, {"origin", "mass", "inertia"});
    const Pose at = read_origin(xml);
    MassProperties part;
    if (const XmlElement* mass = xml.child("mass")) {
      const ImportElement element(*mass, faults());
      element.check_names({"value"});
      if (element.require("value") && element.number("value", &part.mass) && part.mass < 0)
        element.fault("mass of " + link.label() + " must not be negative");
    } else {
      inertial.fault("missing element <mass> in <inertial> of " + link.label());
    }
    if (const XmlElement* inertia = xml.child("inertia")) {
      const ImportElement element(*inertia, faults());
      element.check_names({"ixx", "ixy", "ixz", "iyy", "iyz", "izz"});
      const auto read = [&](const char* name, int i, int j) {
        if (i == j ? element.require(name) : element.has(name)) element.number(name, &part.inertia(i, j));
        part.inertia(j, i) = part.inertia(i, j);
      };
      read("ixx", 0, 0), read("iyy", 1, 1), read("izz", 2, 2);
      read("ixy", 0, 1), read("ixz", 0, 2), read("iyz", 1, 2);
    }
    out->matter = move_matter(part, at);
  }

  void add_shape(const XmlElement& xml, const std::string& material, RobotLink* link) {
    const ImportElement element(xml, faults());
    ShapeDescription shape;
    shape.visual_only = xml.name == "visual";
    shape.material = material;
    check_children(xml, {"origin", "geometry", "material", "name", "contact_coefficients", "verbose"});
    element.find("name");
    shape.pose = read_origin(xml);
    shape.source = context_.add_place(xml, xml.name + " of link " + as_quoted(link->name));
    if (const XmlElement* colored = xml.child("material")) {
      read_material(*colored);
      const XmlAttribute* name = colored->find("name");
      if (name != nullptr && colors_.count(name->value)) shape.color = colors_[name->value];
    }
    const XmlElement* geometry = xml.child("geometry");
    if (geometry == nullptr) return element.fault("missing element <geometry> in <" + xml.name + ">");
    geometry->used = true;
    check_children(*geometry, {"box", "sphere", "cylinder", "capsule", "mesh"});
    if (geometry->children.empty()) return element.fault("<geometry> is empty");
    if (read_geometry(*geometry->children.front(), &shape)) link->shapes.push_back(std::move(shape));
  }

  bool read_geometry(const XmlElement& xml, ShapeDescription* shape) {
    const ImportElement form(xml, faults());
    if (xml.name == "box") {
      shape->kind = ShapeKind::Box;
      form.check_names({"size"});
      return form.require("size") && form.vector("size", &shape->size);
    }
    if (xml.name == "sphere") {
      shape->kind = ShapeKind::Sphere;
      form.check_names({"radius"});
      return form.require("radius") && form.number("radius", &shape->radius);
    }
    if (xml.name == "cylinder" || xml.name == "capsule") {
      shape->kind = xml.name == "capsule" ? ShapeKind::Capsule : ShapeKind::Cylinder;
      form.check_names({"radius", "length"});
      const bool both = form.require("radius") & form.require("length");
      return both && form.number("radius", &shape->radius) && form.number("length", &shape->length);
    }
    if (xml.name == "mesh") return read_mesh(form, shape);
    xml.used = false;
    return false;  // listed
  }

  bool read_mesh(const ImportElement& form, ShapeDescription* shape) {
    form.check_names({"filename", "scale"});
    if (!form.require("filename")) return false;
    const XmlAttribute& at = *form.find("filename");
    Vec3 scale = Vec3::Ones();
    if (form.has("scale") && !form.vector("scale", &scale)) return false;
    std::optional<std::filesystem::path> path;
    constexpr std::string_view kPackage = "package://", kFile = "file://";
    if (meshdir_) {  // as MuJoCo reads it: without the folders that the name has, unless it is told to keep them
      std::string name = at.value;
      if (name.starts_with(kPackage)) name.erase(0, kPackage.size());
      if (strip_path_) name.erase(0, name.find_last_of("/\\") + 1);
      path = assets_.find(form, at, name, assets_.folder() / *meshdir_);
    } else if (at.value.starts_with(kPackage)) {
      path = assets_.find_package(form, at, at.value.substr(kPackage.size()));
    } else {
      const std::string name = at.value.starts_with(kFile) ? at.value.substr(kFile.size()) : at.value;
      path = assets_.find(form, at, name, assets_.folder());
    }
    if (!path) return false;
    const auto mesh = assets_.read_mesh(form, at, *path, scale);
    if (!mesh) return false;
    set_mesh(mesh, options_.mesh, shape);
    return true;
  }

  void add_joint(const XmlElement& xml) {
    const ImportElement element(xml, faults());
    Joint joint;
    joint.xml = &xml;
    joint.name = read_name(element);
    check_children(xml, kJointElements);
    element.check_names({"name", "type"});
    if (!element.require("type") || !element.word("type", kJointTypes, &joint.type)) return;
    joint.origin = read_origin(xml);
    const auto link_of = [&](const char* which, std::string* out) {
      const XmlElement* end = xml.child(which);
      if (end == nullptr) return element.fault(std::string("missing element <") + which + "> in " + element.label());
      const ImportElement named(*end, faults());
      if (!named.require("link") || !named.text("link", out) || index_.count(*out)) return;
      KeyList known;
      for (const auto& [name, at] : index_) known.push_back(name);
      named.fault(*named.find("link"),
                  "unknown link " + as_quoted(*out) + " in " + element.label() + as_suggestion(*out, known));
      out->clear();
    };
    link_of("parent", &joint.parent);
    link_of("child", &joint.child);
    joint.made.name = joint.name;
    joint.made.source = context_.add_place(xml, "joint " + as_quoted(joint.name));
    read_axis(element, &joint);
    read_limit(element, &joint);
    read_mimic(element, &joint);
    if (joint.parent.empty() || joint.child.empty()) return;
    Link& child = links_[index_[joint.child]];
    if (child.joint >= 0)
      return element.fault("link " + as_quoted(joint.child) + " is the child of two joints, " +
                           as_quoted(joints_[child.joint].name) + " and " + as_quoted(joint.name));
    child.joint = static_cast<int>(joints_.size());
    joints_.push_back(std::move(joint));
  }

  void read_axis(const ImportElement& element, Joint* joint) {
    joint->made.type = joint->type == 2 ? RobotJoint::Type::Slide : RobotJoint::Type::Hinge;
    joint->made.axis = Vec3::UnitX();
    if (const XmlElement* xml = element.xml().child("axis")) {
      const ImportElement axis(*xml, faults());
      axis.check_names({"xyz"});
      axis.vector("xyz", &joint->made.axis);
      const bool needed = joint->type != 3 && joint->type != 4;
      if (needed && !(joint->made.axis.norm() > 0)) axis.fault("the axis of " + element.label() + " must not be zero");
    }
    if (joint->made.axis.norm() > 0) joint->made.axis.normalize();
    if (const XmlElement* xml = element.xml().child("dynamics")) {
      const ImportElement dynamics(*xml, faults());
      dynamics.number("damping", &joint->made.axis_data.damping);
      dynamics.number("friction", &joint->made.axis_data.friction);
    }
  }

  void read_limit(const ImportElement& element, Joint* joint) {
    const XmlElement* xml = element.xml().child("limit");
    const bool ranged = joint->type == 0 || joint->type == 2;
    if (xml == nullptr) {
      if (ranged)
        element.fault(element.label() + " is " + std::string(kJointTypes[joint->type]) + " and needs <limit>");
      return;
    }
    const ImportElement limit(*xml, faults());
    limit.check_names({"lower", "upper", "effort", "velocity"});
    if (!ranged) return;
    double lower = 0, upper = 0;
    limit.number("lower", &lower);
    limit.number("upper", &upper);
    if (lower > upper) limit.fault("lower is above upper in the limit of " + element.label());
    joint->made.axis_data.limits = {lower, upper};
    joint->made.start = std::clamp(0.0, lower, std::max(lower, upper));
    if (joint->made.start != 0)
      context_.note(context_.place_of(*xml), element.label(),
                    "starts at " + std::to_string(joint->made.start) + ", for its range does not hold zero");
    // The effort is the bound of a motor, which there is for whoever drives it: by itself it is a force of zero.
    double effort = 0;
    if (limit.number("effort", &effort) && effort > 0) {
      Motor motor;
      motor.drives_force = true;
      motor.max = effort;
      joint->made.axis_data.motor = motor;
    }
  }

  void read_mimic(const ImportElement& element, Joint* joint) {
    const XmlElement* xml = element.xml().child("mimic");
    if (xml == nullptr) return;
    const ImportElement mimic(*xml, faults());
    mimic.check_names({"joint", "multiplier", "offset"});
    RobotCoupling coupling;
    coupling.polynomial = {0, 1};
    coupling.name = joint->name + "_mimic";
    coupling.joint1 = joint->name;
    coupling.source = context_.add_place(*xml, "mimic of joint " + as_quoted(joint->name));
    if (mimic.require("joint")) mimic.text("joint", &coupling.joint2);
    mimic.number("multiplier", &coupling.polynomial[1]);
    mimic.number("offset", &coupling.polynomial[0]);
    joint->made.axis_data.motor.reset();
    joint->mimic = coupling;
  }

  /// Links in the order of the tree; joints on the links that they move.
  void arrange(const ImportElement& robot) {
    if (!context_.faults.empty()) return;
    std::vector<std::size_t> roots;
    for (std::size_t i = 0; i < links_.size(); ++i)
      if (links_[i].joint < 0) roots.push_back(i);
    if (roots.empty()) return robot.fault("the links form a circle; one of them must be the root");
    for (const std::size_t root : roots) {
      RobotLink& link = links_[root].made;
      link.free = options_.free_base && link.name != "world";
      if (!link.free && link.matter.mass > 0)
        context_.note(context_.place_of(*links_[root].xml), "link " + as_quoted(link.name),
                      "is the root and fixed to the world; --base free lets it float");
      place(root, -1);
    }
    for (const Link& link : links_)
      if (!link.placed)
        faults()->add(link.xml->file, link.xml->line, link.xml->column,
                      "link " + as_quoted(link.made.name) + " hangs on a circle of joints, not on the root");
    follow_mimics();
  }

  void place(std::size_t i, int parent) {
    Link& link = links_[i];
    link.placed = true;
    RobotLink made = link.made;
    made.parent = parent;
    if (link.joint >= 0) attach(joints_[link.joint], &made);
    robot_.links.push_back(made);
    const int at = static_cast<int>(robot_.links.size()) - 1;
    for (std::size_t k = 0; k < links_.size(); ++k)
      if (links_[k].joint >= 0 && !links_[k].placed && index_[joints_[links_[k].joint].parent] == i) place(k, at);
  }

  void attach(const Joint& joint, RobotLink* link) {
    link->pose = joint.origin;
    if (joint.type == 3) return;
    if (joint.type == 4) {
      link->free = true;
      link->pose = compose(link->parent >= 0 ? calc_link_poses(robot_, true)[link->parent] : Pose{}, joint.origin);
      link->parent = -1;
      return;
    }
    if (joint.type == 5) {  // two slides in the plane, and the turn about its normal
      const Vec3 z = joint.made.axis, x = z.unitOrthogonal();
      for (const Vec3& axis : {x, Vec3(z.cross(x))}) {
        RobotJoint slide = joint.made;
        slide.type = RobotJoint::Type::Slide;
        slide.axis = axis;
        slide.name += link->joints.empty() ? "_x" : "_y";
        link->joints.push_back(slide);
      }
    }
    link->joints.push_back(joint.made);
    if (joint.mimic) robot_.couplings.push_back(*joint.mimic);
  }

  /// Joints that copy another start where the other says; the other may copy a third one.
  void follow_mimics() {
    std::map<std::string, RobotJoint*> by_name;
    for (RobotLink& link : robot_.links)
      for (RobotJoint& joint : link.joints) by_name[joint.name] = &joint;
    if (!check_mimics(by_name)) return;
    std::map<std::string, const RobotCoupling*> open;
    for (const RobotCoupling& coupling : robot_.couplings) open[coupling.joint1] = &coupling;
    while (!open.empty()) {
      const std::size_t before = open.size();
      for (auto at = open.begin(); at != open.end();) {
        const RobotCoupling& coupling = *at->second;
        if (open.count(coupling.joint2)) {
          ++at;
          continue;
        }
        by_name[coupling.joint1]->start =
            coupling.polynomial[0] + coupling.polynomial[1] * by_name[coupling.joint2]->start;
        at = open.erase(at);
      }
      if (open.size() < before) continue;
      const ImportContext::Place& at = context_.places[open.begin()->second->source];
      return faults()->add(at.file, at.line, at.column,
                           "joint " + as_quoted(open.begin()->first) + " mimics itself, through other joints or not");
    }
  }

  bool check_mimics(const std::map<std::string, RobotJoint*>& by_name) {
    for (const RobotCoupling& coupling : robot_.couplings) {
      const auto leader = by_name.find(coupling.joint2), follower = by_name.find(coupling.joint1);
      if (leader == by_name.end() || follower == by_name.end()) {
        const ImportContext::Place& at = context_.places[coupling.source];
        KeyList known;
        for (const auto& [name, joint] : by_name) known.push_back(name);
        faults()->add(at.file, at.line, at.column,
                      "unknown joint " + as_quoted(coupling.joint2) + " in <mimic> of joint " +
                          as_quoted(coupling.joint1) + as_suggestion(coupling.joint2, known));
      }
    }
    return context_.faults.empty();
  }

  const ImportOptions& options_;
  ImportAssets& assets_;
  ImportContext& context_;
  Robot& robot_;
  std::vector<Link> links_;
  std::vector<Joint> joints_;
  std::map<std::string, std::size_t> index_;
  std::map<std::string, std::string> colors_;
  std::optional<std::string> meshdir_;  ///< of MuJoCo's <compiler>
  bool strip_path_ = true;
};

}  // namespace

void read_urdf(const XmlElement& root, const ImportOptions& options, ImportAssets* assets, ImportContext* context,
               Robot* robot) {
  UrdfReader(options, assets, context, robot).read(root);
}

}  // namespace slipstick
