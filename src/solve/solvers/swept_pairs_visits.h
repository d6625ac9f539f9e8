// What is done with one pair of columns in each lane: the heart of swept_pairs.h, for swept_pairs.cpp alone.
#pragma once

#include "solve/solvers/lanes.h"
#include "solve/solvers/swept_pairs.h"

namespace slipstick {

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

}  // namespace slipstick
