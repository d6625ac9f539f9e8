#include "solve/solvers/swept_pairs.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/thread_team.h"
#include "solve/solvers/lanes.h"

namespace slipstick {

namespace {

// Chebyshev's weights: an estimate of the sweeps' spectral radius, from the third sweep on and once they have run in.
constexpr double kRadius = 0.9;
constexpr int kFirstAccelerated = 2, kLater = 8, kBold = 60;  // sweeps before each of them
/// Sweeps in single precision after which y is summed up anew: Chebyshev's weights multiply rounding.
constexpr int kSinglePortion = 40;
/// Columns that are accelerated at a time; columns, row blocks and pairs that are made ready.
constexpr int kFastColumns = 2048;
constexpr std::size_t kColumnPortion = 256, kBlockPortion = 1024, kPairPortion = 64;

/// To the limit of friction, where rounding has gone beyond it.
template <class Impulse>
void put_into_cone(double mu, Impulse&& impulse) {
  const double most = mu * impulse[0], slip = impulse.tail(impulse.size() - 1).norm();
  if (slip > most) impulse.tail(impulse.size() - 1) *= most / slip;
}

}  // namespace

// ---------------------------------------------------------------- numbers

/// Lanes that nobody fills do nothing.
template <class Number>
void SweptPairs<Number>::clear_gaps() {
  filled_.assign(points_.size() + smooth_.size(), 0);
  for (std::size_t i = 0; i < part_.blocks.size(); ++i) {
    const PairOrder::Place& place = order_.place(i);
    ++filled_[place.point / kLanes + (place.smooth ? points_.size() : 0)];
  }
  for (std::size_t i = 0; i < points_.size(); ++i)
    if (filled_[i] < kLanes) points_[i] = Point{};
  for (std::size_t i = 0; i < smooth_.size(); ++i)
    if (filled_[points_.size() + i] < kLanes) smooth_[i] = SmoothPoint{};
}

/// f(row block of the problem, where its numbers are).
template <class Number>
template <class F>
void SweptPairs<Number>::for_blocks(const F& f) const {
  for_portions(team_, part_.blocks.size(), kBlockPortion, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) f(part_.blocks[i], order_.place(i));
  });
}

/// Double precision needs none.
template <>
void SweptPairs<double>::update_units() {}

/// Of J', one over the root of the least mass; of y, what it is without impulses or what offsets make of it.
template <>
void SweptPairs<float>::update_units() {
  double y = 0, c = 0;
  for (int i = 0; i < columns(); ++i)
    for (const double number : bodies_.free_y(i)) y = std::max(y, std::abs(number));
  for (const int i : part_.blocks) {
    const RowBlock& block = problem_->blocks[i];
    for (int r = block.row; r < block.row + block.size; ++r) c = std::max(c, std::abs(problem_->c[r]));
  }
  const auto round = [](double x) { return x > 0 && std::isfinite(x) ? std::ldexp(1.0, std::ilogb(x)) : 1.0; };
  row_unit_ = round(bodies_.calc_largest_root());
  y_unit_ = round(std::max(y, c / row_unit_));
}

template <class Number>
void SweptPairs<Number>::update_free() {
  free_.resize(columns() + order_.groups());
  std::fill(free_.begin() + columns(), free_.end(), Column{});
  const double unit = 1 / y_unit_;
  for (int i = 0; i < columns(); ++i) {
    free_[i] = {};
    for (int k = 0; k < 6; ++k) free_[i].n[k] = static_cast<Number>(unit * bodies_.free_y(i)[k]);
  }
}

template <class Number>
void SweptPairs<Number>::update_point(int block, Point* point, int lane) const {
  const Problem& p = *problem_;
  const RowBlock& rows = p.blocks[block];
  const double row = 1 / row_unit_, speed = row / y_unit_, square = row * row;
  double j[2][18] = {}, d[3][3] = {};
  bodies_.update_rows(block, j, d);
  for (int r = 0; r < 3; ++r)
    for (int e = 0; e < 2; ++e)
      for (int k = 0; k < 6; ++k) point->j[r][e][k][lane] = static_cast<Number>(row * j[e][6 * r + k]);
  for (int r = 0; r < 3; ++r) {
    const bool is_row = r < rows.size;
    point->c[r][lane] = static_cast<Number>(is_row ? speed * p.c[rows.row + r] : 0);
    point->compliance[r][lane] = static_cast<Number>(is_row ? square * p.compliance[rows.row + r] : 0);
  }
  // The tangents' step: one over the largest eigenvalue of their block.
  const double mean = 0.5 * (d[1][1] + d[2][2]);
  const double largest = mean + std::sqrt(0.25 * (d[1][1] - d[2][2]) * (d[1][1] - d[2][2]) + d[2][1] * d[2][1]);
  point->inverse_n[lane] = static_cast<Number>(d[0][0] > 0 ? 1 / (square * d[0][0]) : 0);
  point->inverse_t[lane] = static_cast<Number>(largest > 0 ? 1 / (square * largest) : 0);
  point->tn[0][lane] = static_cast<Number>(square * d[1][0]);
  point->tn[1][lane] = static_cast<Number>(square * d[2][0]);
  point->mu[lane] = static_cast<Number>(rows.law == LawKind::Friction ? rows.mu : 0);
}

template <class Number>
void SweptPairs<Number>::update_point(int block, SmoothPoint* point, int lane) const {
  const Problem& p = *problem_;
  const int i = p.blocks[block].row;
  const double row = 1 / row_unit_, speed = row / y_unit_, square = row * row;
  double j[2][18] = {}, d[3][3] = {};
  bodies_.update_rows(block, j, d);
  for (int e = 0; e < 2; ++e)
    for (int k = 0; k < 6; ++k) point->j[e][k][lane] = static_cast<Number>(row * j[e][k]);
  point->c[lane] = static_cast<Number>(speed * p.c[i]);
  point->compliance[lane] = static_cast<Number>(square * p.compliance[i]);
  point->inverse_n[lane] = static_cast<Number>(d[0][0] > 0 ? 1 / (square * d[0][0]) : 0);
}

template <class Number>
void SweptPairs<Number>::update_points() {
  for_blocks([&](int block, const PairOrder::Place& place) {
    if (place.smooth) {
      update_point(block, &smooth_[place.point / kLanes], place.point % kLanes);
    } else {
      update_point(block, &points_[place.point / kLanes], place.point % kLanes);
    }
  });
}

template <class Number>
void SweptPairs<Number>::start(const Problem& problem, const ProblemPart& part) {
  problem_ = &problem;
  part_ = part;
  if (order_.update(problem, part)) {
    points_.resize(order_.points());
    smooth_.resize(order_.smooth_points());
    x_.resize(order_.numbers());
    clear_gaps();
  }
  bodies_.update(problem, part, team_);
  update_units();
  update_free();
  update_points();
  std::fill(x_.begin(), x_.end(), Lanes{});
  y_ = free_;
}

template <>
[[gnu::always_inline]] inline void SweptPairs<double>::load(const std::vector<Column>& of, const int* column,
                                                            Lanes* y) const {
  const auto numbers = [&](int k, int from) { return load_lanes<Lanes>(of[column[k]].n + from); };
  transpose(numbers(0, 0), numbers(1, 0), numbers(2, 0), numbers(3, 0), y);
  Lanes rest[kLanes];
  transpose(numbers(0, 4), numbers(1, 4), numbers(2, 4), numbers(3, 4), rest);
  y[4] = rest[0];
  y[5] = rest[1];
}

template <>
[[gnu::always_inline]] inline void SweptPairs<float>::load(const std::vector<Column>& of, const int* column,
                                                           Lanes* y) const {
  Lanes rows[kLanes], out[kLanes];
  for (int l = 0; l < kLanes; ++l) rows[l] = load_lanes<Lanes>(of[column[l]].n);
  transpose(rows, out);
  for (int k = 0; k < 6; ++k) y[k] = out[k];
}

/// Empty lanes have the dummy.
template <>
[[gnu::always_inline]] inline void SweptPairs<double>::store(const int* column, const Lanes* y,
                                                             std::vector<Column>* to) const {
  Lanes low[kLanes], high[kLanes];
  transpose(y[0], y[1], y[2], y[3], low);
  transpose(y[4], y[5], Lanes{}, Lanes{}, high);
  for (int l = 0; l < kLanes; ++l) {
    store_lanes(low[l], (*to)[column[l]].n);
    store_lanes(high[l], (*to)[column[l]].n + kLanes);
  }
}

template <>
[[gnu::always_inline]] inline void SweptPairs<float>::store(const int* column, const Lanes* y,
                                                            std::vector<Column>* to) const {
  const Lanes rows[kLanes] = {y[0], y[1], y[2], y[3], y[4], y[5], Lanes{}, Lanes{}};
  Lanes out[kLanes];
  transpose(rows, out);
  for (int l = 0; l < kLanes; ++l) store_lanes(out[l], (*to)[column[l]].n);
}

/// All pairs, those of groups that share no column at the same time.
template <class Number>
template <class F>
void SweptPairs<Number>::run_groups(const F& f) const {
  PhasedWork::run(
      team_, PairOrder::kPhases, [&](int phase) { return order_.phase_group(phase + 1) - order_.phase_group(phase); },
      [&](int phase, int task) { run_group(order_.phase_group(phase) + task, f); });
}

template <class Number>
template <class F>
void SweptPairs<Number>::run_group(int group, const F& f) const {
  for (int i = order_.group_pair(group); i < order_.group_pair(group + 1); ++i) f(order_.pairs()[i]);
}

/// y += J'^T x.
template <class Number>
void SweptPairs<Number>::add_impulses(const Pair& pair, const std::vector<Lanes>& of, std::vector<Column>* y) const {
  Lanes ya[6], yb[6];
  load(*y, pair.a, ya);
  load(*y, pair.b, yb);
  const int rows = pair.rows();
  for (int i = 0; i < pair.count; ++i) {
    for (int r = 0; r < rows; ++r) {
      const auto& j = pair.smooth ? smooth_[pair.first + i].j : points_[pair.first + i].j[r];
      const Lanes x = of[pair.x + rows * i + r];
      for (int k = 0; k < 6; ++k) {
        ya[k] += j[0][k] * x;
        yb[k] += j[1][k] * x;
      }
    }
  }
  store(pair.a, ya, y);
  store(pair.b, yb, y);
}

template <class Number>
void SweptPairs<Number>::set_impulses(const VecX& impulses) {
  const Problem& p = *problem_;
  Number* x = reinterpret_cast<Number*>(x_.data());
  const double unit = row_unit_ / y_unit_;
  for_blocks([&](int block, const PairOrder::Place& place) {
    for (int r = 0; r < p.blocks[block].size; ++r)
      x[place.x + kLanes * r] = static_cast<Number>(unit * impulses[p.blocks[block].row + r]);
  });
  update_y(x_, &y_);
}

/// y of impulses.
template <class Number>
void SweptPairs<Number>::update_y(const std::vector<Lanes>& of, std::vector<Column>* y) const {
  *y = free_;
  run_groups([&](const Pair& pair) { add_impulses(pair, of, y); });
}

template <class Number>
void SweptPairs<Number>::set_guess(const VecX& impulses) {
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
        const double change = y_unit_ * (y_[k].n[c] - free_[k].n[c]);
        sums.slope += y_unit_ * free_[k].n[c] * change;
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
  const auto share = static_cast<Number>(all.curvature > 0 ? std::clamp(-all.slope / all.curvature, 0.0, 1.0) : 0);
  if (!(share < 1)) return;
  for (Lanes& x : x_) x *= Lanes{} + share;
  for (std::size_t k = 0; k < y_.size(); ++k)
    for (int c = 0; c < 6; ++c) y_[k].n[c] = free_[k].n[c] + share * (y_[k].n[c] - free_[k].n[c]);
}

template <class Number>
void SweptPairs<Number>::update_impulses(VecX* impulses) const {
  const Problem& p = *problem_;
  if (impulses->size() != p.rows()) impulses->resize(p.rows());
  const Number* x = reinterpret_cast<const Number*>(x_.data());
  const double unit = y_unit_ / row_unit_;
  for_blocks([&](int block, const PairOrder::Place& place) {
    const RowBlock& rows = p.blocks[block];
    for (int r = 0; r < rows.size; ++r) (*impulses)[rows.row + r] = unit * x[place.x + kLanes * r];
    if constexpr (sizeof(Number) < sizeof(double)) {  // cones are those of the problem, to the last digit
      if (rows.size > 1) put_into_cone(rows.mu, impulses->segment(rows.row, rows.size));
    }
  });
}

/// y of the impulses in double precision, from the problem's own rows.
template <class Number>
void SweptPairs<Number>::update_exact() {
  const Problem& p = *problem_;
  exact_.assign(columns(), {});
  const Number* x = reinterpret_cast<const Number*>(x_.data());
  const double unit = y_unit_ / row_unit_;
  const auto add_run = [&](const PairOrder::Run& run) {
    for (int i = run.first; i < run.first + run.count; ++i) {
      const RowBlock& rows = p.blocks[part_.blocks[i]];
      double impulse[3];
      for (int r = 0; r < rows.size; ++r) impulse[r] = unit * x[order_.place(i).x + kLanes * r];
      if (rows.size > 1) put_into_cone(rows.mu, Eigen::Map<VecX>(impulse, rows.size));
      bodies_.add_force(part_.blocks[i], impulse, &exact_);
    }
  };
  PhasedWork::run(
      team_, PairOrder::kPhases, [&](int phase) { return order_.phase_group(phase + 1) - order_.phase_group(phase); },
      [&](int phase, int task) {
        const int group = order_.phase_group(phase) + task;
        for (int k = order_.group_run(group); k < order_.group_run(group + 1); ++k) add_run(order_.run(k));
      });
  for_portions(team_, columns(), kColumnPortion, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      exact_[i] = bodies_.calc_y(i, exact_[i]);
      for (int k = 0; k < 6; ++k) exact_[i][k] += bodies_.free_y(i)[k];
    }
  });
}

template <class Number>
double SweptPairs<Number>::calc_drift() const {
  if constexpr (sizeof(Number) == sizeof(double)) return 0;
  double most = 0, speed = 0;
  for (int i = 0; i < columns(); ++i) {
    const double root = bodies_.first_root(i);  // y as a speed: light bodies count by what they move
    for (int k = 0; k < 6; ++k) {
      most = std::max(most, root * std::abs(y_unit_ * y_[i].n[k] - exact_[i][k]));
      speed = std::max({speed, root * std::abs(exact_[i][k]), root * std::abs(bodies_.free_y(i)[k])});
    }
  }
  return most > 0 ? most / speed : 0;
}

template <class Number>
void SweptPairs<Number>::update_velocity(VecX* v) {
  constexpr bool is_exact = sizeof(Number) == sizeof(double);
  if constexpr (!is_exact) update_exact();
  for_portions(team_, columns(), kColumnPortion, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i)
      is_exact ? bodies_.update_velocity(i, y_[i].n, v) : bodies_.update_velocity(i, exact_[i].data(), v);
  });
}

/// Of one pair, squared: the change, and the rows' speeds without impulses.
template <class Number>
void SweptPairs<Number>::add_change(const Pair& pair, Lanes* sums) const {
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

template <class Number>
void SweptPairs<Number>::add_change_smooth(const Pair& pair, Lanes* sums) const {
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

template <class Number>
double SweptPairs<Number>::calc_change() const {
  struct Sums {
    Lanes of[2] = {};
    void operator+=(const Sums& other) { of[0] += other.of[0], of[1] += other.of[1]; }
  };
  const Sums all =
      sum_portions<Sums>(team_, order_.pairs().size(), kPairPortion, [&](std::size_t first, std::size_t last) {
        Sums sums;
        for (std::size_t i = first; i < last; ++i)
          order_.pairs()[i].smooth ? add_change_smooth(order_.pairs()[i], sums.of)
                                   : add_change(order_.pairs()[i], sums.of);
        return sums;
      });
  const auto add_up = [](const Lanes& lanes) {
    double sum = 0;
    for (int l = 0; l < kLanes; l += 4)
      sum += (static_cast<double>(lanes[l]) + lanes[l + 1]) + (static_cast<double>(lanes[l + 2]) + lanes[l + 3]);
    return sum;
  };
  const double change = add_up(all.of[0]), scale = add_up(all.of[1]);
  return scale > 0 ? std::sqrt(change / scale) : 0;
}

// ---------------------------------------------------------------- sweeps

/// kept <- x <- weight (x - kept) + kept, of so many rows. Weight 0: kept <- x. Nobody else reads the x of a pair in a
/// sweep, so that it is done with the visit, while they are at hand.
template <class Number>
[[gnu::always_inline]] inline void SweptPairs<Number>::accelerate(const Acceleration& by, int rows, int place) {
  if (by.impulses == nullptr) return;
  const Lanes weight = Lanes{} + by.weight;
  Lanes *x = x_.data() + place, *kept = by.impulses + place;
  for (int r = 0; r < rows; ++r) {
    if (by.weight != 0) x[r] = weight * (x[r] - kept[r]) + kept[r];
    kept[r] = x[r];
  }
}

template <class Number>
void SweptPairs<Number>::visit(const Pair& pair, const Acceleration& by) {
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
  store(pair.a, ya, &y_);
  store(pair.b, yb, &y_);
}

/// The same of normals alone.
template <class Number>
void SweptPairs<Number>::visit_smooth(const Pair& pair, const Acceleration& by) {
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
  store(pair.a, ya, &y_);
  store(pair.b, yb, &y_);
}

/// The same of the y of some columns, after a sweep.
template <class Number>
void SweptPairs<Number>::accelerate_columns(Number weight, int kept, int portion) {
  const std::size_t first = static_cast<std::size_t>(kFastColumns) * portion,
                    last = std::min(y_.size(), first + kFastColumns);
  Number *to = y_[first].n, *from = y_kept_[kept][first].n;
  const std::size_t count = 8 * (last - first);
  if (weight == 0) {
    std::copy(to, to + count, from);
  } else {
    for (std::size_t i = 0; i < count; ++i) from[i] = to[i] = weight * (to[i] - from[i]) + from[i];
  }
}

template <class Number>
void SweptPairs<Number>::run(int sweeps, double bold, const std::atomic<bool>* stop) {
  weights_.assign(sweeps, 0.0);
  double weight = 1;
  for (int k = kFirstAccelerated; k + 1 < sweeps; ++k) {
    const double radius = k < kLater ? kRadius : k < kBold ? std::min(bold, kSafeRadius) : bold;
    const double square = radius * radius;
    weights_[k] = weight = weight == 1 ? 2 / (2 - square) : 4 / (4 - square * weight);
  }
  for (int i = 0; i < 2; ++i) {
    x_kept_[i].resize(x_.size());
    y_kept_[i].resize(y_.size());
  }
  constexpr bool is_exact = sizeof(Number) == sizeof(double);
  const int portion = is_exact ? sweeps : kSinglePortion;
  for (int first = 0; first < sweeps; first += portion) {
    if constexpr (!is_exact) {  // without what rounding has added up to
      update_y(x_, &y_);
      for (int i = 0; i < 2 && first > 0; ++i) update_y(x_kept_[i], &y_kept_[i]);
    }
    run_portion(first, std::min(sweeps, first + portion), stop);
  }
}

/// Sweeps [first, last) of as many as there are weights.
template <class Number>
void SweptPairs<Number>::run_portion(int first, int last, const std::atomic<bool>* stop) {
  // A sweep is two phases of groups, and one in which y_kept_[k % 2] becomes what the next sweep begins with.
  constexpr int kPhases = PairOrder::kPhases + 1;
  const int sweeps = static_cast<int>(weights_.size());
  const int portions = (static_cast<int>(y_.size()) + kFastColumns - 1) / kFastColumns;
  PhasedWork::run(
      team_, kPhases * (last - first),
      [&](int phase) {
        const int k = first + phase / kPhases, part = phase % kPhases;
        if (part < PairOrder::kPhases) return order_.phase_group(part + 1) - order_.phase_group(part);
        return k + 1 < sweeps ? portions : 0;
      },
      [&](int phase, int task) {
        if (stop != nullptr && stop->load(std::memory_order_relaxed)) return;
        const int k = first + phase / kPhases, part = phase % kPhases;
        const auto weight = static_cast<Number>(weights_[k]);
        if (part == PairOrder::kPhases) return accelerate_columns(weight, k % 2, task);
        const Acceleration by{weight, k + 1 < sweeps ? x_kept_[k % 2].data() : nullptr};
        run_group(order_.phase_group(part) + task,
                  [&](const Pair& pair) { pair.smooth ? visit_smooth(pair, by) : visit(pair, by); });
      });
}

template class SweptPairs<double>;
template class SweptPairs<float>;

}  // namespace slipstick
