// Signed distance of a point from a convex shape, in closed form (ellipsoid: the root of one equation).
#pragma once

#include "collision/placed_shape.h"

namespace slipstick {

struct PointDistance {
  Vec3 on_surface;  ///< the nearest point of the surface, world
  Vec3 normal;      ///< outward there: p - on_surface = gap * normal
  double gap;
};

/// For box, cylinder, cone, ellipsoid, capsule, sphere and hull.
PointDistance calc_point_distance(const PlacedShape& shape, const Vec3& p);

}  // namespace slipstick
