// Shapes of a recording as triangles, for programs that know no spheres.
#pragma once

#include "record/record_hdf5.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace slipstick {

/// Corners with their normals; three indices a triangle, counter-clockwise from outside.
struct SolidMesh {
  std::vector<std::array<float, 3>> position, normal;
  std::vector<std::uint32_t> index;
};

/// Of a shape in its own frame. `kind`: its name; `size`: of the scene, m: half an endless plane's side; planar shapes
/// become plates of `thickness`. Empty for a kind that this does not know.
SolidMesh make_solid_mesh(const RecordShape& shape, const std::string& kind, double size, double thickness);

}  // namespace slipstick
