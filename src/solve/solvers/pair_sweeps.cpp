#include "solve/solvers/pair_sweeps.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/thread_team.h"
#include "solve/solvers/inverse_root.h"
#include "solve/solvers/lanes.h"

namespace slipstick {

namespace {

// Chebyshev's weights: an estimate of the sweeps' spectral radius, from the third sweep on and once they have run in.
constexpr double kRadius = 0.9;
constexpr int kFirstAccelerated = 2, kLater = 8, kBold = 60;  // sweeps before each of them
/// Columns that are accelerated at a time; columns, row blocks and pairs that are made ready.
constexpr int kFastColumns = 2048;
constexpr std::size_t kColumnPortion = 256, kBlockPortion = 1024, kPairPortion = 64;

}  // namespace

// ---------------------------------------------------------------- numbers

/// f(row block of the problem, where its numbers are).
template <class F>
void PairSweeps::for_blocks(const F& f) const {
  for_portions(team_, part_.blocks.size(), kBlockPortion, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) f(part_.blocks[i], place_[i]);
  });
}

void PairSweeps::update_bodies() {
  const Problem& p = *problem_;
  root_.resize(columns());
  is_body_.resize(columns());
  free_.resize(columns() + groups());
  std::fill(free_.begin() + columns(), free_.end(), Column{});
  for_portions(team_, columns(), kColumnPortion, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const int k = part_.columns[i];
      const double* mass = p.mass.data() + p.mass_start[k];
      const int n = p.column_size(k);
      is_body_[i] = n == 6 && update_body_root(mass, root_[i].data());
      if (!is_body_[i]) update_inverse_root(n, mass, root_[i].data());
      free_[i] = {};
      multiply_root(root_[i].data(), n, p.b.data() + p.column_start[k], free_[i].n);
    }
  });
}

/// The rows of a block in the velocities y, of both columns, and the lower half of its Delassus block.
void PairSweeps::update_rows(int block, double (*j)[18], double (*d)[3]) const {
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

void PairSweeps::update_point(int block, Point* point, int lane) const {
  const Problem& p = *problem_;
  const RowBlock& rows = p.blocks[block];
  double j[2][18] = {}, d[3][3] = {};
  update_rows(block, j, d);
  for (int r = 0; r < 3; ++r)
    for (int e = 0; e < 2; ++e)
      for (int k = 0; k < 6; ++k) point->j[r][e][k][lane] = j[e][6 * r + k];
  for (int r = 0; r < 3; ++r) {
    const bool is_row = r < rows.size;
    point->c[r][lane] = is_row ? p.c[rows.row + r] : 0;
    point->compliance[r][lane] = is_row ? p.compliance[rows.row + r] : 0;
  }
  // The tangents' step: one over the largest eigenvalue of their block.
  const double mean = 0.5 * (d[1][1] + d[2][2]);
  const double largest = mean + std::sqrt(0.25 * (d[1][1] - d[2][2]) * (d[1][1] - d[2][2]) + d[2][1] * d[2][1]);
  point->inverse_n[lane] = d[0][0] > 0 ? 1 / d[0][0] : 0;
  point->inverse_t[lane] = largest > 0 ? 1 / largest : 0;
  point->tn[0][lane] = d[1][0];
  point->tn[1][lane] = d[2][0];
  point->mu[lane] = rows.law == LawKind::Friction ? rows.mu : 0;
}

void PairSweeps::update_point(int block, SmoothPoint* point, int lane) const {
  const Problem& p = *problem_;
  const int row = p.blocks[block].row;
  double j[2][18] = {}, d[3][3] = {};
  update_rows(block, j, d);
  for (int e = 0; e < 2; ++e)
    for (int k = 0; k < 6; ++k) point->j[e][k][lane] = j[e][k];
  point->c[lane] = p.c[row];
  point->compliance[lane] = p.compliance[row];
  point->inverse_n[lane] = d[0][0] > 0 ? 1 / d[0][0] : 0;
}

void PairSweeps::update_points() {
  for_blocks([&](int block, const Place& place) {
    if (place.smooth) {
      update_point(block, &smooth_[place.point / kLanes], place.point % kLanes);
    } else {
      update_point(block, &points_[place.point / kLanes], place.point % kLanes);
    }
  });
}

void PairSweeps::start(const Problem& problem) {
  const auto count_to = [](std::size_t count, std::vector<int>* list) {
    const std::size_t before = list->size();
    list->resize(count);
    if (before < count) std::iota(list->begin() + before, list->end(), static_cast<int>(before));
  };
  count_to(problem.blocks.size(), &all_blocks_);
  count_to(problem.columns(), &all_columns_);
  start(problem, {all_blocks_, all_columns_, all_columns_});
}

void PairSweeps::start(const Problem& problem, const ProblemPart& part) {
  problem_ = &problem;
  part_ = part;
  find_runs(&new_runs_);
  if (known_columns_ != columns() || new_runs_ != runs_) {
    std::swap(runs_, new_runs_);
    known_columns_ = columns();
    has_friction_ = std::any_of(runs_.begin(), runs_.end(), [](const Run& run) { return !run.smooth; });
    divide_runs();
    colour_runs();
    sort_runs();
    pack_runs();
  }
  update_bodies();
  update_points();
  std::fill(x_.begin(), x_.end(), Lanes{});
  y_ = free_;
}

[[gnu::always_inline]] inline void PairSweeps::load(const std::vector<Column>& of, const int* column, Lanes* y) const {
  const auto numbers = [&](int k) { return reinterpret_cast<const Loose*>(of[column[k]].n); };
  const Loose *k0 = numbers(0), *k1 = numbers(1), *k2 = numbers(2), *k3 = numbers(3);
  transpose(Lanes(k0[0]), Lanes(k1[0]), Lanes(k2[0]), Lanes(k3[0]), y);
  Lanes rest[kLanes];
  transpose(Lanes(k0[1]), Lanes(k1[1]), Lanes(k2[1]), Lanes(k3[1]), rest);
  y[4] = rest[0];
  y[5] = rest[1];
}

/// Empty lanes have the dummy.
[[gnu::always_inline]] inline void PairSweeps::store(const int* column, const Lanes* y) {
  Lanes low[kLanes], high[kLanes];
  transpose(y[0], y[1], y[2], y[3], low);
  transpose(y[4], y[5], Lanes{}, Lanes{}, high);
  for (int l = 0; l < kLanes; ++l) {
    Loose* k = reinterpret_cast<Loose*>(y_[column[l]].n);
    k[0] = low[l];
    k[1] = high[l];
  }
}

/// All pairs, those of groups that share no column at the same time.
template <class F>
void PairSweeps::run_groups(const F& f) const {
  PhasedWork::run(
      team_, kGroupPhases, [&](int phase) { return phase_group_[phase + 1] - phase_group_[phase]; },
      [&](int phase, int task) { run_group(phase_group_[phase] + task, f); });
}

template <class F>
void PairSweeps::run_group(int group, const F& f) const {
  for (int i = group_pair_[group]; i < group_pair_[group + 1]; ++i) f(pairs_[i]);
}

/// y += J'^T x.
void PairSweeps::add_impulses(const Pair& pair) {
  Lanes ya[6], yb[6];
  load(y_, pair.a, ya);
  load(y_, pair.b, yb);
  const int rows = count_rows(pair);
  for (int i = 0; i < pair.count; ++i) {
    for (int r = 0; r < rows; ++r) {
      const auto& j = pair.smooth ? smooth_[pair.first + i].j : points_[pair.first + i].j[r];
      const Lanes x = x_[pair.x + rows * i + r];
      for (int k = 0; k < 6; ++k) {
        ya[k] += j[0][k] * x;
        yb[k] += j[1][k] * x;
      }
    }
  }
  store(pair.a, ya);
  store(pair.b, yb);
}

void PairSweeps::set_impulses(const VecX& impulses) {
  const Problem& p = *problem_;
  y_ = free_;
  double* x = reinterpret_cast<double*>(x_.data());
  for_blocks([&](int block, const Place& place) {
    for (int r = 0; r < p.blocks[block].size; ++r) x[place.x + kLanes * r] = impulses[p.blocks[block].row + r];
  });
  run_groups([&](const Pair& pair) { add_impulses(pair); });
}

void PairSweeps::set_guess(const VecX& impulses) {
  set_impulses(impulses);
  struct Sums {
    double slope = 0, curvature = 0;
    void operator+=(const Sums& other) { slope += other.slope, curvature += other.curvature; }
  };
  const Problem& p = *problem_;
  Sums all = sum_portions<Sums>(team_, y_.size(), kColumnPortion, [&](std::size_t first, std::size_t last) {
    Sums sums;
    for (std::size_t k = first; k < last; ++k) {
      for (int c = 0; c < 6; ++c) {
        const double change = y_[k].n[c] - free_[k].n[c];
        sums.slope += free_[k].n[c] * change;
        sums.curvature += change * change;
      }
    }
    return sums;
  });
  all += sum_portions<Sums>(team_, part_.blocks.size(), kBlockPortion, [&](std::size_t first, std::size_t last) {
    Sums sums;
    for (std::size_t i = first; i < last; ++i) {
      const RowBlock& block = p.blocks[part_.blocks[i]];
      for (int r = block.row; r < block.row + block.size; ++r) {
        sums.slope += p.c[r] * impulses[r];
        sums.curvature += p.compliance[r] * impulses[r] * impulses[r];
      }
    }
    return sums;
  });
  const double share = all.curvature > 0 ? std::clamp(-all.slope / all.curvature, 0.0, 1.0) : 0;
  if (!(share < 1)) return;
  for (Lanes& x : x_) x *= Lanes{} + share;
  for (std::size_t k = 0; k < y_.size(); ++k)
    for (int c = 0; c < 6; ++c) y_[k].n[c] = free_[k].n[c] + share * (y_[k].n[c] - free_[k].n[c]);
}

void PairSweeps::update_impulses(VecX* impulses) const {
  const Problem& p = *problem_;
  if (impulses->size() != p.rows()) impulses->resize(p.rows());
  const double* x = reinterpret_cast<const double*>(x_.data());
  for_blocks([&](int block, const Place& place) {
    for (int r = 0; r < p.blocks[block].size; ++r) (*impulses)[p.blocks[block].row + r] = x[place.x + kLanes * r];
  });
}

void PairSweeps::update_velocity(VecX* v) const {
  const Problem& p = *problem_;
  for_portions(team_, columns(), kColumnPortion, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const int k = part_.columns[i], n = p.column_size(k);
      const double *root = root_[i].data(), *y = y_[i].n;
      for (int c = 0; c < n; ++c) {  // L^-T y
        double sum = 0;
        for (int r = c; r < n; ++r) sum += root[r * 6 + c] * y[r];
        (*v)[p.column_start[k] + c] = sum;
      }
    }
  });
}

/// Of one pair, squared: the change, and the rows' speeds without impulses.
void PairSweeps::add_change(const Pair& pair, Lanes* sums) const {
  const Lanes zero{}, one = zero + 1;
  Lanes ya[6], yb[6], fa[6], fb[6];
  load(y_, pair.a, ya);
  load(y_, pair.b, yb);
  load(free_, pair.a, fa);
  load(free_, pair.b, fb);
  for (int i = 0; i < pair.count; ++i) {
    const Point& p = points_[pair.first + i];
    const Lanes* x = x_.data() + pair.x + 3 * i;
    Lanes w[3];
    for (int r = 0; r < 3; ++r) {
      Lanes q = p.c[r];
      w[r] = q + p.compliance[r] * x[r];
      for (int k = 0; k < 6; ++k) {
        q += p.j[r][0][k] * fa[k] + p.j[r][1][k] * fb[k];
        w[r] += p.j[r][0][k] * ya[k] + p.j[r][1][k] * yb[k];
      }
      sums[1] += q * q;
    }
    const auto has_n = p.inverse_n > zero, has_t = p.inverse_t > zero;
    Lanes n = x[0] - w[0] * p.inverse_n;
    n = n > zero ? n : zero;
    const Lanes dn = n - x[0], by_n = has_n ? dn / (has_n ? p.inverse_n : one) : zero;
    Lanes t1 = x[1] - (w[1] + p.tn[0] * dn) * p.inverse_t, t2 = x[2] - (w[2] + p.tn[1] * dn) * p.inverse_t;
    const Lanes square = t1 * t1 + t2 * t2, reach = p.mu * n;
    const auto slides = square > reach * reach;
    const Lanes share = slides ? reach / calc_root(slides ? square : one) : one, step = has_t ? p.inverse_t : one;
    t1 = has_t ? (share * t1 - x[1]) / step : zero;
    t2 = has_t ? (share * t2 - x[2]) / step : zero;
    sums[0] += by_n * by_n + t1 * t1 + t2 * t2;
  }
}

void PairSweeps::add_change_smooth(const Pair& pair, Lanes* sums) const {
  const Lanes zero{}, one = zero + 1;
  Lanes ya[6], yb[6], fa[6], fb[6];
  load(y_, pair.a, ya);
  load(y_, pair.b, yb);
  load(free_, pair.a, fa);
  load(free_, pair.b, fb);
  for (int i = 0; i < pair.count; ++i) {
    const SmoothPoint& p = smooth_[pair.first + i];
    const Lanes x = x_[pair.x + i];
    Lanes q = p.c, w = q + p.compliance * x;
    for (int k = 0; k < 6; ++k) {
      q += p.j[0][k] * fa[k] + p.j[1][k] * fb[k];
      w += p.j[0][k] * ya[k] + p.j[1][k] * yb[k];
    }
    const auto has = p.inverse_n > zero;
    Lanes n = x - w * p.inverse_n;
    n = n > zero ? n : zero;
    const Lanes change = has ? (n - x) / (has ? p.inverse_n : one) : zero;
    sums[0] += change * change;
    sums[1] += q * q;
  }
}

double PairSweeps::calc_change() const {
  struct Sums {
    Lanes of[2] = {};
    void operator+=(const Sums& other) { of[0] += other.of[0], of[1] += other.of[1]; }
  };
  const Sums all = sum_portions<Sums>(team_, pairs_.size(), kPairPortion, [&](std::size_t first, std::size_t last) {
    Sums sums;
    for (std::size_t i = first; i < last; ++i)
      pairs_[i].smooth ? add_change_smooth(pairs_[i], sums.of) : add_change(pairs_[i], sums.of);
    return sums;
  });
  const auto add_up = [](const Lanes& lanes) { return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]); };
  const double change = add_up(all.of[0]), scale = add_up(all.of[1]);
  return scale > 0 ? std::sqrt(change / scale) : 0;
}

// ---------------------------------------------------------------- sweeps

/// kept <- x <- weight (x - kept) + kept, of so many rows. Weight 0: kept <- x. Nobody else reads the x of a pair in a
/// sweep, so that it is done with the visit, while they are at hand.
[[gnu::always_inline]] inline void PairSweeps::accelerate(const Acceleration& by, int rows, int place) {
  if (by.impulses == nullptr) return;
  const Lanes weight = Lanes{} + by.weight;
  Lanes *x = x_.data() + place, *kept = by.impulses + place;
  for (int r = 0; r < rows; ++r) {
    if (by.weight != 0) x[r] = weight * (x[r] - kept[r]) + kept[r];
    kept[r] = x[r];
  }
}

void PairSweeps::visit(const Pair& pair, const Acceleration& by) {
  const Lanes zero{};
  Lanes ya[6], yb[6];
  load(y_, pair.a, ya);
  load(y_, pair.b, yb);
  bool moved = false;
  for (int i = 0; i < pair.count; ++i) {
    const Point& p = points_[pair.first + i];
    Lanes* x = x_.data() + pair.x + 3 * i;
    const auto image = [&](int r) {
      Lanes w = p.c[r] + p.compliance[r] * x[r], other{};
      for (int k = 0; k < 6; ++k) {
        w += p.j[r][0][k] * ya[k];
        other += p.j[r][1][k] * yb[k];
      }
      return w + other;
    };
    const Lanes wn = image(0);
    if (!is_any((wn < zero) | (x[0] != zero) | (x[1] != zero) | (x[2] != zero))) {  // open, and stays so
      accelerate(by, 3, pair.x + 3 * i);
      continue;
    }
    moved = true;
    Lanes n = x[0] - wn * p.inverse_n;
    n = n > zero ? n : zero;
    const Lanes dn = n - x[0];
    Lanes t1 = x[1] - (image(1) + p.tn[0] * dn) * p.inverse_t, t2 = x[2] - (image(2) + p.tn[1] * dn) * p.inverse_t;
    const Lanes square = t1 * t1 + t2 * t2, reach = p.mu * n;
    const auto slides = square > reach * reach;
    const Lanes one = zero + 1, share = slides ? reach / calc_root(slides ? square : one) : one;
    t1 *= share;
    t2 *= share;
    const Lanes d1 = t1 - x[1], d2 = t2 - x[2];
    x[0] = n;
    x[1] = t1;
    x[2] = t2;
    accelerate(by, 3, pair.x + 3 * i);
    for (int k = 0; k < 6; ++k) {
      ya[k] += p.j[0][0][k] * dn + p.j[1][0][k] * d1 + p.j[2][0][k] * d2;
      yb[k] += p.j[0][1][k] * dn + p.j[1][1][k] * d1 + p.j[2][1][k] * d2;
    }
  }
  if (!moved) return;
  store(pair.a, ya);
  store(pair.b, yb);
}

/// The same of normals alone.
void PairSweeps::visit_smooth(const Pair& pair, const Acceleration& by) {
  const Lanes zero{};
  Lanes ya[6], yb[6];
  load(y_, pair.a, ya);
  load(y_, pair.b, yb);
  bool moved = false;
  for (int i = 0; i < pair.count; ++i) {
    const SmoothPoint& p = smooth_[pair.first + i];
    Lanes& x = x_[pair.x + i];
    Lanes w = p.c + p.compliance * x, other{};
    for (int k = 0; k < 6; ++k) {
      w += p.j[0][k] * ya[k];
      other += p.j[1][k] * yb[k];
    }
    w += other;
    if (!is_any((w < zero) | (x != zero))) {
      accelerate(by, 1, pair.x + i);
      continue;
    }
    moved = true;
    Lanes n = x - w * p.inverse_n;
    n = n > zero ? n : zero;
    const Lanes dn = n - x;
    x = n;
    accelerate(by, 1, pair.x + i);
    for (int k = 0; k < 6; ++k) {
      ya[k] += p.j[0][k] * dn;
      yb[k] += p.j[1][k] * dn;
    }
  }
  if (!moved) return;
  store(pair.a, ya);
  store(pair.b, yb);
}

/// The same of the y of some columns, after a sweep.
void PairSweeps::accelerate_columns(double weight, int kept, int portion) {
  const std::size_t first = static_cast<std::size_t>(kFastColumns) * portion,
                    last = std::min(y_.size(), first + kFastColumns);
  double *to = y_[first].n, *from = y_kept_[kept][first].n;
  const std::size_t count = 8 * (last - first);
  if (weight == 0) {
    std::copy(to, to + count, from);
  } else {
    for (std::size_t i = 0; i < count; ++i) from[i] = to[i] = weight * (to[i] - from[i]) + from[i];
  }
}

void PairSweeps::run(int sweeps, double bold, const std::atomic<bool>* stop) {
  std::vector<double>& weights = weights_;
  weights.assign(sweeps, 0.0);
  double weight = 1;
  for (int k = kFirstAccelerated; k + 1 < sweeps; ++k) {
    const double radius = k < kLater  ? kRadius
                          : k < kBold ? std::min(bold, kSafeRadius)
                                      : bold,
                 square = radius * radius;
    weights[k] = weight = weight == 1 ? 2 / (2 - square) : 4 / (4 - square * weight);
  }
  for (int i = 0; i < 2; ++i) {
    x_kept_[i].resize(x_.size());
    y_kept_[i].resize(y_.size());
  }
  // A sweep is two phases of groups, and one in which y_kept_[k % 2] becomes what the next sweep begins with.
  constexpr int kPhases = kGroupPhases + 1;
  const int portions = (static_cast<int>(y_.size()) + kFastColumns - 1) / kFastColumns;
  PhasedWork::run(
      team_, kPhases * sweeps,
      [&](int phase) {
        const int k = phase / kPhases, part = phase % kPhases;
        if (part < kGroupPhases) return phase_group_[part + 1] - phase_group_[part];
        return k + 1 < sweeps ? portions : 0;
      },
      [&](int phase, int task) {
        if (stop != nullptr && stop->load(std::memory_order_relaxed)) return;
        const int k = phase / kPhases, part = phase % kPhases;
        if (part == kGroupPhases) return accelerate_columns(weights[k], k % 2, task);
        const Acceleration by{weights[k], k + 1 < sweeps ? x_kept_[k % 2].data() : nullptr};
        run_group(phase_group_[part] + task,
                  [&](const Pair& pair) { pair.smooth ? visit_smooth(pair, by) : visit(pair, by); });
      });
}

}  // namespace slipstick
