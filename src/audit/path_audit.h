// Has anything gone through anything? The paths of cores against what they could have met.
#pragma once

#include "audit/fast_pairs.h"

namespace slipstick {

class PathAudit {
 public:
  /// Of the paths that `fast` has found last; what enters its partner is added to `verdict`. `start`, `h`: the time.
  void check(FastPairs* fast, const Model& model, double start, double h, WorldVerdict* verdict);

 private:
  struct Way {  ///< of a point in the frame of a body that moves itself
    const BodyPath *mover, *partner;
    Vec3 core;
    double speed;  ///< m per whole way, at most
    Vec3 at(double t) const;
  };
  /// The part of the way after which the point is inside; above 1: it never is.
  double find_entry(const Way& way, const Solid& solid, double size) const;
  double find_passage(const Way& way, const Solid& sheet) const;
};

}  // namespace slipstick
