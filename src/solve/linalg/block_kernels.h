// Dense kernels on small column-major blocks (1 to 6 rows and columns), with the sizes as template arguments where they
// are common so that the compiler unrolls them; kAny means "given at run time". No two blocks of a call overlap.
#pragma once

#include <algorithm>
#include <cmath>

#include "solve/linalg/six.h"

namespace slipstick::kernels {

inline constexpr int kAny = -1;

/// C(m x n) -= A(m x k) B(n x k)^T.
template <int M, int N, int K>
inline void subtract_product(int m_, int n_, int k_, const double* __restrict a, const double* __restrict b,
                             double* __restrict c) {
  const int m = M == kAny ? m_ : M, n = N == kAny ? n_ : N, k = K == kAny ? k_ : K;
  if constexpr (M == 6 && K == 6) {
    Six column[6];
    for (int p = 0; p < 6; ++p) column[p] = Six::load(a + p * 6);
    for (int j = 0; j < n; ++j) {
      Six sum = Six::load(c + j * 6);
      for (int p = 0; p < 6; ++p) sum.subtract(column[p], b[p * n + j]);
      sum.store(c + j * 6);
    }
    return;
  }
  for (int j = 0; j < n; ++j) {
    double column[6];
    for (int i = 0; i < m; ++i) column[i] = c[j * m + i];
    for (int p = 0; p < k; ++p) {
      const double x = b[p * n + j];
      for (int i = 0; i < m; ++i) column[i] -= a[p * m + i] * x;
    }
    for (int i = 0; i < m; ++i) c[j * m + i] = column[i];
  }
}

/// y(m) -= A(m x n) x.
template <int M, int N>
inline void subtract_image(int m_, int n_, const double* __restrict a, const double* __restrict x,
                           double* __restrict y) {
  const int m = M == kAny ? m_ : M, n = N == kAny ? n_ : N;
  if constexpr (M == 6) {
    Six sum = Six::load(y);
    for (int j = 0; j < n; ++j) sum.subtract(Six::load(a + j * 6), x[j]);
    sum.store(y);
    return;
  }
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) y[i] -= a[j * m + i] * x[j];
}

/// x(n) -= A(m x n)^T y.
template <int M, int N>
inline void subtract_transposed_image(int m_, int n_, const double* __restrict a, const double* __restrict y,
                                      double* __restrict x) {
  const int m = M == kAny ? m_ : M, n = N == kAny ? n_ : N;
  if constexpr (M == 6) {
    const Six six = Six::load(y);
    for (int j = 0; j < n; ++j) x[j] -= dot(Six::load(a + j * 6), six);
    return;
  }
  for (int j = 0; j < n; ++j) {
    double sum = 0;
    for (int i = 0; i < m; ++i) sum += a[j * m + i] * y[i];
    x[j] -= sum;
  }
}

/// In place D = L diag(d) L^T without pivoting (quasi-definite blocks need none); the strict lower triangle holds L,
/// the diagonal 1/d. Reads the lower triangle. Returns the number of negative d, or -1 if a pivot is zero or not
/// finite.
template <int N>
inline int factor_ldlt(int n_, double* d) {
  const int n = N == kAny ? n_ : N;
  int negative = 0;
  for (int j = 0; j < n; ++j) {
    const double pivot = d[j * n + j];
    if (!(std::abs(pivot) > 0) || !std::isfinite(pivot)) return -1;
    if (pivot < 0) ++negative;
    const double inverse = 1 / pivot;
    d[j * n + j] = inverse;
    for (int k = j + 1; k < n; ++k) {
      const double factor = d[j * n + k] * inverse;
      for (int i = k; i < n; ++i) d[k * n + i] -= d[j * n + i] * factor;
    }
    for (int i = j + 1; i < n; ++i) d[j * n + i] *= inverse;
  }
  return negative;
}

/// X(m x N) := X D^-1 with D from factor_ldlt, a column of X in a register or two: six rows, three, or one, as in
/// x := D^-1 x.
template <class Column, int N>
inline void divide_ldlt_by_columns(const double* __restrict d, double* __restrict x) {
  Column column[N];
#pragma GCC unroll 6
  for (int j = 0; j < N; ++j) column[j] = Column::load(x + j * Column::kRows);
#pragma GCC unroll 6
  for (int j = 0; j < N; ++j) {
#pragma GCC unroll 6
    for (int k = j + 1; k < N; ++k) column[k].subtract(column[j], d[j * N + k]);
  }
#pragma GCC unroll 6
  for (int j = 0; j < N; ++j) column[j].scale(d[j * N + j]);
#pragma GCC unroll 6
  for (int j = N - 1; j > 0; --j) {
#pragma GCC unroll 6
    for (int k = 0; k < j; ++k) column[k].subtract(column[j], d[k * N + j]);
  }
#pragma GCC unroll 6
  for (int j = 0; j < N; ++j) column[j].store(x + j * Column::kRows);
}

/// In place P D = L U with row pivoting; the diagonal holds 1/u. pivot[j] is the row exchanged with row j. False if
/// singular.
template <int N>
inline bool factor_lu(int n_, double* d, int* pivot) {
  const int n = N == kAny ? n_ : N;
  for (int j = 0; j < n; ++j) {
    int best = j;
    for (int i = j + 1; i < n; ++i)
      if (std::abs(d[j * n + i]) > std::abs(d[j * n + best])) best = i;
    pivot[j] = best;
    if (best != j)
      for (int k = 0; k < n; ++k) std::swap(d[k * n + j], d[k * n + best]);
    const double value = d[j * n + j];
    if (!(std::abs(value) > 0) || !std::isfinite(value)) return false;
    const double inverse = 1 / value;
    d[j * n + j] = inverse;
    for (int i = j + 1; i < n; ++i) d[j * n + i] *= inverse;
    for (int k = j + 1; k < n; ++k) {
      const double factor = d[k * n + j];
      for (int i = j + 1; i < n; ++i) d[k * n + i] -= d[j * n + i] * factor;
    }
  }
  return true;
}

/// X(m x n) := X D^-1 with D from factor_lu.
template <int M, int N>
inline void divide_lu(int m_, int n_, const double* __restrict d, const int* pivot, double* __restrict x) {
  const int m = M == kAny ? m_ : M, n = N == kAny ? n_ : N;
  for (int j = 0; j < n; ++j) {  // X := X U^-1
    for (int i = 0; i < m; ++i) x[j * m + i] *= d[j * n + j];
    for (int k = j + 1; k < n; ++k)
      for (int i = 0; i < m; ++i) x[k * m + i] -= x[j * m + i] * d[k * n + j];
  }
  for (int j = n - 1; j > 0; --j)  // X := X L^-1
    for (int k = 0; k < j; ++k)
      for (int i = 0; i < m; ++i) x[k * m + i] -= x[j * m + i] * d[k * n + j];
  for (int j = n - 1; j >= 0; --j)  // X := X P
    if (pivot[j] != j)
      for (int i = 0; i < m; ++i) std::swap(x[j * m + i], x[pivot[j] * m + i]);
}

/// x(n) := D^-1 x with D from factor_lu.
template <int N>
inline void solve_lu(int n_, const double* __restrict d, const int* pivot, double* __restrict x) {
  const int n = N == kAny ? n_ : N;
  for (int j = 0; j < n; ++j)
    if (pivot[j] != j) std::swap(x[j], x[pivot[j]]);
  for (int j = 0; j < n; ++j)
    for (int i = j + 1; i < n; ++i) x[i] -= d[j * n + i] * x[j];
  for (int j = n - 1; j >= 0; --j) {
    x[j] *= d[j * n + j];
    for (int i = 0; i < j; ++i) x[i] -= d[j * n + i] * x[j];
  }
}

}  // namespace slipstick::kernels
