#include "solve/mass_blocks.h"

#include <Eigen/LU>
#include <algorithm>

#include "solve/row_kernels.h"

namespace slipstick {

using Block6 = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor, 6, 6>;

void MassBlocks::update(const Problem& problem) {
  const int columns = problem.columns();
  start_.assign(problem.mass_start.begin(), problem.mass_start.end());
  size_.resize(columns);
  body_.assign(columns, 0);
  inverse_.resize(problem.mass.size());
  for (int k = 0; k < columns; ++k) {
    const int n = problem.column_size(k);
    size_[k] = n;
    BlockMap inverse(inverse_.data() + start_[k], n, n);
    const auto a = problem.mass_block(k);
    if (n == 1) {
      inverse(0, 0) = 1 / a(0, 0);
    } else if (n == 3) {
      const Mat3 block = Mat3(a).inverse();
      inverse = block;
    } else if (n == 6 && a.topRightCorner<3, 3>().isZero(0) && a.bottomLeftCorner<3, 3>().isZero(0)) {
      inverse.setZero();  // linear and angular parts apart
      const Mat3 linear = Mat3(a.topLeftCorner<3, 3>()).inverse();
      body_[k] = linear == Mat3(linear(0, 0) * Mat3::Identity());
      const Mat3 angular = Mat3(a.bottomRightCorner<3, 3>()).inverse();
      inverse.topLeftCorner<3, 3>() = linear;
      inverse.bottomRightCorner<3, 3>() = angular;
    } else {
      inverse = Block6(a).partialPivLu().inverse();
    }
  }
}

namespace {

/// The column's part of v := A^-1 v.
void divide_by_mass(const Problem& problem, const MassBlocks& masses, int column, VecX* v) {
  const int n = problem.column_size(column);
  double* part = v->data() + problem.column_start[column];
  double momentum[6], result[6] = {};
  std::copy_n(part, n, momentum);
  const double* inverse = masses.inverse(column).data();
  rows::dispatch(n, n, [&]<int M, int N>() { rows::add_image<M, N>(n, n, inverse, momentum, result); });
  std::copy_n(result, n, part);
}

void divide_by_masses(const Problem& problem, const MassBlocks& masses, VecX* v) {
  for (int k = 0; k < problem.columns(); ++k) divide_by_mass(problem, masses, k, v);
}

/// u += J v of a block.
void add_block_image(const Problem& problem, const RowBlock& block, const VecX& v, VecX* u) {
  for (int e = block.entry; e < block.entry + block.entries; ++e) {
    const int column = problem.entries[e].column, n = problem.column_size(column);
    const double* j = problem.jacobian.data() + problem.entries[e].offset;
    rows::dispatch(block.size, n, [&]<int M, int N>() {
      rows::add_image<M, N>(block.size, n, j, v.data() + problem.column_start[column], u->data() + block.row);
    });
  }
}

/// v += J^T lambda of a block.
void add_block_impulse(const Problem& problem, const RowBlock& block, const VecX& lambda, VecX* v) {
  for (int e = block.entry; e < block.entry + block.entries; ++e) {
    const int column = problem.entries[e].column, n = problem.column_size(column);
    const double* j = problem.jacobian.data() + problem.entries[e].offset;
    double* out = v->data() + problem.column_start[column];
    rows::dispatch(block.size, n, [&]<int M, int N>() {
      rows::add_transposed<M, N>(block.size, n, j, lambda.data() + block.row, out);
    });
  }
}

}  // namespace

void update_row_image(const Problem& problem, const VecX& v, VecX* u) {
  *u = Eigen::Map<const VecX>(problem.c.data(), problem.rows());
  for (const RowBlock& block : problem.blocks) add_block_image(problem, block, v, u);
}

void update_row_velocity(const Problem& problem, const VecX& v, const VecX& lambda, VecX* w) {
  update_row_image(problem, v, w);
  for (int r = 0; r < problem.rows(); ++r) (*w)[r] += problem.compliance[r] * lambda[r];
  if (problem.coupling.empty()) return;
  for (int r = 0; r < problem.rows(); ++r) {
    for (int k = problem.coupling.start[r]; k < problem.coupling.start[r + 1]; ++k)
      (*w)[r] += problem.coupling.value[k] * lambda[problem.coupling.column[k]];
  }
}

void update_row_velocity(const Problem& problem, const ProblemPart& part, const VecX& v, const VecX& lambda, VecX* w) {
  for (const int i : part.blocks) {
    const RowBlock& block = problem.blocks[i];
    for (int r = block.row; r < block.row + block.size; ++r) (*w)[r] = problem.c[r];
    add_block_image(problem, block, v, w);
    for (int r = block.row; r < block.row + block.size; ++r) (*w)[r] += problem.compliance[r] * lambda[r];
  }
}

void update_velocity(const Problem& problem, const MassBlocks& masses, const VecX& lambda, VecX* v) {
  *v = Eigen::Map<const VecX>(problem.b.data(), problem.unknowns());
  for (const RowBlock& block : problem.blocks) add_block_impulse(problem, block, lambda, v);
  divide_by_masses(problem, masses, v);
}

void update_velocity(const Problem& problem, const MassBlocks& masses, const ProblemPart& part, const VecX& lambda,
                     VecX* v) {
  for (const int k : part.columns)
    for (int i = problem.column_start[k]; i < problem.column_start[k + 1]; ++i) (*v)[i] = problem.b[i];
  for (const int i : part.blocks) add_block_impulse(problem, problem.blocks[i], lambda, v);
  for (const int k : part.columns) divide_by_mass(problem, masses, k, v);
}

void update_free_velocity(const Problem& problem, const MassBlocks& masses, VecX* v) {
  *v = Eigen::Map<const VecX>(problem.b.data(), problem.unknowns());
  divide_by_masses(problem, masses, v);
}

void update_diagonal(const Problem& problem, const MassBlocks& masses, const RowBlock& block,
                     const JacobianEntry& entry, double* diagonal) {
  const int n = problem.column_size(entry.column);
  const double* j = problem.jacobian.data() + entry.offset;
  const double* inverse = masses.inverse(entry.column).data();
  if (masses.is_body(entry.column)) return rows::set_body_diagonal(block.size, j, inverse, diagonal);
  rows::dispatch(block.size, n, [&]<int M, int N>() { rows::set_diagonal<M, N>(block.size, n, j, inverse, diagonal); });
}

double calc_mean_diagonal(const Problem& problem, const MassBlocks& masses, const RowBlock& block) {
  double trace = 0, diagonal[6];
  for (int e = block.entry; e < block.entry + block.entries; ++e) {
    update_diagonal(problem, masses, block, problem.entries[e], diagonal);
    for (int k = 0; k < block.size; ++k) trace += diagonal[k];
  }
  for (int r = block.row; r < block.row + block.size; ++r) {
    trace += problem.compliance[r];
    if (problem.coupling.empty()) continue;
    for (int i = problem.coupling.start[r]; i < problem.coupling.start[r + 1]; ++i)
      if (problem.coupling.column[i] == r) trace += problem.coupling.value[i];
  }
  return trace / block.size;
}

}  // namespace slipstick
