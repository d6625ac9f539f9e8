#include "scene/scene_outlines.h"

#include <slipstick/surface.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>

#include "scene/outline_file.h"
#include "scene/scene_files.h"

namespace slipstick {
namespace {

constexpr double kFinest = 1e-3;  ///< of the part's size: how far chords are off their arcs if nobody says

std::string as_text(const Vec2& p) {
  const auto number = [](double x) {
    char digits[32];
    return std::string(digits, std::to_chars(digits, digits + sizeof digits, x, std::chars_format::general, 6).ptr);
  };
  return "[" + number(p.x()) + ", " + number(p.y()) + "]";
}

bool read_points(const SceneItem& item, const SceneNode& node, std::string_view key, std::vector<Vec2>* ring) {
  if (!node.is_list()) {
    item.expected(node, "a list of points [x, y]", key);
    return false;
  }
  bool good = true;
  for (const SceneNode* point : node.items) {
    const auto p = item.as_numbers(*point, key, {2});
    good &= p.has_value();
    if (p) ring->emplace_back((*p)[0], (*p)[1]);
  }
  return good;
}

double calc_extent(const std::vector<Outline>& parts) {
  double size = 0;
  for (const Outline& part : parts)
    for (const Vec2& p : part.rings[0]) size = std::max(size, (p - part.rings[0][0]).norm());
  return size;
}

/// Parts of a drawing: closed lines that are in no other one, each with those that are just inside it as its holes.
bool read_drawing(const SceneItem& item, double tolerance, std::vector<Outline>* parts) {
  std::string name;
  double scale = 1;
  item.number("scale", &scale);
  if (!item.text("file", &name)) return false;
  const SceneNode& node = *item.find("file");
  const std::string* const text = item.reading().files->read_data(node, name);
  if (text == nullptr) return false;
  if (!(std::abs(scale) > 0)) {
    item.fault(*item.find("scale"), "scale must be a number other than zero in " + item.label());
    return false;
  }
  const OutlineFile file = parse_outline(name, *text, tolerance > 0 ? tolerance / std::abs(scale) : 0);
  if (!file.problem.empty()) {
    item.fault(node, "outline '" + name + "': " + file.problem);
    return false;
  }
  *parts = group_rings(file.rings);
  for (Outline& part : *parts)
    for (auto& ring : part.rings)
      for (Vec2& p : ring) p *= scale;
  return true;
}

/// `points` and `holes`.
bool read_rings(const SceneItem& item, Outline* part) {
  if (!read_points(item, *item.find("points"), "points", &part->rings.emplace_back())) return false;
  const SceneNode* holes = item.find("holes");
  if (holes == nullptr) return true;
  if (!holes->is_list()) {
    item.expected(*holes, "a list of lists of points", "holes");
    return false;
  }
  for (const SceneNode* hole : holes->items)
    if (!read_points(item, *hole, "holes", &part->rings.emplace_back())) return false;
  return true;
}

/// Which of the keys that outlines come from the item has; a fault unless it is just one.
std::string_view find_source(const SceneItem& item, bool gears) {
  std::string_view source;
  int count = 0;
  for (const std::string_view key : {"points", "file", "gear"})
    if (item.has(key) && (gears || key != "gear")) {
      source = key;
      ++count;
    }
  if (count == 1) return source;
  if (item.map().complete || count > 1)
    item.fault(item.node(),
               item.label() + " needs either " + (gears ? "'points', 'file' or 'gear'" : "'points' or 'file'"));
  return {};
}

bool read_roundings(const SceneItem& item, std::string_view source, double* radius, double* tolerance) {
  item.number("corner_radius", radius);
  item.number("tolerance", tolerance);
  for (const char* key : {"corner_radius", "tolerance"})
    if (const SceneNode* node = item.find(key); node != nullptr && (key[0] == 'c' ? *radius < 0 : !(*tolerance > 0))) {
      item.fault(*node, std::string(key) + " must be positive in " + item.label());
      return false;
    }
  if (source != "gear" || *radius == 0) return true;
  item.fault(*item.find("corner_radius"),
             "corner_radius would round the flanks of the gear too; leave it out in " + item.label());
  return false;
}

/// points and holes, file or (where `gears`) gear: normalized, with rounded corners.
bool read_outlines(const SceneItem& item, bool gears, std::vector<Outline>* parts) {
  const std::string_view source = find_source(item, gears);
  double radius = 0, tolerance = 0;
  if (source.empty() || !read_roundings(item, source, &radius, &tolerance)) return false;
  const bool good = source == "file"   ? read_drawing(item, tolerance, parts)
                    : source == "gear" ? read_gear(item, tolerance, &parts->emplace_back())
                                       : read_rings(item, &parts->emplace_back());
  if (!good) return false;
  if (!(tolerance > 0)) tolerance = kFinest * calc_extent(*parts);
  for (Outline& part : *parts) {
    if (part.rings[0].size() < 3) {
      item.fault(*item.find(source),
                 item.label() + " needs at least 3 points, not " + std::to_string(part.rings[0].size()));
      return false;
    }
    auto fault = normalize(&part);
    if (!fault && radius > 0) {
      for (auto& ring : part.rings) ring = round_corners(ring, radius, tolerance);
      fault = normalize(&part);
    }
    if (!fault) continue;
    const auto& ring = part.rings[fault->ring];
    const SceneNode& node = *item.find(source == "points" && fault->ring > 0 ? "holes" : source);
    item.fault(node,
               item.label() + ": " + fault->message +
                   (ring.empty() ? "" : ", at " + as_text(ring[std::min<std::size_t>(fault->point, ring.size() - 1)])));
    return false;
  }
  return true;
}

/// The prism over an outline, z from -length/2 to length/2.
void add_prism(const Outline& part, double length, std::vector<Vec3>* vertices, std::vector<Triangle>* triangles) {
  const auto base = static_cast<std::int32_t>(vertices->size());
  std::int32_t count = 0;
  for (const auto& ring : part.rings) count += static_cast<std::int32_t>(ring.size());
  for (const double z : {-length / 2, length / 2})
    for (const auto& ring : part.rings)
      for (const Vec2& p : ring) vertices->emplace_back(p.x(), p.y(), z);
  for (const auto& t : triangulate(part)) {
    triangles->push_back({base + t[0], base + t[2], base + t[1]});
    triangles->push_back({base + count + t[0], base + count + t[1], base + count + t[2]});
  }
  std::int32_t first = base;
  for (const auto& ring : part.rings) {
    const auto n = static_cast<std::int32_t>(ring.size());
    for (std::int32_t i = 0; i < n; ++i) {
      const std::int32_t a = first + i, b = first + (i + 1) % n;
      triangles->push_back({a, b, b + count});
      triangles->push_back({a, b + count, a + count});
    }
    first += n;
  }
}

/// A ring (r, z) carried around the z axis in so many steps.
void add_revolved(const std::vector<Vec2>& ring, int steps, std::vector<Vec3>* vertices,
                  std::vector<Triangle>* triangles) {
  const auto n = static_cast<std::int32_t>(ring.size());
  for (int k = 0; k < steps; ++k) {
    const double angle = 2 * std::numbers::pi * k / steps;
    for (const Vec2& p : ring) vertices->emplace_back(p.x() * std::cos(angle), p.x() * std::sin(angle), p.y());
  }
  for (std::int32_t k = 0; k < steps; ++k) {
    const std::int32_t here = k * n, there = (k + 1) % steps * n;
    for (std::int32_t i = 0; i < n; ++i) {
      const std::int32_t j = (i + 1) % n;
      if (ring[i].x() == 0 && ring[j].x() == 0) continue;  // along the axis
      if (ring[i].x() > 0) triangles->push_back({here + i, there + i, there + j});
      if (ring[j].x() > 0) triangles->push_back({here + i, there + j, here + j});
    }
  }
}

void set_surface(const SceneItem& item, std::vector<Vec3> vertices, std::vector<Triangle> triangles, ReadShape* shape) {
  MadeSurface made = make_surface(std::move(vertices), std::move(triangles));
  if (!made.problem.empty()) return item.fault(item.node(), item.label() + ": " + made.problem);
  shape->surface = made.surface;
}

}  // namespace

void read_polygon(const SceneItem& item, ReadShape* shape) {
  std::vector<Outline> parts;
  if (!read_outlines(item, true, &parts)) return;
  for (const Outline& part : parts)
    for (OutlinePiece& piece : cut_outline(part)) shape->pieces.push_back(std::move(piece));
  if (shape->pieces.size() > 1) return;
  shape->points.clear();
  if (const SceneNode* points = item.find("points"); points != nullptr && !item.has("corner_radius")) {
    read_points(item, *points, "points", &shape->points);  // as they were written
  } else {
    shape->points = shape->pieces[0].points;
  }
  shape->pieces.clear();
}

void read_extrude(const SceneItem& item, ReadShape* shape) {
  std::vector<Outline> parts;
  double length = 0;
  const bool has_length = item.require("length") && item.number("length", &length);
  if (!read_outlines(item, true, &parts) || !has_length) return;
  if (!(length > 0)) return item.fault(*item.find("length"), "length must be positive in " + item.label());
  if (parts.size() == 1 && parts[0].rings.size() == 1 && cut_outline(parts[0]).size() == 1) {
    shape->kind = ShapeKind::Hull;
    for (const double z : {-length / 2, length / 2})
      for (const Vec2& p : parts[0].rings[0]) shape->vertices.emplace_back(p.x(), p.y(), z);
    return;
  }
  std::vector<Vec3> vertices;
  std::vector<Triangle> triangles;
  for (const Outline& part : parts) add_prism(part, length, &vertices, &triangles);
  set_surface(item, std::move(vertices), std::move(triangles), shape);
}

void read_revolve(const SceneItem& item, ReadShape* shape) {
  std::vector<Outline> parts;
  if (!read_outlines(item, false, &parts)) return;
  const SceneNode& place = *item.find(item.has("file") ? "file" : "points");
  double outermost = 0, tolerance = 0;
  for (const Outline& part : parts)
    for (const Vec2& p : part.rings[0]) {
      if (p.x() < 0)
        return item.fault(place, item.label() + ": points are [r, z] and r is not negative; one is " + as_text(p));
      outermost = std::max(outermost, p.x());
    }
  if (!item.number("tolerance", &tolerance)) tolerance = kFinest * calc_extent(parts);
  int steps = 4 * ((count_arc_steps(outermost, 2 * std::numbers::pi, tolerance) + 3) / 4);
  if (item.integer("segments", &steps) && (steps < 3 || steps > 10000))
    return item.fault(*item.find("segments"), "segments must be from 3 to 10000 in " + item.label());
  std::vector<Vec3> vertices;
  std::vector<Triangle> triangles;
  for (const Outline& part : parts)
    for (const auto& ring : part.rings) add_revolved(ring, steps, &vertices, &triangles);
  set_surface(item, std::move(vertices), std::move(triangles), shape);
}

}  // namespace slipstick
