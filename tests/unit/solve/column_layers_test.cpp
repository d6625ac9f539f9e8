// Parts in a row: an edge never leads farther than to the next part.
#include "solve/solvers/column_layers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace slipstick {
namespace {

using Edge = ColumnLayers::Edge;

std::vector<Edge> make_grid(int wide, int high, int first) {
  std::vector<Edge> edges;
  for (int i = 0; i < wide; ++i) {
    for (int k = 0; k < high; ++k) {
      const int column = first + i * high + k;
      if (k + 1 < high) edges.push_back({column, column + 1, 2});
      if (i + 1 < wide) edges.push_back({column + high, column, 1});
    }
  }
  return edges;
}

void expect_row_of_parts(const ColumnLayers& layers, int columns, const std::vector<Edge>& edges) {
  std::vector<int> members(layers.parts(), 0);
  for (int k = 0; k < columns; ++k) {
    ASSERT_GE(layers.part_of(k), 0);
    ASSERT_LT(layers.part_of(k), layers.parts());
    ++members[layers.part_of(k)];
  }
  EXPECT_GT(*std::min_element(members.begin(), members.end()), 0);
  for (const Edge& edge : edges) {
    if (edge.b >= columns) continue;
    EXPECT_LE(std::abs(layers.part_of(edge.a) - layers.part_of(edge.b)), 1);
  }
}

TEST(ColumnLayers, CutAGridAcross) {
  const std::vector<Edge> edges = make_grid(40, 5, 0);
  ColumnLayers layers;
  layers.update(200, edges, 8);
  expect_row_of_parts(layers, 200, edges);
  EXPECT_EQ(layers.parts(), 8) << "short sides are cut, not long ones";
  std::vector<int> weight(8, 0);
  int whole = 0;
  for (const Edge& edge : edges) {
    weight[layers.part_of(edge.a)] += edge.weight;
    whole += edge.weight;
  }
  for (const int w : weight) EXPECT_NEAR(w, whole / 8.0, whole / 20.0) << "two threads have as much to do";
}

TEST(ColumnLayers, TakeWhatHangsTogetherNowhereAndWhatDoesNotMove) {
  std::vector<Edge> edges = make_grid(6, 6, 0);
  const std::vector<Edge> other = make_grid(5, 5, 36);
  edges.insert(edges.end(), other.begin(), other.end());
  for (int k = 0; k < 61; ++k) edges.push_back({k, 61, 1});
  ColumnLayers layers;
  layers.update(61, edges, 6);
  expect_row_of_parts(layers, 61, edges);
  EXPECT_GE(layers.parts(), 3);
}

TEST(ColumnLayers, LeaveAStarInOnePiece) {
  std::vector<Edge> edges;
  for (int k = 1; k < 100; ++k) edges.push_back({0, k, 1});
  ColumnLayers layers;
  layers.update(100, edges, 8);
  expect_row_of_parts(layers, 100, edges);
  layers.update(1, std::vector<Edge>{{0, 1, 100}}, 8);
  EXPECT_EQ(layers.parts(), 1);
}

}  // namespace
}  // namespace slipstick
