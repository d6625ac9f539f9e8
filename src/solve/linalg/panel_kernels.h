// Products and triangular factors of dense column-major matrices of a few to a few hundred rows, in tiles that stay in
// registers: twelve rows (three vectors of four) by four columns have twelve sums at once, which hides the latency of
// fused products. No packing: panels are small enough for the cache. Rows are counted in vectors of four, so whoever
// owns a matrix leaves room for as many (`padded`); what stands in the rows beyond its own is never read back.
// Every sum runs over increasing depth, whatever the tile: the bits do not depend on where a tile begins.
#pragma once

#include <cmath>
#include <cstddef>

#include "solve/linalg/six.h"

namespace slipstick::panels {

inline constexpr int kLanes = 4;

inline int padded(int rows) { return (rows + kLanes - 1) / kLanes * kLanes; }

inline Six::Four load(const double* from) { return *reinterpret_cast<const Six::LooseFour*>(from); }
inline void store(const Six::Four& value, double* to) { *reinterpret_cast<Six::LooseFour*>(to) = value; }

/// A column-major matrix, or with `row` and `column` exchanged its transpose.
struct Factor {
  const double* at;
  std::ptrdiff_t row, column;  ///< distance of neighbours
};

enum class Into { Set, Subtract };

/// C = or -= A B: 4 R rows and N columns, `depth` products.
template <Into How, int R, int N>
inline void multiply_tile(int depth, const double* a, std::ptrdiff_t lda, Factor b, double* c, std::ptrdiff_t ldc) {
  Six::Four sum[N][R] = {};
  for (int p = 0; p < depth; ++p) {
    Six::Four x[R];
    for (int r = 0; r < R; ++r) x[r] = load(a + p * lda + kLanes * r);
    for (int k = 0; k < N; ++k) {
      const double weight = b.at[p * b.row + k * b.column];
      for (int r = 0; r < R; ++r) sum[k][r] += x[r] * weight;
    }
  }
  for (int k = 0; k < N; ++k) {
    for (int r = 0; r < R; ++r) {
      double* out = c + k * ldc + kLanes * r;
      store(How == Into::Set ? sum[k][r] : load(out) - sum[k][r], out);
    }
  }
}

template <Into How, int R>
inline void multiply_strip(int columns, int depth, const double* a, std::ptrdiff_t lda, Factor b, double* c,
                           std::ptrdiff_t ldc) {
  while (columns > 0) {
    // Five and six columns are two tiles of nearly the same width: narrow ones wait for their own sums.
    const int take = columns == 5 || columns == 6 ? 3 : columns < 4 ? columns : 4;
    if (take == 4) multiply_tile<How, R, 4>(depth, a, lda, b, c, ldc);
    if (take == 3) multiply_tile<How, R, 3>(depth, a, lda, b, c, ldc);
    if (take == 2) multiply_tile<How, R, 2>(depth, a, lda, b, c, ldc);
    if (take == 1) multiply_tile<How, R, 1>(depth, a, lda, b, c, ldc);
    b.at += take * b.column;
    c += take * ldc;
    columns -= take;
  }
}

/// C(rows x columns) = or -= A(rows x depth) B(depth x columns), rows rounded up to vectors of four.
template <Into How>
inline void multiply(int rows, int columns, int depth, const double* a, std::ptrdiff_t lda, Factor b, double* c,
                     std::ptrdiff_t ldc) {
  for (int left = padded(rows) / kLanes; left > 0;) {
    const int take = left == 4 ? 2 : left < 3 ? left : 3;
    if (take == 3) multiply_strip<How, 3>(columns, depth, a, lda, b, c, ldc);
    if (take == 2) multiply_strip<How, 2>(columns, depth, a, lda, b, c, ldc);
    if (take == 1) multiply_strip<How, 1>(columns, depth, a, lda, b, c, ldc);
    a += take * kLanes;
    c += take * kLanes;
    left -= take;
  }
}

/// A tile of X := X T^-1 (below): what stands left of it is done, its own columns are finished in registers.
template <int R, int N>
inline void divide_tile(int first, Factor t, const double* inverse, double* x, std::ptrdiff_t ldx) {
  const Factor column = {t.at + first * t.column, t.row, t.column};
  Six::Four sum[N][R];
  for (int k = 0; k < N; ++k)
    for (int r = 0; r < R; ++r) sum[k][r] = load(x + (first + k) * ldx + kLanes * r);
  for (int p = 0; p < first; ++p) {
    Six::Four done[R];
    for (int r = 0; r < R; ++r) done[r] = load(x + p * ldx + kLanes * r);
    for (int k = 0; k < N; ++k) {
      const double weight = column.at[p * column.row + k * column.column];
      for (int r = 0; r < R; ++r) sum[k][r] -= done[r] * weight;
    }
  }
  for (int k = 0; k < N; ++k) {
    for (int p = 0; p < k; ++p) {
      const double weight = column.at[(first + p) * column.row + k * column.column];
      for (int r = 0; r < R; ++r) sum[k][r] -= sum[p][r] * weight;
    }
    for (int r = 0; r < R; ++r) {
      if (inverse != nullptr) sum[k][r] *= inverse[first + k];
      store(sum[k][r], x + (first + k) * ldx + kLanes * r);
    }
  }
}

template <int R>
inline void divide_strip(int n, Factor t, const double* inverse, double* x, std::ptrdiff_t ldx) {
  int first = 0;
  for (; first + 4 <= n; first += 4) divide_tile<R, 4>(first, t, inverse, x, ldx);
  if (n - first == 3) divide_tile<R, 3>(first, t, inverse, x, ldx);
  if (n - first == 2) divide_tile<R, 2>(first, t, inverse, x, ldx);
  if (n - first == 1) divide_tile<R, 1>(first, t, inverse, x, ldx);
}

/// X(rows x n) := X T^-1 with T(n x n) upper triangular; `inverse` are the reciprocals of its diagonal, null for ones.
inline void divide_upper(int rows, int n, Factor t, const double* inverse, double* x, std::ptrdiff_t ldx) {
  for (int left = padded(rows) / kLanes; left > 0;) {
    const int take = left == 4 ? 2 : left < 3 ? left : 3;
    if (take == 3) divide_strip<3>(n, t, inverse, x, ldx);
    if (take == 2) divide_strip<2>(n, t, inverse, x, ldx);
    if (take == 1) divide_strip<1>(n, t, inverse, x, ldx);
    x += take * kLanes;
    left -= take;
  }
}

/// X(rows x n) := X T^-1 with T lower triangular with ones on its diagonal: the same from the last column to the first.
inline void divide_unit_lower(int rows, int n, Factor t, double* x, std::ptrdiff_t ldx) {
  divide_upper(rows, n, {t.at + (n - 1) * (t.row + t.column), -t.row, -t.column}, nullptr, x + (n - 1) * ldx, -ldx);
}

template <int R>
inline void set_image_strip(int n, const double* a, std::ptrdiff_t lda, const double* x, double* y) {
  Six::Four sum[R] = {};
  for (int j = 0; j < n; ++j)
    for (int r = 0; r < R; ++r) sum[r] += load(a + j * lda + kLanes * r) * x[j];
  for (int r = 0; r < R; ++r) store(sum[r], y + kLanes * r);
}

/// y(rows) = A(rows x n) x, rows rounded up to vectors of four.
inline void set_image(int rows, int n, const double* a, std::ptrdiff_t lda, const double* x, double* y) {
  for (int left = padded(rows) / kLanes; left > 0;) {
    const int take = left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
    if (take == 8) set_image_strip<8>(n, a, lda, x, y);
    if (take == 4) set_image_strip<4>(n, a, lda, x, y);
    if (take == 2) set_image_strip<2>(n, a, lda, x, y);
    if (take == 1) set_image_strip<1>(n, a, lda, x, y);
    a += take * kLanes;
    y += take * kLanes;
    left -= take;
  }
}

/// x(n) -= A(rows x n)^T y, rows rounded up to vectors of four: y must end in zeros there, and A be finite.
inline void subtract_transposed_image(int rows, int n, const double* a, std::ptrdiff_t lda, const double* y,
                                      double* x) {
  constexpr int kColumns = 4;
  for (int j = 0; j < n; j += kColumns) {
    const int count = n - j < kColumns ? n - j : kColumns;
    Six::Four sum[kColumns] = {};
    const double* column[kColumns];
    for (int k = 0; k < kColumns; ++k) column[k] = a + (j + (k < count ? k : 0)) * lda;
    for (int i = 0; i < rows; i += kLanes)
      for (int k = 0; k < kColumns; ++k) sum[k] += load(column[k] + i) * load(y + i);
    for (int k = 0; k < count; ++k) x[j + k] -= (sum[k][0] + sum[k][2]) + (sum[k][1] + sum[k][3]);
  }
}

/// x(n) := L^-T x with ones on the diagonal of L. Rows of L beyond its own are zero; what stands there in x is finite.
inline void divide_unit_transposed(int n, const double* l, std::ptrdiff_t ldl, double* x) {
  for (int f = (n - 1) / kLanes * kLanes; f >= 0; f -= kLanes) {
    const int end = n - f < kLanes ? n : f + kLanes;
    if (end < n) subtract_transposed_image(n - end, end - f, l + end + f * ldl, ldl, x + end, x + f);
    for (int j = end - 1; j >= f; --j)
      for (int i = j + 1; i < end; ++i) x[j] -= l[i + j * ldl] * x[i];
  }
}

/// A(n x n) = L D L^T in place: L with ones below the diagonal, D on it, D L^T above. Reads the lower triangle.
/// `inverse` gets 1/D. Returns the number of negative D, or -1 if a pivot is zero or not finite.
inline int factor_ldlt(int n, double* a, std::ptrdiff_t lda, double* inverse) {
  int negative = 0;
  for (int f = 0; f < n; f += kLanes) {
    const int count = n - f < kLanes ? n - f : kLanes, below = n - f - count;
    double* own = a + f + f * lda;
    multiply<Into::Subtract>(n - f, count, f, a + f, lda, {a + f * lda, 1, lda}, own, lda);
    for (int j = 0; j < count; ++j) {
      const double pivot = own[j + j * lda];
      if (!(std::abs(pivot) > 0) || !std::isfinite(pivot)) return -1;
      negative += pivot < 0;
      inverse[f + j] = 1 / pivot;
      for (int k = j + 1; k < count; ++k) {
        own[j + k * lda] = own[k + j * lda];
        own[k + j * lda] *= inverse[f + j];
        for (int i = k; i < count; ++i)
          own[i + k * lda] -= own[k + j * lda] * (i == k ? own[j + k * lda] : own[i + j * lda]);
      }
    }
    divide_upper(below, count, {own, lda, 1}, nullptr, own + count, lda);
    for (int j = 0; j < count; ++j) {
      for (int i = count; i < n - f; ++i) {
        own[j + i * lda] = own[i + j * lda];
        own[i + j * lda] *= inverse[f + j];
      }
    }
  }
  return negative;
}

/// P A = L U in place with row pivoting: row j was exchanged with row swap[j]. `inverse` gets the reciprocals of U's
/// diagonal. False if singular.
inline bool factor_lu(int n, double* a, std::ptrdiff_t lda, int* swap, double* inverse) {
  for (int f = 0; f < n; f += kLanes) {
    const int end = n - f < kLanes ? n : f + kLanes;
    for (int j = f; j < end; ++j) {
      double* column = a + j * lda;
      int best = j;
      for (int i = j + 1; i < n; ++i)
        if (std::abs(column[i]) > std::abs(column[best])) best = i;
      if (!(std::abs(column[best]) > 0) || !std::isfinite(column[best])) return false;
      swap[j] = best;
      for (int k = 0; best != j && k < n; ++k) {
        const double kept = a[j + k * lda];
        a[j + k * lda] = a[best + k * lda];
        a[best + k * lda] = kept;
      }
      inverse[j] = 1 / column[j];
      for (int i = j + 1; i < n; ++i) column[i] *= inverse[j];
      for (int k = j + 1; k < end; ++k)
        for (int i = j + 1; i < n; ++i) a[i + k * lda] -= column[i] * a[j + k * lda];
    }
    for (int k = end; k < n; ++k)
      for (int j = f; j < end; ++j)
        for (int i = j + 1; i < end; ++i) a[i + k * lda] -= a[i + j * lda] * a[j + k * lda];
    if (end < n)
      multiply<Into::Subtract>(n - end, n - end, end - f, a + end + f * lda, lda, {a + f + end * lda, 1, lda},
                               a + end + end * lda, lda);
  }
  return true;
}

}  // namespace slipstick::panels
