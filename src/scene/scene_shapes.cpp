// The `shapes` of a body. A new shape is one row of kShapes.
#include <slipstick/surface.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <numbers>
#include <sstream>

#include "base/hash.h"
#include "scene/scene_build.h"
#include "scene/scene_colors.h"
#include "scene/scene_files.h"
#include "scene/scene_outlines.h"
#include "scene/surface_file.h"

namespace slipstick {
namespace {

void read_round(const SceneItem& item, ReadShape* shape) {
  if (item.require("radius")) item.number("radius", &shape->radius);
}

void read_capsule(const SceneItem& item, ReadShape* shape) {
  read_round(item, shape);
  if (item.require("length")) item.number("length", &shape->length);
}

void read_box(const SceneItem& item, ReadShape* shape) {
  if (item.require("size")) item.vector("size", &shape->size);
}

void read_plane(const SceneItem& item, ReadShape* shape) {
  if (item.reading().planar) shape->normal = Vec3::UnitY();
  item.vector("normal", &shape->normal);
  item.number("offset", &shape->offset);
}

/// Rows of three numbers: `x y z` (blanks or commas), `v x y z` of an OBJ file; other lines of an OBJ file and lines
/// with # do not count.
void read_hull_file(const SceneItem& item, const std::string& text, ReadShape* shape) {
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream words(line.substr(0, line.find('#')));
    std::string word;
    if (!(words >> word)) continue;
    const bool obj = std::isalpha(static_cast<unsigned char>(word[0])) && word != "nan" && word != "inf";
    if (obj && word != "v") continue;
    Vec3 p;
    bool good = true;
    for (int k = 0; k < 3; ++k) {
      if ((obj || k > 0) && !(words >> word)) word.clear();
      char* end = nullptr;
      p[k] = std::strtod(word.c_str(), &end);
      good = good && !word.empty() && *end == '\0' && std::isfinite(p[k]);
    }
    if (!good) {
      item.fault(*item.find("file"), "line " + std::to_string(number) + " of the file is not a point of three numbers");
      return;
    }
    shape->vertices.push_back(p);
    if (shape->vertices.size() > static_cast<std::size_t>(kMaxHullPoints)) return;  // compile says so
  }
}

/// A hull costs time and memory for each of its points, and a line of `repeat` can ask for any number of hulls.
bool count_corners(const SceneItem& item, std::size_t count) {
  SceneScope* const scope = item.reading().scope;
  const bool before = scope->has_few_corners();
  scope->add_corners(count);
  if (before && !scope->has_few_corners())
    item.fault(item.node(), "the hulls of this scene have more than " + std::to_string(SceneScope::kMaxCorners) +
                                " points in all; use fewer points or fewer bodies");
  return scope->has_few_corners();
}

/// Points on an ellipsoid, evenly by area where it is a sphere. Point k is (rand(seed, k, 1), rand(seed, k, 2)) as
/// height and angle: more points are the same ones and others.
void read_random_hull(const SceneItem& outer, ReadShape* shape) {
  const SceneNode& node = *outer.find("random");
  if (!node.is_map()) return outer.expected(node, "a map such as {points: 40, size: [1, 1, 1]}", "random");
  SceneMap map{&node, {}};
  for (std::size_t i = 0; i + 1 < node.items.size(); i += 2) map.entries.push_back({node.items[i], node.items[i + 1]});
  const SceneItem item(outer.reading(), map, "random " + outer.label());
  item.check_keys({"points", "size", "seed"});
  int count = 0;
  double seed = 0;
  Vec3 size = Vec3::Zero();
  const bool complete = item.require("points") & item.require("size");
  if (!complete || !item.integer("points", &count) || !item.vector("size", &size)) return;
  if (item.has("seed") && !item.number("seed", &seed)) return;
  if (count < 4 || count > kMaxHullPoints) {
    return item.fault(*item.find("points"),
                      "'points' must be from 4 to " + std::to_string(kMaxHullPoints) + " in " + item.label());
  }
  if (!(size.minCoeff() > 0)) return item.fault(*item.find("size"), "size must be positive in " + item.label());
  if (!count_corners(item, static_cast<std::size_t>(count))) return;
  const std::uint64_t scene_seed = item.reading().scope->seed();
  for (int k = 0; k < count; ++k) {
    const double z = 2 * hashed_random(scene_seed, std::array<double, 3>{seed, static_cast<double>(k), 1}) - 1;
    const double turn = hashed_random(scene_seed, std::array<double, 3>{seed, static_cast<double>(k), 2});
    const double angle = 2 * std::numbers::pi * turn, across = std::sqrt(1 - z * z);
    shape->vertices.push_back(0.5 * size.cwiseProduct(Vec3(across * std::cos(angle), across * std::sin(angle), z)));
  }
}

bool read_scale(const SceneItem& item, Vec3* scale);

void read_hull(const SceneItem& item, ReadShape* shape) {
  const bool points = item.find("points"), file = item.find("file"), random = item.find("random");
  if (points + file + random != 1) {
    item.fault(*item.map().node, item.label() + (points + file + random > 1
                                                     ? " has more than one of 'points', 'file' and 'random'; give one"
                                                     : " needs 'points', 'file' or 'random'"));
    return;
  }
  if (!file && item.has("scale")) item.fault(*item.find("scale"), "'scale' is for the points of a 'file'");
  if (!item.reading().scope->has_few_corners()) return;  // said at the hull that was too many
  if (random) return read_random_hull(item, shape);
  if (file) {
    std::string name;
    if (!item.text("file", &name)) return;
    Vec3 scale = Vec3::Ones();
    const std::string* const text = item.reading().files->read_data(*item.find("file"), name);
    if (!text || !read_scale(item, &scale)) return;
    if (is_mesh_file(name)) {
      MeshPoints made = make_mesh_points(name, *text, scale);
      if (!made.problem.empty()) return item.fault(*item.find("file"), "mesh '" + name + "': " + made.problem);
      shape->vertices = std::move(made.points);
      count_corners(item, shape->vertices.size());
      return;
    }
    read_hull_file(item, *text, shape);
    for (Vec3& p : shape->vertices) p = p.cwiseProduct(scale);
    count_corners(item, shape->vertices.size());
    return;
  }
  const SceneNode& node = *item.find("points");
  if (!node.is_list()) return item.expected(node, "a list of points [x, y, z]", "points");
  for (const SceneNode* point : node.items) {
    const auto p = item.as_numbers(*point, "points", {3});
    if (p) shape->vertices.emplace_back((*p)[0], (*p)[1], (*p)[2]);
  }
  count_corners(item, shape->vertices.size());
}

/// `scale`: one number, or one for each axis.
bool read_scale(const SceneItem& item, Vec3* scale) {
  const SceneNode* node = item.find("scale");
  if (node == nullptr) return true;
  if (node->is_list()) {
    const auto s = item.as_numbers(*node, "scale", {3});
    if (!s) return false;
    *scale = Vec3((*s)[0], (*s)[1], (*s)[2]);
  } else {
    const auto s = item.as_number(*node, "scale");
    if (!s) return false;
    scale->setConstant(*s);
  }
  if (scale->allFinite() && scale->cwiseAbs().minCoeff() > 0) return true;
  item.fault(*node, "scale must be a number other than zero in " + item.label());
  return false;
}

void read_mesh(const SceneItem& item, ReadShape* shape) {
  std::string name;
  Vec3 scale = Vec3::Ones();
  if (!item.require("file") || !item.text("file", &name) || !read_scale(item, &scale)) return;
  const SceneNode& node = *item.find("file");
  SceneFiles& files = *item.reading().files;
  const std::string* bytes = files.read_data(node, name);
  if (bytes == nullptr) return;
  std::string key = name + " " + std::to_string(node.file);
  for (const double s : scale) key += " " + std::to_string(std::bit_cast<std::uint64_t>(s));
  if (const auto known = files.surfaces().find(key); known != files.surfaces().end()) {
    shape->surface = known->second;
    return;
  }
  SurfaceFile file = parse_surface(name, *bytes);
  for (Vec3& p : file.vertices) p = p.cwiseProduct(scale);
  if (scale.prod() < 0) {  // a mirror image: the outside stays outside
    for (Triangle& t : file.triangles) std::swap(t[1], t[2]);
  }
  MadeSurface made;
  made.problem = file.problem;
  if (made.problem.empty()) made = make_surface(std::move(file.vertices), std::move(file.triangles));
  if (!made.problem.empty()) return item.fault(node, "mesh '" + name + "': " + made.problem);
  shape->surface = made.surface;
  files.surfaces().emplace(key, made.surface);
}

/// Rows of numbers; the first row has the least y.
bool read_height_rows(const SceneItem& item, const SceneNode& node, HeightFile* out) {
  if (!node.is_list()) {
    item.expected(node, "a list of rows of numbers", "data");
    return false;
  }
  for (const SceneNode* row : node.items) {
    if (!row->is_list() || row->items.empty()) {
      item.expected(*row, "a row of numbers", "data");
      return false;
    }
    if (out->columns != 0 && row->items.size() != out->columns) {
      item.fault(*row, "this row of 'data' has " + std::to_string(row->items.size()) + " numbers, the rows before it " +
                           std::to_string(out->columns));
      return false;
    }
    out->columns = row->items.size();
    for (const SceneNode* number : row->items) {
      const auto height = item.as_number(*number, "data");
      if (!height) return false;
      out->heights.push_back(*height);
    }
  }
  return true;
}

/// A grid of numbers from `file` or `data`; `what` names a file's in faults. Null and a fault if there is none.
const SceneNode* read_grid(const SceneItem& item, const std::string& what, HeightFile* out) {
  const SceneNode *data = item.find("data"), *file = item.find("file");
  if ((data == nullptr) == (file == nullptr)) {
    item.fault(item.node(), item.label() + " needs either 'file' or 'data'");
    return nullptr;
  }
  if (data != nullptr) return read_height_rows(item, *data, out) ? data : nullptr;
  std::string name;
  if (!item.text("file", &name)) return nullptr;
  const std::string* bytes = item.reading().files->read_data(*file, name);
  if (bytes == nullptr) return nullptr;
  *out = parse_heights(name, *bytes);
  if (out->problem.empty()) return file;
  item.fault(*file, what + " '" + name + "': " + out->problem);
  return nullptr;
}

/// rolling_friction: {file | data, scale}, a map of arms. False and a fault if it is wrong.
bool read_rolling_map(const SceneItem& outer, Grid* arms) {
  const SceneNode* node = outer.find("rolling_friction");
  if (node == nullptr) return true;
  if (!node->is_map()) {
    outer.expected(*node, "a map such as {file: soil.pgm, scale: 0.05}", "rolling_friction");
    return false;
  }
  SceneMap map{node, {}};
  for (std::size_t i = 0; i + 1 < node->items.size(); i += 2)
    map.entries.push_back({node->items[i], node->items[i + 1]});
  const SceneItem item(outer.reading(), map, "rolling_friction of " + outer.label());
  item.check_keys({"file", "data", "scale"});
  double scale = 1;
  if (item.has("scale") && !item.number("scale", &scale)) return false;
  HeightFile read;
  const SceneNode* place = read_grid(item, "rolling_friction", &read);
  if (place == nullptr) return false;
  for (double& arm : read.heights) arm *= scale;
  *arms = {std::move(read.heights), read.columns};
  if (const std::string problem = find_arm_problem(*arms); !problem.empty()) {
    item.fault(*place, item.label() + ": " + problem);
    return false;
  }
  return true;
}

void read_heightfield(const SceneItem& item, ReadShape* shape) {
  if (!item.require("size")) return;
  const auto size = item.as_numbers(*item.find("size"), "size", {2, 3});
  if (!size) return;
  const double factor = size->size() == 3 ? (*size)[2] : 1;
  if (!((*size)[0] > 0) || !((*size)[1] > 0) || !std::isfinite((*size)[0] * (*size)[1] * factor)) {
    return item.fault(*item.find("size"), "size must be positive in " + item.label());
  }
  HeightFile heights;
  Grid arms;
  const SceneNode* place = read_grid(item, "heightfield", &heights);
  if (place == nullptr || !read_rolling_map(item, &arms)) return;
  for (double& height : heights.heights) height *= factor;
  MadeSurface made = make_heightfield(heights.heights, heights.columns, (*size)[0], (*size)[1], std::move(arms));
  if (!made.problem.empty()) {
    std::string name;
    const std::string label = item.text("file", &name) ? "heightfield '" + name + "'" : "data of " + item.label();
    return item.fault(*place, label + ": " + made.problem);
  }
  shape->surface = made.surface;
}

struct ShapeType {
  std::string_view name;
  ShapeKind kind;
  std::string_view instead_in_space;  ///< empty: the shape is for scenes in space
  std::string_view instead_in_plane;  ///< empty: the shape is for planar scenes
  std::array<std::string_view, 8> keys;
  void (*read)(const SceneItem&, ReadShape*);
};

constexpr std::array kShapes{
    ShapeType{"sphere", ShapeKind::Sphere, "", "disk", {"radius", ""}, read_round},
    ShapeType{"box", ShapeKind::Box, "", "", {"size", ""}, read_box},
    ShapeType{"capsule", ShapeKind::Capsule, "", "polygon", {"radius", "length"}, read_capsule},
    ShapeType{"cylinder", ShapeKind::Cylinder, "", "disk", {"radius", "length"}, read_capsule},
    ShapeType{"cone", ShapeKind::Cone, "", "polygon", {"radius", "length"}, read_capsule},
    ShapeType{"ellipsoid", ShapeKind::Ellipsoid, "", "disk", {"size", ""}, read_box},
    ShapeType{"hull", ShapeKind::Hull, "", "polygon", {"points", "file", "random", "scale"}, read_hull},
    ShapeType{"plane", ShapeKind::Plane, "", "", {"normal", "offset"}, read_plane},
    ShapeType{"halfspace", ShapeKind::Plane, "", "", {"normal", "offset"}, read_plane},
    ShapeType{"disk", ShapeKind::Disk, "sphere", "", {"radius", ""}, read_round},
    ShapeType{"polygon",
              ShapeKind::Polygon,
              "extrude",
              "",
              {"points", "holes", "corner_radius", "tolerance", "file", "scale", "gear"},
              read_polygon},
    ShapeType{"extrude",
              ShapeKind::Mesh,
              "",
              "polygon",
              {"points", "holes", "corner_radius", "tolerance", "file", "scale", "gear", "length"},
              read_extrude},
    ShapeType{"revolve",
              ShapeKind::Mesh,
              "",
              "disk",
              {"points", "holes", "corner_radius", "tolerance", "file", "scale", "segments"},
              read_revolve},
    ShapeType{"mesh", ShapeKind::Mesh, "", "polygon", {"file", "scale"}, read_mesh},
    ShapeType{"heightfield",
              ShapeKind::Heightfield,
              "",
              "polygon",
              {"file", "data", "size", "rolling_friction"},
              read_heightfield},
};

const KeyList& shape_names() {
  static const KeyList kNames = [] {
    KeyList names;
    for (const ShapeType& type : kShapes) names.push_back(type.name);
    return names;
  }();
  return kNames;
}

const KeyList& common_keys() {
  static const KeyList kKeys{"position", "orientation", "material", "color",  "density",         "visual_only",
                             "contype",  "conaffinity", "like",     "repeat", "surface_velocity"};
  return kKeys;
}

void read_color(const SceneItem& item, std::string* color) {
  std::string text;
  if (!item.text("color", &text)) return;
  if (const auto hex = as_hex_color(text)) {
    *color = *hex;
    return;
  }
  std::string message =
      "unknown color '" + text + "' in " + item.label() + "; write \"#rgb\", \"#rrggbb\" or a CSS name";
  if (const auto near = closest_color(text)) message += "; did you mean '" + *near + "'?";
  item.fault(*item.find("color"), std::move(message));
}

/// A contact filter: 32 bits as a whole number.
void read_bits(const SceneItem& item, std::string_view key, std::uint32_t* out) {
  double value = 0;
  if (!item.number(key, &value)) return;
  if (value >= 0 && value < 0x1p32 && value == std::floor(value)) {
    *out = static_cast<std::uint32_t>(value);
  } else {
    item.expected(*item.find(key), "a whole number of 32 bits", key);
  }
}

void read_material_name(const SceneItem& item, SceneBuild* build, ReadShape* shape) {
  if (!item.text("material", &shape->material)) return;
  build->places[shape->source].add_member("material", item.find("material"));
}

/// The keys under the shape's own name: {radius: 1}.
void read_form(const SceneItem& item, const SceneMap::Entry& entry, SceneBuild* build, ReadShape* shape) {
  const ShapeType& type =
      *std::find_if(kShapes.begin(), kShapes.end(), [&](const ShapeType& t) { return t.name == entry.key->text; });
  shape->kind = type.kind;
  ScenePlace& place = build->places[shape->source];
  const SceneNode* const points = entry.value->find("points");
  place.add_member("kind", entry.value);
  place.add_member("surface", entry.value);
  place.add_member("vertices", points != nullptr ? points : entry.value);
  const std::string_view instead = build->reading.planar ? type.instead_in_plane : type.instead_in_space;
  if (!instead.empty()) {
    item.fault(*entry.key, "shape '" + entry.key->text + "' is not for " +
                               (build->reading.planar ? "planar scenes" : "scenes in space") + "; use '" +
                               std::string(instead) + "'");
    return;
  }
  const std::string label = entry.key->text + " of " + item.label();
  const SceneMapPtr map = build->expander.resolve(*entry.value, label);
  if (!map) return;
  const SceneItem inner(build->reading, *map, label);
  KeyList legal{"like"};
  for (const std::string_view key : type.keys) {
    if (!key.empty()) legal.push_back(key);
  }
  inner.check_keys(legal);
  type.read(inner, shape);
}

void read_shape(const SceneMapPtr& map, const SceneItem& body, SceneBuild* build, BodyDescription* out) {
  const std::size_t faults_before = build->reading.faults->raised();
  ReadShape shape;
  shape.source = build->add_place(*map->node, map);
  // What the body says about material and colour holds for each of its shapes that does not say it.
  read_material_name(body, build, &shape);
  read_color(body, &shape.color);
  const SceneItem item(build->reading, *map, body.label());
  if (!map->complete) build->reading.faults->note_consequence();
  if (const SceneMap::Entry* kind = find_kind(item, "shape", shape_names(), common_keys())) {
    read_form(item, *kind, build, &shape);
  }
  item.vector("position", &shape.pose.position);
  item.orientation("orientation", &shape.pose.orientation);
  read_material_name(item, build, &shape);
  read_color(item, &shape.color);
  item.number("density", &shape.density);
  item.flag("visual_only", &shape.visual_only);
  read_bits(item, "contype", &shape.contype);
  read_bits(item, "conaffinity", &shape.conaffinity);
  item.vector_of_time("surface_velocity", &shape.surface_velocity);
  build->places[shape.source].sound = build->reading.faults->raised() == faults_before;
  if (!build->places[shape.source].sound) return;
  for (OutlinePiece& piece : shape.pieces) {
    out->shapes.push_back(shape);
    out->shapes.back().points = std::move(piece.points);
    out->shapes.back().outline = std::move(piece.corners);
  }
  if (shape.pieces.empty()) out->shapes.push_back(std::move(shape));
}

}  // namespace

KeyList shape_keys() {
  KeyList keys = common_keys();
  for (const ShapeType& type : kShapes) {
    keys.push_back(type.name);
    for (std::string_view key : type.keys) {
      if (!key.empty()) keys.push_back(key);
    }
  }
  return keys;
}

void read_shapes(const SceneNode& list, const SceneItem& body, SceneBuild* build, BodyDescription* out) {
  build->for_each_item(list, "a shape of " + body.label(), &build->shapes,
                       [&](const SceneMapPtr& map, std::int64_t) { read_shape(map, body, build, out); });
}

}  // namespace slipstick
