#include "solve/open_rows.h"

#include <algorithm>
#include <cmath>

namespace slipstick {

namespace {

constexpr int kLeastColumns = 3;          // smaller problems are solved as quickly whole
constexpr double kLeastOpenShare = 0.05;  // of the blocks
// Normal velocity from which a contact counts as far, over the velocities that this step's forces and impulses make.
constexpr double kFar = 1;

bool may_open(const RowBlock& block) {
  return block.law == LawKind::Friction || (block.law == LawKind::Nonnegative && block.size == 1);
}

/// w_n = J_n v + c_n of a block without impulse.
double calc_normal_velocity(const Problem& problem, const RowBlock& block, const VecX& v) {
  double w = problem.c[block.row];
  for (int e = block.entry; e < block.entry + block.entries; ++e) {
    const int column = problem.entries[e].column, n = problem.column_size(column);
    const double* j = problem.jacobian.data() + problem.entries[e].offset;
    const double* at = v.data() + problem.column_start[column];
    for (int k = 0; k < n; ++k) w += j[k] * at[k];
  }
  return w;
}

}  // namespace

/// Impulses undo at most about what forces do in the same step, so this change of the normals' velocities is a measure
/// of what the answer may differ from the guess.
double OpenRows::calc_far(const Problem& problem, const VecX& v, MassBlocks* masses) {
  masses->update(problem);
  update_free_velocity(problem, *masses, &free_);
  double sum = 0;
  int count = 0;
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
    if (!may_open(problem.blocks[i])) continue;
    speed_[i] = calc_normal_velocity(problem, problem.blocks[i], v);
    const double change = calc_normal_velocity(problem, problem.blocks[i], free_) - speed_[i];
    sum += change * change;
    ++count;
  }
  return count > 0 ? kFar * std::sqrt(sum / count) : 0;
}

bool OpenRows::find(const Problem& problem, const Solution& guess, MassBlocks* masses) {
  const std::size_t count = problem.blocks.size();
  if (problem.columns() < kLeastColumns || !problem.coupling.empty()) return false;
  if (!guess.v.allFinite() || !guess.lambda.allFinite()) return false;
  const double least = kLeastOpenShare * static_cast<double>(count);
  left_out_.assign(count, 0);
  int open = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const RowBlock& block = problem.blocks[i];
    left_out_[i] = may_open(block) && guess.lambda.segment(block.row, block.size).isZero(0);
    open += left_out_[i];
  }
  if (open <= least) return false;
  speed_.resize(count);
  taken_back_.assign(count, 0);
  const double far = calc_far(problem, guess.v, masses);
  open = 0;
  for (std::size_t i = 0; i < count; ++i) {
    left_out_[i] = left_out_[i] && speed_[i] > far;
    open += left_out_[i];
  }
  if (open <= least) return false;
  update_row_image(problem, free_, &free_rows_);
  return true;
}

double OpenRows::calc_looseness(const Problem& problem) const {
  double closed = 0;
  bool rubs = false;
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
    const RowBlock& block = problem.blocks[i];
    rubs = rubs || (block.law == LawKind::Friction && block.mu > 0);
    if (!left_out_[i]) closed += free_rows_.segment(block.row, block.size).squaredNorm();
  }
  return rubs && closed > 0 ? std::min(kMostLoose, std::sqrt(free_rows_.squaredNorm() / closed)) : 1;
}

bool OpenRows::take_back(const Problem& problem, const VecX& v) {
  bool any = false;
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
    taken_back_[i] = left_out_[i] && !(calc_normal_velocity(problem, problem.blocks[i], v) >= 0);
    if (taken_back_[i]) left_out_[i] = 0;
    any = any || taken_back_[i];
  }
  return any;
}

}  // namespace slipstick
