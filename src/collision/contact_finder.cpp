#include "collision/contact_finder.h"

#include "base/thread_team.h"
#include "collision/box_tree.h"
#include "collision/broad_phase.h"
#include "collision/hull_lookup.h"
#include "collision/narrow_phase.h"
#include "collision/placed_shape.h"
#include "collision/surface_index.h"
#include "collision/surface_probe.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <vector>

namespace slipstick {
namespace {

/// Bounds are widened by this part of the size of their numbers, so that rounding never hides a pair that touches.
constexpr double kRoundingPart = 1e-11;

/// Pairs that one thread takes at a time; the contacts of a portion stay together, in the order of the pairs.
constexpr std::size_t kPortion = 256;
/// The same of shapes.
constexpr std::size_t kShapePortion = 512;
/// Where so many shapes move, pairs are found with this part of a ball's radius to spare: they serve once more when it
/// has been moved by less, as overlap is corrected. Its distances tell which of them are within reach; what other
/// shapes have near each other is a matter of their boxes too, and so is everything near a surface.
constexpr std::size_t kManyMoving = 150;
constexpr double kSpare = 0.05;

Vec2 rotated(const Mat3& r, const Vec2& p) { return r.topLeftCorner<2, 2>() * p; }

/// Met by the general routine, which wants a box as a hull.
bool is_general(ShapeKind kind) {
  return kind == ShapeKind::Cylinder || kind == ShapeKind::Cone || kind == ShapeKind::Ellipsoid ||
         kind == ShapeKind::Hull;
}

/// A shape has few partners, as a rule: insertion.
void sort_by_second(std::span<IndexPair> pairs) {
  constexpr std::size_t kMany = 32;
  if (pairs.size() > kMany) {
    std::sort(pairs.begin(), pairs.end(), [](const IndexPair& x, const IndexPair& y) { return x.b < y.b; });
    return;
  }
  for (std::size_t i = 1; i < pairs.size(); ++i) {
    const IndexPair moved = pairs[i];
    std::size_t j = i;
    for (; j > 0 && moved.b < pairs[j - 1].b; --j) pairs[j] = pairs[j - 1];
    pairs[j] = moved;
  }
}

}  // namespace

/// What every pair is asked about, one line of a cache a shape: in a large heap the partners lie anywhere in memory.
struct alignas(64) ShapeBrief {
  Vec3 center = Vec3::Zero();
  double bound = 0;  ///< a ball's radius
  double reach = 0;
  std::int32_t body = kWorld, material = 0;
  ShapeKind kind = ShapeKind::Sphere;
  bool movable = false;
  bool has_excluded = false;  ///< its body is in some pair without contact
  bool is_ball = false;
  bool is_centered = false;  ///< a ball about the centre of mass of its body
};

struct PlacedPlane {
  Vec3 normal;
  double offset, reach;
  std::int32_t shape;
};

struct ContactFinder::Impl {
  explicit Impl(const Model& m);

  void set_box_hulls();
  void set_polytopes();
  void set_lookups();
  void place(const State& state);
  void place_shape(const State& state, int s);
  void update_shape(const State& state, std::span<const double> reach, int s);
  void place_polygon(const Shape& shape, PlacedShape* placed);
  Bounds calc_bounds(int shape, std::span<const double> reach) const;
  void update_shapes(const State& state, std::span<const double> reach);
  bool update_within(const State& state, std::span<const double> reach);
  void find_pairs(const State& state, std::span<const double> reach, std::span<const char> bodies);
  double calc_spare(int shape) const {
    const bool spares = briefs[shape].is_ball && moving.size() >= kManyMoving && surfaces.empty();
    return spares ? kSpare * briefs[shape].bound : 0;
  }
  bool moves_statics(const State& state, std::span<const double> reach) const;
  void update_static_tree(const State& state, std::span<const double> reach);
  void find_static_pairs();
  Vec3 calc_half_extent(const PlacedShape& shape) const;
  void find_plane_pairs();
  void find_planes_of(std::int32_t shape, std::vector<IndexPair>* found) const;
  void name_pairs();
  void keep_pairs_of(std::span<const char> bodies);
  void sort_pairs();
  bool may_touch(int shape_a, int shape_b) const;
  double reach_of(std::span<const double> reach, int shape) const {
    const int body = briefs[shape].body;
    return body == kWorld ? 0 : reach[body];
  }
  Contact make_names(int shape_a, int shape_b) const;
  void find_portion(std::size_t first, std::size_t last, std::vector<Contact>* contacts) const;
  void find_all(std::vector<Contact>* contacts);

  const Model* model;
  std::vector<std::int32_t> planes;   ///< shapes
  std::vector<std::int32_t> solids;   ///< shapes that are not planes
  std::vector<std::int32_t> moving;   ///< solids of bodies that are not fixed
  std::vector<std::int32_t> statics;  ///< the other solids: they have a tree of their own
  std::vector<Vec2> local_normals;    ///< beside Model::points
  std::vector<Vec2> world_points, world_normals;
  std::vector<Hull> box_hulls;  ///< of boxes, if there are shapes that meet them by the general routine
  std::vector<std::unique_ptr<const SurfaceIndex>> surfaces;  ///< beside Model::surfaces
  std::vector<PolytopeData> polytopes;                        ///< beside Model::hulls, if there are surfaces
  std::vector<HullLookup> lookups;                            ///< of Model::hulls, then of box_hulls
  std::vector<PlacedShape> placed;
  std::vector<ShapeBrief> briefs;  ///< beside `placed`
  std::vector<PlacedPlane> placed_planes;
  std::vector<Bounds> bounds;  ///< a moving solid, with what it has to spare
  bool has_pairs = false;      ///< all that there are within the bounds
  BroadPhase broad_phase;
  BoxTree static_tree;  ///< of `statics`, for the poses and reaches below
  std::vector<Bounds> static_bounds;
  std::vector<Pose> static_pose;
  std::vector<double> static_reach;
  bool has_static_tree = false;
  bool has_groups = false, has_bits = false;
  std::vector<IndexPair> pairs, sorted_pairs;
  std::vector<std::int32_t> bucket;
  const ThreadTeam* team = nullptr;
  std::vector<std::vector<Contact>> portions;
  std::vector<std::vector<IndexPair>> pair_portions;
  std::vector<double> no_reach;
  double broad_phase_seconds = 0;
};

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

Bounds ContactFinder::Impl::calc_bounds(int s, std::span<const double> reach) const {
  const PlacedShape& shape = placed[s];
  const Vec3 half = calc_half_extent(shape);
  const double rounding = kRoundingPart * (half.maxCoeff() + shape.center.cwiseAbs().maxCoeff());
  const Vec3 wide = half + Vec3::Constant(reach_of(reach, s) + rounding);
  return {shape.center - wide, shape.center + wide};
}

void ContactFinder::Impl::update_shape(const State& state, std::span<const double> reach, int s) {
  ShapeBrief& brief = briefs[s];
  if (brief.is_centered) {
    placed[s].center = state.pose[brief.body].position;
  } else {
    place_shape(state, s);
  }
  brief.center = placed[s].center;
  brief.reach = reach_of(reach, s);
}

/// Places, briefs and bounds in one go: the memory of a large heap is walked through once.
void ContactFinder::Impl::update_shapes(const State& state, std::span<const double> reach) {
  for_portions(team, placed.size(), kShapePortion, [&](std::size_t first, std::size_t last) {
    // Of `moving`, which is in ascending order.
    auto next = std::lower_bound(moving.begin(), moving.end(), static_cast<std::int32_t>(first));
    for (int s = static_cast<int>(first); s < static_cast<int>(last); ++s) {
      update_shape(state, reach, s);
      if (next == moving.end() || *next != s) continue;
      Bounds& box = bounds[next - moving.begin()];
      box = calc_bounds(s, reach);
      if (const double spare = calc_spare(s); spare > 0) {
        box.low -= Vec3::Constant(spare);
        box.high += Vec3::Constant(spare);
      }
      ++next;
    }
  });
}

/// Places and briefs for a state in which everything is within the bounds of the pairs that are at hand. False: it is
/// not, or there are none.
bool ContactFinder::Impl::update_within(const State& state, std::span<const double> reach) {
  if (!has_pairs || moving.size() < kManyMoving) return false;
  std::atomic<bool> within = true;
  for_portions(team, placed.size(), kShapePortion, [&](std::size_t first, std::size_t last) {
    auto next = std::lower_bound(moving.begin(), moving.end(), static_cast<std::int32_t>(first));
    for (int s = static_cast<int>(first); s < static_cast<int>(last) && within; ++s) {
      update_shape(state, reach, s);
      if (next == moving.end() || *next != s) continue;
      const Bounds &known = bounds[next - moving.begin()], now = calc_bounds(s, reach);
      const bool same = calc_spare(s) > 0 ? (known.low.array() <= now.low.array()).all() &&
                                                (now.high.array() <= known.high.array()).all()
                                          : known.low == now.low && known.high == now.high;
      if (!same) within.store(false, std::memory_order_relaxed);
      ++next;
    }
  });
  const auto is_same = [&](const PlacedPlane& plane) {
    const Vec3& normal = placed[plane.shape].axis;
    return plane.normal == normal && plane.offset == normal.dot(placed[plane.shape].center) &&
           plane.reach == briefs[plane.shape].reach;
  };
  return within && std::all_of(placed_planes.begin(), placed_planes.end(), is_same) && !moves_statics(state, reach);
}

/// Whether they are elsewhere than the tree has them.
bool ContactFinder::Impl::moves_statics(const State& state, std::span<const double> reach) const {
  for (std::size_t k = 0; k < statics.size(); ++k) {
    const int body = model->shapes[statics[k]].body;
    const Pose pose = body == kWorld ? Pose() : state.pose[body];
    if (pose.position != static_pose[k].position || reach_of(reach, statics[k]) != static_reach[k] ||
        pose.orientation.coeffs() != static_pose[k].orientation.coeffs())
      return true;
  }
  return false;
}

/// Fixed bodies stay where they are; should a caller move one, the tree is built again.
void ContactFinder::Impl::update_static_tree(const State& state, std::span<const double> reach) {
  if (has_static_tree && !moves_statics(state, reach)) return;
  static_pose.resize(statics.size());
  static_reach.resize(statics.size());
  for (std::size_t k = 0; k < statics.size(); ++k) {
    const int body = model->shapes[statics[k]].body;
    static_pose[k] = body == kWorld ? Pose() : state.pose[body];
    static_reach[k] = reach_of(reach, statics[k]);
  }
  static_bounds.resize(statics.size());
  for (std::size_t k = 0; k < statics.size(); ++k) {
    static_bounds[k] = calc_bounds(statics[k], reach);
    const bool finite = static_bounds[k].low.allFinite() && static_bounds[k].high.allFinite();
    if (!finite) static_bounds[k] = {Vec3::Constant(-1e300), Vec3::Constant(1e300)};  // not a number: anywhere
  }
  static_tree.build(static_bounds);
  has_static_tree = true;
}

void ContactFinder::Impl::find_static_pairs() {
  if (static_tree.empty()) return;
  const auto look = [&](std::size_t first, std::size_t last, std::vector<IndexPair>* found) {
    for (std::size_t k = first; k < last; ++k) {
      const std::int32_t s = moving[k];
      if (!briefs[s].movable) continue;
      static_tree.find(bounds[k], [&](std::int32_t i) {
        const std::int32_t other = statics[i];
        if (may_touch(s, other)) found->push_back({std::min(s, other), std::max(s, other)});
      });
    }
  };
  gather_portions(team, moving.size(), kShapePortion, look, &pair_portions, &pairs);
}

bool ContactFinder::Impl::may_touch(int shape_a, int shape_b) const {
  const ShapeBrief &a = briefs[shape_a], &b = briefs[shape_b];
  if ((!a.movable && !b.movable) || a.body == b.body) return false;
  if (has_groups && a.body != kWorld && b.body != kWorld && model->bodies[a.body].group >= 0 &&
      model->bodies[a.body].group == model->bodies[b.body].group) {
    return false;
  }
  if (has_bits && !bits_touch(model->shapes[shape_a], model->shapes[shape_b])) return false;
  if (!can_touch(a.kind, b.kind)) return false;
  if (!a.has_excluded || !b.has_excluded) return true;
  const std::array<int, 2> bodies = {std::min(a.body, b.body), std::max(a.body, b.body)};
  return !std::binary_search(model->pairs_without_contact.begin(), model->pairs_without_contact.end(), bodies);
}

/// Planes have no bounds: each solid against each of them.
void ContactFinder::Impl::find_plane_pairs() {
  placed_planes.clear();
  for (const std::int32_t plane : planes) {
    const Vec3& normal = placed[plane].axis;
    placed_planes.push_back({normal, normal.dot(placed[plane].center), briefs[plane].reach, plane});
  }
  if (planes.empty()) return;
  const auto look = [&](std::size_t first, std::size_t last, std::vector<IndexPair>* found) {
    for (std::size_t k = first; k < last; ++k) find_planes_of(solids[k], found);
  };
  gather_portions(team, solids.size(), kShapePortion, look, &pair_portions, &pairs);
}

void ContactFinder::Impl::find_planes_of(std::int32_t s, std::vector<IndexPair>* found) const {
  const ShapeBrief& shape = briefs[s];
  for (const PlacedPlane& plane : placed_planes) {
    const double along = plane.normal.dot(shape.center);
    const double rounding = kRoundingPart * (shape.bound + std::abs(along) + std::abs(plane.offset));
    if (along - plane.offset > shape.bound + shape.reach + plane.reach + calc_spare(s) + rounding) continue;
    if (may_touch(plane.shape, s)) found->push_back({std::min(plane.shape, s), std::max(plane.shape, s)});
  }
}

/// From pairs of moving solids to pairs of shapes.
void ContactFinder::Impl::name_pairs() {
  if (pairs.empty()) return;
  const std::int32_t first = moving.front();
  const bool in_a_row = moving.back() - first == static_cast<std::int32_t>(moving.size()) - 1;  // they are ascending
  for (IndexPair& p : pairs) {
    p = in_a_row ? IndexPair{p.a + first, p.b + first} : IndexPair{moving[p.a], moving[p.b]};
  }
}

/// By (a, b): buckets by a, each sorted by b.
void ContactFinder::Impl::sort_pairs() {
  bucket.assign(placed.size() + 1, 0);
  for (const IndexPair& p : pairs) ++bucket[p.a + 1];
  for (std::size_t s = 0; s < placed.size(); ++s) bucket[s + 1] += bucket[s];
  sorted_pairs.resize(pairs.size());
  constexpr std::size_t kAhead = 16;
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    if (k + kAhead < pairs.size()) __builtin_prefetch(sorted_pairs.data() + bucket[pairs[k + kAhead].a], 1);
    sorted_pairs[bucket[pairs[k].a]++] = pairs[k];
  }
  // bucket[s] is now the end of bucket s.
  for_portions(team, placed.size(), kShapePortion, [&](std::size_t first, std::size_t last) {
    std::int32_t start = first == 0 ? 0 : bucket[first - 1];
    for (std::size_t s = first; s < last; start = bucket[s++]) {
      sort_by_second({sorted_pairs.data() + start, static_cast<std::size_t>(bucket[s] - start)});
    }
  });
}

void ContactFinder::Impl::keep_pairs_of(std::span<const char> bodies) {
  const auto is_of = [&](std::int32_t shape) {
    const std::int32_t body = briefs[shape].body;
    return body != kWorld && bodies[body] != 0;
  };
  std::erase_if(pairs, [&](const IndexPair& pair) { return !is_of(pair.a) && !is_of(pair.b); });
}

Contact ContactFinder::Impl::make_names(int shape_a, int shape_b) const {
  const ShapeBrief &a = briefs[shape_a], &b = briefs[shape_b];
  Contact names;
  names.key = {shape_a, shape_b, 0};
  names.body_a = a.body;
  names.body_b = b.body;
  names.material_a = a.material;
  names.material_b = b.material;
  return names;
}

void ContactFinder::Impl::find_portion(std::size_t first, std::size_t last, std::vector<Contact>* contacts) const {
  constexpr std::size_t kAhead = 12;  // partners lie anywhere in memory: asked for before they are needed
  for (std::size_t k = first; k < last; ++k) {
    if (k + kAhead < last) __builtin_prefetch(&briefs[sorted_pairs[k + kAhead].b]);
    const IndexPair& p = sorted_pairs[k];
    const ShapeBrief &a = briefs[p.a], &b = briefs[p.b];
    const double pair_reach = a.reach + b.reach;
    const double far = (a.bound + b.bound + pair_reach) * (1 + kRoundingPart);
    // Bounding spheres; a plane's is infinite.
    if ((b.center - a.center).squaredNorm() > far * far || !may_touch(p.a, p.b)) continue;
    const Contact names = make_names(p.a, p.b);
    if (a.is_ball && b.is_ball) {
      ContactSink sink(names, pair_reach, false, contacts);
      find_ball_ball(a.center, a.bound, b.center, b.bound, &sink);
    } else {
      find_pair(placed[p.a], placed[p.b], names, pair_reach, contacts);
    }
  }
}

/// Portions of the sorted pairs, each into its own list: what comes out does not depend on who did which.
void ContactFinder::Impl::find_all(std::vector<Contact>* contacts) {
  const auto look = [&](std::size_t first, std::size_t last, std::vector<Contact>* found) {
    find_portion(first, last, found);
  };
  gather_portions(team, sorted_pairs.size(), kPortion, look, &portions, contacts);
}

ContactFinder::ContactFinder(const Model& model) : impl_(std::make_unique<Impl>(model)) {}
ContactFinder::~ContactFinder() = default;
ContactFinder::ContactFinder(ContactFinder&&) noexcept = default;
ContactFinder& ContactFinder::operator=(ContactFinder&&) noexcept = default;

void ContactFinder::set_team(const ThreadTeam* team) {
  impl_->team = team;
  impl_->broad_phase.set_team(team);
}

double ContactFinder::broad_phase_seconds() const { return impl_->broad_phase_seconds; }

std::span<const PlacedShape> ContactFinder::place(const State& state) {
  impl_->place(state);
  return impl_->placed;
}

Bounds ContactFinder::calc_bounds(int shape) const {
  impl_->no_reach.resize(impl_->model->bodies.size());
  return impl_->calc_bounds(shape, impl_->no_reach);
}

void ContactFinder::Impl::find_pairs(const State& state, std::span<const double> reach, std::span<const char> bodies) {
  pairs.clear();
  update_shapes(state, reach);
  update_static_tree(state, reach);
  broad_phase.find(bounds, &pairs);
  name_pairs();
  find_static_pairs();
  find_plane_pairs();
  if (!bodies.empty()) keep_pairs_of(bodies);
  sort_pairs();
  has_pairs = bodies.empty();
}

void ContactFinder::find(const State& state, std::span<const double> reach, std::span<const char> bodies,
                         ContactSet* contacts) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  contacts->contacts.clear();
  if (!bodies.empty() || !impl_->update_within(state, reach)) impl_->find_pairs(state, reach, bodies);
  impl_->broad_phase_seconds = std::chrono::duration<double>(Clock::now() - start).count();
  impl_->find_all(&contacts->contacts);
}

}  // namespace slipstick
