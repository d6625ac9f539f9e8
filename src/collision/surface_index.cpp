#include "collision/surface_index.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace slipstick {
namespace {

/// Sine of the angle between two triangles below which the edge between them is none.
constexpr double kFlatEdge = 1e-7;
/// Sine of the angle between two edges below which they are one straight line.
constexpr double kStraight = 1e-7;

int find_root(std::vector<std::int32_t>* parent, int t) {
  while ((*parent)[t] != t) t = (*parent)[t] = (*parent)[(*parent)[t]];
  return t;
}

struct EdgeUse {
  std::int32_t low, high, triangle, corner;
  bool operator<(const EdgeUse& o) const {
    return low != o.low ? low < o.low : high != o.high ? high < o.high : triangle < o.triangle;
  }
};

}  // namespace

SurfaceIndex::SurfaceIndex(std::shared_ptr<const Surface> surface) : surface_(std::move(surface)) {
  std::vector<Bounds> boxes;
  for (const Triangle& t : surface_->triangles) {
    const Vec3 &a = vertex(t[0]), &b = vertex(t[1]), &c = vertex(t[2]);
    boxes.push_back({a.cwiseMin(b).cwiseMin(c), a.cwiseMax(b).cwiseMax(c)});
    normals_.push_back((b - a).cross(c - a).normalized());
  }
  tree_.build(boxes);
  if (!tree_.empty()) size_ = (tree_.bounds().high - tree_.bounds().low).maxCoeff();
  make_edges();
  make_facets();
  make_rings();
  make_chains();
}

void SurfaceIndex::make_edges() {
  std::vector<EdgeUse> uses;
  const auto count = static_cast<std::int32_t>(surface_->triangles.size());
  for (std::int32_t t = 0; t < count; ++t) {
    for (std::int32_t k = 0; k < 3; ++k) {
      const std::int32_t a = triangle(t)[k], b = triangle(t)[(k + 1) % 3];
      uses.push_back({std::min(a, b), std::max(a, b), t, k});
    }
  }
  std::sort(uses.begin(), uses.end());
  edges_of_.resize(surface_->triangles.size());
  for (std::size_t i = 0; i < uses.size();) {
    std::size_t end = i + 1;
    while (end < uses.size() && uses[end].low == uses[i].low && uses[end].high == uses[i].high) ++end;
    // Two triangles share an edge. If there are more, each has an edge of its own: solids that touch along a line.
    const std::size_t step = end - i == 2 ? 2 : 1;
    for (std::size_t first = i; first < end; first += step) {
      SurfaceEdge edge;
      edge.a = uses[i].low;
      edge.b = uses[i].high;
      const Vec3 along = (vertex(edge.b) - vertex(edge.a)).normalized();
      for (std::size_t k = 0; k < step; ++k) {
        const EdgeUse& use = uses[first + k];
        edge.triangle[k] = use.triangle;
        const Vec3 to = vertex(triangle(use.triangle)[(use.corner + 2) % 3]) - vertex(edge.a);
        edge.inward[k] = (to - to.dot(along) * along).normalized();
        edge.outward += normal(use.triangle);
        edges_of_[use.triangle][use.corner] = static_cast<std::int32_t>(edges_.size());
      }
      edge.outward.normalize();
      if (step == 2) {
        const Vec3 &n0 = normal(edge.triangle[0]), &n1 = normal(edge.triangle[1]);
        const double bend = n0.dot(edge.inward[1]);  // positive: the other triangle rises
        const bool level = std::abs(bend) <= kFlatEdge && n0.dot(n1) > 0;
        edge.form = level ? EdgeForm::Flat : bend > 0 ? EdgeForm::Valley : EdgeForm::Ridge;
      }
      edges_.push_back(edge);
    }
    i = end;
  }
}

void SurfaceIndex::make_facets() {
  facets_.resize(surface_->triangles.size());
  std::iota(facets_.begin(), facets_.end(), 0);
  for (const SurfaceEdge& edge : edges_) {
    if (edge.form != EdgeForm::Flat) continue;
    const int a = find_root(&facets_, edge.triangle[0]), b = find_root(&facets_, edge.triangle[1]);
    facets_[std::max(a, b)] = std::min(a, b);
  }
  for (std::size_t t = 0; t < facets_.size(); ++t) facets_[t] = find_root(&facets_, static_cast<int>(t));
}

void SurfaceIndex::make_rings() {
  const std::size_t n = surface_->vertices.size();
  ring_start_.assign(n + 1, 0);
  owner_.assign(n, -1);
  flat_.assign(n, 1);
  outward_.assign(n, Vec3::Zero());
  for (const SurfaceEdge& edge : edges_) {
    for (const std::int32_t v : {edge.a, edge.b}) {
      ++ring_start_[v + 1];
      if (edge.form != EdgeForm::Flat) flat_[v] = 0;
    }
  }
  for (std::size_t v = 0; v < n; ++v) ring_start_[v + 1] += ring_start_[v];
  ring_.resize(ring_start_[n]);
  std::vector<std::int32_t> fill(ring_start_.begin(), ring_start_.end() - 1);
  for (std::size_t e = 0; e < edges_.size(); ++e) {
    ring_[fill[edges_[e].a]++] = static_cast<std::int32_t>(e);
    ring_[fill[edges_[e].b]++] = static_cast<std::int32_t>(e);
  }
  for (std::size_t t = surface_->triangles.size(); t-- > 0;) {
    for (int k = 0; k < 3; ++k) {
      const std::int32_t v = surface_->triangles[t][k];
      const Vec3 u = vertex(surface_->triangles[t][(k + 1) % 3]) - vertex(v);
      const Vec3 w = vertex(surface_->triangles[t][(k + 2) % 3]) - vertex(v);
      outward_[v] += std::atan2(u.cross(w).norm(), u.dot(w)) * normals_[t];
      owner_[v] = static_cast<std::int32_t>(t);
    }
  }
  for (Vec3& direction : outward_) {
    const double length = direction.norm();
    if (length > 0) direction /= length;
  }
}

/// The two edges go on in one line at vertex v.
bool SurfaceIndex::is_straight(int v, const SurfaceEdge& one, const SurfaceEdge& two) const {
  const Vec3 in = vertex(v) - vertex(one.a == v ? one.b : one.a), out = vertex(two.a == v ? two.b : two.a) - vertex(v);
  const double sine_sq = in.cross(out).squaredNorm(),
               most = kStraight * kStraight * in.squaredNorm() * out.squaredNorm();
  return in.dot(out) > 0 && sine_sq <= most;
}

/// Joins edges at vertices where just two of them are not flat, those two are in line and lie between the same facets.
/// A ridge that ends where a valley does goes on as far as crossings are concerned: such a vertex has higher neighbours
/// and cannot carry them.
void SurfaceIndex::make_chains() {
  std::vector<std::int32_t> parent(edges_.size());
  std::iota(parent.begin(), parent.end(), 0);
  const auto facets_at = [&](const SurfaceEdge& edge) {
    const int first = facets_[edge.triangle[0]], second = edge.triangle[1] < 0 ? -1 : facets_[edge.triangle[1]];
    return std::minmax({first, second});
  };
  for (int v = 0; v < static_cast<int>(flat_.size()); ++v) {
    if (flat_[v]) continue;
    std::array<std::int32_t, 2> line{-1, -1};
    int count = 0;
    const auto at = ring(v);
    const bool saddle = std::any_of(at.begin(), at.end(), [&](int e) { return edges_[e].form == EdgeForm::Valley; });
    for (const std::int32_t e : at) {
      if (saddle) edges_[e].joint[edges_[e].a == v ? 0 : 1] = true;
      if (edges_[e].form == EdgeForm::Flat) continue;
      if (count < 2) line[count] = e;
      ++count;
    }
    if (count != 2) continue;
    SurfaceEdge &one = edges_[line[0]], &two = edges_[line[1]];
    if (!is_straight(v, one, two) || one.form != two.form || facets_at(one) != facets_at(two)) continue;
    flat_[v] = 1;
    one.joint[one.a == v ? 0 : 1] = two.joint[two.a == v ? 0 : 1] = true;
    const int a = find_root(&parent, line[0]), b = find_root(&parent, line[1]);
    parent[std::max(a, b)] = std::min(a, b);
  }
  for (std::size_t e = 0; e < edges_.size(); ++e) edges_[e].chain = find_root(&parent, static_cast<int>(e));
}

void SurfaceIndex::update_rays(int v, std::vector<Vec3>* rays) const {
  rays->clear();
  for (const std::int32_t e : ring(v)) {
    rays->push_back(vertex(edges_[e].a == v ? edges_[e].b : edges_[e].a) - vertex(v));
  }
}

bool SurfaceIndex::holds(int v, const Vec3& direction, double slack) const {
  for (const std::int32_t e : ring(v)) {
    const Vec3 to = vertex(edges_[e].a == v ? edges_[e].b : edges_[e].a) - vertex(v);
    if (direction.dot(to) > slack * to.norm()) return false;
  }
  return true;
}

TrianglePoint find_nearest(const Vec3& p, const Vec3& a, const Vec3& b, const Vec3& c) {
  using enum TrianglePoint::On;
  const std::array<const Vec3*, 3> corner{&a, &b, &c};
  const Vec3 n = (b - a).cross(c - a);
  TrianglePoint best;
  bool inside = true;
  for (int k = 0; k < 3; ++k) {
    const Vec3 &from = *corner[k], edge = *corner[(k + 1) % 3] - from;
    if (n.cross(edge).dot(p - from) >= 0) continue;
    inside = false;
    const double s = edge.dot(p - from) / edge.squaredNorm();
    TrianglePoint found;
    found.on = s > 0 && s < 1 ? Edge : Vertex;
    found.corner = s >= 1 ? (k + 1) % 3 : k;
    found.point = s <= 0 ? from : s >= 1 ? *corner[(k + 1) % 3] : Vec3(from + s * edge);
    found.distance_sq = (p - found.point).squaredNorm();
    if (found.distance_sq < best.distance_sq) best = found;
  }
  if (!inside) return best;
  const double height = n.dot(p - a) / n.squaredNorm();
  best.point = p - height * n;
  best.distance_sq = height * height * n.squaredNorm();
  return best;
}

}  // namespace slipstick
