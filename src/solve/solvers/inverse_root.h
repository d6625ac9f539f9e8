// L^-1 of a block A = L L^T of a Problem, row-major in six columns: y = L^T v are velocities in which A is one.
#pragma once

#include <algorithm>
#include <cmath>

namespace slipstick {

/// The inverse of the Cholesky factor of an n x n block, row-major in six columns; the rest is zero.
inline void update_inverse_root(int n, const double* a, double* out) {
  double l[36] = {};
  std::fill_n(out, 36, 0.0);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j <= i; ++j) {
      double sum = a[i * n + j];
      for (int k = 0; k < j; ++k) sum -= l[i * 6 + k] * l[j * 6 + k];
      l[i * 6 + j] = i == j ? std::sqrt(sum) : sum / l[j * 6 + j];
    }
  }
  for (int j = 0; j < n; ++j) {
    out[j * 6 + j] = 1 / l[j * 6 + j];
    for (int i = j + 1; i < n; ++i) {
      double sum = 0;
      for (int k = j; k < i; ++k) sum -= l[i * 6 + k] * out[k * 6 + j];
      out[i * 6 + j] = sum / l[i * 6 + i];
    }
  }
}

/// The same for a rigid body, diag(m I_3, B). False: it is none.
inline bool update_body_root(const double* a, double* out) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 6; ++j)
      if (j != i && (a[6 * i + j] != 0 || (j > 2 && a[6 * j + i] != 0))) return false;
  if (a[0] != a[7] || a[0] != a[14]) return false;
  std::fill_n(out, 36, 0.0);
  out[0] = out[7] = out[14] = 1 / std::sqrt(a[0]);
  const double l33 = std::sqrt(a[21]), l43 = a[27] / l33, l53 = a[33] / l33, l44 = std::sqrt(a[28] - l43 * l43);
  const double l54 = (a[34] - l53 * l43) / l44, l55 = std::sqrt(a[35] - l53 * l53 - l54 * l54);
  out[21] = 1 / l33;
  out[28] = 1 / l44;
  out[35] = 1 / l55;
  out[27] = -l43 * out[21] / l44;
  out[33] = -(l53 * out[21] + l54 * out[27]) / l55;
  out[34] = -l54 * out[28] / l55;
  return true;
}

/// out = L^-1 x, of a rigid body.
inline void multiply_body_root(const double* root, const double* x, double* out) {
  for (int i = 0; i < 3; ++i) out[i] = root[0] * x[i];
  out[3] = root[21] * x[3];
  out[4] = root[27] * x[3] + root[28] * x[4];
  out[5] = root[33] * x[3] + root[34] * x[4] + root[35] * x[5];
}

/// out = L^-1 x.
inline void multiply_root(const double* root, int n, const double* x, double* out) {
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for (int j = 0; j <= i; ++j) sum += root[i * 6 + j] * x[j];
    out[i] = sum;
  }
}

}  // namespace slipstick
