// Newton steps in the impulses themselves, for problems in local form.
#include <algorithm>
#include <cmath>

#include "solve/coupling_rows.h"
#include "solve/linalg/block_kernels.h"
#include "solve/solvers/newton_system.h"

namespace slipstick {

namespace {

using kernels::kAny;

/// e += T^T D T, T of m x n; all row-major.
template <int M, int N>
void add_member_map(int m_, int n_, const double* __restrict d, const double* __restrict t, double* __restrict e) {
  const int m = M == kAny ? m_ : M, n = N == kAny ? n_ : N;
  for (int r = 0; r < m; ++r) {
    double row[6] = {};  // row r of D T
    for (int s = 0; s < m; ++s)
      for (int c = 0; c < n; ++c) row[c] += d[r * m + s] * t[s * n + c];
    for (int a = 0; a < n; ++a)
      for (int c = 0; c < n; ++c) e[a * n + c] += t[r * n + a] * row[c];
  }
}

/// out += E W, E of n x n and W of n x m row-major; out row-major, or column-major from the transposed E.
template <int N, int M>
void add_product(int n_, int m_, const double* __restrict e, const double* __restrict w, double* __restrict out) {
  const int n = N == kAny ? n_ : N, m = M == kAny ? m_ : M;
  for (int i = 0; i < n; ++i) {
    double row[6] = {};
    for (int s = 0; s < n; ++s)
      for (int c = 0; c < m; ++c) row[c] += e[i * n + s] * w[s * m + c];
    for (int c = 0; c < m; ++c) out[i * m + c] += row[c];
  }
}
template <int N, int M>
void add_product_by_columns(int n_, int m_, const double* __restrict transposed_e, const double* __restrict w,
                            double* __restrict out) {
  const int n = N == kAny ? n_ : N, m = M == kAny ? m_ : M;
  for (int c = 0; c < m; ++c) {
    double column[6] = {};
    for (int s = 0; s < n; ++s)
      for (int i = 0; i < n; ++i) column[i] += transposed_e[s * n + i] * w[s * m + c];
    for (int i = 0; i < n; ++i) out[c * n + i] += column[i];
  }
}

/// y += W x, W of n x m row-major.
template <int N, int M>
void add_image(int n_, int m_, const double* __restrict w, const double* __restrict x, double* __restrict y) {
  const int n = N == kAny ? n_ : N, m = M == kAny ? m_ : M;
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for (int c = 0; c < m; ++c) sum += w[i * m + c] * x[c];
    y[i] += sum;
  }
}

}  // namespace

void DualSystem::prepare(const Problem& problem) {
  problem_ = &problem;
  const SparseRows& w = problem.coupling;
  update_joint_diagonals(problem, MassBlocks());  // there are no columns
  mean_diagonal_.assign(problem.blocks.size(), 0);
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
    const RowBlock& block = problem.blocks[i];
    for (int r = block.row; r < block.row + block.size; ++r) {
      mean_diagonal_[i] += (problem.compliance[r] + coupled_diagonal(w, r)) / block.size;
    }
  }
  classes_.update(problem);
  // The order of elimination is kept while the graph of the classes stays the same.
  edges_.clear();
  for (int k = 0; k < classes_.count(); ++k)
    for (const auto& near : classes_.neighbours(k))
      if (near.other != k) edges_.push_back({k, near.other});
  start_.assign(1, 0);
  for (const int size : classes_.sizes()) start_.push_back(start_.back() + size);
  if (classes_.sizes() != analyzed_size_ || edges_ != analyzed_edges_) {
    late_.assign(classes_.count(), 0);
    pattern_.analyze(classes_.sizes(), late_, edges_);
    analyzed_size_ = classes_.sizes();
    analyzed_edges_ = edges_;
  }
  scale_.resize(classes_.count());
  class_map_.resize(36 * classes_.count());
}

void DualSystem::update_state(const VecX& x, VecX* v, VecX* u) {
  const SparseRows& w = problem_->coupling;
  v->resize(0);
  *u = Eigen::Map<const VecX>(problem_->c.data(), problem_->rows());
  add_coupled(w, 0, problem_->rows(), x.data(), u->data());
}

bool DualSystem::is_equality(int k) const { return problem_->blocks[classes_.members(k)[0]].law == LawKind::Equality; }

/// e = T^T D T of a class (row-major), or the unit matrix for equalities, whose rows read R dx + du = g.
void DualSystem::update_class_map(int k, const NewtonMaps& maps, double* e) const {
  const int n = classes_.sizes()[k];
  std::fill_n(e, n * n, 0.0);
  if (is_equality(k)) {
    for (int r = 0; r < n; ++r) e[r * n + r] = 1;
    return;
  }
  for (const int i : classes_.members(k)) {
    if (maps.zero[i]) continue;
    const int m = problem_->blocks[i].size;
    const double* d = maps.d.data() + maps.start[i];
    const double* t = classes_.factor(i);
    m == 3 && n == 6 ? add_member_map<3, 6>(m, n, d, t, e) : add_member_map<kAny, kAny>(m, n, d, t, e);
  }
}

/// Rows of class k of the matrix: I + E W_R, or R + W_R for equalities, scaled to order one.
void DualSystem::assemble_class(int k, const NewtonMaps& maps) {
  const int n = classes_.sizes()[k], place = pattern_.place(k);
  double* e = class_map_.data() + 36 * k;
  update_class_map(k, maps, e);
  const bool equality = is_equality(k);
  const int first = classes_.members(k)[0];
  double largest = 0;
  for (int i = 0; i < n * n; ++i) largest = std::max(largest, std::abs(e[i]));
  scale_[k] = equality ? 1 / mean_diagonal_[first] : 1 / (1 + largest * mean_diagonal_[first]);
  double* diagonal = factor_.diagonal(place);
  const int row = problem_->blocks[first].row;
  for (int i = 0; i < n; ++i) diagonal[i * n + i] += scale_[k] * (equality ? maps.weight[row + i] : 1);
  if (largest == 0) return;
  double scaled[36], transposed[36];
  for (int i = 0; i < n; ++i)
    for (int s = 0; s < n; ++s) scaled[i * n + s] = transposed[s * n + i] = scale_[k] * e[i * n + s];
  for (const auto& near : classes_.neighbours(k)) {
    const int m = classes_.sizes()[near.other], other = pattern_.place(near.other);
    const double* w = classes_.values(near);
    const bool six = n == 6 && m == 6;
    if (other > place) {  // A(place, other) above the diagonal is kept transposed
      double* out = factor_.upper(pattern_.find_block(other, place));
      six ? add_product<6, 6>(n, m, scaled, w, out) : add_product<kAny, kAny>(n, m, scaled, w, out);
    } else {
      double* out = near.other == k ? diagonal : factor_.lower(pattern_.find_block(place, other));
      six ? add_product_by_columns<6, 6>(n, m, transposed, w, out)
          : add_product_by_columns<kAny, kAny>(n, m, transposed, w, out);
    }
  }
}

bool DualSystem::factor(const NewtonMaps& maps) {
  factor_.reset(pattern_, false);
  for (int k = 0; k < classes_.count(); ++k) assemble_class(k, maps);
  return factor_.factor();
}

void DualSystem::solve(const NewtonMaps& maps, VecX* dx, VecX* du) {
  const Problem& p = *problem_;
  if (du == nullptr) du = &own_du_;
  y_.setZero(start_.back());
  image_.setZero(start_.back());
  for (int k = 0; k < classes_.count(); ++k) {
    const int n = classes_.sizes()[k];
    double* y = y_.data() + start_[k];
    for (const int i : classes_.members(k)) {
      const double* t = classes_.factor(i);
      for (int r = 0; r < p.blocks[i].size; ++r)
        for (int c = 0; c < n; ++c) y[c] += scale_[k] * t[r * n + c] * maps.g[p.blocks[i].row + r];
    }
  }
  factor_.solve(y_.data());
  for (int k = 0; k < classes_.count(); ++k) {
    const int n = classes_.sizes()[k];
    for (const auto& near : classes_.neighbours(k)) {
      const int m = classes_.sizes()[near.other];
      const double *w = classes_.values(near), *y = y_.data() + start_[near.other];
      double* image = image_.data() + start_[k];
      n == 6 && m == 6 ? add_image<6, 6>(n, m, w, y, image) : add_image<kAny, kAny>(n, m, w, y, image);
    }
  }
  dx->resize(p.rows());
  du->resize(p.rows());
  for (int k = 0; k < classes_.count(); ++k) {
    update_members(k, maps, dx, du);
    if (classes_.members(k).size() == 1) continue;
    correct_image(k, *dx);
    update_members(k, maps, dx, du);
  }
}

/// d u = T z and d x = g - D d u of a class's rows, z = W_R y; d x is y itself where T is the unit matrix.
void DualSystem::update_members(int k, const NewtonMaps& maps, VecX* dx, VecX* du) const {
  const int n = classes_.sizes()[k];
  const bool single = classes_.members(k).size() == 1;
  for (const int i : classes_.members(k)) {
    const int m = problem_->blocks[i].size, row = problem_->blocks[i].row;
    const double* t = classes_.factor(i);
    for (int r = 0; r < m; ++r) {
      double sum = 0;
      for (int c = 0; c < n; ++c) sum += t[r * n + c] * image_[start_[k] + c];
      (*du)[row + r] = sum;
      (*dx)[row + r] = single ? y_[start_[k] + r] : maps.g[row + r];
    }
    if (single || maps.zero[i]) continue;
    const double* d = maps.d.data() + maps.start[i];
    for (int r = 0; r < m; ++r)
      for (int c = 0; c < m; ++c) (*dx)[row + r] -= d[r * m + c] * (*du)[row + c];
  }
}

/// z is the small difference of great impulses, and stiff maps D magnify what rounding left in it: the rows' impulses
/// would no longer add up to y = T^T d x, which is known better. (E + kappa) dz = T^T d x - y moves z so that they do,
/// where E is stiff enough to matter.
void DualSystem::correct_image(int k, const VecX& dx) {
  const int n = classes_.sizes()[k];
  double excess[6], matrix[36];  // column-major
  for (int c = 0; c < n; ++c) excess[c] = -y_[start_[k] + c];
  for (const int i : classes_.members(k)) {
    const double* t = classes_.factor(i);
    for (int r = 0; r < problem_->blocks[i].size; ++r)
      for (int c = 0; c < n; ++c) excess[c] += t[r * n + c] * dx[problem_->blocks[i].row + r];
  }
  const double* e = class_map_.data() + 36 * k;
  for (int r = 0; r < n; ++r)
    for (int c = 0; c < n; ++c) matrix[c * n + r] = e[r * n + c];
  for (int r = 0; r < n; ++r) matrix[r * n + r] += 1 / mean_diagonal_[classes_.members(k)[0]];
  int pivot[6];
  const bool six = n == 6;
  // Where it is singular to the last bit z stays as it is: what follows is judged by the true residual.
  if (!(six ? kernels::factor_lu<6>(n, matrix, pivot) : kernels::factor_lu<kAny>(n, matrix, pivot))) return;
  six ? kernels::solve_lu<6>(n, matrix, pivot, excess) : kernels::solve_lu<kAny>(n, matrix, pivot, excess);
  for (int c = 0; c < n; ++c) image_[start_[k] + c] += excess[c];
}

}  // namespace slipstick
