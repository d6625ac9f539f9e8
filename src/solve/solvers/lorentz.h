// Jordan's algebra of the Lorentz cone { x_0 >= |x_1..| } in up to three dimensions; with n = 1 the other entries are
// zero.
#pragma once

#include <algorithm>
#include <cmath>

namespace slipstick::lorentz {

/// x0^2 - |x1|^2 without cancellation.
inline double determinant(int n, const double* x) {
  const double length = n == 2 ? std::abs(x[1]) : std::sqrt(x[1] * x[1] + x[2] * x[2]);
  return (x[0] - length) * (x[0] + length);
}

inline double dot(int n, const double* a, const double* b) {
  double sum = 0;
  for (int k = 0; k < n; ++k) sum += a[k] * b[k];
  return sum;
}

/// out = eta V(w) x, the Lorentz boost of Nesterov and Todd; `inverse`: its inverse.
inline void scale(int n, double eta, const double* w, bool inverse, const double* x, double* out) {
  const double sign = inverse ? -1 : 1, size = inverse ? 1 / eta : eta;
  double along = 0;
  for (int k = 1; k < n; ++k) along += w[k] * x[k];
  const double shift = sign * x[0] + along / (1 + w[0]);
  out[0] = size * (w[0] * x[0] + sign * along);
  for (int k = 1; k < n; ++k) out[k] = size * (x[k] + shift * w[k]);
}

/// Nesterov and Todd's scaling W = eta V(w) of two points: lambda = W^-1 s = W z. False: one is not inside.
inline bool update_scaling(int n, const double* s, const double* z, double* w, double* eta, double* lambda) {
  const double rs = std::sqrt(determinant(n, s)), rz = std::sqrt(determinant(n, z));
  if (!(rs > 0) || !(rz > 0)) return false;
  const double gamma = std::sqrt((1 + dot(n, s, z) / (rs * rz)) / 2);
  w[0] = (s[0] / rs + z[0] / rz) / (2 * gamma);
  for (int k = 1; k < n; ++k) w[k] = (s[k] / rs - z[k] / rz) / (2 * gamma);
  *eta = std::sqrt(rs / rz);
  scale(n, *eta, w, false, z, lambda);
  return std::isfinite(*eta) && std::isfinite(lambda[0]);
}

/// out = a o b, Jordan's product.
inline void multiply(int n, const double* a, const double* b, double* out) {
  out[0] = dot(n, a, b);
  for (int k = 1; k < n; ++k) out[k] = a[0] * b[k] + b[0] * a[k];
}

/// out: a o out = b.
inline void divide(int n, const double* a, const double* b, double* out) {
  double along = 0;
  for (int k = 1; k < n; ++k) along += a[k] * b[k];
  out[0] = (a[0] * b[0] - along) / determinant(n, a);
  for (int k = 1; k < n; ++k) out[k] = (b[k] - out[0] * a[k]) / a[0];
}

/// Largest t with x + t d in the cone, at most `limit`.
inline double longest_in_cone(int n, const double* x, const double* d, double limit) {
  double a = d[0] * d[0], b = x[0] * d[0];
  for (int k = 1; k < n; ++k) {
    a -= d[k] * d[k];
    b -= x[k] * d[k];
  }
  const double c = determinant(n, x), discriminant = b * b - a * c;
  double t = limit;
  if (d[0] < 0) t = std::min(t, -x[0] / d[0]);
  if (discriminant < 0) return t;
  const double root = std::sqrt(discriminant), q = -(b + std::copysign(root, b));
  for (const double candidate : {a != 0 ? q / a : -1.0, q != 0 ? c / q : -1.0})
    if (candidate > 0) t = std::min(t, candidate);
  return t;
}

}  // namespace slipstick::lorentz
