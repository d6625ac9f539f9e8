#include "solve/solvers/damped_path.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "solve/laws.h"
#include "solve/solvers/lorentz.h"

namespace slipstick {

namespace {

namespace damped {  // other paths have names like these

constexpr double kNoGuess = 0.03;  // a relative residual above which a guess is none
constexpr double kGuessRoom = 30;  // distance from a guess to the inside, over its residual
constexpr double kGradient = 0.5;  // of De Saxce's term in the matrix: with 0.8 or more the path stalls in a hard blow
constexpr double kSmooth = 0.5;    // of the gap: where a contact sticks the gradient fades
constexpr double kLeastCentering = 0.1;
constexpr double kToTheEdge = 0.95;
constexpr double kFirstDamping = 1e-4, kLeastDamping = 1e-5, kMostDamping = 1e-3, kDampingFactor = 3;
constexpr double kShort = 0.25, kLong = 0.4;  // steps that raise and lower the damping
constexpr double kJointCompliance = 1e-10;    // over the Delassus diagonal; keeps redundant joints regular

}  // namespace damped

Eigen::Map<const Eigen::Matrix3d> as_matrix3(const double* a) { return Eigen::Map<const Eigen::Matrix3d>(a); }

}  // namespace

bool DampedPath::takes(const Problem& problem) {
  return std::all_of(problem.blocks.begin(), problem.blocks.end(), [](const RowBlock& block) {
    if (block.law == LawKind::Equality || (block.law == LawKind::Nonnegative && block.size == 1)) return true;
    return block.law == LawKind::Friction && block.size <= 3 && !has_several_limits(block) &&
           (block.size == 2 || block.friction == FrictionModel::Cone);
  });
}

void DampedPath::start(const Problem& problem, NewtonSystem* system, const std::vector<double>& rho, const VecX& q,
                       double scale, const VecX& from, double residual) {
  problem_ = &problem;
  system_ = system;
  damping_ = damped::kFirstDamping;
  maps_.resize(problem);
  cones_.clear();
  const bool cold = !(residual <= damped::kNoGuess);
  had_guess_ = !cold;
  x_.setZero(problem.rows());
  z_.setZero(problem.rows());
  double mean = 0;
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
    const RowBlock& block = problem.blocks[i];
    mean += rho[i] / static_cast<double>(problem.blocks.size());
    if (!cold) x_.segment(block.row, block.size) = from.segment(block.row, block.size);
    if (block.law == LawKind::Equality) continue;
    Cone cone{};
    cone.block = static_cast<int>(i);
    cone.row = block.row;
    cone.size = block.size;
    const bool rubs = block.law == LawKind::Friction && block.mu > 0;
    cone.n = rubs ? block.size : 1;
    cone.mu = rubs ? block.mu : 1;
    cone.rho = rho[i];
    cones_.push_back(cone);
  }
  refresh();
  const double room = cold ? q.cwiseAbs().maxCoeff()
                           : damped::kGuessRoom * residual * scale / std::sqrt(static_cast<double>(problem.rows()));
  for (const Cone& c : cones_) {
    const double balance = std::sqrt(mean / c.rho);  // the same x z everywhere
    double slip = 0;
    for (int k = 1; k < c.n && !cold; ++k) {
      z_[c.row + k] = w_[c.row + k];
      slip += z_[c.row + k] * z_[c.row + k];
    }
    slip = c.n > 1 ? c.mu * std::sqrt(slip) : 0;
    z_[c.row] = (cold ? 0 : std::max(w_[c.row] + slip, slip)) + room * balance;
    x_[c.row] += c.rho * room * balance;
  }
  refresh();
}

/// Velocities, gap and the scaled variables at x and z.
void DampedPath::refresh() {
  system_->update_state(x_, &v_, &u_);
  w_ = u_ + Eigen::Map<const VecX>(problem_->compliance.data(), problem_->rows()).cwiseProduct(x_);
  for (Cone& c : cones_) {
    for (int k = 0; k < c.n; ++k) {
      c.s[k] = x_[c.row + k] * (k == 0 ? c.mu : 1);
      c.z[k] = z_[c.row + k] / (k == 0 ? c.mu : 1);
      c.correction[k] = 0;
    }
  }
  dx_.setZero(x_.size());
  dz_.setZero(x_.size());
  gap_ = calc_gap(0);
}

double DampedPath::calc_gap(double step) const {
  double sum = 0;
  for (const Cone& c : cones_)
    for (int r = c.row; r < c.row + c.n; ++r) sum += (x_[r] + step * dx_[r]) * (z_[r] + step * dz_[r]);
  return cones_.empty() ? 0 : sum / static_cast<double>(cones_.size());
}

double DampedPath::compliance(const Cone& cone, int k) const {
  return damping_ / cone.rho + problem_->compliance[cone.row + k];
}

/// Nesterov and Todd's point of each cone, De Saxce's term and its smoothed gradient.
bool DampedPath::update_scalings() {
  for (Cone& c : cones_) {
    if (!lorentz::update_scaling(c.n, c.s, c.z, c.w, &c.eta, c.lambda)) return false;
    double square = 0;
    for (int k = 1; k < c.n; ++k) square += w_[c.row + k] * w_[c.row + k];
    c.saxce = c.n > 1 ? c.mu * std::sqrt(square) : 0;
    for (int k = 1; k < c.n; ++k)
      c.gradient[k - 1] = damped::kGradient * c.mu * w_[c.row + k] / std::sqrt(square + damped::kSmooth * gap_ / c.rho);
  }
  return true;
}

/// D0 = T^-1 W^2 T^-1 with W^2 = eta^2 (2 w w^T - J), and (I + D0 R)^-1.
void DampedPath::update_scaling_block(Cone* cone) const {
  Cone& c = *cone;
  const double square = c.eta * c.eta;
  std::fill_n(c.d0, 9, 0.0);
  std::fill_n(c.inverse, 9, 0.0);
  for (int i = 0; i < c.n; ++i) {
    for (int j = 0; j < c.n; ++j) {
      const double value = square * (2 * c.w[i] * c.w[j] + (i != j ? 0 : i == 0 ? -1 : 1));
      c.d0[j * 3 + i] = value / ((i == 0 ? c.mu : 1) * (j == 0 ? c.mu : 1));
    }
  }
  Eigen::Matrix3d matrix = Eigen::Matrix3d::Identity();
  for (int j = 0; j < c.n; ++j)
    for (int i = 0; i < c.n; ++i) matrix(i, j) += c.d0[j * 3 + i] * compliance(c, j);
  Eigen::Map<Eigen::Matrix3d>(c.inverse) = matrix.inverse();
}

void DampedPath::update_matrices() {
  const Problem& p = *problem_;
  maps_.symmetric = true;
  for (Cone& c : cones_) {
    update_scaling_block(&c);
    const Eigen::Matrix3d m = as_matrix3(c.inverse) * as_matrix3(c.d0);
    double* d = maps_.d.data() + maps_.start[c.block];
    std::fill_n(d, c.size * c.size, 0.0);
    for (int i = 0; i < c.n; ++i)
      for (int j = 0; j < c.n; ++j) d[i * c.size + j] = m(i, j) + (j > 0 ? m(i, 0) * c.gradient[j - 1] : 0);
    maps_.symmetric = maps_.symmetric && c.n == 1;
  }
  for (const RowBlock& block : p.blocks) {
    if (block.law != LawKind::Equality) continue;
    for (int r = block.row; r < block.row + block.size; ++r) {
      maps_.weight[r] = p.compliance[r] + damped::kJointCompliance * system_->joint_diagonal(r);
      maps_.g[r] = -w_[r];
    }
  }
}

/// The direction towards x~ o z~ = target e with the factor at hand:
/// d x = (I + D0 R)^-1 (T^-1 W (lambda \ r) - D0 (w + s n - z)) - D d u,  d z = (I + n grad^T) d u + R d x + w + s n -
/// z.
void DampedPath::solve(double target) {
  for (const Cone& c : cones_) {
    double right[3], part[3], scaled[3] = {};
    lorentz::multiply(c.n, c.lambda, c.lambda, right);
    for (int k = 0; k < c.n; ++k) right[k] = (k == 0 ? target : 0) - right[k] - c.correction[k];
    lorentz::divide(c.n, c.lambda, right, part);
    lorentz::scale(c.n, c.eta, c.w, false, part, scaled);
    scaled[0] /= c.mu;
    Vec3 rest = Vec3::Zero();
    for (int k = 0; k < c.n; ++k) rest[k] = w_[c.row + k] + (k == 0 ? c.saxce : 0) - z_[c.row + k];
    const Vec3 g = as_matrix3(c.inverse) * (Eigen::Map<const Vec3>(scaled) - as_matrix3(c.d0) * rest);
    for (int k = 0; k < c.size; ++k) maps_.g[c.row + k] = k < c.n ? g[k] : 0;
  }
  system_->solve(maps_, &dx_, &du_);
  for (const Cone& c : cones_) {
    for (int k = 0; k < c.n; ++k) {
      const int r = c.row + k;
      dz_[r] = du_[r] + compliance(c, k) * dx_[r] + w_[r] - z_[r];
    }
    dz_[c.row] += c.saxce;
    for (int k = 1; k < c.n; ++k) dz_[c.row] += c.gradient[k - 1] * du_[c.row + k];
  }
}

/// De Saxce's term where the direction leads, less what the matrix has of it.
void DampedPath::renew_saxce() {
  for (Cone& c : cones_) {
    double square = 0, known = 0;
    for (int k = 1; k < c.n; ++k) {
      const double w = w_[c.row + k] + du_[c.row + k];
      square += w * w;
      known += c.gradient[k - 1] * du_[c.row + k];
    }
    c.saxce = c.n > 1 ? c.mu * std::sqrt(square) - known : 0;
  }
}

void DampedPath::keep_corrections() {
  for (Cone& c : cones_) {
    double ds[3] = {}, dz[3] = {}, a[3], b[3];
    for (int k = 0; k < c.n; ++k) {
      ds[k] = dx_[c.row + k] * (k == 0 ? c.mu : 1);
      dz[k] = dz_[c.row + k] / (k == 0 ? c.mu : 1);
    }
    lorentz::scale(c.n, c.eta, c.w, true, ds, a);
    lorentz::scale(c.n, c.eta, c.w, false, dz, b);
    lorentz::multiply(c.n, a, b, c.correction);
  }
}

double DampedPath::calc_longest_step() const {
  double t = 1 / damped::kToTheEdge;
  for (const Cone& c : cones_) {
    double ds[3] = {}, dz[3] = {};
    for (int k = 0; k < c.n; ++k) {
      ds[k] = dx_[c.row + k] * (k == 0 ? c.mu : 1);
      dz[k] = dz_[c.row + k] / (k == 0 ? c.mu : 1);
    }
    t = lorentz::longest_in_cone(c.n, c.s, ds, t);
    t = lorentz::longest_in_cone(c.n, c.z, dz, t);
  }
  return std::min(1.0, damped::kToTheEdge * t);
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
  const double target = gap_ * std::clamp(ratio * ratio * ratio, damped::kLeastCentering, 1.0);
  keep_corrections();
  solve(target);
  other_dx_ = dx_;
  other_dz_ = dz_;
  const double first = calc_longest_step();
  renew_saxce();
  solve(target);
  if (!dx_.allFinite() || !other_dx_.allFinite()) return false;
  step_ = calc_longest_step();
  if (first > step_) {
    std::swap(dx_, other_dx_);
    std::swap(dz_, other_dz_);
    step_ = first;
  }
  x_ += step_ * dx_;
  z_ += step_ * dz_;
  if (step_ < damped::kShort) damping_ = std::min(damped::kDampingFactor * damping_, damped::kMostDamping);
  if (step_ > damped::kLong) damping_ = std::max(damping_ / damped::kDampingFactor, damped::kLeastDamping);
  refresh();
  return true;
}

}  // namespace slipstick
