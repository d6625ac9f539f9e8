#include "solve/linalg/panel_lu.h"

#include <algorithm>

#include "solve/linalg/panel_kernels.h"

namespace slipstick {

namespace {

constexpr double kSlack = 0.1;  // zeros that joining two columns may add, over what they hold
constexpr int kMostWidth = 96;  // unknowns of a panel
// Mean height of the columns, weighted by work, from which panels pay. Blocks of six have kernels in registers as well
// (block_kernels.h), and pivoting within a panel costs.
constexpr double kHeavySymmetric = 45, kHeavy = 110;

/// to(m x n) = from, or its transpose (n x m); both column-major.
void copy_block(int m, int n, const double* from, double* to, std::ptrdiff_t to_column) {
  if (m == 6) {
    for (int j = 0; j < n; ++j) Six::load(from + j * 6).store(to + j * to_column);
    return;
  }
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) to[i + j * to_column] = from[i + j * m];
}

void copy_transposed(int m, int n, const double* from, double* to, std::ptrdiff_t to_column) {
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) to[j + i * to_column] = from[i + j * m];
}

/// to(m x n) -= from.
void subtract_block(int m, int n, const double* from, std::ptrdiff_t from_column, double* to,
                    std::ptrdiff_t to_column) {
  if (m == 6) {
    for (int j = 0; j < n; ++j) {
      Six sum = Six::load(to + j * to_column);
      sum.subtract(Six::load(from + j * from_column), 1);
      sum.store(to + j * to_column);
    }
    return;
  }
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) to[i + j * to_column] -= from[i + j * from_column];
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
  height_ = work > 0 ? weighted / work : 0;
  if (!worthwhile(true)) return;
  unknown_.resize(pattern.unknowns());
  for (int k = 0; k < pattern.nodes(); ++k)
    for (int i = 0; i < pattern.size(k); ++i) unknown_[start_[k] + i] = pattern.start(k) + i;
  find_panels();
}

bool PanelLu::worthwhile(bool symmetric) const { return height_ > (symmetric ? kHeavySymmetric : kHeavy); }

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
    panel.rows = panels::padded(panel.height);
    panel.offset = offsets;
    offsets += panel.rows * panel.width;
    panel.side = panels::padded(panel.width);
    panel.square = squares;
    squares += panel.side * panel.width;
    highest = std::max(highest, panel.height);
  }
  // A vector may begin at any row, and end beyond the last column.
  diagonal_.resize(squares + panels::kLanes);
  lower_.resize(offsets + panels::kLanes);
  upper_.resize(offsets + panels::kLanes);
  swap_.resize(p.unknowns());
  inverse_.resize(p.unknowns());
  place_.resize(p.nodes());
  // The widest update: rows below a panel times those of them that fall into one target, twice.
  work_.resize(2 * static_cast<std::size_t>(panels::padded(highest)) * std::min(highest, kMostWidth) +
               panels::padded(highest));
}

void PanelLu::gather_panel(const Panel& panel, const double* diagonal, const double* lower_blocks,
                           const double* upper_blocks) {
  const BlockPattern& p = *pattern_;
  std::fill_n(own(panel), panel.side * panel.width, 0.0);
  std::fill_n(lower(panel), panel.rows * panel.width, 0.0);
  if (upper_blocks) std::fill_n(upper(panel), panel.rows * panel.width, 0.0);
  for (int r = panel.row_begin; r < panel.row_end; ++r) place_[row_[r]] = row_offset_[r];
  for (int k = panel.first; k <= panel.last; ++k) {
    const int n = p.size(k), column = start_[k] - panel.start;
    copy_block(n, n, diagonal + p.diagonal(k), own(panel, column, column), panel.side);
    for (int e = p.column_begin(k); e < p.column_end(k); ++e) {
      const int row = p.row(e), m = p.size(row);
      const double* a = lower_blocks + p.offset(e);
      if (row > panel.last) {
        copy_block(m, n, a, lower(panel, place_[row], column), panel.rows);
        if (upper_blocks) copy_block(m, n, upper_blocks + p.offset(e), upper(panel, place_[row], column), panel.rows);
        continue;
      }
      copy_block(m, n, a, own(panel, start_[row] - panel.start, column), panel.side);
      if (upper_blocks)
        copy_transposed(m, n, upper_blocks + p.offset(e), own(panel, column, start_[row] - panel.start), panel.side);
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
  const int below_rows = panels::padded(columns + rest), beside_rows = panels::padded(rest);
  double *below = work_.data(), *beside = below + below_rows * columns;
  panels::multiply<panels::Into::Set>(columns + rest, columns, s.width, lower(s, first), s.rows,
                                      {upper(s, first), s.rows, 1}, below, below_rows);
  if (!symmetric_)
    panels::multiply<panels::Into::Set>(rest, columns, s.width, upper(s, first + columns), s.rows,
                                        {lower(s, first), s.rows, 1}, beside, beside_rows);
  for (int c = s.pending; c < after; ++c) {
    const int column = start_[row_[c]] - t.start, n = p.size(row_[c]), from = row_offset_[c] - first;
    for (int r = symmetric_ ? c : s.pending; r < after; ++r)
      subtract_block(p.size(row_[r]), n, below + row_offset_[r] - first + from * below_rows, below_rows,
                     own(t, start_[row_[r]] - t.start, column), t.side);
    for (int r = after; r < s.row_end; ++r) {
      const int m = p.size(row_[r]), at = place_[row_[r]], row = row_offset_[r] - first;
      subtract_block(m, n, below + row + from * below_rows, below_rows, lower(t, at, column), t.rows);
      if (!symmetric_)
        subtract_block(m, n, beside + row - columns + from * beside_rows, beside_rows, upper(t, at, column), t.rows);
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

bool PanelLu::finish_panel(int index) {
  Panel& panel = panels_[index];
  panel.pending = panel.row_begin;
  if (symmetric_) {
    if (!finish_symmetric(panel)) return false;
    link(index);
    return true;
  }
  int* swap = swap_.data() + panel.start;
  double* inverse = inverse_.data() + panel.start;
  if (!panels::factor_lu(panel.width, own(panel), panel.side, swap, inverse)) return false;
  const panels::Factor square{own(panel), 1, panel.side};
  panels::divide_upper(panel.height, panel.width, square, inverse, lower(panel), panel.rows);
  panels::divide_unit_lower(panel.height, panel.width, square, lower(panel), panel.rows);
  for (int j = panel.width - 1; j >= 0; --j)
    if (swap[j] != j) std::swap_ranges(lower(panel, 0, j), lower(panel, 0, j) + panel.rows, lower(panel, 0, swap[j]));
  link(index);
  return true;
}

bool PanelLu::finish_symmetric(const Panel& panel) {
  double* inverse = inverse_.data() + panel.start;
  const int negative = panels::factor_ldlt(panel.width, own(panel), panel.side, inverse);
  if (negative < 0) return false;
  negative_ += negative;
  panels::divide_upper(panel.height, panel.width, {own(panel), panel.side, 1}, nullptr, lower(panel), panel.rows);
  for (int j = 0; j < panel.width; ++j) {
    const double* column = lower(panel, 0, j);
    std::copy_n(column, panel.rows, upper(panel, 0, j));
    for (int i = 0; i < panel.rows; ++i) lower(panel, 0, j)[i] *= inverse[j];
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

/// x := (P^-1 L U)^-1 x of a panel's square.
void PanelLu::solve_square(const Panel& panel, double* x) const {
  const double *a = diagonal_.data() + panel.square, *inverse = inverse_.data() + panel.start;
  const int n = panel.width, side = panel.side;
  const int* swap = swap_.data() + panel.start;
  for (int j = 0; j < n; ++j)
    if (swap[j] != j) std::swap(x[j], x[swap[j]]);
  for (int j = 0; j < n; ++j)
    for (int i = j + 1; i < n; ++i) x[i] -= a[i + j * side] * x[j];
  for (int j = n - 1; j >= 0; --j) {
    x[j] *= inverse[j];
    for (int i = 0; i < j; ++i) x[i] -= a[i + j * side] * x[j];
  }
}

/// Down: L^-1. The symmetric factor has its squares' L in it, the other one takes squares whole on the way up.
void PanelLu::solve_down() {
  for (const Panel& panel : panels_) {
    double* part = x_.data() + panel.start;
    if (symmetric_) {
      const double* square = own(panel);
      for (int j = 0; j < panel.width; ++j)
        for (int i = j + 1; i < panel.width; ++i) part[i] -= square[i + j * panel.side] * part[j];
    }
    if (panel.height == 0) continue;
    panels::set_image(panel.height, panel.width, lower(panel), panel.rows, part, work_.data());
    const double* image = work_.data();
    for (int r = panel.row_begin; r < panel.row_end; ++r)
      for (int i = start_[row_[r]]; i < start_[row_[r] + 1]; ++i) x_[i] -= *image++;
  }
}

void PanelLu::solve_up() {
  for (int k = static_cast<int>(panels_.size()) - 1; k >= 0; --k) {
    const Panel& panel = panels_[k];
    double* part = x_.data() + panel.start;
    if (symmetric_)
      for (int j = 0; j < panel.width; ++j) part[j] *= inverse_[panel.start + j];
    if (panel.height > 0) {
      double* below = work_.data();
      std::fill(below + panel.height, below + panel.rows, 0.0);
      for (int r = panel.row_begin; r < panel.row_end; ++r)
        for (int i = start_[row_[r]]; i < start_[row_[r] + 1]; ++i) *below++ = x_[i];
      panels::subtract_transposed_image(panel.height, panel.width, symmetric_ ? lower(panel) : upper(panel), panel.rows,
                                        work_.data(), part);
    }
    if (!symmetric_) {
      solve_square(panel, part);
      continue;
    }
    panels::divide_unit_transposed(panel.width, own(panel), panel.side, part);
  }
}

void PanelLu::solve(double* x) {
  const int n = static_cast<int>(unknown_.size());
  x_.setZero(n + panels::kLanes);  // vectors may end beyond the last
  for (int i = 0; i < n; ++i) x_[i] = x[unknown_[i]];
  solve_down();
  solve_up();
  for (int i = 0; i < n; ++i) x[unknown_[i]] = x_[i];
}

}  // namespace slipstick
