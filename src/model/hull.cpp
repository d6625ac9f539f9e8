#include <slipstick/hull.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>

extern "C" {
#include <libqhull_r/qhull_ra.h>
}

namespace slipstick {
namespace {

/// Thinner than this part of their extent, points are in one plane.
constexpr double kFlatHull = 1e-6;

using Loops = std::vector<std::vector<int>>;

/// Qhull reports by text to a file: to one in memory that nobody reads.
class QhullRun {
 public:
  QhullRun() : stream_(open_memstream(&text_, &length_)) { qh_zero(&qhull_, stream_); }
  ~QhullRun() {
    qh_freeqhull(&qhull_, !qh_ALL);
    int long_count = 0, total = 0;
    qh_memfreeshort(&qhull_, &long_count, &total);
    if (stream_) std::fclose(stream_);
    std::free(text_);
  }
  QhullRun(const QhullRun&) = delete;
  QhullRun& operator=(const QhullRun&) = delete;

  /// Faces as loops of point indices; false if Qhull gave up. `coordinates` must live as long as this.
  bool find(std::vector<double>* coordinates, const char* options, Loops* loops) {
    if (!stream_) return false;
    char command[64];
    std::snprintf(command, sizeof(command), "%s", options);
    const int count = static_cast<int>(coordinates->size() / 3);
    if (qh_new_qhull(&qhull_, 3, count, coordinates->data(), False, command, stream_, stream_) != 0) return false;
    qhT* const qh = &qhull_;  // the name that Qhull's macros expect
    facetT* facet = nullptr;
    FORALLfacets {
      std::vector<int>& loop = loops->emplace_back();
      setT* vertices = qh_facet3vertex(qh, facet);
      vertexT *vertex = nullptr, **vertexp = nullptr;
      FOREACHvertex_(vertices) { loop.push_back(qh_pointid(qh, vertex->point)); }
      qh_settempfree(qh, &vertices);
    }
    return !loops->empty();
  }

 private:
  char* text_ = nullptr;
  std::size_t length_ = 0;
  std::FILE* stream_;
  qhT qhull_;
};

/// Twice the area of a loop times its normal (Newell).
Vec3 calc_area(std::span<const Vec3> points, const std::vector<int>& loop) {
  Vec3 area = Vec3::Zero();
  const Vec3& origin = points[loop[0]];
  for (std::size_t k = 1; k + 1 < loop.size(); ++k) {
    area += (points[loop[k]] - origin).cross(points[loop[k + 1]] - origin);
  }
  return area;
}

/// What is wrong with the points themselves; empty if nothing.
std::string find_point_fault(std::span<const Vec3> points) {
  const std::string count = std::to_string(points.size());
  if (points.size() < 4) return "needs at least 4 points, not " + count;
  if (points.size() > static_cast<std::size_t>(kMaxHullPoints)) {
    return "has " + count + " points, more than the limit of " + std::to_string(kMaxHullPoints) + "; leave some out";
  }
  for (std::size_t k = 0; k < points.size(); ++k) {
    if (!points[k].allFinite()) return "point " + std::to_string(k + 1) + " must be finite numbers";
  }
  // Farthest point, farthest from the line, farthest from the plane.
  Vec3 along = Vec3::Zero(), across = Vec3::Zero();
  for (const Vec3& p : points) {
    if ((p - points[0]).norm() > along.norm()) along = p - points[0];
  }
  const double size = along.norm();
  if (!(size > 0)) return "its points are all the same";
  if (!std::isfinite(size * size * size) || !(size * size * size > 0))
    return "is too small or too large; check the units";
  along /= size;
  for (const Vec3& p : points) {
    const Vec3 d = p - points[0] - along.dot(p - points[0]) * along;
    if (d.norm() > across.norm()) across = d;
  }
  if (!(across.norm() > kFlatHull * size)) return "its points are on one line; a hull needs points in all directions";
  const Vec3 normal = along.cross(across.normalized());
  double low = 0, high = 0;
  for (const Vec3& p : points) {
    low = std::min(low, normal.dot(p - points[0]));
    high = std::max(high, normal.dot(p - points[0]));
  }
  if (!(high - low > kFlatHull * size)) return "its points are in one plane; add a point off it, or take a thin box";
  return {};
}

/// Numbers the corners in the order in which they were given, orients and completes the faces. False if the loops are
/// not a closed surface.
bool build_hull(std::span<const Vec3> points, const Loops& loops, Hull* hull) {
  std::vector<int> number(points.size(), -1);
  for (const auto& loop : loops) {
    for (const int p : loop) number[p] = 0;
  }
  Vec3 inner = Vec3::Zero();
  for (std::size_t p = 0; p < points.size(); ++p) {
    if (number[p] < 0) continue;
    number[p] = static_cast<int>(hull->vertices.size());
    hull->vertices.push_back(points[p]);
    inner += points[p];
  }
  inner /= static_cast<double>(hull->vertices.size());
  std::map<std::array<int, 2>, std::array<int, 2>> edges;  // both corners -> number, uses
  for (std::vector<int> loop : loops) {
    if (loop.size() < 3) return false;
    Vec3 normal = calc_area(points, loop);
    if (!(normal.norm() > 0)) return false;
    normal.normalize();
    if (normal.dot(points[loop[0]] - inner) < 0) {
      std::reverse(loop.begin() + 1, loop.end());
      normal = -normal;
    }
    HullFace face{normal, -kInfinity, static_cast<int>(hull->loops.size()), static_cast<int>(loop.size())};
    for (const Vec3& p : hull->vertices) face.offset = std::max(face.offset, normal.dot(p));
    for (std::size_t k = 0; k < loop.size(); ++k) {
      const int from = number[loop[k]], to = number[loop[(k + 1) % loop.size()]];
      const std::array<int, 2> ends = {std::min(from, to), std::max(from, to)};
      const auto [at, is_new] = edges.try_emplace(ends, std::array<int, 2>{static_cast<int>(hull->edges.size()), 0});
      if (is_new) hull->edges.push_back(ends);
      ++at->second[1];
      hull->loops.push_back(from);
      hull->loop_edges.push_back(at->second[0]);
    }
    hull->faces.push_back(face);
  }
  return std::all_of(edges.begin(), edges.end(), [](const auto& edge) { return edge.second[1] == 2; });
}

void set_loop(std::initializer_list<int> corners, const Vec3& normal, Hull* hull) {
  HullFace face{normal, normal.dot(hull->vertices[*corners.begin()]), static_cast<int>(hull->loops.size()),
                static_cast<int>(corners.size())};
  const std::vector<int> loop(corners);
  for (std::size_t k = 0; k < loop.size(); ++k) {
    const int from = loop[k], to = loop[(k + 1) % loop.size()];
    const std::array<int, 2> ends = {std::min(from, to), std::max(from, to)};
    const auto at = std::find(hull->edges.begin(), hull->edges.end(), ends);
    hull->loops.push_back(from);
    hull->loop_edges.push_back(static_cast<int>(at - hull->edges.begin()));
    if (at == hull->edges.end()) hull->edges.push_back(ends);
  }
  hull->faces.push_back(face);
}

}  // namespace

MadeHull make_hull(std::span<const Vec3> points) {
  MadeHull made;
  made.fault = find_point_fault(points);
  if (!made.fault.empty()) return made;
  Vec3 low = points[0], high = low;
  for (const Vec3& p : points) {
    low = low.cwiseMin(p);
    high = high.cwiseMax(p);
  }
  const double size = (high - low).maxCoeff();
  for (const char* const options : {"qhull C-1e-8", "qhull", "qhull Qt"}) {
    std::vector<double> unit;  // Qhull's widths are lengths: points in a cube of size one
    for (const Vec3& p : points) {
      const Vec3 scaled = (p - low) / size;
      unit.insert(unit.end(), scaled.data(), scaled.data() + 3);
    }
    Loops loops;
    Hull hull;
    const bool found = QhullRun().find(&unit, options, &loops) && build_hull(points, loops, &hull);
    if (!found || hull.faces.size() < 4) continue;
    if (hull.vertices.size() > static_cast<std::size_t>(kMaxHullVertices)) {
      made.fault = "its hull has " + std::to_string(hull.vertices.size()) + " corners, more than the limit of " +
                   std::to_string(kMaxHullVertices) + "; leave points out";
      return made;
    }
    made.hull = std::move(hull);
    return made;
  }
  made.fault = "no hull could be made of its points; they are too close to a plane or to each other";
  return made;
}

Hull make_box_hull(const Vec3& half_size) {
  Hull hull;
  for (int v = 0; v < 8; ++v) {
    hull.vertices.push_back(half_size.cwiseProduct(Vec3(v & 1 ? 1 : -1, v & 2 ? 1 : -1, v & 4 ? 1 : -1)));
  }
  set_loop({0, 4, 6, 2}, -Vec3::UnitX(), &hull);
  set_loop({1, 3, 7, 5}, Vec3::UnitX(), &hull);
  set_loop({0, 1, 5, 4}, -Vec3::UnitY(), &hull);
  set_loop({2, 6, 7, 3}, Vec3::UnitY(), &hull);
  set_loop({0, 2, 3, 1}, -Vec3::UnitZ(), &hull);
  set_loop({4, 5, 7, 6}, Vec3::UnitZ(), &hull);
  return hull;
}

void update_triangle_hull(const Vec3& a, const Vec3& b, const Vec3& c, Hull* hull) {
  if (hull->vertices.size() != 3 || hull->faces.size() != 2) {
    *hull = Hull{};
    hull->vertices = {a, b, c};
    set_loop({0, 1, 2}, Vec3::UnitZ(), hull);
    set_loop({0, 2, 1}, -Vec3::UnitZ(), hull);
  }
  hull->vertices[0] = a;
  hull->vertices[1] = b;
  hull->vertices[2] = c;
  const Vec3 normal = (b - a).cross(c - a).normalized();
  hull->faces[0].normal = normal;
  hull->faces[1].normal = -normal;
  for (HullFace& face : hull->faces) {
    face.offset = std::max({face.normal.dot(a), face.normal.dot(b), face.normal.dot(c)});
  }
}

}  // namespace slipstick
