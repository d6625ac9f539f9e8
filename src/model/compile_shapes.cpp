// The forms of bodies: checked, and turned into what the collision room reads.
#include <slipstick/surface.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "model/compile_parts.h"
#include "model/mass_properties.h"

namespace slipstick {
namespace {

// Corners that stick out of the line of their neighbours by less than this part of the polygon's size are no corners.
constexpr double kFlatCorner = 1e-12;

double cross(const Vec2& a, const Vec2& b) { return a.x() * b.y() - a.y() * b.x(); }

/// The polygon's corners counter-clockwise and without those in the middle of a straight side; empty and a fault if it
/// is not a convex polygon.
std::vector<Vec2> calc_corners(std::vector<Vec2> points, ItemCheck* check) {
  if (points.size() < 3) {
    check->fail("points", "needs at least 3 points, not " + std::to_string(points.size()));
    return {};
  }
  for (const Vec2& p : points) {
    if (!check->finite("points", Vec3(p.x(), p.y(), 0))) return {};
  }
  double size = 0;
  for (const Vec2& p : points) size = std::max(size, (p - points[0]).cwiseAbs().maxCoeff());
  const double area = calc_polygon_moments(points).area;
  if (!(std::abs(area) > kFlatCorner * size * size)) {
    check->fail("points", "its points enclose no area; check their order and that they are not on one line");
    return {};
  }
  if (area < 0) std::reverse(points.begin(), points.end());
  std::vector<Vec2> corners;
  const std::size_t n = points.size();
  for (std::size_t i = 0; i < n; ++i) {
    const Vec2 from = points[i] - points[(i + n - 1) % n], to = points[(i + 1) % n] - points[i];
    if (to.isZero(0)) {
      check->fail("points",
                  "point [" + as_text(points[i].x()) + ", " + as_text(points[i].y()) + "] is given twice in a row");
      return {};
    }
    const bool flat = from.dot(to) > 0 && std::abs(cross(from, to)) <= kFlatCorner * size * (from + to).norm();
    if (!flat) corners.push_back(points[i]);
  }
  for (std::size_t i = 0; i < corners.size(); ++i) {  // each corner on the left of each side: convex, and wound once
    const Vec2& start = corners[i];
    const Vec2 side = corners[(i + 1) % corners.size()] - start;
    for (const Vec2& p : corners) {
      if (cross(side, p - start) >= -kFlatCorner * size * side.norm()) continue;
      check->fail("points", "its points do not form a convex polygon; split it into several convex shapes");
      return {};
    }
  }
  return corners;
}

void check_kind(const ShapeDescription& shape, bool movable, bool planar, ItemCheck* check) {
  const bool flat = shape.kind == ShapeKind::Disk || shape.kind == ShapeKind::Polygon;
  const bool solid = !flat && shape.kind != ShapeKind::Box && shape.kind != ShapeKind::Plane;
  if (flat && !planar) check->fail("kind", "is a planar shape; use it with planar: true, or take a sphere or a box");
  if (solid && planar) check->fail("kind", "is no planar shape; use a disk, a box or a polygon");
  if (shape.kind == ShapeKind::Plane && movable) {
    check->fail("kind", "a plane is unbounded and cannot belong to a dynamic body; make the body fixed or kinematic");
  }
  if (shape.kind == ShapeKind::Heightfield && movable && !shape.visual_only) {
    check->fail("kind",
                "a heightfield has no mass and cannot belong to a dynamic body; make the body fixed or kinematic");
  }
}

void check_sizes(const ShapeDescription& shape, bool planar, ItemCheck* check) {
  switch (shape.kind) {
    case ShapeKind::Sphere:
    case ShapeKind::Disk:
      check->positive("radius", shape.radius);
      break;
    case ShapeKind::Capsule:
      check->positive("radius", shape.radius);
      check->not_negative("length", shape.length);
      break;
    case ShapeKind::Box:
      for (int i = 0; i < (planar ? 2 : 3); ++i) check->positive("size", shape.size[i]);
      break;
    case ShapeKind::Plane:
      check->finite("offset", shape.offset);
      if (!check->finite("normal", shape.normal)) break;
      if (!(shape.normal.norm() > 0)) check->fail("normal", "normal must not be zero");
      if (planar) check->in_plane("normal", shape.normal);
      break;
    case ShapeKind::Cylinder:
    case ShapeKind::Cone:
      check->positive("radius", shape.radius);
      check->positive("length", shape.length);
      break;
    case ShapeKind::Ellipsoid:
      for (int i = 0; i < 3; ++i) check->positive("size", shape.size[i]);
      break;
    case ShapeKind::Mesh:
    case ShapeKind::Heightfield:
      if (!shape.surface) check->fail("surface", "has no surface; give it a file or data");
      break;
    case ShapeKind::Polygon:
    case ShapeKind::Hull:
      break;  // calc_corners and make_hull look at them
  }
  if (shape.density) check->positive("density", *shape.density);
}

void check_pose(const Pose& pose, bool planar, ItemCheck* check) {
  const Quat& q = pose.orientation;
  if (check->finite("position", pose.position) && planar) check->in_plane("position", pose.position);
  if (!q.coeffs().allFinite() || !(q.norm() > 0)) {
    check->fail("orientation", "orientation must be a quaternion other than zero");
  } else if (planar && std::hypot(q.x(), q.y()) > 1e-9 * q.norm()) {
    check->fail("orientation", "orientation must be a turn about z in a planar model");
  }
}

/// Places the polygon's frame at its centroid (where it pays: `bound` becomes tight) and stores its corners.
void add_polygon(const std::vector<Vec2>& corners, Model* model, Shape* shape) {
  Vec2 center = calc_polygon_moments(corners).center;
  double size = 0;
  for (const Vec2& p : corners) size = std::max(size, (p - center).norm());
  if (center.norm() <= 1e-12 * size) center.setZero();
  shape->first_point = static_cast<int>(model->points.size());
  shape->point_count = static_cast<int>(corners.size());
  for (const Vec2& p : corners) model->points.push_back(p - center);
  shape->pose.position += shape->pose.orientation * Vec3(center.x(), center.y(), 0);
  shape->bound = size;
}

/// Shapes that share a surface share its entry in the model.
void add_surface(const ShapeDescription& given, Model* model, Shape* shape) {
  auto& list = model->surfaces;
  const auto found = std::find(list.rbegin(), list.rend(), given.surface);
  shape->surface = static_cast<int>(list.rend() - found) - 1;
  if (found == list.rend()) {
    shape->surface = static_cast<int>(list.size());
    list.push_back(given.surface);
  }
  double bound_sq = 0;
  for (const Vec3& p : given.surface->vertices) bound_sq = std::max(bound_sq, p.squaredNorm());
  shape->bound = std::sqrt(bound_sq);
}

/// The same for a hull: its frame goes to the middle of its extent, which is returned.
Vec3 add_hull(Hull hull, Model* model, Shape* shape) {
  Vec3 low = hull.vertices[0], high = low;
  for (const Vec3& p : hull.vertices) {
    low = low.cwiseMin(p);
    high = high.cwiseMax(p);
  }
  Vec3 center = (low + high) / 2;
  if (center.norm() <= 1e-12 * (high - low).norm()) center.setZero();
  for (Vec3& p : hull.vertices) p -= center;
  for (HullFace& face : hull.faces) face.offset -= face.normal.dot(center);
  for (const Vec3& p : hull.vertices) shape->bound = std::max(shape->bound, p.norm());
  shape->pose.position += shape->pose.orientation * center;
  shape->hull = static_cast<int>(model->hulls.size());
  model->hulls.push_back(std::move(hull));
  return center;
}

std::uint64_t calc_key(const std::vector<Vec3>& points) {
  std::uint64_t key = points.size();
  for (const Vec3& p : {points.front(), points[points.size() / 2], points.back()})
    for (const double x : p) key = key * 0x9e3779b97f4a7c15 + std::bit_cast<std::uint64_t>(x);
  return key;
}

/// The hull of the same points as another shape's, or null.
const Compilation::KnownHull* find_hull(const Compilation& c, const std::vector<Vec3>& points) {
  if (points.empty()) return nullptr;
  const auto [first, last] = c.hulls.equal_range(calc_key(points));
  const auto found = std::find_if(first, last, [&](const auto& each) { return *each.second.points == points; });
  return found == last ? nullptr : &found->second;
}

/// The shape's hull, made or shared.
void place_hull(const ShapeDescription& given, Hull hull, Compilation* c, Shape* shape) {
  if (const Compilation::KnownHull* known = find_hull(*c, given.vertices)) {
    shape->hull = known->hull;
    shape->bound = known->bound;
    shape->pose.position += shape->pose.orientation * known->center;
    return;
  }
  const Vec3 center = add_hull(std::move(hull), &c->model, shape);
  c->hulls.insert({calc_key(given.vertices), {&given.vertices, shape->hull, center, shape->bound}});
}

Shape make_shape(const ShapeDescription& given, const std::vector<Vec2>& corners, Hull hull, int body, int material,
                 Compilation* c) {
  Model* model = &c->model;
  Shape shape;
  shape.kind = given.kind;
  shape.body = body;
  shape.material = material;
  shape.pose.position = given.pose.position;
  shape.pose.orientation = given.pose.orientation.normalized();
  shape.contype = given.contype;
  shape.conaffinity = given.conaffinity;
  switch (given.kind) {
    case ShapeKind::Sphere:
    case ShapeKind::Disk:
      shape.radius = shape.bound = given.radius;
      break;
    case ShapeKind::Capsule:
      shape.radius = given.radius;
      shape.half_length = given.length / 2;
      shape.bound = shape.radius + shape.half_length;
      break;
    case ShapeKind::Box:
      shape.half_size = given.size / 2;
      shape.bound = shape.half_size.norm();
      if (!model->planar) break;
      shape.kind = ShapeKind::Polygon;
      shape.half_size.z() = 0;
      add_polygon(corners, model, &shape);
      break;
    case ShapeKind::Polygon:
      add_polygon(corners, model, &shape);
      break;
    case ShapeKind::Cylinder:
    case ShapeKind::Cone:
      shape.radius = given.radius;
      shape.half_length = given.length / 2;
      shape.bound = std::hypot(shape.radius, shape.half_length);
      break;
    case ShapeKind::Ellipsoid:
      shape.half_size = given.size / 2;
      shape.bound = shape.half_size.maxCoeff();
      break;
    case ShapeKind::Hull:
      place_hull(given, std::move(hull), c, &shape);
      break;
    case ShapeKind::Mesh:
    case ShapeKind::Heightfield:
      add_surface(given, model, &shape);
      break;
    case ShapeKind::Plane: {  // normal . p = offset, also for a normal of another length than one
      const double length = given.normal.norm();
      const Pose own{given.offset / length * (given.normal / length), make_turn_from_z(given.normal / length)};
      shape.pose.position += shape.pose.orientation * own.position;
      shape.pose.orientation = (shape.pose.orientation * own.orientation).normalized();
      shape.bound = kInfinity;
      break;
    }
  }
  return shape;
}

bool has_rolling_map(const ShapeDescription& shape) {
  return shape.surface && !shape.surface->rolling_friction.values.empty();
}

void check_belt(const ShapeDescription& shape, bool planar, ItemCheck* check) {
  if (!check->finite("surface_velocity", shape.surface_velocity, "surface_velocity")) return;
  for (const Expression& speed : shape.surface_velocity)
    if (speed.has_readings())
      return check->fail("surface_velocity", "surface_velocity may depend on t, not on sensors");
  if (planar && shape.surface_velocity[2].at(0) != 0)
    check->fail("surface_velocity", "surface_velocity must lie in the x-y plane of a planar model");
}

std::vector<Vec2> make_rectangle(const Vec3& size) {
  const double x = size.x() / 2, y = size.y() / 2;
  return {{-x, -y}, {x, -y}, {x, y}, {-x, y}};
}

}  // namespace

bool compile_shapes(int i, ItemCheck* body, Compilation* c) {
  const BodyDescription& given = c->description.bodies[i];
  const bool planar = c->model.planar;
  bool good = true;
  for (std::size_t k = 0; k < given.shapes.size(); ++k) {
    const ShapeDescription& shape = given.shapes[k];
    ItemCheck check(shape.source >= 0 ? shape.source : given.source,
                    body->label() + ": shape " + std::to_string(k + 1) + " (" + std::string(name_of(shape.kind)) + ")",
                    &c->faults);
    check_kind(shape, given.kind == BodyKind::Dynamic, planar, &check);
    check_sizes(shape, planar, &check);
    check_pose(shape.pose, planar, &check);
    check_belt(shape, planar, &check);
    const bool open = shape.kind == ShapeKind::Mesh && shape.surface && !shape.surface->closed && !shape.visual_only;
    if (open && given.kind == BodyKind::Dynamic && !given.mass) {
      check.fail("surface",
                 "mesh is open and encloses no volume; close it, or give the body a mass instead of a density");
    }
    std::vector<Vec2> corners;
    if (shape.kind == ShapeKind::Polygon)  // pieces are as they were cut: each point has its corner of the outline
      corners = shape.outline.empty() ? calc_corners(shape.points, &check) : shape.points;
    if (shape.kind == ShapeKind::Box && planar) corners = make_rectangle(shape.size);
    MadeHull made;
    if (shape.kind == ShapeKind::Hull && find_hull(*c, shape.vertices) == nullptr) {
      made = make_hull(shape.vertices);
      if (!made.fault.empty()) check.fail("vertices", made.fault);
    }
    const auto material = c->material_index.find(shape.material);
    if (material == c->material_index.end()) {
      check.fail_unknown("material", "material", shape.material, c->material_names);
    }
    good &= check.good();
    if (!check.good() || shape.visual_only) continue;
    c->model.shapes.push_back(make_shape(shape, corners, std::move(made.hull), i, material->second, c));
    const auto stands = [](const Expression& speed) { return speed.is_constant() && speed.constant() == 0; };
    if (!std::all_of(shape.surface_velocity.begin(), shape.surface_velocity.end(), stands))
      c->model.shapes.back().belt = std::make_shared<const std::array<Expression, 3>>(shape.surface_velocity);
    if (!shape.outline.empty()) {
      c->model.shapes.back().first_corner = static_cast<int>(c->model.corners.size());
      c->model.corners.insert(c->model.corners.end(), shape.outline.begin(), shape.outline.end());
    }
    c->model.has_belts = c->model.has_belts || runs(c->model.shapes.back());
    c->model.has_rolling_maps = c->model.has_rolling_maps || has_rolling_map(shape);
  }
  return good;
}

}  // namespace slipstick
