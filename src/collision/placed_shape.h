// A shape where it is now: everything the narrow phase reads, in world axes, in one flat record.
#pragma once

#include <slipstick/model.h>

namespace slipstick {

class SurfaceIndex;
struct PolytopeData;
struct HullLookup;

/// Aligned: what a ball needs is one line of a cache.
struct alignas(64) PlacedShape {
  ShapeKind kind = ShapeKind::Sphere;
  int point_count = 0;                     ///< polygon
  double radius = 0;                       ///< sphere, disk, capsule, cylinder, cone
  double bound = 0;                        ///< radius of a sphere about `center` that holds the shape
  Vec3 center = Vec3::Zero();              ///< origin of the shape's frame
  double half_length = 0;                  ///< cylinder, cone: along z of the frame
  Vec3 half_size = Vec3::Zero();           ///< box, ellipsoid
  Vec3 axis = Vec3::Zero();                ///< capsule: the core is center +- axis. Plane: the outward normal
  Mat3 frame = Mat3::Identity();           ///< columns are its axes; of no meaning for a sphere
  const SurfaceIndex* surface = nullptr;   ///< mesh, heightfield
  const PolytopeData* polytope = nullptr;  ///< hull, where there are surfaces
  const Vec2* points = nullptr;            ///< polygon: vertices, counter-clockwise
  const Vec2* edge_normals = nullptr;      ///< polygon: outward unit normal of the edge from point k to point k + 1
  const OutlineCorner* corners = nullptr;  ///< polygon that is a piece of a part: one per point, in its frame
  const Hull* hull = nullptr;              ///< hull, and box where it may meet a general convex shape: in its frame
  const HullLookup* lookup = nullptr;      ///< of `hull`, where it is asked often
};

}  // namespace slipstick
