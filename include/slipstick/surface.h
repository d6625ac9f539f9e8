// Room: model. A surface of triangles: what a mesh or a heightfield is made of. Checked and completed once, by
// `make_surface`; immutable and shared from then on.
#pragma once

#include <slipstick/model.h>
#include <slipstick/types.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace slipstick {

using Triangle = std::array<std::int32_t, 3>;  ///< vertices, counter-clockwise seen from outside

/// Numbers over the rectangle of a heightfield, as many rows and columns as they like: rows run along x, the first has
/// the least y.
struct Grid {
  std::vector<double> values = {};
  std::size_t columns = 0;
};

struct Surface {
  std::vector<Vec3> vertices;       ///< each place once
  std::vector<Triangle> triangles;  ///< all of positive area
  /// Every edge has two triangles that run along it in opposite directions: the surface encloses a solid.
  bool closed = false;
  bool one_sided = false;        ///< closed, or a heightfield: what is behind a triangle is inside
  double volume = 0;             ///< closed: positive
  int dropped = 0;               ///< triangles left out: without area, or given before
  bool turned = false;           ///< closed, and its triangles faced inwards: they were turned round
  std::array<double, 2> cell{};  ///< heightfield: size of a cell
  /// Heightfield: the arm of rolling friction of its contacts by their place, m; empty: as the materials say.
  Grid rolling_friction = {};
};

/// A surface, or why there is none.
struct MadeSurface {
  std::shared_ptr<const Surface> surface;
  std::string problem;  ///< one sentence; empty when good
};

/// The most triangles that a surface may have.
inline constexpr std::size_t kMaxTriangles = 4'000'000;

/// Joins vertices at the same place, leaves out triangles without area and those given twice, checks the orientation.
MadeSurface make_surface(std::vector<Vec3> vertices, std::vector<Triangle> triangles);

/// A grid of heights over [-x/2, x/2] x [-y/2, y/2]: `columns` numbers per row; rows run along x, the first row has the
/// least y. Each cell is split into two triangles along the diagonal from its corner of least x and y.
/// `rolling_friction` may be empty.
MadeSurface make_heightfield(const std::vector<double>& heights, std::size_t columns, double size_x, double size_y,
                             Grid rolling_friction = {});

/// Why these are no arms of rolling friction; empty when good.
std::string find_arm_problem(const Grid& arms);

/// Of a heightfield with a map of it, at (x, y) in its frame, bilinear; beyond the rectangle as on its border.
double calc_rolling_friction(const Surface& surface, double x, double y);

/// Of a closed surface of unit density; of an open one as a shell of unit mass a unit of area.
MassProperties calc_surface_mass(const Surface& surface);

}  // namespace slipstick
