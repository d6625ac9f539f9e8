// From  M v = J r + f,  u = J^T v + w  with any sparse M (finite elements, joints inside M) to  u = W r + q,
// W = J^T M^-1 J, q = J^T M^-1 f + w. M is factored connected part by connected part: rows that touch different parts
// have no entry in W.
#pragma once

#include <slipstick/problem.h>

#include <Eigen/SparseCore>
#include <cstdint>
#include <memory>
#include <vector>

namespace slipstick {

class SparseMass {
 public:
  using Matrix = Eigen::SparseMatrix<double, Eigen::ColMajor, int>;

  SparseMass();
  ~SparseMass();
  SparseMass(SparseMass&&) noexcept;
  SparseMass& operator=(SparseMass&&) noexcept;

  /// False if M is singular.
  bool factor(const Matrix& mass, bool symmetric);
  VecX solve(const VecX& b) const;
  /// W as triplets sorted into rows by the caller; false if it has more than `max_entries` entries.
  bool condense(const Matrix& jacobian, std::int64_t max_entries, std::vector<Eigen::Triplet<double>>* entries) const;

 private:
  struct Part;
  int size_ = 0;
  std::vector<int> part_of_, place_in_;
  std::vector<std::unique_ptr<Part>> parts_;
};

/// Connected parts of a square pattern: the part of each index, numbered by first index.
std::vector<int> find_parts(const SparseMass::Matrix& matrix, int* count);

}  // namespace slipstick
