// The point of a set of friction cones that is nearest to the origin: can contact forces cancel each other, and if not,
// how large can they be? [methods 9; Potra06, section 6]
#pragma once

#include <slipstick/types.h>

#include <vector>

namespace slipstick {

/// One cone: forces x (normal + mu tangent d), x >= 0, |d| <= 1, as vectors of generalised force.
struct ForceCone {
  VecX normal;
  MatX tangents;  ///< one or two columns; none: without friction
  double mu = 0;
};

struct ConePoint {
  double distance = 0;  ///< d: |sum of forces| >= d (sum of counted x) for all forces in the cones; 0: they can cancel
  VecX x;               ///< one entry a cone, of the nearest point; they cancel where the distance is 0
  bool found = false;   ///< false: the search stopped at its limit of iterations
};

/// Minimizes |sum of forces|^2 + (1 - sum of counted x)^2 by the method of Lawson and Hanson; columns are drawn from
/// the round cones as they are needed: of all edges of a cone the one that points most along the residual.
/// A minimum of zero is a solution of the linear program that maximizes the sum under "the forces cancel"; if there is
/// none, the residual separates the cones from the origin.
ConePoint find_cone_point(const std::vector<ForceCone>& cones, const std::vector<char>& counted);

}  // namespace slipstick
