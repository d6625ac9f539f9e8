#include "solve/solvers/swept_columns.h"

#include <algorithm>

#include "base/thread_team.h"
#include "solve/solvers/inverse_root.h"

namespace slipstick {

namespace {

constexpr std::size_t kRootPortion = 256;  // columns

}  // namespace

void SweptColumns::update(const Problem& problem, const ProblemPart& part, const ThreadTeam* team) {
  problem_ = &problem;
  part_ = part;
  root_.resize(count());
  is_body_.resize(count());
  free_y_.resize(count());
  for_portions(team, count(), kRootPortion, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const int k = part_.columns[i];
      const double* mass = problem.mass.data() + problem.mass_start[k];
      const int n = problem.column_size(k);
      is_body_[i] = n == 6 && update_body_root(mass, root_[i].data());
      if (!is_body_[i]) update_inverse_root(n, mass, root_[i].data());
    }
  });
  set_forces(problem.b, team);
}

void SweptColumns::set_forces(std::span<const double> b, const ThreadTeam* team) {
  for_portions(team, count(), kRootPortion, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const int k = part_.columns[i];
      free_y_[i] = {};
      multiply_root(root_[i].data(), problem_->column_size(k), b.data() + problem_->column_start[k], free_y_[i].data());
    }
  });
}

void SweptColumns::update_rows(int block, double (*j)[18], double (*d)[3]) const {
  const Problem& p = *problem_;
  const RowBlock& rows = p.blocks[block];
  for (int e = 0; e < rows.entries; ++e) {
    const JacobianEntry& entry = p.entries[rows.entry + e];
    const int n = p.column_size(entry.column), column = local_column(entry);
    const double* from = p.jacobian.data() + entry.offset;
    for (int r = 0; r < rows.size; ++r) {
      if (is_body_[column]) {
        multiply_body_root(root_[column].data(), from + r * n, j[e] + 6 * r);
      } else {
        multiply_root(root_[column].data(), n, from + r * n, j[e] + 6 * r);
      }
    }
    for (int r = 0; r < rows.size; ++r)
      for (int s = 0; s <= r; ++s)
        for (int k = 0; k < 6; ++k) d[r][s] += j[e][6 * r + k] * j[e][6 * s + k];
  }
  for (int r = 0; r < rows.size; ++r) d[r][r] += p.compliance[rows.row + r];
}

double SweptColumns::calc_largest_root() const {
  double largest = 0;
  for (const std::array<double, 36>& root : root_)
    for (int k = 0; k < 6; ++k) largest = std::max(largest, root[7 * k]);
  return largest;
}

void SweptColumns::add_force(int block, const double* impulse, std::vector<Six>* forces) const {
  const Problem& p = *problem_;
  const RowBlock& rows = p.blocks[block];
  for (int e = rows.entry; e < rows.entry + rows.entries; ++e) {
    const int n = p.column_size(p.entries[e].column);
    const double* j = p.jacobian.data() + p.entries[e].offset;
    double* force = (*forces)[local_column(p.entries[e])].data();
    for (int r = 0; r < rows.size; ++r) {
      if (n == 6) {  // known to the compiler
        for (int k = 0; k < 6; ++k) force[k] += j[6 * r + k] * impulse[r];
      } else {
        for (int k = 0; k < n; ++k) force[k] += j[r * n + k] * impulse[r];
      }
    }
  }
}

SweptColumns::Six SweptColumns::calc_y(std::size_t column, const Six& force) const {
  Six y{};
  multiply_root(root_[column].data(), problem_->column_size(part_.columns[column]), force.data(), y.data());
  return y;
}

}  // namespace slipstick
