// Surfaces of triangles: checks, orientation, and what they enclose.
#include <slipstick/surface.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

namespace slipstick {
namespace {

/// A triangle whose height is below this part of its longest side has no direction to push in.
constexpr double kLeastHeight = 1e-10;

/// Vertices at the same place become one: the first of them by index. The table says which.
std::vector<std::int32_t> join_vertices(std::vector<Vec3>* vertices) {
  const std::size_t n = vertices->size();
  std::vector<std::int32_t> order(n), joined(n);
  std::iota(order.begin(), order.end(), 0);
  const auto key = [&](std::int32_t i) {
    const Vec3& p = (*vertices)[i];
    return std::array<double, 3>{p.x() + 0.0, p.y() + 0.0, p.z() + 0.0};  // -0 is 0
  };
  std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    const auto ka = key(a), kb = key(b);
    return ka != kb ? ka < kb : a < b;
  });
  std::vector<std::int32_t> first(n);
  for (std::size_t k = 0; k < n; ++k) {
    const bool same = k > 0 && key(order[k]) == key(order[k - 1]);
    first[order[k]] = same ? first[order[k - 1]] : order[k];
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (first[i] == static_cast<std::int32_t>(i)) {
      joined[i] = static_cast<std::int32_t>(kept);
      (*vertices)[kept++] = (*vertices)[i];
    } else {
      joined[i] = joined[first[i]];
    }
  }
  vertices->resize(kept);
  return joined;
}

/// Of triangles with the same corners and the same outside the first stays: a copy would make a solid a sheet.
void drop_copies(std::vector<Triangle>* triangles) {
  const auto key = [&](std::int32_t i) {
    Triangle t = (*triangles)[i];
    std::rotate(t.begin(), std::min_element(t.begin(), t.end()), t.end());
    return t;
  };
  std::vector<std::int32_t> order(triangles->size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    const Triangle ka = key(a), kb = key(b);
    return ka != kb ? ka < kb : a < b;
  });
  std::vector<bool> copy(triangles->size());
  for (std::size_t k = 1; k < order.size(); ++k) copy[order[k]] = key(order[k]) == key(order[k - 1]);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < triangles->size(); ++i) {
    if (!copy[i]) (*triangles)[kept++] = (*triangles)[i];
  }
  triangles->resize(kept);
}

struct HalfEdge {
  std::int32_t low, high;  ///< vertices
  std::int32_t triangle;
  bool forward;  ///< the triangle runs from low to high
  bool operator<(const HalfEdge& other) const {
    return std::pair(low, high) != std::pair(other.low, other.high)
               ? std::pair(low, high) < std::pair(other.low, other.high)
               : triangle < other.triangle;
  }
};

/// Sets `closed`; a problem if two triangles run along an edge in the same direction.
std::string check_edges(const std::vector<Triangle>& triangles, Surface* surface) {
  std::vector<HalfEdge> edges;
  edges.reserve(3 * triangles.size());
  for (std::size_t t = 0; t < triangles.size(); ++t) {
    for (int k = 0; k < 3; ++k) {
      const std::int32_t a = triangles[t][k], b = triangles[t][(k + 1) % 3];
      edges.push_back({std::min(a, b), std::max(a, b), static_cast<std::int32_t>(t), a < b});
    }
  }
  std::sort(edges.begin(), edges.end());
  surface->closed = !edges.empty();
  for (std::size_t i = 0; i < edges.size();) {
    std::size_t end = i + 1;
    while (end < edges.size() && edges[end].low == edges[i].low && edges[end].high == edges[i].high) ++end;
    if (end - i == 2 && edges[i].forward == edges[i + 1].forward) {
      return "triangles " + std::to_string(edges[i].triangle + 1) + " and " +
             std::to_string(edges[i + 1].triangle + 1) +
             " face opposite ways across their common edge; orient all triangles alike";
    }
    std::ptrdiff_t balance = 0;  // an edge with 4, 6... triangles: bodies that touch along it
    for (std::size_t k = i; k < end; ++k) balance += edges[k].forward ? 1 : -1;
    surface->closed = surface->closed && balance == 0;
    i = end;
  }
  return "";
}

bool has_area(const std::vector<Vec3>& p, const Triangle& t) {
  const Vec3 u = p[t[1]] - p[t[0]], v = p[t[2]] - p[t[0]], w = p[t[2]] - p[t[1]];
  const double longest_sq = std::max({u.squaredNorm(), v.squaredNorm(), w.squaredNorm()});
  return u.cross(v).norm() > kLeastHeight * longest_sq;
}

/// Integrals of 1, x and x x^T over the tetrahedra from `origin` to the triangles.
struct SolidMoments {
  double volume = 0;
  Vec3 first = Vec3::Zero();
  Mat3 second = Mat3::Zero();
};

SolidMoments calc_solid_moments(const Surface& surface, const Vec3& origin) {
  SolidMoments sum;
  for (const Triangle& t : surface.triangles) {
    const Vec3 a = surface.vertices[t[0]] - origin, b = surface.vertices[t[1]] - origin,
               c = surface.vertices[t[2]] - origin;
    const double six = a.dot(b.cross(c));
    const Vec3 s = a + b + c;
    sum.volume += six / 6;
    sum.first += six / 24 * s;
    sum.second += six / 120 * (s * s.transpose() + a * a.transpose() + b * b.transpose() + c * c.transpose());
  }
  return sum;
}

/// The same of the surface itself, a shell.
SolidMoments calc_shell_moments(const Surface& surface, const Vec3& origin) {
  SolidMoments sum;
  for (const Triangle& t : surface.triangles) {
    const Vec3 a = surface.vertices[t[0]] - origin, b = surface.vertices[t[1]] - origin,
               c = surface.vertices[t[2]] - origin;
    const double area = (b - a).cross(c - a).norm() / 2;
    const Vec3 s = a + b + c;
    sum.volume += area;
    sum.first += area / 3 * s;
    sum.second += area / 12 * (s * s.transpose() + a * a.transpose() + b * b.transpose() + c * c.transpose());
  }
  return sum;
}

Vec3 calc_middle(const Surface& surface) {
  Vec3 low = surface.vertices[0], high = low;
  for (const Vec3& p : surface.vertices) {
    low = low.cwiseMin(p);
    high = high.cwiseMax(p);
  }
  return (low + high) / 2;
}

std::string orient(Surface* surface) {
  if (!surface->closed) return "";
  surface->volume = calc_solid_moments(*surface, calc_middle(*surface)).volume;
  if (surface->volume < 0) {
    for (Triangle& t : surface->triangles) std::swap(t[1], t[2]);
    surface->volume = -surface->volume;
    surface->turned = true;
  }
  double size = 0;
  const Vec3 middle = calc_middle(*surface);
  for (const Vec3& p : surface->vertices) size = std::max(size, (p - middle).norm());
  if (!(surface->volume > 1e-12 * size * size * size)) return "its closed surface encloses no volume";
  return "";
}

}  // namespace

MadeSurface make_surface(std::vector<Vec3> vertices, std::vector<Triangle> triangles) {
  if (triangles.size() > kMaxTriangles) {
    return {nullptr, "has " + std::to_string(triangles.size()) + " triangles, more than the limit of " +
                         std::to_string(kMaxTriangles) + "; simplify it"};
  }
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    if (!vertices[i].allFinite() || vertices[i].cwiseAbs().maxCoeff() > 1e12) {
      return {nullptr, "vertex " + std::to_string(i + 1) + " is not a place: its coordinates must be finite numbers"};
    }
  }
  const auto count = static_cast<std::int32_t>(vertices.size());
  for (std::size_t t = 0; t < triangles.size(); ++t) {
    for (const std::int32_t v : triangles[t]) {
      if (v >= 0 && v < count) continue;
      return {nullptr, "triangle " + std::to_string(t + 1) + " names a vertex that is not there (" +
                           std::to_string(static_cast<std::int64_t>(v) + 1) + " of " + std::to_string(count) + ")"};
    }
  }
  auto surface = std::make_shared<Surface>();
  const std::vector<std::int32_t> joined = join_vertices(&vertices);
  std::vector<Triangle> proper;
  for (Triangle t : triangles) {
    for (std::int32_t& v : t) v = joined[v];
    if (t[0] != t[1] && t[1] != t[2] && t[2] != t[0]) proper.push_back(t);
  }
  drop_copies(&proper);
  if (std::string problem = check_edges(proper, surface.get()); !problem.empty()) return {nullptr, std::move(problem)};
  surface->vertices = std::move(vertices);
  for (const Triangle& t : proper) {
    if (has_area(surface->vertices, t)) surface->triangles.push_back(t);
  }
  surface->dropped = static_cast<int>(triangles.size() - surface->triangles.size());
  if (surface->triangles.empty()) return {nullptr, "has no triangle with an area"};
  if (std::string problem = orient(surface.get()); !problem.empty()) return {nullptr, std::move(problem)};
  surface->one_sided = surface->closed;
  return {std::move(surface), ""};
}

std::string find_arm_problem(const Grid& arms) {
  if (arms.values.empty()) return "";
  const std::size_t columns = arms.columns, rows = columns == 0 ? 0 : arms.values.size() / columns;
  if (columns < 2 || rows < 2 || rows * columns != arms.values.size())
    return "rolling_friction needs at least 2 rows and 2 columns of numbers, all rows of the same length";
  for (std::size_t i = 0; i < arms.values.size(); ++i) {
    if (std::isfinite(arms.values[i]) && arms.values[i] >= 0) continue;
    return "rolling_friction in row " + std::to_string(i / columns + 1) + ", column " +
           std::to_string(i % columns + 1) + " is not a length of zero or more";
  }
  return "";
}

MadeSurface make_heightfield(const std::vector<double>& heights, std::size_t columns, double size_x, double size_y,
                             Grid rolling_friction) {
  const std::size_t rows = columns == 0 ? 0 : heights.size() / columns;
  if (columns < 2 || rows < 2 || rows * columns != heights.size()) {
    return {nullptr, "needs at least 2 rows and 2 columns of heights, all rows of the same length"};
  }
  if (2 * (rows - 1) * (columns - 1) > kMaxTriangles) {
    return {nullptr, "has " + std::to_string(rows) + " x " + std::to_string(columns) +
                         " heights, more than the limit of " + std::to_string(kMaxTriangles / 2) +
                         " cells; make it coarser"};
  }
  if (std::string problem = find_arm_problem(rolling_friction); !problem.empty()) return {nullptr, std::move(problem)};
  auto surface = std::make_shared<Surface>();
  surface->rolling_friction = std::move(rolling_friction);
  surface->cell = {size_x / static_cast<double>(columns - 1), size_y / static_cast<double>(rows - 1)};
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      const double z = heights[r * columns + c];
      if (!std::isfinite(z)) {
        return {nullptr, "the height in row " + std::to_string(r + 1) + ", column " + std::to_string(c + 1) +
                             " is not a finite number"};
      }
      surface->vertices.emplace_back(size_x * (static_cast<double>(c) / static_cast<double>(columns - 1) - 0.5),
                                     size_y * (static_cast<double>(r) / static_cast<double>(rows - 1) - 0.5), z);
    }
  }
  for (std::size_t r = 0; r + 1 < rows; ++r) {
    for (std::size_t c = 0; c + 1 < columns; ++c) {
      const auto i = static_cast<std::int32_t>(r * columns + c), up = static_cast<std::int32_t>(i + columns);
      surface->triangles.push_back({i, i + 1, up + 1});
      surface->triangles.push_back({i, up + 1, up});
    }
  }
  surface->one_sided = true;
  return {std::move(surface), ""};
}

double calc_rolling_friction(const Surface& surface, double x, double y) {
  const auto& [arms, columns] = surface.rolling_friction;
  const Vec3 low = surface.vertices.front(), high = surface.vertices.back();
  const auto cell_of = [](double share, std::size_t count) {
    const double at = std::clamp(share, 0.0, 1.0) * static_cast<double>(count - 1);
    const std::size_t cell = std::min(static_cast<std::size_t>(at), count - 2);
    return std::pair(cell, at - static_cast<double>(cell));
  };
  const auto [column, u] = cell_of((x - low.x()) / (high.x() - low.x()), columns);
  const auto [row, v] = cell_of((y - low.y()) / (high.y() - low.y()), arms.size() / columns);
  const double* lower = arms.data() + row * columns + column;
  const double* upper = lower + columns;
  return (1 - v) * ((1 - u) * lower[0] + u * lower[1]) + v * ((1 - u) * upper[0] + u * upper[1]);
}

MassProperties calc_surface_mass(const Surface& surface) {
  // About a point of the surface's own middle: small numbers even far from the origin.
  const Vec3 origin = calc_middle(surface);
  const SolidMoments m = surface.closed ? calc_solid_moments(surface, origin) : calc_shell_moments(surface, origin);
  MassProperties matter;
  matter.mass = m.volume;
  const Vec3 center = m.first / m.volume;
  matter.center = origin + center;
  const Mat3 second = m.second - m.volume * center * center.transpose();
  matter.inertia = second.trace() * Mat3::Identity() - second;
  return matter;
}

}  // namespace slipstick
