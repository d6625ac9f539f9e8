// The triangles of a surface near one body, and how high each of the body's points is over each of their planes. From a
// triangle t with unit normal n_t a point p is no nearer than n_t . (p - a_t), and what is above the planes of all
// triangles that it may be near to is not inside: most points and edges of a body need no search.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collision/surface_index.h"

namespace slipstick {

class NearTriangles {
 public:
  /// Triangles whose bounds touch `box`, in the order of the surface's tree. The points, in the surface's frame, must
  /// stay where they are.
  void update(const SurfaceIndex& index, std::span<const Vec3> points, const Bounds& box);

  int count() const { return static_cast<int>(triangles_.size()); }
  int triangle(int k) const { return triangles_[k]; }
  const Bounds& bounds(int k) const { return bounds_[k]; }
  /// Of point i over the plane of triangle k.
  double height(int k, int i) const { return heights_[static_cast<std::size_t>(k) * points_.size() + i]; }
  /// Of point i over the lowest plane of all.
  double least_height(int i) const { return least_[i]; }
  /// Of the lowest point of all over the plane of triangle k.
  double lowest_point(int k) const { return lowest_[k]; }
  /// Point i is higher than `margin` over the plane of each triangle whose bounds come nearer to it than `within`.
  bool is_clear(int i, double within, double margin) const;

 private:
  std::vector<std::int32_t> triangles_;
  std::vector<Bounds> bounds_;
  std::span<const Vec3> points_;
  std::vector<double> coordinates_;  // all x, all y, all z
  std::vector<double> heights_;      // of all points, triangle by triangle
  std::vector<double> least_;        // of each point
  std::vector<double> lowest_;       // over each triangle
};

}  // namespace slipstick
