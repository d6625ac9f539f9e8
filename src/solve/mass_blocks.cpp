#include "solve/mass_blocks.h"

#include <Eigen/LU>

namespace slipstick {

using Block6 = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor, 6, 6>;
using Segment6 = Eigen::Matrix<double, Eigen::Dynamic, 1, Eigen::ColMajor, 6, 1>;

void MassBlocks::update(const Problem& problem) {
  const int columns = problem.columns();
  start_.assign(problem.mass_start.begin(), problem.mass_start.end());
  size_.resize(columns);
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
      inverse.setZero();  // a rigid body: linear and angular parts apart
      const Mat3 linear = Mat3(a.topLeftCorner<3, 3>()).inverse();
      const Mat3 angular = Mat3(a.bottomRightCorner<3, 3>()).inverse();
      inverse.topLeftCorner<3, 3>() = linear;
      inverse.bottomRightCorner<3, 3>() = angular;
    } else {
      inverse = Block6(a).partialPivLu().inverse();
    }
  }
}

void update_row_velocity(const Problem& problem, const VecX& v, const VecX& lambda, VecX* w) {
  w->resize(problem.rows());
  for (const RowBlock& block : problem.blocks) {
    Segment6 rows(block.size);
    for (int k = 0; k < block.size; ++k)
      rows[k] = problem.c[block.row + k] + problem.compliance[block.row + k] * lambda[block.row + k];
    for (int e = block.entry; e < block.entry + block.entries; ++e) {
      const JacobianEntry& entry = problem.entries[e];
      const int n = problem.column_size(entry.column);
      rows.noalias() += problem.jacobian_block(block, entry) * v.segment(problem.column_start[entry.column], n);
    }
    w->segment(block.row, block.size) = rows;
  }
  if (problem.coupling.empty()) return;
  for (int r = 0; r < problem.rows(); ++r) {
    for (int k = problem.coupling.start[r]; k < problem.coupling.start[r + 1]; ++k)
      (*w)[r] += problem.coupling.value[k] * lambda[problem.coupling.column[k]];
  }
}

void update_velocity(const Problem& problem, const MassBlocks& masses, const VecX& lambda, VecX* v) {
  *v = Eigen::Map<const VecX>(problem.b.data(), problem.unknowns());
  for (const RowBlock& block : problem.blocks) {
    for (int e = block.entry; e < block.entry + block.entries; ++e) {
      const JacobianEntry& entry = problem.entries[e];
      const int n = problem.column_size(entry.column);
      v->segment(problem.column_start[entry.column], n).noalias() +=
          problem.jacobian_block(block, entry).transpose() * lambda.segment(block.row, block.size);
    }
  }
  for (int k = 0; k < problem.columns(); ++k) {
    auto part = v->segment(problem.column_start[k], problem.column_size(k));
    const Segment6 momentum = part;
    part.noalias() = masses.inverse(k) * momentum;
  }
}

double calc_mean_diagonal(const Problem& problem, const MassBlocks& masses, const RowBlock& block) {
  double trace = 0;
  for (int e = block.entry; e < block.entry + block.entries; ++e) {
    const JacobianEntry& entry = problem.entries[e];
    const auto j = problem.jacobian_block(block, entry);
    Block6 image(block.size, j.cols());
    image.noalias() = j * masses.inverse(entry.column);
    trace += image.cwiseProduct(j).sum();
  }
  for (int k = 0; k < block.size; ++k) {
    const int r = block.row + k;
    trace += problem.compliance[r];
    if (problem.coupling.empty()) continue;
    for (int i = problem.coupling.start[r]; i < problem.coupling.start[r + 1]; ++i)
      if (problem.coupling.column[i] == r) trace += problem.coupling.value[i];
  }
  return trace / block.size;
}

}  // namespace slipstick
