#include "solve/solvers/pair_sweeps.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

namespace slipstick {

namespace {

constexpr int kMostColours = 64;
// Chebyshev's weights: an estimate of the sweeps' spectral radius, from the third sweep on and once they have run in.
constexpr double kRadius = 0.9;
constexpr int kFirstAccelerated = 2, kLater = 8, kBold = 60;  // sweeps before each of them

/// The inverse of the Cholesky factor of an n x n block, row-major in six columns; the rest is zero.
void update_inverse_root(int n, const double* a, double* out) {
  double l[36] = {};
  std::fill_n(out, 36, 0.0);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j <= i; ++j) {
      double sum = a[i * n + j];
      for (int k = 0; k < j; ++k) sum -= l[i * 6 + k] * l[j * 6 + k];
      l[i * 6 + j] = i == j ? std::sqrt(sum) : sum / l[j * 6 + j];
    }
  }
  for (int j = 0; j < n; ++j) {
    out[j * 6 + j] = 1 / l[j * 6 + j];
    for (int i = j + 1; i < n; ++i) {
      double sum = 0;
      for (int k = j; k < i; ++k) sum -= l[i * 6 + k] * out[k * 6 + j];
      out[i * 6 + j] = sum / l[i * 6 + i];
    }
  }
}

/// out = L^-1 x.
void multiply_root(const double* root, int n, const double* x, double* out) {
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for (int j = 0; j <= i; ++j) sum += root[i * 6 + j] * x[j];
    out[i] = sum;
  }
}

}  // namespace

bool PairSweeps::takes(const Problem& problem) {
  if (!problem.symmetric || !problem.coupling.empty() || problem.columns() == 0) return false;
  return std::all_of(problem.blocks.begin(), problem.blocks.end(), [](const RowBlock& block) {
    if (block.entries < 1 || block.entries > 2) return false;
    if (block.law == LawKind::Nonnegative) return block.size == 1;
    return block.law == LawKind::Friction && block.size <= 3 && block.mu >= 0 && std::isfinite(block.mu) &&
           (block.size == 2 || block.friction == FrictionModel::Cone);
  });
}

// ---------------------------------------------------------------- who is visited with whom

/// Row blocks that follow each other and touch the same columns; a contact with what does not move has the dummy.
void PairSweeps::find_runs() {
  const Problem& p = *problem_;
  runs_.clear();
  for (int i = 0; i < static_cast<int>(p.blocks.size()); ++i) {
    const RowBlock& block = p.blocks[i];
    const int a = p.entries[block.entry].column;
    const int b = block.entries > 1 ? p.entries[block.entry + 1].column : p.columns();
    if (!runs_.empty() && runs_.back().a == a && runs_.back().b == b && runs_.back().count < kMostPoints) {
      ++runs_.back().count;
    } else {
      runs_.push_back({a, b, i, 1});
    }
  }
}

/// First fit; what finds no free colour has one of its own.
void PairSweeps::colour_runs() {
  used_.assign(problem_->columns() + 1, 0);
  colour_.resize(runs_.size());
  int next = kMostColours;
  for (std::size_t k = 0; k < runs_.size(); ++k) {
    std::uint64_t& a = used_[runs_[k].a];
    std::uint64_t fixed = 0;
    std::uint64_t& b = runs_[k].b < problem_->columns() ? used_[runs_[k].b] : fixed;
    const std::uint64_t open = ~(a | b);
    if (open == 0) {
      colour_[k] = next++;
      continue;
    }
    const std::uint64_t lowest = open & (~open + 1);
    colour_[k] = std::countr_zero(open);
    a |= lowest;
    b |= lowest;
  }
  order_.resize(runs_.size());
  std::iota(order_.begin(), order_.end(), 0);
  std::stable_sort(order_.begin(), order_.end(), [&](int i, int j) {
    return colour_[i] != colour_[j] ? colour_[i] < colour_[j] : runs_[i].count > runs_[j].count;
  });
}

/// Runs of one colour, four at a time.
void PairSweeps::pack_runs() {
  const int none = problem_->columns();
  pairs_.clear();
  place_.resize(problem_->blocks.size());
  int points = 0, lane = kLanes, colour = -1;
  for (const int k : order_) {
    const Run& run = runs_[k];
    if (lane == kLanes || colour_[k] != colour) {
      Pair pair{};
      std::fill_n(pair.a, kLanes, none);
      std::fill_n(pair.b, kLanes, none);
      pair.first = points;
      pair.count = run.count;
      points += run.count;
      pairs_.push_back(pair);
      lane = 0;
      colour = colour_[k];
    }
    Pair& pair = pairs_.back();
    pair.a[lane] = run.a;
    pair.b[lane] = run.b;
    for (int i = 0; i < run.count; ++i) place_[run.first + i] = (pair.first + i) * kLanes + lane;
    ++lane;
  }
  points_.resize(points);
  x_.resize(points);
}

// ---------------------------------------------------------------- numbers

void PairSweeps::update_bodies() {
  const Problem& p = *problem_;
  root_.resize(p.columns());
  free_.assign(p.columns() + 1, {});
  for (int k = 0; k < p.columns(); ++k) {
    update_inverse_root(p.column_size(k), p.mass.data() + p.mass_start[k], root_[k].data());
    multiply_root(root_[k].data(), p.column_size(k), p.b.data() + p.column_start[k], free_[k].data());
  }
}

void PairSweeps::update_point(int block, Point* point, int lane) {
  const Problem& p = *problem_;
  const RowBlock& rows = p.blocks[block];
  double j[2][18] = {}, d[3][3] = {};
  for (int e = 0; e < rows.entries; ++e) {
    const JacobianEntry& entry = p.entries[rows.entry + e];
    const int n = p.column_size(entry.column);
    for (int r = 0; r < rows.size; ++r)
      multiply_root(root_[entry.column].data(), n, p.jacobian.data() + entry.offset + r * n, j[e] + 6 * r);
    for (int r = 0; r < rows.size; ++r)
      for (int s = 0; s <= r; ++s)
        for (int k = 0; k < 6; ++k) d[r][s] += j[e][6 * r + k] * j[e][6 * s + k];
  }
  for (int k = 0; k < 18; ++k) {
    point->ja[k][lane] = j[0][k];
    point->jb[k][lane] = j[1][k];
  }
  for (int r = 0; r < 3; ++r) {
    const bool is_row = r < rows.size;
    point->c[r][lane] = is_row ? p.c[rows.row + r] : 0;
    point->compliance[r][lane] = is_row ? p.compliance[rows.row + r] : 0;
    if (is_row) d[r][r] += p.compliance[rows.row + r];
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

void PairSweeps::start(const Problem& problem) {
  problem_ = &problem;
  find_runs();
  const auto same = [](const Run& r, const Run& s) {
    return r.a == s.a && r.b == s.b && r.first == s.first && r.count == s.count;
  };
  const bool known = used_.size() == static_cast<std::size_t>(problem.columns()) + 1 &&
                     std::equal(runs_.begin(), runs_.end(), known_runs_.begin(), known_runs_.end(), same);
  if (!known) {
    colour_runs();
    pack_runs();
    known_runs_ = runs_;
    std::memset(points_.data(), 0, points_.size() * sizeof(Point));  // lanes that nobody fills do nothing
  }
  update_bodies();
  for (int i = 0; i < static_cast<int>(problem.blocks.size()); ++i)
    update_point(i, &points_[place_[i] / kLanes], place_[i] % kLanes);
  std::fill(x_.begin(), x_.end(), Impulse{});
  y_ = free_;
}

void PairSweeps::load(const int* column, Lanes* y) const {
  for (int l = 0; l < kLanes; ++l)
    for (int k = 0; k < 6; ++k) y[k][l] = y_[column[l]][k];
}

void PairSweeps::store(const int* column, const Lanes* y) {
  for (int l = 0; l < kLanes; ++l)
    for (int k = 0; k < 6; ++k) y_[column[l]][k] = y[k][l];
}

void PairSweeps::set_impulses(const VecX& impulses) {
  const Problem& p = *problem_;
  y_ = free_;
  for (std::size_t i = 0; i < p.blocks.size(); ++i) {
    const Point& point = points_[place_[i] / kLanes];
    const int lane = place_[i] % kLanes;
    const RowBlock& rows = p.blocks[i];
    auto& ya = y_[p.entries[rows.entry].column];
    auto& yb = y_[rows.entries > 1 ? p.entries[rows.entry + 1].column : p.columns()];
    for (int r = 0; r < rows.size; ++r) {
      const double x = impulses[rows.row + r];
      x_[place_[i] / kLanes].x[r][lane] = x;
      for (int k = 0; k < 6; ++k) {
        ya[k] += point.ja[6 * r + k][lane] * x;
        yb[k] += point.jb[6 * r + k][lane] * x;
      }
    }
  }
}

void PairSweeps::set_guess(const VecX& impulses) {
  set_impulses(impulses);
  const Problem& p = *problem_;
  double slope = 0, curvature = 0;
  for (std::size_t k = 0; k < y_.size(); ++k) {
    for (int c = 0; c < 6; ++c) {
      const double change = y_[k][c] - free_[k][c];
      slope += free_[k][c] * change;
      curvature += change * change;
    }
  }
  for (int r = 0; r < p.rows(); ++r) {
    slope += p.c[r] * impulses[r];
    curvature += p.compliance[r] * impulses[r] * impulses[r];
  }
  const double share = curvature > 0 ? std::clamp(-slope / curvature, 0.0, 1.0) : 0;
  if (!(share < 1)) return;
  for (Impulse& x : x_)
    for (Lanes& lanes : x.x) lanes *= Lanes{} + share;
  for (std::size_t k = 0; k < y_.size(); ++k)
    for (int c = 0; c < 6; ++c) y_[k][c] = free_[k][c] + share * (y_[k][c] - free_[k][c]);
}

void PairSweeps::update_impulses(VecX* impulses) const {
  const Problem& p = *problem_;
  impulses->resize(p.rows());
  for (std::size_t i = 0; i < p.blocks.size(); ++i)
    for (int r = 0; r < p.blocks[i].size; ++r)
      (*impulses)[p.blocks[i].row + r] = x_[place_[i] / kLanes].x[r][place_[i] % kLanes];
}

// ---------------------------------------------------------------- sweeps

void PairSweeps::visit(const Pair& pair) {
  const auto root = [](const Lanes& s) {
#ifdef __AVX2__
    return Lanes(_mm256_sqrt_pd(__m256d(s)));
#else
    Lanes r;
    for (int l = 0; l < kLanes; ++l) r[l] = std::sqrt(s[l]);
    return r;
#endif
  };
  const Lanes zero{};
  Lanes ya[6], yb[6];
  load(pair.a, ya);
  load(pair.b, yb);
  bool moved = false;
  for (int i = pair.first; i < pair.first + pair.count; ++i) {
    const Point& p = points_[i];
    Lanes* x = x_[i].x;
    const auto image = [&](int r) {
      Lanes w = p.c[r] + p.compliance[r] * x[r], other{};
      for (int k = 0; k < 6; ++k) {
        w += p.ja[6 * r + k] * ya[k];
        other += p.jb[6 * r + k] * yb[k];
      }
      return w + other;
    };
    const Lanes wn = image(0);
    const auto busy = (wn < zero) | (x[0] != zero) | (x[1] != zero) | (x[2] != zero);
    if ((busy[0] | busy[1] | busy[2] | busy[3]) == 0) continue;  // open, and stays so
    moved = true;
    Lanes n = x[0] - wn * p.inverse_n;
    n = n > zero ? n : zero;
    const Lanes dn = n - x[0];
    Lanes t1 = x[1] - (image(1) + p.tn[0] * dn) * p.inverse_t, t2 = x[2] - (image(2) + p.tn[1] * dn) * p.inverse_t;
    const Lanes square = t1 * t1 + t2 * t2, reach = p.mu * n;
    const auto slides = square > reach * reach;
    const Lanes one = zero + 1, share = slides ? reach / root(slides ? square : one) : one;
    t1 *= share;
    t2 *= share;
    const Lanes d1 = t1 - x[1], d2 = t2 - x[2];
    x[0] = n;
    x[1] = t1;
    x[2] = t2;
    for (int k = 0; k < 6; ++k) {
      ya[k] += p.ja[k] * dn + p.ja[6 + k] * d1 + p.ja[12 + k] * d2;
      yb[k] += p.jb[k] * dn + p.jb[6 + k] * d1 + p.jb[12 + k] * d2;
    }
  }
  if (!moved) return;
  store(pair.a, ya);
  store(pair.b, yb);
}

void PairSweeps::sweep() {
  for (const Pair& pair : pairs_) visit(pair);
}

void PairSweeps::run(int sweeps, double bold, const std::atomic<bool>* stop) {
  double weight = 1;
  for (int k = 0; k < sweeps; ++k) {
    if (stop != nullptr && stop->load(std::memory_order_relaxed)) return;
    const bool accelerated = k >= kFirstAccelerated && k + 1 < sweeps;
    std::swap(x_before_, x_kept_);
    std::swap(y_before_, y_kept_);
    x_kept_ = x_;
    y_kept_ = y_;
    sweep();
    if (!accelerated) continue;
    const double radius = k < kLater  ? kRadius
                          : k < kBold ? std::min(bold, kSafeRadius)
                                      : bold,
                 square = radius * radius;
    weight = weight == 1 ? 2 / (2 - square) : 4 / (4 - square * weight);
    const Lanes w = Lanes{} + weight;
    for (std::size_t i = 0; i < x_.size(); ++i)
      for (int r = 0; r < 3; ++r) x_[i].x[r] = w * (x_[i].x[r] - x_before_[i].x[r]) + x_before_[i].x[r];
    for (std::size_t i = 0; i < y_.size(); ++i)
      for (int c = 0; c < 6; ++c) y_[i][c] = weight * (y_[i][c] - y_before_[i][c]) + y_before_[i][c];
  }
}

}  // namespace slipstick
