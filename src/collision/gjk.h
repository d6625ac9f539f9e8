// Closest points of two convex cores that are apart (Gilbert, Johnson and Keerthi), and the direction of least overlap
// of two that are not (expanding polytope).
#pragma once

#include "collision/convex_core.h"

namespace slipstick {

struct CoreDistance {
  enum class Answer { Apart, Overlap, Beyond } answer = Answer::Overlap;
  Vec3 v = Vec3::Zero();  ///< Apart: from the closest point of A to that of B, nearly. Beyond: separates by the reach
};

/// `scale`: size of the smaller core, for what counts as touching. Stops early when they are farther apart than reach.
CoreDistance find_core_distance(const ConvexCore& a, const ConvexCore& b, double scale, double reach);

/// The unit direction n that separates overlapping cores with the least motion of B along n, to within `tolerance`
/// (a length) of the depth. Exact for polyhedra.
Vec3 find_least_overlap(const ConvexCore& a, const ConvexCore& b, double scale, double tolerance);

}  // namespace slipstick
