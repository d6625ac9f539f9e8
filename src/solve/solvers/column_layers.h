// The columns of an island in parts that lie in a row: a pair of columns is in one part, or in two that follow each
// other. So every other part, with its seam to the next one, can be worked on at the same time, and then the others.
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
  /// So many parts of about the same weight, or fewer. A function of the columns and edges alone.
  void update(int columns, std::span<const Edge> edges, int parts);
  int parts() const { return parts_; }
  int part_of(int column) const { return part_[column]; }

 private:
  void link(int columns, std::span<const Edge> edges);
  void walk(int columns, int from);
  void cut(int columns, int parts);

  int parts_ = 1;
  std::vector<int> part_;
  std::vector<int> start_, neighbour_;  ///< of each column
  std::vector<int> weight_;             ///< of each column: of its edges
  std::vector<int> order_, layer_;      ///< columns as they were reached; of each column
};

}  // namespace slipstick
