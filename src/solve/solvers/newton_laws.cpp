#include "solve/solvers/newton_laws.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "solve/laws.h"

namespace slipstick {

namespace {

constexpr int kOpen = 0, kStick = kStickCode, kSlip = 2, kEdge = 16;

/// What the projection of a point of the tangent plane onto the scaled polygon meets.
struct PolygonPoint {
  bool inside = false;
  bool vertex = false;
  int feature = 0;  // index of the edge or vertex
  Vec2 point = Vec2::Zero();
  Vec2 outward = Vec2::Zero();  // unit normal of the edge
};

/// Nearest point of `scale` times the polygon to t.
PolygonPoint project_polygon(const FrictionPolygon& p, double scale, const Vec2& t) {
  PolygonPoint result;
  const double step = 2 * std::numbers::pi / p.count;
  int sector = static_cast<int>(std::floor((std::atan2(t.y(), t.x()) - p.phase) / step));
  const double a0 = p.phase + sector * step, mid = a0 + step / 2, r = scale * p.radius;
  result.outward = Vec2(std::cos(mid), std::sin(mid));
  const double outside = result.outward.dot(t) - r * std::cos(step / 2);
  result.feature = ((sector % p.count) + p.count) % p.count;
  if (outside <= 0) {
    result.inside = true;
    result.point = t;
    return result;
  }
  const Vec2 along(-result.outward.y(), result.outward.x());
  const double half = r * std::sin(step / 2), at = along.dot(t);
  result.vertex = std::abs(at) >= half;
  if (result.vertex && at > 0) result.feature = (result.feature + 1) % p.count;
  result.point = r * std::cos(step / 2) * result.outward + std::clamp(at, -half, half) * along;
  return result;
}

/// Projection onto the circular cone |t| <= mu n of (n, t1[, t2]) with derivative dp (row-major, size x size).
void project_cone(int size, double mu, const double* y, double* p, double* dp) {
  const double length = size == 2 ? std::abs(y[1]) : std::sqrt(y[1] * y[1] + y[2] * y[2]);
  if (dp) std::fill(dp, dp + size * size, 0.0);
  if (length <= mu * y[0]) {
    std::copy(y, y + size, p);
    for (int k = 0; dp && k < size; ++k) dp[k * size + k] = 1;
    return;
  }
  if (mu * length <= -y[0]) {
    std::fill(p, p + size, 0.0);
    return;
  }
  if (length == 0) {  // mu = 0 or y on the axis
    std::fill(p, p + size, 0.0);
    p[0] = std::max(y[0], 0.0);
    if (dp) dp[0] = 1;
    return;
  }
  const double along = (y[0] + mu * length) / (1 + mu * mu), turn = mu * along / length;
  double ray[3] = {1, 0, 0};
  for (int k = 1; k < size; ++k) ray[k] = mu * y[k] / length;
  for (int k = 0; k < size; ++k) p[k] = along * ray[k];
  if (!dp) return;
  for (int i = 0; i < size; ++i) {
    for (int j = 0; j < size; ++j) {
      dp[i * size + j] = ray[i] * ray[j] / (1 + mu * mu);
      if (size == 3 && i > 0 && j > 0) dp[i * size + j] += turn * ((i == j) - y[i] * y[j] / (length * length));
    }
  }
}

/// The same for the pyramid over mu times the polygon. Its features are the cone over the sector's edge and two rays.
void project_polygon_cone(const FrictionPolygon& polygon, double mu, const double* y, double* p, double* dp) {
  const double step = 2 * std::numbers::pi / polygon.count, r = mu * polygon.radius;
  const double sector = std::floor((std::atan2(y[2], y[1]) - polygon.phase) / step);
  const double a0 = polygon.phase + sector * step, a1 = a0 + step, mid = a0 + step / 2;
  const Vec3 point(y[0], y[1], y[2]);
  const auto set = [&](const Vec3& value, const Mat3& derivative) {
    std::copy(value.data(), value.data() + 3, p);
    if (dp) std::copy(derivative.data(), derivative.data() + 9, dp);  // symmetric
  };
  const Vec3 outward = Vec3(-r * std::cos(step / 2), std::cos(mid), std::sin(mid)).normalized();
  const double outside = outward.dot(point);
  if (outside <= 0 && y[0] >= 0) return set(point, Mat3::Identity());
  const Vec3 ray0 = Vec3(1, r * std::cos(a0), r * std::sin(a0)).normalized();
  const Vec3 ray1 = Vec3(1, r * std::cos(a1), r * std::sin(a1)).normalized();
  const Vec3 face = point - outside * outward;
  const Vec3 side0 = ray0.cross(outward), side1 = outward.cross(ray1);
  if (side0.dot(face) * side0.dot(ray1) >= 0 && side1.dot(face) * side1.dot(ray0) >= 0 && face.x() >= 0)
    return set(face, Mat3::Identity() - outward * outward.transpose());
  const double k0 = ray0.dot(point), k1 = ray1.dot(point);
  if (k0 <= 0 && k1 <= 0) return set(Vec3::Zero(), Mat3::Zero());
  const Vec3& ray = k0 >= k1 ? ray0 : ray1;
  set(ray * std::max(k0, k1), ray * ray.transpose());
}

/// Projection onto { |g_i| <= mu n } and its derivative (row-major, size x size).
void project_limits_with_derivative(const RowBlock& block, double mu, const double* y, double* p, double* dp) {
  const int size = block.size;
  int active = 0;
  std::copy(y, y + size, p);
  project_limits(block, mu, p, &active);
  if (!dp) return;
  std::fill(dp, dp + size * size, 0.0);
  if (p[0] == 0) return;
  FrictionLimit limit[kMostLimits];
  const int count = friction_limits(block, limit);
  double row[6] = {1};  // d n
  int held = 0;
  for (int i = 0; i < count; ++i) {
    if (!(active & 1 << i)) continue;
    ++held;
    const double length = limit_length(limit[i], y);
    for (int k = limit[i].first; k < limit[i].first + limit[i].size; ++k) row[k] = mu * y[k] / length;
  }
  for (int k = 0; k < size; ++k) dp[k] = row[k] / (1 + mu * mu * held);
  for (int i = 0; i < count; ++i) {
    const double length = limit_length(limit[i], y), turn = mu * p[0] / length;
    for (int k = limit[i].first; k < limit[i].first + limit[i].size; ++k) {
      if (!(active & 1 << i)) {
        dp[k * size + k] = 1;
        continue;
      }
      for (int j = 0; j < size; ++j) dp[k * size + j] = row[k] * dp[j];
      for (int j = limit[i].first; j < limit[i].first + limit[i].size; ++j)
        dp[k * size + j] += turn * ((k == j) - y[k] * y[j] / (length * length));
    }
  }
}

}  // namespace

void update_resolvent_weights(const LawRows& rows, double delta, double* weight) {
  const RowBlock& block = *rows.block;
  for (int k = 0; k < block.size; ++k) weight[k] = rows.compliance[k] + delta;
  if (block.law != LawKind::Friction) return;
  const double tangent = *std::max_element(weight + 1, weight + block.size);
  std::fill(weight + 1, weight + block.size, tangent);
}

void update_resolvent(const LawRows& rows, const double* weight, const double* y, double* lambda, double* d) {
  const RowBlock& block = *rows.block;
  const int m = block.size;
  if (block.law != LawKind::Friction) {
    if (d) std::fill(d, d + m * m, 0.0);
    for (int k = 0; k < m; ++k) {
      const double lo = block.law == LawKind::Box ? rows.lower[k] : 0;
      const bool low = y[k] <= lo, high = block.law == LawKind::Box && y[k] >= rows.upper[k];
      lambda[k] = low ? lo : (high ? rows.upper[k] : y[k]);
      if (d && !low && !high) d[k * m + k] = 1 / weight[k];
    }
    return;
  }
  // In the variables sqrt(R) lambda the metric is Euclid's and the cone has the slope mu sqrt(R_t / R_n).
  const double sn = std::sqrt(weight[0]), st = std::sqrt(weight[1]), mu = block.mu * st / sn;
  double scaled[6], dp[36];
  scaled[0] = sn * y[0];
  for (int k = 1; k < m; ++k) scaled[k] = st * y[k];
  if (m > 3)
    project_limits_with_derivative(block, mu, scaled, lambda, d ? dp : nullptr);
  else if (m == 2 || block.friction == FrictionModel::Cone || mu == 0)
    project_cone(m, mu, scaled, lambda, d ? dp : nullptr);
  else
    project_polygon_cone(friction_polygon(block), mu, scaled, lambda, d ? dp : nullptr);
  lambda[0] /= sn;
  for (int k = 1; k < m; ++k) lambda[k] /= st;
  if (!d) return;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < m; ++j) d[i * m + j] = dp[i * m + j] / ((i ? st : sn) * (j ? st : sn));
}

namespace {

/// Nonnegative and Box rows, each by itself.
int update_row_maps(const LawRows& rows, double rho, const double* epsilon, const double* lambda, const double* w,
                    double* d, double* g) {
  const RowBlock& block = *rows.block;
  const int m = block.size;
  int code = 0;
  std::fill(d, d + m * m, 0.0);
  for (int k = 0; k < m; ++k) {
    const double y = lambda[k] - rho * w[k];
    const double lo = block.law == LawKind::Box ? rows.lower[k] : 0;
    int row_code = kStick;
    if (y <= lo) {
      g[k] = lo - lambda[k];
      row_code = kOpen;
    } else if (block.law == LawKind::Box && y >= rows.upper[k]) {
      g[k] = rows.upper[k] - lambda[k];
      row_code = kSlip;
    } else {
      d[k * m + k] = 1 / (rows.compliance[k] + epsilon[k > 0]);
      g[k] = -w[k] * d[k * m + k];
    }
    code = 3 * code + row_code;
  }
  return code;
}

/// A tangential map in the frame (t, p): along t the impulse follows the normal one, along p it obeys its own line
///   d lambda_p = gp - dp du_p;   lambda_t = follow_t lambda_n, and lambda_p += follow_p lambda_n where a vertex holds
///   both.
struct SlipMap {
  Vec2 t = Vec2::Zero(), p = Vec2::Zero();
  double follow_t = 0;
  double gp = 0, dp = 0;
};

/// p^T C p in the tangent plane.
double compliance_along(const LawRows& rows, const Vec2& p) {
  return rows.compliance[1] * p.x() * p.x() + rows.compliance[2] * p.y() * p.y();
}

/// Writes the rows of a slipping block of three rows from its SlipMap; d(0,0) and g[0] are those of the normal row.
void write_slip(const SlipMap& map, double normal, const Vec2& tangent, double* d, double* g) {
  const double along = map.follow_t * (normal + g[0]) - map.t.dot(tangent);
  const Vec2 gt = along * map.t + map.gp * map.p;
  const Vec2 coupling = map.follow_t * d[0] * map.t;
  g[1] = gt.x();
  g[2] = gt.y();
  d[3] = coupling.x();
  d[6] = coupling.y();
  d[4] = map.dp * map.p.x() * map.p.x();
  d[5] = d[7] = map.dp * map.p.x() * map.p.y();
  d[8] = map.dp * map.p.y() * map.p.y();
}

}  // namespace

namespace {

/// A closed contact with several limits: each sticks, or slides and follows the normal impulse, by itself. d and g hold
/// the maps of sticking rows on entry.
int update_limit_maps(const LawRows& rows, double rho, double tangent_epsilon, double limit, const double* lambda,
                      const double* w, double* d, double* g, bool* symmetric) {
  const RowBlock& block = *rows.block;
  const int m = block.size;
  FrictionLimit part[kMostLimits];
  const int count = friction_limits(block, part);
  int code = kStick;
  *symmetric = true;
  for (int i = 0; i < count; ++i) {
    const int first = part[i].first, size = part[i].size;
    double y[6];
    for (int k = first; k < first + size; ++k) y[k] = lambda[k] - rho * w[k];
    const double length = limit_length(part[i], y);
    code *= 2;
    if (length < limit) continue;
    ++code;
    *symmetric = false;
    const double kappa = length > 0 ? limit / length : 0;
    for (int k = first; k < first + size; ++k) {
      const double t = length > 0 ? y[k] / length : (k == first ? 1 : 0);
      g[k] = block.mu * t * (lambda[0] + g[0]) - lambda[k];
      d[k * m] = block.mu * t * d[0];
      d[k * m + k] = 0;
    }
    if (size == 1 || length == 0) continue;
    // Across the sliding direction the impulse turns with the velocity.
    const double p[2] = {-y[first + 1] / length, y[first] / length};
    const double compliance =
        rows.compliance[first] * p[0] * p[0] + rows.compliance[first + 1] * p[1] * p[1] + tangent_epsilon;
    const double weight = 1 / (1 - kappa + kappa * rho * compliance), turn = kappa * rho * weight;
    const double across = lambda[first] * p[0] + lambda[first + 1] * p[1];
    for (int a = 0; a < 2; ++a) {
      g[first + a] += across * p[a] * (1 - weight);
      for (int b = 0; b < 2; ++b) d[(first + a) * m + first + b] = turn * p[a] * p[b];
    }
  }
  return code;
}

}  // namespace

int update_active_map(const LawRows& rows, double rho, const double* epsilon, const double* lambda, const double* w,
                      double* d, double* g, bool* symmetric) {
  const RowBlock& block = *rows.block;
  const int m = block.size;
  *symmetric = true;
  if (block.law != LawKind::Friction) return update_row_maps(rows, rho, epsilon, lambda, w, d, g);
  std::fill(d, d + m * m, 0.0);
  const double yn = lambda[0] - rho * w[0];
  if (yn <= 0) {
    for (int k = 0; k < m; ++k) g[k] = -lambda[k];
    return kOpen;
  }
  for (int k = 0; k < m; ++k) {
    d[k * m + k] = 1 / (rows.compliance[k] + epsilon[k > 0]);
    g[k] = -w[k] * d[k * m + k];
  }
  *symmetric = block.mu == 0;
  const double limit = block.mu * yn;
  if (m > 3) return update_limit_maps(rows, rho, epsilon[1], limit, lambda, w, d, g, symmetric);
  if (m == 2) {
    const double yt = lambda[1] - rho * w[1];
    if (std::abs(yt) < limit) {
      *symmetric = true;
      return kStick;
    }
    const double follow = std::copysign(block.mu, yt);
    g[1] = follow * (lambda[0] + g[0]) - lambda[1];
    d[2] = follow * d[0];
    d[3] = 0;
    return yt > 0 ? kSlip : kSlip + 1;
  }
  const Vec2 tangent(lambda[1], lambda[2]), yt(lambda[1] - rho * w[1], lambda[2] - rho * w[2]);
  SlipMap map;
  if (block.friction == FrictionModel::Cone || block.mu == 0) {
    const double length = yt.norm();
    if (length < limit) {
      *symmetric = true;
      return kStick;
    }
    map.t = length > 0 ? Vec2(yt / length) : Vec2(1, 0);
    map.p = Vec2(-map.t.y(), map.t.x());
    map.follow_t = block.mu;
    const double kappa = length > 0 ? limit / length : 0;
    const double compliance = compliance_along(rows, map.p) + epsilon[1];
    const double weight = 1 / (1 - kappa + kappa * rho * compliance);
    map.gp = -map.p.dot(tangent) * weight;
    map.dp = kappa * rho * weight;
    write_slip(map, lambda[0], tangent, d, g);
    return kSlip;
  }
  const FrictionPolygon polygon = friction_polygon(block);
  const PolygonPoint hit = project_polygon(polygon, limit, yt);
  if (hit.inside) {
    *symmetric = true;
    return kStick;
  }
  if (hit.vertex) {
    map.t = hit.point.normalized();
    map.follow_t = block.mu * polygon.radius;
    map.p = Vec2(-map.t.y(), map.t.x());
    map.gp = -map.p.dot(tangent);
  } else {
    map.t = hit.outward;
    map.follow_t = block.mu * polygon.radius * std::cos(std::numbers::pi / polygon.count);
    map.p = Vec2(-map.t.y(), map.t.x());
    map.dp = 1 / (compliance_along(rows, map.p) + epsilon[1]);
    map.gp = -map.p.dot(Vec2(w[1], w[2])) * map.dp;
  }
  write_slip(map, lambda[0], tangent, d, g);
  return kEdge + 2 * hit.feature + (hit.vertex ? 1 : 0);
}

void clip_impulse(const LawRows& rows, double* x) {
  const RowBlock& block = *rows.block;
  if (block.law != LawKind::Friction) return project_impulse(block, rows.lower, rows.upper, x);
  x[0] = std::max(x[0], 0.0);
  const double limit = block.mu * x[0];
  if (block.size > 3) {
    FrictionLimit part[kMostLimits];
    const int count = friction_limits(block, part);
    for (int i = 0; i < count; ++i) {
      const double length = limit_length(part[i], x);
      for (int k = part[i].first; length > limit && k < part[i].first + part[i].size; ++k) x[k] *= limit / length;
    }
  } else if (block.size == 2) {
    x[1] = std::clamp(x[1], -limit, limit);
  } else if (block.friction == FrictionModel::Cone || block.mu == 0) {
    const double length = std::sqrt(x[1] * x[1] + x[2] * x[2]);
    if (length <= limit) return;
    x[1] *= limit / length;
    x[2] *= limit / length;
  } else {
    const Vec2 point = project_polygon(friction_polygon(block), limit, Vec2(x[1], x[2])).point;
    x[1] = point.x();
    x[2] = point.y();
  }
}

double de_saxce_term_and_gradient(const RowBlock& block, const double* w, double* gradient) {
  std::fill_n(gradient, block.size - 1, 0.0);
  if (block.size > 3) {
    FrictionLimit part[kMostLimits];
    const int count = friction_limits(block, part);
    for (int i = 0; i < count; ++i) {
      const double length = limit_length(part[i], w);
      for (int k = part[i].first; length > 0 && k < part[i].first + part[i].size; ++k)
        gradient[k - 1] = block.mu * w[k] / length;
    }
    return de_saxce_term(block, w);
  }
  if (block.size == 2) {
    gradient[0] = w[1] == 0 ? 0 : std::copysign(block.mu, w[1]);
    return block.mu * std::abs(w[1]);
  }
  if (block.friction == FrictionModel::Cone) {
    const double length = std::sqrt(w[1] * w[1] + w[2] * w[2]);
    for (int k = 0; k < 2 && length > 0; ++k) gradient[k] = block.mu * w[1 + k] / length;
    return block.mu * length;
  }
  const FrictionPolygon p = friction_polygon(block);
  const double angle = std::atan2(-w[2], -w[1]), step = 2 * std::numbers::pi / p.count;
  const double nearest = std::round((angle - p.phase) / step) * step + p.phase;
  gradient[0] = -block.mu * p.radius * std::cos(nearest);
  gradient[1] = -block.mu * p.radius * std::sin(nearest);
  return gradient[0] * w[1] + gradient[1] * w[2];
}

}  // namespace slipstick
