#include <slipstick/app/scene_check.h>
#include <slipstick/friction_cone.h>
#include <slipstick/joint_errors.h>
#include <slipstick/surface.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>
#include <set>

#include "report/print_text.h"

namespace slipstick {

namespace {

constexpr double kOverlapTolerance = 1e-9;  ///< of the larger body: touching is not overlapping
constexpr double kJointTolerance = 1e-6;    ///< of the joint's bodies, at most m, or rad: rounding of a file's numbers
constexpr double kLargeMassRatio = 1e4;     ///< beyond this, iterative solvers need very many sweeps
constexpr double kTouching = 1e-6;          ///< of the smaller body
constexpr double kWeakCone = 1000;          ///< normal forces beyond this many times the load: as good as jammed
constexpr double kWholeStep = 1e-6;         ///< a moment nearer to the next step than this is that step
constexpr std::size_t kNamesShown = 6;

void count_bodies(const Model& model, SceneCheck* check) {
  check->bodies = static_cast<int>(model.bodies.size());
  check->mass_min = std::numeric_limits<double>::infinity();
  for (const Body& body : model.bodies) {
    check->fixed += body.kind == BodyKind::Fixed;
    check->kinematic += body.kind == BodyKind::Kinematic;
    if (body.kind != BodyKind::Dynamic) continue;
    ++check->dynamic;
    check->mass_total += body.mass;
    if (body.mass < check->mass_min) {
      check->mass_min = body.mass;
      check->lightest = body.name;
    }
    if (body.mass > check->mass_max) {
      check->mass_max = body.mass;
      check->heaviest = body.name;
    }
  }
  if (check->dynamic == 0) check->mass_min = 0;
  if (check->mass_min > 0) check->mass_ratio = check->mass_max / check->mass_min;
}

/// The size of the larger body of a contact.
double calc_size(const Model& model, const Contact& contact) {
  double size = 0;
  for (const int body : {contact.body_a, contact.body_b})
    if (body != kWorld) size = std::max(size, model.bodies[body].reach_radius);
  return size > 0 ? size : 1;
}

/// Per pair of bodies the deepest contact.
void find_overlaps(const Simulation& simulation, SceneCheck* check) {
  const Model& model = simulation.model();
  std::map<std::pair<int, int>, double> deepest;
  check->contacts = static_cast<int>(simulation.contacts().size());
  for (const Contact& contact : simulation.contacts()) {
    if (contact.gap >= -kOverlapTolerance * calc_size(model, contact)) continue;
    double& depth = deepest[{contact.body_a, contact.body_b}];
    depth = std::max(depth, -contact.gap);
  }
  for (const auto& [pair, depth] : deepest)
    check->overlaps.push_back(
        {std::string(body_name(model, pair.first)), std::string(body_name(model, pair.second)), depth});
  std::stable_sort(check->overlaps.begin(), check->overlaps.end(),
                   [](const Overlap& a, const Overlap& b) { return a.depth > b.depth; });
}

/// Loads that nothing but contacts hold.
void find_held(const Simulation& simulation, const std::vector<Contact>& touching, SceneCheck* check) {
  const Model& model = simulation.model();
  std::vector<Wrench> load;
  for (const BodyForces& forces : simulation.body_forces()) load.push_back(forces.load);
  const auto held = find_held_loads(model, simulation.state().pose, touching, load);
  if (!held) return;
  for (const HeldLoad& each : *held) {
    std::set<std::string> by;
    for (const int i : each.contacts)
      for (const int body : {touching[i].body_a, touching[i].body_b})
        if (body != each.body) by.insert(std::string(body_name(model, body)));
    check->held.push_back({std::string(body_name(model, each.body)), {by.begin(), by.end()}});
  }
}

/// Redundant joints, contacts that can jam, loads that they hold.
void find_cancelling_forces(const Simulation& simulation, SceneCheck* check) {
  const Model& model = simulation.model();
  const std::vector<Contact> touching = find_touching(model, simulation.state(), kTouching);
  check->touching = static_cast<int>(touching.size());
  const FrictionCone cone = calc_friction_cone(model, simulation.state().pose, touching);
  check->joint_rows = cone.joint_rows;
  if (cone.joint_rank) check->redundant_rows = cone.joint_rows - *cone.joint_rank;
  for (const int i : cone.tied_joints)
    check->tied_joints.push_back(model.joints[i].name.empty() ? "joint " + std::to_string(i + 1)
                                                              : model.joints[i].name);
  check->can_jam = cone.jams;
  check->cone_strength = cone.strength;
  std::map<std::pair<int, int>, int> pairs;
  for (const int i : cone.jamming) ++pairs[{touching[i].body_a, touching[i].body_b}];
  for (const auto& [pair, count] : pairs)
    check->jams.push_back(
        {std::string(body_name(model, pair.first)), std::string(body_name(model, pair.second)), count});
  find_held(simulation, touching, check);
}

/// The thinnest direction of a shape, m.
double calc_thickness(const Model& model, const Shape& shape) {
  switch (shape.kind) {
    case ShapeKind::Sphere:
    case ShapeKind::Disk:
    case ShapeKind::Capsule:
      return 2 * shape.radius;
    case ShapeKind::Box:
      return 2 * shape.half_size.minCoeff();
    case ShapeKind::Polygon: {
      double thinnest = std::numeric_limits<double>::infinity();  // width of a convex polygon: attained at a side
      const auto* points = model.points.data() + shape.first_point;
      for (int i = 0; i < shape.point_count; ++i) {
        const Vec2 side = (points[(i + 1) % shape.point_count] - points[i]).normalized();
        double width = 0;
        for (int k = 0; k < shape.point_count; ++k) {
          const Vec2 to = points[k] - points[i];
          width = std::max(width, side.x() * to.y() - side.y() * to.x());
        }
        thinnest = std::min(thinnest, width);
      }
      return thinnest;
    }
    case ShapeKind::Cylinder:
      return 2 * std::min(shape.radius, shape.half_length);
    case ShapeKind::Cone:  // twice the radius of the inscribed ball
      return 4 * shape.radius * shape.half_length / (shape.radius + std::hypot(shape.radius, 2 * shape.half_length));
    case ShapeKind::Ellipsoid:
      return 2 * shape.half_size.minCoeff();
    case ShapeKind::Hull: {
      double thinnest = std::numeric_limits<double>::infinity();
      const Hull& hull = model.hulls[shape.hull];
      for (const HullFace& face : hull.faces) {
        double width = 0;
        for (const Vec3& p : hull.vertices) width = std::max(width, face.offset - face.normal.dot(p));
        thinnest = std::min(thinnest, width);
      }
      return thinnest;
    }
    case ShapeKind::Mesh:
    case ShapeKind::Heightfield:
    case ShapeKind::Plane:
      break;
  }
  return std::numeric_limits<double>::infinity();
}

void bound_step(double bound, const std::string& reason, SceneCheck* check) {
  if (!(bound > 0) || !std::isfinite(bound) || (check->step_advised && *check->step_advised <= bound)) return;
  check->step_advised = bound;
  check->step_reason = reason;
}

/// What each group of joined bodies weighs, N, per body.
std::vector<double> calc_joined_weights(const Model& model) {
  std::vector<int> group(model.bodies.size());
  std::iota(group.begin(), group.end(), 0);
  const auto moves = [&](int body) { return body != kWorld && model.bodies[body].kind == BodyKind::Dynamic; };
  const auto root = [&](int body) {
    while (group[body] != body) body = group[body] = group[group[body]];
    return body;
  };
  for (const Joint& joint : model.joints)
    if (moves(joint.a) && moves(joint.b)) group[root(joint.a)] = root(joint.b);
  std::vector<double> sum(group.size(), 0.0), weight(group.size(), 0.0);
  for (std::size_t i = 0; i < group.size(); ++i)
    sum[root(static_cast<int>(i))] += model.bodies[i].mass * model.gravity.norm();
  for (std::size_t i = 0; i < group.size(); ++i) weight[i] = sum[root(static_cast<int>(i))];
  return weight;
}

/// A rod or rope under the load T swings the body m at its end across itself, with at most 2 sqrt(T/(m l)) where it has
/// one on either side. Directions of forces are held over a step: it needs two steps in the time that has. T is at most
/// the weight of all that hangs together.
void advise_tethers(const Model& model, SceneCheck* check) {
  const std::vector<double> weight = calc_joined_weights(model);
  for (const Joint& joint : model.joints) {
    if ((joint.kind != JointKind::Rod && joint.kind != JointKind::Rope) || !(joint.length > 0)) continue;
    for (const int body : {joint.a, joint.b}) {
      if (body == kWorld || model.bodies[body].kind != BodyKind::Dynamic || !(weight[body] > 0)) continue;
      bound_step(0.5 * std::sqrt(model.bodies[body].mass * joint.length / weight[body]),
                 "the load that '" + joint.name + "' may have to carry, which swings '" + model.bodies[body].name + "'",
                 check);
    }
  }
}

/// Rules of thumb: in one step a body moves by a quarter of its thickness at most; gravity alone moves it by a fiftieth
/// at most; a spring's period has twenty steps.
void advise_step(const Scene& scene, const State& state, SceneCheck* check) {
  const Model& model = scene.model;
  const double gravity = model.gravity.norm();
  for (const Shape& shape : model.shapes) {
    const Body& body = model.bodies[shape.body];
    if (body.kind != BodyKind::Dynamic) continue;
    const double thickness = calc_thickness(model, shape);
    const Twist& v = state.velocity[shape.body];
    const double speed = v.linear.norm() + v.angular.norm() * body.reach_radius;
    if (speed > 0)
      bound_step(0.25 * thickness / speed,
                 (check->steps > 0 ? "the speed of '" : "the starting speed of '") + body.name + "'", check);
    if (gravity > 0)
      bound_step(std::sqrt(2 * thickness / (50 * gravity)), "gravity and the thickness of '" + body.name + "'", check);
  }
  for (const Spring& spring : model.springs) {
    double inverse_mass = 0;
    for (const int body : {spring.a, spring.b})
      if (body != kWorld && model.bodies[body].mass > 0) inverse_mass += 1 / model.bodies[body].mass;
    if (!(spring.stiffness > 0) || inverse_mass == 0) continue;
    const double period = 2 * std::numbers::pi / std::sqrt(spring.stiffness * inverse_mass);
    bound_step(period / 20, "the period of spring '" + spring.name + "'", check);
  }
  advise_tethers(model, check);
}

/// "'a', 'b' and 3 more"
std::string as_names(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kNamesShown); ++i) text += (i ? ", " : "") + names[i];
  if (names.size() > kNamesShown) text += " and " + std::to_string(names.size() - kNamesShown) + " more";
  return text;
}

/// "at the start", or "at t = 0.5 s".
std::string describe_time(const SceneCheck& check) {
  return check.steps == 0 ? "at the start" : "at t = " + as_number(check.time) + " s";
}

void add_held_remarks(SceneCheck* check) {
  for (const HeldBody& each : check->held) {
    std::vector<std::string> names;
    for (const std::string& name : each.by) names.push_back("'" + name + "'");
    check->remarks.push_back("no load of its present direction moves '" + each.body + "' " + describe_time(*check) +
                             ", however large: it lies within the friction of " + as_names(names) +
                             "; unless it shall sit there, lower the friction or push another way");
  }
}

void add_force_remarks(SceneCheck* check) {
  if (check->redundant_rows.value_or(0) > 0) {
    std::vector<std::string> names;
    for (const std::string& name : check->tied_joints) names.push_back("'" + name + "'");
    check->remarks.push_back(std::to_string(*check->redundant_rows) + " of " + std::to_string(check->joint_rows) +
                             " joint rows say what others say already (" + as_names(names) +
                             "): the motion is right, the joint forces are not unique; free a direction, or give the "
                             "joints compliance");
  }
  if (check->can_jam.value_or(false)) {
    std::vector<std::string> names;
    for (const Jam& jam : check->jams) names.push_back("'" + jam.a + "' on '" + jam.b + "'");
    check->remarks.push_back(
        "contacts can jam " + describe_time(*check) + " (" + as_names(names) +
        "): their forces can cancel, so they are not unique and have no bound; lower the friction, "
        "or leave a gap");
  } else if (check->cone_strength.value_or(0) > kWeakCone) {
    check->remarks.push_back("contacts all but jam " + describe_time(*check) + ": normal forces may reach " +
                             as_number(*check->cone_strength) + " times the load; lower the friction, or leave a gap");
  }
}

/// What was left out of meshes. A mesh that several bodies share is told once.
void add_mesh_remarks(const Model& model, SceneCheck* check) {
  std::set<const Surface*> told;
  for (const Shape& shape : model.shapes) {
    if (shape.kind != ShapeKind::Mesh) continue;
    const Surface& surface = *model.surfaces[shape.surface];
    if (surface.dropped == 0 || !told.insert(&surface).second) continue;
    const std::size_t given = surface.triangles.size() + static_cast<std::size_t>(surface.dropped);
    check->remarks.push_back(std::to_string(surface.dropped) + " of the " + std::to_string(given) +
                             " triangles of the mesh of '" + std::string(body_name(model, shape.body)) +
                             "' were left out: they have no area, or are there twice; clean the mesh if that is a "
                             "surprise");
  }
}

std::string describe_assembly(const SceneCheck& check) {
  const Assembly& made = check.assembly;
  if (!made.needed) return "they give way or are coupled, and will close with a speed";
  const std::string moves = "moving '" + check.assembly_body + "' by " + as_number(made.moved) + " m";
  if (made.closed) return "run puts them together, " + moves;
  if (made.moved > made.limit && made.left < made.error * 1e-3)
    return "putting them together means " + moves + ", which is farther than " + as_number(made.limit) + " m";
  return "they cannot be put together (" + as_number(made.left) + " is left)";
}

void add_remarks(SceneCheck* check) {
  if (check->uncertified > 0)
    check->remarks.push_back(std::to_string(check->uncertified) + " of the " + std::to_string(check->steps) +
                             " steps to t = " + as_number(check->time) +
                             " s are not certified: what is said of that moment is no better (docs/not_certified.md)");
  if (check->dynamic == 0) check->remarks.push_back("nothing moves: there is no dynamic body");
  if (check->mass_ratio > kLargeMassRatio)
    check->remarks.push_back("mass ratio " + as_number(check->mass_ratio) + " between '" + check->heaviest + "' and '" +
                             check->lightest + "': prefer a direct solver, or bring the masses closer");
  if (!check->overlaps.empty()) {
    const Overlap& worst = check->overlaps[0];
    check->remarks.push_back(
        std::to_string(check->overlaps.size()) + " pairs of bodies " +
        (check->steps == 0 ? "start inside each other ('" : "are inside each other " + describe_time(*check) + " ('") +
        worst.a + "' and '" + worst.b + "' by " + as_number(worst.depth) +
        " m): they will be moved apart, without speed; move them, or list them in pairs_without_contact");
  }
  if (check->joints_open && check->steps > 0)
    check->remarks.push_back("the joints do not hold " + describe_time(*check) + " (error " +
                             as_number(check->joint_error) + "): a shorter step holds them better");
  if (check->joints_open && check->steps == 0)
    check->remarks.push_back("the joints do not hold at the start (error " + as_number(check->joint_error) +
                             "): " + describe_assembly(*check) + "; check anchors and starting poses");
  add_force_remarks(check);
  add_held_remarks(check);
  if (check->step_advised && check->step > *check->step_advised)
    check->remarks.push_back("step " + as_number(check->step) + " s is long for " + check->step_reason +
                             ": advised is " + as_number(*check->step_advised) + " s or less");
}

/// Where a run begins: joints that start open are put together.
State start_run(const Scene& scene) {
  Assembly made = assemble(scene.model, scene.options, scene.initial);
  return made.needed && made.closed ? std::move(made.state) : scene.initial;
}

/// Runs the scene to the moment that is asked for. False: a step failed.
bool run_to(double at, Simulation* simulation, SceneCheck* check) {
  const double steps = std::floor(at / check->step + kWholeStep);
  for (double k = 0; k < steps; ++k) {
    const StepReport& report = simulation->step();
    if (report.failed) {
      check->failure =
          "the run failed at t = " + as_number(simulation->state().time) + " s: " + std::string(report.note);
      return false;
    }
    ++check->steps;
    check->uncertified += report.certified ? 0 : 1;
  }
  check->time = simulation->state().time;
  return true;
}

/// Errors of joints, and whether those that start open can be put together.
void look_at_joints(const Scene& scene, const State& state, SceneCheck* check) {
  const Model& model = scene.model;
  const std::vector<double> errors = calc_joint_errors(model, state);
  for (std::size_t i = 0; i < errors.size(); ++i) {
    double size = model.joints[i].length;
    for (const int body : {model.joints[i].a, model.joints[i].b})
      if (body != kWorld) size = std::max(size, model.bodies[body].reach_radius);
    check->joint_error = std::max(check->joint_error, errors[i]);
    check->joints_open |= errors[i] > kJointTolerance * (size > 0 ? std::min(size, 1.0) : 1.0);
  }
  if (!check->joints_open || check->steps > 0) return;
  check->assembly = assemble(scene.model, scene.options, scene.initial);
  check->assembly.state = {};
  check->assembly_body = body_name(scene.model, check->assembly.body);
}

}  // namespace

SceneCheck check_scene(const Scene& scene, double at) {
  SceneCheck check;
  check.scene = scene.path;
  check.name = scene.name;
  check.dof = scene.model.dof;
  check.shapes = static_cast<int>(scene.model.shapes.size());
  check.joints = static_cast<int>(scene.model.joints.size());
  check.springs = static_cast<int>(scene.model.springs.size());
  check.loads = static_cast<int>(scene.model.loads.size());
  check.step = scene.options.step;
  count_bodies(scene.model, &check);
  Simulation simulation(scene.model, at > 0 ? start_run(scene) : scene.initial, scene.options);
  if (!run_to(at, &simulation, &check)) return check;
  find_overlaps(simulation, &check);
  advise_step(scene, simulation.state(), &check);
  look_at_joints(scene, simulation.state(), &check);
  find_cancelling_forces(simulation, &check);
  add_remarks(&check);
  add_mesh_remarks(scene.model, &check);
  return check;
}

}  // namespace slipstick
