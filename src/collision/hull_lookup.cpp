#include "collision/hull_lookup.h"

namespace slipstick {

int find_farthest(std::span<const Vec3> vectors, const Vec3& m) {
  int best = 0;
  double farthest = m.dot(vectors[0]);
  for (int k = 1; k < static_cast<int>(vectors.size()); ++k) {
    const double along = m.dot(vectors[k]);
    if (along > farthest) {
      farthest = along;
      best = k;
    }
  }
  return best;
}

void FarthestOfFour::set(std::span<const Vec3> vectors) {
  blocks_.clear();
  for (std::size_t first = 0; first < vectors.size(); first += kLanes) {
    Block& block = blocks_.emplace_back();
    for (std::size_t l = 0; l < kLanes; ++l) {
      const Vec3& v = vectors[first + l < vectors.size() ? first + l : 0];
      block.x[l] = v.x();
      block.y[l] = v.y();
      block.z[l] = v.z();
    }
  }
}

int FarthestOfFour::find(const Vec3& m) const {
  const auto products = [&](const Block& block) { return m.x() * block.x + (m.y() * block.y + m.z() * block.z); };
  Lanes farthest = products(blocks_[0]), place = {0, 1, 2, 3}, next = place;
  for (std::size_t k = 1; k < blocks_.size(); ++k) {
    const Lanes along = products(blocks_[k]);
    const auto more = along > farthest;
    next += kLanes;
    farthest = more ? along : farthest;
    place = more ? next : place;
  }
  // Each lane has the first of its largest; of equal ones in two lanes the first counts. No branches: nobody could
  // foretell them.
  const auto join = [&](const Lanes& other, const Lanes& other_place) {
    const auto takes = (other > farthest) | ((other == farthest) & (other_place < place));
    farthest = takes ? other : farthest;
    place = takes ? other_place : place;
  };
  join(__builtin_shufflevector(farthest, farthest, 2, 3, 0, 1), __builtin_shufflevector(place, place, 2, 3, 0, 1));
  join(__builtin_shufflevector(farthest, farthest, 1, 0, 3, 2), __builtin_shufflevector(place, place, 1, 0, 3, 2));
  return static_cast<int>(place[0]);
}

HullLookup::HullLookup(const Hull& hull) : edge_start(hull.vertices.size() + 1, 0) {
  vertices.set(hull.vertices);
  std::vector<Vec3> directions;
  for (const HullFace& face : hull.faces) directions.push_back(face.normal);
  normals.set(directions);
  for (const auto& ends : hull.edges) {
    along.push_back((hull.vertices[ends[1]] - hull.vertices[ends[0]]).normalized());
    for (const int v : ends) ++edge_start[v + 1];
  }
  for (std::size_t v = 0; v < hull.vertices.size(); ++v) edge_start[v + 1] += edge_start[v];
  edges.resize(2 * hull.edges.size());
  std::vector<std::int32_t> next(edge_start.begin(), edge_start.end() - 1);
  for (std::size_t e = 0; e < hull.edges.size(); ++e)
    for (const int v : hull.edges[e]) edges[next[v]++] = static_cast<std::int32_t>(e);
}

}  // namespace slipstick
