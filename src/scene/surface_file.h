// Files of triangles (OBJ, STL) and of heights (CSV, PGM): bytes in, numbers or a fault with its place out. Nothing
// here trusts the bytes.
#pragma once

#include <slipstick/surface.h>

#include <string>
#include <string_view>
#include <vector>

namespace slipstick {

struct SurfaceFile {
  std::vector<Vec3> vertices;
  std::vector<Triangle> triangles;
  std::string problem;  ///< "line 3: ..."; empty when good
};

/// Wavefront OBJ: `v` and `f` lines (polygons as fans); everything else is passed over.
SurfaceFile parse_obj(std::string_view text);
/// STL, text or binary, whichever it is.
SurfaceFile parse_stl(std::string_view bytes);
/// By the ending of the file's name.
SurfaceFile parse_surface(std::string_view name, std::string_view bytes);

/// A mesh whose points make a hull: those that can be corners of it.
struct MeshPoints {
  std::vector<Vec3> points;
  std::string problem;
};
/// The file's name ends as that of a mesh that `parse_surface` reads and that is not a list of points as well.
bool is_mesh_file(std::string_view name);
/// The points of a mesh file, times `scale`, each once and sorted; of more than kMaxHullPoints those that are no corner
/// of the hull of their neighbours are left out.
MeshPoints make_mesh_points(std::string_view name, std::string_view bytes, const Vec3& scale);
/// The same of points that are there already.
std::vector<Vec3> keep_hull_points(std::vector<Vec3> points);

struct HeightFile {
  std::vector<double> heights;  ///< row by row, the first row has the least y
  std::size_t columns = 0;
  std::string problem;
};

/// Numbers between commas, semicolons or blanks, one row per line; `#` begins a comment.
HeightFile parse_csv(std::string_view text);
/// Portable grey map, P2 or P5: heights from 0 (black) to 1 (white); the first row of the picture has the greatest y.
HeightFile parse_pgm(std::string_view bytes);
HeightFile parse_heights(std::string_view name, std::string_view bytes);

}  // namespace slipstick
