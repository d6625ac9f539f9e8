// Arc-length steps of the interior path. The Newton direction to a target gap (1 - theta) is affine in theta: C + theta
// T with the tangent T. The corrector takes the theta that makes the step orthogonal to T (in the metric of Nesterov
// and Todd's scaling, in which all pairs weigh alike), the predictor adds a piece of +-T, the side that the last step
// went.
#include <algorithm>
#include <cmath>

#include "solve/solvers/interior.h"
#include "solve/solvers/lorentz.h"

namespace slipstick {

namespace {

constexpr double kShort = 0.1;  // two fast steps below it: a fold
constexpr double kAlongRadius = 0.3, kMostRadius = 0.9;
constexpr double kNearPath = 0.15, kOff = 0.4, kLost = 0.5;  // distance from the path, in units of the gap
constexpr double kStraight = 4;                              // tangent below which fast steps do well again
constexpr int kStraightSteps = 2;

}  // namespace

bool InteriorPath::advance() {
  if (!along_) {
    if (!step()) return false;
    short_ = alpha_ < kShort ? short_ + 1 : 0;
    if (short_ < 2) return true;
    along_ = true;
    short_ = smooth_ = 0;
    radius_ = kAlongRadius;
    ahead_ = 0;
    entered_ = gap_;
    previous_.clear();
    return true;
  }
  if (!step_along()) return false;
  smooth_ = alpha_ > 0.5 && bend_ < kStraight ? smooth_ + 1 : 0;
  if (smooth_ >= kStraightSteps && gap_ < 0.5 * entered_) along_ = false;
  return true;
}

/// d s and d z of all pairs one after another.
void InteriorPath::store_steps(std::vector<double>* out) const {
  out->clear();
  for (const Cone& c : cones_) {
    out->insert(out->end(), c.ds, c.ds + 3);
    out->insert(out->end(), c.dz, c.dz + 3);
    out->push_back(c.dy);
  }
  for (const Face& f : faces_) {
    out->push_back(f.ds);
    out->push_back(f.dz);
  }
}

/// The same in the local metric.
void InteriorPath::as_local(const std::vector<double>& steps, std::vector<double>* out) const {
  out->clear();
  const double* at = steps.data();
  const double disk = 1 / std::sqrt(friction_weight_);
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    const double mu = problem_->blocks[i].mu;
    for (int j = part.first; part.kind == Kind::Cone && j < part.first + part.count; ++j, at += 7) {
      const Cone& c = cones_[j];
      double a[3] = {}, b[3] = {};
      lorentz::scale(c.n, c.eta, c.w, true, at, a);
      lorentz::scale(c.n, c.eta, c.w, false, at + 3, b);
      for (int k = 0; k < c.n; ++k) {
        out->push_back(disk * a[k]);
        out->push_back(disk * b[k]);
      }
      if (j > part.first) continue;  // the normal row is one, whatever the limits
      const double root = std::sqrt(c.y * mu / c.s[0]);
      out->push_back(at[0] / mu * root);
      out->push_back(at[6] / root);
    }
  }
  for (const Face& f : faces_) {
    const double root = std::sqrt(f.z / f.s), size = 1 / std::sqrt(f.weight);
    out->push_back(size * at[0] * root);
    out->push_back(size * at[1] / root);
    at += 2;
  }
}

/// theta of the next step, from the directions to_zero_ (theta = 1) and to_gap_ (theta = 0).
double InteriorPath::choose_target() {
  double tt = 0, ct = 0, pt = 0;
  const bool known = !previous_.empty();
  if (known) as_local(previous_, &previous_local_);
  for (std::size_t k = 0; k < to_gap_.size(); ++k) {
    const double t = to_zero_[k] - to_gap_[k];
    tt += t * t;
    ct += to_gap_[k] * t;
    if (known) pt += previous_local_[k] * t;
  }
  const double back = -ct / tt;
  double off = 0;
  bend_ = 0;
  for (std::size_t k = 0; k < to_gap_.size(); ++k) {
    const double t = to_zero_[k] - to_gap_[k];
    bend_ = std::max(bend_, std::abs(t) / std::sqrt(gap_));
    off = std::max(off, std::abs(to_gap_[k] + back * t) / std::sqrt(gap_));
  }
  if (ahead_ != 0 && off > kOff) radius_ *= 0.5;
  if (ahead_ != 0 && off < kNearPath) radius_ = std::min(radius_ * 1.5, kMostRadius);
  ahead_ = off > kLost ? 0 : std::min(radius_ / bend_, kMostRadius) * (pt < 0 ? -1 : 1);
  return std::clamp(back + ahead_, -1.0, 0.95);
}

bool InteriorPath::step_along() {
  alpha_ = 0;
  if (!update_scalings()) return false;
  update_maps(0);
  if (!system_->factor(maps_)) return false;
  solve(0);
  if (!dx_.allFinite()) return false;
  store_steps(&steps_);
  as_local(steps_, &to_zero_);
  solve(gap_);
  store_steps(&steps_);
  as_local(steps_, &to_gap_);
  const double theta = choose_target();
  solve(gap_ * (1 - theta));
  if (!dx_.allFinite()) return false;
  if (ahead_ != 0) store_steps(&previous_);
  limit_and_move();
  return true;
}

}  // namespace slipstick
