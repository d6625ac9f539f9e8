#include "import/mjcf_actuators.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace slipstick {
namespace {

const KeyList kActuatorNames{
    "name",      "class",        "joint",      "jointinparent", "tendon",     "site",     "body",     "gear",
    "ctrlrange", "ctrllimited",  "forcerange", "forcelimited",  "actlimited", "actrange", "gainprm",  "lengthrange",
    "biasprm",   "dynprm",       "gaintype",   "biastype",      "dyntype",    "kp",       "kv",       "group",
    "user",      "cranksite",    "slidersite", "cranklength",   "refsite",    "actdim",   "actearly", "timeconst",
    "dampratio", "inheritrange", "area",       "diameter",      "bias",       "delay",    "nsample",  "interp"};

/// What an actuator does in the words of `general`: force = gain u + b0 + b1 length + b2 speed. A b2 above zero is not
/// a force but the damping ratio of a position actuator, as in MuJoCo.
struct Affine {
  double gain = 1;
  std::array<double, 3> bias{0, 0, 0};
  double damper = 0;         ///< force = -damper u speed instead
  bool affine = false;       ///< it has a bias
  bool integrates = false;   ///< u is the integral of the control
  bool lags = false;         ///< u follows the control
  bool other = false;        ///< a gain or bias of another kind
  double inherit_range = 0;  ///< the range of the control is this times that of the joint
};

/// A motor that grows with each actuator of its joint: force = push - k q - d q'.
struct AxisDrive {
  double push = 0, k = 0, d = 0, bound = kInfinity;
  int count = 0;
};

class MjcfActuators {
 public:
  MjcfActuators(const MjcfTree& tree, const MjcfNames& names, std::map<std::string, MjcfSum>* sums,
                ImportContext* context, Robot* robot)
      : tree_(tree), names_(names), sums_(*sums), context_(*context), robot_(*robot) {}

  void read() {
    std::size_t k = 0;
    for (const XmlElement* xml : tree_.section("actuator")) read_actuator(*xml, k++);
    for (const auto& [joint, drive] : drives_) set_motor(drive, joint);
  }

 private:
  RobotJoint* find_joint(const std::string& name) {
    const auto& [link, index] = names_.joints.at(name);
    return &robot_.links[link].joints[index];
  }

  /// What a level of the chain says.
  void apply_level(const XmlElement& level, Affine* out) {
    const ImportElement e(level, &context_.faults);
    if (level.name == "position" || level.name == "intvelocity") return apply_position(e, out);
    out->integrates = out->lags = false;
    if (level.name == "velocity") {
      e.number("kv", &out->gain);
      out->bias = {0, 0, -out->gain};
      out->affine = true;
    } else if (level.name == "damper") {
      if (out->damper == 0) out->damper = out->gain;
      e.number("kv", &out->damper);
    } else if (level.name == "cylinder") {
      apply_cylinder(e, out);
    } else if (level.name == "motor") {
      *out = {};
    } else {
      apply_general(e, out);
    }
  }

  void apply_position(const ImportElement& e, Affine* out) {
    out->integrates = e.xml().name == "intvelocity";
    double damping = 0, lag = 0;
    e.number("kp", &out->gain);
    if (e.number("kv", &damping)) out->bias[2] = -damping;
    if (e.number("dampratio", &damping)) out->bias[2] = damping;
    e.number("inheritrange", &out->inherit_range);
    if (e.number("timeconst", &lag)) out->lags = lag > 0;
    out->bias[0] = 0;
    out->bias[1] = -out->gain;
    out->affine = true;
  }

  void apply_cylinder(const ImportElement& e, Affine* out) {
    double lag = 1, diameter = 0;
    std::vector<double> bias;
    e.number("timeconst", &lag);
    e.number("area", &out->gain);
    if (e.number("diameter", &diameter)) out->gain = std::numbers::pi / 4 * diameter * diameter;
    if (e.numbers("bias", 1, 3, &bias)) std::copy(bias.begin(), bias.end(), out->bias.begin());
    out->lags = out->affine = true;
  }

  void apply_general(const ImportElement& e, Affine* out) {
    std::vector<double> v;
    int word = 0;
    if (e.numbers("gainprm", 1, 10, &v)) {
      out->gain = v[0];
      out->other = out->other || std::any_of(v.begin() + 1, v.end(), [](double x) { return x != 0; });
    }
    if (e.numbers("biasprm", 1, 10, &v)) std::copy_n(v.begin(), std::min<std::size_t>(3, v.size()), out->bias.begin());
    if (e.word("biastype", {"none", "affine", "muscle", "user", "dcmotor"}, &word)) {
      out->affine = word == 1;
      out->other = word > 1;
    }
    if (e.word("gaintype", {"fixed", "affine", "muscle", "user", "dcmotor"}, &word) && word > 1) out->other = true;
    if (e.word("dyntype", {"none", "integrator", "filter", "filterexact", "muscle", "user", "dcmotor"}, &word)) {
      out->integrates = word == 1;
      out->lags = word == 2 || word == 3;
      out->other = out->other || word > 3;
    }
  }

  void read_actuator(const XmlElement& xml, std::size_t index) {
    if (xml.name == "muscle" || xml.name == "adhesion" || !is_actuator(xml.name) || xml.name == "plugin") {
      xml.used = false;  // listed
      return;
    }
    const ImportElement actuator = tree_.make(xml, "");
    actuator.check_names(kActuatorNames);
    for (const char* quiet : {"name", "group", "user", "lengthrange"}) actuator.find(quiet);
    Affine made;
    const auto& chain = actuator.chain();
    for (auto level = chain.rbegin(); level != chain.rend(); ++level) apply_level(**level, &made);
    if (made.other)
      return ignore(actuator, "its gain depends on the motion, or it is a muscle or a user's own: not a motor here");
    const double gear = tree_.overlay(actuator, "gear", {1, 0, 0, 0, 0, 0})[0];
    std::vector<Driven> driven;
    if (find_driven(actuator, made, &driven)) add(actuator, made, gear, index, driven);
  }

  void ignore(const ImportElement& actuator, const std::string& why) {
    context_.ignore(context_.place_of(actuator.xml()), actuator.label(), why);
  }

  /// A joint that an actuator moves, and how the actuator's length follows it.
  struct Driven {
    std::string joint;
    double factor = 1;
  };
  bool find_driven(const ImportElement& actuator, const Affine& made, std::vector<Driven>* out) {
    std::string name;
    for (const char* attribute : {"joint", "jointinparent"}) {
      if (!actuator.has(attribute)) continue;
      if (names_.free_joints.count(actuator.find(attribute)->value))
        return ignore(actuator, "a free joint has no axis to drive"), false;
      if (!check_mjcf_name(actuator, attribute, "joint", names_.joints, &name)) return false;
      if (find_joint(name)->type == RobotJoint::Type::Ball)
        return ignore(actuator, "a ball joint has no axis to drive"), false;
      out->push_back({name, 1});
      return true;
    }
    if (actuator.has("tendon")) {
      const auto sum = sums_.find(actuator.find("tendon")->value);
      if (sum != sums_.end()) return find_of_sum(actuator, made, &sum->second, out);
    }
    return ignore(actuator, "only joints, and tendons that are sums of joints, are driven"), false;
  }

  /// A force on a sum of joints is one on each of them; one that follows their motion needs them tied to each other.
  bool find_of_sum(const ImportElement& actuator, const Affine& made, MjcfSum* sum, std::vector<Driven>* out) {
    if (sum->terms.empty()) return false;
    const std::string& first = sum->terms.front().first;
    double factor = 0;
    bool tied = true;
    for (const auto& [joint, coefficient] : sum->terms) {
      const double ratio = joint == first ? 1 : find_ratio(joint, first);
      tied = tied && ratio != 0;
      factor += coefficient * ratio;
      out->push_back({joint, coefficient});
    }
    const bool follows = made.damper != 0 || (made.affine && (made.bias[1] != 0 || made.bias[2] != 0));
    if (!tied && follows) return ignore(actuator, "its force follows joints that move independently"), false;
    sum->used = true;
    if (tied) *out = {{first, factor}};
    return true;
  }

  /// d joint / d leader, of joints tied by one linear coupling; 0: not so.
  double find_ratio(const std::string& joint, const std::string& leader) const {
    for (const RobotCoupling& c : robot_.couplings) {
      const bool forward = c.joint1 == joint && c.joint2 == leader, back = c.joint1 == leader && c.joint2 == joint;
      const bool linear = std::all_of(c.polynomial.begin() + 2, c.polynomial.end(), [](double p) { return p == 0; });
      if ((forward || back) && linear && c.polynomial[1] != 0) return forward ? c.polynomial[1] : 1 / c.polynomial[1];
    }
    return 0;
  }

  /// ctrl, within its range.
  double find_control(const ImportElement& actuator, const Affine& made, const RobotJoint& joint, std::size_t index,
                      std::vector<double>* range) {
    const bool given = actuator.numbers("ctrlrange", 2, 2, range);
    const auto& limits = joint.axis_data.limits;
    if (!given && made.inherit_range > 0 && limits) {
      const double middle = ((*limits)[0] + (*limits)[1]) / 2, half = ((*limits)[1] - (*limits)[0]) / 2;
      *range = {middle - made.inherit_range * half, middle + made.inherit_range * half};
    } else if (!is_limited(actuator, "ctrllimited", given) || !given) {
      range->clear();
    }
    const double ctrl = index < names_.ctrl.size() ? names_.ctrl[index] : 0;
    if (range->empty()) return ctrl;
    return std::clamp(ctrl, std::min((*range)[0], (*range)[1]), std::max((*range)[0], (*range)[1]));
  }

  void add(const ImportElement& actuator, const Affine& made, double gear, std::size_t index,
           const std::vector<Driven>& driven) {
    std::vector<double> range, force;
    const bool has_force = actuator.numbers("forcerange", 2, 2, &force);
    const bool bounded = is_limited(actuator, "forcelimited", has_force) && has_force;
    double ctrl = find_control(actuator, made, *find_joint(driven[0].joint), index, &range);
    if ((made.integrates || made.lags) && ctrl != 0)
      context_.note(context_.place_of(actuator.xml()), actuator.label(),
                    "its activation dynamics are not modelled: the control acts at once");
    if (made.integrates) ctrl = 0;
    std::array<double, 3> bias = made.affine ? made.bias : std::array<double, 3>{};
    for (const Driven& each : driven) {
      const double arm = gear * each.factor;
      if (bias[2] > 0)  // a ratio: of 2 sqrt(k m), m as it is at the actuator
        bias[2] *= -2 * std::sqrt(std::max(-bias[1], 0.0) * calc_axis_inertia(robot_, names_.joints.at(each.joint))) /
                   std::abs(arm);
      AxisDrive drive;
      drive.push = arm * ((made.damper != 0 ? 0 : made.gain * ctrl) + bias[0]);
      drive.k = -bias[1] * arm * arm;
      drive.d = (made.damper * ctrl - bias[2]) * arm * arm;
      if (drive.k < 0 || drive.d < 0) return ignore(actuator, "its bias pushes away: not a motor of the engine");
      if (bounded) {
        drive.bound = std::abs(arm) * std::max(std::abs(force[0]), std::abs(force[1]));
      } else if (!range.empty() && drive.k == 0 && drive.d == 0 && bias[0] == 0) {
        drive.bound = std::abs(arm * made.gain) * std::max(std::abs(range[0]), std::abs(range[1]));
      }
      join(actuator, each.joint, drive);
    }
    if (bounded && force[0] != -force[1])
      context_.note(context_.place_of(actuator.xml()), actuator.label(),
                    "its forcerange is not symmetric: the larger bound holds both ways");
  }

  /// Forces without a bound add up to a motor again; a bound is for all together here, so that both must be forces.
  void join(const ImportElement& actuator, const std::string& joint, const AxisDrive& more) {
    AxisDrive& drive = drives_[joint];
    const auto is_force = [](const AxisDrive& each) { return each.k == 0 && each.d == 0; };
    const bool free = std::isinf(drive.bound) && std::isinf(more.bound);
    if (drive.count > 0 && !free && !(is_force(drive) && is_force(more)))
      return ignore(actuator, "joint " + as_quoted(joint) + " has a motor already, and one of them has a bound");
    drive.push += more.push;
    drive.k += more.k;
    drive.d += more.d;
    drive.bound = drive.count == 0 ? more.bound : drive.bound + more.bound;
    ++drive.count;
  }

  void set_motor(const AxisDrive& drive, const std::string& name) {
    RobotJoint* joint = find_joint(name);
    Motor motor;
    motor.max = joint->actuator_bound ? std::min(drive.bound, *joint->actuator_bound) : drive.bound;
    motor.stiffness = drive.k;
    motor.damping = drive.d;
    motor.drives_position = drive.k > 0;
    motor.drives_force = drive.k == 0 && drive.d == 0;
    // A position actuator follows the coordinate as the file counts it, from the joint's own zero on.
    motor.target = drive.k > 0 ? drive.push / drive.k : drive.d > 0 ? drive.push / drive.d : drive.push;
    if (motor.max.constant() > 0) joint->axis_data.motor = motor;
  }

  bool is_limited(const ImportElement& element, const char* name, bool ranged) {
    int word = 2;
    element.word(name, {"false", "true", "auto"}, &word);
    return word == 1 || (word == 2 && ranged && tree_.compiler().autolimits);
  }

  const MjcfTree& tree_;
  const MjcfNames& names_;
  std::map<std::string, MjcfSum>& sums_;
  ImportContext& context_;
  Robot& robot_;
  std::map<std::string, AxisDrive> drives_;
};

}  // namespace

void read_mjcf_actuators(const MjcfTree& tree, const MjcfNames& names, std::map<std::string, MjcfSum>* sums,
                         ImportContext* context, Robot* robot) {
  MjcfActuators(tree, names, sums, context, robot).read();
}

}  // namespace slipstick
