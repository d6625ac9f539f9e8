#include "import/mjcf_forces.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/as_quoted.h"
#include "import/mjcf_actuators.h"

namespace slipstick {
namespace {

/// p(q - r) as a polynomial of q.
std::vector<double> shift_polynomial(const std::vector<double>& p, double r) {
  std::vector<double> made(p.size(), 0.0);
  for (std::size_t k = p.size(); k-- > 0;) {  // Horner: made = made (q - r) + p_k
    for (std::size_t j = p.size(); j-- > 0;) made[j] = (j > 0 ? made[j - 1] : 0) - r * made[j];
    made[0] += p[k];
  }
  return made;
}

class MjcfForces {
 public:
  MjcfForces(const MjcfTree& tree, const MjcfNames& names, ImportContext* context, Robot* robot)
      : tree_(tree), names_(names), context_(*context), robot_(*robot) {}

  void read() {
    for (const XmlElement* xml : tree_.section("tendon")) read_tendon(*xml);
    for (const XmlElement* xml : tree_.section("equality")) read_equality(*xml);
    read_mjcf_actuators(tree_, names_, &sums_, &context_, &robot_);
    for (const auto& [name, sum] : sums_)
      if (!sum.used)
        context_.ignore(context_.place_of(*xml_of_[name]), "tendon " + as_quoted(name),
                        "a sum of coordinates on which nothing that is modelled acts");
  }

 private:
  SceneFaults* faults() { return &context_.faults; }

  template <class Map>
  bool check_name(const ImportElement& element, const char* attribute, const char* what, const Map& known,
                  std::string* out) {
    return check_mjcf_name(element, attribute, what, known, out);
  }

  RobotJoint* find_joint(const std::string& name) {
    const auto found = names_.joints.find(name);
    return found == names_.joints.end() ? nullptr : &robot_.links[found->second[0]].joints[found->second[1]];
  }

  // ------------------------------------------------------------------ tendons

  void read_tendon(const XmlElement& xml) {
    const ImportElement tendon = tree_.make(xml, "");
    std::string name = "tendon_" + std::to_string(sums_.size() + robot_.ropes.size());
    tendon.text("name", &name);
    if (xml.name == "fixed") {
      MjcfSum sum;
      for (const auto& child : xml.children) {
        const ImportElement part(*child, faults());
        std::string joint;
        double coefficient = 1;
        part.number("coef", &coefficient);
        if (check_name(part, "joint", "joint", names_.joints, &joint)) sum.terms.push_back({joint, coefficient});
      }
      sums_[name] = sum;
      xml_of_[name] = &xml;
    } else if (xml.name == "spatial") {
      read_spatial(tendon, name);
    }
  }

  /// Sites between which one stretch changes its length: a rope if the length has a limit, a spring if it has a
  /// stiffness. Others are listed.
  void read_spatial(const ImportElement& tendon, const std::string& name) {
    const XmlElement& xml = tendon.xml();
    Stretch stretch;
    if (!find_stretch(xml, &stretch)) return;
    std::vector<double> range;
    double stiffness = 0, damping = 0;
    int limited = 2;
    tendon.number("stiffness", &stiffness);
    tendon.number("damping", &damping);
    tendon.numbers("range", 2, 2, &range);
    tendon.word("limited", {"false", "true", "auto"}, &limited);
    const bool rope = !range.empty() && (limited == 1 || (limited == 2 && tree_.compiler().autolimits));
    if (!rope && stiffness == 0 && damping == 0) {
      xml.used = false;
      return;
    }
    RobotRope made;
    const MjcfSite &a = *stretch.a, &b = *stretch.b;
    made.a = a.link == 0 ? -1 : a.link;
    made.b = b.link == 0 ? -1 : b.link;
    made.at_a = a.at;
    made.at_b = b.at;
    made.source = context_.add_place(xml, "tendon " + as_quoted(name));
    if (rope) {
      made.name = name;
      made.length = range[1] - stretch.rest;
      if (!(made.length > 0))
        return tendon.fault("range of " + tendon.label() + " ends below its parts that are rigid");
      robot_.ropes.push_back(made);
      if (range[0] > 0) context_.note(context_.place_of(xml), tendon.label(), "only the greatest length is a limit");
    }
    if (stiffness == 0 && damping == 0) return;
    std::vector<double> rest;
    made.is_spring = true;
    made.name = name + (rope ? "_spring" : "");
    made.stiffness = stiffness;
    made.damping = damping;
    made.length = stretch.length;
    if (tendon.numbers("springlength", 1, 2, &rest) && rest.back() >= 0)
      made.length = std::max(rest.back() - stretch.rest, 0.0);
    if (rest.size() == 2 && rest[0] < rest[1])
      context_.note(context_.place_of(*tendon.find("springlength")), tendon.label(),
                    "is a spring about the greater springlength; below it MuJoCo's has no force");
    robot_.ropes.push_back(made);
  }

  /// The part of a tendon between two bodies, and what lies between sites of one body.
  struct Stretch {
    const MjcfSite *a = nullptr, *b = nullptr;
    double length = 0, rest = 0;  ///< in the reference configuration, m
  };
  bool find_stretch(const XmlElement& xml, Stretch* out) {
    std::vector<const MjcfSite*> sites;
    bool plain = true, good = true;
    for (const auto& child : xml.children) {
      const ImportElement part(*child, faults());
      std::string name;
      if (child->name != "site") {
        plain = false;
      } else if (!part.require("site") || !check_name(part, "site", "site", names_.sites, &name)) {
        good = false;
      } else {
        sites.push_back(&names_.sites.at(name));
      }
    }
    if (!good) return false;
    const std::vector<Pose> poses = calc_link_poses(robot_, false);
    const auto place = [&](const MjcfSite& s) { return calc_place(poses, s); };
    int moving = 0;
    for (std::size_t k = 1; k < sites.size(); ++k) {
      const double length = (place(*sites[k - 1]) - place(*sites[k])).norm();
      if (sites[k - 1]->link == sites[k]->link) {
        out->rest += length;
        continue;
      }
      *out = {sites[k - 1], sites[k], length, out->rest};
      ++moving;
    }
    if (plain && moving == 1) return true;
    xml.used = false;
    return false;
  }

  // ------------------------------------------------------------------ equality

  void read_equality(const XmlElement& xml) {
    const ImportElement equality = tree_.make(xml, "");
    bool active = true;
    equality.flag("active", &active);
    const bool known = xml.name == "connect" || xml.name == "weld" || xml.name == "joint" || xml.name == "tendon";
    if (!active || !known) {
      xml.used = false;
      return;
    }
    equality.check_names({"name", "class", "active", "body1", "body2", "site1", "site2", "anchor", "relpose",
                          "torquescale", "joint1", "joint2", "tendon1", "tendon2", "polycoef", "solref", "solimp"});
    std::string name = xml.name + "_" + std::to_string(robot_.loops.size() + robot_.couplings.size());
    equality.text("name", &name);
    if (xml.name == "joint") return read_coupling(equality, name);
    if (xml.name == "tendon") return read_tied_sums(equality, name);
    RobotLoop loop;
    loop.weld = xml.name == "weld";
    loop.name = name;
    loop.source = context_.add_place(xml, xml.name + " " + as_quoted(name));
    const auto link_of = [&](const char* attribute) {
      std::string body;
      if (!equality.has(attribute)) return -1;
      if (equality.find(attribute)->value == "world" && equality.text(attribute, &body)) return -1;
      return check_name(equality, attribute, "body", names_.bodies, &body) ? names_.bodies.at(body) : -1;
    };
    if (equality.has("site1")) {
      std::string one, two;
      if (!check_name(equality, "site1", "site", names_.sites, &one) ||
          !check_name(equality, "site2", "site", names_.sites, &two))
        return;
      loop.a = names_.sites.at(one).link;
      loop.b = names_.sites.at(two).link;
      loop.point = names_.sites.at(one).at;
      note_distance(equality, names_.sites.at(one), names_.sites.at(two));
    } else {
      if (!equality.require("body1")) return;
      loop.a = link_of("body1");
      loop.b = link_of("body2");
      if (loop.weld) {
        check_relpose(equality, loop);
        loop.a = std::exchange(loop.b, loop.a);  // its anchor is in the second body
        equality.vector("anchor", &loop.point);
      } else if (!equality.require("anchor") || !equality.vector("anchor", &loop.point)) {
        return;
      }
    }
    robot_.loops.push_back(loop);
  }

  Vec3 calc_place(const std::vector<Pose>& poses, const MjcfSite& site) const {
    return site.link < 0 ? site.at : Vec3(poses[site.link].position + poses[site.link].orientation * site.at);
  }

  /// Sites that are to be one, but are apart where the joints are at their reference.
  void note_distance(const ImportElement& equality, const MjcfSite& a, const MjcfSite& b) {
    const std::vector<Pose> poses = calc_link_poses(robot_, false);
    const double apart = (calc_place(poses, a) - calc_place(poses, b)).norm();
    if (apart > 1e-6)
      context_.note(
          context_.place_of(equality.xml()), equality.label(),
          "its sites are " + std::to_string(1000 * apart) +
              " mm apart in the reference configuration: the bodies are held as they are there, at the first");
  }

  /// The place of the second body in the first one: welds hold what the reference configuration has.
  void check_relpose(const ImportElement& equality, const RobotLoop& loop) {
    std::vector<double> v;
    if (!equality.numbers("relpose", 7, 7, &v)) return;
    const Quat wanted(v[3], v[4], v[5], v[6]);
    if (wanted.norm() == 0) return;  // MuJoCo's way to say the same
    const std::vector<Pose> poses = calc_link_poses(robot_, false);
    const Pose one = loop.a < 0 ? Pose{} : poses[loop.a], two = loop.b < 0 ? Pose{} : poses[loop.b];
    const Vec3 at = one.orientation.conjugate() * (two.position - one.position);
    const double turn = wanted.normalized().angularDistance(one.orientation.conjugate() * two.orientation);
    if ((at - Vec3(v[0], v[1], v[2])).norm() < 1e-6 && turn < 1e-6) return;
    context_.ignore(context_.place_of(*equality.find("relpose")), "attribute 'relpose' of " + equality.label(),
                    "is not where the bodies are in the reference configuration, in which they are held");
  }

  void read_coupling(const ImportElement& equality, const std::string& name) {
    RobotCoupling coupling;
    coupling.name = name;
    if (!equality.require("joint1") || !check_name(equality, "joint1", "joint", names_.joints, &coupling.joint1))
      return;
    coupling.polynomial = tree_.overlay(equality, "polycoef", {0, 1, 0, 0, 0});
    RobotJoint* one = find_joint(coupling.joint1);
    if (!equality.has("joint2")) {  // a constant
      one->axis_data.lock = true;
      one->start = one->reference + coupling.polynomial[0];
      return;
    }
    if (!check_name(equality, "joint2", "joint", names_.joints, &coupling.joint2)) return;
    add_coupling(name, coupling.joint1, coupling.joint2, coupling.polynomial, equality.xml());
  }

  /// q1 - r1 = p(q2 - r2).
  void add_coupling(const std::string& name, const std::string& one, const std::string& two,
                    const std::vector<double>& polynomial, const XmlElement& xml) {
    RobotCoupling made;
    made.name = name;
    made.joint1 = one;
    made.joint2 = two;
    made.source = context_.add_place(xml, "equality " + as_quoted(name));
    const double reference = find_joint(two)->reference;
    made.polynomial = reference != 0 ? shift_polynomial(polynomial, reference) : polynomial;
    made.polynomial[0] += find_joint(one)->reference;
    robot_.couplings.push_back(made);
  }

  /// Sums of one or two coordinates in all that are tied: a coupling of two joints, or a lock.
  void read_tied_sums(const ImportElement& equality, const std::string& name) {
    std::string one, two;
    std::vector<double> p = tree_.overlay(equality, "polycoef", {0, 1, 0, 0, 0});
    if (!equality.require("tendon1")) return;
    const auto is_sum = [&](const char* attribute) {
      return equality.has(attribute) && sums_.count(equality.find(attribute)->value) > 0;
    };
    const bool alone = !equality.has("tendon2");
    std::vector<std::pair<std::string, double>> terms;
    if (is_sum("tendon1") && equality.text("tendon1", &one)) terms = sums_[one].terms;
    const std::size_t own = terms.size();
    if (is_sum("tendon2") && equality.text("tendon2", &two))
      terms.insert(terms.end(), sums_[two].terms.begin(), sums_[two].terms.end());
    const bool tied = alone ? own == 1 || own == 2 : own == 1 && terms.size() == 2;
    if (!tied || terms[0].second == 0 || (terms.size() == 2 && terms[0].first == terms[1].first))
      return context_.ignore(context_.place_of(equality.xml()), equality.label(),
                             "only sums of two joints in all can be tied to each other");
    sums_[one].used = true;
    if (!two.empty()) sums_[two].used = true;
    const double first = terms[0].second;
    RobotJoint* joint = find_joint(terms[0].first);
    if (terms.size() == 1) {
      joint->axis_data.lock = true;
      joint->start = joint->reference + p[0] / first;
      return;
    }
    // c1 x1 + c2 x2 = p0, or c1 x1 = p(c2 x2), with x = q - reference.
    if (alone) p = {p[0], -1, 0, 0, 0};
    double power = 1;
    for (double& each : p) each *= std::exchange(power, power * terms[1].second) / first;
    add_coupling(name, terms[0].first, terms[1].first, p, equality.xml());
  }

  const MjcfTree& tree_;
  const MjcfNames& names_;
  ImportContext& context_;
  Robot& robot_;
  std::map<std::string, MjcfSum> sums_;
  std::map<std::string, const XmlElement*> xml_of_;
};

}  // namespace

void read_mjcf_forces(const MjcfTree& tree, const MjcfNames& names, ImportContext* context, Robot* robot) {
  MjcfForces(tree, names, context, robot).read();
}

}  // namespace slipstick
