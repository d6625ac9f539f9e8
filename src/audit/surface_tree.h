// A surface of triangles that can be asked where its nearest triangle is and whether a point is inside: by the winding
// number, that is by all triangles at once and by no feature of the nearest one. In the surface's own frame.
#pragma once

#include <slipstick/surface.h>

#include "audit/solid.h"

namespace slipstick {

struct NearTriangle {
  int triangle = -1;
  Vec3 point = Vec3::Zero();
  double distance = kInfinity;
};

/// The point of a triangle that is nearest to p, by the regions of its plane.
Vec3 find_on_triangle(const Vec3& p, const std::array<Vec3, 3>& corner);

class SurfaceTree {
 public:
  SurfaceTree(std::shared_ptr<const Surface> surface, bool heightfield);

  const Box3& box() const { return nodes_.front().box; }
  bool is_sheet() const { return !heightfield_ && !surface_->closed; }  ///< two sides and no inside
  bool is_heightfield() const { return heightfield_; }
  double depth() const { return depth_; }  ///< heightfield: its solid ends so far below the middle of its box
  std::array<Vec3, 3> corners(int t) const {
    const Triangle& v = surface_->triangles[t];
    return {surface_->vertices[v[0]], surface_->vertices[v[1]], surface_->vertices[v[2]]};
  }
  const std::vector<Vec3>& vertices() const { return surface_->vertices; }
  int triangle_count() const { return static_cast<int>(normals_.size()); }
  const Vec3& normal(int t) const { return normals_[t]; }
  double calc_support(const Vec3& n) const;

  NearTriangle find_nearest(const Vec3& p) const;
  /// Turns of the surface around p: 1 inside, 0 outside. Groups of triangles farther away than three times their radius
  /// count as dipoles [Barill18]; the sum is wrong by less than 0.1 then, and exact near the surface.
  double calc_winding(const Vec3& p) const;
  bool is_inside(const Vec3& p) const;
  /// Radius of the largest ball about p inside the solid; outside: minus the distance.
  double calc_room(const Vec3& p) const;

  /// Calls `use(triangle)` for all whose box meets `box`.
  template <typename Use>
  void for_each_in(const Box3& box, Use&& use) const {
    visit([&](const Box3& node) { return node.meets(box); }, use);
  }
  /// Calls `use(triangle, nearest point, distance)` for all within `radius` of p.
  template <typename Use>
  void for_each_near(const Vec3& p, double radius, Use&& use) const {
    const auto is_near = [&](const Box3& node) { return distance_sq(node, p) <= radius * radius; };
    visit(is_near, [&](int t) {
      const Vec3 point = find_on_triangle(p, corners(t));
      const double distance = (point - p).norm();
      if (distance <= radius) use(t, point, distance);
    });
  }
  long work() const { return work_; }  ///< boxes and triangles looked at, since the tree was made

 private:
  struct Node {
    Box3 box;
    std::int32_t first = 0, count = 0;  ///< of order_
    std::int32_t right = -1;            ///< the left child follows its parent; -1: a leaf
    Vec3 dipole = Vec3::Zero();         ///< sum of area times normal
    Vec3 middle = Vec3::Zero();         ///< mean of the triangles by area
    double far_sq = 0;                  ///< beyond this distance from the middle it counts as a dipole
  };
  static double distance_sq(const Box3& box, const Vec3& p) {
    return (box.low - p).cwiseMax(p - box.high).cwiseMax(0).squaredNorm();
  }
  void build(std::int32_t first, std::int32_t count);
  template <typename Wanted, typename Use>
  void visit(Wanted&& wanted, Use&& use) const {
    std::array<std::int32_t, 64> stack;
    int top = 0;
    stack[top++] = 0;
    while (top > 0) {
      const std::int32_t k = stack[--top];
      const Node& node = nodes_[k];
      work_ += 2;
      if (!wanted(node.box)) continue;
      if (node.right < 0) {
        work_ += 8L * node.count;
        for (std::int32_t i = 0; i < node.count; ++i) use(order_[node.first + i]);
      } else {
        stack[top++] = node.right;
        stack[top++] = k + 1;
      }
    }
  }

  std::shared_ptr<const Surface> surface_;
  bool heightfield_ = false;
  double depth_ = 0;
  std::vector<Vec3> normals_;
  std::vector<std::int32_t> order_;
  std::vector<Node> nodes_;
  mutable long work_ = 0;
};

}  // namespace slipstick
