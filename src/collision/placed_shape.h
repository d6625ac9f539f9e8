// A shape where it is now: everything the narrow phase reads, in world axes, in one flat record.
#pragma once

#include <slipstick/model.h>

namespace slipstick {

class SurfaceIndex;

struct PlacedShape {
  ShapeKind kind = ShapeKind::Sphere;
  int point_count = 0;                 ///< polygon
  double radius = 0;                   ///< sphere, disk, capsule
  double bound = 0;                    ///< radius of a sphere about `center` that holds the shape
  Vec3 center = Vec3::Zero();          ///< origin of the shape's frame
  Vec3 half_size = Vec3::Zero();       ///< box
  Vec3 axis = Vec3::Zero();            ///< capsule: the core is center +- axis. Plane: the outward normal
  Mat3 frame = Mat3::Identity();       ///< box, mesh, heightfield: columns are its axes
  const SurfaceIndex* surface = nullptr;  ///< mesh, heightfield
  const Vec2* points = nullptr;        ///< polygon: vertices, counter-clockwise
  const Vec2* edge_normals = nullptr;  ///< polygon: outward unit normal of the edge from point k to point k + 1
};

}  // namespace slipstick
