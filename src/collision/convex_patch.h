// The flat piece with which a convex shape faces its partner, and what two such pieces have in common.
#pragma once

#include "collision/convex_core.h"

namespace slipstick {

struct PatchPoint {
  Vec3 position;             ///< pair coordinates
  std::uint32_t name, edge;  ///< of the corner, and of the edge to the next one
};

/// A face, a line or a point, its corners counter-clockwise seen from outside. Rims count as regular octagons fixed to
/// the body; larger faces than kMaxPatch give every second, third, ... corner.
struct Patch {
  static constexpr int kMaxPatch = 64;
  int count = 0;
  std::array<PatchPoint, kMaxPatch> points;
  void add(const Vec3& p, std::uint32_t name, std::uint32_t edge) {
    if (count < kMaxPatch) points[count++] = {p, name, edge};
  }
};

/// The face `face` (ConvexCore::find_face) of a core.
void update_face_patch(const ConvexCore& core, int face, Patch* patch);
/// What the core turns towards m: a polyhedron its best face; a cylinder or cone a cap within 10 degrees of it, with
/// the lowest point of the rim, or else the line of its mantle; a capsule its core; an ellipsoid one point.
void update_facing_patch(const ConvexCore& core, const Vec3& m, double scale, Patch* patch);

/// A point of the facing shape over a face: its foot on the face's plane and its height.
struct OverlapPoint {
  Vec3 foot;
  double height;
  std::uint32_t feature;
};

struct Overlap {
  int count = 0;
  std::array<OverlapPoint, 2 * Patch::kMaxPatch> points;
  double least_height() const;
};

/// Corners of the part of `facing` that is over the face `reference` (normal `up`), however high. Points nearer to each
/// other than `same_point` are one, the lowest; a corner of A names a point before a corner of B, and that before a
/// crossing of edges.
void update_overlap(const Patch& reference, const Vec3& up, const Patch& facing, bool reference_is_a, double same_point,
                    Overlap* overlap);

}  // namespace slipstick
