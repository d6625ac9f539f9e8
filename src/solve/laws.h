// The laws (lambda_i, w_i) in Law_i as sets: projection onto the admissible impulses and the De Saxce term.
//
// A friction block's admissible impulses form a convex cone K = {lambda_t in mu lambda_n P}, P the unit disk, a regular
// polygon or a square. Coulomb's law is  K* ∋ w + s n _|_ lambda ∈ K  with  s = mu max_{p in P} (-p . w_t)
// (De Saxce's change of variable: s = mu |w_t| for the disk). The same s makes the polygon's natural map vanish exactly
// at the solutions of the polyhedral LCP of [AnitescuPotra97].
#pragma once

#include <slipstick/problem.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace slipstick {

/// The polygon of a friction block of three rows: `count` vertices at angles phase + 2 pi k / count, distance `radius`.
struct FrictionPolygon {
  int count = 0;
  double phase = 0;
  double radius = 1;
};

/// Polygon of a block's friction model (not for Cone). The square of Box has its vertices on the diagonals.
inline FrictionPolygon friction_polygon(const RowBlock& block) {
  if (block.friction == FrictionModel::Box) return {4, std::numbers::pi / 4, std::numbers::sqrt2};
  return {block.facets, 0.0, 1.0};
}

/// One limit |lambda_g| <= mu lambda_n of a friction block: rows first .. first + size - 1 of the block.
struct FrictionLimit {
  int first = 0, size = 0;
};
inline constexpr int kMostLimits = 3;
inline bool has_several_limits(const RowBlock& block) { return block.law == LawKind::Friction && block.size > 3; }
/// The limits of a friction block: sliding, then spinning, then rolling. Returns their number.
inline int friction_limits(const RowBlock& block, FrictionLimit* limits) {
  limits[0] = {1, std::min(block.size, 3) - 1};
  if (block.size == 4) limits[1] = {3, 1};
  if (block.size == 5) limits[1] = {3, 2};
  if (block.size == 6) {
    limits[1] = {3, 1};
    limits[2] = {4, 2};
  }
  return block.size <= 3 ? 1 : (block.size == 6 ? 3 : 2);
}
inline double limit_length(const FrictionLimit& limit, const double* x) {
  return limit.size == 1 ? std::abs(x[limit.first])
                         : std::sqrt(x[limit.first] * x[limit.first] + x[limit.first + 1] * x[limit.first + 1]);
}

/// Projects (n, g_1, g_2, ..) onto { |g_i| <= mu n }. n is the root of  n - n_0 - mu sum_i max(0, |g_i| - mu n) = 0,
/// which grows with n: limits that hold at a root for more of them drop out. *active: bits of the limits met; 0 with n
/// <= 0 is the apex.
inline void project_limits(const RowBlock& block, double mu, double* x, int* active) {
  FrictionLimit limit[kMostLimits];
  const int count = friction_limits(block, limit);
  double length[kMostLimits];
  int mask = 0;
  for (int i = 0; i < count; ++i) {
    length[i] = limit_length(limit[i], x);
    if (length[i] > mu * x[0]) mask |= 1 << i;
  }
  double n = x[0];
  for (int round = 0; round <= count && mask != 0; ++round) {
    double sum = x[0];
    int held = 0;
    for (int i = 0; i < count; ++i) {
      if (!(mask & 1 << i)) continue;
      sum += mu * length[i];
      ++held;
    }
    n = sum / (1 + mu * mu * held);
    int next = 0;
    for (int i = 0; i < count; ++i)
      if (length[i] > mu * n) next |= 1 << i;
    if (next == mask) break;
    mask = next;
  }
  *active = mask;
  if (n <= 0) n = 0;
  x[0] = n;
  for (int i = 0; i < count; ++i) {
    if (!(mask & 1 << i)) continue;
    const double factor = length[i] > 0 ? mu * n / length[i] : 0;
    for (int k = limit[i].first; k < limit[i].first + limit[i].size; ++k) x[k] *= factor;
  }
}

/// s of the header comment, in m/s. `w` holds the block's rows.
inline double de_saxce_term(const RowBlock& block, const double* w) {
  if (block.size == 2) return block.mu * std::abs(w[1]);
  if (block.size > 3) {
    FrictionLimit limit[kMostLimits];
    const int count = friction_limits(block, limit);
    double sum = 0;
    for (int i = 0; i < count; ++i) sum += limit_length(limit[i], w);
    return block.mu * sum;
  }
  if (block.friction == FrictionModel::Cone) return block.mu * std::sqrt(w[1] * w[1] + w[2] * w[2]);
  const FrictionPolygon p = friction_polygon(block);
  const double angle = std::atan2(-w[2], -w[1]);
  const double step = 2 * std::numbers::pi / p.count;
  const double nearest = std::round((angle - p.phase) / step) * step + p.phase;  // the vertex that dissipates most
  return block.mu * p.radius * -(w[1] * std::cos(nearest) + w[2] * std::sin(nearest));
}

/// Projects (n, t) onto the planar wedge |t| <= mu n.
inline void project_wedge(double mu, double* n, double* t) {
  const double size = std::abs(*t);
  if (size <= mu * *n) return;
  if (mu * size <= -*n) {
    *n = *t = 0;
    return;
  }
  const double along = (*n + mu * size) / (1 + mu * mu);
  *n = along;
  *t = std::copysign(mu * along, *t);
}

/// Projects x = (n, t1, t2) onto the pyramid over the polygon scaled by mu. By the polygon's mirror symmetry the
/// projection stays in the sector of t, so that one face, its two edges and the apex decide.
inline void project_pyramid(const FrictionPolygon& p, double mu, double* x) {
  const double step = 2 * std::numbers::pi / p.count;
  const double sector = std::floor((std::atan2(x[2], x[1]) - p.phase) / step);
  const double a0 = p.phase + sector * step, a1 = a0 + step;
  const double r = mu * p.radius;
  const Vec3 point(x[0], x[1], x[2]);
  const Vec3 ray0(1, r * std::cos(a0), r * std::sin(a0)), ray1(1, r * std::cos(a1), r * std::sin(a1));
  const double mid = 0.5 * (a0 + a1), apothem = r * std::cos(step / 2);
  const Vec3 outward = Vec3(-apothem, std::cos(mid), std::sin(mid)).normalized();
  const double outside = outward.dot(point);
  if (outside <= 0) return;
  const Vec3 on_face = point - outside * outward;
  const Vec3 side0 = ray0.cross(outward), side1 = outward.cross(ray1);  // point out of the wedge
  const auto set = [x](const Vec3& y) { std::copy(y.data(), y.data() + 3, x); };
  if (side0.dot(on_face) * side0.dot(ray1) >= 0 && side1.dot(on_face) * side1.dot(ray0) >= 0 && on_face.x() >= 0)
    return set(on_face);
  const double k0 = ray0.dot(point), k1 = ray1.dot(point);
  if (k0 <= 0 && k1 <= 0) return set(Vec3::Zero());
  set(k0 >= k1 ? Vec3(ray0 * (k0 / ray0.squaredNorm())) : Vec3(ray1 * (k1 / ray1.squaredNorm())));
}

/// Projects x (the block's rows) onto the block's admissible impulses K_i. lo, hi: the block's bounds (Box law).
inline void project_impulse(const RowBlock& block, const double* lo, const double* hi, double* x) {
  switch (block.law) {
    case LawKind::Equality:
      return;
    case LawKind::Nonnegative:
      for (int k = 0; k < block.size; ++k) x[k] = std::max(x[k], 0.0);
      return;
    case LawKind::Box:
      for (int k = 0; k < block.size; ++k) x[k] = std::clamp(x[k], lo[k], hi[k]);
      return;
    case LawKind::Friction:
      break;
  }
  if (block.mu == 0) {
    x[0] = std::max(x[0], 0.0);
    for (int k = 1; k < block.size; ++k) x[k] = 0;
    return;
  }
  if (block.size == 2) return project_wedge(block.mu, &x[0], &x[1]);
  if (block.size > 3) {
    int active;
    return project_limits(block, block.mu, x, &active);
  }
  if (block.friction != FrictionModel::Cone) return project_pyramid(friction_polygon(block), block.mu, x);
  const double square = x[1] * x[1] + x[2] * x[2], limit = block.mu * x[0];
  if (limit >= 0 && square <= limit * limit) return;  // most are: no root, no division, no bit changed
  if (x[0] <= 0 && block.mu * block.mu * square <= x[0] * x[0]) {
    x[0] = x[1] = x[2] = 0;
    return;
  }
  const double size = std::sqrt(square), along = (x[0] + block.mu * size) / (1 + block.mu * block.mu);
  const double share = block.mu * along / size;
  x[0] = along;
  x[1] *= share;
  x[2] *= share;
}

/// How far lambda_t lies outside the friction limit of lambda_n, N s.
inline double cone_violation(const RowBlock& block, const double* lambda) {
  const double limit = block.mu * std::max(lambda[0], 0.0);
  if (block.size == 2) return std::max(0.0, std::abs(lambda[1]) - limit);
  if (block.size > 3) {
    FrictionLimit part[kMostLimits];
    const int count = friction_limits(block, part);
    double worst = 0;
    for (int i = 0; i < count; ++i) worst = std::max(worst, limit_length(part[i], lambda) - limit);
    return worst;
  }
  if (block.friction == FrictionModel::Cone)
    return std::max(0.0, std::sqrt(lambda[1] * lambda[1] + lambda[2] * lambda[2]) - limit);
  const FrictionPolygon p = friction_polygon(block);
  const double step = 2 * std::numbers::pi / p.count;
  const double mid = p.phase + (std::floor((std::atan2(lambda[2], lambda[1]) - p.phase) / step) + 0.5) * step;
  const double across = lambda[1] * std::cos(mid) + lambda[2] * std::sin(mid);
  return std::max(0.0, across - limit * p.radius * std::cos(step / 2));
}

}  // namespace slipstick
