#include "scene/outline_file.h"

#include <algorithm>
#include <cctype>

namespace slipstick {
namespace {

bool ends_in(std::string_view name, std::string_view end) {
  if (name.size() < end.size()) return false;
  return std::equal(end.begin(), end.end(), name.end() - static_cast<std::ptrdiff_t>(end.size()),
                    [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
}

}  // namespace

OutlineFile parse_outline(std::string_view name, std::string_view text, double tolerance) {
  if (ends_in(name, ".svg")) return parse_svg(text, tolerance);
  if (ends_in(name, ".dxf")) return parse_dxf(text, tolerance);
  OutlineFile file;
  file.problem = "unknown kind of file; outlines are read from .svg and .dxf";
  return file;
}

std::vector<Outline> group_rings(const std::vector<std::vector<Vec2>>& rings) {
  std::vector<int> depth(rings.size(), 0);
  for (std::size_t i = 0; i < rings.size(); ++i)
    for (std::size_t j = 0; j < rings.size(); ++j) depth[i] += i != j && is_inside(rings[j], rings[i][0]) ? 1 : 0;
  std::vector<Outline> parts;
  for (std::size_t i = 0; i < rings.size(); ++i) {
    if (depth[i] % 2 != 0) continue;
    Outline& part = parts.emplace_back();
    part.rings.push_back(rings[i]);
    for (std::size_t j = 0; j < rings.size(); ++j)
      if (depth[j] == depth[i] + 1 && is_inside(rings[i], rings[j][0])) part.rings.push_back(rings[j]);
  }
  return parts;
}

}  // namespace slipstick
