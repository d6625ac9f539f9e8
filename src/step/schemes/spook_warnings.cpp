// What is wrong with the parameters of SPOOK, and what a user should know about the parameters chosen
// ([LacoursiereLinde11, 10], [methods 6.2]).
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "step/assemble.h"
#include "step/pair_warnings.h"
#include "step/schemes/spook.h"

namespace slipstick {

namespace {

/// T >= this over the largest mass (inertia, for angular rows) keeps the condition of the equations below 1e6.
constexpr double kSafePerturbation = 1e-6;
constexpr double kSafeSteps = 2;        // tau / h
constexpr double kEqualDamping = 1e-3;  // relative
constexpr double kResolvedSquared = 4;  // (omega h)^2
constexpr std::size_t kNamesShown = 6;

std::string as_number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", x);
  return text;
}

std::string label_of(const char* kind, const std::string& name, std::size_t index) {
  return std::string(kind) + " " + (name.empty() ? std::to_string(index + 1) : "'" + name + "'");
}

/// The least epsilon of a linear row at this damping: T = 4 epsilon phi/h^2 >= 1e-6/m.
double calc_safe_compliance(const Model& model, double damping_time, double h) {
  double mass = 0;
  for (const Body& body : model.bodies) mass = std::max(mass, body.mass);
  const double phi = make_spook_row(0, damping_time, h).phi;
  return mass > 0 ? kSafePerturbation / mass * h * h / (4 * phi) : 0;
}

void warn_of_values(const std::string& who, double compliance, double damping_time, bool own_compliance,
                    bool own_damping, const Model& model, double h, std::vector<std::string>* warnings) {
  if (own_damping && damping_time < kSafeSteps * h)
    warnings->push_back(who + ": damping_time " + as_number(damping_time) + " s is below twice the step, " +
                        as_number(kSafeSteps * h) + " s: its error will oscillate before it dies out");
  const double safe = calc_safe_compliance(model, damping_time, h);
  if (own_compliance && compliance < safe)
    warnings->push_back(who + ": compliance " + as_number(compliance) + " is below " + as_number(safe) +
                        ", what these masses and this step need for well conditioned equations");
}

/// The joints of each group that bodies with freedoms hold together, and whether it has a loop.
struct JointGroups {
  std::vector<int> group;  ///< per body; the world and bodies without freedom belong to none
  std::vector<int> joints, bodies, anchored;

  explicit JointGroups(const Model& model) : group(model.bodies.size()) {
    std::iota(group.begin(), group.end(), 0);
    for (const Joint& joint : model.joints)
      if (moves(model, joint.a) && moves(model, joint.b)) group[find(joint.a)] = find(joint.b);
    joints.assign(group.size(), 0);
    bodies.assign(group.size(), 0);
    anchored.assign(group.size(), 0);
    for (std::size_t i = 0; i < group.size(); ++i)
      if (moves(model, static_cast<int>(i))) ++bodies[find(static_cast<int>(i))];
    for (const Joint& joint : model.joints) {
      const int at = of(model, joint);
      if (at < 0) continue;
      ++joints[at];
      if (!moves(model, joint.a) || !moves(model, joint.b)) anchored[at] = 1;
    }
  }
  static bool moves(const Model& model, int body) { return body >= 0 && model.bodies[body].dof > 0; }
  int find(int body) {
    while (group[body] != body) body = group[body] = group[group[body]];
    return body;
  }
  int of(const Model& model, const Joint& joint) {
    return moves(model, joint.a) ? find(joint.a) : moves(model, joint.b) ? find(joint.b) : -1;
  }
  /// More joints than a tree needs, the fixed world counted as one more body.
  bool has_loop(int at) const { return joints[at] > bodies[at] - 1 + anchored[at]; }
};

/// Rows of one loop with different tau/h: with redundant rows one in ten such systems is unstable ([methods 6.2]).
void warn_of_loops(const Model& model, const SimulationOptions& options, std::vector<std::string>* warnings) {
  JointGroups groups(model);
  std::vector<double> first(model.bodies.size(), -1);
  std::vector<std::vector<std::string>> different(model.bodies.size());
  for (std::size_t j = 0; j < model.joints.size(); ++j) {
    const int at = groups.of(model, model.joints[j]);
    if (at < 0 || !groups.has_loop(at)) continue;
    const double tau = calc_spook_damping(model.joints[j], options);
    if (first[at] < 0) first[at] = tau;
    if (std::abs(tau - first[at]) > kEqualDamping * first[at])
      different[at].push_back(label_of("joint", model.joints[j].name, j) + " (" + as_number(tau) + " s)");
  }
  for (std::size_t at = 0; at < different.size(); ++at) {
    const std::vector<std::string>& names = different[at];
    if (names.empty()) continue;
    std::string text;
    for (std::size_t k = 0; k < std::min(names.size(), kNamesShown); ++k) text += (k > 0 ? ", " : "") + names[k];
    if (names.size() > kNamesShown) text += " and " + std::to_string(names.size() - kNamesShown) + " more";
    warnings->push_back(
        "damping times differ in a loop of joints: " + text + " against " + as_number(first[at]) +
        " s of the others; with redundant rows that can be unstable, give all of them one damping_time");
  }
}

void warn_of_springs(const Model& model, const SimulationOptions& options, std::vector<std::string>* warnings) {
  const double h = options.step;
  for (std::size_t i = 0; i < model.springs.size(); ++i) {
    const Spring& spring = model.springs[i];
    PairRow along;  // through the centres: the least mobility that the spring can have
    along.a.head<3>() = -Vec3::UnitX();
    along.b.head<3>() = Vec3::UnitX();
    const double stiff = spring.stiffness * h * h * calc_pair_mobility(model, spring.a, spring.b, along);
    if (!(stiff > kResolvedSquared) || spring.damping >= kSafeSteps * h * spring.stiffness) continue;
    warnings->push_back(label_of("spring", spring.name, i) + ": omega h = " + as_number(std::sqrt(stiff)) +
                        ", more than the step resolves; with damping of at least " +
                        as_number(kSafeSteps * h * spring.stiffness) + " N s/m it would come to rest");
  }
}

}  // namespace

void find_spook_faults(const SpookOptions& o, std::vector<OptionFault>* faults) {
  const auto require = [faults](bool good, const char* key, const char* text) {
    if (!good) faults->push_back({"scheme", key, text});
  };
  require(o.compliance >= 0 && std::isfinite(o.compliance), "compliance", "compliance must be zero or more, in m/N");
  require(o.contact_compliance >= 0 && std::isfinite(o.contact_compliance), "contact_compliance",
          "contact_compliance must be zero or more, in m/N");
  require(o.damping_steps > 0 && std::isfinite(o.damping_steps), "damping_steps",
          "damping_steps must be above zero: without damping constraint errors grow");
  require(!o.contact_damping_time || *o.contact_damping_time >= 0, "contact_damping_time",
          "contact_damping_time must be a time in seconds, zero or more");
  require(o.slip_compliance >= 0 && std::isfinite(o.slip_compliance), "slip_compliance",
          "slip_compliance must be zero or more, in (m/s)/N");
}

std::vector<std::string> find_spook_warnings(const Model& model, const SimulationOptions& options) {
  std::vector<std::string> warnings =
      find_unused_stabilization("spook", "damping_steps and damping_time say how fast errors die out", options);
  const double h = options.step;
  const SpookOptions& spook = options.spook;
  if (!model.joints.empty() || !model.shapes.empty())
    warn_of_values("scheme spook", spook.compliance, spook.damping_steps * h,
                   spook.compliance > 0 && spook.compliance != SpookOptions().compliance, true, model, h, &warnings);
  for (std::size_t j = 0; j < model.joints.size(); ++j) {
    const Joint& joint = model.joints[j];
    warn_of_values(label_of("joint", joint.name, j), joint.compliance, calc_spook_damping(joint, options),
                   joint.compliance > 0, joint.damping_time > 0, model, h, &warnings);
  }
  warn_of_loops(model, options, &warnings);
  warn_of_springs(model, options, &warnings);
  return warnings;
}

}  // namespace slipstick
