#include "solve/solvers/interior.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "solve/laws.h"
#include "solve/solvers/lorentz.h"

namespace slipstick {

namespace {

constexpr double kEqualityCompliance = 1e-10;  // over the Delassus diagonal; keeps redundant joints regular
constexpr double kHeld = 1e12;                 // stiffness of a row that may not move, over the Delassus diagonal
constexpr double kFree = 1e-12;                // and of one that nothing holds
constexpr double kReach = 0.9;                 // of the way to the edge of the laws
constexpr double kCentral = 1e-2;              // least pair over the mean
constexpr double kLeastCentering = 0.1;        // faster descents leave the middle, and then it is slower

/// Solves H X = B in place (row-major, m x m and m x n). No pivoting: H is lower block-triangular with positive
/// definite diagonal blocks.
void solve_small(int m, double* h, int n, double* b) {
  for (int j = 0; j < m; ++j) {
    for (int i = j + 1; i < m; ++i) {
      const double factor = h[i * m + j] / h[j * m + j];
      if (factor == 0) continue;
      for (int k = j; k < m; ++k) h[i * m + k] -= factor * h[j * m + k];
      for (int k = 0; k < n; ++k) b[i * n + k] -= factor * b[j * n + k];
    }
  }
  for (int j = m - 1; j >= 0; --j) {
    for (int k = 0; k < n; ++k) {
      double sum = b[j * n + k];
      for (int i = j + 1; i < m; ++i) sum -= h[j * m + i] * b[i * n + k];
      b[j * n + k] = sum / h[j * m + j];
    }
  }
}

/// (I + M C) [D g] = [M g]: takes the rows' own compliance into the map d x = g - M d w.
void take_compliance(int m, const double* compliance, double* d, double* g) {
  if (std::all_of(compliance, compliance + m, [](double c) { return c == 0; })) return;
  using Small = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor, 6, 6>;
  using SmallVector = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 6, 1>;
  Small matrix(m, m);
  BlockMap map(d, m, m);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < m; ++j) matrix(i, j) = (i == j) + map(i, j) * compliance[j];
  const Eigen::PartialPivLU<Small> lu(matrix);
  const Small solved = lu.solve(map);
  map = solved;
  Eigen::Map<SmallVector> right(g, m);
  const SmallVector moved = lu.solve(right);
  right = moved;
}

}  // namespace

void InteriorPath::start(const Problem& problem, NewtonSystem* system, const std::vector<double>& rho, double speed,
                         double friction_weight) {
  problem_ = &problem;
  system_ = system;
  rho_ = &rho;
  friction_weight_ = friction_weight;
  maps_.resize(problem);
  parts_.clear();
  cones_.clear();
  faces_.clear();
  previous_.clear();
  along_ = false;
  short_ = 0;
  x_.setZero(problem.rows());
  double mean = 0;
  for (const double r : rho) mean += r / static_cast<double>(rho.size());
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
    const RowBlock& block = problem.blocks[i];
    const double balance = std::sqrt(mean / rho[i]);  // the same s z everywhere
    const double impulse = rho[i] * speed * balance, slack = speed * balance;
    const bool friction = block.law == LawKind::Friction && block.mu > 0;
    if (block.law == LawKind::Equality) {
      parts_.push_back({Kind::Equality, 0, 0});
    } else if (friction && (block.size != 3 || block.friction == FrictionModel::Cone)) {
      add_cone(block, impulse, slack);
    } else {
      add_faces(block, impulse, slack);
    }
  }
  degree_ = static_cast<int>(cones_.size() + faces_.size());
  for (const Part& part : parts_) degree_ += part.kind == Kind::Cone;
  refresh();
}

void InteriorPath::add_cone(const RowBlock& block, double impulse, double speed) {
  FrictionLimit limit[kMostLimits];
  const int count = friction_limits(block, limit);
  parts_.push_back({Kind::Cone, static_cast<int>(cones_.size()), count});
  x_[block.row] = impulse;
  for (int i = 0; i < count; ++i) {
    Cone cone{};
    cone.first = limit[i].first;
    cone.n = 1 + limit[i].size;
    cone.s[0] = block.mu * impulse;
    cone.z[0] = friction_weight_ * speed / block.mu;
    cone.y = speed;
    cones_.push_back(cone);
  }
}

void InteriorPath::add_face(const RowBlock& block, const double* a, double b, double speed, bool side) {
  Face face{};
  std::copy_n(a, block.size, face.a);
  face.weight = side ? friction_weight_ : 1;
  face.side = side;
  face.z = face.weight * speed;
  face.s = lorentz::dot(block.size, a, x_.data() + block.row) + b;
  faces_.push_back(face);
}

void InteriorPath::add_faces(const RowBlock& block, double impulse, double speed) {
  const int first = static_cast<int>(faces_.size());
  if (block.law == LawKind::Friction) {
    x_[block.row] = impulse;
    const double normal[6] = {1};
    add_face(block, normal, 0, speed, false);
    if (block.mu > 0) add_polygon(block, speed);
  } else {
    add_bounds(block, impulse, speed);
  }
  parts_.push_back({Kind::Faces, first, static_cast<int>(faces_.size()) - first});
}

void InteriorPath::add_polygon(const RowBlock& block, double speed) {
  const FrictionPolygon polygon = friction_polygon(block);
  const double step = 2 * std::numbers::pi / polygon.count, apothem = polygon.radius * std::cos(step / 2);
  for (int k = 0; k < polygon.count; ++k) {
    const double angle = polygon.phase + (k + 0.5) * step;
    const double side[6] = {block.mu * apothem, -std::cos(angle), -std::sin(angle)};
    add_face(block, side, 0, speed / block.mu, true);
  }
}

void InteriorPath::add_bounds(const RowBlock& block, double impulse, double speed) {
  double* x = x_.data() + block.row;
  for (int k = 0; k < block.size; ++k) {
    double lo = 0, hi = std::numeric_limits<double>::infinity();
    if (block.law == LawKind::Box) {
      lo = problem_->lower[block.row + k];
      hi = problem_->upper[block.row + k];
    }
    x[k] = std::clamp(0.0, lo, hi);
    if (lo == hi) continue;
    const double room = std::isfinite(lo) && std::isfinite(hi) ? std::min(impulse, 0.4 * (hi - lo)) : impulse;
    if (std::isfinite(lo)) x[k] = std::max(x[k], lo + room);
    if (std::isfinite(hi)) x[k] = std::min(x[k], hi - room);
    double axis[6] = {};
    axis[k] = 1;
    if (std::isfinite(lo)) add_face(block, axis, -lo, speed, false);
    axis[k] = -1;
    if (std::isfinite(hi)) add_face(block, axis, hi, speed, false);
  }
}

/// Velocities and gap at x.
void InteriorPath::refresh() {
  system_->update_state(x_, &v_, &u_);
  w_ = u_ + Eigen::Map<const VecX>(problem_->compliance.data(), problem_->rows()).cwiseProduct(x_);
  gap_ = calc_gap(0);
}

double InteriorPath::calc_gap(double step) const {
  double disks = 0, sum = 0;
  for (const Cone& c : cones_)
    for (int k = 0; k < c.n; ++k) disks += (c.s[k] + step * c.ds[k]) * (c.z[k] + step * c.dz[k]);
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].kind != Kind::Cone) continue;
    const Cone& c = cones_[parts_[i].first];
    sum += (c.s[0] + step * c.ds[0]) / problem_->blocks[i].mu * (c.y + step * c.dy);
  }
  for (const Face& f : faces_) sum += (f.s + step * f.ds) * (f.z + step * f.dz) / f.weight;
  return degree_ > 0 ? (sum + disks / friction_weight_) / degree_ : 0;
}

/// Nesterov and Todd's point of each cone.
bool InteriorPath::update_scalings() {
  for (Cone& c : cones_)
    if (!lorentz::update_scaling(c.n, c.s, c.z, c.w, &c.eta, c.lambda)) return false;
  return true;
}

/// Normal: (x_n + d x_n) (y + d y) = target, d y = w_n + d w_n - y. Tangents: d s = W (lambda \ r) - W^2 d z with
/// d s_0 = mu d x_n, d z_t = w_t + d w_t - z_t, and d z_0 eliminated: what is left of W^2 = eta^2 (2 w w^T - J) is
/// eta^2 (I - 2 w_t w_t^T / (2 w_0^2 - 1)).
void InteriorPath::update_cone_map(int block, double target, double* d, double* g) {
  const RowBlock& rows = problem_->blocks[block];
  const Part& part = parts_[block];
  const Cone& normal = cones_[part.first];
  std::fill_n(d, rows.size * rows.size, 0.0);
  d[0] = x_[rows.row] / normal.y;
  g[0] = (target - normal.normal_correction) / normal.y - d[0] * w_[rows.row];
  for (int i = part.first; i < part.first + part.count; ++i) update_disk_map(rows, target, &cones_[i], d, g);
}

void InteriorPath::update_disk_map(const RowBlock& rows, double target, Cone* cone, double* d, double* g) const {
  Cone& c = *cone;
  const int size = rows.size;
  double right[3], part[3];
  lorentz::multiply(c.n, c.lambda, c.lambda, right);
  for (int k = 0; k < c.n; ++k) right[k] = (k == 0 ? friction_weight_ * target : 0) - right[k] - c.correction[k];
  lorentz::divide(c.n, c.lambda, right, part);
  lorentz::scale(c.n, c.eta, c.w, false, part, c.rest);
  const double square = c.eta * c.eta, head = 2 * c.w[0] * c.w[0] - 1;
  const double* w = w_.data() + rows.row + c.first - 1;  // w[1], w[2]: of this disk's tangents
  for (int i = 1; i < c.n; ++i) {
    const int row = c.first + i - 1;
    const double follow = c.follow[i - 1] = 2 * c.w[0] * c.w[i] / head;
    g[row] = c.rest[i] + follow * (rows.mu * g[0] - c.rest[0]);
    d[row * size] = rows.mu * follow * d[0];
    for (int j = 1; j < c.n; ++j) {
      const double value = square * ((i == j) - 2 * c.w[i] * c.w[j] / head);
      d[row * size + c.first + j - 1] = value;
      g[row] -= value * (w[j] - c.z[j]);
    }
  }
}

/// H d x = sum_k a_k (target - correction_k) / s_k - w - d w,  H = sum_k a_k a_k^T z_k / s_k; the sides of a friction
/// polygon count in the tangent rows only.
void InteriorPath::update_face_map(int block, double target, double* d, double* g) const {
  const RowBlock& rows = problem_->blocks[block];
  const Part& part = parts_[block];
  const int n = rows.size, width = n + 1;  // right: the unit matrix, then the right side
  double h[36] = {}, right[6 * 7] = {};
  for (int i = 0; i < n; ++i) {
    right[i * width + i] = 1;
    right[i * width + n] = -w_[rows.row + i];
    const bool fixed = (rows.law == LawKind::Friction && rows.mu == 0 && i > 0) ||
                       (rows.law == LawKind::Box && problem_->lower[rows.row + i] == problem_->upper[rows.row + i]);
    h[i * n + i] = (fixed ? kHeld : kFree) / (*rho_)[block];
  }
  for (int f = part.first; f < part.first + part.count; ++f) {
    const Face& face = faces_[f];
    const double stiffness = face.z / face.s, push = (face.weight * target - face.correction) / face.s;
    for (int i = face.side ? 1 : 0; i < n; ++i) {
      right[i * width + n] += face.a[i] * push;
      for (int j = 0; j < n; ++j) h[i * n + j] += face.a[i] * face.a[j] * stiffness;
    }
  }
  solve_small(n, h, width, right);
  for (int i = 0; i < n; ++i) {
    std::copy_n(right + i * width, n, d + i * n);
    g[i] = right[i * width + n];
  }
}

void InteriorPath::update_maps(double target) {
  const Problem& p = *problem_;
  maps_.symmetric = true;
  for (std::size_t i = 0; i < p.blocks.size(); ++i) {
    const RowBlock& block = p.blocks[i];
    double* g = maps_.g.data() + block.row;
    if (parts_[i].kind == Kind::Equality) {
      for (int k = 0; k < block.size; ++k) {
        const int r = block.row + k;
        maps_.weight[r] = p.compliance[r] + kEqualityCompliance * system_->joint_diagonal(r);
        g[k] = -w_[r];
      }
      continue;
    }
    double* d = maps_.d.data() + maps_.start[i];
    if (parts_[i].kind == Kind::Cone)
      update_cone_map(static_cast<int>(i), target, d, g);
    else
      update_face_map(static_cast<int>(i), target, d, g);
    take_compliance(block.size, p.compliance.data() + block.row, d, g);
    if (block.law == LawKind::Friction && block.mu > 0) maps_.symmetric = false;
  }
}

void InteriorPath::update_disk_steps(const RowBlock& rows, Cone* cone) const {
  const int before = rows.row + cone->first - 1;
  cone->dy = w_[rows.row] + dw_[rows.row] - cone->y;
  cone->ds[0] = rows.mu * dx_[rows.row];
  cone->dz[0] = (cone->rest[0] - cone->ds[0]) / (cone->eta * cone->eta * (2 * cone->w[0] * cone->w[0] - 1));
  for (int k = 1; k < cone->n; ++k) {
    cone->ds[k] = dx_[before + k];
    cone->dz[k] = w_[before + k] + dw_[before + k] - cone->z[k];
    cone->dz[0] -= cone->follow[k - 1] * cone->dz[k];
  }
}

/// The Newton direction towards s z = target, with the factor at hand.
void InteriorPath::solve(double target) {
  const Problem& p = *problem_;
  update_maps(target);
  system_->solve(maps_, &dx_, &du_);
  dw_ = du_ + Eigen::Map<const VecX>(p.compliance.data(), p.rows()).cwiseProduct(dx_);
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    const RowBlock& block = p.blocks[i];
    for (int c = part.first; part.kind == Kind::Cone && c < part.first + part.count; ++c)
      update_disk_steps(block, &cones_[c]);
    for (int f = part.first; part.kind == Kind::Faces && f < part.first + part.count; ++f) {
      Face& face = faces_[f];
      face.ds = lorentz::dot(block.size, face.a, dx_.data() + block.row);
      face.dz = (face.weight * target - face.correction - face.z * face.ds) / face.s - face.z;
    }
  }
}

double InteriorPath::calc_longest_step() const {
  double t = 1;
  for (const Cone& c : cones_) {
    t = lorentz::longest_in_cone(c.n, c.s, c.ds, t);
    t = lorentz::longest_in_cone(c.n, c.z, c.dz, t);
    if (c.dy < 0) t = std::min(t, -c.y / c.dy);
  }
  for (const Face& face : faces_) {
    if (face.ds < 0) t = std::min(t, -face.s / face.ds);
    if (face.dz < 0) t = std::min(t, -face.z / face.dz);
  }
  return t;
}

/// Whether no pair is much nearer to the edge of its law than the mean after a step.
bool InteriorPath::is_central(double step) const {
  const double least = kCentral * calc_gap(step);
  for (const Cone& c : cones_) {
    double s[3], z[3];
    for (int k = 0; k < c.n; ++k) {
      s[k] = c.s[k] + step * c.ds[k];
      z[k] = c.z[k] + step * c.dz[k];
    }
    // The smaller eigenvalue of s^1/2 z s^1/2 (quadratic representation): both add up to 2 s.z, their product is
    // det s det z.
    const double mean = lorentz::dot(c.n, s, z), product = lorentz::determinant(c.n, s) * lorentz::determinant(c.n, z);
    const double root = std::sqrt(std::max(mean * mean - product, 0.0));
    if (product < friction_weight_ * least * (mean + root)) return false;
  }
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].kind != Kind::Cone) continue;
    const Cone& c = cones_[parts_[i].first];
    if ((c.s[0] + step * c.ds[0]) / problem_->blocks[i].mu * (c.y + step * c.dy) < least) return false;
  }
  return std::all_of(faces_.begin(), faces_.end(),
                     [&](const Face& f) { return (f.s + step * f.ds) * (f.z + step * f.dz) >= f.weight * least; });
}

void InteriorPath::keep_corrections() {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    for (int k = part.first; part.kind == Kind::Cone && k < part.first + part.count; ++k) {
      Cone& c = cones_[k];
      double a[3], b[3];
      lorentz::scale(c.n, c.eta, c.w, true, c.ds, a);
      lorentz::scale(c.n, c.eta, c.w, false, c.dz, b);
      lorentz::multiply(c.n, a, b, c.correction);
      c.normal_correction = c.ds[0] / problem_->blocks[i].mu * c.dy;
    }
  }
  for (Face& face : faces_) face.correction = face.ds * face.dz;
}

void InteriorPath::move(double step) {
  x_ += step * dx_;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    const RowBlock& block = problem_->blocks[i];
    for (int j = part.first; part.kind == Kind::Cone && j < part.first + part.count; ++j) {
      Cone& c = cones_[j];
      for (int k = 0; k < c.n; ++k) {
        c.s[k] = k == 0 ? block.mu * x_[block.row] : x_[block.row + c.first + k - 1];
        c.z[k] += step * c.dz[k];
        c.correction[k] = 0;
      }
      c.y += step * c.dy;
      c.normal_correction = 0;
    }
  }
  for (Face& face : faces_) {
    face.s += step * face.ds;
    face.z += step * face.dz;
    face.correction = 0;
  }
  refresh();
}

/// As far as the laws and the middle of the path allow.
void InteriorPath::limit_and_move() {
  const double longest = calc_longest_step();
  alpha_ = longest >= 1 ? 1 : kReach * longest;
  for (int k = 0; k < 30 && !is_central(alpha_); ++k) alpha_ *= 0.8;
  move(alpha_);
}

bool InteriorPath::step() {
  alpha_ = 0;
  if (!update_scalings()) return false;
  update_maps(0);
  if (!system_->factor(maps_)) return false;
  solve(0);
  if (!dx_.allFinite()) return false;
  const double ratio = gap_ > 0 ? std::max(calc_gap(calc_longest_step()), 0.0) / gap_ : 0;
  keep_corrections();
  solve(gap_ * std::clamp(ratio * ratio * ratio, kLeastCentering, 1.0));
  if (!dx_.allFinite()) return false;
  limit_and_move();
  return true;
}

}  // namespace slipstick
