// A ball inside a solid: what stands for it where paths are asked whether they go through something.
#pragma once

#include "audit/solid.h"

namespace slipstick {

struct InteriorBall {
  Vec3 center = Vec3::Zero();
  double radius = 0;
};

/// The largest one in a convex solid; up to four large ones, apart from each other, in a closed surface, which may be
/// concave; a point of the surface (radius 0) of an open one. Not of planes and heightfields. The largest comes first.
std::vector<InteriorBall> find_interior_balls(const Solid& solid);

/// Points of a solid that stick out, at most 64: corners, or where round parts reach farthest. Not of spheres, planes,
/// heightfields and open surfaces.
std::vector<Vec3> find_corners(const Solid& solid);

}  // namespace slipstick
