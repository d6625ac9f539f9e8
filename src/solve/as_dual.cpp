#include "solve/as_dual.h"

#include <cmath>
#include <limits>

namespace slipstick {

namespace {

constexpr double kRankThreshold = 1e-13;     // of a scaled Schur complement: its own rounding is about 1e-15
constexpr double kConflictThreshold = 1e-9;  // relative: a conflict below it is rounding in c, not a contradiction

}  // namespace

bool DualForm::sort_rows(const Problem& problem) {
  kept_.clear();
  equal_.clear();
  reduced_.assign(problem.rows(), -1);
  fixed_.assign(problem.rows(), 0.0);
  for (const RowBlock& block : problem.blocks) {
    if (block.law == LawKind::Friction && !(block.mu >= 0)) {
      fault_ = "a friction coefficient is negative or not a number";
      return false;
    }
    for (int r = block.row; r < block.row + block.size; ++r) {
      bool equality = block.law == LawKind::Equality;
      if (block.law == LawKind::Box) {
        const double lo = problem.lower[r], hi = problem.upper[r];
        if (!(lo <= hi) || lo == std::numeric_limits<double>::infinity() ||
            hi == -std::numeric_limits<double>::infinity()) {
          fault_ = "a box row has no admissible impulse";
          return false;
        }
        equality = std::isinf(lo) && std::isinf(hi);
        if (lo == hi) {
          fixed_[r] = lo;
          continue;
        }
      }
      if (block.law == LawKind::Friction && block.mu == 0 && r > block.row) continue;  // lambda_t = 0
      if (equality) {
        equal_.push_back(r);
      } else {
        reduced_[r] = static_cast<int>(kept_.size());
        kept_.push_back(r);
      }
    }
  }
  return true;
}

void DualForm::index_columns(const Problem& problem) {
  touch_start_.assign(problem.columns() + 1, 0);
  for (const JacobianEntry& e : problem.entries) ++touch_start_[e.column + 1];
  for (int k = 0; k < problem.columns(); ++k) touch_start_[k + 1] += touch_start_[k];
  touch_block_.resize(problem.entries.size());
  touch_entry_.resize(problem.entries.size());
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
    const RowBlock& block = problem.blocks[i];
    for (int e = block.entry; e < block.entry + block.entries; ++e) {
      int& at = touch_start_[problem.entries[e].column];
      touch_block_[at] = static_cast<int>(i);
      touch_entry_[at] = e;
      ++at;
    }
  }
  for (int k = problem.columns(); k > 0; --k) touch_start_[k] = touch_start_[k - 1];
  touch_start_[0] = 0;
}

void DualForm::update_delassus(const Problem& problem) {
  const int rows = problem.rows();
  full_.setZero(rows, rows);
  image_.resize(problem.jacobian.size());
  for (int k = 0; k < problem.columns(); ++k) {
    const int n = problem.column_size(k);
    for (int a = touch_start_[k]; a < touch_start_[k + 1]; ++a) {
      const JacobianEntry& e = problem.entries[touch_entry_[a]];
      const RowBlock& block = problem.blocks[touch_block_[a]];
      const double *j = problem.jacobian.data() + e.offset, *inverse = masses_.inverse(k).data();
      for (int x = 0; x < block.size; ++x)  // by hand: the bits of Eigen's product depend on where the target lies
        for (int c = 0; c < n; ++c) {
          double sum = 0;
          for (int i = 0; i < n; ++i) sum += j[x * n + i] * inverse[i * n + c];
          image_[e.offset + x * n + c] = sum;
        }
    }
    for (int a = touch_start_[k]; a < touch_start_[k + 1]; ++a) {
      const RowBlock& left = problem.blocks[touch_block_[a]];
      const double* image = image_.data() + problem.entries[touch_entry_[a]].offset;
      for (int b = touch_start_[k]; b < touch_start_[k + 1]; ++b) {
        const RowBlock& right = problem.blocks[touch_block_[b]];
        const double* j = problem.jacobian.data() + problem.entries[touch_entry_[b]].offset;
        for (int y = 0; y < right.size; ++y) {
          double* target = &full_(left.row, right.row + y);
          for (int x = 0; x < left.size; ++x) {
            double sum = 0;
            for (int i = 0; i < n; ++i) sum += image[x * n + i] * j[y * n + i];
            target[x] += sum;
          }
        }
      }
    }
  }
  for (int r = 0; r < rows; ++r) full_(r, r) += problem.compliance[r];
  if (problem.coupling.empty()) return;
  for (int r = 0; r < rows; ++r)
    for (int k = problem.coupling.start[r]; k < problem.coupling.start[r + 1]; ++k)
      full_(r, problem.coupling.column[k]) += problem.coupling.value[k];
}

void DualForm::update_scales(const Problem& problem) {
  scale_.resize(problem.rows());
  for (const RowBlock& block : problem.blocks) {
    const bool friction = block.law == LawKind::Friction;
    double mean = 0;
    for (int k = 0; k < block.size; ++k) mean += full_(block.row + k, block.row + k) / block.size;
    for (int r = block.row; r < block.row + block.size; ++r) {
      const double diagonal = friction ? mean : full_(r, r);
      scale_[r] = diagonal > 0 ? 1 / std::sqrt(diagonal) : 1;
    }
  }
  for (int r = 0; r < problem.rows(); ++r)
    for (int i = 0; i < problem.rows(); ++i) full_(i, r) *= scale_[i] * scale_[r];
}

// Rows d = T i of the equality rows in pivot order (i independent, d dependent) may ask for another velocity than the
// rows they depend on. The least-squares compromise lets w_i = shift = -T^T (I + T T^T)^-1 (q_d - T q_i).
void DualForm::resolve_conflicts() {
  const int rank = elimination_.rank(), rest = dependent();
  shift_.setZero(rank);
  if (rest == 0) return;
  transfer_.resize(rank, rest);  // first S_di^T, then T^T = S_ii^-T S_di^T
  for (int d = 0; d < rest; ++d)
    for (int i = 0; i < rank; ++i) transfer_(i, d) = equal_matrix_(elimination_.pivot(rank + d), elimination_.pivot(i));
  elimination_.solve_transposed_in_place(transfer_);
  conflict_.resize(rest);
  double size = 0;
  for (int d = 0; d < rest; ++d) {
    conflict_[d] = free_[equal_[elimination_.pivot(rank + d)]];
    size = std::max(size, std::abs(conflict_[d]));
    for (int i = 0; i < rank; ++i) {
      const double term = transfer_(i, d) * free_[equal_[elimination_.pivot(i)]];
      conflict_[d] -= term;
      size = std::max(size, std::abs(term));
    }
  }
  if (conflict_.cwiseAbs().maxCoeff() <= kConflictThreshold * size) return;
  DenseX gram = transfer_.transpose() * transfer_;  // contradictions are rare: this may allocate
  gram.diagonal().array() += 1;
  if (!small_.factor(gram)) return;
  small_.solve_in_place(conflict_);
  shift_.noalias() = -transfer_ * conflict_;
}

void DualForm::eliminate(const Problem& problem) {
  const int ne = equalities(), nk = size();
  free_.resize(problem.rows());  // scaled q of all rows, impulses known in advance included
  const Eigen::Map<const VecX> fixed(fixed_.data(), problem.rows());
  known_ = fixed;
  update_velocity(problem, masses_, known_, &free_velocity_);
  update_row_velocity(problem, free_velocity_, known_, &free_);
  for (int r = 0; r < problem.rows(); ++r) free_[r] *= scale_[r];

  equal_matrix_.resize(ne, ne);
  for (int b = 0; b < ne; ++b)
    for (int a = 0; a < ne; ++a) equal_matrix_(a, b) = full_(equal_[a], equal_[b]);
  elimination_.factor(equal_matrix_, kRankThreshold);
  resolve_conflicts();
  const int rank = elimination_.rank();
  response_.resize(rank, nk);
  response_offset_.resize(rank);
  for (int i = 0; i < rank; ++i) {
    const int r = equal_[elimination_.pivot(i)];
    for (int k = 0; k < nk; ++k) response_(i, k) = full_(r, kept_[k]);
    response_offset_[i] = free_[r] - shift_[i];
  }
  if (rank > 0) {
    elimination_.solve_in_place(response_);
    elimination_.solve_in_place(response_offset_);
  }
  matrix_.resize(nk, nk);
  offset_.resize(nk);
  for (int k = 0; k < nk; ++k) {
    for (int a = 0; a < nk; ++a) matrix_(a, k) = full_(kept_[a], kept_[k]);
    offset_[k] = free_[kept_[k]];
  }
  if (rank == 0) return;
  transfer_.resize(nk, rank);
  for (int i = 0; i < rank; ++i)
    for (int k = 0; k < nk; ++k) transfer_(k, i) = full_(kept_[k], equal_[elimination_.pivot(i)]);
  matrix_.noalias() -= transfer_ * response_;
  offset_.noalias() -= transfer_ * response_offset_;
}

bool DualForm::update(const Problem& problem) {
  fault_ = {};
  if (!sort_rows(problem)) return false;
  masses_.update(problem);
  index_columns(problem);
  update_delassus(problem);
  update_scales(problem);
  eliminate(problem);
  if (matrix_.allFinite() && offset_.allFinite() && response_offset_.allFinite()) return true;
  fault_ = "the problem holds a number that is not finite";
  return false;
}

void DualForm::complete(const Problem& problem, const VecX& x, Solution* solution) {
  const int rank = elimination_.rank();
  VecX& lambda = solution->lambda;
  lambda.resize(problem.rows());
  for (int r = 0; r < problem.rows(); ++r) lambda[r] = fixed_[r];
  for (int k = 0; k < size(); ++k) lambda[kept_[k]] = scale_[kept_[k]] * x[k];
  residual_ = response_offset_;
  residual_.noalias() += response_ * x;
  for (int pass = 0;; ++pass) {  // x -> lambda_e, then once more with what the problem's own data say is left
    for (int i = 0; i < rank; ++i) {
      const int r = equal_[elimination_.pivot(i)];
      lambda[r] -= scale_[r] * residual_[i];
    }
    update_velocity(problem, masses_, lambda, &solution->v);
    update_row_velocity(problem, solution->v, lambda, &solution->w);
    if (rank == 0 || pass == 1) return;
    for (int i = 0; i < rank; ++i) {
      const int r = equal_[elimination_.pivot(i)];
      residual_[i] = scale_[r] * solution->w[r] - shift_[i];
    }
    elimination_.solve_in_place(residual_);
  }
}

}  // namespace slipstick
