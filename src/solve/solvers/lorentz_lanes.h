// Jordan's algebra of the Lorentz cone (lorentz.h) for four cones of three dimensions at a time. A cone of fewer has
// zeros in the others, which stay zeros.
#pragma once

#include "solve/solvers/lanes.h"

namespace slipstick::lorentz {

using Lanes = double __attribute__((vector_size(4 * sizeof(double))));

[[gnu::always_inline]] inline Lanes determinant(const Lanes* x) {
  const Lanes length = calc_root(x[1] * x[1] + x[2] * x[2]);
  return (x[0] - length) * (x[0] + length);
}

[[gnu::always_inline]] inline Lanes dot(const Lanes* a, const Lanes* b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/// out = eta V(w) x; `inverse`: its inverse.
template <bool inverse>
[[gnu::always_inline]] inline void scale(Lanes eta, const Lanes* w, const Lanes* x, Lanes* out) {
  constexpr double kSign = inverse ? -1 : 1;
  const Lanes size = inverse ? 1 / eta : eta;
  const Lanes along = w[1] * x[1] + w[2] * x[2], shift = kSign * x[0] + along / (1 + w[0]);
  out[0] = size * (w[0] * x[0] + kSign * along);
  out[1] = size * (x[1] + shift * w[1]);
  out[2] = size * (x[2] + shift * w[2]);
}

/// Nesterov and Todd's scaling W = eta V(w): lambda = W^-1 s = W z. False: a point is not inside.
[[gnu::always_inline]] inline bool update_scaling(const Lanes* s, const Lanes* z, Lanes* w, Lanes* eta, Lanes* lambda) {
  const Lanes rs = calc_root(determinant(s)), rz = calc_root(determinant(z)), zero{};
  if (is_any(~((rs > zero) & (rz > zero)))) return false;
  const Lanes gamma = calc_root((1 + dot(s, z) / (rs * rz)) / 2), double_gamma = 2 * gamma;
  w[0] = (s[0] / rs + z[0] / rz) / double_gamma;
  w[1] = (s[1] / rs - z[1] / rz) / double_gamma;
  w[2] = (s[2] / rs - z[2] / rz) / double_gamma;
  *eta = calc_root(rs / rz);
  scale<false>(*eta, w, z, lambda);
  const Lanes rest = (*eta - *eta) + (lambda[0] - lambda[0]);  // zero where both are finite
  return !is_any(~(rest == zero));
}

/// out = a o b, Jordan's product.
[[gnu::always_inline]] inline void multiply(const Lanes* a, const Lanes* b, Lanes* out) {
  const Lanes first = dot(a, b), second = a[0] * b[1] + b[0] * a[1], third = a[0] * b[2] + b[0] * a[2];
  out[0] = first;
  out[1] = second;
  out[2] = third;
}

/// out: a o out = b.
[[gnu::always_inline]] inline void divide(const Lanes* a, const Lanes* b, Lanes* out) {
  out[0] = (a[0] * b[0] - (a[1] * b[1] + a[2] * b[2])) / determinant(a);
  out[1] = (b[1] - out[0] * a[1]) / a[0];
  out[2] = (b[2] - out[0] * a[2]) / a[0];
}

/// Largest t with x + t d in the cone, at most `limit`.
[[gnu::always_inline]] inline Lanes longest_in_cone(const Lanes* x, const Lanes* d, Lanes limit) {
  const Lanes zero{}, one = zero + 1;
  const auto least = [](Lanes a, Lanes b) { return b < a ? b : a; };
  const Lanes a = d[0] * d[0] - (d[1] * d[1] + d[2] * d[2]), b = x[0] * d[0] - (x[1] * d[1] + x[2] * d[2]);
  const Lanes c = determinant(x), discriminant = b * b - a * c;
  Lanes t = limit;
  const auto down = d[0] < zero, meets = discriminant >= zero;
  t = down ? least(t, -x[0] / (down ? d[0] : one)) : t;
  const Lanes root = calc_root(meets ? discriminant : zero), q = -(b < zero ? b - root : b + root);
  const auto has_a = meets & (a != zero), has_q = meets & (q != zero);
  const Lanes first = q / (has_a ? a : one), second = c / (has_q ? q : one);
  t = has_a & (first > zero) ? least(t, first) : t;
  return has_q & (second > zero) ? least(t, second) : t;
}

}  // namespace slipstick::lorentz
