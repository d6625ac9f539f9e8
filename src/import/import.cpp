// From a file to a checked Scene: by the root element, then what the readers share.
#include <slipstick/app/import.h>
#include <slipstick/queries.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "base/as_quoted.h"
#include "import/import_explain.h"
#include "import/mjcf.h"
#include "import/urdf.h"

namespace slipstick {
namespace {

namespace fs = std::filesystem;

constexpr double kStartOverlap = 1e-6;  // m: parts of a robot that overlap by more to begin with are one thing to it

std::string ending_of(const std::string& path) {
  std::string ending = fs::path(path).extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
  return ending;
}

/// How far a shape reaches below its own frame, which is turned by `turn`.
double calc_reach_down(const Model& model, const Shape& shape, const Quat& turn) {
  const Vec3 down = turn.conjugate() * -Vec3::UnitZ();
  const double along = std::abs(down.z()), across = std::hypot(down.x(), down.y());
  const auto farthest = [&](const std::vector<Vec3>& points) {
    double reach = -kInfinity;
    for (const Vec3& p : points) reach = std::max(reach, p.dot(down));
    return reach;
  };
  switch (shape.kind) {
    case ShapeKind::Box:
      return shape.half_size.dot(down.cwiseAbs());
    case ShapeKind::Ellipsoid:
      return shape.half_size.cwiseProduct(down).norm();
    case ShapeKind::Capsule:
      return shape.radius + shape.half_length * along;
    case ShapeKind::Cylinder:
      return shape.radius * across + shape.half_length * along;
    case ShapeKind::Cone:  // its tip, or its rim
      return std::max(shape.half_length * down.z(), shape.radius * across - shape.half_length * down.z());
    case ShapeKind::Hull:
      return farthest(model.hulls[shape.hull].vertices);
    case ShapeKind::Mesh:
    case ShapeKind::Heightfield:
      return farthest(model.surfaces[shape.surface]->vertices);
    default:
      return shape.bound;
  }
}

/// Half space below the lowest point of the shapes.
void add_floor(const Model& model, const State& state, ModelDescription* description) {
  double lowest = 0;
  bool any = false;
  for (const Shape& shape : model.shapes) {
    if (shape.kind == ShapeKind::Plane) continue;
    const Pose body = shape.body == kWorld ? Pose{} : state.pose[shape.body];
    const double low = (body.position + body.orientation * shape.pose.position).z() -
                       calc_reach_down(model, shape, body.orientation * shape.pose.orientation);
    lowest = any ? std::min(lowest, low) : low;
    any = true;
  }
  BodyDescription floor;
  floor.name = "floor";
  while (std::any_of(description->bodies.begin(), description->bodies.end(),
                     [&](const BodyDescription& b) { return b.name == floor.name; }))
    floor.name += "_";
  floor.kind = BodyKind::Fixed;
  ShapeDescription plane;
  plane.kind = ShapeKind::Plane;
  plane.offset = lowest - 1e-3;
  plane.contype = plane.conaffinity = ~0u;
  floor.shapes.push_back(plane);
  description->bodies.push_back(std::move(floor));
}

class ModelLoader {
 public:
  ModelLoader(const ImportOptions& options, const std::string& name)
      : options_(options), name_(name), assets_(name, options_.files, &context_.faults) {
    assets_.set_progress(options_.progress);
  }

  Result<Scene> load(ImportReport* report) {
    const int file = context_.faults.add_file(name_);
    FileBytes content = read_file_bytes(name_, options_.files.max_file_bytes);
    if (!content.problem.empty()) {
      context_.faults.add_unplaced(file, content.problem);
      return context_.faults.list();
    }
    return read(content.bytes, file, report);
  }
  Result<Scene> parse(const std::string& text, ImportReport* report) {
    return read(text, context_.faults.add_file(name_), report);
  }

 private:
  Result<Scene> read(const std::string& text, int file, ImportReport* report) {
    Scene scene;
    scene.path = name_;
    scene.text = text;
    assets_.add_name(fs::absolute(name_));
    scene.options.step = 0.002;      // MuJoCo's, where the file says nothing
    scene.options.scheme = "spook";  // long chains of joints: their errors are of higher order (decision 28)
    scene.options.close_joints = true;
    const std::unique_ptr<XmlElement> root = parse_xml(text, file, &context_.faults);
    if (!root) return context_.faults.list();
    Robot robot;
    robot.name = fs::path(name_).stem().string();
    robot.repair_inertia = options_.repair_inertia;
    if (root->name == "robot") {
      context_.report.format = "URDF";
      if (!options_.key.empty()) context_.faults.add_unplaced(file, "--key: URDF has no keyframes");
      read_urdf(*root, options_, &assets_, &context_, &robot);
    } else if (root->name == "mujoco") {
      context_.report.format = "MJCF";
      read_mjcf(root.get(), options_, &assets_, &context_, &robot, &scene.options);
    } else {
      const bool sdf = root->name == "sdf";
      context_.faults.add(
          file, root->line, root->column,
          sdf ? "SDF is not read; give the model's URDF or MJCF instead (most SDF files are made of one)"
              : "root element <" + root->name + "> is neither <robot> (URDF) nor <mujoco> (MJCF)" +
                    as_suggestion(root->name, {"robot", "mujoco"}));
    }
    if (static_cast<long>(robot.links.size()) > options_.files.max_bodies)
      context_.faults.add_unplaced(file, "more than the limit of " + std::to_string(options_.files.max_bodies) +
                                             " bodies; raise --max-bodies if that is meant");
    if (!context_.faults.empty()) return context_.faults.list();
    if (!robot.links.empty() && robot.links[0].is_world) ground_ = robot.links[0].name;
    build_robot(robot, &context_, &scene.description);
    if (!context_.faults.empty() || !finish(&scene)) return context_.faults.list();
    context_.list_unused(*root, root->name == "robot" ? explain_urdf : explain_mjcf);
    scene.name = scene.description.name;
    scene.files = assets_.names();
    if (report != nullptr) *report = std::move(context_.report);
    return scene;
  }

  bool compile_once(Scene* scene) {
    if (options_.progress) options_.progress("bodies, joints and hulls");
    CompiledModel compiled = compile(scene->description, &scene->initial);
    for (const CompileFault& fault : compiled.faults) {
      if (fault.source < 0) {
        context_.faults.add_unplaced(0, fault.message);
        continue;
      }
      const ImportContext::Place& at = context_.places[fault.source];
      context_.faults.add(at.file, at.line, at.column, fault.message);
    }
    scene->model = std::move(compiled.model);
    return compiled.faults.empty();
  }

  bool finish(Scene* scene) {
    if (!compile_once(scene)) return false;
    if (options_.floor) add_floor(scene->model, scene->initial, &scene->description);
    exclude_overlaps(scene);
    return compile_once(scene);
  }

  bool is_ground(int body, const Scene& scene) const {
    return scene.model.bodies[body].kind == BodyKind::Fixed && scene.model.bodies[body].name == ground_;
  }

  /// Bodies of one robot that overlap before anything has moved are drawn so: they do not touch each other.
  void exclude_overlaps(Scene* scene) {
    Queries queries(scene->model);
    queries.update(scene->initial);
    std::vector<ShapeGap> overlaps;
    queries.find_overlaps(kStartOverlap, &overlaps);
    std::vector<std::array<int, 2>> seen = scene->model.pairs_without_contact;
    for (const ShapeGap& each : overlaps) {
      const Shape &a = scene->model.shapes[each.shape_a], &b = scene->model.shapes[each.shape_b];
      if (a.kind == ShapeKind::Plane || b.kind == ShapeKind::Plane || !bits_touch(a, b)) continue;
      if (a.body == kWorld || b.body == kWorld || is_ground(a.body, *scene) || is_ground(b.body, *scene)) continue;
      const std::array<int, 2> pair{std::min(a.body, b.body), std::max(a.body, b.body)};
      if (std::find(seen.begin(), seen.end(), pair) != seen.end()) continue;
      seen.push_back(pair);
      const std::string &one = scene->model.bodies[pair[0]].name, &two = scene->model.bodies[pair[1]].name;
      if (scene->model.bodies[pair[0]].kind == BodyKind::Fixed && scene->model.bodies[pair[1]].kind == BodyKind::Fixed)
        continue;
      scene->description.pairs_without_contact.push_back({one, two});
      char depth[32];
      std::snprintf(depth, sizeof depth, "%.3g mm", -1000 * each.gap);
      context_.note({name_, 0, 0}, "bodies " + as_quoted(one) + " and " + as_quoted(two),
                    "overlap at the start by " + std::string(depth) + ": they do not touch each other");
    }
  }

  ImportOptions options_;
  std::string name_, ground_;
  ImportContext context_;
  ImportAssets assets_;
};

}  // namespace

bool is_model_file(const std::string& path) {
  const std::string ending = ending_of(path);
  return ending == ".urdf" || ending == ".xml" || ending == ".mjcf" || ending == ".sdf";
}

Result<Scene> load_any(const std::string& path, const ImportOptions& options, ImportReport* report) {
  if (!is_model_file(path)) return load_scene(path, options.files);
  return ModelLoader(options, path).load(report);
}

Result<Scene> parse_model(const std::string& text, const std::string& name, const ImportOptions& options,
                          ImportReport* report) {
  return ModelLoader(options, name).parse(text, report);
}

}  // namespace slipstick
