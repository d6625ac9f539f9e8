#include "solve/linalg/panel_lu.h"

#include <algorithm>
#include <cmath>

namespace slipstick {

namespace {

constexpr double kSlack = 0.25;  // zeros that joining two columns may add, over what they hold
constexpr int kMostWidth = 96;   // unknowns of a panel
constexpr double kHeavy = 60;    // mean height of the columns, weighted by work, from which panels pay

/// P A = L U in place with row pivoting (swap: row exchanged with row j). Column by column: panels are narrow.
bool factor_square(Eigen::Map<MatX> a, int* swap) {
  const int n = static_cast<int>(a.rows());
  for (int j = 0; j < n; ++j) {
    int best = 0;
    const double largest = a.col(j).tail(n - j).cwiseAbs().maxCoeff(&best);
    if (!(largest > 0) || !std::isfinite(largest)) return false;
    swap[j] = j + best;
    if (best != 0) a.row(j).swap(a.row(j + best));
    a.col(j).tail(n - j - 1) /= a(j, j);
    if (j + 1 < n)
      a.bottomRightCorner(n - j - 1, n - j - 1).noalias() -= a.col(j).tail(n - j - 1) * a.row(j).tail(n - j - 1);
  }
  return true;
}

}  // namespace

void PanelLu::analyze(const BlockPattern& pattern) {
  pattern_ = &pattern;
  start_.resize(pattern.nodes() + 1);
  start_[0] = 0;
  double work = 0, weighted = 0;
  for (int k = 0; k < pattern.nodes(); ++k) {
    start_[k + 1] = start_[k] + pattern.size(k);
    int height = pattern.size(k);
    for (int e = pattern.column_begin(k); e < pattern.column_end(k); ++e) height += pattern.size(pattern.row(e));
    const double own = static_cast<double>(height) * height * pattern.size(k);
    work += own;
    weighted += own * height;
  }
  worthwhile_ = work > 0 && weighted / work > kHeavy;
  if (!worthwhile_) return;
  unknown_.resize(pattern.unknowns());
  for (int k = 0; k < pattern.nodes(); ++k)
    for (int i = 0; i < pattern.size(k); ++i) unknown_[start_[k] + i] = pattern.start(k) + i;
  find_panels();
}

/// Column k joins k - 1 where it is its parent in the elimination tree: the pattern of k - 1 without k lies in that of
/// k, and the zeros that joining adds are few.
void PanelLu::find_panels() {
  const BlockPattern& p = *pattern_;
  panels_.clear();
  panel_of_.resize(p.nodes());
  row_.clear();
  row_offset_.clear();
  int zeros = 0;
  for (int k = 0; k < p.nodes(); ++k) {
    bool joins = false;
    if (k > 0 && p.column_begin(k - 1) < p.column_end(k - 1) && p.row(p.column_begin(k - 1)) == k) {
      const Panel& last = panels_.back();
      const int count = p.column_end(k) - p.column_begin(k), before = p.column_end(k - 1) - p.column_begin(k - 1);
      const int added = zeros + (count + 1 - before) * (k - last.first);
      const int total = (k - last.first + 1) * (count + k - last.first + 1);
      joins = added <= kSlack * total && start_[k + 1] - start_[last.first] <= kMostWidth;
      if (joins) zeros = added;
    }
    if (!joins) {
      zeros = 0;
      panels_.push_back({});
      panels_.back().first = k;
    }
    panels_.back().last = k;
    panel_of_[k] = static_cast<int>(panels_.size()) - 1;
  }
  int squares = 0, offsets = 0, highest = 0;
  for (Panel& panel : panels_) {
    panel.start = start_[panel.first];
    panel.width = start_[panel.last + 1] - panel.start;
    panel.row_begin = static_cast<int>(row_.size());
    for (int e = p.column_begin(panel.last); e < p.column_end(panel.last); ++e) {
      row_.push_back(p.row(e));
      row_offset_.push_back(panel.height);
      panel.height += p.size(p.row(e));
    }
    panel.row_end = static_cast<int>(row_.size());
    panel.offset = offsets;
    offsets += panel.height * panel.width;
    panel.square = squares;
    squares += panel.width * panel.width;
    highest = std::max(highest, panel.height);
  }
  diagonal_.resize(squares);
  lower_.resize(offsets);
  upper_.resize(offsets);
  swap_.resize(p.unknowns());
  place_.resize(p.nodes());
  // The widest update: rows below a panel times those of them that fall into one target.
  work_.resize(static_cast<std::size_t>(2 * highest) * std::min(highest, kMostWidth) + highest);
}

void PanelLu::gather_panel(const Panel& panel, const double* diagonal, const double* lower_blocks,
                           const double* upper_blocks) {
  const BlockPattern& p = *pattern_;
  auto square = own(panel), low = lower(panel), up = upper(panel);
  square.setZero();
  low.setZero();
  if (upper_blocks) up.setZero();
  for (int r = panel.row_begin; r < panel.row_end; ++r) place_[row_[r]] = row_offset_[r];
  for (int k = panel.first; k <= panel.last; ++k) {
    const int n = p.size(k), column = start_[k] - panel.start;
    const Eigen::Map<const MatX> block(diagonal + p.diagonal(k), n, n);
    square.block(column, column, n, n) = block;
    if (!upper_blocks) square.block(column, column, n, n).triangularView<Eigen::StrictlyUpper>() = block.transpose();
    for (int e = p.column_begin(k); e < p.column_end(k); ++e) {
      const int row = p.row(e), m = p.size(row);
      const Eigen::Map<const MatX> a(lower_blocks + p.offset(e), m, n);
      const Eigen::Map<const MatX> b((upper_blocks ? upper_blocks : lower_blocks) + p.offset(e), m, n);
      if (row <= panel.last) {
        square.block(start_[row] - panel.start, column, m, n) = a;
        square.block(column, start_[row] - panel.start, n, m) = b.transpose();
      } else {
        low.block(place_[row], column, m, n) = a;
        if (upper_blocks) up.block(place_[row], column, m, n) = b;
      }
    }
  }
}

/// Subtracts L_source U_source where it falls into the target's columns, and takes the source to its next target.
void PanelLu::update_panel(int target, int source) {
  const BlockPattern& p = *pattern_;
  Panel &t = panels_[target], &s = panels_[source];
  int after = s.pending;
  while (after < s.row_end && row_[after] <= t.last) ++after;
  const int first = row_offset_[s.pending];
  const int columns = (after < s.row_end ? row_offset_[after] : s.height) - first, rest = s.height - first - columns;
  const auto low = lower(s).bottomRows(rest + columns), up = upper(s).bottomRows(rest + columns);
  Eigen::Map<MatX> below(work_.data(), columns + rest, columns);
  below.noalias() = low * up.topRows(columns).transpose();
  Eigen::Map<MatX> beside(work_.data() + below.size(), rest, columns);
  if (!symmetric_) beside.noalias() = up.bottomRows(rest) * low.topRows(columns).transpose();
  auto square = own(t), low_t = lower(t), up_t = upper(t);
  for (int c = s.pending; c < after; ++c) {
    const int column = start_[row_[c]] - t.start, n = p.size(row_[c]), from = row_offset_[c] - first;
    for (int r = s.pending; r < after; ++r)
      square.block(start_[row_[r]] - t.start, column, p.size(row_[r]), n) -=
          below.block(row_offset_[r] - first, from, p.size(row_[r]), n);
    for (int r = after; r < s.row_end; ++r) {
      const int m = p.size(row_[r]), at = place_[row_[r]], row = row_offset_[r] - first;
      low_t.block(at, column, m, n) -= below.block(row, from, m, n);
      if (!symmetric_) up_t.block(at, column, m, n) -= beside.block(row - columns, from, m, n);
    }
  }
  s.pending = after;
}

void PanelLu::link(int source) {
  Panel& s = panels_[source];
  if (s.pending == s.row_end) return;
  const int target = panel_of_[row_[s.pending]];
  s.next = head_[target];
  head_[target] = source;
}

/// D = P^-1 L U, and L_below = A_below D^-1.
bool PanelLu::finish_panel(int index) {
  Panel& panel = panels_[index];
  auto square = own(panel), low = lower(panel);
  int* swap = swap_.data() + panel.start;
  panel.pending = panel.row_begin;
  if (symmetric_) {
    if (!factor_symmetric(square)) return false;
    upper(panel) = low;
    square.triangularView<Eigen::UnitLower>().transpose().solveInPlace<Eigen::OnTheRight>(low);
    for (int j = 0; j < panel.width; ++j) low.col(j) /= square(j, j);
    square.triangularView<Eigen::UnitLower>().solveInPlace<Eigen::OnTheRight>(low);
    link(index);
    return true;
  }
  if (!factor_square(square, swap)) return false;
  square.triangularView<Eigen::Upper>().solveInPlace<Eigen::OnTheRight>(low);
  square.triangularView<Eigen::UnitLower>().solveInPlace<Eigen::OnTheRight>(low);
  for (int j = panel.width - 1; j >= 0; --j)
    if (swap[j] != j) low.col(j).swap(low.col(swap[j]));
  link(index);
  return true;
}

/// A = L D L^T in place, L below the diagonal and D on it.
bool PanelLu::factor_symmetric(Eigen::Map<MatX> a) {
  const int n = static_cast<int>(a.rows());
  for (int j = 0; j < n; ++j) {
    const double pivot = a(j, j);
    if (!(std::abs(pivot) > 0) || !std::isfinite(pivot)) return false;
    negative_ += pivot < 0;
    for (int k = j + 1; k < n; ++k) a.col(k).tail(n - k) -= (a(k, j) / pivot) * a.col(j).tail(n - k);
    a.col(j).tail(n - j - 1) /= pivot;
  }
  return true;
}

bool PanelLu::factor(const double* diagonal, const double* lower_blocks, const double* upper_blocks) {
  symmetric_ = upper_blocks == nullptr;
  negative_ = 0;
  head_.assign(panels_.size(), -1);
  for (int t = 0; t < static_cast<int>(panels_.size()); ++t) {
    gather_panel(panels_[t], diagonal, lower_blocks, upper_blocks);
    for (int s = head_[t]; s >= 0;) {
      const int next = panels_[s].next;
      update_panel(t, s);
      link(s);
      s = next;
    }
    if (!finish_panel(t)) return false;
  }
  return true;
}

void PanelLu::solve(double* x) {
  const int n = static_cast<int>(unknown_.size());
  x_.resize(n);
  for (int i = 0; i < n; ++i) x_[i] = x[unknown_[i]];
  for (const Panel& panel : panels_) {
    if (panel.height == 0) continue;
    Eigen::Map<VecX> image(work_.data(), panel.height);
    image.noalias() = lower(panel) * x_.segment(panel.start, panel.width);
    int at = 0;
    for (int r = panel.row_begin; r < panel.row_end; ++r)
      for (int i = start_[row_[r]]; i < start_[row_[r] + 1]; ++i) x_[i] -= image[at++];
  }
  for (int k = static_cast<int>(panels_.size()) - 1; k >= 0; --k) {
    const Panel& panel = panels_[k];
    auto part = x_.segment(panel.start, panel.width);
    if (panel.height > 0) {
      Eigen::Map<VecX> below(work_.data(), panel.height);
      int at = 0;
      for (int r = panel.row_begin; r < panel.row_end; ++r)
        for (int i = start_[row_[r]]; i < start_[row_[r] + 1]; ++i) below[at++] = x_[i];
      part.noalias() -= upper(panel).transpose() * below;
    }
    if (symmetric_) {
      own(panel).triangularView<Eigen::UnitLower>().solveInPlace(part);
      for (int j = 0; j < panel.width; ++j) part[j] /= own(panel)(j, j);
      own(panel).triangularView<Eigen::UnitLower>().transpose().solveInPlace(part);
      continue;
    }
    const int* swap = swap_.data() + panel.start;
    for (int j = 0; j < panel.width; ++j)
      if (swap[j] != j) std::swap(part[j], part[swap[j]]);
    own(panel).triangularView<Eigen::UnitLower>().solveInPlace(part);
    own(panel).triangularView<Eigen::Upper>().solveInPlace(part);
  }
  for (int i = 0; i < n; ++i) x[unknown_[i]] = x_[i];
}

}  // namespace slipstick
