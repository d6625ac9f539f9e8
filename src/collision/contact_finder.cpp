#include "collision/contact_finder.h"

#include "collision/broad_phase.h"
#include "collision/narrow_phase.h"
#include "collision/placed_shape.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

namespace slipstick {
namespace {

/// Bounds are widened by this part of the size of their numbers, so that rounding never hides a pair that touches.
constexpr double kRoundingPart = 1e-11;

Vec2 rotated(const Mat3& r, const Vec2& p) { return r.topLeftCorner<2, 2>() * p; }

/// Met by the general routine, which wants a box as a hull.
bool is_general(ShapeKind kind) {
  return kind == ShapeKind::Cylinder || kind == ShapeKind::Cone || kind == ShapeKind::Ellipsoid ||
         kind == ShapeKind::Hull;
}

}  // namespace

struct ContactFinder::Impl {
  explicit Impl(const Model& m);

  void set_box_hulls();
  void place(const State& state);
  void place_polygon(const Shape& shape, PlacedShape* placed);
  void update_bounds(std::span<const double> reach);
  Vec3 calc_half_extent(const PlacedShape& shape) const;
  void find_plane_pairs(std::span<const double> reach);
  void filter_pairs();
  void sort_pairs();
  bool may_touch(int shape_a, int shape_b) const;
  double reach_of(std::span<const double> reach, int shape) const {
    const int body = model->shapes[shape].body;
    return body == kWorld ? 0 : reach[body];
  }
  Contact make_names(int shape_a, int shape_b) const;

  const Model* model;
  std::vector<std::uint8_t> movable;       ///< a shape
  std::vector<std::uint8_t> has_excluded;  ///< a shape: its body is in some pair without contact
  std::vector<std::int32_t> planes;        ///< shapes
  std::vector<std::int32_t> solids;        ///< shapes that are not planes
  std::vector<Vec2> local_normals;         ///< beside Model::points
  std::vector<Vec2> world_points, world_normals;
  std::vector<Hull> box_hulls;  ///< of boxes, if there are shapes that meet them by the general routine
  std::vector<PlacedShape> placed;
  std::vector<Bounds> bounds;  ///< a solid
  BroadPhase broad_phase;
  std::vector<IndexPair> pairs, sorted_pairs;
  std::vector<std::int32_t> bucket;
};

ContactFinder::Impl::Impl(const Model& m) : model(&m), placed(m.shapes.size()) {
  local_normals.resize(m.points.size(), Vec2::Zero());
  world_points.resize(m.points.size());
  world_normals.resize(m.points.size());
  for (int s = 0; s < static_cast<int>(m.shapes.size()); ++s) {
    const Shape& shape = m.shapes[s];
    const bool is_body = shape.body != kWorld;
    movable.push_back(is_body && m.bodies[shape.body].kind == BodyKind::Dynamic && m.bodies[shape.body].dof > 0);
    has_excluded.push_back(std::any_of(m.pairs_without_contact.begin(), m.pairs_without_contact.end(),
                                       [&](const auto& p) { return p[0] == shape.body || p[1] == shape.body; }));
    (shape.kind == ShapeKind::Plane ? planes : solids).push_back(s);
    placed[s].kind = shape.kind;
    placed[s].radius = shape.radius;
    placed[s].half_length = shape.half_length;
    placed[s].half_size = shape.half_size;
    if (shape.kind == ShapeKind::Hull) placed[s].hull = &m.hulls[shape.hull];
    placed[s].bound = shape.bound;
    if (shape.kind != ShapeKind::Polygon) continue;
    placed[s].point_count = shape.point_count;
    placed[s].points = world_points.data() + shape.first_point;
    placed[s].edge_normals = world_normals.data() + shape.first_point;
    for (int k = 0; k < shape.point_count; ++k) {
      const Vec2 edge = m.points[shape.first_point + (k + 1) % shape.point_count] - m.points[shape.first_point + k];
      local_normals[shape.first_point + k] = Vec2(edge.y(), -edge.x()).normalized();
    }
  }
  bounds.resize(solids.size());
  set_box_hulls();
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

void ContactFinder::Impl::place_polygon(const Shape& shape, PlacedShape* p) {
  const Vec2 center = p->center.head<2>();
  for (int k = shape.first_point; k < shape.first_point + shape.point_count; ++k) {
    world_points[k] = center + rotated(p->frame, model->points[k]);
    world_normals[k] = rotated(p->frame, local_normals[k]);
  }
}

void ContactFinder::Impl::place(const State& state) {
  const Pose world;
  for (std::size_t s = 0; s < placed.size(); ++s) {
    const Shape& shape = model->shapes[s];
    const Pose& body = shape.body == kWorld ? world : state.pose[shape.body];
    PlacedShape* const p = &placed[s];
    p->center = body.position + body.orientation * shape.pose.position;
    if (shape.kind == ShapeKind::Sphere || shape.kind == ShapeKind::Disk) continue;
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
  }
  return Vec3::Constant(shape.radius);
}

void ContactFinder::Impl::update_bounds(std::span<const double> reach) {
  for (std::size_t k = 0; k < solids.size(); ++k) {
    const PlacedShape& shape = placed[solids[k]];
    const Vec3 half = calc_half_extent(shape);
    const double rounding = kRoundingPart * (half.maxCoeff() + shape.center.cwiseAbs().maxCoeff());
    const Vec3 wide = half + Vec3::Constant(reach_of(reach, solids[k]) + rounding);
    bounds[k] = {shape.center - wide, shape.center + wide};
  }
}

bool ContactFinder::Impl::may_touch(int shape_a, int shape_b) const {
  if (!movable[shape_a] && !movable[shape_b]) return false;
  const int body_a = model->shapes[shape_a].body, body_b = model->shapes[shape_b].body;
  if (body_a == body_b) return false;
  if (!can_touch(placed[shape_a].kind, placed[shape_b].kind)) return false;
  if (!has_excluded[shape_a] || !has_excluded[shape_b]) return true;
  const std::array<int, 2> bodies = {std::min(body_a, body_b), std::max(body_a, body_b)};
  return !std::binary_search(model->pairs_without_contact.begin(), model->pairs_without_contact.end(), bodies);
}

/// Planes have no bounds: each solid against each of them.
void ContactFinder::Impl::find_plane_pairs(std::span<const double> reach) {
  for (const std::int32_t plane : planes) {
    const Vec3 normal = placed[plane].axis;
    const double offset = normal.dot(placed[plane].center);
    const double plane_reach = reach_of(reach, plane);
    for (const std::int32_t s : solids) {
      const PlacedShape& shape = placed[s];
      const double along = normal.dot(shape.center);
      const double rounding = kRoundingPart * (shape.bound + std::abs(along) + std::abs(offset));
      if (along - offset > shape.bound + reach_of(reach, s) + plane_reach + rounding) continue;
      if (may_touch(plane, s)) pairs.push_back({std::min(plane, s), std::max(plane, s)});
    }
  }
}

/// From pairs of solids to pairs of shapes, without those that may not touch.
void ContactFinder::Impl::filter_pairs() {
  std::size_t kept = 0;
  for (const IndexPair& p : pairs) {
    const IndexPair shapes = {solids[p.a], solids[p.b]};  // solids are in ascending order
    if (may_touch(shapes.a, shapes.b)) pairs[kept++] = shapes;
  }
  pairs.resize(kept);
}

/// By (a, b): buckets by a, each sorted by b.
void ContactFinder::Impl::sort_pairs() {
  bucket.assign(placed.size() + 1, 0);
  for (const IndexPair& p : pairs) ++bucket[p.a + 1];
  for (std::size_t s = 0; s < placed.size(); ++s) bucket[s + 1] += bucket[s];
  sorted_pairs.resize(pairs.size());
  for (const IndexPair& p : pairs) sorted_pairs[bucket[p.a]++] = p;
  // bucket[s] is now the end of bucket s.
  std::int32_t start = 0;
  for (std::size_t s = 0; s < placed.size(); start = bucket[s++]) {
    if (bucket[s] - start < 2) continue;
    std::sort(sorted_pairs.begin() + start, sorted_pairs.begin() + bucket[s],
              [](const IndexPair& x, const IndexPair& y) { return x.b < y.b; });
  }
}

Contact ContactFinder::Impl::make_names(int shape_a, int shape_b) const {
  const Shape &a = model->shapes[shape_a], &b = model->shapes[shape_b];
  Contact names;
  names.key = {shape_a, shape_b, 0};
  names.body_a = a.body;
  names.body_b = b.body;
  names.material_a = a.material;
  names.material_b = b.material;
  return names;
}

ContactFinder::ContactFinder(const Model& model) : impl_(std::make_unique<Impl>(model)) {}
ContactFinder::~ContactFinder() = default;
ContactFinder::ContactFinder(ContactFinder&&) noexcept = default;
ContactFinder& ContactFinder::operator=(ContactFinder&&) noexcept = default;

void ContactFinder::find(const State& state, std::span<const double> reach, ContactSet* contacts) {
  Impl& impl = *impl_;
  contacts->contacts.clear();
  impl.pairs.clear();
  impl.place(state);
  impl.update_bounds(reach);
  impl.broad_phase.find(impl.bounds, &impl.pairs);
  impl.filter_pairs();
  impl.find_plane_pairs(reach);
  impl.sort_pairs();
  for (const IndexPair& p : impl.sorted_pairs) {
    const PlacedShape &a = impl.placed[p.a], &b = impl.placed[p.b];
    const double pair_reach = impl.reach_of(reach, p.a) + impl.reach_of(reach, p.b);
    const double far = (a.bound + b.bound + pair_reach) * (1 + kRoundingPart);
    // Bounding spheres; a plane's is infinite.
    if ((b.center - a.center).squaredNorm() > far * far) continue;
    find_pair(a, b, impl.make_names(p.a, p.b), pair_reach, &contacts->contacts);
  }
}

}  // namespace slipstick
