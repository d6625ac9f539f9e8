// Rows of the coupling W of problems in local form (SparseRows).
#pragma once

#include <slipstick/problem.h>

#include <algorithm>

namespace slipstick {

/// y_k += sum over j of W(row + k, j) x_j for three rows in a row. One sum alone waits for its own last addition; each
/// has the order, and the bits, that it has by itself.
inline void add_three_coupled(const SparseRows& w, int row, const double* x, double* y) {
  const int* start = w.start.data() + row;
  const double *value_0 = w.value.data() + start[0], *value_1 = w.value.data() + start[1],
               *value_2 = w.value.data() + start[2];
  const int *column_0 = w.column.data() + start[0], *column_1 = w.column.data() + start[1],
            *column_2 = w.column.data() + start[2];
  const int count_0 = start[1] - start[0], count_1 = start[2] - start[1], count_2 = start[3] - start[2];
  const int common = std::min({count_0, count_1, count_2});
  double y_0 = y[0], y_1 = y[1], y_2 = y[2];
  for (int i = 0; i < common; ++i) {
    y_0 += value_0[i] * x[column_0[i]];
    y_1 += value_1[i] * x[column_1[i]];
    y_2 += value_2[i] * x[column_2[i]];
  }
  for (int i = common; i < count_0; ++i) y_0 += value_0[i] * x[column_0[i]];
  for (int i = common; i < count_1; ++i) y_1 += value_1[i] * x[column_1[i]];
  for (int i = common; i < count_2; ++i) y_2 += value_2[i] * x[column_2[i]];
  y[0] = y_0;
  y[1] = y_1;
  y[2] = y_2;
}

/// The same for `count` rows; y begins at the first of them.
inline void add_coupled(const SparseRows& w, int row, int count, const double* x, double* y) {
  for (; count >= 3; count -= 3, row += 3, y += 3) add_three_coupled(w, row, x, y);
  for (int k = 0; k < count; ++k)
    for (int i = w.start[row + k]; i < w.start[row + k + 1]; ++i) y[k] += w.value[i] * x[w.column[i]];
}

/// Where the entries of row `row` from column `column` on begin: columns are sorted.
inline int find_coupled(const SparseRows& w, int row, int column) {
  const auto first = w.column.begin() + w.start[row], last = w.column.begin() + w.start[row + 1];
  return static_cast<int>(std::lower_bound(first, last, column) - w.column.begin());
}

/// W(row, row), zero where it has no entry.
inline double coupled_diagonal(const SparseRows& w, int row) {
  const int i = find_coupled(w, row, row);
  return i < w.start[row + 1] && w.column[i] == row ? w.value[i] : 0;
}

}  // namespace slipstick
