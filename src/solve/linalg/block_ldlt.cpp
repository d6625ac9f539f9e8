#include "solve/linalg/block_ldlt.h"

#include <algorithm>

#include "solve/linalg/block_kernels.h"

namespace slipstick {

namespace {

using kernels::kAny;

/// C(m x n) -= A(m x k) B(n x k)^T, with m as a constant: the columns of C stay in registers.
template <int M>
inline void subtract_product_of_height(int n, int k, const double* a, const double* b, double* c) {
  if (n == M && k == M) return kernels::subtract_product<M, M, M>(M, n, k, a, b, c);
  kernels::subtract_product<M, kAny, kAny>(M, n, k, a, b, c);
}

inline void subtract_product(int m, int n, int k, const double* a, const double* b, double* c) {
  switch (m) {
    case 1:
      return subtract_product_of_height<1>(n, k, a, b, c);
    case 2:
      return subtract_product_of_height<2>(n, k, a, b, c);
    case 3:
      if (n == 6 && k == 6) return kernels::subtract_product<3, 6, 6>(m, n, k, a, b, c);
      return subtract_product_of_height<3>(n, k, a, b, c);
    case 4:
      return subtract_product_of_height<4>(n, k, a, b, c);
    case 5:
      return subtract_product_of_height<5>(n, k, a, b, c);
    default:
      if (n == 3 && k == 6) return kernels::subtract_product<6, 3, 6>(m, n, k, a, b, c);
      return subtract_product_of_height<6>(n, k, a, b, c);
  }
}

inline void subtract_image(int m, int n, const double* a, const double* x, double* y) {
  if (m == 6 && n == 6) return kernels::subtract_image<6, 6>(m, n, a, x, y);
  if (m == 3 && n == 3) return kernels::subtract_image<3, 3>(m, n, a, x, y);
  if (m == 2 && n == 2) return kernels::subtract_image<2, 2>(m, n, a, x, y);
  if (m == 3 && n == 6) return kernels::subtract_image<3, 6>(m, n, a, x, y);
  if (m == 6 && n == 3) return kernels::subtract_image<6, 3>(m, n, a, x, y);
  kernels::subtract_image<kAny, kAny>(m, n, a, x, y);
}

inline void subtract_transposed_image(int m, int n, const double* a, const double* y, double* x) {
  if (m == 6 && n == 6) return kernels::subtract_transposed_image<6, 6>(m, n, a, y, x);
  if (m == 3 && n == 3) return kernels::subtract_transposed_image<3, 3>(m, n, a, y, x);
  if (m == 2 && n == 2) return kernels::subtract_transposed_image<2, 2>(m, n, a, y, x);
  if (m == 3 && n == 6) return kernels::subtract_transposed_image<3, 6>(m, n, a, y, x);
  if (m == 6 && n == 3) return kernels::subtract_transposed_image<6, 3>(m, n, a, y, x);
  kernels::subtract_transposed_image<kAny, kAny>(m, n, a, y, x);
}

/// f<N>() with N = n, 1 to 6: a hinge has five rows, a motor one.
template <class F>
inline auto with_size(int n, const F& f) {
  switch (n) {
    case 1:
      return f.template operator()<1>();
    case 2:
      return f.template operator()<2>();
    case 3:
      return f.template operator()<3>();
    case 4:
      return f.template operator()<4>();
    case 5:
      return f.template operator()<5>();
    default:
      return f.template operator()<6>();
  }
}

inline int factor_ldlt(int n, double* d) {
  return with_size(n, [&]<int N>() { return kernels::factor_ldlt<N>(n, d); });
}

inline void divide_ldlt(int m, int n, const double* d, double* x) {
  with_size(n, [&]<int N>() {
    if (m == 6) return kernels::divide_ldlt_by_columns<Six, N>(d, x);
    if (m == 3) return kernels::divide_ldlt_by_columns<Three, N>(d, x);
    if (m == 1) return kernels::divide_ldlt_by_columns<One, N>(d, x);
    double six[6 * N] = {};  // columns of six with zeros
    for (int k = 0; k < N; ++k) std::copy_n(x + k * m, m, six + k * 6);
    kernels::divide_ldlt_by_columns<Six, N>(d, six);
    for (int k = 0; k < N; ++k) std::copy_n(six + k * 6, m, x + k * m);
  });
}

inline void solve_ldlt(int n, const double* d, double* x) {
  with_size(n, [&]<int N>() { kernels::divide_ldlt_by_columns<One, N>(d, x); });
}

inline bool factor_lu(int n, double* d, int* pivot) {
  if (n == 6) return kernels::factor_lu<6>(n, d, pivot);
  if (n == 3) return kernels::factor_lu<3>(n, d, pivot);
  return kernels::factor_lu<kAny>(n, d, pivot);
}

inline void solve_lu(int n, const double* d, const int* pivot, double* x) {
  if (n == 6) return kernels::solve_lu<6>(n, d, pivot, x);
  if (n == 3) return kernels::solve_lu<3>(n, d, pivot, x);
  kernels::solve_lu<kAny>(n, d, pivot, x);
}

inline void divide_lu(int m, int n, const double* d, const int* pivot, double* x) {
  if (m == 6 && n == 6) return kernels::divide_lu<6, 6>(m, n, d, pivot, x);
  if (m == 3 && n == 3) return kernels::divide_lu<3, 3>(m, n, d, pivot, x);
  if (m == 2 && n == 2) return kernels::divide_lu<2, 2>(m, n, d, pivot, x);
  kernels::divide_lu<kAny, kAny>(m, n, d, pivot, x);
}

}  // namespace

void BlockLdlt::reset(const BlockPattern& pattern, bool symmetric) {
  if (pattern_ != &pattern || version_ != pattern.version()) panels_.analyze(pattern);
  pattern_ = &pattern;
  version_ = pattern.version();
  symmetric_ = symmetric;
  diagonal_.assign(pattern.diagonal_values(), 0.0);
  lower_.assign(pattern.off_values(), 0.0);
  if (symmetric)
    upper_.resize(pattern.off_values());
  else
    upper_.assign(pattern.off_values(), 0.0);
  pivot_.resize(6 * pattern.nodes());
  position_.resize(pattern.nodes());
}

bool BlockLdlt::factor() {
  if (panels_.worthwhile(symmetric_))
    return panels_.factor(diagonal_.data(), lower_.data(), symmetric_ ? nullptr : upper_.data());
  return symmetric_ ? factor_columns<true>() : factor_columns<false>();
}

template <bool Symmetric>
bool BlockLdlt::factor_columns() {
  negative_ = 0;
  for (int k = 0; k < pattern_->nodes(); ++k) {
    update_column<Symmetric>(k);
    if (!finish_column<Symmetric>(k)) return false;
  }
  return true;
}

/// Brings the finished columns into column k: A_ik -= L_ij U_jk for j < k <= i, and the same for row k of U.
template <bool Symmetric>
void BlockLdlt::update_column(int k) {
  const BlockPattern& p = *pattern_;
  const int n = p.size(k);
  for (int t = p.column_begin(k); t < p.column_end(k); ++t) position_[p.row(t)] = t;
  for (const int e : p.row_blocks(k)) {
    const int j = p.column(e), depth = p.size(j), end = p.column_end(j);
    const double* upper_e = upper_.data() + p.offset(e);
    const double* lower_e = lower_.data() + p.offset(e);
    subtract_product(n, n, depth, lower_e, upper_e, diagonal(k));
    for (int f = e + 1; f < end; ++f) {
      const int t = position_[p.row(f)], m = p.size(p.row(f));
      subtract_product(m, n, depth, lower(f), upper_e, lower(t));
      if constexpr (!Symmetric) subtract_product(m, n, depth, upper(f), lower_e, upper(t));
    }
  }
}

/// Factors the diagonal block and scales the column: L_ik = A_ik D_k^-1 (U_ki keeps its unscaled value).
template <bool Symmetric>
bool BlockLdlt::finish_column(int k) {
  const BlockPattern& p = *pattern_;
  const int n = p.size(k);
  double* d = diagonal(k);
  if constexpr (Symmetric) {
    const int negative = factor_ldlt(n, d);
    if (negative < 0) return false;
    negative_ += negative;
  } else {
    if (!factor_lu(n, d, pivot_.data() + 6 * k)) return false;
  }
  for (int t = p.column_begin(k); t < p.column_end(k); ++t) {
    const int m = p.size(p.row(t));
    if constexpr (Symmetric) {
      std::copy_n(lower(t), m * n, upper(t));
      divide_ldlt(m, n, d, lower(t));
    } else {
      divide_lu(m, n, d, pivot_.data() + 6 * k, lower(t));
    }
  }
  return true;
}

void BlockLdlt::solve(double* x) {
  if (panels_.worthwhile(symmetric_)) return panels_.solve(x);
  // By plain pointers: what is stored in x could be any of the lists' own, for all that the compiler knows.
  const BlockPattern::Lists p = pattern_->lists();
  const double *lower = lower_.data(), *upper = upper_.data(), *diagonal = diagonal_.data();
  const int nodes = pattern_->nodes();
  for (int k = 0; k < nodes; ++k) {
    const double* xk = x + p.start[k];
    for (int t = p.column_begin[k]; t < p.column_begin[k + 1]; ++t) {
      const int row = p.row[t];
      subtract_image(p.size[row], p.size[k], lower + p.offset[t], xk, x + p.start[row]);
    }
  }
  for (int k = nodes - 1; k >= 0; --k) {
    double* xk = x + p.start[k];
    for (int t = p.column_begin[k]; t < p.column_begin[k + 1]; ++t) {
      const int row = p.row[t];
      subtract_transposed_image(p.size[row], p.size[k], upper + p.offset[t], x + p.start[row], xk);
    }
    if (symmetric_)
      solve_ldlt(p.size[k], diagonal + p.diagonal[k], xk);
    else
      solve_lu(p.size[k], diagonal + p.diagonal[k], pivot_.data() + 6 * k, xk);
  }
}

}  // namespace slipstick
