// The matter of a mesh, per unit of density, by each of the ways in which MuJoCo counts it.
#pragma once

#include <slipstick/model.h>

namespace slipstick {

enum class MeshMatter : std::uint8_t {
  Box,     ///< MuJoCo 2.2: the box with the inertia of Legacy, so its volume is below the mesh's (decision 42)
  Legacy,  ///< pyramids over a point in the middle, all counted as positive: open meshes too
  Exact,   ///< the volume integral; needs a closed mesh
  Convex,  ///< that of the convex hull
  Shell    ///< of the surface; the density is per area
};

/// Not for Convex, which is that of a hull. Mass zero: the mesh has no such matter.
MassProperties calc_mesh_matter(const Surface& mesh, MeshMatter way);

/// The frame of the mesh's principal axes at its centre, the axis of least inertia (the longest way) as z, and half the
/// sides of the box with its inertia.
struct MeshBox {
  Pose pose;
  Vec3 half = Vec3::Zero();  ///< zero: the mesh has no volume
};
MeshBox calc_mesh_box(const Surface& mesh);

}  // namespace slipstick
