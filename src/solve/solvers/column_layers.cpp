#include "solve/solvers/column_layers.h"

#include <numeric>

namespace slipstick {

void ColumnLayers::link(int columns, std::span<const Edge> edges) {
  start_.assign(columns + 2, 0);
  weight_.assign(columns, 0);
  for (const Edge& edge : edges) {
    weight_[edge.a] += edge.weight;
    if (edge.b >= columns) continue;
    ++start_[edge.a + 2];
    ++start_[edge.b + 2];
  }
  std::partial_sum(start_.begin(), start_.end(), start_.begin());
  neighbour_.resize(start_.back());
  for (const Edge& edge : edges) {
    if (edge.b >= columns) continue;
    neighbour_[start_[edge.a + 1]++] = edge.b;
    neighbour_[start_[edge.b + 1]++] = edge.a;
  }
}

/// Layers of columns by the number of edges from the first one; what cannot be reached follows in layers of its own.
void ColumnLayers::walk(int columns, int from) {
  order_.clear();
  layer_.assign(columns, -1);
  int layer = 0, next = 0;
  const auto reach = [&](int column, int at) {
    layer_[column] = at;
    order_.push_back(column);
  };
  reach(from, 0);
  for (std::size_t done = 0; static_cast<int>(order_.size()) < columns || done < order_.size();) {
    if (done == order_.size()) {
      while (layer_[next] >= 0) ++next;
      reach(next, layer + 2);  // no edge leads there
    }
    const int column = order_[done++];
    layer = layer_[column];
    for (int i = start_[column]; i < start_[column + 1]; ++i)
      if (layer_[neighbour_[i]] < 0) reach(neighbour_[i], layer + 1);
  }
}

/// A part ends with the layer that brings it nearest to its share of the whole.
void ColumnLayers::cut(int columns, int parts) {
  part_.resize(columns);
  parts_ = 1;
  long sum = 0, whole = 0;
  for (const int w : weight_) whole += w;
  for (int i = 0, end = 0; i < columns; i = end) {
    long layer = 0;
    for (; end < columns && layer_[order_[end]] == layer_[order_[i]]; ++end) layer += weight_[order_[end]];
    if (i > 0 && parts * (2 * sum + layer) >= 2 * parts_ * whole) ++parts_;
    for (int k = i; k < end; ++k) part_[order_[k]] = parts_ - 1;
    sum += layer;
  }
}

void ColumnLayers::update(int columns, std::span<const Edge> edges, int parts) {
  link(columns, edges);
  walk(columns, 0);
  walk(columns, order_.back());  // from an end: thin layers
  cut(columns, parts);
}

}  // namespace slipstick
