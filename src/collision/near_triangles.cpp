#include "collision/near_triangles.h"

#include <Eigen/Core>

namespace slipstick {

void NearTriangles::update(const SurfaceIndex& index, std::span<const Vec3> points, const Bounds& box) {
  triangles_.clear();
  bounds_.clear();
  index.tree().find(box, [&](int t) {
    const Triangle& c = index.triangle(t);
    const Vec3 &p = index.vertex(c[0]), &q = index.vertex(c[1]), &r = index.vertex(c[2]);
    triangles_.push_back(t);
    bounds_.push_back({p.cwiseMin(q).cwiseMin(r), p.cwiseMax(q).cwiseMax(r)});
  });
  using Numbers = Eigen::Map<Eigen::ArrayXd>;
  const std::size_t n = points.size();
  points_ = points;
  coordinates_.resize(3 * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t axis = 0; axis < 3; ++axis)
      coordinates_[axis * n + i] = points[i][static_cast<Eigen::Index>(axis)];
  heights_.resize(triangles_.size() * n);
  least_.assign(n, kInfinity);
  lowest_.resize(triangles_.size());
  const auto size = static_cast<Eigen::Index>(n);
  const Numbers x(coordinates_.data(), size), y(coordinates_.data() + n, size), z(coordinates_.data() + 2 * n, size);
  Numbers least(least_.data(), size);
  for (std::size_t k = 0; k < triangles_.size(); ++k) {
    const Vec3& normal = index.normal(triangles_[k]);
    const double offset = normal.dot(index.vertex(index.triangle(triangles_[k])[0]));
    Numbers height(heights_.data() + k * n, size);
    height = normal.x() * x + normal.y() * y + normal.z() * z - offset;
    least = least.min(height);
    lowest_[k] = height.minCoeff();
  }
}

bool NearTriangles::is_clear(int i, double within, double margin) const {
  if (least_[i] > margin) return true;
  const Vec3 wide = Vec3::Constant(within);
  const Bounds about{points_[i] - wide, points_[i] + wide};
  for (int k = 0; k < count(); ++k)
    if (!(height(k, i) > margin) && BoxTree::overlap(bounds_[k], about)) return false;
  return true;
}

}  // namespace slipstick
