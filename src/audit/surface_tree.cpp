#include "audit/surface_tree.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace slipstick {
namespace {

constexpr std::int32_t kLeaf = 4;
constexpr double kDipoleRadii = 3;

/// Signed solid angle of a triangle seen from the origin [VanOosterom83].
double calc_solid_angle(const Vec3& a, const Vec3& b, const Vec3& c) {
  const double la = a.norm(), lb = b.norm(), lc = c.norm();
  const double below = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
  return 2 * std::atan2(a.dot(b.cross(c)), below);
}

}  // namespace

Vec3 find_on_triangle(const Vec3& p, const std::array<Vec3, 3>& corner) {
  const Vec3 ab = corner[1] - corner[0], ac = corner[2] - corner[0], ap = p - corner[0];
  const double d1 = ab.dot(ap), d2 = ac.dot(ap);
  if (d1 <= 0 && d2 <= 0) return corner[0];
  const Vec3 bp = p - corner[1];
  const double d3 = ab.dot(bp), d4 = ac.dot(bp);
  if (d3 >= 0 && d4 <= d3) return corner[1];
  const double vc = d1 * d4 - d3 * d2;
  if (vc <= 0 && d1 >= 0 && d3 <= 0) return corner[0] + d1 / (d1 - d3) * ab;
  const Vec3 cp = p - corner[2];
  const double d5 = ab.dot(cp), d6 = ac.dot(cp);
  if (d6 >= 0 && d5 <= d6) return corner[2];
  const double vb = d5 * d2 - d1 * d6;
  if (vb <= 0 && d2 >= 0 && d6 <= 0) return corner[0] + d2 / (d2 - d6) * ac;
  const double va = d3 * d6 - d5 * d4;
  if (va <= 0 && d4 >= d3 && d5 >= d6) {
    const double t = (d4 - d3) / ((d4 - d3) + (d5 - d6));
    return corner[1] + t * (corner[2] - corner[1]);
  }
  const Vec3 n = ab.cross(ac);  // over the face: better than the weights va, vb, vc, which cancel
  return p - n.dot(ap) / n.squaredNorm() * n;
}

SurfaceTree::SurfaceTree(std::shared_ptr<const Surface> surface, bool heightfield)
    : surface_(std::move(surface)), heightfield_(heightfield) {
  const auto count = static_cast<std::int32_t>(surface_->triangles.size());
  normals_.reserve(count);
  for (std::int32_t t = 0; t < count; ++t) {
    const auto [a, b, c] = corners(t);
    normals_.push_back((b - a).cross(c - a).normalized());
  }
  order_.resize(count);
  std::iota(order_.begin(), order_.end(), 0);
  nodes_.reserve(count);
  build(0, count);
  const Vec3 extent = box().high - box().low;
  depth_ = 0.5 * extent.z() + std::max(extent.x(), extent.y());
}

void SurfaceTree::build(std::int32_t first, std::int32_t count) {
  const auto self = static_cast<std::int32_t>(nodes_.size());
  nodes_.emplace_back();
  Node node;
  node.first = first;
  node.count = count;
  Box3 middles;
  double area = 0;
  for (std::int32_t i = first; i < first + count; ++i) {
    const auto [a, b, c] = corners(order_[i]);
    for (const Vec3& p : {a, b, c}) node.box.include(p);
    const Vec3 middle = (a + b + c) / 3, weighted = 0.5 * (b - a).cross(c - a);
    middles.include(middle);
    node.dipole += weighted;
    node.middle += weighted.norm() * middle;
    area += weighted.norm();
  }
  node.middle /= area;
  const Vec3 reach = (node.middle - node.box.low).cwiseMax(node.box.high - node.middle);
  node.far_sq = kDipoleRadii * kDipoleRadii * reach.squaredNorm();
  if (count > kLeaf) {
    int axis = 0;
    (middles.high - middles.low).maxCoeff(&axis);
    const auto key = [&](std::int32_t t) {
      const auto [a, b, c] = corners(t);
      return a[axis] + b[axis] + c[axis];
    };
    const std::int32_t half = count / 2;
    std::nth_element(order_.begin() + first, order_.begin() + first + half, order_.begin() + first + count,
                     [&](std::int32_t s, std::int32_t t) {
                       const double x = key(s), y = key(t);
                       return x != y ? x < y : s < t;
                     });
    build(first, half);
    node.right = static_cast<std::int32_t>(nodes_.size());
    build(first + half, count - half);
  }
  nodes_[self] = node;
}

double SurfaceTree::calc_support(const Vec3& n) const {
  double most = -kInfinity;
  for (const Vec3& v : surface_->vertices) most = std::max(most, n.dot(v));
  return most;
}

NearTriangle SurfaceTree::find_nearest(const Vec3& p) const {
  NearTriangle best;
  double best_sq = kInfinity;
  std::array<std::pair<std::int32_t, double>, 64> stack;
  int top = 0;
  stack[top++] = {0, distance_sq(nodes_[0].box, p)};
  while (top > 0) {
    const auto [k, least] = stack[--top];
    if (least >= best_sq) continue;
    const Node& node = nodes_[k];
    work_ += 4;
    if (node.right >= 0) {
      const double left = distance_sq(nodes_[k + 1].box, p), right = distance_sq(nodes_[node.right].box, p);
      const bool left_first = left <= right;  // the nearer one is looked at first: it is pushed last
      stack[top++] = left_first ? std::pair{node.right, right} : std::pair{k + 1, left};
      stack[top++] = left_first ? std::pair{k + 1, left} : std::pair{node.right, right};
      continue;
    }
    work_ += 8L * node.count;
    for (std::int32_t i = node.first; i < node.first + node.count; ++i) {
      const Vec3 point = find_on_triangle(p, corners(order_[i]));
      const double d_sq = (point - p).squaredNorm();
      if (!(d_sq < best_sq)) continue;
      best_sq = d_sq;
      best = {order_[i], point, 0};
    }
  }
  best.distance = std::sqrt(best_sq);
  return best;
}

double SurfaceTree::calc_winding(const Vec3& p) const {
  double angle = 0;
  std::array<std::int32_t, 64> stack;
  int top = 0;
  stack[top++] = 0;
  while (top > 0) {
    const std::int32_t k = stack[--top];
    const Node& node = nodes_[k];
    const Vec3 to = node.middle - p;
    const double d_sq = to.squaredNorm();
    work_ += 3;
    if (d_sq > node.far_sq) {
      angle += node.dipole.dot(to) / (d_sq * std::sqrt(d_sq));
    } else if (node.right >= 0) {
      stack[top++] = node.right;
      stack[top++] = k + 1;
    } else {
      work_ += 20L * node.count;
      for (std::int32_t i = node.first; i < node.first + node.count; ++i) {
        const auto [a, b, c] = corners(order_[i]);
        angle += calc_solid_angle(a - p, b - p, c - p);
      }
    }
  }
  return angle / (4 * std::numbers::pi);
}

bool SurfaceTree::is_inside(const Vec3& p) const {
  if (!heightfield_) return !is_sheet() && calc_winding(p) > 0.5;
  // Below the triangle over it, and above the end of the solid.
  if (p.z() < box().middle().z() - depth_) return false;
  bool below = false;
  Box3 column{p, p};
  column.low.z() = box().low.z();
  column.high.z() = box().high.z();
  for_each_in(column, [&](int t) {
    const std::array<Vec3, 3> corner = corners(t);
    for (int k = 0; k < 3; ++k) {
      const Vec3 &from = corner[k], edge = corner[(k + 1) % 3] - from;
      if (edge.x() * (p.y() - from.y()) - edge.y() * (p.x() - from.x()) < 0) return;
    }
    below = below || normals_[t].dot(p - corner[0]) < 0;
  });
  return below;
}

double SurfaceTree::calc_room(const Vec3& p) const {
  const double distance = find_nearest(p).distance;
  if (!is_inside(p)) return -distance;
  if (!heightfield_) return distance;
  const Vec3 to_rim = (p - box().low).cwiseMin(box().high - p);  // its sides are walls as well
  return std::min({distance, to_rim.x(), to_rim.y(), p.z() - (box().middle().z() - depth_)});
}

}  // namespace slipstick
