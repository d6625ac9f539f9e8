#include "solve/solvers/one_contact.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "solve/laws.h"

namespace slipstick {

namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr int kPolishSteps = 5;
constexpr int kMaxSteps = 200;  // of the safeguarded Newton: some ten are usual

/// Elimination with a pivot, backward stable where Cramer's rule is not.
class Solve2 {
 public:
  explicit Solve2(const Mat2& m) : swap_(std::abs(m(1, 0)) > std::abs(m(0, 0))), u_(m) {
    if (swap_) u_.row(0).swap(u_.row(1));
    factor_ = u_(0, 0) != 0 ? u_(1, 0) / u_(0, 0) : 0;
    u_(1, 1) -= factor_ * u_(0, 1);
  }
  Vec2 operator()(const Vec2& right) const {
    const double first = swap_ ? right.y() : right.x(), second = (swap_ ? right.x() : right.y()) - factor_ * first;
    const double y = second / u_(1, 1);
    return {(first - u_(0, 1) * y) / u_(0, 0), y};
  }

 private:
  bool swap_;
  Mat2 u_;
  double factor_;
};

/// t(alpha) = -(S + alpha)^-1 s and psi(alpha) = mu n / |t| - 1: negative while alpha, the slip multiplier
/// w_t = -alpha t, is too small. psi is linear in alpha if S is a multiple of the unit matrix, and nearly so otherwise.
struct Slip {
  Vec2 t;
  double psi, slope;
};

Slip calc_slip(const SlipProblem& p, double mu, double alpha) {
  Mat2 m = p.matrix;
  m.diagonal().array() += alpha;
  const Solve2 solve(m);
  Slip slip;
  slip.t = -solve(p.offset);
  const double size = slip.t.norm(), n = p.a + p.b.dot(slip.t);
  if (size == 0) return {slip.t, kInfinity, 0};
  const Vec2 dt = -solve(slip.t);
  slip.psi = mu * n / size - 1;
  slip.slope = mu * (p.b.dot(dt) - n * slip.t.dot(dt) / (size * size)) / size;
  return slip;
}

/// At the limit over the point r of P's boundary: t = mu n r, n = a + b . t.
Vec3 make_slide(const SlipProblem& p, double mu, const Vec2& r) {
  const double n = p.a / (1 - mu * p.b.dot(r));
  return {n, mu * n * r.x(), mu * n * r.y()};
}

/// Moves r along P's boundary until w_t has no part along the boundary's tangent. In this one unknown the limit and
/// w_n = 0 hold to the last bit even where S is nearly singular, which the ways to r cannot promise.
Vec2 polish_slide(const SlipProblem& p, double mu, bool disk, Vec2 r, Vec2 along) {
  double best = kInfinity;
  Vec2 best_r = r;
  for (int k = 0; k < kPolishSteps; ++k) {
    const double slope = 1 - mu * p.b.dot(r), n = p.a / slope;
    const Vec2 w = p.matrix * (mu * n * r) + p.offset;
    const double g = along.dot(w);
    if (!(slope > 0) || !(std::abs(g) < best)) break;
    best = std::abs(g);
    best_r = r;
    const Vec2 dt = mu * n * (along + r * (mu * p.b.dot(along) / slope));
    const double dg = along.dot(p.matrix * dt) - (disk ? r.dot(w) : 0);
    r -= along * (g / dg);
    if (!disk) continue;
    r.normalize();
    along = Vec2(-r.y(), r.x());
  }
  return best_r;
}

Vec3 solve_disk(double mu, const SlipProblem& p) {
  if (p.floor == 0) {  // nothing moves the tangents
    const double size = p.offset.norm();
    return size > 0 ? make_slide(p, mu, -p.offset / size) : Vec3(p.a, 0, 0);
  }
  double low = p.floor, high = kInfinity, alpha = low;
  Slip slip = calc_slip(p, mu, alpha);
  if (slip.psi >= 0) return solve_stick(p);
  for (int k = 1; k < kMaxSteps && high > low * (1 + 2 * kEpsilon) && std::abs(slip.psi) > 2 * kEpsilon; ++k) {
    double next = slip.slope > 0 ? alpha - slip.psi / slip.slope : kInfinity;
    const bool stalled = k % 8 == 0 && high < kInfinity;
    if (!(next > low && next < high) || stalled) next = high < kInfinity ? std::sqrt(low * high) : 16 * low;
    if (!(next > low && next < high)) break;  // no number between them
    alpha = next;
    slip = calc_slip(p, mu, alpha);
    (slip.psi < 0 ? low : high) = alpha;
  }
  const Vec2 r = slip.t.normalized();
  return make_slide(p, mu, polish_slide(p, mu, true, r, Vec2(-r.y(), r.x())));
}

Vec3 solve_planar(double mu, const SlipProblem& p) {
  const double s = p.matrix(0, 0), q = p.offset.x(), b = p.b.x();
  const Vec3 stick = solve_stick(p);
  if (p.floor > 0 && std::abs(stick[1]) <= mu * stick[0]) return stick;
  if (p.floor == 0 && q == 0) return {p.a, 0, 0};
  // Sliding needs w_t against t: alpha = -(s + q / t) >= 0. At least one direction has it; the larger alpha is the
  // safer.
  Vec3 best(p.a, 0, 0);
  double best_alpha = -kInfinity;
  for (const double sign : {1.0, -1.0}) {
    const double denominator = 1 - mu * b * sign;
    if (!(denominator > 0)) continue;
    const double n = p.a / denominator, alpha = -(s + q / (sign * mu * n));
    if (alpha <= best_alpha) continue;
    best_alpha = alpha;
    best = Vec3(n, sign * mu * n, 0);
  }
  return best;
}

/// A candidate of solve_polygon and by how much, relative to the sizes at hand, it misses the law.
struct Candidate {
  Vec3 x = Vec3::Zero();
  double violation = kInfinity;
};

class PolygonSolve {
 public:
  PolygonSolve(const FrictionPolygon& polygon, double mu, const SlipProblem& p)
      : p_(p), mu_(mu), radius_(polygon.radius), phase_(polygon.phase), step_(2 * std::numbers::pi / polygon.count) {
    apothem_ = radius_ * std::cos(step_ / 2);
    count_ = polygon.count;
  }

  Vec3 solve() {
    Vec2 guess = -p_.offset;
    if (p_.floor > 0) {
      const Vec3 stick = solve_stick(p_);
      guess = stick.tail<2>();
      const int k = sector(guess);
      if (normal(k).dot(guess) <= mu_ * apothem_ * stick[0]) return stick;
    } else if (guess.isZero(0)) {
      return {p_.a, 0, 0};
    }
    // The face is near the direction of sticking: look there first.
    const int start = sector(guess);
    Candidate best;
    for (int i = 0; i <= count_ / 2 && best.violation > kGood; ++i) {
      for (const int k : {start + i, start - i}) {
        consider(make_edge(k), &best);
        consider(make_vertex(k), &best);
        consider(make_vertex(k + 1), &best);
        if (best.violation <= kGood) break;
      }
    }
    return best.x;
  }

 private:
  static constexpr double kGood = 1e-14;

  int sector(const Vec2& t) const { return static_cast<int>(std::floor((std::atan2(t.y(), t.x()) - phase_) / step_)); }
  Vec2 vertex(int k) const { return radius_ * Vec2(std::cos(phase_ + k * step_), std::sin(phase_ + k * step_)); }
  Vec2 normal(int k) const {  // of the edge from vertex k to k + 1
    const double angle = phase_ + (k + 0.5) * step_;
    return {std::cos(angle), std::sin(angle)};
  }
  static void consider(const Candidate& candidate, Candidate* best) {
    if (candidate.violation < best->violation) *best = candidate;
  }

  Candidate make_vertex(int k) const {
    Candidate c;
    const Vec2 r = vertex(k);
    const double denominator = 1 - mu_ * p_.b.dot(r);
    if (!(denominator > 0)) return c;
    const double n = p_.a / denominator;
    const Vec2 t = mu_ * n * r, w = p_.matrix * t + p_.offset;
    const double inward = std::min(w.dot((vertex(k - 1) - r).normalized()), w.dot((vertex(k + 1) - r).normalized()));
    c.x = Vec3(n, t.x(), t.y());
    c.violation = std::max(0.0, -inward) / speed(t);
    return c;
  }

  // w_t normal to the edge, and t on it: two equations for t.
  Candidate make_edge(int k) const {
    Candidate c;
    const Vec2 m = normal(k), along(-m.y(), m.x());
    const double h = mu_ * apothem_;
    const double scale = p_.floor > 0 ? p_.matrix.norm() + p_.floor : 1;
    Mat2 system;
    system.row(0) = (along.transpose() * p_.matrix + p_.floor * along.transpose()) / scale;
    system.row(1) = m.transpose() - h * p_.b.transpose();
    const Vec2 near = Solve2(system)(Vec2(-along.dot(p_.offset) / scale, h * p_.a));
    const double limit = mu_ * (p_.a + p_.b.dot(near));
    if (!std::isfinite(near.sum()) || !(limit > 0)) return c;
    const Vec2 r = polish_slide(p_, mu_, false, apothem_ * m + along.dot(near) / limit * along, along);
    c.x = make_slide(p_, mu_, r);
    if (!(c.x[0] > 0) || !std::isfinite(c.x.sum())) return c;
    const Vec2 t = c.x.tail<2>(), w = p_.matrix * t + p_.offset;
    const double beyond = std::abs(along.dot(r)) - radius_ * std::sin(step_ / 2);
    c.violation = std::max(std::max(0.0, m.dot(w)) / speed(t), std::max(0.0, beyond));
    return c;
  }

  double speed(const Vec2& t) const {
    return p_.offset.norm() + p_.matrix.norm() * t.norm() + std::numeric_limits<double>::min();
  }

  const SlipProblem& p_;
  double mu_, radius_, phase_, step_, apothem_;
  int count_;
};

}  // namespace

ContactMatrix make_contact_matrix(int size, const double* d) {
  ContactMatrix m;
  m.normal = d[0];
  const int tangents = size - 1;
  for (int i = 0; i < tangents; ++i) {
    m.column[i] = d[(1 + i) * size];
    if (m.normal > 0) m.b[i] = -d[1 + i] / m.normal;
    for (int j = 0; j < tangents; ++j) m.tangent(i, j) = d[(1 + i) * size + 1 + j];
  }
  m.schur = m.tangent + m.column * m.b.transpose();
  m.floor = 8 * kEpsilon * m.tangent.trace();
  return m;
}

SlipProblem make_slip_problem(const ContactMatrix& matrix, const Vec3& q) {
  SlipProblem p;
  p.matrix = matrix.schur;
  p.a = -q[0] / matrix.normal;
  p.b = matrix.b;
  p.offset = q.tail<2>() + matrix.column * p.a;
  p.floor = matrix.floor;
  return p;
}

Vec3 solve_stick(const SlipProblem& p) {
  if (p.floor == 0) return {p.a, 0, 0};
  Mat2 m = p.matrix;
  m.diagonal().array() += p.floor;  // a planar block's second row is its floor, its offset 0
  const Solve2 solve(m);
  Vec2 t = -solve(p.offset);
  t -= solve(p.matrix * t + p.offset);  // takes the floor out again where S is regular
  return {p.a + p.b.dot(t), t.x(), t.y()};
}

Vec3 solve_slip(const RowBlock& block, const SlipProblem& problem) {
  if (block.size == 2) return solve_planar(block.mu, problem);
  if (block.friction == FrictionModel::Cone) return solve_disk(block.mu, problem);
  return PolygonSolve(friction_polygon(block), block.mu, problem).solve();
}

Vec3 solve_one_contact(const RowBlock& block, const ContactMatrix& matrix, const Vec3& q) {
  if (q[0] >= 0 || !(matrix.normal > 0)) return Vec3::Zero();
  if (block.mu == 0) return {-q[0] / matrix.normal, 0, 0};
  return solve_slip(block, make_slip_problem(matrix, q));
}

}  // namespace slipstick
