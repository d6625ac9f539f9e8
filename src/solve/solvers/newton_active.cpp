// Phase one and last: Newton on the active set. [AlartCurnier91], with a proximal compliance epsilon on every held row
// that makes the matrix regular whatever the redundancy, and that leaves no trace because each step restarts from the
// true residual.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "solve/natural_map.h"
#include "solve/redundancy.h"
#include "solve/solvers/newton_iteration.h"
#include "solve/solvers/solvers.h"

namespace slipstick {

namespace {

constexpr double kCompliance = 1e-8, kLeastCompliance = 1e-17;
constexpr double kEqualityShare = 1e-3;
constexpr double kSoftest = 1e4;      // how much softer a row may be that carries little ...
constexpr double kSoftestStick = 30;  // ... and one that is about to slip
constexpr double kChordFall = 0.1;    // of the residual in a step with the factor at hand, or a new one is due
constexpr double kFineFall = 0.6;     // the same where no new one is made

/// Idle steps of what rests and is within the tolerance: contacts at the edge of their cone, which rounding takes to
/// slide in one step and to stick in the next, lead nowhere however many there are. (Few columns may have more.)
constexpr int kRestPatience = 2;

/// Where the contacts are redundant, the proximal term decides how the step is shared among them. Rows near the edge of
/// their law get a softer one, in the manner of affine scaling: they change little, and the active set stays.
void update_softness(const RowBlock& block, double typical, const double* x, double* softness) {
  softness[0] = softness[1] = 1;
  if (block.law == LawKind::Box || block.law == LawKind::Equality || typical <= 0) return;
  softness[0] = softness[1] = x[0] > 0 ? std::clamp(typical / x[0], 1 / kSoftest, kSoftest) : kSoftest;
  if (block.law != LawKind::Friction || block.mu == 0 || x[0] <= 0) return;
  double square = 0;
  for (int k = 1; k < block.size; ++k) square += x[k] * x[k];
  const double margin = 1 - std::sqrt(square) / (block.mu * x[0]);
  softness[1] *= margin > 0 ? std::min(1 / margin, kSoftestStick) : kSoftestStick;
}

}  // namespace

/// Mean normal impulse.
double NewtonIteration::calc_typical_impulse() const {
  double sum = 0;
  int count = 0;
  for (const RowBlock& block : problem_->blocks) {
    if (block.law != LawKind::Friction && block.law != LawKind::Nonnegative) continue;
    sum += x_[block.row];
    ++count;
  }
  return count > 0 ? sum / count : 0;
}

bool NewtonIteration::update_active_maps() {
  const Problem& p = *problem_;
  bool same = factored_;
  maps_.symmetric = true;
  const double typical = calc_typical_impulse();
  for (std::size_t i = 0; i < p.blocks.size(); ++i) {
    const RowBlock& block = p.blocks[i];
    if (block.law == LawKind::Equality) {
      const double joint_epsilon = std::min(epsilon_, least_equality_);
      for (int r = block.row; r < block.row + block.size; ++r) {
        maps_.weight[r] = p.compliance[r] + joint_epsilon * system_->joint_diagonal(r);
        maps_.g[r] = -w_[r];
      }
      continue;
    }
    bool symmetric = true;
    double softness[2];
    update_softness(block, typical, x_.data() + block.row, softness);
    for (double& value : softness) value *= epsilon_ / rho_[i];
    const int code =
        update_active_map(law_rows(*problem_, block), rho_[i], softness, x_.data() + block.row, w_.data() + block.row,
                          maps_.d.data() + maps_.start[i], maps_.g.data() + block.row, &symmetric);
    maps_.symmetric &= symmetric;
    maps_.zero[i] = block.law == LawKind::Friction ? code == 0 : 0;
    same &= code == code_[i];
    code_[i] = code;
  }
  return same;
}

/// Rows of a redundant loop share what they carry by a compliance of their own. The proximal one must be less, or a
/// step takes only that part of the way.
double NewtonIteration::calc_least_equality() const {
  double least = kCompliance;
  for (const RowBlock& block : problem_->blocks) {
    if (block.law != LawKind::Equality) continue;
    for (int r = block.row; r < block.row + block.size; ++r)
      if (const double c = problem_->compliance[r] / system_->joint_diagonal(r); c > 0)
        least = std::min(least, kEqualityShare * c);
  }
  return std::max(least, kLeastCompliance);
}

/// What the proximal compliance alone left of the last step's held rows, m/s: w_i + dw_i = -epsilon_i dx_i.
double NewtonIteration::calc_softness() const {
  if (!factored_) return 0;
  double sum = 0;
  for (std::size_t i = 0; i < problem_->blocks.size(); ++i) {
    const RowBlock& block = problem_->blocks[i];
    const bool equality = block.law == LawKind::Equality;
    if (!equality && maps_.zero[i]) continue;
    if (!equality) sum += dx_.segment(block.row, block.size).squaredNorm() / (rho_[i] * rho_[i]);
    for (int r = block.row; equality && r < block.row + block.size; ++r) {
      const double left = dx_[r] * system_->joint_diagonal(r);
      sum += left * left;
    }
  }
  return epsilon_ * std::sqrt(sum);
}

/// Moves along dx by the longest of a few halvings that lowers the residual. False: none does, and the iterate is where
/// the whole step leads.
bool NewtonIteration::descend(double previous) {
  start_ = x_;
  const auto move = [this](double step) {
    x_ = start_ + step * dx_;
    clip();
    refresh();
    return residual_;
  };
  for (double step = 1; step > 0.1; step *= 0.5)
    if (move(step) < previous) return true;
  move(1);
  return false;
}

/// A step with the factor at hand. False: a new factor is due. Uphill with an old factor is no step onto a better
/// active set but a sign that the factor is worn out: it is undone. No part of the step is tried where no new factor
/// would be made, since it is rounding then that leads uphill, nor where a new one costs no more than that.
bool NewtonIteration::descend_by_chord(double previous) {
  const bool whole = (residual_ <= fine_ && !creeps_) || SmallSystem::takes(*problem_);
  if (whole) {
    start_ = x_;
    x_ += dx_;
    clip();
    refresh();
  }
  if (whole ? residual_ < previous : descend(previous))
    return residual_ < (residual_ <= fine_ && creeps_ ? kFineFall : kChordFall) * previous;
  x_ = start_;
  refresh();
  return false;
}

void NewtonIteration::run_active(double goal, int limit, int patience, double most_rise) {
  const int first = factorizations_;
  double previous = std::numeric_limits<double>::infinity();
  double start_best = best_residual_;
  int idle = 0;
  bool due = false;  // a new factor
  factored_ = false;
  epsilon_ = kCompliance;
  least_equality_ = calc_least_equality();
  while (residual_ > goal) {
    const bool same = update_active_maps();
    // With the active set of the last factor, a step with the old factor is a chord step; while it converges fast it is
    // the cheap way to the last digits.
    // A held set that hardly converges is too soft for its load (great mass ratios): less proximal compliance.
    const bool fine = residual_ <= fine_;
    const bool soft = !(fine && creeps_) && residual_ > 0.1 * previous && calc_softness() > 0.3 * residual_ * q_norm_ &&
                      epsilon_ > kLeastCompliance;
    if (soft) {
      epsilon_ *= 1e-3;
      update_active_maps();
    }
    const bool ends = fine && creeps_ && factored_;  // with what is at hand, whatever the set
    const bool chord =
        ends ? !due && residual_ < kFineFall * previous : same && !soft && !due && residual_ < kChordFall * previous;
    due = false;
    if (chord) {
      maps_.d = kept_d_;
    } else {
      if (ends || factorizations_ - first >= limit || (fine && !creeps_) || !factor()) return;
      kept_d_ = maps_.d;
      factored_ = true;
    }
    system_->solve(maps_, &dx_, nullptr);
    if (!dx_.allFinite()) return;
    previous = residual_;
    // With a new factor uphill is taken where no part of the step leads down: the equations are nonsmooth, and a step
    // onto the right active set is worth more than none.
    if (chord) {
      due = !descend_by_chord(previous);
      if (due) continue;
    } else {
      descend(previous);
    }
    if (residual_ > most_rise * start_best) return;
    idle = residual_ < 0.5 * start_best ? 0 : idle + 1;
    start_best = std::min(start_best, best_residual_);
    if (creeps_ && idle > kRestPatience && problem_->columns() > kFewColumns) stays_ = true;
    if (stays_ || idle > patience) return;
  }
}

/// Held as they are: contacts that carry something, by all their rows; others stay unloaded.
void NewtonIteration::update_held_maps() {
  const Problem& p = *problem_;
  maps_.symmetric = true;
  const double typical = calc_typical_impulse();
  for (std::size_t i = 0; i < p.blocks.size(); ++i) {
    const RowBlock& block = p.blocks[i];
    double* d = maps_.d.data() + maps_.start[i];
    std::fill(d, d + block.size * block.size, 0.0);
    maps_.zero[i] = !(x_[block.row] > 0);
    if (maps_.zero[i]) continue;
    double softness[2];
    update_softness(block, typical, x_.data() + block.row, softness);
    for (int k = 0; k < block.size; ++k)
      d[k * (block.size + 1)] = 1 / (p.compliance[block.row + k] + softness[k > 0] * kCompliance / rho_[i]);
  }
}

/// What contacts that carry something do by the bodies' velocities, taken away by the factor of update_held_maps.
void NewtonIteration::update_held_goals() {
  const Problem& p = *problem_;
  maps_.g.setZero();
  for (std::size_t i = 0; i < p.blocks.size(); ++i) {
    if (maps_.zero[i]) continue;
    const RowBlock& block = p.blocks[i];
    const double* d = maps_.d.data() + maps_.start[i];
    for (int k = 0; k < block.size; ++k) {
      const int r = block.row + k;
      maps_.g[r] = -(w_[r] - (k == 0 ? p.c[r] : 0)) * d[k * (block.size + 1)];
    }
  }
}

/// Whether nothing slides, and there are contacts alone: joints are held by what they are, and motors push.
bool NewtonIteration::stands(double still) const {
  double slip = 0;
  for (const RowBlock& block : problem_->blocks) {
    if (!is_contact(block)) return false;
    for (int k = 1; k < block.size && x_[block.row] > 0; ++k) slip += w_[block.row + k] * w_[block.row + k];
  }
  return calc_relative(std::sqrt(slip), q_norm_) <= still;
}

bool NewtonIteration::stop_creep(double still) {
  constexpr int kMostSteps = 4;
  constexpr double kFall = 0.3, kOverlapShare = 0.5;
  double creep = calc_creep();
  // Overlap that is near to `still` has to be undone: the next step would not stand with it.
  const double most = kOverlapShare * still;
  if (creep <= kNoCreep || residual_ - creep > most || !stands(still)) return false;
  start_ = x_;
  update_held_maps();
  factored_ = false;
  if (!factor()) return false;
  for (int k = 0; k < kMostSteps; ++k) {
    update_held_goals();
    system_->solve(maps_, &dx_, nullptr);
    if (!dx_.allFinite()) break;
    x_ += dx_;
    clip();
    refresh();
    const double before = std::exchange(creep, calc_creep());
    if (!(creep < kFall * before)) break;
  }
  if (!is_at_rest(residual_, creep, most)) {
    x_ = start_;
    refresh();
    return false;
  }
  best_ = x_;
  best_residual_ = residual_;
  return true;
}

}  // namespace slipstick
