#include "step/drivers/hermite.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/se3.h"

namespace slipstick {

namespace {

/// The four basis functions of the cubic at s, and their slopes.
struct Basis {
  double p0, m0, p1, m1;
};
Basis calc_basis(double s) {
  return {(1 + 2 * s) * (1 - s) * (1 - s), s * (1 - s) * (1 - s), s * s * (3 - 2 * s), s * s * (s - 1)};
}
Basis calc_slopes(double s) { return {6 * s * s - 6 * s, 3 * s * s - 4 * s + 1, 6 * s - 6 * s * s, 3 * s * s - 2 * s}; }

/// Rotation vector of a unit quaternion, shorter way round.
Vec3 log_rotation(const Quat& q) {
  const double sign = q.w() < 0 ? -1 : 1;
  const Vec3 v = sign * q.vec();
  const double sine = v.norm();
  if (sine < 1e-9) return 2 * v;
  return 2 * std::atan2(sine, sign * q.w()) / sine * v;
}

/// d/dt of the rotation vector phi when the body turns with omega (body axes), to second order in phi; and back.
Vec3 calc_chart_rate(const Vec3& phi, const Vec3& omega) {
  return omega + phi.cross(omega) / 2 + phi.cross(phi.cross(omega)) / 12;
}
Vec3 calc_chart_omega(const Vec3& phi, const Vec3& rate) {
  return rate - phi.cross(rate) / 2 + phi.cross(phi.cross(rate)) / 6;
}

/// Shares of [0, 1] where the slope vanishes, ascending; `count` of them.
struct Extrema {
  std::array<double, 2> s{};
  int count = 0;
};
Extrema find_extrema(const Cubic& f) {
  // slope = a s^2 + b s + d0
  const double a = 6 * (f.f0 - f.f1) + 3 * (f.d0 + f.d1), b = -6 * (f.f0 - f.f1) - 4 * f.d0 - 2 * f.d1, c = f.d0;
  Extrema out;
  const auto add = [&out](double s) {
    if (s > 0 && s < 1) out.s[out.count++] = s;
  };
  const double scale = std::max({std::abs(a), std::abs(b), std::abs(c)});
  if (std::abs(a) <= 1e-14 * scale) {
    if (b != 0) add(-c / b);
    return out;
  }
  const double root = b * b - 4 * a * c;
  if (root < 0) return out;
  const double q = -0.5 * (b + std::copysign(std::sqrt(root), b));
  add(q / a);
  if (q != 0) add(c / q);
  if (out.count == 2 && out.s[0] > out.s[1]) std::swap(out.s[0], out.s[1]);
  return out;
}

}  // namespace

double Cubic::at(double s) const {
  const Basis b = calc_basis(s);
  return b.p0 * f0 + b.m0 * d0 + b.p1 * f1 + b.m1 * d1;
}

double Cubic::slope(double s) const {
  const Basis b = calc_slopes(s);
  return b.p0 * f0 + b.m0 * d0 + b.p1 * f1 + b.m1 * d1;
}

std::optional<double> Cubic::find_crossing(double from) const {
  const Extrema extrema = find_extrema(*this);
  std::array<double, 4> knots{from, 1, 1, 1};
  int count = 1;
  for (int i = 0; i < extrema.count; ++i)
    if (extrema.s[i] > from) knots[count++] = extrema.s[i];
  knots[count++] = 1;
  for (int i = 0; i + 1 < count; ++i) {
    double low = knots[i], high = knots[i + 1];  // monotone in between
    if (!(at(low) >= 0 && at(high) < 0)) continue;
    double s = low + (high - low) * at(low) / (at(low) - at(high));
    for (int k = 0; k < 100 && high - low > 1e-16; ++k) {
      const double f = at(s), d = slope(s);
      (f >= 0 ? low : high) = s;
      const double newton = d != 0 ? s - f / d : low - 1;
      const double next = newton > low && newton < high ? newton : 0.5 * (low + high);
      if (std::abs(next - s) <= 1e-16) break;
      s = next;
    }
    return s;
  }
  return std::nullopt;
}

std::optional<double> Cubic::find_dip() const {
  const Extrema extrema = find_extrema(*this);
  std::optional<double> least;
  for (int i = 0; i < extrema.count; ++i)
    if (!least || at(extrema.s[i]) < at(*least)) least = extrema.s[i];
  return least;
}

void update_hermite(const State& start, const State& end, double h, double s, State* state) {
  const Basis b = calc_basis(s), d = calc_slopes(s);
  for (std::size_t i = 0; i < start.pose.size(); ++i) {
    const Pose &q0 = start.pose[i], &q1 = end.pose[i];
    const Twist &v0 = start.velocity[i], &v1 = end.velocity[i];
    Pose& q = state->pose[i];
    Twist& v = state->velocity[i];
    // The values as an increment on q0, so that a body at rest stays where it is, to the bit.
    const Vec3 step = q1.position - q0.position;
    const Vec3 position = q0.position + b.p1 * step + h * (b.m0 * v0.linear + b.m1 * v1.linear);
    const Vec3 linear = d.p1 * step / h + d.m0 * v0.linear + d.m1 * v1.linear;
    const Vec3 turn = log_rotation(q0.orientation.conjugate() * q1.orientation);
    const Vec3 rate1 = h * calc_chart_rate(turn, v1.angular), rate0 = h * v0.angular;
    const Vec3 phi = b.p1 * turn + b.m0 * rate0 + b.m1 * rate1;
    const Vec3 rate = (d.p1 * turn + d.m0 * rate0 + d.m1 * rate1) / h;
    q.orientation = (q0.orientation * exp_rotation(phi)).normalized();
    q.position = position;
    v = {linear, calc_chart_omega(phi, rate)};
  }
  state->time = start.time + s * h;
}

}  // namespace slipstick
