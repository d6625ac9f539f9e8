// Outlines of parts that are not convex: a ring of points, counter-clockwise, and rings of holes, clockwise, so that
// the matter is on the left of every edge. Cut into convex pieces that know which of their edges are the part's own.
#pragma once

#include <slipstick/model.h>

#include <optional>
#include <string>
#include <vector>

namespace slipstick {

struct Outline {
  std::vector<std::vector<Vec2>> rings;  ///< the part's own first, then its holes
};

/// Why a ring of points is none, and where: `point` counts within `ring`.
struct OutlineFault {
  std::string message;
  int ring = 0, point = 0;
};

/// Points given twice in a row and in the middle of straight sides are left out, and the rings turned round as above.
/// A fault: fewer than three corners, sides that cross or touch, a hole that is not inside.
std::optional<OutlineFault> normalize(Outline* outline);

/// Whether the ring goes round the point.
bool is_inside(const std::vector<Vec2>& ring, const Vec2& p);

/// Corners of a ring rounded by arcs of this radius, or a smaller one where a side is too short for it; the chords are
/// at most `tolerance` away from their arc.
std::vector<Vec2> round_corners(const std::vector<Vec2>& ring, double radius, double tolerance);

/// A convex piece, counter-clockwise; one corner of the part's outline per point.
struct OutlinePiece {
  std::vector<Vec2> points;
  std::vector<OutlineCorner> corners;
};
/// Triangles by clipping ears, their diagonals turned for the largest angles, merged while they stay convex
/// [HertelMehlhorn83]. Of a normalized outline.
std::vector<OutlinePiece> cut_outline(const Outline& outline);
/// The triangles before they are merged: indices into the points of all rings, one after the other.
std::vector<std::array<int, 3>> triangulate(const Outline& outline);

/// Corners on an arc of this radius and angle so that chords are at most `tolerance` away from it.
int count_arc_steps(double radius, double angle, double tolerance);

}  // namespace slipstick
