#include "import/mjcf.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <set>

#include "base/as_quoted.h"
#include "import/mjcf_forces.h"
#include "import/mjcf_geoms.h"
#include "import/mjcf_start.h"
#include "model/mass_properties.h"

namespace slipstick {
namespace {

const KeyList kPlace{"name", "class", "pos", "quat", "axisangle", "xyaxes", "zaxis", "euler"};
const KeyList kBodyChildren{"body",   "frame", "joint",     "freejoint", "geom",   "site",   "inertial",
                            "camera", "light", "composite", "flexcomp",  "plugin", "attach", "replicate"};
const KeyList kJointNames{"name",
                          "class",
                          "type",
                          "pos",
                          "axis",
                          "range",
                          "limited",
                          "ref",
                          "springref",
                          "stiffness",
                          "damping",
                          "armature",
                          "frictionloss",
                          "margin",
                          "solreflimit",
                          "solimplimit",
                          "springdamper",
                          "group",
                          "solreffriction",
                          "solimpfriction",
                          "user",
                          "actuatorfrcrange",
                          "actuatorfrclimited",
                          "actuatorgravcomp"};

KeyList join(KeyList a, const KeyList& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

class MjcfReader {
 public:
  MjcfReader(XmlElement* root, const ImportOptions& options, ImportAssets* assets, ImportContext* context, Robot* robot,
             SimulationOptions* simulation)
      : root_(*root),
        options_(options),
        context_(*context),
        robot_(*robot),
        simulation_(*simulation),
        tree_(root, assets, context),
        assets_(tree_, assets, context),
        geoms_(tree_, &assets_, options.mesh, context),
        start_(tree_, context, robot) {}

  void read() {
    if (!tree_.read()) return;
    if (const XmlAttribute* model = root_.find("model")) {
      model->used = true;
      robot_.name = model->value;
    }
    read_options();
    assets_.read();
    geoms_.read_pairs();
    for (const auto& child : root_.children) {
      if (child->name != "worldbody") continue;
      child->used = true;
      if (robot_.links.empty()) {  // further ones are parts of the first
        RobotLink ground;
        ground.name = "ground";
        ground.is_world = true;
        ground.source = context_.add_place(*child, "worldbody");
        robot_.links.push_back(ground);
      }
      read_body_children(*child, 0, "", Pose{}, true);
    }
    if (robot_.links.empty()) ImportElement(root_, faults()).fault("the model has no <worldbody>");
    scale_mass();
    read_contact();
    start_.read(options_.key);
    for (const auto& [joint, numbers] : springdampers_) set_springdamper(joint, numbers);
    read_mjcf_forces(tree_, {bodies_, joints_, sites_, free_joints_, start_.controls()}, &context_, &robot_);
    start_.hold_ranges();
    geoms_.make_materials(&robot_);
  }

 private:
  SceneFaults* faults() { return &context_.faults; }

  void read_options() {
    for (const auto& child : root_.children) {
      if (child->name != "option") continue;
      const ImportElement option(*child, faults());
      if (option.number("timestep", &simulation_.step) && !(simulation_.step > 0))
        option.fault("timestep must be above zero");
      option.vector("gravity", &robot_.gravity);
      for (const auto& each : child->children) {
        if (each->name != "flag") continue;
        const ImportElement flag(*each, faults());
        int word = 1;
        if (flag.word("gravity", {"disable", "enable"}, &word) && word == 0) robot_.gravity.setZero();
        word = 1;
        if (flag.word("contact", {"disable", "enable"}, &word) && word == 0) geoms_.forbid_contact();
      }
    }
  }

  void read_body_children(const XmlElement& parent, int link, const std::string& childclass, const Pose& frame,
                          bool is_world) {
    MassProperties geoms;
    read_own_children(parent, link, childclass, frame, is_world, &geoms);
    if (!is_world) matter_of_geoms_[link] = geoms;
    read_inner_bodies(parent, link, childclass, frame);
  }

  /// What belongs to the body itself, in the order of the file; in frames too. Bodies in it come after all of that, as
  /// keyframes count joints.
  void read_own_children(const XmlElement& parent, int link, const std::string& childclass, const Pose& frame,
                         bool is_world, MassProperties* matter) {
    tree_.check_children(parent, kBodyChildren);
    for (const auto& child : parent.children) {
      if (child->name == "geom")
        geoms_.add(*child, childclass, frame, &robot_.links[link], is_world ? nullptr : matter);
      if (child->name == "site") add_site(*child, link, childclass, frame);
      if (child->name == "inertial" && !is_world) read_inertial(*child, link);
      if ((child->name == "joint" || child->name == "freejoint") && !is_world)
        add_joint(*child, link, childclass, frame);
      if (child->name != "frame") continue;
      const ImportElement inner(*child, faults());
      read_own_children(*child, link, tree_.read_childclass(inner, childclass), compose(frame, tree_.read_pose(inner)),
                        is_world, matter);
    }
  }

  void read_inner_bodies(const XmlElement& parent, int link, const std::string& childclass, const Pose& frame) {
    for (const auto& child : parent.children) {
      if (child->name == "body") add_body(*child, link, childclass, frame);
      if (child->name != "frame" || !faults()->empty()) continue;  // a wrong frame has been spoken about
      const ImportElement inner(*child, faults());
      read_inner_bodies(*child, link, tree_.read_childclass(inner, childclass), compose(frame, tree_.read_pose(inner)));
    }
  }

  void add_body(const XmlElement& xml, int parent, const std::string& outer, const Pose& frame) {
    const ImportElement body(xml, faults());
    body.check_names(join(kPlace, {"childclass", "mocap", "gravcomp", "user", "sleep"}));
    RobotLink link;
    body.text("name", &link.name);
    if (link.name.empty()) link.name = "body_" + std::to_string(robot_.links.size());
    if (bodies_.count(link.name)) return body.fault("another body is called " + as_quoted(link.name));
    link.source = context_.add_place(xml, "body " + as_quoted(link.name));
    link.parent = parent;
    link.pose = compose(frame, tree_.read_pose(body));
    double gravcomp = 0;
    if (body.number("gravcomp", &gravcomp)) link.gravity_scale = 1 - gravcomp;
    const std::string childclass = tree_.read_childclass(body, outer);
    const int at = static_cast<int>(robot_.links.size());
    bodies_[link.name] = at;
    robot_.links.push_back(std::move(link));
    read_body_children(xml, at, childclass, Pose{}, false);
    settle_matter(at);
  }

  /// The matter of <inertial> or of the geoms, within the bounds of the compiler.
  void settle_matter(int at) {
    RobotLink& link = robot_.links[at];
    const MjcfCompiler& c = tree_.compiler();
    if (c.inertia_from_geom == 1 || (c.inertia_from_geom == 2 && !inertial_.count(at)))
      link.matter = matter_of_geoms_[at];
    if (c.least_mass > 0) link.matter.mass = std::max(link.matter.mass, c.least_mass);
    Eigen::SelfAdjointEigenSolver<Mat3> eigen(link.matter.inertia);
    Vec3 moments = eigen.eigenvalues();
    if (c.least_inertia > 0) moments = moments.cwiseMax(c.least_inertia);
    if (c.balance_inertia && moments[0] + moments[1] < moments[2]) moments.setConstant(moments.sum() / 3);
    if (moments != eigen.eigenvalues())
      link.matter.inertia = eigen.eigenvectors() * moments.asDiagonal() * eigen.eigenvectors().transpose();
  }

  void read_inertial(const XmlElement& xml, int link) {
    const ImportElement inertial(xml, faults());
    inertial.check_names(join(kPlace, {"mass", "diaginertia", "fullinertia"}));
    MassProperties part;
    if (!inertial.require("mass") || !inertial.number("mass", &part.mass)) return;
    std::vector<double> i;
    if (inertial.numbers("fullinertia", 6, 6, &i)) {
      part.inertia << i[0], i[3], i[4], i[3], i[1], i[5], i[4], i[5], i[2];
    } else if (inertial.numbers("diaginertia", 3, 3, &i)) {
      part.inertia.diagonal() << i[0], i[1], i[2];
    } else if (!inertial.has("diaginertia") && !inertial.has("fullinertia")) {
      return inertial.fault("missing attribute 'diaginertia' or 'fullinertia' in <inertial>");
    }
    robot_.links[link].matter = move_matter(part, tree_.read_pose(inertial));
    inertial_.insert(link);
  }

  void add_site(const XmlElement& xml, int link, const std::string& childclass, const Pose& frame) {
    const XmlAttribute* name = xml.find("name");
    if (name == nullptr) return;
    const ImportElement site = tree_.make(xml, childclass);
    std::vector<double> ends;
    Vec3 at = tree_.read_pose(site).position;
    if (site.numbers("fromto", 6, 6, &ends)) at = Vec3(ends[0] + ends[3], ends[1] + ends[4], ends[2] + ends[5]) / 2;
    sites_[name->value] = {link, frame.position + frame.orientation * at};
    for (const char* drawn : {"name", "type", "size", "rgba", "group", "material", "user"}) site.find(drawn);
  }

  void add_joint(const XmlElement& xml, int link, const std::string& childclass, const Pose& frame) {
    RobotLink& owner = robot_.links[link];
    if (xml.name == "freejoint") {
      const ImportElement free(xml, faults());
      free.check_names({"name", "group", "align"});
      free.find("group");
      return set_free(free, link);
    }
    const ImportElement joint = tree_.make(xml, childclass);
    joint.check_names(kJointNames);
    int type = 3;
    joint.word("type", {"free", "ball", "slide", "hinge"}, &type);
    if (type == 0) return set_free(joint, link);
    RobotJoint made;
    joint.text("name", &made.name);
    if (made.name.empty()) made.name = "joint_" + std::to_string(start_.joints());
    if (joints_.count(made.name)) return joint.fault("another joint is called " + as_quoted(made.name));
    made.source = context_.add_place(xml, "joint " + as_quoted(made.name));
    made.type = type == 1 ? RobotJoint::Type::Ball : type == 2 ? RobotJoint::Type::Slide : RobotJoint::Type::Hinge;
    joint.vector("pos", &made.anchor);
    made.anchor = frame.position + frame.orientation * made.anchor;
    if (type != 1) {
      joint.vector("axis", &made.axis);
      if (!(made.axis.norm() > 0)) return joint.fault("the axis of " + joint.label() + " must not be zero");
      made.axis = (frame.orientation * made.axis).normalized();
      read_axis(joint, type == 3 ? tree_.angle() : 1, &made);
      std::vector<double> spring;
      if (joint.numbers("springdamper", 2, 2, &spring) && spring[0] > 0 && spring[1] > 0)
        springdampers_.push_back({{link, static_cast<int>(owner.joints.size())}, {spring[0], spring[1]}});
    } else {
      list_axis_parts(joint);
    }
    joints_[made.name] = {link, static_cast<int>(owner.joints.size())};
    start_.add_joint(link, static_cast<int>(owner.joints.size()));
    owner.joints.push_back(std::move(made));
  }

  void set_free(const ImportElement& joint, int link) {
    RobotLink& owner = robot_.links[link];
    if (!owner.joints.empty() || owner.parent != 0)
      return joint.fault("a free joint is for a body of the world, alone");
    owner.free = true;
    if (const XmlAttribute* name = joint.find("name")) free_joints_.insert(name->value);
    start_.add_joint(link, -1);
    list_axis_parts(joint);
  }

  /// What has a meaning only along one axis, for joints that have none; defaults may give it to all joints.
  void list_axis_parts(const ImportElement& joint) {
    for (const char* name : {"stiffness", "damping", "armature", "frictionloss"}) {
      const XmlAttribute* given = joint.find(name);
      if (given == nullptr || tree_.overlay(joint, name, {0})[0] == 0) continue;
      context_.ignore(context_.place_of(*given), std::string("attribute '") + name + "' of " + joint.label(),
                      "is modelled on hinges and slides only");
    }
  }

  void read_axis(const ImportElement& joint, double unit, RobotJoint* made) {
    AxisDescription& axis = made->axis_data;
    if (joint.number("ref", &made->reference)) made->reference *= unit;
    made->start = made->reference;
    axis.stiffness = tree_.overlay(joint, "stiffness", {0})[0];
    axis.damping = tree_.overlay(joint, "damping", {0})[0];
    joint.number("armature", &axis.armature);
    joint.number("frictionloss", &axis.friction);
    if (joint.number("springref", &axis.rest)) axis.rest *= unit;
    if (axis.stiffness == 0 && !joint.has("springdamper")) axis.rest = 0;
    read_actuator_bound(joint, made);
    std::vector<double> range;
    const bool ranged = joint.numbers("range", 2, 2, &range);
    if (!is_limited(joint, "limited", ranged) || !ranged) return;
    if (!(range[0] < range[1]))
      return joint.fault(*joint.find("range"), "range of " + joint.label() + " must be [low, high] with low < high");
    axis.limits = {unit * range[0], unit * range[1]};
  }

  /// Bounds of what all actuators together do to the joint.
  void read_actuator_bound(const ImportElement& joint, RobotJoint* made) {
    std::vector<double> range;
    const bool ranged = joint.numbers("actuatorfrcrange", 2, 2, &range);
    if (!ranged || !is_limited(joint, "actuatorfrclimited", ranged)) return;
    made->actuator_bound = std::max(std::abs(range[0]), std::abs(range[1]));
    if (range[0] != -range[1])
      context_.note(context_.place_of(*joint.find("actuatorfrcrange")), joint.label(),
                    "its actuatorfrcrange is not symmetric: the larger bound holds both ways");
  }

  /// limited: true, false or (by autolimits) if there is a range.
  bool is_limited(const ImportElement& element, const char* name, bool ranged) {
    int word = 2;
    element.word(name, {"false", "true", "auto"}, &word);
    return word == 1 || (word == 2 && ranged && tree_.compiler().autolimits);
  }

  /// Time constant and damping ratio instead of stiffness and damping.
  void set_springdamper(const std::array<int, 2>& joint, const std::array<double, 2>& numbers) {
    AxisDescription& axis = robot_.links[joint[0]].joints[joint[1]].axis_data;
    const double inertia = calc_axis_inertia(robot_, joint), time = numbers[0], ratio = numbers[1];
    axis.stiffness = inertia / (time * time * ratio * ratio);
    axis.damping = 2 * inertia / time;
  }

  void scale_mass() {
    const double wanted = tree_.compiler().total_mass;
    if (!(wanted > 0)) return;
    double mass = 0;
    for (const RobotLink& link : robot_.links) mass += link.matter.mass;
    for (RobotLink& link : robot_.links) {
      link.matter.mass *= wanted / mass;
      link.matter.inertia *= wanted / mass;
    }
  }

  int find_body(const ImportElement& element, const char* attribute) {
    std::string name;
    if (!element.text(attribute, &name) || name == "world") return 0;
    const auto found = bodies_.find(name);
    if (found != bodies_.end()) return found->second;
    KeyList known;
    for (const auto& [each, link] : bodies_) known.push_back(each);
    element.fault(*element.find(attribute),
                  "unknown body " + as_quoted(name) + " in " + element.label() + as_suggestion(name, known));
    return -1;
  }

  void read_contact() {
    for (const XmlElement* xml : tree_.section("contact")) {
      if (xml->name != "exclude") continue;
      const ImportElement exclude(*xml, faults());
      exclude.check_names({"name", "body1", "body2"});
      if (!(exclude.require("body1") & exclude.require("body2"))) continue;
      robot_.excludes.push_back({find_body(exclude, "body1"), find_body(exclude, "body2")});
    }
  }

  XmlElement& root_;
  const ImportOptions& options_;
  ImportContext& context_;
  Robot& robot_;
  SimulationOptions& simulation_;
  MjcfTree tree_;
  MjcfAssets assets_;
  MjcfGeoms geoms_;
  MjcfStart start_;
  std::map<std::string, int> bodies_;
  std::map<std::string, MjcfSite> sites_;
  std::map<std::string, std::array<int, 2>> joints_;  ///< link, index there
  std::map<int, MassProperties> matter_of_geoms_;
  std::set<std::string> free_joints_;
  std::vector<std::pair<std::array<int, 2>, std::array<double, 2>>> springdampers_;
  std::set<int> inertial_;  ///< links with an <inertial>
};

}  // namespace

void read_mjcf(XmlElement* root, const ImportOptions& options, ImportAssets* assets, ImportContext* context,
               Robot* robot, SimulationOptions* simulation) {
  MjcfReader(root, options, assets, context, robot, simulation).read();
}

}  // namespace slipstick
