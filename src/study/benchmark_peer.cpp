// A scene in plain lines for the programs of bench/peers, and their answers (docs/benchmarks.md has both formats).
#include <slipstick/app/benchmark.h>

#include <cmath>
#include <limits>
#include <sstream>

namespace slipstick {
namespace {

/// Diagonal inertia: products beyond this part of it are a fault.
constexpr double kDiagonalPart = 1e-9;
constexpr double kSameLaw = 1e-9;

void put(std::ostringstream* out, const Vec3& v) { *out << ' ' << v.x() << ' ' << v.y() << ' ' << v.z(); }
void put(std::ostringstream* out, const Pose& q) {
  put(out, q.position);
  *out << ' ' << q.orientation.w() << ' ' << q.orientation.x() << ' ' << q.orientation.y() << ' ' << q.orientation.z();
}

/// What the other engines cannot be asked to do in the same way; empty: nothing.
std::string find_obstacle(const Scene& scene) {
  const Model& model = scene.model;
  if (model.planar) return "a planar scene";
  if (!model.axes.empty() || !model.couplings.empty() || !model.limits.empty()) return "motors, limits or gears";
  if (!model.springs.empty()) return "springs";
  for (const Joint& joint : model.joints)
    if (joint.kind != JointKind::Ball || joint.compliance > 0) return "joints other than rigid ball joints";
  for (const Body& body : model.bodies) {
    if (body.kind == BodyKind::Kinematic) return "prescribed motion";
    if (body.kind == BodyKind::Dynamic && body.dof != 6) return "locked directions";
    const Mat3 off = body.inertia - Mat3(body.inertia.diagonal().asDiagonal());
    if (off.cwiseAbs().maxCoeff() > kDiagonalPart * body.inertia.cwiseAbs().maxCoeff()) return "products of inertia";
    if (body.group >= 0) return "groups of bodies";
  }
  if (model.readings > 0) return "formulas of sensors";
  if (model.has_belts) return "belts";
  for (const Load& load : model.loads)
    for (int k = 0; k < 3; ++k)
      if (load.turns || !load.at.isZero(0) || !load.torque[k].is_constant() || load.torque[k].at(0) != 0)
        return "loads beside the centre of mass";
  for (const Shape& shape : model.shapes)
    if (shape.kind != ShapeKind::Sphere && shape.kind != ShapeKind::Box && shape.kind != ShapeKind::Capsule &&
        shape.kind != ShapeKind::Cylinder && shape.kind != ShapeKind::Plane)
      return "shapes of kind " + std::string(name_of(shape.kind));
  const int materials = static_cast<int>(model.materials.size());
  for (int i = 0; i < materials; ++i)
    for (int j = 0; j < materials; ++j) {
      const double usual = std::sqrt(model.materials[i].friction * model.materials[j].friction);
      if (std::abs(model.pair_law(i, j).friction - usual) > kSameLaw) return "laws for pairs of materials";
      if (model.pair_law(i, j).by_slip) return "friction by slip";
    }
  return "";
}

void put_bodies(const Scene& scene, std::ostringstream* out) {
  for (std::size_t i = 0; i < scene.model.bodies.size(); ++i) {
    const Body& body = scene.model.bodies[i];
    const Pose& pose = scene.initial.pose[i];
    *out << "body " << body.mass;  // 0: fixed
    put(out, body.inertia.diagonal());
    put(out, pose);
    put(out, scene.initial.velocity[i].linear);
    put(out, pose.orientation * scene.initial.velocity[i].angular);
    *out << '\n';
  }
}

void put_shapes(const Model& model, std::ostringstream* out) {
  for (const Shape& shape : model.shapes) {
    const Material& material = model.materials[shape.material];
    Vec3 size = shape.half_size;
    if (shape.kind != ShapeKind::Box) size = Vec3(shape.radius, shape.half_length, 0);
    *out << "shape " << name_of(shape.kind) << ' ' << shape.body << ' ' << material.friction << ' '
         << material.restitution;
    put(out, size);
    put(out, shape.pose);
    *out << '\n';
  }
}

void put_loads(const Scene& scene, long steps, std::ostringstream* out) {
  const double h = scene.options.step;
  for (const Load& load : scene.model.loads) {
    const auto force = [&](long k) {
      const double t = (static_cast<double>(k) + 0.5) * h;
      return Vec3(load.force[0].at(t), load.force[1].at(t), load.force[2].at(t));
    };
    for (long first = 0, last = 0; first < steps; first = last) {
      for (last = first + 1; last < steps && force(last) == force(first);) ++last;
      if (force(first).isZero(0)) continue;
      *out << "force " << load.body << ' ' << first << ' ' << last;
      put(out, force(first));
      *out << '\n';
    }
  }
}

}  // namespace

Result<std::string> make_peer_text(const Scene& scene, double limit) {
  if (const std::string obstacle = find_obstacle(scene); !obstacle.empty())
    return Fault{{}, "not comparable: " + obstacle};
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out.precision(std::numeric_limits<double>::max_digits10);
  const double h = scene.options.step;
  const long steps = calc_step_count(scene.options);
  out << "slipstick-peer 1\nsteps " << steps << ' ' << calc_sample_interval(scene) << ' ' << h << "\ngravity";
  put(&out, scene.model.gravity);
  out << '\n';
  if (limit > 0) out << "limit " << limit << '\n';
  put_bodies(scene, &out);
  put_shapes(scene.model, &out);
  for (const Joint& joint : scene.model.joints) {
    out << "ball " << joint.a << ' ' << joint.b;
    put(&out, joint.anchor_a);
    put(&out, joint.anchor_b);
    out << '\n';
  }
  for (const std::array<int, 2>& pair : scene.model.pairs_without_contact)
    out << "apart " << pair[0] << ' ' << pair[1] << '\n';
  put_loads(scene, steps, &out);
  out << "end\n";
  return out.str();
}

BenchmarkRun read_peer_answer(const Scene& scene, const std::string& text) {
  BenchmarkRun run;
  std::istringstream in(text);
  in.imbue(std::locale::classic());
  bool ended = false;
  for (std::string word; !ended && in >> word;) {
    if (word == "engine") {
      std::getline(in >> std::ws, run.engine);
    } else if (word == "sample") {
      State state = scene.initial;
      for (std::size_t i = 0; i < state.pose.size(); ++i) {
        Vec3 x, v, spin;
        Quat q;
        in >> x.x() >> x.y() >> x.z() >> q.w() >> q.x() >> q.y() >> q.z();
        in >> v.x() >> v.y() >> v.z() >> spin.x() >> spin.y() >> spin.z();
        state.pose[i] = {x, q.normalized()};
        state.velocity[i] = {v, state.pose[i].orientation.conjugate() * spin};
      }
      run.samples.push_back(std::move(state));
    } else if (word == "seconds") {
      double seconds = 0;
      in >> seconds;
      run.seconds.push_back(seconds);
    } else if (word == "cut") {
      run.cut = true;
    } else if (word == "failure") {
      std::getline(in >> std::ws, run.failure);
    } else if (word == "end") {
      ended = true;
    } else {
      break;
    }
  }
  // A number such as nan or inf cannot be read: the engine lost the scene.
  if (!ended) run.failure = run.engine.empty() ? "no answer" : "its states are not numbers";
  return run;
}

}  // namespace slipstick
