// The columns of a part of a problem in the velocities y = L^T v, with A = L L^T, in which A is one.
#pragma once

#include <slipstick/problem.h>

#include <array>
#include <span>
#include <vector>

#include "solve/presolve.h"

namespace slipstick {

class ThreadTeam;

class SweptColumns {
 public:
  using Six = std::array<double, 6>;

  /// Keeps references.
  void update(const Problem& problem, const ProblemPart& part, const ThreadTeam* team);
  /// b of all columns of the problem, in place of its own.
  void set_forces(std::span<const double> b, const ThreadTeam* team);
  int count() const { return static_cast<int>(part_.columns.size()); }
  int local_column(const JacobianEntry& entry) const { return part_.local_column[entry.column]; }
  const Six& free_y(std::size_t column) const { return free_y_[column]; }  ///< without impulses
  /// The rows of a block in y, J' = J L^-T, of both columns, and the lower half of its Delassus block with compliance.
  void update_rows(int block, double (*j)[18], double (*d)[3]) const;
  /// The largest number on the diagonal of any L^-1: that of J' where rows have the size of one.
  double calc_largest_root() const;
  /// The first number of L^-1 of a column: of a body one over the root of its mass.
  double first_root(std::size_t column) const { return root_[column][0]; }
  /// forces[column] += J^T impulse, of a row block.
  void add_force(int block, const double* impulse, std::vector<Six>* forces) const;
  /// y of a force, as J^T lambda is one, and v of a y.
  Six calc_y(std::size_t column, const Six& force) const;
  template <class Number>
  void update_velocity(std::size_t column, const Number* y, VecX* v) const {
    const int k = part_.columns[column], n = problem_->column_size(k);
    const double* root = root_[column].data();
    for (int c = 0; c < n; ++c) {  // L^-T y
      double sum = 0;
      for (int r = c; r < n; ++r) sum += root[r * 6 + c] * y[r];
      (*v)[problem_->column_start[k] + c] = sum;
    }
  }

 private:
  const Problem* problem_ = nullptr;
  ProblemPart part_;
  std::vector<char> is_body_;                 ///< A = diag(m I_3, B)
  std::vector<std::array<double, 36>> root_;  ///< L^-1, lower rows first
  std::vector<Six> free_y_;
};

}  // namespace slipstick
