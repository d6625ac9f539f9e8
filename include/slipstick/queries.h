// Room: collision. Questions about where shapes are, apart from any simulation: what does a ray hit, how far apart are
// two shapes, what is near a point, who overlaps whom.
#pragma once

#include <slipstick/model.h>
#include <slipstick/state.h>

#include <memory>
#include <optional>
#include <vector>

namespace slipstick {

struct RayHit {
  int shape = 0;  ///< index into Model::shapes
  int body = kWorld;
  double distance = 0;  ///< along the ray, m
  Vec3 point = Vec3::Zero();
  Vec3 normal = Vec3::Zero();  ///< unit, towards the side where the ray comes from
};

/// The closest points of two shapes, or the deepest ones if they overlap.
struct ShapeGap {
  int shape_a = 0, shape_b = 0;
  double gap = 0;  ///< negative: overlap
  Vec3 point_a = Vec3::Zero(), point_b = Vec3::Zero();
  Vec3 normal = Vec3::Zero();  ///< unit, from A to B
};

struct NearPoint {
  int shape = 0;
  double distance = 0;  ///< negative: the point is inside
  Vec3 point = Vec3::Zero();
};

class Queries {
 public:
  explicit Queries(const Model& model);  ///< keeps a reference
  ~Queries();
  Queries(Queries&&) noexcept;
  Queries& operator=(Queries&&) noexcept;

  /// Places the shapes; the questions below are about this state.
  void update(const State& state);

  /// The first shape that a ray enters. `direction` need not be a unit vector. A ray that starts inside a shape does
  /// not see that shape. Of two hits at the same distance the shape with the lower index counts.
  std::optional<RayHit> cast_ray(const Vec3& origin, const Vec3& direction, double max_distance = kInfinity) const;
  /// Two shapes with a gap of at most `within`; nothing if they are further apart or of kinds that never touch.
  std::optional<ShapeGap> find_gap(int shape_a, int shape_b, double within) const;
  /// The shape nearest to a point, at most `within` away.
  std::optional<NearPoint> find_nearest(const Vec3& point, double within) const;
  /// All pairs of shapes of different bodies that overlap by more than `depth`, whoever may touch whom in a simulation;
  /// sorted by (shape_a, shape_b).
  void find_overlaps(double depth, std::vector<ShapeGap>* overlaps) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace slipstick
