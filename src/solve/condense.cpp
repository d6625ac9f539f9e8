#include "solve/condense.h"

#include <Eigen/LU>
#include <Eigen/SparseCholesky>
#include <Eigen/SparseLU>
#include <algorithm>
#include <numeric>

namespace slipstick {

namespace {

constexpr int kDenseSize = 32;  // smaller parts are factored as dense matrices

int find_root(std::vector<int>* parent, int i) {
  while ((*parent)[i] != i) i = (*parent)[i] = (*parent)[(*parent)[i]];
  return i;
}

}  // namespace

std::vector<int> find_parts(const SparseMass::Matrix& matrix, int* count) {
  const int n = static_cast<int>(matrix.rows());
  std::vector<int> parent(n);
  std::iota(parent.begin(), parent.end(), 0);
  for (int c = 0; c < matrix.outerSize(); ++c)
    for (SparseMass::Matrix::InnerIterator it(matrix, c); it; ++it) {
      if (it.value() == 0) continue;
      const int a = find_root(&parent, static_cast<int>(it.row())), b = find_root(&parent, c);
      parent[std::max(a, b)] = std::min(a, b);
    }
  std::vector<int> part(n, -1);
  *count = 0;
  for (int i = 0; i < n; ++i) {
    const int root = find_root(&parent, i);
    if (root == i) part[i] = (*count)++;
    part[i] = part[root];
  }
  return part;
}

struct SparseMass::Part {
  std::vector<int> unknowns;
  Eigen::PartialPivLU<MatX> dense;
  Eigen::SimplicialLDLT<Matrix> symmetric;
  Eigen::SparseLU<Matrix> general;
  enum { Dense, Symmetric, General } kind = Dense;

  MatX solve(const MatX& b) const {
    if (kind == Dense) return dense.solve(b);
    if (kind == Symmetric) return symmetric.solve(b);
    return general.solve(b);
  }
};

SparseMass::SparseMass() = default;
SparseMass::~SparseMass() = default;
SparseMass::SparseMass(SparseMass&&) noexcept = default;
SparseMass& SparseMass::operator=(SparseMass&&) noexcept = default;

bool SparseMass::factor(const Matrix& mass, bool symmetric) {
  size_ = static_cast<int>(mass.rows());
  int count = 0;
  part_of_ = find_parts(mass, &count);
  place_in_.resize(size_);
  parts_.clear();
  for (int k = 0; k < count; ++k) parts_.push_back(std::make_unique<Part>());
  for (int i = 0; i < size_; ++i) {
    std::vector<int>& list = parts_[part_of_[i]]->unknowns;
    place_in_[i] = static_cast<int>(list.size());
    list.push_back(i);
  }
  for (const auto& part : parts_) {
    const int n = static_cast<int>(part->unknowns.size());
    std::vector<Eigen::Triplet<double>> entries;
    for (int c = 0; c < n; ++c)
      for (Matrix::InnerIterator it(mass, part->unknowns[c]); it; ++it)
        if (it.value() != 0) entries.emplace_back(place_in_[it.row()], c, it.value());
    Matrix own(n, n);
    own.setFromTriplets(entries.begin(), entries.end());
    if (n <= kDenseSize) {
      part->dense.compute(MatX(own));
      if (!(part->dense.rcond() > 1e-300)) return false;
      continue;
    }
    part->kind = symmetric ? Part::Symmetric : Part::General;
    if (symmetric) part->symmetric.compute(own);
    if (symmetric && part->symmetric.info() == Eigen::Success) continue;
    part->kind = Part::General;
    part->general.compute(own);
    if (part->general.info() != Eigen::Success) return false;
  }
  return true;
}

VecX SparseMass::solve(const VecX& b) const {
  VecX x(size_);
  for (const auto& part : parts_) {
    const int n = static_cast<int>(part->unknowns.size());
    MatX own(n, 1);
    for (int i = 0; i < n; ++i) own(i, 0) = b[part->unknowns[i]];
    own = part->solve(own);
    for (int i = 0; i < n; ++i) x[part->unknowns[i]] = own(i, 0);
  }
  return x;
}

bool SparseMass::condense(const Matrix& jacobian, std::int64_t max_entries,
                          std::vector<Eigen::Triplet<double>>* entries) const {
  std::vector<std::vector<int>> rows(parts_.size());
  for (int r = 0; r < jacobian.outerSize(); ++r)
    for (Matrix::InnerIterator it(jacobian, r); it; ++it) {
      std::vector<int>& list = rows[part_of_[it.row()]];
      if (list.empty() || list.back() != r) list.push_back(r);
    }
  std::int64_t total = 0;
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    const std::int64_t m = static_cast<std::int64_t>(rows[k].size());
    total += m * m;
    if (total > max_entries || m * static_cast<std::int64_t>(parts_[k]->unknowns.size()) > max_entries) return false;
  }
  entries->clear();
  entries->reserve(total);
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    const int n = static_cast<int>(parts_[k]->unknowns.size()), m = static_cast<int>(rows[k].size());
    if (m == 0) continue;
    MatX own = MatX::Zero(n, m);
    for (int c = 0; c < m; ++c)
      for (Matrix::InnerIterator it(jacobian, rows[k][c]); it; ++it)
        if (part_of_[it.row()] == static_cast<int>(k)) own(place_in_[it.row()], c) = it.value();
    const MatX w = own.transpose() * parts_[k]->solve(own);
    for (int c = 0; c < m; ++c)
      for (int r = 0; r < m; ++r) entries->emplace_back(rows[k][r], rows[k][c], w(r, c));
  }
  return true;
}

}  // namespace slipstick
