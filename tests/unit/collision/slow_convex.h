// A slow second opinion about convex shapes that shares no code with the engine: support functions and projections.
#pragma once

#include <vector>

#include "unit/collision/collision_support.h"

namespace slipstick::test {

/// A placed convex set.
struct Convex {
  Solid solid;
  Pose pose;

  /// max over the set of n . p (infinite for a plane unless n is its normal).
  double support(const Vec3& n) const;
  /// The nearest point of the set.
  Vec3 project(const Vec3& p) const;
};

/// min over B of n.p - max over A of n.p: for every unit n a lower bound of the signed distance.
double calc_separation(const Convex& a, const Convex& b, const Vec3& n);

struct Bracket {
  double low = 0, high = 0;
};
/// Distance of two sets that are apart, by alternating projections, with a proof on both sides.
Bracket calc_distance(const Convex& a, const Convex& b, double tolerance);

/// Directions among which the signed distance of two boxes is attained, and then some.
std::vector<Vec3> list_box_directions(const Convex& a, const Convex& b);

}  // namespace slipstick::test
