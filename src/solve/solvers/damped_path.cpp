#include "solve/solvers/damped_path.h"

#include <algorithm>
#include <cmath>

#include "solve/laws.h"
#include "solve/solvers/lorentz_lanes.h"

namespace slipstick {

namespace {

namespace damped {  // other paths have names like these

constexpr double kNoGuess = 0.03;  // a relative residual above which a guess is none
constexpr double kGuessRoom = 30;  // distance from a guess to the inside, over its residual
constexpr double kGradient = 0.5;  // of De Saxce's term in the matrix: with 0.8 or more the path stalls in a hard blow
constexpr double kSmooth = 0.5;    // of the gap: where a contact sticks the gradient fades
constexpr double kLeastDampedCentering = 0.1;
constexpr double kToTheEdge = 0.95;
constexpr double kFirstDamping = 1e-4, kLeastDamping = 1e-5, kMostDamping = 1e-3, kDampingFactor = 3;
constexpr double kShortDamped = 0.25, kLong = 0.4;  // steps that raise and lower the damping
constexpr double kJointCompliance = 1e-10;          // over the Delassus diagonal; keeps redundant joints regular

}  // namespace damped

using Four = lorentz::Lanes;

/// Of four matrices, by their cofactors.
void invert(const Four (&a)[3][3], Four (&out)[3][3]) {
  const auto cofactor = [&](int i, int j) {
    const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
    return a[i1][j1] * a[i2][j2] - a[i1][j2] * a[i2][j1];
  };
  const Four c[3] = {cofactor(0, 0), cofactor(0, 1), cofactor(0, 2)};
  const Four inverse = 1 / (a[0][0] * c[0] + a[0][1] * c[1] + a[0][2] * c[2]);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) out[i][j] = inverse * (j == 0 ? c[i] : cofactor(j, i));
}

}  // namespace

bool DampedPath::takes(const Problem& problem) {
  return std::all_of(problem.blocks.begin(), problem.blocks.end(), [](const RowBlock& block) {
    if (block.law == LawKind::Equality || (block.law == LawKind::Nonnegative && block.size == 1)) return true;
    return block.law == LawKind::Friction && block.size <= 3 && !has_several_limits(block) &&
           (block.size == 2 || block.friction == FrictionModel::Cone);
  });
}

/// The blocks with a law of their own, four at a time; the last ones may have company that nobody sees.
void DampedPath::make_cones(const std::vector<double>& rho) {
  const Problem& p = *problem_;
  cones_.clear();
  count_ = 0;
  for (std::size_t i = 0; i < p.blocks.size(); ++i) {
    const RowBlock& block = p.blocks[i];
    if (block.law == LawKind::Equality) continue;
    const int lane = count_++ % kLanes;
    if (lane == 0) {
      Cones& empty = cones_.emplace_back(Cones{});
      empty.mu = empty.rho = empty.s[0] = empty.z[0] = Lanes{} + 1;
    }
    Cones& c = cones_.back();
    const bool rubs = block.law == LawKind::Friction && block.mu > 0;
    c.block[lane] = static_cast<int>(i);
    c.row[lane] = block.row;
    c.size[lane] = block.size;
    c.n[lane] = rubs ? block.size : 1;
    c.filled[lane] = 1;
    for (int k = 0; k < 2; ++k) c.rubs[k][lane] = k + 1 < c.n[lane];
    c.mu[lane] = rubs ? block.mu : 1;
    c.rho[lane] = rho[i];
    c.whole = lane + 1 == kLanes && std::all_of(c.n, c.n + kLanes, [](int n) { return n == 3; });
  }
}

/// The rows of each lane that friction has a part in; zero elsewhere.
void DampedPath::gather(const Cones& cones, const Eigen::Ref<const VecX>& from, Lanes* to) const {
  for (int k = 0; k < 3; ++k) to[k] = Lanes{};
  for (int l = 0; l < kLanes; ++l)
    for (int k = 0; k < (cones.whole ? 3 : cones.n[l]); ++k) to[k][l] = from[cones.row[l] + k];
}

void DampedPath::start(const Problem& problem, NewtonSystem* system, const std::vector<double>& rho, const VecX& q,
                       double scale, const VecX& from, double residual) {
  problem_ = &problem;
  system_ = system;
  damping_ = damped::kFirstDamping;
  maps_.resize(problem);
  had_guess_ = residual <= damped::kNoGuess;
  make_cones(rho);
  if (had_guess_)
    x_ = from;
  else
    x_.setZero(problem.rows());
  refresh();
  go_inside(had_guess_ ? damped::kGuessRoom * residual * scale / std::sqrt(static_cast<double>(problem.rows()))
                       : q.cwiseAbs().maxCoeff());
  refresh();
}

/// Impulses and slacks that are so far inside the cones, as a velocity.
void DampedPath::go_inside(double room) {
  double mean = 0;  // of rho
  for (const Cones& c : cones_)
    for (int l = 0; l < kLanes; ++l) mean += c.filled[l] * c.rho[l];
  mean /= std::max(count_, 1);
  for (Cones& c : cones_) {
    for (int l = 0; l < kLanes; ++l) {
      if (c.n[l] == 0) continue;
      const double balance = std::sqrt(mean / c.rho[l]);  // the same x z everywhere
      double slip = 0;
      for (int k = 1; k < c.n[l]; ++k) {
        c.z[k][l] = had_guess_ ? c.w[k][l] : 0;
        slip += c.z[k][l] * c.z[k][l];
      }
      slip = c.mu[l] * std::sqrt(slip);
      c.z[0][l] = ((had_guess_ ? std::max(c.w[0][l] + slip, slip) : 0) + room * balance) / c.mu[l];
      x_[c.row[l]] += c.rho[l] * room * balance;
    }
  }
}

/// Velocities, gap and the scaled impulses at x.
void DampedPath::refresh() {
  system_->update_state(x_, &v_, &u_);
  w_ = u_ + Eigen::Map<const VecX>(problem_->compliance.data(), problem_->rows()).cwiseProduct(x_);
  for (Cones& c : cones_) {
    gather(c, x_, c.s);
    gather(c, w_, c.w);
    c.s[0] = c.s[0] * c.mu + (1 - c.filled);
    for (int k = 0; k < 3; ++k) c.correction[k] = c.ds[k] = c.dz[k] = Lanes{};
  }
  gap_ = calc_gap(0);
}

double DampedPath::calc_gap(double step) const {
  Lanes sum{};
  for (const Cones& c : cones_)
    for (int k = 0; k < 3; ++k) sum += c.filled * (c.s[k] + step * c.ds[k]) * (c.z[k] + step * c.dz[k]);
  return count_ == 0 ? 0 : ((sum[0] + sum[1]) + (sum[2] + sum[3])) / count_;
}

/// Nesterov and Todd's point of each cone, De Saxce's term and its smoothed gradient.
bool DampedPath::update_scalings() {
  for (Cones& c : cones_) {
    if (!lorentz::update_scaling(c.s, c.z, c.boost, &c.eta, c.lambda)) return false;
    const Lanes square = c.w[1] * c.w[1] + c.w[2] * c.w[2];
    c.saxce = c.mu * calc_root(square);
    const Lanes smooth = square + damped::kSmooth * gap_ / c.rho, zero{};
    const Lanes share = damped::kGradient * c.mu / calc_root(smooth > zero ? smooth : zero + 1);
    for (int k = 0; k < 2; ++k) c.gradient[k] = share * c.w[k + 1];
  }
  return true;
}

/// D0 = T^-1 W^2 T^-1 with W^2 = eta^2 (2 w w^T - J), (I + D0 R)^-1 and D.
void DampedPath::update_matrices() {
  maps_.symmetric = true;
  for (Cones& c : cones_) {
    const Lanes t[3] = {1 / c.mu, c.rubs[0], c.rubs[1]}, square = c.eta * c.eta;
    Lanes compliance[3] = {}, a[3][3];
    gather(c, Eigen::Map<const VecX>(problem_->compliance.data(), problem_->rows()), compliance);
    for (int i = 0; i < 3; ++i) {
      c.compliance[i] = damping_ / c.rho + compliance[i];
      for (int j = 0; j < 3; ++j) {
        const double unit = i != j ? 0 : i == 0 ? -1 : 1;
        c.d0[i][j] = t[i] * t[j] * square * (2 * c.boost[i] * c.boost[j] + unit);
      }
    }
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) a[i][j] = (i == j ? 1 : 0) + c.d0[i][j] * c.compliance[j];
    invert(a, c.inverse);
    Lanes d[3][3];
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j)
        d[i][j] = c.inverse[i][0] * c.d0[0][j] + c.inverse[i][1] * c.d0[1][j] + c.inverse[i][2] * c.d0[2][j];
      for (int j = 1; j < 3; ++j) d[i][j] += d[i][0] * c.gradient[j - 1];
    }
    for (int l = 0; l < kLanes; ++l) {
      double* to = maps_.d.data() + maps_.start[c.block[l]];
      const int size = c.whole ? 3 : c.size[l];
      for (int i = 0; i < size; ++i)
        for (int j = 0; j < size; ++j) to[i * size + j] = d[i][j][l];
      maps_.symmetric = maps_.symmetric && c.n[l] <= 1;
    }
  }
  update_equalities();
}

void DampedPath::update_equalities() {
  const Problem& p = *problem_;
  for (const RowBlock& block : p.blocks) {
    if (block.law != LawKind::Equality) continue;
    for (int r = block.row; r < block.row + block.size; ++r) {
      maps_.weight[r] = p.compliance[r] + damped::kJointCompliance * system_->joint_diagonal(r);
      maps_.g[r] = -w_[r];
    }
  }
}

/// g = (I + D0 R)^-1 (T^-1 W (lambda \ r) - D0 (w + s n - z)).
void DampedPath::update_right_side(double target) {
  for (const Cones& c : cones_) {
    Lanes right[3], part[3], rest[3], g[3];
    lorentz::multiply(c.lambda, c.lambda, right);
    for (int k = 0; k < 3; ++k) right[k] = (k == 0 ? target : 0) - right[k] - c.correction[k];
    lorentz::divide(c.lambda, right, part);
    lorentz::scale<false>(c.eta, c.boost, part, g);
    g[0] /= c.mu;
    for (int k = 0; k < 3; ++k) rest[k] = c.w[k] + (k == 0 ? c.saxce - c.mu * c.z[0] : -c.z[k]);
    for (int k = 0; k < 3; ++k) g[k] -= c.d0[k][0] * rest[0] + c.d0[k][1] * rest[1] + c.d0[k][2] * rest[2];
    for (int k = 0; k < 3; ++k) {
      const Lanes row = c.inverse[k][0] * g[0] + c.inverse[k][1] * g[1] + c.inverse[k][2] * g[2];
      for (int l = 0; l < kLanes; ++l)
        if (c.whole || k < c.size[l]) maps_.g[c.row[l] + k] = row[l];
    }
  }
}

/// The direction towards x~ o z~ = target e with the factor at hand:
/// d x = g - D d u,  d z = (I + n grad^T) d u + R d x + w + s n - z.
void DampedPath::solve(double target) {
  update_right_side(target);
  system_->solve(maps_, &dx_, &du_);
  for (Cones& c : cones_) {
    gather(c, dx_, c.ds);
    gather(c, du_, c.du);
    for (int k = 0; k < 3; ++k) c.dz[k] = c.du[k] + c.compliance[k] * c.ds[k] + c.w[k];
    c.dz[0] += c.saxce + c.gradient[0] * c.du[1] + c.gradient[1] * c.du[2];
    c.dz[0] = c.filled * (c.dz[0] / c.mu - c.z[0]);
    for (int k = 1; k < 3; ++k) c.dz[k] -= c.z[k];
    c.ds[0] *= c.mu;
  }
}

/// De Saxce's term where the direction leads, less what the matrix has of it.
void DampedPath::renew_saxce() {
  for (Cones& c : cones_) {
    const Lanes w1 = c.w[1] + c.du[1], w2 = c.w[2] + c.du[2];
    c.saxce = c.mu * calc_root(w1 * w1 + w2 * w2) - (c.gradient[0] * c.du[1] + c.gradient[1] * c.du[2]);
  }
}

void DampedPath::keep_corrections() {
  for (Cones& c : cones_) {
    Lanes a[3], b[3];
    lorentz::scale<true>(c.eta, c.boost, c.ds, a);
    lorentz::scale<false>(c.eta, c.boost, c.dz, b);
    lorentz::multiply(a, b, c.correction);
  }
}

double DampedPath::calc_longest_step() const {
  Lanes t = Lanes{} + 1 / damped::kToTheEdge;
  for (const Cones& c : cones_) {
    t = lorentz::longest_in_cone(c.s, c.ds, t);
    t = lorentz::longest_in_cone(c.z, c.dz, t);
  }
  return std::min(1.0, damped::kToTheEdge * std::min(std::min(t[0], t[1]), std::min(t[2], t[3])));
}

bool DampedPath::step() {
  step_ = 0;
  if (!update_scalings()) return false;
  update_matrices();
  if (!system_->factor(maps_)) return false;
  solve(0);
  renew_saxce();
  solve(0);
  if (!dx_.allFinite()) return false;
  const double ratio = gap_ > 0 ? std::max(calc_gap(calc_longest_step()), 0.0) / gap_ : 0;
  const double target = gap_ * std::clamp(ratio * ratio * ratio, damped::kLeastDampedCentering, 1.0);
  keep_corrections();
  solve(target);
  other_dx_ = dx_;
  for (Cones& c : cones_) std::copy_n(c.dz, 3, c.other_dz);
  const double first = calc_longest_step();
  renew_saxce();
  solve(target);
  if (!dx_.allFinite() || !other_dx_.allFinite()) return false;
  step_ = calc_longest_step();
  const bool takes_first = first > step_;
  if (takes_first) {
    std::swap(dx_, other_dx_);
    step_ = first;
  }
  x_ += step_ * dx_;
  for (Cones& c : cones_)
    for (int k = 0; k < 3; ++k) c.z[k] += step_ * (takes_first ? c.other_dz[k] : c.dz[k]);
  if (step_ < damped::kShortDamped) damping_ = std::min(damped::kDampingFactor * damping_, damped::kMostDamping);
  if (step_ > damped::kLong) damping_ = std::max(damping_ / damped::kDampingFactor, damped::kLeastDamping);
  refresh();
  return true;
}

}  // namespace slipstick
