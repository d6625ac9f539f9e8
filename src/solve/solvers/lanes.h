// Four doubles or eight floats at a time (vectors of the compiler).
#pragma once

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include <cmath>
#include <cstring>

namespace slipstick {

/// From and to wherever the numbers lie.
template <class Lanes, class Number>
[[gnu::always_inline]] inline Lanes load_lanes(const Number* from) {
  Lanes lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}

template <class Lanes, class Number>
[[gnu::always_inline]] inline void store_lanes(const Lanes& lanes, Number* to) {
  std::memcpy(to, &lanes, sizeof lanes);
}

/// Whether it is true in any lane.
template <class Mask>
[[gnu::always_inline]] inline bool is_any(Mask mask) {
#ifdef __AVX2__
  if constexpr (sizeof(mask[0]) == sizeof(double)) return _mm256_movemask_pd(__m256d(mask)) != 0;
  return _mm256_movemask_ps(__m256(mask)) != 0;
#else
  bool any = false;
  for (std::size_t l = 0; l < sizeof(mask) / sizeof(mask[0]); ++l) any = any || mask[l] != 0;
  return any;
#endif
}

template <class Lanes>
[[gnu::always_inline]] inline Lanes calc_root(Lanes s) {
#ifdef __AVX2__
  if constexpr (sizeof(s[0]) == sizeof(double)) return Lanes(_mm256_sqrt_pd(__m256d(s)));
  return Lanes(_mm256_sqrt_ps(__m256(s)));
#else
  Lanes r;
  for (std::size_t l = 0; l < sizeof(s) / sizeof(s[0]); ++l) r[l] = std::sqrt(s[l]);
  return r;
#endif
}

/// Four numbers of four columns to four lanes of each number, and back.
template <class Lanes>
[[gnu::always_inline]] inline void transpose(Lanes p, Lanes q, Lanes r, Lanes s, Lanes* out) {
  const Lanes a = __builtin_shufflevector(p, q, 0, 4, 2, 6), b = __builtin_shufflevector(p, q, 1, 5, 3, 7);
  const Lanes c = __builtin_shufflevector(r, s, 0, 4, 2, 6), d = __builtin_shufflevector(r, s, 1, 5, 3, 7);
  out[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
  out[1] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
  out[2] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
  out[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

/// The same for eight of eight.
template <class Lanes>
[[gnu::always_inline]] inline void transpose(const Lanes* in, Lanes* out) {
  Lanes twos[8], fours[8];
  for (int k = 0; k < 8; k += 2) {
    twos[k] = __builtin_shufflevector(in[k], in[k + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    twos[k + 1] = __builtin_shufflevector(in[k], in[k + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  }
  for (int k = 0; k < 8; k += 4) {
    for (int half = 0; half < 2; ++half) {
      const Lanes &p = twos[k + half], &q = twos[k + half + 2];
      fours[k + 2 * half] = __builtin_shufflevector(p, q, 0, 1, 8, 9, 4, 5, 12, 13);
      fours[k + 2 * half + 1] = __builtin_shufflevector(p, q, 2, 3, 10, 11, 6, 7, 14, 15);
    }
  }
  for (int k = 0; k < 4; ++k) {
    out[k] = __builtin_shufflevector(fours[k], fours[k + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    out[k + 4] = __builtin_shufflevector(fours[k], fours[k + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

}  // namespace slipstick
