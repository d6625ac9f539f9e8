// How deep do two solids overlap? Twice the radius of the largest ball inside both, in any position: no directions, no
// features, no closest points, and so nothing that the contact finder does. For convex solids no translation shorter
// than this separates them, and the depth that a right contact reports is at least this. docs/certificate.md has the
// reasons.
#pragma once

#include "audit/solid.h"

namespace slipstick {

struct CommonBall {
  double depth = 0;            ///< m: of a ball that is there; 0: none was found
  double bound = kInfinity;    ///< m: no ball is deeper (convex solids and planes only)
  Vec3 center = Vec3::Zero();  ///< of the ball, world
};

class OverlapMeter {
 public:
  /// With `floor` the search ends as soon as nothing deeper than that can be there: the depth is then below it.
  /// Half spaces: how far the other solid reaches below. Open surfaces: how deep one of their points is in the other.
  CommonBall measure(const Solid& a, const Solid& b, double floor);

  long work() const { return work_; }              ///< counted, not timed: the same on every machine
  long unfinished() const { return unfinished_; }  ///< linear programs that gave up

 private:
  struct Seed {
    Vec3 at = Vec3::Zero();
    double room = 0;
  };
  CommonBall measure_plane(const Solid& plane, const Solid& other) const;
  CommonBall measure_balls(const Solid& a, const Solid& b) const;
  CommonBall measure_convex(const Solid& a, const Solid& b, double floor);
  CommonBall measure_surface(const Solid& surface, const Solid& other, double floor);

  void start_convex(const Solid& a, const Solid& b, double extent);
  bool add_cuts(const Solid& a, const Solid& b, const Vec3& at, double least);
  Seed find_deepest_on(const std::array<Vec3, 3>& triangle, const Solid& other);
  Seed find_sample_on(const std::array<Vec3, 3>& triangle, const Solid& other);
  void collect_triangles(const Solid& solid, const Box3& box, std::vector<std::int32_t>* triangles) const;
  void find_seeds(const Solid& from, const Solid& into, const Box3& common);
  void add_near_walls(const Solid& solid, const Vec3& q, double radius, bool by_planes, WallOwner owner);
  Seed ascend(const Solid& a, const Solid& b, Seed seed, double trust, double size);

  BallProgram program_;
  std::vector<Seed> seeds_;
  std::vector<std::int32_t> triangles_;
  std::vector<double> crossings_;
  std::vector<Wall> cuts_;
  std::vector<Vec3> polygon_, clipped_;
  long work_ = 0, unfinished_ = 0;
};

/// Of any solid, in its frame: the largest ball about a point, negative outside.
double calc_any_room(const Solid& solid, const Vec3& q);

}  // namespace slipstick
