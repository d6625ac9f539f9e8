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

/// The same for a rigid body, diag(m I_3, B). False: it is none.
bool update_body_root(const double* a, double* out) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 6; ++j)
      if (j != i && (a[6 * i + j] != 0 || (j > 2 && a[6 * j + i] != 0))) return false;
  if (a[0] != a[7] || a[0] != a[14]) return false;
  std::fill_n(out, 36, 0.0);
  out[0] = out[7] = out[14] = 1 / std::sqrt(a[0]);
  const double l33 = std::sqrt(a[21]), l43 = a[27] / l33, l53 = a[33] / l33, l44 = std::sqrt(a[28] - l43 * l43);
  const double l54 = (a[34] - l53 * l43) / l44, l55 = std::sqrt(a[35] - l53 * l53 - l54 * l54);
  out[21] = 1 / l33;
  out[28] = 1 / l44;
  out[35] = 1 / l55;
  out[27] = -l43 * out[21] / l44;
  out[33] = -(l53 * out[21] + l54 * out[27]) / l55;
  out[34] = -l54 * out[28] / l55;
  return true;
}

/// out = L^-1 x, of a rigid body.
void multiply_body_root(const double* root, const double* x, double* out) {
  for (int i = 0; i < 3; ++i) out[i] = root[0] * x[i];
  out[3] = root[21] * x[3];
  out[4] = root[27] * x[3] + root[28] * x[4];
  out[5] = root[33] * x[3] + root[34] * x[4] + root[35] * x[5];
}

/// out = L^-1 x.
void multiply_root(const double* root, int n, const double* x, double* out) {
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for (int j = 0; j <= i; ++j) sum += root[i * 6 + j] * x[j];
    out[i] = sum;
  }
}

/// Whether it is true in any lane.
template <class Mask>
[[gnu::always_inline]] inline bool is_any(Mask mask) {
#ifdef __AVX2__
  return _mm256_movemask_pd(__m256d(mask)) != 0;
#else
  return (mask[0] | mask[1] | mask[2] | mask[3]) != 0;
#endif
}

/// Four numbers of four columns to four lanes of each number, and back.
template <class Lanes>
[[gnu::always_inline]] inline void transpose(Lanes p, Lanes q, Lanes r, Lanes s, Lanes* out) {
  const Lanes a = __builtin_shufflevector(p, q, 0, 4, 2, 6), b = __builtin_shufflevector(p, q, 1, 5, 3, 7);
  const Lanes c = __builtin_shufflevector(r, s, 0, 4, 2, 6), d = __builtin_shufflevector(r, s, 1, 5, 3, 7);
  out[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
  out[1] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
  out[2] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
  out[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

}  // namespace

namespace {

bool takes_block(const RowBlock& block) {
  if (block.entries < 1 || block.entries > 2) return false;
  if (block.law == LawKind::Nonnegative) return block.size == 1;
  return block.law == LawKind::Friction && block.size <= 3 && block.mu >= 0 && std::isfinite(block.mu) &&
         (block.size == 2 || block.friction == FrictionModel::Cone);
}

}  // namespace

bool PairSweeps::takes(const Problem& problem) {
  if (!problem.symmetric || !problem.coupling.empty() || problem.columns() == 0) return false;
  return std::all_of(problem.blocks.begin(), problem.blocks.end(), takes_block);
}

bool PairSweeps::takes(const Problem& problem, const ProblemPart& part) {
  if (!problem.symmetric || !problem.coupling.empty() || part.columns.empty()) return false;
  return std::all_of(part.blocks.begin(), part.blocks.end(), [&](int i) { return takes_block(problem.blocks[i]); });
}

// ---------------------------------------------------------------- who is visited with whom

/// Row blocks that follow each other and touch the same columns; a contact with what does not move has the dummy.
void PairSweeps::find_runs() {
  const Problem& p = *problem_;
  runs_.clear();
  for (int i = 0; i < static_cast<int>(part_.blocks.size()); ++i) {
    const RowBlock& block = p.blocks[part_.blocks[i]];
    const int a = local_column(p.entries[block.entry]);
    const int b = block.entries > 1 ? local_column(p.entries[block.entry + 1]) : columns();
    if (!runs_.empty() && runs_.back().a == a && runs_.back().b == b && runs_.back().count < kMostPoints) {
      ++runs_.back().count;
      runs_.back().smooth = runs_.back().smooth && block.size == 1;
    } else {
      runs_.push_back({a, b, i, 1, block.size == 1});
    }
  }
}

/// First fit; what finds no free colour has one of its own.
void PairSweeps::colour_runs() {
  used_.assign(columns() + 1, 0);
  colour_.resize(runs_.size());
  int next = kMostColours;
  for (std::size_t k = 0; k < runs_.size(); ++k) {
    std::uint64_t& a = used_[runs_[k].a];
    std::uint64_t fixed = 0;
    std::uint64_t& b = runs_[k].b < columns() ? used_[runs_[k].b] : fixed;
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
  sort_runs(next);
}

/// By colour, in each colour those that rub first, in each of both the longest first: a counting sort.
void PairSweeps::sort_runs(int colours) {
  const auto rank = [&](std::size_t k) {
    return (2 * colour_[k] + (runs_[k].smooth ? 1 : 0)) * kMostPoints + kMostPoints - runs_[k].count;
  };
  start_.assign(2 * static_cast<std::size_t>(colours) * kMostPoints + 1, 0);
  for (std::size_t k = 0; k < runs_.size(); ++k) ++start_[rank(k) + 1];
  std::partial_sum(start_.begin(), start_.end(), start_.begin());
  order_.resize(runs_.size());
  for (std::size_t k = 0; k < runs_.size(); ++k) order_[start_[rank(k)]++] = static_cast<int>(k);
}

/// Runs of one colour, four at a time.
void PairSweeps::pack_runs() {
  const int none = columns();
  pairs_.clear();
  place_.resize(part_.blocks.size());
  int points = 0, lane = kLanes, colour = -1;
  for (const int k : order_) {
    const Run& run = runs_[k];
    if (lane == kLanes || colour_[k] != colour || run.smooth != pairs_.back().smooth) {
      Pair pair{};
      std::fill_n(pair.a, kLanes, none);
      std::fill_n(pair.b, kLanes, none);
      pair.first = points;
      pair.count = run.count;
      pair.smooth = run.smooth;
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

/// Lanes that nobody fills do nothing.
void PairSweeps::clear_gaps() {
  filled_.assign(points_.size(), 0);
  for (const int place : place_) ++filled_[place / kLanes];
  for (std::size_t i = 0; i < points_.size(); ++i)
    if (filled_[i] < kLanes) std::memset(static_cast<void*>(&points_[i]), 0, sizeof(Point));
}

// ---------------------------------------------------------------- numbers

void PairSweeps::update_bodies() {
  const Problem& p = *problem_;
  root_.resize(columns());
  is_body_.resize(columns());
  free_.assign(columns() + 1, {});
  for (int i = 0; i < columns(); ++i) {
    const int k = part_.columns[i];
    const double* mass = p.mass.data() + p.mass_start[k];
    const int n = p.column_size(k);
    is_body_[i] = n == 6 && update_body_root(mass, root_[i].data());
    if (!is_body_[i]) update_inverse_root(n, mass, root_[i].data());
    multiply_root(root_[i].data(), n, p.b.data() + p.column_start[k], free_[i].data());
  }
}

void PairSweeps::update_point(int block, Point* point, int lane) {
  const Problem& p = *problem_;
  const RowBlock& rows = p.blocks[block];
  double j[2][18] = {}, d[3][3] = {};
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
  for (int r = 0; r < (has_friction_ ? 3 : 1); ++r)  // without friction nobody reads the others
    for (int e = 0; e < 2; ++e)
      for (int k = 0; k < 6; ++k) point->j[r][e][k][lane] = j[e][6 * r + k];
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
  find_runs();
  has_friction_ = std::any_of(runs_.begin(), runs_.end(), [](const Run& run) { return !run.smooth; });
  const auto same = [](const Run& r, const Run& s) {
    return r.a == s.a && r.b == s.b && r.first == s.first && r.count == s.count && r.smooth == s.smooth;
  };
  const bool known = used_.size() == static_cast<std::size_t>(columns()) + 1 &&
                     std::equal(runs_.begin(), runs_.end(), known_runs_.begin(), known_runs_.end(), same);
  if (!known) {
    colour_runs();
    pack_runs();
    known_runs_ = runs_;
    clear_gaps();
  }
  update_bodies();
  for (std::size_t i = 0; i < part_.blocks.size(); ++i)
    update_point(part_.blocks[i], &points_[place_[i] / kLanes], place_[i] % kLanes);
  std::fill(x_.begin(), x_.end(), Impulse{});
  y_ = free_;
}

[[gnu::always_inline]] inline void PairSweeps::load(const int* column, Lanes* y) const {
  const Loose *k0 = numbers_of(column[0]), *k1 = numbers_of(column[1]), *k2 = numbers_of(column[2]),
              *k3 = numbers_of(column[3]);
  transpose(Lanes(k0[0]), Lanes(k1[0]), Lanes(k2[0]), Lanes(k3[0]), y);
  Lanes rest[kLanes];
  transpose(Lanes(k0[1]), Lanes(k1[1]), Lanes(k2[1]), Lanes(k3[1]), rest);
  y[4] = rest[0];
  y[5] = rest[1];
}

[[gnu::always_inline]] inline void PairSweeps::store(const int* column, const Lanes* y) {
  Lanes low[kLanes], high[kLanes];
  transpose(y[0], y[1], y[2], y[3], low);
  transpose(y[4], y[5], Lanes{}, Lanes{}, high);
  for (int l = 0; l < kLanes; ++l) {
    Loose* k = reinterpret_cast<Loose*>(y_[column[l]].data());
    k[0] = low[l];
    k[1] = high[l];
  }
}

void PairSweeps::set_impulses(const VecX& impulses) {
  const Problem& p = *problem_;
  y_ = free_;
  for (std::size_t i = 0; i < part_.blocks.size(); ++i) {
    const Point& point = points_[place_[i] / kLanes];
    const int lane = place_[i] % kLanes;
    const RowBlock& rows = p.blocks[part_.blocks[i]];
    auto& ya = y_[local_column(p.entries[rows.entry])];
    auto& yb = y_[rows.entries > 1 ? local_column(p.entries[rows.entry + 1]) : columns()];
    for (int r = 0; r < rows.size; ++r) {
      const double x = impulses[rows.row + r];
      x_[place_[i] / kLanes].x[r][lane] = x;
      for (int k = 0; k < 6; ++k) {
        ya[k] += point.j[r][0][k][lane] * x;
        yb[k] += point.j[r][1][k][lane] * x;
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
  for (const int i : part_.blocks) {
    for (int r = p.blocks[i].row; r < p.blocks[i].row + p.blocks[i].size; ++r) {
      slope += p.c[r] * impulses[r];
      curvature += p.compliance[r] * impulses[r] * impulses[r];
    }
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
  if (impulses->size() != p.rows()) impulses->resize(p.rows());
  for (std::size_t i = 0; i < part_.blocks.size(); ++i) {
    const RowBlock& block = p.blocks[part_.blocks[i]];
    for (int r = 0; r < block.size; ++r) (*impulses)[block.row + r] = x_[place_[i] / kLanes].x[r][place_[i] % kLanes];
  }
}

double PairSweeps::calc_change() const {
  double change = 0, scale = 0;
  for (std::size_t i = 0; i < part_.blocks.size(); ++i) {
    const RowBlock& block = problem_->blocks[part_.blocks[i]];
    const Point& p = points_[place_[i] / kLanes];
    const int lane = place_[i] % kLanes, a = local_column(problem_->entries[block.entry]);
    const int b = block.entries > 1 ? local_column(problem_->entries[block.entry + 1]) : columns();
    double x[3], w[3] = {};
    for (int r = 0; r < block.size; ++r) {
      x[r] = x_[place_[i] / kLanes].x[r][lane];
      double q = p.c[r][lane];
      w[r] = q + p.compliance[r][lane] * x[r];
      for (int k = 0; k < 6; ++k) {
        const double ja = p.j[r][0][k][lane], jb = p.j[r][1][k][lane];
        q += ja * free_[a][k] + jb * free_[b][k];
        w[r] += ja * y_[a][k] + jb * y_[b][k];
      }
      scale += q * q;
    }
    const double in = p.inverse_n[lane], it = p.inverse_t[lane], n = std::max(0.0, x[0] - w[0] * in), dn = n - x[0];
    if (in > 0) change += dn * dn / (in * in);
    if (block.size == 1 || !(it > 0)) continue;
    double t[2] = {}, square = 0;
    for (int r = 1; r < block.size; ++r) {
      t[r - 1] = x[r] - (w[r] + p.tn[r - 1][lane] * dn) * it;
      square += t[r - 1] * t[r - 1];
    }
    const double reach = p.mu[lane] * n, share = square > reach * reach ? reach / std::sqrt(square) : 1;
    for (int r = 1; r < block.size; ++r) change += std::pow((share * t[r - 1] - x[r]) / it, 2);
  }
  return scale > 0 ? std::sqrt(change / scale) : 0;
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
        w += p.j[r][0][k] * ya[k];
        other += p.j[r][1][k] * yb[k];
      }
      return w + other;
    };
    const Lanes wn = image(0);
    if (!is_any((wn < zero) | (x[0] != zero) | (x[1] != zero) | (x[2] != zero))) continue;  // open, and stays so
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
      ya[k] += p.j[0][0][k] * dn + p.j[1][0][k] * d1 + p.j[2][0][k] * d2;
      yb[k] += p.j[0][1][k] * dn + p.j[1][1][k] * d1 + p.j[2][1][k] * d2;
    }
  }
  if (!moved) return;
  store(pair.a, ya);
  store(pair.b, yb);
}

/// The same of normals alone.
void PairSweeps::visit_smooth(const Pair& pair) {
  const Lanes zero{};
  Lanes ya[6], yb[6];
  load(pair.a, ya);
  load(pair.b, yb);
  bool moved = false;
  for (int i = pair.first; i < pair.first + pair.count; ++i) {
    const Point& p = points_[i];
    Lanes& x = x_[i].x[0];
    Lanes w = p.c[0] + p.compliance[0] * x, other{};
    for (int k = 0; k < 6; ++k) {
      w += p.j[0][0][k] * ya[k];
      other += p.j[0][1][k] * yb[k];
    }
    w += other;
    if (!is_any((w < zero) | (x != zero))) continue;
    moved = true;
    Lanes n = x - w * p.inverse_n;
    n = n > zero ? n : zero;
    const Lanes dn = n - x;
    x = n;
    for (int k = 0; k < 6; ++k) {
      ya[k] += p.j[0][0][k] * dn;
      yb[k] += p.j[0][1][k] * dn;
    }
  }
  if (!moved) return;
  store(pair.a, ya);
  store(pair.b, yb);
}

void PairSweeps::sweep() {
  for (const Pair& pair : pairs_) pair.smooth ? visit_smooth(pair) : visit(pair);
}

/// before <- x <- weight (x - before) + before.
template <class Value>
void accelerate(double weight, std::vector<Value>* x, std::vector<Value>* before) {
  double *to = reinterpret_cast<double*>(x->data()), *from = reinterpret_cast<double*>(before->data());
  const std::size_t count = x->size() * sizeof(Value) / sizeof(double);
  for (std::size_t i = 0; i < count; ++i) from[i] = to[i] = weight * (to[i] - from[i]) + from[i];
}

void PairSweeps::run(int sweeps, double bold, const std::atomic<bool>* stop) {
  double weight = 1;
  bool kept = false;  // `before` has what x and y are now
  for (int k = 0; k < sweeps; ++k) {
    if (stop != nullptr && stop->load(std::memory_order_relaxed)) return;
    const bool accelerated = k >= kFirstAccelerated && k + 1 < sweeps;
    if (!kept) {
      x_before_ = x_;
      y_before_ = y_;
    }
    std::swap(x_before_, x_kept_);
    std::swap(y_before_, y_kept_);
    sweep();
    kept = accelerated;
    if (!accelerated) continue;
    const double radius = k < kLater  ? kRadius
                          : k < kBold ? std::min(bold, kSafeRadius)
                                      : bold,
                 square = radius * radius;
    weight = weight == 1 ? 2 / (2 - square) : 4 / (4 - square * weight);
    accelerate(weight, &x_, &x_before_);
    accelerate(weight, &y_, &y_before_);
  }
}

}  // namespace slipstick
