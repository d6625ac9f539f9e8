#include "solve/solvers/direct_half.h"

#include <algorithm>

#include "solve/row_kernels.h"
#include "solve/solvers/solvers.h"

namespace slipstick {

namespace {

constexpr double kHalfGoal = 1e-12;
constexpr double kHalfShare = 0.1;  // of the tolerance: what friction in the half is asked for

}  // namespace

DirectHalf::DirectHalf() : newton_(make_newton()) {}

/// Rows of the block that belong to the half: the first so many.
int DirectHalf::count_rows(int i) const {
  const RowBlock& block = problem_->blocks[i];
  if (!takes_part_[i]) return 0;
  return block.mode == SolveMode::Split && block.law == LawKind::Friction ? 1 : block.size;
}

bool DirectHalf::prepare(const Problem& problem, double tolerance) {
  problem_ = &problem;
  tolerance_ = std::max(kHalfGoal, kHalfShare * tolerance);
  swept_ = friction_ = false;
  takes_part_.assign(problem.blocks.size(), 1);
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
    const RowBlock& block = problem.blocks[i];
    takes_part_[i] = block.mode != SolveMode::Iterative;
    swept_ = swept_ || block.mode != SolveMode::Direct;
    friction_ = friction_ || (block.mode == SolveMode::Direct && block.law == LawKind::Friction);
  }
  if (!problem.coupling.empty() && problem.columns() > 0) return false;
  if (!friction_) return pivot_.prepare(problem);
  make_part();
  return true;
}

double DirectHalf::solve(double scale, VecX* x) { return friction_ ? solve_friction(scale, x) : solve_bounds(x); }

double DirectHalf::solve_bounds(VecX* x) {
  update_pivot_bounds(*problem_, takes_part_, *x, &lower_, &upper_);
  return pivot_
      .solve(lower_, upper_, kHalfGoal, kHalfGoal, BoundedPivot::Rule::Block, BoundedPivot::Start::FromImpulses, x)
      .residual;
}

/// All columns; the half's blocks, a split contact's normal as a one-sided row.
void DirectHalf::make_part() {
  const Problem& p = *problem_;
  part_.clear();
  part_.symmetric = p.symmetric;
  part_row_.assign(p.rows(), -1);
  for (int k = 0; k < p.columns(); ++k) part_.add_column(p.column_size(k)) = p.mass_block(k);
  for (std::size_t i = 0; i < p.blocks.size(); ++i) {
    const RowBlock& block = p.blocks[i];
    const int count = count_rows(static_cast<int>(i));
    if (count == 0) continue;
    RowBlock& copy = part_.add_block(count < block.size ? LawKind::Nonnegative : block.law, count);
    copy.friction = block.friction;
    copy.facets = block.facets;
    copy.mu = block.mu;
    const int row = copy.row;
    for (int k = 0; k < count; ++k) {
      part_row_[block.row + k] = row + k;
      part_.c[row + k] = p.c[block.row + k];
      part_.compliance[row + k] = p.compliance[block.row + k];
      part_.lower[row + k] = p.lower[block.row + k];
      part_.upper[row + k] = p.upper[block.row + k];
    }
    for (int e = block.entry; e < block.entry + block.entries; ++e)
      part_.add_entry(p.entries[e].column) = p.jacobian_block(block, p.entries[e]).topRows(count);
  }
  offset_ = part_.c;
  if (p.coupling.empty()) return;
  part_.coupling.start.assign(1, 0);
  for (int r = 0; r < p.rows(); ++r) {
    if (part_row_[r] < 0) continue;
    for (int k = p.coupling.start[r]; k < p.coupling.start[r + 1]; ++k) {
      if (part_row_[p.coupling.column[k]] < 0) continue;
      part_.coupling.column.push_back(part_row_[p.coupling.column[k]]);
      part_.coupling.value.push_back(p.coupling.value[k]);
    }
    part_.coupling.start.push_back(static_cast<int>(part_.coupling.column.size()));
  }
}

/// The held impulses' share of b, and through a coupling of c.
void DirectHalf::hold_others(const VecX& x) {
  const Problem& p = *problem_;
  part_.b = p.b;
  for (std::size_t i = 0; i < p.blocks.size(); ++i) {
    const RowBlock& block = p.blocks[i];
    double held[6];
    for (int k = 0; k < block.size; ++k) held[k] = part_row_[block.row + k] < 0 ? x[block.row + k] : 0;
    if (std::all_of(held, held + block.size, [](double value) { return value == 0; })) continue;
    for (int e = block.entry; e < block.entry + block.entries; ++e) {
      const JacobianEntry& entry = p.entries[e];
      rows::add_transposed<rows::kAny, rows::kAny>(block.size, p.column_size(entry.column),
                                                   p.jacobian.data() + entry.offset, held,
                                                   part_.b.data() + p.column_start[entry.column]);
    }
  }
  for (int r = 0; r < p.rows() && !p.coupling.empty(); ++r) {
    if (part_row_[r] < 0) continue;
    double share = 0;
    for (int k = p.coupling.start[r]; k < p.coupling.start[r + 1]; ++k)
      if (part_row_[p.coupling.column[k]] < 0) share += p.coupling.value[k] * x[p.coupling.column[k]];
    part_.c[part_row_[r]] = offset_[part_row_[r]] + share;
  }
}

double DirectHalf::solve_friction(double scale, VecX* x) {
  hold_others(*x);
  answer_.lambda.resize(part_.rows());
  for (std::size_t r = 0; r < part_row_.size(); ++r)
    if (part_row_[r] >= 0) answer_.lambda[part_row_[r]] = (*x)[static_cast<Eigen::Index>(r)];
  answer_.v.setZero(part_.unknowns());
  answer_.w.setZero(part_.rows());
  newton_->solve(part_, tolerance_, &answer_);
  const Residuals residuals = judge_.certify(part_, answer_);
  for (std::size_t r = 0; r < part_row_.size(); ++r)
    if (part_row_[r] >= 0) (*x)[static_cast<Eigen::Index>(r)] = answer_.lambda[part_row_[r]];
  return residuals.scale > 0 && scale > 0 ? residuals.relative * residuals.scale / scale : residuals.relative;
}

}  // namespace slipstick
