#include "solve/solvers/newton_interior_laws.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "solve/laws.h"

namespace slipstick {

namespace {

bool is_cone(const RowBlock& block) {
  return block.law == LawKind::Friction && block.mu > 0 &&
         (block.size == 2 || block.friction == FrictionModel::Cone);
}
bool is_pyramid(const RowBlock& block) {
  return block.law == LawKind::Friction && block.mu > 0 && block.size == 3 && block.friction != FrictionModel::Cone;
}
/// Rows that are nonnegative each by itself (of a friction block without friction only the first; the others stay zero).
int nonnegative_rows(const RowBlock& block) { return block.law == LawKind::Friction ? 1 : block.size; }

Vec3 pyramid_ray(const RowBlock& block, int k) {
  const FrictionPolygon p = friction_polygon(block);
  const double angle = p.phase + 2 * std::numbers::pi * k / p.count, r = block.mu * p.radius;
  return Vec3(1, r * std::cos(angle), r * std::sin(angle));
}
int pyramid_rays(const RowBlock& block) { return friction_polygon(block).count; }

/// s = mu |w_t| (smoothed) and its gradient by w_t.
double smooth_saxce(const RowBlock& block, double smoothing, const double* w, double* gradient) {
  if (is_pyramid(block)) {
    const FrictionPolygon p = friction_polygon(block);
    const double angle = std::atan2(-w[2], -w[1]), step = 2 * std::numbers::pi / p.count;
    const double nearest = std::round((angle - p.phase) / step) * step + p.phase;
    gradient[0] = -block.mu * p.radius * std::cos(nearest);
    gradient[1] = -block.mu * p.radius * std::sin(nearest);
    return gradient[0] * w[1] + gradient[1] * w[2];
  }
  double square = smoothing * smoothing;
  for (int k = 1; k < block.size; ++k) square += w[k] * w[k];
  const double length = std::sqrt(square);
  for (int k = 1; k < block.size; ++k) gradient[k - 1] = length > 0 ? block.mu * w[k] / length : 0;
  return block.mu * length;
}

/// The second-order cone of dimension m: |(z_1, z_2)| <= z_0.
double soc_det(int m, const double* z) {
  double length = 0;
  for (int k = 1; k < m; ++k) length += z[k] * z[k];
  length = std::sqrt(length);
  return (z[0] - length) * (z[0] + length);
}

double soc_step(int m, const double* z, const double* dz, double limit) {
  double a = dz[0] * dz[0], b = z[0] * dz[0];
  for (int k = 1; k < m; ++k) {
    a -= dz[k] * dz[k];
    b -= z[k] * dz[k];
  }
  const double c = soc_det(m, z);
  double step = limit;
  if (dz[0] < 0) step = std::min(step, -z[0] / dz[0]);
  const double discriminant = b * b - a * c;  // roots of a t^2 + 2 b t + c
  if (discriminant < 0) return step;
  const double root = std::sqrt(discriminant), q = -(b + std::copysign(root, b));
  for (const double t : {a != 0 ? q / a : -1.0, q != 0 ? c / q : -1.0})
    if (t > 0) step = std::min(step, t);
  return step;
}

/// Nesterov and Todd's scaling T (symmetric, T slack = T^-1 x) of two interior points: T = c (2 zeta zeta^T - J).
struct Scaling {
  int m = 3;
  double c = 1, zeta[3] = {1, 0, 0};

  void update(int size, const double* x, const double* s) {
    m = size;
    const double dx = std::sqrt(soc_det(m, x)), ds = std::sqrt(soc_det(m, s));
    double dot = 0;
    for (int k = 0; k < m; ++k) dot += x[k] * s[k] / (dx * ds);
    const double gamma = std::sqrt(0.5 * (1 + dot));
    double omega[3] = {0, 0, 0};
    for (int k = 0; k < m; ++k) omega[k] = (x[k] / dx + (k ? -s[k] : s[k]) / ds) / (2 * gamma);
    const double root = std::sqrt(2 * (omega[0] + 1));
    for (int k = 0; k < m; ++k) zeta[k] = (omega[k] + (k == 0)) / root;
    c = std::sqrt(dx / ds);
  }
  void apply(const double* in, double* out) const {
    double dot = 0;
    for (int k = 0; k < m; ++k) dot += zeta[k] * in[k];
    for (int k = 0; k < m; ++k) out[k] = c * (2 * zeta[k] * dot + (k ? in[k] : -in[k]));
  }
  void apply_inverse(const double* in, double* out) const {
    double dot = 0;
    for (int k = 0; k < m; ++k) dot += (k ? -zeta[k] : zeta[k]) * in[k];
    for (int k = 0; k < m; ++k) out[k] = ((k ? -zeta[k] : zeta[k]) * 2 * dot + (k ? in[k] : -in[k])) / c;
  }
};

/// h with lambda o h = p o q in the cone's Jordan algebra.
void soc_quotient(int m, const double* lambda, const double* p, const double* q, double* h) {
  double product[3] = {0, 0, 0}, dot = 0;
  for (int k = 0; k < m; ++k) product[0] += p[k] * q[k];
  for (int k = 1; k < m; ++k) product[k] = p[0] * q[k] + q[0] * p[k];
  for (int k = 1; k < m; ++k) dot += lambda[k] * product[k];
  h[0] = (lambda[0] * product[0] - dot) / soc_det(m, lambda);
  for (int k = 1; k < m; ++k) h[k] = (product[k] - lambda[k] * h[0]) / lambda[0];
}

/// Q and r of  d x = r - Q d slack  for a friction block (row-major m x m).
void update_path_cone(const RowBlock& block, const InteriorTarget& target, const double* x, const double* slack,
                      double* q, double* r) {
  const int m = block.size;
  // Bars: xb = (mu x_n, x_t) and sb = (s_n, mu s_t) lie in the unit cone, xb . sb = mu x . slack.
  double xb[3], sb[3];
  for (int k = 0; k < m; ++k) {
    xb[k] = k ? x[k] : block.mu * x[k];
    sb[k] = k ? block.mu * slack[k] : slack[k];
  }
  Scaling scaling;
  scaling.update(m, xb, sb);
  double lambda[3], inverse[3], target_scaled[3];
  scaling.apply(sb, lambda);
  const double det = soc_det(m, lambda), tau = block.mu * target.tau;
  for (int k = 0; k < m; ++k) inverse[k] = (k ? -lambda[k] : lambda[k]) / det;
  for (int k = 0; k < m; ++k) target_scaled[k] = tau * inverse[k] - lambda[k];
  if (target.dx) {
    double dxb[3], dsb[3], dxs[3], dss[3], h[3];
    for (int k = 0; k < m; ++k) {
      dxb[k] = k ? target.dx[k] : block.mu * target.dx[k];
      dsb[k] = k ? block.mu * target.dslack[k] : target.dslack[k];
    }
    scaling.apply_inverse(dxb, dxs);
    scaling.apply(dsb, dss);
    soc_quotient(m, lambda, dxs, dss, h);
    for (int k = 0; k < m; ++k) target_scaled[k] -= h[k];
  }
  scaling.apply(target_scaled, r);
  r[0] /= block.mu;
  for (int j = 0; j < m; ++j) {
    double unit[3] = {0, 0, 0}, half[3], whole[3];
    unit[j] = j ? block.mu : 1;
    scaling.apply(unit, half);
    scaling.apply(half, whole);
    for (int i = 0; i < m; ++i) q[i * m + j] = i ? whole[i] : whole[i] / block.mu;
  }
}

void update_path_pyramid(const RowBlock& block, const InteriorTarget& target, const double* slack, double* q,
                         double* r) {
  const Vec3 s(slack[0], slack[1], slack[2]);
  Mat3 sum = Mat3::Zero();
  Vec3 right = Vec3::Zero();
  for (int k = 0; k < pyramid_rays(block); ++k) {
    const Vec3 ray = pyramid_ray(block, k);
    const double beta = slack[3 + k], z = ray.dot(s);
    double product = target.tau - beta * z;
    if (target.dx) product -= target.dslack[3 + k] * ray.dot(Vec3(target.dslack[0], target.dslack[1], target.dslack[2]));
    sum += (beta / z) * ray * ray.transpose();
    right += (product / z) * ray;
  }
  std::copy_n(sum.data(), 9, q);  // symmetric
  std::copy_n(right.data(), 3, r);
}

/// D and g from Q and r:  d slack = E (d u + C d x) - r_p,  d x = r - Q d slack.
void finish_friction_map(const LawRows& rows, const InteriorTarget& target, const double* slack, const double* w,
                         const double* q, const double* r, double* d, double* g) {
  const RowBlock& block = *rows.block;
  const int m = block.size;
  double gradient[2] = {0, 0};
  const double s = smooth_saxce(block, target.smoothing, w, gradient);
  for (int i = 0; i < m; ++i) {
    g[i] = r[i];
    for (int j = 0; j < m; ++j) {
      g[i] += q[i * m + j] * (slack[j] - w[j] - (j ? 0 : s));
      d[i * m + j] = q[i * m + j];
      if (target.follow_saxce && j > 0) d[i * m + j] += q[i * m] * gradient[j - 1];
    }
  }
  if (std::all_of(rows.compliance, rows.compliance + m, [](double c) { return c == 0; })) return;
  Mat3 system = Mat3::Identity(), right = Mat3::Zero();
  Vec3 constant = Vec3::Zero();
  for (int i = 0; i < m; ++i) {
    constant[i] = g[i];
    for (int j = 0; j < m; ++j) {
      right(i, j) = d[i * m + j];
      system(i, j) += d[i * m + j] * rows.compliance[j];
    }
  }
  const Mat3 inverse = system.inverse();
  const Mat3 map = inverse * right;
  constant = inverse * constant;
  for (int i = 0; i < m; ++i) {
    g[i] = constant[i];
    for (int j = 0; j < m; ++j) d[i * m + j] = map(i, j);
  }
}

/// One side of a box row, or a nonnegative row: (product still wanted) / distance.
double side_gap(double tau, double distance, double z, double correction) {
  return (tau - distance * z - correction) / distance;
}

}  // namespace

int interior_size(const RowBlock& block) {
  if (is_pyramid(block)) return 3 + pyramid_rays(block);
  return block.law == LawKind::Box ? 2 * block.size : block.size;
}

int interior_products(const LawRows& rows) {
  const RowBlock& block = *rows.block;
  if (block.law == LawKind::Equality) return 0;
  if (is_pyramid(block)) return pyramid_rays(block);
  if (is_cone(block)) return 1;
  if (block.law != LawKind::Box) return nonnegative_rows(block);
  int count = 0;
  for (int k = 0; k < block.size; ++k)
    if (rows.lower[k] < rows.upper[k]) count += std::isfinite(rows.lower[k]) + std::isfinite(rows.upper[k]);
  return count;
}

void start_interior(const LawRows& rows, double impulse, double speed, double* x, double* slack) {
  const RowBlock& block = *rows.block;
  std::fill(slack, slack + interior_size(block), 0.0);
  if (block.law == LawKind::Box) {
    for (int k = 0; k < block.size; ++k) {
      const double lo = rows.lower[k], hi = rows.upper[k];
      if (std::isfinite(lo) && std::isfinite(hi))
        x[k] = 0.5 * (lo + hi);
      else
        x[k] = std::isfinite(lo) ? lo + impulse : (std::isfinite(hi) ? hi - impulse : 0);
      if (!(lo < hi)) continue;
      if (std::isfinite(lo)) slack[2 * k] = speed;
      if (std::isfinite(hi)) slack[2 * k + 1] = speed;
    }
    return;
  }
  std::fill(x, x + block.size, 0.0);
  if (is_cone(block) || is_pyramid(block)) {
    x[0] = impulse;
    slack[0] = speed;
    for (int k = 0; is_pyramid(block) && k < pyramid_rays(block); ++k) slack[3 + k] = impulse / pyramid_rays(block);
    return;
  }
  for (int k = 0; k < nonnegative_rows(block); ++k) {
    x[k] = impulse;
    slack[k] = speed;
  }
}

double calc_complementarity(const LawRows& rows, const double* x, const double* slack) {
  const RowBlock& block = *rows.block;
  double sum = 0;
  if (block.law == LawKind::Equality) return 0;
  if (block.law == LawKind::Box) {
    for (int k = 0; k < block.size; ++k) {
      if (!(rows.lower[k] < rows.upper[k])) continue;
      if (std::isfinite(rows.lower[k])) sum += (x[k] - rows.lower[k]) * slack[2 * k];
      if (std::isfinite(rows.upper[k])) sum += (rows.upper[k] - x[k]) * slack[2 * k + 1];
    }
    return sum;
  }
  for (int k = 0; k < block.size; ++k) sum += x[k] * slack[k];
  return sum;
}

void update_interior_map(const LawRows& rows, const InteriorTarget& target, const double* x, const double* slack,
                         const double* w, double* d, double* g) {
  const RowBlock& block = *rows.block;
  const int m = block.size;
  if (is_cone(block) || is_pyramid(block)) {
    double q[9], r[3];
    if (is_cone(block))
      update_path_cone(block, target, x, slack, q, r);
    else
      update_path_pyramid(block, target, slack, q, r);
    return finish_friction_map(rows, target, slack, w, q, r, d, g);
  }
  std::fill(d, d + m * m, 0.0);
  std::fill(g, g + m, 0.0);
  for (int k = 0; k < (block.law == LawKind::Box ? m : nonnegative_rows(block)); ++k) {
    double stiffness = rows.compliance[k], right = -w[k];
    if (block.law == LawKind::Box) {
      const double lo = rows.lower[k], hi = rows.upper[k];
      if (!(lo < hi)) continue;
      const double dx = target.dx ? target.dx[k] : 0;
      for (const int side : {0, 1}) {
        if (!std::isfinite(side ? hi : lo)) continue;
        const double distance = side ? hi - x[k] : x[k] - lo, z = slack[2 * k + side], sign = side ? -1 : 1;
        const double correction = target.dx ? sign * dx * target.dslack[2 * k + side] : 0;
        stiffness += z / distance;
        right += sign * (side_gap(target.tau, distance, z, correction) + z);
      }
      if (!std::isfinite(lo) && !std::isfinite(hi)) stiffness += 1e-12;
    } else {
      const double correction = target.dx ? target.dx[k] * target.dslack[k] : 0;
      stiffness += slack[k] / x[k];
      right += side_gap(target.tau, x[k], slack[k], correction) + slack[k];
    }
    d[k * m + k] = 1 / stiffness;
    g[k] = right / stiffness;
  }
}

void update_interior_slack(const LawRows& rows, const InteriorTarget& target, const double* x, const double* slack,
                           const double* w, const double* dx, const double* du, double* dslack) {
  const RowBlock& block = *rows.block;
  const int m = block.size;
  if (is_cone(block) || is_pyramid(block)) {
    double gradient[2] = {0, 0};
    const double s = smooth_saxce(block, target.smoothing, w, gradient);
    for (int k = 0; k < m; ++k) dslack[k] = du[k] + rows.compliance[k] * dx[k] - (slack[k] - w[k] - (k ? 0 : s));
    for (int k = 1; target.follow_saxce && k < m; ++k)
      dslack[0] += gradient[k - 1] * (du[k] + rows.compliance[k] * dx[k]);
    for (int k = 0; is_pyramid(block) && k < pyramid_rays(block); ++k) {
      const Vec3 ray = pyramid_ray(block, k);
      const double beta = slack[3 + k], z = ray.dot(Vec3(slack[0], slack[1], slack[2]));
      const double dz = ray.dot(Vec3(dslack[0], dslack[1], dslack[2]));
      double product = target.tau - beta * z;
      if (target.dx)
        product -= target.dslack[3 + k] * ray.dot(Vec3(target.dslack[0], target.dslack[1], target.dslack[2]));
      dslack[3 + k] = (product - beta * dz) / z;
    }
    return;
  }
  if (block.law != LawKind::Box) {
    std::fill(dslack, dslack + m, 0.0);
    for (int k = 0; k < nonnegative_rows(block); ++k)
      dslack[k] = du[k] + rows.compliance[k] * dx[k] + w[k] - slack[k];
    return;
  }
  for (int k = 0; k < m; ++k) {
    for (const int side : {0, 1}) {
      double& out = dslack[2 * k + side];
      out = 0;
      const double lo = rows.lower[k], hi = rows.upper[k];
      if (!(lo < hi) || !std::isfinite(side ? hi : lo)) continue;
      const double distance = side ? hi - x[k] : x[k] - lo, z = slack[2 * k + side], sign = side ? -1 : 1;
      const double correction = target.dx ? sign * target.dx[k] * target.dslack[2 * k + side] : 0;
      out = side_gap(target.tau, distance, z, correction) - sign * z / distance * dx[k];
    }
  }
}

double find_interior_step(const LawRows& rows, const double* x, const double* slack, const double* dx,
                          const double* dslack, double limit) {
  const RowBlock& block = *rows.block;
  double step = limit;
  const auto keep_positive = [&step](double value, double change) {
    if (change < 0) step = std::min(step, -value / change);
  };
  if (is_cone(block)) {
    double z[3], dz[3];
    for (const bool dual : {false, true}) {
      for (int k = 0; k < block.size; ++k) {
        const double scale = dual == (k > 0) ? block.mu : 1;
        z[k] = scale * (dual ? slack[k] : x[k]);
        dz[k] = scale * (dual ? dslack[k] : dx[k]);
      }
      step = soc_step(block.size, z, dz, step);
    }
  } else if (is_pyramid(block)) {
    for (int k = 0; k < pyramid_rays(block); ++k) {
      const Vec3 ray = pyramid_ray(block, k);
      keep_positive(slack[3 + k], dslack[3 + k]);
      keep_positive(ray.dot(Vec3(slack[0], slack[1], slack[2])), ray.dot(Vec3(dslack[0], dslack[1], dslack[2])));
    }
  } else if (block.law == LawKind::Box) {
    for (int k = 0; k < block.size; ++k) {
      if (!(rows.lower[k] < rows.upper[k])) continue;
      keep_positive(x[k] - rows.lower[k], dx[k]);
      keep_positive(rows.upper[k] - x[k], -dx[k]);
      for (const int side : {0, 1})
        if (slack[2 * k + side] > 0) keep_positive(slack[2 * k + side], dslack[2 * k + side]);
    }
  } else {
    for (int k = 0; k < nonnegative_rows(block); ++k) {
      keep_positive(x[k], dx[k]);
      keep_positive(slack[k], dslack[k]);
    }
  }
  return step;
}

}  // namespace slipstick
