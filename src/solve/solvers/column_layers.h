// The columns of an island in parts that lie in a row: a pair of columns is in one part, or in two that follow each
// other. So the parts can be worked on at the same time, and after that every other seam between two of them.
#pragma once

#include <span>
#include <utility>
#include <vector>

namespace slipstick {

class ColumnLayers {
 public:
  struct Edge {
    int a, b;    ///< columns; b may be beyond the last one: what does not move
    int weight;  ///< the work that it stands for
  };
  /// Parts of about `weight` or more. A function of the columns and edges alone.
  void update(int columns, std::span<const Edge> edges, int weight);
  int parts() const { return parts_; }
  int part_of(int column) const { return part_[column]; }

 private:
  void link(int columns, std::span<const Edge> edges);
  void walk(int columns, int from);
  void cut(int columns, int weight);

  int parts_ = 1;
  std::vector<int> part_;
  std::vector<int> start_, neighbour_;  ///< of each column
  std::vector<int> weight_;             ///< of each column: of its edges
  std::vector<int> order_, layer_;      ///< columns as they were reached; of each column
};

}  // namespace slipstick
