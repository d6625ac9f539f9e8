// Products with one Jacobian block, with the common sizes unrolled. J is row-major, m rows and n columns.
#pragma once

#include "solve/linalg/six.h"

namespace slipstick::rows {

inline constexpr int kAny = -1;

/// out(m) += J x.
template <int M, int N>
inline void add_image(int m_, int n_, const double* j, const double* x, double* out) {
  const int m = M == kAny ? m_ : M, n = N == kAny ? n_ : N;
  if constexpr (N == 6) {
    const Six six = Six::load(x);
    for (int r = 0; r < m; ++r) out[r] += dot(Six::load(j + r * 6), six);
    return;
  }
  for (int r = 0; r < m; ++r) {
    double sum = 0;
    for (int k = 0; k < n; ++k) sum += j[r * n + k] * x[k];
    out[r] += sum;
  }
}

/// out(n) += J^T y.
template <int M, int N>
inline void add_transposed(int m_, int n_, const double* j, const double* y, double* out) {
  const int m = M == kAny ? m_ : M, n = N == kAny ? n_ : N;
  if constexpr (N == 6) {
    Six six = Six::load(out);
    for (int r = 0; r < m; ++r) six.add(Six::load(j + r * 6), y[r]);
    six.store(out);
    return;
  }
  for (int r = 0; r < m; ++r)
    for (int k = 0; k < n; ++k) out[k] += j[r * n + k] * y[r];
}

/// out(m x n) = D J, or D^T J.
template <int M, int N, bool Transposed>
inline void set_weighted(int m_, int n_, const double* d, const double* j, double* out) {
  const int m = M == kAny ? m_ : M, n = N == kAny ? n_ : N;
  if constexpr (M == 3 && N == 6) {
    const Six row[3] = {Six::load(j), Six::load(j + 6), Six::load(j + 12)};
    for (int r = 0; r < 3; ++r) {
      Six sum;
      for (int s = 0; s < 3; ++s) sum.add(row[s], Transposed ? d[s * 3 + r] : d[r * 3 + s]);
      sum.store(out + r * 6);
    }
    return;
  }
  for (int r = 0; r < m; ++r) {
    for (int k = 0; k < n; ++k) out[r * n + k] = 0;
    for (int s = 0; s < m; ++s) {
      const double weight = Transposed ? d[s * m + r] : d[r * m + s];
      for (int k = 0; k < n; ++k) out[r * n + k] += weight * j[s * n + k];
    }
  }
}

/// out(na x nb, column-major) += A^T B with A (m x na) and B (m x nb) row-major.
template <int M, int NA, int NB>
inline void add_gram(int m_, int na_, int nb_, const double* a, const double* b, double* out) {
  const int m = M == kAny ? m_ : M, na = NA == kAny ? na_ : NA, nb = NB == kAny ? nb_ : NB;
  if constexpr (M == 3 && NA == 6 && NB == 6) {
    const Six row[3] = {Six::load(a), Six::load(a + 6), Six::load(a + 12)};
    for (int k = 0; k < 6; ++k) {
      Six column = Six::load(out + k * 6);
      for (int r = 0; r < 3; ++r) column.add(row[r], b[r * 6 + k]);
      column.store(out + k * 6);
    }
    return;
  }
  for (int k = 0; k < nb; ++k) {
    for (int r = 0; r < m; ++r) {
      const double weight = b[r * nb + k];
      for (int i = 0; i < na; ++i) out[k * na + i] += a[r * na + i] * weight;
    }
  }
}

/// out(m): the diagonal of J A J^T, A (n x n) row-major.
template <int M, int N>
inline void set_diagonal(int m_, int n_, const double* j, const double* a, double* out) {
  const int m = M == kAny ? m_ : M, n = N == kAny ? n_ : N;
  for (int r = 0; r < m; ++r) {
    double image[6] = {};
    for (int k = 0; k < n; ++k)
      for (int i = 0; i < n; ++i) image[i] += j[r * n + k] * a[k * n + i];
    out[r] = 0;
    for (int i = 0; i < n; ++i) out[r] += image[i] * j[r * n + i];
  }
}

/// The same for A = diag(c I_3, B) of a rigid body.
template <int M>
inline void set_body_diagonal(int m_, const double* j, const double* a, double* out) {
  const int m = M == kAny ? m_ : M;
  for (int r = 0; r < m; ++r, j += 6) {
    double angular = 0;
    for (int k = 3; k < 6; ++k) angular += j[k] * (a[6 * k + 3] * j[3] + a[6 * k + 4] * j[4] + a[6 * k + 5] * j[5]);
    out[r] = a[0] * (j[0] * j[0] + j[1] * j[1] + j[2] * j[2]) + angular;
  }
}

/// Calls f<M, N>() with the sizes as constants where they are common.
template <typename F>
inline void dispatch(int m, int n, const F& f) {
  if (n == 6) {
    if (m == 3) return f.template operator()<3, 6>();
    if (m == 1) return f.template operator()<1, 6>();
    if (m == 5) return f.template operator()<5, 6>();
    return f.template operator()<kAny, 6>();
  }
  if (n == 3) {
    if (m == 2) return f.template operator()<2, 3>();
    if (m == 1) return f.template operator()<1, 3>();
    if (m == 3) return f.template operator()<3, 3>();
    return f.template operator()<kAny, 3>();
  }
  f.template operator()<kAny, kAny>();
}

}  // namespace slipstick::rows
