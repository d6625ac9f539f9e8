// What is asked of one hull again and again: which of its corners, or of its faces' normals, is farthest along a
// direction, and which edges meet at a corner.
#pragma once

#include <slipstick/hull.h>

#include <cstdint>
#include <span>
#include <vector>

namespace slipstick {

/// The first of the vectors with the largest product with m; there is at least one.
int find_farthest(std::span<const Vec3> vectors, const Vec3& m);

/// The same with the vectors in blocks of four: four products at a time, with the same answer.
class FarthestOfFour {
 public:
  static constexpr int kLanes = 4;

  void set(std::span<const Vec3> vectors);
  int find(const Vec3& m) const;

 private:
  using Lanes = double __attribute__((vector_size(kLanes * sizeof(double))));
  struct Block {
    Lanes x, y, z;
  };
  std::vector<Block> blocks_;  // the last one is filled up with the first vector
};

struct HullLookup {
  explicit HullLookup(const Hull& hull);

  std::span<const std::int32_t> edges_of(int vertex) const {
    return {edges.data() + edge_start[vertex], edges.data() + edge_start[vertex + 1]};
  }

  FarthestOfFour vertices, normals;
  std::vector<std::int32_t> edge_start, edges;  ///< of each corner, ascending
  std::vector<Vec3> along;                      ///< unit, of each edge
};

}  // namespace slipstick
