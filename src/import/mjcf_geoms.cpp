#include "import/mjcf_geoms.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/as_quoted.h"
#include "import/urdf.h"
#include "model/mass_properties.h"

namespace slipstick {
namespace {

enum GeomType : std::uint8_t { kPlane, kHeightfield, kSphere, kCapsule, kEllipsoid, kCylinder, kBox, kMesh, kSdf };
const KeyList kGeomTypes{"plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "sdf"};
const KeyList kGeomNames{"name",     "class",       "pos",          "quat",      "axisangle", "xyaxes",  "zaxis",
                         "euler",    "type",        "size",         "fromto",    "mesh",      "hfield",  "contype",
                         "condim",   "conaffinity", "priority",     "friction",  "mass",      "density", "solmix",
                         "solref",   "solimp",      "shellinertia", "margin",    "gap",       "group",   "rgba",
                         "material", "fitscale",    "user",         "fluidcoef", "fluidshape"};
constexpr std::array kFitted{ShapeKind::Plane,     ShapeKind::Heightfield, ShapeKind::Sphere, ShapeKind::Capsule,
                             ShapeKind::Ellipsoid, ShapeKind::Cylinder,    ShapeKind::Box};
constexpr int kPairBits = 16;  // of the 32, from the highest on, are for pairs

/// How far the points reach along the axes of a frame: what fits around them.
struct MeshExtent {
  Vec3 center = Vec3::Zero(), half = Vec3::Zero();  ///< of their box
  double ball = 0, across = 0, capsule = 0;  ///< radius of a ball, of a cylinder about z; half the length of a capsule
};
MeshExtent calc_extent(const std::vector<Vec3>& points, const Pose& frame) {
  MeshExtent made;
  const auto as_local = [&](const Vec3& p) {
    return Vec3(frame.orientation.conjugate() * (p - frame.position) - made.center);
  };
  Vec3 low = as_local(points[0]), high = low;
  for (const Vec3& each : points) {
    low = low.cwiseMin(as_local(each));
    high = high.cwiseMax(as_local(each));
  }
  made.center = (low + high) / 2;
  made.half = (high - low) / 2;
  for (const Vec3& each : points) {
    const Vec3 p = as_local(each);
    made.ball = std::max(made.ball, p.norm());
    made.across = std::max(made.across, std::hypot(p.x(), p.y()));
  }
  for (const Vec3& each : points) {  // the caps are round: a point near the axis may stand in one
    const Vec3 p = as_local(each);
    const double cap = std::sqrt(std::max(made.across * made.across - p.x() * p.x() - p.y() * p.y(), 0.0));
    made.capsule = std::max(made.capsule, std::abs(p.z()) - cap);
  }
  return made;
}

std::string name_of_surface(std::size_t k) { return "surface_" + std::to_string(k + 1); }

}  // namespace

void MjcfGeoms::read_pairs() {
  int pairs = 0;
  for (const XmlElement* xml : tree_.section("contact")) {
    if (xml->name != "pair") continue;
    const ImportElement pair = tree_.make(*xml, "");
    std::string one, two;
    if (!(pair.require("geom1") & pair.require("geom2"))) continue;
    pair.text("geom1", &one);
    pair.text("geom2", &two);
    pair.find("name");
    if (pairs >= kPairBits) {
      context_.ignore(context_.place_of(*xml), pair.label(), "more than 16 pairs: it touches as its geoms' bits say");
      continue;
    }
    const std::uint32_t bit = 1u << (31 - pairs++);
    pair_bits_[one][0] |= bit;
    pair_bits_[two][1] |= bit;
    pairs_of_[one][two] = pairs_of_[two][one] = xml;
  }
}

MjcfSurface MjcfGeoms::meet(const MjcfSurface& a, const MjcfSurface& b) const {
  MjcfSurface both = a.priority >= b.priority ? a : b;
  if (a.priority == b.priority) {
    both.condim = std::max(a.condim, b.condim);
    for (int k = 0; k < 3; ++k) both.friction[k] = std::max(a.friction[k], b.friction[k]);
  }
  const auto one = pairs_of_.find(a.geom);
  if (one == pairs_of_.end() || !one->second.count(b.geom)) return both;
  const ImportElement pair = tree_.make(*one->second.at(b.geom), "");
  pair.integer("condim", &both.condim);
  // Two of sliding, then spinning, then two of rolling; the engine has one of each, the first.
  const std::vector<double> f =
      tree_.overlay(pair, "friction", {both.friction[0], 0, both.friction[1], both.friction[2], 0});
  both.friction = {f[0], f[2], f[3]};
  return both;
}

void MjcfGeoms::add(const XmlElement& xml, const std::string& childclass, const Pose& frame, RobotLink* link,
                    MassProperties* matter) {
  const ImportElement geom = tree_.make(xml, childclass);
  geom.check_names(kGeomNames);
  ShapeDescription shape;
  shape.source = context_.add_place(xml, geom.label());
  int type = kSphere;
  geom.word("type", kGeomTypes, &type);
  read_bits(geom, &shape);
  if (!read_form(geom, type, &shape)) return;
  shape.pose = compose(frame, shape.pose);
  read_surface(geom, &shape);
  read_color(geom, &shape);
  for (const char* plain : {"name", "group"}) geom.find(plain);  // what a viewer shows
  if (matter != nullptr) add_matter(geom, shape, matter);
  link->shapes.push_back(std::move(shape));
}

void MjcfGeoms::read_bits(const ImportElement& geom, ShapeDescription* shape) {
  int contype = 1, conaffinity = 1;
  geom.integer("contype", &contype);
  geom.integer("conaffinity", &conaffinity);
  shape->contype = no_contact_ ? 0 : static_cast<std::uint32_t>(contype);
  shape->conaffinity = no_contact_ ? 0 : static_cast<std::uint32_t>(conaffinity);
  const XmlAttribute* name = geom.xml().find("name");
  const auto bits = name == nullptr ? pair_bits_.end() : pair_bits_.find(name->value);
  if (bits != pair_bits_.end() && !no_contact_) {
    shape->contype |= bits->second[0];
    shape->conaffinity |= bits->second[1];
  }
  shape->visual_only = shape->contype == 0 && shape->conaffinity == 0;
}

bool MjcfGeoms::read_form(const ImportElement& geom, int type, ShapeDescription* shape) {
  shape->pose = tree_.read_pose(geom);
  const bool primitive = type != kMesh && type != kSdf && type != kPlane && type != kHeightfield;
  if (primitive && geom.has("mesh")) return fit_mesh(geom, type, shape);
  if (type == kMesh || type == kSdf) return read_mesh(geom, shape);
  if (type == kHeightfield) return read_hfield(geom, shape);
  if (type == kPlane) {
    tree_.overlay(geom, "size", {0, 0, 0});  // how much of it is drawn
    shape->kind = ShapeKind::Plane;
    shape->normal = Vec3::UnitZ();
    return true;
  }
  double length = -1;
  if (!read_ends(geom, shape, &length)) return false;
  if (!geom.has("size")) return geom.fault("missing attribute 'size' in " + geom.label()), false;
  const std::vector<double> size = tree_.overlay(geom, "size", {0, 0, 0});
  if (type == kSphere || type == kCapsule || type == kCylinder) {
    shape->kind = type == kSphere ? ShapeKind::Sphere : type == kCapsule ? ShapeKind::Capsule : ShapeKind::Cylinder;
    shape->radius = size[0];
    if (type != kSphere) shape->length = length > 0 ? length : 2 * size[1];
    return true;
  }
  shape->kind = type == kEllipsoid ? ShapeKind::Ellipsoid : ShapeKind::Box;
  shape->size = length > 0 ? Vec3(2 * size[0], 2 * size[0], length) : 2 * Vec3(size[0], size[1], size[2]);
  return true;
}

/// fromto: the axis of the shape.
bool MjcfGeoms::read_ends(const ImportElement& geom, ShapeDescription* shape, double* length) {
  std::vector<double> ends;
  if (!geom.numbers("fromto", 6, 6, &ends)) return !geom.has("fromto");
  const Vec3 from(ends[0], ends[1], ends[2]), to(ends[3], ends[4], ends[5]), d = from - to;
  *length = d.norm();
  if (!(*length > 0)) return geom.fault("both ends in fromto of " + geom.label() + " are one point"), false;
  shape->pose.position = (from + to) / 2;
  shape->pose.orientation = Quat::FromTwoVectors(Vec3::UnitZ(), d / *length);
  return true;
}

bool MjcfGeoms::read_mesh(const ImportElement& geom, ShapeDescription* shape) {
  if (!geom.require("mesh")) return false;
  const MjcfAssets::Mesh* asset = assets_.find_mesh(geom);
  if (asset == nullptr) return false;
  set_mesh(asset->mesh, mesh_, shape);
  // refpos and refquat: the mesh's own frame is there in the file's.
  const Quat back = asset->reference.orientation.conjugate();
  shape->pose = compose(shape->pose, {back * -asset->reference.position, back});
  mesh_of_[shape->source] = {asset->mesh, asset->matter};
  return true;
}

bool MjcfGeoms::fit_mesh(const ImportElement& geom, int type, ShapeDescription* shape) {
  const MjcfAssets::Mesh* asset = assets_.find_mesh(geom);
  if (asset == nullptr) return false;
  const MeshBox box = asset->mesh->surface != nullptr ? calc_mesh_box(*asset->mesh->surface) : MeshBox{};
  if (!(box.half.minCoeff() > 0))
    return geom.fault(*geom.find("mesh"), "the mesh of " + geom.label() + " has no volume to fit a primitive to"),
           false;
  Pose at = box.pose;
  Vec3 half = box.half;
  double radius = (half.x() + half.y()) / 2, length = half.z();  // half of it
  if (type == kSphere) radius = half.mean();
  if (type == kCapsule) length = std::max(length - radius / 2, 0.0);
  if (tree_.compiler().fit_aabb) {
    const MeshExtent extent = calc_extent(asset->mesh->surface->vertices, box.pose);
    at.position += at.orientation * extent.center;
    half = extent.half;
    radius = type == kSphere ? extent.ball : extent.across;
    length = type == kCapsule ? extent.capsule : half.z();
  }
  double scale = 1;
  geom.number("fitscale", &scale);
  shape->kind = kFitted[type];
  shape->radius = scale * radius;
  shape->length = 2 * scale * length;
  shape->size = 2 * scale * half;
  const Quat back = asset->reference.orientation.conjugate();
  shape->pose = compose(shape->pose, compose({back * -asset->reference.position, back}, at));
  return true;
}

bool MjcfGeoms::read_hfield(const ImportElement& geom, ShapeDescription* shape) {
  shape->kind = ShapeKind::Heightfield;
  shape->surface = assets_.find_heightfield(geom);
  return shape->surface != nullptr;
}

void MjcfGeoms::read_surface(const ImportElement& geom, ShapeDescription* shape) {
  MjcfSurface surface;
  const std::vector<double> f = tree_.overlay(geom, "friction", {1, 0.005, 0.0001});
  std::copy(f.begin(), f.end(), surface.friction.begin());
  geom.integer("condim", &surface.condim);
  if (surface.condim != 1 && surface.condim != 3 && surface.condim != 4 && surface.condim != 6)
    geom.fault(*geom.find("condim"), "condim of " + geom.label() + " must be 1, 3, 4 or 6");
  geom.integer("priority", &surface.priority);
  if (shape->visual_only) return;
  const XmlAttribute* name = geom.xml().find("name");
  if (name != nullptr && pairs_of_.count(name->value)) surface.geom = name->value;
  std::size_t k = 0;
  while (k < surfaces_.size() && !(surfaces_[k] == surface)) ++k;
  if (k == surfaces_.size()) surfaces_.push_back(surface);
  shape->material = name_of_surface(k);
}

void MjcfGeoms::read_color(const ImportElement& geom, ShapeDescription* shape) {
  std::vector<double> rgba;
  const XmlAttribute* material = geom.find("material");
  if (geom.numbers("rgba", 3, 4, &rgba)) {
    shape->color = as_color(rgba[0], rgba[1], rgba[2]);
  } else if (material != nullptr) {
    shape->color = assets_.color(material->value);
  }
}

void MjcfGeoms::add_matter(const ImportElement& geom, const ShapeDescription& shape, MassProperties* sum) {
  double density = 1000;
  std::optional<double> mass;
  geom.number("density", &density);
  geom.number("mass", &mass);
  int group = 0;
  geom.integer("group", &group);
  const auto& groups = tree_.compiler().inertia_groups;
  if (group < groups[0] || group > groups[1] || shape.kind == ShapeKind::Plane || shape.kind == ShapeKind::Heightfield)
    return;
  if ((mass && *mass == 0) || (!mass && density == 0)) return;
  MassProperties part = calc_geom_matter(geom, shape, mass.has_value());
  if (!(part.mass > 0)) return;
  const double factor = mass ? *mass / part.mass : density;
  part.mass *= factor;
  part.inertia *= factor;
  part = move_matter(part, shape.pose);
  *sum = sum->mass > 0 ? join_matter(*sum, part) : part;
}

/// Per unit of density. The matter of a mesh is the mesh's own, whatever touches.
MassProperties MjcfGeoms::calc_geom_matter(const ImportElement& geom, const ShapeDescription& shape, bool weighed) {
  const auto known = mesh_of_.find(shape.source);
  if (known == mesh_of_.end() || known->second.mesh->surface == nullptr) return calc_unit_density(shape, false);
  MeshMatter way = known->second.way;
  bool shell = false;
  if (geom.flag("shellinertia", &shell) && shell) way = MeshMatter::Shell;
  const Surface& mesh = *known->second.mesh->surface;
  if (way == MeshMatter::Convex) {
    ShapeDescription hull;
    hull.kind = ShapeKind::Hull;
    hull.vertices = known->second.mesh->hull;
    return calc_unit_density(hull, false);
  }
  const MassProperties made = calc_mesh_matter(mesh, way);
  if (way == MeshMatter::Exact && !(made.mass > 0))
    geom.fault("the mesh of " + geom.label() + " has no volume (its triangles face inwards, or it is open)");
  if (way != MeshMatter::Box || weighed || !noted_.insert(known->second.mesh.get()).second) return made;
  const double real = calc_mesh_matter(mesh, MeshMatter::Legacy).mass;
  char text[160];
  std::snprintf(text, sizeof text,
                "the matter of mesh '%.60s' is counted as MuJoCo 2.2 does; MuJoCo 3 has %.4g times as much",
                known->second.mesh->name.c_str(), real / made.mass);
  if (std::abs(real / made.mass - 1) > 1e-6) context_.note(context_.place_of(geom.xml()), geom.label(), text);
  return made;
}

void MjcfGeoms::make_materials(Robot* robot) const {
  for (std::size_t i = 0; i < surfaces_.size(); ++i) {
    const MjcfSurface& s = surfaces_[i];
    Material material;
    material.name = name_of_surface(i);
    material.friction = s.slide();
    material.rolling_friction = s.roll();
    material.spinning_friction = s.spin();
    robot->materials.push_back(material);
    for (std::size_t j = 0; j < i; ++j) {
      const MjcfSurface both = meet(s, surfaces_[j]);
      MaterialPairDescription pair;
      pair.a = name_of_surface(j);
      pair.b = name_of_surface(i);
      pair.friction = both.slide();
      pair.rolling_friction = both.roll();
      pair.spinning_friction = both.spin();
      robot->material_pairs.push_back(pair);
    }
  }
}

}  // namespace slipstick
