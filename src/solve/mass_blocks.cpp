#include "solve/mass_blocks.h"

#include <Eigen/LU>
#include <algorithm>
#include <cstring>

#include "base/thread_team.h"
#include "solve/coupling_rows.h"
#include "solve/row_kernels.h"

namespace slipstick {

using Block6 = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor, 6, 6>;

namespace {

/// Row blocks and columns that a thread takes at a time.
constexpr std::size_t kImagePortion = 1024, kMassPortion = 512;
/// Columns up to which masses are kept beside their inverses. More of them do not stay in a cache, and to read what was
/// inverted costs as much as to invert it again.
constexpr int kMostKept = 2000;

}  // namespace

void MassBlocks::update(const Problem& problem, const ThreadTeam* team) {
  const bool keeps = problem.columns() <= kMostKept;
  const bool known = keeps && start_ == problem.mass_start && mass_.size() == problem.mass.size();
  if (!known) {
    start_ = problem.mass_start;
    size_.resize(problem.columns());
    body_.resize(problem.columns());
    inverse_.resize(problem.mass.size());
    mass_.resize(keeps ? problem.mass.size() : 0);
  }
  for_portions(team, problem.columns(), kMassPortion, [&](std::size_t first, std::size_t last) {
    for (std::size_t k = first; k < last; ++k) {
      const double* mass = problem.mass.data() + start_[k];
      const std::size_t bytes = (start_[k + 1] - start_[k]) * sizeof(double);
      if (known && std::memcmp(mass, mass_.data() + start_[k], bytes) == 0) continue;
      if (keeps) std::memcpy(mass_.data() + start_[k], mass, bytes);
      update_column(problem, static_cast<int>(k));
    }
  });
}

void MassBlocks::update_column(const Problem& problem, int k) {
  const int n = problem.column_size(k);
  size_[k] = n;
  body_[k] = 0;
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

namespace {

/// The column's part of v := A^-1 v.
void divide_by_mass(const Problem& problem, const MassBlocks& masses, int column, VecX* v) {
  const int n = problem.column_size(column);
  double* part = v->data() + problem.column_start[column];
  const double* inverse = masses.inverse(column).data();
  double momentum[6], result[6] = {};
  if (masses.is_body(column)) {  // the sums of the six rows without what is zero
    for (int i = 0; i < 3; ++i) part[i] = inverse[7 * i] * part[i];
    const double first = part[3];
    const Six::Two others = {part[4], part[5]};
    for (int i = 3; i < 6; ++i) {
      const double* row = inverse + 6 * i;
      const Six::Two sums = Six::Two{0, row[3] * first} + *reinterpret_cast<const Six::LooseTwo*>(row + 4) * others;
      part[i] = sums[0] + sums[1];
    }
    return;
  }
  if (n == 6) {
    const Six six = Six::load(part);
    for (int i = 0; i < 6; ++i) result[i] = dot(Six::load(inverse + 6 * i), six);
    std::copy_n(result, 6, part);
    return;
  }
  std::copy_n(part, n, momentum);
  rows::dispatch(n, n, [&]<int M, int N>() { rows::add_image<M, N>(n, n, inverse, momentum, result); });
  std::copy_n(result, n, part);
}

void divide_by_masses(const Problem& problem, const MassBlocks& masses, VecX* v, const ThreadTeam* team) {
  for_portions(team, problem.columns(), kMassPortion, [&](std::size_t first, std::size_t last) {
    for (std::size_t k = first; k < last; ++k) divide_by_mass(problem, masses, static_cast<int>(k), v);
  });
}

/// Of contacts of bodies, which most are, nothing is asked but their numbers.
bool is_contact_of_bodies(const Problem& problem, const RowBlock& block, const JacobianEntry& entry) {
  return block.size == 3 && problem.column_size(entry.column) == 6;
}

/// The same in the plane.
bool is_planar_contact(const Problem& problem, const RowBlock& block, const JacobianEntry& entry) {
  return block.size == 2 && problem.column_size(entry.column) == 3;
}

[[gnu::noinline]] void add_any_image(const RowBlock& block, int n, const double* j, const double* v, double* u) {
  rows::dispatch(block.size, n, [&]<int M, int N>() { rows::add_image<M, N>(block.size, n, j, v, u); });
}

[[gnu::noinline]] void add_any_impulse(const RowBlock& block, int n, const double* j, const double* lambda, double* v) {
  rows::dispatch(block.size, n, [&]<int M, int N>() { rows::add_transposed<M, N>(block.size, n, j, lambda, v); });
}

/// u += J v of a block.
inline void add_block_image(const Problem& problem, const RowBlock& block, const VecX& v, VecX* u) {
  double* out = u->data() + block.row;
  for (int e = block.entry; e < block.entry + block.entries; ++e) {
    const JacobianEntry& entry = problem.entries[e];
    const double* j = problem.jacobian.data() + entry.offset;
    const double* at = v.data() + problem.column_start[entry.column];
    if (is_contact_of_bodies(problem, block, entry))
      rows::add_image<3, 6>(3, 6, j, at, out);
    else if (is_planar_contact(problem, block, entry))
      rows::add_image<2, 3>(2, 3, j, at, out);
    else
      add_any_image(block, problem.column_size(entry.column), j, at, out);
  }
}

/// v += J^T lambda of a block.
inline void add_block_impulse(const Problem& problem, const RowBlock& block, const VecX& lambda, VecX* v) {
  const double* impulse = lambda.data() + block.row;
  for (int e = block.entry; e < block.entry + block.entries; ++e) {
    const JacobianEntry& entry = problem.entries[e];
    const double* j = problem.jacobian.data() + entry.offset;
    double* out = v->data() + problem.column_start[entry.column];
    if (is_contact_of_bodies(problem, block, entry))
      rows::add_transposed<3, 6>(3, 6, j, impulse, out);
    else if (is_planar_contact(problem, block, entry))
      rows::add_transposed<2, 3>(2, 3, j, impulse, out);
    else
      add_any_impulse(block, problem.column_size(entry.column), j, impulse, out);
  }
}

}  // namespace

void update_row_image(const Problem& problem, const VecX& v, VecX* u, const ThreadTeam* team) {
  *u = Eigen::Map<const VecX>(problem.c.data(), problem.rows());
  for_portions(team, problem.blocks.size(), kImagePortion, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) add_block_image(problem, problem.blocks[i], v, u);
  });
}

void update_row_velocity(const Problem& problem, const VecX& v, const VecX& lambda, VecX* w, const ThreadTeam* team) {
  update_row_image(problem, v, w, team);
  for (int r = 0; r < problem.rows(); ++r) (*w)[r] += problem.compliance[r] * lambda[r];
  if (problem.coupling.empty()) return;
  add_coupled(problem.coupling, 0, problem.rows(), lambda.data(), w->data());
}

void update_row_velocity(const Problem& problem, const ProblemPart& part, const VecX& v, const VecX& lambda, VecX* w,
                         const ThreadTeam* team) {
  for_portions(team, part.blocks.size(), kImagePortion, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const RowBlock& block = problem.blocks[part.blocks[i]];
      for (int r = block.row; r < block.row + block.size; ++r) (*w)[r] = problem.c[r];
      add_block_image(problem, block, v, w);
      for (int r = block.row; r < block.row + block.size; ++r) (*w)[r] += problem.compliance[r] * lambda[r];
    }
  });
}

void update_velocity(const Problem& problem, const MassBlocks& masses, const VecX& lambda, VecX* v) {
  *v = Eigen::Map<const VecX>(problem.b.data(), problem.unknowns());
  for (const RowBlock& block : problem.blocks) add_block_impulse(problem, block, lambda, v);
  divide_by_masses(problem, masses, v, nullptr);
}

void update_velocity(const Problem& problem, const MassBlocks& masses, const ProblemPart& part, const VecX& lambda,
                     VecX* v) {
  for (const int k : part.columns)
    for (int i = problem.column_start[k]; i < problem.column_start[k + 1]; ++i) (*v)[i] = problem.b[i];
  for (const int i : part.blocks) add_block_impulse(problem, problem.blocks[i], lambda, v);
  for (const int k : part.columns) divide_by_mass(problem, masses, k, v);
}

void update_free_velocity(const Problem& problem, const MassBlocks& masses, VecX* v, const ThreadTeam* team) {
  *v = Eigen::Map<const VecX>(problem.b.data(), problem.unknowns());
  divide_by_masses(problem, masses, v, team);
}

void update_free_velocity(const Problem& problem, const MassBlocks& masses, const ProblemPart& part, VecX* v) {
  for (const int k : part.columns) {
    for (int i = problem.column_start[k]; i < problem.column_start[k + 1]; ++i) (*v)[i] = problem.b[i];
    divide_by_mass(problem, masses, k, v);
  }
}

void add_images(const Problem& problem, const RowBlock& block, const JacobianEntry& entry, const double* x,
                const double* y, double* u, double* w) {
  const int m = block.size, n = problem.column_size(entry.column);
  const double* j = problem.jacobian.data() + entry.offset;
  rows::dispatch(m, n, [&]<int M, int N>() {
    rows::add_image<M, N>(m, n, j, x, u);
    rows::add_image<M, N>(m, n, j, y, w);
  });
}

void update_diagonal(const Problem& problem, const MassBlocks& masses, const RowBlock& block,
                     const JacobianEntry& entry, double* diagonal) {
  const int n = problem.column_size(entry.column);
  const double* j = problem.jacobian.data() + entry.offset;
  const double* inverse = masses.inverse(entry.column).data();
  if (masses.is_body(entry.column))
    return block.size == 3 ? rows::set_body_diagonal<3>(3, j, inverse, diagonal)
                           : rows::set_body_diagonal<rows::kAny>(block.size, j, inverse, diagonal);
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
    if (!problem.coupling.empty()) trace += coupled_diagonal(problem.coupling, r);
  }
  return trace / block.size;
}

void update_joint_diagonal(const Problem& problem, const MassBlocks& masses, const RowBlock& block, double* diagonal) {
  // Of the mean: what rounding leaves of a row that nothing moves is 1e-32 of it; metres against radians are 1e-18 for
  // parts of a nanometre.
  constexpr double kNothing = 1e-22;
  std::fill_n(diagonal, block.size, 0.0);
  for (int e = block.entry; e < block.entry + block.entries; ++e) {
    double own[6];
    update_diagonal(problem, masses, block, problem.entries[e], own);
    for (int k = 0; k < block.size; ++k) diagonal[k] += own[k];
  }
  double mean = 0;
  for (int k = 0; k < block.size; ++k) {
    const int r = block.row + k;
    diagonal[k] += problem.compliance[r];
    if (!problem.coupling.empty()) diagonal[k] += coupled_diagonal(problem.coupling, r);
    mean += diagonal[k] / block.size;
  }
  for (int k = 0; k < block.size; ++k)
    if (!(diagonal[k] > kNothing * mean)) diagonal[k] = mean > 0 ? mean : 1;
}

}  // namespace slipstick
