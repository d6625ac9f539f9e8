#include "solve/solvers/lemke_pivots.h"

#include <cmath>
#include <limits>

namespace slipstick {

namespace {

constexpr double kRefine = 1e-13;     // residual of a kernel solve from which one correction is worth its price
constexpr double kInaccurate = 1e-8;  // residual from which the inverse is rebuilt
constexpr double kVanished = 1e-9;    // z0 below which a missing ratio means that z0 is zero but for rounding

/// A fixed, portable pseudo-random sequence in [1, 2] (Knuth's MMIX congruence, upper bits).
class Sequence {
 public:
  explicit Sequence(std::uint32_t seed) : state_(0x9E3779B97F4A7C15ull * (seed + 1ull)) {}
  double next() {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return 1 + static_cast<double>(state_ >> 11) * 0x1p-53;
  }

 private:
  std::uint64_t state_;
};

}  // namespace

double LemkePivots::element(int row, int column) const {
  if (column == kArtificial) return cover_[row];
  return lcp_->entry(row, column) + (row == column ? settings_.shift : 0.0);
}

void LemkePivots::make_covering_vector(const std::vector<char>* start) {
  Sequence random(settings_.seed);
  cover_.resize(n_);
  for (int i = 0; i < n_; ++i) cover_[i] = random.next();
  if (start == nullptr) return;
  // d = B dhat: as z0 grows from zero every basic variable of the given basis grows at its rate dhat_i.
  dz_.setZero(n_);
  for (int i = 0; i < n_; ++i)
    if ((*start)[i]) dz_[i] = cover_[i];
  lcp_->multiply(dz_, &dw_);
  dw_ += settings_.shift * dz_;
  for (int i = 0; i < n_; ++i) cover_[i] = ((*start)[i] ? 0.0 : cover_[i]) - dw_[i];
}

bool LemkePivots::begin_cold() {
  double lowest = kInfinity;
  for (int i = 0; i < n_; ++i) {
    if (g_[i] / cover_[i] > lowest) continue;
    lowest = g_[i] / cover_[i];
    pair_ = i;
  }
  reserve_kernel(1);
  kernel_ = 1;
  kernel_rows_.assign(1, pair_);
  kernel_columns_.assign(1, kArtificial);
  return rebuild();
}

bool LemkePivots::begin_at(const std::vector<char>& start) {
  kernel_rows_.clear();
  for (int i = 0; i < n_; ++i)
    if (start[i]) kernel_rows_.push_back(i);
  const int m = static_cast<int>(kernel_rows_.size());
  active_ = start;
  z_.setZero(n_);
  if (m > 0) {
    reserve_kernel(m);
    for (int b = 0; b < m; ++b)
      for (int a = 0; a < m; ++a) matrix_(a, b) = element(kernel_rows_[a], kernel_rows_[b]);
    if (!lu_.factor(matrix_.topLeftCorner(m, m))) return false;
    for (int a = 0; a < m; ++a) right_[a] = -g_[kernel_rows_[a]];
    lu_.solve_in_place(right_.head(m));
    for (int a = 0; a < m; ++a) z_[kernel_rows_[a]] = right_[a];
  }
  lcp_->multiply(z_, &w_);
  w_ += settings_.shift * z_ + g_;
  Sequence random(settings_.seed);
  double lowest = kInfinity;
  for (int i = 0; i < n_; ++i) {
    const double ratio = (start[i] ? z_[i] : w_[i]) / random.next();
    if (!std::isfinite(ratio)) return false;
    if (ratio > lowest) continue;
    lowest = ratio;
    pair_ = i;
  }
  if (lowest >= 0) {  // the basis is feasible as it is
    z0_ = 0;
    return true;
  }
  kernel_columns_ = kernel_rows_;
  kernel_columns_.push_back(kArtificial);
  if (active_[pair_]) {
    std::erase(kernel_columns_, pair_);
    active_[pair_] = 0;
  } else {
    kernel_rows_.push_back(pair_);
  }
  kernel_ = static_cast<int>(kernel_rows_.size());
  return rebuild();
}

void LemkePivots::reserve_kernel(int size) {
  if (inverse_.rows() >= size) return;
  const int capacity = std::max(size, std::max(32, static_cast<int>(inverse_.rows() * 3 / 2)));
  inverse_.conservativeResize(capacity, capacity);
  matrix_.resize(capacity, capacity);
  for (VecX* vector : {&right_, &solution_, &border_row_, &border_column_}) vector->conservativeResize(capacity);
}

// The inverse and all basic variables from the data.
bool LemkePivots::rebuild() {
  since_rebuild_ = 0;
  reserve_kernel(kernel_);
  std::fill(row_at_.begin(), row_at_.end(), -1);
  std::fill(column_at_.begin(), column_at_.end(), -1);
  for (int b = 0; b < kernel_; ++b) {
    const int column = kernel_columns_[b];
    if (column != kArtificial) column_at_[column] = b;
    row_at_[kernel_rows_[b]] = b;
    for (int a = 0; a < kernel_; ++a) matrix_(a, b) = element(kernel_rows_[a], column);
  }
  if (!lu_.factor(matrix_.topLeftCorner(kernel_, kernel_))) return false;
  lu_.update_inverse(inverse_);
  for (int a = 0; a < kernel_; ++a) solution_[a] = -g_[kernel_rows_[a]];
  lu_.solve_in_place(solution_.head(kernel_));
  z_.setZero(n_);
  for (int b = 0; b < kernel_; ++b) (kernel_columns_[b] == kArtificial ? z0_ : z_[kernel_columns_[b]]) = solution_[b];
  lcp_->multiply(z_, &w_);
  w_ += settings_.shift * z_ + g_ + z0_ * cover_;
  for (int a = 0; a < kernel_; ++a) w_[kernel_rows_[a]] = 0;
  return w_.allFinite() && z_.allFinite();
}

// d(basic)/d(entering): K delta = -G(rows, r) for z_r, = e_r for w_r.
bool LemkePivots::update_direction(Entering entering) {
  auto right = right_.head(kernel_), solution = solution_.head(kernel_);
  if (entering == Entering::Z) {
    for (int a = 0; a < kernel_; ++a) right[a] = -element(kernel_rows_[a], pair_);
    solution.noalias() = inverse() * right;
  } else {
    solution = inverse().col(row_at_[pair_]);
  }
  for (int pass = 0;; ++pass) {
    dz_.setZero(n_);
    for (int b = 0; b < kernel_; ++b)
      (kernel_columns_[b] == kArtificial ? dz0_ : dz_[kernel_columns_[b]]) = solution[b];
    if (entering == Entering::Z) dz_[pair_] = 1;
    lcp_->multiply(dz_, &dw_);
    dw_ += settings_.shift * dz_ + dz0_ * cover_;
    for (int a = 0; a < kernel_; ++a) right[a] = dw_[kernel_rows_[a]];
    if (entering == Entering::W) right[row_at_[pair_]] -= 1;
    largest_ = std::max(1.0, solution.cwiseAbs().maxCoeff());
    const double error = right.cwiseAbs().maxCoeff() / largest_;
    if (!(error < kInaccurate) && pass > 0) return false;
    if (error < kRefine || pass > 0) break;
    solution.noalias() -= inverse() * right;
  }
  for (int a = 0; a < kernel_; ++a) dw_[kernel_rows_[a]] = 0;
  if (entering == Entering::W) dw_[pair_] = 1;
  largest_ = std::max(largest_, dw_.cwiseAbs().maxCoeff());
  return true;
}

// Harris' two passes: the step that lets no variable below -slack, then the largest pivot among the rows that block
// within it; z0 first of all. The pair's entering variable only grows.
LemkePivots::Leaving LemkePivots::find_leaving() {
  const double least = settings_.pivot_tolerance * largest_;
  double bound = kInfinity;
  Leaving leaving;
  for (int i = 0; i < n_; ++i) {
    if (i == pair_) continue;
    const double x = active_[i] ? z_[i] : w_[i], dx = active_[i] ? dz_[i] : dw_[i];
    if (dx >= -least) continue;
    const double step = (std::max(x, 0.0) + settings_.slack) / -dx;
    if (step >= bound) continue;
    bound = step;
    leaving = {i, !active_[i]};
  }
  if (dz0_ < -least && z0_ / -dz0_ <= bound) return {kArtificial, false};
  double pivot = leaving.variable == kNone ? kInfinity : 0;
  for (int i = 0; i < n_; ++i) {
    if (i == pair_) continue;
    const double x = active_[i] ? z_[i] : w_[i], dx = active_[i] ? dz_[i] : dw_[i];
    if (dx >= -least || x / -dx > bound || -dx <= pivot) continue;
    pivot = -dx;
    leaving = {i, !active_[i]};
  }
  return leaving;
}

void LemkePivots::advance(const Leaving& leaving, Entering entering) {
  const int i = leaving.variable;
  double x = z0_, dx = dz0_;
  if (i != kArtificial) {
    x = leaving.is_w ? w_[i] : z_[i];
    dx = leaving.is_w ? dw_[i] : dz_[i];
  }
  const double step = std::max(0.0, -x / dx);
  z_ += step * dz_;
  w_ += step * dw_;
  z0_ += step * dz0_;
  if (entering == Entering::Z) z_[pair_] = step;
  if (i == kArtificial)
    z0_ = 0;
  else
    (leaving.is_w ? w_[i] : z_[i]) = 0;
}

void LemkePivots::replace_column(int at, int variable) {  // solution_ holds -K^-1 (new column)
  auto m = inverse();
  auto solution = solution_.head(kernel_), border = border_row_.head(kernel_);
  border = m.row(at).transpose() / -solution[at];
  solution[at] = 0;
  m.noalias() += solution * border.transpose();
  m.row(at) = border.transpose();
  column_at_[kernel_columns_[at]] = -1;
  kernel_columns_[at] = variable;
  column_at_[variable] = at;
}

void LemkePivots::replace_row(int at, int variable) {
  auto m = inverse();
  auto row = right_.head(kernel_), border = border_row_.head(kernel_), column = border_column_.head(kernel_);
  for (int b = 0; b < kernel_; ++b) row[b] = element(variable, kernel_columns_[b]);
  border.noalias() = m.transpose() * row;
  column = m.col(at) / border[at];
  border[at] = 0;
  m.noalias() -= column * border.transpose();
  m.col(at) = column;
  row_at_[kernel_rows_[at]] = -1;
  kernel_rows_[at] = variable;
  row_at_[variable] = at;
}

void LemkePivots::append(int row_variable, int column_variable) {  // solution_ holds -K^-1 (new column)
  reserve_kernel(kernel_ + 1);
  auto row = right_.head(kernel_), solution = solution_.head(kernel_), border = border_row_.head(kernel_);
  for (int b = 0; b < kernel_; ++b) row[b] = element(row_variable, kernel_columns_[b]);
  const double schur = element(row_variable, column_variable) + row.dot(solution);
  border.noalias() = inverse().transpose() * row;
  border /= -schur;
  inverse().noalias() += solution * border.transpose();
  const int last = kernel_++;
  inverse_.row(last).head(last) = border.transpose();
  inverse_.col(last).head(last) = solution / schur;
  inverse_(last, last) = 1 / schur;
  kernel_rows_.push_back(row_variable);
  kernel_columns_.push_back(column_variable);
  row_at_[row_variable] = column_at_[column_variable] = last;
}

void LemkePivots::remove(int row_at, int column_at) {  // K loses a row and a column; in K^-1 they change places
  auto m = inverse();
  const int last = kernel_ - 1;
  row_at_[kernel_rows_[row_at]] = -1;
  column_at_[kernel_columns_[column_at]] = -1;
  if (row_at != last) {
    m.col(row_at).swap(m.col(last));
    kernel_rows_[row_at] = kernel_rows_[last];
    row_at_[kernel_rows_[row_at]] = row_at;
  }
  if (column_at != last) {
    m.row(column_at).swap(m.row(last));
    const int moved = kernel_columns_[column_at] = kernel_columns_[last];
    if (moved != kArtificial) column_at_[moved] = column_at;
  }
  auto border = border_row_.head(last), column = border_column_.head(last);
  border = m.row(last).head(last).transpose() / m(last, last);
  column = m.col(last).head(last);
  kernel_ = last;
  kernel_rows_.pop_back();
  kernel_columns_.pop_back();
  inverse().noalias() -= column * border.transpose();
}

// The four kinds of exchange; afterwards the pair is the leaving variable's.
bool LemkePivots::exchange(const Leaving& leaving, Entering entering) {
  const int i = leaving.variable;
  if (entering == Entering::Z) {
    active_[pair_] = 1;
    if (leaving.is_w) {
      append(i, pair_);
    } else {
      replace_column(column_at_[i], pair_);
    }
  } else if (leaving.is_w) {
    replace_row(row_at_[pair_], i);
  } else {
    remove(row_at_[pair_], column_at_[i]);
  }
  if (!leaving.is_w) active_[i] = 0;
  pair_ = i;
  ++since_rebuild_;
  return since_rebuild_ < settings_.rebuild_every || rebuild();
}

LemkeOutcome LemkePivots::finish(Entering entering) {
  if (entering == Entering::Z && z_[pair_] > 0) active_[pair_] = 1;
  z_ *= magnitude_;
  return LemkeOutcome::Complementary;
}

LemkeOutcome LemkePivots::run(LcpForm* lcp, const LemkeSettings& settings, const std::vector<char>* start) {
  lcp_ = lcp;
  settings_ = settings;
  n_ = lcp->size();
  pivots_ = 0;
  active_.assign(n_, 0);
  z_.setZero(n_);
  g_ = lcp->offset();
  magnitude_ = n_ > 0 ? g_.cwiseAbs().maxCoeff() : 0;
  if (n_ == 0 || (start == nullptr && g_.minCoeff() >= 0)) return LemkeOutcome::Complementary;
  if (magnitude_ == 0) magnitude_ = 1;
  g_ /= magnitude_;
  row_at_.assign(n_, -1);
  column_at_.assign(n_, -1);
  make_covering_vector(start);
  if (!(start == nullptr ? begin_cold() : begin_at(*start))) return LemkeOutcome::Breakdown;
  if (z0_ == 0) return finish(Entering::W);
  ++pivots_;
  // A start from a basis may have dropped z_pair: then w_pair enters; else z_pair does.
  Entering entering = start != nullptr && (*start)[pair_] ? Entering::W : Entering::Z;
  const int limit = settings.max_pivots > 0 ? settings.max_pivots : 10 * n_ + 100;
  const double work = static_cast<double>(n_) * n_ / 24;  // row operations of a pivot: a column of G, a rank-one change
  while (pivots_ < limit && (settings.time == nullptr || (settings.time->spend(work) && !settings.time->is_over()))) {
    if (!update_direction(entering)) {
      if (since_rebuild_ == 0 || !rebuild() || !update_direction(entering)) return LemkeOutcome::Breakdown;
    }
    Leaving leaving = find_leaving();
    if (leaving.variable == kNone) return z0_ <= kVanished ? finish(Entering::W) : LemkeOutcome::Ray;
    ++pivots_;
    advance(leaving, entering);
    if (leaving.variable == kArtificial) return finish(entering);
    if (!exchange(leaving, entering)) return LemkeOutcome::Breakdown;
    entering = leaving.is_w ? Entering::Z : Entering::W;
  }
  return LemkeOutcome::PivotLimit;
}

}  // namespace slipstick
