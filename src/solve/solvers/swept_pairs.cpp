#include "solve/solvers/swept_pairs.h"

#include <slipstick/solver.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/thread_team.h"
#include "solve/solvers/swept_pairs_visits.h"

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

template <class Number>
void SweptPairs<Number>::set_forces(std::span<const double> b) {
  bodies_.set_forces(b, team_);
  update_free();
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
      raise_to(root * std::abs(y_unit_ * y_[i].n[k] - exact_[i][k]), &most);  // what is no number stays none
      speed = std::max({speed, root * std::abs(exact_[i][k]), root * std::abs(bodies_.free_y(i)[k])});
    }
  }
  return most == 0 ? 0 : most / speed;
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
