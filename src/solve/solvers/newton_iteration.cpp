#include "solve/solvers/newton_iteration.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "solve/natural_map.h"

namespace slipstick {

void NewtonIteration::start(const Problem& problem, NewtonSystem* system, TimeLimit* limit, const VecX& guess) {
  problem_ = &problem;
  system_ = system;
  limit_ = limit;
  factorizations_ = 0;
  factored_ = false;
  epsilon_ = 1e-8;
  system->prepare(problem);
  step_work_ = system->calc_step_work();
  const int blocks = static_cast<int>(problem.blocks.size());
  rho_.resize(blocks);
  for (int i = 0; i < blocks; ++i) {
    const double diagonal = system->mean_diagonal(i);
    rho_[i] = diagonal > 0 ? 1 / diagonal : 1;
  }
  maps_.resize(problem);
  code_.assign(blocks, -1);
  best_residual_ = std::numeric_limits<double>::infinity();
  x_.setZero(problem.rows());
  system->update_state(x_, &v_, &q_);
  q_norm_ = calc_residual_scale(problem, v_, q_);
  bool clipped = false;  // zero may be inadmissible for Box rows
  for (const RowBlock& block : problem.blocks) {
    if (block.law != LawKind::Box) continue;
    clip_impulse(law_rows(*problem_, block), x_.data() + block.row);
    clipped |= !x_.segment(block.row, block.size).isZero(0);
  }
  if (clipped) {
    refresh();
  } else {
    u_ = w_ = q_;
    residual_ = calc_residual();
    keep_best();
  }
  constexpr double kNear = 0.1;
  const double cold = residual_;
  began_near_ = residual_ == 0;
  if (residual_ == 0 || guess.size() != problem.rows() || !guess.allFinite()) return;
  x_ = guess;
  clip();
  refresh();
  began_near_ = residual_ < kNear * cold;
  if (!(residual_ < 1e3 * best_residual_)) restore_best();
}

double NewtonIteration::calc_residual() const {
  return calc_relative(calc_natural_map_norm(*problem_, rho_, x_, w_), q_norm_);
}

double NewtonIteration::calc_creep() const { return calc_relative(calc_creep_norm(*problem_, x_, u_), q_norm_); }

void NewtonIteration::clip() {
  for (const RowBlock& block : problem_->blocks)
    if (block.law != LawKind::Equality) clip_impulse(law_rows(*problem_, block), x_.data() + block.row);
}

void NewtonIteration::refresh() {
  system_->update_state(x_, &v_, &u_);
  w_ = u_ + Eigen::Map<const VecX>(problem_->compliance.data(), problem_->rows()).cwiseProduct(x_);
  residual_ = calc_residual();
  keep_best();
}

void NewtonIteration::keep_best() {
  if (!(residual_ < best_residual_) && best_.size() == x_.size() && std::isfinite(best_residual_)) return;
  best_residual_ = residual_;
  best_ = x_;
}

void NewtonIteration::restore_best() {
  x_ = best_;
  refresh();
}

void NewtonIteration::start_interior_phase(double friction_weight) {
  interior_.start(*problem_, system_, rho_, q_.cwiseAbs().maxCoeff(), friction_weight);
}

bool NewtonIteration::run_interior(bool through_folds) {
  constexpr double kFold = 0.02;
  factored_ = false;
  if (!limit_->spend(step_work_)) return false;
  const bool able = through_folds ? interior_.advance() : interior_.step();
  ++factorizations_;
  x_ = interior_.impulses();
  refresh();
  return able && (through_folds || interior_.last_step() > kFold);
}

void NewtonIteration::start_damped_phase(bool cold) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  damped_.start(*problem_, system_, rho_, q_, q_norm_, best_, cold ? kNone : best_residual_);
}

bool NewtonIteration::run_damped() {
  if (!limit_->spend(step_work_)) return false;
  factored_ = false;
  const bool able = damped_.step();
  ++factorizations_;
  if (able) go_to(damped_.impulses());
  return able;
}

void NewtonIteration::go_to(const VecX& impulses) {
  x_ = impulses;
  clip();
  refresh();
}

bool NewtonIteration::factor() {
  if (!limit_->spend(step_work_) || !system_->factor(maps_)) return false;
  ++factorizations_;
  return true;
}

void NewtonIteration::update_best(Solution* answer) {
  answer->lambda = best_;
  system_->update_state(best_, &answer->v, &answer->w);
}

void NewtonIteration::finish(Solution* answer) {
  if (residual_ != best_residual_) restore_best();
  answer->lambda = x_;
  answer->v = v_;
  answer->w = w_;
}

}  // namespace slipstick
