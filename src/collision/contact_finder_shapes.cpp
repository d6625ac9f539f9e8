// ContactFinder: what it knows of shapes before a step, and where they are in one.
#include <algorithm>

#include "collision/contact_finder_impl.h"

namespace slipstick {
namespace {

Vec2 rotated(const Mat3& r, const Vec2& p) { return r.topLeftCorner<2, 2>() * p; }

/// Met by the general routine, which wants a box as a hull.
bool is_general(ShapeKind kind) {
  return kind == ShapeKind::Cylinder || kind == ShapeKind::Cone || kind == ShapeKind::Ellipsoid ||
         kind == ShapeKind::Hull;
}

}  // namespace

ContactFinder::Impl::Impl(const Model& m) : model(&m), placed(m.shapes.size()), briefs(m.shapes.size()) {
  local_normals.resize(m.points.size(), Vec2::Zero());
  world_points.resize(m.points.size());
  world_normals.resize(m.points.size());
  for (const auto& surface : m.surfaces) surfaces.push_back(std::make_unique<const SurfaceIndex>(surface));
  std::vector<bool> has_excluded(m.bodies.size());
  for (const auto& pair : m.pairs_without_contact) {
    for (const int body : pair) {
      if (body != kWorld) has_excluded[body] = true;
    }
  }
  for (int s = 0; s < static_cast<int>(m.shapes.size()); ++s) {
    const Shape& shape = m.shapes[s];
    const bool is_body = shape.body != kWorld;
    ShapeBrief& brief = briefs[s];
    brief.bound = shape.bound;
    brief.body = shape.body;
    brief.material = shape.material;
    brief.kind = shape.kind;
    brief.is_ball = shape.kind == ShapeKind::Sphere || shape.kind == ShapeKind::Disk;
    brief.is_centered = brief.is_ball && is_body && shape.pose.position.isZero(0);
    brief.movable = is_body && m.bodies[shape.body].kind == BodyKind::Dynamic && m.bodies[shape.body].dof > 0;
    brief.has_excluded = is_body && has_excluded[shape.body];
    (shape.kind == ShapeKind::Plane ? planes : solids).push_back(s);
    const bool rests = !is_body || m.bodies[shape.body].kind == BodyKind::Fixed;
    if (shape.kind != ShapeKind::Plane) (rests ? statics : moving).push_back(s);
    placed[s].kind = shape.kind;
    placed[s].radius = shape.radius;
    placed[s].half_length = shape.half_length;
    placed[s].half_size = shape.half_size;
    if (shape.kind == ShapeKind::Hull) placed[s].hull = &m.hulls[shape.hull];
    placed[s].bound = shape.bound;
    if (shape.surface >= 0) placed[s].surface = surfaces[shape.surface].get();
    if (shape.kind != ShapeKind::Polygon) continue;
    placed[s].point_count = shape.point_count;
    placed[s].points = world_points.data() + shape.first_point;
    placed[s].edge_normals = world_normals.data() + shape.first_point;
    if (shape.first_corner >= 0) placed[s].corners = m.corners.data() + shape.first_corner;
    for (int k = 0; k < shape.point_count; ++k) {
      const Vec2 edge = m.points[shape.first_point + (k + 1) % shape.point_count] - m.points[shape.first_point + k];
      local_normals[shape.first_point + k] = Vec2(edge.y(), -edge.x()).normalized();
    }
  }
  bounds.resize(moving.size());
  set_box_hulls();
  set_polytopes();
  set_lookups();
  has_bits = std::any_of(m.shapes.begin(), m.shapes.end(),
                         [](const Shape& shape) { return shape.contype != 1 || shape.conaffinity != 1; });
  has_groups = std::any_of(m.bodies.begin(), m.bodies.end(), [](const Body& body) { return body.group >= 0; });
}

void ContactFinder::Impl::set_box_hulls() {
  if (std::none_of(model->shapes.begin(), model->shapes.end(), [](const Shape& s) { return is_general(s.kind); }))
    return;
  box_hulls.reserve(model->shapes.size());  // addresses are kept
  for (std::size_t s = 0; s < placed.size(); ++s) {
    if (placed[s].kind != ShapeKind::Box) continue;
    box_hulls.push_back(make_box_hull(placed[s].half_size));
    placed[s].hull = &box_hulls.back();
  }
}

/// What the probe of a surface needs of a hull beyond its corners.
void ContactFinder::Impl::set_polytopes() {
  if (surfaces.empty()) return;
  polytopes.resize(model->hulls.size());
  for (std::size_t s = 0; s < placed.size(); ++s) {
    if (placed[s].kind != ShapeKind::Hull) continue;
    PolytopeData& data = polytopes[model->shapes[s].hull];
    if (data.faces.empty()) data = make_polytope(*placed[s].hull);
    placed[s].polytope = &data;
  }
}

void ContactFinder::Impl::set_lookups() {
  lookups.reserve(model->hulls.size() + box_hulls.size());  // addresses are kept
  for (const Hull& hull : model->hulls) lookups.emplace_back(hull);
  for (const Hull& hull : box_hulls) lookups.emplace_back(hull);
  std::size_t boxes = model->hulls.size();
  for (std::size_t s = 0; s < placed.size(); ++s) {
    if (placed[s].kind == ShapeKind::Hull) placed[s].lookup = &lookups[model->shapes[s].hull];
    if (placed[s].kind == ShapeKind::Box && placed[s].hull) placed[s].lookup = &lookups[boxes++];
  }
}

void ContactFinder::Impl::place_polygon(const Shape& shape, PlacedShape* p) {
  const Vec2 center = p->center.head<2>();
  for (int k = shape.first_point; k < shape.first_point + shape.point_count; ++k) {
    world_points[k] = center + rotated(p->frame, model->points[k]);
    world_normals[k] = rotated(p->frame, local_normals[k]);
  }
}

void ContactFinder::Impl::place_shape(const State& state, int s) {
  const Shape& shape = model->shapes[s];
  const Pose body = shape.body == kWorld ? Pose() : state.pose[shape.body];
  PlacedShape* const p = &placed[s];
  p->center = body.position + body.orientation * shape.pose.position;
  if (shape.kind == ShapeKind::Sphere || shape.kind == ShapeKind::Disk) return;
  p->frame = (body.orientation * shape.pose.orientation).toRotationMatrix();
  if (shape.kind == ShapeKind::Capsule) {
    p->axis = shape.half_length * p->frame.col(2);
  } else if (shape.kind == ShapeKind::Polygon) {
    place_polygon(shape, p);
  } else if (shape.kind == ShapeKind::Plane) {
    p->axis = p->frame.col(2);
    if (model->planar) p->axis.z() = 0;  // rounding of the rotation must not push bodies out of their plane
    p->axis.normalize();
  }
}

void ContactFinder::Impl::place(const State& state) {
  for (int s = 0; s < static_cast<int>(placed.size()); ++s) place_shape(state, s);
}

/// Half the size of the smallest upright box about the shape's centre.
Vec3 ContactFinder::Impl::calc_half_extent(const PlacedShape& shape) const {
  switch (shape.kind) {
    case ShapeKind::Box:
      return shape.frame.cwiseAbs() * shape.half_size;
    case ShapeKind::Capsule:
      return shape.axis.cwiseAbs() + Vec3::Constant(shape.radius);
    case ShapeKind::Polygon: {
      Vec2 extent = Vec2::Zero();
      for (int k = 0; k < shape.point_count; ++k) {
        extent = extent.cwiseMax((shape.points[k] - shape.center.head<2>()).cwiseAbs());
      }
      return {extent.x(), extent.y(), 0};
    }
    case ShapeKind::Cylinder:
    case ShapeKind::Cone: {  // of a disk with the axis z: r sqrt(1 - z_k^2)
      const Vec3 z = shape.frame.col(2);
      const Vec3 rim = shape.radius * (Vec3::Ones() - z.cwiseAbs2()).cwiseMax(0).cwiseSqrt();
      return shape.half_length * z.cwiseAbs() + rim;
    }
    case ShapeKind::Ellipsoid:
      return (shape.frame * shape.half_size.asDiagonal()).rowwise().norm();
    case ShapeKind::Hull: {
      Vec3 extent = Vec3::Zero();
      for (const Vec3& p : shape.hull->vertices) extent = extent.cwiseMax((shape.frame * p).cwiseAbs());
      return extent;
    }
    case ShapeKind::Sphere:
    case ShapeKind::Disk:
    case ShapeKind::Plane:
      break;
    case ShapeKind::Mesh:
    case ShapeKind::Heightfield: {  // the turned box about the box of its triangles; off the centre if need be
      const Bounds& box = shape.surface->tree().bounds();
      return shape.frame.cwiseAbs() * box.low.cwiseAbs().cwiseMax(box.high.cwiseAbs());
    }
  }
  return Vec3::Constant(shape.radius);
}

}  // namespace slipstick
