// Four numbers at a time (vectors of the compiler).
#pragma once

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include <cmath>

namespace slipstick {

/// Whether it is true in any lane.
template <class Mask>
[[gnu::always_inline]] inline bool is_any(Mask mask) {
#ifdef __AVX2__
  return _mm256_movemask_pd(__m256d(mask)) != 0;
#else
  return (mask[0] | mask[1] | mask[2] | mask[3]) != 0;
#endif
}

template <class Lanes>
[[gnu::always_inline]] inline Lanes calc_root(Lanes s) {
#ifdef __AVX2__
  return Lanes(_mm256_sqrt_pd(__m256d(s)));
#else
  Lanes r;
  for (int l = 0; l < 4; ++l) r[l] = std::sqrt(s[l]);
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

}  // namespace slipstick
