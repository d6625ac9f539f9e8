#include "audit/ball_program.h"

#include <Eigen/LU>

#include <algorithm>
#include <cmath>

namespace slipstick {
namespace {

/// A wall carries the rounding of its offset.
constexpr double kOffsetRounding = 1e-15;
/// Shares of a wall in the entering one below this are rounding: walls of flush bodies are parallel to 1e-16.
constexpr double kPivot = 1e-5;
/// Multipliers may fall so far below zero for the sake of a larger pivot [Harris73].
constexpr double kMultiplierSlack = 1e-13;
/// After so many pivots rounding may be going round in circles: tolerances grow from then on, twofold every kPatience
/// pivots. What is lost is the sharpness of the centre; the bound is right whatever happens.
constexpr int kUsualPivots = 40, kPatience = 4, kMostPivots = 160;
constexpr long kPivotWork = 30;

}  // namespace

void BallProgram::start(double extent, double tolerance) {
  rows_.clear();
  extent_ = extent;
  tolerance_ = tolerance;
  // A tetrahedron of walls: dual feasible with multipliers 1/4, whatever comes later.
  const double s = 1 / std::sqrt(3.0);
  for (int k = 0; k < 4; ++k) {
    const Vec3 n(k == 0 || k == 1 ? s : -s, k == 0 || k == 2 ? s : -s, k == 0 || k == 3 ? s : -s);
    add({n, 3 * extent, 1, WallOwner::Frame});
    basis_[k] = k;
  }
  bound_ = kInfinity;
  update_vertex();
}

void BallProgram::add(const Wall& wall) {
  Row row;
  row.a << wall.normal, wall.share;
  row.b = wall.offset;
  row.tolerance = tolerance_ * extent_ + kOffsetRounding * std::abs(wall.offset);
  row.owner = wall.owner;
  rows_.push_back(row);
}

void BallProgram::update_vertex() {
  Eigen::Matrix4d m;
  Vec4 b;
  for (int k = 0; k < 4; ++k) {
    m.row(k) = rows_[basis_[k]].a.transpose();
    b[k] = rows_[basis_[k]].b;
  }
  inverse_ = m.inverse();
  multiplier_ = inverse_.row(3).transpose();
  center_ = inverse_.topRows<3>() * b;
  radius_ = inverse_.row(3).dot(b);
  update_bound();
  work_ += kPivotWork;
}

/// Whatever the multipliers are, if none is negative: sum l (n . q + s r) <= sum l b, so no ball between the walls has
/// more than r = (sum l b - sum l n . q) / sum l s. Rounding in the inverse cannot make this bound wrong, only wide.
void BallProgram::update_bound() {
  Vec4 sum = Vec4::Zero();
  double offset = 0;
  for (int k = 0; k < 4; ++k) {
    const double weight = std::max(multiplier_[k], 0.0);
    sum += weight * rows_[basis_[k]].a;
    offset += weight * rows_[basis_[k]].b;
  }
  if (!(sum[3] > 0.5)) return;
  bound_ = std::min(bound_, (offset + sum.head<3>().norm() * extent_) / sum[3]);
}

int BallProgram::find_entering(double widened) const {
  Vec4 x;
  x << center_, radius_;
  int entering = -1;
  double worst = 0;
  for (int i = 0; i < static_cast<int>(rows_.size()); ++i) {
    const double violation = rows_[i].a.dot(x) - rows_[i].b - widened * rows_[i].tolerance;
    if (!(violation > worst) || std::find(basis_.begin(), basis_.end(), i) != basis_.end()) continue;
    entering = i;
    worst = violation;
  }
  return entering;
}

/// The ratio test in two passes [Harris73]: how far may the entering wall go, and which of the walls that end there has
/// the largest share in it.
int BallProgram::find_leaving(const Vec4& alpha) const {
  double farthest = kInfinity;
  for (int k = 0; k < 4; ++k) {
    if (alpha[k] > kPivot) farthest = std::min(farthest, (std::max(multiplier_[k], 0.0) + kMultiplierSlack) / alpha[k]);
  }
  int leaving = -1;
  for (int k = 0; k < 4; ++k) {
    if (!(alpha[k] > kPivot) || std::max(multiplier_[k], 0.0) > farthest * alpha[k]) continue;
    if (leaving < 0 || alpha[k] > alpha[leaving]) leaving = k;
  }
  return leaving;
}

bool BallProgram::solve(double floor) {
  for (int pivot = 0; pivot < kMostPivots; ++pivot) {
    if (bound_ <= floor) return true;
    const double widened = std::exp2(std::max(0, pivot - kUsualPivots) / kPatience);
    work_ += static_cast<long>(rows_.size());
    const int entering = find_entering(widened);
    if (entering < 0) return true;
    const Vec4 alpha = inverse_.transpose() * rows_[entering].a;
    const int leaving = find_leaving(alpha);
    if (leaving < 0) return false;
    const int left = basis_[leaving];
    basis_[leaving] = entering;
    update_vertex();
    if (center_.allFinite()) continue;
    basis_[leaving] = left;  // no corner after all
    update_vertex();
    return false;
  }
  return false;
}

Vec3 BallProgram::calc_push(WallOwner owner) const {
  Vec3 push = Vec3::Zero();
  for (int k = 0; k < 4; ++k) {
    const Row& row = rows_[basis_[k]];
    if (row.owner == owner) push += std::max(multiplier_[k], 0.0) * row.a.head<3>();
  }
  return push;
}

double BallProgram::calc_room(const Vec3& q) const {
  double room = kInfinity;
  for (const Row& row : rows_) {
    if (row.a[3] > 0) room = std::min(room, row.b - row.a.head<3>().dot(q));
  }
  return room;
}

}  // namespace slipstick
