// Drawings of planar parts (SVG, DXF): bytes in, closed lines or a fault with its place out. Nothing here trusts the
// bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/outline.h"

namespace slipstick {

struct OutlineFile {
  std::vector<std::vector<Vec2>> rings;  ///< y upwards
  std::string problem;                   ///< "3:14: ..." (line and column); empty when good
};

/// `path` (all commands), `polygon`, `rect`, `circle` and `ellipse` of a drawing without transforms; y is turned
/// upwards. Curves become chords at most `tolerance` away from them (0: a thousandth of the drawing's size).
OutlineFile parse_svg(std::string_view text, double tolerance);
/// LWPOLYLINE and POLYLINE with bulges, CIRCLE, and LINE and ARC that meet end to end.
OutlineFile parse_dxf(std::string_view text, double tolerance);
/// By the ending of the file's name.
OutlineFile parse_outline(std::string_view name, std::string_view text, double tolerance);

/// Rings that are in an even number of others are parts, those just inside them their holes.
std::vector<Outline> group_rings(const std::vector<std::vector<Vec2>>& rings);

}  // namespace slipstick
