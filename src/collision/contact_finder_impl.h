// The inside of ContactFinder: what it keeps of every shape, and its parts.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "collision/box_tree.h"
#include "collision/broad_phase.h"
#include "collision/contact_finder.h"
#include "collision/hull_lookup.h"
#include "collision/placed_shape.h"
#include "collision/surface_index.h"
#include "collision/surface_probe.h"

namespace slipstick {

/// Where so many shapes move, pairs are found with this part of a ball's radius to spare: they serve once more when it
/// has been moved by less, as overlap is corrected. Its distances tell which of them are within reach; what other
/// shapes have near each other is a matter of their boxes too, and so is everything near a surface.
inline constexpr std::size_t kManyMoving = 150;
inline constexpr double kSpare = 0.05;

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

}  // namespace slipstick
