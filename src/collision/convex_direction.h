// The direction in which two convex cores are farthest apart, or overlap least.
#pragma once

#include "collision/convex_core.h"

namespace slipstick {

struct CoreDirection {
  bool within_reach = false;
  Vec3 normal = Vec3::UnitZ();  ///< from A to B
  double separation = 0;        ///< of the cores, along the normal: their signed distance
  /// The same before a face or a crossing of edges that is as good to rounding was preferred.
  Vec3 exact_normal = Vec3::UnitZ();
};

/// The signed distance of two convex sets is the greatest separation s(n) over all unit n: every candidate is a lower
/// bound and the largest one wins. A first direction comes from GJK (apart) or the expanding polytope (overlapping);
/// it is made exact by solving for the maximum on the smooth pieces of s and on its kinks near that direction.
CoreDirection find_core_direction(const ConvexCore& a, const ConvexCore& b, double scale, double reach);

}  // namespace slipstick
