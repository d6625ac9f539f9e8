#include "solve/solvers/block_pivot.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "solve/natural_map.h"

namespace slipstick {

namespace {

constexpr double kFirstShift = 1e-9;     // delta over the Delassus diagonal: small enough that one or two rounds do
constexpr double kLargestShift = 1e-1;   // after failed factorizations
constexpr double kTie = 1e-13;           // signs below this part of the terms are rounding
constexpr double kFrozenWeight = 1e150;  // compliance of an equality block that takes no part
constexpr double kNoAnswer = 1e-9;       // of the speeds: a residual of the linear system above this is no answer
constexpr int kBlockLimit = 100, kPivotRefinements = 10, kPivotRounds = 60, kIdlePivotRounds = 3;
constexpr int kPivotPatience = 3;  // block pivots without fewer wrong signs, between least-index ones

}  // namespace

void update_pivot_bounds(const Problem& problem, std::span<const char> takes_part, const VecX& frozen, VecX* lower,
                         VecX* upper) {
  *lower = frozen;
  *upper = frozen;
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
    if (!takes_part.empty() && !takes_part[i]) continue;
    const RowBlock& block = problem.blocks[i];
    const int count = block.law == LawKind::Friction ? 1 : block.size;
    for (int r = block.row; r < block.row + count; ++r) {
      const bool box = block.law == LawKind::Box;
      (*lower)[r] = box ? problem.lower[r] : block.law == LawKind::Equality ? -kInfinity : 0.0;
      (*upper)[r] = box ? problem.upper[r] : kInfinity;
    }
  }
}

bool BoundedPivot::prepare(const Problem& problem) {
  problem_ = &problem;
  const bool local = !problem.coupling.empty();
  if (local && problem.columns() > 0) return false;
  if (local)
    system_ = &dual_;
  else
    system_ = &primal_;
  system_->prepare(problem);
  maps_.resize(problem);
  const int rows = problem.rows();
  diagonal_.resize(rows);
  delta_.resize(rows);
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
    const RowBlock& block = problem.blocks[i];
    const double mean = system_->mean_diagonal(static_cast<int>(i));
    for (int r = block.row; r < block.row + block.size; ++r)
      diagonal_[r] = block.law == LawKind::Equality ? system_->joint_diagonal(r) : mean > 0 ? mean : 1;
  }
  x_.setZero(rows);
  system_->update_state(x_, &v_, &q_);
  scale_ = calc_residual_scale(problem, v_, q_);
  speed_ = rows > 0 ? q_.cwiseAbs().maxCoeff() : 0;
  if (problem.unknowns() > 0) speed_ = std::max(speed_, v_.cwiseAbs().maxCoeff());
  factored_.clear();
  shift_ = kFirstShift;
  if (static_cast<int>(sets_.size()) != rows) sets_.assign(rows, Set::Free);
  return true;
}

void BoundedPivot::set_row(int row, Set set) {
  sets_[row] = set;
  if (set == Set::Lower || set == Set::Fixed) x_[row] = lower_[row];
  if (set == Set::Upper) x_[row] = upper_[row];
}

void BoundedPivot::sort_row(int row) {
  if (lower_[row] == upper_[row]) return set_row(row, Set::Fixed);
  if (x_[row] <= lower_[row]) return set_row(row, Set::Lower);
  if (x_[row] >= upper_[row]) return set_row(row, Set::Upper);
  sets_[row] = Set::Free;
}

void BoundedPivot::begin(const VecX& guess, Start start) {
  const int rows = problem_->rows();
  report_ = {};
  if (guess.size() == rows && guess.allFinite())
    x_ = guess;
  else
    x_.setZero(rows);
  for (int r = 0; r < rows; ++r) {
    if (lower_[r] == upper_[r] || start == Start::FromImpulses || sets_[r] == Set::Fixed) {
      sort_row(r);
    } else if ((sets_[r] == Set::Lower && !std::isfinite(lower_[r])) ||
               (sets_[r] == Set::Upper && !std::isfinite(upper_[r]))) {
      sort_row(r);
    } else {
      set_row(r, sets_[r]);
      x_[r] = std::clamp(x_[r], lower_[r], upper_[r]);
    }
  }

  factored_.clear();
}

void BoundedPivot::refresh() {
  system_->update_state(x_, &v_, &u_);
  w_ = u_ + Eigen::Map<const VecX>(problem_->compliance.data(), problem_->rows()).cwiseProduct(x_);
}

void BoundedPivot::evaluate(const VecX& x) {
  x_ = x;
  refresh();
}

/// Natural map row by row for the bounds as they are; frozen rows have none.
double BoundedPivot::calc_residual() const {
  double sum = 0;
  for (int r = 0; r < problem_->rows(); ++r) {
    if (sets_[r] == Set::Fixed) continue;
    const double y = x_[r] - w_[r] / diagonal_[r];
    const double f = w_[r] + (y - std::clamp(y, lower_[r], upper_[r])) * diagonal_[r];
    sum += f * f;
  }
  return calc_relative(std::sqrt(sum), scale_);
}

void BoundedPivot::update_ties() {
  double largest = speed_;
  for (int r = 0; r < problem_->rows(); ++r) largest = std::max(largest, diagonal_[r] * std::abs(x_[r]));
  tie_ = kTie * largest;
}

void BoundedPivot::set_shift(double shift) {
  shift_ = shift;
  factored_.clear();
}

bool BoundedPivot::factor_sets() {
  if (factored_ == sets_) return true;
  delta_ = shift_ * diagonal_;
  maps_.symmetric = true;
  for (std::size_t i = 0; i < problem_->blocks.size(); ++i) {
    const RowBlock& block = problem_->blocks[i];
    double* d = maps_.d.data() + maps_.start[i];
    std::fill_n(d, block.size * block.size, 0.0);
    maps_.zero[i] = 1;
    for (int k = 0; k < block.size; ++k) {
      const int r = block.row + k;
      maps_.weight[r] = is_free(r) ? problem_->compliance[r] + delta_[r] : kFrozenWeight;
      if (!is_free(r)) continue;
      maps_.zero[i] = 0;
      d[k * block.size + k] = 1 / (problem_->compliance[r] + delta_[r]);
    }
  }
  ++report_.factorizations;
  if (!system_->factor(maps_)) {
    factored_.clear();
    return false;
  }
  factored_ = sets_;
  return true;
}

/// x_free := the answer of w + delta (x - centre) = 0 on the free rows, refined with the problem's own data. False: the
/// factor is too inaccurate for that.
bool BoundedPivot::move_to_minimum() {
  double last = kInfinity;
  dx_.setZero(x_.size());
  for (int pass = 0; pass < kPivotRefinements; ++pass) {
    refresh();
    double size = 0;
    maps_.g.setZero();
    for (const RowBlock& block : problem_->blocks) {
      for (int r = block.row; r < block.row + block.size; ++r) {
        if (!is_free(r)) continue;
        const double residual = w_[r] + delta_[r] * (x_[r] - centre_[r]);
        size = std::max(size, std::abs(residual));
        const bool equality = block.law == LawKind::Equality;
        maps_.g[r] = equality ? -residual : -residual / (problem_->compliance[r] + delta_[r]);
      }
    }
    if (!(size < 0.5 * last) || size == 0) {  // no digit is gained any more
      if (size > last) {
        for (int r = 0; r < x_.size(); ++r) x_[r] -= is_free(r) ? dx_[r] : 0;
        refresh();
      }
      last = std::min(last, size);
      break;
    }
    last = size;
    system_->solve(maps_, &dx_, &du_);
    for (int r = 0; r < x_.size(); ++r) x_[r] += is_free(r) ? dx_[r] : 0;
  }
  update_ties();
  return x_.allFinite() && last <= std::max(kNoAnswer * speed_, 1e3 * tie_);
}

double BoundedPivot::violation(int r) const {
  const double w = w_[r] + delta_[r] * (x_[r] - centre_[r]);
  switch (sets_[r]) {
    case Set::Free:
      return std::max(lower_[r] - x_[r], x_[r] - upper_[r]) * diagonal_[r] / tie_;
    case Set::Lower:
      return -w / tie_;
    case Set::Upper:
      return w / tie_;
    case Set::Fixed:
      break;
  }
  return 0;
}

void BoundedPivot::flip(int r) {
  ++report_.set_changes;
  if (sets_[r] != Set::Free) {
    sets_[r] = Set::Free;
  } else {
    set_row(r, x_[r] < lower_[r] ? Set::Lower : Set::Upper);
  }
}

std::uint64_t BoundedPivot::calc_hash() const {
  std::uint64_t hash = 14695981039346656037ull;
  for (const Set set : sets_) hash = (hash ^ static_cast<std::uint64_t>(set)) * 1099511628211ull;
  return hash ^ (hash >> 29);
}

bool BoundedPivot::run_block() {
  seen_.clear();
  for (int k = 0; k < kBlockLimit; ++k) {
    if (!factor_sets()) return false;
    seen_.push_back(calc_hash());
    if (!move_to_minimum()) return false;
    int changes = 0;
    for (int r = 0; r < problem_->rows(); ++r) {
      if (!(violation(r) > 1)) continue;
      flip(r);
      ++changes;
    }
    if (changes == 0) return true;
    ++report_.block_pivots;
    if (std::find(seen_.begin(), seen_.end(), calc_hash()) == seen_.end()) continue;
    report_.cycled = true;
    return false;
  }
  return false;
}

/// From start_ (within bounds) towards x_: stops where the first free rows meet a bound, which then leave. False: none.
bool BoundedPivot::leave_at_bounds(int entered) {
  const auto calc_room = [this](int r) {  // share of the way to the bound; > 1: not met
    if (!is_free(r) || !(violation(r) > 1)) return 2.0;
    const double bound = x_[r] < lower_[r] ? lower_[r] : upper_[r];
    return std::clamp((bound - start_[r]) / (x_[r] - start_[r]), 0.0, 1.0);
  };
  double step = 2;
  for (int r = 0; r < problem_->rows(); ++r) step = std::min(step, calc_room(r));
  if (step > 1) return false;
  if (step > 0) std::fill(ignored_.begin(), ignored_.end(), 0);
  for (int r = 0; r < problem_->rows(); ++r) {
    if (!is_free(r)) continue;
    const bool leaves = calc_room(r) <= step;
    if (!leaves) {
      dx_[r] = start_[r] + step * (x_[r] - start_[r]);
      continue;
    }
    if (step == 0 && r == entered) ignored_[r] = 1;  // its sign was rounding: it cannot move
    flip(r);
    dx_[r] = x_[r];
  }
  for (int r = 0; r < problem_->rows(); ++r)
    if (is_free(r)) x_[r] = std::clamp(dx_[r], lower_[r], upper_[r]);
  return true;
}

bool BoundedPivot::run_keller() {
  const int rows = problem_->rows(), limit = 20 * rows + 100;
  for (int r = 0; r < rows; ++r) {
    if (!std::isfinite(x_[r])) x_[r] = centre_[r];
    sort_row(r);
  }
  ignored_.assign(rows, 0);
  int entered = -1;
  for (int k = 0; k < limit; ++k) {
    if (!factor_sets()) return false;
    start_ = x_;
    if (!move_to_minimum()) return false;
    if (leave_at_bounds(entered)) {
      ++report_.single_pivots;
      continue;
    }
    entered = -1;
    double worst = 1;
    for (int r = 0; r < rows; ++r) {
      if (ignored_[r] || is_free(r)) continue;
      const double value = violation(r);
      if (!(value > worst)) continue;
      worst = value;
      entered = r;
    }
    if (entered < 0) return true;
    flip(entered);
    ++report_.single_pivots;
  }
  return false;
}

/// Least-index pivots; with blocks, each time the count of wrong signs has fallen below its least so far, whole sets
/// are tried again for a while [JudicePires94].
bool BoundedPivot::run_murty(bool blocks) {
  const int rows = problem_->rows(), limit = 5 * rows + 100;
  int fewest = rows + 1, patience = 0;
  for (int k = 0; k < limit; ++k) {
    if (!factor_sets()) return false;
    if (!move_to_minimum()) return false;
    int wrong = 0, least = -1;
    for (int r = 0; r < rows; ++r) {
      if (!(violation(r) > 1)) continue;
      ++wrong;
      if (least < 0) least = r;
    }
    if (wrong == 0) return true;
    if (wrong < fewest) {
      fewest = wrong;
      patience = blocks ? kPivotPatience : 0;
    }
    if (patience-- > 0) {
      for (int r = least; r < rows; ++r)
        if (violation(r) > 1) flip(r);
      ++report_.block_pivots;
    } else {
      flip(least);
      ++report_.single_pivots;
    }
  }
  return false;
}

bool BoundedPivot::run_pivots(Rule rule) {
  const bool blocks = rule == Rule::Block;
  if (blocks && run_block()) return true;
  if (blocks && !problem_->symmetric && shift_ < kLargestShift) return false;  // a larger shift first, cheaper
  return problem_->symmetric ? run_keller() : run_murty(blocks);
}

PivotReport BoundedPivot::solve(const VecX& lower, const VecX& upper, double tolerance, double goal, Rule rule,
                                Start start, VecX* x) {
  lower_ = lower;
  upper_ = upper;
  begin(*x, start);
  refresh();
  double best = calc_residual(), last = best;
  best_ = x_;
  int idle = 0;
  for (int round = 0; round < kPivotRounds && best > goal; ++round) {
    centre_ = x_;
    if (!run_pivots(rule)) {
      x_ = best_;
      for (int r = 0; r < problem_->rows(); ++r) sort_row(r);
      if (shift_ >= kLargestShift) break;
      set_shift(100 * shift_);
      continue;
    }
    for (int r = 0; r < problem_->rows(); ++r) x_[r] = std::clamp(x_[r], lower_[r], upper_[r]);
    refresh();
    const double residual = calc_residual();
    if (residual < best) {
      best = residual;
      best_ = x_;
    }
    const bool slow = !(residual < 0.5 * last) && shift_ <= kFirstShift;
    if (slow && (best <= tolerance || ++idle > kIdlePivotRounds)) break;
    last = residual;
    if (shift_ > kFirstShift) set_shift(std::max(kFirstShift, 0.1 * shift_));  // a shift slows the rounds
  }
  x_ = best_;
  refresh();
  report_.residual = best;
  *x = x_;
  return report_;
}

}  // namespace slipstick
